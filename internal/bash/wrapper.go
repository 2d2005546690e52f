package bash

import (
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/bash/texts"
	"cardea.dev/internal/bash/unknown"
	"cardea.dev/internal/knowledge"
	"cardea.dev/internal/knowledge/form"
)

// unwrap takes a wrapper off an invocation and goes on with what it starts.
type unwrap func(w *walker, s *wrapper, inv invocation)

// wrapper says how a program that starts another one reads its options.
type wrapper form.Wrapper

// wrapperOf finds the wrapper of a program, and how to take it off.
func wrapperOf(name string) (*wrapper, unwrap) {
	s := (*wrapper)(knowledge.WrapperOf(path.Base(name)))
	if s == nil {
		return nil, nil
	}
	how, ok := map[string]unwrap{
		"shell": (*walker).shellProgram, "foreign_shell": (*walker).foreignShell, "environment": (*walker).envCommand, "search": (*walker).find,
		"input": (*walker).xargs, "templates": (*walker).parallel, "lock": (*walker).flock, "recording": (*walker).scriptCommand,
		"user": (*walker).su, "applet": (*walker).busybox, "container": (*walker).container, "later": (*walker).later, "loader": (*walker).loader,
	}[s.How]
	if !ok {
		return s, (*walker).plainWrapper
	}
	return s, how
}

// parsed is what a wrapper's options say.
type parsed struct {
	options map[string]string // by name with dashes; flags map to ""; the last one counts
	list    []option          // all of them
	before  []field           // operands in front of the command
	rest    []field           // the command
	bad     string            // an option that is not known, "" where all are
	doubt   string            // a word in front of the command behind which another one may begin than rest
}

// option is one option of a wrapper, with its value.
type option struct{ name, value string }

func (p *parsed) set(name, value string) {
	p.options[name] = value
	p.list = append(p.list, option{name, value})
}

// option is the value of an option, by the first of its names that is given.
func (p *parsed) option(names ...string) (string, bool) {
	for _, n := range names {
		if v, ok := p.options[n]; ok {
			return v, true
		}
	}
	return "", false
}

// parse reads a wrapper's options up to the command, as getopt does with "+".
func (s *wrapper) parse(words []field) parsed {
	p := parsed{options: map[string]string{}}
	for len(words) > 0 {
		f := words[0]
		switch {
		case f.Static && f.Text == "--":
			return s.parseOperands(p, words[1:])
		case f.Static && len(f.Text) > 1 && f.Text[0] == '-':
			used, ok := s.option(words, &p)
			if !ok {
				p.bad = f.Text
				return p
			}
			words = words[used:]
		case s.Assignments && isAssignment(f):
			if s.AssignmentsEndOptions {
				p.rest = p.takeAssignments(words)
				return p
			}
			p.operand(f, f.MaySplit)
			words = words[1:]
		case len(p.before) >= s.OperandsBefore:
			p.rest = words
			return p
		default:
			p.operand(f, f.MaySplit || f.MayBeOption && s.shiftedBy(words[1:]))
			words = words[1:]
		}
	}
	return p
}

// operand takes a word in front of the command. unsure is set where it may be more than
// one operand, or less.
func (p *parsed) operand(f field, unsure bool) {
	p.before = append(p.before, f)
	p.doubtIf(!f.Static && unsure, f)
}

func (p *parsed) doubtIf(unsure bool, f field) {
	if unsure && p.doubt == "" {
		p.doubt = f.Text
	}
}

// value takes the first word behind an option as its value, and reports whether it can be.
// One that is not known will do where every value is a number.
func (p *parsed) value(option string, words []field, anyNumber bool) bool {
	if len(words) == 0 || !words[0].Static && !anyNumber {
		return false
	}
	p.doubtIf(!words[0].Static && words[0].MaySplit, words[0])
	p.set(option, words[0].Text)
	return true
}

// shiftedBy reports whether the wrapper may start another command than the words behind an
// operand say, where that operand is an option: the first of them is then an operand, or
// the option's value.
func (s *wrapper) shiftedBy(rest []field) bool {
	return len(rest) > 0 && !(s.TakesNumbers && s.refuses(rest[0]))
}

// refuses reports a word that is certainly no number, no time and no name of a signal.
// strtold(3) reads "inf" and "nan", too, masks are hexadecimal and may have commas, and
// signals are counted from others ("rtmin+1").
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

// parseOperands reads what stands behind "--".
func (s *wrapper) parseOperands(p parsed, words []field) parsed {
	for len(p.before) < s.OperandsBefore && len(words) > 0 {
		p.operand(words[0], words[0].MaySplit)
		words = words[1:]
	}
	if s.Assignments {
		words = p.takeAssignments(words)
	}
	p.rest = words
	return p
}

// option reads the option that the first word is: how many words it takes, and
// whether it is known.
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

