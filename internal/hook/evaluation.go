package hook

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/judge/question"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/jsontext"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/script"
	"cardea.dev/internal/command/disk"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/decide/byjudge"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/call"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/harness/copilotcli"
	"cardea.dev/internal/harness/dialect"
	"cardea.dev/internal/hook/gate"
	"cardea.dev/internal/memory/evidence"
)

// Adapters returns the adapters of all supported harnesses.
func Adapters() []harness.Adapter {
	all := dialect.All()
	out := make([]harness.Adapter, 0, len(all)+2)
	out = append(out, claudecode.Adapter{}, copilotcli.Adapter{})
	for _, d := range all {
		out = append(out, d)
	}
	return out
}

// IsSet reports whether a variable is switched on: not empty, "0" or "false".
func (p Process) IsSet(name string) bool {
	v := p.Env(name)
	return v != "" && v != "0" && v != "false"
}

// Evaluation is the evaluation of one event, with all that it needs. check and try share it,
// so try shows the verdict that check gives.
type Evaluation struct {
	process Process
	Event   *cardea.Event
	Place   Location
	Loaded  *inforce.Loaded
	// NearAtOnce has the gate's meaning, see [gate.SessionFacts].
	NearAtOnce bool
	// analysed is set once the event has the parts of its call.
	analysed bool
	// identity is the role and registration of the agent.
	identity identity
	// Judge is asked if no rule decides. It may be nil.
	Judge *byjudge.Decider
	// about is the context for the judge, set by aboutOnce.
	about       question.About
	aboutIssues cardea.Issues
	aboutOnce   sync.Once
	// allowed is set if the event reports that a call ran which a person allowed.
	allowed bool
	// Traced records how the harness's lists applied, if CARDEA_DEBUG is set.
	Traced *trace
}

// NewEvaluation returns the evaluation of an event, with its place and what is in force there.
func NewEvaluation(p Process, ev *cardea.Event) *Evaluation {
	if ev.Harness == "" && ev.Cwd == "" {
		// The sender of the message is unknown, so it is never allowed.
		ev = ev.With(func(e *cardea.Event) { e.Cwd = p.Dir })
	}
	begun := ev.Cwd
	if harness.NamesFolderOfCall(ev.Harness) {
		begun = p.Dir
	}
	j := &Evaluation{process: p, Place: Locate(p, ev.Harness, ev.Session, begun)}
	j.Event = ev.With(func(e *cardea.Event) { e.Project, e.Home = j.Place.Project, j.Place.Dirs.Home })
	j.Loaded = Load(p, &j.Place, j.Event)
	j.Event = j.Event.With(j.attend)
	r := redact.New()
	j.Loaded.Callbacks = inforce.Callbacks{Once: j.Place.Session.IsNew, Redact: r.Show, Redactor: r, Secrets: secretsBy(r)}
	j.identity = j.identify()
	j.Event = j.Event.With(func(e *cardea.Event) { e.Role = j.identity.role })
	j.Loaded.AssignRole(j.identity.role)
	j.tellSetUp()
	if !ev.Kind.Answered() {
		return j
	}
	if j.debugs() || j.Loaded.LogFile() != "" {
		j.StartTrace()
	}
	j.Event = j.Event.With(func(e *cardea.Event) {
		e.Unreadable, e.Roots = j.Loaded.Unreadable(), j.Loaded.AdditionalDirs()
		e.NativeAsk = e.Kind == cardea.PermissionRequest && e.Call != nil && j.Loaded.NativeAsk(e.Call)
	})
	j.Judge = j.judgeOf(r)
	return j
}

// debugs reports whether the trace of a call goes to standard error.
func (j *Evaluation) debugs() bool { return j.process.IsSet("CARDEA_DEBUG") || j.Loaded.Debugs() }

// Load reads what is in force in a place. ev is the event for which it is read, or nil.
func Load(p Process, pl *Location, ev *cardea.Event) *inforce.Loaded {
	w := p.Whose(pl)
	if ev != nil {
		// One event uses one look at the disk, so Load reuses what Locate saw. Other callers may
		// have changed files since.
		w.Absent, w.Links = pl.absent, pl.links
		w.Warm(ev)
		w.Compiled = true
	}
	w.Lists, w.ListsIn = p.lists(pl, w.Absent), listsIn
	plugins, problems := claudecode.PluginRoots(pl.Dirs.Claude, pl.Project, p.Managed, w.Absent)
	pl.tell(problems...)
	w.Plugins, w.Plugin = plugins, p.Env("CLAUDE_PLUGIN_ROOT")
	w.PluginFiles = func() []string { return install.PluginFiles(harnessPathsAt(p, *pl).At) }
	return inforce.Load(w)
}

// keep saves copies of files, for when a file breaks later.
func (j *Evaluation) keep(r *redact.Redactor, late func() bool) error {
	end := j.process.Now().Add(limit.KeepFiles)
	return j.Loaded.Keep(r, func() bool { return late() || j.process.Now().After(end) })
}

