// Package python reads scripts in the words of a command and says which files they read, where
// they surely do nothing but read and print.
//
// It knows names, not modules: a script is understood where each name in it is a keyword, a
// name of its list, or a variable, and each attribute is one of the list. No value that such
// names give can do more. What opens or lists files must say in its own words which.
package python

import (
	"slices"
	"strings"
)

// Names are the names that a script may use: builtins and qualified ones ("len",
// "os.path.join"), attributes of any value (".split"), and modules that may be imported and
// not used ("import subprocess"). The value of those that take the path of a file is what they
// do with it.
type Names map[string]Does

// Does is what a name does with the file that its first argument names.
type Does uint8

// What names do.
const (
	Computes Does = iota // it takes no path
	Reads                // the contents of the file, if there is no other mode
	Lists                // names and attributes
	Opens                // a member of what is open already, if there is no other mode
	Tells                // it gives a class, which may be compared and shown, and not called
)

// Use is what a script uses.
type Use struct {
	// Read and Listed are the paths of which it reads contents, and names and attributes.
	Read, Listed []string
	// Required are those of Read that are modules, so that a folder would be run.
	Required []string
	// Imports is set where it imports modules.
	Imports bool
}

// builtins are all names of the module builtins, of Python 2.7 to 3.14, that are not in a list
// of names: a variable has none of them (docs.python.org/3/library/functions.html).
const builtins = ` __build_class__ __debug__ __doc__ __import__ __loader__ __package__ __spec__ aiter anext apply basestring breakpoint buffer
 classmethod cmp coerce compile copyright credits delattr eval exec execfile file getattr globals help input intern license locals memoryview
 object open property raw_input reduce reload setattr staticmethod super unichr unicode vars xrange `

const (
	// keywords that scripts may use.
	keywords = " False None True and as assert break continue def del elif else except finally for global if in is lambda nonlocal not or pass raise return try while with yield "
	// reserved are the others, and those of some versions.
	reserved = " async await case class match "
)

// script is a script under reading.
type script struct {
	names  Names
	t      []token
	alias  map[string]string // what imported names stand for
	use    Use
	failed bool
}

// Read reads a script: what it uses, false where it may do more than read and print.
func (n Names) Read(text string) (Use, bool) {
	t, ok := tokens(text)
	if !ok {
		return Use{}, false
	}
	s := &script{names: n, t: t, alias: map[string]string{}}
	for i := range t {
		if s.word(i) == "import" {
			s.imports(i)
		}
	}
	for i := range t {
		s.failed = s.failed || s.is(i, ".") && s.assigned(i) // what a module or value has may be another thing then
	}
	for i := 0; i < len(t) && !s.failed; i++ {
		if s.word(i) != "" {
			i = s.name(i)
		}
	}
	return s.use, !s.failed
}

// word is the name at i, "" for another token.
func (s *script) word(i int) string {
	if i >= 0 && i < len(s.t) && s.t[i].kind == name {
		return s.t[i].text
	}
	return ""
}

// is reports a sign.
func (s *script) is(i int, text string) bool {
	return i >= 0 && i < len(s.t) && s.t[i].kind == sign && s.t[i].text == text
}

// dotted reads a name with points, and gives the index behind it.
func (s *script) dotted(i int) (string, int) {
	text := s.word(i)
	for i++; text != "" && s.is(i, ".") && s.word(i+1) != ""; i += 2 {
		text += "." + s.t[i+1].text
	}
	return text, i
}

// imports reads a statement whose word import is at i, and takes it out.
func (s *script) imports(i int) {
	from, at := "", i
	for at > 0 && (s.word(at-1) != "" && s.word(at-1) != "from" || s.is(at-1, ".")) {
		at--
	}
	if s.word(at-1) == "from" {
		end := 0
		if from, end = s.dotted(at); end != i || from == "" {
			s.failed = true // from . import x
			return
		}
		from, at = from+".", at-1
	} else if at != i {
		s.failed = true
		return
	}
	s.use.Imports = true
	next := i + 1
	for more := true; more && !s.failed; next++ {
		what, end := s.dotted(next)
		as, _, _ := strings.Cut(what, ".")
		of := as
		if from != "" {
			of = from + what
		}
		if s.word(end) == "as" {
			as, of, end = s.word(end+1), from+what, end+2
		}
		_, listed := s.names[of]
		s.failed = what == "" || as == "" || s.alias[as] != "" && s.alias[as] != of || from != "" && strings.Contains(what, ".") ||
			!listed && !s.module(of) || from == "" && !s.module(what)
		s.alias[as] = of
		next, more = end, s.is(end, ",")
	}
	s.failed = s.failed || s.t[next-1].kind != line
	for ; at < next; at++ {
		s.t[at].kind = line
	}
}