// isAssignment reports NAME=value; where the value is not known, the name must be plain.
func isAssignment(f field) bool {
	if f.Static {
		return strings.Contains(f.Text, "=")
	}
	name, _, ok := strings.Cut(f.Head, "=")
	return ok && texts.PlainName(name)
}

// takeAssignments takes assignments from the front of words, and gives the others. Behind
// one that may become several words another command may begin.
func (p *parsed) takeAssignments(words []field) []field {
	for len(words) > 0 && isAssignment(words[0]) {
		p.operand(words[0], words[0].MaySplit)
		words = words[1:]
	}
	return words
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
		case slices.Contains(s.Options, c):
			p.set(c, "")
		default:
			return 0, false
		}
	}
	return 1, true
}

// unread makes a part of a wrapper whose options could not be read, and reports it.
func (w *walker) unread(p parsed, inv invocation) bool {
	if p.bad == "" {
		return false
	}
	w.unknown(unknown.WrapperOption, p.bad)
	w.emitProgram(inv)
	return true
}

// behind is the invocation that a wrapper of a name starts: the words of a program.
func (inv invocation) behind(wrapper string, words []field) invocation {
	inv.wrappers = append(slices.Clone(inv.wrappers), wrapper)
	inv.argv, inv.program = words, true
	return inv
}

// assign adds the assignments that a wrapper makes for what it starts.
func (inv *invocation) assign(words []field) {
	for _, f := range words {
		a := assignOf(f)
		inv.assigns = append(slices.Clone(inv.assigns), a)
		inv.mayBe(a.Name, afterName(f.May))
	}
}

// plainWrapper handles every wrapper that a table describes.
func (w *walker) plainWrapper(s *wrapper, inv invocation) {
	p := s.parse(inv.argv[1:])
	name := path.Base(inv.argv[0].Text)
	if w.unread(p, inv) {
		return
	}
	w.opaqueOptions(s, p)
	doubted := w.doubts(p)
	if s.ItselfToo || doubted || len(p.rest) == 0 {
		outer := inv
		outer.elevated = outer.elevated || s.Elevated && len(p.rest) == 0
		w.emitProgram(outer)
		if len(p.rest) == 0 {
			return
		}
		inv.access = nil
		if doubted {
			w.cmd.spots = &[]cardea.Opaque{} // told once is enough
		}
	}
	inv = inv.behind(name, p.rest)
	inv.elevated = inv.elevated || s.Elevated
	if s.Remote && s.JoinsWords && len(p.before) > 0 && knowledge.IsLoopback(p.before[0].Text) {
		defer func(cwd string) { w.cur.Folder = cwd }(w.cur.Folder)
		w.cur.Folder = w.env.Home // this machine
	} else {
		inv.remote = inv.remote || s.Remote
	}
	if s.Assignments {
		inv.assign(p.before)
	}
	for _, o := range p.list {
		for _, a := range s.OptionAccesses {
			if a.Name == o.name {
				inv.access = slices.Concat(inv.access, w.paths().Open(a.Access, o.value, false))
			}
		}
	}
	if s.JoinsWords {
		w.joinedScript(name, inv)
		return
	}
	w.start(inv)
}

// doubts adds a spot where another command may begin than it seems. The one that seems to
// begin is looked at all the same.
func (w *walker) doubts(p parsed) bool {
	if p.doubt == "" {
		return false
	}
	w.unknown(unknown.WrapperOptionOutside, p.doubt)
	return true
}

// opaqueOptions adds a spot for each option with which a wrapper starts something
// that cannot be seen.
func (w *walker) opaqueOptions(s *wrapper, p parsed) {
	for _, o := range s.OpaqueOptions {
		if _, given := p.options[o]; given {
			w.unknown(unknown.WrapperConfig, o)
		}
	}
	for _, o := range s.OpaqueOptionValues {
		value := strings.ToLower(strings.TrimSpace(p.options[o.Name]))
		if slices.ContainsFunc(o.Values, func(begin string) bool { return strings.HasPrefix(value, begin) }) {
			w.unknown(unknown.WrapperOptionRuns, o.Name)
		}
	}
}

func assignOf(f field) cardea.Assign {
	name, val, _ := strings.Cut(f.Text, "=")
	if !f.Static {
		name, _, _ = strings.Cut(f.Head, "=")
	}
	return cardea.Assign{Name: name, Value: val, Static: f.Static, Class: knowledge.AssignmentClass(name, val, f.Static)}
}

// joinedScript handles wrappers that join their words and hand them to a
// shell.
func (w *walker) joinedScript(name string, inv invocation) {
	var text []string
	for _, f := range inv.argv {
		if !f.Static {
			w.unknown(unknown.JoinedText, f.Text)
			w.emitProgram(inv)
			return
		}
		text = append(text, f.Text)
	}
	w.childShell(name, strings.Join(text, " "), nil, inv)
}
