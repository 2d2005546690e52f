package cli

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"github.com/spf13/cobra"
)

// maxCommands is how many commands the help text shows.
const maxCommands = 20

// testTree returns the commands as a person's process has them.
func testTree(t *testing.T) *cobra.Command { return tree(newFixture(t).process(nil, nil, nil)) }

// The help text has few commands, each in a group and with a line that fits a terminal.
func TestHelpIsShort(t *testing.T) {
	root := testTree(t)
	shown := 0
	for _, c := range root.Commands() {
		if c.Hidden || c.Name() == "help" {
			continue
		}
		if shown++; c.GroupID == "" {
			t.Errorf("%s is in no group", c.Name())
		}
		if len(c.Short) > 68 {
			t.Errorf("%s: %q is long", c.Name(), c.Short)
		}
	}
	room := 0
	if below(root, "update") == nil {
		room = 1 // the groups have room for it
	}
	if shown+room > maxCommands {
		t.Errorf("%d commands are shown, want at most %d", shown+room, maxCommands)
	}
	d := newFixture(t)
	help, _, code := d.run("", "--help")
	for _, args := range [][]string{nil, {"-h"}, {"help"}} {
		if out, _, c := d.run("", args...); out != help || c != exitOK || code != exitOK {
			t.Errorf("%q differs from --help: exit %d, %s", args, c, out)
		}
	}
	lines := 0
	for _, l := range strings.Split(help, "\n") {
		if name, _, found := strings.Cut(strings.TrimPrefix(l, "  "), " "); found && strings.HasPrefix(l, "  ") && below(root, name) != nil {
			lines++
		}
	}
	if lines != shown {
		t.Errorf("%d commands are in the text, want %d:\n%s", lines, shown, help)
	}
	for _, g := range helpGroups() {
		if !strings.Contains(help, "\n"+g[0]+":\n") {
			t.Errorf("no group %s:\n%s", g[0], help)
		}
	}
}

// "help --all" has every command and every second name.
func TestHelpAll(t *testing.T) {
	d := newFixture(t)
	out, _, code := d.run("", "help", "--all")
	if code != exitOK {
		t.Fatal(code)
	}
	eachCommand(testTree(t), func(c *cobra.Command) {
		if !c.HasParent() {
			return
		}
		want := fmt.Sprintf("  %-18s %s\n", strings.TrimPrefix(c.CommandPath(), "cardea "), c.Short)
		if c.Annotations[sameAs] != "" {
			want = fmt.Sprintf("  %-18s the same as %s\n", strings.TrimPrefix(c.CommandPath(), "cardea "), nameOf(c))
		}
		if strings.Count(out, want) != 1 {
			t.Errorf("%q is there %d times", want, strings.Count(out, want))
		}
	})
	for _, args := range [][]string{{"help", "nope"}, {"help", "rules", "nope"}, {"rules", "nope"}} {
		if _, errs, code := d.run("", args...); code != exitUsage || !strings.Contains(errs, "there is no command") {
			t.Errorf("%q: exit %d, %s", args, code, errs)
		}
	}
	for _, args := range []string{"help rules new", "help learn", "help settings set"} {
		if out, errs, code := d.run("", strings.Fields(args)...); code != exitOK || !strings.Contains(out, "Exit codes:") {
			t.Errorf("%s: exit %d, %s", args, code, errs)
		}
	}
	var errs bytes.Buffer
	if code := Main([]string{"help", "--all"}, d.process(strings.NewReader(""), fullDisk{}, &errs)); code != exitError || !strings.Contains(errs.String(), "no space left") {
		t.Errorf("on a full disk: exit %d, %s", code, errs.String())
	}
}

