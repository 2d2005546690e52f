package knowledge

import (
	"slices"
	"strings"

	"cardea.dev/internal/knowledge/python"
)

// jsScript parses a script of a part of JavaScript for Node 18 to 24: declarations, expressions,
// if, for and arrow functions, without comments and with all semicolons. What it accepts,
// JavaScript reads in the same way (tc39.es/ecma262). Functions come from a list of names, or
// are written in the script, so that no value that it can get does more than compute, print and read.
type jsScript struct {
	scanner
	names python.Names
	own   []string // what the script declares
	use   python.Use
	depth int
}

const (
	// jsReaches are words with which a value leads to code, or to a method that a later one calls.
	jsReaches = lazyRegexp(`\b(?:constructor|__\w+__|prototype|caller|callee|arguments|mainModule|valueOf|toJSON|then|Symbol|toPrimitive)\b`)
	jsPassed  = " Number String Boolean console.log parseInt parseFloat "
	jsModules = " fs path os util crypto url "
	// jsOthers are names of JavaScript and of Node that no variable of a script may have: it would be
	// another one in another place.
	jsOthers = ` atob btoa buffer assert async_hooks child_process clear cluster console constants dgram diagnostics_channel dns domain escape unescape eval
 events exports fetch global globalThis gc http http2 https inspector localStorage module navigator net performance perf_hooks process punycode
 querystring readline repl require sea self sessionStorage setImmediate setInterval setTimeout sqlite stream string_decoder structuredClone sys test
 timers tls trace_events tty v8 vm wasi window worker_threads zlib queueMicrotask import this async await get set static yield class with
 of let enum super export delete debugger extends implements package private protected public interface const var for in if else return typeof
 new while do case throw instanceof void try finally default switch catch break continue function true false null undefined `
)

// readsJavaScript reads a script: the files that it uses, false where it may do more than read
// and print.
func readsJavaScript(text string) (python.Use, bool) {
	s := &jsScript{scanner: scanner{s: text}, names: scriptNames("JavaScript that reads")}
	plain := !strings.ContainsAny(text, "\r\v\f\x00\u2028\u2029\ufeff\u00a0") && !strings.Contains(text, "<!--") && !strings.Contains(text, "-->") && !jsReaches.MatchString(text)
	return s.use, plain && s.statements() && s.at == len(s.s)
}

func inWords(list, word string) bool { return slices.Contains(strings.Fields(list), word) }

// sign takes an operator or a bracket.
func (s *jsScript) sign(text string) bool { s.skip(); return s.next(text) }

// word takes a keyword.
func (s *jsScript) word(text string) bool {
	s.skip()
	rest := s.s[s.at:]
	return strings.HasPrefix(rest, text) && (len(rest) == len(text) || !isNameLetter(rest[len(text)]) && rest[len(text)] != '$' && rest[len(text)] != '\\' && rest[len(text)] < 0x80) && s.next(text)
}

// name takes a name.
func (s *jsScript) name() string {
	s.skip()
	if s.at == len(s.s) || isDigit(s.s[s.at]) {
		return ""
	}
	return s.run(isNameLetter)
}

func (s *jsScript) statements() bool {
	for {
		if s.skip(); s.at == len(s.s) || s.s[s.at] == '}' {
			return true
		}
		if !s.statement() {
			return false
		}
	}
}

// statement reads one with its end.
func (s *jsScript) statement() bool {
	if s.depth++; s.depth > 200 {
		return false
	}
	defer func() { s.depth-- }()
	switch s.skip(); {
	case s.next(";"):
		return true
	case s.next("{"):
		return s.statements() && s.sign("}")
	case s.word("if"):
		return s.sign("(") && s.expression() && s.sign(")") && s.body() && (!s.word("else") || s.body())
	case s.word("for"):
		return s.sign("(") && s.loop() && s.sign(")") && s.body()
	case s.word("return"):
		line, _, _ := strings.Cut(s.s[s.at:], "\n")
		return strings.TrimSpace(line) != "" && (s.ends() || s.expression() && s.ends())
	case s.word("const"), s.word("let"), s.word("var"):
		return s.declaration() && s.ends()
	}
	return s.expression() && s.ends()
}

// body reads what if or for runs, which is no declaration.
func (s *jsScript) body() bool {
	q := *s
	return !q.word("const") && !q.word("let") && !q.word("var") && s.statement()
}

