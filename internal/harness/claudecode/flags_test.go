package claudecode_test

import (
	"reflect"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/harness/permissionlist"
)

func TestFlagsOf(t *testing.T) {
	shell := []string{"/bin/sh", "-c", "claude --settings no"}
	for _, tt := range []struct {
		lines [][]string
		want  claudecode.Flags
	}{
		{nil, claudecode.Flags{}},
		{[][]string{shell, {"bash"}}, claudecode.Flags{}},
		{[][]string{shell, {"claude", "--settings", "a.json", "-p", "--settings={}", "x"}}, claudecode.Flags{Settings: []string{"a.json", "{}"}}},
		{[][]string{{"/usr/bin/node", "/opt/claude-code/cli.js", "--allowedTools", "Bash(git *) Edit,Read(a b)", "WebFetch", "--model", "x"}},
			claudecode.Flags{Allowed: []string{"Bash(git *)", "Edit", "Read(a b)", "WebFetch"}}},
		{[][]string{{"claude", "--allowed-tools=Bash", "--disallowed-tools", "Bash(rm:*)", "--add-dir", "../a", "/b"}},
			claudecode.Flags{Allowed: []string{"Bash"}, Disallowed: []string{"Bash(rm:*)"}, Dirs: []string{"../a", "/b"}}},
		{[][]string{{"claude", "--", "--allowedTools", "Bash"}}, claudecode.Flags{}},
		{[][]string{{"claude", "--settings"}}, claudecode.Flags{}},
		{[][]string{{"claude", "--settings", "a"}, {"bash"}, {"node", "/x/claude"}}, claudecode.Flags{Settings: []string{"a"}, Nested: true}},
		{[][]string{{"vim", "-x", "claude"}}, claudecode.Flags{}},
		{[][]string{{}}, claudecode.Flags{}},
	} {
		if got := claudecode.FlagsOf(tt.lines); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q: %+v, want %+v", tt.lines, got, tt.want)
		}
	}
}

func TestListsOfFlags(t *testing.T) {
	f := claudecode.Flags{Settings: []string{"a.json", "/x/b.json", ` {"permissions":{"deny":["Bash(a)"]}}`}, Allowed: []string{`Bash(echo "x")`}, Disallowed: []string{"mcp__a__b(x:1)"}, Nested: true}
	got := f.Lists("/w")
	if len(got) != 4 || got[0].File != "/w/a.json" || got[0].Source != "/w" || got[1].Source != "/x" || got[2].File != "--settings" {
		t.Fatalf("%+v", got)
	}
	for _, s := range got {
		if s.Scope != cardea.ScopeUser || !s.Nested || s.Harness != claudecode.Name {
			t.Errorf("%+v", s)
		}
	}
	origin := got[3].Origin
	s := permissionlist.ReadFormat(permissionlist.ClaudeSettings, &origin, got[3].Text)
	if len(s.Entries) != 2 || s.Entries[0].Text != "mcp__a__b(x:1)" || s.Entries[0].Form != permissionlist.Param || s.Entries[1].Text != `Bash(echo "x")` {
		t.Errorf("%+v", s.Entries)
	}
	if got := (claudecode.Flags{}).Lists("/w"); len(got) > 0 {
		t.Errorf("%+v", got)
	}
	if got := claudecode.ProjectLists("/p"); len(got) != 2 || got[1].File != "/p/.claude/settings.local.json" || got[1].Scope != cardea.ScopeProject {
		t.Errorf("%+v", got)
	}
}

func TestInteractive(t *testing.T) {
	for line, want := range map[string]bool{"claude": true, "/usr/bin/node /opt/claude-code/cli.js --model x": true, "claude -c": true,
		"claude -p x": false, "claude --print": false, "claude --print=x": false, "claude -cp x": false, "vim": false, "": false} {
		if got := claudecode.Interactive(strings.Fields(line)); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
