package bash

import (
	"cmp"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/bash/grammar"
	"cardea.dev/internal/bash/shell"
	"cardea.dev/internal/bash/texts"
	"cardea.dev/internal/bash/unknown"
	"cardea.dev/internal/knowledge"
)

// taken is what read and its kin take from their input: for each line its fields.
type taken struct {
	lines [][]string
	names int // how many are left that take one
	at    int
}

// takes reads the input of read, mapfile and readarray.
func (w *commands) takes(builtin string, words []field, assigns []cardea.Assign) *taken {
	text := w.input()
	in := &taken{}
	for _, name := range w.cmd.stdin.names {
		in.lines = append(in.lines, []string{name})
	}
	if strings.TrimSpace(text) == "" || builtin == "getopts" {
		return in
	}
	split, raw := " \t\n", false
	if ifs, ok := w.ifs(); ok {
		split = ifs
	}
	for _, a := range assigns {
		if a.Name == "IFS" && a.Static {
			split = a.Value
		}
	}
	end := "\n"
	for i, f := range words {
		switch {
		case f.Static && strings.HasPrefix(f.Text, "-"):
			raw = raw || strings.Contains(f.Text, "r")
			if j := strings.IndexByte(f.Text, 'd'); j > 0 && j+1 < len(f.Text) {
				end = f.Text[j+1 : j+2]
			} else if j > 0 && i+1 < len(words) && words[i+1].Static {
				end = words[i+1].Text[:min(1, len(words[i+1].Text))]
			}
		case f.Static && texts.PlainName(f.Text):
			in.names++
		}
	}
	if builtin != "read" {
		split = ""
	}
	lines := []string{text}
	if end != "" {
		lines = strings.Split(text, end)
	}
	if end != "\n" {
		lines = append(lines, strings.Split(text, "\n")...)
	}
	for _, line := range lines[:min(len(lines), maxLikely)] {
		if !raw && builtin == "read" {
			line = strings.ReplaceAll(line, `\`, "")
		}
		fields := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(split, r) })
		if line = strings.Trim(line, split+"\n"); line != "" {
			in.lines = append(in.lines, append(fields, line))
		}
	}
	v := w.someOf(in.all()) // where it puts them without a name
	w.cur.Vars.Set("REPLY", v)
	w.cur.Vars.Set("MAPFILE", v)
	return in
}

// all are the fields and the lines.
func (t *taken) all() []string {
	out := slices.Concat(t.lines...)
	if len(t.lines) > 1 { // as the words of one command
		out = append(out, strings.Join(out, " "))
	}
	return out
}

// next is what the next name is given: a field of each line, and the last one all that
// is left, about which is taken to be any of it.
func (t *taken) next() []string {
	var out []string
	for _, fields := range t.lines {
		if n := len(fields) - 1; t.at < t.names-1 && t.at < n {
			out = append(out, fields[t.at])
		} else {
			out = append(out, fields[min(t.at, n):]...)
		}
	}
	t.at++
	return out
}

// options are what getopts may put into OPTARG.
func (w *commands) options(words []field) []string {
	out := w.cur.Params
	for _, f := range words {
		out = append(out[:len(out):len(out)], w.mayHold(f)...)
	}
	for _, text := range out {
		if len(text) > 2 && text[0] == '-' {
			out = append(out[:len(out):len(out)], text[2:])
		}
	}
	return out
}

// inputWords are the words and lines that stand in what a command reads, as far as the
// line says it.
func (w *commands) inputWords() []string {
	text := w.input()
	if strings.TrimSpace(text) == "" {
		return w.cmd.stdin.names
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' })
	return w.bounded(slices.Concat(words, strings.Split(text, "\n"), w.cmd.stdin.names))
}

// afterName are the values of texts that assign one.
func afterName(texts []string) []string {
	var out []string
	for _, text := range texts {
		_, value, _ := strings.Cut(text, "=")
		out = append(out, value)
	}
	return out
}

// readNames handles the names that read and its kin set.
func (w *commands) readNames(name string, words []field, assigns []cardea.Assign) {
	in := w.takes(name, words, assigns)
	from := w.inputFrom()
	withValue := map[string]string{"read": "adinNptu", "mapfile": "dnOsuCc", "readarray": "dnOsuCc", "getopts": ""}[name]
	for i := 0; i < len(words); i++ {
		f := words[i]
		if f.Static && strings.HasPrefix(f.Text, "-") && len(f.Text) > 1 && name != "getopts" {
			last := f.Text[len(f.Text)-1]
			at := strings.IndexAny(f.Text[1:], withValue)
			if at >= 0 && f.Text[1+at] == 'C' {
				w.unknown(unknown.MapfileRuns, f.Text)
			}
			if at >= 0 && f.Text[1+at] == 'a' && name == "read" {
				w.setList(append(attached(f, 2+at), words[i+1:]...), in.all())
			}
			if at >= 0 && f.Text[1+at] == 'u' {
				from = w.cur.Descriptors[descriptorName(cmp.Or(f.Text[2+at:], words[min(i+1, len(words)-1)].Text))]
			}
			if strings.IndexByte(withValue, last) >= 0 && at == len(f.Text)-2 {
				i++
				w.oneWord(words[min(i, len(words)):])
			}
			continue
		}
		if name == "getopts" && i == 0 {
			w.oneWord(words) // the option string
			continue
		}
		if name == "getopts" && i > 1 {
			break
		}
		if name == "getopts" {
			w.cur.Vars.Set("OPTARG", w.someOf(w.options(words[min(len(words), 2):])))
		}
		if name == "mapfile" || name == "readarray" {
			w.setList(words[i:], in.all())
		} else {
			w.setByName(f, in.next()...)
		}
		if name != "getopts" && from[0] < from[1] {
			w.cur.Origins[f.Text] = from
		}
	}
	if name == "read" && w.reads(words) && !slices.ContainsFunc(assigns, func(a cardea.Assign) bool { return !a.Static || a.Value != "" }) {
		if s := w.fromSearch(len(words) > 2); s != nil {
			v := w.cur.Vars.Get(words[len(words)-1].Text)
			w.set(words[len(words)-1].Text, shell.Value{Found: s, May: v.May, Presence: shell.Set})
		}
	}
}

// setList sets the array that the first of some words names to what is not known. That the
// variable is one counts from here on.
func (w *commands) setList(words []field, may []string) {
	if len(words) == 0 {
		return
	}
	f := words[0]
	if f.Static && texts.PlainName(f.Text) {
		w.cur.Traits[f.Text] |= grammar.Listed
	}
	w.setByName(f, may...)
}

// setByName sets a variable to what is not known, and may be one of some texts.
func (w *commands) setByName(f field, may ...string) {
	if !f.Static || !texts.PlainName(f.Text) {
		w.unknown(unknown.Evaluated, f.Text)
		return
	}
	w.set(f.Text, w.someOf(may))
}

// oneWord looks at the word in front, which is passed over: where it is several or
// none, words that bash evaluates stand elsewhere.
func (w *commands) oneWord(words []field) {
	if len(words) > 0 && words[0].MaySplit {
		w.unknown(unknown.Evaluated, words[0].Text)
	}
}

// reads reports words of read that put a whole line into one variable.
func (w *commands) reads(words []field) bool {
	n := len(words)
	whole := n == 1 || n == 2 && words[0].Text == "-r" || n == 4 && words[0].Text == "-r" && words[1].Text == "-d" && words[2].Text == ""
	return whole && words[n-1].Static && texts.PlainName(words[n-1].Text)
}

// attached returns the rest of an option's word after its letter, if there is one.
func attached(f field, at int) []field {
	if at >= len(f.Text) {
		return nil
	}
	return []field{knowledge.Literal(f.Text[at:])}
}
