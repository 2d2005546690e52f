package policy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/decide/policy/engine"
)

// Name is the decider's name in verdicts.
const Name = "policies"

// Options configure the decider for a place.
type Options struct {
	// Folders returns the folders that apply to an event, strongest scope first and other
	// projects last.
	Folders func(ev *cardea.Event) []Folder
	// Facts are settings that policies see as input.cardea.settings.
	Facts map[string]any
	// Signals runs signals. If nil, there are no signals.
	Signals Signals
	// Once reports whether a message is new in this session.
	Once func(key string) bool
	// Trace receives each step, unless it is nil.
	Trace func(Step)
	// Unheard is called if policies could not be evaluated because the engine failed or had
	// no time. It may be nil.
	Unheard func()
}

// Signals runs signals.
type Signals interface {
	// Gather runs signals for the policies of a folder, each once an event, and returns
	// their answers by name. It returns before ctx ends.
	Gather(ctx context.Context, ev *cardea.Event, f Folder, names []string) map[string]SignalValue
}

// SignalValue is the result of a signal.
type SignalValue struct {
	// Value is a JSON value.
	Value any
	// Untrusted is set if its script did not run since the person never accepted it.
	// Changed is set if they accepted it in another form. Why describes this.
	Untrusted, Changed bool
	Why                string
	// Unstarted is set if its script could not be started, NoAnswer if it was stopped
	// before its end.
	Unstarted, NoAnswer bool
	// Unasked is the reason why the judge was not asked, or "".
	Unasked string
	// Took is how long it ran.
	Took time.Duration
}

// Refused returns the answer of a signal whose script must not run.
func Refused(why string, changed bool) SignalValue {
	return SignalValue{Value: NotRun(why), Untrusted: true, Changed: changed, Why: why}
}

// NotRun returns the value of a signal whose script did not run.
func NotRun(why string) any {
	return map[string]any{"ok": false, "ran": false, "error": why, "timed_out": false}
}

// Step is one step of an evaluation, for messages that explain a verdict.
type Step struct {
	// What is "index", "route", "compile", "signal", "print", "rule" or "note".
	What string
	// Name is the folder, package, signal or rule, or the file and line of a print. Detail
	// is the result.
	Name, Detail string
	Took         time.Duration
}

// Policies are the policies of a place. They are safe for concurrent use.
type Policies struct {
	library  *Library
	settings Options
}

// New returns the policies of a place. It reads nothing.
func New(l *Library, s Options) *Policies {
	if s.Once == nil {
		s.Once = func(string) bool { return true }
	}
	if s.Unheard == nil {
		s.Unheard = func() {}
	}
	return &Policies{library: l, settings: s}
}

// Plain returns the decider for policies that need no signals.
func (p *Policies) Plain() cardea.Decider { return decider{Policies: p} }

// WithSignals returns the decider for policies that need signals. It takes as long as the
// signals.
func (p *Policies) WithSignals() cardea.Decider { return decider{Policies: p, signals: true} }

type decider struct {
	*Policies
	signals bool
	// halting is set if only policies that can halt run.
	halting bool
}

// DecideHalts returns the opinions of the routed policies that can halt.
func (d decider) DecideHalts(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	return decider{d.Policies, d.signals, true}.Decide(ctx, ev)
}

// Name returns "policies".
func (decider) Name() string { return Name }

// Shares of the remaining time for a folder, as divisors. The person's policies come first,
// and a project must not use up the time.
const (
	ownShare     = 2
	projectShare = 4
)

// Decide returns the opinions of the policies routed to the event. Policies that do not
// compile or evaluate are reported in the error. The opinions of all others are complete.
func (d decider) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	r := run{decider: d, ev: ev}
	var ready []prepared
	for _, f := range d.settings.Folders(ev) {
		if ctx.Err() != nil {
			r.late(f)
			break
		}
		if p, ok := r.prepareIn(ctx, f); ok {
			ready = append(ready, p)
		}
	}
	if d.signals {
		r.gather(ctx, ready)
	}
	for i := range ready {
		if ctx.Err() != nil {
			r.late(ready[i].folder)
			break
		}
		sub, cancel := context.WithTimeout(ctx, left(ctx)/share(ready[i].folder))
		r.evaluate(sub, &ready[i])
		cancel()
	}
	out, notes := opinions(ev, r.found)
	notes = append(r.notes, notes...)
	for _, n := range notes {
		d.trace("note", "", n.Error(), 0)
	}
	out = append(out, r.more...)
	if len(r.broken) > 0 {
		return out, r.broken.First(maxTold, "cardea policy validate")
	}
	return out, notes.First(maxTold, "cardea policy validate").Err()
}

