package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/decide/permissions"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/hook/gate"
)

// show writes a trial for people: first the result, then its reasons, then what would
// change it.
func (t trial) show(s *screen) {
	v := t.verdict
	explained := map[cardea.Effect]bool{v.Effect: true}
	s.printf("%s", effectFor(v.Effect, t.harness))
	s.printIf(v.By != "", "  %s", painted{faint, v.By})
	s.printf("\n")
	if text := t.waits(); text != "" {
		if v.Effect != cardea.Ask {
			text = "no rule matched; " + text
		}
		s.printf("  %s\n", painted{faint, text + " (human.mode: " + t.evaluation.Loaded.Settings.Human.Mode + ")"})
	} else if text := meaning[v.Effect]; text != "" {
		s.printf("  %s\n", painted{faint, text})
	}
	if v.Reason != "" {
		s.block("  ", v.Reason)
	}
	s.printIf(v.Instead != "", "  instead: %s\n", v.Instead)
	for _, c := range v.Context {
		s.block("  told to the model: ", c)
	}
	t.showParts(s, explained)
	t.showOpinions(s)
	t.showOff(s)
	t.showChange(s)
	t.showUncounted(s)
	t.showAnswer(s)
	s.printIf(t.decided(), "\n%s\n", painted{faint, "decided in " + v.Took.String()})
}

// waits returns how the queue treats the call, or "".
func (t trial) waits() string {
	switch t.waiting {
	case hook.WaitsNow:
		return "it waits in the queue until a person answers, " + t.evaluation.Loaded.Settings.Human.Timeout.String() + " at most"
	case hook.WaitsAtPrompt:
		return "where " + titleOf(t.harness) + " would show its prompt, a person answers it in the queue"
	case hook.GetsTicket:
		return "nobody can be asked here, so it is denied and gets a ticket: when a person approves that, the same call may run once"
	}
	return ""
}

func heading(s *screen, text string) { s.printf("\n%s\n", painted{bold, text}) }

// showParts shows what the analysis found in the call.
func (t trial) showParts(s *screen, explained map[cardea.Effect]bool) {
	ev := t.evaluation.Event
	s.printIf(!ev.Kind.Answered(), "\nthis event (%s) permits nothing; only rules and policies that name it decide\n", string(ev.Kind))
	if ev.Call == nil {
		return
	}
	heading(s, "parts of "+ev.Call.Tool+", each of which needs permission by itself")
	s.noneIf(len(ev.Call.Parts) == 0)
	for i := range ev.Call.Parts {
		about := ""
		if e := t.effect(i); !explained[e] {
			about, explained[e] = meaning[e], true
		}
		t.showPart(s, i, about)
	}
	for _, o := range append(ev.Faults[:len(ev.Faults):len(ev.Faults)], ev.Call.Opaque...) {
		s.printf("  cannot be seen through: %s (%s)\n", shorten(o.Text, 200), o.Reason)
	}
	for _, f := range ev.Call.Flows {
		s.printf("  data flows from part %d to part %d: %s\n", f.From+1, f.To+1, f.Kind)
	}
}

// showPart shows one part. about explains its effect at the first use.
func (t trial) showPart(s *screen, i int, about string) {
	part := &t.evaluation.Event.Call.Parts[i]
	s.printf("  %d  %s  %s\n", i+1, effectFor(t.effect(i), t.harness), painted{bold, part.Text})
	detail := func(name, text string) {
		s.printIf(text != "", "     %s: %s\n", painted{faint, name}, text)
	}
	detail(effectFor(t.effect(i), t.harness).text, about)
	detail("variables", strings.Join(part.Variables(), " "))
	detail("started by", strings.Join(part.Wrappers, " "))
	detail("reached through", strings.Join(part.Via, " "))
	detail("note", attributesOf(part))
	for _, a := range part.Access {
		if a.Kind == cardea.Unknown && a.Path == "" {
			detail("effects", "unknown")
			continue
		}
		detail("touches", accessText(a))
	}
	for _, a := range part.MayTouch {
		detail("may touch", cmp.Or(a.Path, a.Spelled, a.Host))
	}
	for _, q := range mayRunOf(part, nil) {
		detail("may run", shorten(q.Text, 200)+onlyIf(q.From != "", " ("+q.From+")"))
	}
	for _, f := range part.LookedInto {
		detail("looked into", f)
	}
	if why := t.beyondReading(i); why != "" {
		detail("not read-only", why)
	}
	if r := t.beyondLists(i); len(r.Why) > 0 {
		detail("not permitted", strings.Join(r.Why, "; "))
		detail("needs", strings.Join(r.Needs, " and "))
	}
	for _, o := range part.Opaque {
		detail("cannot be seen through", shorten(o.Text, 200)+" ("+o.Reason+")")
	}
}

