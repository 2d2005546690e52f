package cardea_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
)

// says is a decider that gives fixed opinions.
type says struct {
	ops []cardea.Opinion
	err error
}

func (s says) Name() string { return "says" }
func (s says) Decide(context.Context, *cardea.Event) ([]cardea.Opinion, error) {
	return s.ops, s.err
}

func gateOf(ops ...cardea.Opinion) *cardea.Gate {
	return &cardea.Gate{OnError: cardea.OnErrorDefer, Placements: []cardea.Placement{{Decider: says{ops: ops}}}}
}

func eventOf(parts int) *cardea.Event {
	return &cardea.Event{Kind: cardea.PreToolUse, Call: &cardea.Call{Tool: "Bash", Known: true, Parts: make([]cardea.Part, parts)}}
}

func randomOpinion(r *rand.Rand, parts int) cardea.Opinion {
	return cardea.Opinion{
		Decider: "says", Rule: fmt.Sprint(r.Intn(1000)),
		Effect: cardea.Effects()[r.Intn(6)], Part: r.Intn(parts+1) - 1, Person: r.Intn(4) == 0,
	}
}

// One more opinion never lowers a part, nor the call.
func TestOneMoreOpinionNeverLowers(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 20000 {
		n := r.Intn(4)
		var ops []cardea.Opinion
		for range r.Intn(5) {
			ops = append(ops, randomOpinion(r, n))
		}
		before := gateOf(ops...).Decide(context.Background(), eventOf(n))
		more := append(append([]cardea.Opinion{}, ops...), randomOpinion(r, n))
		r.Shuffle(len(more), func(i, j int) { more[i], more[j] = more[j], more[i] })
		after := gateOf(more...).Decide(context.Background(), eventOf(n))
		for i := range before.Parts {
			if after.Parts[i] < before.Parts[i] {
				t.Fatalf("part %d went from %v to %v by %v", i, before.Parts[i], after.Parts[i], more)
			}
		}
		if before.Effect.Stricter(after.Effect) && before.Effect != cardea.Abstain {
			t.Fatalf("the call went from %v to %v by %v", before.Effect, after.Effect, more)
		}
	}
}

func TestGateTable(t *testing.T) {
	part := func(i int, e cardea.Effect) cardea.Opinion { return cardea.Opinion{Decider: "d", Part: i, Effect: e} }
	whole := func(e cardea.Effect) cardea.Opinion { return part(cardea.WholeCall, e) }
	tests := []struct {
		name  string
		parts int
		ops   []cardea.Opinion
		want  cardea.Effect
	}{
		{"nobody speaks", 1, nil, cardea.Abstain},
		{"no parts, nobody", 0, nil, cardea.Abstain},
		{"no parts, whole allow is dropped", 0, []cardea.Opinion{whole(cardea.Allow)}, cardea.Abstain},
		{"no parts, whole deny", 0, []cardea.Opinion{whole(cardea.Deny)}, cardea.Deny},
		{"one of two allowed", 2, []cardea.Opinion{part(0, cardea.Allow)}, cardea.Abstain},
		{"both allowed", 2, []cardea.Opinion{part(0, cardea.Allow), part(1, cardea.Allow)}, cardea.Allow},
		{"allow and defer", 1, []cardea.Opinion{part(0, cardea.Allow), part(0, cardea.Defer)}, cardea.Defer},
		{"allow and ask", 2, []cardea.Opinion{part(0, cardea.Allow), part(1, cardea.Ask)}, cardea.Ask},
		{"whole defer beats allows", 1, []cardea.Opinion{part(0, cardea.Allow), whole(cardea.Defer)}, cardea.Defer},
		{"halt beats deny", 1, []cardea.Opinion{part(0, cardea.Deny), whole(cardea.Halt)}, cardea.Halt},
		{"whole allow without the power", 1, []cardea.Opinion{whole(cardea.Allow)}, cardea.Abstain},
		{"a part that does not exist cannot be allowed", 1, []cardea.Opinion{part(7, cardea.Allow)}, cardea.Abstain},
		{"a part that does not exist can be denied", 1, []cardea.Opinion{part(7, cardea.Deny)}, cardea.Deny},
	}
	for _, tt := range tests {
		if got := gateOf(tt.ops...).Decide(context.Background(), eventOf(tt.parts)); got.Effect != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got.Effect, tt.want)
		}
	}
}

