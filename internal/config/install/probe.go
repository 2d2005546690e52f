package install

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/script"
	"cardea.dev/internal/harness/claudecode"
)

// SameProgram reports whether a hook starts exactly the given binary. Only then may Cardea
// run it: a pull request can change a project's settings.
func (w Wiring) SameProgram(binary string) bool {
	line := withoutShut(w.Shell)
	if line != "" && line != shellLine(w.key, w.Program, w.Args) && strings.ContainsAny(line, "$`;&|<>(){}[]*?!#~=\\\n") {
		return false
	}
	a, err := os.Stat(w.Program)
	if err != nil {
		return false
	}
	return slices.ContainsFunc([]string{binary, Asker(binary)}, func(path string) bool {
		b, err := os.Stat(path)
		return err == nil && os.SameFile(a, b)
	})
}

// Asker returns the path of cardea-hook, which calls the daemon, next to a program of
// Cardea.
func Asker(program string) string {
	return filepath.Join(filepath.Dir(paths.Real(program)), askerName+filepath.Ext(program))
}

const askerName = "cardea-hook"

// IsAsker reports whether a path is that of cardea-hook.
func IsAsker(program string) bool {
	name := filepath.Base(program)
	return strings.TrimSuffix(name, filepath.Ext(name)) == askerName
}

// Command returns the hook's command for display.
func (w Wiring) Command() string {
	if w.URL != "" {
		return "POST " + w.URL
	}
	if w.Shell != "" {
		return w.Shell
	}
	return strings.Join(append([]string{w.Program}, w.Args...), " ")
}

// Probe starts a hook as the harness would, with a call that must be denied. It returns nil
// for a denial, else what is wrong with the answer. The message names no session, so it is
// not stored and is not treated as a real event.
func Probe(ctx context.Context, h Harness, w Wiring, dir string, env []string) error {
	p := script.Process{Path: w.Program, Args: w.Args, Dir: dir, Stdin: h.mustBeDenied(dir), Env: append(env, "CLAUDE_PROJECT_DIR="+dir),
		Limit: min(cmp.Or(w.Timeout, limit.Probe), limit.Probe), MaxOutput: maxProbe, MaxErrors: maxProbe, KeepGroup: true}
	if runtime.GOOS != "windows" {
		p.Shell = w.Shell
	}
	if h.Name == claudecode.Name {
		p.Env = append(p.Env, "CLAUDECODE=1")
	}
	out, errs, err := p.Run(ctx)
	var exit *exec.ExitError
	switch {
	case errors.Is(err, script.ErrTime):
		return fmt.Errorf("it gave no answer within %s", p.Limit)
	case errors.As(err, &script.StartError{}):
		return fmt.Errorf("it does not start: %w", err)
	case errors.As(err, &exit) && exit.ExitCode() == 2 && h.denied == nil && len(errs) > 0:
		return nil // the harness reads only the exit code
	case errors.As(err, &exit) && exit.ExitCode() == 2:
		// Cardea denies with an object; exit code 2 means that it failed.
		return fmt.Errorf("it blocks every call because it fails: %s", firstLine(string(errs)))
	case errors.As(err, &exit):
		return fmt.Errorf("it exits %d: %s", exit.ExitCode(), firstLine(string(errs)))
	case err != nil:
		return err
	}
	return denies(out, h)
}

// maxProbe is the maximum size of the hook's answer in bytes.
const maxProbe = 1 << 20

// probe is how a harness reports a call, and where it reads a denial.
type probe struct {
	// tool is the harness's name for its shell. message returns the message about a call.
	tool    string
	message func(h Harness, tool, dir string) map[string]any
	// denied is the path of keys in the answer that denies; nil if the harness reads only the
	// exit code.
	denied []string
}

// likeClaude returns the probe of Claude Code, whose format most harnesses adopted.
func likeClaude(tool string) probe {
	return probe{tool: tool, denied: []string{"hookSpecificOutput", "permissionDecision"}, message: func(h Harness, tool, dir string) map[string]any {
		return map[string]any{"cwd": dir, "transcript_path": "", "permission_mode": "default", "agent_type": ProbeAgent, "hook_event_name": h.Gate(), "tool_name": tool, "tool_input": mustDeny()}
	}}
}

// deadly is a command that no settings should allow.
const deadly = "rm -rf /"

func mustDeny() map[string]any { return map[string]any{"command": deadly} }

// denies returns nil if the harness reads the answer as a denial, else what is wrong with
// it.
func denies(out []byte, h Harness) error {
	if strings.TrimSpace(string(out)) == "" {
		return fmt.Errorf("it was silent about \"rm -rf /\"; see why with: cardea try \"rm -rf /\"")
	}
	var answer any
	if err := json.Unmarshal(out, &answer); err != nil {
		return fmt.Errorf("its answer cannot be read by %s: %s", h.Title, firstLine(string(out)))
	}
	for _, key := range h.denied {
		inside, _ := answer.(map[string]any)
		answer = inside[key]
	}
	if answer != "deny" && answer != true {
		return fmt.Errorf("it does not deny \"rm -rf /\": %s; see why with: cardea try \"rm -rf /\"", firstLine(string(out)))
	}
	return nil
}

// ProbeAgent is the agent type in a probe's message. It distinguishes probes from real
// calls in the ledger.
const ProbeAgent = "cardea-doctor"

// mustBeDenied returns a message about a call that no settings should allow.
func (h Harness) mustBeDenied(dir string) []byte {
	data, err := json.Marshal(h.message(h, h.tool, dir))
	if err != nil {
		return nil // never fails
	}
	return data
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(line) > 300 {
		line = line[:300]
	}
	return line
}
