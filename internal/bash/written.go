package bash

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/bash/unknown"
	"cardea.dev/internal/knowledge"
	"cardea.dev/internal/knowledge/form"
)

// This file follows the texts of the line that commands print: into a pipe, a file or a
// variable.

// Written is a text that a line writes to a file. Expansions in it stand as they are
// written.
type Written struct {
	Path, Text string
	// Appended is set where what the file held before may stay, or the file may hold
	// something else.
	Appended bool
}

// printed is about what a part prints.
type printed struct {
	part  int
	text  string
	names []string // patterns of the names that it may print
}

const (
	// maxWritten bounds how many files are noted that a line writes.
	maxWritten = 64
	// maxPrinted bounds the texts that commands print, together.
	maxPrinted = 4 << 20
)

// notePrinted notes what the part at the end prints, as far as the line says it: what
// echo and printf are passed, what it reads from its input or from a file that the line
// writes. Any program may print what it reads.
func (w *walker) notePrinted(words []field) {
	p := &w.out.Parts[len(w.out.Parts)-1]
	name, text := p.Program(), ""
	if name == "echo" || name == "printf" {
		text = w.about(name, words[1:])
	} else {
		text = w.input()
		for _, a := range p.Access {
			if i := w.writtenTo(a.Path); a.Kind == cardea.Read && i >= 0 {
				text += w.out.Written[i].Text
			}
		}
	}
	names := append(w.cmd.stdin.names[:len(w.cmd.stdin.names):len(w.cmd.stdin.names)], knowledge.Names(p, &w.env.World)...)
	if strings.TrimSpace(text) == "" && len(names) == 0 {
		return
	}
	if w.used.printed += len(text); w.used.printed > maxPrinted {
		w.unknown(unknown.TooLongOutput, w.src)
		return
	}
	w.prints = append(w.prints, printed{len(w.out.Parts) - 1, text, names})
	exact := name == "echo" || name == "printf" || name == "tee" || knowledge.Has(form.CopiesInput, name)
	for _, a := range p.Access {
		if a.Kind == cardea.Write {
			w.addWritten(Written{a.Path, text, !exact || w.cmd.appends || name == "tee" && knowledge.HasOption(p, "-a", "--append")})
		}
	}
}

// writtenText is the text that the line writes to a file, "" where it writes none.
func (w *walker) writtenText(name string) string {
	text := ""
	for _, a := range w.paths().Open(cardea.Read, name, true) {
		if i := w.writtenTo(a.Path); i >= 0 {
			text += w.out.Written[i].Text + "\n"
		}
	}
	return text
}

// printedFrom is about what the parts from one on print together.
func (w *walker) printedFrom(part int) string {
	i := len(w.prints)
	for i > 0 && w.prints[i-1].part >= part {
		i--
	}
	var texts []string
	for _, p := range w.prints[i:] {
		texts = append(texts, p.text)
	}
	return strings.Join(texts, "\n")
}

// namesFrom are patterns of the names that the parts from one on may print.
func (w *walker) namesFrom(part int) []string {
	var out []string
	for i := len(w.prints) - 1; i >= 0 && w.prints[i].part >= part; i-- {
		out = append(out, w.prints[i].names...)
	}
	return out
}

// about is about what echo or printf prints.
func (w *walker) about(name string, words []field) string {
	var texts, may []string
	for _, f := range words {
		switch {
		case f.Static:
			texts = append(texts, f.Text)
			continue
		case len(f.May) > 0:
			texts, may = append(texts, f.May[0]), append(may, f.May[1:]...)
		default:
			texts = append(texts, unquoted(f.Text))
		}
	}
	out := ""
	if name == "printf" {
		out, _ = formatted(texts)
	} else {
		for len(texts) > 0 && len(texts[0]) > 1 && strings.Trim(texts[0], "neE") == "-" {
			texts = texts[1:]
		}
		out, _, _ = unescaped(strings.Join(texts, " "), true)
	}
	if len(may) > 0 {
		out += "\n" + strings.Join(may, "\n")
	}
	return out
}

// writtenTo is which of the texts goes into a file, -1 where none does.
func (w *walker) writtenTo(file string) int {
	if file == "" {
		return -1
	}
	return slices.IndexFunc(w.out.Written, func(x Written) bool { return x.Path == file })
}

// addWritten notes a text; what is written to one file twice may stand in it together.
func (w *walker) addWritten(text Written) {
	if i := w.writtenTo(text.Path); i >= 0 {
		w.out.Written[i].Text += "\n" + text.Text
	} else if text.Path != "" && len(w.out.Written) < maxWritten {
		w.out.Written = append(w.out.Written, text)
	}
}