// A second name has the flags, the help, the exit codes and the usage errors of the first.
func TestSecondNames(t *testing.T) {
	d := newFixture(t)
	root := testTree(t)
	var all [][2]string
	for _, names := range secondNames() {
		for _, name := range strings.Split(names[1], ", ") {
			all = append(all, [2]string{name, names[0]})
		}
	}
	for _, names := range all {
		second, first := below(root, names[0]), below(root, names[1])
		if first == nil && second == nil && names[1] == "uninstall" {
			continue
		}
		if second == nil || first == nil {
			t.Fatalf("%v: no such command", names)
		}
		if second.Long != first.Long || second.Flags().FlagUsages() != first.Flags().FlagUsages() || nameOf(second) != names[1] ||
			second.Hidden == strings.Contains(names[0], " ") || second.Annotations[unproposed] != first.Annotations[unproposed] {
			t.Errorf("%v differ", names)
		}
		for _, more := range []string{"--help", "--no-such-flag", "a b c d", ""} {
			if more == "" && slices.Contains([]string{"setup", "remove", "roles status", "sessions"}, names[0]) {
				continue
			}
			args := strings.Fields(more)
			out1, errs1, code1 := d.run("", append(strings.Fields(names[0]), args...)...)
			out2, errs2, code2 := d.run("", append(strings.Fields(names[1]), args...)...)
			plain := func(s string) string {
				return strings.ReplaceAll(strings.ReplaceAll(s, "cardea "+names[0], "cardea "+names[1]), "for "+second.Name(), "for "+first.Name())
			}
			if plain(out1) != plain(out2) || plain(errs1) != plain(errs2) || code1 != code2 {
				t.Errorf("%v %s: exit %d and %d\n%s%s\n%s%s", names, more, code1, code2, out1, errs1, out2, errs2)
			}
		}
	}
}

// typos returns all words with one wrong letter: missing, doubled, replaced, added, or
// swapped with the next.
func typos(word string) (out []string) {
	const letters = "abcdefghijklmnopqrstuvwxyz-"
	for i := range len(word) + 1 {
		for _, l := range letters {
			out = append(out, word[:i]+string(l)+word[i:])
			if i < len(word) {
				out = append(out, word[:i]+string(l)+word[i+1:])
			}
		}
		if i < len(word) {
			out = append(out, word[:i]+word[i+1:], strings.ToUpper(word[:i+1])+word[i+1:])
		}
		if i+1 < len(word) {
			out = append(out, word[:i]+string(word[i+1])+string(word[i])+word[i+2:])
		}
	}
	for i := range word {
		out = append(out, word[:i])
	}
	return out
}

// loosening are words for which "did you mean" proposes nothing.
var loosening = []string{"uninstall", "remove", "rm", "invalidate", "unset", "disable", "off", "pause", "approve", "allow", "accept", "override", "trust", "learn", "promote", "revoke"}

// No typo of any command has a proposal that removes, disables or approves something.
func TestProposals(t *testing.T) {
	proposed := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			for _, typo := range typos(sub.Name()) {
				for _, name := range proposals(c, typo) {
					proposed++
					words := strings.Fields(name)
					to := below(c.Root(), name)
					if to == nil || to.Annotations[unproposed] != "" || slices.Contains(loosening, words[len(words)-1]) || name == "trust init" || name == "trust update" {
						t.Errorf("%q below %q: %s is proposed", typo, c.CommandPath(), name)
					}
				}
			}
			walk(sub)
		}
	}
	root := testTree(t)
	walk(root)
	if proposed < 1000 {
		t.Errorf("only %d proposals", proposed)
	}
	eachCommand(root, func(c *cobra.Command) {
		if is := c.Annotations[unproposed] != ""; is != slices.Contains(loosening, c.Name()) && nameOf(c) != "trust init" && nameOf(c) != "trust update" {
			t.Errorf("%s: cautious is %v", c.CommandPath(), is)
		}
	})
	if below(root, "uninstall") == nil {
		root.AddCommand(cautious(&cobra.Command{Use: "uninstall"}))
	}
	for word, want := range map[string]string{"chek": "check", "doc": "doctor", "lnt": "rules lint", "instal": "install", "uninstal": "", "trusr": "", "xyzzy": "", "": "", "d": "", "\x1b[31m": ""} {
		if got := strings.Join(proposals(root, word), " "); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	if _, errs, code := newFixture(t).run("", "x\x1b]0;t\x07\u202e"); code != exitUsage || strings.ContainsAny(errs, "\x1b\x07\u202e") {
		t.Errorf("exit %d, %q", code, errs)
	}
}