// late records that there was no time for the policies of a folder and of the folders after
// it. Slowing down the gate must not silence them.
func (r *run) late(f Folder) {
	r.settings.Unheard()
	r.broken = append(r.broken, cardea.BrokenPolicy.Issue(f.Dir, diagnostic.CodeOutOfTime, "raise --limit together with the harness's time-out, or look for what is slow with cardea try", "there was no time for its policies"))
}

// left returns the remaining time.
func left(ctx context.Context) time.Duration {
	if end, limited := ctx.Deadline(); limited {
		return time.Until(end)
	}
	return limit.Evaluation
}

// share returns the divisor of the remaining time for a folder.
func share(f Folder) time.Duration {
	if f.Scope == cardea.ScopeProject {
		return projectShare
	}
	return ownShare
}

// maxTold is the most issues that are reported at once.
const maxTold = 10

func (p *Policies) trace(what, name, detail string, took time.Duration) {
	if p.settings.Trace != nil {
		p.settings.Trace(Step{what, name, detail, took})
	}
}

// run is the evaluation of one event.
type run struct {
	decider
	ev *cardea.Event
	// plain holds the inputs without signals, for Cupcake's packages and for others, made
	// on first use.
	plain map[bool][]engine.Input
	found []decision
	// more are opinions about signals that may not run.
	more   []cardea.Opinion
	broken cardea.Issues
	// notes are warnings for the person that change no decision.
	notes cardea.Issues
}

// prepared is a folder with its routed policies, compiled.
type prepared struct {
	folder  Folder
	set     *set
	program *program
	picks   []pick
	// trusted holds for each pick whether the person accepted it, and changed whether they
	// accepted it in another form.
	trusted, changed []bool
	// signals are the answers of its signals.
	signals map[string]SignalValue
}

// prepareIn prepares a folder, that of a project within its share of the time. Reading and
// compiling cannot be interrupted, so it abandons what takes longer: a project must not
// block the person's policies.
func (r *run) prepareIn(ctx context.Context, f Folder) (prepared, bool) {
	if f.Scope != cardea.ScopeProject {
		return r.prepare(ctx, f)
	}
	type result struct {
		run run
		p   prepared
		ok  bool
	}
	done := make(chan result, 1)
	go func() {
		sub := result{run: run{decider: r.decider, ev: r.ev}}
		defer func() {
			if failed := recover(); failed != nil {
				sub.run.fail(f, diagnostic.Diagnostic{File: f.Dir, Code: diagnostic.CodeInternal, Text: fmt.Sprintf("internal error: %v", failed)})
			}
			done <- sub
		}()
		sub.p, sub.ok = sub.run.prepare(ctx, f)
	}()
	limit := time.NewTimer(left(ctx) / share(f))
	defer limit.Stop()
	select {
	case sub := <-done:
		r.notes = append(r.notes, sub.run.notes...)
		r.broken = append(r.broken, sub.run.broken...)
		return sub.p, sub.ok
	case <-limit.C:
		r.settings.Unheard()
		r.fail(f, diagnostic.Diagnostic{File: f.Dir, Code: diagnostic.CodeOutOfTime, Text: "the policies take too long to be read and compiled"})
		return prepared{}, false
	}
}

// prepare reads a folder, and routes and compiles its policies. It reports false if no
// policy is routed.
func (r *run) prepare(ctx context.Context, f Folder) (prepared, bool) {
	begin := time.Now()
	s := r.library.open(f, begin.Add(left(ctx)/share(f)/2), nil)
	if !r.signals {
		r.gone(f)
	}
	if len(s.entries) == 0 && len(s.problems) == 0 {
		return prepared{}, false
	}
	sel := s.route(r.ev, r.library.Tool)
	if !r.signals {
		r.trace("index", f.Dir, fmt.Sprintf("%d files", len(s.entries)), time.Since(begin))
		for _, p := range s.problems {
			r.fail(f, p)
		}
		r.unread(f, s, sel.lost)
		r.notes = append(r.notes, s.idle(f)...)
	}
	p := prepared{folder: f, set: s, picks: r.wanted(sel)}
	if len(p.picks) == 0 {
		return p, false
	}
	begin = time.Now()
	p.program = r.library.compile(s, f, sel, r.settings.Trace != nil)
	if r.settings.Trace != nil {
		_, _ = p.program.settle(ctx) // evaluate meets the same error
	}
	r.trace("compile", f.Dir, fmt.Sprintf("%d of %d files", len(p.program.texts), len(s.entries)), time.Since(begin))
	for i := range p.picks {
		trusted, changed := r.trusts(f, s, p.program, &p.picks[i])
		p.trusted, p.changed = append(p.trusted, trusted), append(p.changed, changed)
	}
	return p, true
}

