package lookaround

import (
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
)

// run is one expression over the rest of the text: it must match at its beginning, or must not.
type run struct {
	prog *syntax.Prog
	not  bool
}

// machine is a set of expressions that run side by side.
type machine struct {
	runs []run
	// fold is set if the whole expression ignores case.
	fold bool
	// classes partition all characters: no expression distinguishes two characters of a class.
	classes [][2]rune
	states  []*state
	names   map[string]int
	words   bool
}

// state is the state of all expressions at one position.
type state struct {
	sets [][]uint32
	// found marks the expressions that have matched.
	found []bool
	begin bool
	// word is set after a word character.
	word bool
	// next are the states after each class, or never.
	next []int
	// done is set if the rest of the text is irrelevant; end if the text may end here.
	done, end bool
}

// never marks a missing state: a required expression can no longer match, or a forbidden
// one has matched.
const never = -1

// Limits of the result.
const (
	maxStates = 80
	maxText   = 8 << 10
)

var (
	errLarge = errors.New("without its lookahead or lookbehind it would be too long")
	errEdge  = errors.New("its lookahead or lookbehind begins with ^ or \\b")
)

// expression returns the machine as an expression, reversed if backwards is set.
func (m *machine) expression(backwards bool) (string, error) {
	m.part()
	m.names, m.words = map[string]int{}, m.usesWords()
	first := &state{begin: true, found: make([]bool, len(m.runs))}
	for _, r := range m.runs {
		first.sets = append(first.sets, []uint32{uint32(r.prog.Start)})
	}
	start, err := m.add(first)
	if err != nil {
		return "", err
	}
	for i := 0; i < len(m.states); i++ {
		for _, c := range m.classes {
			to, err := m.step(m.states[i], c[0])
			if err != nil {
				return "", err
			}
			m.states[i].next = append(m.states[i].next, to)
		}
		if m.states[i].end, err = m.ends(m.states[i]); err != nil {
			return "", err
		}
	}
	if start == never {
		return `[^\x00-\x{10FFFF}]`, nil
	}
	return m.write(start, backwards)
}

// part computes the classes of characters.
func (m *machine) part() {
	cuts := map[rune]bool{0: true, '\n': true, '\n' + 1: true, '0': true, '9' + 1: true, 'A': true, 'Z' + 1: true, '_': true, '_' + 1: true, 'a': true, 'z' + 1: true}
	for _, r := range m.runs {
		for _, in := range r.prog.Inst {
			ranges := in.Rune
			if len(ranges) == 1 {
				ranges = nil
				for c, first := in.Rune[0], true; first || c != in.Rune[0]; c, first = fold(in, c), false {
					ranges = append(ranges, c, c)
				}
			}
			for i := 0; i+1 < len(ranges); i += 2 {
				cuts[ranges[i]], cuts[ranges[i+1]+1] = true, true
			}
		}
	}
	var all []rune
	for c := range cuts {
		if c <= unicode.MaxRune {
			all = append(all, c)
		}
	}
	slices.Sort(all)
	for i, c := range all {
		last := rune(unicode.MaxRune)
		if i+1 < len(all) {
			last = all[i+1] - 1
		}
		m.classes = append(m.classes, [2]rune{c, last})
	}
}

// fold returns the next character that an instruction treats as equal to c.
func fold(in syntax.Inst, c rune) rune {
	if syntax.Flags(in.Arg)&syntax.FoldCase == 0 {
		return c
	}
	return unicode.SimpleFold(c)
}

// add returns the number of a state, or never for an impossible one.
func (m *machine) add(s *state) (int, error) {
	s.done = true
	for i, r := range m.runs {
		s.found[i] = s.found[i] || slices.ContainsFunc(s.sets[i], func(pc uint32) bool { return matched(r.prog, pc, 0) })
		switch {
		case r.not && s.found[i]:
			return never, nil
		case s.found[i]:
			s.sets[i] = nil
		case len(s.sets[i]) > 0:
			s.done = false
		case !r.not:
			return never, nil
		}
	}
	name := "done"
	if !s.done {
		name = s.name()
	}
	if at, there := m.names[name]; there {
		return at, nil
	}
	if len(m.states) == maxStates {
		return never, errLarge
	}
	m.names[name] = len(m.states)
	m.states = append(m.states, s)
	return m.names[name], nil
}

