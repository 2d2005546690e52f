package bash

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/bash/grammar"
	"cardea.dev/internal/bash/shell"
	"cardea.dev/internal/bash/texts"
	"cardea.dev/internal/bash/unknown"
)

// input is what a command reads from its standard input.
type input struct {
	kind inputKind
	text string // kind literal
	may  string // about what comes in, where that is not certain
	// unseen is set for a text of the line that is only known when it runs.
	unseen bool
	// names are patterns of the names that come in.
	names []string
	from  [2]int // the parts that write it or open it, half open
	// lines is set when one command writes it, and no error of a command does.
	lines bool
}

// input is about what the current command reads, as far as the line says it: from its
// standard input, from descriptors and from the <(…) in its words.
func (w *walker) input() string {
	text, more := w.cmd.stdin.text+w.cmd.stdin.may, w.fed
	if w.cmd.reads != nil {
		more += *w.cmd.reads
	}
	if text != "" && more != "" {
		text += "\n"
	}
	return text + more
}

// shared is what one of several commands reads: which of them reads what is not known.
func (in input) shared() input {
	if in.kind != literal {
		return in
	}
	return input{kind: elsewhere, may: in.text}
}

type inputKind uint8

const (
	inherited inputKind = iota
	literal             // a here-document, or what a preceding echo prints
	piped
	elsewhere // a file, a descriptor, a substitution
)

// Pipe says that the output of some parts reaches others. Both are ranges of
// parts, half open.
type Pipe struct {
	From, To [2]int
	// Code is set where what arrives is run: eval "$(…)", bash <(…).
	Code bool
	// Variable is set where a variable holds what arrives.
	Variable bool
	// Lines is set where one command writes into the pipe, and no error of a
	// command does.
	Lines bool
}

func (w *walker) stmts(list []*syntax.Stmt) {
	for _, st := range list {
		if w.used.overLimit {
			return
		}
		w.stmt(st)
	}
}

// inConstruct walks with one more step on the way to the parts.
func (w *walker) inConstruct(via string, walk func()) {
	w.via = append(w.via, via)
	walk()
	w.via = w.via[:len(w.via)-1]
}

// inSubshell walks in a copy of the shell's state, as a subshell does.
func (w *walker) inSubshell(walk func()) {
	saved, aborts := w.cur, len(w.aborts)
	w.cur = saved.Clone()
	walk()
	w.cur, w.aborts = saved, w.aborts[:min(aborts, len(w.aborts))] // giving up ends it
}

// mayRun walks what may run or not.
func (w *walker) mayRun(walk func()) {
	before := w.cur.Clone()
	walk()
	w.cur.Join(before)
}

// unless walks what runs for certain unless something may keep it from running.
func (w *walker) unless(mayFail bool, walk func()) {
	if mayFail {
		w.mayRun(walk)
	} else {
		walk()
	}
}

// substitution walks a command or process substitution inside a word.
func (w *walker) substitution(stmts []*syntax.Stmt, via string) {
	saved := w.cmd
	w.cmd.spots, w.cmd.reads, w.cmd.stdin = nil, nil, input{}
	begin := len(w.out.Parts)
	w.inConstruct(via, func() { w.inSubshell(func() { w.stmts(stmts) }) })
	w.cmd.spots, w.cmd.reads, w.cmd.stdin = saved.spots, saved.reads, saved.stdin
	printed := feed{at: [2]int{begin, len(w.out.Parts)}}
	if begin == len(w.out.Parts) {
		printed.at = w.inputFrom() // $(</dev/stdin)
	}
	w.cmd.pending = append(w.cmd.pending, printed)
}

func (w *walker) stmt(st *syntax.Stmt) {
	if w.cur.FolderMayFail {
		w.cur.Enter("")
	}
	if st.Background {
		w.inConstruct("&", func() { w.inSubshell(func() { w.command(st) }) })
		return
	}
	w.command(st)
	if st.Negated && w.cur.FolderMayFail {
		w.cur.Enter("")
	}
}

