package knowledge

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge/form"
	"cardea.dev/internal/command/knowledge/inline"
)

// This file checks scripts in the words of a program. Each function reports whether a script of
// its language certainly only computes and prints its input: it runs no command, opens no file,
// reads no environment. It returns false for a script that it cannot read.

// looks maps the kind of a script in an operand or option, as packs/commands names it,
// to its check.
var looks = map[string]func(script string) bool{
	sedLanguage: harmlessSed,
	"fzf":       harmlessFzf,
	"jq":        func(script string) bool { return !jqReaches.MatchString(script) },
	"git":       func(script string) bool { return !gitVerifies.MatchString(script) },
	"curl": func(format string) bool { // curl(1), --write-out: the format is in a file, or goes to one
		return !strings.HasPrefix(format, "@") && !strings.Contains(format, "%output")
	},
	"yq": func(script string) bool {
		return !yqReaches.MatchString(script) && !jqReaches.MatchString(script) // one yq is jq inside
	},
	// Languages that can do anything: beyond the scripts that a grammar reads, only those
	// that print numbers and plain texts are certain.
	"python": pythonPrints.MatchString,
	"sqlite": harmlessQuery,
	"ruby":   rubyPrints.MatchString,
}

// languageWords returns the words of a list of names in a language.
func languageWords(list string) []string {
	words, _ := WordsOf(form.LanguageCalls, list)
	return words
}

// ShadowsPython reports whether Python may import a file or folder instead of one of its
// own modules, also on a file system that ignores case.
func ShadowsPython(file string) bool {
	module, ending, _ := strings.Cut(strings.ToLower(file), ".")
	if ending != "" && !slices.ContainsFunc([]string{"py", "so", "pyd", "dll"}, func(of string) bool { return strings.HasPrefix(ending, of) || strings.HasSuffix(ending, "."+of) }) {
		return false
	}
	return slices.Contains(languageWords("Python's modules"), module) || strings.HasPrefix(module, "_") && !strings.HasPrefix(module, "__")
}

// readInline returns what a script of a language with a grammar uses, or false if it may
// do more than read and print.
func readInline(language, script string) (inline.Use, bool) {
	return inline.Read(language, script, languageWords)
}

// harmless reports whether a script of this kind certainly only computes and prints.
func harmless(kind, script string) bool {
	if _, only := readInline(kind, script); only {
		return true
	}
	look := looks[kind]
	return look != nil && look(script)
}

// jqReaches matches what reads outside of the input in jq(1) 1.7: env and $ENV, also
// written "$ ENV", show the environment, import and include read modules. input_filename
// and getpath are harmless.
const jqReaches = lazyRegexp(`(?:^|[^.\w"])(?:env|ENV|import|include|get_search_list|modulemeta|debug|stderr|input_line_number|halt_error|\$__prog_args)\b`)

// gitVerifies matches formats that start gpg to verify (git-log(1),
// git-for-each-ref(1)): %G… and %(signature…).
const gitVerifies = lazyRegexp(`%[-+ ]?G|signature`)

// yqReaches matches operators of yq (mikefarah, 4) that read files and the environment.
const yqReaches = lazyRegexp(`\b(?:load\w*|env|strenv|envsubst|eval|system|filename|file_index|split_doc|document_index|input)\b|\$ENV`)

// Expressions for scripts that print numbers, sums and texts, without anything that a
// language would replace by a value.
const (
	sums   = `(?:[-+*/%(), .0-9]|'[A-Za-z0-9 .,:;!_/=+-]*'`
	plain  = sums + `)*`
	quoted = sums + `|"[A-Za-z0-9 .,:;!_/=+-]*")*`
)

const (
	pythonPrints = lazyRegexp(`^\s*print\(` + quoted + `\)\s*;?\s*$`)
	rubyPrints   = lazyRegexp(`^\s*(?:puts|print|p) ` + plain + `\s*;?\s*$`)
)

// lazyRegexp is a regular expression that is compiled on first use: few lines need one,
// and a hook that answers one call must not compile all. It comes from the code or from
// command knowledge, never from a line.
type lazyRegexp string

// compiled holds the *regexp.Regexp of each expression that was used.
var compiled sync.Map

