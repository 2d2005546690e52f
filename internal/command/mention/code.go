package mention

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// This file reads the string constants of a text in any language, and the texts that are
// joined from them.

// homeCalls matches the ways in which languages name the home folder.
var homeCalls = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(tables()["home"]) })

// homeMark replaces the home folder in a text while it is read.
const homeMark = "\x01"

// token is one piece of code.
type token struct {
	kind tokenKind
	text string
}

type tokenKind uint8

const (
	operator tokenKind = iota
	name
	constant
)

// code adds the string constants of a text, the texts joined from them, and lists of them.
func (f *finder) code(text string) {
	constants := strings.ContainsAny(text, "'\"`q%") || strings.Contains(text, "[[") || strings.Contains(text, "[=")
	if !constants && !strings.Contains(text, "(") {
		return
	}
	if strings.Contains(text, "HOME") || strings.Contains(text, "home") || strings.Contains(text, "expanduser") {
		text = homeCalls().ReplaceAllLiteralString(text, homeMark)
	}
	tokens := lex(text)
	f.OnlyReads = constants && onlyReads(tokens) && !strings.ContainsAny(text, "`") && !strings.Contains(text, "qx") && !strings.Contains(text, "%x")
	j := joiner{finder: f, values: map[string]string{}, inside: [][]string{nil}, listed: map[string]bool{}}
	for i := range tokens {
		j.brackets(tokens[i])
		j.next(tokens, i)
		j.copied(tokens, i)
	}
	f.Copies = f.Copies || j.unpacks && (j.opensUnknown || len(j.archives) == 0)
	j.end()
	for len(j.inside) > 0 {
		j.close()
	}
}

// tokens are the pieces of a text.
type tokens []token

// at returns the token at an index, or one without text.
func (ts tokens) at(i int) token {
	if i < 0 || i >= len(ts) {
		return token{}
	}
	return ts[i]
}

// lex splits a text into tokens.
func lex(text string) (out tokens) {
	open := map[byte]bool{} // characters that begin a constant without an end, so that no later one ends either
	for i := 0; i < len(text); {
		c := text[i]
		t, size := token{operator, text[i : i+1]}, 1
		switch {
		case c == homeMark[0]:
			t = token{constant, "~"}
		case c <= ' ':
			i++
			continue
		case isNameByte(c):
			for i+size < len(text) && isNameByte(text[i+size]) {
				size++
			}
			word, rest := text[i:i+size], text[i+size:]
			t = token{name, word}
			if rest != "" && !open[rest[0]] {
				if body, more := quotedBy(word, rest); more > 0 {
					t, size = token{constant, body}, size+more
				} else if more < 0 {
					open[rest[0]] = true
				}
			}
			if t.kind == name && isPrefix(word, rest) {
				i += size
				continue
			}
		case (c == '"' || c == '\'' || c == '`' || c == '[' && longBracket(text[i:]) != "") && !open[c]:
			if body, all := quoted(text[i:]); all > 0 {
				t, size = token{constant, body}, all
			} else {
				open[c] = true
			}
		}
		out, i = append(out, t), i+size
	}
	return out
}

// longBracket returns the closing bracket of a long text of Lua that begins here: [[x]],
// [==[x]==]. It returns "" for any other text, such as a list of lists.
func longBracket(text string) string {
	if text[0] != '[' {
		return ""
	}
	level := len(text[1:]) - len(strings.TrimLeft(text[1:], "="))
	size := level + 2
	if len(text) <= size || text[size-1] != '[' || strings.IndexByte("'\"[{", text[size]) >= 0 {
		return ""
	}
	closing := "]" + text[1:size-1] + "]"
	if !strings.Contains(text[size:], closing) {
		return ""
	}
	return closing
}

// isPrefix reports whether word is a prefix that changes how the constant after it is
// read: r"".
func isPrefix(word, rest string) bool {
	return rest != "" && (rest[0] == '"' || rest[0] == '\'') && len(word) <= 2 && strings.Trim(word, "rbfuRBFU") == ""
}

func isNameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// quoted reads the constant at the beginning of a text, and returns its length, or 0 if
// it does not end.
func quoted(text string) (body string, size int) {
	if closing := longBracket(text); closing != "" {
		body, _, _ = strings.Cut(text[len(closing):], closing)
		return body, len(body) + 2*len(closing)
	}
	mark := text[:1]
	if strings.HasPrefix(text, mark+mark+mark) && mark != "`" {
		if end := strings.Index(text[3:], mark+mark+mark); end >= 0 {
			return unescape(text[3 : 3+end]), end + 6
		}
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case mark[0]:
			return unescape(text[1:i]), i + 1
		}
	}
	return "", 0
}

// quotedBy reads a constant of Perl or Ruby after the word that begins it: q{x}, qw(a
// b), and %w[a b], whose word is the letter. size is 0 if there is no such constant, and
// -1 if it does not end.
func quotedBy(word, rest string) (body string, size int) {
	if !strings.Contains(" q qq qw qx w x Q W ", " "+word+" ") || rest == "" || !strings.ContainsRune("{([<|/!", rune(rest[0])) {
		return "", 0
	}
	closing := rest[0]
	if i := strings.IndexByte("{([<", closing); i >= 0 {
		closing = "})]>"[i]
	}
	end := strings.IndexByte(rest[1:], closing)
	if end < 0 {
		return "", -1
	}
	return rest[1 : 1+end], end + 2
}

// escaped matches the escapes that most languages have. A number may encode a character:
// \x2e, \u002e, \U0000002e, \u{2e}, \056.
var escaped = expression(`(?s)\\(?:[xuU]\{([0-9A-Fa-f]{1,8})\}|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))`)

// unescape decodes the escapes.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return escaped().ReplaceAllStringFunc(s, func(found string) string {
		m := escaped().FindStringSubmatch(found)
		if m[6] != "" {
			return strings.NewReplacer("n", "\n", "t", "\t").Replace(m[6])
		}
		number, base := strings.Join(m[1:5], ""), 16
		if m[5] != "" {
			number, base = m[5], 8
		}
		n, _ := strconv.ParseUint(number, base, 32) // it is a number
		return string(rune(n))
	})
}

// joiner collects constants that are joined.
type joiner struct {
	*finder
	// values are the variables that hold a constant.
	values map[string]string
	run    []term
	gap    tokens // since the last term
	// inside are the constants since each open bracket, the outermost first: the whole text.
	inside [][]string
	listed map[string]bool // the lists of brackets
	target string          // the variable to which the run is assigned
	// archives are the first arguments of calls, any of which may name an archive.
	archives []string
	// opensUnknown is set if a call opens an unknown archive, unpacks if an archive is
	// unpacked.
	opensUnknown, unpacks bool
}

// term is a constant, and how it is joined to the one before it: '+' unchanged, '/' as a
// path, ',' as an element of a list.
type term struct {
	text string
	join byte
}

// joinedTo returns text with the term appended. Elements of a list may be segments of a path.
func (t term) joinedTo(text string) string {
	if t.join != '+' {
		text = strings.TrimSuffix(text, "/") + "/"
	}
	return text + t.text
}

// joiningNames are functions and types that only join and clean paths, or read text.
var joiningNames = sync.OnceValue(func() []string { return strings.Fields(tables()["joining"]) })

// joins reports whether t is one of joiningNames.
func (t token) joins() bool { return t.kind == name && slices.Contains(joiningNames(), t.text) }

// Limits: the length of a list, which the constants of one bracket or of the whole text
// form, and the depth of brackets.
const (
	longestList    = 32
	deepestBracket = 64
)

// brackets reads a bracket.
func (j *joiner) brackets(t token) {
	switch {
	case t.kind != operator:
	case strings.Contains("([{", t.text) && len(j.inside) < deepestBracket:
		j.inside = append(j.inside, nil)
	case strings.Contains(")]}", t.text) && len(j.inside) > 1:
		j.close()
	}
}

// close ends the innermost bracket: its constants are a list, and also belong to the
// enclosing bracket.
func (j *joiner) close() {
	last := len(j.inside) - 1
	list := j.inside[last]
	if j.inside = j.inside[:last]; last > 0 {
		j.inside[last-1] = append(j.inside[last-1], list...)
	}
	if key := strings.Join(list, "\x00"); len(list) > 1 && len(list) <= longestList && !j.listed[key] {
		j.listed[key] = true
		j.Lists = append(j.Lists, list)
	}
}

