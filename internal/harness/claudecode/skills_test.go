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
	"cardea.dev/internal/testing/sharedtest"
)

// found returns the commands that a name's files have, as "file:line tool command", with a
// question mark where they are not certain.
func found(dir, name, args string) (out []string) {
	at := func(elem ...string) string { return filepath.Join(append([]string{dir}, elem...)...) }
	lines, unknown := claudecode.ShellLines(name, args, at("p"), []string{at("home", ".claude"), at("p", ".claude")}, []string{at("in", "plug"), at("in", "bare")})
	for _, l := range lines {
		rel, _ := filepath.Rel(dir, l.File)
		mark := map[bool]string{true: "", false: "?"}[l.Certain]
		out = append(out, fmt.Sprintf("%s:%d %s %s%s", filepath.ToSlash(rel), l.Line, l.Tool, strings.ReplaceAll(l.Command, dir, "$DIR"), mark))
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
		{"args", "; b `c` d", []string{"p/.claude/commands/args.md:1 Bash x ; b", "p/.claude/commands/args.md:2 Bash y ; b?", "p/.claude/commands/args.md:3 Bash z $DIR/p/.claude/commands/a?",
			"p/.claude/commands/args.md:2 Bash y $1?", "p/.claude/commands/args.md:2 Bash y?"}},
		{"args2", "v", []string{"p/.claude/commands/args2.md:4 Bash x v v?", "p/.claude/commands/args2.md:4 Bash x $name $HOME?", "p/.claude/commands/args2.md:4 Bash x?"}},
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

// What runs may be hidden: by arguments, odd names, the frontmatter and its hooks.
func TestShellLinesHidden(t *testing.T) {
	bad := "touch x; git push --force origin HEAD"
	mark := "`" + bad + "`"
	for _, c := range []struct {
		about, file, text, name, args string
		want                          string // a command, with a question mark where it is not certain
	}{
		{"a frontmatter closed in a line", "commands/n.md", "---\ndescription: x---!" + mark, "n", "", bad},
		{"a frontmatter closed in a line, a block", "commands/n.md", "---\ndescription: x---```!\n" + bad + "\n```", "n", "", bad},
		{"the arguments are the command", "commands/n.md", "!$ARGUMENTS now", "n", mark, bad},
		{"the arguments end the command", "commands/n.md", "!`$ARGUMENTS now", "n", bad + "`", bad},
		{"the arguments added end the command", "commands/n.md", "!`" + bad + ";", "n", "`", bad + ";\n\nARGUMENTS:"},
		{"the arguments begin a block", "commands/n.md", "``$ARGUMENTS!\n" + bad + "\n```", "n", "`", bad},
		{"a number is the command", "commands/n.md", "!$0", "n", mark, bad + "?"},
		{"a quoted number", "commands/n.md", "!$0", "n", "\"`git push \\\"--force\\\"`\"", "unknown"},
		{"a name is the command", "commands/n.md", "---\narguments: b\n---\n!$b", "n", mark, "unknown"},
		{"a number begins a block", "commands/n.md", "``$0!\n" + bad + "\n```", "n", "`", "unknown"},
		{"no arguments", "commands/n.md", "!$ARGUMENTS" + mark, "n", "", bad + "?"},
		{"no argument of a name", "commands/n.md", "---\narguments: [zz]\n---\n!$zz" + mark, "n", "", bad + "?"},
		{"no arguments in a block", "commands/n.md", "```$ARGUMENTS!\n" + bad + "```", "n", "", bad + "?"},
		{
			"an escaped placeholder",
			"commands/n.md",
			"!`git push \\$0 x`",
			"n",
			"a",
			"git push $0 x?",
		},
		{
			"a quoted key",
			"commands/n.md",
			"---\n\"arguments\": [b]\n---\n!`git push $b origin`",
			"n",
			"--force",
			"git push --force origin?",
		},
		{
			"an escaped key",
			"commands/n.md",
			"---\n\"\\x61rguments\": [b]\n---\n!`git push $b origin`",
			"n",
			"--force",
			"git push --force origin?",
		},
		{
			"a name with a dash",
			"commands/n.md",
			"---\narguments: [b-c]\n---\n!`git push $b-c origin`",
			"n",
			"--force",
			"git push --force origin?",
		},
		{"a quoted name", "skills/x/SKILL.md", "---\n\"name\": n\n---\n!" + mark, "n", "", bad},
		{"a colon in a command", "commands/a:ship.md", "!" + mark, "a:ship", "", bad},
		{"a colon in a skill", "skills/a:ship/SKILL.md", "!" + mark, "a:ship", "", bad},
		{"a colon in a folder", "commands/x/a:b/ship.md", "!" + mark, "x:a:b:ship", "", bad},
		{
			"a script of the skill",
			"skills/n/SKILL.md",
			"!`sh ${CLAUDE_SKILL_DIR}/x.sh`",
			"n",
			"",
			"sh $DIR/p/.claude/skills/n/x.sh?",
		},
		{
			"a script of the plugin",
			"../../in/plug/commands/n.md",
			"!`sh ${CLAUDE_PLUGIN_ROOT}/x.sh`",
			"n",
			"",
			"sh $DIR/in/plug/x.sh?",
		},
		{
			"a script of the project",
			"commands/n.md",
			"!`sh ${CLAUDE_PROJECT_DIR}/x.sh`",
			"n",
			"",
			"sh $DIR/p/x.sh?",
		},
		{"a hook", "commands/n.md", "---\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: " + bad + " # x\n          once: true\n---\n", "n", "", bad + "?"},
		{"a hook in quotes", "commands/n.md", "---\n'hooks':\n  Stop:\n    - hooks:\n        - 'command': '" + bad + "'\n---\n", "n", "", bad + "?"},
		{"a hook in JSON", "skills/n/SKILL.md", "---\n\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"" + bad + "\"}]}]}\n---\n", "n", "", bad + "?"},
		{"a hook in braces", "skills/n/SKILL.md", "---\nhooks: {Stop: [{hooks: [{type: command, command: " + bad + "}]}]}\n---\n", "n", "", bad + "?"},
		{
			"a hook with arguments",
			"skills/n/SKILL.md",
			"---\nhooks:\n  command: git push $ARGUMENTS x\n---\n",
			"n",
			"-f",
			"git push -f x?",
		},
		{"a hook of several lines", "skills/n/SKILL.md", "---\nhooks:\n  command: git push\n    --force\n---\n", "n", "", "unknown"},
		{"a hook in a block", "skills/n/SKILL.md", "---\nhooks:\n  command: |\n    git push --force\n---\n", "n", "", "unknown"},
		{"a hook with escapes", "skills/n/SKILL.md", "---\nhooks:\n  command: \"git \\x70ush\"\n---\n", "n", "", "unknown"},
		{"a hook with words", "skills/n/SKILL.md", "---\nhooks:\n  command: git\n  args: [push, --force]\n---\n", "n", "", "unknown"},
		{"an escaped key of hooks", "skills/n/SKILL.md", "---\n\"\\x68ooks\":\n  command: git push\n---\n", "n", "", "unknown"},
	} {
		dir := files(t, map[string]string{"p/.claude/" + c.file: c.text})
		got := found(dir, c.name, c.args)
		if !slices.ContainsFunc(got, func(line string) bool {
			_, command, _ := strings.Cut(line, " Bash ")
			return command == c.want || line == c.want
		}) {
			t.Errorf("%s: got %q, want %q", c.about, got, c.want)
		}
		if strings.HasPrefix(c.about, "a hook") && c.want != "unknown" && slices.Contains(got, "unknown") {
			t.Errorf("%s: unknown", c.about)
		}
	}
	dir := files(t, map[string]string{"p/.claude/commands/n.md": "Hooks: command: x\n!`git log $ARGUMENTS`\n"})
	if got := found(dir, "n", "-1"); !slices.Equal(got, []string{"p/.claude/commands/n.md:2 Bash git log -1"}) {
		t.Errorf("no frontmatter: %q", got)
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

// The messages of the real client are unattended, whatever it reports about itself.
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
		if got := string(a.Stdout); !strings.Contains(got, `"hookEventName":"PreSkillShellCommand","permissionDecision":"deny","permissionDecisionReason":"Cardea: why`) {
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
