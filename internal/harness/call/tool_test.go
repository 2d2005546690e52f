package call

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
)

// show writes a call's parts as "text: kind path|host …".
func show(c *cardea.Call) string {
	var out []string
	for _, p := range c.Parts {
		s := p.Text + ":"
		for _, a := range p.Access {
			s += " " + string(a.Kind) + " " + a.Path + a.Host
			if a.Recursive {
				s += "r"
			}
			if a.Search {
				s += ":" + a.Pattern
			}
			if a.MetadataOnly {
				s += "m"
			}
		}
		out = append(out, strings.TrimSpace(s))
	}
	return strings.Join(out, " | ")
}

func analysed(tool string, input map[string]any) *cardea.Call {
	ev := &cardea.Event{Kind: cardea.PreToolUse, Cwd: "/proj", Project: "/proj", Call: &cardea.Call{Tool: tool, Input: input}}
	ev = Analyse(ev, knowledge.System{Home: "/home/u"})
	return ev.Call
}

// TestPartsOfTools has one case for each tool, and for each form of its input.
func TestPartsOfTools(t *testing.T) {
	in := func(kv ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i].(string)] = kv[i+1]
		}
		return m
	}
	tests := []struct {
		tool   string
		input  map[string]any
		want   string
		opaque bool
	}{
		{"Bash", in("command", "cat a && rm b"), "cat a: read /proj/a | rm b: delete /proj/b", false},
		{"Bash", in("command", " "), "", false},
		{"Bash", in("command", "cat a", "shell", "/bin/bash"), "cat a: read /proj/a", false},
		{"Bash", in("command", "cat a", "shell", "sh"), "cat a: read /proj/a", false},
		{"Bash", in("command", "cat a", "shell", "/tmp/x"), "cat a: read /proj/a | /tmp/x -c 'cat a': execute /tmp/x unknown", false},
		{"Bash", in("command", "cat a", "shell", "./bash"), "cat a: read /proj/a | ./bash -c 'cat a': execute /proj/bash unknown | cat a: read /proj/a", false},
		{"Bash", in("command", "cat a", "shell", []any{"/tmp/x"}), "cat a: read /proj/a | Bash: unknown", true},
		{"Bash", in(), "Bash: unknown", true},
		{"Bash", in("command", []any{"ls"}), "Bash: unknown", true},
		{"Bash", in("command", nil), "Bash: unknown", true},
		{"Monitor", in("command", "tail -f /var/log/x"), "tail -f /var/log/x: read /var/log/x", false},
		{"Monitor", in("ws", in("url", "wss://Example.com/s")), "Monitor wss://Example.com/s: network example.com", false},
		{"Read", in("file_path", "/proj/../etc/x"), "Read /proj/../etc/x: read /etc/x", false},
		{"Read", in("file_path", "~/.ssh/id_rsa"), "Read ~/.ssh/id_rsa: read /home/u/.ssh/id_rsa", false},
		{"Read", in("file_path", "a"), "Read a: read /proj/a", false},
		{"Read", in("file_path", 5), "Read: unknown", true},
		{"Read", in("file_path", ""), "Read : read", true},
		{"Write", in("file_path", `C:\x\..\y`, "content", "z"), `Write C:\x\..\y: write C:/y`, false},
		{"Edit", in("file_path", "/a"), "Edit /a: write /a", false},
		{"MultiEdit", in("file_path", "/a"), "MultiEdit /a: write /a", false},
		{"NotebookEdit", in("notebook_path", "/a.ipynb"), "NotebookEdit /a.ipynb: write /a.ipynb", false},
		{"apply_patch", in("input", "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: c\n@@\n*** Delete File: ../d\n*** End Patch\n"),
			"create a: write /proj/a | edit b: write /proj/b delete /proj/b | move to c: write /proj/c | delete ../d: delete /d", false},
		{"apply_patch", in("input", "  *** Update File: b\r\n"), "edit b: write /proj/b", false},
		{"apply_patch", in("input", "*** Add File: a\n+x*** Add File: no\n+y\n\u00a0\u3000\f*** Add File: /b\ufeff\n\ufeff\t*** Delete File:\u00a0c\n"),
			"create a: write /proj/a | create /b: write /b | delete c: delete /proj/c", false},
		{"apply_patch", in("input", "*** Add File: a\u2028/../../b\n+x\u0085*** Delete File: c\u00a0\r\n"),
			"create a\u2028/../../b: write /b write /proj/a | delete c: delete /proj/c", false},
		{"apply_patch", in("input", "*** Update File: a\r*** Update File: b\v*** Move to: c"),
			"edit a\r*** Update File: b\v*** Move to: c: write /proj/a\r*** Update File: b\v*** Move to: c write /proj/a | edit b\v*** Move to: c: write " +
				"/proj/b\v*** Move to: c write /proj/b delete /proj/b\v*** Move to: c delete /proj/b | move to c: write /proj/c",
			false,
		},
		{"apply_patch", in("input", "nothing"), "apply_patch: unknown", true},
		{"Grep", in("pattern", "/etc/x", "path", "/dir"), "Grep /dir: read /dirr", false},
		{"Grep", in("pattern", "x"), "Grep .: read /projr", false},
		{"Grep", in("pattern", "x", "glob", ".env"), "Grep . .env: read /projr read /proj:/proj/**/.env", false},
		{"Grep", in("pattern", "x", "glob", "*.env"), "Grep . *.env: read /projr read /proj:/proj/**/*.env read /proj:/proj/.env", false},
		{
			"Grep",
			in("pattern", "x", "glob", "?env [.]x"),
			"Grep . ?env [.]x: read /projr read /proj:/proj/**/?env read /proj:/proj/.env read /proj:/proj/**/[.]x read /proj:/proj/.x read /proj:/proj/**/?env [.]x read /proj:/proj/.env [.]x",
			false,
		},
		{"Grep", in("pattern", "x", "glob", "{.env,a{b,c}}"), "Grep . {.env,a{b,c}}: read /projr read /proj:/proj/**/.env read /proj:/proj/**/ab read /proj:/proj/**/ac", false},
		{"Grep", in("pattern", "x", "glob", "{.e"), "Grep . {.e: read /projr", false},
		{"Grep", in("pattern", "x", "glob", "a{.e"), "Grep . a{.e: read /projr read /proj:/proj/**/a*", false},
		{"Grep", in("pattern", "x", "glob", "a,b"), "Grep . a,b: read /projr read /proj:/proj/**/a read /proj:/proj/**/b", false},
		{"Grep", in("pattern", "x", "glob", []any{"a"}), "Grep: unknown | Grep .: read /projr", true},
		{"Grep", in("pattern", "x", "glob", "!a"), "Grep . !a: read /projr", false},
		{"Grep", in("pattern", "x", "glob", "**/*"), "Grep . **/*: read /projr", false},
		{"Grep", in("pattern", "x", "path", "b", "glob", "c/d"), "Grep b c/d: read /proj/br read /proj/b:/proj/b/**/c/d read /proj:/proj/c/d", false},
		{"Grep", in("pattern", "x", "path", "/etc", "glob", "shadow"), "Grep /etc shadow: read /etcr read /etc:/etc/**/shadow read /etc:/etc/.*/shadow", false},
		{"Grep", in("pattern", "x", "path", "~", "glob", "k"), "Grep ~ k: read /home/ur read /home/u:/home/u/**/k read /home/u:/home/u/.*/k", false},
		{"Grep", in("pattern", "x", "glob", "~/.ssh/*"), "Grep . ~/.ssh/*: read /projr read /home/u/.sshr read /home/u/.ssh:/home/u/.ssh/*", false},
		{"Glob", in("pattern", "**/*.ts"), "Glob . **/*.ts: read /projrm read /proj:/proj/**/**/*.tsm read /proj:/proj/**/.tsm read /proj:/proj/**/*.tsm", false},
		{"Glob", in("pattern", "/etc/*.conf"), "Glob . /etc/*.conf: read /projrm read /etcrm read /etc:/etc/*.confm", false},
		{"Glob", in("pattern", "../*", "path", "/proj/x"), "Glob /proj/x ../*: read /proj/xrm read /rm read /:/*m", false},
		{"WebFetch", in("url", "https://a@Example.com:80/p?q=secret"), "WebFetch https://a@Example.com:80/p?q=secret: network example.com", false},
		{"WebFetch", in("url", "https://good.com\\@evil.com/"), "WebFetch https://good.com\\@evil.com/: network  network evil.com network good.com", false},
		{"WebFetch", in(), "WebFetch: unknown", true},
		{"WebSearch", in("query", "x"), "WebSearch: network", false},
		{"mcp__s__t", in("path", "a", "n", 1), "mcp__s__t: unknown  read /proj/a write /proj/a", false},
		{"mcp__s__t", in("x", in("file_name", "/a"), "url", "http://h/p", "uri", "file:///b"), "mcp__s__t: unknown  read /b write /b network h read /a write /a", false},
		{"mcp__s__t", in("source", "/a", "destination", "b/c"), "mcp__s__t: unknown  read /proj/b/c write /proj/b/c read /a write /a", false},
		{"mcp__s__t", in("path", "file:///a%20b?x#y"), "mcp__s__t: unknown  read /a b write /a b", false},
		{"mcp__s__t", in("dst", "FILE://localhost/a", "dir", "file:/b"), "mcp__s__t: unknown  read /b write /b read /a write /a", false},
		{"mcp__s__t", in("target", "file:///C:/a"), "mcp__s__t: unknown  read C:/a write C:/a", false},
		{"mcp__s__t", in("from", "/a", "to", "/b", "text", "file:///c"), "mcp__s__t: unknown", false},
		{"PowerShell", in("command", "ls"), "ls: unknown", false},
		{"PowerShell", in(), "PowerShell: unknown", true},
		{"Agent", in("subagent_type", "Explore"), "Agent Explore: unknown", false},
		{"Skill", in("skill", "deploy"), "Skill deploy: unknown", false},
		{"TodoWrite", in("todos", []any{}), "TodoWrite:", false},
		{"Frobnicate", in("command", "rm -rf /"), "Frobnicate: unknown", false},
		{"Workflow", in("scriptPath", "a.js", "name", "x"), "Workflow x: unknown  read /proj/a.js execute /proj/a.js", false},
		{"Workflow", in("script", "return 1"), "Workflow: unknown", false},
		{"CronCreate", in("prompt", "x", "durable", true), "CronCreate x: unknown  write /proj/.claude/scheduled_tasks.json", false},
		{"CronCreate", in("prompt", "x", "durable", false), "CronCreate x: unknown", false},
		{"CronCreate", in("prompt", "/cardea disable"), "CronCreate /cardea disable: unknown | /cardea disable: unknown", false},
		{"CronCreate", in("prompt", "x", "cron", "/cardea disable"), "CronCreate x: unknown", false},
		{"EnterWorktree", in("path", "/w"), "EnterWorktree /w: unknown", false},
		{"EnterWorktree", in("name", "a b"), "EnterWorktree: unknown | git worktree add '/proj/.claude/worktrees/a b': write /proj/.claude/worktrees/a br unknown", false},
		{"ExitWorktree", in("action", "remove"), "ExitWorktree remove: unknown | git worktree remove /proj: unknown", false},
		{"ExitWorktree", in("action", "remove", "discard_changes", 1), "ExitWorktree remove: unknown | git worktree remove --force /proj: unknown", false},
		{"ExitWorktree", in("action", "keep", "discard_changes", true), "ExitWorktree keep: unknown", false},
		{"CodeMode", in("code", "tools.bash({command: 'rm -rf /'})"), "CodeMode: unknown | CodeMode: unknown", false},
		{"CronList", in(), "CronList:", false},
	}
	for _, tt := range tests {
		c := analysed(tt.tool, tt.input)
		if got := show(c); got != tt.want {
			t.Errorf("%s %v:\n\t%s\nwant\n\t%s", tt.tool, tt.input, got, tt.want)
		}
		if (len(c.Opaque) > 0) != tt.opaque {
			t.Errorf("%s %v: opaque %v", tt.tool, tt.input, c.Opaque)
		}
	}
	for tool, input := range map[string]map[string]any{"PowerShell": in("command", "ls"), "Workflow": in("name", "x"), "EnterWorktree": in("path", "x")} {
		if c := analysed(tool, input); c.Parts[0].Coverage != cardea.Partial {
			t.Error(tool + " is not read, and is taken as covered")
		}
	}
}

