package bash

import (
	"slices"
	"strings"

	"cardea.dev/internal/command/bash/texts"
	"cardea.dev/internal/command/knowledge/form"
)

// wrapper describes how a program that starts another one reads its options.
type wrapper form.Wrapper

// parsed is the result of reading a wrapper's words.
type parsed struct {
	options []option // flags have the value ""
	before  []field  // operands before the command
	rest    []field  // the command
	bad     string   // an unknown option, "" if all are known
	doubt   string   // a word before the command, after which another command than rest may begin
}

// option is one option of a wrapper by its name with dashes, with its value.
type option struct{ name, value string }

func (p *parsed) set(name, value string) { p.options = append(p.options, option{name, value}) }

// option returns the value of the last option with one of the names, and whether there is one.
func (p *parsed) option(names ...string) (string, bool) {
	for _, o := range slices.Backward(p.options) {
		if slices.Contains(names, o.name) {
			return o.value, true
		}
	}
	return "", false
}

// parse reads a wrapper's options up to the command, as getopt does with "+".
func (s *wrapper) parse(words []field) parsed {
	var p parsed
	for ended := false; len(words) > 0; {
		f, used, ok := words[0], 1, true
		switch {
		case !ended && f.Static && f.Text == "--":
			ended = true
		case !ended && f.Static && len(f.Text) > 1 && f.Text[0] == '-':
			if used, ok = s.option(words, &p); !ok {
				p.bad = f.Text
				return p
			}
		case s.Assignments && isAssignment(f): // after one that may become several words another command may begin
			p.operand(f, f.MaySplit)
			ended = ended || s.AssignmentsEndOptions
		case len(p.before) >= s.OperandsBefore:
			p.rest = words
			return p
		default:
			p.operand(f, f.MaySplit || !ended && f.MayBeOption && len(words) > 1 && !(s.TakesNumbers && s.refuses(words[1]))) // as an option, it shifts the others
		}
		words = words[used:]
	}
	return p
}

// permuted reads options that may also follow operands, up to an option with a command.
func (s *wrapper) permuted(words []field) (p parsed, operands []field) {
	for p = s.parse(words); p.bad == "" && len(p.rest) > 0; {
		if text, _ := p.option(s.CommandOptions...); text != "" {
			break
		}
		operands = append(operands, p.rest[0])
		more := s.parse(p.rest[1:])
		p.options, p.rest, p.bad = append(p.options, more.options...), more.rest, more.bad
	}
	return p, operands
}

// operand reads a word before the command. unsure is set if it may be more or less than
// one operand.
func (p *parsed) operand(f field, unsure bool) {
	p.before = append(p.before, f)
	p.doubtIf(!f.Static && unsure, f)
}

func (p *parsed) doubtIf(unsure bool, f field) {
	if unsure && p.doubt == "" {
		p.doubt = f.Text
	}
}

// value uses the first word after an option as its value, and reports whether it can be.
// An unknown word is accepted if every value is a number.
func (p *parsed) value(option string, words []field, anyNumber bool) bool {
	if len(words) == 0 || !words[0].Static && !anyNumber {
		return false
	}
	p.doubtIf(!words[0].Static && words[0].MaySplit, words[0])
	p.set(option, words[0].Text)
	return true
}

// refuses reports whether a word is certainly not a number, a time or the name of a
// signal. strtold(3) also reads "inf" and "nan", masks are hexadecimal and may have
// commas, and signals may be relative to others ("rtmin+1").
func (s *wrapper) refuses(f field) bool {
	text := strings.ToLower(f.Text)
	signal := strings.TrimPrefix(text, "sig")
	if at := strings.IndexAny(signal, "+-"); at > 0 {
		signal = signal[:at]
	}
	switch {
	case !f.Static || text == "" || strings.HasPrefix(text, "inf") || strings.HasPrefix(text, "nan"):
		return false
	case strings.Trim(text, "0123456789abcdef,") == "" || slices.Contains(s.Signals, signal):
		return false
	}
	return text[0] >= 'a' && text[0] <= 'z' || text[0] == '/' || strings.HasPrefix(text, "./")
}

// option reads the option in the first word. It returns the number of words used, and
// whether the option is known.
func (s *wrapper) option(words []field, p *parsed) (int, bool) {
	text := words[0].Text
	switch {
	case strings.HasPrefix(text, "--"):
		return s.longOption(text, words, p)
	case s.NumericOptions && texts.PlainNumber(text[1:]):
		return 1, true
	}
	return s.cluster(text, words, p)
}

// longOption reads --name, --name=value, --name value and abbreviations.
func (s *wrapper) longOption(text string, words []field, p *parsed) (int, bool) {
	name, val, has := strings.Cut(text, "=")
	var found []string
	for _, o := range slices.Concat(s.Options, s.ValueOptions, s.OptionalValueOptions) {
		if o == name {
			found = []string{o}
			break
		}
		if strings.HasPrefix(o, name) {
			found = append(found, o)
		}
	}
	if len(found) != 1 {
		return 0, false
	}
	if slices.Contains(s.ValueOptions, found[0]) && !has {
		return 2, p.value(found[0], words[1:], s.TakesNumbers)
	}
	p.set(found[0], val)
	return 1, true
}

// cluster reads -abc, -n5 and -n 5.
func (s *wrapper) cluster(text string, words []field, p *parsed) (int, bool) {
	for i := 1; i < len(text); i++ {
		c := "-" + text[i:i+1]
		switch {
		case slices.Contains(s.ValueOptions, c):
			if i+1 < len(text) {
				p.set(c, text[i+1:])
				return 1, true
			}
			return 2, p.value(c, words[1:], s.TakesNumbers)
		case slices.Contains(s.OptionalValueOptions, c):
			p.set(c, text[i+1:])
			return 1, true
		case slices.Contains(s.Options, c):
			p.set(c, "")
		default:
			return 0, false
		}
	}
	return 1, true
}
