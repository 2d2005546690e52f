package bash

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/knowledge"
)

// This file is about operands that a search finds: find -exec, what xargs reads
// from a search in front of it, "cat $(find src)", "for f in *.go". What they
// become is only known when the line runs, but where they lie is known, and so
// is what is done to them.

// searched is what the parts of a range print, where these are one search, and
// behind it filters that leave lines out; nil where it is not certain.
func (w *walker) searched(at [2]int) *knowledge.Search {
	if at[0] < 0 || at[1] > len(w.parts) || at[0] >= at[1] {
		return nil
	}
	p := &w.parts[at[1]-1]
	if p.Knowledge != cardea.Complete || len(p.Opaque) > 0 || p.Remote || slices.ContainsFunc(p.Via, inFunction) {
		return nil
	}
	if at[1]-at[0] == 1 {
		return w.searches(p)
	}
	if !filters(p) {
		return nil
	}
	for i := len(w.pipes) - 1; i >= max(0, len(w.pipes)-maxFlowScan); i-- {
		x := w.pipes[i]
		if x.lines && x.from == [2]int{at[0], at[1] - 1} && x.to == [2]int{at[1] - 1, at[1]} {
			return w.searched(x.from)
		}
	}
	return nil
}

// inFunction reports a step of Via that hides how a function is called.
func inFunction(via string) bool { return strings.HasPrefix(via, "function") }

// filters reports programs that print some of the lines that they read, as they
// are, and nothing else.
func filters(p *cardea.Part) bool {
	var harmless string
	switch base(p) {
	case "sort":
		harmless = "-u -r -n -h -V -z"
	case "uniq":
		harmless = "-u -d -z"
	case "head", "tail":
		harmless = "-n -1 -2 -3 -4 -5 -6 -7 -8 -9"
	case "grep", "egrep", "fgrep":
		harmless = "-v -i -E -F -w -x -P -e"
	default:
		return false
	}
	return len(p.Access) == 0 && onlyOptions(p, strings.Fields(harmless))
}

func onlyOptions(p *cardea.Part, list []string) bool {
	return !slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return !slices.Contains(list, o.Name) })
}

func hasOption(p *cardea.Part, list ...string) bool {
	return slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return slices.Contains(list, o.Name) })
}

// searches is what a part prints that searches; nil where it is no search, or
// may print something else than names of what lies below its folders. All of
// the part is known.
func (w *walker) searches(p *cardea.Part) *knowledge.Search {
	s, name := &knowledge.Search{Dir: p.Dir}, ""
	switch base(p) {
	case "find", "gfind":
		if hasOption(p, "-printf", "-fprintf", "-ls", "-fls", "-fprint", "-fprint0", "-files0-from") {
			return nil
		}
		name = foundName(p)
	case "fd", "fdfind":
		if !onlyOptions(p, []string{"-t", "--type", "-e", "--extension", "-d", "--max-depth", "-H", "--hidden", "-I", "--no-ignore", "-E", "--exclude", "-0", "--print0", "-g", "--glob", "-i", "-s"}) {
			return nil
		}
	case "grep", "egrep", "fgrep", "rg":
		names := []string{"-l", "-L", "--files-with-matches", "--files-without-match", "--files"}
		if !hasOption(p, names...) || !onlyOptions(p, append(names, "-r", "-i", "-n", "-E", "-F", "-w", "-e", "-P", "-t", "-g", "--include", "--exclude", "--exclude-dir", "-s", "-v")) {
			return nil
		}
	case "ls":
		if len(p.Operands) > 0 || !onlyOptions(p, []string{"-1", "-A", "-t", "-r", "-S"}) {
			return nil
		}
	case "pwd", "git":
		return w.tells(p)
	default:
		return nil
	}
	folders := p.Operands
	if len(folders) > 0 && !strings.HasSuffix(base(p), "find") && !hasOption(p, "-e", "--files") {
		folders = folders[1:] // the pattern
	}
	for _, i := range folders {
		if f := p.Argv[i]; !f.Static || !tameStart(f.Text) && !strings.HasPrefix(f.Text, "/") || strings.ContainsAny(f.Text, " \t\n\"'\\:") {
			return nil
		}
	}
	for _, a := range p.Access {
		if a.Kind != cardea.Read || a.Path == "" || a.Redirect || a.Glob {
			return nil
		}
		at := cardea.Access{Kind: cardea.Read, Path: a.Path, Recursive: true}
		if name != "" {
			at.Recursive, at.Glob, at.Pattern = false, true, strings.TrimSuffix(a.Path, "/")+"/**/"+name
		}
		s.Places = append(s.Places, at)
	}
	if len(s.Places) == 0 {
		return nil
	}
	return s
}

