package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/call"
	"cardea.dev/internal/disk"
	"cardea.dev/internal/evidence"
	"cardea.dev/internal/gate"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/harness/copilotcli"
	"cardea.dev/internal/inforce"
	"cardea.dev/internal/limit"
	"cardea.dev/internal/paths"
	"cardea.dev/internal/redact"
	"cardea.dev/internal/script"
)

// adapters are the harnesses that are spoken with.
func adapters() []harness.Adapter {
	return []harness.Adapter{claudecode.Adapter{}, copilotcli.Adapter{}}
}

// isSet reports whether a variable is switched on.
func (p Process) isSet(name string) bool {
	v := p.Env(name)
	return v != "" && v != "0" && v != "false"
}

// judgement is one event with everything that it is judged by. check and try
// share it, so that one says what the other does.
type judgement struct {
	process Process
	event   *cardea.Event
	place   place
	loaded  *inforce.Loaded
	// identity is who the agent is.
	identity identity
	// traced is how the harness's lists were applied, where CARDEA_DEBUG asks.
	traced *trace
}

// newJudgement finds the place of an event and what is in force there.
func newJudgement(p Process, ev *cardea.Event) *judgement {
	j := &judgement{process: p, place: locate(p, ev.Harness, ev.Session, ev.Cwd)}
	at := cardea.Place{Project: j.place.project, Home: j.place.dirs.Home}
	j.event = ev.At(at)
	j.loaded = load(p, &j.place, j.event)
	r := redact.New()
	j.loaded.Callbacks = inforce.Callbacks{Once: j.place.session.IsNew, Redact: r.Show, Secrets: secretsBy(r)}
	j.identity = j.identify()
	j.event = j.event.WithRole(j.identity.role)
	j.loaded.AssignRole(j.identity.role)
	j.tellSetUp()
	if !ev.Kind.Answered() {
		return j
	}
	if j.debugs() || j.loaded.LogFile() != "" {
		j.startTrace()
	}
	at.Unreadable, at.Roots = j.loaded.Unreadable(), j.loaded.AdditionalDirs()
	at.NativeAsk = ev.Kind == cardea.PermissionRequest && ev.Call != nil && j.loaded.NativeAsk(ev.Call)
	j.event = ev.At(at).WithRole(j.identity.role)
	return j
}

// debugs reports whether the trace of a call goes to standard error.
func (j *judgement) debugs() bool { return j.process.isSet("CARDEA_DEBUG") || j.loaded.Debugs() }

// load reads what is in force in a place. An event, where there is one, is what
// it is read for.
func load(p Process, pl *place, ev *cardea.Event) *inforce.Loaded {
	w := p.whose(pl)
	if ev != nil {
		w.Warm(ev)
		w.Compiled = true
	}
	w.Lists, w.ListsIn = p.lists(pl), listsIn
	plugins, problems := claudecode.PluginRoots(pl.dirs.Claude, pl.project, p.Managed)
	pl.tell(problems...)
	w.Plugins, w.Plugin = plugins, p.Env("CLAUDE_PLUGIN_ROOT")
	return inforce.Load(w)
}

// keep writes down what must be there when a file breaks.
func (j *judgement) keep(r *redact.Redactor, late func() bool) error {
	end := j.process.Now().Add(limit.KeepFiles)
	return j.loaded.Keep(r, func() bool { return late() || j.process.Now().After(end) })
}

// verdict asks the gate.
func (j *judgement) verdict(ctx context.Context) cardea.Verdict {
	j.analyse()
	g := gate.Build(j.loaded, j.gateSession(), j.analysis(), j.process.Now)
	v := g.Decide(ctx, j.event)
	if menu := j.menu(); menu != "" {
		v.Context = append(v.Context, menu)
	}
	v.Troubles = slices.Concat(j.place.troubles, v.Troubles, j.untold(v))
	if j.traced != nil {
		j.traced.add(strings.TrimSpace(fmt.Sprintf("verdict: %s %s", v.Effect, v.By)))
	}
	return v
}

// untold tells the person that the model was not told why, since what decided is
// of a project that they have not trusted.
func (j *judgement) untold(v cardea.Verdict) cardea.Troubles {
	withheld := slices.ContainsFunc(v.Opinions, func(o cardea.Opinion) bool { return o.Withheld && o.Effect == v.Effect })
	if !withheld || v.Effect < cardea.Ask || j.loaded.Where.Trusted() {
		return nil // a file that changed is told of anyway
	}
	return cardea.Troubles{cardea.Warning(j.place.project, cardea.CodeUntrusted, "if the project is yours, run \"cardea trust\" in it",
		"a rule of this project decided, and the model was told its name alone, since you have not trusted the project")}
}

// analyse finds the parts of the event's call.
func (j *judgement) analyse() { j.event = j.analysis()(j.event) }

