package bash

import (
	"cmp"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/bash/shell"
	"cardea.dev/internal/command/bash/texts"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
)

// takes returns the fields and lines that read, mapfile and readarray may read from
// their input.
func (w *commands) takes(builtin string, words []field, assigns []cardea.Assign) []string {
	text, out := w.input(), w.cmd.stdin.names
	if strings.TrimSpace(text) == "" {
		return out
	}
	split, raw, ends := " \t\n", builtin != "read", []string{"\n"}
	if ifs, ok := w.ifs(); ok {
		split = ifs
	}
	for _, a := range assigns {
		if a.Name == "IFS" && a.Static {
			split = a.Value
		}
	}
	if builtin != "read" {
		split = ""
	}
	for i, f := range words {
		if f.Static && strings.HasPrefix(f.Text, "-") {
			raw = raw || strings.Contains(f.Text, "r")
			_, end, delimited := strings.Cut(f.Text, "d")
			if delimited && end == "" && i+1 < len(words) && words[i+1].Static {
				end = words[i+1].Text
			}
			if ends = append(ends, end[:min(1, len(end))]); !delimited {
				ends = ends[:1]
			}
		}
	}
	var lines []string
	for _, end := range ends {
		lines = append(lines, strings.SplitN(text, cmp.Or(end, "\x00"), maxLikely)...)
	}
	begin := len(out)
	for _, line := range lines {
		if !raw {
			line = strings.ReplaceAll(line, `\`, "")
		}
		fields := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(split, r) })
		if line = strings.Trim(line, split+"\n"); line != "" {
			out = append(append(out, fields...), line)
		}
	}
	if len(lines) > 1 { // as the words of one command
		out = append(out, strings.Join(out[begin:], " "))
	}
	v := w.someOf(out) // the variable without a name
	w.cur.Vars.Set("REPLY", v)
	w.cur.Vars.Set("MAPFILE", v)
	return out
}

// options returns the values to which getopts may set OPTARG.
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

// inputWords returns the words and lines in the input of a command, as far as the line
// shows them.
func (w *commands) inputWords() []string {
	text := w.input()
	if strings.TrimSpace(text) == "" {
		return w.cmd.stdin.names
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' })
	return w.bounded(slices.Concat(words, strings.Split(text, "\n"), w.cmd.stdin.names))
}

// afterName returns the values of texts of the form NAME=value.
func afterName(texts []string) []string {
	var out []string
	for _, text := range texts {
		_, value, _ := strings.Cut(text, "=")
		out = append(out, value)
	}
	return out
}

// readNames handles the names that read, mapfile and readarray set.
func (w *commands) readNames(name string, words []field, assigns []cardea.Assign) {
	in, from := w.takes(name, words, assigns), w.inputFrom()
	withValue := map[string]string{"read": "adinNptu", "mapfile": "dnOsuCc", "readarray": "dnOsuCc"}[name]
	for i := 0; i < len(words); i++ {
		f := words[i]
		if f.Static && strings.HasPrefix(f.Text, "-") && len(f.Text) > 1 {
			at := strings.IndexAny(f.Text[1:], withValue) + 1
			rest := append(attached(f, 1+at), words[i+1:]...)
			switch {
			case at == 0:
				continue
			case f.Text[at] == 'C':
				w.unknown(unknown.MapfileRuns, f.Text)
			case f.Text[at] == 'a':
				w.setList(rest, in)
			case f.Text[at] == 'u' && len(rest) > 0:
				from = w.cur.Descriptors[descriptorName(rest[0].Text)]
			}
			if at == len(f.Text)-1 {
				i++
				w.oneWord(words[min(i, len(words)):])
			}
			continue
		}
		if name == "read" {
			w.setByName(f, in...)
		} else {
			w.setList(words[i:], in)
		}
		if from[0] < from[1] {
			w.cur.Origins[f.Text] = from
		}
	}
	if name == "read" && w.reads(words) && !slices.ContainsFunc(assigns, func(a cardea.Assign) bool { return !a.Static || a.Value != "" }) {
		if s := w.searchOnStdin(len(words) > 2); s != nil {
			v := w.cur.Vars.Get(words[len(words)-1].Text)
			w.set(words[len(words)-1].Text, shell.Value{Found: s, May: v.May, Presence: shell.Set})
		}
	}
}

// setList makes the array unknown that the first of words names. From here on the
// variable is an array.
func (w *commands) setList(words []field, may []string) {
	if len(words) == 0 {
		return
	}
	f := words[0]
	if f.Static && texts.PlainName(f.Text) {
		w.cur.Attributes[f.Text] |= grammar.Listed
	}
	w.setByName(f, may...)
}

// setByName makes a variable unknown. may are its possible texts.
func (w *commands) setByName(f field, may ...string) {
	if !f.Static || !texts.PlainName(f.Text) {
		w.unknown(unknown.Evaluated, f.Text)
		return
	}
	w.set(f.Text, w.someOf(may))
}

// oneWord checks a word that is skipped: if it may become several words or none, bash
// may evaluate other words.
func (w *commands) oneWord(words []field) {
	if len(words) > 0 && words[0].MaySplit {
		w.unknown(unknown.Evaluated, words[0].Text)
	}
}

// reads reports whether the words of read put a whole line into one variable.
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
