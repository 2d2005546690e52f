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

// Adapters are the harnesses that are spoken with.
func Adapters() []harness.Adapter {
	all := dialect.All()
	out := make([]harness.Adapter, 0, len(all)+2)
	out = append(out, claudecode.Adapter{}, copilotcli.Adapter{})
	for _, d := range all {
		out = append(out, d)
	}
	return out
}

// IsSet reports whether a variable is switched on.
func (p Process) IsSet(name string) bool {
	v := p.Env(name)
	return v != "" && v != "0" && v != "false"
}

// Judgement is one event with everything that it is judged by. check and try
// share it, so that one says what the other does.
type Judgement struct {
	process Process
	Event   *cardea.Event
	Place   Place
	Loaded  *inforce.Loaded
	// NearAtOnce is that of the gate.
	NearAtOnce bool
	// analysed is set where the event has its call's parts.
	analysed bool
	// identity is who the agent is.
	identity identity
	// Judge is asked about what no rule decides; nil: nobody is.
	Judge *byjudge.Decider
	// about is what a judge is told besides the call, after aboutOnce.
	about         question.About
	aboutTroubles cardea.Troubles
	aboutOnce     sync.Once
	// allowed is set where the event tells that a call ran which a person allowed.
	allowed bool
	// Traced is how the harness's lists were applied, where CARDEA_DEBUG asks.
	Traced *trace
}

// NewJudgement finds the place of an event and what is in force there.
func NewJudgement(p Process, ev *cardea.Event) *Judgement {
	if ev.Harness == "" && ev.Cwd == "" {
		ev = ev.In(p.Dir) // of a message that nobody is known to send, which is never allowed
	}
	begun := ev.Cwd
	if harness.NamesFolderOfCall(ev.Harness) {
		begun = p.Dir
	}
	j := &Judgement{process: p, Place: Locate(p, ev.Harness, ev.Session, begun)}
	at := cardea.Place{Project: j.Place.Project, Home: j.Place.Dirs.Home}
	j.Event = ev.At(at)
	j.Loaded = Load(p, &j.Place, j.Event)
	ev = j.seenBy(ev)
	if at.Reviewed = reviewed(ev); at.Reviewed {
		ev = ev.WithNobody()
	}
	j.Event = ev.At(at)
	r := redact.New()
	j.Loaded.Callbacks = inforce.Callbacks{Once: j.Place.Session.IsNew, Redact: r.Show, Redactor: r, Secrets: secretsBy(r)}
	j.identity = j.identify()
	j.Event = j.Event.WithRole(j.identity.role)
	j.Loaded.AssignRole(j.identity.role)
	j.tellSetUp()
	if !ev.Kind.Answered() {
		return j
	}
	if j.debugs() || j.Loaded.LogFile() != "" {
		j.StartTrace()
	}
	at.Unreadable, at.Roots = j.Loaded.Unreadable(), j.Loaded.AdditionalDirs()
	at.NativeAsk = ev.Kind == cardea.PermissionRequest && ev.Call != nil && j.Loaded.NativeAsk(ev.Call)
	j.Event = ev.At(at).WithRole(j.identity.role)
	j.Judge = j.judgeOf(r)
	return j
}

// debugs reports whether the trace of a call goes to standard error.
func (j *Judgement) debugs() bool { return j.process.IsSet("CARDEA_DEBUG") || j.Loaded.Debugs() }

// Load reads what is in force in a place. An event, where there is one, is what
// it is read for.
func Load(p Process, pl *Place, ev *cardea.Event) *inforce.Loaded {
	w := p.Whose(pl)
	if ev != nil {
		// Judging one event is one look: what was seen on the way to the place counts. Who
		// reads for other reasons may have changed files since.
		w.Absent, w.Links = pl.absent, pl.links
		w.Warm(ev)
		w.Compiled = true
	}
	w.Lists, w.ListsIn = p.lists(pl, w.Absent), listsIn
	plugins, problems := claudecode.PluginRoots(pl.Dirs.Claude, pl.Project, p.Managed, w.Absent)
	pl.tell(problems...)
	w.Plugins, w.Plugin = plugins, p.Env("CLAUDE_PLUGIN_ROOT")
	w.PluginFiles = func() []string { return install.PluginFiles(siteAt(p, *pl).At) }
	return inforce.Load(w)
}

