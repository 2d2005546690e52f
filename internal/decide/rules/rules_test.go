package rules_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	_ "cardea.dev/internal/base/document/yamltext"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/call"
)

const (
	home    = "/home/user"
	project = "/home/user/project"
)

// parse reads rules that must not have problems.
func parse(t testing.TB, text string) []rules.Rule {
	t.Helper()
	list, problems := rules.Parse("f.yaml", []byte(text), rules.Origin{Scope: cardea.ScopeUser, Tool: harness.ToolWord})
	for _, p := range problems {
		t.Errorf("%s", p)
	}
	return list
}

// one reads a single rule from the inside of its map.
func one(t testing.TB, text string) rules.Rule {
	t.Helper()
	list := parse(t, "rules: [{id: r, "+text+"}]")
	if len(list) != 1 {
		t.Fatalf("%d rules in %s", len(list), text)
	}
	return list[0]
}

func event(toolName string, input map[string]any) *cardea.Event {
	_, known := harness.Tool(toolName)
	return &cardea.Event{Kind: cardea.PreToolUse, Mode: cardea.ModeDefault, Cwd: project, Project: project,
		Call: &cardea.Call{Tool: toolName, Name: toolName, Known: known, Input: input}}
}

func bash(command string) *cardea.Event { return event("Bash", map[string]any{"command": command}) }

func decide(t testing.TB, ev *cardea.Event, list ...rules.Rule) []cardea.Opinion {
	t.Helper()
	if len(ev.Call.Parts) == 0 {
		ev = call.Analyse(ev, knowledge.System{Home: home})
	}
	d := rules.New(rules.ListOf(list), rules.Options{Home: home})
	ops, err := d.Decide(context.Background(), ev)
	if err != nil {
		t.Error(err)
	}
	for _, o := range ops {
		if o.Decider != d.Name() || o.Rule == "" || o.Source == "" {
			t.Errorf("an opinion without origin: %+v", o)
		}
	}
	return ops
}

func speaks(t testing.TB, ev *cardea.Event, list ...rules.Rule) bool {
	t.Helper()
	return len(decide(t, ev, list...)) > 0
}

