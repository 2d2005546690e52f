package knowledge

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge/form"
)

// reader reads the words of one invocation.
type reader struct {
	// selected caches the result of selection.
	selected *cardea.Selection
	inv      Invocation
	system   *System
	paths    Paths // those of the invocation, or of the folder that git -C names
	out      *Meaning
	argv     []Word
	spec     *form.Program
	operands []int
	above    []*form.Program // the programs of which spec is a subcommand
	levels   []int           // the indexes of the words that lead to spec
	first    int             // the number of words of the command at first
	known    bool            // the program is
	ended    int             // the first word after the end of the options, 0 for none
	// uncertain counts the operands that are only known when the line runs.
	uncertain int
	// searches is the number of searches of the disk for the invocation, and below the
	// number of names examined for links.
	searches, below int
	// importsModules is set if a script in its words imports Python's own modules.
	importsModules bool
	// documentReads is whether the here-document that it runs only reads; nil if not tested yet.
	documentReads *bool
}

// read reads the subcommand, options and operands.
func (r *reader) read() {
	if r.shell() {
		return
	}
	values, depth, ended := r.spec.ValueOptions, len(r.out.Command)-1+r.spec.SubcommandWords, false
	if depth > 0 && len(r.spec.GlobalValueOptions) > 0 {
		values = r.spec.GlobalValueOptions
	}
	if len(r.spec.PersistentValueOptions) > 0 {
		values = slices.Concat(values, r.spec.PersistentValueOptions)
	}
	var more []int // words that may be operands, or nothing
	for i := 1; i < len(r.argv); i++ {
		f := r.argv[i]
		text := f.Text
		if r.spec.OperandsBeforeOptions && (slices.ContainsFunc(r.out.Options, InExpression) || text == "(" || text == "!" || text == ")") && f.Static && !strings.HasPrefix(text, "-") {
			continue // part of an expression
		}
		ended = ended || r.spec.OptionsEndAfterOperands > 0 && len(r.operands) >= r.spec.OptionsEndAfterOperands
		if ended && r.ended == 0 {
			r.ended = i
		}
		isOption := !ended && f.Static && len(text) > 1 && (text[0] == '-' || text[0] == '+' && r.spec.SingleDashOptions)
		switch {
		case isOption && text == "--":
			ended = !r.spec.OperandsBeforeOptions // in find it ends only -H, -L and -P
		case isOption && r.ends(text):
			i += r.option(i, values)
			ended = true
		case i == 1 && r.spec.OptionsWithoutDash && f.Static && !isOption && text != "" && text != "-":
			i += r.bundle(text)
		case isOption && r.spec.OperandsBeforeOptions && startsCommand(text):
			r.addOption(i, text, "", false)
			for i+1 < len(r.argv) && !endsCommand(r.argv[i], r.argv[i+1]) {
				i++ // the command is a separate part
			}
			i++
		case isOption:
			i += r.option(i, values)
		case !ended && !f.Static && len(f.Head) > 1 && f.Head[0] == '-':
			r.begun(i, values)
			if f.MaySplit && !staysOption(f) {
				more = append(more, i) // it may become several words
			}
		case !ended && f.MaySplit && len(r.out.Command)-1 < depth && len(r.operands) == 0:
			more = append(more, i) // and it may become no word
		case len(r.out.Command)-1 < depth && f.Static && len(r.operands) == 0 && !r.operandInstead(f, ended):
			r.out.Command = append(r.out.Command, text)
			if sub := r.spec.Subcommand(text); sub != nil {
				r.above = append(r.above[:len(r.above):len(r.above)], r.spec)
				r.spec, r.levels = sub, append(r.levels, i)
				depth = len(r.out.Command) - 1 + sub.SubcommandWords
				values = r.values()
			} else if len(r.out.Command)-1 < depth {
				depth = max(depth, len(r.out.Command)-1)
			}
			if len(r.out.Command)-1 >= depth { // the rest belongs to the subcommand
				values = r.values()
			}
		default:
			depth = 0
			r.operands = append(r.operands, i)
		}
	}
	if len(more) > 0 {
		r.operands = append(r.operands, more...)
		slices.Sort(r.operands)
	}
	r.out.Operands = r.operands
	r.out.UsualCommand = r.same()
}

// shell reads the words of a shell, and reports whether the program is one.
func (r *reader) shell() bool {
	words := make([]cardea.Word, 0, 8)
	if !r.known || !Has(form.ShellOptions, r.out.Command[0]) {
		return false
	}
	for _, f := range r.argv {
		words = append(words, f.Word)
	}
	line, _ := ReadShell(words)
	r.out.Options = line.Options
	if slices.ContainsFunc(line.Options, func(o cardea.Option) bool { return o.Name[0] == '+' }) { // +n reverts -n
		r.out.Options = slices.DeleteFunc(line.Options, func(o cardea.Option) bool { return o.Name == "-n" })
	}
	for i := line.Rest; i < len(words); i++ {
		r.operands = append(r.operands, i)
	}
	r.out.Operands = r.operands
	return true
}

