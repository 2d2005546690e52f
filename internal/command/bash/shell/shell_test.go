package shell

import (
	"math/rand"
	"slices"
	"testing"

	"cardea.dev/internal/command/bash/unknown"
)

// atMost reports whether every certain fact of b holds for a, and b has every possible
// text of a.
func atMost(a, b Value) bool {
	if a.Presence&^b.Presence != 0 {
		return false
	}
	for fact, holds := range map[Shape]bool{
		Exact:     a.Known() && a.Text == b.Text,
		List:      a.IsArray() && slices.Equal(a.May, b.May),
		Numeric:   a.Numeric(),
		Evaluable: a.Evaluable(),
		Listed:    a.Has(Listed) || a.Known(),
	} {
		if b.Has(fact) && !holds {
			return false
		}
	}
	if b.Shape&^a.Shape&(NonEmpty|NoDash|PlainWord|OneWordOrNone) != 0 || b.Found != nil && a.Found != b.Found {
		return false
	}
	return b.Has(Numeric) || len(b.May) >= MaxTexts || !slices.ContainsFunc(a.Texts(), func(text string) bool { return !slices.Contains(b.Texts(), text) })
}

// stateAtMost is like atMost, for states.
func stateAtMost(a, b *State) bool {
	for name := range b.Vars.All() {
		if name != "PWD" && !atMost(a.Vars.Get(name), b.Vars.Get(name)) {
			return false
		}
	}
	for name := range a.Vars.All() {
		if name == "PWD" && b.Folder == "" {
			continue // the interpreter records the folders that a line may enter
		}
		if !atMost(a.Vars.Get(name), b.Vars.Get(name)) {
			return false
		}
	}
	switch {
	case b.Folder != "" && (a.Folder != b.Folder || a.FolderMayFail != b.FolderMayFail):
	case b.ParamsKnown && !(a.ParamsKnown && slices.Equal(a.Params, b.Params)):
	case slices.ContainsFunc(a.Exported, func(name string) bool { return !slices.Contains(b.Exported, name) }):
	case a.ExportsAll && !b.ExportsAll, a.Later.Code != "" && b.Later.Code == "", !a.Forgotten.None() && b.Forgotten.None():
	default:
		return true
	}
	return false
}

var someTexts = []string{"", "1", "-2", "a", "b c", "/x", "*", "a[1]", "010"}

func someValue(r *rand.Rand) Value {
	text := func() string { return someTexts[r.Intn(len(someTexts))] }
	switch r.Intn(10) {
	case 0:
		return Untouched
	case 1:
		return Removed
	case 2, 3, 4:
		return Known(text())
	case 5:
		return Array([]string{text(), text()})
	case 6:
		return SomeNumber
	case 7:
		return SomeProcess
	case 8:
		return SomeEvaluable
	}
	return SomeOf([]string{text(), text()})
}

func someState(r *rand.Rand, facts *Facts) *State {
	s := New("/w", "/h", "bash")
	s.Facts = facts
	for _, name := range []string{"x", "y", "HOME"} {
		if r.Intn(3) > 0 {
			s.Vars.Set(name, someValue(r))
		}
	}
	switch r.Intn(4) {
	case 0:
		s.Enter("/w/a")
	case 1:
		s.Enter("")
	case 2:
		s.FolderMayFail = true
	}
	for range r.Intn(3) {
		s.Params = append(s.Params, someTexts[r.Intn(len(someTexts))])
	}
	s.ParamsKnown = r.Intn(2) == 0
	if r.Intn(3) == 0 {
		s.Exported = []string{"x"}
	}
	s.ExportsAll = r.Intn(4) == 0
	if r.Intn(5) == 0 {
		s.Later = unknown.TooManyExports.Spot("")
	}
	return s
}

// TestJoinOfValues checks that Join is an upper bound of both values, the same in either
// order, and that a value joined with itself is that value.
func TestJoinOfValues(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 20000 {
		a, b := someValue(r), someValue(r)
		j := Join(a, b)
		if !atMost(a, j) || !atMost(b, j) {
			t.Fatalf("%+v and %+v join to %+v", a, b, j)
		}
		if o := Join(b, a); !atMost(j, o) || !atMost(o, j) {
			t.Fatalf("%+v and %+v join to %+v, and in the other order to %+v", a, b, j, o)
		}
		if s := Join(a, a); !atMost(s, a) || !atMost(a, s) {
			t.Fatalf("%+v with itself joins to %+v", a, s)
		}
		c := someValue(r)
		if l, o := Join(Join(a, b), c), Join(a, Join(b, c)); l.Shape != o.Shape && (l.Numeric() || o.Numeric()) && a.Shape&Listed == 0 {
			t.Fatalf("%+v, %+v and %+v join to %+v and %+v", a, b, c, l, o)
		}
		if f := a.Forget(); !atMost(a, f) || f.Shape != 0 {
			t.Fatalf("%+v is forgotten as %+v", a, f)
		}
	}
}

// TestJoinOfStates checks that Join is an upper bound of states, that Clone makes them
// independent, and that Forget is above all.
func TestJoinOfStates(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	for range 20000 {
		facts := New("", "", "").Facts
		a, b := someState(r, facts), someState(r, facts)
		before, j := a.Clone(), a.Clone()
		j.Join(b)
		if !stateAtMost(a, j) || !stateAtMost(b, j) {
			t.Fatalf("%+v and %+v join to %+v", a, b, j)
		}
		if !stateAtMost(a, before) || !stateAtMost(before, a) {
			t.Fatalf("a join of its clone has changed %+v to %+v", before, a)
		}
		f := j.Clone()
		f.Forget(unknown.AnyCommand)
		f.Enter("/w/b")
		if f.Folder != "" || f.ParamsKnown || f.Forgotten.None() {
			t.Fatalf("after Forget, it is %+v", f)
		}
		f.Join(a)
		if f.Forgotten.None() || f.Folder != "" || f.ParamsKnown {
			t.Fatalf("what is forgotten comes back by a join: %+v", f)
		}
	}
}