// TestTightening runs matches of rules that deny on commands. Those on the left must match,
// those on the right must not.
func TestTightening(t *testing.T) {
	for _, c := range []struct {
		match   string
		yes, no []string
	}{
		{"command: git push",
			[]string{"git push", "git push origin main", "git -C x push", "/usr/bin/git push", "timeout 5 git push", "ls; git push",
				"bash -c 'git push'", "GIT push", "sudo git push", "git --no-pager push"},
			[]string{"git pull", "git stash push", "echo git push", "git commit -m 'git push'", "gitpush", "pushd git"}},
		{"command: [npx, docker compose]",
			[]string{"npx foo", "docker compose up"}, []string{"npm x", "docker ps", "docker"}},
		{"command: ./deploy.sh", []string{"./deploy.sh now", "/x/deploy.sh"}, []string{"sh x", "deploy"}},
		{"command: sudo", []string{"sudo ls", "sudo -u x git push"}, []string{"ls", "echo sudo"}},
		{"command: sudo git push", []string{"sudo git push"}, []string{"git push", "sudo git pull"}},
		{"command: frobnicate now", []string{"frobnicate now", "frobnicate now x"}, []string{"frobnicate later", "frobnicate x now"}},

		{"{command: git push, flags: [--force, -f]}",
			[]string{"git push --force", "git push -f", "git push -uf origin x", "git push --force=true", "git push --forc", "git push --fo", "git push origin -f"},
			[]string{"git push --force-with-lease", "git push -- -f", "git push", "git push -o -f"}},
		{"{command: rm, flags: [-rf]}", []string{"rm -rf x", "rm -f -r x", "rm -fr x", "rm -vrf x"}, []string{"rm -r x", "rm -f x"}},
		{"{command: find, flags: [-delete]}", []string{"find . -delete", "find . -name x -delete"}, []string{"find . -name -delete", "find ."}},
		{"{command: frob, flags: [-yes]}", []string{"frob -yes", "frob x -yes=1"}, []string{"frob -- -yes", "frob -ye"}},
		{"{command: gh api, flags: ['-X=DELETE']}", []string{"gh api -X DELETE /r"}, []string{"gh api -X GET /r", "gh api /r"}},

		{
			"{command: git push, args: '^\\+'}",
			[]string{"git push origin +main", "git push origin \"+$b\"", "git push origin '+'$b", "git push origin \\+$b"},
			[]string{"git push origin main", "git push -o +x"},
		},
		{"{command: git, args: '^push$'}", []string{"git push"}, []string{"git pull push2"}},
		{"{command: rm, args: ['^a$', '^b$']}", []string{"rm a", "rm x b"}, []string{"rm -a", "rm ab"}},

		// A command may have more words under its usual name than in the line.
		{"{command: docker compose up, args: '^a$'}", []string{"docker compose up a", "docker-compose up a", "docker-compose up b a"}, []string{"docker-compose up b", "docker-compose up"}},
		{"{command: docker compose up a, args: '^b$'}", []string{"docker compose up a b", "docker-compose up a b"}, []string{"docker-compose up b a", "docker-compose up a"}},
		{"{command: docker compose, args: '^up$'}", []string{"docker compose up", "docker-compose up"}, []string{"docker-compose down"}},
		{"{command: npm install, args: '^a$'}", []string{"npm install a", "npm i a"}, []string{"npm i b", "npm i"}},

		{"{path: .env, access: read}",
			[]string{"cat .env", "cat web/.env", "cat ../.env", "cat < .env", "cat .en*", "cat .e?v", "cat .[e]nv", "cat ./x/../.env"},
			[]string{"cat .env.example", "cat env", "echo x > .env", "cat *", "grep -r x src", "echo .env"}},
		{"{path: src/**, access: delete}",
			[]string{"rm src/a", "rm -rf src", "rm -rf .", "rm -rf ..", "rm -rf s*", "rm src/*", "rm -rf /home/user/project/src/", "cd src && rm a", "find src -delete"},
			[]string{"rm -rf lib", "rm srcs/a", "rm *.o", "rm -rf x/src", "cat src/a", "rm src"}},
		{"{path: src/, access: delete}", []string{"rm -rf src", "rm src/a"}, []string{"rm a"}},
		{"{path: '~/.ssh/*', access: read}", []string{"cat ~/.ssh/id_rsa", "cat $HOME/.ssh/x", "grep -r x ~/.ssh"}, []string{"cat .ssh/x", "cat ~/x"}},
		{"{path: /etc/passwd, access: [write, delete]}", []string{"echo x > /etc/passwd", "rm -rf /etc"}, []string{"cat /etc/passwd", "rm -rf /etcetera", "ssh h rm /etc/passwd"}},
		{"{path: '/**/.claude/settings.json', access: write}", []string{"echo x > .claude/settings.json", "tee ~/.claude/settings.json"}, []string{"echo x > settings.json", "cp -r a ."}},
		{"{path: '**/x.key'}", []string{"cat x.key", "cat a/b/x.key"}, []string{"cat ~/x.key", "grep -r a ."}},
		{"{path: ., access: delete}", []string{"rm -rf .", "rm -rf ../project"}, []string{"rm -rf build"}},

		{"{host: '*.evil.example', access: network}", []string{"curl https://a.evil.example/x", "curl https://a.b.evil.example."}, []string{"curl evil.example", "curl x.example"}},
		{"{host: 169.254.169.254}", []string{"curl 169.254.169.254", "curl http://2852039166/", "curl http://0xa9.0xfe.0251.254/"}, []string{"curl 169.254.169.25", "curl 1"}},
		{"{host: '*'}", []string{"curl x.example", "git push"}, []string{"ls"}},

		{"flow: download-run", []string{"curl x | sh"}, []string{"curl x | cat", "sh x"}},
		{"{flow: download-run, command: sh}", []string{"curl x | sh"}, []string{"curl x | bash"}},
		{"opaque: true", []string{"$x", "eval \"$y\"", "ls ("}, []string{"ls"}},
		{"{opaque: true, command: rm}", []string{"PATH=/x rm y"}, []string{"$x"}},

		{"pattern: 'PUSH\\s+origin'", []string{"git push   origin", "git PUSH origin"}, []string{"git push up"}},
		{"{field: command, pattern: '^GIT'}", []string{"git push"}, []string{"ls; git push"}},
		{"{field: description}", nil, []string{"ls"}},
		{"{command: git, any: [{flags: [-f]}, {args: '^x$'}]}", []string{"git push -f", "git add x"}, []string{"git add y", "ls -f; git add y"}},
		{"any: [{command: ls}, {command: cat, any: [{flags: [-n]}]}]", []string{"ls", "cat -n x"}, []string{"cat x"}},
	} {
		m := c.match
		if !strings.HasPrefix(m, "{") {
			m = "{" + m + "}"
		}
		r := one(t, "effect: deny, match: "+m)
		for _, line := range c.yes {
			if !speaks(t, bash(line), r) {
				t.Errorf("%s says nothing about %q", c.match, line)
			}
		}
		for _, line := range c.no {
			if speaks(t, bash(line), r) {
				t.Errorf("%s speaks about %q", c.match, line)
			}
		}
	}
}