// module reports whether a module may be imported.
func (s *script) module(path string) bool {
	if _, only := s.names["import "+path]; only {
		return true
	}
	for listed := range s.names {
		if strings.HasPrefix(listed, path+".") {
			return true
		}
	}
	return false
}

// name checks the name at i with the attributes that belong to it, and gives the index of
// its last token.
func (s *script) name(i int) int {
	word := s.t[i].text
	padded := " " + word + " "
	if s.is(i-1, ".") {
		does, listed := s.names["."+word]
		s.failed = !listed || s.is(i-2, ".") || word == "format" && !s.plainTemplate(i-2)
		if does == Opens {
			s.failed = s.failed || !s.is(i+1, "(") || !s.reads(i+1)
		}
		return i
	}
	if of := s.alias[word]; of != "" {
		return s.imported(i, of)
	}
	does, listed := s.names[word]
	switch {
	case strings.Contains(keywords, padded), s.is(i+1, "=") && s.inCall(i) && !listed:
	case listed:
		s.does(i, does)
	case strings.Contains(reserved, padded), strings.Contains(builtins, padded), strings.HasPrefix(word, "__") && word != "__name__":
		s.failed = true
	case s.is(i+1, "(") && !s.defined(word):
		s.failed = true // nothing that Python has under this name
	}
	return i
}

// defined reports whether the script has a name also elsewhere than in a call.
func (s *script) defined(name string) bool {
	for i := range s.t {
		if s.word(i) == name && !s.is(i-1, ".") && (!s.is(i+1, "(") || s.word(i-1) == "def") {
			return true
		}
	}
	return false
}

// plainTemplate reports whether the token at i is a text whose fields name arguments, and no
// attributes of them.
func (s *script) plainTemplate(i int) bool {
	if i < 1 || s.t[i].kind != text || !s.t[i].plain || s.t[i-1].kind == text {
		return false
	}
	for field := range strings.SplitSeq(s.t[i].text, "{") {
		field, _, _ = strings.Cut(field, "}")
		if field, _, _ = strings.Cut(field, ":"); strings.ContainsAny(field, ".[") {
			return false
		}
	}
	return true
}

// imported checks a name that stands for a module or for something of one.
func (s *script) imported(i int, of string) int {
	for {
		if does, listed := s.names[of]; listed {
			s.does(i, does)
			return i
		}
		if !s.is(i+1, ".") || s.word(i+2) == "" || !s.module(of) {
			s.failed = true // a module as a value, or what is not listed
			return i
		}
		of, i = of+"."+s.t[i+2].text, i+2
	}
}

// does notes the file that a name takes, whose last token is at i.
func (s *script) does(i int, does Does) {
	switch does {
	case Computes:
		return
	case Tells:
		s.failed = !s.is(i+1, "(") || !s.told(i)
		return
	}
	path, known := s.path(i + 2)
	switch {
	case !s.is(i+1, "(") || !known || !s.reads(i+1):
		s.failed = true
	case does == Lists:
		s.use.Listed = append(s.use.Listed, path)
	default:
		s.use.Read = append(s.use.Read, path)
	}
}

// told reports whether a class that the call at i gives is but compared or shown.
func (s *script) told(i int) bool {
	end := i + 2
	for end < len(s.t) && s.t[end].open != s.t[i].open {
		end++
	}
	if s.is(end, ".") {
		return s.word(end+1) == "__name__"
	}
	by := s.word(s.t[i].open - 1)
	return s.is(end, "==") || s.is(end, "!=") || s.word(end) == "is" || s.inCall(i) && (by == "print" || by == "isinstance" || by == "str" || by == "repr")
}

// assigned reports whether the attribute behind the point at i may get another value: it is a
// target of an assignment, or of for, as or del.
func (s *script) assigned(i int) bool {
	bracket := i
	for s.t[bracket].open >= 0 {
		if s.bound(bracket) {
			return true
		}
		if open := s.t[bracket].open; s.inCall(bracket) || s.subscript(open) || s.is(open, "{") || s.t[open-1].kind == text {
			return false
		}
		bracket = s.t[bracket].open
	}
	if s.bound(bracket) {
		return true
	}
	begin, end := bracket, bracket
	for s.t[begin].kind != line {
		begin--
	}
	colons, equals := 0, false
	for k := begin; k < bracket; k++ {
		if s.t[k].open < 0 && s.is(k, ":") {
			colons++
		}
	}
	for ; s.t[end].kind != line; end++ { // what is behind the point
		equals = equals || s.t[end].open < 0 && s.assigns(end)
	}
	switch {
	case s.is(i+2, ":"):
		return equals && (colons > 0 || !strings.Contains(" if elif while for with else try except finally def ", " "+s.word(begin+1)+" "))
	case s.is(i+2, "(") || s.is(i+2, "[") || s.is(i+2, "."):
		return false
	}
	return equals
}

