package hook

import (
	"fmt"
	"strings"

	"cardea.dev/internal/person"
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
	}
	return out, nil
}

// answeringFor is the process as one that answers for another, which is not above it:
// the variables and command lines that count are the other's. It cannot be told there
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
	p.Env = func(name string) string { return of[name] }
	p.Machine.Env, p.Exported = p.Env, nil
	p.Lines, p.Piped = func() [][]string { return person.CommandLinesFrom(pid) }, person.PipedFrom(pid)
	p.Harness = nil
	return p, nil
}
