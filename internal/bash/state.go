package bash

import (
	"maps"
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/bash/grammar"
	"cardea.dev/internal/bash/shell"
	"cardea.dev/internal/bash/unknown"
	"cardea.dev/internal/knowledge"
)

// taint makes every later command of this shell opaque, unless one already is.
func (w *walker) taint(why cardea.Opaque) {
	if why.Code == "" || w.cur.Later.Code != "" {
		return
	}
	w.cur.Later = why
	if w.cur.HasExitTrap {
		w.opaqueLine(cardea.Opaque{Code: why.Code, Text: unknown.Shorten(w.src), Reason: "a trap runs after " + why.Reason})
	}
}

// export marks a variable as given to every later command.
func (w *walker) export(name string) {
	if slices.Contains(w.cur.Exported, name) {
		return
	}
	if len(w.cur.Exported) >= maxExported {
		w.unknown(unknown.TooManyExports, "")
		return
	}
	w.cur.Exported = append(w.cur.Exported, name)
}

// exportedVariables are the exported variables with the values that they have now.
func (w *walker) exportedVariables() []cardea.Assign {
	var out []cardea.Assign
	for _, name := range w.cur.Exported {
		a := cardea.Assign{Name: name}
		if v := w.lookup(name); v.Known() {
			a.Value, a.Static = v.Text, true
		}
		a.Class = knowledge.AssignmentClass(a.Name, a.Value, a.Static)
		out = append(out, a)
	}
	return out
}

// collectFunctions notes the functions that were found in a script, wherever they stand: a
// name that is a function somewhere is judged as one everywhere.
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

// takenApart reports a builtin or a wrapper, whose words are followed.
func takenApart(name string) bool {
	_, is := builtinOf(name)
	_, unwrap := wrapperOf(name)
	return is || unwrap != nil
}

// shadows notes a function or an alias that stands for what is read here.
func (w *walker) shadows(name string) {
	w.unknown(unknown.ShadowsCommand, name)
}

// uncalled walks the bodies of functions that nothing called: handlers run
// without a call.
func (w *walker) uncalled() {
	for changed := true; changed; {
		changed = false
		for _, name := range slices.Sorted(maps.Keys(w.cur.Funcs)) {
			if f := w.cur.Funcs[name]; !f.Walked {
				changed = true
				w.callFunction(name, f, nil, false)
			}
		}
	}
}