// keep writes down what must be there when a file breaks.
func (j *Judgement) keep(r *redact.Redactor, late func() bool) error {
	end := j.process.Now().Add(limit.KeepFiles)
	return j.Loaded.Keep(r, func() bool { return late() || j.process.Now().After(end) })
}

// Verdict asks the gate.
func (j *Judgement) Verdict(ctx context.Context) cardea.Verdict {
	j.Analyse()
	g := gate.Build(j.Loaded, j.gateSession(), j.Analysis(), j.process.Now)
	v := j.withSkill(ctx, g, g.Decide(ctx, j.Event))
	if menu := j.menu(); menu != "" {
		v.Context = append(v.Context, menu)
	}
	v.Troubles = slices.Concat(j.Place.Troubles, v.Troubles, j.Untold(v))
	if j.Traced != nil {
		j.Traced.add(strings.TrimSpace(fmt.Sprintf("verdict: %s %s", v.Effect, v.By)))
	}
	return v
}

// Untold tells the person that the model was not told why, since what decided is
// of a project that they have not trusted, or not of the session's.
func (j *Judgement) Untold(v cardea.Verdict) cardea.Troubles {
	if v.Effect < cardea.Ask {
		return nil
	}
	for _, o := range v.Opinions {
		switch {
		case !o.Withheld || o.Effect != v.Effect:
		case !j.OfThisProject(o):
			file, _ := cardea.SplitSource(o.Source)
			return cardea.Troubles{cardea.Warning(file, cardea.CodeUntrusted, "change the rule there; \"cardea trust\" makes no difference to this session",
				"a rule of another project decided, and the model was told its name alone: it is told only texts of the project in which its session began")}
		case !j.Loaded.Where.Trusted(): // a file that changed is told of anyway
			return cardea.Troubles{cardea.Warning(j.Place.Project, cardea.CodeUntrusted, "if the project is yours, run \"cardea trust\" in it",
				"a rule of this project decided, and the model was told its name alone, since you have not trusted the project")}
		}
	}
	return nil
}

// OfThisProject reports whether an opinion is of the session's own project, not of
// another one that the call has to do with.
func (j *Judgement) OfThisProject(o cardea.Opinion) bool {
	own := j.Place.Project
	file, _ := cardea.SplitSource(o.Source)
	if file == "" {
		return true
	}
	if !paths.Within(own, file) {
		own, file = paths.Real(own), paths.Real(file)
	}
	inside, err := filepath.Rel(own, file)
	// A project inside of this one has a folder of its own: sub/.cardea, sub/.claude.
	return err == nil && paths.Within(own, file) && strings.Index("/"+filepath.ToSlash(inside), "/.") <= 0
}

// Analyse finds the parts of the event's call.
func (j *Judgement) Analyse() {
	if !j.analysed {
		j.Event, j.analysed = j.Analysis()(j.Event), true
	}
}

// Analysis is what finds the parts of an event's call.
func (j *Judgement) Analysis() func(*cardea.Event) *cardea.Event {
	return func(ev *cardea.Event) *cardea.Event {
		world := disk.World(j.Place.Dirs.Home)
		world.Resolve = (&paths.Links{Moment: j.process.Memory.Moment()}).Resolve
		world.Exported, world.Made, world.ReadFile = j.exported, j.Place.Session.Made, j.Place.absent.ReadLinked
		world.IsDir, world.IsNew = j.Place.absent.IsFolder, j.Place.absent.Gone
		return call.Analyse(ev, world)
	}
}