// tells is the folder that pwd and git rev-parse --show-toplevel print.
func (w *walker) tells(p *cardea.Part) *knowledge.Search {
	at := p.Dir
	if len(p.Argv) > 1 {
		if len(p.Argv) != 3 || p.Argv[1].Text != "rev-parse" || p.Argv[2].Text != "--show-toplevel" || w.env.TopLevel == nil {
			return nil
		}
		at = w.env.TopLevel(p.Dir)
	}
	if at == "" || base(p) == "git" && len(p.Argv) == 1 || strings.ContainsAny(at, " \t\n\"'\\") {
		return nil
	}
	return &knowledge.Search{Dir: p.Dir, One: true, Places: []cardea.Access{{Kind: cardea.Read, Path: at, Recursive: true}}}
}

// tameStart reports a name that no program takes for an option or a command.
func tameStart(name string) bool {
	return name != "" && (isNameStart(name[0]) || '0' <= name[0] && name[0] <= '9' || name[0] == '.')
}

// foundName is the pattern that what a find prints matches, "" where its
// expression does not say one that holds for all of it.
func foundName(p *cardea.Part) string {
	for _, f := range p.Argv {
		switch f.Text {
		case "-o", "-or", "!", "-not", "(", ",", "-iname":
			return ""
		}
	}
	for _, o := range p.Options {
		switch {
		case o.Name == "-name" && o.Static && !strings.ContainsAny(o.Value, "/[\\"):
			return o.Value
		case !knowledge.InExpression(o), o.Name == "-name", strings.HasSuffix(o.Name, "depth"), o.Name == "-type", o.Name == "-path", o.Name == "-newer", o.Name == "-size", o.Name == "-mtime", o.Name == "-xdev":
		default:
			return "" // it may print before it looks at the name
		}
	}
	return ""
}

// fromSearch is what comes in from a search, where no name there can become two
// words, an option or something else than it is.
func (w *walker) fromSearch() *knowledge.Search {
	if w.stdin.kind != piped || !w.stdin.lines {
		return nil
	}
	return w.tamed(w.searched(w.stdin.from))
}

// tamed gives a search whose names are all tame, nil for another one.
func (w *walker) tamed(s *knowledge.Search) *knowledge.Search {
	if s == nil || s.One {
		return s
	}
	if w.env.Tame == nil {
		return nil
	}
	for _, a := range s.Places {
		deep := a.Recursive || strings.Contains(strings.TrimPrefix(a.Pattern, a.Path+"/"), "/")
		if !w.env.Tame(a.Path, deep) {
			return nil
		}
	}
	s.MayBeNothing, w.trusts = true, true
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
		if s := w.tamed(w.searched(at)); s != nil && (s.One || !quoted) {
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
		case f.PlainPattern() && (tameStart(f.Text) || strings.IndexByte("*?[", f.Text[0]) >= 0), f.Static && tameStart(f.Text) && !strings.ContainsAny(f.Text, " \t\n*?[\\:"):
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
	if len(s.Places) == 0 || len(s.Places) > maxUncertain {
		return nil
	}
	return w.tamed(s)
}

// doubtNames takes the certainty off parts with words that a search finds, where
// a part of the line may have made files with names of another kind.
func (w *walker) doubtNames() {
	if !w.trusts || !slices.ContainsFunc(w.parts, makes) {
		return
	}
	for i := range w.parts {
		p := &w.parts[i]
		if p.Knowledge == cardea.Complete && slices.ContainsFunc(p.Argv, func(f cardea.Word) bool { return !f.Static }) {
			p.Knowledge, p.Doubt = cardea.Partial, "the line makes files, whose names may be found"
		}
	}
}

// makes reports a part that may give a file a name that is not tame.
func makes(p cardea.Part) bool {
	return slices.ContainsFunc(p.Access, func(a cardea.Access) bool {
		switch a.Kind {
		case cardea.Read, cardea.Network, cardea.Delete:
			return false
		case cardea.Write:
			return a.Path == "" || a.Recursive || a.Glob || !tameStart(path.Base(a.Path)) || strings.ContainsAny(path.Base(a.Path), " \t\n\"'\\:")
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
