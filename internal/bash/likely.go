package bash

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/knowledge"
	"cardea.dev/internal/knowledge/form"
	"cardea.dev/internal/paths"
)

// This file is about what a word may become that is not known for certain, where the
// line itself holds the text: what a variable holds on one of several ways, what read
// takes from a here-string, what stands behind ${x:-. Such texts count for what a part
// may touch and run, and never for what it does for certain.

// maxLikely is how many texts a word may become.
const maxLikely = 1024

// bounded bounds a list of texts, each once. Where they are too many, those that could
// name no hidden file and no command go first.
func (w *walker) bounded(list []string) []string {
	if len(list) < 2 && (len(list) == 0 || len(list[0]) <= maxJoined/16) {
		return list
	}
	var out []string
	seen := map[string]bool{}
	for _, s := range list {
		if seen[s] || len(s) > maxJoined/16 {
			continue
		}
		seen[s] = true
		out = append(out, s)
	}
	if len(out) > maxLikely {
		out = slices.DeleteFunc(out, func(s string) bool { return !strings.ContainsAny(s, "/.~ ") })
		if len(out) > maxLikely {
			w.limit(cardea.OpaqueTooMany, "its words may become too much")
			out = out[:maxLikely]
		}
	}
	w.used.words += len(out)
	return out
}

// joined are the texts that one of several and one of others make together. Nothing
// behind them leaves them as they are.
func (w *walker) joined(begin, more []string) []string {
	switch {
	case len(more) == 0:
		return begin
	case len(more) == 1 && len(begin) == 1:
		return []string{begin[0] + more[0]}
	case len(begin)*len(more) > 4*maxLikely:
		more = more[:1] // one of them stands for all: none is what an honest line says
	}
	return w.bounded(paths.Joined(begin, more))
}

// texts are what a value may be.
func (v value) texts() []string {
	switch v.kind {
	case known:
		return []string{v.text}
	case array:
		return append(v.list[:len(v.list):len(v.list)], strings.Join(v.list, " "))
	}
	return v.may
}

// mayBe are the texts that a variable may hold, or one that it is a name for.
func (w *walker) mayBe(name string) []string {
	if name == "" {
		return nil
	}
	switch {
	case name == "@", name == "*":
		return append(w.cur.params[:len(w.cur.params):len(w.cur.params)], strings.Join(w.cur.params, " "))
	case name[0] >= '1' && name[0] <= '9':
		return w.cur.params
	}
	v := w.cur.vars.get(name)
	out := v.texts()
	if place := knowledge.UsualPlace(w.env.Home, name); v.kind == outside && place != "" {
		return []string{place}
	}
	if w.shell.traits[name]&odd == 0 {
		return out
	}
	for _, other := range out { // declare -l, declare -u, declare -n
		out = append(out[:len(out):len(out)], strings.ToLower(other), strings.ToUpper(other))
		if plainName(other) && other != name {
			out = append(out, w.cur.vars.get(other).texts()...)
		}
	}
	return w.bounded(out)
}

// mayJoin are the texts that fragments may make together, nil where the line holds none.
// What is not known at all leaves out its own place.
func (w *walker) mayJoin(frags []frag) []string {
	if !slices.ContainsFunc(frags, func(f frag) bool { return len(f.may) > 0 }) {
		return nil
	}
	out := []string{""}
	for _, f := range frags {
		switch {
		case f.breaks:
			out = w.joined(out, []string{" "})
		case f.dynamic:
			out = w.joined(out, f.may)
		default:
			out = w.joined(out, []string{f.text})
		}
	}
	return out
}

// mayHold are the texts that a word is or may become. Of one that begins with something
// that is not known and ends in a path, they are that path.
func (w *walker) mayHold(f field) []string {
	switch {
	case f.Static:
		return []string{f.Text}
	case len(f.May) > 0 && !f.MayLose:
		return f.May
	case f.Glob:
		return []string{f.Text}
	}
	text := strings.Trim(f.Text, `"`)
	i := strings.LastIndexAny(text, "$)}`")
	if i < 0 {
		return nil
	}
	rest := text[i+1:]
	if text[i] == '$' {
		rest = strings.TrimLeft(rest, delimiterBytes)
	}
	if rest = strings.TrimPrefix(rest, `"`); strings.HasPrefix(rest, "/") && rest != "/" {
		return append(f.May[:len(f.May):len(f.May)], rest[1:])
	}
	return f.May
}

// someOf is a value that is one of some texts, as far as the line tells.
func (w *walker) someOf(texts []string) value { return value{kind: dynamic, may: w.bounded(texts)} }

