package claudecode_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/sharedtest"
)

// found are the commands that a name's files have, as "file:line tool command", with a
// question mark where they are not certain.
func found(dir, name, args string) (out []string) {
	at := func(elem ...string) string { return filepath.Join(append([]string{dir}, elem...)...) }
	lines, unknown := claudecode.ShellLines(name, args, []string{at("home", ".claude"), at("p", ".claude")}, []string{at("in", "plug"), at("in", "bare")})
	for _, l := range lines {
		rel, _ := filepath.Rel(dir, l.File)
		mark := map[bool]string{true: "", false: "?"}[l.Certain]
		out = append(out, fmt.Sprintf("%s:%d %s %s%s", filepath.ToSlash(rel), l.Line, l.Tool, l.Command, mark))
	}
	for range unknown {
		out = append(out, "unknown")
	}
	return out
}

func TestShellLines(t *testing.T) {
	dir := files(t, map[string]string{
		"home/.claude/commands/a.md":             "!`one`",
		"home/.claude/skills/b/SKILL.md":         "---\nname: \"see\"\n---\nx\t!`two`\r\n!`three`",
		"home/.claude/skills/b/notes/c.md":       "!`no`",
		"p/.claude/commands/ops/deep/c.md":       "\n\n```!\n  first\nsecond\n```\n",
		"p/.claude/commands/crlf.md":             "---\r\nname: x\r\n---\r\n```!\r\nfirst\r\nsecond\r\n```\r\n",
		"p/.claude/commands/kit/SKILL.md":        "!`kit`",
		"p/.claude/commands/a.txt":               "!`no`",
		"p/.claude/commands/ps.md":               "---\nshell: powershell\n---\n!`gci`",
		"p/.claude/commands/args.md":             "!`x $ARGUMENTS`\n!`y $1`\n!`z ${CLAUDE_SKILL_DIR}/a`",
		"p/.claude/commands/args2.md":            "---\narguments: name\n---\n!`x $name $HOME`",
		"p/.claude/commands/block.md":            "```!\necho $ARGUMENTS\n```",
		"p/.claude/commands/marks.md":            "a!`no` `!`no` ``! `x !` !`yes` $!`no` !``  !`never closed",
		"p/.claude/commands/spaces.md":           "\ufeff!`bom`\u00a0!`nbsp`\n!` `",
		"p/.claude/commands/many.md":             strings.Repeat("!`x`\n", 200),
		"p/.claude/commands/large.md":            strings.Repeat("x", 1<<20+1),
		"in/plug/.claude-plugin/plugin.json":     `{"name":"tool","author":{"name":"x"},"commands":["./more/own.md"],"skills":"./kits"}`,
		"in/plug/commands/sub/d.md":              "!`plugged`",
		"in/plug/more/own.md":                    "!`named`",
		"in/plug/kits/e/SKILL.md":                "---\nname: f\n---\n!`kitted`",
		"in/bare/skills/g/SKILL.md":              "!`bare`",
		"p/.claude/skills/category/h/SKILL.md":   "!`nested`",
		"p/.claude/skills/h/references/SKILL.md": "!`also`",
	})
	for _, c := range []struct {
		name, args string
		want       []string
	}{
		{"a", "", []string{"home/.claude/commands/a.md:1 Bash one"}},
		{"/A", "", []string{"home/.claude/commands/a.md:1 Bash one"}},
		{"b", "", []string{"home/.claude/skills/b/SKILL.md:4 Bash two", "home/.claude/skills/b/SKILL.md:5 Bash three"}},
		{"see", "", []string{"home/.claude/skills/b/SKILL.md:4 Bash two", "home/.claude/skills/b/SKILL.md:5 Bash three"}},
		{"ops:deep:c", "", []string{"p/.claude/commands/ops/deep/c.md:4 Bash first\nsecond"}},
		{"c", "", []string{"p/.claude/commands/ops/deep/c.md:4 Bash first\nsecond"}},
		{"other:c", "", nil},
		{"x", "", []string{"p/.claude/commands/crlf.md:5 Bash first\nsecond"}},
		{"kit", "", []string{"p/.claude/commands/kit/SKILL.md:1 Bash kit"}},
		{"ps", "", []string{"p/.claude/commands/ps.md:4 Bash gci", "p/.claude/commands/ps.md:4 PowerShell gci"}},
		{"args", "; b `c` d", []string{"p/.claude/commands/args.md:1 Bash x ; b ", "p/.claude/commands/args.md:2 Bash y ; b ?", "p/.claude/commands/args.md:3 Bash z ${CLAUDE_SKILL_DIR}/a?"}},
		{"args2", "v", []string{"p/.claude/commands/args2.md:4 Bash x v v?"}},
		{"block", "a` b", []string{"p/.claude/commands/block.md:2 Bash echo a` b"}},
		{"marks", "", []string{"p/.claude/commands/marks.md:1 Bash yes"}},
		{"spaces", "", []string{"p/.claude/commands/spaces.md:1 Bash bom", "p/.claude/commands/spaces.md:1 Bash nbsp"}},
		{"large", "", []string{"unknown"}},
		{"tool:sub:d", "", []string{"in/plug/commands/sub/d.md:1 Bash plugged"}},
		{"tool:d", "", []string{"in/plug/commands/sub/d.md:1 Bash plugged"}},
		{"tool:own", "", []string{"in/plug/more/own.md:1 Bash named"}},
		{"tool:f", "", []string{"in/plug/kits/e/SKILL.md:4 Bash kitted"}},
		{"g", "", []string{"in/bare/skills/g/SKILL.md:1 Bash bare"}},
		{"h", "", []string{"p/.claude/skills/category/h/SKILL.md:1 Bash nested"}},
		{"help", "", nil},
	} {
		got := found(dir, c.name, c.args)
		if c.name == "marks" { // of marks in marks more may be found
			got = slices.DeleteFunc(got, func(s string) bool { return s != c.want[0] })
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got  %q\nwant %q", c.name, got, c.want)
		}
	}
	if got := found(dir, "many", ""); got[len(got)-1] != "unknown" {
		t.Errorf("too many commands: %q", got[len(got)-1])
	}
}