// name returns a text that identifies the state.
func (s *state) name() string {
	var b []byte
	for i, set := range s.sets {
		for _, pc := range set {
			b = binary.AppendUvarint(b, uint64(pc)+2)
		}
		b = append(b, 0)
		b = strconv.AppendBool(b, s.found[i])
	}
	return string(strconv.AppendBool(strconv.AppendBool(b, s.begin), s.word))
}

// matched reports whether an expression has matched at an instruction, for any rest of
// the text.
func matched(prog *syntax.Prog, pc uint32, depth int) bool {
	in := prog.Inst[pc]
	switch in.Op {
	case syntax.InstMatch:
		return true
	case syntax.InstCapture, syntax.InstNop:
		return matched(prog, in.Out, depth)
	case syntax.InstAlt, syntax.InstAltMatch:
		return depth < len(prog.Inst) && (matched(prog, in.Out, depth+1) || matched(prog, in.Arg, depth+1))
	}
	return false
}

// step returns the state after a character.
func (m *machine) step(s *state, c rune) (int, error) {
	if s.done {
		return never, nil // the rest of the text is irrelevant
	}
	out := &state{found: slices.Clone(s.found), word: syntax.IsWordChar(c)}
	for i, r := range m.runs {
		reached, found, err := s.reach(r.prog, s.sets[i], c)
		if err != nil {
			return never, err
		}
		out.found[i] = out.found[i] || found
		var set []uint32
		for _, pc := range reached {
			if in := r.prog.Inst[pc]; in.MatchRune(c) {
				set = append(set, in.Out)
			}
		}
		slices.Sort(set)
		out.sets = append(out.sets, slices.Compact(set))
	}
	out.word = out.word && m.words
	return m.add(out)
}

// usesWords reports whether an expression tests the edges of words.
func (m *machine) usesWords() bool {
	return slices.ContainsFunc(m.runs, func(r run) bool {
		return slices.ContainsFunc(r.prog.Inst, func(in syntax.Inst) bool {
			return in.Op == syntax.InstEmptyWidth && syntax.EmptyOp(in.Arg)&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0
		})
	})
}

// ends reports whether the text may end in a state.
func (m *machine) ends(s *state) (bool, error) {
	for i, r := range m.runs {
		_, found, err := s.reach(r.prog, s.sets[i], -1)
		if err != nil {
			return false, err
		}
		if (s.found[i] || found) == r.not {
			return false, nil
		}
	}
	return true, nil
}

// reach returns the instructions that an expression can reach before a character, -1 for
// the end, and whether it has matched by then.
func (s *state) reach(prog *syntax.Prog, from []uint32, c rune) (reached []uint32, found bool, err error) {
	before := rune('!')
	if s.word {
		before = 'a'
	}
	holds := syntax.EmptyOpContext(before, c)
	seen := map[uint32]bool{}
	var walk func(pc uint32)
	walk = func(pc uint32) {
		if seen[pc] {
			return
		}
		seen[pc] = true
		in := prog.Inst[pc]
		switch in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			walk(in.Out)
			walk(in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			walk(in.Out)
		case syntax.InstEmptyWidth:
			op := syntax.EmptyOp(in.Arg)
			if op&(syntax.EmptyBeginLine|syntax.EmptyBeginText) != 0 || s.begin && op&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0 {
				err = errEdge
			}
			if op&^holds == 0 {
				walk(in.Out)
			}
		case syntax.InstMatch:
			found = true
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			reached = append(reached, pc)
		}
	}
	for _, pc := range from {
		walk(pc)
	}
	return reached, found, err
}

// edges returns the expressions between states, with one state before the start and one
// after all ends.
func (m *machine) edges(start int, backwards bool) map[[2]int]string {
	end := `\z`
	if backwards {
		end = `\A`
	}
	n := len(m.states)
	edges := map[[2]int]string{{n, start}: ""}
	for i, s := range m.states {
		by := map[int][][2]rune{}
		for c, to := range s.next {
			if to != never {
				by[to] = append(by[to], m.classes[c])
			}
		}
		for to, ranges := range by {
			edges[[2]int{i, to}] = classText(ranges, m.fold)
		}
		switch {
		case s.done:
			edges[[2]int{i, n + 1}] = ""
		case s.end:
			edges[[2]int{i, n + 1}] = end
		}
	}
	return edges
}

