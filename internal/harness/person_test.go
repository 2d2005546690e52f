package harness

import (
	"testing"

	"cardea.dev"
)

func TestProtectedPath(t *testing.T) {
	for p, want := range map[string]bool{
		"/p/.git/config": true, "/p/.git": true, "/p/.GIT/hooks/x": true, "/p/.gitignore": false, "/p/git/config": false,
		"/h/.config/git/ignore": true, "/h/.config/gitx": false, "/h/.config/other/git": false,
		"/p/.claude/settings.json": true, "/p/.claude/worktrees/w/a.go": false, "/p/.claude/worktrees": true,
		"/p/.claude/worktrees/w/.git/config": true, "/p/.claude/worktrees/../settings.json": true,
		"/p/.claude/worktrees/w/.claude/settings.json": true,
		"/h/.bashrc": true, "/h/.bashrc/x": false, "/p/sub/bunfig.toml": true, "/p/a/gradle-wrapper.properties": true,
		`C:\p\.vscode\tasks.json`: true, "/p/.mcp.json": true, "/p/x.mcp.json": false, "/": false, "/p/a.go": false,
	} {
		if got := ProtectedPath(p); got != want {
			t.Errorf("%s: %v", p, got)
		}
	}
}

func TestGlobsMayProtect(t *testing.T) {
	for pattern, want := range map[string]bool{
		"/p/src/*.o": false, "/p/src/*.go": false, "/p/.*": true, "/p/.g*": true, "/p/.x*": false, "/p/*.toml": true,
		"/p/@(.git|x)": true, "/p/{.git,x}": true, "/p/**": true, "/p/[": false, "": true, "/p/l*": true, "/p/*/x": true,
	} {
		a := cardea.Access{Kind: cardea.Delete, Path: "/p", Glob: true, Pattern: pattern}
		if got := TouchesProtected(a); got != want {
			t.Errorf("%q: %v", pattern, got)
		}
	}
}

func TestReservedCalls(t *testing.T) {
	const del, write = cardea.Delete, cardea.Write
	cases := []struct {
		name    string
		access  cardea.Access
		program string
		want    bool
	}{
		{"a file", cardea.Access{Kind: del, Path: "/work/p/a"}, "rm", false},
		{"the root", cardea.Access{Kind: del, Path: "/"}, "rm", true},
		{"a child of the root", cardea.Access{Kind: del, Path: "/usr"}, "find", true},
		{"a grandchild", cardea.Access{Kind: del, Path: "/usr/lib"}, "rm", false},
		{"all of the root", cardea.Access{Kind: del, Path: "/", Glob: true, Pattern: "/*"}, "rm", true},
		{"all of a child", cardea.Access{Kind: del, Path: "/opt", Glob: true, Pattern: "/opt/*.log"}, "rm", false},
		{"home", cardea.Access{Kind: del, Path: "/home/u"}, "rm", true},
		{"all of home", cardea.Access{Kind: del, Path: "/home/u", Glob: true, Pattern: "/home/u/*.log"}, "rm", true},
		{"below home", cardea.Access{Kind: del, Path: "/home/u/x"}, "rm", false},
		{"the working folder", cardea.Access{Kind: del, Path: "/work/p/sub"}, "rm", true},
		{"around it", cardea.Access{Kind: del, Path: "/work/p"}, "rmdir", true},
		{"beside it", cardea.Access{Kind: del, Path: "/work/q"}, "rm", false},
		{"objects in it", cardea.Access{Kind: del, Path: "/work/p/sub", Glob: true, Pattern: "/work/p/sub/*.o"}, "rm", false},
		{"entries around it", cardea.Access{Kind: del, Path: "/work/p", Glob: true, Pattern: "/work/p/*.o"}, "rm", true},
		{"where the part runs", cardea.Access{Kind: del, Path: "/other/dir"}, "rm", true},
		{"the project", cardea.Access{Kind: del, Path: "/work/whole"}, "rm", true},
		{"all of an added folder", cardea.Access{Kind: del, Path: "/added/dir", Glob: true, Pattern: "/added/dir/*.o"}, "rm", true},
		{"a link to home", cardea.Access{Kind: del, Path: "/a/b/c", Spelled: "/home/u"}, "rm", true},
		{"a drive", cardea.Access{Kind: del, Path: `C:\`}, "rm", true},
		{"a child of a drive", cardea.Access{Kind: del, Path: `C:\Windows`}, "rm", true},
		{"deeper on a drive", cardea.Access{Kind: del, Path: `C:\a\b`}, "rm", false},
		{"unknown", cardea.Access{Kind: del}, "rm", true},
		{"a link to .git", cardea.Access{Kind: write, Path: "/x/y", Spelled: "/work/p/.git/hooks/x"}, "tee", true},
		{"reading .git", cardea.Access{Kind: cardea.Read, Path: "/work/p/.git/config"}, "cat", false},
		{"writing home", cardea.Access{Kind: write, Path: "/home/u/x"}, "tee", false},
	}
	for _, c := range cases {
		ev := &cardea.Event{Kind: cardea.PermissionRequest, Home: "/home/u", Cwd: "/work/p/sub", Project: "/work/whole", Roots: []string{"/added/dir"}, Call: &cardea.Call{Tool: "Bash",
			Parts: []cardea.Part{{CommandFacts: cardea.CommandFacts{Command: []string{"ls"}}}, {
				ShellFacts:   cardea.ShellFacts{Dir: "/other/dir"},
				CommandFacts: cardea.CommandFacts{Command: []string{c.program}, Access: []cardea.Access{c.access}},
			}}}}
		can := ReservedCalls("claude-code")
		can.Rows = []cardea.Row{{Allow: cardea.Allow, Reserved: Reserved()}}
		if got := cardea.Express(cardea.Verdict{Effect: cardea.Allow}, can, ev); (got.Effect != cardea.Allow) != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestRemoves(t *testing.T) {
	for _, c := range []struct {
		part cardea.Part
		want bool
	}{
		{cardea.Part{CommandFacts: cardea.CommandFacts{Command: []string{"rmdir"}}}, true},
		{cardea.Part{CommandFacts: cardea.CommandFacts{Command: []string{"git", "clean"}}}, false},
		{cardea.Part{ShellFacts: cardea.ShellFacts{Argv: []cardea.Word{{Text: "$x"}}}}, true},
		{cardea.Part{}, false},
	} {
		if removes(c.part) != c.want {
			t.Errorf("%+v", c.part)
		}
	}
}
