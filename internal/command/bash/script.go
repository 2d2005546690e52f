package bash

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/bash/shell"
	"cardea.dev/internal/command/bash/unknown"
)

// script parses and walks a text in the way in which bash runs it.
func (w *walker) script(text string) {
	if w.used.scripts >= maxScripts {
		w.unknown(unknown.TooDeepScripts, text)
		return
	}
	if ends := strings.ReplaceAll(text, "\\\r\n", "\n"); ends != text {
		w.runLater("\\", ends) // the backslash quotes only the carriage return: the line ends
	}
	s := grammar.Parse(text, w.cur.POSIX)
	outer, outerBase := w.src, w.base
	w.src = s.Text
	if w.used.scripts > 0 {
		w.base = -1
	}
	w.used.scripts++
	defer func() { w.src, w.base = outer, outerBase; w.used.scripts-- }()

	for _, doubt := range s.Doubts {
		w.opaqueLine(doubt)
	}
	w.out.misread = w.out.misread || s.Misread
	w.cur.Closes = w.cur.Closes || s.Closes
	w.cur.IgnoresCase = w.cur.IgnoresCase || s.IgnoresCase
	w.cur.FindsHiddenNames = w.cur.FindsHiddenNames || s.FindsHidden
	w.onlyComments = s.Empty
	w.collectAttributes(s)
	w.collectFunctions(s)
	w.lines(s)
}

// lines walks the commands of a script, line by line as bash reads it.
func (w *walker) lines(s *grammar.Script) {
	file := s.Stmts
	if w.used.scripts > 1 {
		w.declaresLater(file)
	}
	begin := len(w.aborts)
	for i, st := range file {
		if w.used.overLimit {
			return
		}
		if i > 0 {
			is, certainly := w.newLine(file[i-1], st)
			if is {
				w.goOn(begin)
			}
			if certainly {
				begin = len(w.aborts)
			}
		}
		w.stmt(st)
	}
	w.goOn(begin)
}

// newLine reports whether a line may end between two commands, and whether it certainly
// does: a backslash joins lines, but not in a comment.
func (w *walker) newLine(a, b *syntax.Stmt) (is, certainly bool) {
	from, to := int(a.End().Offset()), int(b.Pos().Offset())
	if from > to || to > len(w.src) {
		return true, false
	}
	between := w.src[from:to]
	is = strings.Contains(between, "\n")
	return is, is && !strings.Contains(between, "\\\n")
}

// declaresLater records declarations of eval, a trap or another shell that change or
// hide a variable: commands that were walked before may run again after them.
func (w *walker) declaresLater(file []*syntax.Stmt) {
	for _, st := range file {
		syntax.Walk(st, func(n syntax.Node) bool {
			c, is := n.(*syntax.DeclClause)
			if !is || c.Variant.Value == "export" {
				return true
			}
			for _, a := range c.Args {
				if option := a.Name == nil && a.Value != nil; w.cur.Locals != nil || option && strings.Trim(a.Value.Lit(), "-xp") != "" || a.Array != nil {
					w.unknown(unknown.DeclaresInside, w.source(c))
				}
			}
			return true
		})
	}
}

// collectAttributes records the attributes that a script gives to names.
func (w *walker) collectAttributes(s *grammar.Script) {
	for _, n := range s.Declarations {
		t := grammar.AttributesOf(n)
		for _, a := range n.Args {
			if a.Name != nil {
				w.cur.Attributes[a.Name.Value] |= t
			}
		}
	}
	for _, name := range s.Arrays {
		w.cur.Attributes[name] |= grammar.Listed
	}
}

// collectFunctions records the functions of a script, in any place: a name that is a
// function in one place is treated as one everywhere.
func (w *walker) collectFunctions(script *grammar.Script) {
	if len(script.Functions) == 0 {
		return
	}
	top := map[*syntax.Stmt]bool{}
	for _, s := range script.Stmts {
		top[s] = true
	}
	for _, s := range script.Functions {
		decl := s.Cmd.(*syntax.FuncDecl)
		names := decl.Names
		if decl.Name != nil {
			names = append(names[:len(names):len(names)], decl.Name)
		}
		if w.cur.HasHandler { // a handler may call it
			w.cur.Forget(unknown.HandlerRuns)
		}
		for _, name := range names {
			if takenApart(name.Value) || slices.Contains([]string{"declare", "typeset", "readonly", "local", "export", "let", "command_not_found_handle"}, name.Value) {
				w.shadows(name.Value)
			}
			f := w.cur.Funcs[name.Value]
			if f == nil {
				f = &shell.Function{At: decl.Pos().Offset(), Sure: top[s] && w.used.scripts == 1 && !s.Background && !s.Negated && len(s.Redirs) == 0}
				w.cur.Funcs[name.Value] = f
			} else {
				f.Sure = false
			}
			if len(f.Bodies) < maxBodies {
				f.Bodies = append(f.Bodies, decl.Body)
				f.Srcs = append(f.Srcs, w.src)
			} else {
				w.unknown(unknown.TooManyBodies, name.Value)
			}
		}
	}
}

// runLater walks a script that may run later, or never: its commands are parts, but its
// assignments may not happen.
func (w *walker) runLater(via, text string) {
	saved := w.cmd
	w.cmd = command{}
	w.inConstruct(via, func() { w.mayRun(func() { w.script(text) }) })
	w.cmd = saved
}

func (w *walker) walkLate(via, text string) {
	entered := w.files.entered
	w.files.entered = w.files.visited
	w.inSubshell(func() {
		w.cur.Forget(unknown.RunsAnyTime)
		w.cur.Name = ""
		w.runLater(via, text)
	})
	w.files.entered = entered
}

// lateFolders walks late code again if the line has entered other folders since.
func (w *walker) lateFolders() {
	for _, l := range w.lateCode {
		if l.visited < len(w.files.visited) {
			w.walkLate(l.via, l.text)
		}
	}
}
