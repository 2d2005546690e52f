package cardea

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"cardea.dev/internal/base/diagnostic"
)

// Placement is a decider's position in the gate, with its permissions there.
type Placement struct {
	Decider Decider
	// Stage is the stage in which the decider is asked.
	Stage Stage
	// Costly marks a decider that takes long. Once the call is denied, it is only asked whether to
	// halt, if it is a [Halter].
	Costly bool
	// Potential also asks the decider about the potential effects of parts.
	Potential bool
	// Events also asks the decider on events of the kinds that the gate does not answer.
	Events bool
}

// Halter is a decider that can decide whether to halt without the rest of its work.
type Halter interface {
	DecideHalts(ctx context.Context, ev *Event) ([]Opinion, error)
}

// Gate joins the opinions of its deciders into a verdict on an event.
type Gate struct {
	// Placements are the deciders, in the order in which they are asked.
	Placements []Placement
	Default    Defaults
	OnError    OnError
	// Issues are the problems met while the gate was built. They apply to every call.
	Issues Issues
	// Analyse returns the event with the parts of its call. The gate needs it for a rewritten input
	// only, since events passed to Decide have their parts.
	Analyse func(*Event) *Event
	// FirstTime reports whether the text is new in this session. On an event that is not about a
	// call, a failure applies only the first time. With nil it applies every time.
	FirstTime func(text string) bool
	// Disabled is set where the person switched the gate off for the session. Only denials of the
	// system and organisation scopes, and rules that protect the gate itself, then apply.
	Disabled bool
	// SendsPermissionRequest is set where the harness sends a permission request before it shows
	// its prompt. The stages after the guards then wait for that request.
	SendsPermissionRequest bool
	// NearAtOnce is set where the stage near does not wait for that request. Commands that predict
	// the verdict on a call use it.
	NearAtOnce bool
	// AsksElsewhere is set where a person answers outside of the harness, and the call is denied
	// until then. An ask for a person then stays an ask in an unattended session.
	AsksElsewhere bool
	// Now returns the time, to measure how long deciding took. With nil the duration is zero.
	Now func() time.Time
}

// Decide returns the verdict on an event, which it does not change.
//
// There is nothing to permit on an event of a kind that the gate does not answer, or without a
// call. Only asks and stricter opinions then apply, and [Express] states what the harness can do
// about them.
//
// Opinions are joined as docs/design.md#two-joins describes. When ctx ends, the opinions given so
// far apply, except that the verdict cannot be an allow.
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
	rewritten := g.analyse(ev.With(func(e *Event) { e.Call = e.Call.WithInput(input) }))
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

// decideCall returns the verdict of all deciders on a call, without rewriting its input.
func (g *Gate) decideCall(ctx context.Context, ev *Event) Verdict {
	asked := g.newEvaluation(ev)
	for _, issue := range g.Issues {
		asked.fail(issue)
	}
	begin := g.now()
	// A decider that answers after the time limit must not change the evaluation that is returned.
	t := asked.within(ctx, func() {
		asked.askGuards(ctx)
		asked.askLater(ctx)
	})
	t.verdict.Took = g.now().Sub(begin)
	if ctx.Err() != nil {
		t.fail(OutOfTime.Issue("", diagnostic.CodeOutOfTime, "raise --limit, or look for what is slow with cardea try", "the time limit was reached before all deciders had spoken"))
	}
	t.verdict.Effect = t.effect()
	if t.verdict.Effect == Allow && ctx.Err() != nil {
		t.verdict.Effect = Abstain
	}
	t.applyDefault()
	t.explain()
	return t.verdict
}

