package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the recorded screens into the pages")

// home is a home folder and a project for programs of a test.
type home struct {
	t         *testing.T
	dir, work string
}

func newHome(t *testing.T) *home {
	t.Helper()
	h := &home{t: t, dir: filepath.Join(t.TempDir(), "home")}
	h.work = filepath.Join(h.dir, "app")
	for _, d := range []string{filepath.Join(h.work, ".git"), filepath.Join(h.dir, "run")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// settings writes the person's settings.
func (h *home) settings(text string) {
	h.t.Helper()
	path := filepath.Join(h.dir, ".config/cardea/cardea.yaml")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		h.t.Fatal(err)
	}
}

// command returns a program of this package's tests in the home folder.
func (h *home) command(words ...string) *exec.Cmd {
	h.t.Helper()
	path, err := exec.LookPath(words[0])
	if err != nil {
		h.t.Fatal(err)
	}
	c := exec.Command(path, words[1:]...)
	c.Dir = h.work
	c.Env = []string{"HOME=" + h.dir, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "XDG_RUNTIME_DIR=" + filepath.Join(h.dir, "run"), "TZ=UTC"}
	return c
}

// checks returns the hook's answer to a command of a session.
func (h *home) checks(session, command string) string {
	h.t.Helper()
	c := h.command("cardea", "check", "--harness", "claude-code")
	c.Stdin = strings.NewReader(
		fmt.Sprintf(`{"hook_event_name":"PreToolUse","session_id":%q,"cwd":%q,"permission_mode":"default","tool_name":"Bash","tool_input":{"command":%q}}`, session, h.work, command),
	)
	out, err := c.CombinedOutput()
	if err != nil {
		h.t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// The monitor on a real terminal shows new decisions of hooks, all of an entry, and the
// sessions.
func TestMonitorOnATerminal(t *testing.T) {
	h := newHome(t)
	register := h.command("person", "register", "--session-id", "3f1c", "--role", "coder", "--task", "the login form")
	if out, err := register.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	h.checks("3f1c", "git status")
	h.checks("3f1c", "npm test && git push --force origin main")
	x := onTerminal(t, h.command("person", "monitor"), 80, 24)
	x.waits("1 Decisions 2", "deny", "> ")
	h.checks("77ab", "git clean -fdx")
	list := x.waits("1 Decisions 3", "git clean -fdx")
	x.types("k\r")
	detail := x.waits("Esc back", "git push --force origin main", "rules:git-force-push", "lines 1 to 20 of ")
	x.types(" ")
	x.waits("who says what", "rules:git-force-push, about part 2")
	x.types("\x1b")
	x.waits("Enter show")
	x.types("/CLEAN\r")
	if got := x.waits("only with: CLEAN"); strings.Contains(got, "git status") {
		t.Errorf("the filter lets everything through:\n%s", got)
	}
	x.types("\x1b") // together with another key at once it would be Alt and that key
	x.waits("git status")
	x.types("3")
	sessions := x.waits(">3 Sessions 2", "coder")
	x.types("q")
	x.ends()
	h.recorded("decisions", list)
	h.recorded("decision", detail)
	h.recorded("sessions", sessions)
}

// held is a hook that holds a call until a person answers.
type held struct {
	out  bytes.Buffer
	done chan error
}

// holds starts a hook that holds a call.
func (h *home) holds(session, command string) *held {
	h.t.Helper()
	c := h.command("cardea", "check", "--harness", "claude-code", "--limit", "60s")
	x := &held{done: make(chan error, 1)}
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(
		fmt.Sprintf(`{"hook_event_name":"PermissionRequest","session_id":%q,"cwd":%q,"permission_mode":"default","tool_name":"Bash","tool_input":{"command":%q}}`, session, h.work, command),
	), &x.out, &x.out
	if err := c.Start(); err != nil {
		h.t.Fatal(err)
	}
	go func() { x.done <- c.Wait() }()
	return x
}

// says waits for the hook's answer.
func (x *held) says(t *testing.T, want string) {
	t.Helper()
	if err := <-x.done; err != nil || !strings.Contains(x.out.String(), want) {
		t.Errorf("the hook says %s (%v), want %s", x.out.String(), err, want)
	}
}

// A person answers waiting calls by keys, and the waiting hooks get the answers.
func TestMonitorAnswers(t *testing.T) {
	h := newHome(t)
	h.settings("human: {mode: queue}\n")
	x := onTerminal(t, h.command("person", "monitor"), 80, 24)
	x.waits("1 Decisions 0")
	x.types("2")
	x.waits("Nothing waits for you")
	build := h.holds("3f1c", "make deploy TARGET=staging")
	x.waits(">2 Queue 1", "make deploy")
	other := h.holds("77ab", "npm publish")
	list := x.waits(">2 Queue 2", "npm publish")
	x.types("a")
	asked := x.waits("type a to allow call 1", "make deploy TARGET=staging")
	x.types("x")
	x.waits("call 1 was not answered")
	x.types("a")
	x.waits("type a to allow call 1")
	x.types("a")
	x.waits("call 1: approved in a moment")
	x.types("u")
	x.waits("it still waits")
	x.types("a")
	x.waits("type a to allow call 1")
	x.types("a")
	build.says(t, `"behavior":"allow"`)
	x.waits(">2 Queue 1")
	x.types("d")
	x.waits("deny 2, message:")
	x.types("not before Friday\r")
	other.says(t, "not before Friday")
	x.waits("Nothing waits for you")
	x.types("q")
	x.ends()
	h.recorded("queue", list)
	h.recorded("answer", asked)
}

// A user under an agent can look, and answers nothing.
func TestMonitorOfAnAgent(t *testing.T) {
	h := newHome(t)
	h.settings("human: {mode: queue, timeout: 15s}\n")
	c := h.command("cardea", "monitor")
	c.Env = append(c.Env, "CLAUDECODE=1")
	x := onTerminal(t, c, 80, 24)
	x.types("2")
	call := h.holds("3f1c", "make deploy")
	x.waits("make deploy")
	x.types("a")
	x.waits("only a person may do this")
	x.types("d\r")
	x.waits("in a moment")
	call.says(t, `"behavior":"deny"`)
	if !strings.Contains(call.out.String(), "no human response") {
		t.Errorf("an agent answered: %s", call.out.String())
	}
	x.types("q")
	x.ends()
}

// A terminal without colours, and a dumb one.
func TestMonitorOnPlainTerminals(t *testing.T) {
	h := newHome(t)
	h.checks("3f1c", "git push --force")
	c := h.command("person", "monitor")
	c.Env = append(c.Env, "TERM=dumb")
	x := onTerminal(t, c, 120, 24)
	x.waits("deny, Bash in app, by rules:git-force-push, entry ", ": git push --force")
	h.checks("3f1c", "git status")
	x.waits("allow, Bash in app")
	x.types("\x03")
	x.ends()
	c = h.command("person", "monitor")
	c.Env = append(c.Env, "NO_COLOR=1")
	x = onTerminal(t, c, 30, 8)
	x.waits("deny", "git push")
	if got := x.screen.Render(); regexp.MustCompile(`\x1b\[[0-9;]*3[0-9]`).MatchString(got) {
		t.Errorf("colours: %q", got)
	}
	x.types("q")
	x.ends()
}

const page = "../../docs/monitor.md"

// recorded checks that a page shows a screen unchanged.
func (h *home) recorded(name, screen string) {
	t := h.t
	t.Helper()
	screen = strings.ReplaceAll(screen, h.dir, "/home/liam")
	screen = regexp.MustCompile(`\b[0-9a-f]{32}\b`).ReplaceAllString(screen, "2916dcf48fb83924805f1e34beb89dcd")
	screen = regexp.MustCompile(`cardea: \S.*`).ReplaceAllString(screen, "cardea: v0.18.0")
	screen = regexp.MustCompile(`\d\d:\d\d:\d\d`).ReplaceAllString(strings.TrimRight(screen, "\n"), "14:03:07")
	screen = regexp.MustCompile(`\d{4}-\d\d-\d\d`).ReplaceAllString(screen, "2026-11-20")
	screen = regexp.MustCompile(`\b1[0-9a-z]{15}\b`).ReplaceAllString(screen, "1m7yp8198z659sn1")
	screen = regexp.MustCompile(`\b\d\ds\b`).ReplaceAllString(screen, "46s")
	screen = regexp.MustCompile(`\b\d+ microseconds`).ReplaceAllString(screen, "730 microseconds")
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- screen: "+name+" -->\n```text\n", "\n```\n"
	before, rest, ok := strings.Cut(string(data), begin)
	old, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for the screen %q", page, name)
	}
	if old == screen {
		return
	}
	if !*update {
		t.Errorf("%s shows another screen %q; run the test with -update:\n%s", page, name, screen)
		return
	}
	if err := os.WriteFile(page, []byte(before+begin+screen+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A damaged queue is reported on the line of notes, and does not break the screen.
func TestMonitorOfADamagedQueue(t *testing.T) {
	h := newHome(t)
	h.settings("human: {mode: queue}\n")
	path := filepath.Join(h.dir, ".local/state/cardea/queue/queue.db")
	h.checks("3f1c", "git status")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600)); err != nil {
		t.Fatal(err)
	}
	x := onTerminal(t, h.command("person", "monitor"), 80, 24)
	got := x.waits("the queue was damaged", "1 Decisions 1")
	if lines := strings.Split(got, "\n"); !strings.HasPrefix(lines[0], ">1 Decisions 1") || !strings.HasPrefix(lines[22], "cardea: the queue was damaged") {
		t.Errorf("the screen is broken:\n%s", got)
	}
	x.types("2")
	call := h.holds("3f1c", "make deploy")
	x.waits("make deploy")
	x.types("d\r")
	call.says(t, `"behavior":"deny"`)
	x.types("q")
	x.ends()
}