// write returns the machine as an expression: it removes one state after another, and
// adds the paths through it to the edges around it.
func (m *machine) write(start int, backwards bool) (string, error) {
	n := len(m.states)
	edges := m.edges(start, backwards)
	join := func(parts ...string) string {
		if backwards {
			slices.Reverse(parts)
		}
		return strings.Join(parts, "")
	}
	for out := n - 1; out >= 0; out-- {
		loop := ""
		if text, there := edges[[2]int{out, out}]; there && text != "" {
			loop = group(text) + "*"
		}
		var into, from []int
		for edge := range edges {
			if edge[1] == out && edge[0] != out {
				into = append(into, edge[0])
			}
			if edge[0] == out && edge[1] != out {
				from = append(from, edge[1])
			}
		}
		sort.Ints(into)
		sort.Ints(from)
		for _, a := range into {
			for _, b := range from {
				through := join(group(edges[[2]int{a, out}]), loop, group(edges[[2]int{out, b}]))
				if old, there := edges[[2]int{a, b}]; there && old != through {
					through = old + "|" + through
				}
				if len(through) > maxText {
					return "", errLarge
				}
				edges[[2]int{a, b}] = through
			}
		}
		for edge := range edges {
			if edge[0] == out || edge[1] == out {
				delete(edges, edge)
			}
		}
	}
	text, there := edges[[2]int{n, n + 1}]
	if !there {
		return `[^\x00-\x{10FFFF}]`, nil
	}
	return group(text), nil
}

// group returns a text, in a group if it needs one.
func group(text string) string {
	if n, err := item(text + " "); text == "" || err == nil && n == len(text) {
		return text
	}
	return "(?:" + text + ")"
}

// classText returns a class of characters, negated if that is shorter.
func classText(ranges [][2]rune, fold bool) string {
	var in [][2]rune
	for _, r := range ranges {
		if k := len(in) - 1; k >= 0 && in[k][1]+1 == r[0] {
			in[k][1] = r[1]
		} else {
			in = append(in, r)
		}
	}
	var out [][2]rune
	from := rune(0)
	for _, r := range in {
		if from < r[0] {
			out = append(out, [2]rune{from, r[0] - 1})
		}
		from = r[1] + 1
	}
	if from <= unicode.MaxRune {
		out = append(out, [2]rune{from, unicode.MaxRune})
	}
	switch {
	case len(out) == 0:
		return `(?s:.)`
	case isOne(in, fold):
		return regexp.QuoteMeta(string(unicode.ToLower(in[0][0])))
	}
	not, use := "", in
	if len(out) < len(in) || len(out) == len(in) && out[len(out)-1][1] != unicode.MaxRune {
		not, use = "^", out
	}
	var b strings.Builder
	for _, r := range use {
		b.WriteString(runeText(r[0]))
		if r[1] > r[0] {
			b.WriteString("-" + runeText(r[1]))
		}
	}
	return "[" + not + b.String() + "]"
}

// isOne reports whether a class is one character, or with fold one character in all its cases.
func isOne(in [][2]rune, fold bool) bool {
	c := in[0][0]
	n := 0
	for _, r := range in {
		n += int(r[1]-r[0]) + 1
	}
	if c < ' ' || c > 0x7f || !fold {
		return n == 1 && c > ' ' && c < 0x7f && !unicode.IsUpper(c)
	}
	for next := unicode.SimpleFold(c); next != c; next = unicode.SimpleFold(next) {
		n--
	}
	return n == 1
}

// runeText returns a character as an expression.
func runeText(c rune) string {
	switch {
	case c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == ' ' || c == '/' || c == '=' || c == '_' || c == ':' || c == ',':
		return string(c)
	case c > ' ' && c < 0x7f:
		return `\` + string(c)
	case c == '\n':
		return `\n`
	}
	return fmt.Sprintf(`\x{%x}`, c)
}
