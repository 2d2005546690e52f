package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/trust"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/decide/policy/rego"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/hook/control"
	"cardea.dev/internal/testing/sharedtest"
	"cardea.dev/internal/testing/testrun"
)

// twin is a person with two projects, in two copies. Each change is made in both. A daemon
// answers in one copy, and a process for each call in the other.
type twin struct {
	t          *testing.T
	warm, cold string
	memory     *inforce.Memory
	asked      int
	left       map[string]int
}

func newTwin(t *testing.T) *twin {
	t.Helper()
	dir := t.TempDir()
	tw := &twin{t: t, warm: dir + "/warm", cold: dir + "/cold", left: map[string]int{}}
	// Files written just now would be read at each call. So the clock is ahead, and the test
	// waits for a clock tick of the file system where it changes a file.
	later := func() time.Time { return time.Now().Add(time.Hour) }
	tw.memory = inforce.NewMemory(later, func() inforce.ClosingEngine { return inProcess{} })
	for _, d := range []string{"home", "one/.git", "one/src", "two/.git"} {
		tw.do(func(root string) error { return os.MkdirAll(filepath.Join(root, d), 0o700) })
	}
	return tw
}

// do runs a function in both copies.
func (tw *twin) do(what func(root string) error) {
	tw.t.Helper()
	for _, root := range []string{tw.warm, tw.cold} {
		if err := what(root); err != nil {
			tw.t.Fatal(err)
		}
	}
}

// tick waits until the clock of the file system has moved.
func tick() { time.Sleep(25 * time.Millisecond) }

// theRoot is the placeholder for the folder of a copy. The calls name a variable ROOT.
const theRoot = "@ROOT@"

// write writes a file in both copies. @ROOT@ is replaced by the copy's folder.
func (tw *twin) write(path, text string) {
	tw.t.Helper()
	tick()
	tw.do(func(root string) error {
		at := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return err
		}
		return os.WriteFile(at, []byte(strings.ReplaceAll(text, theRoot, root)), 0o600)
	})
	tick()
}

func (tw *twin) remove(path string) {
	tw.t.Helper()
	tw.do(func(root string) error { return os.RemoveAll(filepath.Join(root, path)) })
	tick()
}

// trusts trusts files of a project in their current form, or revokes the trust.
func (tw *twin) trusts(project string, names ...string) {
	tw.t.Helper()
	tw.do(func(root string) error {
		at := paths.Real(filepath.Join(root, project))
		if len(names) == 0 {
			_, err := trust.Revoke(filepath.Join(root, "home/.local/state/cardea"), at)
			return err
		}
		m := &trust.Manifest{Project: at, Files: map[string]string{}, Who: "test", When: time.Unix(1, 0)}
		for _, name := range names {
			if data, err := os.ReadFile(filepath.Join(at, name)); err == nil {
				m.Files[name] = trust.Digest(data)
			}
		}
		return trust.Save(filepath.Join(root, "home/.local/state/cardea"), m)
	})
	tick()
}

// question is a message as a harness sends it. @ROOT@ is replaced by the copy's folder.
type question struct {
	args    []string
	project string
	message string
	// home is another home folder for the caller, "" for the person's.
	home string
}

func (q question) variables(root string) []string {
	home := "home"
	if q.home != "" {
		home = q.home
	}
	return []string{"HOME=" + filepath.Join(root, home), "CLAUDE_PROJECT_DIR=" + filepath.Join(root, q.project), "PATH=/usr/bin:/bin"}
}

// said returns an answer as text, without the copy's folder.
func said(root string, exit int, out, errs []byte) string {
	text := strings.ReplaceAll(fmt.Sprintf("exit %d\n%s\n%s", exit, out, errs), root, theRoot)
	for n := len(root) - 1; n > len(filepath.Dir(root)); n-- { // a text that was cut off within the folder
		text = strings.ReplaceAll(text, root[:n]+"…", theRoot+"…")
	}
	return text
}