// noteCreations notes the files that an allowed line is about to make, so that the
// session's next line may write them again.
func (j *Judgement) noteCreations(answered cardea.Effect, begin time.Time) {
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

// exported reports whether a variable is in the environment, which is that of
// the harness and so of the commands it starts.
func (j *Judgement) exported(name string) bool {
	if j.process.Exported != nil {
		return j.process.Exported(name)
	}
	return j.process.Env(name) != ""
}

// Analysis finds the parts of a call on this machine.
func Analysis(home string, exported func(name string) bool) func(*cardea.Event) *cardea.Event {
	return func(ev *cardea.Event) *cardea.Event {
		world := disk.World(home)
		world.Exported = exported
		return call.Analyse(ev, world)
	}
}

// actions are the commands that start when the answer is out.
func (j *Judgement) actions(r *redact.Redactor, v cardea.Verdict) []script.Action {
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

// once leaves out the actions that ran already for this question: a harness that is
// told to ask sends the call again when it shows the question.
func (j *Judgement) once(all []script.Action) []script.Action {
	if len(all) == 0 || j.Event.Kind != cardea.PermissionRequest || j.Event.Call == nil {
		return all
	}
	call := j.questionName(j.Event.Call, j.Event.Call.Input)
	return slices.DeleteFunc(all, func(a script.Action) bool { return j.Place.Session.Acted(call, actionName(a)) })
}

// noteActions notes which actions run, for the message that shows the question.
// The input is that which the answer gives the call, nil for its own.
func (j *Judgement) noteActions(all []script.Action, input map[string]any) {
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

// questionName tells apart the calls that a harness asks about. When Copilot CLI shows
// the question about a change of a file it sends the file and what differs under the tool
// edit, whatever the tool and its input were: there the file is the name.
func (j *Judgement) questionName(c *cardea.Call, input map[string]any) string {
	if file, ok := input["file_path"].(string); ok && j.Event.Harness == copilotcli.Name && (c.Tool == "Edit" || c.Tool == "Write") {
		return "file " + file
	}
	return callName(c, input)
}

// callName tells calls apart by their tool and input.
func callName(c *cardea.Call, input map[string]any) string {
	size := 64 + len(c.Tool)
	for _, v := range input {
		text, _ := v.(string)
		size += len(text) + len(text)/16
	}
	name, _ := jsontext.HTML.Value(append(append(make([]byte, 0, size), c.Tool...), ' '), input) // a message's fields can be written
	return string(name)
}

// actionName tells the actions of a verdict apart.
func actionName(a script.Action) string { return a.Trigger + "\n" + a.Rule + "\n" + a.Command }

// recordChecks keeps what a call that runs shows about the checks that the policy
// git-checks asks for. What may change something counts from when it begins: a
// harness need not send a message when it fails half way through.
func (j *Judgement) recordChecks(answered cardea.Effect) error {
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

// newTroubles are the troubles that the person was not shown in this session, in
// words that can be shown. What happens at an event whose answer does not reach the
// person is kept for the next one that does.
func (j *Judgement) newTroubles(all cardea.Troubles) (out cardea.Troubles) {
	s, reaches := j.Place.Session, j.reachesPerson()
	for _, t := range Printable(all) {
		key, passing := t.Error(), t.Failure == cardea.Unwritten
		if passing && t.Diagnostic.File != "" {
			key = "unwritten: " + t.Diagnostic.File // the text names a file that is another each time
		}
		switch {
		case reaches && s.IsNew(key):
			out = append(out, t)
		case !reaches && !passing:
			s.Keep(key)
		}
	}
	if reaches {
		for _, text := range s.Kept() {
			if s.IsNew(text) {
				out = append(out, cardea.Warning("", cardea.CodeLearned, "", PlainText(text)))
			}
		}
	}
	return out
}

// unshown is the reason of an answer that could not do what was decided, on an event that
// does not show the person the reason.
func (j *Judgement) unshown(a cardea.Answer) cardea.Troubles {
	lost := a.Decided >= cardea.Ask && a.Effect < cardea.Ask || slices.Contains(a.Limits, cardea.NoRewrite)
	if !lost || a.TellPerson || a.Reason == "" || j.reachesPerson() {
		return nil
	}
	// It is one line that names its decider: a project can have written the text.
	text := strings.ReplaceAll(strings.TrimSpace(a.Reason), "\n", "; ")
	return cardea.Troubles{cardea.Warning("", cardea.CodeNoEffect, "", fmt.Sprintf("%s says on %s: %s", a.By, j.Event.Kind, text))}
}

// Printable are troubles in words that can be shown.
func Printable(all cardea.Troubles) cardea.Troubles {
	out := slices.Clone(all)
	for i := range out {
		d := &out[i].Diagnostic
		d.File, d.Text, d.Hint = Plain(d.File), PlainText(d.Text), PlainText(d.Hint)
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
