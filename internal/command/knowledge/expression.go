package knowledge

import (
	"path"
	"regexp/syntax"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
)

// This file reads the expressions of find (POSIX, GNU findutils 4.9, macOS 14): which
// names can a file have that an action comes to? The answer is patterns of paths. They
// may say more than is true, and never less.

// The patterns with which a search begins: all that lies below its folder, and the folder.
const anythingBelow, theFolder = "**/*", "."

// mostPatterns is how many patterns an expression is taken apart into. One with more of
// them may come to anything.
const mostPatterns = 32

// expression is one that is being read. What its methods are given and give are the
// patterns of the names that a file can have there.
type expression struct {
	findWords
	folder string // what is searched, as it is written
	// acts are the actions that matter. removes is set where they delete one by one, and
	// so a folder only if it is empty.
	acts    []string
	removes bool
	// found are the patterns with which one of the actions is reached.
	found []string
	// names is set where the expression tests names; unclear where it cannot be read.
	names, unclear bool
	// narrow is set where a test of something else than names leaves files out. whole is set
	// where an action comes to files without such a test.
	narrow, whole bool
}

// findWords are the words of an expression, and how far they are read.
type findWords struct {
	words     []cardea.Word
	values    []string // the tests that a value follows
	at, depth int
}

// readExpression reads an expression up to its actions, or without any to its end.
func readExpression(e expression) expression {
	all := []string{anythingBelow, theFolder}
	end := e.list(all)
	if len(e.acts) == 0 {
		e.found, e.whole = end, !e.narrow
	}
	if e.unclear || e.at < len(e.words) {
		e.found, e.names, e.whole = all, true, true
	}
	return e
}

// is reports whether the next word is one of some.
func (f *findWords) is(words ...string) bool {
	return f.at < len(f.words) && slices.Contains(words, f.words[f.at].Text)
}

// tooDeep notes that one more part is read within another, and stops where these are too many.
func (f *findWords) tooDeep() bool {
	const deepest = 64
	if f.depth++; f.depth > deepest {
		f.at = len(f.words)
	}
	return f.depth > deepest
}

// skipCommand passes over the words of a command that is started.
func (f *findWords) skipCommand() {
	for f.at < len(f.words) && !endsCommand(Word{Word: f.words[f.at-1]}, Word{Word: f.words[f.at]}) {
		f.at++
	}
	f.at++
}

func (e *expression) list(in []string) []string {
	before := e.narrow
	out := e.alternatives(in)
	for e.is(",") {
		e.at++
		e.narrow = before
		out = e.alternatives(in)
	}
	return out
}

func (e *expression) alternatives(in []string) []string {
	before := e.narrow
	out := e.all(in)
	for e.is("-o", "-or") {
		e.at++
		first := e.narrow
		e.narrow = before
		out = e.joined(out, e.all(in)) // whatever the first one says
		e.narrow = e.narrow && first
	}
	return out
}

// joined are the patterns of two, each once. Where these are too many, they may be any.
func (e *expression) joined(a, b []string) []string {
	out := slices.Clone(a)
	for _, pattern := range b {
		if !slices.Contains(out, pattern) {
			out = append(out, pattern)
		}
		if len(out) > mostPatterns {
			e.unclear = true
			return []string{anythingBelow, theFolder}
		}
	}
	return out
}

func (e *expression) all(in []string) []string {
	for e.at < len(e.words) && !e.is("-o", "-or", ",", ")") {
		if e.is("-a", "-and") {
			e.at++
			continue
		}
		in = e.one(in)
	}
	return in
}

// one reads a test, an action, or what stands in parentheses.
func (e *expression) one(in []string) []string {
	e.unclear = e.tooDeep() || e.unclear
	defer func() { e.depth-- }()
	switch {
	case e.at >= len(e.words):
		return in
	case e.is("!", "-not"):
		e.at++
		e.one(in)
		return in
	case e.is("("):
		e.at++
		out := e.list(in)
		e.unclear = e.unclear || !e.is(")")
		e.at++
		return out
	}
	return e.primary(in)
}

