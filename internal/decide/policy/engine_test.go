package policy

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/decide/policy/engine"
	"cardea.dev/internal/decide/policy/rego"
)

// failing is an engine that parses while it may, and fails at all other requests.
type failing struct {
	rego.Engine
	parses bool
	woken  *int
}

func (f failing) Wake() { *f.woken++ }

func (f failing) Parse(ctx context.Context, files []engine.Source) ([]engine.Parsed, error) {
	if !f.parses {
		return nil, errors.New("the engine is out of order")
	}
	return f.Engine.Parse(ctx, files)
}

func (f failing) Compile([]engine.Source, engine.Options) engine.Program { return f }

func (f failing) Broken(context.Context) (map[string]engine.Problems, error) {
	return nil, errors.New("the engine is out of order")
}

func (f failing) Eval(_ context.Context, queries []engine.Query) []engine.Result {
	out := make([]engine.Result, len(queries))
	for i := range out {
		out[i].Err = errors.New("the engine is out of order")
	}
	return out
}

// If an engine fails, the gate asks once. The next call tries again.
func TestEngineFails(t *testing.T) {
	woken := 0
	for name, e := range map[string]engine.Engine{"no engine": nil, "out of order": failing{woken: &woken}, "is out of order": failing{parses: true, woken: &woken}} {
		p := newPlace(t, map[string]string{"a.rego": routed("a", events("[PreToolUse]")), "b.rego": routed("b", events("[PreToolUse]"))})
		p.lib.Engines = Engines{Own: e}
		ops, err := p.policies().Plain().Decide(context.Background(), bash("x"))
		var issues cardea.Issues
		if len(ops) > 0 || !errors.As(err, &issues) || issues[0].Failure != cardea.BrokenPolicy || strings.Count(issues.Error(), name) != 1 {
			t.Errorf("%s: %+v, %v", name, ops, err)
		}
		p.lib.Engines = here()
		if got, err := p.decide(bash("x")); got != "deny:a deny:b" || err != nil {
			t.Errorf("%s, then an engine: %s, %v", name, got, err)
		}
	}
}

// If a project's engine fails, the person's policies still apply.
func TestProjectsHaveAnEngineOfTheirOwn(t *testing.T) {
	woken := 0
	own := newPlace(t, map[string]string{"a.rego": routed("own", events("[PreToolUse]"))})
	project := newPlace(t, map[string]string{"a.rego": routed("project", events("[PreToolUse]"))})
	project.folder.Scope, project.folder.Inside = cardea.ScopeProject, project.dir
	own.lib.Engines.Project = failing{parses: true, woken: &woken}
	p := New(own.lib, Options{Folders: func(*cardea.Event) []Folder { return []Folder{own.folder, project.folder} }})
	ops, err := p.Plain().Decide(context.Background(), bash("x"))
	if len(ops) != 1 || ops[0].Rule != "own" || err == nil || !strings.Contains(err.Error(), "out of order") {
		t.Errorf("%+v, %v", ops, err)
	}
}

// The engine is woken only if the index has a routed policy.
func TestWake(t *testing.T) {
	p := newPlace(t, map[string]string{"a.rego": routed("a", events("[PreToolUse]")+tools("[Bash]"))})
	time.Sleep(150 * time.Millisecond) // so that stamps are trusted
	p.lib.Cache = &memory{}
	if _, err := p.decide(bash("x")); err != nil {
		t.Fatal(err)
	}
	read := &cardea.Event{Kind: cardea.PreToolUse, Call: &cardea.Call{Tool: "Read", Name: "Read"}}
	for ev, want := range map[*cardea.Event]int{bash("x"): 1, read: 0} {
		woken := 0
		lib := &Library{Tool: wordsOf, Cache: p.lib.Cache, Engines: Engines{Own: failing{parses: false, woken: &woken}}}
		lib.Warm(ev, p.folder)
		if woken != want {
			t.Errorf("%s: woken %d times", ev.Call.Tool, woken)
		}
	}
}
