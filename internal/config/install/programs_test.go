package install

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// playOpenCode and playPi act as the harness: they load the program, make one call, and
// print the result and the input of the call.
const (
	playOpenCode = `
const plugin = (await import(process.argv[2])).default
const toasts = []
const hooks = await plugin({ directory: process.argv[3], client: { tui: { showToast: async (t) => toasts.push(t.body.message) } } })
const output = { args: { command: "ls" } }
try {
  await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s1", callID: "c1" }, output)
  console.log("runs", JSON.stringify(output.args), toasts.join())
} catch (error) {
  console.log("refused", error.message)
}`
	playOpenCode2 = `
const plugin = (await import(process.argv[2])).default
let before
await plugin.setup({ directory: process.argv[3], tool: { hook: async (name, f) => { if (name === "execute.before") before = f } } })
const event = { tool: "bash", sessionID: "s1", id: "c1", agent: "build", input: { command: "ls" } }
try {
  await before(event)
  console.log("runs", JSON.stringify(event.input), plugin.id)
} catch (error) {
  console.log("refused", error.message)
}`
	playPi = `
const extension = (await import(process.argv[2])).default
let before
extension({ on: (name, f) => { if (name === "tool_call") before = f } })
const event = { toolName: "bash", toolCallId: "c1", input: { command: "ls" } }
const hasUI = process.argv[4] !== undefined
try {
  const answer = await before(event, { cwd: process.argv[3], hasUI, ui: { confirm: async (title, text) => process.argv[4] === "yes", notify: () => {} } })
  console.log(answer?.block ? "refused " + answer.reason : "runs " + JSON.stringify(event.input))
} catch (error) {
  console.log("refused", error.message)
}`
)

// played holds answers in place of Cardea's, and the effect on the call.
var played = []struct{ script, want string }{
	{`cat >/dev/null; echo '{"decision":"none"}'`, `runs {"command":"ls"}`},
	{`cat >/dev/null; echo '{"decision":"allow"}'`, `runs {"command":"ls"}`},
	{`cat >/dev/null; echo '{"decision":"allow","input":{"command":"ls -l"}}'`, `runs {"command":"ls -l"}`},
	{`cat >/dev/null; echo '{"decision":"deny","reason":"because"}'`, "refused because"},
	{`cat >/dev/null; echo '{"decision":"ask","reason":"really?"}'`, "refused really?"},
	{`grep -q '"command":"ls"' && grep -q x /dev/null || echo '{"decision":"deny","reason":"it was asked about ls"}'`, "refused it was asked about ls"},
	{`cat >/dev/null; echo no >&2; exit 2`, "refused no"},
	{`cat >/dev/null; exit 2`, "refused Cardea could not judge"},
	{`cat >/dev/null; echo '{"decision":"allow"}'; exit 1`, "exit code 1"},
	{`kill -9 $$`, "stopped by SIGKILL"},
	{`exec 0<&-; echo '{"decision":"deny","reason":"did not read"}'`, "refused did not read"},
	{`cat >/dev/null`, "no JSON"},
	{`cat >/dev/null; echo '{"decision":"allow"} {"decision":"allow"}'`, "no JSON"},
	{`cat >/dev/null; echo 'log'; echo '{"decision":"allow"}'`, "no JSON"},
	{`cat >/dev/null; echo '["allow"]'`, "no object"},
	{`cat >/dev/null; echo null`, "no object"},
	{`cat >/dev/null; echo '{"decision":"Allow"}'`, "no decision"},
	{`cat >/dev/null; echo '{"decision":["allow"]}'`, "no decision"},
	{`cat >/dev/null; echo '{}'`, "no decision"},
	{`cat >/dev/null; echo '{"decision":"allow","input":"rm"}'`, "refused Cardea could not judge"},
	{`cat >/dev/null; echo '{"decision":"deny","reason":7}'`, "is no text"},
	{`cat >/dev/null; head -c 3000000 /dev/zero`, "too much"},
	{`exec sleep 30`, "no answer within"},
	{"", "does not start"},
}

