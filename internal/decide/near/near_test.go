package near_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/decide/near"
	"cardea.dev/internal/memory/lesson"
)

// reasons returns the reasons of a verdict's opinions.
func reasons(v cardea.Verdict) string {
	var out []string
	for _, o := range v.Opinions {
		if o.Decider == "near" {
			out = append(out, fmt.Sprintf("%s %s %s", o.Effect, o.Scope, o.Reason))
		}
	}
	return strings.Join(out, "\n")
}

const taught, asked = "pytest --cov tests/auth/", "pytest --cov tests/api/"

// A lesson applies to a call of the same shape, and its reason says so.
func TestAllow(t *testing.T) {
	b := newBench(t)
	b.teach(cardea.Allow, b.event("", taught), 0)
	v := b.decide(b.event("", asked), words)
	if v.Effect != cardea.Allow || v.By == "" || v.Reason != "like `"+taught+"`, allowed by liam on 2026-11-20; the same shape, other operand" {
		t.Errorf("%s %s: %s", v.Effect, v.By, v.Reason)
	}
	for line, want := range map[string]cardea.Effect{
		"cd tests/.. && " + asked:                   cardea.Allow, // each command is decided by itself
		asked + "; rm -rf x":                        cardea.Abstain,
		asked + " & ":                               cardea.Abstain,
		asked + " || x":                             cardea.Abstain,
		asked + " | tee x":                          cardea.Abstain,
		"sudo " + asked:                             cardea.Abstain,
		"pytest --cov --exitfirst tests/api/":       cardea.Abstain,
		"NODE_OPTIONS=-r./x " + asked:               cardea.Abstain,
		"pytest --cov tests/api/ tests/db/":         cardea.Abstain,
		"pytest --cov \"$X\"":                       cardea.Abstain,
		"for x in 1; do " + asked + "; done":        cardea.Abstain,
		"pytest --cov tests/api/ > src/conftest.py": cardea.Abstain,
	} {
		if v := b.decide(b.event("", line), words); v.Effect != want {
			t.Errorf("%q: %s, want %s: %s", line, v.Effect, want, reasons(v))
		}
	}
}

// A lesson of another shape decides nothing. It is a hint for the person and the judge.
func TestHint(t *testing.T) {
	b := newBench(t)
	b.teach(cardea.Allow, b.event("", "git push origin feature/login"), 0)
	v := b.decide(b.event("", "git push --force origin feature/login"), words)
	if v.Effect != cardea.Abstain || !strings.Contains(reasons(v), "abstain project like `git push origin feature/login`, allowed by liam on 2026-11-20; another shape: it has the option --force") {
		t.Errorf("%s: %s", v.Effect, reasons(v))
	}
}

// An ask applies to a similar call of any shape. A deny leaves the call to a person.
func TestAskAndDeny(t *testing.T) {
	b := newBench(t)
	b.teach(cardea.Ask, b.event("", "git push origin feature/login"), 0)
	b.teach(cardea.Deny, b.event("", "terraform apply -target module.web"), 0)
	b.teach(cardea.Ask, b.file("Write", ".claude/settings.json"), 0)
	for line, want := range map[string]cardea.Effect{
		"git push --force origin feature/login": cardea.Ask,
		"terraform plan -target module.web":     cardea.Defer,
		"git push":                              cardea.Abstain, // too short to be compared by words
		"git status --short --branch":           cardea.Abstain,
	} {
		if v := b.decide(b.event("", line), words); v.Effect != want {
			t.Errorf("%q: %s, want %s: %s", line, v.Effect, want, reasons(v))
		}
	}
	for _, tool := range []string{"Edit", "Write"} {
		if v := b.decide(b.file(tool, ".claude/settings.local.json"), words); v.Effect != cardea.Ask {
			t.Errorf("%s of a similar file: %s: %s", tool, v.Effect, reasons(v))
		}
	}
}

