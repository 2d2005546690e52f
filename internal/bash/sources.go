package bash

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/knowledge"
)

// This file follows where the value of a word comes from. Some operands are found
// by a search: find -exec, what xargs reads
// from a search in front of it, "cat $(find src)", "for f in *.go". What they
// become is only known when the line runs, but where they lie is known, and so
// is what is done to them.

// searched is what the parts of a range print, where these are one search, and
// behind it filters that leave lines out; nil where it is not certain.
func (w *walker) searched(at [2]int) *knowledge.Search {
	if at[0] < 0 || at[1] > len(w.out.Parts) || at[0] >= at[1] {
		return nil
	}
	p := &w.out.Parts[at[1]-1]
	if p.Knowledge != cardea.Complete || len(p.Opaque) > 0 || p.Remote || slices.ContainsFunc(p.Via, inFunction) {
		return nil
	}
	if at[1]-at[0] == 1 {
		return knowledge.FindSearch(p, &w.env.World)
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

// inFunction reports a step of Via that hides how a function is called.
func inFunction(via string) bool { return strings.HasPrefix(via, "function") }

// fromSearch is what comes in from a search, where no name there can become two
// words, an option or something else than it is. null is set where it is read up to each NUL.
func (w *walker) fromSearch(null bool) *knowledge.Search {
	if w.cmd.stdin.kind != piped || !w.cmd.stdin.lines {
		return nil
	}
	s := w.withPlainNames(w.searched(w.cmd.stdin.from))
	if s != nil && s.Tracked() && s.Null != null {
		return nil
	}
	return s
}

// withPlainNames gives a search whose names are all plain, nil for another one.
func (w *walker) withPlainNames(s *knowledge.Search) *knowledge.Search {
	if s == nil || s.One {
		return s
	}
	if !s.Plain(&w.env.World) {
		return nil
	}
	s.MayBeNothing, w.usesFoundNames = true, true
	return s
}

// foundBy is what a word stands for that is a variable, or a substitution of
// which the parts are in a range, where that is the work of a search.
func (w *walker) foundBy(word *syntax.Word, at [2]int) *knowledge.Search {
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
			return w.lookup(name).found
		}
	case *syntax.CmdSubst:
		if len(p.Stmts) != 1 {
			return nil
		}
		st := p.Stmts[0]
		if c, ok := st.Cmd.(*syntax.BinaryCmd); ok && c.Op == syntax.Pipe && len(st.Redirs) == 0 {
			st = c.Y
		}
		if !printsLines(st, syntax.Pipe) {
			return nil
		}
		if s := w.withPlainNames(w.searched(at)); s != nil && !s.Null && (s.One || !quoted) {
			return s
		}
	}
	return nil
}

