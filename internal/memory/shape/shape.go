// Package shape tells whether a call has the same shape as another one: whether a person
// who allowed the one has allowed the other, too (docs/near.md).
//
// Two calls have the same shape if nothing differs but words of which command knowledge
// says that they may (packs/commands/similar.yaml), and these words name something of
// the same class in the same place: another test of the project, another file of the
// same folder. Whatever is not known to be harmless is another shape. How alike two
// calls look, word by word or in meaning, plays no role here: "git push -f" looks much
// like "git push".
package shape

import (
	"slices"
	"strconv"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/knowledge"
)

// World is what the comparison asks of the machine.
type World struct {
	// Resolve follows the symbolic links of an absolute path; "" is a path that is not
	// known.
	Resolve func(path string) string
	// Secret reports whether a text holds a secret. Nil: none does.
	Secret func(text string) bool
}

// Result says how two calls compare.
type Result struct {
	// Same is set where they have the same shape.
	Same bool
	// Words say in which way they are alike, or why they are not, for a person: "the same
	// shape, other operand", "another shape: it has the option --force".
	Words string
}

// The words of calls that have the same shape.
const (
	sameOperand = "the same shape, other operand"
	sameText    = "the same shape, other text"
	sameCommand = "the same command, written in another way"
)

// Compare tells whether a call has the shape of one that a person allowed. Both are
// analysed events, on the machine as it is now.
func Compare(allowed, candidate *cardea.Event, w World) Result {
	c := comparison{world: w, roots: append([]string{candidate.Project}, candidate.Roots...)}
	if why := c.calls(allowed, candidate); why != "" {
		return Result{Words: "another shape: " + why}
	}
	return c.result()
}

// Parts tells whether one part of a call has the shape of a part that a person allowed by
// itself, in whatever line it stands. Whoever asks makes sure that the line does nothing
// to the part but start it, in both calls.
func Parts(allowed *cardea.Part, candidate *cardea.Event, part int, w World) Result {
	c := comparison{world: w, roots: append([]string{candidate.Project}, candidate.Roots...)}
	a, b := lone(allowed), lone(&candidate.Call.Parts[part])
	if why := c.parts(&a, &b); why != "" {
		return Result{Words: "another shape: " + why}
	}
	return c.result()
}

// lone is a part without what stands around it in its line.
func lone(p *cardea.Part) cardea.Part {
	out := *p
	out.Via, out.Wrappers, out.Outer = nil, nil, nil
	out.Access = slices.DeleteFunc(slices.Clone(p.Access), func(a cardea.Access) bool { return a.Redirect })
	return out
}

// result is what two calls of the same shape have in common.
func (c *comparison) result() Result {
	switch {
	case c.otherOperand:
		return Result{true, sameOperand}
	case c.otherText:
		return Result{true, sameText}
	}
	return Result{true, sameCommand}
}

// comparison is one look at two calls.
type comparison struct {
	world World
	// roots are the folders of the work.
	roots []string
	// otherOperand and otherText are set where a word differs.
	otherOperand, otherText bool
}

// calls is why the calls as a whole differ, "" where they do not.
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

// skeletons is why what the shell does around the commands differs.
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

// parts is why two parts differ.
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

// sameOuter reports whether the commands around two parts differ in nothing but the words
// of the parts.
func sameOuter(a, b *cardea.Part) bool {
	return slices.EqualFunc(a.Outer, b.Outer, func(x, y cardea.Outer) bool {
		return x.Elevated == y.Elevated && slices.Equal(front(x.Argv, a.Argv), front(y.Argv, b.Argv))
	})
}

// front are the words in front of those of a part.
func front(outer, argv []cardea.Word) []cardea.Word {
	n := len(outer) - len(argv)
	if n < 0 || !slices.Equal(outer[n:], argv) {
		return outer
	}
	return outer[:n]
}

// otherCommand is why the commands differ.
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

// usual is the command of a part under its usual name.
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

// wordAt is a word, and how many words of the usual command stand in front of it.
type wordAt struct {
	cardea.Word
	at int
}

// behind are the words of a part that are no words of its command.
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

// words is why two parts of the same command differ in more than what command knowledge
// lets differ.
func (c *comparison) words(a, b *cardea.Part) string {
	x, known := knowledge.SlotsOf(a)
	y, known2 := knowledge.SlotsOf(b)
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

// kindOf is what the words that differ are, where deletes may follow from them.
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

// options pairs the options of two parts, in whatever order they stand. Those of the same
// name keep theirs.
func options(a, b []knowledge.Slot) (pairs []pair, why string) {
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

// unlike says in which word two parts differ of which nothing may.
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

// onlyOther is the place of the only word in which two lists differ, -1 where there is no
// such word.
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

// sameBag reports whether two lists have the same words, in whatever order.
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

// named reports whether a word of a part is a path: what is copied into a folder has a
// name there that no word gives.
func named(p *cardea.Part, file string) bool {
	return slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return w.Static && knowledge.Absolute(p.Dir, w.Text) == file })
}

// accesses is why two parts do something else, given of which kind the words are that
// differ, "" where none does.
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
