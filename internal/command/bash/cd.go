package bash

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/bash/shell"
	"cardea.dev/internal/command/knowledge"
)

// backtracks reports whether a path leaves a folder by "..", so that the folder must exist.
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
	if w.env.Exported != nil && w.env.Exported("CDPATH") && !strings.HasPrefix(name, "/") && name != "." && name != ".." && !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "../") {
		ok = false
	}
	if pwd := w.lookup("PWD"); !ok || !sure || strings.Contains(name, "..") && (physical || !pwd.Known() || pwd.Text != w.cur.Folder) {
		name = "" // bash follows the names of links back
	}
	w.mayEnter(name, words)
	w.enter(inv, name)
}

// dirs handles dirs, which shows or removes the folders of popd.
func (w *commands) dirs(inv invocation) {
	for _, f := range inv.argv[1:] {
		if !f.Static || !strings.HasPrefix(f.Text, "-") || strings.Trim(f.Text[1:], "lpv") != "" {
			w.cur.Pushed = nil
		}
	}
	w.emitProgram(inv)
}

// cdOptions reads the options of cd, pushd and popd. It returns the other words, whether
// every shell understands the options, and whether links are followed first.
func cdOptions(builtin string, words []field) (rest []field, sure, physical bool) {
	sure = true
	for len(words) > 0 && words[0].Static && len(words[0].Text) > 1 && words[0].Text[0] == '-' {
		letters := words[0].Text[1:]
		words = words[1:]
		if letters == "-" {
			break
		}
		// Not every shell has -e and -@, and pushd has only -n.
		sure = sure && builtin == "cd" && strings.Trim(letters, "LP") == ""
		physical = strings.Contains(letters, "P")
	}
	return words, sure, physical
}

// destination returns the folder that cd, pushd or popd names, and whether it is known.
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
		// The most frequent substitution in lines of agents.
		name = w.env.TopLevel(w.cur.Folder)
		ok = name != ""
	}
	return name, ok
}

// enter changes the folder. An empty name is unknown.
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

// maxEntered is the number of folders that are kept as possible folders of a shell.
const maxEntered = 8

// mayEnter records the folders to which a cd leads if it succeeds: the names in its
// words, relative to each possible folder of the shell.
func (w *commands) mayEnter(name string, words []field) {
	names := []string{name}
	if name == "" {
		names = nil
		for _, f := range words {
			names = append(names, w.mayHold(f)...)
		}
		if n := len(w.files.visited); n > 0 && (len(words) == 0 || words[0].Static && strings.HasPrefix(words[0].Text+"+", "+") || words[0].Text == "-") {
			names = w.files.visited[1:] // popd, pushd +1, cd - to an unknown folder
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
