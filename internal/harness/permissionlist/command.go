package permissionlist

import (
	"slices"
	"strings"
)

// pattern is a text with "*" for any text. It holds pieces of the entry alone,
// so that reading one allocates nothing.
type pattern struct {
	// front is what stands before the first wildcard, rest what stands behind
	// it, with the wildcards that follow.
	front, rest string
	wild        bool
	// bare is set where a " *" at the end also stands for nothing.
	bare bool
}

func newPattern(s string) (p pattern) {
	p.front, p.rest, p.wild = strings.Cut(s, "*")
	return p
}

// commandPattern reads the specifier of a command: ":*" at the very end is " *",
// and a " *" at the end that is the only wildcard also matches the bare command.
func commandPattern(spec string) pattern {
	if prefix, ok := strings.CutSuffix(spec, ":*"); ok {
		spec = prefix + " *"
	}
	p := newPattern(spec)
	p.bare = p.trailing() && strings.HasSuffix(p.front, " ")
	return p
}

// trailing reports whether the only wildcard stands at the end.
func (p pattern) trailing() bool { return p.wild && p.rest == "" }

func (p pattern) match(text string) bool {
	if !p.wild {
		return text == p.front
	}
	switch {
	case p.bare && !p.trailing():
		text += " "
	case p.bare && len(text) == len(p.front)-1 && strings.HasPrefix(p.front, text):
		return true
	}
	text, ok := strings.CutPrefix(text, p.front)
	if !ok {
		return false
	}
	for rest := p.rest; ; {
		piece, more, again := strings.Cut(rest, "*")
		if !again {
			return strings.HasSuffix(text, piece)
		}
		i := strings.Index(text, piece)
		if i < 0 {
			return false
		}
		text, rest = text[i+len(piece):], more
	}
}

// CommandIs reports whether a command, in one of its spellings, is what the
// entry names. A Whole entry names every one.
func (r *Rule) CommandIs(text string) bool {
	switch r.Form {
	case Whole:
		return true
	case Command:
		return r.command.match(text) && !r.excepted(text)
	}
	return false
}

func (r *Rule) excepted(text string) bool {
	if r.more == nil {
		return false
	}
	return slices.ContainsFunc(r.more.except, func(p pattern) bool { return p.match(text) })
}

// Excepts reports whether other rules of its list win over the rule here and
// there.
func (r *Rule) Excepts() bool { return r.more != nil && len(r.more.except) > 0 }

// Wild reports whether a command entry has a wildcard, Trailing whether it has
// one alone, at the end.
func (r *Rule) Wild() bool { return r.Form == Whole || r.command.wild }

// Trailing reports whether the only wildcard of a command entry stands at its
// end.
func (r *Rule) Trailing() bool { return r.Form == Whole || r.command.trailing() }

// Prefix is what every command that the entry names begins with, "" where that
// is nothing.
func (r *Rule) Prefix() string {
	if r.Form != Command {
		return ""
	}
	return r.command.front
}

// Program is the first word of the commands that an entry names; ok is false
// where they may begin with different ones.
func (r *Rule) Program() (word string, ok bool) {
	word, _, ok = strings.Cut(r.Prefix(), " ")
	return word, word != "" && (ok || r.Form == Command && !r.command.wild)
}

// Words are the words of the literal text in front of the first wildcard, taken
// apart by blanks and plain quotes. ok is false where a quote is open, or the
// shell would expand something.
func (r *Rule) Words() (words []string, ok bool) { return splitWords(r.Prefix()) }

// In the word form of a command, these characters replace what a quote keeps from the
// shell, and a word without characters.
const (
	quotedBlank  = '\x01'
	quotedDollar = '\x02'
	quotedTick   = '\x03'
	quotedStar   = '\x05'
	emptyWord    = "\x04"
)

var (
	hideSpecial = strings.NewReplacer(" ", string(quotedBlank), "$", string(quotedDollar), "`", string(quotedTick), "*", string(quotedStar))
	showSpecial = strings.NewReplacer(string(quotedBlank), " ", string(quotedDollar), "$", string(quotedTick), "`", string(quotedStar), "*", emptyWord, "")
)

// LiteralWord is a word in the word form, where the shell passes exactly text.
func LiteralWord(text string) string {
	if text == "" {
		return emptyWord
	}
	return hideSpecial.Replace(text)
}

// WordForm writes a command without quotes and with one blank between two words, so that
// two commands are equal where their words are. The person's home folder stands for "~" and
// for $HOME. ok is false where a quote is open at the end.
func WordForm(s, home string) (form string, ok bool) {
	var out strings.Builder
	in, quote := false, byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if name := homeAt(s[i:], in); name != "" && quote != '\'' && home != "" && (c != '~' || quote == 0) {
			out.WriteString(LiteralWord(home))
			in, i = true, i+len(name)-1
			continue
		}
		switch {
		case quote != 0 && c == quote:
			if quote = 0; i+1 == len(s) || s[i+1] == ' ' {
				in = closeWord(&out)
			}
			continue
		case quote == 0 && (c == '\'' || c == '"'):
			quote, in = c, true
			continue
		case c == '\\' && i+1 < len(s) && (quote == 0 || quote == '"' && strings.IndexByte("\"\\$`", s[i+1]) >= 0):
			i++
			out.WriteString(LiteralWord(s[i : i+1]))
		case quote == '\'' && c != '*' || quote == '"' && c == ' ':
			out.WriteString(LiteralWord(s[i : i+1]))
		case quote == 0 && c == ' ':
			if in {
				out.WriteByte(' ')
			}
			in = false
			continue
		default:
			out.WriteByte(c)
		}
		in = true
	}
	return out.String(), quote == 0
}

// closeWord ends a quoted word, which may have no characters.
func closeWord(out *strings.Builder) bool {
	if text := out.String(); text == "" || strings.HasSuffix(text, " ") {
		out.WriteString(emptyWord)
	}
	return true
}

// homeAt returns the name of the home folder that begins a text, "" for none.
func homeAt(s string, inWord bool) string {
	for _, name := range []string{"~", "${HOME}", "$HOME"} {
		rest, ok := strings.CutPrefix(s, name)
		if !ok || name == "~" && inWord {
			continue
		}
		if name == "${HOME}" || rest == "" || strings.IndexByte("/ \"", rest[0]) >= 0 {
			return name
		}
	}
	return ""
}

// splitWords takes a text apart as a shell does that expands nothing.
func splitWords(s string) (words []string, ok bool) {
	form, ok := WordForm(strings.ReplaceAll(s, "\t", " "), "")
	if !ok || strings.ContainsAny(form, "$`") {
		return nil, false
	}
	for word := range strings.FieldsSeq(form) {
		words = append(words, showSpecial.Replace(word))
	}
	return words, true
}

// InWords gives the entry with its pattern in the word form, so that it names the same
// commands in every spelling. ok is false where that is the entry as written, or a quote
// of it is open.
func (r Rule) InWords(home string) (_ Rule, ok bool) {
	if r.Form != Command || !r.spelled {
		return r, false
	}
	spec := r.Spec
	if r.command.wild {
		spec = r.command.front + "*" + r.command.rest
	}
	form, closed := WordForm(spec, home)
	if open := strings.LastIndexByte(spec, '*'); !closed && open <= strings.LastIndexAny(spec, `'"`) {
		return r, false
	}
	if !r.command.wild {
		form = strings.TrimSuffix(form, " ")
	}
	bare := r.command.bare
	r.command = commandPattern(form)
	r.command.bare = r.command.bare || bare
	return r, true
}
