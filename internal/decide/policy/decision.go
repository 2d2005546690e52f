package policy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/decide/policy/engine"
)

// decision is one element of a verb's set.
type decision struct {
	verb string
	// rule is the rule_id, or its default.
	rule                      string
	reason, question, context string
	severity                  cardea.Severity
	priority                  float64
	updated                   map[string]any
	parts                     []any // the parts that it names
	named                     bool
	malformed                 string // the mistake in it, or ""
	source, pkg               string
	scope                     cardea.Scope
	trusted, changed          bool
	tightens, loose           bool
	again                     bool // made for the second input of the package
}

// sameRule reports whether another decision is of the same rule and verb.
func (d decision) sameRule(o decision) bool {
	return d.verb == o.verb && d.rule == o.rule && d.pkg == o.pkg && d.source == o.source
}

// decisions reads the value of a verb. A set holds decisions; any other value is one
// decision. A malformed decision still applies if its verb holds the call back, since its
// author had a reason.
func decisions(verb string, v any) []decision {
	switch v := v.(type) {
	case nil:
		return nil
	case bool:
		if !v {
			return nil
		}
	case []any:
		return lists.Of(v, func(e any) decision { return decisionOf(verb, e) })
	case map[string]any:
		if len(v) == 0 {
			return nil
		}
	}
	return []decision{decisionOf(verb, v)}
}

// usualPriority is the priority of a modify without one, as in Cupcake.
const usualPriority = 50

// decisionOf reads one decision of a verb. It sets malformed if the decision has a mistake.
func decisionOf(verb string, v any) decision {
	d := decision{verb: verb, priority: usualPriority}
	switch v := v.(type) {
	case string:
		if verb == "add_context" {
			d.context = v
		} else {
			d.reason = v
		}
	case map[string]any:
		d.read(v)
	default:
		d.malformed = "a decision is " + kindOf(v) + "; write an object with rule_id, reason and severity"
	}
	if d.malformed == "" && opens(verb) && d.rule == "" {
		d.malformed = "an " + verb + " has no rule_id; write an object with rule_id and reason"
		if verb == "modify" {
			d.malformed = "a modify has no rule_id; write an object with rule_id, reason and updated_input"
		}
	}
	if d.malformed == "" && verb == "add_context" && d.context == "" {
		d.malformed = "a context is no text; write a string, or an object with agent_context"
	}
	if d.malformed == "" && verb == "modify" && len(d.updated) == 0 {
		d.malformed = "a modify has no updated_input; write an object of the fields to change"
	}
	return d
}

// opens reports whether a verb can allow a call. A malformed decision of such a verb does
// not apply.
func opens(verb string) bool { return verb == "allow_override" || verb == "modify" }

// holds reports whether a verb holds a call back.
func holds(verb string) bool { return !opens(verb) && verb != "add_context" }

func kindOf(v any) string {
	switch v.(type) {
	case bool:
		return "a boolean"
	case json.Number, float64, int:
		return "a number"
	case []any:
		return "an array"
	}
	return "null"
}

// read reads a decision object.
func (d *decision) read(o map[string]any) {
	d.rule, d.reason, d.question = textOf(o, "rule_id"), textOf(o, "reason"), textOf(o, "question")
	d.context = textOf(o, "agent_context")
	if d.context == "" && d.verb == "add_context" {
		d.context = cmp.Or(textOf(o, "context"), textOf(o, "message"), d.reason)
	}
	d.severity = severityOf(textOf(o, "severity"))
	if word, there := o["severity"]; there && opens(d.verb) && d.severity == cardea.SeverityNone {
		d.malformed = fmt.Sprintf("%v is no severity; use CRITICAL, HIGH, MEDIUM or LOW", word)
	}
	if n, ok := o["priority"].(json.Number); ok {
		d.priority, _ = n.Float64()
	}
	d.updated, _ = o["updated_input"].(map[string]any)
	for _, key := range []string{"part", "parts"} {
		if p, there := o[key]; there {
			d.named = true
			if list, ok := p.([]any); ok {
				d.parts = append(d.parts, list...)
			} else {
				d.parts = append(d.parts, p)
			}
		}
	}
}

func textOf(o map[string]any, key string) string {
	s, _ := o[key].(string)
	return s
}

// severityOf returns a severity, in any case, or SeverityNone for an unknown word.
func severityOf(s string) cardea.Severity {
	if sev := cardea.Severity(strings.ToLower(s)); sev.Rank() > 0 {
		return sev
	}
	return cardea.SeverityNone
}

