package bash

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/bash/shell"
	"cardea.dev/internal/command/bash/texts"
	"cardea.dev/internal/command/bash/unknown"
)

func (w *statements) stmts(list []*syntax.Stmt) {
	for _, st := range list {
		if w.used.overLimit {
			return
		}
		w.stmt(st)
	}
}

// stmt walks one statement, in a subshell if it runs in the background. It makes the
// folder unknown after a cd that may have failed.
func (w *statements) stmt(st *syntax.Stmt) {
	if w.cur.FolderMayFail {
		w.cur.Enter("")
	}
	if st.Background {
		w.begins = w.begins || len(w.via) == 0 && w.loops == 0 && !w.failing
		w.inConstruct("&", func() { w.inSubshell(func() { w.command(st) }) })
		return
	}
	w.command(st)
	if st.Negated && w.cur.FolderMayFail {
		w.cur.Enter("")
	}
}

// command walks a statement's command with its redirections.
func (w *statements) command(st *syntax.Stmt) {
	switch cmd := st.Cmd.(type) {
	case nil:
		w.redirectOnly(st)
		return
	case *syntax.CallExpr:
		w.call(cmd, st.Redirs)
		return
	case *syntax.BinaryCmd:
		if len(st.Redirs) == 0 {
			w.binary(cmd)
			return
		}
	}
	saved, begin := w.cmd.stdin, len(w.out.Parts)
	var opens []cardea.Access
	if len(st.Redirs) > 0 {
		opens = w.redirectOnly(st)
		defer w.printsInto(len(w.out.Parts))
	}
	w.cmd.stdin = w.cmd.stdin.shared()
	w.unless(w.mayFail(st.Redirs), func() { w.compound(st.Cmd) })
	w.cmd.stdin = saved
	for _, a := range opens {
		if text := w.printedFrom(begin); a.Kind == cardea.Write && text != "" {
			w.addWritten(Written{a.Path, text, slices.ContainsFunc(st.Redirs, appends)})
		}
	}
}

// compound walks a command without its redirections, by its kind.
func (w *statements) compound(cmd syntax.Command) {
	switch cmd := cmd.(type) {
	case *syntax.CallExpr:
		w.call(cmd, nil)
	case *syntax.BinaryCmd:
		w.binary(cmd)
	case *syntax.Subshell:
		w.inConstruct("( )", func() { w.inSubshell(func() { w.stmts(cmd.Stmts) }) })
	case *syntax.Block:
		w.inConstruct("{ }", func() { w.stmts(cmd.Stmts) })
	case *syntax.IfClause:
		w.inConstruct("if", func() { w.ifClause(cmd) })
	case *syntax.WhileClause:
		via := "while"
		if cmd.Until {
			via = "until"
		}
		w.inConstruct(via, func() {
			w.loop(append(slices.Clone(cmd.Cond), cmd.Do...), func() {
				begin := len(w.out.Parts)
				w.stmts(cmd.Cond)
				w.repeats(w.constant(cmd.Cond), begin, func() { w.stmts(cmd.Do) })
			})
		})
	case *syntax.ForClause:
		w.inConstruct("for", func() { w.forClause(cmd) })
	case *syntax.CaseClause:
		w.inConstruct("case", func() { w.caseClause(cmd) })
	case *syntax.FuncDecl:
		// Its body is walked at each call, or at the end.
	case *syntax.ArithmCmd:
		w.inPart(cmd, func() { w.arith(cmd.X) })
	case *syntax.LetClause:
		w.inPart(cmd, func() {
			enclosing := w.failing
			for _, x := range cmd.Exprs {
				w.arith(x)
				w.failing = w.failing || !w.total(x) // if it fails, let ends
			}
			w.failing = enclosing
		})
	case *syntax.TestClause:
		w.inPart(cmd, func() { w.test(cmd.X) })
	case *syntax.DeclClause:
		w.declClause(cmd)
	case *syntax.TimeClause:
		w.timeClause(cmd)
	case *syntax.CoprocClause:
		name := "COPROC"
		if cmd.Name != nil && cmd.Name.Lit() != "" {
			name = cmd.Name.Lit()
		}
		for _, variable := range [2]string{name, name + "_PID"} {
			w.set(variable, shell.Any)
			w.cur.Attributes[variable] |= grammar.Unusual // when the command ends, bash unsets it
		}
		begin := len(w.out.Parts)
		w.inConstruct("coproc", func() { w.inSubshell(func() { w.stmt(cmd.Stmt) }) })
		w.cur.Descriptors["COPROC"] = [2]int{begin, len(w.out.Parts)}
		w.fed += w.printedFrom(begin)
	default:
		w.unknown(unknown.UnknownConstruct, w.source(cmd))
	}
}

