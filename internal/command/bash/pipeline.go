package bash

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/bash/texts"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

// pipeline walks the elements of a pipe, each in its own subshell. Variables that the
// last one sets may stay (lastpipe).
func (w *statements) pipeline(sts []*syntax.Stmt, op syntax.BinCmdOperator) {
	outer := w.cmd.stdin
	begin := len(w.out.Parts)
	for i, st := range sts {
		if w.used.overLimit {
			break
		}
		from := len(w.out.Parts)
		walk := func() {
			if i == len(sts)-1 {
				w.mayRun(func() { w.stmt(st) })
			} else {
				w.inSubshell(func() { w.stmt(st) })
			}
		}
		if i == 0 {
			walk()
		} else {
			w.inConstruct(op.String(), walk)
			if from > begin {
				w.out.Pipes = append(w.out.Pipes, Pipe{From: [2]int{begin, from}, To: [2]int{from, len(w.out.Parts)}, Lines: grammar.PrintsLines(sts[i-1], op)})
			}
		}
		w.cmd.stdin = standardInput{kind: piped, from: [2]int{begin, len(w.out.Parts)}, lines: grammar.PrintsLines(st, op), may: w.printedFrom(from), names: w.namesFrom(from)}
		if text, ok := w.printsExactly(st, from, outer); ok {
			w.cmd.stdin = standardInput{kind: literal, text: text}
		}
		outer = w.cmd.stdin
	}
	w.cmd.stdin = standardInput{}
}

// binary walks chains of &&, || and |. Long chains nest to the left, so the left side is
// unrolled instead of recursed into.
func (w *statements) binary(cmd *syntax.BinaryCmd) {
	type link struct {
		op syntax.BinCmdOperator
		st *syntax.Stmt
	}
	var chain []link
	var first *syntax.Stmt
	for {
		chain = append(chain, link{cmd.Op, cmd.Y})
		left, ok := cmd.X.Cmd.(*syntax.BinaryCmd)
		if !ok || len(cmd.X.Redirs) > 0 || cmd.X.Negated || cmd.X.Background || grammar.IsPipe(left.Op) != grammar.IsPipe(cmd.Op) {
			first = cmd.X
			break
		}
		cmd = left
	}
	slices.Reverse(chain)
	if grammar.IsPipe(chain[0].op) {
		sts := []*syntax.Stmt{first}
		for _, l := range chain {
			sts = append(sts, l.st)
		}
		w.pipeline(sts, chain[0].op)
		return
	}
	w.stmt(first)
	// All links share one copy of the state before them: what any of them changes is
	// unknown afterwards. A link sees the changes of those before it.
	before, left, constant := w.cur.Clone(), first, true
	for i, l := range chain {
		if w.used.overLimit {
			return
		}
		constant, left = constant && w.constant([]*syntax.Stmt{left}), l.st
		if l.op == syntax.AndStmt {
			switch {
			case i == maxLinks:
				w.cur.Forget(unknown.LongChain)
			case i > 0 && i < maxLinks:
				before.Join(w.cur) // the previous link may fail after it has set something
			}
			w.cur.FolderMayFail = false
			w.inConstruct("&&", func() { w.conditional(constant, func() { w.stmt(l.st) }) })
			continue
		}
		if i == 0 && w.cur.FolderMayFail && w.leaves(l.st) {
			// cd x || exit: the next commands run in x.
			saved := w.cur
			w.cur = saved.Clone() // no subshell: bash may abandon the line here
			w.inConstruct("||", func() { w.conditional(constant, func() { w.stmt(l.st) }) })
			w.cur = saved
			w.cur.FolderMayFail, before.FolderMayFail = false, false
			continue
		}
		w.cur.Join(before)
		w.inConstruct("||", func() { w.conditional(constant, func() { w.mayRun(func() { w.stmt(l.st) }) }) })
	}
	w.cur.Join(before)
}

// leaves reports whether a statement certainly leaves the shell or the function.
func (w *statements) leaves(st *syntax.Stmt) bool {
	if st.Background || len(st.Redirs) > 0 {
		return false
	}
	switch cmd := st.Cmd.(type) {
	case *syntax.CallExpr:
		if len(cmd.Args) == 0 || len(cmd.Assigns) > 0 {
			return false
		}
		name := cmd.Args[0].Lit()
		if len(cmd.Args) > 2 || len(cmd.Args) == 2 && !texts.Decimal(cmd.Args[1].Lit()) {
			return false // with more than one number it does not leave
		}
		_, alias := w.cur.Aliases[name]
		return (name == "exit" || name == "return" && w.cur.Locals != nil) && w.cur.Funcs[name] == nil && !alias
	case *syntax.Block:
		return w.leaves(cmd.Stmts[len(cmd.Stmts)-1])
	}
	return false
}

// printsExactly returns the output of a command if it is certain: echo and printf of
// known words. The part must be the only one after index from.
func (w *statements) printsExactly(st *syntax.Stmt, from int, in standardInput) (string, bool) {
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(call.Args) == 0 || st.Background || st.Negated {
		return "", false
	}
	name := call.Args[0].Lit()
	if _, alias := w.cur.Aliases[name]; alias || w.cur.Funcs[name] != nil {
		return "", false
	}
	if knowledge.Has(form.CopiesInput, name) && len(call.Args) == 1 {
		switch {
		case len(st.Redirs) == 0 && in.kind == literal:
			return in.text, true
		case len(st.Redirs) == 1 && st.Redirs[0].Hdoc != nil && in.kind == inherited:
			return grammar.HereText(st.Redirs[0])
		}
		return "", false
	}
	if len(st.Redirs) > 0 || len(w.out.Parts) != from+1 {
		return "", false
	}
	p := &w.out.Parts[from]
	var words []string
	for _, f := range p.Argv {
		if !f.Static {
			return "", false
		}
		words = append(words, f.Text)
	}
	switch {
	case len(words) < 2 || words[0] != name || len(p.Opaque) > 0:
	case name == "echo":
		return w.echoed(words[1:])
	case name == "printf" && !strings.HasPrefix(words[1], "-"):
		text, ok := texts.Printf(words[1:])
		return text, ok && (!w.cur.POSIX || !strings.Contains(strings.Join(words, ""), `\`))
	}
	return "", false
}

// echoed returns the output of echo, or false if shells differ.
func (w *statements) echoed(words []string) (string, bool) {
	end, decode := "\n", false
	for len(words) > 0 && len(words[0]) > 1 && words[0][0] == '-' && strings.Trim(words[0][1:], "neE") == "" {
		for _, c := range words[0][1:] {
			switch c {
			case 'n':
				end = ""
			default:
				decode = c == 'e'
			}
		}
		words = words[1:]
		if w.cur.POSIX {
			return "", false
		}
	}
	text := strings.Join(words, " ")
	if !strings.Contains(text, `\`) {
		return text + end, true
	}
	if !decode {
		return text + end, false // zsh and sh read the escapes
	}
	text, stops, ok := texts.Escaped(text, true)
	if stops {
		end = ""
	}
	return text + end, ok
}