// assigns reports the sign of an assignment: = and what ends with it, as >>= does.
func (s *script) assigns(i int) bool {
	return s.is(i, "=") || (s.is(i, ">=") || s.is(i, "<=")) && (s.is(i-1, ">") || s.is(i-1, "<"))
}

// bound reports whether the token at i stands between for and in, or behind as or del.
func (s *script) bound(i int) bool {
	for k := i - 1; k >= 0 && s.t[k].kind != line && k != s.t[i].open && !(s.is(k, ":") && s.t[k].open == s.t[i].open); k-- {
		if s.t[k].open == s.t[i].open {
			switch s.word(k) {
			case "for", "as", "del":
				return true
			case "in":
				return false
			}
		}
	}
	return false
}

// subscript reports whether the bracket at open holds an index.
func (s *script) subscript(open int) bool {
	return s.is(open, "[") && (s.word(open-1) != "" && !strings.Contains(keywords, " "+s.word(open-1)+" ") || s.is(open-1, ")") || s.is(open-1, "]"))
}

// inCall reports whether the token at i stands in the parentheses of a call.
func (s *script) inCall(i int) bool {
	open := s.t[i].open
	return s.is(open, "(") && (s.word(open-1) != "" && !strings.Contains(keywords, " "+s.word(open-1)+" ") && s.word(open-2) != "def" || s.is(open-1, ")") || s.is(open-1, "]"))
}

// path is the text of the argument at i: a literal, or a variable that has but one value.
func (s *script) path(i int) (string, bool) {
	end := i + 1
	if i >= len(s.t) || !s.is(end, ",") && !s.is(end, ")") {
		return "", false
	}
	if s.t[i].kind == text {
		return s.t[i].text, s.t[i].plain
	}
	variable := s.word(i)
	if variable == "" {
		return "", false
	}
	value, values := "", 0
	for k := range s.t {
		switch {
		case s.word(k) != variable || s.is(k-1, "."):
		case s.is(k+1, "=") && s.t[k].open < 0 && s.t[k-1].kind == line && s.t[k+2].kind == text && s.t[k+2].plain && s.t[k+3].kind == line:
			value, values = s.t[k+2].text, values+1
		case !s.onlyUsed(k):
			return "", false
		}
	}
	return value, values == 1
}

// onlyUsed reports whether the variable at i certainly keeps its value there: it is passed to
// a call, is an index, or stands in an f-string.
func (s *script) onlyUsed(i int) bool {
	open := s.t[i].open
	within := s.inCall(i) || open > 0 && s.t[open-1].kind == text || s.subscript(open)
	binds := func(t token) bool { return t.open == open && t.kind == name && (t.text == "for" || t.text == "lambda") }
	return within && !s.is(i+1, "=") && !s.is(i+1, ":=") && s.word(i-1) != "as" && !slices.ContainsFunc(s.t, binds)
}

// reads reports whether the call whose parentheses begin at open opens what its first argument
// names to read it.
func (s *script) reads(open int) bool {
	argument := 0
	for i := open + 1; i < len(s.t) && (!s.is(i, ")") || s.t[i].open != s.t[open].open); i++ {
		if s.t[i].open != open {
			continue
		}
		first := i == open+1 || s.is(i-1, ",") && s.t[i-1].open == open
		switch {
		case s.is(i, ","):
			argument++
		case !first:
		case s.is(i, "*"):
			return false
		case s.is(i+1, "="):
			if !strings.Contains(" mode encoding errors newline buffering pwd recursive topdown ", " "+s.word(i)+" ") || s.word(i) == "mode" && !s.mode(i+2) {
				return false
			}
		case argument == 1 && !s.mode(i), argument > 1:
			return false
		}
	}
	return true
}

// mode reports a text that opens a file to read it, and nothing behind it.
func (s *script) mode(i int) bool {
	return i+1 < len(s.t) && s.t[i].kind == text && s.t[i].plain && (s.is(i+1, ",") || s.is(i+1, ")")) && strings.Contains(" r rb br rt tr ", " "+s.t[i].text+" ")
}
