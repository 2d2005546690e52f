package cardea

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"
)

// Decider gives opinions about a call.
type Decider interface {
	// Name is the decider's word in verdicts: "rules".
	Name() string
	// Decide gives opinions. An error is a failure of the decider; where it
	// is a *Trouble, the failure table says what follows, otherwise it counts
	// as Panicked.
	Decide(ctx context.Context, ev *Event) ([]Opinion, error)
}

// Slot is a decider's place in a stage, with the powers that the gate's author
// gives it. A decider cannot give itself any.
type Slot struct {
	Decider Decider
	// AllowsCall lets it allow the whole call; everyone else's whole-call
	// allows are dropped and reported.
	AllowsCall bool
	// LiftsDefer lets its whole-call allow lift parts from defer too.
	LiftsDefer bool
	// Costly marks a decider that gathers what takes time. It is not asked once
	// the call is denied.
	Costly bool
	// Events lets it speak on events of the kinds that the gate does not answer.
	Events bool
}

// StageName is the name of a stage.
type StageName string

// The stages (docs/design.md#stages-and-order).
const (
	Guards StageName = "guards"
	Near   StageName = "near"
	Judge  StageName = "judge"
	Human  StageName = "human"
)

// Runs reports whether the stage runs, given the parts' effects so far.
func (n StageName) Runs(parts []Effect) bool {
	has := func(e Effect) bool { return slices.Contains(parts, e) }
	top := JoinParts(parts)
	switch n {
	case Near:
		return has(Abstain) && !top.Stricter(Abstain)
	case Judge:
		return (has(Abstain) || has(Defer)) && !top.Stricter(Defer)
	case Human:
		return top == Ask
	default:
		return true
	}
}

// Stage is deciders that run together.
type Stage struct {
	Name  StageName
	Slots []Slot
}

// Defaults replace silence after all stages.
type Defaults struct{ Attended, Unattended Effect }

// Gate decides events.
type Gate struct {
	Stages  []Stage
	Default Defaults
	OnError OnError
	// Troubles happened while the gate was put together; they count for
	// every call.
	Troubles []Trouble
	// Analyse fills in a call's parts. The gate calls it before the first
	// stage, and again for a rewritten input.
	Analyse func(*Event)
	// Now measures stages for the trace; nil leaves their times at zero.
	Now func() time.Time
}

// Decide gives the verdict on an event. On an event of a kind that the gate does
// not answer, or without a call, there is nothing to permit: what its deciders
// say then counts from ask upwards, and what the harness can do about it is for
// its adapter to know.
//
// Opinions are joined as docs/design.md#two-joins says. What was decided when ctx
// ends stands, but an allow does not.
func (g *Gate) Decide(ctx context.Context, ev *Event) Verdict {
	if !ev.Kind.Answered() || ev.Call == nil {
		return g.decideNotification(ctx, ev)
	}
	first := g.judge(ctx, ev)
	if first.Effect.Stricter(Ask) {
		return first
	}
	input, changed := rewritten(ev, first.Opinions)
	if !changed {
		return first
	}
	again := *ev
	call := *ev.Call
	call.Input, call.Shadowed = input, nil
	call.Parts, call.Opaque, call.Flows = nil, nil, nil
	again.Call = &call
	second := g.judge(ctx, &again)
	for _, t := range second.Troubles {
		if !slices.Contains(first.Troubles, t) {
			first.Troubles = append(first.Troubles, t)
		}
	}
	if second.Effect.Stricter(first.Effect) {
		first.Effect, first.By, first.Reason, first.Message = second.Effect, second.By, second.Reason, second.Message
		first.Opinions = append(first.Opinions, second.Opinions...)
	}
	switch {
	case first.Effect.Stricter(Ask):
		// A denied call is never rewritten.
	case first.Effect == Defer || first.Effect == Abstain:
		first.Effect = Ask
		first.By = rewriter(first.Opinions)
		first.Reason = "the input was rewritten; check the new one"
		if why := rewriting(first.Opinions); why != "" {
			first.Reason += ": " + why
		}
		first.Message = first.Reason
		first.Rewrite = input
	default:
		first.Rewrite = input
	}
	return first
}

