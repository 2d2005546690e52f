package question

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/redact"
)

// About holds the facts for a judge in addition to the call. Its texts need not be redacted.
type About struct {
	// Standing is the effect of each part before the judge, Opinions the opinions of the earlier
	// deciders. Both may be empty.
	Standing []cardea.Effect
	Opinions []cardea.Opinion
	Role     AgentRole
	// Task is the task for which the agent was registered, Team the name of its team, Prompt its
	// instruction.
	Task, Team, Prompt string
	// Policy are the texts of the project about what agents may do.
	Policy []Document
}

// AgentRole is the agent's role.
type AgentRole struct {
	Name, Description string
	// The globs of the role's paths.
	AllowWrite, DenyWrite, AllowRead, DenyRead []string
}

// Document is a text of the person or the project.
type Document struct{ Name, Text string }

// Question is the question to a judge about one call. It holds only redacted text. The same call
// gives the same text, so that answers can be recorded.
type Question struct {
	// whole is false where a piece of the call itself was left out: such a call cannot be allowed.
	whole bool
	call  object
	given object
	cut   list
	// session is the harness's id of the session, which is not sent.
	session string
}

// The limits of a question. Larger contents are left out, and the question names them. All sizes
// are bytes.
const (
	maxField    = 16 << 10 // of one field of the tool input
	maxFields   = 32       // fields of the tool input
	maxPart     = 2 << 10
	maxParts    = 48
	maxAccess   = 24 // accesses of a part, and files that it may touch
	maxMayRun   = 24
	maxSpots    = 24
	maxFlows    = 24
	maxName     = 512 // paths, hosts, names
	maxSaid     = 12  // opinions
	maxReason   = 400
	maxTask     = 2 << 10
	maxPrompt   = 6 << 10
	maxDocument = 8 << 10
	maxPolicy   = 24 << 10 // all documents
	maxGlobs    = 40
	// maxQuestion is the longest text of a question. A longer question has its parts left out.
	maxQuestion = 96 << 10
)

// builder builds a question.
type builder struct {
	r     *redact.Redactor
	t     *redact.Together
	ev    *cardea.Event
	q     *Question
	about About
}

// Of returns the question about an event's call.
func Of(r *redact.Redactor, ev *cardea.Event, about About) Question {
	q := &Question{whole: true, session: ev.Session}
	b := &builder{r: r, t: r.Together(texts(ev)...), ev: ev, q: q, about: about}
	q.call = b.call()
	if len(appendValue(nil, q.call, 0)) > maxQuestion {
		b.leftOut("the parts, since the question is too long")
		q.call = slices.DeleteFunc(q.call, func(m member) bool { return m.name == "parts" })
	}
	q.given = b.given()
	return *q
}

// texts returns the raw texts of a call whose context can reveal a secret.
func texts(ev *cardea.Event) []string {
	var out []string
	if ev.Call == nil {
		return nil
	}
	for _, k := range slices.Sorted(maps.Keys(ev.Call.Input)) {
		out = append(out, k+"="+textOf(ev.Call.Input[k]), textOf(ev.Call.Input[k]))
	}
	for i := range ev.Call.Parts {
		out = append(out, textsOfPart(&ev.Call.Parts[i])...)
	}
	return out
}

func textsOfPart(p *cardea.Part) []string {
	out := append([]string{p.Text}, lists.Of(p.Assigns, func(a cardea.Assign) string { return a.Name + "=" + a.Value })...)
	for i := range min(len(p.MayRun), maxMayRun) {
		out = append(out, p.MayRun[i].Text)
	}
	return out
}

// textOf returns a value of the tool input as text.
func textOf(v any) string {
	if s, is := v.(string); is {
		return s
	}
	text, _ := json.Marshal(v) // a message's fields can be encoded
	return string(text)
}

// leftOut records a piece of the call that the judge does not see.
func (b *builder) leftOut(what string) {
	b.q.whole = false
	b.q.cut = append(b.q.cut, word(what))
}

// text returns a text of the agent, at most n bytes of it. A cut text is recorded as left out.
func (b *builder) text(s string, n int, what string) quoted {
	head, all := b.t.Text(s).Head(n)
	if !all {
		b.leftOut(fmt.Sprintf("%s: the first %d of %d bytes are shown", what, n, len(s)))
	}
	return quoted{head, code}
}

// note returns a text of a person, at most n bytes of it. A cut does not affect whole.
func (b *builder) note(s string, n int, what string) quoted {
	return quoted{b.quote(s, n, what).text, prose}
}

// quote returns a text that may quote the call, so it is escaped as the call is. A cut does not
// affect whole.
func (b *builder) quote(s string, n int, what string) quoted {
	head, all := b.t.Text(s).Head(n)
	if !all {
		b.q.cut = append(b.q.cut, word(fmt.Sprintf("%s: the first %d of %d bytes are shown", what, n, len(s))))
	}
	return quoted{head, code}
}

// some returns the first n items of a list of the call.
func some[T any](b *builder, all []T, n int, what string) []T {
	if len(all) <= n {
		return all
	}
	b.leftOut(fmt.Sprintf("%s: the first %d of %d are shown", what, n, len(all)))
	return all[:n]
}