// The gate denies every command that needs a person, under each of its names.
func TestGateKnowsSecondNames(t *testing.T) {
	d := newFixture(t)
	forPerson := []string{"rules new", "allow"}
	for _, args := range forPersons {
		forPerson = append(forPerson, args[0], strings.Join(args[:min(2, len(args))], " "))
	}
	open := []string{"supervise", "init", "trust", "policy", "lessons", "config", "import", "queue", "rules"}
	eachCommand(testTree(t), func(c *cobra.Command) {
		if !slices.Contains(forPerson, nameOf(c)) || slices.Contains(open, nameOf(c)) || c.Annotations[sameAs] == "config" {
			return
		}
		for _, line := range []string{c.CommandPath() + " x", "/usr/local/bin/" + c.CommandPath(), "go run ./cmd/" + c.CommandPath() + " x"} {
			if v := d.judged(t, "Bash", "", line); v.Effect != cardea.Deny {
				t.Errorf("%s: %q", v.Effect, line)
			}
		}
	})
	for _, line := range []string{"cardea settings set a b", "cardea settings unset a", "cardea disable --for 1h", "cardea off --for=1h"} {
		if v := d.judged(t, "Bash", "", line); v.Effect != cardea.Deny {
			t.Errorf("%s: %q", v.Effect, line)
		}
	}
}

// Words that people know from other programs work.
func TestHabits(t *testing.T) {
	d := newFixture(t)
	d.run(d.call("PreToolUse", "default", "git push --force"), "check", "--harness=claude-code")
	for line, want := range map[string]string{
		"ls": "project ", "rules": "project ", "rules list --mine": "project ", "validate": "0 errors", "rules lint": "0 errors", "lint": "0 errors",
		"log": "git push --force", "logs --effect deny": "git push --force", "history": "git push --force", "audit search push": "git push --force", "search push": "git push --force",
		"config get on_error": "on_error: defer", "config list": "on_error: defer", "settings": "on_error: defer", "config show on_error": "meaning", "status": "no session", "sessions": "no session",
		"version": "cardea ", "--version": "cardea ", "-V": "cardea ", "-v": "cardea ", "help try": "cardea try", "rules test": "0 failed", "test": "0 failed", "verify": "intact",
	} {
		if out, errs, code := d.run("", strings.Fields(line)...); code != exitOK || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d, %s%s", line, code, out, errs)
		}
	}
	for line, want := range map[string]string{
		"config get":                "an argument is missing",
		"config get a b":            "only one argument",
		"config list x":             `"cardea config list" takes no arguments (got "x")`,
		"config get nope":           "nope",
		"doctor nope":               "nope",
		"allow git status":          `quote the command: cardea allow "git status"`,
		"allow":                     "argument is missing",
		"allow x --for 0s":          "--always",
		"allow x --for -1m":         "longer than nothing",
		"allow x --for 1m --always": "none of the others",
		"rules new a b":             `cardea rules new "a b"`} {
		if _, errs, code := d.run("", strings.Fields(line)...); code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s", line, code, errs)
		}
	}
	if out, _, code := d.run("", "doctor", "claude", "--json"); code != exitError || strings.Count(out, `"title"`) != 1 || !strings.Contains(out, `"claude-code"`) {
		t.Errorf("doctor claude: exit %d, %s", code, out)
	}
	if _, errs, code := d.sits("abc234\n", "allow", "git clean -fd", "--scope", "user"); code != exitOK {
		t.Error(errs)
	}
	data, err := os.ReadFile(filepath.Join(d.home, ".config/cardea/overrides.yaml"))
	if text := string(data); err != nil || !strings.Contains(text, `command: "git clean -fd"`) || !strings.Contains(text, "effect: allow, until: ") {
		t.Errorf("allow wrote %s, %v", text, err)
	}
}

