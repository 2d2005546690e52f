package bash

import (
	"slices"
	"strings"

	"cardea.dev/internal/command/bash/unknown"
)

// setBuiltin handles set and shift.
func (w *commands) setBuiltin(inv invocation) {
	words := inv.argv[1:]
	if inv.argv[0].Text == "shift" {
		w.tooMany(inv)
		if w.cur.ParamsKnown = w.cur.ParamsKnown && len(words) == 0 && len(w.cur.Params) > 0; w.cur.ParamsKnown {
			w.cur.Params = w.cur.Params[1:]
		}
		w.noEffect(inv)
		return
	}
	w.setOptions(words)
	// Without words it prints all variables, including those of the environment.
	w.emitBuiltin(inv, len(words) > 0 && len(inv.access) == 0)
}

// setOptions reads the words of set. The option -o takes a name from the next word even
// inside a cluster.
func (w *commands) setOptions(words []field) {
	for i := 0; i < len(words); i++ {
		f := words[i]
		switch {
		case !f.Static:
			w.setParams(words[i:])
			if f.MayBeOption {
				w.unknown(unknown.ShellOptionOutside, f.Text)
			}
			return
		case f.Text == "--":
			w.setParams(words[i+1:])
			return
		case f.Text == "-" && i+1 == len(words), f.Text == "+":
			continue // it does not change the parameters
		case !strings.HasPrefix(f.Text, "-") && !strings.HasPrefix(f.Text, "+") || f.Text == "-":
			if f.Text == "-" {
				i++
			}
			w.setParams(words[i:])
			return
		}
		for _, c := range f.Text[1:] {
			w.cur.Traced = w.cur.Traced || c == 'x' || c == 'v'
			switch {
			case c == 'a':
				w.cur.ExportsAll = w.cur.ExportsAll || f.Text[0] == '-'
				w.cur.ExportsFuncs = true
			case c == 'o' && i+1 < len(words):
				i++
				w.cur.Traced = w.cur.Traced || words[i].Text == "xtrace" || words[i].Text == "verbose"
				if !words[i].Static || !harmlessSetOption(words[i].Text) {
					w.unknown(unknown.ShellOption, words[i].Text)
				}
			case !strings.ContainsRune("euxfvhCEobm", c):
				w.unknown(unknown.ShellOption, f.Text)
			}
		}
	}
}

func harmlessSetOption(name string) bool {
	return slices.Contains([]string{"pipefail", "errexit", "nounset", "xtrace", "verbose", "errtrace", "functrace", "noclobber", "hashall", "monitor", "notify", "ignoreeof", "nolog", "vi", "emacs"}, name)
}

func (w *commands) setParams(words []field) {
	w.cur.Params, w.cur.ParamsKnown = nil, w.cur.Forgotten.None()
	for _, f := range words {
		w.cur.ParamsKnown = w.cur.ParamsKnown && f.Static
		w.cur.Params = append(w.cur.Params, w.mayHold(f)...)
	}
}

// shopt handles shopt, which is harmless for options that do not change how commands are read.
func (w *commands) shopt(inv invocation) {
	for _, f := range inv.argv[1:] {
		switch {
		case !f.Static:
			w.unknown(unknown.ShellOptionOutside, f.Text)
		case strings.HasPrefix(f.Text, "-"):
		case f.Text == "nocasematch":
			w.cur.IgnoresCase = true
		case slices.Contains([]string{"globstar", "inherit_errexit", "lastpipe", "expand_aliases", "checkwinsize", "globasciiranges", "histappend", "cmdhist"}, f.Text):
		default:
			w.unknown(unknown.ShellOption, f.Text)
		}
	}
	w.noEffect(inv)
}