func TestPluginsRefuse(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs node, in which these programs run")
	}
	for name, player := range map[string]string{"opencode": playOpenCode, "opencode ": playOpenCode2, "pi": playPi} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, at := harnessOf(t, strings.TrimSpace(name)), machine(t)
			for _, tt := range played {
				w := Wanted{Binary: "/nowhere/cardea", Timeout: 20 * time.Second}
				if tt.want == "no answer within" {
					w.Timeout = 300 * time.Millisecond
				}
				if tt.script != "" {
					w.Binary = program(t, "cardea", tt.script)
				}
				out := play(t, node, player, mustInstall(t, h, User, at, w).File, at.Project)
				if !strings.Contains(out, tt.want) || strings.HasPrefix(tt.want, "runs") != strings.HasPrefix(out, "runs") {
					t.Errorf("%s: %s, want %s", tt.script, out, tt.want)
				}
			}
		})
	}
	// pi can ask if a person is present.
	h, at := harnessOf(t, "pi"), machine(t)
	file := mustInstall(t, h, User, at, Wanted{Binary: program(t, "cardea", played[4].script), Timeout: 5 * time.Second}).File
	for answer, want := range map[string]string{"yes": "runs", "no": "refused really?"} {
		if out := play(t, node, playPi, file, at.Project, answer); !strings.HasPrefix(out, want) {
			t.Errorf("%s: %s", answer, out)
		}
	}
}

func play(t *testing.T, node, player string, args ...string) string {
	t.Helper()
	script := filepath.Join(t.TempDir(), "play.mjs")
	put(t, script, player)
	module := filepath.Join(filepath.Dir(script), "cardea.mjs") // the harnesses load it as a module
	put(t, module, get(t, args[0]))
	args[0] = module
	out, err := exec.Command(node, append([]string{script}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// TestClineScriptRefuses checks that the script always cancels: Cline runs a call unless it
// reads a JSON object that cancels it.
func TestClineScriptRefuses(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("shell scripts")
	}
	h, at := harnessOf(t, "cline"), machine(t)
	for _, tt := range []struct {
		script string
		cancel bool
	}{
		{"cat >/dev/null", false}, {`echo '{"cancel":false}'`, false}, {`echo '{"cancel":true,"errorMessage":"no"}'`, true},
		{`grep -q '"hookName":"tool_call"' && echo '{"cancel":false}'`, false},
		{"exit 1", true}, {"exit 2", true}, {`echo '{"cancel":false}'; exit 1`, true}, {"kill -9 $$", true}, {"echo log; echo '{}'", true}, {"echo nonsense", true}, {"exec sleep 30", true}, {"", true},
	} {
		w := Wanted{Binary: "/nowhere/cardea", Timeout: 4 * time.Second}
		if tt.script != "" {
			w.Binary = program(t, "cardea", tt.script)
		}
		p := mustInstall(t, h, User, at, w)
		if info, err := os.Stat(p.File); err != nil || info.Mode().Perm() != 0o700 {
			t.Fatalf("%v, %v", info.Mode(), err)
		}
		c := exec.Command(p.File)
		c.Stdin = strings.NewReader(`{"hookName":"tool_call"}`)
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		var said struct{ Cancel bool }
		if text := strings.TrimSpace(string(out)); text != "" {
			if err := json.Unmarshal([]byte(text), &said); err != nil {
				t.Errorf("%s: %v: %s", tt.script, err, out)
			}
		}
		if said.Cancel != tt.cancel {
			t.Errorf("%s: %s", tt.script, out)
		}
	}
	for _, name := range []string{"it's", "a b", "$(x)", "`x`"} {
		dir := filepath.Join(t.TempDir(), name)
		put(t, filepath.Join(dir, "cardea"), "#!/bin/sh\necho '{\"cancel\":false}'\n")
		if err := os.Chmod(filepath.Join(dir, "cardea"), 0o755); err != nil {
			t.Fatal(err)
		}
		p := mustInstall(t, h, User, at, Wanted{Binary: filepath.Join(dir, "cardea"), Timeout: 2 * time.Second})
		out, err := exec.Command(p.File).Output()
		if err != nil || strings.TrimSpace(string(out)) != `{"cancel":false}` {
			t.Errorf("%s: %s, %v", name, out, errors.Join(err))
		}
	}
}
