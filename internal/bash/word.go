package bash

import (
	"bytes"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/bash/grammar"
	"cardea.dev/internal/bash/shell"
	"cardea.dev/internal/bash/texts"
	"cardea.dev/internal/bash/unknown"
	"cardea.dev/internal/knowledge"
	"cardea.dev/internal/paths"
)

// frag is a stretch of an expanded word.
type frag struct {
	text    string
	quoted  bool     // neither split nor matched against files
	split   bool     // the result of an unquoted expansion
	dynamic bool     // text is the source, the value is not known
	breaks  bool     // a field ends here ("$@", "${a[@]}")
	number  bool     // dynamic, and surely a number
	digits  bool     // dynamic, and begins with a digit
	count   bool     // dynamic, and surely a number or nothing
	many    bool     // dynamic, and may be several fields even when quoted
	single  bool     // dynamic, and surely one word without quotes, too
	atMost  bool     // dynamic, and surely no more than one word
	listed  bool     // dynamic, and surely one of may
	process bool     // dynamic, and surely digits or nothing
	may     []string // dynamic, and what it may be
	// vanishes marks an empty list ("$@" without parameters), which leaves no
	// field even in quotes where it stands alone.
	vanishes bool
}

// field is one word that bash passes.
type field = knowledge.Word

// fields expands a word into the words that bash passes. Commands inside of it
// become parts.
func (w *walker) fields(word *syntax.Word) []field {
	begin := len(w.out.Parts)
	out := w.expand(word, assigning)
	if len(out) == 1 && !out[0].Static {
		out[0].Process = grammar.IsProcSubst(word) && strings.HasPrefix(out[0].Text, "<(")
		out[0].Found = w.foundBy(word, [2]int{begin, len(w.out.Parts)})
		out[0].Outside = w.beginsOutside(word)
	}
	return out
}

// beginsOutside reports a word that begins with a variable that the line does not set.
func (w *walker) beginsOutside(word *syntax.Word) bool {
	part := word.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) > 0 {
		part = q.Parts[0]
	}
	p, ok := part.(*syntax.ParamExp)
	return ok && p.Param != nil && p.Exp == nil && p.Repl == nil && p.Slice == nil && !p.Excl && texts.PlainName(p.Param.Value) && w.lookup(p.Param.Value).IsUntouched()
}

// appendFields appends the fields of a word. Most words are plain ones, which need no
// list of their own.
func (w *walker) appendFields(to []field, word *syntax.Word) []field {
	text, ok := grammar.Unexpanded(word)
	if !ok || w.used.words >= maxWords {
		return append(to, w.fields(word)...)
	}
	w.used.words++
	w.spend(len(text))
	return append(to, field{Word: cardea.Word{Text: text, Static: true}})
}

// elements expands a word of an array's list, where NAME=~ is plain text.
func (w *walker) elements(word *syntax.Word) []field { return w.expand(word, leading) }

func (w *walker) expand(word *syntax.Word, tilde tildes) []field {
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
	if !split && !grammar.OddBraces(word) {
		return w.assemble(unsplit(w.frags(word.Parts, tilde)), src)
	}
	alternatives, ok := grammar.BraceAlternatives(copied.Parts)
	if ok && slices.ContainsFunc(alternatives, grammar.Rejoined) {
		w.unknown(unknown.BracesRejoin, src)
		ok = false
	}
	if !ok || w.cur.POSIX || strings.Contains(src, "=~") || grammar.BracesWithin(w.src, word) || grammar.OddBraces(word) {
		w.fragsOnly(word.Parts)
		return []field{{Word: cardea.Word{Text: src, MaySplit: true, MayBeOption: true}}}
	}
	w.used.words += len(alternatives)
	var out []field
	for _, parts := range alternatives {
		out = append(out, w.assemble(unsplit(w.frags(grammar.JoinLiterals(parts), leading)), src)...)
	}
	return out
}

// fragsOnly walks the commands inside of word parts.
func (w *walker) fragsOnly(parts []syntax.WordPart) { w.frags(parts, leading) }

// tildes says where bash expands a tilde in a word.
type tildes uint8

const (
	nowhere   tildes = iota
	leading          // at its start
	assigning        // behind NAME=, too, as in the words of a command
)