// beyondReading returns why part i is not allowed as read-only. It is "" if the part is
// read-only or another line already explains it.
func (t trial) beyondReading(i int) string {
	part := &t.evaluation.Event.Call.Parts[i]
	if part.NoEffect || len(part.Opaque) > 0 || t.evaluation.Loaded.ReadonlyOff || t.effect(i) != cardea.Abstain {
		return ""
	}
	return t.evaluation.Loaded.ReadonlyDecider().Refusal(t.evaluation.Event, i)
}

// beyondLists returns why the harness's own lists do not allow part i. It is empty if the
// part is decided, or no list is relevant.
func (t trial) beyondLists(i int) permissions.Refusal {
	if e := t.effect(i); e != cardea.Abstain && e != cardea.Defer {
		return permissions.Refusal{}
	}
	r := refusal(t.evaluation, i)
	if !t.evaluation.Loaded.Expands() && len(r.Why) != 1 {
		return permissions.Refusal{}
	}
	return r
}

// refusal returns why the harness's own lists do not allow part i. For an opaque part no
// entry is enough, so Needs is nil.
func refusal(j *evaluation, i int) permissions.Refusal {
	r := j.Loaded.PermissionsDecider().Refusal(j.Event, i)
	if len(j.Event.Call.Parts[i].Opaque) > 0 {
		r.Needs = nil
	}
	return r
}

// attributesOf returns the special properties of a part.
func attributesOf(part *cardea.Part) string {
	return joined(", ", onlyIf(part.Coverage != cardea.Complete, "not everything that it starts is known"), onlyIf(part.NoEffect, "has no effect"),
		onlyIf(part.Elevated, "runs as another user or elsewhere"), onlyIf(part.Remote, "runs on another machine"))
}

// accessText returns an access as text for people.
func accessText(a cardea.Access) string {
	what := a.Path
	switch {
	case a.Kind == cardea.Network:
		what = a.Host
	case a.Glob && a.Pattern != "":
		what = a.Pattern
	}
	switch {
	case what != "":
	case a.Kind == cardea.Unknown:
		return "effects: unknown"
	case a.Configured:
		what = "(host from its configuration)"
	case a.Kind == cardea.Network:
		what = "(host unknown)"
	default:
		what = "(path unknown)"
	}
	written := onlyIf(a.Spelled != "" && a.Spelled != a.Path && !a.Glob, " (written as "+a.Spelled+")")
	return string(a.Kind) + " " + what + onlyIf(a.MetadataOnly, " (names only)") + written + onlyIf(a.Recursive, " and everything below it") + onlyIf(a.Redirect, ", by the shell")
}

// asksJudge reports whether the hook would ask the judge about the call. try itself does
// not ask, since that would cost money each time.
func (t trial) asksJudge() bool {
	return t.evaluation.Loaded.Settings.Judge.Enabled && t.reachesJudge()
}

// reachesJudge reports whether no decider before the judge decided the call.
func (t trial) reachesJudge() bool {
	ev, parts := t.evaluation.Event, t.verdict.Parts
	open := slices.ContainsFunc(parts, func(e cardea.Effect) bool { return e == cardea.Abstain || e == cardea.Defer })
	held := slices.ContainsFunc(parts, func(e cardea.Effect) bool { return e >= cardea.Ask })
	return ev.Kind.Answered() && ev.Prompts() && open && !held
}

// isHint reports whether an opinion decides nothing and helps a person to decide.
func isHint(o cardea.Opinion) bool { return o.Effect == cardea.Abstain && o.Reason != "" }

