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
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/decide/policy/engine"
)

// Name is the decider's word in verdicts.
const Name = "policies"

// Settings are what the decider must know of a place.
type Settings struct {
	// Folders are the folders that count for an event, strongest first, the
	// projects around it last.
	Folders func(ev *cardea.Event) []Folder
	// Facts are settings that policies see as input.cardea.settings.
	Facts map[string]any
	// Signals gathers what signals say; nil where there are none.
	Signals Signals
	// Once reports whether something was not said yet in this session.
	Once func(key string) bool
	// Trace gets what happened, where it is not nil.
	Trace func(Step)
	// Unheard is called where policies could not be evaluated for a reason that is not
	// their own: the engine did not work, or had no time. Nil is for nobody.
	Unheard func()
}

// Signals gathers what signals say.
type Signals interface {
	// Gather runs signals for the policies of a folder, each once an event, and
	// gives what they said by name. It comes to its end before ctx does.
	Gather(ctx context.Context, ev *cardea.Event, f Folder, names []string) map[string]Answer
}

// Answer is what a signal said.
type Answer struct {
	// Value is a JSON value.
	Value any
	// Untrusted is set where its script was not run since the person never
	// accepted it, Changed where they accepted it in another form. Why says so.
	Untrusted, Changed bool
	Why                string
	// Unstarted is set where its script could not be started, NoAnswer where it was
	// ended before it came to its end.
	Unstarted, NoAnswer bool
	// Unasked is why nobody was asked who could have answered; "" where somebody was.
	Unasked string
	// Took is how long it ran.
	Took time.Duration
}

// Refused is the answer of a signal whose script must not run.
func Refused(why string, changed bool) Answer {
	return Answer{Value: NotRun(why), Untrusted: true, Changed: changed, Why: why}
}

// NotRun is the value of a signal of which no script was run.
func NotRun(why string) any {
	return map[string]any{"ok": false, "ran": false, "error": why, "timed_out": false}
}

// Step is one thing that happened, for a person who asks why.
type Step struct {
	// What is "index", "route", "compile", "signal", "print", "rule", "note".
	What string
	// Name is the folder, package, signal or rule, or the file and line of a
	// print; Detail is what came of it.
	Name, Detail string
	Took         time.Duration
}

// Policies are the policies of a place. They may be used by many goroutines.
type Policies struct {
	library  *Library
	settings Settings
}

// New makes the policies of a place. It reads nothing.
func New(l *Library, s Settings) *Policies {
	if s.Once == nil {
		s.Once = func(string) bool { return true }
	}
	if s.Unheard == nil {
		s.Unheard = func() {}
	}
	return &Policies{library: l, settings: s}
}

// Plain is the decider for policies that need no signals.
func (p *Policies) Plain() cardea.Decider { return decider{Policies: p} }

// WithSignals is the decider for policies that need signals. It takes the time
// that they take.
func (p *Policies) WithSignals() cardea.Decider { return decider{Policies: p, signals: true} }

type decider struct {
	*Policies
	signals bool
	// halting is set where only those policies matter that can halt.
	halting bool
}

// DecideHalts gives the opinions of the routed policies that can halt.
func (d decider) DecideHalts(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	return decider{d.Policies, d.signals, true}.Decide(ctx, ev)
}

// Name is "policies".
func (decider) Name() string { return Name }

// The shares of the time that is left which a folder may take: what is the
// person's comes first, and a project must not use it up.
const (
	ownShare     = 2
	projectShare = 4
)

// Decide gives the opinions of the policies that are routed to the event. What
// does not compile or evaluate comes back as one trouble; all else has spoken
// then, too.
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

// late notes that a folder's policies could not be heard, nor those of the
// folders after it. Whoever makes the gate slow must not silence them.
func (r *run) late(f Folder) {
	r.settings.Unheard()
	r.broken = append(r.broken, cardea.BrokenPolicy.Trouble(f.Dir, cardea.CodeOutOfTime, "raise --limit together with the harness's time-out, or look for what is slow with cardea try", "there was no time for its policies"))
}

// left is the time that is left.
func left(ctx context.Context) time.Duration {
	if end, limited := ctx.Deadline(); limited {
		return time.Until(end)
	}
	return limit.Evaluation
}

