package bash

import (
	"path"
	"slices"
	"strings"

	"cardea.dev"
)

//go:generate go run ./gen

// program is what is known of a program's command line, from
// packs/commands/*.yaml. A program that is not there has unknown access.
type program struct {
	// Name is the program's base name, or the subcommand's.
	Name string
	// Values are the options that take a value in the next word.
	Values []string
	// Globals are those among them that may stand before the subcommand.
	Globals []string
	// Single marks programs whose long options have one dash.
	Single bool
	// Depth counts the words of the subcommand.
	Depth int
	// Operands, First and Last are the accesses of operands; First is
	// replaced by Operands where one of FirstUnless is given.
	Operands, First, Last cardea.AccessKind
	FirstUnless           []string
	// Recursive are the options that make operands stand for everything
	// below them, or "always".
	Recursive []string
	// Options are the accesses of options' values.
	Options []optionAccess
	// Access is what it does besides.
	Access []cardea.AccessKind
	// When replaces Operands where one of its flags is given.
	When []when
	// PathsFirst ends the operands at the first option (find).
	PathsFirst bool
	// Stops is how many operands end the options: what follows belongs to
	// another program (docker run IMAGE …).
	Stops int
	// Ends is an option of the known subcommands behind which nothing is an
	// option, as behind --.
	Ends string
	// Attached are the options whose value, if they have one, stands in the
	// same word (sed -i.bak, perl -pi.orig).
	Attached []string
	// Bundle marks programs whose first word may be options without a dash
	// (tar xf).
	Bundle bool
	// Pairs are the accesses of operands of the form key=value (dd of=file).
	Pairs []optionAccess
	// Remote marks programs that take host:path for another machine's file.
	Remote bool
	// Members marks programs that put what they are passed into the last
	// operand, under its own name, where that is a folder (cp, mv, ln).
	Members bool
	// Into are the options that name the folder in which files are put.
	Into []string
	// Spreads are the options, or "always", with which the program writes
	// files that the line does not name into that folder, else the current
	// one; with one of SpreadsUnless it does not.
	Spreads, SpreadsUnless []string
	// Saves are the options, or "always", with which what is downloaded is
	// saved under the last name of its address; with one of SavesUnless it is
	// not.
	Saves, SavesUnless []string
	// Double are the options with two values, of which the second counts (jq
	// --arg name value).
	Double []string
	// Permutes: options behind operands are options on every system.
	Permutes bool
	// Alone are words that make it do nothing else, where they are all that it
	// is passed (--version).
	Alone []string
	// Help are options that make it, and each of its direct subcommands that
	// is known, do nothing else where they stand alone behind it.
	Help []string
	// Persistent are options with a value that may stand in front of the
	// subcommand and behind it.
	Persistent []string
	// Else is what it, or a subcommand without one of its own, does besides
	// where its words are not such with which all is certain.
	Else []cardea.AccessKind
	// Hidden are the options with which it reads hidden files below folders,
	// too; set for programs that leave them out.
	Hidden []string
	// Suffixes are what it puts behind the name of a file that is not there.
	Suffixes []string
	// Same is the command that the program is another name of.
	Same []string
	// Equal are subcommands with another name.
	Equal []equal
	// Certain says with which words all of this is all that it does; nil:
	// never.
	Certain *certainty
	// Subs are the subcommands that differ from the program. A name that ends
	// in * stands for all that begin so.
	Subs []program
}

// equal says that some words of a command are the same as others.
type equal struct{ words, as []string }

type optionAccess struct {
	Name   string
	Access cardea.AccessKind
}

type when struct {
	// Flags are options, or "option=text" where the value must hold the text.
	Flags     []string
	Operands  cardea.AccessKind
	Last      cardea.AccessKind
	Recursive bool
	// Options come before those of the program.
	Options []optionAccess
}