// showOpinions shows the opinions of all deciders with their reasons.
func (t trial) showOpinions(s *screen) {
	heading(s, "who says what")
	s.printIf(len(t.verdict.Opinions) == 0, "  nobody says anything\n")
	s.printIf(t.asksJudge(), "  the judge would be asked where the agent's own prompt would appear; \"cardea judge\" asks it\n")
	for _, o := range t.verdict.Opinions {
		about := either(o.Part != cardea.WholeCall, fmt.Sprintf("part %d", o.Part+1), "the call")
		if isHint(o) {
			s.printf("  hint  %s  %s\n", about, painted{bold, o.By()})
		} else {
			s.printf("  %s  %s  %s\n", effectFor(o.Effect, t.harness), about, painted{bold, o.By()})
		}
		s.printf("     %s\n", painted{faint, joined(", ", o.Source, o.Scope.String(), prefixed("severity ", string(o.Severity)))})
		for _, m := range t.matched(o) {
			s.block("     ", shorten(m, longLine))
		}
		for _, x := range []struct{ name, text string }{{"", o.Reason}, {"because: ", o.Because}, {"instead: ", o.Advice.Instead}, {"context: ", o.Advice.Context}} {
			if x.text != "" {
				s.block("     ", x.name+x.text)
			}
		}
		for _, field := range slices.Sorted(maps.Keys(o.Advice.Rewrite)) {
			s.printf("     rewrite %s: %s\n", field, fmt.Sprint(o.Advice.Rewrite[field]))
		}
		switch {
		case o.Withheld && t.evaluation.OfThisProject(o):
			s.printf("     %s\n", painted{faint, "the model is told only the rule's name, since you have not accepted its text; if it is yours, run \"cardea trust\""})
		case o.Withheld:
			s.printf("     %s\n", painted{faint, "the model is told only the rule's name, since it is of another project than the session's"})
		}
	}
}

// switchedOff returns the switched-off rules that would have matched the call.
func (t trial) switchedOff() []offJSON {
	out := []offJSON{}
	l := t.evaluation.Loaded
	if len(l.OffList) == 0 {
		return out
	}
	opinions, err := gate.OfSwitchedOff(context.Background(), l, t.evaluation.Event)
	if err != nil {
		return out // parsing the file reports an expression that does not compile
	}
	byID := map[string]*rules.Rule{}
	for r := range l.OffList.Heads() {
		head := *r
		byID[r.ID] = &head
	}
	for _, o := range opinions {
		if r := byID[o.Rule]; r != nil && !slices.ContainsFunc(out, func(x offJSON) bool { return x.Rule == o.Rule }) {
			out = append(out, offJSON{Rule: o.Rule, Effect: o.Effect, Source: o.Source, By: l.SwitchedOff(r)})
		}
	}
	return out
}

// showOff shows the switched-off rules that would have matched.
func (t trial) showOff(s *screen) {
	off := t.switchedOff()
	section(s, "switched off", len(off))
	for _, o := range off {
		s.printf("  %s  %s  %s\n", effect(o.Effect), painted{bold, o.Rule}, painted{faint, o.Source})
		s.printf("     it would have matched; switched off by %s\n", o.By)
	}
}

// matched returns the conditions of a person's rule or route, and the texts of the call
// that its patterns matched.
func (t trial) matched(o cardea.Opinion) (out []string) {
	if o.Scope == cardea.ScopeBuiltin {
		return nil
	}
	for _, r := range t.evaluation.Loaded.Rules() {
		if o.Decider != "rules" || r.ID != o.Rule || r.Source != o.Source {
			continue
		}
		out = append(out, "matches: "+r.Match.String())
		for _, text := range t.textsOf(o, r.Match.Field) {
			for _, f := range r.Match.Found(text) {
				out = append(out, "found: "+f)
			}
		}
		if call := t.evaluation.Event.Call; call != nil && o.Part >= 0 && o.Part < len(call.Parts) {
			for _, f := range gate.FoundBy(t.evaluation.Loaded, t.evaluation.Event, &r, o.Part) {
				out = append(out, "found: "+f)
			}
		}
		return out
	}
	for _, r := range t.evaluation.Loaded.Routes {
		if o.Decider == "routes" && r.Name == o.Rule && r.Source == o.Source {
			expression, _ := r.Expression() // it matched, so it can run
			m := rules.Match{Pattern: expression}
			for _, text := range t.textsOf(o, r.Field) {
				for _, f := range m.Found(text) {
					out = append(out, "found: "+strings.TrimSuffix(f, expression)+r.Written)
				}
			}
		}
	}
	return out
}

