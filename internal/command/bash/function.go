package bash

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/bash/shell"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

// function handles a call of a function that the line defines.
func (w *commands) function(inv invocation, name string) bool {
	f := w.cur.Funcs[name]
	if f == nil {
		if f = w.cur.OuterFuncs[name]; f != nil && f.Active && w.cur.ExportsFuncs {
			w.callsItself(w.begun[f])
		}
		return false
	}
	params := make([]string, 0, len(inv.argv))
	static := true
	for _, a := range inv.argv[1:] {
		static = static && a.Static
		params = append(params, w.mayHold(a)...)
	}
	before := map[string]shell.Value{}
	for _, a := range inv.assigns {
		before[a.Name] = w.cur.Vars.Get(a.Name)
		w.forgetName(a.Name)
	}
	defer func() { // what the function sets is gone in bash, and may not be in sh
		for name, v := range before {
			w.cur.Vars.Set(name, shell.Join(v, w.cur.Vars.Get(name)))
		}
	}()
	if len(inv.access) > 0 || len(*w.cmd.spots) > 0 {
		w.emit(cardea.Part{
			ShellFacts:   cardea.ShellFacts{Text: inv.text, Opaque: slices.Clone(*w.cmd.spots), Start: inv.start},
			CommandFacts: cardea.CommandFacts{Access: inv.access},
		})
		defer w.printsInto(len(w.out.Parts))
	}
	sure := f.Sure && !w.cur.UnsetsFuncs && int(f.At) <= w.at && len(w.aborts) == 0
	if !sure { // it may also be the program of that name
		w.emitProgram(inv)
	}
	w.unless(inv.mayFail || !sure, func() { w.callFunction(name, f, params, static) })
	return true
}

// callFunction walks each possible body of a function with its parameters, and joins the
// states after them. A call of a function within itself becomes one opaque part.
func (w *commands) callFunction(name string, f *shell.Function, params []string, known bool) {
	f.Walked = true
	if f.Active {
		w.callsItself(w.begun[f])
		w.emit(cardea.Part{ShellFacts: cardea.ShellFacts{Text: name, Start: -1, Opaque: []cardea.Opaque{unknown.FunctionCallsItself.Spot(name)}}})
		return
	}
	f.Active, w.begun[f] = true, w.begin(name)
	saved, src, base, at := w.cmd, w.src, w.base, w.at
	w.cmd.spots, w.cmd.reads, w.cmd.pending = nil, nil, nil
	w.cmd.stdin = w.cmd.stdin.shared()
	start := w.cur
	for i, body := range f.Bodies {
		w.cur = start.Clone()
		if w.src = f.Srcs[i]; w.src != src {
			w.base = -1
		}
		w.functionBody(name, body, params, known)
		if len(f.Bodies) > 1 { // the actual body is unknown
			start.Join(w.cur)
			w.cur = start
		}
	}
	w.cmd, w.src, w.base, w.at = saved, src, base, at
	f.Active = false
}

// functionBody walks a body of a function, with its own parameters and local variables.
func (w *commands) functionBody(name string, body *syntax.Stmt, params []string, known bool) {
	enclosing, locals, sure, exits, aborts := w.cur, w.cur.Locals, w.sure, len(w.exits), len(w.aborts)
	outer, outerKnown := enclosing.Params, enclosing.ParamsKnown
	w.cur.Params, w.cur.ParamsKnown, w.cur.Locals = params, known && enclosing.Forgotten.None(), map[string]shell.Hidden{}
	w.sure = grammar.RunsFirst(body)
	w.inConstruct("function "+name, func() { w.up.stmts([]*syntax.Stmt{body}) })
	w.mergeExits(nil, exits)
	w.cur.Params, w.cur.ParamsKnown = outer, outerKnown
	for name, hidden := range w.cur.Locals {
		w.cur.Vars.Set(name, hidden.After(w.cur.Vars.Get(name)))
	}
	for _, s := range w.aborts[min(aborts, len(w.aborts)):] { // an abandoned line also leaves the function
		s.Params, s.ParamsKnown = outer, outerKnown
		for name, hidden := range w.cur.Locals {
			s.Vars.Set(name, shell.Join(hidden.Value, s.Vars.Get(name)))
		}
	}
	w.cur.Locals, w.sure = locals, sure
}

// alias handles a word that is an alias of the line. Bash expands it depending on how
// the shell was started, so both readings are analyzed.
func (w *commands) alias(inv invocation, name string) bool {
	stands, ok := w.cur.Aliases[name]
	if !ok {
		return false
	}
	text := stands
	for _, a := range inv.argv[1:] {
		text += " " + quote(a)
	}
	delete(w.cur.Aliases, name) // an alias is not expanded within itself
	w.mayRun(func() { w.nested("alias "+name, text, inv) })
	w.cur.Aliases[name] = stands
	w.emitProgram(inv)
	return true
}