func (l lazyRegexp) get() *regexp.Regexp {
	known, ok := compiled.Load(l)
	if !ok {
		known, _ = compiled.LoadOrStore(l, regexp.MustCompile(string(l)))
	}
	return known.(*regexp.Regexp)
}

// MatchString is [regexp.Regexp.MatchString] of the compiled expression.
func (l lazyRegexp) MatchString(s string) bool { return l.get().MatchString(s) }

// ReplaceAllString is [regexp.Regexp.ReplaceAllString] of the compiled expression.
func (l lazyRegexp) ReplaceAllString(s, with string) string { return l.get().ReplaceAllString(s, with) }

// sedLanguage is the one language whose reader also returns what a script opens.
const sedLanguage = "sed"

// sedScript reads a script of sed (POSIX, GNU sed 4.9).
type sedScript struct {
	s        string
	at       int
	brackets int // how bracket expressions end
	// acts are the files that it opens and the commands that it runs, with their text as
	// the path. wrong is set if every sed rejects the script.
	acts  []cardea.Access
	wrong bool
	// plain is set if text after a, i and c must have no backslash, and sign if a character
	// is a command or a flag in no sed.
	plain, sign bool
}

// The ways in which a sed reads a bracket expression with a delimiter, a bracket or a backslash
// in it: uncertain; brackets have no meaning; a backslash is literal; a backslash is an escape.
const sureBrackets, noBrackets, posixBrackets, escapedBrackets = 0, 1, 2, 3

// read reports whether all of the script was understood.
func (p *sedScript) read() bool {
	for {
		p.skip(" \t\n;{}")
		if p.at >= len(p.s) {
			return true
		}
		if p.s[p.at] == '#' {
			p.line()
			continue
		}
		if !p.addresses() || !p.command() {
			return false
		}
	}
}

// harmlessSed reports whether a sed script neither executes (e, s///e) nor opens files
// (r, R, w, W, s///w).
func harmlessSed(text string) bool {
	if p := (sedScript{s: text, plain: true}); p.read() {
		return len(p.acts) == 0
	}
	// With a delimiter in brackets, each possible reading must be harmless or an error.
	// This function does not read [.x.] and [=x=].
	harmless := false
	for style := noBrackets; style <= escapedBrackets; style++ {
		p := sedScript{s: text, plain: true, brackets: style}
		read := p.read()
		if len(p.acts) > 0 || !read && !p.sign || strings.Contains(text, "[.") || strings.Contains(text, "[=") {
			return false
		}
		harmless = harmless || read
	}
	return harmless
}

// actsOfSed returns the files that a sed script may open, and the commands that it may run. all
// is false if there may be others. It tries each way in which a sed may read the script.
func actsOfSed(text string) (acts []cardea.Access, all bool) {
	all = true
	for style := noBrackets; style <= escapedBrackets; style++ {
		p := sedScript{s: text, brackets: style}
		all = (p.read() || p.wrong) && all
		for _, a := range p.acts {
			if !slices.Contains(acts, a) {
				acts = append(acts, a)
			}
		}
	}
	return acts, all
}

func (p *sedScript) skip(set string) {
	for p.at < len(p.s) && strings.IndexByte(set, p.s[p.at]) >= 0 {
		p.at++
	}
}

func (p *sedScript) line() {
	if i := strings.IndexByte(p.s[p.at:], '\n'); i >= 0 {
		p.at += i + 1
	} else {
		p.at = len(p.s)
	}
}

func (p *sedScript) peek() byte {
	if p.at < len(p.s) {
		return p.s[p.at]
	}
	return 0
}

// addresses reads the addresses before a command, at most two, and an exclamation mark.
func (p *sedScript) addresses() bool {
	if !p.address() {
		return false
	}
	p.skip(" \t")
	if p.peek() == ',' {
		p.at++
		p.skip(" \t+~")
		if !p.address() {
			return false
		}
	}
	p.skip(" \t!")
	return true
}

