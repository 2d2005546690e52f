package bash

import (
	"bytes"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/bash/shell"
	"cardea.dev/internal/command/bash/texts"
)

// assembly joins fragments into the fields that bash passes. It splits unquoted
// expansions, and keeps the certain text and the possible texts of each field.
type assembly struct {
	w      *words
	src    string // the word as written
	ifs    string
	splits bool // ifs is known
	out    []field

	// The field under way.
	cur       field
	begun     bool
	text      strings.Builder // its certain text
	quoted    []bool          // which bytes of text are quoted
	settled   bool            // its first character is known
	numbers   bool            // it has only digits
	unsure    int             // the number of its unknown fragments
	vanishing bool            // one of them alone may yield no field
	may       []string        // its possible texts, nil if the line shows none
	pattern   []byte          // the pattern that it matches, nil while it is certain
	star      int             // the index in pattern after the last unknown text of the last name
	looked    int             // the bytes of pattern that were searched for an open class
	spread    bool            // whether that unknown text may be a part of a class
}

// assemble joins the fragments of a word into fields.
func (w *words) assemble(list []fragment, src string) []field {
	a := assembly{w: w, src: src, numbers: true, cur: field{Word: cardea.Word{Static: true}}}
	a.ifs, a.splits = w.ifs()
	for i := range list {
		f := &list[i]
		a.numbers = a.numbers && (f.unknown() && f.isNumber() || !f.unknown() && strings.Trim(f.Text, "-0123456789") == "")
		switch {
		case f.kind == noField:
		case f.kind == fieldEnd:
			a.flush()
		case f.unknown():
			a.addUnknown(f, list[i+1:])
		case f.split && !f.quoted && !a.splits:
			a.cur.Static, a.begun, a.cur.MaySplit, a.cur.MayBeOption = false, true, true, true
		case f.split && !f.quoted:
			a.cur.MayBeOption = a.cur.MayBeOption || !a.cur.Static && !a.settled
			a.certain(f.Text, "*")
			if strings.ContainsAny(f.Text, a.ifs) {
				w.used.split++
			}
			a.split(f.Text)
			a.settled = a.settled || a.text.Len() > 0
		default:
			a.addText(f)
		}
		if a.text.Len() > texts.MaxText {
			a.cur.Static = false
			a.text.Reset()
		}
	}
	a.flush()
	for i := range a.out {
		asPattern(&a.out[i])
	}
	return a.out
}

// mark records whether the bytes added to the text since the last mark are quoted.
func (a *assembly) mark(quoted bool) {
	for len(a.quoted) < a.text.Len() {
		a.quoted = append(a.quoted, quoted)
	}
}

// also appends each of the texts in more to each possible text of the field.
func (a *assembly) also(more []string) {
	if a.may == nil {
		a.may = []string{a.text.String()}
	}
	a.may = a.w.joined(a.may, more)
}

// certain appends text to the possible texts of the field, and fits to its pattern.
func (a *assembly) certain(text, fits string) {
	if a.may != nil {
		a.also([]string{text})
	}
	if a.pattern != nil {
		a.pattern = append(a.pattern, fits...)
	}
}

// addUnknown adds an unknown text. rest are the fragments after it.
func (a *assembly) addUnknown(f *fragment, rest []fragment) {
	cur, may := &a.cur, f.May
	if f.mayBeEmpty() && (cur.Static || a.may != nil) && (inName(a.text.String()) || beginsName(rest)) {
		may, cur.MayLose = append(may[:len(may):len(may)], ""), true
	}
	switch {
	case !a.settled:
		cur.MayBeOption = cur.MayBeOption || f.Shape&(shell.NoDash|shell.PlainWord) == 0
		a.settled = f.Has(shell.NoDash | shell.Numeric | shell.NonEmpty)
	case cur.Static: // an option that the word shows
		cur.MayBeOption = cur.MayBeOption || a.text.String()[0] == '-' && !strings.HasPrefix(a.src, "-")
	}
	if cur.Static {
		cur.Head, a.pattern = a.text.String(), []byte(withoutClasses(a.text.String(), a.quoted, cur.Glob))
	}
	if begin := opened(a.pattern[min(a.looked, len(a.pattern)):]); begin >= 0 {
		a.pattern, a.spread = a.pattern[:min(a.looked, len(a.pattern))+begin], true
	}
	a.pattern = append(a.pattern, '*')
	a.star, a.looked = len(a.pattern), len(a.pattern)
	if len(may) > 0 {
		a.also(may)
	}
	cur.Static, a.begun = false, true
	a.unsure++
	cur.Started = f.Has(shell.Process)
	atMost := f.Has(shell.OneWordOrNone)
	cur.Listed = f.Has(shell.Listed)
	a.vanishing = a.vanishing || atMost && !f.quoted
	cur.MaySplit = cur.MaySplit || !f.quoted && !f.Has(shell.PlainWord) && !atMost || f.several
	cur.MayBeOption = cur.MayBeOption || !f.quoted && f.split || f.several
}