// TestAllowing runs matches of rules that allow. The lines on the left must be allowed
// completely, those on the right not.
func TestAllowing(t *testing.T) {
	for _, c := range []struct {
		match   string
		yes, no []string
	}{
		{"command: npm test",
			[]string{"npm test", "npm test foo", "timeout 30 npm test", "npm test && npm test x", "npm test > /dev/null", "npm test 2>&1", "/usr/bin/npm test",
				"npm test dist/*", "npm test -- -x $y"},
			[]string{"npm test -x", "npm testing", "sudo npm test", "npm test > f", "npm test >> /etc/passwd", "LD_PRELOAD=x npm test", "FOO=b npm test",
				"npm test $x", "npm test $(x)", "./npm test", "/tmp/npm test", "NPM test", "npm test; ls", "npm test *", "npm test a$x", "npm $x test",
				"ssh h npm test", "npm --prefix /tmp test", "bash -c 'npm test; rm -rf /'", "npm test\nrm -rf /", "docker run x npm test", "npm test <(x)"}},
		{"{command: git log, flags: [--oneline, -n, --format]}",
			[]string{"git log", "git log --oneline", "git log -n 5", "git log --format=%H"},
			[]string{"git log --output=x", "git log --onel", "git -C x log", "git -c a=b log", "git log -p", "git log -n5 --output x"}},
		{"{command: head, flags: ['-n=5']}", []string{"head -n 5 x", "head -n5 x"}, []string{"head -n 6 x"}},
		// The rule does not name the writes of a wrapper.
		{"command: ls", []string{"ls", "time ls", "ls > /dev/null"},
			[]string{"env time -o pwned ls", "\\time -o out -f evil ls", "env time --output=pwned ls", "env time --outp pwned ls", "flock pwned ls", "flock /etc/x ls",
				"flock $x ls", "script pwned -c ls", "sudo time -o x ls", "flock lock time -o log.txt -- ls", "ls > pwned"}},
		{"{command: ls, path: locks/**, access: [read, write]}", []string{"flock locks/a ls locks/b"}, []string{"flock a ls locks/b", "flock locks/../a ls locks/b"}},
		{"{command: ls, flags: [-la]}", []string{"ls -la"}, []string{"ls -lat", "ls -l", "ls -R"}},
		{"{command: rm, args: '^build/'}", []string{"rm build/a", "rm build/a build/b"}, []string{"rm build/a /etc/x", "rm", "rm \"build/$x\"", "rm -f build/a"}},
		{"{command: cat, path: docs/**, access: read}",
			[]string{"cat docs/a", "cat docs/a docs/b/c", "cat docs/*", "cat ./docs/x/../a"},
			[]string{"cat docs/a /etc/shadow", "cat docs/../x", "cat < x", "cat docs", "cat doc*/a", "cat docs/a > docs/b", "cat", "cat docs/*/../../x", "cat docs/*/../../../../../etc/passwd"}},
		{"{command: echo, path: '*.log', access: write}",
			[]string{"echo a > x.log", "echo a > logs/y.log"}, []string{"echo a > x", "echo a > /tmp/x.log", "echo a > ~/x.log", "echo a"}},
		{"{command: curl, host: '*.example.com', access: network}",
			[]string{"curl https://a.example.com/x", "curl a.example.com:8080/http://b.evil"}, []string{
				"curl https://example.com",
				"curl 127.0.0.1:8765/x://a.example.com/",
				"curl 'http://evil.com\\@a.example.com/'",
				"curl http:/evil.com/a.example.com",
				"curl http://a.example.com@evil.com/",
				"curl 'http://b@evil.com:80@a.example.com'",
				"curl 'http://evil.com #@a.example.com'",
				"curl -O https://a.example.com/x",
				"curl 'http://{evil,a.example}.com/'",
				"curl $x://a.example.com/",
				"curl https://a.example.com$x",
				"wget https://a.example.com/x",
				"curl a.example.com b.evil",
				"curl -o f a.example.com",
				"curl a.example.com > f",
				"ls",
			}},
		{"{command: curl, path: docs/**}", nil, []string{"curl x.example"}},
		{"pattern: 'make (all|check)'", []string{"make all", "make check"}, []string{"make all x", "xmake all", "make", "make all; ls"}},
		{"{any: [{command: ls, flags: [-l]}, {command: pwd}]}", []string{"ls -l", "pwd", "ls"}, []string{"ls -a", "pwd -P"}},
		{"{flags: [-l], any: [{command: ls}]}", []string{"ls -l"}, []string{"ls -a", "pwd"}},
		{"command: sudo systemctl status", []string{"sudo systemctl status x"}, []string{"systemctl status x", "sudo env systemctl status x", "doas systemctl status x"}},
		{"{field: command, pattern: 'npm test'}", []string{"npm test"}, []string{"npm test; ls", "npm test > f"}},
		{"{role: tester, command: npm}", nil, []string{"npm x"}},
		// The input that the line gives a program may be code for it.
		{"{command: psql, pattern: '^psql mydb$'}",
			[]string{"psql mydb", "psql mydb </dev/null", "{ psql mydb; } && psql mydb", "if psql mydb; then psql mydb; fi", "time psql mydb"},
			[]string{"psql mydb < drop.sql", "psql mydb <<< drop", "psql mydb <<EOF\ndrop\nEOF", "cat x | psql mydb", "cat x |& psql mydb", "{ psql mydb; } < x", "exec < x; psql mydb",
				"bash -c $'psql mydb \\x3c x'", "eval $'exec \\x3c\\x3c\\x3c x'; psql mydb", "f() { psql mydb; }; cat x | f", "psql mydb <&3", "psql mydb < <(cat x)",
				"psql mydb 0>/dev/tcp/e/8", "echo x | tee >(psql mydb)", "cat x | while read l; do psql mydb; done", "psql mydb <> x", "bash <<< 'psql mydb'", "psql mydb </dev/nullx",
				"echo $(psql mydb <<< drop)", "trap 'psql mydb < x' EXIT", "flock l -c 'psql mydb < x'", "psql mydb < /dev/null < x", "source x; psql mydb", "watch 'psql mydb < x'"}},
		{"{command: psql, args: ^mydb$}", []string{"psql mydb"}, []string{"psql mydb < x"}},
		{"{command: psql, args: ^mydb$, any: [{stdin: any}]}", []string{"psql mydb < x"}, nil},
		{"{command: psql}", []string{"psql mydb < x", "psql mydb <<< drop"}, nil},
		{"{command: psql, args: ^mydb$, stdin: any}", []string{"psql mydb < x", "psql mydb <<< drop"}, nil},
		{"{command: psql, stdin: none, any: [{stdin: any}]}", []string{"psql mydb"}, []string{"psql mydb < x"}},
		{"{command: wc, args: x}", []string{"wc x < x"}, nil},
		{"{command: tee, pattern: '^tee /dev/null$', stdin: none}", []string{"tee /dev/null"}, []string{"tee /dev/null < x", "tee /dev/null <<< x"}},
	} {
		m := c.match
		if !strings.HasPrefix(m, "{") {
			m = "{" + m + "}"
		}
		r := one(t, "tool: Bash, effect: allow, match: "+m)
		whole := func(line string) bool {
			ev := call.Analyse(bash(line), knowledge.System{Home: home})
			ops := decide(t, ev, r)
			for _, o := range ops {
				if o.Part == cardea.WholeCall || o.Effect != cardea.Allow {
					t.Errorf("%s: an allow must name a part: %+v", c.match, o)
				}
			}
			return len(ops) > 0 && len(ops) == len(ev.Call.Parts)
		}
		for _, line := range c.yes {
			if !whole(line) {
				t.Errorf("%s does not allow %q", c.match, line)
			}
		}
		for _, line := range c.no {
			if whole(line) {
				t.Errorf("%s allows %q", c.match, line)
			}
		}
	}
}