func TestProjectConfigs(t *testing.T) {
	dir := files(t, map[string]string{"p/.git/HEAD": "", "p/a/b/x": ""})
	got := claudecode.ProjectConfigs(filepath.Join(dir, "p", "a", "b"))
	want := []string{filepath.Join(dir, "p", "a", "b", ".claude"), filepath.Join(dir, "p", "a", ".claude"), filepath.Join(dir, "p", ".claude")}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// The messages of the real client: nobody can be asked, whatever it says of itself.
func TestPreSkillShellCommandOfTheClient(t *testing.T) {
	for _, by := range []string{"user", "claude"} {
		var sample struct{ Stdin map[string]any }
		name := "tap-claude-2.1.332-PreSkillShellCommand-" + by + ".json"
		sharedtest.ReadJSON(t, &sample, "lab", "payloads-newest", name)
		ev := parse(t, string(harness.Encode(sample.Stdin)))
		if ev.Kind != cardea.PreSkillShellCommand || ev.Call == nil || ev.Call.Tool != "Bash" || len(ev.Faults) > 0 || ev.Attended() {
			t.Errorf("%s: %+v", name, ev)
		}
		a := render(ev, verdict(cardea.Ask, "why"))
		if got := string(a.Stdout); !strings.Contains(got, `"hookEventName":"PreSkillShellCommand","permissionDecision":"deny","permissionDecisionReason":"why`) {
			t.Errorf("%s: an ask is written as %s", name, got)
		}
		for _, e := range []cardea.Effect{cardea.Allow, cardea.Abstain, cardea.Defer} {
			if a := render(ev, verdict(e, "why")); len(a.Stdout) > 0 {
				t.Errorf("%s: %s is written as %s", name, e, a.Stdout)
			}
		}
	}
}

// A plugin whose marketplace is a folder is read there.
func TestPluginRootsInFolders(t *testing.T) {
	dir := files(t, map[string]string{
		"m/.claude-plugin/marketplace.json": `{"metadata":{"pluginRoot":"./x"},"plugins":[{"name":"a","source":"./in/a"},{"name":"b","source":"b"},{"name":"git","source":{"source":"github"}}]}`,
		"g/.claude-plugin/marketplace.json": `{"plugins":[{"name":"c","source":"./c"}]}`,
		"home/plugins/installed_plugins.json": `{"version":2,"plugins":{"a@m":[{"installPath":"$DIR/copy/a"}],"b@f":[{"installPath":"$DIR/copy/b"}],
			"git@m":[{"installPath":"$DIR/copy/git"}],"none@m":[{"installPath":"$DIR/copy/none"}],"c@g":[{"installPath":"$DIR/copy/c"}],"d@gone":[{"installPath":"$DIR/copy/d"}]}}`,
		"home/plugins/known_marketplaces.json": `{"m":{"source":{"source":"directory","path":"$DIR/m"},"installLocation":"$DIR/m"},"f":{"source":{"source":"file"},"installLocation":"$DIR/m"},
			"g":{"source":{"source":"git"},"installLocation":"$DIR/g"},"gone":{"source":{"source":"directory"},"installLocation":"$DIR/gone"}}`,
	})
	at := func(elem ...string) string { return filepath.Join(append([]string{dir}, elem...)...) }
	roots, problems := claudecode.PluginRoots(at("home"), "", "", nil)
	want := []string{at("copy", "c"), at("copy", "d"), at("copy", "git"), at("copy", "none"), at("m", "in", "a"), at("m", "x", "b")}
	if !slices.Equal(roots, want) || len(problems) > 0 {
		t.Errorf("got  %q %q\nwant %q", roots, problems, want)
	}
}
