package permissionlist

import "strings"

// pattern is a text with "*" for any text. It holds pieces of the entry alone,
// so that reading one allocates nothing.
type pattern struct {
	// front is what stands before the first wildcard, rest what stands behind
	// it, with the wildcards that follow.
	front, rest string
	wild        bool
	// bare is set where the only wildcard is a " *" at the end, which also
	// stands for nothing.
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
	if p.bare && len(text) == len(p.front)-1 && strings.HasPrefix(p.front, text) {
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
	for _, p := range r.more.except {
		if p.match(text) {
			return true
		}
	}
	return false
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

// splitWords takes a text apart as a shell does that expands nothing.
func splitWords(s string) (words []string, ok bool) {
	var word strings.Builder
	in, quote := false, byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == '\'':
			word.WriteByte(c)
		case c == '$' || c == '`':
			return nil, false
		case c == '\\' && i+1 < len(s) && (quote == 0 || strings.IndexByte("\"\\", s[i+1]) >= 0):
			i++
			in = true
			word.WriteByte(s[i])
		case quote == '"':
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == ' ' || c == '\t':
			if in {
				words = append(words, word.String())
				word.Reset()
				in = false
			}
		default:
			in = true
			word.WriteByte(c)
		}
	}
	if quote != 0 {
		return nil, false
	}
	if in {
		words = append(words, word.String())
	}
	return words, true
}

// Respelled gives the entry with its literal front in canonical quoting, so
// that "git commit -m \"a b\"" and 'a b' are the same. join writes words as the
// analysis does; the entry itself where nothing is quoted.
func (r Rule) Respelled(join func(words []string) string) Rule {
	front := r.Prefix()
	if r.Form != Command || !strings.ContainsAny(front, `'"\`) || r.command.wild && !strings.HasSuffix(front, " ") {
		return r
	}
	words, ok := splitWords(front)
	if !ok {
		return r
	}
	text := join(words)
	if strings.HasSuffix(front, " ") {
		text += " "
	}
	r.command.front = text
	return r
}