// share is the share of the time that is left which a folder may take.
func share(f Folder) time.Duration {
	if f.Scope == cardea.ScopeProject {
		return projectShare
	}
	return ownShare
}

// maxTold is how many troubles are told at once.
const maxTold = 10

func (p *Policies) trace(what, name, detail string, took time.Duration) {
	if p.settings.Trace != nil {
		p.settings.Trace(Step{what, name, detail, took})
	}
}

// run is one event that is judged.
type run struct {
	decider
	ev *cardea.Event
	// plain are the inputs without signals, of Cupcake's packages and of others, made
	// when they are needed.
	plain map[bool][]engine.Input
	found []decision
	// more are opinions about signals that may not run.
	more   []cardea.Opinion
	broken cardea.Troubles
	// notes are what a person should know, and costs nothing.
	notes cardea.Troubles
}

// prepared is a folder with what is routed in it, compiled.
type prepared struct {
	folder  Folder
	set     *set
	program *program
	picks   []pick
	// trusted tells for each pick whether the person accepted it, and changed
	// whether they accepted it in another form.
	trusted, changed []bool
	// signals are what its signals said.
	signals map[string]Answer
}

// prepareIn prepares a folder, that of a project within its share of the time.
// Reading and compiling cannot be stopped, so what takes longer is left behind: a
// project must not keep the person's policies from being heard.
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
				sub.run.fail(f, cardea.Diagnostic{File: f.Dir, Code: cardea.CodeInternal, Text: fmt.Sprintf("internal error: %v", failed)})
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
		r.fail(f, cardea.Diagnostic{File: f.Dir, Code: cardea.CodeOutOfTime, Text: "the policies take too long to be read and compiled"})
		return prepared{}, false
	}
}

// prepare reads, routes and compiles what is routed in a folder. It reports
// false where nothing is.
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
		_, _ = p.program.settle(ctx) // who evaluates meets the same error
	}
	r.trace("compile", f.Dir, fmt.Sprintf("%d of %d files", len(p.program.texts), len(s.entries)), time.Since(begin))
	for i := range p.picks {
		trusted, changed := r.trusts(f, s, p.program, &p.picks[i])
		p.trusted, p.changed = append(p.trusted, trusted), append(p.changed, changed)
	}
	return p, true
}

// gather asks the signals of all folders at the same time.
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

// evaluate evaluates what is routed in a folder. It asks before it knows what
// compiles: what does not has no value.
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

// leftOut tells which files of a package, and of what it refers to, are broken,
// and reports whether all of its own are.
func (r *run) leftOut(at *prepared, p *pick, broken map[string]*cardea.Diagnostic) bool {
	for _, i := range p.all {
		if why := broken[at.set.entries[i].path]; why != nil {
			r.fail(at.folder, *why)
		}
	}
	return !slices.ContainsFunc(p.files, func(i int) bool { return broken[at.set.entries[i].path] == nil })
}

// hear takes what a verb of a package says.
func (r *run) hear(f Folder, d *decision, said engine.Result) {
	for _, p := range said.Printed {
		r.trace("print", fmt.Sprintf("%s:%d", p.File, p.Line), p.Text, 0)
	}
	if said.Err != nil {
		r.settings.Unheard()
		t := cardea.BrokenPolicy.Trouble(d.source, codeOf(said.Err), "", d.verb+" of "+d.pkg+" cannot be evaluated: "+said.Err.Error())
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

// codeOf is the code of an evaluation that failed.
func codeOf(err error) cardea.Code {
	switch {
	case errors.Is(err, engine.ErrTime):
		return cardea.CodeOutOfTime
	case errors.Is(err, engine.ErrMemory):
		return cardea.CodeTooLarge
	}
	return engine.CodeEvaluate
}

// wanted are the routed packages of this decider.
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

// pick prepares a package: what its decisions have in common, and its input. It
// reports false where it cannot or must not be evaluated.
func (r *run) pick(at *prepared, n int) (decision, []engine.Input, bool) {
	f, s, p := at.folder, at.set, &at.picks[n]
	d := decision{pkg: p.pkg, scope: f.Scope, trusted: at.trusted[n], changed: at.changed[n], tightens: f.Tightens, loose: p.loose, source: s.source(p)}
	if !slices.ContainsFunc(p.files, func(i int) bool { return at.program.unread[s.entries[i].path] == nil }) {
		return d, nil, false
	}
	in, ok := r.inputs(at, p, &d)
	return d, in, ok
}

// gone notes what the person accepted and is not there: what refers to it says
// nothing then.
func (r *run) gone(f Folder) {
	if f.Gone == nil {
		return
	}
	for _, path := range f.Gone() {
		r.notes = append(r.notes, cardea.Warning(path, cardea.CodeUntrusted, "look at it with \"cardea trust\"", "you trusted this policy, and it is gone"))
	}
}

// trusts reports whether the person accepted a package and all that it refers
// to, or, where not, whether they accepted it in another form.
func (r *run) trusts(f Folder, s *set, program *program, p *pick) (trusted, changed bool) {
	if f.Around {
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
				r.notes = append(r.notes, cardea.Warning(path, cardea.CodeUntrusted, "look at it with \"cardea trust\"", "is new or not as you trusted it, so only "+whose+" count"))
			}
			return false, f.Known != nil && f.Known(path)
		}
	}
	return true, false
}