// hereBody is the body of a here-document as it is written.
func (w *walker) hereBody(r *syntax.Redirect) string {
	body := w.source(r.Hdoc)
	if last := strings.LastIndexByte(body, '\n') + 1; strings.TrimLeft(body[last:], "\t") == strings.Trim(w.source(r.Word), `'"\`) {
		body = body[:last]
	}
	return body
}

// printsExactly is what a command prints, where it is certain: echo and printf of words
// that are known. It is the only part behind a number of others.
func (w *walker) printsExactly(st *syntax.Stmt, from int, in input) (string, bool) {
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(call.Args) == 0 || st.Background || st.Negated {
		return "", false
	}
	name := call.Args[0].Lit()
	if _, alias := w.shell.aliases[name]; alias || w.shell.funcs[name] != nil {
		return "", false
	}
	if knowledge.Has(form.CopiesInput, name) && len(call.Args) == 1 {
		switch {
		case len(st.Redirs) == 0 && in.kind == literal:
			return in.text, true
		case len(st.Redirs) == 1 && st.Redirs[0].Hdoc != nil:
			return w.heredoc(st.Redirs[0])
		}
		return "", false
	}
	if len(st.Redirs) > 0 || len(w.out.Parts) != from+1 {
		return "", false
	}
	p := &w.out.Parts[from]
	var words []string
	for _, f := range p.Argv {
		if !f.Static {
			return "", false
		}
		words = append(words, f.Text)
	}
	switch {
	case len(words) < 2 || words[0] != name || len(p.Opaque) > 0:
	case name == "echo":
		return w.echoed(words[1:])
	case name == "printf" && !strings.HasPrefix(words[1], "-"):
		text, ok := formatted(words[1:])
		return text, ok && (!w.shell.posix || !strings.Contains(strings.Join(words, ""), `\`))
	}
	return "", false
}

// echoed returns what echo prints, if every shell prints the same.
func (w *walker) echoed(words []string) (string, bool) {
	end, decode := "\n", false
	for len(words) > 0 && len(words[0]) > 1 && words[0][0] == '-' && strings.Trim(words[0][1:], "neE") == "" {
		for _, c := range words[0][1:] {
			switch c {
			case 'n':
				end = ""
			default:
				decode = c == 'e'
			}
		}
		words = words[1:]
		if w.shell.posix {
			return "", false
		}
	}
	text := strings.Join(words, " ")
	if !strings.Contains(text, `\`) {
		return text + end, true
	}
	if !decode {
		return text + end, false // zsh and sh read the escapes
	}
	text, stops, ok := unescaped(text, true)
	if stops {
		end = ""
	}
	return text + end, ok
}

// unescaped takes the escapes off that printf and echo -e know: octal numbers behind a
// zero where zero is set. It reports \c, which ends the output, and whether that is what
// bash prints for certain.
func unescaped(s string, zero bool) (text string, stops, exact bool) {
	if !strings.Contains(s, `\`) {
		return s, false, true
	}
	var b strings.Builder
	exact = true
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; {
		case strings.IndexByte(escapeLetters, c) >= 0:
			b.WriteByte(escapedLetters[strings.IndexByte(escapeLetters, c)])
		case c == 'c':
			return b.String(), true, exact
		case c == '"' && !zero, c == '\'' && !zero, c == '?' && !zero:
			b.WriteByte(c)
			exact = exact && c == '"'
		case c == 'x', c == 'u', c == 'U', c >= '0' && c <= '7':
			rest := s[i:]
			if zero && c == '0' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '7' {
				i++
				rest = rest[1:]
			} else if zero && c >= '1' && c <= '7' {
				exact = false // bash's own echo leaves it as it is
			}
			n, used := escapeNumber(rest)
			if used == 0 || n == 0 || n > 0x7f {
				exact = false
			}
			if used == 0 {
				b.WriteString(s[i-1 : i+1])
				continue
			}
			b.WriteRune(rune(n))
			i += used - 1
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
			exact = exact && c < 0x80
		}
	}
	return b.String(), false, exact
}

// formatted is what printf prints with a format and its arguments, and whether that is
// certain. The format is used again as long as arguments are left.
func formatted(words []string) (string, bool) {
	for len(words) > 1 && words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		return "", false
	}
	format, args, exact := words[0], words[1:], true
	var b strings.Builder
	for {
		before := len(args)
		for rest := format; rest != ""; {
			i := strings.IndexByte(rest, '%')
			if i < 0 {
				i = len(rest)
			}
			text, stops, ok := unescaped(rest[:i], false)
			b.WriteString(text)
			exact = exact && ok
			if stops {
				return b.String(), false
			}
			if rest = rest[i:]; rest == "" {
				break
			}
			n, sure := directive(&b, rest, &args)
			if exact = exact && sure; n == 0 {
				return b.String(), exact
			}
			rest = rest[n:]
		}
		if len(args) == 0 || len(args) == before || b.Len() > maxJoined {
			return b.String(), exact && b.Len() <= maxJoined
		}
	}
}

// directive prints what a text begins with that stands for an argument of printf, and
// says how long it is; 0 where nothing is printed behind it.
func directive(b *strings.Builder, text string, args *[]string) (size int, exact bool) {
	n := 1
	for n < len(text) && strings.IndexByte("-+ #0123456789.*'hljzt", text[n]) >= 0 {
		n++
	}
	if n == len(text) {
		return 0, false
	}
	verb := text[n]
	if verb == '%' {
		b.WriteByte('%')
		return n + 1, n == 1
	}
	arg := ""
	if len(*args) > 0 {
		arg, *args = (*args)[0], (*args)[1:]
	}
	switch verb {
	case 'b':
		plain, stops, ok := unescaped(arg, true)
		b.WriteString(plain)
		if ok = ok && n == 1 && !strings.ContainsAny(arg, `"'?`); stops {
			return 0, ok
		}
		return n + 1, ok
	case 'd':
		exact = decimal(arg)
	case 's':
		exact = true
	}
	b.WriteString(arg)
	return n + 1, exact && n == 1
}

// unquoted is a word without the quotes around it.
func unquoted(s string) string {
	s = strings.TrimPrefix(s, "$'")
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		if s[0] == '"' {
			return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\$`, `$`).Replace(s[1 : len(s)-1])
		}
		return s[1 : len(s)-1]
	}
	return strings.TrimSuffix(s, "'")
}