// frags expands word parts.
func (w *walker) frags(parts []syntax.WordPart, tilde tildes) []frag {
	var out []frag
	for i, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if i > 0 {
				out = append(out, unescape(p.Value)...)
				continue
			}
			out = append(out, w.firstLiteral(p.Value, tilde, len(parts) == 1)...)
		case *syntax.SglQuoted:
			out = append(out, sglQuoted(p, w.source(p)))
		case *syntax.DblQuoted:
			out = append(out, w.dblQuoted(p)...)
		case *syntax.ParamExp:
			out = append(out, w.param(p, false)...)
		case *syntax.CmdSubst:
			f := frag{text: w.source(p), dynamic: true, split: true, may: w.substituted(p)}
			if folder, ok := w.printsFolder(p); ok {
				f = frag{text: folder, split: true}
			} else if w.splitsAtBlanks() && (w.printsNumber(p) || w.printsFolderAbove(f.text)) {
				f.split, f.atMost, f.digits, f.count = false, true, true, w.printsNumber(p)
			}
			out = append(out, f)
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
			if len(p.Stmts) == 0 { // nothing is started, and nothing passed
				out = append(out, frag{text: w.source(p), dynamic: true, split: true, digits: true})
				continue
			}
			// bash passes /dev/fd/N: no option and one word, as a digit is.
			out = append(out, frag{text: w.source(p), dynamic: true, quoted: true, digits: true})
		default: // an extended pattern
			out = append(out, frag{text: w.source(p), dynamic: true, split: true})
		}
	}
	return out
}

