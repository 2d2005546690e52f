package packs_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/call"
	"cardea.dev/internal/testing/testrun"
	"cardea.dev/packs"
	"cardea.dev/packs/internal/table"
)

// stand returns the environment of the packs' examples.
func stand() rules.Stand {
	known := func(name string) bool { _, ok := harness.Tool(name); return ok }
	return rules.Stand{Options: rules.Options{Home: "/home/user", Own: rules.OwnInTests}, Project: "/home/user/project", Harness: "claude-code", Known: known}
}

func analyse(ev *cardea.Event) *cardea.Event {
	return call.Analyse(ev, knowledge.System{Home: "/home/user"})
}

func TestTableIsCurrent(t *testing.T) {
	want, err := table.Source(".")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("table.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("table.go is not what the packs say; run go generate ./packs")
	}
}

func TestPagesAreCurrent(t *testing.T) {
	want, err := table.Pages(".")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../docs/packs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(want) {
		t.Errorf("docs/packs has %d pages, the packs make %d; run go generate ./packs", len(files), len(want))
	}
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join("../docs/packs", name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != text {
			t.Errorf("docs/packs/%s is not what the packs say; run go generate ./packs", name)
		}
	}
}

func TestPacks(t *testing.T) {
	for _, res := range rules.RunTests(packs.Rules(), stand(), analyse) {
		if res.Problem != "" {
			t.Errorf("%s: %s: test in line %d, %s: %s", res.Source, res.Rule, res.Test.Line, res.Test.Input, res.Problem)
		}
	}
}

func examples(t *testing.T, r rules.Rule) []rules.Test {
	t.Helper()
	tests, err := r.Examples()
	if err != nil {
		t.Fatal(err)
	}
	return tests
}

func TestEveryRuleHasExamplesBothWays(t *testing.T) {
	for _, r := range packs.Rules() {
		fires, silent := false, false
		for _, test := range examples(t, r) {
			fires = fires || test.Expect != "none" && test.Expect != "pass"
			silent = silent || test.Expect == "none"
		}
		if !fires || !silent {
			t.Errorf("%s: rule %s needs a test that it fires on and one that it is silent on", r.Source, r.ID)
		}
		if r.Message == "" || r.Severity == "" || r.Because == "" {
			t.Errorf("%s: rule %s needs a message, a severity and a cause", r.Source, r.ID)
		}
	}
}

// verdict returns the effect and the opinions of all packs on a command.
func verdict(t testing.TB, d *rules.Decider, command string) (cardea.Effect, []cardea.Opinion) {
	t.Helper()
	ev := bash(command)
	ev = analyse(ev)
	ops, err := d.Decide(context.Background(), ev)
	if err == nil {
		var possible []cardea.Opinion
		possible, err = ev.PotentialCalls().Opinions(context.Background(), d, ops)
		ops = append(ops, possible...)
	}
	if err != nil {
		t.Fatal(err)
	}
	top := cardea.Abstain
	for _, o := range ops {
		top = top.JoinOpinion(o.Effect)
	}
	return top, ops
}

func bash(command string) *cardea.Event {
	return &cardea.Event{Kind: cardea.PreToolUse, Mode: cardea.ModeDefault, Cwd: "/home/user/project", Project: "/home/user/project",
		Call: &cardea.Call{Tool: "Bash", Name: "Bash", Known: true, Input: map[string]any{"command": command}}}
}

// TestHostileLines tests that lines made to slow down the rules do not use up the gate's
// time. The limit detects hanging and is not a measurement.
func TestHostileLines(t *testing.T) {
	repeat := func(s string, n int) string { return strings.Repeat(s, testrun.Pick(n/4, n)) }
	d := rules.New(rules.ListOf(packs.Rules()), stand().Options)
	for name, line := range map[string]string{
		"patterns": repeat("rm -rf *; ", 4000),
		"paths":    repeat("rm -rf a/b/c/d/e; ", 4000),
		"operands": "rm " + repeat("a*b/c?d ", 50_000),
		"words":    "git push " + repeat("x", 1_000_000),
		"brackets": "cat " + repeat("[[:", 300_000),
		"git":      repeat("git push -x; ", 4000),
		"fields":   repeat("psql <<< x; python x; ", 3000),
		"agents":   repeat("claude; export A=b; ", 3000),
	} {
		begin := time.Now()
		ev := bash(line)
		ev = analyse(ev)
		analysed := time.Since(begin)
		if _, err := d.Decide(t.Context(), ev); err != nil {
			t.Error(err)
		}
		took := time.Since(begin) - analysed
		t.Logf("%s: %d parts, analysed in %s, decided in %s", name, len(ev.Call.Parts), analysed, took)
		if took > 20*time.Second {
			t.Errorf("%s: took %s", name, took)
		}
	}
}
