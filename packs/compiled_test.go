package packs_test

import (
	"reflect"
	"slices"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/testing/sharedtest"
	"cardea.dev/packs"
)

// TestCompiledRulesSayTheSame tests over the corpora that compiled rules, unpacked when a
// call reaches them, have the same opinions as rules read from text.
func TestCompiledRulesSayTheSame(t *testing.T) {
	var compiled rules.List
	for all := packs.Rules(); len(all) > 0; {
		file, _ := diagnostic.SplitSource(all[0].Source)
		end := slices.IndexFunc(all, func(r rules.Rule) bool { f, _ := diagnostic.SplitSource(r.Source); return f != file })
		if end < 0 {
			end = len(all)
		}
		list, _, err := rules.OpenCompiled(rules.Compile(all[:end], nil), file, rules.Origin{Scope: cardea.ScopeBuiltin})
		if err != nil {
			t.Fatal(err)
		}
		compiled, all = append(compiled, list...), all[end:]
	}
	whole, unpacked := rules.New(rules.ListOf(packs.Rules()), stand().Options), rules.New(compiled, stand().Options)
	spoke := 0
	for _, corpus := range []string{"tricky.tsv", "dippy-half.tsv"} {
		for i, line := range sharedtest.Corpus(t, corpus, 100) {
			if corpus == "dippy-half.tsv" && i%5 > 0 {
				continue
			}
			_, want := verdict(t, whole, line.Command)
			if _, got := verdict(t, unpacked, line.Command); !reflect.DeepEqual(got, want) {
				t.Fatalf("%q: %+v, want %+v", line.Command, got, want)
			}
			spoke += len(want)
		}
	}
	least := 100
	if !sharedtest.Available(t) {
		least = 30 // the lines of our own
	}
	if spoke < least {
		t.Errorf("only %d opinions were compared", spoke)
	}
}
