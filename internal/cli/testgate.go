package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"cardea.dev"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/gate"
	"cardea.dev/internal/inforce"
)

// gateFindings are the tests of rules that people wrote whose calls are decided
// otherwise by all that is in force. A rule that expects none says nothing about what
// others decide, so only what it expects itself is compared.
func gateFindings(p Process, l *inforce.Loaded, list []rules.Rule) []cardea.Diagnostic {
	var out []cardea.Diagnostic
	g := gate.Build(l, gate.Session{}, analyseTest, p.Now)
	for _, r := range written(list) {
		tests, err := r.Examples()
		if err != nil {
			continue // running them alone has told it
		}
		for _, t := range tests {
			ev, err := rules.TestEvent(&r, t, stand())
			if err != nil || !ev.Kind.Answered() || t.Expect == "none" {
				continue
			}
			v := g.Decide(context.Background(), analyseTest(ev))
			if t.Meets(v.Effect) {
				continue
			}
			desc := cmp.Or(t.Desc, shorten(t.Input, 100))
			text := fmt.Sprintf("rule %s: %s: the rule expects %s, and the gate says %s%s", r.ID, desc, t.Expect, v.Effect, prefixed(", by ", v.By))
			hint := "see why with cardea try"
			if slices.ContainsFunc(l.Rules(), func(x rules.Rule) bool { return x.ID == r.ID && x.Scope == cardea.ScopeProject && !x.Trusted }) {
				hint = "the project is not trusted in this form; if it is yours, run \"cardea trust\""
			}
			d := cardea.Warning(r.Source, cardea.CodeTestFailed, hint, text).Diagnostic
			d.Line = cmp.Or(t.Line, d.Line)
			out = append(out, d)
		}
	}
	return out
}