func TestOtherEventsPass(t *testing.T) {
	g := gateOf(cardea.Opinion{Effect: cardea.Deny, Part: cardea.WholeCall})
	for _, ev := range []*cardea.Event{
		{Kind: "PostToolUse", Call: &cardea.Call{Parts: make([]cardea.Part, 1)}},
		{Kind: "Stop"}, {Kind: cardea.PreToolUse},
	} {
		if v := g.Decide(context.Background(), ev); v.Effect != cardea.Abstain || len(v.Opinions) > 0 {
			t.Errorf("%s: %v", ev.Kind, v.Effect)
		}
	}
}

func TestPersonDeniesUnattended(t *testing.T) {
	op := cardea.Opinion{Decider: "d", Rule: "r", Effect: cardea.Ask, Part: 0, Person: true, Reason: "why"}
	for mode, want := range map[cardea.Mode]cardea.Effect{
		"": cardea.Ask, "default": cardea.Ask, "plan": cardea.Ask, "acceptEdits": cardea.Ask,
		"auto": cardea.Deny, "dontAsk": cardea.Deny, "bypassPermissions": cardea.Deny, "from-the-future": cardea.Deny,
	} {
		ev := eventOf(1)
		ev.Mode = mode
		if got := gateOf(op).Decide(context.Background(), ev).Effect; got != want {
			t.Errorf("mode %q: %v, want %v", mode, got, want)
		}
	}
	ev := eventOf(1)
	ev.Mode, ev.Call.EditsFiles = cardea.ModeAcceptEdits, true
	if got := gateOf(op).Decide(context.Background(), ev).Effect; got != cardea.Deny {
		t.Errorf("a file tool under acceptEdits: %v, want deny", got)
	}
}

func TestDefaultReplacesSilence(t *testing.T) {
	for _, d := range []cardea.Effect{cardea.Abstain, cardea.Allow, cardea.Ask, cardea.Deny} {
		g := gateOf()
		g.Default = cardea.Defaults{Attended: d, Unattended: cardea.Deny}
		ev := eventOf(1)
		ev.Call.Parts[0].Coverage = cardea.Complete
		if got := g.Decide(context.Background(), ev).Effect; got != d {
			t.Errorf("default %v gives %v", d, got)
		}
		ev.Attendance = cardea.NobodyAttends
		if got := g.Decide(context.Background(), ev).Effect; got != cardea.Deny {
			t.Errorf("default unattended deny gives %v", got)
		}
	}
	g := gateOf()
	g.Default.Attended = cardea.Allow
	for name, change := range map[string]func(*cardea.Event){
		"unknown tool": func(e *cardea.Event) { e.Call.Known = false },
		"opaque part":  func(e *cardea.Event) { e.Call.Parts[0].Opaque = []cardea.Opaque{{}} },
		"opaque call":  func(e *cardea.Event) { e.Call.Opaque = []cardea.Opaque{{}} },
		"fault":        func(e *cardea.Event) { e.Faults = []cardea.Opaque{{}} },
		"uncovered":    func(e *cardea.Event) { e.Call.Parts[0].Coverage = cardea.Partial },
		"no parts":     func(e *cardea.Event) { e.Call.Parts = nil },
	} {
		ev := eventOf(1)
		ev.Call.Parts[0].Coverage = cardea.Complete
		change(ev)
		if got := g.Decide(context.Background(), ev).Effect; got != cardea.Abstain {
			t.Errorf("default allow on %s: %v", name, got)
		}
	}
}