// gather runs the signals of all folders at the same time.
func (r *run) gather(ctx context.Context, all []prepared) {
	if r.settings.Signals == nil {
		return
	}
	var group sync.WaitGroup
	for i := range all {
		p := &all[i]
		var names []string
		for n := range p.picks {
			if p.trusted[n] {
				names = union(names, p.picks[n].signals)
			}
		}
		if len(names) == 0 {
			continue
		}
		group.Go(func() { p.signals = r.settings.Signals.Gather(ctx, r.ev, p.folder, names) })
	}
	group.Wait()
	for i := range all {
		for _, name := range slices.Sorted(maps.Keys(all[i].signals)) {
			if a := all[i].signals[name]; r.settings.Trace != nil {
				text, _ := json.Marshal(a.Value)
				r.trace("signal", name, string(text), a.Took)
			}
		}
	}
}

// evaluate evaluates the routed policies of a folder. It starts before it knows which files
// compile. A policy that does not compile has no value.
func (r *run) evaluate(ctx context.Context, p *prepared) {
	var queries []engine.Query
	var about []decision
	var of []int // the pick of each query
	for n := range p.picks {
		d, inputs, ok := r.pick(p, n)
		if !ok {
			continue
		}
		for k, in := range inputs {
			for _, verb := range engine.Verbs() {
				if slices.Contains(p.picks[n].verbs, verb) && (k == 0 || holds(verb)) {
					d.verb, d.again = verb, k > 0
					queries, about, of = append(queries, engine.Query{Package: d.pkg, Rule: verb, Input: in}), append(about, d), append(of, n)
				}
			}
		}
	}
	var results []engine.Result
	if len(queries) > 0 && p.program.Program != nil {
		results = p.program.Eval(ctx, queries)
	}
	broken, err := p.program.settle(ctx)
	if err != nil {
		r.failEngine(err)
		return
	}
	silent := make([]bool, len(p.picks))
	for n := range p.picks {
		silent[n] = r.leftOut(p, &p.picks[n], broken)
	}
	for i, result := range results {
		if !silent[of[i]] {
			r.hear(p.folder, &about[i], result)
		}
	}
}

// leftOut reports the broken files of a package, and of the packages that it refers to. It
// returns whether all of its own files are broken.
func (r *run) leftOut(at *prepared, p *pick, broken map[string]*diagnostic.Diagnostic) bool {
	for _, i := range p.all {
		if why := broken[at.set.entries[i].path]; why != nil {
			r.fail(at.folder, *why)
		}
	}
	return !slices.ContainsFunc(p.files, func(i int) bool { return broken[at.set.entries[i].path] == nil })
}

// hear adds the decisions of a verb of a package.
func (r *run) hear(f Folder, d *decision, said engine.Result) {
	for _, p := range said.Printed {
		r.trace("print", fmt.Sprintf("%s:%d", p.File, p.Line), p.Text, 0)
	}
	if said.Err != nil {
		r.settings.Unheard()
		t := cardea.BrokenPolicy.Issue(d.source, codeOf(said.Err), "", d.verb+" of "+d.pkg+" cannot be evaluated: "+said.Err.Error())
		r.fail(f, t.Diagnostic)
		return
	}
	if r.settings.Trace != nil {
		text, _ := json.Marshal(said.Value)
		r.trace("rule", d.pkg+"."+d.verb, string(text), said.Took)
	}
	for _, one := range decisions(d.verb, said.Value) {
		one.pkg, one.scope, one.trusted, one.tightens, one.loose, one.source = d.pkg, d.scope, d.trusted, d.tightens, d.loose, d.source
		one.rule = cmp.Or(one.rule, ruleOf(d))
		if !d.again || !slices.ContainsFunc(r.found, one.sameRule) {
			r.found = append(r.found, one)
		}
	}
}

// codeOf returns the code of a failed evaluation.
func codeOf(err error) diagnostic.Code {
	switch {
	case errors.Is(err, engine.ErrTime):
		return diagnostic.CodeOutOfTime
	case errors.Is(err, engine.ErrMemory):
		return diagnostic.CodeTooLarge
	}
	return engine.CodeEvaluate
}

