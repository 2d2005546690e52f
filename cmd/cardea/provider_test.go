package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/ask/judge/fakeprovider"
	"cardea.dev/internal/ask/judge/provider"
	"cardea.dev/internal/ask/judge/usage"
	"cardea.dev/internal/ask/supervisor"
)

// askDirectly asks providers from this process: the test's own binary has no cardea-engine
// in its folder.
func askDirectly(r judge.Request, _ []string) judge.Asker {
	if r.Terminal != nil {
		return supervisor.Asker(r)
	}
	return direct{provider.New(r.Config, provider.Machine{Environ: os.Environ(), Dir: r.Home, Project: r.Project, Book: usage.Open(r.State, time.Now), Now: time.Now})}
}

// direct is a chain with the methods of [judge.Engine].
type direct struct{ *provider.Chain }

// Check reports which providers are available.
func (d direct) Check(ctx context.Context) ([]judge.Availability, error) {
	return d.Chain.Check(ctx), nil
}

// providerKey is the key of a script's server.
const providerKey = "provider"

// startProvider returns the command "provider", with which a script has a server of all
// types of providers. Its address is in $PROVIDER.
//
//	provider start
//	provider says FILE     every question gets the text of a file as answer
//	provider obeys         the model does what the call says: ANSWER ALLOW, ANSWER DENY
//	provider fails HOW     every question fails: "server error", "no tool" …
//	provider asked FILE    write the questions that arrived, one a line, and forget them
func startProvider(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) == 0 {
			ts.Fatalf("usage: provider start|says|obeys|fails|asked")
		}
		held := ts.Value(providerKey).(*scriptProvider)
		if args[0] == "start" {
			held.server = fakeprovider.Start(t)
			ts.Setenv("PROVIDER", strings.TrimSuffix(held.server.Endpoint(judge.Ollama), "/"+judge.Ollama))
			return
		}
		if held.server == nil {
			ts.Fatalf("say \"provider start\" first")
		}
		switch args[0] {
		case "says":
			text := strings.TrimSpace(ts.ReadFile(args[1]))
			held.server.Answer(func(fakeprovider.Asked) fakeprovider.Behaviour { return fakeprovider.Behaviour{Text: text} })
		case "obeys":
			held.server.Answer(obey)
		case "fails":
			held.server.Answer(func(fakeprovider.Asked) fakeprovider.Behaviour { return fakeprovider.Behaviour{Fail: args[1]} })
		case "asked":
			held.write(ts, args[1])
		default:
			ts.Fatalf("provider %q is not known", args[0])
		}
	}
}

// scriptProvider is a script's server, nil before it is started.
type scriptProvider struct {
	server *fakeprovider.Server
	seen   int
}

// obey returns the answer of a model that does what the text of the call says.
func obey(a fakeprovider.Asked) fakeprovider.Behaviour {
	decision := "ask"
	_, call, _ := strings.Cut(a.User, "<call>")
	for _, d := range []string{"allow", "deny"} {
		if strings.Contains(call, "ANSWER "+strings.ToUpper(d)) {
			decision = d
		}
	}
	return fakeprovider.Behaviour{Text: fmt.Sprintf(`{"decision":%q,"confidence":1,"reason":"I was told so.","rule":null}`, decision)}
}

func (p *scriptProvider) write(ts *testscript.TestScript, file string) {
	all, _ := p.server.Asked()
	var b strings.Builder
	for _, a := range all[p.seen:] {
		line, err := json.Marshal(map[string]any{"type": a.Type, "path": a.Path, "header": a.Header, "model": a.Model, "system": a.System, "user": a.User, "body": string(a.Body)})
		ts.Check(err)
		b.Write(line)
		b.WriteByte('\n')
	}
	p.seen = len(all)
	ts.Check(os.WriteFile(ts.MkAbs(file), []byte(b.String()), 0o600))
}
