package bash

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/bash/shell"
	"cardea.dev/internal/command/knowledge"
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

// cd changes the folder of the rest of the line.
func (w *commands) cd(inv invocation) {
	builtin := inv.argv[0].Text
	words, sure, physical := cdOptions(builtin, inv.argv[1:])
	name, ok := w.destination(builtin, words)
	if w.env.Exported != nil && w.env.Exported("CDPATH") && !strings.HasPrefix(name, "/") && name != "." && name != ".." && !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "../../") {
		ok = false
	}
	if pwd := w.lookup("PWD"); !ok || !sure || strings.Contains(name, "..") && (physical || !pwd.Known() || pwd.Text != w.cur.Folder) {
		name = "" // bash goes back along the names of links
	}
	w.mayEnter(name, words)
	w.enter(inv, name)
}

// dirs shows the folders that popd leads to, or takes them away.
func (w *commands) dirs(inv invocation) {
	for _, f := range inv.argv[1:] {
		if !f.Static || !strings.HasPrefix(f.Text, "-") || strings.Trim(f.Text[1:], "lpv") != "" {
			w.cur.Pushed = nil
		}
	}
	w.emitProgram(inv)
}

// cdOptions reads the options of cd and its kin: what is left, whether every shell
// understands them, and whether links are followed first.
func cdOptions(builtin string, words []field) (rest []field, sure, physical bool) {
	sure = true
	for len(words) > 0 && words[0].Static && len(words[0].Text) > 1 && words[0].Text[0] == '-' {
		letters := words[0].Text[1:]
		words = words[1:]
		if letters == "-" {
			break
		}
		// Not every shell has -e and -@, and pushd has -n alone.
		sure = sure && builtin == "cd" && strings.Trim(letters, "LP") == ""
		physical = strings.Contains(letters, "P")
	}
	return words, sure, physical
}

// destination is the folder that cd or one of its kin names, and whether it is known.
func (w *commands) destination(builtin string, words []field) (name string, ok bool) {
	switch {
	case builtin == "popd":
		if n := len(w.cur.Pushed); n > 0 && len(words) == 0 {
			name, ok = w.cur.Pushed[n-1], true
			w.cur.Pushed = w.cur.Pushed[:n-1]
		}
	case len(words) > 1:
	case len(words) == 0 && builtin == "cd":
		home := w.lookup("HOME")
		name, ok = home.Text, home.Known()
	case len(words) == 0:
	case words[0].Static && words[0].Text == "-" && builtin == "cd":
		old := w.lookup("OLDPWD")
		name, ok = old.Text, old.Known()
	case words[0].Static && !strings.HasPrefix(words[0].Text, "-") && !strings.HasPrefix(words[0].Text, "+"):
		name, ok = words[0].Text, words[0].Text != ""
	case !words[0].Static && w.env.TopLevel != nil && w.topLevel(strings.Trim(words[0].Text, `"`)):
		// What agents write most of all lines with a substitution.
		name = w.env.TopLevel(w.cur.Folder)
		ok = name != ""
	}
	return name, ok
}

// enter changes the folder; a name that is empty is not known.
func (w *commands) enter(inv invocation, name string) {
	a := w.paths().Enter(cardea.Read, name)
	dir := a.Path
	old := w.lookup("PWD")
	builtin := inv.argv[0].Text
	if builtin == "pushd" && w.cur.Folder != "" && dir != "" && old.Known() && old.Text == w.cur.Folder {
		w.cur.Pushed = append(slices.Clip(w.cur.Pushed), w.cur.Folder)
	} else if builtin == "pushd" {
		w.cur.Pushed = nil
	}
	w.cur.Enter(dir)
	if strings.HasPrefix(name, "//") || a.Spelled != "" {
		// $PWD keeps two slashes, and the names of links.
		w.cur.Vars.Set("PWD", shell.Any)
	}
	w.cur.FolderMayFail = dir != "" && (w.files.changed || backtracks(name) || w.env.IsDir == nil || !w.env.IsDir(dir))
	if w.cur.FolderMayFail || dir == "" || !old.Known() {
		old = shell.Any
	}
	w.cur.Vars.Set("OLDPWD", old)
	home := dir != "" && paths.WithinAny(w.env.Roots, dir)
	if !home {
		inv.access = append(slices.Clone(inv.access), a)
	}
	w.emitBuiltin(inv, home && len(inv.access) == 0)
}

// maxEntered bounds how many folders are noted that a shell may be in.
const maxEntered = 8

// mayEnter notes the folders that a cd leads to, if it succeeds: what its words name,
// seen from each folder that the shell may be in.
func (w *commands) mayEnter(name string, words []field) {
	names := []string{name}
	if name == "" {
		names = nil
		for _, f := range words {
			names = append(names, w.mayHold(f)...)
		}
		if n := len(w.files.visited); n > 0 && (len(words) == 0 || words[0].Static && strings.HasPrefix(words[0].Text+"+", "+") || words[0].Text == "-") {
			names = w.files.visited[1:] // popd, pushd +1, cd - to a folder that is not known
		}
	}
	bases := w.files.visited
	if w.cur.Folder != "" {
		bases = []string{w.cur.Folder}
	}
	w.files.entered = nil
	for _, n := range names {
		for _, base := range bases {
			if at := knowledge.Absolute(base, n); at != "" && !slices.Contains(w.files.entered, at) && len(w.files.entered) < maxEntered {
				w.files.entered = append(w.files.entered, at)
			}
		}
	}
	for _, at := range slices.Concat(bases, w.files.entered) {
		if !slices.Contains(w.files.visited, at) && len(w.files.visited) < 2*maxEntered {
			w.files.visited = append(w.files.visited, at)
		}
	}
}
