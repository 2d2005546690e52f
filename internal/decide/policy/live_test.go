package policy

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"cardea.dev"
	"github.com/rogpeppe/go-internal/testscript"
)

// A process that stays sees changes at the next call.
func TestLive(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			lib := &Library{Tool: wordsOf, Engines: here(), Cache: &memory{}}
			folder := Folder{Dir: env.WorkDir + "/policies", Scope: cardea.ScopeUser}
			env.Values["policies"] = New(lib, Options{Folders: func(*cardea.Event) []Folder { return []Folder{folder} }})
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"judge": func(ts *testscript.TestScript, _ bool, args []string) {
				p, _ := ts.Value("policies").(*Policies)
				said, err := p.Plain().Decide(context.Background(), bash(args[0]))
				for _, o := range said {
					fmt.Fprintf(ts.Stdout(), "%s %s: %s\n", o.Effect, o.Rule, o.Reason)
				}
				if len(said) == 0 {
					fmt.Fprintln(ts.Stdout(), "silent")
				}
				if err != nil {
					fmt.Fprintf(ts.Stdout(), "broken %s\n", strings.ReplaceAll(err.Error(), "\n", " "))
				}
			},
		},
	})
}