// address reads one address, if there is one, and returns false if it cannot be read.
func (p *sedScript) address() bool {
	switch c := p.peek(); {
	case c == '/':
		p.at++
		return p.regexFlags(p.delimited('/', true))
	case c == '\\':
		p.at++
		d := p.peek()
		if d == 0 || d == '\n' || d == '\\' {
			return false
		}
		p.at++
		return p.regexFlags(p.delimited(d, true))
	case c == '$' || '0' <= c && c <= '9':
		p.skip("$0123456789~")
	}
	return true
}

func (p *sedScript) regexFlags(ok bool) bool {
	p.skip("IM")
	return ok
}

// delimited reads up to an unescaped delimiter. In a regular expression, a delimiter in
// brackets is literal in some versions and ends the text in others.
func (p *sedScript) delimited(d byte, regex bool) bool {
	for ; p.at < len(p.s); p.at++ {
		switch c := p.s[p.at]; {
		case c == d:
			p.at++
			return true
		case c == '\\':
			p.at++
		case c == '\n':
			return false
		case c == '[' && regex && p.brackets == sureBrackets:
			end := bracketEnd(p.s, p.at)
			if end < 0 || strings.IndexByte(p.s[p.at:end], d) >= 0 {
				return false
			}
			p.at = end
		case c == '[' && regex && p.brackets != noBrackets:
			p.at = max(p.at, looseEnd(p.s, p.at, p.brackets == escapedBrackets))
		}
	}
	return false
}

// looseEnd returns the end of the bracket expression at i in a sed that reads a
// backslash literally, or as an escape. It returns -1 if there is no end.
func looseEnd(s string, i int, escapes bool) int {
	at := i + 1
	if at < len(s) && s[at] == '^' {
		at++
	}
	for first := at; at < len(s) && s[at] != '\n'; at++ {
		switch {
		case s[at] == ']' && at > first:
			return at
		case s[at] == '\\' && escapes:
			at++
		case s[at] == '[' && classEnd(s, at) > 0:
			at = classEnd(s, at)
		}
	}
	return -1
}

// bracketEnd returns the end of the bracket expression at i. It returns -1 where
// implementations differ: at an inner bracket that is not a plain class such as
// [:alpha:], at a first one, and at an escaped one.
func bracketEnd(s string, i int) int {
	at := i + 1
	if at < len(s) && s[at] == '^' {
		at++
	}
	for first := at; at < len(s); at++ {
		switch s[at] {
		case '\n':
			return -1
		case ']':
			if at == first {
				return -1
			}
			return at
		case '\\':
			if at+1 == len(s) || strings.IndexByte("[]\\", s[at+1]) >= 0 {
				return -1
			}
		case '[':
			class := classEnd(s, at)
			if class < 0 {
				return -1
			}
			at = class
		}
	}
	return -1
}

// classEnd returns the end of the class [:name:] at i, or -1 if there is no class.
func classEnd(s string, i int) int {
	name, found := strings.CutPrefix(s[i:], "[:")
	end := 0
	for end < len(name) && 'a' <= name[end] && name[end] <= 'z' {
		end++
	}
	if !found || end == 0 || !strings.HasPrefix(name[end:], ":]") {
		return -1
	}
	return i + len("[:") + end + len(":]") - 1
}

// command reads one command of the script. It returns false if it cannot be read.
func (p *sedScript) command() bool {
	c := p.peek()
	p.at++
	switch c {
	case '{', '}':
		return true
	case '=', 'd', 'D', 'F', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z':
		return p.end()
	case 'l', 'q', 'Q', 'L':
		p.skip(" \t0123456789")
		return p.end()
	case 'a', 'i', 'c', ':', 'b', 't', 'T':
		return p.rest(c)
	case 'r', 'R':
		return p.opens(cardea.Read)
	case 'w', 'W':
		return p.opens(cardea.Write)
	case 'e':
		return p.opens(cardea.Execute)
	case 'y':
		d := p.peek()
		p.at++
		return plainDelimiter(d) && p.delimited(d, true) && p.delimited(d, true) && p.end()
	case 's':
		d := p.peek()
		p.at++
		return plainDelimiter(d) && p.delimited(d, true) && p.delimited(d, false) && p.flags()
	}
	p.sign = c != 0 && strings.IndexByte("]*.$[", c) >= 0
	p.wrong = p.wrong || p.sign
	return false
}

