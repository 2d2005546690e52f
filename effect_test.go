package cardea_test

import (
	"testing"

	"cardea.dev"
)

func TestJoinsAreSemilattices(t *testing.T) {
	joins := map[string]func(a, b cardea.Effect) cardea.Effect{
		"opinion": cardea.Effect.JoinOpinion,
		"part":    cardea.Effect.JoinPart,
	}
	for name, join := range joins {
		for _, a := range cardea.Effects() {
			if join(a, a) != a {
				t.Errorf("%s join: %v is not idempotent", name, a)
			}
			for _, b := range cardea.Effects() {
				if join(a, b) != join(b, a) {
					t.Errorf("%s join: %v and %v do not commute", name, a, b)
				}
				for _, c := range cardea.Effects() {
					if join(join(a, b), c) != join(a, join(b, c)) {
						t.Errorf("%s join: %v, %v, %v do not associate", name, a, b, c)
					}
				}
			}
		}
	}
}

// The two orders are written out here as docs/design.md#two-joins has them.
func TestJoinOrders(t *testing.T) {
	deciders := []cardea.Effect{cardea.Abstain, cardea.Allow, cardea.Defer, cardea.Ask, cardea.Deny, cardea.Halt}
	parts := []cardea.Effect{cardea.Allow, cardea.Abstain, cardea.Defer, cardea.Ask, cardea.Deny, cardea.Halt}
	for i := range deciders {
		for j := range deciders {
			if got, want := deciders[i].JoinOpinion(deciders[j]), deciders[max(i, j)]; got != want {
				t.Errorf("opinions %v and %v join to %v, want %v", deciders[i], deciders[j], got, want)
			}
			if got, want := parts[i].JoinPart(parts[j]), parts[max(i, j)]; got != want {
				t.Errorf("parts %v and %v join to %v, want %v", parts[i], parts[j], got, want)
			}
			if got, want := parts[i].Stricter(parts[j]), i > j; got != want {
				t.Errorf("%v stricter than %v: %v, want %v", parts[i], parts[j], got, want)
			}
		}
	}
}

func TestOneMorePartNeverAllows(t *testing.T) {
	if got := cardea.JoinParts(nil); got != cardea.Abstain {
		t.Errorf("a call without parts is at %v, want abstain", got)
	}
	var grow func(parts []cardea.Effect, depth int)
	grow = func(parts []cardea.Effect, depth int) {
		before := cardea.JoinParts(parts)
		for _, e := range cardea.Effects() {
			more := append(append([]cardea.Effect{}, parts...), e)
			after := cardea.JoinParts(more)
			if len(parts) > 0 && after == cardea.Allow && before != cardea.Allow {
				t.Fatalf("%v is %v, and one more part makes %v %v", parts, before, more, after)
			}
			if len(parts) > 0 && before.Stricter(after) {
				t.Fatalf("%v is %v, and one more part lowers %v to %v", parts, before, more, after)
			}
			if depth > 1 {
				grow(more, depth-1)
			}
		}
	}
	grow(nil, 4)
}

func TestEffectWords(t *testing.T) {
	for _, e := range cardea.Effects() {
		got, err := cardea.ParseEffect(e.String())
		if err != nil || got != e {
			t.Errorf("ParseEffect(%q) = %v, %v", e, got, err)
		}
	}
	for _, bad := range []string{"", "Allow", "block", "DENY"} {
		if _, err := cardea.ParseEffect(bad); err == nil {
			t.Errorf("ParseEffect(%q) accepts it", bad)
		}
	}
}
