package cardea

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Decider gives opinions about a call.
type Decider interface {
	// Name is the decider's word in verdicts: "rules".
	Name() string
	// Decide gives opinions. It does not change the event. An error is a failure
	// of the decider; where it is [Troubles], the failure table says what follows,
	// otherwise it counts as Panicked.
	Decide(ctx context.Context, ev *Event) ([]Opinion, error)
}

// Slot is a decider's place in the gate, with what the gate's author lets it do.
type Slot struct {
	Decider Decider
	// Stage says when it is asked.
	Stage Stage
	// Costly marks a decider that gathers what takes time. Once the call is denied, it is
	// asked only whether to halt, where it is a [Halter].
	Costly bool
	// Possible lets it speak about what parts may do, besides what they do.
	Possible bool
	// Events lets it speak on events of the kinds that the gate does not answer.
	Events bool
}

// Halter is a decider that can say whether to halt without the rest of its work.
type Halter interface {
	DecideHalts(ctx context.Context, ev *Event) ([]Opinion, error)
}

// Gate decides events.
type Gate struct {
	// Slots are the deciders, in the order in which they are asked.
	Slots   []Slot
	Default Defaults
	OnError OnError
	// Troubles happened while the gate was put together; they count for
	// every call.
	Troubles Troubles
	// Analyse gives the event with the parts of its call. The gate needs it for a
	// rewritten input; an event that is to be decided has its parts already.
	Analyse func(*Event) *Event
	// FirstTime reports whether a text was not told yet in this session. A failure
	// on an event that is about no call counts once; nil counts it every time.
	FirstTime func(text string) bool
	// Disabled is set where the person switched the gate off for the session. Then
	// nothing is said but the denials of system and organisation, and what protects
	// the gate itself.
	Disabled bool
	// SendsPermissionRequest is set where the harness sends a permission request before it
	// shows its prompt: then the stages behind the guards wait for that.
	SendsPermissionRequest bool
	// NearAtOnce is set where the stage near does not wait for that: for who wants to know
	// what comes of a call, whatever the event.
	NearAtOnce bool
	// AsksElsewhere is set where a person is asked outside of the harness, and the call is
	// denied until they answered: a question for a person stays one although nobody sits in
	// front of the harness.
	AsksElsewhere bool
	// Now measures how long deciding took; nil leaves it at zero.
	Now func() time.Time
}

// Decide gives the verdict on an event. It does not change the event.
//
// On an event of a kind that the gate does not answer, or without a call, there
// is nothing to permit: what its deciders say then counts from ask upwards, and
// [Express] says what the harness can do about it.
//
// Opinions are joined as docs/design.md#two-joins says. What was decided when ctx
// ends stands, but an allow does not.
func (g *Gate) Decide(ctx context.Context, ev *Event) Verdict {
	if !ev.Kind.Answered() || ev.Call == nil {
		return g.decideNotification(ctx, ev)
	}
	first := g.decideCall(ctx, ev)
	if first.Effect.Stricter(Ask) {
		return first // a denied call is never rewritten
	}
	input, changed := rewriteInput(ev.Call.Input, first.Opinions)
	if !changed {
		return first
	}
	rewritten := g.analyse(ev.WithCall(ev.Call.WithInput(input)))
	second := g.decideCall(ctx, rewritten)
	return first.withRewrite(rewritten.Call, second, ctx.Err() == nil && !rewritesFurther(first, second) &&
		(second.Effect == Allow || allowsRewritten(first, second, ev, rewritten)))
}

func (g *Gate) analyse(ev *Event) *Event {
	if g.Analyse == nil {
		return ev
	}
	return g.Analyse(ev)
}

// decideCall asks all deciders about a call.
func (g *Gate) decideCall(ctx context.Context, ev *Event) Verdict {
	asked := g.newTally(ev)
	for _, trouble := range g.Troubles {
		asked.fail(trouble)
	}
	begin := g.now()
	// What a decider says when the time is up must not reach the tally that is answered.
	t := asked.within(ctx, func() {
		asked.askGuards(ctx)
		asked.askLater(ctx)
	})
	t.verdict.Took = g.now().Sub(begin)
	if ctx.Err() != nil {
		t.fail(OutOfTime.Trouble("", CodeOutOfTime, "raise --limit, or look for what is slow with cardea try", "the time limit was reached before all deciders had spoken"))
	}
	t.verdict.Effect = t.effect()
	if t.verdict.Effect == Allow && ctx.Err() != nil {
		t.verdict.Effect = Abstain
	}
	t.applyDefault()
	t.explain()
	return t.verdict
}