// staysOption reports whether f is a pattern such as --include=*.ts: whatever names it
// matches, each is that option.
func staysOption(f Word) bool {
	return f.Glob && f.Pattern == f.Text && strings.HasPrefix(f.Head, "--") && strings.Contains(f.Head, "=")
}

// operandInstead reports whether f, where a subcommand may be, is an operand of the program.
func (r *reader) operandInstead(f Word, ended bool) bool {
	return r.spec.OperandsWithoutSubcommand && (ended || !r.mayBeSubcommand(f))
}

// mayBeSubcommand reports whether a word is one of the program's subcommands, or
// may become one when the line runs.
func (r *reader) mayBeSubcommand(f Word) bool {
	may := func(name string) bool {
		head, open := strings.CutSuffix(name, "*")
		if f.Static {
			return f.Text == name || open && strings.HasPrefix(f.Text, head)
		}
		return strings.HasPrefix(head, f.Head) || open && strings.HasPrefix(f.Head, head)
	}
	for i := range r.spec.Subcommands {
		if slices.ContainsFunc(r.spec.Subcommands[i].Name, may) {
			return true
		}
	}
	return slices.ContainsFunc(r.spec.SubcommandAliases, func(a form.Alias) bool { return len(a.Words) > 0 && may(a.Words[0]) })
}

// ends reports whether text is the option of the program that ends the options of its
// subcommands.
func (r *reader) ends(text string) bool { return len(r.above) > 0 && text == r.above[0].EndOfOptions }

// same returns the command under its usual name, or nil if it has that name.
func (r *reader) same() []string {
	command := r.out.Command
	top := append(r.above[:len(r.above):len(r.above)], r.spec)[0]
	if len(top.SameAs) > 0 {
		command = slices.Concat(top.SameAs, command[1:])
		if as := programOf(top.SameAs[0]); as != nil {
			top = as
		}
	}
	for _, e := range top.SubcommandAliases {
		if n := 1 + len(e.Words); len(command) >= n && slices.Equal(command[1:n], e.Words) {
			command = slices.Concat(command[:1], e.Means, command[n:])
			break
		}
	}
	if slices.Equal(command, r.out.Command) {
		return nil
	}
	return command
}

// values returns the options that take a value after the subcommand.
func (r *reader) values() []string {
	out := r.spec.ValueOptions
	for _, p := range append(r.above, r.spec) {
		if len(p.PersistentValueOptions) > 0 {
			out = slices.Concat(out, p.PersistentValueOptions)
		}
	}
	return out
}

// startsCommand reports whether text is a primary of find that a command follows.
func startsCommand(text string) bool {
	return text == "-exec" || text == "-execdir" || text == "-ok" || text == "-okdir"
}

// endsCommand reports whether a word ends find's command.
func endsCommand(before, f Word) bool {
	return f.Static && (f.Text == ";" || f.Text == "+" && before.Text == "{}")
}

// InExpression reports whether o comes after the paths of find.
func InExpression(o cardea.Option) bool {
	front := []string{"-H", "-L", "-P", "-E", "-X", "-d", "-s", "-x", "-D", "-f"}
	return !slices.Contains(front, o.Name) && !strings.HasPrefix(o.Name, "-O")
}

// addOption records an option of the word at i.
func (r *reader) addOption(i int, name, value string, static bool) {
	r.out.Options = append(r.out.Options, cardea.Option{Name: name, Value: value, Static: static, Word: i})
}

// addWithNext records an option of the word at i with the next word as its value. It
// returns the number of words used.
func (r *reader) addWithNext(i int, name string) int {
	if i+1 >= len(r.argv) {
		r.addOption(i, name, "", false)
		return 0
	}
	r.addOption(i, name, r.argv[i+1].Text, r.argv[i+1].Static)
	return 1
}

// option reads the option at i and returns how many further words it takes.
func (r *reader) option(i int, values []string) int {
	f := r.argv[i]
	name, val, has := strings.Cut(f.Text, "=")
	full, same := r.fullNames(name)
	if !strings.HasPrefix(f.Text, "--") && !r.spec.SingleDashOptions && len(full) == 0 {
		return r.cluster(i, values)
	}
	used := 0
	for _, other := range full {
		switch {
		case has:
			r.addOption(i, other, val, f.Static)
		case slices.Contains(values, other) || WithWord(form.NamedOptions, r.out.Command[0], other):
			if n := r.addWithNext(i, other); same && slices.Contains(values, other) {
				used = n
			}
		default:
			r.addOption(i, other, "", false)
		}
	}
	switch {
	case used > 0: // written with another number of dashes
	case slices.Contains(r.spec.TwoValueOptions, f.Text) && i+2 < len(r.argv):
		r.addOption(i, name, r.argv[i+2].Text, r.argv[i+2].Static)
		return 2
	case has:
		r.addOption(i, name, val, f.Static)
	case slices.Contains(values, name):
		return r.addWithNext(i, name)
	case r.spec.Complete != nil && slices.Contains(r.spec.Complete.Options, name):
		r.addOption(i, name, "", false) // a full name is not an abbreviation
	case slices.ContainsFunc(values, func(v string) bool { return abbreviates(name, v) }):
		// It may abbreviate an option with a value, or one without: the next word is read as both.
		r.addWithNext(i, name)
	default:
		r.addOption(i, name, "", false)
	}
	return used
}