// flags reads the flags of s///.
func (p *sedScript) flags() bool {
	p.skip("gpiImM0123456789")
	switch p.peek() {
	case 'e':
		p.at++
		p.acts = append(p.acts, cardea.Access{Kind: cardea.Execute})
		return p.flags()
	case 'w':
		p.at++
		return p.opens(cardea.Write)
	}
	ok := p.end()
	p.wrong, p.sign = p.wrong || !ok, !ok && strings.IndexByte("/]*.$[^", p.peek()) >= 0
	return ok
}

// opens reads the name of a file or a command, up to the end of the line.
func (p *sedScript) opens(kind cardea.AccessKind) bool {
	p.skip(" \t")
	from := p.at
	p.line()
	p.acts = append(p.acts, cardea.Access{Kind: kind, Path: strings.TrimSuffix(p.s[from:p.at], "\n")})
	return true
}

func plainDelimiter(d byte) bool { return d != 0 && strings.IndexByte("/|#,:@!%_+;~^=&", d) >= 0 }

// end reads to the end of a command: no further letter may follow.
func (p *sedScript) end() bool {
	p.skip(" \t")
	c := p.peek()
	if c == '#' {
		p.line()
		return true
	}
	return c == 0 || c == '\n' || c == ';' || c == '}' || c == '{'
}

// rest reads text and labels. In text, a backslash continues the line.
func (p *sedScript) rest(c byte) bool {
	p.skip(" \t")
	if c == ':' || c == 'b' || c == 't' || c == 'T' {
		for p.at < len(p.s) && (isLetter(p.s[p.at]) || '0' <= p.s[p.at] && p.s[p.at] <= '9') {
			p.at++
		}
		return p.end()
	}
	if p.plain {
		line, _, _ := strings.Cut(p.s[p.at:], "\n")
		p.line()
		return !strings.Contains(line, "\\")
	}
	if p.peek() == '\\' {
		p.at++
		p.skip(" \t")
		if p.peek() == '\\' {
			return false // the end of the line may be escaped, or not
		}
	} else if p.peek() == '\n' {
		return false
	}
	for first := p.at; p.at < len(p.s) && (p.s[p.at] != '\n' || p.at == first); p.at++ {
		if p.s[p.at] == '\\' {
			p.at++
		}
	}
	return p.at <= len(p.s)
}

// SQLite 3.40: queries, and commands of its shell that print contents of the database.
const (
	sqliteQuery   = lazyRegexp(`(?is)^\s*(?:explain\s+query\s+plan\s+)?(?:select|with)\b(?:[^;'"\x60\[]|'[^']*')*;?\s*$|^\.(?:tables|schema|fullschema|indexes|databases|dump)(?: \w+)?$`)
	sqliteReaches = lazyRegexp(`(?i)--|/\*|zip|fsdir|sqlar|file|edit|load_|dbpage|csv|attach|pragma|recursive`)
	sqliteCall    = lazyRegexp(`(?i)(\w+)\s*\(`)
)

// harmlessQuery reports whether SQLite only reads its database: one query with listed
// functions.
func harmlessQuery(text string) bool {
	known, _ := WordsOf(form.LanguageCalls, "SQL that reads")
	for _, call := range sqliteCall.get().FindAllStringSubmatch(text, -1) {
		if !slices.Contains(known, strings.ToLower(call[1])) {
			return false
		}
	}
	return sqliteQuery.MatchString(text) && !sqliteReaches.MatchString(text)
}

// harmlessFzf reports whether bindings of fzf (--bind, fzf 0.54) only move, mark and
// show: no execute, reload, transform, preview, become and the like. An unknown key or
// action makes it false.
func harmlessFzf(bindings string) bool {
	harmless, _ := WordsOf(form.HarmlessActions, "fzf")
	for _, b := range strings.Split(bindings, ",") {
		key, actions, found := strings.Cut(b, ":")
		if !found || key == "" || slices.ContainsFunc(strings.Split(actions, "+"), func(a string) bool { return !slices.Contains(harmless, a) }) {
			return false
		}
	}
	return true
}

// isLetter reports whether c is an ASCII letter or an underscore, with which names begin.
func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