// textsOf returns the texts that an opinion's patterns searched: a field of the input, or
// the part.
func (t trial) textsOf(o cardea.Opinion, field string) []string {
	call := t.evaluation.Event.Call
	switch {
	case call == nil:
		return nil
	case field != "":
		if s, ok := call.Input[field].(string); ok {
			return []string{s}
		}
		return nil
	case o.Part >= 0 && o.Part < len(call.Parts):
		return []string{call.Parts[o.Part].Text}
	}
	return listOf(call.Parts, func(part cardea.Part) string { return part.Text })
}

// decided reports whether the gate decided a call.
func (t trial) decided() bool {
	ev := t.evaluation.Event
	return ev.Call != nil && ev.Kind.Answered()
}

// showChange shows how to get another answer.
func (t trial) showChange(s *screen) {
	heading(s, "to change this")
	if t.p.byAgent() {
		s.printf("  %s\n", toldToPeople)
		return
	}
	all, why := t.ways()
	showWays(s, all, why, t.harness)
}

// edits returns the manual changes that lead to another answer, each once.
func (t trial) edits() (out []string) {
	for _, o := range t.verdict.Opinions {
		if o.Effect == t.verdict.Effect && o.Effect != cardea.Abstain || t.verdict.Rewrite != nil && o.By() == t.verdict.By {
			line := t.user().change(o)
			if o.Person && o.Effect == cardea.Deny && !t.evaluation.Event.Attended() {
				line = fmt.Sprintf("%s asks where a person attends: run the agent in a terminal, or name what it runs in under human.surfaces in %s", o.By(), t.user().settings())
			}
			if !slices.Contains(out, line) {
				out = append(out, line)
			}
		}
	}
	if t.verdict.By == "default" {
		out = append(out, "no rule decided, so the setting default did; \"cardea config\" shows where it is written")
	}
	if len(out) == 0 {
		for _, o := range t.switchedOff() {
			out = append(out, fmt.Sprintf("rule %s is switched off: take it out of %s", o.Rule, o.By))
		}
	}
	if len(out) == 0 {
		out = append(out, "no rule is about this: write one in "+t.user().rules()+", see docs/rule-language.md")
	}
	return out
}

// userDir is the path of a person's settings folder, or "".
type userDir string

func (t trial) user() userDir { return userDir(t.evaluation.Place.Dirs.User) }

// change returns how to change one opinion.
func (d userDir) change(o cardea.Opinion) string {
	switch {
	case o.Scope <= cardea.ScopeOrg && o.Source != "":
		return fmt.Sprintf("%s is of the scope %s: its administrator can change it, in %s", cmp.Or(o.Rule, o.Decider), o.Scope, o.Source)
	case o.Decider == "rules" && o.Rule == "surroundings":
		return "use paths of fewer projects in one call"
	case o.Decider == "rules" && o.Scope <= cardea.ScopeUser:
		return fmt.Sprintf("rule %s is %s own: change it in %s", o.Rule, map[cardea.Scope]string{cardea.ScopeProject: "the project's", cardea.ScopeUser: "your"}[o.Scope], o.Source)
	case o.Decider == "rules" && o.Effect == cardea.Halt:
		return fmt.Sprintf("rule %s halts; only its author can change that, in %s", o.Rule, o.Source)
	case o.Decider == "rules":
		// Never allow: a rule that denies or asks matches broadly.
		other := either(o.Effect == cardea.Ask, cardea.Deny, cardea.Ask)
		return fmt.Sprintf("rule %s of %s: in %s write rules: {effect: {%s: %s}}, or rules: {off: [%s]}",
			o.Rule, o.Source, d.settings(), o.Rule, other, o.Rule)
	case o.Decider == "routes":
		return fmt.Sprintf("route %s: change it in %s", o.Rule, o.Source)
	case o.Decider == "permissions" && o.Source != "":
		return fmt.Sprintf("the entry %s: change it in %s", o.Rule, o.Source)
	case o.Decider == policy.Name && o.Scope == cardea.ScopeBuiltin:
		return fmt.Sprintf("%s is a built-in policy: change its setting under policies, or switch it off under packs, in %s; see docs/policies.md", o.Source, d.settings())
	case o.Decider == policy.Name:
		return fmt.Sprintf("policy %s: change it in %s", o.Rule, o.Source)
	case o.Decider == "roles":
		return fmt.Sprintf("the role %s: change it in %s, or give the agent another one; see docs/roles.md", o.Rule, d.rolesFile(o))
	case o.Decider == "lessons" || o.Decider == "near":
		return fmt.Sprintf("a lesson: \"cardea lessons show %s\" shows it, \"cardea lessons rm %s\" removes it", o.Rule, o.Rule)
	case o.Decider == "overrides":
		return fmt.Sprintf("the override %s: \"cardea override list\" shows it, \"cardea override rm %s\" removes it", o.Rule, o.Rule)
	case o.Decider == "readonly":
		return fmt.Sprintf("it only reads: write a rule that asks in %s, or packs: {readonly: off} in %s", d.rules(), d.settings())
	case o.Decider == "sessions":
		return "the session needs a role: \"cardea register\", or the setting sessions.registration in " + d.settings()
	case o.Decider == "opaque":
		return "write the command so that it can be seen through; no setting makes a spot transparent"
	case o.Decider == "failure":
		return "fix what failed; the setting on_error says what a failure costs, in " + d.settings()
	}
	return "nothing to change: " + o.By() + " speaks of what the call is"
}