// "rules new" writes a rule whose tests pass, and no broader rule than requested.
func TestRulesNew(t *testing.T) {
	d := newFixture(t)
	folder := filepath.Join(d.project, ".cardea/rules")
	for _, c := range []struct{ args, want, holds, passes string }{
		{"git push --force", "flags: ['--force']", "git push --force origin x", "git push"},
		{"npm publish --effect=ask", "effect: ask", "npm publish --tag x", "npm view x"},
		{"frob 'it''s'", "args: [", "frob 'it'\\''s'", "frob its"},
		{"frob a.b[1]", `\.b`, "frob 'a.b[1]'", "frob axb1"},
	} {
		words := []string{"rules", "new", strings.Split(c.args, " --effect")[0]}
		if _, effect, found := strings.Cut(c.args, " --effect="); found {
			words = append(words, "--effect", effect)
		}
		words[2] = strings.ReplaceAll(words[2], "'it''s'", `'it'\''s'`)
		if out, errs, code := d.sits("", words...); code != exitOK || !strings.Contains(out, c.want) || !strings.Contains(out, "trusted "+d.project) {
			t.Errorf("%q: exit %d, %s%s", c.args, code, out, errs)
		}
		if v := d.judged(t, "Bash", "", c.holds); v.Effect < cardea.Ask {
			t.Errorf("%q: %s is %s", c.args, c.holds, v.Effect)
		}
		if v := d.judged(t, "Bash", "", c.passes); v.Effect >= cardea.Ask {
			t.Errorf("%q: %s is %s by %s", c.args, c.passes, v.Effect, v.By)
		}
	}
	if out, _, code := d.run("", "rules", "test"); code != exitOK || !strings.Contains(out, "0 failed") {
		t.Errorf("exit %d, %s", code, out)
	}
	if _, errs, code := d.sits("", "rules", "new", "git push --force"); code != exitError || !strings.Contains(errs, "exists") {
		t.Errorf("again: exit %d, %s", code, errs)
	}
	before := d.files()
	for _, bad := range []string{
		"a | b",
		"a; b",
		"$x y",
		"",
		"frob \x1b[31m",
		"frob \u0085",
		"frob ghp_0123456789abcdefABCDEF0123456789abcd",
		"echo $(id)",
		"rules: [{id: x}]\n",
	} {
		if _, errs, code := d.sits("abc234\n", "rules", "new", bad); code == exitOK || strings.ContainsAny(errs, "\x1b\u0085") {
			t.Errorf("%q: exit %d, %q", bad, code, errs)
		}
	}
	for _, args := range [][]string{{"frob x", "--effect", "allow"}, {"frob x", "--user"}, {"frob x", "--effect", "halt"}, {"frob x", "--because", "a\nb"}} {
		if _, _, code := d.run("abc234\n", append([]string{"rules", "new"}, args...)...); code == exitOK {
			t.Errorf("%q without a person", args)
		}
	}
	if after := d.files(); !maps.Equal(before, after) {
		t.Error("something was written")
	}
	if out, errs, code := d.run("", "rules", "new", "frob hidden"); code != exitOK || strings.Contains(out, "trusted") {
		t.Errorf("without a person: exit %d, %s%s", code, out, errs)
	}
	if _, _, code := d.run("", "rules", "new"); code != exitOK {
		t.Error("without a command")
	}
	if _, err := os.Stat(filepath.Join(folder, "example.yaml")); err != nil {
		t.Error(err)
	}
	if _, errs, code := d.sits("abc234\n", "rules", "new", "make fast", "--effect", "allow", "--user"); code != exitOK {
		t.Error(errs)
	}
	if v := d.judged(t, "Bash", "", "make fast"); v.Effect != cardea.Allow {
		t.Errorf("make fast is %s by %s", v.Effect, v.By)
	}
}
