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
	"cardea.dev/internal/command/knowledge"
)

// assign sets a variable of the shell.
func (w *words) assign(a *syntax.Assign) {
	if a.Name == nil {
		w.walkWord(a.Value)
		return
	}
	name := a.Name.Value
	if a.Index != nil {
		w.subscript(a.Index)
		w.setElement(name, w.assigned(a.Value))
		return
	}
	if a.Array != nil {
		w.set(name, w.arrayValue(a))
		return
	}
	v := w.assigned(a.Value)
	if a.Append {
		if w.cur.Attributes[name]&grammar.Integer != 0 || shell.Counter(name) {
			w.evaluated(name, v)
			v = shell.SomeNumber // the sum
		} else if old := w.lookup(name); old.Numeric() && v.Numeric() && w.cur.Attributes[name]&grammar.Counted != 0 {
			v = shell.SomeNumber // the sum in zsh
		} else if old.Known() && v.Known() {
			v.Text = old.Text + v.Text
		} else if !old.IsUnset() {
			v = w.someOf(w.joined(w.joined([]string{""}, w.mayBe(name)), v.Texts()))
		}
	}
	w.set(name, v)
}

// setElement assigns an element of an array, or of a variable that becomes an array.
func (w *words) setElement(name string, v shell.Value) {
	if !v.Known() {
		v = shell.SomeOf(v.May)
	}
	others := append(w.mayBe(name), v.Texts()...)
	w.set(name, v) // an integer evaluates it
	w.store(name, w.someOf(others))
}

// arrayValue returns the value of an array after an assignment: its elements if all are
// certain, else the texts that it may hold.
func (w *words) arrayValue(a *syntax.Assign) shell.Value {
	var elements, may []string
	certain := true
	if a.Append {
		old := w.lookup(a.Name.Value)
		if certain = old.IsArray(); certain {
			elements = slices.Clone(old.May)
		}
		may = slices.Clone(w.mayBe(a.Name.Value))
	}
	for _, e := range a.Array.Elems {
		if e.Index != nil {
			w.subscript(e.Index)
			may = append(may, w.assigned(e.Value).Texts()...)
			certain = false
			continue
		}
		split := w.used.split
		for _, f := range w.elements(e.Value) {
			certain = certain && w.used.split == split && f.Static && len(elements) <= maxList
			if len(elements) > maxList { // the later elements are still evaluated
				continue
			}
			elements = append(elements, f.Text)
			may = append(may, w.mayHold(f)...)
		}
	}
	if certain {
		return shell.Array(elements)
	}
	return w.someOf(append(may, strings.Join(may, " ")))
}

// prefix reads an assignment before a command: it returns the assignment that the
// command receives, and the value.
func (w *words) prefix(a *syntax.Assign) (cardea.Assign, shell.Value) {
	out := cardea.Assign{}
	if a.Name != nil {
		out.Name = a.Name.Value
	}
	if a.Index != nil {
		w.subscript(a.Index)
	}
	if a.Array != nil {
		w.arrayValue(a)
	}
	v := w.assigned(a.Value)
	w.evaluatedByZsh(out.Name, v)
	if v.Known() && !a.Append && a.Array == nil {
		out.Value, out.Static = v.Text, true
	}
	out.Class = knowledge.AssignmentClass(out.Name, out.Value, out.Static && a.Index == nil && a.Array == nil)
	if !out.Static {
		v = shell.SomeOf(v.Texts())
	}
	return out, v
}

// classOf returns the class of effects of a variable with a value.
func classOf(name string, v shell.Value) cardea.EnvClass {
	if !v.Known() && v.Numeric() {
		return knowledge.AssignmentClass(name, "0", true)
	}
	return knowledge.AssignmentClass(name, v.Text, v.Known())
}

// set assigns a variable in the shell itself.
func (w *words) set(name string, v shell.Value) {
	if name == "HOME" && !v.Known() {
		v = shell.Any
	}
	if w.cur.Attributes[name]&grammar.Integer != 0 || shell.Counter(name) {
		v = w.evaluated(name, v)
	}
	w.evaluatedByZsh(name, v)
	if w.cur.IsFixed(name) {
		if w.cur.FixedSet[name] || shell.Fixed(name) {
			w.mayAbort()
			w.cur.Doubt(unknown.SetsReadOnly)
		}
		w.cur.FixedSet[name] = true
	}
	w.store(name, v)
}

// evaluatedByZsh checks a value assigned to a variable that may be an integer only in zsh.
func (w *words) evaluatedByZsh(name string, v shell.Value) {
	if w.cur.Attributes[name]&grammar.Counted != 0 && !v.Numeric() {
		w.unknown(unknown.ZshEvaluated, name)
	}
}

// evaluated returns the value of an integer variable after an assignment.
func (w *words) evaluated(name string, v shell.Value) shell.Value {
	if v.Known() && texts.Decimal(v.Text) {
		return v
	}
	w.mayAbort()
	switch {
	case v.Known():
		w.used.evaluating++
		w.arithText(v.Text, name)
		w.used.evaluating--
	case !v.Numeric():
		w.unknown(unknown.Evaluated, name)
	}
	if v.IsUnset() {
		return v
	}
	return shell.SomeNumber
}

// store changes a variable without checking what bash would evaluate.
func (w *words) store(name string, v shell.Value) {
	w.cur.Vars.Set(name, v)
	w.holdsCode(name, v)
	if !v.Known() && w.cmd.spots != nil && len(w.cmd.pending) > 0 {
		w.cur.Origins[name] = w.cmd.pending[len(w.cmd.pending)-1].at
	}
	if classOf(name, v) == cardea.EnvDangerous && name != "IFS" && (!v.IsUnset() || !knowledge.HarmlessToUnset(name)) {
		reason := unknown.VariableLater
		if name == "PATH" {
			reason = unknown.SearchPathLater
		}
		w.unknown(reason, "", name)
	}
	if w.cur.ExportsAll || !v.IsUnset() && w.env.Exported != nil && w.env.Exported(name) {
		w.export(name)
	}
}

// forgetName makes a variable unknown.
func (w *words) forgetName(name string) {
	old := w.cur.Vars.Get(name)
	v := old.Forget()
	if w.cur.Attributes[name]&grammar.Integer != 0 {
		v = shell.SomeNumber // assigned values are checked where they are assigned
	}
	w.store(name, v)
}

// export marks a variable as passed to every later command.
func (w *words) export(name string) {
	if slices.Contains(w.cur.Exported, name) {
		return
	}
	if len(w.cur.Exported) >= maxExported {
		w.unknown(unknown.TooManyExports, "")
		return
	}
	w.cur.Exported = append(w.cur.Exported, name)
}

// exportedVariables returns the exported variables with their current values.
func (w *words) exportedVariables() []cardea.Assign {
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

// assigned returns the value of the right side of an assignment, which bash does not split.
func (w *words) assigned(word *syntax.Word) shell.Value {
	if word == nil || len(word.Parts) == 0 {
		return shell.Known("")
	}
	w.used.words++
	list := w.fragments(word.Parts, leading)
	if tildeLater(word) {
		list = append(list, unsure(0))
	}
	v := concatenated(list)
	if !v.Known() && v.Shape == 0 {
		v.May = w.mayJoin(list)
	}
	return v
}

// tildeLater reports whether word has a tilde after a colon, which is expanded in the
// value of an assignment.
func tildeLater(word *syntax.Word) bool {
	return slices.ContainsFunc(word.Parts, func(p syntax.WordPart) bool {
		lit, ok := p.(*syntax.Lit)
		return ok && strings.Contains(lit.Value, ":~")
	})
}