func (g *Gate) judge(ctx context.Context, ev *Event) Verdict {
	if g.Analyse != nil {
		g.Analyse(ev)
	}
	v := Verdict{Parts: make([]Effect, len(ev.Call.Parts)), Troubles: slices.Clone(g.Troubles)}
	call := Abstain // what whole-call opinions from defer upwards add up to
	for _, t := range g.Troubles {
		call = g.fail(&v, ev, call, t)
	}
	late := false
	for _, st := range g.Stages {
		if late || !st.Name.Runs(v.Parts) {
			v.Stages = append(v.Stages, StageTrace{Name: st.Name})
			continue
		}
		begin := g.now()
		for _, seat := range st.Slots {
			if ctx.Err() != nil {
				late = true
				break
			}
			if seat.Costly && JoinParts(v.Parts).JoinPart(call).Stricter(Ask) {
				continue
			}
			call = g.collect(ctx, &v, ev, seat, call)
		}
		call = v.liftDeferred(call)
		v.Stages = append(v.Stages, StageTrace{Name: st.Name, Ran: true, Took: g.now().Sub(begin)})
	}
	v.Effect = JoinParts(v.Parts)
	if call >= Defer {
		v.Effect = v.Effect.JoinPart(call)
	}
	if late || ctx.Err() != nil {
		t := Trouble{Failure: OutOfTime, Text: "the time limit was reached before all deciders had spoken; raise --limit, or look for what is slow with cardea try"}
		v.Troubles = append(v.Troubles, t)
		if v.Effect == Allow {
			v.Effect = Abstain
		}
		call = g.fail(&v, ev, call, t)
		if call >= Defer {
			v.Effect = v.Effect.JoinPart(call)
		}
	}
	g.explain(ev, &v)
	return v
}

// collect adds what one decider says, and returns the join of the whole-call
// effects.
func (g *Gate) collect(ctx context.Context, v *Verdict, ev *Event, seat Slot, call Effect) Effect {
	ops, err := seat.Decider.Decide(ctx, ev)
	for _, o := range ops {
		call = v.add(ev, seat, o, call)
	}
	if err == nil {
		return call
	}
	t := Trouble{Failure: Panicked, Text: fmt.Sprintf("%s failed: %v", seat.Decider.Name(), err)}
	var known *Trouble
	if errors.As(err, &known) {
		t = *known
	}
	v.Troubles = append(v.Troubles, t)
	return g.fail(v, ev, call, t)
}

// decideNotification gives the verdict on an event that is about no call that is still to
// run: the highest of ask, deny and halt, and the context.
func (g *Gate) decideNotification(ctx context.Context, ev *Event) Verdict {
	v := Verdict{}
	if ev.Call != nil && g.Analyse != nil {
		g.Analyse(ev)
	}
	call := Abstain
	for _, st := range g.Stages {
		for _, seat := range st.Slots {
			if !seat.Events || ctx.Err() != nil || seat.Costly && call > Ask {
				continue
			}
			call = g.collect(ctx, &v, ev, seat, call)
		}
	}
	if call >= Ask {
		v.Effect = call
	}
	g.explain(ev, &v)
	return v
}

func (g *Gate) now() time.Time {
	if g.Now == nil {
		return time.Time{}
	}
	return g.Now()
}

// fail turns a failure into what the table says, as an opinion about the whole
// call, and returns the join of the whole-call effects.
func (g *Gate) fail(v *Verdict, ev *Event, call Effect, t Trouble) Effect {
	e := t.Failure.Effect(g.OnError, ev.Attended())
	if e == Abstain {
		return call
	}
	return v.add(ev, Slot{}, Opinion{Decider: "failure", Rule: strings.ReplaceAll(t.Failure.String(), " ", "-"),
		Effect: e, Part: WholeCall, Scope: ScopeBuiltin, Source: t.Source, Reason: t.Text}, call)
}

// add counts one opinion and returns the join of the whole-call effects.
func (v *Verdict) add(ev *Event, seat Slot, o Opinion, call Effect) Effect {
	if o.Effect == Ask && o.Person && !ev.Attended() {
		o.Effect = Deny
		o.Reason = strings.TrimSpace(o.Reason + " (a person must answer this, and none is attending)")
	}
	if o.Part < 0 || o.Part >= len(v.Parts) {
		o.Part = WholeCall
	}
	if o.Part == WholeCall && o.Effect == Allow && !seat.AllowsCall {
		v.Troubles = append(v.Troubles, Trouble{Failure: NoFailure, Source: o.Source,
			Text: fmt.Sprintf("%s may not allow a whole call; its allow was dropped", o.By())})
		return call
	}
	v.Opinions = append(v.Opinions, o)
	if o.Part != WholeCall {
		v.Parts[o.Part] = v.Parts[o.Part].JoinOpinion(o.Effect)
		return call
	}
	switch {
	case o.Effect == Allow:
		for i := range v.Parts {
			v.Parts[i] = v.Parts[i].JoinOpinion(Allow)
		}
		v.lifts = v.lifts || seat.LiftsDefer
	case o.Effect >= Defer:
		for i := range v.Parts {
			v.Parts[i] = v.Parts[i].JoinOpinion(o.Effect)
		}
		call = call.JoinOpinion(o.Effect)
	}
	return call
}

// liftDeferred lets a whole-call allow that has the power lift parts from
// defer, and from nothing above it. It runs after the deciders of a stage, so
// that their order does not matter, and returns the join of the whole-call
// effects.
func (v *Verdict) liftDeferred(call Effect) Effect {
	if !v.lifts {
		return call
	}
	v.lifts = false
	for i, p := range v.Parts {
		if p == Defer {
			v.Parts[i] = Allow
		}
	}
	if call == Defer {
		return Abstain
	}
	return call
}