func (j *judgement) analysis() func(*cardea.Event) *cardea.Event {
	return func(ev *cardea.Event) *cardea.Event {
		world := disk.World(j.place.dirs.Home)
		world.Exported, world.Made = j.exported, j.place.session.Made
		return call.Analyse(ev, world)
	}
}

// noteCreations notes the files that an allowed line is about to make, so that the
// session's next line may write them again.
func (j *judgement) noteCreations(answered cardea.Effect, begin time.Time) {
	if answered != cardea.Allow || !j.event.Kind.Answered() || j.event.Call == nil {
		return
	}
	for _, p := range j.event.Call.Parts {
		for _, a := range p.Access {
			if a.Fresh && a.Redirect && a.Kind == cardea.Write && disk.IsNew(a.Path) {
				j.place.session.Makes(a.Path, begin)
			}
		}
	}
}

// exported reports whether a variable is in the environment, which is that of
// the harness and so of the commands it starts.
func (j *judgement) exported(name string) bool { return j.process.Env(name) != "" }

// analysis finds the parts of a call on this machine.
func analysis(home string, exported func(name string) bool) func(*cardea.Event) *cardea.Event {
	return func(ev *cardea.Event) *cardea.Event {
		world := disk.World(home)
		world.Exported = exported
		return call.Analyse(ev, world)
	}
}

// actions are the commands that start when the answer is out.
func (j *judgement) actions(r *redact.Redactor, v cardea.Verdict) []script.Action {
	out := j.once(j.loaded.Actions(j.event, &v))
	for i := range out {
		out[i].Shown = r.Show(out[i].Command)
		out[i].Rule = r.Show(out[i].Rule)
		if j.place.state != "" {
			out[i].Log = filepath.Join(j.place.state, "actions")
		}
	}
	return out
}

// once leaves out the actions that ran already for this question: a harness that is
// told to ask sends the call again when it shows the question.
func (j *judgement) once(all []script.Action) []script.Action {
	if len(all) == 0 || j.event.Kind != cardea.PermissionRequest || j.event.Call == nil {
		return all
	}
	call := callName(j.event.Call, j.event.Call.Input)
	return slices.DeleteFunc(all, func(a script.Action) bool { return j.place.session.Acted(call, actionName(a)) })
}

// noteActions notes which actions run, for the message that shows the question.
// The input is that which the answer gives the call, nil for its own.
func (j *judgement) noteActions(all []script.Action, input map[string]any) {
	c := j.event.Call
	if j.event.Kind != cardea.PreToolUse || c == nil || len(all) == 0 && !j.place.session.HasActed() {
		return
	}
	if input == nil {
		input = c.Input
	}
	names := make([]string, 0, len(all))
	for _, a := range all {
		names = append(names, actionName(a))
	}
	j.place.session.Acts(callName(c, input), names)
}

// callName tells calls apart by their tool and input.
func callName(c *cardea.Call, input map[string]any) string {
	text, _ := json.Marshal(input) // a message's fields can be written
	return c.Tool + " " + string(text)
}

// actionName tells the actions of a verdict apart.
func actionName(a script.Action) string { return a.Trigger + "\n" + a.Rule + "\n" + a.Command }

// recordChecks keeps what a call that runs shows about the checks that the policy
// git-checks asks for. What may change something counts from when it begins: a
// harness need not send a message when it fails half way through.
func (j *judgement) recordChecks(answered cardea.Effect) error {
	switch j.event.Kind {
	case "PostToolUse", "PostToolUseFailure":
	case cardea.PreToolUse:
		if answered >= cardea.Deny {
			return nil // it does not run
		}
	default:
		return nil
	}
	return evidence.New(j.place.state, paths.Real(j.place.project), paths.Real(j.place.start)).Note(j.event, j.loaded.Settings.Policies.Checks)
}

// newTroubles are the troubles that the person was not shown in this session, in
// words that can be shown. What happens at an event whose answer does not reach the
// person is still new at the next one.
func (j *judgement) newTroubles(all cardea.Troubles) cardea.Troubles {
	if !j.reachesPerson() {
		return nil
	}
	var out cardea.Troubles
	for _, t := range printable(all) {
		key := t.Error()
		if t.Failure == cardea.Unwritten && t.Diagnostic.File != "" {
			key = "unwritten: " + t.Diagnostic.File // the text names a file that is another each time
		}
		if j.place.session.IsNew(key) {
			out = append(out, t)
		}
	}
	return out
}

// printable are troubles in words that can be shown.
func printable(all cardea.Troubles) cardea.Troubles {
	out := slices.Clone(all)
	for i := range out {
		d := &out[i].Diagnostic
		d.File, d.Text, d.Hint = Plain(d.File), plainText(d.Text), plainText(d.Hint)
	}
	return out
}

// secretsBy finds the secrets in a text.
func secretsBy(r *redact.Redactor) func(string) []string {
	return func(text string) []string {
		var out []string
		for _, f := range r.Find(text) {
			out = append(out, text[f.Start:f.End])
		}
		return out
	}
}
