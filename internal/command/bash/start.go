package bash

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/bash/shell"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/files"
	"cardea.dev/internal/command/knowledge/form"
)

// call handles a simple command.
func (w *commands) call(c *syntax.CallExpr, redirs []*syntax.Redirect) {
	var spots []cardea.Opaque
	saved := w.cmd
	w.cmd.spots, w.cmd.pending, w.cmd.appends = &spots, nil, false
	defer func() { w.cmd = saved }()

	inv := invocation{start: w.offset(c), text: w.source(c), wrappers: slices.Clone(w.enclosing.wrappers), enclosing: w.enclosing.outer, mayFail: w.mayFail(redirs)}
	reads := ""
	w.cmd.reads = &reads
	inv.argv = make([]field, 0, len(c.Args))
	w.cmd.expands, w.cmd.colon = true, len(c.Args) > 0 && c.Args[0].Lit() == ":" && len(redirs) == 0 && w.cur.IsPlainCommand(":")
	for i, word := range c.Args {
		split := w.used.split
		if inv.argv = w.appendFields(inv.argv, word); w.used.split > split {
			inv.splits = inv.splits || i > 0
			inv.mayFail = inv.mayFail || i == 0 // zsh searches a command whose name has a blank
		}
	}
	if len(inv.argv) > 0 && w.runByShell(inv.argv[0]) {
		w.fed, reads = w.fed+reads, "" // commands that it runs or sets may read it
	}
	if len(c.Args) == 0 {
		w.cmd.reads = nil
		w.assignments(c, redirs, &spots)
		return
	}
	w.prefixes(c.Assigns, &inv)
	inv.access = w.redirects(redirs)
	if len(inv.argv) == 0 {
		// All words vanished: bash runs nothing, or the output of a substitution.
		if grammar.Expands(c.Args[0]) {
			w.unknown(unknown.CommandName, w.source(c.Args[0]))
		}
		w.emit(cardea.Part{
			ShellFacts:   cardea.ShellFacts{Text: inv.text, Opaque: spots, Start: inv.start, NoEffect: len(inv.access) == 0},
			CommandFacts: cardea.CommandFacts{Access: inv.access},
		})
		return
	}
	w.start(inv)
}

// prefixes reads the assignments before a command. Each can use the values of those before it.
func (w *commands) prefixes(list []*syntax.Assign, inv *invocation) {
	outer := make([]shell.Value, len(list))
	for i, a := range list {
		given, v := w.prefix(a)
		inv.assigns = append(inv.assigns, given)
		inv.mayBe(given.Name, v.May)
		if outer[i] = w.cur.Vars.Get(given.Name); i+1 < len(list) {
			w.cur.Vars.Set(given.Name, shell.Join(outer[i], v))
		}
	}
	stays := grammar.AssignsInside(list) // y=$((x=1))
	for i := len(list) - 2; i >= 0; i-- {
		name := inv.assigns[i].Name
		if stays {
			outer[i] = shell.Join(outer[i], w.cur.Vars.Get(name))
		}
		w.cur.Vars.Set(name, outer[i])
	}
}

// assignments handles a command that only sets variables.
func (w *commands) assignments(c *syntax.CallExpr, redirs []*syntax.Redirect, spots *[]cardea.Opaque) {
	w.unless(w.mayFail(redirs), func() {
		for _, a := range c.Assigns {
			w.assign(a)
		}
	})
	access := w.redirects(redirs)
	for _, a := range c.Assigns {
		if a.Name != nil && classOf(a.Name.Value, w.lookup(a.Name.Value)) == cardea.EnvDangerous {
			w.unknown(unknown.SetsVariable, w.source(a), a.Name.Value)
		}
	}
	w.emit(cardea.Part{
		ShellFacts:   cardea.ShellFacts{Text: w.source(c), Opaque: *spots, Start: w.offset(c), NoEffect: len(access) == 0},
		CommandFacts: cardea.CommandFacts{Access: access},
	})
}

// start handles an invocation by its first word: as a function, alias, builtin, wrapper
// or program.
func (w *commands) start(inv invocation) {
	if w.used.overLimit || len(inv.argv) == 0 {
		return
	}
	if len(inv.wrappers) > maxWrappers {
		w.unknown(unknown.TooManyWrappers, inv.text)
		w.emitProgram(inv)
		return
	}
	first := inv.argv[0]
	if !first.Static {
		reason := unknown.CommandName
		if first.Glob {
			reason = unknown.CommandPattern
		}
		w.unknown(reason, first.Text)
		for _, from := range w.cmd.pending {
			if !from.variable || w.cur.Origins[variableAlone(first.Text)] == from.at {
				w.out.Pipes = append(w.out.Pipes, Pipe{From: from.at, To: [2]int{len(w.out.Parts), len(w.out.Parts) + 1}, Code: true})
			}
		}
		w.emitProgram(inv)
		return
	}
	name := first.Text
	if _, is := builtinOf(name); inv.splits && (is && !onlyLooks(name) || !w.cur.IsPlainCommand(name) || len(inv.wrappers) > len(w.enclosing.wrappers)) {
		w.unknown(unknown.ZshSplits, inv.text)
	}
	if !inv.program {
		if w.alias(inv, name) || w.function(inv, name) {
			return
		}
		if len(w.fronts) > 0 && w.deactivates(inv) {
			w.noEffect(inv)
			return
		}
		if b, ok := builtinOf(name); ok {
			if startsOther(name) {
				inv.enclosing = inv.outerAndSelf()
			}
			inv.mayFail = inv.mayFail || w.cur.POSIX && !inPOSIX(name)
			w.builtin(b, inv)
			return
		}
	}
	if spec, unwrap := wrapperOf(name); unwrap != nil {
		if strings.Contains(name, "/") && !files.HoldsPrograms(path.Dir(name)) {
			w.emitProgram(inv) // a file of that name may be anything
		}
		inv.enclosing = inv.outerAndSelf()
		unwrap(w, spec, inv)
		return
	}
	w.emitProgram(inv)
}