// TestSeveralLines tests that one line of a call cannot hide the input that another line
// gives its commands, if a harness sends several.
func TestSeveralLines(t *testing.T) {
	r := one(t, "tool: Bash, effect: allow, match: {command: psql, pattern: '^psql mydb$'}")
	for second, want := range map[string]int{"psql mydb": 2, "psql mydb < drop.sql": 0, "echo drop | psql mydb": 1} {
		ev := bash("psql mydb")
		ev.Call.Shadowed = map[string][]any{"command": {second}}
		if ops := decide(t, ev, r); len(ops) != want {
			t.Errorf("psql mydb beside %q: %d parts are allowed, want %d", second, len(ops), want)
		}
	}
}

// TestAllowNeedsCertainty changes one fact at a time on an allowed part.
func TestAllowNeedsCertainty(t *testing.T) {
	r := one(t, "tool: Bash, effect: allow, match: {command: npm test, flags: [-s]}")
	for _, c := range []struct {
		name   string
		change func(*cardea.Event, *cardea.Part)
		want   bool
	}{
		{"as it is", func(*cardea.Event, *cardea.Part) {}, true},
		{"fault", func(e *cardea.Event, _ *cardea.Part) { e.Faults = []cardea.Opaque{{Text: "x"}} }, false},
		{"opaque call", func(e *cardea.Event, _ *cardea.Part) { e.Call.Opaque = []cardea.Opaque{{Text: "x"}} }, false},
		{"opaque part", func(_ *cardea.Event, p *cardea.Part) { p.Opaque = []cardea.Opaque{{Text: "x"}} }, false},
		{"partial", func(_ *cardea.Event, p *cardea.Part) { p.Coverage = cardea.Partial }, false},
		{"unsandboxed", func(e *cardea.Event, _ *cardea.Part) { e.Call.Unsandboxed = true }, false},
		{"remote", func(_ *cardea.Event, p *cardea.Part) { p.Remote = true }, false},
		{"elevated", func(_ *cardea.Event, p *cardea.Part) { p.Elevated, p.Wrappers = true, []string{"sudo"} }, false},
		{"safe variable", func(_ *cardea.Event, p *cardea.Part) {
			p.Assigns = []cardea.Assign{{Name: "LANG", Class: cardea.EnvSafe}}
		}, true},
		{"unknown variable", func(_ *cardea.Event, p *cardea.Part) { p.Assigns = []cardea.Assign{{Name: "X"}} }, false},
		{"dash word", func(_ *cardea.Event, p *cardea.Part) {
			p.Argv = append(p.Argv, cardea.Word{Text: "*", MaySplit: true, MayBeOption: true})
		}, false},
		{"option nobody took apart", func(_ *cardea.Event, p *cardea.Part) {
			p.Argv = append(p.Argv, cardea.Word{Text: "-x", Static: true})
		}, false},
		{"double dash as a value", func(_ *cardea.Event, p *cardea.Part) {
			p.Argv = append(p.Argv, cardea.Word{Text: "-s", Static: true}, cardea.Word{Text: "--", Static: true}, cardea.Word{Text: "$x", MaySplit: true})
			p.Options = []cardea.Option{{Name: "-s", Value: "--", Static: true, Word: 2}}
		}, false},
		{"network redirect", func(_ *cardea.Event, p *cardea.Part) {
			p.Access = []cardea.Access{{Kind: cardea.Network, Redirect: true, Host: "x"}}
		}, false},
		{"pattern redirect", func(_ *cardea.Event, p *cardea.Part) {
			p.Access = []cardea.Access{{Kind: cardea.Write, Redirect: true, Path: "/dev/null", Glob: true}}
		}, false},
		{"dynamic program", func(_ *cardea.Event, p *cardea.Part) { p.Argv[0].Static = false }, false},
	} {
		ev := bash("npm test")
		part := cardea.Part{
			ShellFacts:   cardea.ShellFacts{Text: "npm test", Coverage: cardea.Complete, Argv: []cardea.Word{{Text: "npm", Static: true}, {Text: "test", Static: true}}},
			CommandFacts: cardea.CommandFacts{Command: []string{"npm", "test"}},
		}
		c.change(ev, &part)
		ev.Call.Parts = []cardea.Part{part}
		if got := speaks(t, ev, r); got != c.want {
			t.Errorf("%s: allowed is %v", c.name, got)
		}
	}
}

