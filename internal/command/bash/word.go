package bash

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/bash/shell"
	"cardea.dev/internal/command/bash/texts"
	"cardea.dev/internal/command/bash/unknown"
)

// fields expands a word into the words that bash passes. Commands inside it become parts.
func (w *words) fields(word *syntax.Word) []field {
	begin := len(w.out.Parts)
	out := w.expand(word, assigning)
	if len(out) == 1 && !out[0].Static {
		out[0].Process = grammar.IsProcSubst(word) && strings.HasPrefix(out[0].Text, "<(")
		out[0].Found = w.foundBy(word, [2]int{begin, len(w.out.Parts)})
		out[0].Outside = w.beginsOutside(word)
	}
	return out
}

// beginsOutside reports whether a word begins with a variable that the line does not set.
func (w *words) beginsOutside(word *syntax.Word) bool {
	part := word.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) > 0 {
		part = q.Parts[0]
	}
	p, ok := part.(*syntax.ParamExp)
	return ok && p.Param != nil && p.Exp == nil && p.Repl == nil && p.Slice == nil && !p.Excl && texts.PlainName(p.Param.Value) && w.lookup(p.Param.Value).IsUntouched()
}

// appendFields appends the fields of a word. Most words are plain ones, which need no
// list of their own.
func (w *words) appendFields(to []field, word *syntax.Word) []field {
	text, ok := grammar.Unexpanded(word)
	if !ok || w.used.words >= maxWords {
		return append(to, w.fields(word)...)
	}
	w.used.words++
	w.spend(len(text))
	return append(to, field{Word: cardea.Word{Text: text, Static: true}})
}

// elements expands a word of an array's list, where NAME=~ is plain text.
func (w *words) elements(word *syntax.Word) []field { return w.expand(word, leading) }

// expand expands a word, including its braces. If the braces cannot be expanded as in
// bash, the result is one unknown word.
func (w *words) expand(word *syntax.Word, tilde tildes) []field {
	w.used.words++
	if w.used.words > maxWords {
		w.unknown(unknown.TooManyWords, w.src)
		return nil
	}
	if text, ok := grammar.Unexpanded(word); ok {
		w.spend(len(text))
		return []field{{Word: cardea.Word{Text: text, Static: true}}}
	}
	src := w.source(word)
	copied := &syntax.Word{Parts: slices.Clone(word.Parts)}
	split := syntax.SplitBraces(copied)
	if !split && !grammar.UnusualBraces(word) {
		return w.assemble(unsplit(w.fragments(word.Parts, tilde)), src)
	}
	alternatives, ok := grammar.BraceAlternatives(copied)
	if ok && slices.ContainsFunc(alternatives, grammar.Rejoined) {
		w.unknown(unknown.BracesRejoin, src)
		ok = false
	}
	if !ok || w.cur.POSIX || strings.Contains(src, "=~") || grammar.BracesWithin(w.src, word) || grammar.UnusualBraces(word) {
		w.fragments(word.Parts, leading)
		return []field{{Word: cardea.Word{Text: src, MaySplit: true, MayBeOption: true}}}
	}
	w.used.words += len(alternatives)
	var out []field
	for _, parts := range alternatives {
		out = append(out, w.assemble(unsplit(w.fragments(parts, leading)), src)...)
	}
	return out
}

// tildes is the set of places in a word where bash expands a tilde.
type tildes uint8

const (
	nowhere   tildes = iota
	leading          // at its start
	assigning        // also after NAME=, as in the words of a command
)

// fragments expands the parts of a word.
func (w *words) fragments(parts []syntax.WordPart, tilde tildes) []fragment {
	var out []fragment
	for i, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if i > 0 {
				out = append(out, unescape(p.Value)...)
				continue
			}
			out = append(out, w.firstLiteral(p.Value, tilde, len(parts) == 1)...)
		case *syntax.SglQuoted:
			out = append(out, sglQuoted(p))
		case *syntax.DblQuoted:
			out = append(out, w.dblQuoted(p)...)
		case *syntax.ParamExp:
			out = append(out, w.param(p, false)...)
		case *syntax.CmdSubst:
			out = append(out, w.commandSubstitution(p))
		case *syntax.ArithmExp:
			out = append(out, w.arithmExp(p))
		case *syntax.ProcSubst:
			via := "<( )"
			if p.Op == syntax.CmdOut {
				via = ">( )"
			}
			begin := len(w.out.Parts)
			w.substitution(p.Stmts, via)
			if p.Op != syntax.CmdOut {
				w.givesToRead(w.printedFrom(begin))
			}
			if len(p.Stmts) == 0 { // nothing is started or passed
				f := unsure(shell.NoDash)
				f.split = true
				out = append(out, f)
				continue
			}
			// bash passes /dev/fd/N: one word and not an option, like a digit.
			out = append(out, unsureQuoted(shell.NoDash))
		default: // an extended pattern
			f := unsure(0)
			f.split = true
			out = append(out, f)
		}
	}
	return out
}

