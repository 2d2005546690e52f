package bash

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/bash/shell"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

// substitution walks a command or process substitution inside a word.
func (w *words) substitution(stmts []*syntax.Stmt, via string) {
	saved := w.cmd
	w.cmd.spots, w.cmd.reads, w.cmd.stdin, w.cmd.expands, w.cmd.colon = nil, nil, saved.stdin.shared(), false, false
	begin := len(w.out.Parts)
	w.inConstruct(via, func() { w.inSubshell(func() { w.up.stmts(stmts) }) })
	w.cmd.spots, w.cmd.reads, w.cmd.stdin, w.cmd.expands, w.cmd.colon = saved.spots, saved.reads, saved.stdin, saved.expands, saved.colon
	printed := pipe{at: [2]int{begin, len(w.out.Parts)}}
	if begin == len(w.out.Parts) {
		printed.at = w.inputFrom() // $(</dev/stdin)
	}
	w.cmd.pending = append(w.cmd.pending, printed)
}

// substituted walks a command substitution, and returns the texts that it may print: the
// whole output and each line.
func (w *words) substituted(p *syntax.CmdSubst) []string {
	begin := len(w.out.Parts)
	w.substitution(p.Stmts, grammar.SubstitutionSign(p))
	text, names := strings.TrimRight(w.printedFrom(begin), "\n"), w.namesFrom(begin)
	if text == "" && len(names) == 0 && w.printsNothing(begin) {
		return []string{""}
	}
	if text == "" {
		return w.bounded(names)
	}
	return w.bounded(append(append(names, text), strings.Split(text, "\n")...))
}

// printsNothing reports whether the parts from index from on print nothing: $(true), $(echo).
func (w *words) printsNothing(from int) bool {
	return from < len(w.out.Parts) && !slices.ContainsFunc(w.out.Parts[from:], func(p cardea.Part) bool {
		return len(p.Opaque) > 0 || !p.NoEffect && !knowledge.Has(form.EndsTheSame, p.Program())
	})
}

// printsNumber reports whether a substitution yields digits, or nothing, by its last command.
func (w *words) printsNumber(p *syntax.CmdSubst) bool {
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
	return prints && w.cur.IsPlainCommand(name)
}

// commandSubstitution expands $(…) without quotes.
func (w *words) commandSubstitution(p *syntax.CmdSubst) fragment {
	f := unsure(0, w.substituted(p)...)
	f.split = true
	if folder, ok := w.printsFolder(p); ok {
		return expanded(folder)
	}
	if number := w.printsNumber(p); w.splitsAtBlanks() && (number || w.printsFolderAbove(w.source(p))) {
		f.split, f.Shape = false, shell.OneWordOrNone|shell.NoDash
		if number {
			f.Shape |= shell.Numeric
		}
	}
	return f
}

// printsFolder returns the folder that a substitution prints: for $(pwd) the current
// folder, if its path has no symlink, and for $(git rev-parse --show-toplevel) the top
// of the repository. ok is false for any other substitution.
func (w *words) printsFolder(p *syntax.CmdSubst) (folder string, ok bool) {
	at := w.cur.Folder
	if at == "" || !w.cur.Forgotten.None() || w.cur.FolderMayFail || len(p.Stmts) != 1 {
		return "", false
	}
	text := w.source(p.Stmts[0])
	switch {
	case knowledge.Has(form.PrintsCurrentFolder, text) && w.cur.IsPlainCommand(text):
		pwd := w.lookup("PWD")
		return at, pwd.Known() && pwd.Text == at
	case w.env.TopLevel != nil && w.topLevel("$("+text+")"):
		at = w.env.TopLevel(at)
		return at, at != ""
	}
	return "", false
}

// printsFolderAbove reports whether a substitution prints only the current folder or one
// above it, which begins with a slash and has no blank in its name.
func (w *words) printsFolderAbove(text string) bool {
	return w.topLevel(text) && w.cur.Folder != "" && w.cur.Forgotten.None() && !strings.ContainsAny(w.cur.Folder, " \t\n*?[")
}

// topLevel reports whether text is a substitution that prints the top folder of the repository.
func (w *words) topLevel(text string) bool {
	inner, begins := strings.CutPrefix(text, "$(")
	inner, ends := strings.CutSuffix(inner, ")")
	program, words, _ := strings.Cut(inner, " ")
	return begins && ends && knowledge.PrintsTopLevel(program, strings.Split(words, " ")) && w.cur.IsPlainCommand(program)
}