// call returns the call for the question, with its parts, flows and opaque spots.
func (b *builder) call() object {
	c := b.ev.Call
	parts := list{}
	for i := range some(b, c.Parts, maxParts, "parts") {
		parts = append(parts, b.part(i))
	}
	flows := list{}
	for _, f := range some(b, c.Flows, maxFlows, "flows") {
		flows = append(flows, object{{"kind", word(f.Kind)}, {"from_part", f.From}, {"to_part", f.To}})
	}
	return object{
		{"tool", b.text(c.Tool, maxName, "the tool's name")},
		{"tool_is_known", c.Known},
		{"runs_outside_of_the_sandbox", c.Unsandboxed},
		{"input", b.input(c.Input)},
		{"input_values_of_repeated_keys", b.shadowed(c.Shadowed)},
		{"cwd", b.path(b.ev.Cwd)},
		{"parts", parts},
		{"flows", flows},
		{"reasons", b.reasons()},
		{"cannot_be_seen_through", b.spots(append(slices.Clone(b.ev.Faults), c.Opaque...))},
	}
}

// input returns the fields of the tool input, redacted by themselves and together with their names.
func (b *builder) input(in map[string]any) object {
	out := object{}
	for _, k := range some(b, slices.Sorted(maps.Keys(in)), maxFields, "fields of the input") {
		name, all := b.t.Text(k).Head(maxName)
		if !all {
			b.leftOut("the name of a field of the input")
		}
		// The name of a field may be what makes its value a secret.
		value := b.text(textOf(in[k]), maxField, "a field of the input")
		both := b.t.Text(k + "=" + textOf(in[k])).String()
		if rest, found := strings.CutPrefix(both, k+"="); found && rest == redact.Mark {
			value = quoted{b.r.Text(redact.Mark), code}
		}
		out = append(out, member{name.String(), value})
	}
	return out
}

func (b *builder) shadowed(all map[string][]any) list {
	out := list{}
	for _, k := range slices.Sorted(maps.Keys(all)) {
		for _, v := range all[k] {
			out = append(out, object{{"key", b.text(k, maxName, "a repeated key")}, {"value", b.text(textOf(v), maxPart, "the value of a repeated key")}})
		}
	}
	return list(some(b, out, maxFields, "values of repeated keys"))
}

// part returns part i of the call, with its effect so far and its accesses.
func (b *builder) part(i int) object {
	p := &b.ev.Call.Parts[i]
	standing := ""
	if i < len(b.about.Standing) {
		switch b.about.Standing[i] {
		case cardea.Abstain:
			standing = "undecided"
		case cardea.Defer:
			standing = "left to a person"
		default:
			standing = b.about.Standing[i].String()
		}
	}
	changes := []string{}
	if p.Elevated {
		changes = append(changes, "runs as another user or elsewhere")
	}
	if p.Remote {
		changes = append(changes, "runs on another machine or in a container")
	}
	what := fmt.Sprintf("part %d", i)
	return object{
		{"part", i},
		{"text", b.text(p.Text, maxPart, what)},
		{"standing", word(standing)},
		{"reached_by", b.names(p.Via, what)},
		{"wrappers", b.names(p.Wrappers, what)},
		{"runs", word(strings.Join(changes, ", "))},
		{"in_folder", b.path(p.Dir)},
		{"variables_set", b.names(p.Variables(), what)},
		{"without_effect", p.NoEffect},
		{"all_it_does_is_known", p.Knowledge == cardea.Complete && p.Coverage == cardea.Complete},
		{"access", b.accesses(p.Access, what, false)},
		{"may_touch", b.accesses(p.MayTouch, what, true)},
		{"may_run", b.mayRun(p, what)},
		{"cannot_be_seen_through", append(b.spots(p.Opaque), b.unseen(p)...)},
	}
}

// unseen returns the words of a part whose value is only known when the line runs.
func (b *builder) unseen(p *cardea.Part) list {
	out := list{}
	for _, text := range some(b, knowledge.Unseen(p), maxSpots, "words") {
		out = append(out, object{{"text", b.text(text, maxName, "a word")}, {"why", word("its value shows only when the line runs")}})
	}
	return out
}

func (b *builder) names(all []string, what string) list {
	out := list{}
	for _, s := range some(b, all, maxAccess, "names of "+what) {
		out = append(out, b.text(s, maxName, "a name of "+what))
	}
	return out
}

// accesses returns the accesses of a part. possible is set for potential ones.
func (b *builder) accesses(all []cardea.Access, what string, possible bool) list {
	out := list{}
	for i := range some(b, all, maxAccess, "accesses of "+what) {
		a := &all[i]
		if possible && a.Path == "" && a.Host == "" {
			continue // of some file, which every program may touch
		}
		o := object{{"kind", word(a.Kind)}, {"path", b.path(a.Path)}, {"host", b.text(a.Host, maxName, "a host")},
			{"and_all_below", a.Recursive}, {"pattern", b.path(a.Pattern)}, {"names_and_attributes_only", a.MetadataOnly}, {"new_file", a.Fresh}}
		if a.Path == "" && a.Host == "" && a.Kind != cardea.Unknown {
			o = append(o, member{"where", word("not known")})
		}
		out = append(out, o)
	}
	return out
}