// Verdict returns the gate's verdict.
func (j *Evaluation) Verdict(ctx context.Context) cardea.Verdict {
	j.Analyse()
	g := gate.Build(j.Loaded, j.gateSession(), j.Analysis(), j.process.Now)
	v := j.withSkill(ctx, g, g.Decide(ctx, j.Event))
	if menu := j.menu(); menu != "" {
		v.Context = append(v.Context, menu)
	}
	v.Issues = slices.Concat(j.Place.Issues, v.Issues, j.Unreported(v))
	if j.Traced != nil {
		j.Traced.add(strings.TrimSpace(fmt.Sprintf("verdict: %s %s", v.Effect, v.By)))
	}
	return v
}

// Unreported returns a warning for the person if the model got no reason. That happens if
// the rule that decided is in a project that is not trusted or not the session's.
func (j *Evaluation) Unreported(v cardea.Verdict) cardea.Issues {
	if v.Effect < cardea.Ask {
		return nil
	}
	for _, o := range v.Opinions {
		switch {
		case !o.Withheld || o.Effect != v.Effect:
		case !j.OfThisProject(o):
			file, _ := diagnostic.SplitSource(o.Source)
			return cardea.Issues{cardea.Warning(file, diagnostic.CodeUntrusted, "change the rule there; \"cardea trust\" makes no difference to this session",
				"a rule of another project decided, and the model was told its name alone: it is told only texts of the project in which its session began")}
		case !j.Loaded.Where.Trusted(): // a changed file is reported in any case
			return cardea.Issues{cardea.Warning(j.Place.Project, diagnostic.CodeUntrusted, "if the project is yours, run \"cardea trust\" in it",
				"a rule of this project decided, and the model was told its name alone, since you have not trusted the project")}
		}
	}
	return nil
}

// OfThisProject reports whether an opinion comes from the session's own project, not from
// another project that the call touches.
func (j *Evaluation) OfThisProject(o cardea.Opinion) bool {
	own := j.Place.Project
	file, _ := diagnostic.SplitSource(o.Source)
	if file == "" {
		return true
	}
	if !paths.Within(own, file) {
		own, file = paths.Real(own), paths.Real(file)
	}
	inside, err := filepath.Rel(own, file)
	// A project inside this one has its own folder: sub/.cardea, sub/.claude.
	return err == nil && paths.Within(own, file) && strings.Index("/"+filepath.ToSlash(inside), "/.") <= 0
}

// Analyse adds the parts of the call to the event, once.
func (j *Evaluation) Analyse() {
	if !j.analysed {
		j.Event, j.analysed = j.Analysis()(j.Event), true
	}
}

// Analysis returns the function that adds the parts of an event's call.
func (j *Evaluation) Analysis() func(*cardea.Event) *cardea.Event {
	return func(ev *cardea.Event) *cardea.Event {
		system := disk.System(j.Place.Dirs.Home)
		system.Resolve = (&paths.Links{Stats: j.process.Memory.Stats()}).Resolve
		system.Exported, system.Made, system.ReadFile = j.exported, j.Place.Session.Made, j.Place.absent.ReadLinked
		system.IsDir, system.IsNew = j.Place.absent.IsFolder, j.Place.absent.Gone
		return call.Analyse(ev, system)
	}
}

// noteCreations records the files that an allowed command line is about to make, so that
// the session's next line may write them again.
func (j *Evaluation) noteCreations(answered cardea.Effect, begin time.Time) {
	if answered != cardea.Allow || !j.Event.Kind.Answered() || j.Event.Call == nil {
		return
	}
	for _, p := range j.Event.Call.Parts {
		for _, a := range p.Access {
			if a.Fresh && a.Redirect && a.Kind == cardea.Write && disk.IsNew(a.Path) {
				j.Place.Session.Makes(a.Path, begin)
			}
		}
	}
}

// exported reports whether a variable is in the environment. The harness and the commands
// that it starts have the same environment.
func (j *Evaluation) exported(name string) bool {
	if j.process.Exported != nil {
		return j.process.Exported(name)
	}
	return j.process.Env(name) != ""
}

// Analysis returns a function that adds the parts of a call on this machine.
func Analysis(home string, exported func(name string) bool) func(*cardea.Event) *cardea.Event {
	return func(ev *cardea.Event) *cardea.Event {
		system := disk.System(home)
		system.Exported = exported
		return call.Analyse(ev, system)
	}
}

// actions returns the commands to start when the answer is out.
func (j *Evaluation) actions(r *redact.Redactor, v cardea.Verdict) []script.Action {
	out := j.once(j.Loaded.Actions(j.Event, &v))
	for i := range out {
		out[i].Shown = r.Show(out[i].Command)
		out[i].Rule = r.Show(out[i].Rule)
		if j.Place.State != "" {
			out[i].Log = filepath.Join(j.Place.State, "actions")
		}
	}
	return out
}