func TestToolsAndEvents(t *testing.T) {
	read := func(path string) *cardea.Event { return event("Read", map[string]any{"file_path": path}) }
	permission := bash("ls")
	permission.Kind = cardea.PermissionRequest
	skill := bash("ls")
	skill.Kind = cardea.PreSkillShellCommand
	stop := bash("ls")
	stop.Kind = "Stop"
	copilot := bash("ls")
	copilot.Call.Name = "bash"
	suspicious := event("strange", map[string]any{"x": "y"})
	for _, c := range []struct {
		rule string
		ev   *cardea.Event
		want bool
	}{
		{"effect: deny, tool: Bash", bash("ls"), true},
		{"effect: deny, tool: bash", bash("ls"), true},
		{"effect: deny, tool: view", read("/x"), true},
		{"effect: deny, tool: Bash", copilot, true},
		{"effect: deny, tool: [Write, 'Re*']", read("/x"), true},
		{"effect: deny, tool: Write", read("/x"), false},
		{"effect: deny, tool: Bash", event("Monitor", map[string]any{"command": "ls"}), true},
		{"effect: allow, tool: Bash, match: {command: ls}", event("Monitor", map[string]any{"command": "ls"}), false},
		{"effect: deny, tool: strange", suspicious, true},
		{"effect: deny, tool: 'mcp__github__*'", event("mcp__github__get", nil), true},
		{"effect: deny, tool: 'mcp__github__*'", event("mcp__gitlab__get", nil), false},
		{"effect: allow, tool: Read, match: {path: docs/**, access: read}", read(project + "/docs/a"), true},
		{"effect: allow, tool: Read, match: {path: docs/**, access: read}", read("/etc/passwd"), false},
		{"effect: allow, tool: Read", read("/x"), true},
		{"effect: deny, match: {command: ls}", permission, true},
		{"effect: deny, event: PermissionRequest, match: {command: ls}", permission, true},
		{"effect: deny, event: PermissionRequest, match: {command: ls}", bash("ls"), false},
		{"effect: deny, event: [PreToolUse], match: {command: ls}", permission, true},
		{"effect: deny, match: {command: ls}", skill, true},
		{"effect: deny, event: PreToolUse, match: {command: ls}", skill, true},
		{"effect: deny, event: PermissionRequest, match: {command: ls}", skill, false},
		{"effect: deny, event: PreSkillShellCommand, match: {command: ls}", skill, true},
		{"effect: deny, event: PreSkillShellCommand, match: {command: ls}", bash("ls"), false},
		{"effect: deny, event: '*', tool: Bash", stop, true},
		{"effect: deny, event: Stop, tool: Bash", stop, true},
		{"effect: deny, tool: Bash", stop, false},
	} {
		if got := speaks(t, c.ev, one(t, c.rule)); got != c.want {
			t.Errorf("%s about %s on %s: %v", c.rule, c.ev.Call.Tool, c.ev.Kind, got)
		}
	}
	if ops, err := rules.New(rules.ListOf([]rules.Rule{one(t, "effect: deny, tool: Bash")}), rules.Options{}).Decide(context.Background(), &cardea.Event{Kind: cardea.PreToolUse}); len(ops) > 0 ||
		err != nil {
		t.Error("an event without a call is none of the rules' business")
	}
}