// next reads one token.
func (j *joiner) next(tokens tokens, i int) {
	t := tokens[i]
	text, known := t.text, t.kind == constant
	if t.kind == name {
		next := tokens.at(i + 1).text
		if value, ok := j.values[t.text]; ok && next != "=" && next != ":" {
			text, known = value, true
		}
	}
	if !known {
		if len(j.run) > 0 && t.kind == name && !t.joins() || t.text == ";" {
			j.end()
		}
		j.gap = append(j.gap, t)
		return
	}
	text = j.interpolated(text)
	if in := &j.inside[len(j.inside)-1]; len(*in) <= longestList {
		*in = append(*in, text)
	}
	join := joinedBy(j.gap)
	if len(j.run) == 0 || join == 0 {
		target := assignedTo(j.gap)
		j.end()
		j.target, join = target, 0
	}
	j.run, j.gap = append(j.run, term{text, join}), nil
}

// assignedTo returns the variable to which the text after a gap is assigned, or "": name
// =, name :=.
func assignedTo(gap tokens) string {
	k := len(gap) - 1
	for k >= 0 && (gap[k].kind == operator && strings.Contains("([.", gap[k].text) || gap[k].joins()) {
		k--
	}
	if gap.at(k).text != "=" {
		return ""
	}
	if k--; k > 0 && gap[k].text == ":" {
		k--
	}
	if t := gap.at(k); t.kind == name {
		return t.text
	}
	return ""
}

// joinedBy returns how two constants with a gap between them are joined, or 0 if they are not.
func joinedBy(gap tokens) byte {
	ops, names, asPath := "", false, false
	for _, t := range gap {
		if t.kind == name {
			if !t.joins() {
				return 0
			}
			names, asPath = true, asPath || t.text == "joinpath" || t.text == "glob" || t.text == "rglob"
			continue
		}
		if !strings.Contains("()[]$", t.text) {
			ops += t.text
		}
	}
	if names {
		ops = strings.ReplaceAll(ops, ".", "")
	}
	if ops == "" && asPath {
		return '/'
	}
	return joiningSigns[ops]
}

// joiningSigns are the operators that join constants, and how.
var joiningSigns = map[string]byte{"": '+', "+": '+', ".": '+', "..": '+', "<<": '+', "&": '+', "/": '/', ",": ','}

// longestJoin is the number of constants that are joined to one path.
const longestJoin = 6

// end adds the paths and commands that the run of constants may name.
func (j *joiner) end() {
	run := j.run
	for i := range run {
		joined := run[i].text
		j.value(joined)
		for _, t := range run[i+1 : min(i+longestJoin, len(run))] {
			joined = t.joinedTo(joined)
			j.path(joined)
		}
	}
	if len(run) > 0 && j.target != "" && !slices.ContainsFunc(run[1:], func(t term) bool { return t.join == ',' }) {
		whole := run[0].text
		for _, t := range run[1:] {
			whole = t.joinedTo(whole)
		}
		j.values[j.target] = whole
		j.command(whole)
	}
	var list []string
	for i, t := range run {
		if i > 0 && t.join != ',' {
			list = nil
		}
		list = append(list, t.text)
	}
	if len(list) > 1 {
		j.Lists = append(j.Lists, list)
	}
	j.run, j.gap, j.target = nil, nil, ""
}

// value adds a single constant.
func (j *joiner) value(text string) {
	j.path(text)
	j.command(text)
	if strings.HasPrefix(text, "/") && len(text) > 1 {
		// An unknown text may be before it.
		j.path(text[1:])
		j.path("~" + text)
	}
	if !strings.ContainsAny(text, " \n") {
		j.pieces(text)
	}
}

// insertion matches the parts of a constant that languages replace by the value of an
// expression.
var insertion = expression(`[$#]?\{([^{}]*)\}|\$(\w+)|%s`)

// longestBehind is the number of bytes after an unknown value that are read: no path is longer.
const longestBehind = 4096

