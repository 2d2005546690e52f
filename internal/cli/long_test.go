package cli

import (
	"fmt"
	"strings"
	"testing"
)

// The work for a long line is limited by count: the line gets an answer, and a denied
// command at its end is not allowed.
func TestLongLines(t *testing.T) {
	const many = 20_000
	each := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	again := strings.Repeat
	d := newFixture(t)
	d.write(d.project+"/.env", "x")
	d.write(d.home+"/.claude/settings.json", `{"permissions":{"allow":["Bash(echo:*)","Bash(cat:*)"],"deny":["Read(.env)"]}}`)
	d.settings("permissions: {expand: true}")
	for name, line := range map[string]string{
		"python terms":      `python3 -c "x=` + again("'a'+", many) + `'b'"`,
		"python insertions": `python3 -c 'print(f"{a}"` + again(`+f"{b}"`, many) + `)'`,
		"python variables":  `python3 -c '` + each(many, `a%d="x";`) + `'`,
		"python lists":      `python3 -c "x=[` + again("'a',", many) + `]"`,
		"python files":      `python3 -c '` + again(`open("a");`, many) + `'`,
		"awk blocks":        `awk '` + again("{print}", many) + `' f`,
		"awk terms":         `awk '{print ` + again(`"a" `, many) + `}' f`,
		"sed commands":      `sed '` + again("s/a/b/;", many) + `' f`,
		"jq terms":          `jq '` + again(`"a"+`, many) + `"b"' f`,
		"perl quotes":       `perl -e '` + again("q{a};", many) + `'`,
		"node insertions":   "node -e 'x=`" + again("${a}", many) + "`'",
		"node terms":        `node -e 'x=` + again(`"a"+`, many) + `"b"'`,
		"python pairs":      `python3 -c 'd={` + each(many, `"k%d":"v/x",`) + `}'`,
		"folders":           "cat " + again("a/", many) + "b",
		"words":             "frobnicate" + each(many/2, " f%d"),
		"paths":             "chmod 644" + each(many/2, " a/f%d"),
		"patterns":          "cat" + each(many/4, " f%d*"),
		"stars":             "cat " + again("*a", many),
		"braces":            "echo " + again("{a,", many/8) + again("}", many/8),
		"sums":              "echo $((" + again("1+", many) + "1))",
		"commands":          each(many/8, "echo f > g%d;") + "ls",
		"substitutions":     "echo " + again("$(ls)", many/8),
		"at signs":          "curl " + again("a@", many) + "h",
	} {
		out, errs, code := d.run(d.call("PreToolUse", "default", line+"; cat .env"), "check", "--harness", "claude-code", "--limit", "1m")
		if code != exitOK || strings.Contains(out, `"allow"`) || !strings.Contains(out, `"permissionDecision"`) || strings.Contains(out+errs, "no verdict within") ||
			strings.Contains(out, "the time limit") {
			t.Errorf("%s: exit %d, %.300s %.300s", name, code, out, errs)
		}
	}
}
