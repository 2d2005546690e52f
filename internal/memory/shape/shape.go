// Package shape compares the shapes of two calls: whether a person who allowed one of them has also
// allowed the other (docs/near.md).
//
// Two calls have the same shape if they differ only in words that command knowledge allows to
// differ (packs/commands/similar.yaml). These words must name something of the same class in the
// same place: another test of the project, another file of the same folder. Any difference that is
// not known to be harmless is another shape. It does not matter how similar two calls look, word by
// word or in meaning: "git push -f" looks much like "git push".
package shape

import (
	"slices"
	"strconv"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/knowledge"
)

// Lookups provides the facts about the machine that a comparison needs.
type Lookups struct {
	// Resolve follows the symbolic links of an absolute path; "" means an unknown path.
	Resolve func(path string) string
	// Secret reports whether a text holds a secret. With nil, no text does.
	Secret func(text string) bool
}

// Result is the result of a comparison.
type Result struct {
	// Same is set where they have the same shape.
	Same bool
	// Words are the reason for a person: "the same shape, other operand", "another shape: it has
	// the option --force".
	Words string
}

// The reasons of calls that have the same shape.
const (
	sameOperand = "the same shape, other operand"
	sameText    = "the same shape, other text"
	sameCommand = "the same command, written in another way"
)

// Compare reports whether a call has the shape of one that a person allowed. Both are analysed
// events, on the machine as it is now.
func Compare(allowed, candidate *cardea.Event, w Lookups) Result {
	c := comparison{system: w, roots: append([]string{candidate.Project}, candidate.Roots...)}
	if why := c.calls(allowed, candidate); why != "" {
		return Result{Words: "another shape: " + why}
	}
	return c.result()
}

// Parts reports whether one part of a call has the shape of a part that a person allowed by itself,
// in any line. The caller ensures that in both calls the line does nothing to the part but start
// it.
func Parts(allowed *cardea.Part, candidate *cardea.Event, part int, w Lookups) Result {
	c := comparison{system: w, roots: append([]string{candidate.Project}, candidate.Roots...)}
	a, b := lone(allowed), lone(&candidate.Call.Parts[part])
	if why := c.parts(&a, &b); why != "" {
		return Result{Words: "another shape: " + why}
	}
	return c.result()
}

// lone returns a part without its surrounding line.
func lone(p *cardea.Part) cardea.Part {
	out := *p
	out.Via, out.Wrappers, out.Outer = nil, nil, nil
	out.Access = slices.DeleteFunc(slices.Clone(p.Access), func(a cardea.Access) bool { return a.Redirect })
	return out
}

// result returns the result for two calls of the same shape.
func (c *comparison) result() Result {
	switch {
	case c.otherOperand:
		return Result{true, sameOperand}
	case c.otherText:
		return Result{true, sameText}
	}
	return Result{true, sameCommand}
}

// comparison is one comparison of two calls.
type comparison struct {
	system Lookups
	// roots are the folders that belong to the work.
	roots []string
	// otherOperand and otherText are set where a word differs.
	otherOperand, otherText bool
}

// calls returns the reason why the calls as a whole differ, or "".
func (c *comparison) calls(allowed, candidate *cardea.Event) string {
	a, b := allowed.Call, candidate.Call
	switch {
	case a == nil || b == nil || len(b.Parts) == 0:
		return "there is nothing to compare"
	case a.Tool != b.Tool:
		return "another tool: " + b.Tool + ", not " + a.Tool
	case allowed.BeyondParts() != "":
		return "what was allowed cannot be compared: " + allowed.BeyondParts()
	case candidate.BeyondParts() != "":
		return candidate.BeyondParts()
	}
	if why := skeletons(a, b); why != "" {
		return why
	}
	switch {
	case len(a.Parts) != len(b.Parts):
		return "it starts other commands"
	case !slices.Equal(a.Flows, b.Flows):
		return "data flows in another way"
	}
	for i := range b.Parts {
		if why := c.parts(&a.Parts[i], &b.Parts[i]); why != "" {
			return why
		}
	}
	return ""
}

// skeletons returns the reason why the shell constructs around the commands differ, or "".
func skeletons(a, b *cardea.Call) string {
	x, isShell := a.Input["command"].(string)
	y, isShell2 := b.Input["command"].(string)
	if !isShell && !isShell2 {
		return ""
	}
	first, ok := grammar.Skeleton(x)
	second, ok2 := grammar.Skeleton(y)
	if !isShell || !isShell2 || !ok || !ok2 || first != second {
		return "other operators, redirections or variables"
	}
	return ""
}

