// Package person determines whether a person is typing, for commands that only a person may
// run, such as trusting a project.
//
// It requires three things. Standard input is a terminal, neither the environment nor an
// ancestor of the process shows an agent, and the typist repeats a code just shown. This
// does not stop a determined program of the same user, which can open its own terminal and
// detach from its ancestors. It stops a well-meaning agent, and makes the efforts of others
// visible. Only a root-owned system scope is a barrier.
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

// Terminal is the terminal and process in which a command runs. Tests replace its parts.
type Terminal struct {
	// Stdin is the command's standard input.
	Stdin any
	// Environ is the environment in the form of os.Environ.
	Environ []string
	// Ancestors returns the processes above this one, nearest first.
	Ancestors func() ([]Ancestor, error)
}

// Ancestor is a process above another one.
type Ancestor struct {
	PID int
	// Names holds the program's name and its first arguments.
	Names []string
	// Environ holds the variables with which it was started, nil if unreadable.
	Environ []string
	// Hidden is set if it belongs to this user and hides its variables.
	Hidden bool
}

func (a Ancestor) isAgent() bool { return agentAmong(a.Names) != "" }

// underAgent returns a variable that an agent set for the process, "" if none exists.
func (a Ancestor) underAgent() string { return setByAgent(a.Environ) }

// setByAgent returns the first variable that agents set for their children, "" if none
// exists.
func setByAgent(environ []string) string {
	for _, v := range environ {
		if name, value, _ := strings.Cut(v, "="); value != "" && ofAgent(name) {
			return name
		}
	}
	return ""
}

// ThisTerminal is the one that the process sits in.
func ThisTerminal() Terminal {
	return Terminal{Stdin: os.Stdin, Environ: os.Environ(), Ancestors: aboveThis}
}

// Attending returns nil if a person is typing, else the reason for doubt. The error says
// what to do.
func (s Terminal) Attending() error {
	if setByAgent(s.Environ) == "" && !IsTerminal(s.Stdin) {
		return errors.New("standard input is no terminal; do this at a terminal, by hand")
	}
	return s.noAgent()
}

// UnderAgent returns an error if an agent started this process, or may have, else nil. A
// script of a person or machine is not an agent. Windows does not show ancestors, so
// UnderAgent requires a terminal there.
func (s Terminal) UnderAgent() error {
	if runtime.GOOS == "windows" {
		return s.Attending()
	}
	return s.noAgent()
}

// noAgent returns an error if an agent may have started the command, else nil.
func (s Terminal) noAgent() error {
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
		// The command may have detached from the agent and cleared its variables.
		if name := a.underAgent(); name != "" {
			return fmt.Errorf("an agent started this command (%s was set for %s above it); do this in a terminal of your own", name, a.Names[0])
		}
		if a.Hidden {
			return fmt.Errorf("it cannot be told who started this command: %s (process %d) hides its variables; do this in a terminal of your own", a.Names[0], a.PID)
		}
	}
	return nil
}

// agentPrefixes and agentVariables identify variables that agents set for their children.
var (
	agentPrefixes  = []string{"CLAUDE_CODE_SESSION_", "CLAUDE_CODE_BRIDGE_", "COPILOT_AGENT_", "OPENCODE_SESSION"}
	agentVariables = []string{"CLAUDECODE", "CLAUDE_PROJECT_DIR", "CLAUDE_PID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_CHILD_SESSION", "COPILOT_PROJECT_DIR", "COPILOT_PLUGIN_ROOT",
		"OPENCODE_PID", "CURSOR_AGENT", "CODEX_SANDBOX", "CODEX_THREAD_ID", "GEMINI_CLI", "OPENCODE", "AI_AGENT", "AGENT_SESSION_ID", "PI_CODING_AGENT", "PI_SESSION_ID"}
)

// ofAgent reports whether agents set a variable for their children. Variables that a person
// sets for an agent do not match, such as CLAUDE_CODE_USE_BEDROCK or COPILOT_HOME.
func ofAgent(name string) bool {
	return slices.Contains(agentVariables, name) || slices.ContainsFunc(agentPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// agentAmong returns the name that identifies an agent, "" if none exists. Names of
// shortAgents apply only to the program itself, or to what an interpreter runs: "su pi" is
// no agent.
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

// shortAgents are agents whose names other things also have: pi, Hermes, Antigravity's agy
// and Continue's cn.
var shortAgents = []string{"pi", "hermes", "agy", "cn"}

// agents are the other agents, by base name.
var agents = []string{"claude", "claude-code", "copilot", "codex", "gemini", "gemini-cli", "cursor-agent", "opencode", "aider", "goose", "amp", "droid",
	"qwen", "qwen-code", "crush", "cline", "devin", "auggie", "grok", "kimi", "kiro-cli", "openhands", "hermes-agent"}

// interprets reports whether a program runs the script in its argument.
func interprets(name string) bool {
	name = programName(name)
	return name == "node" || name == "nodejs" || name == "bun" || name == "deno" || name == "tsx" || strings.HasPrefix(name, "python")
}

// programName returns the base name of a program in lower case, without file extension.
func programName(name string) string {
	name = strings.ToLower(filepath.Base(filepath.ToSlash(strings.TrimPrefix(name, "-"))))
	for _, ext := range []string{".exe", ".js", ".mjs", ".cjs", ".cmd"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// isAgent reports whether a program is an agent, by its base name.
func isAgent(name string) bool { return slices.Contains(agents, programName(name)) }

// IsTerminal reports whether a reader is a terminal. The null device is also a character
// device, but not a terminal.
func IsTerminal(stdin any) bool {
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

// letters are the characters of a code, without those that look alike.
const letters = "abcdefghjkmnpqrstuvwxyz23456789"

// Code returns a new code: six letters and digits.
func Code() string {
	raw := make([]byte, 6)
	_, _ = rand.Read(raw) // never fails: it ends the process instead
	for i, b := range raw {
		raw[i] = letters[int(b)%len(letters)]
	}
	return string(raw)
}