// The strictest of all scopes and roles applies, even if a more similar lesson is in
// another one.
func TestPrecedence(t *testing.T) {
	role := func(r string) func(*lesson.Draft) {
		return func(d *lesson.Draft) { d.Role = redact.New().Text(r) }
	}
	for _, c := range []struct {
		name string
		// first is a lesson of the project, second one of the user.
		first, second         cardea.Effect
		roleFirst, roleSecond string
		role                  string
		want                  cardea.Effect
	}{
		{"ask of the user over allow of the project", cardea.Allow, cardea.Ask, "*", "*", "", cardea.Ask},
		{"ask of the project over allow of the user", cardea.Ask, cardea.Allow, "*", "*", "", cardea.Ask},
		{"deny of the user over allow of the project", cardea.Allow, cardea.Deny, "*", "*", "", cardea.Defer},
		{"deny of the project over allow of the user", cardea.Deny, cardea.Allow, "*", "*", "", cardea.Defer},
		{"ask over deny", cardea.Deny, cardea.Ask, "*", "*", "", cardea.Ask},
		{"all agree", cardea.Allow, cardea.Allow, "*", "*", "", cardea.Allow},
		{"of this role", cardea.Allow, cardea.Ask, "tester", "coder", "tester", cardea.Allow},
		{"of another role", cardea.Allow, cardea.Ask, "tester", "coder", "coder", cardea.Ask},
		{"of no role that is asked", cardea.Allow, cardea.Ask, "tester", "coder", "docs", cardea.Abstain},
		{"of a role, for an agent without", cardea.Allow, cardea.Allow, "tester", "coder", "", cardea.Abstain},
		{"of all and of a role", cardea.Allow, cardea.Ask, "*", "tester", "tester", cardea.Ask},
		{"of all, for another role", cardea.Allow, cardea.Ask, "*", "tester", "docs", cardea.Allow},
	} {
		b := newBench(t)
		b.teach(c.first, b.event("", taught), 0, role(c.roleFirst))
		b.teach(c.second, b.event("", "pytest --cov tests/db/"), 1, role(c.roleSecond))
		v := b.decide(b.event("", asked).With(func(e *cardea.Event) { e.Role = c.role }), words)
		if v.Effect != c.want {
			t.Errorf("%s: %s, want %s\n%s", c.name, v.Effect, c.want, reasons(v))
		}
	}
}

// A lesson does not apply to a similar call if it would not apply to the call itself.
func TestLessonsThatDoNotCount(t *testing.T) {
	b := newBench(t)
	ev := b.event("", asked)
	good := b.found(cardea.Allow, b.event("", taught))[0]
	for name, change := range map[string]func(*lesson.Found){
		"":                    func(*lesson.Found) {},
		"written by others":   func(f *lesson.Found) { f.Own = false },
		"expired":             func(f *lesson.Found) { f.Expires = today },
		"of the judge":        func(f *lesson.Found) { f.By = lesson.ByJudge },
		"of another role":     func(f *lesson.Found) { f.Role = "coder" },
		"in another folder":   func(f *lesson.Found) { f.Dir = "web" },
		"without the sandbox": func(f *lesson.Found) { f.Unsandboxed = true },
		"of another tool":     func(f *lesson.Found) { f.Tool = "Monitor" },
		"bound to a file":     func(f *lesson.Found) { f.Files = map[string]string{"conftest.py": "sha256:00"} },
		"another subject":     func(f *lesson.Found) { f.Subject = "pytest --cov tests/auth/ ; x" },
		"no command":          func(f *lesson.Found) { f.Subject = "#" },
	} {
		f := *good
		change(&f)
		v := b.decide(ev, fixed{&f})
		if want := name == ""; (v.Effect == cardea.Allow) != want {
			t.Errorf("%q: %s: %s", name, v.Effect, reasons(v))
		}
	}
	unsandboxed := *ev.Call
	unsandboxed.Unsandboxed = true
	if v := b.decide(ev.With(func(e *cardea.Event) { e.Call = &unsandboxed }), fixed{good}); v.Effect == cardea.Allow {
		t.Error("a call without the sandbox is allowed")
	}
	if v := b.decide(b.event("web", asked), fixed{good}); v.Effect == cardea.Allow {
		t.Error("a call in another folder is allowed")
	}
}

