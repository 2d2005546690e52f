package redact

import (
	"slices"
	"sort"
	"strings"

	"cardea.dev/internal/command/knowledge/form"
)

// Limits of one command: the bytes and the number of its words that are read, and the
// bytes before it in which the text that it reads may be.
const maxCommand, maxWords, maxPipe = 1 << 13, 256, 256

// programAt holds the entries about one program, as indexes in passwords.
type programAt struct {
	name    string
	entries []uint8
}

// span is a piece of the text.
type span struct{ start, end int }

// command is a simple command: its words with their quotes, without the program.
type command struct {
	words []span
	// fed are the texts of its standard input from the line.
	fed []span
	// end is the offset of its end.
	end int
}

// printed is a command that prints words, with its begin and end.
type printed struct {
	words      []span
	start, end int
}

// maxPrints is the number of printing commands that are kept, for a group before a pipe.
const maxPrints = 8

// program finds secrets on the command line of the program whose name begins at at.
func (f *search) program(at int) {
	s, end := f.s, at
	for end < len(s) && end-at <= maxProgram && (isName(s[end]) || s[end] == '+') {
		end++
	}
	entries := entriesOf(s[at:end])
	if len(entries) == 0 || !f.spend(maxWords) {
		return
	}
	c := f.listed(at, end)
	if c == nil {
		if end < len(s) && !isSpace(s[end]) && strings.IndexByte("\\<", s[end]) < 0 && !f.quotedName(at, end) {
			return
		}
		c = f.command(end)
	}
	for _, k := range entries {
		f.passwords(&passwords[k], c, at)
	}
}

// entriesOf returns the entries about a program, as indexes in passwords.
func entriesOf(name string) []uint8 {
	if len(name) > maxProgram {
		return nil
	}
	name = strings.TrimSuffix(name, ".exe")
	i := sort.Search(len(programs), func(i int) bool { return programs[i].name >= name })
	if i == len(programs) || programs[i].name != name {
		return nil
	}
	return programs[i].entries
}

// quotedName reports whether a program's name is one quoted word.
func (f *search) quotedName(at, end int) bool {
	return at > 0 && end < len(f.s) && (f.s[at-1] == '"' || f.s[at-1] == '\'') && f.s[end] == f.s[at-1]
}

// command reads the words after a program.
func (f *search) command(i int) *command {
	s, c := f.s, &command{}
	limit := min(len(s), i+maxCommand)
	if i < limit && (s[i] == '"' || s[i] == '\'') {
		i++
	}
	for i < limit && len(c.words) < maxWords {
		switch {
		case s[i] == ' ' || s[i] == '\t' || s[i] == ',':
			i++
		case strings.HasPrefix(s[i:], "\\\n"):
			i += 2
		case strings.HasPrefix(s[i:], Mark):
			end := wordEnd(s, i, limit)
			c.words = append(c.words, span{i, end})
			i = end
		case strings.HasPrefix(s[i:], "<<<"):
			start := blanks(s, i+3)
			i = wordEnd(s, start, limit)
			c.fed = append(c.fed, span{start, i})
		case strings.HasPrefix(s[i:], "<<"):
			var body span
			if body, i = hereDoc(s, i+2, limit); body.end > 0 {
				c.fed = append(c.fed, body)
			}
		case s[i] == '<' || s[i] == '>':
			i = wordEnd(s, blanks(s, i+1), limit)
		default:
			end := wordEnd(s, i, limit)
			if end == i {
				c.end = i
				return c
			}
			c.words = append(c.words, span{i, end})
			i = end
		}
	}
	c.end = i
	return c
}

// wordEnd returns the end of an unquoted or quoted word of a shell.
func wordEnd(s string, i, limit int) int {
	for i < limit {
		switch c := s[i]; {
		case c == '<' && strings.HasPrefix(s[i:], Mark):
			i += len(Mark) - 1
		case isSpace(c) || strings.IndexByte(";|&<>()`", c) >= 0:
			return i
		case c == '\\' && i+1 < limit:
			if strings.IndexByte(`"'nrt`+"\n", s[i+1]) >= 0 {
				return i // the end of a JSON string, or of the line
			}
			i++
		case c == '\'' || c == '"':
			close := closing(s, i, limit)
			if close < 0 {
				return i
			}
			i = close
		case c == '$' && strings.HasPrefix(s[i:], "$("):
			close := strings.IndexByte(s[i:limit], ')')
			if close < 0 {
				return limit
			}
			i += close
		}
		i++
	}
	return min(i, limit)
}

