package knowledge

import (
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge/form"
)

// This file derives the other names of an invocation: git-push, git send-pack, npm i,
// and commands that the line defines.

// otherNames adds the invocation under each other name that means the same. Rules and
// entries of a list for that name then match it.
func (r *reader) otherNames() {
	command, at := r.out.Command, 1 // after the words of the command
	if len(command) == 0 {
		return
	}
	for _, word := range command[1:] {
		at += 1 + slices.IndexFunc(r.argv[at:], func(f Word) bool { return f.Text == word })
	}
	run := func(from int, name ...string) {
		words := slices.Concat(name, spelled(r.argv[from:]))
		r.out.Potential.Run = append(r.out.Potential.Run, strings.Join(words, " "))
	}
	base := path.Base(r.argv[0].Text)
	if name, windows := strings.CutSuffix(base, ".exe"); windows {
		run(1, name)
	} else if base != command[0] {
		run(1, command...) // git-push
	}
	if r.out.UsualCommand != nil {
		run(at, r.out.UsualCommand...)
	}
	words := command[:len(command):len(command)]
	if at < len(r.argv) && r.argv[at].Static {
		words = append(words, r.argv[at].Text) // git lfs push
	}
	for n := range words {
		from := at
		switch n {
		case 0:
			from = 1
		case len(command):
			from = at + 1
		}
		if r.spec.OptionsEndAfterOperands > 0 && len(r.operands) > 0 {
			from = r.operands[0]
		}
		if same, ok := WordsOf(form.SameActAs, strings.Join(words[:n+1], " ")); ok {
			run(from, same...)
		}
	}
}

// Defines returns the command that a part defines, in lower case after its program, and
// the line for which it stands: `git config alias.p push`. ok is false for a part that
// defines no command.
func Defines(p *cardea.Part) (command, line string, ok bool) {
	find := func(key, name, text string) bool {
		begin, defines := WordsOf(form.DefinesCommand, key)
		rest, is := strings.CutPrefix(strings.ToLower(name), strings.Join(begin, "")) // git ignores the case
		if ok = defines && is; ok {
			command, line = p.Command[0]+" "+strings.TrimSuffix(rest, ".command"), standsFor(p.Command[0], text)
		}
		return ok
	}
	for i := len(p.Command); i+1 < len(p.Argv); i++ {
		for n := 1; n <= len(p.Command); n++ {
			if find(strings.Join(p.Command[:n], " "), p.Argv[i].Text, p.Argv[i+1].Text) {
				return command, line, true
			}
		}
	}
	for _, o := range p.Options {
		if name, text, _ := strings.Cut(o.Value, "="); find(p.Command[0]+" "+o.Name, name, text) {
			return command, line, true
		}
	}
	return "", "", false
}

// standsFor returns the shell line for which the text of a program's alias stands.
func standsFor(program, text string) string {
	if line, shell := strings.CutPrefix(text, "!"); shell {
		return line
	}
	return program + " " + text
}