func (e *expression) primary(in []string) []string {
	word := e.words[e.at]
	e.at++
	e.unclear = e.unclear || !word.Static
	if slices.Contains(e.acts, word.Text) {
		e.found, e.whole = e.joined(e.found, in), e.whole || !e.narrow
	}
	if startsCommand(word.Text) {
		e.skipCommand()
		return in
	}
	if !slices.Contains(e.values, word.Text) || e.at >= len(e.words) {
		if word.Text == "-empty" {
			return nil // what is empty is no loss
		}
		return in
	}
	value := e.words[e.at]
	e.at++
	e.unclear = e.unclear || !value.Static && value.MaySplit && !FindsNoAction(value.Text)
	switch word.Text + " " + value.Text {
	// Empty files, and links that lead nowhere. Of -1k or -1M, systems differ on what is less.
	case "-size 0", "-size 0c", "-size -1c", "-xtype l":
		return nil
	case "-type d":
		if e.removes {
			return nil
		}
	}
	e.narrow = e.narrow || !leavesNoneOut(word.Text)
	if test, ok := e.tested(word.Text, value); ok {
		return e.narrowed(in, test)
	}
	return in
}

// FindsNoAction reports a pattern of the shell that no word of an expression fits: it stands for
// names of files alone.
func FindsNoAction(pattern string) bool {
	begin, _, _ := strings.Cut(pattern, "[")
	end := pattern[strings.LastIndexByte(pattern, ']')+1:]
	return simpleGlob(pattern) && begin+end != "" && (strings.ContainsAny(begin+end, "._~/@#%=:") || !strings.ContainsAny(pattern[:1], "-!,*?["))
}

// leavesNoneOut reports words with a value that are no test, or one that is followed by its
// patterns. A search for all files of a type may have everything.
func leavesNoneOut(word string) bool {
	return testsNames(word) || strings.HasPrefix(word, "-fprint") ||
		slices.Contains([]string{"-type", "-xtype", "-maxdepth", "-mindepth", "-regextype", "-printf", "-fls", "-files0-from", "-D"}, word)
}

// testsNames reports the tests of names and paths.
func testsNames(test string) bool {
	return slices.Contains([]string{"-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex"}, test)
}

// tested are the patterns of a test of names, false where it tells nothing of them.
func (e *expression) tested(test string, value cardea.Word) (patterns []string, ok bool) {
	if !testsNames(test) {
		return nil, false
	}
	e.names = true
	text := value.Text
	rest, fold := strings.CutPrefix(test, "-i")
	if fold {
		test = "-" + rest
	}
	switch {
	case !value.Static && (value.MaySplit && test == "-regex" || !simpleGlob(text)):
		return nil, false
	case test == "-regex":
		return e.inFolder(globsOfExpression(text), fold), true
	case test != "-name":
		return e.inFolder([]string{text}, fold), true
	}
	if fold {
		text = paths.EitherCase(text)
	}
	out := []string{"**/" + plainGlob.Replace(text)}
	if paths.MatchName(text, path.Base(e.folder)) {
		out = append(out, theFolder)
	}
	return out, true
}

// narrowed are the names that fit a test, too. Where both are patterns, one of them says
// enough.
func (e *expression) narrowed(in, test []string) []string {
	var out []string
	for _, a := range in {
		for _, b := range test {
			both, ok := bothOf(a, b)
			if ok && !slices.Contains(out, both) {
				out = append(out, both)
			}
			if len(out) > mostPatterns {
				e.unclear = true
				return in
			}
		}
	}
	return out
}

// bothOf is a pattern for what fits two.
func bothOf(a, b string) (string, bool) {
	switch {
	case a == theFolder || b == theFolder:
		return theFolder, a == b
	case b == anythingBelow:
		return a, true
	case a == anythingBelow:
		return b, true
	}
	for _, p := range [2][2]string{{a, b}, {b, a}} {
		if below, ok := strings.CutSuffix(p[0], anythingBelow); ok && strings.HasPrefix(p[1], "**/") {
			return below + p[1], true
		}
	}
	if strings.HasPrefix(a, "**/") && len(b) > len(a) || strings.HasPrefix(b, "**/") == strings.HasPrefix(a, "**/") && len(b) > len(a) {
		return b, true
	}
	return a, true
}

