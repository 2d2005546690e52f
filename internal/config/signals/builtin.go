package signals

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/jsontext"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/knowledge"
	knowledgeform "cardea.dev/internal/command/knowledge/form"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/memory/evidence"
)

// The signals of built-in policies that are not simply a script: the checks that succeeded
// since the last change, and the size of the file that a call reads. The third runs the
// user's or project's own script, but only for calls that publish, since it may take as
// long as tests.
const (
	evidenceSignal = "evidence"
	sizeSignal     = "size"
	// Checks is the signal that runs the user's or the project's own checks.
	Checks = "git_checks"
)

// builtin returns Cardea's own answer to a signal of a built-in policy. It returns false if
// a script answers. The answer has no value if there is nothing to say.
func (r *Runner) builtin(ev *cardea.Event, name string) (policy.SignalValue, bool) {
	switch name {
	case evidenceSignal:
		return policy.SignalValue{Value: r.evidence(ev)}, true
	case sizeSignal:
		return policy.SignalValue{Value: size(ev)}, true
	case Checks:
		return policy.SignalValue{}, !publishes(ev)
	}
	return policy.SignalValue{}, false
}

// publishes reports whether a call commits, pushes or merges.
func publishes(ev *cardea.Event) bool {
	return ev.Call != nil && slices.ContainsFunc(ev.Call.Parts, func(p cardea.Part) bool { return publishing(&p) })
}

// publishing reports whether a part commits, pushes or merges.
func publishing(p *cardea.Part) bool {
	return knowledge.Has(knowledgeform.Publishes, p.Command...)
}

// evidence returns the input of the policy git_checks: the checks that succeeded, what the
// call does in addition to publishing, and the parts that may publish.
func (r *Runner) evidence(ev *cardea.Event) any {
	store := evidence.New(r.State, paths.Real(r.Project), paths.Real(r.Start))
	out, unknown := evidence.Publish{}, []any{}
	if ev.Call != nil {
		out = store.Look(ev.Call, func(p *cardea.Part) bool { return publishing(p) || mayPublish(p) })
		for i := range ev.Call.Parts {
			if mayPublish(&ev.Call.Parts[i]) {
				unknown = append(unknown, i)
			}
		}
	}
	return map[string]any{"ok": true, "passed": jsontext.List(store.Passed()), "writes": out.Writes, "elsewhere": out.Elsewhere, "unknown": unknown}
}

// mayPublish reports whether a part is git with a command that is known only at run time.
func mayPublish(p *cardea.Part) bool {
	publishes := func(h knowledgeform.Holder) bool { return strings.HasPrefix(h.Program, p.Program()+" ") }
	return len(p.Command) > 0 && slices.ContainsFunc(knowledge.Holders(knowledgeform.Publishes), publishes) && slices.ContainsFunc(p.Operands, func(at int) bool {
		return at < len(p.Argv) && !p.Argv[at].Static && !slices.ContainsFunc(p.Argv[1:at], func(w cardea.Word) bool { return len(p.Command) > 1 && w.Text == p.Command[1] })
	})
}

// maxSized is how much of a file is read to count its lines, in bytes.
const maxSized = 256 << 10

// size returns the number of lines and bytes of the file that a call reads. Lines after
// maxSized bytes are not included.
func size(ev *cardea.Event) any {
	unknown := map[string]any{"ok": false, "error": "the file cannot be read", "timed_out": false}
	if ev.Call == nil {
		return unknown
	}
	path, _ := ev.Call.Input["file_path"].(string)
	if path != "" && !filepath.IsAbs(path) {
		path = filepath.Join(ev.Cwd, path)
	}
	f, info, err := state.OpenLinked(path)
	if err != nil {
		return unknown
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSized))
	if err != nil {
		return unknown
	}
	lines := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		lines++
	}
	return map[string]any{"ok": true, "lines": lines, "bytes": info.Size()}
}

// Watchdog is the signal that the judge answers if no script has this name. As in Cupcake,
// a policy can then use a model's opinion of a call.
const Watchdog = "watchdog"

// IsBuiltin reports whether Cardea itself answers a signal of built-in policies.
func IsBuiltin(name string) bool { return name == evidenceSignal || name == sizeSignal }
