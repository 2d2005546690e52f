package bash

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/knowledge"
)

// searched returns the output of a range of parts that is one search, possibly with
// filters of lines after it. It returns nil if that is not certain.
func (w *line) searched(at [2]int) *knowledge.Search {
	if at[0] < 0 || at[1] > len(w.out.Parts) || at[0] >= at[1] {
		return nil
	}
	p := &w.out.Parts[at[1]-1]
	if p.Knowledge != cardea.Complete || len(p.Opaque) > 0 || p.Remote || slices.ContainsFunc(p.Via, inFunction) {
		return nil
	}
	if at[1]-at[0] == 1 {
		return knowledge.FindSearch(p, &w.env.System)
	}
	if !knowledge.Filters(p) {
		return nil
	}
	for i := len(w.out.Pipes) - 1; i >= max(0, len(w.out.Pipes)-MaxScan); i-- {
		x := w.out.Pipes[i]
		if x.Lines && x.From == [2]int{at[0], at[1] - 1} && x.To == [2]int{at[1] - 1, at[1]} {
			if s := w.searched(x.From); s != nil && !s.Null {
				return s
			}
			return nil
		}
	}
	return nil
}

// inFunction reports whether a step of Via hides how a function is called.
func inFunction(via string) bool { return strings.HasPrefix(via, "function") }

// searchOnStdin returns the search on standard input, if no name from there can become two
// words, an option or another name. null is set if each name ends with a NUL.
func (w *line) searchOnStdin(null bool) *knowledge.Search {
	if w.cmd.stdin.kind != piped || !w.cmd.stdin.lines {
		return nil
	}
	s := w.withPlainNames(w.searched(w.cmd.stdin.from))
	if s != nil && s.Tracked() && s.Null != null {
		return nil
	}
	return s
}

// withPlainNames returns s if all its names are plain, else nil.
func (w *line) withPlainNames(s *knowledge.Search) *knowledge.Search {
	if s == nil || s.One {
		return s
	}
	if !s.Plain(&w.env.System) {
		return nil
	}
	s.MayBeNothing, w.usesFoundNames = true, true
	return s
}

// foundBy returns the search that yields the value of a word: a variable, or a
// substitution whose parts are in a range. It returns nil for any other word.
func (w *line) foundBy(word *syntax.Word, at [2]int) *knowledge.Search {
	parts := word.Parts
	if len(parts) != 1 {
		return nil
	}
	if q, ok := parts[0].(*syntax.DblQuoted); ok && !q.Dollar && len(q.Parts) == 1 {
		parts = q.Parts
	}
	quoted := &word.Parts[0] != &parts[0]
	if !quoted && !w.splitsAtBlanks() {
		return nil
	}
	switch p := parts[0].(type) {
	case *syntax.ParamExp:
		if name := variableAlone(w.source(p)); name != "" {
			return w.lookup(name).Found
		}
	case *syntax.CmdSubst:
		if len(p.Stmts) != 1 {
			return nil
		}
		st := p.Stmts[0]
		if c, ok := st.Cmd.(*syntax.BinaryCmd); ok && c.Op == syntax.Pipe && len(st.Redirs) == 0 {
			st = c.Y
		}
		if !grammar.PrintsLines(st, syntax.Pipe) {
			return nil
		}
		if s := w.withPlainNames(w.searched(at)); s != nil && !s.Null && (s.One || !quoted) {
			return s
		}
	}
	return nil
}

// looped returns the file names that the variable of a loop over words holds, if each
// word is a literal name, a pattern or from a search. Otherwise it returns nil.
func (w *line) looped(words []field) *knowledge.Search {
	s := &knowledge.Search{Dir: w.cur.Folder}
	for _, f := range words {
		switch {
		case f.Found != nil && f.Found.Dir == s.Dir:
			s.Places = append(s.Places, f.Found.Places...)
		case f.PlainPattern() && (knowledge.PlainStart(f.Text) || strings.IndexByte("*?[", f.Text[0]) >= 0), f.Static && knowledge.PlainStart(f.Text) && !strings.ContainsAny(f.Text, " \t\n*?[\\:"):
			for _, a := range w.paths().OpenWord(cardea.Read, f) {
				if a.Path == "" {
					return nil
				}
				s.Places = append(s.Places, a)
			}
		default:
			return nil
		}
	}
	if len(s.Places) == 0 || len(s.Places) > maxPlaces {
		return nil
	}
	return w.withPlainNames(s)
}

// createsUnusualName reports whether a part may create a file with a name that is not plain.
func createsUnusualName(p cardea.Part) bool {
	return slices.ContainsFunc(p.Access, func(a cardea.Access) bool {
		switch a.Kind {
		case cardea.Read, cardea.Network, cardea.Delete:
			return false
		case cardea.Write:
			return a.Path == "" || a.Recursive || a.Glob || strings.Contains(a.Path+a.Spelled, "/-") || !knowledge.PlainStart(path.Base(a.Path)) || strings.ContainsAny(path.Base(a.Path), " \t\n\"'\\:")
		}
		return true
	})
}

// lastSearch returns the index of the last part that searches, or -1.
func (w *line) lastSearch() int {
	for i := len(w.out.Parts) - 1; i >= max(0, len(w.out.Parts)-MaxScan); i-- {
		if knowledge.StartsOnFound(w.out.Parts[i].Program()) {
			return i
		}
	}
	return -1
}

// patternsOfSearch returns patterns for the names that the last search finds.
func (w *line) patternsOfSearch() []string {
	if i := w.lastSearch(); i >= 0 {
		return w.bounded(knowledge.Names(&w.out.Parts[i], &w.env.System))
	}
	return nil
}
