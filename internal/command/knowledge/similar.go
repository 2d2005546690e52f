package knowledge

import (
	"slices"
	"sort"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge/form"
)

// similarCommand is a command and the index of its entry in similars.
type similarCommand struct {
	command string
	at      uint8
}

// Arguments holds the words of a part, sorted for the comparison with another part of the
// same program.
type Arguments struct {
	// Fixed are the words that must be the same, one by one: the command under its usual name,
	// programs before it that only start it, and words that are neither option nor operand.
	Fixed []string
	// Options and Operands are the other words. The order of Options is irrelevant.
	Options, Operands []Argument
	// Prefixes are the prefixes that a differing operand must have, nil for any.
	Prefixes []string
}

// Argument is an option or an operand of a part.
type Argument struct {
	// Name is the option, "" for an operand. Text is its value, or the operand.
	Name, Text string
	// Kind is how the text may differ, a value of [form.Similar], or "" if it must be the same.
	Kind string
	// Behind is the number of fixed words before it.
	Behind int
}

// ArgumentsOf sorts the words of a part, if command knowledge has an entry for the command
// and each of its options. Otherwise it returns false, and no word may differ.
func ArgumentsOf(p *cardea.Part) (Arguments, bool) {
	if len(p.Argv) == 0 || slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return !w.Static }) {
		return Arguments{}, false
	}
	return argumentsOf(p.Argv, nil, Meaning{Command: p.Command, UsualCommand: p.UsualCommand, Operands: p.Operands, Options: p.Options})
}

// argumentsOf sorts words. head are fixed words before them.
func argumentsOf(argv []cardea.Word, head []string, m Meaning) (Arguments, bool) {
	command := m.Command
	if m.UsualCommand != nil {
		command = m.UsualCommand
	}
	s, at := entryOf(argv, command, &m)
	if s.Similar == nil {
		return Arguments{}, false
	}
	if s.RunsOperand || s.RunsOption != "" {
		if at == 0 || !s.knows(m.Options, at) {
			return Arguments{}, false
		}
		words := make([]Word, len(argv)-at)
		for i, w := range argv[at:] {
			words[i] = Word{Word: w}
		}
		for _, w := range argv[:at] {
			head = append(head, w.Text)
		}
		return argumentsOf(argv[at:], head, Describe(Invocation{Words: words}, &System{}))
	}
	if !s.knows(m.Options, len(argv)) || len(s.FirstOperands) > 0 &&
		(len(m.Operands) == 0 || !slices.Contains(s.FirstOperands, argv[m.Operands[0]].Text)) {
		return Arguments{}, false
	}
	return s.sort(argv, head, command, &m)
}

// sort sorts the words of a command that has an entry.
func (s similar) sort(argv []cardea.Word, head, command []string, m *Meaning) (Arguments, bool) {
	out := Arguments{Fixed: head, Prefixes: s.OperandPrefixes}
	option, named := 0, 0
	for i := 0; i < len(argv); i++ {
		begin := option
		for ; option < len(m.Options) && m.Options[option].Word == i; option++ {
			o := m.Options[option]
			out.Options = append(out.Options, Argument{o.Name, o.Value, s.ofValue(o.Name), len(out.Fixed)})
		}
		switch n := slices.Index(m.Operands, i); {
		case option > begin:
			if valueBehind(argv, m, option) {
				i++
			}
		case n >= 0:
			out.Operands = append(out.Operands, Argument{"", argv[i].Text, s.ofOperand(n, len(m.Operands)), len(out.Fixed)})
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

// similar is an entry of the table, or nil if the command has none.
type similar struct{ *form.Similar }

// similarOf returns the entry of a command.
func similarOf(command string) similar {
	i := sort.Search(len(similarCommands), func(i int) bool { return similarCommands[i].command >= command })
	if i < len(similarCommands) && similarCommands[i].command == command {
		return similar{&similars[similarCommands[i].at]}
	}
	return similar{}
}

// knows reports whether all options before a word keep the meaning of the operands.
func (s similar) knows(options []cardea.Option, before int) bool {
	return !slices.ContainsFunc(options, func(o cardea.Option) bool {
		return o.Word < before && o.Name != s.RunsOption && s.ofValue(o.Name) == "" && !slices.Contains(s.Options, o.Name)
	})
}

// ofValue returns how the value of an option may differ, or "" if it may not.
func (s similar) ofValue(option string) string {
	for _, v := range s.Values {
		if v.Name == option {
			return v.Text
		}
	}
	return ""
}

// ofOperand returns how operand n of so many may differ, or "" if it may not.
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

// entryOf returns the entry of a command, and the index of the word that names the
// program which it runs, or 0 if it runs none. After a program that runs others, the
// name of the other program may have been read as a subcommand.
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

// optionValueAt returns the index of the word after an option that is its value, or 0.
func optionValueAt(argv []cardea.Word, option string, m *Meaning) int {
	for _, o := range m.Options {
		if o.Name == option && argv[o.Word].Text == o.Name && o.Word+1 < len(argv) && argv[o.Word+1].Text == o.Value {
			return o.Word + 1
		}
	}
	return 0
}

// commandAt returns the index of the word n of the command.
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

// valueBehind reports whether the word after the option before next is only its value.
func valueBehind(argv []cardea.Word, m *Meaning, next int) bool {
	o := m.Options[next-1]
	at := o.Word + 1
	return o.Value != "" && at < len(argv) && argv[at].Text == o.Value && !slices.Contains(m.Operands, at) &&
		(next == len(m.Options) || m.Options[next].Word > at)
}

// Unseen returns the words of a part whose value is only known when the line runs, and
// which may then name another command, file, host or option than expected. Words that
// may be any text, number or name ([form.Similar]), and patterns in a folder that the
// line names, are left out. A text that the part reads and may run is included.
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

// isPattern reports whether w is a pattern of file names in a folder that it names. A
// word into which xargs or find puts a name is not.
func isPattern(w cardea.Word) bool {
	return w.MaySplit && !w.MayBeOption && strings.ContainsAny(w.Text, "*?[") && !strings.ContainsAny(w.Text, "$`<>{")
}

// takesAny reports whether word i of a part may have any value: a text that nothing
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

// SimilarCommands returns the commands of which two calls may differ in a word.
func SimilarCommands() []string {
	out := make([]string, len(similarCommands))
	for i, c := range similarCommands {
		out[i] = c.command
	}
	return out
}
