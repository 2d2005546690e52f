package shell

import (
	"path"
	"slices"
	"sort"
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
	// Subs are the subcommands that differ from the program.
	Subs []program
}

type optionAccess struct {
	Name   string
	Access cardea.AccessKind
}

type when struct {
	Flags     []string
	Operands  cardea.AccessKind
	Recursive bool
}

// none is the access of an operand that names no path.
const none cardea.AccessKind = "none"

// programOf finds a program by base name.
func programOf(name string) *program {
	i := sort.Search(len(programIndex), func(i int) bool { return programIndex[i].name >= name })
	if i < len(programIndex) && programIndex[i].name == name {
		return &programs[programIndex[i].at]
	}
	return nil
}

// indexed is one name in the index of programs, sorted by name.
type indexed struct {
	name string
	at   int
}

// describe fills in what is known of a program's words: command, options,
// operands and accesses.
func (w *walker) describe(p *cardea.Part, argv []field) {
	if len(argv) == 0 || !argv[0].Static {
		p.Access = append(p.Access[:len(p.Access):len(p.Access)], cardea.Access{Kind: cardea.Unknown})
		return
	}
	name := argv[0].Text
	base := path.Base(name)
	p.Command = []string{base}
	known := programOf(base)
	if strings.Contains(name, "/") && !systemFolder(path.Dir(name)) {
		p.Access = append(p.Access[:len(p.Access):len(p.Access)], w.opens(cardea.Execute, name, false)...)
		if strings.HasPrefix(name, "./") || !strings.HasPrefix(name, "/") {
			known = nil
		}
	}
	r := reader{w: w, part: p, argv: argv, spec: known}
	if known == nil {
		r.spec = &program{}
	}
	r.read()
	if known == nil {
		p.Access = append(p.Access[:len(p.Access):len(p.Access)], cardea.Access{Kind: cardea.Unknown})
		return
	}
	r.accesses()
}

// systemFolder reports the folders in which a program's name means what it
// says.
func systemFolder(dir string) bool {
	switch dir {
	case "/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin", "/opt/local/bin", "/snap/bin":
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
}

// read finds subcommand, options and operands.
func (r *reader) read() {
	values, depth, ended := r.spec.Values, r.spec.Depth, false
	if depth > 0 && len(r.spec.Globals) > 0 {
		values = r.spec.Globals
	}
	for i := 1; i < len(r.argv); i++ {
		f := r.argv[i]
		text := f.Text
		if r.spec.PathsFirst && (len(r.part.Options) > 0 || text == "(" || text == "!" || text == ")") && f.Static && !strings.HasPrefix(text, "-") {
			continue // part of an expression
		}
		ended = ended || r.spec.Stops > 0 && len(r.operands) >= r.spec.Stops
		isOption := !ended && f.Static && len(text) > 1 && (text[0] == '-' || text[0] == '+' && r.spec.Single)
		switch {
		case isOption && text == "--":
			ended = true
		case isOption:
			i += r.option(i, values)
		case !ended && !f.Static && strings.HasPrefix(text, "-") && !f.Loose:
			i += r.option(i, values) // --name="$x": the name is as written
		case len(r.part.Command)-1 < depth && f.Static && len(r.operands) == 0:
			r.part.Command = append(r.part.Command, text)
			if sub := r.spec.sub(text); sub != nil {
				r.spec = sub
				depth = len(r.part.Command) - 1 + sub.Depth
				values = sub.Values
			} else if len(r.part.Command)-1 < depth {
				depth = max(depth, len(r.part.Command)-1)
			}
			if len(r.part.Command)-1 >= depth { // what follows are the subcommand's own
				values = r.spec.Values
			}
		default:
			depth = 0
			r.operands = append(r.operands, i)
		}
	}
	r.part.Operands = r.operands
}

func (p *program) sub(name string) *program {
	for i := range p.Subs {
		for _, n := range strings.Split(p.Subs[i].Name, "|") {
			if n == name {
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
	valued := func(name string) bool {
		for _, v := range values {
			if v == name {
				return true
			}
		}
		return false
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
		if !has && valued(name) {
			return next(name)
		}
		add(name, val, has && f.Static)
		return 0
	}
	for at := 1; at < len(text); at++ {
		c := text[at]
		if c >= 0x80 || c == '=' {
			break
		}
		name := "-" + string(c)
		if valued(name) {
			if at+1 < len(text) {
				add(name, text[at+1:], f.Static)
				return 0
			}
			return next(name)
		}
		add(name, "", false)
	}
	return 0
}

// accesses derives what the program does to its operands and options' values.
func (r *reader) accesses() {
	s, p := r.spec, r.part
	out := p.Access[:len(p.Access):len(p.Access)]
	recursive := r.has(s.Recursive)
	kind := s.Operands
	for _, c := range s.When {
		if r.has(c.Flags) {
			kind = c.Operands
			recursive = recursive || c.Recursive
		}
	}
	for n, i := range r.operands {
		k := kind
		switch {
		case n == 0 && s.First != "" && !r.has(s.FirstUnless):
			k = s.First
		case n == len(r.operands)-1 && s.Last != "" && (n > 0 || s.First != ""):
			k = s.Last
		}
		out = r.touch(out, k, r.argv[i], recursive)
	}
	for _, o := range p.Options {
		for _, a := range s.Options {
			if a.Name == o.Name && (o.Static || o.Value != "") {
				f := field{Word: cardea.Word{Text: o.Value, Static: o.Static}}
				out = r.touch(out, a.Access, f, recursive)
			}
		}
	}
	if len(r.operands) == 0 && recursive && kind != "" && kind != none && s.Operands == cardea.Read {
		out = r.touch(out, kind, field{Word: cardea.Word{Text: ".", Static: true}}, true)
	}
	for _, k := range s.Access {
		if k == cardea.Network && slices.ContainsFunc(out, func(a cardea.Access) bool { return a.Kind == k }) {
			continue
		}
		out = append(out, cardea.Access{Kind: k})
	}
	p.Access = out
}

func (r *reader) touch(out []cardea.Access, k cardea.AccessKind, f field, recursive bool) []cardea.Access {
	switch k {
	case none, "":
		return out
	case cardea.Network:
		for _, h := range hostsOf(f) {
			out = append(out, cardea.Access{Kind: k, Host: h})
		}
		return out
	case cardea.Read:
		if f.Static && f.Text == "-" {
			return out
		}
	}
	for _, a := range r.w.opensField(k, f) {
		a.Recursive = recursive
		out = append(out, a)
	}
	return out
}

// has reports whether one of the options is given, or "always".
func (r *reader) has(names []string) bool {
	for _, n := range names {
		if n == "always" {
			return true
		}
		for _, o := range r.part.Options {
			if o.Name == n || strings.HasPrefix(n, "--") && len(o.Name) >= 5 && strings.HasPrefix(n, o.Name) {
				return true
			}
		}
	}
	return false
}