// wanted returns the routed packages of this decider.
func (r *run) wanted(sel *selection) []pick {
	var out []pick
	for _, p := range sel.picks {
		if r.halting && !slices.Contains(p.verbs, "halt") {
			continue
		}
		if (len(p.signals) > 0) == r.signals && len(p.verbs) > 0 || !r.signals && len(p.signals) == 0 {
			out = append(out, p)
		}
	}
	return out
}

// pick prepares a package: the common fields of its decisions, and its input. It reports
// false if the package cannot or must not be evaluated.
func (r *run) pick(at *prepared, n int) (decision, []engine.Input, bool) {
	f, s, p := at.folder, at.set, &at.picks[n]
	d := decision{pkg: p.pkg, scope: f.Scope, trusted: at.trusted[n], changed: at.changed[n], tightens: f.Tightens, loose: p.loose, source: s.source(p)}
	if !slices.ContainsFunc(p.files, func(i int) bool { return at.program.unread[s.entries[i].path] == nil }) {
		return d, nil, false
	}
	in, ok := r.inputs(at, p, &d)
	return d, in, ok
}

// gone notes accepted policies that no longer exist. Policies that refer to them are
// undefined.
func (r *run) gone(f Folder) {
	if f.Gone == nil {
		return
	}
	for _, path := range f.Gone() {
		r.notes = append(r.notes, cardea.Warning(path, diagnostic.CodeUntrusted, "look at it with \"cardea trust\"", "you trusted this policy, and it is gone"))
	}
}

// trusts reports whether the person accepted a package and all that it refers to. If not,
// changed reports whether they accepted it in another form.
func (r *run) trusts(f Folder, s *set, program *program, p *pick) (trusted, changed bool) {
	if f.Nearby {
		return false, false
	}
	for _, i := range p.all {
		path := s.entries[i].path
		if text, there := program.texts[path]; there && !f.trusts(path, text) {
			if f.Trusted {
				whose := "its denies and asks"
				if s.entries[i].facts.Data != nil {
					whose = "denies and asks of policies that use it"
				}
				r.notes = append(r.notes, cardea.Warning(path, diagnostic.CodeUntrusted, "look at it with \"cardea trust\"", "is new or not as you trusted it, so only "+whose+" count"))
			}
			return false, f.Known != nil && f.Known(path)
		}
	}
	return true, false
}

// source returns the position of a package's first verb.
func (s *set) source(p *pick) string {
	for _, i := range p.files {
		if e := &s.entries[i]; e.facts.VerbLine > 0 {
			return fmt.Sprintf("%s:%d", e.path, e.facts.VerbLine)
		}
	}
	return s.entries[p.files[0]].path
}

// told returns the diagnostic to show for a broken file. For a project it hides the text,
// which quotes its files, unless the file is too slow or too large.
func told(f Folder, d diagnostic.Diagnostic) diagnostic.Diagnostic {
	if f.Scope == cardea.ScopeProject && d.Code != diagnostic.CodeOutOfTime && d.Code != diagnostic.CodeTooLarge {
		return d.Withheld()
	}
	return d
}

// fail records a broken policy of a folder, once. The person is asked in its place.
func (r *run) fail(f Folder, d diagnostic.Diagnostic) {
	d = told(f, d)
	d.Hint = cmp.Or(d.Hint, "until it is fixed you are asked instead; run \"cardea policy validate\"")
	if t := (cardea.Issue{Failure: cardea.BrokenPolicy, Diagnostic: d}); !slices.Contains(r.broken, t) {
		r.broken = append(r.broken, t)
	}
}

// failEngine records that the engine cannot evaluate a folder.
func (r *run) failEngine(err error) {
	r.settings.Unheard()
	if t := cardea.BrokenPolicy.Issue("", diagnostic.CodeNoEngine, "", err.Error()); !slices.Contains(r.broken, t) {
		r.broken = append(r.broken, t)
	}
}

// unread records the files of which not even the routing is known.
func (r *run) unread(f Folder, s *set, lost []int) {
	if s.failed != nil && len(lost) > 0 {
		r.failEngine(s.failed)
	}
	for _, i := range lost {
		if e := &s.entries[i]; s.failed == nil || !e.fresh {
			r.fail(f, *e.broken)
		}
	}
}

