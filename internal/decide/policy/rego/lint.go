package rego

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/decide/policy/engine"
)

// Look returns mistakes that OPA does not report: code that never has an effect, or has one
// where none is intended.
func (m *Module) Look() []diagnostic.Diagnostic {
	m = &Module{Path: m.Path, Facts: m.Facts, text: m.text, parsed: m.parsed, taken: m.taken}
	m.take() // as written, not as compiled
	l := look{m: m}
	l.metadata()
	for _, r := range m.parsed.Rules {
		if verb := headName(r); slices.Contains(engine.Verbs(), verb) && m.Facts.Policy() {
			l.decision(verb, r)
		}
		l.calls(r)
		l.negations(r)
		l.signals(r)
	}
	l.idle()
	return l.out
}

// idle finds sets that have the form of decisions, but are not verbs and are not used in
// the file. A verb with a typing error has no effect.
func (l *look) idle() {
	if !l.m.Facts.Policy() || !l.m.Facts.Routed {
		return
	}
	said := map[string]bool{}
	for _, r := range l.m.parsed.Rules {
		name := headName(r)
		if r.Head.RuleKind() != ast.MultiValue || name == "" || said[name] || slices.Contains(engine.Verbs(), name) || l.refersTo(name) {
			continue
		}
		said[name] = true
		l.say(r.Location, engine.CodeVerb, diagnostic.LevelWarning, "%s is no verb, and nothing in this file refers to it, so it says nothing; verbs are %s", name, strings.Join(engine.Verbs(), ", "))
	}
}

// refersTo reports whether the bodies and values of rules use a name.
func (l *look) refersTo(name string) bool {
	found := false
	for _, r := range l.m.parsed.Rules {
		uses := func(v ast.Var) bool { found = found || string(v) == name; return found }
		ast.WalkVars(r.Body, uses)
		if r.Head.Value != nil {
			ast.WalkVars(r.Head.Value, uses)
		}
		if r.Head.Key != nil {
			ast.WalkVars(r.Head.Key, uses)
		}
	}
	return found
}

type look struct {
	m   *Module
	out []diagnostic.Diagnostic
}

func (l *look) say(at *ast.Location, code diagnostic.Code, severity diagnostic.Level, format string, args ...any) {
	p := diagnostic.Diagnostic{Severity: severity, Code: code, File: l.m.Path, Line: 1, Column: 1, Text: fmt.Sprintf(format, args...)}
	if at != nil && at.Row > 0 {
		p.Line, p.Column = at.Row, at.Col
	}
	l.out = append(l.out, p)
}

// metadata checks that a policy can be routed.
func (l *look) metadata() {
	f := &l.m.Facts
	l.out = append(l.out, f.Mistakes...)
	at := l.m.parsed.Package.Location
	switch {
	case f.Package == engine.SystemPackage:
		l.say(at, engine.CodeSystemPackage, diagnostic.LevelWarning, "%s is skipped: Cardea gathers the verbs by itself; remove the file", f.Package)
	case f.Routed && !f.Policy():
		l.say(at, engine.CodeLibraryRouting, diagnostic.LevelError, "package %s is not asked: policies are below cardea.policies, cupcake.policies or cupcake.global.policies", f.Package)
	case !f.Policy() && len(f.Verbs) > 0:
		l.say(at, engine.CodeLibraryVerb, diagnostic.LevelWarning, "package %s is a library, so its %s is never asked; policies are below cardea.policies", f.Package, strings.Join(f.Verbs, ", "))
	case f.Policy() && len(f.Verbs) > 0 && !f.Routed:
		l.say(at, engine.CodeNoMetadata, diagnostic.LevelError, "the policy is never asked: write \"# METADATA\" with \"scope: package\" and custom.routing.required_events directly in front of the package")
	case f.Routed && len(f.Events) == 0:
		l.say(at, engine.CodeNoEvents, diagnostic.LevelError, "the policy is never asked: its routing names no required_events")
	case f.Routed && len(f.Verbs) == 0:
		l.say(at, engine.CodeNoVerb, diagnostic.LevelWarning, "the policy decides nothing: it has no rule named %s", strings.Join(engine.Verbs(), ", "))
	}
}

// decision checks that a verb is a set of well-formed decisions.
func (l *look) decision(verb string, r *ast.Rule) {
	if r.Head.RuleKind() != ast.MultiValue {
		l.say(r.Location, engine.CodeNoSet, diagnostic.LevelError, "%s is no set of decisions: write \"%s contains decision if { … }\"", verb, verb)
		return
	}
	l.element(verb, r, r.Head.Key)
}

// element checks the value that a rule adds to its set, if it is known.
func (l *look) element(verb string, r *ast.Rule, t *ast.Term) {
	if t == nil {
		return
	}
	switch v := t.Value.(type) {
	case ast.Object:
		l.object(verb, t.Location, v)
	case ast.Var:
		for _, e := range r.Body {
			if given := assigned(e, v); given != nil {
				l.element(verb, r, given)
			}
		}
	case ast.String:
		if verb != "add_context" {
			l.say(t.Location, engine.CodeDecision, diagnostic.LevelError, "%s holds a text: write an object with rule_id, reason and severity", verb)
		}
	case ast.Number, ast.Boolean, ast.Null, *ast.Array:
		l.say(t.Location, engine.CodeDecision, diagnostic.LevelError, "%s holds %s: write an object with rule_id, reason and severity", verb, ast.ValueName(t.Value))
	}
}

