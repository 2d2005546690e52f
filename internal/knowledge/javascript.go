package knowledge

import (
	"slices"
	"strings"

	"cardea.dev/internal/knowledge/python"
)

// jsScript reads a script of JavaScript for Node 18 to 24 that only reads files, computes and
// prints: each name in it is a listed one or a variable, and each method is listed, so that no
// value that it can get does more (tc39.es/ecma262, nodejs.org/api).
type jsScript struct {
	scanner
	names   python.Names
	use     python.Use
	operand bool // a value stands in front
	calls   bool // it may be called
	unsure  bool // what a slash means, nobody knows
}

const (
	// jsVariables are the names that a script declares: with const, as a parameter, behind catch.
	jsVariables = lazyRegexp(`\b(?:const|let|var)\s+([a-z_$][\w$]*)|\b(?:const|let|var)\s*[{[]([\w\s,$]*)[}\]]|([a-z_$][\w$]*)\s*=>|\(\s*([\w\s,$]*)\)\s*=>|` +
		`\(\s*[{[]([\w\s,$]*)[}\]]\s*\)\s*=>|\bfunction\s*\w*\s*\(([\w\s,$]*)\)|\bcatch\s*\(\s*(\w+)\s*\)|,\s*([a-z_]\w*)\s*=[^=>]`)
	// jsReaches are words with which a value leads to code, or to a method that a later one calls;
	// and comments of HTML, which hide code.
	jsReaches = lazyRegexp(`\b(?:constructor|__\w+__|prototype|caller|callee|mainModule|valueOf|toJSON|then|Symbol|toPrimitive)\b|\btoString\b(?:[^(]|$)|<!--|-->|\][ \t\n]*:`)
	jsModules = " fs path os util crypto url "
	jsGlobals = ` atob btoa buffer assert async_hooks child_process clear cluster console constants dgram diagnostics_channel dns domain escape unescape eval
 events exports fetch global globalThis gc http http2 https inspector localStorage module navigator net performance perf_hooks process punycode
 querystring readline repl require sea self sessionStorage setImmediate setInterval setTimeout sqlite stream string_decoder structuredClone sys test
 timers tls trace_events tty v8 vm wasi window worker_threads zlib queueMicrotask arguments import this async await get set static yield class with
 of let enum super export delete debugger extends implements package private protected public interface `
	jsBeforeValue = " const let var for in of if else return typeof new while do case throw instanceof void try finally default switch catch "
	jsValues      = " true false null undefined break continue Infinity NaN "
)

// readsJavaScript reads a script: the files that it uses, false where it may do more than read
// and print.
func readsJavaScript(text string) (python.Use, bool) {
	s := &jsScript{scanner: scanner{s: text}, names: scriptNames("JavaScript that reads")}
	for _, found := range jsVariables.get().FindAllStringSubmatch(text, -1) {
		for _, name := range strings.FieldsFunc(strings.Join(found[1:], ","), func(r rune) bool { return strings.ContainsRune(", \t\n", r) }) {
			_, listed := s.names[name]
			if !listed && !inWords(jsGlobals+jsModules+jsBeforeValue+jsValues, name) && isLetter(name[0]) && name[0] >= '_' {
				s.names["variable "+name] = python.Computes
			}
		}
	}
	return s.use, !jsReaches.MatchString(text) && s.tokens("")
}

// inWords reports whether a word is in a list, between blanks.
func inWords(list, word string) bool { return slices.Contains(strings.Fields(list), word) }

// tokens reads up to an end, "" for that of the script.
func (s *jsScript) tokens(end string) bool {
	for depth := 0; ; {
		s.skip()
		switch {
		case s.at == len(s.s):
			return end == ""
		case end != "" && depth == 0 && s.next(end):
			return true
		case s.s[s.at] == '{':
			depth++
		case s.s[s.at] == '}':
			depth--
		}
		if !s.token() {
			return false
		}
	}
}

func (s *jsScript) token() bool {
	operand, calls, unsure, first := s.operand, s.calls, s.unsure, s.at
	s.operand, s.calls, s.unsure = true, false, false
	switch c := s.s[s.at]; {
	case s.next("//"):
		s.run(func(c byte) bool { return c != '\n' })
		s.operand, s.calls, s.unsure = operand, calls, unsure
		return true
	case c == '"' || c == '\'':
		_, ok := s.text()
		return ok
	case s.next("`"):
		return !operand && s.template()
	case isDigit(c):
		return s.run(func(c byte) bool { return isNameLetter(c) || c == '.' }) != ""
	case isLetter(c) || c == '$':
		return s.word()
	case s.next("..."):
		s.operand = false
		return true
	case s.next("?.") || s.next("."):
		return operand && s.member()
	case c == '(':
		s.at++
		s.operand = false
		return !operand || calls
	case c == '[':
		s.at++
		return s.subscript(operand)
	case c == '/' && (unsure && strings.Count(s.s[first:], "/") > 1 || s.is("/*")):
		return false // a division or an expression, nobody knows
	case c == '/' && !operand && !unsure:
		return s.expression()
	case c == ')' || c == ']' || c == '}':
		s.at++
		s.operand, s.unsure = c != '}', c != ']'
		return true
	case s.next("++") || s.next("--"):
		s.operand = operand
		return true
	}
	s.operand = false
	s.at++
	return strings.IndexByte("/+-*%=<>!&|^~?:;,{", s.s[first]) >= 0
}