// addText adds a certain text that is not split.
func (a *assembly) addText(f *fragment) {
	if f.Text != "" && !a.settled {
		a.cur.MayBeOption = a.cur.MayBeOption || !a.cur.Static && f.Text[0] == '-'
		a.settled = true
	}
	fits := f.Text
	if end, slash := strings.IndexByte(fits, ']'), strings.IndexByte(fits, '/'); a.star > 0 {
		if !f.quoted && end >= 0 && (slash < 0 || end < slash) { // it may close a class
			a.pattern, fits, a.spread = a.pattern[:a.star], fits[end+1:], true
		}
		if slash >= 0 {
			a.star = 0
		}
	}
	a.certain(f.Text, fits)
	a.mark(false)
	a.text.WriteString(f.Text)
	a.mark(f.quoted)
	a.begun = a.begun || f.quoted || f.Text != ""
	if !f.quoted && texts.HasGlob(f.Text) {
		a.cur.Glob = true
	}
}

// split adds the result of an unquoted expansion, and ends fields at characters of IFS.
func (a *assembly) split(s string) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case !strings.ContainsRune(a.ifs, rune(c)):
			a.text.WriteByte(c)
			a.begun = true
			if c == '*' || c == '?' || c == '[' {
				a.cur.Glob = true
			}
		case c == ' ' || c == '\t' || c == '\n':
			a.flush()
		default:
			a.begun = true
			a.flush()
		}
	}
}

// flush ends the field under way.
func (a *assembly) flush() {
	if a.begun {
		a.mark(false) // what was split is not quoted
		cur := &a.cur
		if class := withoutClasses(a.text.String(), a.quoted, cur.Glob); cur.Static {
			cur.Text, cur.Glob = class, cur.Glob || class != a.text.String()
		} else {
			if cur.Text, cur.May, cur.Pattern = a.src, a.may, string(a.pattern); a.spread {
				cur.May = nil // May holds texts, and the field may be a pattern
			}
			cur.MayVanish = !cur.MaySplit && a.vanishing && a.text.Len() == 0 && a.unsure == 1
			cur.MaySplit = cur.MaySplit || cur.MayVanish
			cur.Listed = cur.Listed && a.unsure == 1
			cur.Started = cur.Started && a.unsure == 1 && a.text.Len() == 0
			cur.Number = a.numbers && !cur.Glob
		}
		a.out = append(a.out, *cur)
		a.w.spend(a.text.Len())
		a.may, a.pattern, a.quoted, a.unsure, a.vanishing = nil, nil, nil, 0, false
		a.star, a.looked, a.spread, a.numbers = 0, 0, false, true
	}
	a.text.Reset()
	a.cur, a.begun, a.settled = field{Word: cardea.Word{Static: true}}, false, false
}

// asPattern turns a field with characters of a pattern into one that names its matches.
func asPattern(f *field) {
	if !f.Glob {
		return
	}
	prefix := paths.LiteralBegin(f.Text)
	f.MaySplit = true
	f.MayBeOption = f.MayBeOption || prefix == "" || prefix[0] == '-'
	if f.Static {
		f.Head, f.Pattern, f.May = prefix, f.Text, nil
	}
	f.Static = false
}

// inName and beginsName report whether a name has letters before or after an unknown
// text, so that it is a name even if that text is empty.
func inName(text string) bool { return text != "" && !strings.HasSuffix(text, "/") }

func beginsName(rest []fragment) bool {
	for i := range rest {
		switch f := &rest[i]; {
		case f.kind == fieldEnd:
			return false
		case f.unknown() && f.mayBeEmpty(), f.Known() && f.Text == "", f.kind == noField:
		default:
			return f.Known() && strings.Trim(f.Text, "*?") != "" && f.Text[0] != '/'
		}
	}
	return false
}

// withoutClasses returns text with "?" for each class of a pattern that consists of
// several pieces: .en[v"]"] is a pattern in bash, with the quoted text as a member. If
// the word is a pattern anyway, the other classes stay.
func withoutClasses(text string, quoted []bool, isPattern bool) string {
	if !strings.Contains(text, "[") {
		return text
	}
	var out strings.Builder
	from, begin := 0, -1
	special := func(i int, of string) bool {
		return i < len(quoted) && !quoted[i] && strings.IndexByte(of, text[i]) >= 0
	}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '/':
			begin = -1
		case special(i, `\`) && i+1 < len(text) && text[i+1] != '/':
			i++ // from a value: the next character is treated as quoted
		case special(i, "[") && begin >= 0 && i+1 < len(text) && strings.IndexByte(":.=", text[i+1]) >= 0: // [:alpha:]
			if end := strings.Index(text[i+2:], text[i+1:i+2]+"]"); end >= 0 {
				i += 2 + end + 1
			}
		case special(i, "[") && begin < 0:
			begin = i
		case special(i, "]") && begin >= 0:
			members := begin + 1
			if special(members, "!^") {
				members++
			}
			if members == i {
				continue // it is a member itself
			}
			if !isPattern || slices.Contains(quoted[begin:i], true) || strings.Contains(text[begin:i], `\`) {
				out.WriteString(text[from:begin] + "?")
				from = i + 1
			}
			begin = -1
		}
	}
	return out.String() + text[from:]
}

// opened returns the index of an unclosed class in the last name of a pattern, or -1:
// the following text may be its members and its end.
func opened(pattern []byte) int {
	name := bytes.LastIndexByte(pattern, '/') + 1
	begin := bytes.IndexByte(pattern[name:], '[')
	if begin < 0 || bytes.IndexByte(pattern[name+begin:], ']') >= 0 {
		return -1
	}
	return name + begin
}