func TestFields(t *testing.T) {
	edit := event("MultiEdit", map[string]any{"file_path": "/x", "n": 1.5, "nested": map[string]any{"a": "<b>"}, "dot.ted": "d",
		"edits": []any{map[string]any{"new_string": "one"}, map[string]any{"new_string": "TODO two"}}})
	edit.Call.Shadowed = map[string][]any{"file_path": {"/shadow"}}
	for _, c := range []struct {
		match string
		want  bool
	}{
		{"{field: edits.new_string, pattern: todo}", true},
		{"{field: edits.1.new_string, pattern: todo}", true},
		{"{field: edits.0.new_string, pattern: todo}", false},
		{"{field: edits.9.new_string}", false},
		{"{field: nested, pattern: '^\\{\"a\":\"<b>\"\\}$'}", true},
		{"{field: nested.a, pattern: '<b>'}", true},
		{"{field: nested.b}", false},
		{"{field: dot.ted, pattern: d}", true},
		{"{field: n, pattern: '^1\\.5$'}", true},
		{"{field: file_path, pattern: '^/shadow$'}", true},
		{"{field: file_path}", true},
		{"{field: absent}", false},
	} {
		ops := decide(t, edit, one(t, "effect: ask, tool: MultiEdit, match: "+c.match))
		if len(ops) > 0 != c.want {
			t.Errorf("%s: %+v", c.match, ops)
		}
		if c.want && len(ops) == 1 && ops[0].Part != cardea.WholeCall {
			t.Errorf("%s: a field is about the whole call", c.match)
		}
	}
	if speaks(t, edit, one(t, "effect: allow, tool: MultiEdit, match: {field: n}")) {
		t.Error("a call with shadowed values is allowed")
	}
	fetch := event("WebFetch", map[string]any{"url": "https://go.dev/doc"})
	if !speaks(t, fetch, one(t, "effect: allow, tool: WebFetch, match: {field: url, pattern: 'https://go\\.dev/.*'}")) {
		t.Error("a field that matches whole allows its part")
	}
	if speaks(t, fetch, one(t, "effect: allow, tool: WebFetch, match: {field: url, pattern: 'https://go\\.dev/'}")) {
		t.Error("a field that matches in part is allowed")
	}
}

func TestOpinion(t *testing.T) {
	r := one(t, "effect: ask, person: true, message: m, instead: i, context: c, because: b, severity: high, rewrite: {command: ls}, match: {command: rm}")
	ops := decide(t, bash("ls; rm x"), r)
	if len(ops) != 1 {
		t.Fatalf("%+v", ops)
	}
	o := ops[0]
	if o.Part != 1 || o.Effect != cardea.Ask || !o.Person || o.Reason != "m" || o.Because != "b" || o.Severity != "high" || o.Scope != cardea.ScopeUser ||
		o.Source != "f.yaml:1" || o.Advice.Instead != "i" || o.Advice.Context != "c" || o.Advice.Rewrite["command"] != "ls" || o.Withheld {
		t.Errorf("%+v", o)
	}
	long := decide(t, bash("rm "+strings.Repeat("x", 500)), one(t, "effect: deny, match: {command: rm}"))
	if got := long[0].Reason; !strings.HasPrefix(got, "rule r says deny: rm xxx") || len(got) > 120 {
		t.Errorf("default text %q", got)
	}
	if got := decide(t, bash("ls"), one(t, "effect: deny, tool: Bash"))[0]; got.Part != cardea.WholeCall || got.Reason != "rule r says deny: Bash" {
		t.Errorf("a rule about a tool is about the whole call: %+v", got)
	}
	advice := decide(t, bash("npm i"), one(t, "context: use pnpm, match: {command: npm}"))
	if len(advice) != 1 || advice[0].Effect != cardea.Abstain || advice[0].Advice.Context != "use pnpm" || advice[0].Reason != "" {
		t.Errorf("advice: %+v", advice)
	}
	role := bash("ls")
	role.Role = "tester"
	if got := decide(t, role, one(t, "effect: deny, match: {role: ['test*']}")); len(got) != 1 || got[0].Part != cardea.WholeCall {
		t.Errorf("role: %+v", got)
	}
	if speaks(t, bash("ls"), one(t, "effect: deny, match: {role: '*'}")) {
		t.Error("no role is no role")
	}
	hidden := bash("ls")
	hidden.Faults = []cardea.Opaque{{Text: "x"}}
	if got := decide(t, hidden, one(t, "effect: ask, match: {opaque: true}")); len(got) != 1 || got[0].Part != cardea.WholeCall {
		t.Errorf("a fault is opaque: %+v", got)
	}
}

func TestUntrustedProject(t *testing.T) {
	for effect, want := range map[string]cardea.Effect{"halt": cardea.Deny, "deny": cardea.Deny, "ask": cardea.Ask,
		"defer": cardea.Abstain, "allow": cardea.Abstain, "abstain": cardea.Abstain} {
		text := "rules: [{id: r, effect: " + effect + ", message: secret words, because: b, instead: i, context: c, match: {command: ls}}]"
		for _, trusted := range []bool{false, true} {
			list, problems := rules.Parse("f.yaml", []byte(text), rules.Origin{Scope: cardea.ScopeProject, Trusted: trusted})
			if len(problems) > 0 || len(list) != 1 {
				t.Fatalf("%v", problems)
			}
			ops := decide(t, bash("ls"), list...)
			switch {
			case trusted:
				if len(ops) != 1 || ops[0].Withheld || ops[0].Effect.String() != effect || ops[0].Advice.Instead != "i" {
					t.Errorf("trusted %s: %+v", effect, ops)
				}
			case want == cardea.Abstain:
				if len(ops) != 0 {
					t.Errorf("untrusted %s: %+v", effect, ops)
				}
			case len(ops) != 1 || ops[0].Effect != want || !ops[0].Withheld || !ops[0].Advice.Empty():
				t.Errorf("untrusted %s: %+v", effect, ops)
			}
		}
	}
}