// inFolder are the patterns of what lies below the folder and has a path, as find prints
// it, that fits one of some patterns. There a wildcard stands for slashes, too.
func (e *expression) inFolder(patterns []string, fold bool) []string {
	var out []string
	for _, pattern := range patterns {
		for _, segs := range crossing(pieced(paths.OnlyStars(pattern))) {
			for _, below := range behind(segs, pieced(e.folder), fold) {
				name := strings.Join(below, "/")
				switch {
				case name == "":
					name = theFolder
				case fold:
					name = paths.EitherCase(name)
				}
				out = append(out, plainGlob.Replace(name))
			}
		}
	}
	return out
}

// plainGlob takes what other patterns have, and those of find do not, for any character.
var plainGlob = strings.NewReplacer("(", "?", "{", "?")

// pieced are the segments of a path, the root as one of them.
func pieced(name string) []string {
	segs := paths.Segments(name)
	if strings.HasPrefix(name, "/") {
		segs = append([]string{"/"}, segs...)
	}
	return slices.DeleteFunc(segs, func(s string) bool { return s == "" })
}

// crossing are the patterns, segment by segment, of one whose stars stand for slashes.
func crossing(segs []string) [][]string {
	const mostStars = 3
	out, stars := [][]string{nil}, 0
	for i, s := range segs {
		add := [][]string{{s}}
		if strings.Trim(s, "*") == "" {
			if add[0][0] = "**"; i == len(segs)-1 {
				add[0] = append(add[0], "*")
			}
		} else if strings.Contains(s, "*") {
			if stars++; stars > mostStars {
				return [][]string{{"**", "*"}}
			}
			add = append(add, []string{s[:strings.IndexByte(s, '*')+1], "**", s[strings.LastIndexByte(s, '*'):]})
		}
		var longer [][]string
		for _, begin := range out {
			for _, more := range add {
				longer = append(longer, slices.Concat(begin, more))
			}
		}
		out = longer
	}
	return out
}

// behind are the ends of a pattern that are left for what lies below a folder.
func behind(pattern, folder []string, fold bool) [][]string {
	at := []int{0}
	for i := 0; ; i++ {
		for k := 0; k < len(at); k++ { // a "**" may stand for nothing
			if at[k] < len(pattern) && pattern[at[k]] == "**" && !slices.Contains(at, at[k]+1) {
				at = append(at, at[k]+1)
			}
		}
		if i == len(folder) {
			break
		}
		var next []int
		for _, k := range at {
			switch {
			case k == len(pattern):
			case pattern[k] == "**":
				next = append(next, k)
			case paths.MatchName(pattern[k], folder[i]), fold && paths.MatchName(paths.EitherCase(pattern[k]), folder[i]):
				next = append(next, k+1)
			}
		}
		at = next
	}
	var out [][]string
	for _, k := range at {
		if k == 0 || pattern[k-1] != "**" || !slices.Contains(at, k-1) { // which says as much
			out = append(out, pattern[k:])
		}
	}
	return out
}

// basicExpression writes a basic expression, in which a backslash makes characters
// special, as an extended one, and the other way around.
var basicExpression = strings.NewReplacer(`\\`, `\\`, `\(`, "(", "(", `\(`, `\)`, ")", ")", `\)`, `\|`, "|", "|", `\|`, `\{`, "{", "{", `\{`, `\}`, "}", "}", `\}`, `\+`, "+", `\?`, "?")

// plainEscapes puts any text in the place of what a backslash makes of a letter or digit,
// which differs between the kinds.
func plainEscapes(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] != '\\' || i+1 == len(text):
			out.WriteByte(text[i])
		case strings.IndexByte(".[]()|{}+?*^$\\/-", text[i+1]) >= 0:
			out.WriteString(text[i : i+2])
			i++
		default:
			out.WriteString(".*")
			i++
		}
	}
	return out.String()
}

// globsOfExpression are patterns for what a regular expression fits, whose kind is not
// known: what it does as a basic one, and as an extended one.
func globsOfExpression(text string) []string {
	var out []string
	text = plainEscapes(text)
	for _, one := range []string{text, basicExpression.Replace(text)} {
		tree, err := syntax.Parse(one, 0)
		if err != nil || strings.Contains(text, "[") && strings.Contains(text, `\]`) {
			return []string{"*"}
		}
		out = append(out, globsOf(tree)...)
	}
	if len(out) > mostPatterns {
		return []string{"*"}
	}
	return out
}

