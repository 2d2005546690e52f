package bash

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/knowledge"
	"cardea.dev/internal/paths"
)

// backtracks reports a path that leaves a folder by "..", which must be there.
func backtracks(name string) bool {
	below := false
	for element := range strings.SplitSeq(name, "/") {
		if element == ".." && below {
			return true
		}
		below = below || element != "" && element != "." && element != ".."
	}
	return false
}

// topLevel reports a substitution of the top folder of the repository.
func (w *walker) topLevel(text string) bool {
	inner, begins := strings.CutPrefix(text, "$(")
	inner, ends := strings.CutSuffix(inner, ")")
	program, words, _ := strings.Cut(inner, " ")
	return begins && ends && knowledge.PrintsTopLevel(program, strings.Split(words, " ")) && w.isPlainCommand(program)
}

// cd changes the folder of the rest of the line.
func (w *walker) cd(inv invocation) {
	words := inv.argv[1:]
	if len(words) > 0 && words[0].Static && (words[0].Text == "--" || words[0].Text == "-L") {
		words = words[1:]
	}
	name, ok := "", false
	switch {
	case inv.argv[0].Text == "popd", len(words) > 1:
	case len(words) == 0:
		home := w.lookup("HOME")
		name, ok = home.text, home.kind == known
	case words[0].Static && !strings.HasPrefix(words[0].Text, "-") && !strings.HasPrefix(words[0].Text, "+"):
		name, ok = words[0].Text, words[0].Text != ""
	case !words[0].Static && w.env.TopLevel != nil && w.topLevel(strings.Trim(words[0].Text, `"`)):
		// What agents write most of all lines with a substitution.
		name = w.env.TopLevel(w.cur.cwd)
		ok = name != ""
	}
	if w.env.Exported != nil && w.env.Exported("CDPATH") && !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, ".") {
		ok = false
	}
	if !ok {
		name = ""
	}
	a := w.paths().Enter(cardea.Read, name)
	dir := a.Path
	w.cur.vars["OLDPWD"] = value{kind: dynamic}
	w.cur.setCwd(dir)
	if strings.HasPrefix(name, "//") || a.Spelled != "" {
		// $PWD keeps two slashes, and the names of links.
		w.cur.vars["PWD"] = value{kind: dynamic}
	}
	w.cur.cdMayFail = dir != "" && (w.files.changed || backtracks(name) || w.env.IsDir == nil || !w.env.IsDir(dir))
	home := dir != "" && paths.WithinAny(w.env.Roots, dir)
	if !home {
		inv.access = append(slices.Clone(inv.access), a)
	}
	w.emitBuiltin(inv, home && len(inv.access) == 0)
}
