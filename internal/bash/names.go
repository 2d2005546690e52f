package bash

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/bash/grammar"
	"cardea.dev/internal/bash/texts"
	"cardea.dev/internal/bash/unknown"
	"cardea.dev/internal/knowledge"
)

// collectTraits notes the traits that a script gives to names.
func (w *walker) collectTraits(s *grammar.Script) {
	for _, n := range s.Declarations {
		t := grammar.TraitsOf(n)
		for _, a := range n.Args {
			if a.Name != nil {
				w.shell.traits[a.Name.Value] |= t
			}
		}
	}
	for _, name := range s.Arrays {
		w.shell.traits[name] |= grammar.Listed
	}
}

// counter reports variables that bash keeps as integers by itself (bash(1),
// "Shell Variables"). An assignment to one is evaluated.
func counter(name string) bool { return knowledge.IsVariableOf("counter", name) }

// shellSets reports variables that bash itself sets to what the line brings
// along, so that what the line has assigned says nothing.
func shellSets(name string) bool {
	return knowledge.IsVariableOf("set_by_shell", name) || strings.HasPrefix(name, "BASH")
}

// lookup is what is known of a variable here.
func (w *walker) lookup(name string) value {
	switch {
	case counter(name) && !w.cur.unsure && w.shell.traits[name]&grammar.Odd == 0:
		return someNumber
	case w.cur.unsure, shellSets(name), w.shell.traits[name]&grammar.Odd != 0:
		return value{kind: dynamic, may: w.mayBe(name), fromOutside: w.cur.vars.get(name).mayBeOutside() || w.shell.locals != nil && w.shell.traits[name]&grammar.Odd != 0}
	case w.shell.traits[name]&grammar.Integer != 0:
		if v := w.cur.vars.get(name); v.kind != outside && (v.kind != known || !texts.Decimal(v.text)) {
			if same(v, someNumber) || same(v, safeValue) {
				return v
			}
			return value{kind: dynamic, fromOutside: v.fromOutside}
		}
	}
	return w.cur.vars.get(name)
}

// set assigns a variable in the shell itself.
func (w *walker) set(name string, v value) {
	if name == "HOME" && v.kind != known {
		v = value{kind: dynamic}
	}
	if w.shell.traits[name]&grammar.Integer != 0 || counter(name) {
		v = w.evaluated(name, v)
	}
	if w.isFixed(name) {
		if w.shell.fixedSet[name] || fixedByBash(name) {
			w.mayAbort()
			w.cur.unsure = true
		}
		w.shell.fixedSet[name] = true
	}
	w.store(name, v)
}

// evaluated is what an integer holds after an assignment.
func (w *walker) evaluated(name string, v value) value {
	if v.kind == known && texts.Decimal(v.text) {
		return v
	}
	w.mayAbort()
	switch {
	case v.kind == known:
		w.used.evaluating++
		w.arithText(v.text, name)
		w.used.evaluating--
	case !numeric(v):
		w.unknown(unknown.Evaluated, name)
	}
	if v.kind == unset {
		return v
	}
	return someNumber
}

// isFixed reports whether a variable can be read-only.
func (w *walker) isFixed(name string) bool {
	return fixedByBash(name) || w.shell.traits[name]&grammar.Fixed != 0
}

// fixedByBash reports the variables that are read-only in every bash.
func fixedByBash(name string) bool { return knowledge.IsVariableOf("read_only", name) }

// store changes a variable without looking at what bash would evaluate.
func (w *walker) store(name string, v value) {
	w.cur.vars.set(name, v)
	w.holdsCode(name, v)
	if v.kind != known && w.cmd.spots != nil && len(w.cmd.pending) > 0 {
		w.shell.origins[name] = w.cmd.pending[len(w.cmd.pending)-1].at
	}
	if classOf(name, v) == cardea.EnvDangerous && name != "IFS" && (v.kind != unset || !knowledge.HarmlessToUnset(name)) {
		reason := unknown.VariableLater
		if name == "PATH" {
			reason = unknown.SearchPathLater
		}
		w.unknown(reason, "", name)
	}
	if w.cur.allexport || v.kind != unset && w.env.Exported != nil && w.env.Exported(name) {
		w.export(name)
	}
}

// forgetName makes a variable unknown.
func (w *walker) forgetName(name string) {
	old := w.cur.vars.get(name)
	v := value{kind: dynamic, may: old.texts(), fromOutside: old.mayBeOutside()}
	if w.shell.traits[name]&grammar.Integer != 0 {
		v = someNumber // what is assigned is looked at where it is assigned
	}
	w.store(name, v)
}

// evaluatesSafely reports whether arithmetic may evaluate a value: a number, or what the
// person's environment holds.
func evaluatesSafely(v value) bool { return v.kind == outside || numeric(v) || same(v, safeValue) }

// numeric reports whether a value is a number, or nothing, for certain.
func numeric(v value) bool {
	switch v.kind {
	case unset:
		return true
	case known:
		return v.text == "" || texts.PlainNumber(v.text)
	case array:
		return !slices.ContainsFunc(v.list, func(s string) bool { return s != "" && !texts.PlainNumber(s) })
	}
	return v.holdsNumber() || same(v, someProcess)
}

// holdsNumber reports a value that is a number which is not known.
func (v value) holdsNumber() bool {
	return v.kind == dynamic && (v.text == someNumber.text || v.text == numberWord)
}