// A default that asks or denies applies to every part that has no decision, and nothing else in the
// call can switch it off.
func TestDefaultCountsForEveryPart(t *testing.T) {
	of := func(part int, e cardea.Effect) cardea.Opinion {
		return cardea.Opinion{Decider: "d", Effect: e, Part: part}
	}
	for _, c := range []struct {
		name           string
		opinions       []cardea.Opinion
		byDefault, got cardea.Effect
	}{
		{"a part at defer", []cardea.Opinion{of(0, cardea.Defer)}, cardea.Deny, cardea.Deny},
		{"a part at defer beside an allowed one", []cardea.Opinion{of(0, cardea.Allow), of(1, cardea.Defer)}, cardea.Ask, cardea.Ask},
		{"the whole call at defer", []cardea.Opinion{of(cardea.WholeCall, cardea.Defer)}, cardea.Deny, cardea.Deny},
		{"a part at abstain beside one that asks", []cardea.Opinion{of(0, cardea.Ask)}, cardea.Deny, cardea.Deny},
		{"every part is decided", []cardea.Opinion{of(0, cardea.Ask), of(1, cardea.Allow)}, cardea.Deny, cardea.Ask},
		{"every part is allowed", []cardea.Opinion{of(0, cardea.Allow), of(1, cardea.Allow)}, cardea.Deny, cardea.Allow},
		{"defer in place of silence", nil, cardea.Defer, cardea.Defer},
		{"a halt stands", []cardea.Opinion{of(0, cardea.Halt)}, cardea.Deny, cardea.Halt},
		{"a deny stands", []cardea.Opinion{of(0, cardea.Deny)}, cardea.Ask, cardea.Deny},
		{"allow and a part at defer", []cardea.Opinion{of(0, cardea.Defer)}, cardea.Allow, cardea.Defer},
	} {
		g := gateOf(c.opinions...)
		g.Default = cardea.Defaults{Attended: c.byDefault, Unattended: c.byDefault}
		v := g.Decide(context.Background(), eventOf(2))
		if v.Effect != c.got {
			t.Errorf("%s: %v, want %v", c.name, v.Effect, c.got)
		}
		if (v.By == "default") != (c.got == c.byDefault && c.name != "every part is allowed") {
			t.Errorf("%s: by %q", c.name, v.By)
		}
	}
}

func TestFallback(t *testing.T) {
	for _, c := range []struct {
		f         cardea.Failure
		on        cardea.OnError
		byDefault cardea.Effect
		want      cardea.Effect
	}{
		{cardea.NoObject, cardea.OnErrorDefer, cardea.Abstain, cardea.Deny},
		{cardea.NoObject, cardea.OnErrorAllow, cardea.Abstain, cardea.Abstain},
		{cardea.NoObject, cardea.OnErrorAllow, cardea.Allow, cardea.Abstain},
		{cardea.NoObject, cardea.OnErrorAllow, cardea.Ask, cardea.Ask},
		{cardea.Panicked, cardea.OnErrorDefer, cardea.Deny, cardea.Deny},
		{cardea.OutOfTime, cardea.OnErrorDefer, cardea.Deny, cardea.Deny},
		{cardea.OutOfTime, cardea.OnErrorDefer, cardea.Abstain, cardea.Ask},
	} {
		b := cardea.Fallback{OnError: c.on, Default: cardea.Defaults{Attended: c.byDefault, Unattended: cardea.Halt}}
		if v := b.Failed(c.f, true, "why"); v.Effect != c.want || (v.Effect == cardea.Abstain) != (v.Reason == "") {
			t.Errorf("%v, on_error %v, default %v: %v %q", c.f, c.on, c.byDefault, v.Effect, v.Reason)
		}
	}
}

func TestFailureTable(t *testing.T) {
	// docs/design.md#failures, row by row.
	A, D, K, F := cardea.Abstain, cardea.Deny, cardea.Ask, cardea.Defer
	rows := []struct {
		f                   cardea.Failure
		deferred, deny, all cardea.Effect
	}{
		{cardea.NoObject, D, D, A}, {cardea.UnreadInput, F, D, F}, {cardea.BrokenFile, K, D, A},
		{cardea.BrokenPolicy, K, D, A}, {cardea.Unparsed, F, D, F}, {cardea.BeyondLimit, K, D, K},
		{cardea.OutOfTime, K, D, A}, {cardea.Panicked, A, D, A}, {cardea.Unwritten, A, A, A}, {cardea.StoredForm, A, D, A},
	}
	for _, r := range rows {
		for i, want := range []cardea.Effect{r.all, r.deferred, r.deny} {
			if got := r.f.Effect(cardea.OnError(i), true); got != want {
				t.Errorf("%v under %v: %v, want %v", r.f, cardea.OnError(i), got, want)
			}
		}
	}
	if got := cardea.Panicked.Effect(cardea.OnErrorDefer, false); got != cardea.Ask {
		t.Errorf("a panic where nobody attends: %v, want ask", got)
	}
	if got := cardea.BeyondLimit.Effect(cardea.OnErrorDefer, false); got != cardea.Deny {
		t.Errorf("beyond a limit where nobody attends: %v, want deny", got)
	}
}

