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

// ofHooks are the variables that Claude Code sets for its hook processes (hooks reference,
// "Hook process"). In the environment of Claude Code itself they come from its parent
// process and describe that one.
const ofHooks = " CLAUDE_PROJECT_DIR CLAUDE_CODE_SESSION_ATTENDED CLAUDE_CODE_SESSION_ID CLAUDE_PLUGIN_ROOT CLAUDECODE "

// CallerEnviron returns the environment that applies to a harness that asks over HTTP: the
// one its process was started with, without variables about another harness above it. For
// an agent it adds the variable by which a hook recognizes its harness.
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
		// Claude Code sets this for its hook processes: a person attends its terminal.
		if lines := person.CommandLinesFrom(pid); len(lines) > 0 && claudecode.Interactive(lines[0]) && person.AtTerminal(pid) {
			out = append(out, "CLAUDE_CODE_SESSION_ATTENDED=1")
		}
	}
	return out, nil
}

// OtherFolder returns the name of the variable by which a caller's files are in another folder
// than those of the answering process, or "". It compares the resulting folders, not the
// values. HOME applies even where Cardea would not use it, since the caller's shell uses it.
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

// InFolders returns a lookup of the caller's variables in which own answers those that name
// the person's folders. A link that changed since [OtherFolder] looked then has no effect.
func InFolders(own, caller func(string) string) func(string) string {
	return func(name string) string {
		if slices.Contains(control.FolderVariables[:], name) {
			return own(name)
		}
		return caller(name)
	}
}

// answeringFor returns p as a process that answers for another one that is not its parent.
// It uses the other's variables and command lines, but its own folders. It cannot find out
// which harness runs the hook.
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