// assigned returns the term that an expression assigns to a variable, or nil.
func assigned(e *ast.Expr, v ast.Var) *ast.Term {
	if !e.IsAssignment() && !e.IsEquality() {
		return nil
	}
	ops := e.Operands()
	if len(ops) != 2 {
		return nil
	}
	if x, ok := ops[0].Value.(ast.Var); ok && x == v {
		if _, again := ops[1].Value.(ast.Var); !again {
			return ops[1]
		}
	}
	return nil
}

// object checks the fields of a decision.
func (l *look) object(verb string, at *ast.Location, o ast.Object) {
	has := map[string]*ast.Term{}
	open := false
	o.Foreach(func(k, v *ast.Term) {
		if s, ok := k.Value.(ast.String); ok {
			has[string(s)] = v
		} else {
			open = true
		}
	})
	if open {
		return
	}
	known := []string{"rule_id", "reason", "severity", "question", "agent_context", "context", "message", "updated_input", "priority", "part", "parts"}
	for key := range has {
		if !slices.Contains(known, key) {
			l.say(at, engine.CodeDecision, diagnostic.LevelWarning, "a decision has no field %q; there are %s", key, strings.Join(known, ", "))
		}
	}
	for _, need := range needs(verb) {
		if has[need] == nil {
			severity := diagnostic.LevelError
			if need != "updated_input" && verb == "add_context" {
				severity = diagnostic.LevelWarning
			}
			l.say(at, engine.CodeDecision, severity, "%s has no %s", verb, need)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(has)) {
		l.field(key, has[key])
	}
	if s, ok := constant(has["rule_id"]); ok && !cardea.IsID(s) {
		l.say(has["rule_id"].Location, engine.CodeDecision, diagnostic.LevelError, "%q is no id; %s", s, cardea.IDHint)
	}
	if s, ok := constant(has["severity"]); ok && !slices.Contains([]string{"low", "medium", "high", "critical"}, strings.ToLower(s)) {
		l.say(at, engine.CodeDecision, diagnostic.LevelError, "severity is %q; write LOW, MEDIUM, HIGH or CRITICAL", s)
	}
	if s, ok := constant(has["reason"]); ok && (strings.TrimSpace(s) == "" || strings.HasPrefix(s, "TODO")) {
		l.say(at, engine.CodeDecision, diagnostic.LevelWarning, "the reason is still to be written: the person and the model read it")
	}
}

// needs returns the fields that a verb's decisions must have.
func needs(verb string) []string {
	switch verb {
	case "add_context":
		return nil
	case "modify":
		return []string{"rule_id", "updated_input"}
	}
	return []string{"rule_id", "reason"}
}

func constant(t *ast.Term) (string, bool) {
	if t == nil {
		return "", false
	}
	s, ok := t.Value.(ast.String)
	return string(s), ok
}

// negations finds "not input.x…" without another expression in the body that requires the
// field. If the field is missing, as in the calls of other tools, the negation holds.
func (l *look) negations(r *ast.Rule) {
	ast.WalkBodies(r, func(b ast.Body) bool {
		positive := map[string]bool{}
		for _, e := range b {
			if !e.Negated {
				for _, p := range inputs(e) {
					positive[p] = true
				}
			}
		}
		for _, e := range b {
			if !e.Negated {
				continue
			}
			for _, p := range inputs(e) {
				if strings.HasPrefix(p, "input.cardea") || covered(p, positive) {
					continue
				}
				l.say(e.Location, engine.CodeNegation, diagnostic.LevelWarning, "not holds, too, where there is no %s: ask for it in a line of its own first", p)
				break
			}
		}
		return false
	})
}

// covered reports whether another expression requires a field.
func covered(path string, positive map[string]bool) bool {
	for p := range positive {
		if p == path || strings.HasPrefix(p, path+".") {
			return true
		}
	}
	return false
}

// inputs returns the dotted fields of input that an expression reads.
func inputs(e *ast.Expr) []string {
	var out []string
	ast.WalkRefs(e, func(ref ast.Ref) bool {
		if ref.HasPrefix(ast.InputRootRef) && len(ref) > 1 {
			if p := dotted(ref[1:]); p != "" {
				out = append(out, "input."+p)
			}
		}
		return false
	})
	return out
}

// signals finds signals that a rule reads and that do not run.
func (l *look) signals(r *ast.Rule) {
	said := map[string]bool{}
	ast.WalkRefs(r, func(ref ast.Ref) bool {
		if name := signalIn(ref); name != "" && l.m.Facts.Routed && !slices.Contains(l.m.Facts.Signals, name) && !said[name] {
			said[name] = true
			l.say(ref[1].Location, engine.CodeSignal, diagnostic.LevelWarning, "signal %s does not run for this policy: name it in required_signals", name)
		}
		return false
	})
}

// signalIn returns the signal that a reference reads, "" for none.
func signalIn(ref ast.Ref) string {
	if len(ref) < 3 || !ref.HasPrefix(ast.InputRootRef) {
		return ""
	}
	word, _ := constant(ref[1])
	name, _ := constant(ref[2])
	if word != "signals" {
		return ""
	}
	return name
}
