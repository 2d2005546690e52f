package org

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/script"
)

// Request is a request for an archive.
type Request struct {
	// Address is an https address, or the absolute path of a file.
	Address string `json:"address"`
	// Key is the public key in PEM that must have signed the bundle, "" if no signature is
	// required.
	Key string `json:"key,omitempty"`
}

// FetchResult is the result of a request: a tree, or an error.
type FetchResult struct {
	Tree  *Tree  `json:"tree,omitempty"`
	Error string `json:"error,omitempty"`
}

// Fetcher fetches, verifies and unpacks an archive.
type Fetcher func(ctx context.Context, r Request) (*Tree, error)

// FetchArgument is the argument of cardea-engine to answer one [Request].
const FetchArgument = "fetch"

// ByEngine returns a Fetcher that uses cardea-engine. find returns its path. env returns
// environment variables: those for proxies and certificate authorities are passed on.
func ByEngine(find func() (string, error), env func(string) string) Fetcher {
	return func(ctx context.Context, r Request) (*Tree, error) {
		program, err := find()
		if err != nil {
			return nil, err
		}
		ask, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("ask cardea-engine: %w", err)
		}
		var vars []string
		for _, name := range []string{"HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "SYSTEMROOT"} {
			if v := env(name); v != "" {
				vars = append(vars, name+"="+v)
			}
		}
		p := script.Process{Path: program, Args: []string{FetchArgument}, Dir: filepath.Dir(program), Env: vars, Stdin: ask,
			Limit: limit.Fetch, MaxOutput: 2*MaxTotal + 1<<20, MaxErrors: 4 << 10}
		out, told, err := p.Run(ctx)
		if err != nil {
			return nil, fmt.Errorf("cardea-engine: %w %s", err, strings.TrimSpace(string(told)))
		}
		var a FetchResult
		switch err := json.Unmarshal(out, &a); {
		case err != nil:
			return nil, errors.New("cardea-engine answers in words that are not understood: install cardea and cardea-engine anew")
		case a.Tree == nil:
			return nil, errors.New(a.Error)
		}
		return a.Tree, nil
	}
}
