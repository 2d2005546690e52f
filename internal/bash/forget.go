package bash

import (
	"maps"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/bash/grammar"
	"cardea.dev/internal/bash/shell"
	"cardea.dev/internal/bash/texts"
	"cardea.dev/internal/bash/unknown"
)

// loop walks what may run any number of times: what it sets is unknown inside
// and afterwards.
func (w *walker) loop(body []*syntax.Stmt, walk func()) {
	before, exits, begin := w.cur.Clone(), len(w.exits), len(w.out.Parts)
	tainted := w.cur.Later
	w.forget(body)
	walk()
	w.forget(body)
	w.mergeExits(before, exits)
	if w.cur.Later != tainted {
		// The next round runs what this one has changed.
		w.late = append(w.late, lateSpot{from: begin, to: len(w.out.Parts), why: w.cur.Later})
	}
}

// mergeExits joins the states in which a construct can have been left: by its end,
// not entered at all, or by a jump from its middle. The jumps stay recorded,
// since they may leave what is around the construct too.
func (w *walker) mergeExits(before *shell.State, exits int) {
	if before != nil {
		w.cur.Join(before)
	}
	for _, s := range w.exits[min(exits, len(w.exits)):] {
		w.cur.Join(s)
	}
}

// recordExit records that the commands after this one may not run.
func (w *walker) recordExit() {
	if len(w.exits) >= maxExits {
		w.unknown(unknown.TooManyJumps, w.src)
		return
	}
	w.exits = append(w.exits, w.cur.Clone())
}

// forget makes unknown what statements may set.
func (w *walker) forget(body []*syntax.Stmt) { w.forgetIn(body, map[string]bool{}) }

func (w *walker) forgetIn(body []*syntax.Stmt, seen map[string]bool) {
	for _, st := range body {
		syntax.Walk(st, func(n syntax.Node) bool {
			if w.used.words++; w.used.words > maxWords {
				w.unknown(unknown.TooManyWords, w.src)
				return false
			}
			switch n := n.(type) {
			case *syntax.Assign:
				if n.Name != nil {
					if n.Value != nil && n.Index == nil && grammar.IsNumber(n.Value) {
						w.forgetNumber(n.Name.Value)
					} else {
						w.forgetName(n.Name.Value)
						w.mayLater(n)
					}
					if w.cur.IsFixed(n.Name.Value) {
						w.cur.Doubt(unknown.SetsReadOnly)
					}
				}
			case *syntax.WordIter:
				w.forgetName(n.Name.Value)
			case *syntax.Redirect:
				if n.N != nil && strings.HasPrefix(n.N.Value, "{") {
					w.forgetName(strings.Trim(n.N.Value, "{}"))
				}
			case *syntax.BinaryArithm, *syntax.UnaryArithm, *syntax.LetClause:
				w.forgetArith(n)
			case *syntax.ParamExp:
				if n.Exp != nil && n.Param != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
					w.forgetName(n.Param.Value)
				}
			case *syntax.CoprocClause:
				w.cur.Forget(unknown.AnyCommand)
			case *syntax.CallExpr:
				w.forgetCall(n.Args, seen)
			case *syntax.Subshell:
				w.keepFolder(func() { w.forgetIn(n.Stmts, maps.Clone(seen)) })
				return false
			}
			return true
		})
	}
}

// forgetArith makes unknown what arithmetic sets.
func (w *walker) forgetArith(n syntax.Node) {
	if let, is := n.(*syntax.LetClause); is {
		for _, x := range let.Exprs {
			if word, ok := x.(*syntax.Word); ok && !texts.PlainName(word.Lit()) && !texts.PlainNumber(word.Lit()) {
				w.cur.Forget(unknown.AnyCommand) // let 'x=1'
			}
		}
	}
	left := grammar.AssignedBy(n)
	switch name := grammar.ArithName(left); {
	case left == nil:
	case name != "":
		w.forgetNumber(name)
	default:
		w.cur.Forget(unknown.AnyCommand) // an element
	}
}

