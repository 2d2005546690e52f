// Package person finds out whether a person is typing, for commands that only
// a person may run, such as trusting a project.
//
// Three things must be true: standard input is a terminal, nothing in the
// environment and no ancestor of the process is an agent, and whoever types
// repeats a code that was shown just before. None of it stops a program of the
// same user that is determined (it can open a terminal of its own and cut its
// ancestors off); it stops an agent that means well, and makes one that does
// not go to visible lengths. The wall is a root-owned system scope.
package person

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Seat is where a command is typed. Tests give it other ends.
type Seat struct {
	// Stdin is what the command reads.
	Stdin any
	// Environ is the environment, as os.Environ gives it.
	Environ []string
	// Ancestors are the processes above this one, nearest first.
	Ancestors func() ([]Ancestor, error)
}

// Ancestor is a process above another one.
type Ancestor struct {
	PID int
	// Names are the program's name and its first arguments.
	Names []string
	// Environ are the variables with which it was started, nil where they cannot be seen.
	Environ []string
	// Hidden is set where it is of this user and keeps its variables from being seen.
	Hidden bool
}

func (a Ancestor) isAgent() bool { return agentAmong(a.Names) != "" }

// underAgent is a variable that an agent set for the process, "" where there is none.
func (a Ancestor) underAgent() string { return setByAgent(a.Environ) }

// setByAgent is the first variable that agents set for what they start, "" for none.
func setByAgent(environ []string) string {
	for _, v := range environ {
		if name, value, _ := strings.Cut(v, "="); value != "" && ofAgent(name) {
			return name
		}
	}
	return ""
}

// ThisSeat is the one that the process sits in.
func ThisSeat() Seat { return Seat{Stdin: os.Stdin, Environ: os.Environ(), Ancestors: aboveThis} }

// Attending says why it is not sure that a person is typing, or nil. An error
// tells the person what to do.
func (s Seat) Attending() error {
	if setByAgent(s.Environ) == "" && !Terminal(s.Stdin) {
		return errors.New("standard input is no terminal; do this at a terminal, by hand")
	}
	return s.noAgent()
}

// UnderAgent returns an error if an agent started this process, or may have, else nil. A
// script of a person or of a machine is no agent. Where the system does not show the
// processes above, only a terminal is sure.
func (s Seat) UnderAgent() error {
	if runtime.GOOS == "windows" {
		return s.Attending()
	}
	return s.noAgent()
}

// noAgent says why an agent may have started the command, or nil.
func (s Seat) noAgent() error {
	if name := setByAgent(s.Environ); name != "" {
		return fmt.Errorf("an agent is at work here (%s is set); do this in a terminal of your own", name)
	}
	all, err := s.Ancestors()
	if err != nil {
		return fmt.Errorf("it cannot be told who started this command: %w; do this in a terminal of your own", err)
	}
	for _, a := range all {
		if n := agentAmong(a.Names); n != "" {
			return fmt.Errorf("an agent started this command (%s); do this in a terminal of your own", n)
		}
		// It may have cut itself off from the agent, and cleared what it passes on.
		if name := a.underAgent(); name != "" {
			return fmt.Errorf("an agent started this command (%s was set for %s above it); do this in a terminal of your own", name, a.Names[0])
		}
		if a.Hidden {
			return fmt.Errorf("it cannot be told who started this command: %s (process %d) hides its variables; do this in a terminal of your own", a.Names[0], a.PID)
		}
	}
	return nil
}

// agentPrefixes and agentVariables are variables that agents set for what they start.
var (
	agentPrefixes  = []string{"CLAUDE_CODE_SESSION_", "CLAUDE_CODE_BRIDGE_", "COPILOT_AGENT_", "OPENCODE_SESSION"}
	agentVariables = []string{"CLAUDECODE", "CLAUDE_PROJECT_DIR", "CLAUDE_PID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_CHILD_SESSION", "COPILOT_PROJECT_DIR", "COPILOT_PLUGIN_ROOT",
		"OPENCODE_PID", "CURSOR_AGENT", "CODEX_SANDBOX", "CODEX_THREAD_ID", "GEMINI_CLI", "OPENCODE", "AI_AGENT", "AGENT_SESSION_ID", "PI_CODING_AGENT", "PI_SESSION_ID"}
)

// ofAgent reports whether agents set a variable for what they start. Those that a
// person sets for an agent, such as CLAUDE_CODE_USE_BEDROCK or COPILOT_HOME, are none.
func ofAgent(name string) bool {
	return slices.Contains(agentVariables, name) || slices.ContainsFunc(agentPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// agentAmong is the name by which a process is an agent, "" where it is none. Names that
// people, machines and folders have, too, count as the program alone, or as what an
// interpreter runs: "su pi" is no agent.
func agentAmong(names []string) string {
	runs := false
	for i, n := range names {
		if isAgent(n) || (i == 0 || runs) && slices.Contains(shortAgents, programName(n)) {
			return n
		}
		runs = runs || i < 2 && interprets(n)
	}
	return ""
}

// shortAgents are agents whose name other things have as well: pi, Hermes, Antigravity's agy
// and Continue's cn.
var shortAgents = []string{"pi", "hermes", "agy", "cn"}

// agents are the other ones, by their base names.
var agents = []string{"claude", "claude-code", "copilot", "codex", "gemini", "gemini-cli", "cursor-agent", "opencode", "aider", "goose", "amp", "droid",
	"qwen", "qwen-code", "crush", "cline", "devin", "auggie", "grok", "kimi", "kiro-cli", "openhands", "hermes-agent"}

// interprets reports whether a program runs the script that it is given.
func interprets(name string) bool {
	name = programName(name)
	return name == "node" || name == "nodejs" || name == "bun" || name == "deno" || name == "tsx" || strings.HasPrefix(name, "python")
}

// programName is the base name of a program, without what its kind of file adds.
func programName(name string) string {
	name = strings.ToLower(filepath.Base(filepath.ToSlash(strings.TrimPrefix(name, "-"))))
	for _, ext := range []string{".exe", ".js", ".mjs", ".cjs", ".cmd"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// isAgent reports whether a program is an agent, by its base name.
func isAgent(name string) bool { return slices.Contains(agents, programName(name)) }

// Terminal reports whether a reader is a terminal. The null device is a
// character device, too, and none.
func Terminal(stdin any) bool {
	f, ok := stdin.(interface{ Stat() (os.FileInfo, error) })
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// letters are those of a code that no reader takes for one another.
const letters = "abcdefghjkmnpqrstuvwxyz23456789"

// Code is a fresh code to be typed: six letters and digits.
func Code() string {
	raw := make([]byte, 6)
	_, _ = rand.Read(raw) // ends the process rather than fail
	for i, b := range raw {
		raw[i] = letters[int(b)%len(letters)]
	}
	return string(raw)
}