// ends takes the end of a statement, which a closing bracket and the end of the script are, too.
func (s *jsScript) ends() bool {
	s.skip()
	return s.next(";") || s.at == len(s.s) || s.s[s.at] == '}'
}

// loop reads what stands in the brackets of for.
func (s *jsScript) loop() bool {
	if !s.word("const") && !s.word("let") && !s.word("var") {
		return false
	}
	if q := *s; q.target() && (q.word("of") || q.word("in")) {
		*s = q
		return s.expression()
	}
	return s.declaration() && s.sign(";") && s.expression() && s.sign(";") && s.expression()
}

// target reads what is declared: a name, or several in brackets.
func (s *jsScript) target() bool {
	if open := s.sign("["); open || s.sign("{") {
		for {
			if !s.declare(s.name()) {
				return false
			}
			if !s.sign(",") {
				return s.sign(map[bool]string{true: "]", false: "}"}[open])
			}
		}
	}
	return s.declare(s.name())
}

// declare notes a variable of the script.
func (s *jsScript) declare(name string) bool {
	_, listed := s.names[name]
	if name == "" || listed || inWords(jsOthers+jsModules, name) || name[0] < '_' {
		return false
	}
	s.own = append(s.own[:len(s.own):len(s.own)], name)
	return true
}

// declaration reads the names behind const, with their values. A module has its own name.
func (s *jsScript) declaration() bool {
	for {
		q := *s
		if name := q.name(); inWords(jsModules, name) && q.sign("=") && q.word("require") && q.sign("(") {
			module, ok := q.quoted()
			if !ok || strings.TrimPrefix(module, "node:") != name || !q.sign(")") {
				return false
			}
			*s = q
		} else if !s.target() || s.sign("=") && (strings.HasPrefix(s.s[s.at:], "=") || !s.assigned()) {
			return false
		}
		if !s.sign(",") {
			return true
		}
	}
}

// expression reads values with commas between them.
func (s *jsScript) expression() bool {
	for s.assigned() {
		if !s.sign(",") {
			return true
		}
	}
	return false
}

// assigned reads an arrow function, an assignment to a variable, or a value.
func (s *jsScript) assigned() bool {
	if s.depth++; s.depth > 200 {
		return false
	}
	defer func() { s.depth-- }()
	if q := *s; q.arrow() {
		*s = q
		if s.sign("{") {
			return s.statements() && s.sign("}")
		}
		return s.assigned()
	}
	if q := *s; slices.Contains(s.own, q.name()) {
		for _, operator := range []string{"+=", "-=", "*=", "="} {
			if r := q; r.sign(operator) && !(operator == "=" && (strings.HasPrefix(r.s[r.at:], "=") || strings.HasPrefix(r.s[r.at:], ">"))) {
				*s = r
				return s.assigned()
			}
		}
	}
	return s.conditional()
}

// arrow reads the parameters of an arrow function.
func (s *jsScript) arrow() bool {
	if !s.sign("(") {
		return s.declare(s.name()) && s.sign("=>")
	}
	for !s.sign(")") {
		if !s.target() {
			return false
		}
		s.sign(",")
	}
	return s.sign("=>")
}

func (s *jsScript) conditional() bool {
	if !s.binary() {
		return false
	}
	if q := *s; q.sign("?") && !strings.HasPrefix(q.s[q.at:], ".") && !strings.HasPrefix(q.s[q.at:], "?") {
		*s = q
		return s.assigned() && s.sign(":") && s.assigned()
	}
	return true
}

// jsOperators are those between two values, the longer ones first.
var jsOperators = []string{"===", "!==", "==", "!=", "<=", ">=", "&&", "||", "??", "**", "+", "-", "*", "/", "%", "<", ">"}

func (s *jsScript) binary() bool {
	for s.unary() {
		s.skip()
		i := slices.IndexFunc(jsOperators, func(o string) bool { return strings.HasPrefix(s.s[s.at:], o) })
		if i < 0 {
			return true
		}
		// What begins like an operator may be another one, a comment or an assignment.
		operator := jsOperators[i]
		after := s.s[s.at+len(operator):]
		if after != "" && strings.IndexByte("=+-*/<>&|?", after[0]) >= 0 {
			return false
		}
		s.at += len(operator)
	}
	return false
}