// opinions returns the opinions that follow from decisions, and notes about decisions
// without effect.
func opinions(ev *cardea.Event, all []decision) (out []cardea.Opinion, notes cardea.Issues) {
	note := func(d *decision, code diagnostic.Code, text string) {
		notes = append(notes, cardea.Warning(d.source, code, "", text))
	}
	var rewrites []decision
	for i := range all {
		d := &all[i]
		if d.malformed != "" {
			note(d, engine.CodeDecision, d.malformed)
		}
		if use := Use(ev.Kind, d.verb, ev.Harness); !use.Valid {
			note(d, engine.CodeVerb, fmt.Sprintf("%s means nothing on %s: %s", d.verb, ev.Kind, use.Becomes))
			continue
		}
		switch d.verb {
		case "halt", "deny", "block", "ask":
			out = append(out, d.holdings(ev)...)
			continue
		}
		if d.tightens {
			continue
		}
		switch d.verb {
		case "add_context":
			if d.trusted && d.context != "" {
				out = append(out, d.opinion(cardea.Abstain, cardea.WholeCall))
			}
		case "allow_override":
			if d.trusted && d.malformed == "" {
				ops, why := d.allowing(ev)
				out = append(out, ops...)
				if why != "" {
					note(d, diagnostic.CodeNoEffect, why)
				}
			}
		case "modify":
			if d.trusted && d.malformed == "" {
				rewrites = append(rewrites, *d)
			}
		}
	}
	if len(rewrites) > 0 {
		op, conflicts := rewriting(ev, rewrites)
		out = append(out, op)
		notes = append(notes, conflicts...)
	}
	return out, notes
}

// opinion returns a decision's opinion about a part, or about the whole call.
func (d *decision) opinion(e cardea.Effect, part int) cardea.Opinion {
	o := cardea.Opinion{Decider: Name, Rule: d.called(), Effect: e, Part: part, Scope: d.scope, Source: d.source, Severity: d.severity,
		Reason: d.reason, Withheld: !d.trusted}
	if d.trusted && !d.tightens {
		o.Advice.Context = d.context
	}
	return o
}

// called returns the rule's id. It returns nameless for an id that could carry text of an
// untrusted project to the model.
func (d *decision) called() string {
	if d.trusted || cardea.IsID(d.rule) {
		return d.rule
	}
	return nameless
}

// nameless replaces an id that is not shown.
const nameless = "nameless"

// holding returns the opinion of a verb that holds the call back. A halt of a project that
// is not trusted is a deny.
func (d *decision) holding() cardea.Opinion {
	effect := cardea.Deny
	switch {
	case d.verb == "ask":
		effect = cardea.Ask
	case d.verb == "halt" && d.trusted:
		effect = cardea.Halt
	}
	o := d.opinion(effect, cardea.WholeCall)
	if d.verb == "ask" {
		o.Reason = d.asked()
	}
	o.Reason = cmp.Or(o.Reason, fmt.Sprintf("policy %s says %s", d.called(), effect))
	return o
}

// asked returns the text for the person: the reason and the question.
func (d *decision) asked() string { return strings.Trim(d.reason+"\n"+d.question, "\n") }

// holdings returns the opinions of a verb that holds the call back: about the parts that it
// names. If it names no existing part, the opinion is about the whole call.
func (d *decision) holdings(ev *cardea.Event) []cardea.Opinion {
	whole := d.holding()
	if !d.named || ev.Call == nil || whole.Effect == cardea.Halt {
		return []cardea.Opinion{whole}
	}
	var out []cardea.Opinion
	for _, p := range d.parts {
		for _, i := range partsNamed(ev.Call, p) {
			o := whole
			o.Part = i
			out = append(out, o)
		}
	}
	if len(out) == 0 {
		return []cardea.Opinion{whole}
	}
	return out
}