// parts returns the reason why two parts differ, or "".
func (c *comparison) parts(a, b *cardea.Part) string {
	for _, p := range [...]*cardea.Part{a, b} {
		if p.Coverage != cardea.Complete || len(p.Opaque) > 0 {
			return "something in it cannot be seen through"
		}
	}
	switch {
	case a.Dir != b.Dir || a.Dir == "":
		return "it runs in another folder"
	case a.Elevated != b.Elevated || a.Remote != b.Remote:
		return "it runs as another user, or elsewhere"
	case !slices.Equal(a.Via, b.Via) || !slices.Equal(a.Wrappers, b.Wrappers) || !sameOuter(a, b):
		return "it is started in another way"
	case !slices.Equal(a.Assigns, b.Assigns):
		return "it sets other variables"
	case len(a.Argv) == 0 && len(b.Argv) == 0:
		return c.files(a, b)
	case len(a.Argv) == 0 || len(b.Argv) == 0:
		return "it starts another program"
	case slices.Equal(a.Argv, b.Argv):
		return c.accesses(a, b, "")
	}
	if why := otherCommand(a, b); why != "" {
		return why
	}
	if equalWords(a, b) {
		return c.accesses(a, b, "")
	}
	if b.Elevated || b.Remote {
		return "what runs as another user, or elsewhere, must be the same word by word"
	}
	return c.words(a, b)
}

// sameOuter reports whether the commands around two parts differ only in the words of the parts.
func sameOuter(a, b *cardea.Part) bool {
	return slices.EqualFunc(a.Outer, b.Outer, func(x, y cardea.Outer) bool {
		return x.Elevated == y.Elevated && slices.Equal(front(x.Argv, a.Argv), front(y.Argv, b.Argv))
	})
}

// front returns the words before those of a part.
func front(outer, argv []cardea.Word) []cardea.Word {
	n := len(outer) - len(argv)
	if n < 0 || !slices.Equal(outer[n:], argv) {
		return outer
	}
	return outer[:n]
}

// otherCommand returns the reason why the commands differ, or "".
func otherCommand(a, b *cardea.Part) string {
	x, y := usual(a), usual(b)
	switch {
	case slices.Equal(x, y):
		return ""
	case len(x) == 0 || len(y) == 0 || x[0] != y[0]:
		return "another program: " + strings.Join(b.Command, " ") + ", not " + strings.Join(a.Command, " ")
	}
	return "another subcommand: " + strings.Join(y, " ") + ", not " + strings.Join(x, " ")
}

// usual returns the command of a part under its usual name.
func usual(p *cardea.Part) []string {
	if p.UsualCommand != nil {
		return p.UsualCommand
	}
	return p.Command
}

// equalWords reports whether two parts are the same command under two names:
// docker-compose up and docker compose up.
func equalWords(a, b *cardea.Part) bool {
	return slices.Equal(usual(a), usual(b)) && slices.Equal(behind(a), behind(b))
}

// wordAt is a word with the number of words of the usual command before it.
type wordAt struct {
	cardea.Word
	at int
}

// behind returns the words of a part that do not belong to its command.
func behind(p *cardea.Part) (out []wordAt) {
	named, longer := 0, len(usual(p))-len(p.Command)
	for _, w := range p.Argv {
		if named < len(p.Command) && w.Static && w.Text == p.Command[named] {
			named++
			continue
		}
		out = append(out, wordAt{w, named + longer})
	}
	return out
}

// words returns the reason why two parts of the same command differ in more than command knowledge
// allows, or "".
func (c *comparison) words(a, b *cardea.Part) string {
	x, known := knowledge.ArgumentsOf(a)
	y, known2 := knowledge.ArgumentsOf(b)
	if !known || !known2 {
		return c.unlike(a, b)
	}
	if !slices.Equal(x.Fixed, y.Fixed) {
		return "other words: " + strings.Join(y.Fixed, " ") + ", not " + strings.Join(x.Fixed, " ")
	}
	var differing []pair
	options, why := options(x.Options, y.Options)
	if why != "" {
		return why
	}
	for _, p := range options {
		if p.first.Text != p.second.Text {
			differing = append(differing, p)
		}
	}
	if len(x.Operands) != len(y.Operands) {
		return "it has " + strconv.Itoa(len(y.Operands)) + " operands, not " + strconv.Itoa(len(x.Operands))
	}
	var all []pair
	for i, o := range x.Operands {
		p := pair{o, y.Operands[i]}
		if p.first.Behind != p.second.Behind || p.first.Kind != p.second.Kind {
			return "its words stand in another order"
		}
		all = append(all, p)
		if p.first.Text != p.second.Text {
			if !hasPrefix(x.Prefixes, p.first.Text) || !hasPrefix(x.Prefixes, p.second.Text) {
				return p.second.Text + " is not one of the project's own, as those that begin with " + strings.Join(x.Prefixes, ", ") + " are"
			}
			differing = append(differing, p)
		}
	}
	if why := c.differ(differing, all, b.Dir); why != "" {
		return why
	}
	return c.accesses(a, b, kindOf(differing))
}