func (s *jsScript) unary() bool {
	for {
		s.skip()
		switch {
		case s.next("++") || s.next("--"):
			return slices.Contains(s.own, s.name()) && s.alone()
		case s.next("!"), s.next("-"), s.next("+"), s.word("typeof"):
			if s.at < len(s.s) && strings.IndexByte("+-/", s.s[s.at]) >= 0 {
				return false
			}
			continue
		}
		return s.postfix()
	}
}

// postfix reads a value with its members, places and calls.
func (s *jsScript) postfix() bool {
	variable, ok := s.primary()
	if !ok {
		return false
	}
	if variable && (s.next("++") || s.next("--")) { // on the same line
		return true
	}
	for {
		q := *s
		switch {
		case q.sign("?.") || q.sign("."):
			*s = q
			name := s.name()
			_, method := s.names["."+name]
			switch called := s.next("("); {
			case name == "", called && (!method || !s.arguments(name)):
				return false
			}
		case q.next("["):
			*s = q
			if s.skip(); s.at < len(s.s) && strings.IndexByte(`'"`, s.s[s.at]) >= 0 {
				if _, ok := s.quoted(); !ok {
					return false
				}
			} else if s.run(isDigit) == "" {
				return false
			}
			if !s.sign("]") || s.next("(") {
				return false
			}
		default:
			return s.alone()
		}
	}
}

// alone reports that no call of the value follows, no text, and no place in it on another line.
func (s *jsScript) alone() bool {
	q := *s
	return !q.sign("(") && !q.sign("`") && !q.sign("[") && !q.sign("++") && !q.sign("--")
}

// jsCallbacks are the methods and functions that call what they are passed, and how many values
// they may be passed: more would be what a callback runs on.
var jsCallbacks = map[string]int{"map": 1, "filter": 1, "forEach": 1, "reduce": 2, "reduceRight": 2, "sort": 1, "find": 1, "findIndex": 1, "findLast": 1, "some": 1,
	"every": 1, "flatMap": 1, "replace": 2, "replaceAll": 2, "JSON.parse": 1, "JSON.stringify": 3, "Array.from": 2}

// arguments reads the values of a call. What a method calls is written in the script, or is a
// listed function.
func (s *jsScript) arguments(of string) bool {
	most, calls := jsCallbacks[of]
	for n := 0; !s.sign(")"); n++ {
		s.skip()
		plain := calls && !(n == 0 && strings.Contains(of, "."))
		q, r := *s, *s
		switch {
		case calls && n == most, s.at == len(s.s):
			return false
		case plain && !q.arrow() && strings.IndexByte("\"'`/[{-0123456789", s.s[s.at]) < 0 && !r.word("null") && !r.word("new") && !r.passed():
			return false
		}
		s.sign("...")
		if !s.assigned() {
			return false
		}
		if p := *s; !s.sign(",") && !p.sign(")") {
			return false
		}
	}
	return true
}

// passed takes a listed function that is passed on.
func (s *jsScript) passed() bool {
	name := s.run(func(c byte) bool { return isNameLetter(c) || c == '.' })
	s.skip()
	return inWords(jsPassed, name) && s.at < len(s.s) && strings.IndexByte("),", s.s[s.at]) >= 0
}

// primary reads a value, and reports a variable.
func (s *jsScript) primary() (variable, ok bool) {
	s.skip()
	if s.at == len(s.s) {
		return false, false
	}
	switch c := s.s[s.at]; {
	case c == '"' || c == '\'':
		_, ok = s.quoted()
		return false, ok
	case s.next("`"):
		return false, s.template()
	case isDigit(c):
		s.run(isDigit)
		if s.next(".") && s.run(isDigit) == "" {
			return false, false
		}
		return false, s.at == len(s.s) || !isNameLetter(s.s[s.at]) && s.s[s.at] != '.' && s.s[s.at] != '$'
	case s.next("("):
		return false, s.expression() && s.sign(")")
	case s.next("["):
		return false, s.list("]", false)
	case s.next("{"):
		return false, s.list("}", true)
	case c == '/':
		return false, s.pattern()
	}
	first := s.at
	name := s.name()
	switch {
	case name == "":
		return false, false
	case slices.Contains(s.own, name):
		return true, true
	case inWords(" true false null undefined NaN Infinity ", name):
		return false, true
	case name == "new":
		name = s.name()
		return false, inWords(" Set Map Date Error URL URLSearchParams ", name) && s.next("(") && s.arguments(name)
	case name == "require":
		return false, s.required()
	}
	s.at = first
	return false, s.qualified()
}