// hereDoc returns the body of the here-document whose delimiter is at i, and the offset
// at which the line of the delimiter continues.
func hereDoc(s string, i, limit int) (body span, next int) {
	i = blanks(s, i)
	if i < limit && s[i] == '-' {
		i = blanks(s, i+1)
	}
	next = wordEnd(s, i, limit)
	delimiter := strings.Trim(s[i:next], `'"\`)
	line := strings.IndexByte(s[next:limit], '\n')
	if delimiter == "" || line < 0 {
		return span{}, next
	}
	start := next + line + 1
	for at := start; at < limit; {
		stop := strings.IndexByte(s[at:limit], '\n')
		if stop < 0 {
			stop = limit - at
		}
		if strings.TrimLeft(s[at:at+stop], "\t") == delimiter {
			if at > start {
				body = span{start, at - 1}
			}
			return body, next
		}
		at += stop + 1
	}
	return span{}, next
}

// listed reads the words of a program that is an entry of a list, or whose words are:
// ["docker", "login"], {"command": "docker", "args": ["login"]}, in either order. It
// returns nil if there is no list.
func (f *search) listed(at, end int) *command {
	s := f.s
	if !f.quotedName(at, end) {
		return nil
	}
	i := end + 1
	for i < len(s) && (isSpace(s[i]) || s[i] == ',') {
		i++
	}
	if i < len(s) && (s[i] == '"' || s[i] == '\'') && i > end+1 {
		if c := list(s, i); len(c.words) > 0 {
			return c
		}
	}
	// In an object with sorted keys the words come first.
	before := strings.TrimRight(s[max(0, at-32):at-1], " \t\n:")
	before = strings.TrimRight(strings.TrimRightFunc(before, func(r rune) bool { return r == '"' || r == '\'' || r < 0x80 && isAlnum(byte(r)) }), " \t\n,")
	if k := max(0, at-32) + len(before) - 1; k >= 0 && strings.HasSuffix(before, "]") {
		if open := strings.LastIndexByte(s[max(0, k-maxCommand):k], '['); open >= 0 {
			return list(s, max(0, k-maxCommand)+open)
		}
	}
	return nil
}

// list reads the quoted words of a list, up to its end. It skips keys.
func list(s string, i int) *command {
	c := &command{}
	limit := min(len(s), i+maxCommand)
	for i < limit && len(c.words) < maxWords && s[i] != ']' && s[i] != '}' {
		if s[i] != '"' && s[i] != '\'' {
			i++
			continue
		}
		close := closing(s, i, limit)
		if close < 0 {
			break
		}
		if next := blanks(s, close+1); next >= limit || s[next] != ':' {
			c.words = append(c.words, span{i + 1, close})
		}
		i = close + 1
	}
	c.end = i
	return c
}

// passwords marks the secrets of a command to which an entry applies.
func (f *search) passwords(p *form.Password, c *command, at int) {
	from, ok := f.behind(p, c)
	if !ok {
		return
	}
	if p.Prints || p.PrintsInput && len(c.fed) > 0 {
		words := c.fed
		if p.Prints {
			words = c.words
		}
		f.prints = append(f.prints[max(0, len(f.prints)+1-maxPrints):], printed{words, at, c.end})
	}
	if f.given(p, c, p.With) || len(p.With) == 0 {
		f.onLine(p, c, from)
	}
	if slices.Contains(p.Input, "always") || f.given(p, c, p.Input) {
		f.input(c, at)
	}
}

// behind returns the number of words up to the end of the subcommands, and whether the
// command has them.
func (f *search) behind(p *form.Password, c *command) (int, bool) {
	rest := p.Command[1:]
	for k, w := range c.words {
		if len(rest) == 0 {
			return k, true
		}
		if f.text(w) == rest[0] {
			rest = rest[1:]
		} else if len(rest) < len(p.Command)-1 && !f.isOption(w) {
			return 0, false // subcommands are adjacent
		}
	}
	return len(c.words), len(rest) == 0
}

// text returns a word without the quotes around it.
func (f *search) text(w span) string {
	start, end := unquoted(f.s, w.start, w.end)
	return f.s[start:end]
}

func (f *search) isOption(w span) bool { t := f.text(w); return len(t) > 1 && t[0] == '-' }

// given reports whether one of the options is given.
func (f *search) given(p *form.Password, c *command, options []string) bool {
	value := false
	for _, w := range c.words {
		t := f.text(w)
		switch {
		case value:
			value = false
		case slices.Contains(options, t):
			return true
		case slices.Contains(p.ValueOptions, t):
			value = true
		case p.EndsAtOperand && !f.isOption(w):
			return false
		case letters(t) && slices.ContainsFunc(options, func(o string) bool { return len(o) == 2 && strings.IndexByte(t, o[1]) > 0 }):
			return true
		}
	}
	return false
}

// letters reports whether an option may be a cluster of letters.
func letters(t string) bool {
	return len(t) > 1 && t[0] == '-' && strings.Trim(t[1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// onLine marks the secrets among the words. Those from index from on are after the subcommands.
func (f *search) onLine(p *form.Password, c *command, from int) {
	operand := 0
	for k := 0; k < len(c.words); k++ {
		w := c.words[k]
		t := f.text(w)
		next := span{}
		if k+1 < len(c.words) && !f.isOption(c.words[k+1]) {
			next = c.words[k+1]
		}
		switch {
		case f.isOption(w):
			if value, taken := f.optionValue(p, w, t, next); taken {
				if value == next {
					k++
				}
				continue
			}
			if slices.Contains(p.ValueOptions, t) {
				k++
			}
		case k < from:
		case p.EndsAtOperand:
			return
		default:
			operand++
			switch _, value, isPair := strings.Cut(t, "="); {
			case slices.Contains(p.Keywords, t):
				f.secret(next)
				k++
			case slices.Contains(p.Operands, operand):
				f.secret(w)
			case p.KeyValueOperands && isPair:
				f.secret(f.rest(w, len(t)-len(value)))
			}
		}
	}
}

// optionValue marks the secret in the value of an option. value is the word that holds it.
func (f *search) optionValue(p *form.Password, w span, t string, next span) (value span, taken bool) {
	name, _, joined := strings.Cut(t, "=")
	find := func(o string) (span, bool) {
		switch {
		case t == o, p.Clusters && len(o) == 2 && letters(t) && t[len(t)-1] == o[1]:
			return next, true
		case joined && (name == o || shortFor(p, name, o)):
			return f.rest(w, len(name)+1), true
		case !joined && shortFor(p, t, o):
			return next, true
		case len(o) == 2 && len(t) > 2 && t[:2] == o && !p.SeparateValues:
			return f.rest(w, 2), true
		}
		return span{}, false
	}
	for _, o := range p.Options {
		if value, ok := find(o); ok {
			f.secret(value)
			return value, true
		}
	}
	for _, o := range generalOptions {
		if value, ok := find(o); ok && name != o {
			f.secret(value)
			return value, true
		}
	}
	for _, o := range p.JoinedOptions {
		if len(t) > len(o) && strings.HasPrefix(t, o) {
			value := f.rest(w, len(o))
			f.secret(value)
			return value, true
		}
	}
	for _, o := range p.OptionsBehind {
		if value, ok := find(o.Name); ok {
			if at := strings.Index(f.text(value), o.Text); at >= 0 {
				f.secret(f.rest(value, at+len(o.Text)))
			}
			return value, true
		}
	}
	return span{}, false
}

// generalOptions take a secret in every program. Other rules find their full names
// without an entry.
var generalOptions = []string{"--password", "--passphrase"}

// shortFor reports whether name abbreviates a long option, as getopt reads it, with at
// least six letters.
func shortFor(p *form.Password, name, option string) bool {
	return len(name) >= len("--passph") && len(name) < len(option) && strings.HasPrefix(option, name) && strings.HasPrefix(name, "--") &&
		!slices.Contains(p.ValueOptions, name)
}

// rest returns a word without its quotes and its first n bytes.
func (f *search) rest(w span, n int) span {
	start, end := unquoted(f.s, w.start, w.end)
	return span{min(start+n, end), end}
}

// input marks secrets in the standard input of a command: a here-string, a
// here-document, or the output of the command before it.
func (f *search) input(c *command, at int) {
	for _, w := range c.fed {
		f.secret(w)
	}
	next, group := at, true
	for k := len(f.prints) - 1; k >= 0 && group; k-- {
		p := &f.prints[k]
		if p.end >= next || next-p.end > maxPipe || !f.pipesTo(p.end, next, next == at) {
			return
		}
		group = next != at || strings.ContainsAny(strings.TrimLeft(f.s[p.end:at], " ;\n\t")[:1], ")}")
		next = p.start
		for _, w := range p.words {
			if t := f.text(w); !letters(t) && strings.Trim(strings.NewReplacer("%s", "", `\n`, "").Replace(t), " ") != "" {
				f.secret(w)
			}
		}
	}
}

// pipesTo reports whether s[from:to] is the text between a command that prints and the
// reader of its pipe, or between two commands of a group before the pipe.
func (f *search) pipesTo(from, to int, reader bool) bool {
	between := strings.TrimLeft(f.s[from:to], " ;)}\n\t")
	if !reader {
		return strings.Trim(between, "&{( ") == ""
	}
	between, piped := strings.CutPrefix(between, "|")
	return piped && startsProgram(strings.TrimPrefix(between, "&"))
}

// startsProgram reports whether the text between a pipe and a program is empty, or
// starts that program.
func startsProgram(between string) bool {
	if strings.ContainsAny(between, "|;&\n") {
		return false
	}
	words := strings.Fields(between)
	for len(words) > 0 && strings.Contains(words[0], "=") {
		words = words[1:] // a variable
	}
	return len(words) == 0 || len(words[0]) < len(between) && slices.ContainsFunc(entriesOf(strings.TrimPrefix(words[0], "/usr/bin/")), func(k uint8) bool { return passwords[k].Starts })
}

// secret marks a word in the place of a secret.
func (f *search) secret(w span) {
	start, end := unquoted(f.s, w.start, w.end)
	if end-start < 2 || !f.spend(end-start) || reference(f.s, start, end) {
		return
	}
	f.out = append(f.out, found{start, end, onCommandLine, true})
}