// decideNotification returns the verdict on an event without a call that can still be held back:
// the highest of ask, deny and halt, and the context.
func (g *Gate) decideNotification(ctx context.Context, ev *Event) Verdict {
	asked := g.newEvaluation(ev)
	asked.verdict.Parts = nil
	t := asked.within(ctx, func() {
		asked.ask(ctx, slices.DeleteFunc(slices.Clone(g.Placements), func(s Placement) bool { return !s.Events }))
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

// evaluation holds the verdict so far on one event.
type evaluation struct {
	gate  *Gate
	event *Event
	// mu guards verdict and whole, which a decider may still change after within has returned at
	// the time limit.
	mu      sync.Mutex
	verdict Verdict
	// whole is the join of the opinions about the whole call, from defer upwards.
	whole Effect
	// lifted marks the parts that have an allow which lifts defer.
	lifted []bool
	// overrides are the opinions of overrides by part. Each part has few of them, while a call may
	// have thousands of other opinions.
	overrides map[int][]Opinion
}

func (g *Gate) newEvaluation(ev *Event) *evaluation {
	t := &evaluation{gate: g, event: ev}
	if ev.Call != nil {
		t.verdict.Parts, t.lifted = make([]Effect, len(ev.Call.Parts)), make([]bool, len(ev.Call.Parts))
	}
	return t
}

// effect returns the join of the effects of the parts and of the whole call.
func (t *evaluation) effect() Effect {
	e := JoinParts(t.verdict.Parts)
	if t.whole >= Defer {
		e = e.JoinPart(t.whole)
	}
	return e
}

// within runs f, which adds to the evaluation, until f or ctx ends. It returns the evaluation so
// far, even if a decider hangs.
func (t *evaluation) within(ctx context.Context, f func()) *evaluation {
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
			panic(failure) // report it to the caller, as without the goroutine
		}
		return t
	case <-ctx.Done():
		t.mu.Lock()
		defer t.mu.Unlock()
		v := t.verdict
		v.Parts, v.Opinions, v.Replaced, v.Issues = slices.Clone(v.Parts), slices.Clone(v.Opinions), slices.Clone(v.Replaced), slices.Clone(v.Issues)
		v.Stages = slices.Clone(v.Stages)
		return &evaluation{gate: t.gate, event: t.event, verdict: v, whole: t.whole, lifted: slices.Clone(t.lifted)}
	}
}

// hear adds the opinions and the errors of a decider. A panic is treated as a failure of the
// decider.
func (t *evaluation) hear(d Decider, decide func() ([]Opinion, error)) {
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
	var issues Issues
	if !errors.As(err, &issues) {
		issues = Issues{Panicked.Issue("", diagnostic.CodeInternal, "", fmt.Sprintf("%s failed: %v", d.Name(), err))}
	}
	for _, issue := range issues {
		t.fail(issue)
	}
}

// ask asks the deciders of the guards in order, until ctx ends.
func (t *evaluation) ask(ctx context.Context, placements []Placement) {
	for _, s := range placements {
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

// askPotential asks about the potential effects of the parts, unless the call is denied already.
func (t *evaluation) askPotential(ctx context.Context) {
	if t.effect().Stricter(Ask) {
		return
	}
	possible := t.event.PotentialCalls()
	for _, s := range t.gate.Placements {
		if possible == nil || !s.Potential || ctx.Err() != nil {
			continue
		}
		t.hear(s.Decider, func() ([]Opinion, error) { return possible.Opinions(ctx, s.Decider, t.verdict.Opinions) })
	}
}

// fail adds an issue and the opinion that the failure table gives it.
func (t *evaluation) fail(issue Issue) {
	t.verdict.Issues = append(t.verdict.Issues, issue)
	e := issue.Failure.Effect(t.gate.OnError, t.event.Attended())
	if e == Abstain {
		return
	}
	o := Opinion{Decider: "failure", Rule: strings.ReplaceAll(issue.Failure.String(), " ", "-"),
		Effect: e, Part: WholeCall, Scope: ScopeBuiltin, Source: issue.Diagnostic.Place(), Reason: issue.Error()}
	if hint := issue.Diagnostic.Hint; hint != "" {
		o.ForPeople = "; " + hint
	}
	t.add(o)
}

// add adds one opinion. It drops an allow for the whole call, which no decider may give.
func (t *evaluation) add(o Opinion) {
	v := &t.verdict
	if o.Effect == Ask && o.Person && !t.event.Attended() && !t.gate.AsksElsewhere {
		o.Effect = Deny
		o.Reason = strings.TrimSpace(o.Reason + " (a person must answer this, and none is attending)")
	}
	if o.Part < 0 || o.Part >= len(v.Parts) {
		o.Part = WholeCall
	}
	if o.Part == WholeCall && o.Effect == Allow {
		v.Issues = append(v.Issues, Warning("", diagnostic.CodeNoEffect, "", fmt.Sprintf("%s may not allow a whole call; its allow was dropped", o.By())))
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

// join joins an opinion into the effect of a part. An allow that lifts wins over defer in either
// order.
func (t *evaluation) join(part int, o Opinion) {
	e := t.verdict.Parts[part].JoinOpinion(o.Effect)
	t.lifted[part] = t.lifted[part] || o.Lifts && o.Effect == Allow
	if e == Defer && t.lifted[part] {
		e = Allow
	}
	t.verdict.Parts[part] = e
}

// replaced reports whether an override replaces the opinion. An opinion on the whole call is
// replaced where every part has such an override.
func (t *evaluation) replaced(o Opinion) bool {
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

// applyDefault replaces silence by the setting default. A default of ask or deny applies to every
// part at abstain or defer: no other part of the line can switch it off. A default of allow applies
// only where the whole call is at abstain.
func (t *evaluation) applyDefault() {
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

// defaultMayAllow reports whether the setting default may allow the call. It never applies to a
// deferred or opaque part or to an unknown tool.
func defaultMayAllow(ev *Event) bool {
	c := ev.Call
	return c.Known && len(c.Parts) > 0 && len(c.Opaque) == 0 && len(ev.Faults) == 0 &&
		!slices.ContainsFunc(c.Parts, func(p Part) bool { return len(p.Opaque) > 0 || p.Coverage != Complete })
}
