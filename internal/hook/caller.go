package hook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/person"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/hook/control"
)

// ofHooks are the variables that Claude Code sets for the processes of its hooks (hooks
// reference, "Hook process"). In the environment of Claude Code itself they come from
// whatever started it, and are about that.
const ofHooks = " CLAUDE_PROJECT_DIR CLAUDE_CODE_SESSION_ATTENDED CLAUDE_CODE_SESSION_ID CLAUDE_PLUGIN_ROOT CLAUDECODE "

// CallerEnviron is the environment that counts for a harness that asks over HTTP: that
// with which its process was started, without what is about another harness above it. An
// agent gets the variable by which a hook tells that a harness started it.
func CallerEnviron(pid int) ([]string, error) {
	all, err := person.EnvironOf(pid)
	if err != nil {
		return nil, fmt.Errorf("the variables of the process that asks cannot be read: %w", err)
	}
	out := make([]string, 0, len(all)+1)
	for _, v := range all {
		if name, _, _ := strings.Cut(v, "="); !strings.Contains(ofHooks, " "+name+" ") {
			out = append(out, v)
		}
	}
	if line, err := person.Lineage(pid); err == nil && line[0].Agent {
		out = append(out, "CLAUDECODE=1")
		// What Claude Code tells a hook that is a process: a person attends its terminal.
		if lines := person.CommandLinesFrom(pid); len(lines) > 0 && claudecode.Interactive(lines[0]) && person.AtTerminal(pid) {
			out = append(out, "CLAUDE_CODE_SESSION_ATTENDED=1")
		}
	}
	return out, nil
}

// OtherFolder names the variable by which a caller's files are in another folder than those
// of the process that answers, or "". What the variables result in is compared, not their
// texts. A home folder that Cardea would not take counts: the caller's shell takes it.
func OtherFolder(m project.Machine, own, caller func(string) string) string {
	result := func(env func(string) string) [len(control.FolderVariables)]string {
		m.Env = env
		d, _ := project.FindDirs(m)
		all := [...]string{cmp.Or(env("HOME"), d.Home), d.User, d.State, d.Cache, d.Runtime}
		for i, dir := range all {
			all[i] = paths.Resolve(dir)
		}
		return all
	}
	if !slices.ContainsFunc(control.FolderVariables[:], func(name string) bool { return own(name) != caller(name) }) {
		return ""
	}
	here, there := result(own), result(caller)
	for i, name := range control.FolderVariables {
		if here[i] != there[i] {
			return name
		}
	}
	return ""
}

// InFolders looks up the variables of a caller, but those that say where the person's files
// are by own: a link that is another one since [OtherFolder] looked leads nowhere else.
func InFolders(own, caller func(string) string) func(string) string {
	return func(name string) string {
		if slices.Contains(control.FolderVariables[:], name) {
			return own(name)
		}
		return caller(name)
	}
}

// answeringFor is the process as one that answers for another, which is not above it:
// the variables and command lines that count are the other's, the folders its own. It
// cannot be told there which harness runs the hook.
func (p Process) answeringFor(pid int) (Process, error) {
	environ, err := CallerEnviron(pid)
	if err != nil {
		return p, err
	}
	of := make(map[string]string, len(environ))
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if _, twice := of[name]; !twice {
			of[name] = value
		}
	}
	own := p.Env
	p.Env = func(name string) string { return of[name] }
	p.Machine.Env, p.Exported = InFolders(own, p.Env), nil
	p.Lines, p.Piped = func() [][]string { return person.CommandLinesFrom(pid) }, person.PipedFrom(pid)
	p.Harness = nil
	return p, nil
}