// once drops the actions that already ran for this question: after an ask, the harness
// sends the call again when it shows the question.
func (j *Evaluation) once(all []script.Action) []script.Action {
	if len(all) == 0 || j.Event.Kind != cardea.PermissionRequest || j.Event.Call == nil {
		return all
	}
	call := j.questionName(j.Event.Call, j.Event.Call.Input)
	return slices.DeleteFunc(all, func(a script.Action) bool { return j.Place.Session.Acted(call, actionName(a)) })
}

// noteActions records which actions run, for the message that shows the question. input is
// the one that the answer gives the call, or nil for the call's own.
func (j *Evaluation) noteActions(all []script.Action, input map[string]any) {
	c := j.Event.Call
	if j.Event.Kind != cardea.PreToolUse || c == nil || len(all) == 0 && !j.Place.Session.HasActed() {
		return
	}
	if input == nil {
		input = c.Input
	}
	names := make([]string, 0, len(all))
	for _, a := range all {
		names = append(names, actionName(a))
	}
	j.Place.Session.Acts(j.questionName(c, input), names)
}

// questionName returns a name for the call that the harness asks about. For a file change,
// Copilot CLI shows the question under the tool edit with the file and the diff, for any
// tool and input. There the name is the file.
func (j *Evaluation) questionName(c *cardea.Call, input map[string]any) string {
	if file, ok := input["file_path"].(string); ok && j.Event.Harness == copilotcli.Name && (c.Tool == "Edit" || c.Tool == "Write") {
		return "file " + file
	}
	return callName(c, input)
}

// callName returns a name for a call, made of its tool and input.
func callName(c *cardea.Call, input map[string]any) string {
	size := 64 + len(c.Tool)
	for _, v := range input {
		text, _ := v.(string)
		size += len(text) + len(text)/16
	}
	name, _ := jsontext.HTML.Value(append(append(make([]byte, 0, size), c.Tool...), ' '), input) // fields that came in a message can be encoded
	return string(name)
}

// actionName returns a name for an action of a verdict.
func actionName(a script.Action) string { return a.Trigger + "\n" + a.Rule + "\n" + a.Command }

// recordChecks records what a running call shows about the checks that the policy
// git-checks requires. A possible change applies from the start of the call: a harness need
// not send a message when the call fails half way.
func (j *Evaluation) recordChecks(answered cardea.Effect) error {
	switch j.Event.Kind {
	case "PostToolUse", "PostToolUseFailure":
	case cardea.PreToolUse, cardea.PreSkillShellCommand:
		if answered >= cardea.Deny {
			return nil // it does not run
		}
	default:
		return nil
	}
	return evidence.New(j.Place.State, j.Place.links.Real(j.Place.Project), j.Place.links.Real(j.Place.Start)).Note(j.Event, j.Loaded.Settings.Policies.Checks)
}

// newIssues returns the problems that the person has not seen in this session, as
// printable text. Problems of an event whose answer does not reach the person are saved for
// the next one that does.
func (j *Evaluation) newIssues(all cardea.Issues) (out cardea.Issues) {
	s, reaches := j.Place.Session, j.reachesPerson()
	for _, t := range Printable(all) {
		key, passing := t.Error(), t.Failure == cardea.Unwritten
		if passing && t.Diagnostic.File != "" {
			key = "unwritten: " + t.Diagnostic.File // the text names a different file each time
		}
		switch {
		case reaches && s.IsNew(key):
			out = append(out, t)
		case !reaches && !passing:
			s.Keep(key)
		}
	}
	if reaches {
		for _, text := range s.Stored() {
			if s.IsNew(text) {
				out = append(out, cardea.Warning("", diagnostic.CodeLearned, "", PlainText(text)))
			}
		}
	}
	return out
}

// unshown returns the reason of an answer that could not express the decision, if the event
// does not show that reason to the person.
func (j *Evaluation) unshown(a cardea.Answer) cardea.Issues {
	lost := a.Decided >= cardea.Ask && a.Effect < cardea.Ask || slices.Contains(a.Limits, cardea.NoRewrite)
	if !lost || a.TellPerson || a.Reason == "" || j.reachesPerson() {
		return nil
	}
	// It is one line that names its decider, since the text may come from a project.
	text := strings.ReplaceAll(strings.TrimSpace(a.Reason), "\n", "; ")
	return cardea.Issues{cardea.Warning("", diagnostic.CodeNoEffect, "", fmt.Sprintf("%s says on %s: %s", a.By, j.Event.Kind, text))}
}

// Printable returns the problems with texts that are safe to show.
func Printable(all cardea.Issues) cardea.Issues {
	out := slices.Clone(all)
	for i := range out {
		d := &out[i].Diagnostic
		d.File, d.Text, d.Hint = Plain(d.File), PlainText(d.Text), PlainText(d.Hint)
	}
	return out
}

// secretsBy returns a function that finds the secrets in a text.
func secretsBy(r *redact.Redactor) func(string) []string {
	return func(text string) []string {
		var out []string
		for _, f := range r.Find(text) {
			out = append(out, text[f.Start:f.End])
		}
		return out
	}
}
