package bash

import (
	"strings"

	"cardea.dev"
	"cardea.dev/internal/bash/grammar"
	"cardea.dev/internal/bash/shell"
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
				w.cur.Traits[a.Name.Value] |= t
			}
		}
	}
	for _, name := range s.Arrays {
		w.cur.Traits[name] |= grammar.Listed
	}
}

// shellSets reports variables that bash itself sets to what the line brings
// along, so that what the line has assigned says nothing.
func shellSets(name string) bool {
	return knowledge.IsVariableOf("set_by_shell", name) || strings.HasPrefix(name, "BASH")
}

// lookup is what is known of a variable here.
func (w *walker) lookup(name string) shell.Value {
	forgotten, odd := w.cur.Forgotten != 0, w.cur.Traits[name]&grammar.Odd != 0
	v := w.cur.Vars.Get(name)
	switch {
	case shell.Counter(name) && !forgotten && !odd:
		return shell.SomeNumber
	case forgotten, shellSets(name), odd:
		v = shell.Value{May: w.mayBe(name), Presence: shell.Set | v.Presence&shell.Outside}
		if w.cur.Locals != nil && odd {
			v.Presence |= shell.Outside
		}
	case w.cur.Traits[name]&grammar.Integer != 0:
		if !v.IsUntouched() && !(v.Known() && texts.Decimal(v.Text)) && !v.Has(shell.Numeric) && !v.Has(shell.Evaluable) {
			return shell.Value{Presence: shell.Set | v.Presence&shell.Outside}
		}
	}
	return v
}

// set assigns a variable in the shell itself.
func (w *walker) set(name string, v shell.Value) {
	if name == "HOME" && !v.Known() {
		v = shell.Any
	}
	if w.cur.Traits[name]&grammar.Integer != 0 || shell.Counter(name) {
		v = w.evaluated(name, v)
	}
	if w.cur.IsFixed(name) {
		if w.cur.FixedSet[name] || shell.Fixed(name) {
			w.mayAbort()
			w.cur.Doubt(unknown.SetsReadOnly)
		}
		w.cur.FixedSet[name] = true
	}
	w.store(name, v)
}

// evaluated is what an integer holds after an assignment.
func (w *walker) evaluated(name string, v shell.Value) shell.Value {
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

// store changes a variable without looking at what bash would evaluate.
func (w *walker) store(name string, v shell.Value) {
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
func (w *walker) forgetName(name string) {
	old := w.cur.Vars.Get(name)
	v := old.Forget()
	if w.cur.Traits[name]&grammar.Integer != 0 {
		v = shell.SomeNumber // what is assigned is looked at where it is assigned
	}
	w.store(name, v)
}
