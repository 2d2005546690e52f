package bash

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/bash/generate"
	"cardea.dev/internal/command/bash/shell"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/testing/testrun"
)

// TestTransferIsMonotone checks that each transfer function is monotone: from a state that
// knows less, no more becomes certain. It walks a line from a state, and from that state joined
// with another one. Each command of the first walk must be one that the second may run.
func TestTransferIsMonotone(t *testing.T) {
	g, compared := generate.New(11), 0
	for i := range testrun.Pick(3000, 30000) {
		line, _ := g.Line()
		names := namesIn(line)
		if len(names) == 0 {
			continue
		}
		more := walked(line, func(s *shell.State) { set(s, names, i) })
		less := walked(line, func(s *shell.State) {
			set(s, names, i)
			other := s.Clone()
			set(other, names, i+1)
			s.Join(other)
		})
		if less.beyondLimit() || more.beyondLimit() {
			continue
		}
		compared++
		if opaque(less) {
			continue
		}
		if opaque(withoutSplits(more)) {
			t.Errorf("%q: with less known, it is seen through: %v %q", line, more.Opaque, partTexts(more))
		}
		for _, p := range more.Parts {
			if len(p.Argv) > 0 && !slices.ContainsFunc(less.Parts, func(q cardea.Part) bool { return covers(q, p) }) {
				t.Errorf("%q: %q may run, and is no part where less is known: %q", line, p.Text, partTexts(less))
				break
			}
		}
	}
	if compared < 500 {
		t.Errorf("only %d lines were compared", compared)
	}
}

// withoutSplits removes the spots of values that only bash splits: if the value is
// unknown, the word shows that it may become several.
func withoutSplits(a Analysis) Analysis {
	isSplit := func(o cardea.Opaque) bool { return o.Reason == unknown.ZshSplits.Spot("").Reason }
	a.Opaque, a.Parts = slices.DeleteFunc(slices.Clone(a.Opaque), isSplit), slices.Clone(a.Parts)
	for i, p := range a.Parts {
		a.Parts[i].Opaque = slices.DeleteFunc(slices.Clone(p.Opaque), isSplit)
	}
	return a
}

var variableName = regexp.MustCompile(`\$\{?#?([a-z_]\w*)`)

// namesIn returns the variables that a line expands.
func namesIn(line string) (out []string) {
	for _, m := range variableName.FindAllStringSubmatch(line, -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// set sets each variable to one of some values without blanks.
func set(s *shell.State, names []string, seed int) {
	values := []shell.Value{shell.Known("a"), shell.Known("7"), shell.Removed, shell.SomeNumber, shell.Known("/w/x"), shell.SomeOf([]string{"q"}), shell.Known("")}
	for i, name := range names {
		s.Vars.Set(name, values[(seed+i*3)%len(values)])
	}
}

// walked analyzes a line from a state.
func walked(line string, prepare func(*shell.State)) Analysis {
	w := newWalker(oracleWorlds(nowhereToRun)[0], creations{})
	prepare(w.cur)
	w.script(line)
	w.uncalled()
	w.lateFolders()
	return w.finish()
}

// covers reports whether less, a part that may become several commands, may become more.
func covers(less, more cardea.Part) bool {
	return coverWords(less.Argv, more.Argv)
}

func coverWords(less, more []cardea.Word) bool {
	if len(less) == 0 {
		return len(more) == 0
	}
	f := less[0]
	switch {
	case f.Static:
		return len(more) > 0 && more[0].Static && more[0].Text == f.Text && coverWords(less[1:], more[1:])
	case f.MaySplit && coverWords(less[1:], more):
		return true
	case len(more) == 0:
		return false
	case f.MaySplit && coverWords(less, more[1:]):
		return true
	}
	return (!strings.HasPrefix(more[0].Text, "-") || strings.HasPrefix(f.Text, "-") || f.MayBeOption || !more[0].Static) && coverWords(less[1:], more[1:])
}
