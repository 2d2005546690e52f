package knowledge

import (
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge/form"
)

// ShellLine is the command line of a shell, as that shell reads it. Indexes are those of
// words; 0 means no word.
type ShellLine struct {
	// Options are its options: -e, +o, --rcfile.
	Options []cardea.Option
	// Rest is the index of the first word that is not an option, or the number of words.
	Rest int
	// Script is the index of the word that names its script.
	Script int
	// Commands is set if an option gives it commands (-c).
	Commands bool
	// Named is set if an option makes it read commands from its standard input (-s).
	Named bool
}

// ReadsInput reports whether the shell reads commands from its standard input. With -c and -s
// dash reads them after it has run those of -c.
func (l *ShellLine) ReadsInput() bool { return l.Script == 0 && (!l.Commands || l.Named) }

// ReadShell reads the command line of a shell. ok is false for any other program, and
// for a shell whose options are unknown.
func ReadShell(words []cardea.Word) (line ShellLine, ok bool) {
	if len(words) == 0 {
		return line, false
	}
	values, ok := WordsOf(form.ShellOptions, path.Base(words[0].Text))
	if !ok {
		return line, false
	}
	i := 1
	for ; i < len(words); i++ {
		text := words[i].Text
		if !words[i].Static || len(text) < 2 || text[0] != '-' && text[0] != '+' {
			break
		}
		if text == "--" {
			i++
			break
		}
		name, value, attached := strings.Cut(text, "=")
		takes := slices.Contains(values, name+"=")
		if !strings.HasPrefix(name, "--") && (len(name) == 2 || !takes && !slices.Contains(values, name)) {
			i = line.bundle(words, i, values)
			continue
		}
		o := cardea.Option{Name: name, Value: value, Static: attached, Word: i}
		if takes && !attached {
			i = valueOf(&o, words, i)
		}
		line.add(o)
	}
	if i < len(words) && words[i].Text == "-" {
		i++
	}
	if line.Rest = min(i, len(words)); !line.Commands && !line.Named && i < len(words) {
		line.Script = i
	}
	return line, true
}

func (l *ShellLine) add(o cardea.Option) {
	if o.Name == "+c" || o.Name == "+s" { // the sign changes nothing
		o.Name = "-" + o.Name[1:]
	}
	l.Commands = l.Commands || o.Name == "-c" || o.Name == "--command"
	l.Named = l.Named || o.Name == "-s"
	l.Options = append(l.Options, o)
}

// bundle reads the one-letter options in the word at i, and returns the last word that
// belongs to them. The value of such an option is the next word, even in the middle of a
// bundle, or for attached values the rest of its word.
func (l *ShellLine) bundle(words []cardea.Word, i int, values []string) int {
	text, last := words[i].Text, i
	for at := 1; at < len(text); at++ {
		o := cardea.Option{Name: text[:1] + text[at:at+1], Word: i}
		attached := slices.Contains(values, "-"+text[at:at+1]+"=")
		switch {
		case attached && at+1 < len(text):
			o.Value, o.Static, at = text[at+1:], true, len(text)
		case attached || slices.Contains(values, "-"+text[at:at+1]):
			last = valueOf(&o, words, last)
		}
		l.add(o)
	}
	return last
}

// valueOf sets the value of o to the word after last, and returns the index of that word.
func valueOf(o *cardea.Option, words []cardea.Word, last int) int {
	if last+1 < len(words) {
		last++
		o.Value, o.Static = words[last].Text, words[last].Static
	}
	return last
}