func (b *builder) mayRun(p *cardea.Part, what string) list {
	out := list{}
	for i := range some(b, p.MayRun, maxMayRun, "commands that "+what+" may run") {
		out = append(out, object{{"text", b.text(p.MayRun[i].Text, maxPart, "a command that "+what+" may run")}, {"written_in", b.path(p.MayRun[i].From)}})
	}
	return out
}

func (b *builder) spots(all []cardea.Opaque) list {
	out := list{}
	for _, o := range some(b, all, maxSpots, "opaque spots") {
		out = append(out, object{{"text", b.text(o.Text, maxName, "an opaque spot")}, {"why", b.text(o.Reason, maxName, "a reason")}})
	}
	return out
}

// path returns a path relative to the project or the home folder. Neither the account's name nor
// the folders above the project leave the machine.
func (b *builder) path(path string) quoted {
	for _, base := range []struct{ dir, name string }{{b.ev.Project, "PROJECT"}, {b.ev.Home, "~"}} {
		if dir := strings.TrimSuffix(base.dir, "/"); dir != "" && strings.HasPrefix(path, dir) && paths.Within(dir, path) {
			path = base.name + path[len(dir):]
			break
		}
	}
	return b.text(path, maxName, "a path")
}

// said returns the opinions for the judge. An abstain with a reason is a hint, such as a lesson
// about a similar call.
func (b *builder) said() []cardea.Opinion {
	var out []cardea.Opinion
	for _, o := range b.about.Opinions {
		if o.Withheld {
			o.Reason = "" // the text of a project that the person has not trusted
		}
		if (o.Effect != cardea.Abstain || o.Reason != "") && len(out) < maxSaid {
			out = append(out, o)
		}
	}
	return out
}

// reasons returns the reasons of the opinions. They quote the call, so they are untrusted data.
func (b *builder) reasons() list {
	out := list{}
	for _, o := range b.said() {
		if o.Reason != "" {
			out = append(out, aboutPart(o, object{{"by", b.quote(o.By(), maxName, "a rule's name")}, {"because", b.quote(o.Reason, maxReason, "a reason")}}))
		}
	}
	return out
}

// aboutPart adds the part that an opinion is about.
func aboutPart(o cardea.Opinion, said object) object {
	if o.Part == cardea.WholeCall {
		return said
	}
	return append(said, member{"part", o.Part})
}

// given returns the facts around the call.
func (b *builder) given() object {
	said := list{}
	for _, o := range b.said() {
		said = append(said, aboutPart(o, object{{"by", b.quote(o.By(), maxName, "a rule's name")}, {"says", word(o.Effect.String())}}))
	}
	return object{
		{"harness", word(b.ev.Harness)},
		{"permission_mode", b.note(string(b.ev.Mode), maxName, "the mode")},
		{"a_person_watches", b.ev.Attended()},
		{"agent", b.agent()},
		{"said_before", said},
		{"policy", b.policy()},
	}
}

// agent returns the identity and the task of the agent.
func (b *builder) agent() object {
	role := b.about.Role
	return object{
		{"role", b.note(role.Name, maxName, "the role's name")},
		{"role_description", b.note(role.Description, maxTask, "the role's description")},
		{"may_write", b.globs(role.AllowWrite)}, {"may_not_write", b.globs(role.DenyWrite)},
		{"may_read", b.globs(role.AllowRead)}, {"may_not_read", b.globs(role.DenyRead)},
		{"team", b.note(b.about.Team, maxName, "the team's name")},
		{"task", b.note(b.about.Task, maxTask, "the task")},
		{"prompt", b.note(b.about.Prompt, maxPrompt, "the agent's prompt")},
	}
}

// PolicyHash returns a digest of the judge's policy: the policy texts, and the agent's role and
// task. An answer under another policy does not apply to this one.
func PolicyHash(r *redact.Redactor, about About) string {
	b := &builder{r: r, t: r.Together(), ev: &cardea.Event{}, q: &Question{}, about: about}
	return hash(string(appendValue(nil, object{{"agent", b.agent()}, {"policy", b.policy()}}, 0)))
}

func (b *builder) globs(all []string) list {
	out := list{}
	for _, g := range all[:min(len(all), maxGlobs)] {
		out = append(out, b.note(g, maxName, "a glob"))
	}
	return out
}

// policy returns the policy texts of the project, up to maxPolicy bytes.
func (b *builder) policy() list {
	out, left := list{}, maxPolicy
	for _, d := range b.about.Policy {
		if left <= 0 {
			b.q.cut = append(b.q.cut, word("a policy text, since all of them are too long"))
			continue
		}
		text := b.note(d.Text, min(maxDocument, left), "a policy text")
		left -= len(text.text.String())
		out = append(out, object{{"file", b.note(d.Name, maxName, "a file's name")}, {"text", text}})
	}
	return out
}

// Whole reports whether the judge sees the whole call. An allow applies only then.
func (q Question) Whole() bool { return q.whole }