// If a script changed since the person allowed the call, the lesson applies to no similar
// call.
func TestScriptThatChanged(t *testing.T) {
	b := newBench(t)
	b.put("test/a.bats", "true\n")
	b.put("test/b.bats", "true\n")
	b.teach(cardea.Allow, b.event("", "bats --tap test/a.bats"), 0)
	ev := b.event("", "bats --tap test/b.bats")
	if v := b.decide(ev, words); v.Effect != cardea.Allow {
		t.Fatalf("%s: %s", v.Effect, reasons(v))
	}
	b.put("package.json", `{"scripts": {}}`)
	npx := b.event("", "npx jest src/auth.test.ts")
	b.teach(cardea.Allow, npx, 0)
	other := "npx jest src/api.test.ts"
	if v := b.decide(b.event("", other), words); v.Effect != cardea.Allow {
		t.Fatalf("%s: %s", v.Effect, reasons(v))
	}
	f := b.found(cardea.Allow, npx)[0]
	if len(f.Files) == 0 {
		t.Skip("nothing is bound")
	}
	b.put("package.json", `{"scripts": {"pretest": "curl x | sh"}}`)
	if v := b.decide(b.event("", other), words); v.Effect == cardea.Allow {
		t.Errorf("%s: %s", v.Effect, reasons(v))
	}
}

// Tools that read and change files are compared by their files.
func TestFiles(t *testing.T) {
	b := newBench(t)
	b.put("src/b.ts", "x")
	b.put("src/c.py", "x")
	if err := os.Symlink("/etc/passwd", filepath.Join(b.project, "src/link.ts")); err != nil {
		t.Fatal(err)
	}
	lessons := fixed(append(b.found(cardea.Allow, b.file("Edit", "src/a.ts")), b.found(cardea.Allow, b.file("Write", "src/new/x.ts"))...))
	for _, c := range []struct {
		tool, path string
		want       cardea.Effect
	}{
		{"Edit", "src/b.ts", cardea.Allow},
		{"Write", "src/b.ts", cardea.Abstain}, // another tool, and another kind of change
		{"Write", "src/new/y.ts", cardea.Allow},
		{"Write", "src/y.ts", cardea.Abstain},
		{"Edit", "src/c.py", cardea.Abstain},
		{"Edit", "src/link.ts", cardea.Abstain},
		{"Edit", "tests/api/x.py", cardea.Abstain},
		{"Edit", "../x.ts", cardea.Abstain},
		{"Edit", "src/../../x.ts", cardea.Abstain},
		{"Edit", "src/.x.ts", cardea.Abstain},
		{"Edit", "src/package.json", cardea.Abstain},
		{"Read", "src/b.ts", cardea.Abstain},
	} {
		if v := b.decide(b.file(c.tool, c.path), lessons); v.Effect != c.want {
			t.Errorf("%s %s: %s, want %s: %s", c.tool, c.path, v.Effect, c.want, reasons(v))
		}
	}
}

// failing is a finder that must not be asked.
type failing struct{ t *testing.T }

func (f failing) Find(context.Context, *lesson.Source, *lesson.Key) ([]near.Like, error) {
	f.t.Error("the second finder is asked")
	return nil, nil
}

// A later finder is asked only if no earlier one found a lesson that decides.
func TestFindersInOrder(t *testing.T) {
	b := newBench(t)
	b.teach(cardea.Allow, b.event("", taught), 0)
	b.decide(b.event("", asked), words, failing{t})
	f := b.found(cardea.Allow, b.event("", taught))
	if v := b.decide(b.event("", "pytest --cov tests/zzz/yyy/xxx/www/vvv"), words, fixed(f)); v.Effect != cardea.Allow {
		t.Errorf("what the second finder found does not count: %s: %s", v.Effect, reasons(v))
	}
}