// inputs returns the input of a package and, if needed, a second one that can only hold the
// call back. It reports false if the package must not run because it needs something that
// the person has not accepted.
func (r *run) inputs(at *prepared, p *pick, d *decision) ([]engine.Input, bool) {
	plain := len(p.signals) == 0
	switch known := r.plain[ofCupcake(p.pkg)]; {
	case plain && known != nil:
		return known, true
	case !plain && d.changed:
		r.ask(d, true, fmt.Sprintf("policy %s cannot tell: it needs signals, and is not as you trusted it", shownName(p.pkg))+lookAt)
		return nil, false
	case !plain && !d.trusted:
		r.askOnce(d, "its signals do not run, since the project is not trusted"+lookAt)
		return nil, false
	}
	var out []engine.Input
	for _, fields := range r.fields(at, p, d) {
		in, err := engine.NewInput(fields)
		if err != nil {
			r.fail(at.folder, cardea.BrokenPolicy.Issue(d.source, engine.CodeEvaluate, "", err.Error()).Diagnostic)
			return nil, false
		}
		out = append(out, in)
	}
	if plain {
		if r.plain == nil {
			r.plain = map[bool][]engine.Input{}
		}
		r.plain[ofCupcake(p.pkg)] = out
	}
	return out, true
}

// fields returns the inputs of a package as values.
func (r *run) fields(at *prepared, p *pick, d *decision) []map[string]any {
	fields := Input(r.ev, r.values(at, p, d), r.settings.Facts)
	if !ofCupcake(p.pkg) {
		return []map[string]any{fields}
	}
	inShell := asCupcake(fields, r.ev)
	if inShell == "" {
		return []map[string]any{fields}
	}
	second, input := maps.Clone(fields), maps.Clone(fields["tool_input"].(map[string]any))
	input["command"], second["tool_input"] = inShell, input
	return []map[string]any{fields, second}
}

// values returns the answers of a package's signals. It asks if a signal does not exist, or
// its script was never accepted or in another form. Cupcake's packages do not see a signal
// without a value, as in Cupcake. They cannot detect that, so it also asks.
func (r *run) values(at *prepared, p *pick, d *decision) map[string]any {
	values := map[string]any{}
	for _, name := range p.signals {
		a, said := at.signals[name]
		if !said {
			a.Value = NotRun("there is no signal of this name")
		}
		if !ofCupcake(p.pkg) || said && !a.Changed && !a.Unstarted && !a.Untrusted && !a.NoAnswer && a.Unasked == "" {
			values[name] = a.Value
		}
		switch {
		case !said && d.scope != cardea.ScopeBuiltin: // built-in policies know that their signals may be missing
			r.ask(d, true, fmt.Sprintf("policy %s cannot tell: there is no signal %s; define it under signals in cardea.yaml, or put a script into signals/", p.pkg, name))
		case a.Unasked != "":
			r.ask(d, true, fmt.Sprintf("policy %s cannot tell: %s", p.pkg, a.Unasked))
		case a.NoAnswer && ofCupcake(p.pkg):
			said, _ := a.Value.(map[string]any)
			r.ask(d, true, fmt.Sprintf("policy %s cannot tell: signal %s: %s", p.pkg, name, textOf(said, "error")))
		case a.Changed:
			r.ask(d, true, fmt.Sprintf("policy %s cannot tell: %s", p.pkg, a.Why)+lookAt)
		case a.Unstarted:
			said, _ := a.Value.(map[string]any)
			r.ask(d, true, fmt.Sprintf("policy %s cannot tell: the script of signal %s cannot be started: %s", p.pkg, name, textOf(said, "error")))
		case a.Untrusted:
			r.askOnce(d, a.Why+lookAt)
		}
	}
	return values
}

// lookAt tells people what they can do. The model does not see it.
const lookAt = "; look at it with \"cardea trust\""

// ask adds an ask. If person is set, it is a deny when unattended.
func (r *run) ask(d *decision, person bool, why string) {
	o := d.opinion(cardea.Ask, cardea.WholeCall)
	named := *d
	named.rule = ruleOf(d)
	o.Rule, o.Reason, o.ForPeople, o.Person, o.Withheld = named.called(), why, lookAt, person, false
	r.more = append(r.more, o)
}

// shownName returns the name of a package, or nameless if it could carry other text.
func shownName(pkg string) string {
	if cardea.IsID(pkg) {
		return pkg
	}
	return nameless
}

// ruleOf returns the default rule id of a package: its last word, in a built-in policy with
// dashes.
func ruleOf(d *decision) string {
	word := d.pkg[strings.LastIndexByte(d.pkg, '.')+1:]
	if d.scope == cardea.ScopeBuiltin {
		return strings.ReplaceAll(word, "_", "-")
	}
	return word
}

// askOnce asks, once a session.
func (r *run) askOnce(d *decision, why string) {
	if !r.ev.Kind.Answered() || !r.settings.Once("policy "+d.source+" "+why) {
		return
	}
	r.ask(d, false, fmt.Sprintf("policy %s cannot tell: %s", shownName(d.pkg), why))
}
