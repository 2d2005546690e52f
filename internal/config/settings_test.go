package config

import (
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/document"
)

func settings(t *testing.T, text string) SettingsFile {
	t.Helper()
	f := ParseSettings("cardea.yaml", cardea.ScopeUser, []byte(text))
	for _, p := range f.Problems {
		t.Errorf("problem: %s", p)
	}
	return f
}

func TestParseSettings(t *testing.T) {
	f := settings(t, `
version: 1
default: {attended: ask, unattended: deny}
on_error: deny
packs: {git: off, bash: on}
rules:
  off: [web-plain-http, secrets-*]
  effect: {git-clean: ask}
`)
	if *f.Attended != cardea.Ask || *f.Unattended != cardea.Deny || *f.OnError != cardea.OnErrorDeny {
		t.Errorf("security values: %v %v %v", *f.Attended, *f.Unattended, *f.OnError)
	}
	if !slices.Equal(f.Switches.Off, []string{"git", "web-plain-http", "secrets-*"}) || f.Switches.Effect["git-clean"] != cardea.Ask {
		t.Errorf("switches: %+v", f.Switches)
	}
}

func TestEmptySettingsAreSilent(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "version: 1\n", "{}"} {
		f := settings(t, text)
		if f.Attended != nil || f.OnError != nil || len(f.Switches.Off) != 0 {
			t.Errorf("%q: %+v", text, f)
		}
	}
}

// All mistakes are told at once, with their place, and what is right counts.
func TestSettingsProblems(t *testing.T) {
	f := ParseSettings("/u/cardea.yaml", cardea.ScopeUser, []byte(`version: 2
on_eror: deny
default: {atended: ask, unattended: maybe}
packs: {git: of}
rules: {off: {a: b}, effect: {x: denny, y: deny}}
judge: {enabled: true}
on_error: deny
`))
	text := ""
	for _, p := range append(f.Problems, f.Later...) {
		text += p.String() + "\n"
	}
	for _, want := range []string{
		"/u/cardea.yaml:1:10:", "/u/cardea.yaml:2:1: unknown key \"on_eror\" (did you mean \"on_error\"?)",
		"unknown key \"atended\" (did you mean \"attended\"?)", "unknown value \"maybe\"", "unknown value \"of\"",
		"/u/cardea.yaml:6:8: \"judge\" is not supported by this version", "unknown value \"denny\"", ":5:",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no problem says %q:\n%s", want, text)
		}
	}
	if f.OnError == nil || *f.OnError != cardea.OnErrorDeny || f.Switches.Effect["y"] != cardea.Deny {
		t.Error("a broken key took others with it")
	}
	if !document.Broken(f.Problems) {
		t.Error("the file counts as whole")
	}
}

func TestEveryLaterKeyWarnsOnly(t *testing.T) {
	for _, key := range later() {
		f := ParseSettings("f", cardea.ScopeUser, []byte(key+": {}\n"))
		if len(f.Problems) != 0 || len(f.Later) != 1 || !f.Later[0].Warning || !strings.Contains(f.Later[0].Text, "not supported by this version") {
			t.Errorf("%s: %v, %v", key, f.Problems, f.Later)
		}
	}
}

func TestMerge(t *testing.T) {
	strict := "default: {attended: deny, unattended: deny}\non_error: deny\nrules: {off: [p]}\n"
	lax := "default: {attended: allow, unattended: allow}\non_error: allow\nrules: {off: [p], effect: {x: allow}}\npacks: {git: off}\n"
	for _, c := range []struct {
		name, user, project string
		trusted             bool
		effect              cardea.Effect
		onError             cardea.OnError
	}{
		{"nothing", "", "", true, cardea.Abstain, cardea.OnErrorDefer},
		{"user loosens", lax, "", true, cardea.Allow, cardea.OnErrorAllow},
		{"user tightens", strict, lax, true, cardea.Deny, cardea.OnErrorDeny},
		{"trusted project tightens", lax, strict, true, cardea.Deny, cardea.OnErrorDeny},
		{"trusted project cannot loosen the default", "", lax, true, cardea.Abstain, cardea.OnErrorDefer},
		{"untrusted project does not count", "", strict, false, cardea.Abstain, cardea.OnErrorDefer},
		{"untrusted project cannot loosen", strict, lax, false, cardea.Deny, cardea.OnErrorDeny},
	} {
		got := Merge(settings(t, c.user), settings(t, c.project), c.trusted)
		if got.Default.Attended != c.effect || got.Default.Unattended != c.effect || got.OnError != c.onError {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestSwitchesStayInTheirScope(t *testing.T) {
	user, project := settings(t, "rules: {off: [a]}"), settings(t, "rules: {off: [b]}\npacks: {git: off}")
	got := Merge(user, project, true)
	if !slices.Equal(got.User.Off, []string{"a"}) || !slices.Equal(got.Project.Off, []string{"git", "b"}) {
		t.Errorf("trusted: %+v", got)
	}
	if got := Merge(user, project, false); len(got.Project.Off) != 0 {
		t.Errorf("untrusted: %+v", got)
	}
}

func TestEffective(t *testing.T) {
	user, project := settings(t, "on_error: deny\nrules: {off: [x]}\n"), settings(t, "default: {attended: ask}\n")
	project.Scope, project.Path = cardea.ScopeProject, "p.yaml"
	s := Merge(user, project, true)
	var lines []string
	for _, e := range s.Effective(user, project, true) {
		lines = append(lines, e.Key+"="+e.Value+" "+e.Source+" "+e.Scope)
	}
	want := []string{"default.attended=ask p.yaml:1 project", "default.unattended=abstain default ", "on_error=deny cardea.yaml:1 user", "rules.off=x cardea.yaml:2 user"}
	if !slices.Equal(lines, want) {
		t.Errorf("got  %q\nwant %q", lines, want)
	}
}
