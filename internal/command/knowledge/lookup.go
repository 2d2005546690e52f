package knowledge

import (
	"maps"
	"slices"
	"sort"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge/form"
)

// Program is the description of a program or one of its subcommands, for people.
type Program struct {
	// Names are all names of the program, Command the words that select this description.
	Names   []string `json:"names"`
	Command []string `json:"command"`
	// Source is the file of command knowledge, Manual the source of its facts.
	Source string `json:"source"`
	Manual string `json:"manual"`
	// Variables are the variables that may change its effects. A star at the end stands for
	// any ending.
	Variables []string `json:"variables"`
	// Operands is the access to the operands, First and Last that to the first and the last
	// one if they differ. "none" is nothing.
	Operands cardea.AccessKind `json:"operands"`
	First    cardea.AccessKind `json:"first,omitempty"`
	Last     cardea.AccessKind `json:"last,omitempty"`
	// Access are the accesses that do not depend on operands and options.
	Access []cardea.AccessKind `json:"access"`
	// Options are the described options, by name.
	Options []ProgramOption `json:"options"`
	// Subcommands are the names of the described subcommands.
	Subcommands []string `json:"subcommands"`
	// Certain is set if the description is complete with some words, Any if it is with all words.
	Certain bool `json:"certain"`
	Any     bool `json:"-"`
}

// ProgramOption is an option of a program.
type ProgramOption struct {
	Name string `json:"name"`
	// Value is set if it takes a value.
	Value bool `json:"value"`
	// Access is the access to the value, "" for nothing.
	Access cardea.AccessKind `json:"access,omitempty"`
	// Harmless is set if the description is complete with the option.
	Harmless bool `json:"harmless"`
}

// KnownProgram returns the description of a program and of the words of its subcommand,
// as far as they are described. It returns false if the program is not.
func KnownProgram(name string, words ...string) (Program, bool) {
	command, spec := named(name)
	if spec == nil {
		return Program{}, false
	}
	out := Program{Names: spec.Name, Command: command}
	if p := programOf(command[0]); p != nil {
		out.Source, out.Manual, out.Variables = p.Source.File, p.Source.Manual, p.Source.Variables
	}
	above := []*form.Program{}
	for _, w := range words {
		sub := spec.Subcommand(w)
		if sub == nil {
			break
		}
		above = append(above, spec)
		spec, out.Command = sub, append(out.Command, w)
	}
	out.Operands, out.First, out.Last, out.Access = spec.Operands, spec.FirstOperand, spec.LastOperand, spec.Accesses
	for _, s := range spec.Subcommands {
		out.Subcommands = append(out.Subcommands, s.Name...)
	}
	sort.Strings(out.Subcommands)
	if c := spec.Complete; c != nil {
		out.Certain, out.Any = c.WithoutSubcommand || !(spec.SubcommandWords > 0 && len(spec.Subcommands) > 0), c.AnyWords
	}
	if !out.Certain {
		out.Access = slices.Concat(out.Access, spec.AccessesIfIncomplete)
	}
	out.Options = options(spec, above)
	return out, true
}

// options returns the described options of a program, by name.
func options(p *form.Program, above []*form.Program) []ProgramOption {
	all := map[string]ProgramOption{}
	note := func(names []string, change func(*ProgramOption)) {
		for _, n := range names {
			if strings.HasPrefix(n, "-") {
				o := all[n]
				o.Name = n
				change(&o)
				all[n] = o
			}
		}
	}
	for _, q := range append(slices.Clone(above), p) {
		note(slices.Concat(q.GlobalValueOptions, q.PersistentValueOptions), func(o *ProgramOption) { o.Value = true })
		if q.Complete != nil {
			note(q.Complete.Options, func(o *ProgramOption) { o.Harmless = true })
		}
	}
	note(slices.Concat(p.ValueOptions, p.AttachedValueOptions), func(o *ProgramOption) { o.Value = true })
	note(p.RecursiveOptions, func(*ProgramOption) {})
	for _, a := range p.OptionAccesses {
		note([]string{a.Name}, func(o *ProgramOption) { o.Value, o.Access = true, a.Access })
	}
	for _, w := range p.When {
		for _, n := range w.Options {
			n, _, _ = strings.Cut(n, "=")
			note([]string{n}, func(o *ProgramOption) {
				if w.Operands != "" {
					o.Access = w.Operands
				}
			})
		}
	}
	out := make([]ProgramOption, 0, len(all))
	for _, n := range slices.Sorted(maps.Keys(all)) {
		out = append(out, all[n])
	}
	return out
}

// ProgramNames returns the names of all described programs.
func ProgramNames() []string {
	out := make([]string, len(programs))
	for i, p := range programs {
		out[i] = p.name
	}
	return out
}

// described is an entry of the table of programs, which is sorted by name.
type described struct {
	name    string
	program *form.Program
}

// programOf returns the description of a program by base name, or nil.
func programOf(name string) *form.Program {
	i := sort.Search(len(programs), func(i int) bool { return programs[i].name >= name })
	if i < len(programs) && programs[i].name == name {
		return programs[i].program
	}
	return nil
}

// named returns the command for which a program's base name stands, and its description:
// git-push is git push.
func named(base string) ([]string, *form.Program) {
	if p := programOf(base); p != nil {
		return []string{base}, p
	}
	name, sub, _ := strings.Cut(base, "-")
	if p := programOf(name); sub != "" && p != nil && Has(form.SubcommandPrograms, name) {
		if s := p.Subcommand(sub); s != nil {
			return []string{name, sub}, s
		}
		return []string{name, sub}, &form.Program{Name: []string{sub}, Operands: form.None, Accesses: p.AccessesIfIncomplete}
	}
	return []string{base}, nil
}

// IsKnown reports whether a program is described.
func IsKnown(name string) bool { return programOf(name) != nil }