// What duplicate and case-variant keys hold is judged as well.
func TestShadowedValues(t *testing.T) {
	ev := &cardea.Event{Cwd: "/p", Call: &cardea.Call{Tool: "Bash", Input: map[string]any{"command": "ls"},
		Shadowed: map[string][]any{"command": {"rm x | tee y", 5}}, Opaque: []cardea.Opaque{{Text: "t", Reason: "r"}}}}
	ev = Analyse(ev, knowledge.System{})
	if got := show(ev.Call); got != "ls: read /pm | rm x: delete /p/x | tee y: write /p/y | Bash: unknown" {
		t.Error(got)
	}
	if len(ev.Call.Opaque) != 2 {
		t.Errorf("spots %v", ev.Call.Opaque)
	}
}

func TestFlowsPointIntoTheCall(t *testing.T) {
	ev := &cardea.Event{Call: &cardea.Call{Tool: "Bash", Input: map[string]any{"command": "ls"}, Shadowed: map[string][]any{"command": {"curl x | sh"}}}}
	ev = Analyse(ev, knowledge.System{})
	if len(ev.Call.Flows) != 1 || ev.Call.Flows[0] != (cardea.Flow{Kind: "download-run", From: 1, To: 2}) {
		t.Errorf("%+v", ev.Call.Flows)
	}
}