// firstLiteral expands the literal at the start of a word, where bash looks for
// a tilde.
func (w *walker) firstLiteral(text string, tilde tildes, whole bool) []frag {
	var out []frag
	if tilde == assigning {
		if name, val, ok := grammar.AssignmentLike(text); ok && strings.Contains(val, "~") {
			// bash expands it there too, and sh does not.
			if w.cur.POSIX || strings.Contains(val, ":~") {
				return []frag{{text: text, dynamic: true, quoted: true}}
			}
			out, text = append(out, frag{text: name}), val
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

// unsplit makes unknown what expansions give beside a dollar that begins none:
// bash does not split such a word.
func unsplit(frags []frag) []frag {
	dollar := slices.ContainsFunc(frags, func(f frag) bool {
		return !f.quoted && !f.dynamic && !f.split && strings.Contains(f.text, "$")
	})
	for i := range frags {
		if dollar && frags[i].split {
			frags[i].dynamic = true
		}
	}
	return frags
}

// tilde expands a leading tilde; it gives back the rest of the literal.
func (w *walker) tilde(text string, whole bool) (frag, string, bool) {
	head, rest, found := strings.Cut(text, "/")
	if found {
		rest = "/" + rest
	} else if !whole {
		w.unknown(unknown.ZshFolder, text) // ~"x" and ~$x are not expanded
		return frag{}, text, false
	}
	if head == "~" {
		if home := w.lookup("HOME"); home.Known() && home.Text != "" {
			return frag{text: home.Text, quoted: true}, rest, true
		}
	}
	if moved := map[string]string{"~+": "PWD", "~-": "OLDPWD"}[head]; moved != "" && !w.cur.POSIX {
		if v := w.lookup(moved); v.Known() && v.Text != "" {
			return frag{text: v.Text, quoted: true}, rest, true
		}
		w.unknown(unknown.ZshFolder, text)
		return frag{text: head, quoted: true, dynamic: true, may: w.files.visited[1:]}, rest, true
	}
	if w.zshNames(head[1:]) {
		w.unknown(unknown.ZshFolder, text)
	}
	if head == "~root" {
		return frag{text: "/root", quoted: true, dynamic: false}, rest, true
	}
	// No user has a blank in the name, as in ${x:-~ y}.
	if strings.ContainsAny(head, "\\'\"$`*?[ \t\n") {
		return frag{}, text, false
	}
	var may []string
	if len(head) > 1 && strings.Trim(head, "~+-0123456789") == "" {
		may = w.files.visited[1:] // a folder that pushd left
	}
	return frag{text: head, quoted: true, dynamic: true, may: may}, rest, true
}

func (w *walker) dblQuoted(q *syntax.DblQuoted) []frag {
	if q.Dollar {
		parts := w.quotedParts(q.Parts)
		return []frag{{text: w.source(q), quoted: true, dynamic: true, many: severalFields(parts), may: w.mayJoin(parts)}}
	}
	out := w.quotedParts(q.Parts)
	// "$@" and "${a[@]}" alone may vanish; anything else leaves a word. What
	// several of them leave is not followed.
	gone, text := 0, false
	for _, f := range out {
		if f.vanishes {
			gone++
		}
		text = text || f.text != "" && !f.dynamic
	}
	switch {
	case gone > 0 && len(q.Parts) > 1 && !text:
		return []frag{{text: w.source(q), dynamic: true, many: true}}
	case gone > 0 && len(q.Parts) == 1, len(out) > 0 && out[0].many:
		return out
	}
	return append(out, frag{quoted: true})
}

// quotedParts expands what stands in double quotes or in a here-document.
func (w *walker) quotedParts(parts []syntax.WordPart) []frag {
	return w.quotedText(parts, texts.UnescapeQuoted)
}

func (w *walker) quotedText(parts []syntax.WordPart, unescape func(string) string) []frag {
	var out []frag
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			out = append(out, frag{text: unescape(p.Value), quoted: true})
		case *syntax.ParamExp:
			for _, f := range w.param(p, true) {
				f.quoted, f.split = !f.vanishes, false
				out = append(out, f)
			}
		case *syntax.CmdSubst:
			f := frag{text: w.source(p), dynamic: true, quoted: true, may: w.substituted(p)}
			if folder, ok := w.printsFolder(p); ok {
				f = frag{text: folder, quoted: true}
			} else if w.printsNumber(p) {
				f.digits, f.atMost, f.count = true, true, true
			}
			out = append(out, f)
		case *syntax.ArithmExp:
			f := w.arithmExp(p)
			f.quoted, f.split = true, false
			out = append(out, f)
		default:
			for _, f := range w.frags([]syntax.WordPart{p}, nowhere) {
				f.quoted, f.dynamic, f.split = true, true, false
				f.text = w.source(p)
				out = append(out, f)
			}
		}
	}
	return out
}

// assemble joins fragments into fields, splitting what is to be split.
func (w *walker) assemble(frags []frag, src string) []field {
	ifs, ifsKnown := w.ifs()
	var out []field
	var text strings.Builder
	cur := field{Word: cardea.Word{Static: true}}
	begun, settled := false, false // settled: what it begins with is known
	unsure, vanishing := 0, false  // fragments that are not certain; whether one alone may leave no word
	var may []string               // what the field may be, nil as long as the line tells nothing of it
	var pattern []byte             // what the field fits, nil as long as it is certain
	star, spread := 0, false       // where the last unknown part of the last name ends in it; whether that may be a class's
	looked := 0                    // how much of it was looked through for a class that is open
	numbers := true                // all of it are digits
	var quoted []bool              // which bytes of the text are
	mark := func(is bool) {
		for len(quoted) < text.Len() {
			quoted = append(quoted, is)
		}
	}
	also := func(more []string) {
		if may == nil {
			may = []string{text.String()}
		}
		may = w.joined(may, more)
	}
	certain := func(text, fits string) {
		if may != nil {
			also([]string{text})
		}
		if pattern != nil {
			pattern = append(pattern, fits...)
		}
	}
	flush := func() {
		settled = false
		if begun {
			mark(false) // what was split is not
			if class := withoutClasses(text.String(), quoted, cur.Glob); cur.Static {
				cur.Text, cur.Glob = class, cur.Glob || class != text.String()
			} else {
				if cur.Text, cur.May, cur.Pattern = src, may, string(pattern); spread {
					cur.May = nil // these are texts, and it may be a pattern
				}
				cur.MayVanish = !cur.MaySplit && vanishing && text.Len() == 0 && unsure == 1
				cur.MaySplit = cur.MaySplit || cur.MayVanish
				cur.Listed = cur.Listed && unsure == 1
				cur.Number = numbers && !cur.Glob
			}
			may, pattern, quoted, unsure, vanishing, star, looked, spread = nil, nil, nil, 0, false, 0, 0, false
			numbers = true
			out = append(out, cur)
			w.spend(text.Len())
		}
		text.Reset()
		cur, begun = field{Word: cardea.Word{Static: true}}, false
	}
	for i, f := range frags {
		numbers = numbers && (f.dynamic && f.isNumber() || !f.dynamic && strings.Trim(f.text, "-0123456789") == "")
		switch {
		case f.vanishes:
		case f.breaks:
			flush()
		case f.dynamic:
			if f.mayBeEmpty() && (cur.Static || may != nil) && (inName(text.String()) || beginsName(frags[i+1:])) {
				f.may, cur.MayLose = append(f.may[:len(f.may):len(f.may)], ""), true
			}
			switch {
			case !settled:
				cur.MayBeOption = cur.MayBeOption || !f.digits
				settled = f.digits && f.number
			case cur.Static: // an option that the word spells is no surprise
				cur.MayBeOption = cur.MayBeOption || text.String()[0] == '-' && !strings.HasPrefix(src, "-")
			}
			if cur.Static {
				cur.Head, pattern = text.String(), []byte(withoutClasses(text.String(), quoted, cur.Glob))
			}
			if begin := opened(pattern[min(looked, len(pattern)):]); begin >= 0 {
				pattern, spread = pattern[:min(looked, len(pattern))+begin], true
			}
			pattern = append(pattern, '*')
			star, looked = len(pattern), len(pattern)
			if len(f.may) > 0 {
				also(f.may)
			}
			cur.Static, begun = false, true
			unsure++
			cur.Listed = f.listed
			vanishing = vanishing || f.atMost && !f.quoted
			cur.MaySplit = cur.MaySplit || !f.quoted && !f.single && !f.atMost || f.many
			cur.MayBeOption = cur.MayBeOption || !f.quoted && f.split || f.many
		case f.split && !f.quoted && !ifsKnown:
			cur.Static, begun, cur.MaySplit, cur.MayBeOption = false, true, true, true
		case f.split && !f.quoted:
			cur.MayBeOption = cur.MayBeOption || !cur.Static && !settled
			certain(f.text, "*")
			w.splitInto(f.text, ifs, &text, &cur, &begun, flush)
			settled = settled || text.Len() > 0
		default:
			if f.text != "" && !settled {
				cur.MayBeOption = cur.MayBeOption || !cur.Static && f.text[0] == '-'
				settled = true
			}
			fits := f.text
			if end, slash := strings.IndexByte(fits, ']'), strings.IndexByte(fits, '/'); star > 0 {
				if !f.quoted && end >= 0 && (slash < 0 || end < slash) { // it may close a class
					pattern, fits, spread = pattern[:star], fits[end+1:], true
				}
				if slash >= 0 {
					star = 0
				}
			}
			certain(f.text, fits)
			mark(false)
			text.WriteString(f.text)
			mark(f.quoted)
			begun = begun || f.quoted || f.text != ""
			if !f.quoted && texts.HasGlob(f.text) {
				cur.Glob = true
			}
		}
		if text.Len() > texts.MaxText {
			cur.Static = false
			text.Reset()
		}
	}
	flush()
	for i := range out {
		if out[i].Glob {
			prefix := paths.LiteralBegin(out[i].Text)
			out[i].MaySplit = true
			out[i].MayBeOption = out[i].MayBeOption || prefix == "" || prefix[0] == '-'
			if out[i].Static {
				out[i].Head, out[i].Pattern = prefix, out[i].Text
				out[i].May = nil
			}
			out[i].Static = false
		}
	}
	return out
}

// mayBeEmpty reports an unknown text that may be empty, as a variable that is not set is.
func (f *frag) mayBeEmpty() bool { return !f.number && !f.digits && !f.single && !f.listed }

// inName and beginsName report whether a name has letters before or after an unknown text, so
// that it is one also where the text is empty.
func inName(text string) bool { return text != "" && !strings.HasSuffix(text, "/") }

func beginsName(rest []frag) bool {
	i := slices.IndexFunc(rest, func(f frag) bool { return f.breaks || f.text != "" && !(f.dynamic && f.mayBeEmpty()) })
	return i >= 0 && !rest[i].breaks && !rest[i].dynamic && strings.Trim(rest[i].text, "*?") != "" && rest[i].text[0] != '/'
}

// isNumber reports a fragment that is not known, and a number or empty for certain.
func (f frag) isNumber() bool {
	return f.number || f.process || f.count || f.listed && !slices.ContainsFunc(f.may, func(text string) bool { return !texts.PlainNumber(text) })
}

// withoutClasses is a text with "?" for each class of a pattern that stands in several
// pieces: .en[v"]"] is a pattern of bash's, and what is quoted in it a member. Where the
// word is a pattern anyway, the other classes stay as they are.
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
			i++ // from a value: what follows is as if it were quoted
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

// opened is where a class of the last name of a pattern begins that is not closed, -1 for
// none: what follows may be its members, and what closes it.
func opened(pattern []byte) int {
	name := bytes.LastIndexByte(pattern, '/') + 1
	begin := bytes.IndexByte(pattern[name:], '[')
	if begin < 0 || bytes.IndexByte(pattern[name+begin:], ']') >= 0 {
		return -1
	}
	return name + begin
}

// spend counts what expansions give, so that a short line cannot become a huge
// one: 256 bytes as a word.
func (w *walker) spend(size int) {
	if w.used.words += size / 256; w.used.words > maxWords {
		w.unknown(unknown.TooLongWords, w.src)
	}
}

// splitInto adds the result of an unquoted expansion to the field under way,
// ending fields as IFS says.
func (w *walker) splitInto(s, ifs string, text *strings.Builder, cur *field, begun *bool, flush func()) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case !strings.ContainsRune(ifs, rune(c)):
			text.WriteByte(c)
			*begun = true
			if c == '*' || c == '?' || c == '[' {
				cur.Glob = true
			}
		case c == ' ' || c == '\t' || c == '\n':
			flush()
		default:
			*begun = true
			flush()
		}
	}
}