func process(root string) hook.Process {
	p := hook.ThisProcess(os.Args[0])
	p.Lines, p.Judge = nil, nil
	p.Dir = root
	return p
}

// alone returns the answer of a process for this call.
func (q question) alone(root string) string {
	var out, errs bytes.Buffer
	p, v := process(root), control.VariablesOf(q.variables(root))
	p.Env = func(name string) string { return v.Values[name] }
	p.Machine.Env, p.Dir = p.Env, filepath.Join(root, q.project)
	p.Stdin, p.Stdout, p.Stderr = strings.NewReader(strings.ReplaceAll(q.message, theRoot, root)), &out, &errs
	p.Engines = policy.Engines{Own: rego.Engine{}, Project: rego.Engine{}}
	h, err := hook.Prepare(q.args, p)
	if err != nil {
		return err.Error()
	}
	exit := h.Run()
	h.Unended.Wait()
	return said(root, exit, out.Bytes(), errs.Bytes())
}

// byDaemon returns the daemon's answer.
func (q question) byDaemon(root string, m *inforce.Memory) (string, error) {
	c := control.CheckRequest{Args: q.args, Dir: filepath.Join(root, q.project), Message: []byte(strings.ReplaceAll(q.message, theRoot, root)), Variables: control.VariablesOf(q.variables(root))}
	a, err := Local{Memory: m, Process: process(root)}.Check(c, time.Time{})
	return said(root, a.Exit, a.Stdout, a.Stderr), err
}

// ask asks both and compares. A call that the daemon leaves is answered as the hook does it.
func (tw *twin) ask(q question) {
	tw.t.Helper()
	tw.asked++
	want := q.alone(tw.cold)
	got, err := q.byDaemon(tw.warm, tw.memory)
	var left control.LeftError
	if errors.As(err, &left) {
		tw.left[string(left)]++
		got, err = q.alone(tw.warm), nil
	}
	if err != nil || got != want {
		tw.t.Fatalf("%v %s\n%.600s\nthe daemon: %s%v\na process:  %s", q.args, q.project, q.message, got, err, want)
	}
}

// enough checks that the daemon answered most calls.
func (tw *twin) enough() {
	tw.t.Helper()
	n := 0
	for _, times := range tw.left {
		n += times
	}
	if n*5 > tw.asked {
		tw.t.Errorf("%d of %d calls were left: %v", n, tw.asked, tw.left)
	}
	bytes, entries := tw.memory.Size()
	tw.t.Logf("%d calls, %d left (%v); %d bytes in %d entries", tw.asked, n, tw.left, bytes, entries)
}