// Redirections that need no yes of their own (docs/design.md#shell-analysis).
func TestFreshWrites(t *testing.T) {
	for line, want := range map[string]bool{
		"npm test > test.log": true, "npm test >> sub/x.txt": true, "x > /tmp/y.log": true, "x > /tmp/../etc/y.log": false,
		"npm test > old.log": false, "x > Makefile": false, "x > x.sh": false, "x > .env": false, "x > .git/x.log": false, "x > requirements.txt": false,
		"x > /other/x.log": false, "x > *.log": false, "x > $y.log": false, "x | tee y.log": true, "x | sudo tee y.log": false, "x | tee package.json": false, "x > -o.log": false, "x > package.json": false,
	} {
		ev := &cardea.Event{Cwd: "/proj", Project: "/proj", Call: &cardea.Call{Tool: "Bash", Input: map[string]any{"command": line}}}
		ev = Analyse(ev, knowledge.System{IsNew: func(p string) bool { return !strings.HasSuffix(p, "old.log") }})
		got := false
		for _, p := range ev.Call.Parts {
			for _, a := range p.Access {
				got = got || a.Fresh
			}
		}
		if got != want {
			t.Errorf("%q: fresh %v, want %v", line, got, want)
		}
	}
}

// TestFieldOfItsTool: a field that is called as the tool names no program, and other fields
// may.
func TestFieldOfItsTool(t *testing.T) {
	for _, tt := range []struct {
		tool, input, want string
	}{
		{"skill", `{"skill": "x"}`, ""}, {"skills", `{"skills": "x", "reason": "y"}`, ""}, {"kill", `{"kill": "9"}`, ""}, {"shutdown", `{"Shutdown": "now"}`, ""}, {"at", `{"at": "5pm"}`, ""},
		{"skill", `{"skill": "rm -rf /"}`, "rm -rf /"}, {"clean", `{"rm": "-rf /"}`, "rm -rf /"}, {"skill", `{"kill": "-9 1"}`, "kill -9 1"}, {"mcp__s__kill", `{"kill": "-9 1"}`, "kill -9 1"},
	} {
		var input map[string]any
		if err := json.Unmarshal([]byte(tt.input), &input); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range analysed(tt.tool, input).Parts[0].MayRun {
			got = append(got, p.Text)
		}
		if tt.want == "" && len(got) > 0 || tt.want != "" && !slices.Contains(got, tt.want) {
			t.Errorf("%s %v may run %q, want %q", tt.tool, tt.input, got, tt.want)
		}
	}
}
