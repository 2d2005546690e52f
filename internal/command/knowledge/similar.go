package knowledge

import (
	"slices"
	"sort"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge/form"
)

// similarCommand is a command and its entry in the table of what may differ.
type similarCommand struct {
	command string
	at      uint8
}

// Slots are the words of a part, sorted by what they are to who compares it with another
// part of the same program.
type Slots struct {
	// Fixed are the words that must be the same, one by one: the command under its usual
	// name, programs in front that only start it, and what is neither option nor operand.
	Fixed []string
	// Options and Operands are the others. Options may stand in any order.
	Options, Operands []Slot
	// Prefixes are those that an operand must have which differs, nil for any.
	Prefixes []string
}

// Slot is an option or an operand.
type Slot struct {
	// Name is the option, "" for an operand. Text is its value, or the operand.
	Name, Text string
	// Kind says what the text may be instead, in the words of [form.Similar], "" where
	// it must be the same.
	Kind string
	// Behind is how many of the fixed words stand in front of it.
	Behind int
}

// SlotsOf sorts the words of a part, where command knowledge has an entry for the command
// and each of its options. Otherwise it reports false, and no word may differ.
func SlotsOf(p *cardea.Part) (Slots, bool) {
	if len(p.Argv) == 0 || slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return !w.Static }) {
		return Slots{}, false
	}
	return slotsOf(p.Argv, nil, Meaning{Command: p.Command, UsualCommand: p.UsualCommand, Operands: p.Operands, Options: p.Options})
}

// slotsOf sorts words. Those of head stand in front of them.
func slotsOf(argv []cardea.Word, head []string, m Meaning) (Slots, bool) {
	command := m.Command
	if m.UsualCommand != nil {
		command = m.UsualCommand
	}
	s, at := entryOf(argv, command, &m)
	if s.Similar == nil {
		return Slots{}, false
	}
	if s.RunsOperand || s.RunsOption != "" {
		if at == 0 || !s.knows(m.Options, at) {
			return Slots{}, false
		}
		words := make([]Word, len(argv)-at)
		for i, w := range argv[at:] {
			words[i] = Word{Word: w}
		}
		for _, w := range argv[:at] {
			head = append(head, w.Text)
		}
		return slotsOf(argv[at:], head, Describe(Invocation{Words: words}, &World{}))
	}
	if !s.knows(m.Options, len(argv)) || len(s.FirstOperands) > 0 &&
		(len(m.Operands) == 0 || !slices.Contains(s.FirstOperands, argv[m.Operands[0]].Text)) {
		return Slots{}, false
	}
	return s.sort(argv, head, command, &m)
}

// sort sorts the words of a command that it knows.
func (s similar) sort(argv []cardea.Word, head, command []string, m *Meaning) (Slots, bool) {
	out := Slots{Fixed: head, Prefixes: s.OperandPrefixes}
	option, named := 0, 0
	for i := 0; i < len(argv); i++ {
		begin := option
		for ; option < len(m.Options) && m.Options[option].Word == i; option++ {
			o := m.Options[option]
			out.Options = append(out.Options, Slot{o.Name, o.Value, s.ofValue(o.Name), len(out.Fixed)})
		}
		switch n := slices.Index(m.Operands, i); {
		case option > begin:
			if valueBehind(argv, m, option) {
				i++
			}
		case n >= 0:
			out.Operands = append(out.Operands, Slot{"", argv[i].Text, s.ofOperand(n, len(m.Operands)), len(out.Fixed)})
		case named < len(m.Command) && argv[i].Text == m.Command[named]:
			named++
			if named == len(m.Command) {
				out.Fixed = append(out.Fixed, command...)
			}
		default:
			out.Fixed = append(out.Fixed, argv[i].Text)
		}
	}
	return out, named == len(m.Command) && option == len(m.Options)
}

// similar is an entry of the table of what may differ, nil where there is none.
type similar struct{ *form.Similar }

// similarOf finds the entry of a command.
func similarOf(command string) similar {
	i := sort.Search(len(similarCommands), func(i int) bool { return similarCommands[i].command >= command })
	if i < len(similarCommands) && similarCommands[i].command == command {
		return similar{&similars[similarCommands[i].at]}
	}
	return similar{}
}

// knows reports whether all options in front of a word leave the meaning of the operands
// as it is.
func (s similar) knows(options []cardea.Option, before int) bool {
	return !slices.ContainsFunc(options, func(o cardea.Option) bool {
		return o.Word < before && o.Name != s.RunsOption && s.ofValue(o.Name) == "" && !slices.Contains(s.Options, o.Name)
	})
}

// ofValue says what the value of an option may be instead.
func (s similar) ofValue(option string) string {
	for _, v := range s.Values {
		if v.Name == option {
			return v.Text
		}
	}
	return ""
}