// nested walks a script that a command runs in its own shell or in this one.
func (w *commands) nested(via, text string, inv invocation) {
	if w.runsItself(text) {
		w.emit(cardea.Part{
			ShellFacts:   cardea.ShellFacts{Text: inv.text, Start: inv.start, Opaque: []cardea.Opaque{unknown.ScriptRunsItself.Spot(text)}},
			CommandFacts: cardea.CommandFacts{Access: inv.access},
		})
		return
	}
	if inv.splits {
		w.unknown(unknown.ZshSplits, inv.text)
	}
	w.running = append(w.running, w.begin(text))
	defer func() { w.running = w.running[:len(w.running)-1] }()
	saved, enclosing := w.cmd, w.enclosing
	w.cmd.spots, w.cmd.reads, w.cmd.pending = nil, nil, nil
	w.enclosing = enclosing.with(inv)
	w.cmd.stdin = w.cmd.stdin.shared()
	begin := len(w.out.Parts)
	w.inConstruct(via, func() { w.up.script(text) })
	w.cmd, w.enclosing = saved, enclosing
	// The accesses and spots of the outer command must not be lost.
	if w.cmd.spots != nil && (len(*w.cmd.spots) > 0 || len(inv.access) > 0) || begin == len(w.out.Parts) {
		part := cardea.Part{
			ShellFacts:   cardea.ShellFacts{Text: inv.text, Start: inv.start, Wrappers: inv.wrappers, Outer: inv.outer(), Elevated: inv.elevated},
			CommandFacts: cardea.CommandFacts{Access: inv.access},
		}
		if w.cmd.spots != nil {
			part.Opaque = slices.Clone(*w.cmd.spots)
		}
		w.emit(part)
	}
}

// childShell walks a script in a new shell: it has only the exported constants of this
// one, and its changes do not come back.
func (w *commands) childShell(via, text string, params []field, inv invocation) {
	w.inSubshell(func() {
		exported, later := w.exportedVariables(), w.cur.Later
		if w.cur.ExportsFuncs && len(w.cur.Funcs) > 0 {
			w.unknown(unknown.ExportedFunctions, text)
		}
		defer func(posix, begins bool) { w.cur.POSIX, w.begins = posix, begins }(w.cur.POSIX, w.begins)
		w.begins = false
		program, _, _ := strings.Cut(via, " ")
		w.cur.POSIX = !knowledge.Has(form.IsBash, program) // the others are sh, or start it
		before, home, cwd := w.cur.Vars.All(), w.lookup("HOME"), w.lookup("PWD")
		w.cur.Vars = shell.Variables{} // what the line has set is passed if it was exported before
		for name, v := range before {
			_, hides := w.cur.Locals[name] // it may receive a variable that a function hides
			v = v.Forget()
			if hides {
				v.Presence |= shell.Outside
			}
			w.cur.Vars.Set(name, v)
		}
		w.cur.Vars.Set("HOME", home)
		w.cur.Vars.Set("PWD", cwd)
		w.cur.Forgotten, w.cur.ExportsAll = unknown.Reason{}, false
		w.inherit(inv, exported)
		w.cur.Later = later
		w.cur.Name, w.cur.Params, w.cur.ParamsKnown = program, nil, true
		for i, f := range params {
			switch {
			case !f.Static:
				w.cur.ParamsKnown = false
				w.cur.Params = append(w.cur.Params, w.mayHold(f)...)
				if i == 0 {
					w.cur.Name = ""
				}
			case i == 0:
				w.cur.Name = f.Text
			default:
				w.cur.Params = append(w.cur.Params, f.Text)
			}
		}
		if inv.renamed {
			w.cur.Name = ""
		}
		saved := *w.cur.Facts
		w.cur.Funcs, w.cur.OuterFuncs, w.cur.Locals, w.cur.Aliases = map[string]*shell.Function{}, saved.Funcs, nil, map[string]string{}
		w.nested(via, text, inv)
		w.uncalled()
		w.cur.Funcs, w.cur.OuterFuncs, w.cur.Locals, w.cur.Aliases = saved.Funcs, saved.OuterFuncs, saved.Locals, saved.Aliases
	})
}

// inherit sets the variables of a new shell: exported ones, and those assigned before
// its command.
func (w *commands) inherit(inv invocation, exported []cardea.Assign) {
	for i, a := range slices.Concat(exported, inv.assigns) {
		v := shell.SomeOf(inv.may[a.Name])
		if i < len(exported) { // it is set if the export has run and was not reverted
			v.May = append(v.May, a.Value)
		} else if a.Static && !slices.Contains(inv.dropped, a.Name) && !slices.Contains(inv.dropped, "*") {
			v = shell.Known(a.Value)
		}
		w.cur.Vars.Set(a.Name, v)
		w.holdsCode(a.Name, v)
	}
}

// shadows records a function or an alias with the name of a command that is analyzed.
func (w *commands) shadows(name string) {
	w.unknown(unknown.ShadowsCommand, name)
}

// takenApart reports whether name is a builtin or a wrapper whose words are analyzed.
func takenApart(name string) bool {
	_, is := builtinOf(name)
	_, unwrap := wrapperOf(name)
	return is || unwrap != nil
}

// uncalled walks the bodies of functions that the line does not call: handlers run
// without a call.
func (w *commands) uncalled() {
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