// allowing returns the allows of an allow_override: for the parts that it names by index or
// text. If it names none, it allows the only part of a call. Like a rule, it does not allow
// what an approval of the program does not cover (docs/design.md#shell-analysis). why is
// the reason why it does not apply.
func (d *decision) allowing(ev *cardea.Event) (out []cardea.Opinion, why string) {
	c := ev.Call
	if c == nil || d.loose {
		return nil, ""
	}
	if not := ev.BeyondParts(); not != "" {
		return nil, "allow_override does not count, since " + not
	}
	if ofCupcake(d.pkg) && !readsAsShell(c) {
		return nil, "allow_override does not count, since the shell may read the command otherwise than the policy sees it: write it in one line without comments"
	}
	var which []int
	if !d.named {
		if len(c.Parts) != 1 {
			return nil, fmt.Sprintf("allow_override names no part, and the call has %d; name those that it allows: parts: [0]", len(c.Parts))
		}
		if !c.IsOnePart() {
			return nil, fmt.Sprintf("allow_override names no part, and the call's part is reached through %s; name it: parts: [0]", strings.Join(c.Parts[0].Via, " "))
		}
		which = []int{0}
	}
	for _, p := range d.parts {
		which = append(which, partsNamed(c, p)...)
	}
	for _, i := range which {
		if not := c.Parts[i].BeyondProgram(); not != "" {
			why = fmt.Sprintf("allow_override does not count for part %d, which %s", i, not)
			continue
		}
		out = append(out, d.opinion(cardea.Allow, i))
	}
	return out, why
}

// partsNamed returns the indices of the parts that an index or a text names.
func partsNamed(c *cardea.Call, name any) []int {
	var out []int
	switch v := name.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil && i >= 0 && i < int64(len(c.Parts)) {
			out = append(out, int(i))
		}
	case string:
		for i := range c.Parts {
			if c.Parts[i].Text == v {
				out = append(out, i)
			}
		}
	}
	return out
}

// rewriting merges the changes of several modifies into one rewrite, deeply. The highest
// priority comes first, then severity, then the strongest scope. If two set the same field
// to different values, the first wins, and a note reports it.
func rewriting(ev *cardea.Event, all []decision) (cardea.Opinion, cardea.Issues) {
	slices.SortStableFunc(all, func(a, b decision) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(b.severity.Rank(), a.severity.Rank()), cmp.Compare(a.scope, b.scope), cmp.Compare(a.rule, b.rule))
	})
	merged := map[string]any{}
	var notes cardea.Issues
	var rules, why []string
	for i := range all {
		for _, field := range merge(merged, all[i].updated, "") {
			notes = append(notes, cardea.Warning(all[i].source, diagnostic.CodeNoEffect, "",
				fmt.Sprintf("what %s wants in %s is not applied: %s wants another value there and comes first", all[i].rule, field, writer(all[:i], field))))
		}
		if !slices.Contains(rules, all[i].rule) {
			rules = append(rules, all[i].rule)
		}
		if text := all[i].asked(); text != "" && !slices.Contains(why, text) {
			why = append(why, text)
		}
	}
	o := all[0].opinion(cardea.Abstain, cardea.WholeCall)
	o.Rule, o.Reason = strings.Join(rules, "+"), strings.Join(why, "\n")
	o.Advice.Rewrite = map[string]any{}
	o.Advice.AllowsRewritten = readsAsShell(ev.Call) && !slices.ContainsFunc(all, func(d decision) bool { return !ofCupcake(d.pkg) || d.loose })
	for field, v := range merged {
		o.Advice.Rewrite[field] = over(ev.Call.Input[field], v)
	}
	return o, notes
}

// writer returns the first rule that sets a field, or one above or below it.
func writer(all []decision, field string) string {
	for i := range all {
		v, ok := any(all[i].updated), true
		for _, key := range strings.Split(field, ".") {
			m, isMap := v.(map[string]any)
			if !isMap {
				break
			}
			if v, ok = m[key]; !ok {
				break
			}
		}
		if ok {
			return all[i].rule
		}
	}
	return all[0].rule
}

// merge adds values to a map where it has none, deeply. It returns the fields with
// conflicting values.
func merge(into, from map[string]any, at string) []string {
	var conflicts []string
	for _, key := range slices.Sorted(maps.Keys(from)) {
		v := from[key]
		old, there := into[key]
		if !there {
			into[key] = over(nil, v)
			continue
		}
		a, isMap := old.(map[string]any)
		if b, isMapToo := v.(map[string]any); isMap && isMapToo {
			conflicts = append(conflicts, merge(a, b, at+key+".")...)
		} else if fmt.Sprint(old) != fmt.Sprint(v) {
			conflicts = append(conflicts, at+key)
		}
	}
	return conflicts
}

// over returns a value that replaces another one. Maps are merged into a new map.
func over(base, v any) any {
	m, isMap := v.(map[string]any)
	if !isMap {
		return v
	}
	b, _ := base.(map[string]any)
	out := map[string]any{}
	maps.Copy(out, b)
	for key, n := range m {
		out[key] = over(b[key], n)
	}
	return out
}