// Kinds of access that only the table has: none is that of an operand that
// names no path, edit is reading and writing.
const (
	none cardea.AccessKind = "none"
	edit cardea.AccessKind = "edit"
	// names is reading names and attributes, revision what git reads by
	// revision:path, configured contacting a host of the configuration,
	// repository the one of a forge, [HOST/]OWNER/REPO.
	names      cardea.AccessKind = "names"
	revision   cardea.AccessKind = "revision"
	configured cardea.AccessKind = "configured"
	repository cardea.AccessKind = "repository"
)

// programOf finds a program by base name.
func programOf(name string) *program {
	if at := programAt(name); at >= 0 {
		return &programs[at]
	}
	return nil
}

// indexed is one name in the index of programs, sorted by name.
type indexed struct {
	name string
	at   int
}

// describe fills in what is known of a program's words: command, options,
// operands and accesses. What stands in Access before was opened by the shell,
// or by a wrapper in front of the program, and is marked as such.
func (w *walker) describe(p *cardea.Part, argv []field) {
	p.Access = slices.Clone(p.Access)
	for i := range p.Access {
		p.Access[i].Redirect = true
	}
	if len(argv) == 0 || !argv[0].Static {
		p.Access = append(p.Access, cardea.Access{Kind: cardea.Unknown})
		return
	}
	name := argv[0].Text
	var spec *program
	p.Command, spec = named(path.Base(name))
	if strings.Contains(name, "/") && !systemFolder(path.Dir(name)) {
		p.Access = append(p.Access, w.opens(cardea.Execute, name, false)...)
		if !strings.HasPrefix(name, "/") {
			spec = nil
		}
	}
	r := reader{w: w, part: p, argv: argv, spec: spec, first: len(p.Command)}
	if spec == nil {
		r.spec = &program{}
	}
	r.read()
	if spec == nil {
		p.Access = append(p.Access, cardea.Access{Kind: cardea.Unknown})
		p.Doubt = "the program " + base(p) + " is not known"
		return
	}
	if len(argv) == 2 && argv[1].Static && slices.Contains(spec.Alone, argv[1].Text) || r.help() {
		p.Knowledge = cardea.Complete
		return
	}
	r.accesses()
	if p.Doubt = r.doubt(); p.Doubt == "" {
		p.Knowledge, p.Configs = cardea.Complete, r.spec.Certain.Configs
		return
	}
	r.besides(r.otherwise())
}

// named is the command that a program's base name stands for, and what is known
// of it. Git starts its subcommands as programs of their own, so git-push is
// git push.
func named(base string) ([]string, *program) {
	if p := programOf(base); p != nil {
		return []string{base}, p
	}
	git := programOf("git")
	if sub, ok := strings.CutPrefix(base, "git-"); ok && git != nil {
		if p := git.sub(sub); p != nil {
			return []string{"git", sub}, p
		}
		return []string{"git", sub}, &program{Name: sub, Operands: none, Access: git.Access}
	}
	return []string{base}, nil
}

// systemFolder reports the folders in which a program's name means what it
// says.
func systemFolder(dir string) bool {
	switch dir {
	case "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu",
		"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin", "/opt/local/bin", "/snap/bin":
		return true
	}
	return false
}

// reader takes a program's words apart.
type reader struct {
	w        *walker
	part     *cardea.Part
	argv     []field
	spec     *program
	operands []int
	above    []*program // the programs that spec is a subcommand of
	levels   []int      // where the words stand that lead to spec
	first    int        // how many words the command had at first
	// uncertain counts the operands that are only known when the line runs.
	uncertain int
}