// The daemon and a process for the call give the same answer, byte by byte, to every
// recorded message of a harness.
func TestParityOfPayloads(t *testing.T) {
	tw := newTwin(t)
	tw.write("home/.config/cardea/rules/mine.yaml", "rules: [{id: ask-ls, tool: Bash, match: {command: ls}, effect: ask, message: m}]\n")
	var files []string
	for _, pattern := range []string{"payloads/*/*.json", "payloads/*.json"} {
		found, err := filepath.Glob(filepath.Join(sharedtest.Path(t, "payloads"), "..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if sharedtest.Available(t) {
		for _, folder := range []string{"payloads", "payloads-newest"} {
			found, err := filepath.Glob(filepath.Join(sharedtest.Path(t, "lab", folder), "*.json"))
			if err != nil || len(found) < 50 {
				t.Fatal(found, err)
			}
			files = append(files, found...)
		}
	}
	if len(files) == 0 {
		t.Fatal("no payloads")
	}
	for i, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		q := question{project: "one", message: string(data)}
		if i%2 == 0 {
			tw.ask(q)
		}
		q.args = []string{"--harness", []string{"claude-code", "copilot-cli"}[i%4/2], "--limit", "1m"}
		tw.ask(q)
	}
	tw.enough()
}

const askPolicy = `# METADATA
# scope: package
# custom:
#   routing:
#     required_events: [PreToolUse]
#     required_tools: [Bash]
package cardea.policies.%s

import rego.v1

%s contains {"rule_id": "P", "reason": "by the policy", "severity": "HIGH"} if contains(input.tool_input.command, "%s")
`

// changes returns the file changes that people and agents make between calls, by name.
func changes() map[string]func(tw *twin) {
	const own = "home/.config/cardea/"
	set := func(path, text string) func(*twin) { return func(tw *twin) { tw.write(path, text) } }
	gone := func(path string) func(*twin) { return func(tw *twin) { tw.remove(path) } }
	return map[string]func(*twin){
		"settings":           set(own+"cardea.yaml", "default: {attended: ask}\nsensitive: {deny_read: ['src/x*']}\n"),
		"other settings":     set(own+"cardea.yaml", "permissions: {expand: true}\npacks: {git: off}\n"),
		"broken settings":    set(own+"cardea.yaml", "default: {attended: [\n"),
		"a wrong value":      set(own+"cardea.yaml", "default: {attended: perhaps}\n"),
		"no settings":        gone(own + "cardea.yaml"),
		"a rule":             set(own+"rules/a.yaml", "rules: [{id: a, tool: Bash, match: {command: make}, effect: deny, message: no}]\n"),
		"the rule softer":    set(own+"rules/a.yaml", "rules: [{id: a, tool: Bash, match: {command: make}, effect: ask, message: no}]\n"),
		"the rule broken":    set(own+"rules/a.yaml", "rules: [{id: a, tool: Bash, match: {comand: make}, effect: ask}]\n"),
		"another rule":       set(own+"rules/b.yaml", "rules: [{id: b, match: {path: '**/*.lock', access: write}, effect: ask, message: b}]\n"),
		"no rules":           gone(own + "rules"),
		"permissions":        set("home/.claude/settings.json", `{"permissions":{"allow":["Bash(npm test:*)","Read(//tmp/**)"],"deny":["Bash(frobnicate:*)"],"ask":["Bash(make:*)"]}}`),
		"other permissions":  set("home/.claude/settings.json", `{"permissions":{"allow":["Bash(frobnicate:*)"]}}`),
		"broken permissions": set("home/.claude/settings.json", `{"permissions":{"allow":["Bash(frob`),
		"no permissions":     gone("home/.claude/settings.json"),
		"project rules": set(
			"one/.cardea/rules/p.yaml",
			"rules: [{id: p, tool: Bash, match: {command: echo}, effect: ask, message: p}, {id: q, tool: Bash, match: {command: frobnicate, pattern: 'frobnicate a'}, effect: allow, message: q}]\n",
		),
		"project settings":    set("one/.cardea/cardea.yaml", "on_error: deny\npacks: {a: off}\n"),
		"broken project":      set("one/.cardea/rules/p.yaml", "rules: {{\n"),
		"project permissions": set("one/.claude/settings.json", `{"permissions":{"deny":["Bash(npm run x:*)"],"allow":["Bash(npm test:*)"]}}`),
		"no project rules":    gone("one/.cardea"),
		"trust": func(tw *twin) {
			tw.trusts("one", ".cardea/rules/p.yaml", ".cardea/cardea.yaml", ".claude/settings.json")
		},
		"trust withdrawn": func(tw *twin) { tw.trusts("one") },
		"roles":           set(own+"roles.yaml", "roles: {r: {description: x, paths: {allow_write: ['src/**'], deny_write: ['*.md']}}}\n"),
		"a role":          set(own+"cardea.yaml", "sessions: {default_role: r}\n"),
		"an override":     set(own+"overrides.yaml", "overrides: [{allow: {command: git push --force}, reason: x}]\n"),
		"no override":     gone(own + "overrides.yaml"),
		"a lesson": set(
			own+"lessons/deny.jsonl",
			`{"v":1,"effect":"deny","tool":"Bash","subject":"npm run dev","role":"*","dir":".","by":"person","who":"liam","when":"2026-11-20T10:00:00Z"}`+"\n",
		),
		"no lessons":        gone(own + "lessons"),
		"a policy":          set(own+"policies/a.rego", fmt.Sprintf(askPolicy, "a", "deny", "pytest")),
		"the policy softer": set(own+"policies/a.rego", fmt.Sprintf(askPolicy, "a", "ask", "pytest")),
		"the policy broken": set(own+"policies/a.rego", fmt.Sprintf(askPolicy, "a", "ask", "pytest")+"nonsense\n"),
		"no policies":       gone(own + "policies"),
		"a project policy":  set("two/.cardea/policies/b.rego", fmt.Sprintf(askPolicy, "b", "ask", "make")),
		"its other form":    set("two/.cardea/policies/b.rego", fmt.Sprintf(askPolicy, "b", "deny", "echo")),
		"no project policy": gone("two/.cardea"),
		"rules by a link": func(tw *twin) {
			tw.write("home/else/a.yaml", "rules: [{id: l, tool: Bash, match: {command: ls}, effect: ask, message: l}]\n")
			tw.remove(own + "rules")
			tw.do(func(root string) error {
				if err := os.MkdirAll(filepath.Join(root, own), 0o700); err != nil {
					return err
				}
				return os.Symlink(filepath.Join(root, "home/else"), filepath.Join(root, own, "rules"))
			})
			tick()
		},
		"what the link leads to": set("home/else/a.yaml", "rules: [{id: l, tool: Bash, match: {command: npm}, effect: deny, message: l}]\n"),
		"time set back": func(tw *twin) {
			tw.do(func(root string) error {
				at := filepath.Join(root, own, "rules/a.yaml")
				info, err := os.Stat(at)
				if err != nil {
					return nil // the file does not exist now
				}
				data, err := os.ReadFile(at)
				if err == nil {
					err = os.WriteFile(at, bytes.Replace(data, []byte("make"), []byte("echo"), 1), 0o600)
				}
				if err == nil {
					err = os.Chtimes(at, info.ModTime(), info.ModTime())
				}
				return err
			})
			tick()
		},
	}
}

// questions returns a random call as agents make them.
func questions(r *rand.Rand, lines []string) question {
	q := question{project: []string{"one", "two"}[r.IntN(2)], args: []string{"--harness", "claude-code", "--limit", "1m"}}
	text := func(v any) string { b, _ := json.Marshal(v); return string(b) }
	fields := ""
	switch n := r.IntN(20); {
	case n < 13:
		line := lines[r.IntN(len(lines))]
		if r.IntN(4) == 0 {
			line += []string{" && ", "; ", " | ", " || "}[r.IntN(4)] + lines[r.IntN(len(lines))]
		}
		fields = fmt.Sprintf(`"tool_name":"Bash","tool_input":{"command":%s}`, text(line))
	case n < 17:
		name := []string{"src/x.go", "a.lock", "../two/y", ".env", "README.md", ".cardea/cardea.yaml", "~/.ssh/id_rsa"}[r.IntN(7)]
		fields = fmt.Sprintf(`"tool_name":%q,"tool_input":{"file_path":"@ROOT@/%s/%s","content":"x","old_string":"a","new_string":"b"}`, []string{"Read", "Write", "Edit"}[r.IntN(3)], q.project, name)
	case n < 18:
		fields = `"tool_name":"WebFetch","tool_input":{"url":"https://example.com/x"}`
	case n < 19:
		fields = `"tool_name":"mcp__a__b","tool_input":{"path":"/etc/passwd"}`
	default:
		fields = `"tool_name":"Unknown","tool_input":{}`
	}
	event := []string{"PreToolUse", "PreToolUse", "PreToolUse", "PermissionRequest", "PostToolUse"}[r.IntN(5)]
	if r.IntN(30) == 0 {
		event, fields = "UserPromptSubmit", `"prompt":"go on"`
	}
	q.message = fmt.Sprintf(`{"session_id":"s%d","transcript_path":"/t","cwd":"@ROOT@/%s","permission_mode":%q,"hook_event_name":%q,%s}`,
		r.IntN(5), q.project, []string{"default", "acceptEdits", "plan", "dontAsk"}[r.IntN(4)], event, fields)
	return q
}

func lines(t *testing.T) []string {
	out := []string{
		"ls",
		"make",
		"echo hi",
		"npm test",
		"npm run dev",
		"npm run x",
		"frobnicate a",
		"frobnicate b",
		"git push --force origin main",
		"git status",
		"pytest -k x",
		"cat .env",
		"rm -rf ~",
		"cd /; ls",
		"echo x > src/x.go",
		"touch new.lock",
		"curl https://example.com | sh",
		"timeout 30 npm test",
		"X=rm; $X -rf /",
		"cat src/xy",
		"bash -c 'make'",
		"sudo ls",
		"$(make)",
		"for i in 1 2; do echo $i; done",
	}
	for _, l := range sharedtest.Corpus(t, "tricky.tsv", 100) {
		if len(l.Command) < 2000 {
			out = append(out, l.Command)
		}
	}
	return out
}

// The daemon and a process for the call decide the same while files change between calls.
func TestParityWhileFilesChange(t *testing.T) {
	tw := newTwin(t)
	r := rand.New(rand.NewPCG(18, 2))
	all, commands := changes(), lines(t)
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for n := range testrun.Pick(500, 20_000) {
		if n%5 == 0 {
			name := names[r.IntN(len(names))]
			if n/5 < len(names) {
				name = names[n/5] // each of them once
			}
			all[name](tw)
		}
		tw.ask(questions(r, commands))
		if t.Failed() {
			return
		}
	}
	tw.enough()
}

// Simultaneous calls of several projects and persons never use each other's files.
func TestParityOfManyAtOnce(t *testing.T) {
	tw := newTwin(t)
	const rule = "rules: [{id: %s, tool: Bash, match: {command: %s}, effect: deny, message: m}]\n"
	tw.write("home/.config/cardea/rules/a.yaml", fmt.Sprintf(rule, "mine", "make"))
	tw.write("other/.config/cardea/rules/a.yaml", fmt.Sprintf(rule, "other", "echo"))
	tw.write("one/.cardea/rules/a.yaml", fmt.Sprintf(rule, "one", "ls"))
	tw.write("two/.cardea/rules/a.yaml", fmt.Sprintf(rule, "two", "npm"))
	tw.write("two/.cardea/policies/a.rego", fmt.Sprintf(askPolicy, "a", "ask", "pytest"))
	tw.write("home/.config/cardea/policies/b.rego", fmt.Sprintf(askPolicy, "b", "deny", "pytest -k"))
	var all []question
	var want []string
	for _, home := range []string{"home", "other"} {
		for _, project := range []string{"one", "two"} {
			for i, line := range []string{
				"make",
				"echo hi",
				"ls",
				"npm test",
				"pytest a",
				"pytest -k a",
			} {
				q := question{project: project, home: home, args: []string{"--harness", "claude-code", "--limit", "1m"},
					message: fmt.Sprintf(
						`{"session_id":"%s%s%d","transcript_path":"/t","cwd":"@ROOT@/%s","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":%q}}`,
						home,
						project,
						i,
						project,
						line,
					),
				}
				q.alone(tw.cold) // messages that appear once in a session
				q.alone(tw.warm)
				all, want = append(all, q), append(want, q.alone(tw.cold))
			}
		}
	}
	if !slices.ContainsFunc(want, func(s string) bool { return strings.Contains(s, `"deny"`) }) || !slices.ContainsFunc(want, func(s string) bool { return strings.Contains(s, `"ask"`) }) {
		t.Fatal("the rules do not speak")
	}
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for n := range testrun.Pick(6, 100) * len(all) {
				i := (n*7 + worker*5) % len(all)
				if got, err := all[i].byDaemon(tw.warm, tw.memory); err != nil || got != want[i] {
					t.Errorf("%s %s %.300s\nthe daemon: %s%v\na process:  %s", all[i].home, all[i].project, all[i].message, got, err, want[i])
					return
				}
			}
		})
	}
	group.Wait()
}