func TestRootOfARule(t *testing.T) {
	r := one(t, "effect: deny, match: {path: secrets/**, access: read}")
	r.Root = "/other"
	if !speaks(t, bash("cat /other/secrets/a"), r) || speaks(t, bash("cat secrets/a"), r) {
		t.Error("a rule's globs are relative to its own project")
	}
	r.Root = ""
	ev := bash("cat /x/secrets/a")
	ev.Project, ev.Cwd = "", ""
	if !speaks(t, ev, r) {
		t.Error("where no folder is known, a relative glob is for any depth")
	}
	r.Match.Paths = []string{"~/x"}
	ev = call.Analyse(ev, knowledge.System{})
	if ops, _ := rules.New(rules.ListOf([]rules.Rule{r}), rules.Options{}).Decide(context.Background(), ev); len(ops) > 0 {
		t.Error("without a home, ~ is nowhere")
	}
	folded := rules.New(rules.ListOf([]rules.Rule{one(t, "effect: deny, match: {path: .env}")}), rules.Options{FoldPaths: true})
	up := bash("cat .ENV")
	up = call.Analyse(up, knowledge.System{Home: home})
	if ops, _ := folded.Decide(context.Background(), up); len(ops) != 1 {
		t.Error("a file system that ignores case has .ENV for .env")
	}
	unusual := one(t, "effect: deny, match: {path: a.txt}")
	unusual.Match.Paths, unusual.Root = []string{"./a.txt"}, "/p/[x]"
	if !speaks(t, bash("cat '/p/[x]/a.txt'"), unusual) || speaks(t, bash("cat /p/x/a.txt"), unusual) {
		t.Error("the project's folder is literal")
	}
}

func TestBrokenExpression(t *testing.T) {
	broken, good := one(t, "effect: deny, match: {pattern: x}"), one(t, "effect: deny, match: {command: ls}")
	broken.Match.Pattern, broken.Match.Needs = "(", nil
	ev := bash("ls")
	ev = call.Analyse(ev, knowledge.System{})
	ops, err := rules.New(rules.ListOf([]rules.Rule{broken, good}), rules.Options{}).Decide(context.Background(), ev)
	var issues cardea.Issues
	if !errors.As(err, &issues) || issues[0].Failure != cardea.BrokenFile || len(ops) != 1 {
		t.Errorf("%v, %+v", err, ops)
	}
	// Text of an untrusted project must not reach the model in this way.
	broken.Scope, broken.Match.Pattern = cardea.ScopeProject, "(IGNORE-ALL"
	_, err = rules.New(rules.ListOf([]rules.Rule{broken}), rules.Options{}).Decide(context.Background(), ev)
	if !errors.As(err, &issues) || strings.Contains(err.Error(), "IGNORE") || issues[0].Diagnostic.Code != diagnostic.CodeBadPattern {
		t.Errorf("untrusted: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if ops, err := rules.New(rules.ListOf([]rules.Rule{good}), rules.Options{}).Decide(ctx, ev); err != nil || len(ops) != 0 {
		t.Error("a call that is out of time is the gate's business")
	}
}

func TestSwitches(t *testing.T) {
	list := parse(t, "rules: [{id: git-a, effect: deny, tool: Bash}, {id: git-b, effect: halt, tool: Bash}, {id: c, effect: ask, tool: Bash}]")
	for i, s := range []cardea.Scope{cardea.ScopeBuiltin, cardea.ScopeBuiltin, cardea.ScopeUser} {
		list[i].Scope, list[i].Pack = s, "p"
	}
	self := list[0]
	self.ID, self.Pack = "self", rules.SelfProtection
	list = append(list, self)
	ids := func(rs []rules.Rule) string {
		var out []string
		for _, r := range rs {
			out = append(out, r.ID+":"+r.Effect.String())
		}
		return strings.Join(out, " ")
	}
	const all = "git-a:deny git-b:halt c:ask self:deny"
	for _, c := range []struct {
		s      rules.Switches
		want   string
		unused []string
	}{
		{rules.Switches{By: cardea.ScopeUser}, all, nil},
		{rules.Switches{By: cardea.ScopeUser, Off: []string{"git-a"}}, "git-b:halt c:ask self:deny", nil},
		{rules.Switches{By: cardea.ScopeUser, Off: []string{"git-b"}}, all, []string{"git-b"}},
		{rules.Switches{By: cardea.ScopeUser, Off: []string{"p"}}, "git-b:halt self:deny", nil},
		{rules.Switches{By: cardea.ScopeUser, Off: []string{"*"}}, "git-b:halt self:deny", nil},
		{rules.Switches{By: cardea.ScopeUser, Off: []string{"builtins", "self*"}}, all, []string{"builtins", "self*"}},
		{rules.Switches{By: cardea.ScopeUser, Off: []string{"self"}}, "git-a:deny git-b:halt c:ask", nil},
		{rules.Switches{By: cardea.ScopeProject, Off: []string{"*"}}, all, []string{"*"}},
		{rules.Switches{By: cardea.ScopeSystem, Off: []string{"c"}}, "git-a:deny git-b:halt self:deny", nil},
		{rules.Switches{By: cardea.ScopeUser, Effect: map[string]cardea.Effect{"git-a": cardea.Ask, "x": cardea.Ask}}, "git-a:ask git-b:halt c:ask self:deny", []string{"x"}},
		{rules.Switches{By: cardea.ScopeBuiltin, Off: []string{"git-b"}}, "git-a:deny c:ask self:deny", nil},
	} {
		left, _, unused := c.s.Apply(rules.ListOf(list))
		if got := ids(left.All()); got != c.want || !slices.Equal(unused, c.unused) {
			t.Errorf("%+v: got %s, unused %q", c.s, got, unused)
		}
	}
	if list[0].Effect != cardea.Deny {
		t.Error("switches changed the list they were given")
	}
}

// TestPackedTests tests that the tests of a rule in the program's table are unchanged, and
// that unreadable ones fail.
func TestPackedTests(t *testing.T) {
	r := one(t, "effect: deny, match: {command: rm}, tests: [{input: {command: rm x}, expect: deny, desc: d}, {input: {command: ls}, role: r, expect: none}]")
	want := slices.Clone(r.Tests)
	if err := r.PackTests(); err != nil || r.Tests != nil || len(want) != 2 {
		t.Fatal(err, r.Tests, want)
	}
	if got, err := r.Examples(); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %+v, want %+v", err, got, want)
	}
	analyse := func(ev *cardea.Event) *cardea.Event { return call.Analyse(ev, knowledge.System{}) }
	if res := rules.RunTests([]rules.Rule{r}, rules.Stand{Project: "/p"}, analyse); len(res) != 2 || res[0].Problem+res[1].Problem != "" {
		t.Errorf("%+v", res)
	}
	r.Packed = "{"
	if res := rules.RunTests([]rules.Rule{r}, rules.Stand{Project: "/p"}, analyse); len(res) != 1 || res[0].Problem == "" {
		t.Errorf("%+v", res)
	}
}