// interpolated returns a constant with the values of variables inserted. Text after an
// unknown value is added separately.
func (j *joiner) interpolated(text string) string {
	text = strings.NewReplacer("${"+homeMark+"}", "~", "#{"+homeMark+"}", "~", "{"+homeMark+"}", "~", homeMark, "~").Replace(text)
	if !strings.ContainsAny(text, "{$%") {
		return text
	}
	rest := text
	text = insertion().ReplaceAllStringFunc(text, func(found string) string {
		variable := strings.Trim(found, "${}#")
		if value, ok := j.values[variable]; ok {
			return value
		}
		if _, behind, ok := strings.Cut(rest, found); ok && j.spend(min(len(behind), longestBehind)) {
			rest = behind
			behind = behind[:min(len(behind), longestBehind)]
			if rooted, ok := strings.CutPrefix(behind, "/"); ok {
				j.path(rooted)
				j.path("~/" + rooted)
			} else {
				j.value(behind)
			}
		}
		return found
	})
	return text
}

// readingNames are functions, types and words of languages with which code only
// computes, reads and prints.
var readingNames = sync.OnceValue(func() []string { return slices.Sorted(strings.FieldsSeq(tables()["reading"])) })

// ownNames returns the names that code gives to values, including parameters and loop
// variables, and the functions that it defines.
func ownNames(tokens tokens) (values, functions map[string]bool) {
	values, functions = map[string]bool{}, map[string]bool{}
	for i, t := range tokens {
		switch rest := tokens[i+1:]; {
		case t.kind != name || len(rest) < 2 || rest[0].kind != name:
		case (t.text == "def" || t.text == "function") && rest[1].text == "(":
			functions[rest[0].text] = true
			for k := 2; k < len(rest) && rest[k].text != ")"; k++ {
				values[rest[k].text] = values[rest[k].text] || rest[k].kind == name && strings.Contains("(,", rest[k-1].text)
			}
		case slices.Contains(namingWords, t.text):
			values[rest[0].text] = true
		}
	}
	return values, functions
}

// namingWords name a value, and listSigns join the names after import.
var namingWords, listSigns = strings.Fields("for as"), strings.Fields(", . as (")

// openingNames are the reading names that accept a mode.
var openingNames = []string{"open", "File", "IO", "io"}

// calling matches a constant into which a language may insert the value of a call:
// f"{f()}", "#{f 1}".
var calling = expression(`(?s)\{[^}]*\(|[#@]\{[^}\w]|#\{\w+[^\w}.\[]`)

// onlyReads reports whether code only reads and prints. It uses only names that read and
// print and those it gives to values, and calls only names. It opens no file with a mode
// that writes, and sends nothing.
func onlyReads(tokens tokens) bool {
	reading := func(name string) bool { _, found := slices.BinarySearch(readingNames(), name); return found }
	own, defined := ownNames(tokens)
	opens := slices.ContainsFunc(tokens, func(t token) bool { return t.kind == name && slices.Contains(openingNames, t.text) })
	imports := false // the name belongs to another module
	for i, t := range tokens {
		next, before := "", tokens.at(i-1)
		imports = i > 0 && (before.text == "import" || imports && (slices.Contains(listSigns, t.text) || slices.Contains(listSigns, before.text)))
		if n := tokens.at(i + 1); n.kind == operator {
			next = n.text
		}
		switch t.kind {
		case name:
			own[t.text] = own[t.text] || next == "="
			given := (own[t.text] || defined[t.text]) && !imports && (before.text != "." || before.kind != operator)
			if own[t.text] && next == "(" || !given && !reading(t.text) && strings.Trim(t.text, "0123456789") != "" {
				return false
			}
		case operator:
			if strings.ContainsAny(t.text, ">|&") || next == "(" && (t.text == "]" || t.text == ")" || t.text == "}") {
				return false
			}
		case constant:
			mode := opens && len(t.text) <= 4 && strings.Trim(t.text, "rwaxbt+") == "" && strings.ContainsAny(t.text, "wax+")
			if mode || next == "(" || calling().MatchString(t.text) || t.text != "" && strings.IndexByte(">|+", t.text[0]) >= 0 {
				return false
			}
		}
	}
	// Data such as JSON is not code.
	return slices.ContainsFunc(tokens, func(t token) bool {
		return t.kind == name && !slices.Contains([]string{"true", "false", "null"}, t.text)
	})
}