// read finds subcommand, options and operands.
func (r *reader) read() {
	values, depth, ended := r.spec.Values, len(r.part.Command)-1+r.spec.Depth, false
	if depth > 0 && len(r.spec.Globals) > 0 {
		values = r.spec.Globals
	}
	if len(r.spec.Persistent) > 0 {
		values = slices.Concat(values, r.spec.Persistent)
	}
	var more []int // words that may be operands, or nothing
	for i := 1; i < len(r.argv); i++ {
		f := r.argv[i]
		text := f.Text
		if r.spec.PathsFirst && (slices.ContainsFunc(r.part.Options, expression) || text == "(" || text == "!" || text == ")") && f.Static && !strings.HasPrefix(text, "-") {
			continue // part of an expression
		}
		ended = ended || r.spec.Stops > 0 && len(r.operands) >= r.spec.Stops
		isOption := !ended && f.Static && len(text) > 1 && (text[0] == '-' || text[0] == '+' && r.spec.Single)
		switch {
		case isOption && text == "--":
			ended = !r.spec.PathsFirst // find takes it for the end of -H, -L and -P alone
		case isOption && r.ends(text):
			i += r.option(i, values)
			ended = true
		case i == 1 && r.spec.Bundle && f.Static && !isOption && text != "" && text != "-":
			i += r.bundle(text)
		case isOption && r.spec.PathsFirst && startsCommand(text):
			r.part.Options = append(r.part.Options, cardea.Option{Name: text, Word: i})
			for i+1 < len(r.argv) && !endsCommand(r.argv[i], r.argv[i+1]) {
				i++ // the command is a part of its own
			}
			i++
		case isOption:
			i += r.option(i, values)
		case !ended && !f.Static && len(f.head) > 1 && f.head[0] == '-':
			r.begun(i, values)
			if f.MaySplit {
				more = append(more, i) // it may become several words
			}
		case !ended && f.MaySplit && len(r.part.Command)-1 < depth && len(r.operands) == 0:
			more = append(more, i) // and it may become none
		case len(r.part.Command)-1 < depth && f.Static && len(r.operands) == 0:
			r.part.Command = append(r.part.Command, text)
			if sub := r.spec.sub(text); sub != nil {
				r.above = append(r.above[:len(r.above):len(r.above)], r.spec)
				r.spec, r.levels = sub, append(r.levels, i)
				depth = len(r.part.Command) - 1 + sub.Depth
				values = r.values()
			} else if len(r.part.Command)-1 < depth {
				depth = max(depth, len(r.part.Command)-1)
			}
			if len(r.part.Command)-1 >= depth { // what follows are the subcommand's own
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
	r.part.Operands = r.operands
	r.part.UsualCommand = r.same()
}

// ends reports the option of the program, in a known subcommand, that ends the
// options.
func (r *reader) ends(text string) bool { return len(r.above) > 0 && text == r.above[0].Ends }

// same is the command under its usual name, nil where it has that.
func (r *reader) same() []string {
	command := r.part.Command
	top := append(r.above[:len(r.above):len(r.above)], r.spec)[0]
	if len(top.Same) > 0 {
		command = slices.Concat(top.Same, command[1:])
		if as := programOf(top.Same[0]); as != nil {
			top = as
		}
	}
	for _, e := range top.Equal {
		if n := 1 + len(e.words); len(command) >= n && slices.Equal(command[1:n], e.words) {
			command = slices.Concat(command[:1], e.as, command[n:])
			break
		}
	}
	if slices.Equal(command, r.part.Command) {
		return nil
	}
	return command
}

// values are the options with a value behind the subcommand.
func (r *reader) values() []string {
	out := r.spec.Values
	for _, p := range append(r.above, r.spec) {
		if len(p.Persistent) > 0 {
			out = slices.Concat(out, p.Persistent)
		}
	}
	return out
}

// startsCommand reports the primaries of find that a command follows.
func startsCommand(text string) bool {
	return text == "-exec" || text == "-execdir" || text == "-ok" || text == "-okdir"
}

// endsCommand reports whether a word ends find's command.
func endsCommand(before, f field) bool {
	return f.Static && (f.Text == ";" || f.Text == "+" && before.Text == "{}")
}

// expression reports an option that stands behind find's paths.
func expression(o cardea.Option) bool {
	switch o.Name {
	case "-H", "-L", "-P", "-E", "-X", "-d", "-s", "-x", "-D", "-f":
		return false
	}
	return !strings.HasPrefix(o.Name, "-O")
}

func (p *program) sub(name string) *program {
	for i := range p.Subs {
		for n := range strings.SplitSeq(p.Subs[i].Name, "|") {
			if head, ok := strings.CutSuffix(n, "*"); n == name || ok && strings.HasPrefix(name, head) {
				return &p.Subs[i]
			}
		}
	}
	return nil
}

// option reads the option at i and says how many further words it takes.
func (r *reader) option(i int, values []string) int {
	f := r.argv[i]
	text := f.Text
	add := func(name, value string, static bool) {
		r.part.Options = append(r.part.Options, cardea.Option{Name: name, Value: value, Static: static, Word: i})
	}
	next := func(name string) int {
		if i+1 >= len(r.argv) {
			add(name, "", false)
			return 0
		}
		add(name, r.argv[i+1].Text, r.argv[i+1].Static)
		return 1
	}
	if strings.HasPrefix(text, "--") || r.spec.Single {
		name, val, has := strings.Cut(text, "=")
		switch {
		case slices.Contains(r.spec.Double, text) && i+2 < len(r.argv):
			add(name, r.argv[i+2].Text, r.argv[i+2].Static)
			return 2
		case has:
			add(name, val, f.Static)
		case slices.Contains(values, name):
			return next(name)
		case r.spec.Certain != nil && slices.Contains(r.spec.Certain.Flags, name):
			add(name, "", false) // what is written in full is no abbreviation
		case slices.ContainsFunc(values, func(v string) bool { return abbreviates(name, v) }):
			// It may be short for an option with a value, or one without:
			// the next word is read as both.
			next(name)
		default:
			add(name, "", false)
		}
		return 0
	}
	for at := 1; at < len(text); at++ {
		c := text[at]
		if c >= 0x80 || c == '=' {
			break
		}
		name := "-" + string(c)
		switch {
		case slices.Contains(r.spec.Attached, name):
			add(name, text[at+1:], f.Static)
			return 0
		case slices.Contains(values, name) && at+1 < len(text):
			add(name, text[at+1:], f.Static)
			return 0
		case slices.Contains(values, name):
			return next(name)
		}
		add(name, "", false)
	}
	return 0
}

// begun reads the option at i, of which only the beginning is known. What follows
// may be nothing, so that it is the option that it begins with; and it may be
// another one, which stands as it is written.
func (r *reader) begun(i int, values []string) {
	f := r.argv[i]
	add := func(name, value string) {
		r.part.Options = append(r.part.Options, cardea.Option{Name: name, Value: value, Word: i})
	}
	if strings.HasPrefix(f.head, "--") || r.spec.Single {
		name, _, has := strings.Cut(f.head, "=")
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
	for _, c := range f.head[1:] {
		name := "-" + string(c)
		if slices.Contains(r.spec.Attached, name) || slices.Contains(values, name) {
			_, value, _ := strings.Cut(f.Text, string(c))
			add(name, value)
			return
		}
		add(name, "")
	}
	add(f.Text, "")
}

// abbreviates reports whether a long option may be short for another one, as
// getopt takes it.
func abbreviates(name, full string) bool {
	return len(name) >= len("--a") && len(name) < len(full) && strings.HasPrefix(name, "--") && strings.HasPrefix(full, name)
}

// bundle reads a first word of options without a dash, whose values are the
// words that follow, in their order. It says how many words these are.
func (r *reader) bundle(letters string) int {
	used := 0
	for i := 0; i < len(letters); i++ {
		o := cardea.Option{Name: "-" + letters[i:i+1], Word: 1}
		if slices.Contains(r.spec.Values, o.Name) && 2+used < len(r.argv) {
			o.Value, o.Static = r.argv[2+used].Text, r.argv[2+used].Static
			used++
		}
		r.part.Options = append(r.part.Options, o)
	}
	return used
}