func (w *statements) timeClause(c *syntax.TimeClause) {
	if c.Stmt == nil {
		w.emit(cardea.Part{ShellFacts: cardea.ShellFacts{Text: "time", NoEffect: true, Start: w.offset(c)}})
		return
	}
	enclosing := w.enclosing
	w.enclosing.wrappers = append(slices.Clone(enclosing.wrappers), "time")
	st, _ := grammar.WithoutDashes(c.Stmt)
	w.mayRun(func() { w.stmt(st) }) // zsh runs parts of it in a subshell
	w.enclosing = enclosing
}

// test checks the operands of [[ ]].
func (w *statements) test(x syntax.TestExpr) {
	switch x := x.(type) {
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			for _, side := range []syntax.TestExpr{x.X, x.Y} {
				if word, ok := side.(*syntax.Word); ok {
					if text, _ := grammar.Literal(word); strings.Contains(text, "=") || strings.Contains(text, "++") || strings.Contains(text, "--") { // it may not be evaluated
						w.unknown(unknown.Evaluated, w.source(word))
					}
					w.arith(word)
				}
			}
			return
		}
		w.test(x.X)
		w.test(x.Y)
		if x.Op == syntax.TsReMatch {
			w.matched(x)
		}
	case *syntax.UnaryTest:
		if x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar {
			if word, ok := x.X.(*syntax.Word); ok {
				w.variableName(word)
			}
			return
		}
		if word, ok := x.X.(*syntax.Word); ok && x.Op == syntax.TsFdTerm {
			for _, f := range w.fields(word) {
				w.number(f)
			}
			return
		}
		w.test(x.X)
	case *syntax.ParenTest:
		w.test(x.X)
	case *syntax.Word:
		w.walkWord(x)
	}
}

// matched sets the variables that [[ x =~ y ]] sets in zsh and does not change in bash.
func (w *statements) matched(x *syntax.BinaryTest) {
	var may []string
	if word, ok := x.X.(*syntax.Word); ok {
		text, _ := grammar.Literal(word)
		may = append(append(may, text), w.mayBe(variableAlone(w.source(word)))...)
	}
	for _, name := range grammar.SetByMatch {
		w.cur.Vars.Set(name, shell.Join(w.cur.Vars.Get(name), w.someOf(may)))
	}
	for _, name := range grammar.SetToNumber {
		w.cur.Attributes[name] |= grammar.Counted
	}
}

// variableName checks a word that bash reads as the name of a variable, with a subscript
// that it evaluates.
func (w *statements) variableName(word *syntax.Word) {
	text, ok := w.static(word)
	if !ok || !texts.PlainName(text) {
		w.unknown(unknown.Evaluated, w.source(word))
	}
}

// inPart walks a construct without effect, which becomes a part of its own.
func (w *statements) inPart(n syntax.Node, walk func()) {
	var spots []cardea.Opaque
	saved := w.cmd.spots
	w.cmd.spots = &spots
	walk()
	w.cmd.spots = saved
	w.emit(cardea.Part{ShellFacts: cardea.ShellFacts{Text: w.source(n), Opaque: spots, NoEffect: true, Start: w.offset(n)}})
}