// command walks a statement's command with its redirections.
func (w *walker) command(st *syntax.Stmt) {
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

// mayFail reports whether a redirection can fail, so that its command does not
// run in this shell.
func (w *walker) mayFail(list []*syntax.Redirect) bool {
	for _, r := range list {
		text, own := "", ""
		if r.N != nil {
			own = r.N.Value // beyond a limit there are no descriptors
		}
		if r.Word != nil {
			text = r.Word.Lit()
		}
		switch {
		case len(own) < 2 && (r.Hdoc != nil || r.Op == syntax.WordHdoc || text == "/dev/null"):
		case (r.Op == syntax.DplOut || r.Op == syntax.DplIn) && (text == "0" || text == "1" || text == "2") && len(own) < 2 && !w.cur.Closes:
		default:
			return true
		}
	}
	return false
}

func (w *walker) compound(cmd syntax.Command) {
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
		// Its body is walked where it is called, or at the end.
	case *syntax.ArithmCmd:
		w.inPart(cmd, func() { w.arith(cmd.X) })
	case *syntax.LetClause:
		w.inPart(cmd, func() {
			for _, x := range cmd.Exprs {
				w.arith(x)
			}
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
			w.cur.Traits[variable] |= grammar.Odd // when the command ends, bash unsets it
		}
		begin := len(w.out.Parts)
		w.inConstruct("coproc", func() { w.inSubshell(func() { w.stmt(cmd.Stmt) }) })
		w.cur.Descriptors["COPROC"] = [2]int{begin, len(w.out.Parts)}
		w.fed += w.printedFrom(begin)
	default:
		w.unknown(unknown.UnknownConstruct, w.source(cmd))
	}
}

// inPart walks a null construct, which becomes a part of its own.
func (w *walker) inPart(n syntax.Node, walk func()) {
	var spots []cardea.Opaque
	saved := w.cmd.spots
	w.cmd.spots = &spots
	walk()
	w.cmd.spots = saved
	w.emit(cardea.Part{Text: w.source(n), Opaque: spots, NoEffect: true, Start: w.offset(n)})
}

func (w *walker) offset(n syntax.Node) int {
	if w.base < 0 {
		return -1
	}
	w.at = w.base + int(n.Pos().Offset())
	return w.at
}

// binary walks chains of &&, || and |. Long chains lean to the left, so the
// left side is unrolled instead of recursed into.
func (w *walker) binary(cmd *syntax.BinaryCmd) {
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
	// unknown afterwards, while a link sees what those before it have changed.
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
				before.Join(w.cur) // the link in front may fail behind what it has set
			}
			w.cur.FolderMayFail = false
			w.inConstruct("&&", func() { w.conditional(constant, func() { w.stmt(l.st) }) })
			continue
		}
		if i == 0 && w.cur.FolderMayFail && w.leaves(l.st) {
			// cd x || exit: what follows is in x.
			saved := w.cur
			w.cur = saved.Clone() // no subshell: bash may give up the line here
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

// leaves reports whether a statement surely leaves the shell or the function.
func (w *walker) leaves(st *syntax.Stmt) bool {
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
			return false // with more than a number it stays
		}
		_, alias := w.cur.Aliases[name]
		return (name == "exit" || name == "return" && w.cur.Locals != nil) && w.cur.Funcs[name] == nil && !alias
	case *syntax.Block:
		return w.leaves(cmd.Stmts[len(cmd.Stmts)-1])
	}
	return false
}

// pipeline walks the elements of a pipe, each in a subshell of its own. What
// the last one sets may stay (lastpipe).
func (w *walker) pipeline(sts []*syntax.Stmt, op syntax.BinCmdOperator) {
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
		w.cmd.stdin = input{kind: piped, from: [2]int{begin, len(w.out.Parts)}, lines: grammar.PrintsLines(st, op), may: w.printedFrom(from), names: w.namesFrom(from)}
		if text, ok := w.printsExactly(st, from, outer); ok {
			w.cmd.stdin = input{kind: literal, text: text}
		}
		outer = w.cmd.stdin
	}
	w.cmd.stdin = input{}
}

func (w *walker) timeClause(c *syntax.TimeClause) {
	if c.Stmt == nil {
		w.emit(cardea.Part{Text: "time", NoEffect: true, Start: w.offset(c)})
		return
	}
	around := w.around
	w.around.wrappers = append(slices.Clone(around.wrappers), "time")
	st, _ := grammar.WithoutDashes(c.Stmt)
	w.stmt(st)
	w.around = around
}