// looped is what the variable of a loop over words stands for, where each word
// is a file's name: as it stands, by a pattern, or from a search.
func (w *walker) looped(words []field) *knowledge.Search {
	s := &knowledge.Search{Dir: w.cur.cwd}
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

// createsOddName reports a part that may give a file a name that is not plain.
func createsOddName(p cardea.Part) bool {
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

// printsLines reports a command whose output goes into a pipe as it is, and
// nothing else besides.
func printsLines(st *syntax.Stmt, op syntax.BinCmdOperator) bool {
	if _, ok := st.Cmd.(*syntax.CallExpr); !ok || op != syntax.Pipe {
		return false
	}
	return !slices.ContainsFunc(st.Redirs, func(r *syntax.Redirect) bool {
		return r.N == nil || r.N.Value != "2" || r.Op != syntax.RdrOut && r.Op != syntax.AppOut
	})
}

// Others the line does not tell for certain, though it tells where they come from:
// "find ~ | xargs rm -rf", "rm -rf $(echo ~)", "rm -rf ${HOME%/}". What they may
// become is added as an access whose path is not known and whose spelling is, so
// that what denies finds it and nothing allows it.

// mayBecome lists the paths that a word of a command may become.
func (w *walker) mayBecome(word field, wrappers []string) []knowledge.PossiblePath {
	var out []knowledge.PossiblePath
	add := func(list []knowledge.PossiblePath) { out = append(out, list[:min(len(list), MaxScan)]...) }
	if slices.ContainsFunc(wrappers, knowledge.StartsOnFound) {
		for i := len(w.out.Parts) - 1; i >= 0; i-- {
			if knowledge.StartsOnFound(w.out.Parts[i].Program()) {
				add(w.mayPrint(i))
				break
			}
		}
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
	out = append(out, w.lyingThere(word)...)
	if at := w.likely(word.Text); at != "" {
		add([]knowledge.PossiblePath{{Path: at}})
	}
	return out
}

// lyingThere is the pattern of a word that begins with a folder: it is something in there.
func (w *walker) lyingThere(word field) []knowledge.PossiblePath {
	if word.Glob || len(word.May) > 0 || !strings.Contains(word.Head, "/") {
		return nil
	}
	at := knowledge.Absolute(w.cur.cwd, folderOf(word.Head))
	if at == "" {
		return nil
	}
	return []knowledge.PossiblePath{{Path: at, Pattern: at + "/" + strings.TrimPrefix(word.Head, folderOf(word.Head)) + "*"}}
}

// mayPrint lists the paths that a part may print.
func (w *walker) mayPrint(part int) []knowledge.PossiblePath {
	if part < 0 {
		return nil
	}
	return knowledge.MayPrint(&w.out.Parts[part], &w.env.World)
}

// fromInput lists what xargs reads from its standard input.
func (w *walker) fromInput() []knowledge.PossiblePath {
	if w.cmd.stdin.kind != piped {
		return nil
	}
	return w.mayPrint(w.maker(w.cmd.stdin.from))
}

// maker is the part of a range that made what comes out at its end: programs
// that pass on what they read are looked through.
func (w *walker) maker(from [2]int) int {
	for i := min(from[1], len(w.out.Parts)) - 1; i >= from[0]; i-- {
		if !knowledge.PassesOn(&w.out.Parts[i]) {
			return i
		}
	}
	return -1
}

// substitutionAlone reports whether a word is one command substitution and
// nothing else but slashes and dots.
func substitutionAlone(text string) bool {
	text = strings.Trim(text, `"/.`)
	return strings.HasPrefix(text, "$(") && strings.HasSuffix(text, ")") || len(text) > 1 && text[0] == '`' && text[len(text)-1] == '`'
}

// likely is the path that a word is likely to become: one that begins with the
// home or the current folder in a spelling that is not followed. It cuts what is
// taken off the front of a value, and no more.
func (w *walker) likely(text string) string {
	text = strings.TrimPrefix(text, `"`)
	if home := w.likelyHome(text); home != "" {
		return home
	}
	name, rest := "", ""
	switch {
	case strings.HasPrefix(text, "${"):
		inner, after, ok := strings.Cut(text[2:], "}")
		if !ok {
			return ""
		}
		end := strings.IndexAny(inner, "%:/^,@")
		if end <= 0 || strings.Contains(inner, "#") {
			return ""
		}
		name, rest = inner[:end], after
	case strings.HasPrefix(text, "~+"):
		name, rest = "PWD", text[2:]
	case strings.HasPrefix(text, "~"):
		user, after, _ := strings.Cut(text[1:], "/")
		if home := w.cur.vars.get("HOME"); home.kind == known && user != "" && plainUser(user) {
			return path.Join(path.Dir(home.text), user, strings.Trim(after, `"`))
		}
		return ""
	default:
		return ""
	}
	rest = strings.Trim(rest, `"*`)
	if v := w.cur.vars.get(name); v.kind == known && strings.HasPrefix(v.text, "/") && !strings.ContainsAny(rest, "$`{") {
		return path.Clean(v.text + "/" + rest)
	}
	return ""
}

// likelyHome is a path in the home folder where a script that runs another time, such
// as a trap, names it: what HOME holds then is not known, and likely the same.
func (w *walker) likelyHome(text string) string {
	if w.env.Home == "" || w.lookup("HOME").kind == known {
		return ""
	}
	for _, spelling := range []string{"~", "$HOME", "${HOME}"} {
		rest, ok := strings.CutPrefix(text, spelling)
		rest = strings.Trim(rest, `"`)
		if ok && (rest == "" || rest[0] == '/') && !strings.ContainsAny(rest, "$`{") {
			return path.Clean(w.env.Home + strings.TrimRight(rest, "*"))
		}
	}
	return ""
}

func plainUser(s string) bool {
	return s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// Origins lists the parts whose output a word holds that is one variable and
// nothing else, as far as the parts in front of one tell: those in the
// substitution that set it, or those that a loop goes through.
func (a *Analysis) Origins(text string, before int) [][2]int {
	name := variableAlone(text)
	if name == "" {
		return nil
	}
	var out [][2]int
	for i := min(before, len(a.Parts)) - 1; i >= max(0, before-maxOriginScan); i-- {
		p := &a.Parts[i]
		switch {
		case len(p.Argv) == 0 && setsName(p.Text, name):
			for _, pipe := range a.Pipes {
				if pipe.To[0] <= i && i < pipe.To[1] {
					out = append(out, pipe.From)
				}
			}
			return out
		case loops(p.Via) && !slices.ContainsFunc(a.Pipes[max(0, len(a.Pipes)-MaxScan):], func(x Pipe) bool { return x.From[0] <= i && i < x.From[1] }):
			out = append(out, [2]int{i, i + 1})
		}
	}
	return out
}

// loops reports a part that stands in a substitution of a for loop.
func loops(via []string) bool {
	n := len(via)
	return n > 1 && via[n-2] == "for" && (via[n-1] == "$( )" || via[n-1] == "` `")
}

// setsName reports whether a part that only sets variables sets this one from
// a substitution.
func setsName(text, name string) bool {
	for _, keyword := range []string{"export ", "local ", "declare ", "readonly ", "typeset "} {
		text = strings.TrimPrefix(text, keyword)
	}
	rest, ok := strings.CutPrefix(text, name+"=")
	return ok && strings.ContainsAny(rest, "$`")
}

// variableAlone is the name of the variable that a word consists of.
func variableAlone(text string) string {
	text = strings.TrimRight(strings.Trim(text, `"`), "/")
	name, ok := strings.CutPrefix(strings.Trim(text, `"`), "$")
	if !ok {
		return ""
	}
	if inner, ok := strings.CutPrefix(name, "{"); ok {
		name = strings.TrimSuffix(inner, "}")
	}
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return ""
	}
	return name
}
