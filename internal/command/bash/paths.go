package bash

import (
	"regexp"
	"slices"
	"strings"

	"cardea.dev/internal/command/bash/texts"
	"cardea.dev/internal/command/knowledge"
)

// paths returns how paths are resolved at this point of the line.
func (w *line) paths() knowledge.Paths {
	p := knowledge.Paths{Dir: w.cur.Folder, Resolve: w.env.Resolve, Hidden: w.cur.FindsHiddenNames, AnyCase: w.cur.IgnoresCase}
	if home := w.cur.Vars.Get("HOME"); home.Known() {
		p.Home = home.Text
	}
	if p.Dir == "" {
		p.Likely = w.files.entered
	}
	return p
}

// likelyPaths returns the paths that a word may become.
func (w *line) likelyPaths(f field) []knowledge.PotentialPath {
	var out []knowledge.PotentialPath
	for _, guess := range w.paths().Guesses(f.Pattern) {
		out = append(out, knowledge.PotentialPath{Path: guess})
	}
	for _, text := range f.May {
		words := []string{text}
		if f.MaySplit {
			words = strings.Fields(text)
		}
		out = append(out, w.namedPaths(words)...)
	}
	return out
}

// namedPaths returns the paths that words name.
func (w *line) namedPaths(words []string) []knowledge.PotentialPath {
	var out []knowledge.PotentialPath
	at := w.paths()
	dirs := at.Likely
	if at.Dir != "" {
		dirs = []string{at.Dir}
	}
	for _, name := range words {
		name = strings.Trim(name, `"'`)
		if name == "" || strings.HasPrefix(name, "-") {
			continue
		}
		for _, dir := range append(dirs[:len(dirs):len(dirs)], "") {
			p := knowledge.PotentialPath{Path: knowledge.Absolute(dir, name)}
			if p.Path == "" {
				continue
			}
			if texts.HasGlob(name) {
				p.Pattern, p.Path = p.Path, folderOf(p.Path)
				p.Entries = allEntries.MatchString(p.Pattern[len(p.Path):])
			}
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// allEntries matches a pattern for all names, or all hidden ones: *, .*, .[!.]*.
var allEntries = regexp.MustCompile(`^\.?(\[[^\]]*\])?\?*\*[*?]*$`)

// folderOf returns name up to its last slash.
func folderOf(name string) string { return name[:strings.LastIndexByte(name, '/')+1] }

// lyingThere returns the pattern of a word that begins with a folder: it is some file in
// that folder. It returns nil for any other word.
func (w *line) lyingThere(word field) []knowledge.PotentialPath {
	if word.Glob || len(word.May) > 0 || !strings.Contains(word.Head, "/") {
		return nil
	}
	at := knowledge.Absolute(w.cur.Folder, folderOf(word.Head))
	if at == "" {
		return nil
	}
	return []knowledge.PotentialPath{{Path: at, Pattern: at + "/" + strings.TrimPrefix(word.Head, folderOf(word.Head)) + "*"}}
}

// mayBecome returns the paths that a word of a command may become.
func (w *line) mayBecome(word field, wrappers []string) []knowledge.PotentialPath {
	var out []knowledge.PotentialPath
	add := func(list []knowledge.PotentialPath) { out = append(out, list[:min(len(list), MaxScan)]...) }
	if slices.ContainsFunc(wrappers, knowledge.StartsOnFound) {
		add(w.mayPrint(w.lastSearch()))
	}
	if slices.ContainsFunc(wrappers, knowledge.StartsOnInput) {
		add(w.fromInput())
	}
	if substitutionAlone(word.Text) {
		for _, from := range w.cmd.pending {
			if !from.variable && from.at[0] < from.at[1] {
				add(w.mayPrint(w.maker(from.at)))
			}
		}
	}
	for _, from := range w.out.Origins(word.Text, len(w.out.Parts)) {
		add(w.mayPrint(w.maker(from)))
	}
	if slices.Contains(w.via, "while") && w.cmd.stdin.kind == piped && variableAlone(word.Text) != "" {
		add(w.fromInput())
	}
	out = append(out, w.likelyPaths(word)...)
	return append(out, w.lyingThere(word)...)
}

// mayPrint returns the paths that a part may print.
func (w *line) mayPrint(part int) []knowledge.PotentialPath {
	if part < 0 {
		return nil
	}
	return knowledge.MayPrint(&w.out.Parts[part], &w.env.System)
}

// fromInput returns the paths that xargs may read from its standard input.
func (w *line) fromInput() []knowledge.PotentialPath {
	if w.cmd.stdin.kind != piped {
		return nil
	}
	return w.mayPrint(w.maker(w.cmd.stdin.from))
}

// maker returns the index of the part whose output leaves a range. It skips programs
// that pass on their input.
func (w *line) maker(from [2]int) int {
	for i := min(from[1], len(w.out.Parts)) - 1; i >= from[0]; i-- {
		if !knowledge.PassesOn(&w.out.Parts[i]) {
			return i
		}
	}
	return -1
}

// substitutionAlone reports whether a word is one command substitution with only slashes
// and dots around it.
func substitutionAlone(text string) bool {
	text = strings.Trim(text, `"/.`)
	return strings.HasPrefix(text, "$(") && strings.HasSuffix(text, ")") || len(text) > 1 && text[0] == '`' && text[len(text)-1] == '`'
}
