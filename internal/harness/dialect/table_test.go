package dialect_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/dialect"
)

var update = flag.Bool("update", false, "write the table of docs/harnesses.md")

const (
	page  = "../../../docs/harnesses.md"
	begin = "<!-- what each harness can be told: go test ./internal/harness/dialect -run TestPageIsCurrent -update -->\n"
	end   = "<!-- end -->\n"
)

// titles are the common names of the harnesses, and the versions that were tested.
var titles = map[string][2]string{"claude-code": {"Claude Code", "2.1.332"}, "copilot-cli": {"Copilot CLI", "1.0.102"}, "codex": {"Codex CLI", "0.171.0"},
	"gemini-cli": {"Gemini CLI", "0.61.0"}, "qwen-code": {"Qwen Code", "0.24.4"}, "opencode": {"OpenCode", "1.18.33"}, "factory-droid": {"Droid", "0.215.0"},
	"cline": {"Cline", "3.0.65"}, "pi": {"pi", "1.5.2"}, "cursor": {"Cursor", ""}, "vscode": {"VS Code", ""}, "windsurf-cascade": {"Windsurf", ""},
	"kiro": {"Kiro", ""}, "amp": {"Amp", ""}, "augment": {"Augment", ""}, "crush": {"Crush", ""}}

// The table of the page is what the adapters declare.
func TestPageIsCurrent(t *testing.T) {
	var b strings.Builder
	b.WriteString("| harness | `--harness` | seen with | an allow | a question | a question where nobody attends | stopping the agent | another input |\n|---|---|---|---|---|---|---|---|\n")
	line := func(a harness.Adapter, wire, what string) {
		tell := func(e cardea.Effect, rewrite, alone bool) cardea.Answer {
			ev := &cardea.Event{Kind: cardea.PreToolUse, Wire: wire, Mode: cardea.ModeDefault, Call: &cardea.Call{Tool: "Bash"}}
			if alone {
				ev.Attendance = cardea.NobodyAttends
			}
			v := cardea.Verdict{Effect: e, Reason: "r", Message: "r"}
			if rewrite {
				v.Rewrite = map[string]any{"command": "x"}
			}
			return cardea.Express(v, a.Capabilities(), ev)
		}
		ask := map[cardea.Effect]string{cardea.Ask: "is asked", cardea.Deny: "is a denial", cardea.Defer: "is its own prompt"}
		alone := ask[tell(cardea.Ask, false, true).Effect]
		if a.Name() == "claude-code" || a.Name() == "copilot-cli" || a.Name() == "qwen-code" {
			alone = "is a denial of its own"
		}
		other := "no"
		if tell(cardea.Allow, true, false).Rewrite != nil {
			other = "yes"
		}
		title := titles[a.Name()]
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s | %s | %s | %s |\n", title[0]+what, a.Name(), cmp.Or(title[1], "documentation alone"),
			map[cardea.Effect]string{cardea.Allow: "skips its prompt", cardea.Abstain: "says nothing"}[tell(cardea.Allow, false, false).Effect],
			ask[tell(cardea.Ask, false, false).Effect], alone,
			map[cardea.Effect]string{cardea.Halt: "yes", cardea.Deny: "the call alone"}[tell(cardea.Halt, false, false).Effect], other)
	}
	for _, a := range everyone() {
		if d, ok := a.(*dialect.Dialect); ok && d.Seen() != (titles[a.Name()][1] != "") {
			t.Errorf("%s: seen, or not?", a.Name())
		}
		if a.Name() == "cursor" {
			line(a, "beforeShellExecution", ", shell and MCP")
			line(a, "preToolUse", ", other tools")
			continue
		}
		line(a, "", "")
	}
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(raw), begin)
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no place for the table", page)
	}
	want := before + begin + b.String() + end + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(raw) {
		t.Errorf("the table of %s is not current; run: go test ./internal/harness/dialect -run TestPageIsCurrent -update", page)
	}
}
