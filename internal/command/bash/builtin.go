package bash

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/bash/shell"
	"cardea.dev/internal/command/bash/texts"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

// noEffect handles a builtin without access.
func (w *commands) noEffect(inv invocation) {
	switch name := inv.argv[0].Text; name {
	case "jobs", "wait":
		letter := map[string]string{"jobs": "x", "wait": "p"}[name]
		for _, f := range inv.argv[1:] {
			if f.MayBeOption || strings.HasPrefix(f.Text, "-") && strings.Contains(f.Text, letter) {
				w.unknown(unknown.OptionRuns, f.Text)
			}
			if name == "wait" {
				w.evaluates(f.Text)
			}
		}
	case "return", "break", "continue":
		w.recordExit()
	}
	if slices.Contains([]string{"return", "break", "continue", "exit"}, inv.argv[0].Text) {
		w.tooMany(inv)
	}
	w.emitBuiltin(inv, len(inv.access) == 0)
	if knowledge.Has(form.FindsPrograms, inv.argv[0].Text) && !w.used.overLimit {
		w.notePrinted(inv.argv)
	}
}

// tooMany records that bash abandons the line if a builtin has more than one number.
func (w *commands) tooMany(inv invocation) {
	if len(inv.argv) > 2 || len(inv.argv) == 2 && !texts.Decimal(inv.argv[1].Text) {
		w.mayAbort()
	}
}

// testBuiltin handles test and [, which evaluate a subscript after -v and -R. An unknown
// word may be such an operator, unless an operand with a known name follows. A word that
// may become several words may be both.
func (w *commands) testBuiltin(inv invocation) {
	words := inv.argv[1:]
	for i, f := range words {
		if f.MaySplit && !f.MayVanish && !namesFiles(f) {
			w.unknown(unknown.Evaluated, f.Text)
			continue
		}
		if i+1 == len(words) {
			break
		}
		next := words[i+1]
		if f.Static && f.Text != "-v" && f.Text != "-R" || next.Static && harmlessOperand(next.Text) {
			continue
		}
		if !f.Static && !next.Static && i > 0 && takesOperand(words[i-1]) {
			continue // [ -n "$a" "$b" ] is an error
		}
		w.unknown(unknown.Evaluated, next.Text)
	}
	w.noEffect(inv)
}

// namesFiles reports whether f is a pattern for file names that cannot match -v or -R.
func namesFiles(f field) bool {
	if !f.Glob || f.Pattern != f.Text || strings.ContainsAny(f.Text, "[(") {
		return false
	}
	pattern := strings.ToLower(f.Text) // names may be matched ignoring case
	return !texts.Wildcard(pattern, "-v") && !texts.Wildcard(pattern, "-r")
}

// harmlessOperand reports whether s is an operator, plain name or number, so that
// nothing is evaluated if it is the name of a variable.
func harmlessOperand(s string) bool {
	return !strings.Contains(s, "[") || s == "["
}

// takesOperand reports whether f is an operator that an operand follows. After -a and
// -o, which connect, another operator may follow.
func takesOperand(f field) bool {
	return f.Static && strings.HasPrefix(f.Text, "-") && f.Text != "-a" && f.Text != "-o"
}

// setter handles builtins that set variables by name. A name with a subscript is evaluated.
func (w *commands) setter(inv invocation) {
	name := inv.argv[0].Text
	words := inv.argv[1:]
	null := name != "printf" && len(inv.access) == 0
	switch name {
	case "let":
		for _, f := range words {
			if f.Static {
				w.arithText(f.Text, f.Text)
			} else {
				w.unknown(unknown.Evaluated, f.Text)
			}
		}
	case "printf":
		words = withoutDashes(words)
		if len(words) > 0 && words[0].Text == "-v" && words[0].Static {
			if len(words) > 1 {
				w.setByName(words[1], w.about(name, words[2:]))
			}
			null = len(inv.access) == 0
		} else if len(words) > 1 && (!words[0].Static || texts.CountsOutput(words[0].Text)) {
			w.unknown(unknown.FormatSets, words[0].Text)
		} else if len(words) > 0 && !words[0].Static && words[0].MayBeOption {
			w.unknown(unknown.OptionNames, words[0].Text)
		} else if len(words) > 0 && strings.HasPrefix(words[0].Text, "-v") && len(words[0].Text) > 2 {
			w.setByName(field{Word: cardea.Word{Text: words[0].Text[2:], Static: words[0].Static}}, w.about(name, words[1:]))
		}
	case "unset":
		w.unset(words)
	case "getopts":
		words = withoutDashes(words)
		if w.oneWord(words); len(words) > 1 {
			w.cur.Vars.Set("OPTARG", w.someOf(w.options(words[2:])))
			w.setByName(words[1])
		}
	default: // read, mapfile, readarray
		w.readNames(name, words, inv.assigns)
	}
	if name == "printf" && !null {
		w.emitProgram(inv)
		return
	}
	w.emitBuiltin(inv, null)
}

// unset removes variables or functions. Without an option it removes whichever exists.
// An unknown option removes nothing.
func (w *commands) unset(words []field) {
	variables := true
	for _, f := range words {
		switch {
		case f.Static && strings.HasPrefix(f.Text, "-"):
			w.cur.UnsetsFuncs = w.cur.UnsetsFuncs || f.Text != "-v"
			variables = variables && (f.Text == "-v" || f.Text == "--")
			if strings.Contains(f.Text, "n") {
				w.unknown(unknown.NameReference, f.Text)
			}
		case !f.Static || !texts.PlainName(f.Text):
			w.unknown(unknown.Evaluated, f.Text)
		case !variables || w.cur.Locals != nil || w.cur.IsFixed(f.Text): // in a function, a hidden variable may show
			w.set(f.Text, shell.Join(w.cur.Vars.Get(f.Text), shell.Removed))
		default:
			w.set(f.Text, shell.Removed)
		}
		w.cur.UnsetsFuncs = w.cur.UnsetsFuncs || w.cur.Funcs[f.Text] != nil
		if f.Static && shell.Counter(f.Text) {
			w.cur.Attributes[f.Text] |= grammar.Unusual // from here on it is a normal variable
		}
	}
	if w.cur.Locals != nil || w.cur.UnsetsFuncs && len(w.cur.Funcs) > 0 {
		w.unknown(unknown.RemovesFunction, "unset")
	}
}

// withoutDashes returns words without a leading "--".
func withoutDashes(words []field) []field {
	if len(words) > 0 && words[0].Static && words[0].Text == "--" {
		return words[1:]
	}
	return words
}
