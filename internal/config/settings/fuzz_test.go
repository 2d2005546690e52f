package settings

import (
	"testing"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
)

// FuzzParseSettings checks that for any file of a project, parsing ends, every error has a
// place, and the project neither sets the user's keys nor loosens the result.
func FuzzParseSettings(f *testing.F) {
	for _, text := range []string{
		"",
		"default: {attended: allow}",
		"on_error: allow\nlearn: auto",
		"judge: {chain: [anthropic, {name: x}], budget: {calls_per_day: 1}}",
		"a: &a {default: *a}",
		"<<: {on_error: deny}",
		"confidence: {user: 1e400}",
		"signals: {s: {command: x}}",
		"signals: {s: {command:t x}, t: {command: y}}",
		"sessions: {wait: 9999999h}",
		"rules: {effect: {x: allow}, off: [1]}",
		"ledger: {levels: {allow: no}}",
		"? [x]\n: y",
		"\"on_error\": deny\non_error: allow",
		"sensitive: {exempt: '**'}",
	} {
		f.Add([]byte(text))
	}
	own := map[string]bool{}
	for _, k := range Keys() {
		own[k.Name] = k.PersonOnly
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p := Parse("f", cardea.ScopeProject, data)
		for _, problem := range p.Problems {
			if problem.Line < 1 || problem.Text == "" {
				t.Errorf("%+v has no place", problem)
			}
		}
		for _, g := range p.Given {
			if own[g.Key] {
				t.Errorf("a project gives %s", g.Key)
			}
		}
		d := Defaults()
		got := Merge(p)
		if d.Default.Attended.Stricter(got.Default.Attended) || got.OnError < d.OnError || got.Judge.Enabled || len(got.Judge.Chain) > 0 || got.Confidence.User < d.Confidence.User {
			t.Errorf("a project loosens: %+v", got.Values)
		}
		// The result is the same when read again.
		for _, k := range Keys() {
			if _, given := p.Gives(k.Name); !given {
				continue
			}
			again := Parse("g", cardea.ScopeProject, []byte(nested(k.Name, k.Text(&p.Values))))
			if diagnostic.HasError(again.Problems) || k.Text(&again.Values) != k.Text(&p.Values) {
				t.Errorf("%s: %s is read again as %s, %v", k.Name, k.Text(&p.Values), k.Text(&again.Values), again.Problems)
			}
		}
	})
}
