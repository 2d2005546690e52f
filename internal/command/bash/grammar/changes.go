package grammar

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/command/bash/texts"
)

// Changes describes what statements may change in the state of the shell that runs them.
type Changes struct {
	// Variables are the assignments, in order.
	Variables []Change
	// Params is set if they may change $1, $2 and so on, Folder the current folder, Pushed
	// the stack of folders, and Exports the set of exported variables.
	Params, Folder, Pushed, Exports bool
	// Anything is set if they may change anything at all, and Leaves if they may leave the
	// enclosing loop or function.
	Anything, Leaves bool
	// Nodes is the number of nodes that were read.
	Nodes int
}

// Change is an assignment to a variable.
type Change struct {
	Name string
	// Number is set if a number is assigned, Counts if arithmetic assigns it.
	Number, Counts bool
	// Value is the assigned word, nil for other assignments.
	Value *syntax.Word
}

// SetByMatch are the variables that [[ x =~ y ]] sets in zsh (zshmisc(1), "Conditional
// Expressions"); [SetToNumber] are the integers among them.
var SetByMatch, SetToNumber = []string{"MATCH", "match", "mbegin", "mend", "MBEGIN", "MEND"}, []string{"MBEGIN", "MEND"}

// None reports whether nothing may change.
func (c *Changes) None() bool {
	return len(c.Variables) == 0 && !c.Params && !c.Folder && !c.Exports && !c.Anything
}

// Definitions looks up definitions of a line: the bodies of a function, and whether a
// name is an alias.
type Definitions interface {
	Bodies(function string) []*syntax.Stmt
	IsAlias(name string) bool
}

// ChangesOf returns what statements may change. It reads at most nodes nodes. If there
// are more, anything may change.
func ChangesOf(body []*syntax.Stmt, defined Definitions, nodes int) Changes {
	r := changeReader{defined: defined, limit: nodes, seen: map[string]bool{}}
	r.read(body)
	return r.Changes
}

// AssignsInside reports whether an expansion in the values of assignments may assign:
// ${x:=y}, $((x=1)).
func AssignsInside(list []*syntax.Assign) (found bool) {
	for _, a := range list {
		syntax.Walk(a, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.BinaryArithm, *syntax.UnaryArithm:
				found = true
			case *syntax.ParamExp:
				found = found || n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull)
			}
			return !found
		})
	}
	return found
}

type changeReader struct {
	Changes
	defined Definitions
	limit   int
	seen    map[string]bool // functions
}

func (r *changeReader) read(body []*syntax.Stmt) {
	for _, st := range body {
		syntax.Walk(st, r.node)
	}
}

// node reads what one node of the syntax tree changes. It returns whether the nodes
// below it are to be read.
func (r *changeReader) node(n syntax.Node) bool {
	if r.Nodes++; r.Nodes > r.limit {
		r.Anything = true
		return false
	}
	switch n := n.(type) {
	case *syntax.Subshell:
		return false // it runs in a copy of the state
	case *syntax.Assign:
		r.assign(n)
	case *syntax.WordIter:
		r.sets(n.Name.Value)
	case *syntax.Redirect:
		if n.N != nil && strings.HasPrefix(n.N.Value, "{") {
			r.sets(strings.Trim(n.N.Value, "{}"))
		}
	case *syntax.BinaryArithm, *syntax.UnaryArithm, *syntax.LetClause:
		r.arith(n)
	case *syntax.ParamExp:
		if n.Exp != nil && n.Param != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
			r.sets(n.Param.Value)
		}
	case *syntax.BinaryTest:
		if n.Op == syntax.TsReMatch {
			for _, name := range SetByMatch {
				r.sets(name)
			}
		}
	case *syntax.CoprocClause:
		r.Anything = true
	case *syntax.CallExpr:
		r.call(n.Args)
	}
	return true
}

func (r *changeReader) sets(name string) { r.Variables = append(r.Variables, Change{Name: name}) }

func (r *changeReader) assign(a *syntax.Assign) {
	if a.Name == nil {
		return
	}
	r.Variables = append(r.Variables, Change{Name: a.Name.Value, Value: a.Value, Number: a.Value != nil && a.Index == nil && IsNumber(a.Value)})
}

// arith reads the variables that an arithmetic expression sets.
func (r *changeReader) arith(n syntax.Node) {
	if let, is := n.(*syntax.LetClause); is {
		for _, x := range let.Exprs {
			if word, ok := x.(*syntax.Word); ok && !texts.PlainName(word.Lit()) && !texts.PlainNumber(word.Lit()) {
				r.Anything = true // let 'x=1'
			}
		}
	}
	left := AssignedBy(n)
	switch name := ArithName(left); {
	case left == nil:
	case name != "":
		r.Variables = append(r.Variables, Change{Name: name, Number: true, Counts: true})
	default:
		r.Anything = true // an element
	}
}

// call reads what a command changes. An unknown command may change anything.
func (r *changeReader) call(args []*syntax.Word) {
	if len(args) == 0 {
		return
	}
	name, ok := Literal(args[0])
	if !ok {
		r.Anything, r.Leaves = true, true
		return
	}
	if bodies := r.defined.Bodies(name); bodies != nil && !r.seen[name] {
		r.seen[name] = true
		r.read(bodies)
	}
	r.Anything = r.Anything || r.defined.IsAlias(name)
	switch name {
	case "dirs":
		r.Pushed = true
	case "cd", "pushd", "popd":
		r.Folder = true
	case "read", "mapfile", "readarray", "unset", "getopts", "printf", "wait", "declare", "typeset", "local", "export", "readonly", "let":
		r.words(name, args[1:])
	case "set", "shift":
		r.Params, r.Exports = true, r.Exports || name == "set"
	case "eval", "source", ".", "trap", "alias", "enable":
		r.Anything = true
	case "return", "break", "continue":
		r.Leaves = true
	case "command", "builtin", "exec":
		r.Leaves = r.Leaves || name != "exec"
		r.call(args[1:])
		if len(args) > 1 {
			text, ok := Literal(args[1])
			r.Anything = r.Anything || !ok || strings.HasPrefix(text, "-")
		}
	}
}

// words reads the variables that the words of a builtin name. If they may name other
// variables, anything may change.
func (r *changeReader) words(builtin string, words []*syntax.Word) {
	for i, word := range words {
		text, ok := Literal(word)
		name, _, _ := strings.Cut(text, "=")
		begin, before := text, ""
		if lit, is := word.Parts[0].(*syntax.Lit); is && !ok {
			begin = lit.Value // x="$y"
		}
		assigned, _, assigns := AssignmentLike(begin)
		if i > 0 {
			before, _ = Literal(words[i-1])
		}
		switch {
		case ok && texts.PlainName(name):
			r.sets(name)
		case builtin == "printf" && i > 1, builtin == "printf" && i == 0 && ok && !strings.HasPrefix(text, "-"), builtin == "printf" && before != "-v" && i == 1:
			// values that it prints
		case builtin == "wait" && ok && !strings.HasPrefix(text, "-"), builtin == "wait" && !strings.HasPrefix(before, "-p"):
		case builtin == "let":
			r.Anything = true
		case ok && len(text) == 2 && text[0] == '-', ok && strings.Trim(text, "-rse") == "", builtin == "read" && len(before) == 2 && before[0] == '-' && strings.Contains("dpnNtui", before[1:]) && quotedAlone(word):
		case assigns:
			r.sets(strings.TrimRight(assigned, "+="))
		default:
			r.Anything = true
		}
	}
}