func TestFailuresOfDeciders(t *testing.T) {
	broken := cardea.Issues{cardea.BrokenFile.Issue("rules/a.yaml", diagnostic.CodeSyntax, "", "rules/a.yaml:3:1: what")}
	g := &cardea.Gate{OnError: cardea.OnErrorDefer, Placements: []cardea.Placement{{Decider: says{err: broken}}}}
	v := g.Decide(context.Background(), eventOf(1))
	if v.Effect != cardea.Ask || len(v.Issues) != 1 || !strings.Contains(v.Reason, "rules/a.yaml:3:1") {
		t.Errorf("broken file: %v %q %v", v.Effect, v.Reason, v.Issues)
	}
	g.Placements[0].Decider = says{err: errors.New("boom"), ops: []cardea.Opinion{{Decider: "d", Effect: cardea.Deny, Part: 0}}}
	v = g.Decide(context.Background(), eventOf(1))
	if v.Effect != cardea.Deny || len(v.Issues) != 1 {
		t.Errorf("what was said before a decider failed must stand: %v %v", v.Effect, v.Issues)
	}
}

// What a failure advises people to do is in the reason for people alone.
func TestHintsAreForPeople(t *testing.T) {
	const hint = "rules are switched in cardea.yaml: rules: {off: [ID]}. See there"
	broken := cardea.Issues{cardea.BrokenFile.Issue("rules/a.yaml", diagnostic.CodeUnknownKey, hint, "unknown key enabled")}
	for _, attended := range []cardea.Attendance{cardea.PersonAttends, cardea.NobodyAttends} {
		for _, on := range []cardea.OnError{cardea.OnErrorDefer, cardea.OnErrorDeny} {
			ev := eventOf(1)
			ev.Attendance = attended
			v := (&cardea.Gate{OnError: on, Placements: []cardea.Placement{{Decider: says{err: broken}}}}).Decide(context.Background(), ev)
			if !strings.Contains(v.Reason, hint) || strings.Contains(v.Message, "off") || !strings.Contains(v.Message, "unknown key enabled") {
				t.Errorf("%s: %q, %q", on, v.Reason, v.Message)
			}
		}
	}
}

func TestOutOfTime(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	allow := cardea.Opinion{Effect: cardea.Allow, Part: 0}
	if v := gateOf(allow).Decide(ctx, eventOf(1)); v.Effect != cardea.Ask || len(v.Issues) != 1 {
		t.Errorf("out of time: %v, %v", v.Effect, v.Issues)
	}
	deny := says{ops: []cardea.Opinion{{Effect: cardea.Deny, Part: 0}}}
	ctx, cancel = context.WithCancel(context.Background())
	g := &cardea.Gate{OnError: cardea.OnErrorDefer, Placements: []cardea.Placement{{Decider: deny}, {Decider: stopping{cancel, []cardea.Opinion{allow}}}}}
	if v := g.Decide(ctx, eventOf(1)); v.Effect != cardea.Deny {
		t.Errorf("a deny that was given in time must stand: %v", v.Effect)
	}
}

type stopping struct {
	cancel func()
	ops    []cardea.Opinion
}

func (s stopping) Name() string { return "stopping" }
func (s stopping) Decide(context.Context, *cardea.Event) ([]cardea.Opinion, error) {
	s.cancel()
	return s.ops, nil
}

// withParts returns a copy of an event whose call has only these parts.
func withParts(ev *cardea.Event, parts ...cardea.Part) *cardea.Event {
	return ev.With(func(e *cardea.Event) { e.Call = e.Call.WithParts(parts, nil, nil) })
}

