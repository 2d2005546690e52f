package inline

import (
	"regexp"
	"strconv"
	"strings"
)

// grammar is a parsing expression grammar (bford.info/pub/lang/peg.pdf): a choice takes
// the first alternative that matches. A rule continues in lines that begin with a blank.
// In addition to the usual notation,
//
//	"x"      is 'x' after blanks, which the rule blank reads; if it is a word, the rule
//	         wordend must match after it
//	@name(e) matches if e does and the check of that name accepts the text of e
//	$name(e) is @name(e) after blanks
type grammar map[string]*expression

// expression is a part of a rule: a choice, a sequence, or one of the signs of the
// notation. ' and " mark literals, [ a class, r the name of a rule.
type expression struct {
	sign  byte
	text  string // the literal, or the name of the rule or the check
	class [256]bool
	of    []*expression
}

const choice, sequence, ruleName = '/', ' ', 'r'

// notation matches a word of a rule.
const notation = `'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|\[(?:\\.|[^]\\])*]|[@$]?\w+|[/()*+?&!.]`

// parse reads the text of a grammar. The text is part of the program and is not checked.
func parse(text string) grammar {
	g, name := grammar{}, ""
	rules := map[string]string{}
	for line := range strings.Lines(text) {
		switch before, body, found := strings.Cut(line, "<-"); {
		case line[0] == '#' || line[0] == '\n':
		case line[0] != ' ' && found:
			name = strings.TrimSpace(before)
			rules[name] = body
		default:
			rules[name] += line
		}
	}
	word := regexp.MustCompile(notation)
	for name, body := range rules {
		words := word.FindAllString(body, -1)
		g[name] = choices(&words)
	}
	return g
}

// choices reads alternatives from the words, up to a closing bracket.
func choices(words *[]string) *expression {
	e := &expression{sign: choice, of: []*expression{{sign: sequence}}}
	for len(*words) > 0 && (*words)[0] != ")" {
		if last := e.of[len(e.of)-1]; (*words)[0] == "/" {
			*words = (*words)[1:]
			e.of = append(e.of, &expression{sign: sequence})
		} else {
			last.of = append(last.of, item(words))
		}
	}
	return e
}

// item reads one part of a sequence, with the signs around it.
func item(words *[]string) *expression {
	word := (*words)[0]
	*words = (*words)[1:]
	e := &expression{sign: word[0]}
	switch word[0] {
	case '&', '!':
		e.of = []*expression{item(words)}
		return e
	case '(':
		e = choices(words)
		*words = (*words)[1:]
	case '@', '$':
		e.text, e.of = word[1:], []*expression{item(words)}
	case '\'', '"':
		e.text = unescaped(word[1 : len(word)-1])
	case '.':
		e.sign, e.class = '[', [256]bool{}
		fill(&e.class, "", true)
	case '[':
		set, not := strings.CutPrefix(word[1:len(word)-1], "^")
		fill(&e.class, set, not)
	default:
		e.sign, e.text = ruleName, word
	}
	for len(*words) > 0 && strings.Contains("*+?", (*words)[0]) {
		e = &expression{sign: (*words)[0][0], of: []*expression{e}}
		*words = (*words)[1:]
	}
	return e
}

// unescaped returns text with Go escapes replaced.
func unescaped(text string) string {
	var out strings.Builder
	for text != "" {
		c, _, rest, err := strconv.UnquoteChar(text, 0)
		if err != nil { // a sign of the notation
			c, rest = rune(text[1]), text[2:]
		}
		out.WriteByte(byte(c))
		text = rest
	}
	return out.String()
}

// fill sets the bytes of a class: single ones and ranges.
func fill(class *[256]bool, set string, not bool) {
	for i := range class {
		class[i] = not
	}
	for set != "" {
		var ends [2]string
		for k := range ends {
			n := 1
			if set[0] == '\\' {
				n = len(`\x`) + 2*strings.Count(set[1:2], "x")
			}
			ends[k], set = unescaped(set[:n]), set[n:]
			if k == 0 && !strings.HasPrefix(set, "-") {
				ends[1] = ends[0]
				break
			}
			set = strings.TrimPrefix(set, "-")
		}
		for b := int(ends[0][0]); b <= int(ends[1][0]); b++ {
			class[b] = !not
		}
	}
}

// most is the number of parts of rules that are tried in one script, and nested the
// depth to which they nest.
const most, nested = 1 << 20, 2000

// reading is the state of the reading of one script.
type reading struct {
	grammar
	s               string
	at, steps, deep int
	// exceeded is set if a limit was reached, so that no result is valid.
	exceeded bool
	// brackets is the number of open brackets.
	brackets int
	checks   checks
	names    Names    // the listed ones
	others   []string // names that cannot be a variable
	notes    []note
}

// note is a text that a check has seen.
type note struct{ check, text string }

// fits reports whether e matches at the current position, and reads it. If it does not
// match, the position is restored.
func (r *reading) fits(e *expression) bool {
	at, brackets, notes := r.at, r.brackets, len(r.notes)
	r.steps, r.deep = r.steps+1, r.deep+1
	r.exceeded = r.exceeded || r.steps >= most || r.deep >= nested
	ok := !r.exceeded && r.reads(e)
	if r.deep--; !ok || e.sign == '&' || e.sign == '!' {
		r.at, r.brackets, r.notes = at, brackets, r.notes[:notes]
	}
	return ok
}

// reads reports whether e matches, and reads it. It does not restore the position.
func (r *reading) reads(e *expression) bool {
	switch e.sign {
	case choice:
		for _, of := range e.of {
			if r.fits(of) {
				return true
			}
		}
		return false
	case sequence:
		for _, of := range e.of {
			if !r.fits(of) {
				return false
			}
		}
		return true
	case '\'':
		return r.literal(e.text)
	case '"':
		return r.fits(r.grammar["blank"]) && r.literal(e.text) && (!isName(e.text[len(e.text)-1]) || r.fits(r.grammar["wordend"])) && r.bracket(e.text)
	case '[':
		r.at++
		return r.at <= len(r.s) && e.class[r.s[r.at-1]]
	case ruleName:
		return r.fits(r.grammar[e.text])
	case '@', '$':
		if e.sign == '$' {
			r.fits(r.grammar["blank"])
		}
		from := r.at
		return r.fits(e.of[0]) && r.checks[e.text](r, r.s[from:r.at])
	case '?':
		r.fits(e.of[0])
		return true
	case '*', '+':
		n := 0
		for before := r.at; r.fits(e.of[0]) && (r.at > before || n == 0); before = r.at {
			n++
		}
		return n > 0 || e.sign == '*'
	case '&':
		return r.fits(e.of[0])
	}
	return !r.fits(e.of[0])
}

func (r *reading) literal(text string) bool {
	if !strings.HasPrefix(r.s[min(r.at, len(r.s)):], text) {
		return false
	}
	r.at += len(text)
	return true
}

// bracket counts the brackets in text.
func (r *reading) bracket(text string) bool {
	r.brackets += strings.Count("([{", text) - strings.Count(")]}", text)
	return true
}

func isName(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
