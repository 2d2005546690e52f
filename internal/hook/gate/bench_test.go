package gate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/disk"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/harness/call"
	"cardea.dev/internal/memory/lesson"
)

// bench is a project with a person's settings and lessons, all loaded.
type bench struct {
	where   inforce.Where
	project string
	home    string
}

func newBench(tb testing.TB) *bench {
	tb.Helper()
	root := paths.Real(tb.TempDir())
	x := &bench{project: filepath.Join(root, "work", "p"), home: filepath.Join(root, "home")}
	for _, name := range []string{"src/app.ts", "tests/auth/test_login.py", "tests/auth/test_token.py"} {
		file := filepath.Join(x.project, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x\n"), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	x.where = inforce.Where{Project: x.project, Start: x.project, State: filepath.Join(root, "state"),
		Dirs: project.Dirs{Home: x.home, User: filepath.Join(x.home, "config"), Cache: filepath.Join(root, "cache")}}
	if _, err := state.LoadKey(x.where.State); err != nil {
		tb.Fatal(err)
	}
	return x
}

// event returns a call as a harness sends it.
func (x *bench) event(tool string, input map[string]any, role string) *cardea.Event {
	return &cardea.Event{Kind: cardea.PermissionRequest, Harness: "claude-code", Session: "s", Cwd: x.project, Project: x.project, Home: x.home, Mode: cardea.ModeDefault, Role: role,
		Call: &cardea.Call{Tool: tool, Name: tool, Known: true, EditsFiles: tool == "Write", Input: input}}
}

func (x *bench) analyse(ev *cardea.Event) *cardea.Event { return call.Analyse(ev, disk.System(x.home)) }

var benchDay = time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC)

// teach saves an allow of a command and of n other commands in the person's folder.
func (x *bench) teach(tb testing.TB, command string, others int) {
	tb.Helper()
	l := inforce.Load(x.where)
	places := l.LessonPlaces()
	at := places[len(places)-1]
	for _, p := range places {
		if p.Scope == cardea.ScopeUser && !p.Local {
			at = p
		}
	}
	key, err := state.ReadKey(x.where.State)
	if err != nil {
		tb.Fatal(err)
	}
	drafts, err := lesson.NewKeyer(redact.New(), key, x.project).DraftsOf(x.analyse(x.event("Bash", map[string]any{"command": command}, "")), cardea.Allow)
	if err != nil {
		tb.Fatal(err)
	}
	forms := []string{
		"git add src/m%d/f%d.ts",
		"go test ./pkg/p%d/q%d",
		"npx prettier --write src/c%d/x%d.ts",
		"cargo test -p crate%d%d",
		"git commit -m 'change %d of %d'",
		"kubectl get pods -n ns%d-%d",
		"make target%d%d",
		"docker compose up -d svc%d-%d",
		"curl -sS https://h%d.example.com/%d",
		"node scripts/s%d/t%d.js",
	}
	for i := range others {
		d := drafts[0]
		d.Subject = redact.New().Text(fmt.Sprintf(forms[i%len(forms)], i%97, i))
		drafts = append(drafts, d)
	}
	for i := range drafts {
		drafts[i].By, drafts[i].When, drafts[i].Who = lesson.ByPerson, benchDay, redact.New().Text("liam")
	}
	w, err := l.LessonWriter(at)
	if err != nil {
		tb.Fatal(err)
	}
	if err := w.Teach(drafts...); err != nil {
		tb.Fatal(err)
	}
	if _, err := w.Build(time.Minute); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkCheckWarm judges calls in a process that has loaded packs, roles, settings and
// lessons. "whole" is from the harness's input to the verdict, with the analysis of the
// call and every decider. "cascade" is what hookwise measures: removing secrets from the
// command, then roles and lessons. The budgets are 15 µs for a path that a role denies and
// for a lesson about exactly the call. For a similar call they are 20 µs among 1000 lessons
// and 100 µs among 100 000.
func BenchmarkCheckWarm(b *testing.B) {
	const taught, similar = "pytest --cov tests/auth/test_login.py", "pytest --cov tests/auth/test_token.py"
	for _, n := range []int{1000, 100_000} {
		x := newBench(b)
		x.teach(b, taught, n-1)
		written := filepath.Join(x.project, "src", "app.ts")
		for _, c := range []struct {
			name, tool, text, role string
			want                   cardea.Effect
			by                     string
		}{
			{"path denied", "Write", written, "tester", cardea.Deny, "roles"},
			{"exact", "Bash", taught, "", cardea.Allow, "lessons"},
			{"near", "Bash", similar, "", cardea.Allow, "near"},
		} {
			input := map[string]any{"command": c.text}
			if c.tool == "Write" {
				input = map[string]any{"file_path": c.text, "content": "x"}
			}
			l := inforce.Load(x.where)
			l.AssignRole(c.role)
			whole := Build(l, SessionFacts{ID: "s", At: benchDay.Add(time.Hour)}, x.analyse, nil)
			cascade := &cardea.Gate{Placements: slices.DeleteFunc(slices.Clone(whole.Placements), func(s cardea.Placement) bool {
				return !slices.Contains([]string{"roles", "lessons", "near"}, s.Decider.Name())
			})}
			ev, redactor := x.event(c.tool, input, c.role), redact.New()
			analysed := x.analyse(ev)
			for name, judge := range map[string]func() cardea.Verdict{
				"whole": func() cardea.Verdict { return whole.Decide(context.Background(), x.analyse(ev)) },
				"cascade": func() cardea.Verdict {
					redactor.Find(c.text)
					return cascade.Decide(context.Background(), analysed)
				},
			} {
				b.Run(fmt.Sprintf("%s/%s/of %d", name, c.name, n), func(b *testing.B) {
					if v := judge(); v.Effect != c.want || !strings.HasPrefix(v.By, c.by+":") {
						b.Fatalf("%s by %s, not %s by %s: %+v", v.Effect, v.By, c.want, c.by, v.Opinions)
					}
					b.ReportAllocs()
					for b.Loop() {
						judge()
					}
				})
			}
		}
		b.Run(fmt.Sprintf("analysis/of %d", n), func(b *testing.B) {
			ev := x.event("Bash", map[string]any{"command": similar}, "")
			b.ReportAllocs()
			for b.Loop() {
				x.analyse(ev)
			}
		})
	}
}
