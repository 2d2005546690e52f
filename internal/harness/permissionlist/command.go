package permissionlist

import (
	"slices"
	"strings"
)

// pattern is a text with "*" for any text. It only holds pieces of the entry, so that reading one
// allocates nothing.
type pattern struct {
	// front is the text before the first wildcard, rest the text after it, with further wildcards.
	front, rest string
	wild        bool
	// bare is set if a " *" at the end also matches nothing.
	bare bool
}

func newPattern(s string) (p pattern) {
	p.front, p.rest, p.wild = strings.Cut(s, "*")
	return p
}

// commandPattern returns the pattern of a command: ":*" at the very end is " *", and a " *" at the
// end that is the only wildcard also matches the bare command.
func commandPattern(spec string) pattern {
	if prefix, ok := strings.CutSuffix(spec, ":*"); ok {
		spec = prefix + " *"
	}
	p := newPattern(spec)
	p.bare = p.trailing() && strings.HasSuffix(p.front, " ")
	return p
}

// trailing reports whether the only wildcard is at the end.
func (p pattern) trailing() bool { return p.wild && p.rest == "" }

// match reports whether the pattern matches the whole text.
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

// CommandIs reports whether the entry matches a command, in one of its spellings. A Whole entry
// matches every command.
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

// Excepts reports whether other rules of its list override the rule in some cases.
func (r *Rule) Excepts() bool { return r.more != nil && len(r.more.except) > 0 }

// Wild reports whether a command entry has a wildcard.
func (r *Rule) Wild() bool { return r.Form == Whole || r.command.wild }

// Trailing reports whether the only wildcard of a command entry is at its end.
func (r *Rule) Trailing() bool { return r.Form == Whole || r.command.trailing() }

// Prefix returns the beginning of every command that the entry matches, "" for entries of another
// form.
func (r *Rule) Prefix() string {
	if r.Form != Command {
		return ""
	}
	return r.command.front
}

// Program returns the first word of the commands that an entry matches; ok is false if they may
// begin with different words.
func (r *Rule) Program() (word string, ok bool) {
	word, _, ok = strings.Cut(r.Prefix(), " ")
	return word, word != "" && (ok || r.Form == Command && !r.command.wild)
}

// Words returns the words of the literal text before the first wildcard, split at blanks outside of
// quotes. ok is false if a quote is open, or the shell would expand something.
func (r *Rule) Words() (words []string, ok bool) { return splitWords(r.Prefix()) }

// In the word form of a command, these characters replace characters that a quote protects from the
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

// LiteralWord returns a word in the word form that the shell passes exactly as text.
func LiteralWord(text string) string {
	if text == "" {
		return emptyWord
	}
	return hideSpecial.Replace(text)
}

// WordForm returns a command without quotes and with one blank between two words, so that two
// commands are equal if their words are. "~" and $HOME become the person's home folder. ok is false
// if a quote is open at the end.
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

// homeAt returns the name of the home folder that begins a text, or "".
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

// splitWords splits a text as a shell does, without expansion.
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

// InWords returns the entry with its pattern in the word form, so that it matches the same commands
// in every spelling. ok is false if that is the entry as written, or a quote of it is open.
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