// cluster reads the one-letter options at i and returns how many further words they take.
func (r *reader) cluster(i int, values []string) int {
	f := r.argv[i]
	text := f.Text
	for at := 1; at < len(text); at++ {
		c := text[at]
		if c >= 0x80 || strings.IndexByte("=/~", c) >= 0 {
			break
		}
		name := "-" + string(c)
		switch {
		case slices.Contains(r.spec.AttachedValueOptions, name),
			slices.Contains(values, name) && at+1 < len(text):
			r.addOption(i, name, text[at+1:], f.Static)
			return 0
		case slices.Contains(values, name):
			return r.addWithNext(i, name)
		}
		r.addOption(i, name, "", false)
	}
	return 0
}

// fullNames returns the other options that an option may be. The first kind has the
// number of dashes of the description, if the program ignores the difference; then same
// is set. The second are options of [form.NamedOptions] that it may abbreviate.
func (r *reader) fullNames(name string) (full []string, same bool) {
	anyDashes := len(name) > 2 && Has(form.AnyDashes, r.out.Command[0])
	if !anyDashes && !strings.HasPrefix(name, "--") || len(name) < len("--a") {
		return nil, false
	}
	bare := strings.TrimLeft(name, "-")
	for anyDashes && strings.HasPrefix(bare, "no-") {
		bare = bare[len("no-"):]
	}
	for _, p := range append(r.above[:len(r.above):len(r.above)], r.spec) {
		if p.Complete != nil && slices.Contains(p.Complete.Options, name) {
			return nil, false
		}
	}
	named, _ := WordsOf(form.NamedOptions, r.out.Command[0])
	for k, list := range [][]string{named, r.values(), r.spec.GlobalValueOptions} {
		for _, other := range list {
			if other == name {
				return nil, false
			}
			exact := strings.TrimLeft(other, "-") == bare && (anyDashes || r.spec.SingleDashOptions)
			short := k == 0 && (abbreviates(name, other) || anyDashes && strings.HasPrefix(other, "--"+bare))
			if (exact || short) && len(other) > 2 && !slices.Contains(full, other) {
				full, same = append(full, other), same || exact
			}
		}
	}
	return full, same
}

// begun reads the option at i of which only the beginning is known. Its unknown rest may
// be empty, or make it another option, which is recorded as written.
func (r *reader) begun(i int, values []string) {
	f := r.argv[i]
	add := func(name, value string) { r.addOption(i, name, value, false) }
	if strings.HasPrefix(f.Head, "--") || r.spec.SingleDashOptions {
		name, _, has := strings.Cut(f.Head, "=")
		full, _ := r.fullNames(name)
		for _, other := range full {
			add(other, "")
		}
		if value, plain := strings.CutPrefix(f.Text, name+"="); has && plain {
			add(name, value)
			return
		}
		add(name, "")
		if !has {
			add(f.Text, "")
		}
		return
	}
	for _, c := range f.Head[1:] {
		name := "-" + string(c)
		if slices.Contains(r.spec.AttachedValueOptions, name) || slices.Contains(values, name) {
			_, value, _ := strings.Cut(f.Text, string(c))
			add(name, value)
			return
		}
		add(name, "")
	}
	add(f.Text, "")
}

// means reports whether an option is another one, or may abbreviate it. A full name
// abbreviates nothing.
func (r *reader) means(name, full string) bool {
	return name == full || abbreviates(name, full) && !slices.Contains(r.values(), name)
}

// meansOne reports whether an option is in names, or may abbreviate one of them.
func (r *reader) meansOne(o cardea.Option, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return r.means(o.Name, name) })
}

// abbreviates reports whether a long option may abbreviate another one, as getopt reads it.
func abbreviates(name, full string) bool {
	return len(name) >= len("--a") && len(name) < len(full) && strings.HasPrefix(name, "--") && strings.HasPrefix(full, name)
}

// bundle reads a first word of options without a dash. Their values are the next words,
// in order. It returns the number of these words.
func (r *reader) bundle(letters string) int {
	used := 0
	for i := 0; i < len(letters); i++ {
		o := cardea.Option{Name: "-" + letters[i:i+1], Word: 1}
		if slices.Contains(r.spec.ValueOptions, o.Name) && 2+used < len(r.argv) {
			o.Value, o.Static = r.argv[2+used].Text, r.argv[2+used].Static
			used++
		}
		r.out.Options = append(r.out.Options, o)
	}
	return used
}