// text reads a text in quotes, without escapes that write letters.
func (s *jsScript) text() (string, bool) {
	quote, first := s.s[s.at], s.at+1
	for s.at++; s.at < len(s.s) && s.s[s.at] != '\n'; s.at++ {
		switch c := s.s[s.at]; {
		case c == quote:
			s.at++
			return s.s[first : s.at-1], true
		case c == '\\':
			if s.at++; s.at == len(s.s) || strings.IndexByte(`ntr0\'"/`+"`", s.s[s.at]) < 0 {
				return "", false
			}
		}
	}
	return "", false
}

// template reads what stands between backticks, and the values in it.
func (s *jsScript) template() bool {
	for s.at < len(s.s) {
		switch {
		case s.next("`"):
			s.operand, s.calls, s.unsure = true, false, false
			return true
		case s.next("${"):
			s.operand = false
			if !s.tokens("}") {
				return false
			}
		case s.next(`\`) && s.at == len(s.s):
		default:
			s.at++
		}
	}
	return false
}

// expression reads a regular expression and its flags.
func (s *jsScript) expression() bool {
	for s.at++; s.at < len(s.s) && s.s[s.at] != '\n'; s.at++ {
		switch s.s[s.at] {
		case '\\':
			s.at++
		case '[':
			for s.at++; s.at < len(s.s) && s.s[s.at] != ']' && s.s[s.at] != '\n'; s.at++ {
				if s.s[s.at] == '\\' {
					s.at++
				}
			}
		case '/':
			s.at++
			return strings.Trim(s.run(isNameLetter), "dgimsuvy") == ""
		}
	}
	return false
}

// subscript reads a list, or behind a value the place in it: a number or a plain text.
func (s *jsScript) subscript(operand bool) bool {
	if !operand {
		s.operand = false
		return true
	}
	if s.at < len(s.s) && strings.IndexByte(`'"`, s.s[s.at]) >= 0 {
		if _, ok := s.text(); !ok {
			return false
		}
	} else if s.run(isDigit) == "" {
		return false
	}
	return s.next("]")
}

// member reads the name behind a dot: one that is called must be a listed method.
func (s *jsScript) member() bool {
	s.skip()
	name := s.run(func(c byte) bool { return isNameLetter(c) || c == '$' })
	_, s.calls = s.names["."+name]
	return name != "" && (s.calls || !s.is("(")) && !s.is("`")
}

// word reads a name: a keyword, a variable, a key, or what Node has under it.
func (s *jsScript) word() bool {
	first := s.at
	name := s.run(func(c byte) bool { return isNameLetter(c) || c == '$' })
	_, variable := s.names["variable "+name]
	before := strings.TrimRight(s.s[:first], " \t\n")
	switch {
	case s.is(":") && (strings.HasSuffix(before, "{") || strings.HasSuffix(before, ",")):
		return true // a key
	case name == "function":
		s.skip()
		s.run(isNameLetter)
		s.operand = false
		return s.is("(")
	case inWords(jsBeforeValue, name):
		s.operand, s.unsure = false, name == "of" || name == "let"
		return true
	case inWords(jsValues, name), variable, inWords(jsModules, name) && s.is("="):
		return true
	case name == "require":
		return s.required(before)
	}
	return s.qualified(name)
}

// qualified reads the rest of a listed name: process.stdout.write. What opens a file must say
// in its own words which.
func (s *jsScript) qualified(name string) bool {
	does, ok := s.names[name]
	for more := true; more; {
		rest := scanner{s.s, s.at}
		rest.skip()
		more = rest.next(".")
		longer := name + "." + rest.run(isNameLetter)
		if next, listed := s.names[longer]; more && (listed || !ok) {
			name, does, ok, s.at = longer, next, listed, rest.at
			more = listed || strings.Count(longer, ".") < 2
		} else {
			more = false
		}
	}
	if ok && does != python.Computes {
		return s.opens(does)
	}
	s.calls = true
	return ok
}

// opens reads the arguments of what opens a file: a text, and how it is encoded.
func (s *jsScript) opens(does python.Does) bool {
	if !s.next("(") {
		return false
	}
	s.skip()
	if s.at == len(s.s) || strings.IndexByte(`'"`, s.s[s.at]) < 0 {
		return false
	}
	path, ok := s.text()
	if s.skip(); !ok || strings.Contains(path, `\`) {
		return false
	}
	if does == python.Lists {
		s.use.Listed = append(s.use.Listed, path)
		return s.is(",") || s.is(")")
	}
	s.use.Read = append(s.use.Read, path)
	if s.next(",") {
		s.skip()
		if s.at == len(s.s) || strings.IndexByte(`'"`, s.s[s.at]) < 0 {
			return false
		}
		if _, ok = s.text(); !ok {
			return false
		}
		s.skip()
	}
	return s.next(")")
}

// required reads a module of Node's own, which is used at once or under its own name, or a file
// of JSON.
func (s *jsScript) required(before string) bool {
	if !s.next("(") || s.at == len(s.s) || strings.IndexByte(`'"`, s.s[s.at]) < 0 {
		return false
	}
	name, ok := s.text()
	if !ok || !s.next(")") {
		return false
	}
	if strings.HasSuffix(name, ".json") && (strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") || strings.HasPrefix(name, "/")) {
		s.use.Read, s.use.Required = append(s.use.Read, name), append(s.use.Required, name)
		return true
	}
	name = strings.TrimPrefix(name, "node:")
	own := strings.TrimRight(strings.TrimSuffix(before, "="), " \t\n")
	switch {
	case !inWords(jsModules, name):
		return false
	case own != before && strings.HasSuffix(own, " "+name):
		return !s.is(".") && !s.is("(") && !s.is("[")
	}
	return s.qualified(name)
}