// decideNotification gives the verdict on an event that is about no call that is
// still to run: the highest of ask, deny and halt, and the context.
func (g *Gate) decideNotification(ctx context.Context, ev *Event) Verdict {
	asked := g.newTally(ev)
	asked.verdict.Parts = nil
	t := asked.within(ctx, func() {
		asked.ask(ctx, slices.DeleteFunc(slices.Clone(g.Slots), func(s Slot) bool { return !s.Events }))
	})
	if t.whole >= Ask {
		t.verdict.Effect = t.whole
	}
	t.explain()
	if v := &t.verdict; strings.HasPrefix(v.By, "failure:") && g.FirstTime != nil && !g.FirstTime("failure "+string(ev.Kind)+" "+v.Reason) {
		v.Effect, v.By, v.Reason, v.Message = Abstain, "", "", ""
	}
	return t.verdict
}

func (g *Gate) now() time.Time {
	if g.Now == nil {
		return time.Time{}
	}
	return g.Now()
}

// tally is a verdict in the making.
type tally struct {
	gate  *Gate
	event *Event
	// mu is held where verdict and whole change: who waits no longer reads them
	// beside a decider that goes on.
	mu      sync.Mutex
	verdict Verdict
	// whole is the join of the opinions about the whole call, from defer upwards.
	whole Effect
	// lifted are the parts that somebody may lift from defer, and does.
	lifted []bool
	// overrides are the opinions of overrides about each part. Of each part there are
	// few, and a call may have thousands of other opinions.
	overrides map[int][]Opinion
}

func (g *Gate) newTally(ev *Event) *tally {
	t := &tally{gate: g, event: ev}
	if ev.Call != nil {
		t.verdict.Parts, t.lifted = make([]Effect, len(ev.Call.Parts)), make([]bool, len(ev.Call.Parts))
	}
	return t
}

// effect is what parts and whole call add up to.
func (t *tally) effect() Effect {
	e := JoinParts(t.verdict.Parts)
	if t.whole >= Defer {
		e = e.JoinPart(t.whole)
	}
	return e
}

// within runs f, which adds to the tally, until it ends or ctx does. What the deciders
// said by then stands, even if the next one hangs.
func (t *tally) within(ctx context.Context, f func()) *tally {
	if ctx.Done() == nil {
		f()
		return t
	}
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		f()
	}()
	select {
	case failure := <-done:
		if failure != nil {
			panic(failure) // for whoever waits to see, as without the goroutine
		}
		return t
	case <-ctx.Done():
		t.mu.Lock()
		defer t.mu.Unlock()
		v := t.verdict
		v.Parts, v.Opinions, v.Replaced, v.Troubles = slices.Clone(v.Parts), slices.Clone(v.Opinions), slices.Clone(v.Replaced), slices.Clone(v.Troubles)
		v.Stages = slices.Clone(v.Stages)
		return &tally{gate: t.gate, event: t.event, verdict: v, whole: t.whole, lifted: slices.Clone(t.lifted)}
	}
}

// hear counts what a decider gives, and what it met. A panic is its failure.
func (t *tally) hear(d Decider, decide func() ([]Opinion, error)) {
	opinions, err := func() (opinions []Opinion, err error) {
		defer func() {
			if p := recover(); p != nil {
				opinions, err = nil, fmt.Errorf("internal error: %v", p)
			}
		}()
		return decide()
	}()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, o := range opinions {
		t.add(o)
	}
	if err == nil {
		return
	}
	var troubles Troubles
	if !errors.As(err, &troubles) {
		troubles = Troubles{Panicked.Trouble("", CodeInternal, "", fmt.Sprintf("%s failed: %v", d.Name(), err))}
	}
	for _, trouble := range troubles {
		t.fail(trouble)
	}
}

// ask asks deciders in order, until the time is up.
func (t *tally) ask(ctx context.Context, slots []Slot) {
	for _, s := range slots {
		if ctx.Err() != nil {
			return
		}
		if s.Stage != StageGuards {
			continue
		}
		decide := s.Decider.Decide
		if s.Costly && t.effect().Stricter(Ask) {
			halter, can := s.Decider.(Halter)
			if !can || t.effect() == Halt {
				continue
			}
			decide = halter.DecideHalts
		}
		t.hear(s.Decider, func() ([]Opinion, error) { return decide(ctx, t.event) })
	}
}

// askPossible asks about what the parts may do, unless the call is denied already.
func (t *tally) askPossible(ctx context.Context) {
	if t.effect().Stricter(Ask) {
		return
	}
	possible := t.event.Possible()
	for _, s := range t.gate.Slots {
		if possible == nil || !s.Possible || ctx.Err() != nil {
			continue
		}
		t.hear(s.Decider, func() ([]Opinion, error) { return possible.Opinions(ctx, s.Decider, t.verdict.Opinions) })
	}
}

