package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/ask/queue/holder"
	"cardea.dev/internal/ask/queue/notice"
	attending "cardea.dev/internal/base/person"
	"cardea.dev/internal/cli"
	"cardea.dev/internal/config/fetch"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/decide/policy/rego"
	"cardea.dev/internal/hook"
)

func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){"cardea": program, "person": person})
}

// tests are the tests of this package.
type tests struct{ *testing.M }

// builtIn is the folder of the built programs.
var builtIn string

func (t tests) Run() int {
	dir, err := os.MkdirTemp("", "cardea-built-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	builtIn = dir
	return t.M.Run()
}

// process returns this process, with OPA in it: the test's own binary has no other programs
// in its folder. The installed programs are tested in cmd/cardea and cmd/cardea-engine.
func process() cli.Process {
	p := cli.ThisProcess(hook.ThisProgram())
	p.Engines = policy.Engines{Own: rego.Engine{}, Project: rego.Engine{}}
	p.Temporary = nil // scripts run in one
	p.Fetch, p.Judge, p.Queue = fetch.Fetch, askDirectly, holdDirectly{}
	// The script's own machine folders, if it has some.
	if dir := os.Getenv("TEST_SYSTEM"); dir != "" {
		p.Machine.System, p.Machine.Guarded = dir, nil
	}
	if dir := os.Getenv("TEST_MANAGED"); dir != "" {
		p.Managed = dir
	}
	return p
}

// holdDirectly holds calls in this process.
type holdDirectly struct{}

func (holdDirectly) Ask(ctx context.Context, r queue.Request) (queue.Reply, error) {
	this, err := attending.This()
	if err != nil {
		return queue.Reply{}, err
	}
	return holder.CarryOut(ctx, r, holder.Caller{Process: this}, notice.ThisDesktop().Tell, time.Now), nil
}

// program is the installed program. Scripts find it in PATH. The test's own binary would
// run the tests.
func program() {
	p := process()
	if found, err := exec.LookPath("cardea"); err == nil {
		p.Program = found
	}
	if socket := os.Getenv(daemonVariable); socket != "" && len(os.Args) > 1 && os.Args[1] == "check" {
		exit, stdin, is := byDaemon(p, socket, os.Args[2:])
		if is {
			os.Exit(exit)
		}
		p.Stdin = stdin
	}
	os.Exit(cli.Main(os.Args[1:], p))
}

// person is the program at a terminal with a person, who sees the code "abc234" or the key
// "a". They type it if the script gives no input. No script has a terminal, and the home
// folder is the script's own.
func person() {
	p := process()
	code := "abc234\n"
	if len(os.Args) > 1 && (os.Args[1] == "approve" || os.Args[1] == "deny") {
		code = "a\n"
	}
	if len(os.Args) > 1 && os.Args[1] == "check" {
		code = "" // standard input is the message
	}
	if len(os.Args) < 2 || os.Args[1] != "monitor" { // which reads keys from the terminal
		p.Stdin = io.MultiReader(p.Stdin, strings.NewReader(code))
	}
	p.Machine.Home = func() (string, error) { return os.Getenv("HOME"), nil }
	p.Person = func() error { return nil }
	p.Harness = func() (attending.Running, error) {
		above, err := attending.Lineage(os.Getppid())
		if err != nil {
			return attending.Running{}, err
		}
		return above[0].Running, nil
	}
	p.Code = func() string { return "abc234" }
	os.Exit(cli.Main(os.Args[1:], p))
}

// TestScripts runs the program as harnesses and people do, one script per behaviour.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		RequireExplicitExec: true,
		Cmds:                scriptCommands(t),
		RequireUniqueNames:  true,
		Condition:           condition,
		Setup:               clean,
	})
}

// scriptCommands are the commands of scripts.
func scriptCommands(t *testing.T) map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){"expand": expand, "bytes": writeBytes, "https": https, "keypair": keypair, "sign": sign, "archive": archive,
		"provider": startProvider(t), "mcp": speakMCP, "waits": waitForEntry, "plugin": plugin}
}

// condition knows "agent": an agent runs the tests, so it is among the processes above.
func condition(name string) (bool, error) {
	if name != "agent" {
		return false, fmt.Errorf("there is no condition %q", name)
	}
	above, err := attending.Lineage(os.Getpid())
	return slices.ContainsFunc(above, func(f attending.Forebear) bool { return f.Agent }), err
}

// clean gives a script its own home folder and project, without the variables of the user
// who runs the tests.
func clean(env *testscript.Env) error {
	env.Values[providerKey], env.Values[mcpKey] = &scriptProvider{}, &scriptClient{}
	home := env.WorkDir + "/home"
	env.Setenv("HOME", home)
	env.Setenv("USERPROFILE", home)
	for _, name := range []string{
		"XDG_CONFIG_HOME",
		"XDG_STATE_HOME",
		"XDG_CACHE_HOME",
		"XDG_RUNTIME_DIR",
		"CLAUDE_CONFIG_DIR",
		"CLAUDE_PROJECT_DIR",
		"CLAUDE_PLUGIN_ROOT",
		"NO_COLOR",
		"CARDEA_UNATTENDED",
		"CARDEA_DEBUG",
		"CARDEA_ROLE",
		"ANTHROPIC_API_KEY",
		"OPENAI_API_KEY",
		"GITHUB_TOKEN",
		"CLAUDE_CODE_SESSION_ID",
		"CLAUDE_CODE_SESSION_ATTENDED",
	} {
		env.Setenv(name, "")
	}
	env.Setenv("GORACE", os.Getenv("GORACE")) // whether the race detector waits a second at each exit
	for _, dir := range []string{home, env.WorkDir + "/app/.git"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// expand replaces $WORK in files by the script's folder, and $PROVIDER by the address of
// its provider, since only the script knows them.
func expand(ts *testscript.TestScript, neg bool, files []string) {
	if neg || len(files) == 0 {
		ts.Fatalf("usage: expand file ...")
	}
	for _, f := range files {
		text := strings.NewReplacer("$WORK", ts.Getenv("WORK"), "$PROVIDER", ts.Getenv("PROVIDER")).Replace(ts.ReadFile(f))
		ts.Check(os.WriteFile(ts.MkAbs(f), []byte(text), 0o600))
	}
}

// writeBytes writes content that a script's text file cannot have: bytes file [count*]"Go
// string" ...
func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: bytes file [count*]\"Go string\" ...")
	}
	var b strings.Builder
	for _, a := range args[1:] {
		count := 1
		if n, quoted, ok := strings.Cut(a, "*\""); ok {
			v, err := strconv.Atoi(n)
			ts.Check(err)
			count, a = v, "\""+quoted
		}
		text, err := strconv.Unquote(a)
		ts.Check(err)
		b.WriteString(strings.Repeat(text, count))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o600))
}