// ofOperand says what the operand n, of so many, may be instead.
func (s similar) ofOperand(n, of int) string {
	kind := s.Operands
	switch {
	case n == 0 && len(s.FirstOperands) > 0:
		kind = ""
	case n == 0 && s.FirstOperand != "":
		kind = s.FirstOperand
	case n == of-1 && n > 0 && s.LastOperand != "":
		kind = s.LastOperand
	}
	if kind == form.VariesNot {
		return ""
	}
	return kind
}

// entryOf is the entry of a command, and the index of the word that names the program
// which the words run, 0 for none. Behind a program that runs others, the name of the
// other one may have been read as a subcommand.
func entryOf(argv []cardea.Word, command []string, m *Meaning) (similar, int) {
	for n := len(command); n > 0; n-- {
		s := similarOf(strings.Join(command[:n], " "))
		switch {
		case s.Similar == nil:
		case s.RunsOption != "" && n == len(command):
			return s, optionValueAt(argv, s.RunsOption, m)
		case s.RunsOperand && n < len(command):
			return s, commandAt(argv, m, n)
		case s.RunsOperand && len(m.Operands) > 0:
			return s, m.Operands[0]
		case n == len(command):
			return s, 0
		}
	}
	return similar{}, 0
}

// optionValueAt is the index of the word behind an option, which is its value.
func optionValueAt(argv []cardea.Word, option string, m *Meaning) int {
	for _, o := range m.Options {
		if o.Name == option && argv[o.Word].Text == o.Name && o.Word+1 < len(argv) && argv[o.Word+1].Text == o.Value {
			return o.Word + 1
		}
	}
	return 0
}

// commandAt is the index of the word n of the command.
func commandAt(argv []cardea.Word, m *Meaning, n int) int {
	at := 0
	for i, w := range argv {
		isOption := slices.ContainsFunc(m.Options, func(o cardea.Option) bool { return o.Word == i })
		if !isOption && !slices.Contains(m.Operands, i) && at < len(m.Command) && w.Text == m.Command[at] {
			if at == n {
				return i
			}
			at++
		}
	}
	return 0
}

// valueBehind reports whether the word behind the option in front of next is its value,
// and nothing else.
func valueBehind(argv []cardea.Word, m *Meaning, next int) bool {
	o := m.Options[next-1]
	at := o.Word + 1
	return o.Value != "" && at < len(argv) && argv[at].Text == o.Value && !slices.Contains(m.Operands, at) &&
		(next == len(m.Options) || m.Options[next].Word > at)
}

// Unseen are the words of a part whose value shows only when the line runs, and which may
// then name another command, file, host or option than whoever judges the line thinks of:
// all but those that may be any text, number or name ([form.Similar]), and patterns of
// names in a folder that the line names. So is a text that it reads and may run.
func Unseen(p *cardea.Part) []string {
	var out []string
	if p.UnseenInput && p.Knowledge != cardea.Complete {
		out = append(out, "what it reads")
	}
	s, _ := entryOf(p.Argv, p.Command, &Meaning{Command: p.Command, UsualCommand: p.UsualCommand, Operands: p.Operands, Options: p.Options})
	for i, w := range p.Argv {
		if !w.Static && !s.takesAny(p, i) && !isPattern(w) {
			out = append(out, w.Text)
		}
	}
	return out
}

// isPattern reports a word that stands for names of files in a folder that it names. A
// word into which xargs or find puts a name is none.
func isPattern(w cardea.Word) bool {
	return w.MaySplit && !w.MayBeOption && strings.ContainsAny(w.Text, "*?[") && !strings.ContainsAny(w.Text, "$`<>{")
}

// takesAny reports whether word i of a part may be anything: a text that nothing
// interprets, a pattern, a number, or the name of a part of the project.
func (s similar) takesAny(p *cardea.Part, i int) bool {
	w := p.Argv[i]
	if s.Similar == nil || s.RunsOperand || s.RunsOption != "" || w.MaySplit {
		return false
	}
	kind := ""
	if n := slices.Index(p.Operands, i); n >= 0 && !w.MayBeOption {
		kind = s.ofOperand(n, len(p.Operands))
	}
	for _, o := range p.Options {
		if !o.Static && (o.Word == i || o.Word == i-1 && p.Argv[o.Word].Static) {
			kind = s.ofValue(o.Name)
		}
	}
	return slices.Contains([]string{form.VariesText, form.VariesPattern, form.VariesNumber, form.VariesName}, kind)
}

// SimilarCommands lists the commands of which two calls may differ in a word.
func SimilarCommands() []string {
	out := make([]string, len(similarCommands))
	for i, c := range similarCommands {
		out[i] = c.command
	}
	return out
}
