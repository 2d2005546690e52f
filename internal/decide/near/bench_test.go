package near_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/disk"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/decide/near"
	"cardea.dev/internal/decide/noeffect"
	"cardea.dev/internal/harness/call"
	"cardea.dev/internal/memory/lesson"
	"cardea.dev/internal/memory/shape"
)

var today = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// bench is a project with lessons, in which tests decide calls.
type bench struct {
	t       testing.TB
	project string
	key     []byte
	keyer   *lesson.Keyer
	places  []lesson.ScopeFolder
}

func newBench(t testing.TB) *bench {
	t.Helper()
	root := paths.Real(t.TempDir())
	b := &bench{t: t, project: filepath.Join(root, "work", "p")}
	for _, name := range []string{"src/app.ts", "src/a.ts", "tests/auth/test_login.py", "tests/api/x.py", "internal/auth/x.go", "scripts/deploy.sh", "scripts/report.py",
		"package.json", "web/src/a.ts", "web/tests/api/x.py"} {
		b.put(name, "x\n")
	}
	key, err := state.LoadKey(filepath.Join(root, "state"))
	if err != nil {
		t.Fatal(err)
	}
	b.key, b.keyer = key, lesson.NewKeyer(redact.New(), key, b.project)
	b.places = []lesson.ScopeFolder{b.place(".cardea", cardea.ScopeProject, true), b.place("../user", cardea.ScopeUser, false)}
	return b
}

// place returns the folder of a scope.
func (b *bench) place(dir string, scope cardea.Scope, shared bool) lesson.ScopeFolder {
	root := filepath.Dir(filepath.Dir(b.project))
	return lesson.ScopeFolder{Dir: filepath.Join(b.project, dir), Scope: scope, Shared: shared, State: filepath.Join(root, "state"), Cache: filepath.Join(root, "cache"), Key: b.key}
}

func (b *bench) put(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.project, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		b.t.Fatal(err)
	}
}

// event returns the call of a command line in a folder of the project.
func (b *bench) event(dir, line string) *cardea.Event {
	return b.analyse(&cardea.Event{Kind: cardea.PermissionRequest, Mode: cardea.ModeDefault, Cwd: filepath.Join(b.project, dir), Project: b.project,
		Call: &cardea.Call{Tool: "Bash", Name: "Bash", Known: true, Input: map[string]any{"command": line}}})
}

// file returns a call of a tool that takes a file.
func (b *bench) file(tool, path string) *cardea.Event {
	return b.analyse(&cardea.Event{Kind: cardea.PermissionRequest, Mode: cardea.ModeDefault, Cwd: b.project, Project: b.project,
		Call: &cardea.Call{Tool: tool, Name: tool, Known: true, EditsFiles: tool != "Read", Input: map[string]any{"file_path": filepath.Join(b.project, path)}}})
}

func (b *bench) analyse(ev *cardea.Event) *cardea.Event {
	return call.Analyse(ev, disk.System(filepath.Join(filepath.Dir(b.project), "home")))
}

// found returns the lessons that a decision about a call makes, as a store returns them.
func (b *bench) found(effect cardea.Effect, ev *cardea.Event) []*lesson.Found {
	b.t.Helper()
	drafts, err := b.keyer.DraftsOf(ev, effect)
	if err != nil {
		return nil
	}
	var out []*lesson.Found
	for _, d := range drafts {
		out = append(out, &lesson.Found{Record: lesson.Record{Effect: d.Effect, Tool: d.Tool.String(), Subject: d.Subject.String(), Role: d.Role.String(), Dir: d.Dir.String(),
			Kind: d.Kind, By: lesson.ByPerson, Who: "liam", When: today, Files: d.Files}, Scope: cardea.ScopeProject, Own: true, File: "allow.jsonl", Line: 1})
	}
	return out
}

// teach stores a decision about a call in the first place, or in the named one.
func (b *bench) teach(effect cardea.Effect, ev *cardea.Event, place int, change ...func(*lesson.Draft)) {
	b.t.Helper()
	drafts, err := b.keyer.DraftsOf(ev, effect)
	if err != nil {
		b.t.Fatal(err)
	}
	for i := range drafts {
		drafts[i].By, drafts[i].When, drafts[i].Who = lesson.ByPerson, today, redact.New().Text("liam")
		for _, f := range change {
			f(&drafts[i])
		}
	}
	w, err := lesson.NewWriter(b.places[place], words.Section())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := w.Teach(drafts...); err != nil {
		b.t.Fatal(err)
	}
}

var words = near.NewWords(0.7, 3)

// fixed is a finder that returns the same lessons for every call.
type fixed []*lesson.Found

func (f fixed) Find(context.Context, *lesson.Source, *lesson.Key) (out []near.Like, _ error) {
	for _, l := range f {
		out = append(out, near.Like{Lesson: l, Score: 0.9})
	}
	return out, nil
}

// gate returns a gate with the given finders of similar lessons. It also allows parts
// without effect.
func (b *bench) gate(finders ...near.Finder) *cardea.Gate {
	sources := func(*cardea.Event) ([]lesson.Source, cardea.Issues) {
		var out []lesson.Source
		for _, p := range b.places {
			store := lesson.Open(p)
			if store == nil {
				if _, is := finders[0].(fixed); !is {
					continue
				}
			}
			out = append(out, lesson.Source{Store: store, Keyer: b.keyer, Allows: true, Trusted: true})
		}
		return out, nil
	}
	d := near.New(near.Options{Sources: sources, Finders: finders, Analyse: b.analyse, Now: today.Add(time.Hour),
		System: shape.Lookups{Resolve: paths.Resolve, Secret: func(text string) bool { return len(redact.New().Find(text)) > 0 }}})
	return &cardea.Gate{Placements: []cardea.Placement{{Decider: noeffect.New()}, {Decider: d, Stage: cardea.StageNear}}}
}

// decide returns the verdict on a call.
func (b *bench) decide(ev *cardea.Event, finders ...near.Finder) cardea.Verdict {
	return b.gate(finders...).Decide(context.Background(), ev)
}
