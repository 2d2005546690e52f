package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// AskEngine starts cardea-engine with one argument, sends it a request as JSON and reads
// its reply of at most maxReply bytes.
func AskEngine(ctx context.Context, program, word string, env []string, maxReply int, request, reply any) error {
	stdin, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("ask cardea-engine: %w", err)
	}
	p := Process{Path: program, Args: []string{word}, Dir: filepath.Dir(program), Env: env, Stdin: stdin, MaxOutput: maxReply, MaxErrors: 4 << 10}
	out, told, err := p.Run(ctx)
	if err != nil {
		return fmt.Errorf("cardea-engine: %w %s", err, strings.TrimSpace(string(told)))
	}
	if json.Unmarshal(out, reply) != nil {
		return errors.New("cardea-engine answers in words that are not understood: install cardea and cardea-engine anew")
	}
	return nil
}

// EngineEnviron returns the environment for cardea-engine, without variables that change
// the host of a connection or the trusted certificates. A project can set variables in its
// harness's settings. With a proxy and a certificate of its own, it could read the traffic,
// so these stay only if the user's settings allow them. GODEBUG is removed since it changes
// TLS.
func EngineEnviron(all []string, proxies, certificates bool) []string {
	out := []string{} // an empty list, since nil means all
	for _, pair := range WithoutLibraries(all) {
		name, _, _ := strings.Cut(pair, "=")
		switch name = strings.ToUpper(name); {
		case name == "GODEBUG", strings.HasSuffix(name, "_PROXY") && !proxies, strings.HasPrefix(name, "SSL_CERT_") && !certificates:
		default:
			out = append(out, pair)
		}
	}
	return out
}