func (d userDir) settings() string { return d.file("cardea.yaml") }

func (d userDir) rules() string { return d.file("rules/") }

// rolesFile returns the file in which to change the role of an opinion: the one that
// defines it, or the person's for a built-in role.
func (d userDir) rolesFile(o cardea.Opinion) string {
	return either(o.Scope == cardea.ScopeRole, d.file("roles.yaml"), o.Source)
}

func (d userDir) file(name string) string {
	return either(d == "", "your "+name, string(d)+"/"+name)
}

// broken returns problems and notices about the call.
func (t trial) broken() (all []diagnostic.Diagnostic) {
	unreported := t.evaluation.Unreported(t.verdict)
	for _, tr := range t.verdict.Issues {
		if !slices.ContainsFunc(unreported, func(u cardea.Issue) bool { return u.Diagnostic == tr.Diagnostic }) {
			all = append(all, tr.Diagnostic)
		}
	}
	return all
}

// showUncounted shows what is ignored here, and what is broken.
func (t trial) showUncounted(s *screen) {
	all := slices.Concat(t.evaluation.Loaded.Uncounted(), t.evaluation.Loaded.UncountedPolicies())
	// A text that is only withheld is shown with its opinion.
	all = slices.DeleteFunc(all, func(d diagnostic.Diagnostic) bool { return d.Severity == diagnostic.LevelNote })
	if all = append(all, t.broken()...); len(all) > 0 {
		heading(s, "does not count, or is broken")
		showDiagnostics(s, all)
	}
}

// showAnswer shows what the harness would get.
func (t trial) showAnswer(s *screen) {
	title := "answer to " + t.harness
	if t.waiting == hook.WaitsNow {
		title += ", where no person answers in time"
	}
	heading(s, title)
	s.printIf(t.answer.Effect != t.answer.Decided, "  %s instead of %s\n", effectFor(t.answer.Effect, t.harness), effectFor(t.answer.Decided, t.harness))
	for _, l := range t.answer.Limits {
		s.printf("  %s: %s\n", string(l), l.Text())
	}
	if t.auto != nil {
		s.filled("  ", t.auto.Text)
	}
	switch {
	case len(t.output.Stdout) > 0:
		s.block("  ", string(t.output.Stdout))
	case t.output.Exit == exitDeny:
		s.block("  exit 2: ", string(t.output.Stderr))
	case t.silent():
		s.filled("  ", "nothing: the mode "+string(cardea.ModeBypass)+" has no prompts, so the call runs without a question unless the harness's own lists deny it; "+
			"default: {attended: ask, unattended: deny} in "+t.user().settings()+" asks about what no rule decides, or denies it")
	default:
		s.printf("  nothing: %s decides by its own rules\n", titleOf(t.harness))
	}
}