// The index of a large file finds the lessons of the file.
func TestLargeFiles(t *testing.T) {
	b := newBench(t)
	w, err := lesson.NewWriter(b.places[0], words.Section())
	if err != nil {
		t.Fatal(err)
	}
	var drafts []lesson.Draft
	for i := range 600 {
		d, err := b.keyer.DraftsOf(b.event("", fmt.Sprintf("go test ./pkg/p%d", i)), cardea.Allow)
		if err != nil {
			t.Fatal(err)
		}
		d[0].By, d[0].When, d[0].Who = lesson.ByPerson, today, redact.New().Text("liam")
		drafts = append(drafts, d...)
	}
	if err := w.Teach(drafts...); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Build(time.Second); err != nil {
		t.Fatal(err)
	}
	store := lesson.Open(b.places[0])
	if _, ok := store.Section(words.Section().Name); !ok || store.Lacks(words.Section().Name) || !store.Lacks("other") {
		t.Error("the index has no section for words")
	}
	store.Close()
	if v := b.decide(b.event("", "go test ./pkg/other"), words); v.Effect != cardea.Allow {
		t.Errorf("%s: %s", v.Effect, reasons(v))
	}
	if v := b.decide(b.event("", "go test -exec ./x ./pkg/other"), words); v.Effect == cardea.Allow {
		t.Errorf("%s: %s", v.Effect, reasons(v))
	}
}

// Asking and denying lessons do not depend on the index of words. An index that was
// changed, or that lacks the section, is discarded and built again.
func TestForgedWords(t *testing.T) {
	for _, forged := range []string{"", "a changed page", "no such section", "cut short"} {
		b := newBench(t)
		for effect, form := range map[cardea.Effect]string{cardea.Ask: "kubectl rollout restart deployment/a%d", cardea.Deny: "terraform apply stack%d out.plan"} {
			var drafts []lesson.Draft
			for i := range 400 {
				d, err := b.keyer.DraftsOf(b.event("", fmt.Sprintf(form, i)), effect)
				if err != nil {
					t.Fatal(err)
				}
				d[0].By, d[0].When, d[0].Who = lesson.ByPerson, today, redact.New().Text("liam")
				drafts = append(drafts, d...)
			}
			w, err := lesson.NewWriter(b.places[0], words.Section())
			if err == nil {
				err = w.Teach(drafts...)
			}
			if err == nil && forged == "no such section" {
				w, err = lesson.NewWriter(b.places[0])
			}
			if err == nil {
				_, err = w.Build(time.Minute)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		files, err := filepath.Glob(filepath.Join(b.places[0].Cache, "lessons", "*-*"))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		pages, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		switch forged {
		case "a changed page":
			// The section of words comes last: break each of its pages, and no others.
			for at := len(pages)/2 + 100; at < len(pages); at += 1024 {
				pages[at] ^= 1
			}
		case "cut short":
			pages = pages[:len(pages)/4096*2048]
		}
		if err := os.WriteFile(files[0], pages, 0o600); err != nil {
			t.Fatal(err)
		}
		for line, want := range map[string]cardea.Effect{"kubectl rollout restart deployment/other": cardea.Ask, "terraform apply mine out.plan": cardea.Defer} {
			if v := b.decide(b.event("", line), words); v.Effect != want {
				t.Errorf("%s: %s is %s, not %s: %s", forged, line, v.Effect, want, reasons(v))
			}
		}
		store := lesson.Open(b.places[0])
		if _, err := words.Find(context.Background(), &lesson.Source{Store: store, Keyer: b.keyer}, &lesson.Key{Tool: "Bash", Subject: "kubectl rollout restart deployment/other"}); err != nil {
			t.Error(err)
		}
		if stale := store.NeedsBuild(); stale != (forged != "") {
			t.Errorf("%q: the index is to be made again: %v", forged, stale)
		}
		store.Close()
	}
}

// A hint about a whole line appears once, for any number of its commands and finders.
func TestHintAboutALine(t *testing.T) {
	b := newBench(t)
	b.teach(cardea.Allow, b.event("", "pytest tests/auth 2>&1 | tail -5"), 0)
	v := b.decide(b.event("", "pytest tests/auth 2>&1 | tail -20"), words, near.NewWords(0.5, 3))
	if got := reasons(v); v.Effect != cardea.Abstain || strings.Count(got, "\n") > 0 || !strings.HasSuffix(got, "another shape: in tail, -20 may not stand for -5") {
		t.Errorf("%s: %s", v.Effect, got)
	}
	for _, o := range v.Opinions {
		if o.Decider == "near" && o.Part != cardea.WholeCall {
			t.Errorf("it is about part %d", o.Part)
		}
	}
}
