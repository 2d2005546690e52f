package knowledge

import (
	"path"
	"regexp/syntax"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
)

// This file reads the expressions of find (POSIX, GNU findutils 4.9, macOS 14) and
// computes which names an action can reach. The result is patterns of paths. They may
// match too much, never too little.

// anythingBelow and theFolder are the patterns with which a search begins: everything
// below its folder, and the folder.
const anythingBelow, theFolder = "**/*", "."

// mostPatterns is the number of patterns to which an expression is expanded at most. A
// larger expression may reach anything.
const mostPatterns = 32

// expression is a find expression while it is read. Its methods take and return
// patterns: the names that a file can have at that point.
type expression struct {
	findWords
	folder string // the searched folder as the line spells it
	// acts are the actions to look for. removes is set if they delete one by one, and so a
	// folder only if it is empty.
	acts    []string
	removes bool
	// found are the patterns of the names that one of the actions reaches.
	found []string
	// names is set if the expression tests names; unclear if it cannot be read.
	names, unclear bool
	// narrow is set if a test of something other than names excludes files. whole is set if
	// an action reaches files without such a test.
	narrow, whole bool
}

// findWords holds the words of an expression and the position of the next one.
type findWords struct {
	words     []cardea.Word
	values    []string // the tests that take a value
	at, depth int
}

// readExpression reads an expression up to its last action, or to its end if it has none.
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

// is reports whether the next word is one of words.
func (f *findWords) is(words ...string) bool {
	return f.at < len(f.words) && slices.Contains(words, f.words[f.at].Text)
}

// tooDeep enters one more nested part and reports whether the nesting is too deep.
// Reading then stops.
func (f *findWords) tooDeep() bool {
	const deepest = 64
	if f.depth++; f.depth > deepest {
		f.at = len(f.words)
	}
	return f.depth > deepest
}

// skipCommand skips the words of a command that find starts.
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
		out = e.joined(out, e.all(in)) // whatever the result of the first one
		e.narrow = e.narrow && first
	}
	return out
}

// joined returns the patterns of a and b, each once, or a pattern for anything if there
// are too many.
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

// one reads a test, an action, or a group in parentheses.
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

// primary reads one test or action with its value and returns the names that pass it.
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
			return nil // deleting an empty file loses nothing
		}
		return in
	}
	value := e.words[e.at]
	e.at++
	e.unclear = e.unclear || !value.Static && value.MaySplit && !FindsNoAction(value.Text)
	switch word.Text + " " + value.Text {
	// Empty files, and broken symlinks. Systems differ on which sizes are less than -1k or -1M.
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

// FindsNoAction reports whether a shell pattern matches no word of an expression, so
// that it can only stand for file names.
func FindsNoAction(pattern string) bool {
	begin, _, _ := strings.Cut(pattern, "[")
	end := pattern[strings.LastIndexByte(pattern, ']')+1:]
	return simpleGlob(pattern) && begin+end != "" && (strings.ContainsAny(begin+end, "._~/@#%=:") || !strings.ContainsAny(pattern[:1], "-!,*?["))
}

// leavesNoneOut reports whether a word with a value is not a test, or is one whose
// patterns are read separately. A search for all files of a type may find everything.
func leavesNoneOut(word string) bool {
	return testsNames(word) || strings.HasPrefix(word, "-fprint") ||
		slices.Contains([]string{"-type", "-xtype", "-maxdepth", "-mindepth", "-regextype", "-printf", "-fls", "-files0-from", "-D"}, word)
}

// testsNames reports whether test is a test of names or paths.
func testsNames(test string) bool {
	return slices.Contains([]string{"-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex"}, test)
}

// tested returns the patterns of a test of names, or false if the test says nothing
// about names.
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

// narrowed returns the names of in that also pass test. Where both are patterns, one of
// them is enough.
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

// bothOf returns a pattern for the names that match both a and b, or false if no name
// does.
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

// inFolder returns the patterns of the names below the folder whose path, as find prints
// it, matches one of patterns. There a wildcard also matches slashes.
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

// plainGlob replaces characters that are special in other patterns, but not in those of
// find, with "?".
var plainGlob = strings.NewReplacer("(", "?", "{", "?")

// pieced returns the segments of a path. The root is a segment of its own.
func pieced(name string) []string {
	segs := paths.Segments(name)
	if strings.HasPrefix(name, "/") {
		segs = append([]string{"/"}, segs...)
	}
	return slices.DeleteFunc(segs, func(s string) bool { return s == "" })
}

// crossing returns the patterns, as segments, of a pattern whose stars also match slashes.
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

// behind returns the ends of pattern that remain for names below folder. fold is set to
// ignore case.
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
		if k == 0 || pattern[k-1] != "**" || !slices.Contains(at, k-1) { // which matches the same names
			out = append(out, pattern[k:])
		}
	}
	return out
}

// basicExpression converts a basic regular expression, in which a backslash makes
// characters special, into an extended one, and back.
var basicExpression = strings.NewReplacer(`\\`, `\\`, `\(`, "(", "(", `\(`, `\)`, ")", ")", `\)`, `\|`, "|", "|", `\|`, `\{`, "{", "{", `\{`, `\}`, "}", "}", `\}`, `\+`, "+", `\?`, "?")

// plainEscapes replaces each escaped letter or digit with ".*": its meaning differs
// between the kinds.
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

// globsOfExpression returns patterns for the matches of a regular expression of unknown
// kind: as a basic one and as an extended one.
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

// globsOf returns patterns for the matches of tree.
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

// oneOf returns the characters of a small class as patterns. ranges holds pairs of first
// and last character.
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

// pathsOfSearch returns patterns of the files that a search may act on: those its actions
// reach, or without acts those it prints. It returns nil for a program without
// expressions, and for an expression that tests no names if the disk is unknown. Folders
// that an uncertain operand may name are included.
func pathsOfSearch(p *cardea.Part, system *System, acts []string, removes bool, become func(operand int) []string) []PotentialPath {
	spec := programOf(p.Program())
	if spec == nil || !spec.OperandsBeforeOptions {
		return nil
	}
	words := p.Argv[expressionAt(p):]
	acts = slices.DeleteFunc(slices.Clone(acts), func(a string) bool {
		return !slices.ContainsFunc(words, func(w cardea.Word) bool { return w.Text == a })
	})
	folders, clear := searchedFolders(p, become)
	var out []PotentialPath
	for _, folder := range folders {
		at := Absolute(p.Dir, folder)
		if at == "" {
			continue
		}
		e := readExpression(expression{findWords: findWords{words: words, values: spec.ValueOptions}, folder: folder, acts: acts, removes: removes, unclear: !clear})
		if !e.names && (system == nil || system.Names == nil) {
			continue
		}
		for _, pattern := range e.found {
			if pattern == theFolder {
				if e.names { // other tests are not evaluated here
					out = append(out, PotentialPath{Path: at})
				}
				continue
			}
			out = append(out, PotentialPath{Path: at, Pattern: strings.TrimSuffix(at, "/") + "/" + pattern, Search: true, Narrowed: !e.whole})
		}
	}
	return out
}

// expressionAt returns the index of the first word of the expression of a search.
func expressionAt(p *cardea.Part) int {
	for i, word := range p.Argv[1:] {
		if text := word.Text; text == "(" || text == "!" || len(text) > 1 && text[0] == '-' && InExpression(cardea.Option{Name: text}) && text != "--" {
			return i + 1
		}
	}
	return len(p.Argv)
}

// searchedFolders returns the folders that a search looks through, as the line spells
// them. clear is false if an unknown word may be a part of the expression.
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
