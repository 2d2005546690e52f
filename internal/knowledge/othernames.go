package knowledge

import (
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/knowledge/form"
)

// This file knows the other names under which a program does the same: git-push, git send-pack,
// npm i, and commands that the line defines.

// otherNames adds the invocation under each other name of what it does. An entry of a list or a
// rule about that name then finds it.
func (r *reader) otherNames() {
	if len(r.argv) == 0 || !r.argv[0].Static {
		return
	}
	command := r.out.Command
	at := 1 // behind the words of the command
	for _, word := range command[1:] {
		for k := at; k < len(r.argv); k++ {
			if r.argv[k].Text == word {
				at = k + 1
				break
			}
		}
	}
	run := func(from int, name ...string) {
		words := slices.Clone(name)
		for _, f := range r.argv[min(from, len(r.argv)):] {
			if f.Static {
				f.Text = quote(f.Text)
			}
			words = append(words, f.Text)
		}
		r.out.Possible.Run = append(r.out.Possible.Run, strings.Join(words, " "))
	}
	base := path.Base(r.argv[0].Text)
	if name, windows := strings.CutSuffix(base, ".exe"); windows {
		run(1, name)
	}
	if base != command[0] {
		run(1, command...) // git-push
	}
	if r.out.UsualCommand != nil {
		run(at, r.out.UsualCommand...)
	}
	for n := 1; n <= 3; n++ {
		key, from := command[:min(n, len(command))], 1
		if n > 1 {
			from = at
		}
		if n == len(command)+1 && at < len(r.argv) && r.argv[at].Static {
			key, from = append(slices.Clone(command), r.argv[at].Text), at+1 // git lfs push
		} else if n > len(command) {
			break
		}
		if same, ok := WordsOf(form.SameActAs, strings.Join(key, " ")); ok {
			run(from, same...)
		}
	}
}

// Defines is the command that a part defines, with its program in front, and the line that it
// then stands for: `git config alias.p push`. ok is false for a part that defines none.
func Defines(p *cardea.Part) (command, line string, ok bool) {
	for n := 1; n <= len(p.Command); n++ {
		begin, defines := WordsOf(form.DefinesCommand, strings.Join(p.Command[:n], " "))
		if !defines {
			continue
		}
		for i := n; i+1 < len(p.Argv); i++ {
			name, is := strings.CutPrefix(p.Argv[i].Text, begin[0])
			if is && p.Argv[i+1].Static {
				return p.Command[0] + " " + name, standsFor(p.Command[0], p.Argv[i+1].Text), true
			}
		}
	}
	for _, o := range p.Options {
		begin, defines := WordsOf(form.DefinesCommand, strings.Join([]string{p.Command[0], o.Name}, " "))
		if !defines || !o.Static {
			continue
		}
		if rest, is := strings.CutPrefix(o.Value, begin[0]); is {
			name, value, _ := strings.Cut(rest, "=")
			return p.Command[0] + " " + name, standsFor(p.Command[0], value), true
		}
	}
	return "", "", false
}

// standsFor is the line for a shell that the text of a program's alias stands for.
func standsFor(program, text string) string {
	if line, shell := strings.CutPrefix(text, "!"); shell {
		return line
	}
	return program + " " + text
}