// explain fills in who decided and what is said to whom.
func (g *Gate) explain(ev *Event, v *Verdict) {
	if v.Effect == Abstain && ev.Kind.Answered() && ev.Call != nil {
		d := g.Default.Unattended
		if ev.Attended() {
			d = g.Default.Attended
		}
		if d == Allow && !g.mayDefaultAllow(ev) {
			d = Abstain
		}
		if d != Abstain {
			v.Effect, v.By = d, "default"
			v.Reason = "no rule speaks about this call, and the setting default says " + d.String()
			v.Message = v.Reason
		}
	}
	for _, o := range v.Opinions {
		if c := o.Advice.Context; c != "" && !slices.Contains(v.Context, c) {
			v.Context = append(v.Context, c)
		}
	}
	if v.By == "default" || v.Effect == Abstain {
		return
	}
	deciding := slices.DeleteFunc(slices.Clone(v.Opinions), func(o Opinion) bool { return o.Effect != v.Effect })
	slices.SortStableFunc(deciding, func(a, b Opinion) int { return cmp.Compare(about(ev, a), about(ev, b)) })
	v.speak(deciding)
}

// about orders opinions for what is said: those about parts without effect come
// last, since nobody waits to hear of them.
func about(ev *Event, o Opinion) int {
	if ev.Call != nil && o.Part >= 0 && o.Part < len(ev.Call.Parts) && ev.Call.Parts[o.Part].NoEffect {
		return 1
	}
	return 0
}

// maxReasons is how many reasons a verdict gives: one that lists everything
// that could be said is read by nobody. The trace has them all.
const maxReasons = 2

// speak puts together what the deciding opinions say, the severest first.
func (v *Verdict) speak(deciding []Opinion) {
	sort.SliceStable(deciding, func(i, j int) bool { return deciding[i].Severity.Rank() > deciding[j].Severity.Rank() })
	var reasons, messages []string
	for _, o := range deciding {
		if v.By == "" {
			v.By = o.By()
		}
		if v.Instead == "" && v.Effect >= Ask {
			v.Instead = o.Advice.Instead
		}
		if o.Reason == "" || slices.Contains(reasons, o.Reason) || len(reasons) == maxReasons {
			continue
		}
		reasons = append(reasons, o.Reason)
		if o.Withheld {
			messages = append(messages, fmt.Sprintf("%s: rule %q of this project (the person has not trusted the project, so its text is withheld)", v.Effect, o.Rule))
		} else {
			messages = append(messages, o.Reason)
		}
	}
	v.Reason, v.Message = strings.Join(reasons, "\n"), strings.Join(messages, "\n")
}

// mayDefaultAllow reports whether the setting default may allow the call: it
// never applies to deferred or opaque parts, nor to unknown tools.
func (g *Gate) mayDefaultAllow(ev *Event) bool {
	c := ev.Call
	if !c.Known || len(c.Parts) == 0 || len(c.Opaque) > 0 || len(ev.Faults) > 0 {
		return false
	}
	for _, p := range c.Parts {
		if len(p.Opaque) > 0 || p.Coverage != Complete {
			return false
		}
	}
	return true
}

// rewritten collects the rewrites of one round: the severest opinion's value
// for a field wins, then the first given.
func rewritten(ev *Event, ops []Opinion) (map[string]any, bool) {
	withRewrite := slices.DeleteFunc(slices.Clone(ops), func(o Opinion) bool { return len(o.Advice.Rewrite) == 0 })
	if len(withRewrite) == 0 {
		return nil, false
	}
	sort.SliceStable(withRewrite, func(i, j int) bool {
		return withRewrite[i].Severity.Rank() > withRewrite[j].Severity.Rank()
	})
	fields := map[string]any{}
	for _, o := range withRewrite {
		for k, val := range o.Advice.Rewrite {
			if _, taken := fields[k]; !taken {
				fields[k] = val
			}
		}
	}
	input := maps.Clone(ev.Call.Input)
	if input == nil {
		input = map[string]any{}
	}
	changed := false
	for k, val := range fields {
		if !reflect.DeepEqual(input[k], val) {
			input[k], changed = val, true
		}
	}
	return input, changed
}

// rewriter is who rewrites the input first.
func rewriter(ops []Opinion) string {
	for _, o := range ops {
		if len(o.Advice.Rewrite) > 0 {
			return o.By()
		}
	}
	return ""
}

// rewriting is why the input is rewritten, as those say who do.
func rewriting(ops []Opinion) string {
	var why []string
	for _, o := range ops {
		if len(o.Advice.Rewrite) > 0 && o.Reason != "" && !o.Withheld && !slices.Contains(why, o.Reason) && len(why) < maxReasons {
			why = append(why, o.Reason)
		}
	}
	return strings.Join(why, "\n")
}