// source is where a package's first verb is written.
func (s *set) source(p *pick) string {
	for _, i := range p.files {
		if e := &s.entries[i]; e.facts.VerbLine > 0 {
			return fmt.Sprintf("%s:%d", e.path, e.facts.VerbLine)
		}
	}
	return s.entries[p.files[0]].path
}

// told is what is said of a broken file. Of a project only the file and the kind
// of the mistake are told, since the text quotes its files; but of one that takes
// too long, that it does.
func told(f Folder, d cardea.Diagnostic) cardea.Diagnostic {
	if f.Scope == cardea.ScopeProject && d.Code != cardea.CodeOutOfTime && d.Code != cardea.CodeTooLarge {
		return d.Withheld()
	}
	return d
}

// fail notes what is broken in a folder, once. What a broken policy is asked
// about is asked of the person.
func (r *run) fail(f Folder, d cardea.Diagnostic) {
	d = told(f, d)
	d.Hint = cmp.Or(d.Hint, "until it is fixed you are asked instead; run \"cardea policy validate\"")
	if t := (cardea.Trouble{Failure: cardea.BrokenPolicy, Diagnostic: d}); !slices.Contains(r.broken, t) {
		r.broken = append(r.broken, t)
	}
}

// failEngine notes that the engine cannot say anything about a folder.
func (r *run) failEngine(err error) {
	r.settings.Unheard()
	if t := cardea.BrokenPolicy.Trouble("", cardea.CodeNoEngine, "", err.Error()); !slices.Contains(r.broken, t) {
		r.broken = append(r.broken, t)
	}
}

// unread notes the files of which not even the routing is known.
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

// inputs are what a package sees, and, where there is a second one, what it may hold
// back besides. It reports false where the package must not speak, because it needs
// what the person has not accepted.
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
			r.fail(at.folder, cardea.BrokenPolicy.Trouble(d.source, engine.CodeEvaluate, "", err.Error()).Diagnostic)
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

// fields are the inputs of a package as values.
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

// values are what the signals of a package said. A script that was never
// accepted, or in another form, asks, and so does a signal that there is not. Packages
// of Cupcake do not see a signal without a value, as there, and know nothing else of
// it, so it asks, too.
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
		case !said && d.scope != cardea.ScopeBuiltin: // those know that their signals may not be there
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

// lookAt says to people what they can do. The model does not read it.
const lookAt = "; look at it with \"cardea trust\""

// ask asks every time. Where only a person may answer, it denies when unattended.
func (r *run) ask(d *decision, person bool, why string) {
	o := d.opinion(cardea.Ask, cardea.WholeCall)
	named := *d
	named.rule = ruleOf(d)
	o.Rule, o.Reason, o.ForPeople, o.Person, o.Withheld = named.called(), why, lookAt, person, false
	r.more = append(r.more, o)
}

// shownName is the name of a package, where it says nothing else.
func shownName(pkg string) string {
	if cardea.IsID(pkg) {
		return pkg
	}
	return nameless
}

// ruleOf is the rule id of what a package says without one: its last word, of a
// built-in policy its name.
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