// A pattern for a program's name makes a command a potential effect, which asks if the
// pattern fits. With any_program the rule itself applies. A rule that allows never matches.
func TestProgramIsAPattern(t *testing.T) {
	push := `match: {command: git push, flags: [--force]}, `
	for _, c := range []struct {
		rule, line string
		want       cardea.Effect
	}{
		{push + "effect: deny", "/usr/bin/gi? push --force", cardea.Ask},
		{push + "effect: deny", "/usr/bin/GI? push --force", cardea.Ask},
		{push + "effect: deny", "/usr/bin/g* -C x push --force", cardea.Ask},
		{push + "effect: deny", "timeout 9 /usr/bin/g* push --force", cardea.Ask},
		{push + "effect: deny", "/usr/bin/h? push --force", cardea.Abstain},
		{push + "effect: deny", "/usr/bin/gi? x push --force", cardea.Abstain},
		{push + "effect: deny", "$x push --force", cardea.Abstain},
		{push + "effect: deny", "for i in /usr/bin/gi?; do $i push --force; done", cardea.Ask},
		{"match: {command: [git push, cardea approve], any_program: true}, effect: deny", "$x push --force", cardea.Deny},
		{"match: {command: cardea approve, any_program: true}, effect: deny", "/opt/c* --json approve", cardea.Deny},
		{"match: {access: delete, path: '/**'}, effect: deny", "/bin/r? -r /home/user/x", cardea.Ask},
		{"match: {command: cardea approve, any_program: true}, effect: deny", "$x certificate approve", cardea.Abstain},
		{"match: {command: ls}, effect: allow", "/bin/l?", cardea.Abstain},
		// A condition on the call is checked once, a condition on a part also for potential
		// effects.
		{"match: {any: [{command: git push}, {field: command, pattern: never}]}, effect: deny", "strace git push", cardea.Ask},
		{"match: {any: [{command: hg}, {field: command, pattern: strace}]}, effect: deny", "strace git push", cardea.Deny},
	} {
		d := rules.New(rules.ListOf([]rules.Rule{one(t, c.rule)}), rules.Options{Home: home})
		ev := call.Analyse(bash(c.line), knowledge.System{Home: home, Roots: []string{project}})
		said, err := d.Decide(context.Background(), ev)
		if err != nil {
			t.Fatal(err)
		}
		potential, err := ev.PotentialCalls().Opinions(context.Background(), d, said)
		if err != nil {
			t.Fatal(err)
		}
		got := cardea.Abstain
		for _, o := range append(said, potential...) {
			got = got.JoinOpinion(o.Effect)
		}
		if got != c.want {
			t.Errorf("%s about %s: %s, want %s", c.rule, c.line, got, c.want)
		}
	}
}