// keepFolder forgets what a subshell may set, except for the folder, which stays its own.
func (w *walker) keepFolder(forget func()) {
	cwd, mayFail, pushed, pwd := w.cur.Folder, w.cur.FolderMayFail, w.cur.Pushed, w.cur.Vars.Get("PWD")
	forget()
	if w.cur.Forgotten == 0 {
		w.cur.Folder, w.cur.FolderMayFail, w.cur.Pushed = cwd, mayFail, pushed
		w.cur.Vars.Set("PWD", pwd)
	}
}

// forgetNumber makes unknown which number a variable holds, if it holds one.
func (w *walker) forgetNumber(name string) {
	if v := w.cur.Vars.Get(name); v.Numeric() {
		w.store(name, shell.SomeNumber)
	} else if v.Evaluable() {
		w.store(name, shell.SomeEvaluable)
	} else {
		w.forgetName(name)
	}
}

// forgetCall makes unknown what a command may set. What is not known to set
// nothing may set anything.
func (w *walker) forgetCall(args []*syntax.Word, seen map[string]bool) {
	if len(args) == 0 {
		return
	}
	name, ok := grammar.Literal(args[0])
	if !ok {
		w.cur.Forget(unknown.AnyCommand)
		return
	}
	if f := w.cur.Funcs[name]; f != nil && !seen[name] {
		seen[name] = true
		w.forgetIn(f.Bodies, seen)
	}
	if _, ok := w.cur.Aliases[name]; ok {
		w.cur.Forget(unknown.AnyCommand)
	}
	switch name {
	case "dirs":
		w.cur.Pushed = nil
	case "cd", "pushd", "popd":
		w.cur.Enter("")
	case "read", "mapfile", "readarray", "unset", "getopts", "printf", "wait", "declare", "typeset", "local", "export", "readonly", "let":
		w.forgetWords(name, args[1:])
	case "set", "shift":
		w.cur.ParamsKnown = false
		if name == "set" {
			w.cur.ExportsAll = true
		}
	case "eval", "source", ".", "trap", "alias", "enable":
		w.cur.Forget(unknown.AnyCommand)
	case "command", "builtin", "exec":
		w.forgetCall(args[1:], seen)
		if len(args) > 1 {
			if text, ok := grammar.Literal(args[1]); !ok || strings.HasPrefix(text, "-") {
				w.cur.Forget(unknown.AnyCommand)
			}
		}
	}
}

// forgetWords makes unknown what the words of a builtin name. Where it may name something
// else, that is anything.
func (w *walker) forgetWords(builtin string, words []*syntax.Word) {
	for i, word := range words {
		text, ok := grammar.Literal(word)
		name, _, assigned := strings.Cut(text, "=")
		before := ""
		if i > 0 {
			before, _ = grammar.Literal(words[i-1])
		}
		switch {
		case ok && texts.PlainName(name):
			w.forgetName(name)
		case builtin == "printf" && i > 1, builtin == "printf" && i == 0 && ok && !strings.HasPrefix(text, "-"), builtin == "printf" && before != "-v" && i == 1:
			// what it prints
		case builtin == "wait" && ok && !strings.HasPrefix(text, "-"), builtin == "wait" && !strings.HasPrefix(before, "-p"):
		case builtin == "let":
			w.cur.Forget(unknown.AnyCommand)
		case ok && len(text) == 2 && text[0] == '-', ok && strings.Trim(text, "-rse") == "", builtin == "read" && len(before) == 2 && before[0] == '-' && strings.Contains("dpnNtui", before[1:]) && grammar.QuotedAlone(word):
		case ok && assigned && texts.PlainName(strings.TrimSuffix(name, "+")):
			w.forgetName(strings.TrimSuffix(name, "+"))
		case !ok && grammar.AssignsLiteral(word):
			lit := word.Parts[0].(*syntax.Lit).Value
			w.forgetName(lit[:strings.IndexByte(lit, '=')])
		default:
			w.cur.Forget(unknown.AnyCommand)
		}
	}
}