// onlyLooks reports whether a builtin has no lasting effect, so that the splitting of a
// word is irrelevant.
func onlyLooks(name string) bool {
	return slices.Contains([]string{":", "true", "false", "test", "[", "printf"}, name)
}

// builtin runs a builtin of the shell. Assignments before it apply while it runs, and
// for the special builtins of POSIX perhaps afterwards.
func (w *commands) builtin(b builtin, inv invocation) {
	before := map[string]shell.Value{}
	for _, a := range inv.assigns {
		before[a.Name] = w.cur.Vars.Get(a.Name)
		w.cur.Vars.Set(a.Name, shell.Any)
		w.holdsCode(a.Name, shell.SomeOf(append(inv.may[a.Name], a.Value)))
	}
	w.unless(inv.mayFail, func() { w.codeWords(inv); b(w, inv) })
	name := inv.argv[0].Text
	for _, a := range inv.assigns {
		switch {
		case special(name):
			w.forgetName(a.Name)
		case shell.Same(w.cur.Vars.Get(a.Name), shell.Any):
			w.cur.Vars.Set(a.Name, before[a.Name])
		default:
			w.cur.Vars.Set(a.Name, shell.Join(before[a.Name], w.cur.Vars.Get(a.Name)))
		}
	}
}

// special reports whether assignments before a builtin stay: after the special builtins
// of POSIX, and after those that run other commands of this shell.
func special(name string) bool { return knowledge.Has(form.StaysAfter, name) }

// inPOSIX reports whether every sh has this builtin, which changes its state.
func inPOSIX(name string) bool { return knowledge.Has(form.InEveryShell, name) }

// builtin is a function that handles a command that bash runs itself.
type builtin func(w *commands, inv invocation)

// builtinOf returns the handler of a builtin that changes the line's state, runs its
// words, or has no access. It returns false for every other builtin, which is treated as
// a program of that name.
func builtinOf(name string) (builtin, bool) {
	switch name {
	case ":", "true", "false", "return", "exit", "break", "continue", "wait", "times", "jobs", "logout", "caller", "umask":
		return (*commands).noEffect, true
	case "test", "[":
		return (*commands).testBuiltin, true
	case "printf", "read", "mapfile", "readarray", "getopts", "let", "unset":
		return (*commands).setter, true
	case "set", "shift":
		return (*commands).setBuiltin, true
	case "shopt":
		return (*commands).shopt, true
	case "alias", "unalias":
		return (*commands).aliasBuiltin, true
	case "trap":
		return (*commands).trap, true
	case "eval":
		return (*commands).eval, true
	case "source", ".":
		return (*commands).sourced, true
	case "exec", "command", "builtin", "noglob", "nocorrect":
		return (*commands).prefixBuiltin, true
	case "cd", "pushd", "popd":
		return (*commands).cd, true
	case "dirs":
		return (*commands).dirs, true
	case "export", "readonly", "declare", "typeset", "local":
		return (*commands).declareWords, true
	case "enable", "hash", "complete", "compgen", "bind", "fc", "emulate", "autoload", "zcompile", "zmodload", "sysopen", "history":
		return (*commands).opaqueBuiltin, true
	}
	return nil, false
}

// unwrap is a function that removes a wrapper from an invocation and continues with the
// command that it starts.
type unwrap func(w *commands, s *wrapper, inv invocation)

// wrapperOf returns the wrapper of a program and the function that removes it, or nil if
// the program is no wrapper.
func wrapperOf(name string) (*wrapper, unwrap) {
	s := (*wrapper)(knowledge.WrapperOf(path.Base(name)))
	if s == nil {
		return nil, nil
	}
	how, ok := map[string]unwrap{
		"shell": (*commands).shellProgram, "foreign_shell": (*commands).foreignShell, "environment": (*commands).envCommand, "search": (*commands).find,
		"input": (*commands).xargs, "templates": (*commands).parallel, "lock": (*commands).flock, "recording": (*commands).scriptCommand,
		"user": (*commands).su, "container": (*commands).container, "later": (*commands).later,
	}[s.How]
	if !ok {
		return s, (*commands).plainWrapper
	}
	return s, how
}