func TestRewrite(t *testing.T) {
	rewrite := func(e cardea.Effect, to string, sev cardea.Severity) cardea.Opinion {
		return cardea.Opinion{Decider: "rules", Rule: to, Effect: e, Part: cardea.WholeCall, Severity: sev,
			Advice: cardea.Advice{Rewrite: map[string]any{"command": to}}}
	}
	analyse := func(ev *cardea.Event) *cardea.Event {
		return withParts(ev, cardea.Part{ShellFacts: cardea.ShellFacts{Text: fmt.Sprint(ev.Call.Input["command"]), Coverage: cardea.Complete}})
	}
	rewrites := func(e cardea.Effect, to string) cardea.Opinion {
		o := rewrite(e, to, "")
		o.Advice.AllowsRewritten = true
		return o
	}
	judge := func(text string, e cardea.Effect) cardea.Decider { return byText{text: text, effect: e} }
	tests := []struct {
		name    string
		op      cardea.Opinion
		second  cardea.Decider
		want    cardea.Effect
		rewrite bool
	}{
		{"abstain becomes ask", rewrite(cardea.Abstain, "new", ""), says{}, cardea.Ask, true},
		{"allowed before and after", rewrite(cardea.Abstain, "new", ""), judge("", cardea.Allow), cardea.Allow, true},
		{"the new input is allowed", rewrite(cardea.Abstain, "new", ""), judge("new", cardea.Allow), cardea.Allow, true},
		{"the old input alone is allowed", rewrite(cardea.Abstain, "new", ""), judge("old", cardea.Allow), cardea.Ask, true},
		{"a question about the old input stays", rewrite(cardea.Ask, "new", ""), judge("new", cardea.Allow), cardea.Ask, true},
		{"a doubt about the old input stays", rewrite(cardea.Defer, "new", ""), judge("new", cardea.Allow), cardea.Ask, true},
		{"the new input is denied", rewrite(cardea.Abstain, "new", ""), judge("new", cardea.Deny), cardea.Deny, false},
		{"a denied call is never rewritten", rewrite(cardea.Abstain, "new", ""), judge("old", cardea.Deny), cardea.Deny, false},
		{"ask stays ask", rewrite(cardea.Ask, "new", ""), says{}, cardea.Ask, true},
		{"allowed by who rewrites", rewrites(cardea.Abstain, "new"), says{}, cardea.Allow, true},
		{"who rewrites lifts no doubt", rewrites(cardea.Abstain, "new"), judge("new", cardea.Defer), cardea.Ask, true},
		{"nor a question", rewrites(cardea.Abstain, "new"), judge("new", cardea.Ask), cardea.Ask, true},
		{"nor a question about the old input", rewrites(cardea.Abstain, "new"), judge("old", cardea.Ask), cardea.Ask, true},
		{"no change is no rewrite", rewrite(cardea.Abstain, "old", ""), says{}, cardea.Abstain, false},
	}
	for _, tt := range tests {
		g := &cardea.Gate{OnError: cardea.OnErrorDefer, Analyse: analyse, Placements: []cardea.Placement{
			{Decider: says{ops: []cardea.Opinion{tt.op}}}, {Decider: tt.second},
		}}
		ev := eventOf(0)
		ev.Call.Input = map[string]any{"command": "old", "timeout": 5}
		v := g.Decide(context.Background(), analyse(ev))
		if v.Effect != tt.want || (v.Rewrite != nil) != tt.rewrite {
			t.Errorf("%s: %v %v, want %v %v", tt.name, v.Effect, v.Rewrite, tt.want, tt.rewrite)
		}
		if tt.rewrite && !reflect.DeepEqual(v.Rewrite, map[string]any{"command": "new", "timeout": 5}) {
			t.Errorf("%s: the whole input must be given, got %v", tt.name, v.Rewrite)
		}
		if ev.Call.Input["command"] != "old" {
			t.Errorf("%s: the event was changed", tt.name)
		}
	}
	// The severest rewrite of a field wins.
	g := gateOf(rewrite(cardea.Ask, "low", cardea.SeverityLow), rewrite(cardea.Ask, "high", cardea.SeverityHigh))
	if v := g.Decide(context.Background(), eventOf(1)); v.Rewrite["command"] != "high" {
		t.Errorf("rewrite by priority: %v", v.Rewrite)
	}
}