// likelyPaths are the paths that a word may become.
func (w *walker) likelyPaths(f field) []knowledge.PossiblePath {
	var out []knowledge.PossiblePath
	for _, guess := range w.paths().Guesses(f.Pattern) {
		out = append(out, knowledge.PossiblePath{Path: guess})
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

// namedPaths are the paths that words name.
func (w *walker) namedPaths(words []string) []knowledge.PossiblePath {
	var out []knowledge.PossiblePath
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
			p := knowledge.PossiblePath{Path: knowledge.Absolute(dir, name)}
			if p.Path == "" {
				continue
			}
			if hasGlob(name) {
				p.Pattern, p.Path = p.Path, folderOf(p.Path)
				p.Entries = allEntries(p.Pattern[len(p.Path):])
			}
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// allEntries reports a pattern that fits all names, or all hidden ones: *, .*, .[!.]*.
func allEntries(pattern string) bool {
	pattern = strings.TrimPrefix(pattern, ".")
	if rest, ok := strings.CutPrefix(pattern, "["); ok {
		_, pattern, _ = strings.Cut(rest, "]")
	}
	return strings.Contains(pattern, "*") && strings.Trim(pattern, "*?") == ""
}

// mayLater notes what a later round of a loop may find in a variable.
func (w *walker) mayLater(a *syntax.Assign) {
	if a.Value == nil {
		return
	}
	if text, ok := literalWord(a.Value); ok && text != "" {
		v := w.cur.vars.get(a.Name.Value)
		v.may = w.bounded(append(v.may[:len(v.may):len(v.may)], text))
		w.cur.vars.set(a.Name.Value, v)
	}
}

// folderOf is the folder in front of the last slash.
func folderOf(name string) string { return name[:strings.LastIndexByte(name, '/')+1] }

// likelyToo are fragments of which those that are certain may be a part of a word, too.
func likelyToo(frags []frag) []frag {
	out := slices.Clone(frags)
	for i, f := range out {
		if !f.dynamic && !f.breaks {
			out[i].dynamic, out[i].may = true, []string{f.text}
		}
	}
	return out
}

// substituted walks a command substitution, and gives the texts that it may print: the
// whole of it and each line.
func (w *walker) substituted(p *syntax.CmdSubst) []string {
	begin := len(w.out.Parts)
	w.substitution(p.Stmts, substVia(p))
	text, names := strings.TrimRight(w.printedFrom(begin), "\n"), w.namesFrom(begin)
	if text == "" && len(names) == 0 && w.printsNothing(begin) {
		return []string{""}
	}
	if text == "" {
		return w.bounded(names)
	}
	return w.bounded(append(append(names, text), strings.Split(text, "\n")...))
}

// printsNothing reports whether the parts from one on print nothing: $(true), $(echo).
func (w *walker) printsNothing(from int) bool {
	return from < len(w.out.Parts) && !slices.ContainsFunc(w.out.Parts[from:], func(p cardea.Part) bool {
		return len(p.Opaque) > 0 || !p.NoEffect && !knowledge.Has(form.EndsTheSame, p.Program())
	})
}

// inputWords are the words and lines that stand in what a command reads, as far as the
// line says it.
func (w *walker) inputWords() []string {
	text := w.input()
	if strings.TrimSpace(text) == "" {
		return w.cmd.stdin.names
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' })
	return w.bounded(slices.Concat(words, strings.Split(text, "\n"), w.cmd.stdin.names))
}

// taken is what read and its kin take from their input: for each line its fields.
type taken struct {
	lines [][]string
	names int // how many are left that take one
	at    int
}

// options are what getopts may put into OPTARG.
func (w *walker) options(words []field) []string {
	out := w.cur.params
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

// takes reads the input of read, mapfile and readarray.
func (w *walker) takes(builtin string, words []field, assigns []cardea.Assign) *taken {
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
		case f.Static && plainName(f.Text):
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
	w.cur.vars.set("REPLY", v)
	w.cur.vars.set("MAPFILE", v)
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

// afterName are the values of texts that assign one.
func afterName(texts []string) []string {
	var out []string
	for _, text := range texts {
		_, value, _ := strings.Cut(text, "=")
		out = append(out, value)
	}
	return out
}

// foundNames are patterns of what the last search finds.
func (w *walker) foundNames() []string {
	for i := len(w.out.Parts) - 1; i >= max(0, len(w.out.Parts)-MaxScan); i-- {
		if p := &w.out.Parts[i]; knowledge.StartsOnFound(p.Program()) {
			return w.bounded(knowledge.Names(p, &w.env.World))
		}
	}
	return nil
}

// printsNumber reports a substitution that gives digits, or nothing: by its last command.
func (w *walker) printsNumber(p *syntax.CmdSubst) bool {
	if len(p.Stmts) != 1 {
		return false
	}
	last := p.Stmts[0]
	for {
		pipe, is := last.Cmd.(*syntax.BinaryCmd)
		if !is || pipe.Op != syntax.Pipe || len(last.Redirs) > 0 {
			break
		}
		last = pipe.Y
	}
	c, ok := last.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 || len(c.Args) == 0 || len(c.Args) > 2 || last.Background || last.Negated ||
		slices.ContainsFunc(last.Redirs, func(r *syntax.Redirect) bool { return r.Op != syntax.RdrIn || r.N != nil }) {
		return false
	}
	name := c.Args[0].Lit()
	words, prints := knowledge.WordsOf(form.PrintsNumber, name)
	if prints = prints && len(words) == 0; len(c.Args) == 2 {
		prints = slices.Contains(words, c.Args[1].Lit())
	}
	return prints && w.isPlainCommand(name)
}