// list reads the values of a list or an object up to its end.
func (s *jsScript) list(end string, keys bool) bool {
	for !s.sign(end) {
		if spread := s.sign("..."); keys && !spread {
			q := *s
			if key := q.name(); key != "" && q.sign(":") && key != "toString" {
				*s = q
			} else if !slices.Contains(s.own, key) {
				return false
			}
		}
		if !s.assigned() {
			return false
		}
		if q := *s; !s.sign(",") && !q.sign(end) {
			return false
		}
	}
	return true
}

// quoted reads a text in quotes, without escapes that write letters.
func (s *jsScript) quoted() (string, bool) {
	if s.skip(); s.at == len(s.s) || strings.IndexByte(`'"`, s.s[s.at]) < 0 {
		return "", false
	}
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
			return true
		case s.next("${"):
			if !s.expression() || !s.sign("}") {
				return false
			}
		case s.next(`\`):
			if s.at == len(s.s) || strings.IndexByte("ntr0\\'\"/`$", s.s[s.at]) < 0 {
				return false
			}
			s.at++
		default:
			s.at++
		}
	}
	return false
}

// pattern reads a regular expression and its flags.
func (s *jsScript) pattern() bool {
	if s.at++; s.at == len(s.s) || s.s[s.at] == '/' || s.s[s.at] == '*' {
		return false // a comment
	}
	for class := false; s.at < len(s.s) && s.s[s.at] != '\n'; s.at++ {
		switch c := s.s[s.at]; {
		case c == '\\':
			s.at++
		case c == '[' || c == ']':
			class = c == '['
		case c == '/' && !class:
			s.at++
			return strings.Trim(s.run(isNameLetter), "dgimsuy") == ""
		}
	}
	return false
}

// qualified reads a listed name: process.stdout.write. What opens a file must say in its own
// words which.
func (s *jsScript) qualified() bool {
	name := s.name()
	does, ok := s.names[name]
	for dots := 0; dots < 2; dots++ {
		q := *s
		if !q.next(".") {
			break
		}
		longer := name + "." + q.run(isNameLetter)
		more, listed := s.names[longer]
		if ok && !listed {
			break // a member of a value
		}
		*s, name, does, ok = q, longer, more, listed
	}
	switch {
	case !ok:
		return false
	case does != python.Computes:
		return s.next("(") && s.opens(does)
	case s.next("("):
		return s.arguments(name)
	}
	// A value of Node's own, or a function that is passed on as it is.
	s.skip()
	return strings.HasPrefix(name, "process.") && !strings.HasPrefix(name, "process.std") || strings.HasPrefix(name, "Math.") || strings.HasPrefix(name, "os.EOL") ||
		inWords(jsPassed, name) && s.at < len(s.s) && strings.IndexByte("),", s.s[s.at]) >= 0
}

// opens reads the arguments of what opens a file: a text, and how it is encoded.
func (s *jsScript) opens(does python.Does) bool {
	file, ok := s.quoted()
	if !ok || strings.Contains(file, `\`) {
		return false
	}
	if does == python.Lists {
		s.use.Listed = append(s.use.Listed, file)
		return s.sign(")")
	}
	s.use.Read = append(s.use.Read, file)
	if s.sign(",") {
		if _, ok := s.quoted(); !ok {
			return false
		}
	}
	return s.sign(")")
}

// required reads a module of Node's own, whose member is used at once, or a file of JSON.
func (s *jsScript) required() bool {
	if !s.next("(") {
		return false
	}
	name, ok := s.quoted()
	if !ok || strings.Contains(name, `\`) || !s.sign(")") {
		return false
	}
	if strings.HasSuffix(name, ".json") && (strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") || strings.HasPrefix(name, "/")) {
		s.use.Read, s.use.Required = append(s.use.Read, name), append(s.use.Required, name)
		return true
	}
	name = strings.TrimPrefix(name, "node:")
	if !inWords(jsModules, name) || !s.next(".") {
		return false
	}
	member := name + "." + s.run(isNameLetter)
	does, listed := s.names[member]
	return listed && s.next("(") && (does == python.Computes && s.arguments(member) || does != python.Computes && s.opens(does))
}