func hasPrefix(prefixes []string, text string) bool {
	return len(prefixes) == 0 || slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(text, p) })
}

// kindOf returns the kind of the words that differ, "mixed" for several kinds, or "".
func kindOf(differing []pair) string {
	for _, p := range differing {
		if p.first.Kind != differing[0].first.Kind {
			return "mixed"
		}
	}
	if len(differing) == 0 {
		return ""
	}
	return differing[0].first.Kind
}

// options pairs the options of two parts, in any order. Options of the same name keep their order.
func options(a, b []knowledge.Argument) (pairs []pair, why string) {
	taken := make([]bool, len(b))
next:
	for _, o := range a {
		for i, other := range b {
			if !taken[i] && other.Name == o.Name && other.Behind == o.Behind {
				taken[i] = true
				pairs = append(pairs, pair{o, other})
				continue next
			}
		}
		return nil, "it lacks the option " + o.Name
	}
	for i, o := range b {
		if !taken[i] {
			return nil, "it has the option " + o.Name
		}
	}
	return pairs, ""
}

// unlike returns the reason for two parts of a command in which no word may differ.
func (c *comparison) unlike(a, b *cardea.Part) string {
	if i := onlyOther(a.Argv, b.Argv); i >= 0 {
		return "in " + strings.Join(b.Command, " ") + ", " + b.Argv[i].Text + " may not stand for " + a.Argv[i].Text
	}
	if sameBag(a.Argv, b.Argv) {
		return "its words stand in another order"
	}
	given := func(p *cardea.Part, name string) bool {
		return slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return o.Name == name })
	}
	for _, o := range b.Options {
		if !given(a, o.Name) {
			return "it has the option " + o.Name
		}
	}
	for _, o := range a.Options {
		if !given(b, o.Name) {
			return "it lacks the option " + o.Name
		}
	}
	for i, w := range b.Argv {
		if i >= len(a.Argv) {
			return "it has the word " + w.Text
		}
		if w != a.Argv[i] {
			return "in " + strings.Join(b.Command, " ") + ", " + w.Text + " may not stand for " + a.Argv[i].Text
		}
	}
	return "it lacks the word " + a.Argv[len(b.Argv)].Text
}

// onlyOther returns the index of the only word in which two lists differ, or -1.
func onlyOther(a, b []cardea.Word) int {
	at := -1
	if len(a) != len(b) {
		return at
	}
	for i := range b {
		switch {
		case a[i] == b[i]:
		case at >= 0:
			return -1
		default:
			at = i
		}
	}
	return at
}

// sameBag reports whether two lists have the same words, in any order.
func sameBag(a, b []cardea.Word) bool {
	sorted := func(list []cardea.Word) []string {
		out := make([]string, len(list))
		for i, w := range list {
			out[i] = w.Text
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(sorted(a), sorted(b))
}

// named reports whether a word of a part is the path file. A file that is copied into a folder has
// a name there that appears in no word.
func named(p *cardea.Part, file string) bool {
	return slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return w.Static && knowledge.Absolute(p.Dir, w.Text) == file })
}

// accesses returns the reason why two parts have different effects, or "". kind is the kind of the
// words that differ, "" for none.
func (c *comparison) accesses(a, b *cardea.Part, kind string) string {
	if len(a.Access) != len(b.Access) {
		return "it does more than the other, or less"
	}
	for i := range b.Access {
		x, y := a.Access[i], b.Access[i]
		if x == y {
			continue
		}
		path := y.Path
		x.Path, x.Spelled, y.Path, y.Spelled = "", "", "", ""
		switch {
		case kind == "" || x != y || path == "" || y.Redirect || y.Glob || y.HoldsKey:
			return "it touches other files in another way"
		case y.Kind != cardea.Read && !named(b, path):
			return "it writes a file that its words do not name"
		case y.Kind != cardea.Read && y.Kind != cardea.Write && !(y.Kind == cardea.Delete && kind == "temporary"):
			return "it may " + string(y.Kind) + " something else"
		}
	}
	return ""
}