// The decider that rewrites a call allows the result only where the call is one plain part before
// and after.
func TestRewriteAllowsOnePart(t *testing.T) {
	part := cardea.Part{ShellFacts: cardea.ShellFacts{Text: "x", Coverage: cardea.Complete, Argv: []cardea.Word{{Text: "x", Static: true}}}}
	with := func(change func(*cardea.Part)) []cardea.Part {
		p := part
		change(&p)
		return []cardea.Part{p}
	}
	one := []cardea.Part{part}
	for _, c := range []struct {
		name          string
		before, after []cardea.Part
		event         func(*cardea.Event)
		more          string
		want          cardea.Effect
	}{
		{name: "one part", before: one, after: one, want: cardea.Allow},
		{name: "no part", want: cardea.Ask},
		{name: "two parts become one", before: []cardea.Part{part, part}, after: one, want: cardea.Ask},
		{name: "one becomes two", before: one, after: []cardea.Part{part, part}, want: cardea.Ask},
		{name: "partial coverage", before: one, after: with(func(p *cardea.Part) { p.Coverage = cardea.Partial }), want: cardea.Ask},
		{name: "opaque", before: with(func(p *cardea.Part) { p.Opaque = []cardea.Opaque{{}} }), after: one, want: cardea.Ask},
		{name: "elevated", before: one, after: with(func(p *cardea.Part) { p.Elevated = true }), want: cardea.Ask},
		{name: "remote", before: one, after: with(func(p *cardea.Part) { p.Remote = true }), want: cardea.Ask},
		{name: "in a function", before: with(func(p *cardea.Part) { p.Via = []string{"function x { }"} }), after: one, want: cardea.Ask},
		{name: "a word that may be an option", before: one, after: with(func(p *cardea.Part) { p.Argv = append(p.Argv, cardea.Word{Text: "$X", MayBeOption: true}) }), want: cardea.Ask},
		{name: "by a path", before: one, after: with(func(p *cardea.Part) { p.Argv = []cardea.Word{{Text: "./x", Static: true}} }), want: cardea.Ask},
		{name: "a variable", before: one, after: with(func(p *cardea.Part) { p.Assigns = []cardea.Assign{{Name: "X"}} }), want: cardea.Ask},
		{name: "a redirection", before: one, after: with(func(p *cardea.Part) { p.Access = []cardea.Access{{Kind: cardea.Write, Path: "/a", Redirect: true}} }), want: cardea.Ask},
		{name: "unsandboxed", before: one, after: one, event: func(e *cardea.Event) { e.Call.Unsandboxed = true }, want: cardea.Ask},
		{name: "a fault", before: one, after: one, event: func(e *cardea.Event) { e.Faults = []cardea.Opaque{{}} }, want: cardea.Ask},
		{name: "the same rules again", before: one, after: one, more: "b+a", want: cardea.Allow},
		{name: "another rule for the new input", before: one, after: one, more: "a+c", want: cardea.Ask},
	} {
		rewriter := says{ops: []cardea.Opinion{{Decider: "says", Rule: "a+b", Part: cardea.WholeCall, Advice: cardea.Advice{AllowsRewritten: true, Rewrite: map[string]any{"command": "new"}}}}}
		more := says{}
		if c.more != "" {
			more = says{ops: renamed(rewriter.ops[0], c.more)}
		}
		analyse := func(ev *cardea.Event) *cardea.Event {
			return withParts(ev, c.after...)
		}
		ev := eventOf(0)
		ev.Call.Input, ev.Call.Parts = map[string]any{"command": "old"}, c.before
		if c.event != nil {
			c.event(ev)
		}
		g := &cardea.Gate{OnError: cardea.OnErrorDefer, Analyse: analyse, Placements: []cardea.Placement{{Decider: perInput{"old": rewriter, "new": more}}}}
		if got := g.Decide(context.Background(), ev).Effect; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func renamed(o cardea.Opinion, rule string) []cardea.Opinion {
	o.Rule = rule
	return []cardea.Opinion{o}
}

// perInput is a decider for each command.
type perInput map[string]says

func (perInput) Name() string { return "says" }
func (p perInput) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	return p[fmt.Sprint(ev.Call.Input["command"])].Decide(ctx, ev)
}

// byText has an effect on parts with the given text, or on every part.
type byText struct {
	text   string
	effect cardea.Effect
}

func (b byText) Name() string { return "byText" }
func (b byText) Decide(_ context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	var ops []cardea.Opinion
	for i, p := range ev.Call.Parts {
		if b.text == "" || p.Text == b.text {
			ops = append(ops, cardea.Opinion{Decider: "byText", Effect: b.effect, Part: i})
		}
	}
	return ops, nil
}

func TestVerdictSpeaksToTheRightReader(t *testing.T) {
	ops := []cardea.Opinion{
		{Decider: "rules", Rule: "a", Effect: cardea.Deny, Part: 0, Reason: "secret text", Withheld: true, Advice: cardea.Advice{}},
		{Decider: "rules", Rule: "b", Effect: cardea.Deny, Part: 0, Reason: "open text", Advice: cardea.Advice{Instead: "better"}},
		{Decider: "rules", Rule: "c", Effect: cardea.Abstain, Part: 0, Advice: cardea.Advice{Context: "by the way"}},
		{Decider: "rules", Rule: "d", Effect: cardea.Allow, Part: 0, Reason: "not said"},
	}
	v := gateOf(ops...).Decide(context.Background(), eventOf(1))
	if v.By != "rules:a" || v.Reason != "secret text\nopen text" || v.Instead != "better" || len(v.Context) != 1 {
		t.Errorf("verdict %+v", v)
	}
	if strings.Contains(v.Message, "secret") || !strings.Contains(v.Message, `"a"`) || !strings.Contains(v.Message, "open text") {
		t.Errorf("the model is told %q", v.Message)
	}
}

// speaker gives the same opinions each time it is asked, and counts the calls.
type speaker struct {
	says  []cardea.Opinion
	err   error
	asked int
}

func (s *speaker) Name() string { return "speaker" }
func (s *speaker) Decide(context.Context, *cardea.Event) ([]cardea.Opinion, error) {
	s.asked++
	return s.says, s.err
}

func saying(e cardea.Effect) *speaker {
	return &speaker{says: []cardea.Opinion{{Decider: "speaker", Effect: e, Part: cardea.WholeCall, Reason: e.String(), Advice: cardea.Advice{Context: "context of " + e.String()}}}}
}

// A costly decider is asked only while the call is not denied.
func TestCostlyDecidersComeLast(t *testing.T) {
	for _, e := range cardea.Effects() {
		costly := saying(cardea.Ask)
		g := cardea.Gate{Placements: []cardea.Placement{{Decider: saying(e)}, {Decider: costly, Costly: true}}}
		ev := &cardea.Event{Kind: cardea.PreToolUse, Call: &cardea.Call{Tool: "x", Parts: []cardea.Part{{}}}}
		v := g.Decide(context.Background(), ev)
		if denied := e >= cardea.Deny; denied == (costly.asked > 0) {
			t.Errorf("after %s: asked %d times", e, costly.asked)
		}
		if len(v.Context) == 0 || v.Context[0] != "context of "+e.String() && e != cardea.Allow {
			t.Errorf("after %s: %v", e, v.Context)
		}
	}
}

// halter is a costly decider that can say whether to halt.
type halter struct{ speaker }

func (s *halter) DecideHalts(context.Context, *cardea.Event) ([]cardea.Opinion, error) {
	return []cardea.Opinion{{Decider: "halter", Effect: cardea.Halt, Part: cardea.WholeCall, Reason: "stop"}}, nil
}

// A costly decider is only asked whether to halt once the call is denied, and not at all once it is
// halted.
func TestCostlyDecidersHaltDeniedCalls(t *testing.T) {
	for _, e := range cardea.Effects() {
		costly := &halter{*saying(cardea.Abstain)}
		g := cardea.Gate{Placements: []cardea.Placement{{Decider: saying(e)}, {Decider: costly, Costly: true}}}
		v := g.Decide(context.Background(), &cardea.Event{Kind: cardea.PreToolUse, Call: &cardea.Call{Tool: "x", Parts: []cardea.Part{{}}}})
		if e < cardea.Deny && (costly.asked != 1 || v.Effect.Stricter(cardea.Ask)) {
			t.Errorf("after %s: asked %d times, %s", e, costly.asked, v.Effect)
		} else if e >= cardea.Deny && (costly.asked != 0 || v.Effect != cardea.Halt || e == cardea.Deny && v.Reason != "stop") {
			t.Errorf("after %s: asked %d times, %s %q", e, costly.asked, v.Effect, v.Reason)
		}
	}
}

// On events without a call, ask, deny and halt apply. Allow, defer and the default do not.
func TestOtherEvents(t *testing.T) {
	for _, ev := range []*cardea.Event{{Kind: "Stop"}, {Kind: "PostToolUse", Call: &cardea.Call{Tool: "x"}}, {Kind: cardea.PreToolUse}} {
		for _, e := range cardea.Effects() {
			silent, costly := saying(cardea.Halt), saying(cardea.Abstain)
			g := cardea.Gate{Default: cardea.Defaults{Attended: cardea.Deny, Unattended: cardea.Deny},
				Placements: []cardea.Placement{{Decider: silent}, {Decider: saying(e), Events: true}, {Decider: costly, Events: true, Costly: true}}}
			v := g.Decide(context.Background(), ev)
			want := e
			if e < cardea.Ask {
				want = cardea.Abstain
			}
			if v.Effect != want || silent.asked > 0 || (costly.asked > 0) == (e >= cardea.Deny) {
				t.Errorf("%s at %s: %s, %d, %d", ev.Kind, e, v.Effect, silent.asked, costly.asked)
			}
			if e != cardea.Allow && (len(v.Context) == 0 || v.Context[0] != "context of "+e.String()) {
				t.Errorf("%s at %s: %v", ev.Kind, e, v.Context)
			}
		}
	}
	g := cardea.Gate{Placements: []cardea.Placement{{Decider: &speaker{err: cardea.Issues{cardea.BrokenPolicy.Issue("", diagnostic.CodeSyntax, "", "broken")}}, Events: true}}}
	if v := g.Decide(context.Background(), &cardea.Event{Kind: "Stop"}); v.Effect != cardea.Abstain && v.Effect != cardea.Deny || len(v.Issues) != 1 {
		t.Errorf("a failure: %s %v", v.Effect, v.Issues)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	late := saying(cardea.Halt)
	g.Placements[0].Decider = late
	if v := g.Decide(ctx, &cardea.Event{Kind: "Stop"}); v.Effect != cardea.Abstain || late.asked > 0 {
		t.Errorf("without time: %s", v.Effect)
	}
}

// A rewrite may hold any value; what is there already is no change.
func TestRewriteOfAnyValue(t *testing.T) {
	to := map[string]any{"a": map[string]any{"b": []any{"c"}}}
	s := &speaker{says: []cardea.Opinion{{Decider: "speaker", Effect: cardea.Allow, Part: 0, Advice: cardea.Advice{Rewrite: map[string]any{"x": to}}}}}
	analyse := func(ev *cardea.Event) *cardea.Event {
		return withParts(ev, cardea.Part{})
	}
	g := cardea.Gate{Placements: []cardea.Placement{{Decider: s}}, Analyse: analyse}
	call := func(x any) *cardea.Event {
		return &cardea.Event{Kind: cardea.PreToolUse, Call: &cardea.Call{Tool: "x", Input: map[string]any{"x": x, "y": "z"}}}
	}
	v := g.Decide(context.Background(), analyse(call("old")))
	if got, _ := v.Rewrite["x"].(map[string]any); got == nil || v.Rewrite["y"] != "z" {
		t.Errorf("%v", v.Rewrite)
	}
	if v := g.Decide(context.Background(), analyse(call(map[string]any{"a": map[string]any{"b": []any{"c"}}}))); v.Rewrite != nil {
		t.Errorf("no change: %v", v.Rewrite)
	}
}

// BenchmarkManyAsks decides about lines with ever more parts, each of which a default
// asks about: twice the parts must take about twice the time.
func BenchmarkManyAsks(b *testing.B) {
	for _, n := range []int{1000, 2000, 4000} {
		ops := []cardea.Opinion{{Decider: "override", Effect: cardea.Allow, Part: 0, Overrides: true}}
		for part := range n {
			ops = append(ops, cardea.Opinion{Decider: "rules", Effect: cardea.Ask, Part: part, Scope: cardea.ScopeBuiltin, Yields: cardea.YieldsToOverride})
		}
		g, ev := gateOf(ops...), eventOf(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if v := g.Decide(context.Background(), ev); v.Effect != cardea.Ask || len(v.Replaced) != 1 {
					b.Fatal(v.Effect, len(v.Replaced))
				}
			}
		})
	}
}