// fail counts a failure as the opinion that the failure table gives it.
func (t *tally) fail(trouble Trouble) {
	t.verdict.Troubles = append(t.verdict.Troubles, trouble)
	e := trouble.Failure.Effect(t.gate.OnError, t.event.Attended())
	if e == Abstain {
		return
	}
	o := Opinion{Decider: "failure", Rule: strings.ReplaceAll(trouble.Failure.String(), " ", "-"),
		Effect: e, Part: WholeCall, Scope: ScopeBuiltin, Source: trouble.Diagnostic.Place(), Reason: trouble.Error()}
	if hint := trouble.Diagnostic.Hint; hint != "" {
		o.ForPeople = "; " + hint
	}
	t.add(o)
}

// add counts one opinion. Nobody may allow a whole call.
func (t *tally) add(o Opinion) {
	v := &t.verdict
	if o.Effect == Ask && o.Person && !t.event.Attended() && !t.gate.AsksElsewhere {
		o.Effect = Deny
		o.Reason = strings.TrimSpace(o.Reason + " (a person must answer this, and none is attending)")
	}
	if o.Part < 0 || o.Part >= len(v.Parts) {
		o.Part = WholeCall
	}
	if o.Part == WholeCall && o.Effect == Allow {
		v.Troubles = append(v.Troubles, Warning("", CodeNoEffect, "", fmt.Sprintf("%s may not allow a whole call; its allow was dropped", o.By())))
		return
	}
	if t.gate.Disabled && o.Yields != YieldsByName && (o.Scope > ScopeOrg || o.Effect < Deny) {
		return
	}
	if t.replaced(o) {
		v.Replaced = append(v.Replaced, o)
		return
	}
	v.Opinions = append(v.Opinions, o)
	if o.Overrides {
		if t.overrides == nil {
			t.overrides = map[int][]Opinion{}
		}
		t.overrides[o.Part] = append(t.overrides[o.Part], o)
	}
	if o.Part != WholeCall {
		t.join(o.Part, o)
		return
	}
	if o.Effect >= Defer {
		t.whole = t.whole.JoinOpinion(o.Effect)
		for i := range v.Parts {
			t.join(i, o)
		}
	}
}

// join counts an opinion for a part. An allow that lifts wins over defer, whichever of
// them comes first.
func (t *tally) join(part int, o Opinion) {
	e := t.verdict.Parts[part].JoinOpinion(o.Effect)
	t.lifted[part] = t.lifted[part] || o.Lifts && o.Effect == Allow
	if e == Defer && t.lifted[part] {
		e = Allow
	}
	t.verdict.Parts[part] = e
}

// replaced reports whether an override takes an opinion's place. One about the whole
// call is replaced where every part has such an override.
func (t *tally) replaced(o Opinion) bool {
	if o.Yields == YieldsNever || len(t.overrides) == 0 {
		return false
	}
	on := func(part int) bool {
		return slices.ContainsFunc(t.overrides[part], func(x Opinion) bool { return x.replaces(o) })
	}
	if o.Part != WholeCall {
		return on(o.Part)
	}
	all := len(t.verdict.Parts) > 0
	for i := range t.verdict.Parts {
		all = all && on(i)
	}
	return all
}

// applyDefault replaces silence by the setting default: a default that asks or
// denies counts for every part at abstain or defer, so that no part of a line can
// switch it off; one that allows counts where nothing at all was said.
func (t *tally) applyDefault() {
	v, d := &t.verdict, t.gate.Default.For(t.event.Attended())
	silent := func(e Effect) bool { return e == Abstain || e == Defer }
	switch {
	case t.gate.Disabled:
	case d == Allow && v.Effect == Abstain && defaultMayAllow(t.event):
		v.replaceSilence(d)
	case d.Stricter(v.Effect) && (silent(v.Effect) || slices.ContainsFunc(v.Parts, silent)):
		v.replaceSilence(d)
	}
}

// defaultMayAllow reports whether the setting default may allow the call: it
// never applies to deferred or opaque parts, nor to unknown tools.
func defaultMayAllow(ev *Event) bool {
	c := ev.Call
	return c.Known && len(c.Parts) > 0 && len(c.Opaque) == 0 && len(ev.Faults) == 0 &&
		!slices.ContainsFunc(c.Parts, func(p Part) bool { return len(p.Opaque) > 0 || p.Coverage != Complete })
}