// globsOf are patterns for what an expression fits.
func globsOf(tree *syntax.Regexp) []string {
	switch tree.Op {
	case syntax.OpLiteral:
		return []string{strings.NewReplacer("?", "*", "[", "*", `\`, "*").Replace(string(tree.Rune))}
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText:
		return []string{""}
	case syntax.OpCharClass:
		return oneOf(tree.Rune)
	case syntax.OpCapture:
		return globsOf(tree.Sub[0])
	case syntax.OpAlternate:
		var out []string
		for _, sub := range tree.Sub {
			out = append(out, globsOf(sub)...)
		}
		return out
	case syntax.OpConcat:
		out := []string{""}
		for _, sub := range tree.Sub {
			more := globsOf(sub)
			if len(out)*len(more) > mostPatterns {
				more = []string{"*"}
			}
			out = paths.Joined(out, more)
			for i := range out {
				out[i] = strings.ReplaceAll(out[i], "**", "*")
			}
		}
		return out
	}
	return []string{"*"}
}

// oneOf are the characters of a small class, which is given as ranges.
func oneOf(ranges []rune) []string {
	var out []string
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if out = append(out, globsOf(&syntax.Regexp{Op: syntax.OpLiteral, Rune: []rune{r}})[0]); len(out) > mostPatterns/4 {
				return []string{"*"}
			}
		}
	}
	return out
}

// foundNames are the files that a search may do something to, as patterns: what its
// actions come to, and with none of some actions what it prints. It is nil for a program
// without expressions, and for one that tests no names where nothing is known of the disk.
// The folders that an operand names which is not certain are told.
func foundNames(p *cardea.Part, world *World, acts []string, removes bool, become func(operand int) []string) []PossiblePath {
	spec := programOf(p.Program())
	if spec == nil || !spec.OperandsBeforeOptions {
		return nil
	}
	words := p.Argv[expressionAt(p):]
	acts = slices.DeleteFunc(slices.Clone(acts), func(a string) bool {
		return !slices.ContainsFunc(words, func(w cardea.Word) bool { return w.Text == a })
	})
	folders, clear := searchedFolders(p, become)
	var out []PossiblePath
	for _, folder := range folders {
		at := Absolute(p.Dir, folder)
		if at == "" {
			continue
		}
		e := readExpression(expression{findWords: findWords{words: words, values: spec.ValueOptions}, folder: folder, acts: acts, removes: removes, unclear: !clear})
		if !e.names && (world == nil || world.Names == nil) {
			continue
		}
		for _, pattern := range e.found {
			if pattern == theFolder {
				if e.names { // other tests are not followed that far
					out = append(out, PossiblePath{Path: at})
				}
				continue
			}
			out = append(out, PossiblePath{Path: at, Pattern: strings.TrimSuffix(at, "/") + "/" + pattern, Search: true, Narrowed: !e.whole})
		}
	}
	return out
}

// expressionAt is where the expression of a search begins.
func expressionAt(p *cardea.Part) int {
	for i, word := range p.Argv[1:] {
		if text := word.Text; text == "(" || text == "!" || len(text) > 1 && text[0] == '-' && InExpression(cardea.Option{Name: text}) && text != "--" {
			return i + 1
		}
	}
	return len(p.Argv)
}

// searchedFolders are the folders that a search looks through, as they are written. It
// reports false where a word of which nothing is known may be a part of the expression.
func searchedFolders(p *cardea.Part, become func(operand int) []string) (folders []string, clear bool) {
	clear = true
	for _, i := range p.Operands {
		if p.Argv[i].Static {
			folders = append(folders, p.Argv[i].Text)
			continue
		}
		may := become(i)
		folders = append(folders, may...)
		clear = clear && (len(may) > 0 || !p.Argv[i].MaySplit)
	}
	for _, o := range p.Options {
		if o.Name == "-f" && o.Static {
			folders = append(folders, o.Value)
		}
	}
	if len(p.Operands) == 0 && len(folders) == 0 {
		folders = []string{"."}
	}
	slices.Sort(folders)
	return slices.Compact(folders), clear
}