// ifs is the value of IFS, and whether it is known.
func (w *walker) ifs() (string, bool) {
	switch v := w.lookup("IFS"); {
	case v.IsUntouched(), v.IsUnset(): // bash takes no IFS from its environment
		return " \t\n", true
	case v.Known():
		blanks := strings.ContainsAny(v.Text, " \t\n")
		return v.Text, !blanks || strings.Trim(v.Text, " \t\n") == "" // both together make no empty words of their own
	}
	return "", false
}

// splitsAtBlanks reports whether nothing but blanks and ends of lines splits words.
func (w *walker) splitsAtBlanks() bool {
	ifs, ok := w.ifs()
	return ok && strings.Trim(ifs, " \t\n") == ""
}

// static expands a word to one static text.
func (w *walker) static(word *syntax.Word) (string, bool) {
	if word == nil {
		return "", true
	}
	fs := w.fields(word)
	if len(fs) == 1 && fs[0].Static {
		return fs[0].Text, true
	}
	return "", len(fs) == 0
}

// assigned expands the right side of an assignment, which bash does not split.
func (w *walker) assigned(word *syntax.Word) shell.Value {
	if word == nil || len(word.Parts) == 0 {
		return shell.Known("")
	}
	w.used.words++
	frags := w.frags(word.Parts, leading)
	if tildeLater(word) {
		frags = append(frags, frag{dynamic: true})
	}
	v := joinFrags(frags)
	if !v.Known() && v.Shape == 0 {
		v.May = w.mayJoin(frags)
	}
	return v
}

// tildeLater reports a tilde behind a colon, which is expanded in the value of
// an assignment.
func tildeLater(word *syntax.Word) bool {
	return slices.ContainsFunc(word.Parts, func(p syntax.WordPart) bool {
		lit, ok := p.(*syntax.Lit)
		return ok && strings.Contains(lit.Value, ":~")
	})
}

// joinFrags joins fragments without splitting.
func joinFrags(frags []frag) shell.Value {
	var b strings.Builder
	if len(frags) == 1 && (frags[0].number || frags[0].digits && frags[0].atMost) {
		return shell.SomeNumber
	}
	if len(frags) == 1 && frags[0].process {
		return shell.SomeProcess
	}
	for _, f := range frags {
		if f.dynamic || f.breaks {
			return shell.Any
		}
		b.WriteString(f.text)
		if b.Len() > texts.MaxText {
			return shell.Any
		}
	}
	return shell.Known(b.String())
}