// firstLiteral expands the literal at the start of a word, where bash expands a tilde.
func (w *words) firstLiteral(text string, tilde tildes, whole bool) []fragment {
	var out []fragment
	if tilde == assigning {
		if name, val, ok := grammar.AssignmentLike(text); ok && strings.Contains(val, "~") {
			// bash also expands it there, and sh does not.
			if w.cur.POSIX || strings.Contains(val, ":~") {
				return []fragment{unsureQuoted(0)}
			}
			out, text = append(out, unquoted(name)), val
		}
	}
	if tilde != nowhere && strings.HasPrefix(text, "~") {
		home, rest, ok := w.tilde(text, whole)
		if text = rest; ok {
			out = append(out, home)
		}
	}
	return append(out, unescape(text)...)
}

// tilde expands a leading tilde. It returns the rest of the literal, and whether there
// is a tilde to expand.
func (w *words) tilde(text string, whole bool) (fragment, string, bool) {
	head, rest, found := strings.Cut(text, "/")
	if found {
		rest = "/" + rest
	} else if !whole {
		w.unknown(unknown.ZshFolder, text) // ~"x" and ~$x are not expanded
		return fragment{}, text, false
	}
	if head == "~" {
		if home := w.lookup("HOME"); home.Known() && home.Text != "" {
			return quotedLiteral(home.Text), rest, true
		}
	}
	if moved := map[string]string{"~+": "PWD", "~-": "OLDPWD"}[head]; moved != "" && !w.cur.POSIX {
		if v := w.lookup(moved); v.Known() && v.Text != "" {
			return quotedLiteral(v.Text), rest, true
		}
		w.unknown(unknown.ZshFolder, text)
		return unsureQuoted(0, w.files.visited[1:]...), rest, true
	}
	if w.zshNames(head[1:]) {
		w.unknown(unknown.ZshFolder, text)
	}
	if head == "~root" {
		return quotedLiteral("/root"), rest, true
	}
	// No user name has a blank, as in ${x:-~ y}.
	if strings.ContainsAny(head, "\\'\"$`*?[ \t\n") {
		return fragment{}, text, false
	}
	may := w.mayBe("HOME")
	if len(head) > 1 && strings.Trim(head, "~+-0123456789") == "" {
		may = w.files.visited // a folder that pushd left
	} else if len(head) > 1 {
		may = []string{path.Join(path.Dir(w.env.Home), head[1:])}
	}
	return unsureQuoted(0, may...), rest, true
}

// dblQuoted expands a word in double quotes.
func (w *words) dblQuoted(q *syntax.DblQuoted) []fragment {
	if q.Dollar {
		parts := w.quotedParts(q.Parts)
		f := unsureQuoted(0, w.mayJoin(parts)...)
		f.several = severalFields(parts)
		return []fragment{f}
	}
	out := w.quotedParts(q.Parts)
	// "$@" and "${a[@]}" alone may vanish. Any other text leaves a word. The result of
	// several of them is unknown.
	gone, text := 0, false
	for _, f := range out {
		if f.kind == noField {
			gone++
		}
		text = text || f.Text != "" && f.Known()
	}
	switch {
	case gone > 0 && len(q.Parts) > 1 && !text:
		return []fragment{severalUnknown()}
	case gone > 0 && len(q.Parts) == 1, len(out) > 0 && out[0].several:
		return out
	}
	return append(out, quotedLiteral(""))
}

// quotedParts expands text in double quotes or in a here-document.
func (w *words) quotedParts(parts []syntax.WordPart) []fragment {
	return w.quotedText(parts, texts.UnescapeQuoted)
}

// quotedText expands quoted parts. unescape removes the backslashes of their literals.
func (w *words) quotedText(parts []syntax.WordPart, unescape func(string) string) []fragment {
	var out []fragment
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			out = append(out, quotedLiteral(unescape(p.Value)))
		case *syntax.ParamExp:
			for _, f := range w.param(p, true) {
				f.quoted, f.split = f.kind != noField, false
				out = append(out, f)
			}
		case *syntax.CmdSubst:
			f := w.commandSubstitution(p)
			f.quoted, f.split = true, false
			out = append(out, f)
		case *syntax.ArithmExp:
			f := w.arithmExp(p)
			f.quoted, f.split = true, false
			out = append(out, f)
		default:
			for _, f := range w.fragments([]syntax.WordPart{p}, nowhere) {
				f.quoted, f.split, f.kind = true, false, someText
				f.Shape &^= shell.Exact
				out = append(out, f)
			}
		}
	}
	return out
}

// static expands a word to one static text.
func (w *words) static(word *syntax.Word) (string, bool) {
	if word == nil {
		return "", true
	}
	fs := w.fields(word)
	if len(fs) == 1 && fs[0].Static {
		return fs[0].Text, true
	}
	return "", len(fs) == 0
}
