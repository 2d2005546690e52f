// Package fetch downloads the archive with an organisation's settings over https. It
// verifies the signature of OPA bundles, and unpacks the archive in memory within the
// limits of package org. It is part of cardea-engine, so that the hook's program needs
// neither HTTP nor OPA.
package fetch

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/config/org"
	"cardea.dev/internal/decide/policy/rego"
)

// Serve answers one request. It fails only if reading or writing fails; problems with an
// archive are part of the answer.
func Serve(in io.Reader, out io.Writer) error {
	var r org.Request
	if err := json.NewDecoder(io.LimitReader(in, 1<<20)).Decode(&r); err != nil {
		return fmt.Errorf("read a request: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit.Fetch-time.Second)
	defer cancel()
	a := org.FetchResult{}
	tree, err := Fetch(ctx, r)
	if a.Tree = tree; err != nil {
		a.Error = err.Error()
	}
	return json.NewEncoder(out).Encode(a)
}

// Fetch downloads an archive, and returns the files that a scope's folder can hold. With a
// key, it must be a bundle signed with it. Without a key, Fetch rejects a signed bundle.
func Fetch(ctx context.Context, r org.Request) (*org.Tree, error) {
	data, err := get(ctx, r.Address)
	if err != nil {
		return nil, err
	}
	in := org.NewIncoming()
	if err := unpack(data, in); err != nil {
		return nil, fmt.Errorf("the archive %w", err)
	}
	if err := verify(in, r.Key); err != nil {
		return nil, err
	}
	tree, err := in.Tree()
	if err != nil {
		return nil, fmt.Errorf("the archive %w", err)
	}
	sum := sha256.Sum256(data)
	tree.Form, tree.Signed = "sha256:"+hex.EncodeToString(sum[:]), r.Key != ""
	return tree, nil
}

// verify checks the signature if a key is given.
func verify(in *org.Incoming, key string) error {
	files := map[string][]byte{}
	for name, f := range in.Files() {
		files[name] = f.Data
	}
	_, signed := files[rego.Signatures]
	switch {
	case key == "" && signed:
		return errors.New("the bundle is signed, and no key is known to verify it with; set org.key to the file with the public key, or name it with --key")
	case key == "":
		return nil
	}
	if err := rego.VerifyBundle(files, key); err != nil {
		return fmt.Errorf("the bundle is not taken: %w", err)
	}
	return nil
}

// maxRedirects is the maximum number of redirects.
const maxRedirects = 5

// get reads an archive from a file or over https.
func get(ctx context.Context, address string) ([]byte, error) {
	if !strings.HasPrefix(address, "https://") {
		return read(address)
	}
	client := http.Client{
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects || r.URL.Scheme != "https" {
				return fmt.Errorf("it leads to %s, which is not followed", r.URL.Redacted())
			}
			return nil
		},
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(request)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err
		}
		return nil, fmt.Errorf("%s cannot be reached: %w", request.URL.Redacted(), err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %q", request.URL.Redacted(), answer.Status)
	}
	return bounded(answer.Body)
}

// read reads a regular file of this machine.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return bounded(f)
}

func bounded(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, org.MaxDownload+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the archive does not come to its end: %w", err)
	case len(data) > org.MaxDownload:
		return nil, fmt.Errorf("the archive has more than %d bytes", org.MaxDownload)
	}
	return data, nil
}
