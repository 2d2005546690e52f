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
	"cardea.dev/internal/command/knowledge/form"
)

// declareWords handles export, declare and similar builtins whose words the parser reads
// as plain ones (after command or builtin).
func (w *commands) declareWords(inv invocation) {
	for _, f := range inv.argv[1:] {
		name, value, assigns := strings.Cut(f.Text, "=")
		switch {
		case f.Static && f.Text[:min(1, len(f.Text))] == "-" && f.Text != "--":
			w.unknown(unknown.ValueAttribute, f.Text)
		case !f.Static, !texts.PlainName(name) && f.Text != "--", strings.HasPrefix(value, "("):
			w.unknown(unknown.Evaluated, f.Text)
		case assigns:
			w.set(name, shell.Known(value))
			w.export(name)
		default:
			w.forgetName(name)
			w.export(name)
		}
		w.cur.Attributes[name] |= grammar.Unusual // read-only, or local to a function
	}
	w.cur.Doubt(unknown.DeclaresByWord)
	w.noEffect(inv)
}

// declClause handles declare, export, local, readonly and typeset.
func (w *commands) declClause(c *syntax.DeclClause) {
	var spots []cardea.Opaque
	saved := w.cmd
	w.cmd.spots, w.cmd.pending = &spots, nil
	variant := c.Variant.Value
	exports := variant == "export"
	before := w.cur.Clone() // bash expands all words before it sets any
	for _, a := range c.Args {
		if a.Name == nil {
			text, ok := w.static(a.Value)
			switch {
			case ok && (strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+")):
				exports = exports || strings.Contains(text, "x") && text[0] == '-'
				// -F only prints in bash, and makes a float in zsh.
				if strings.Trim(text[1:], "-aAfFgiIlnprtux") != "" || strings.Contains(text, "F") && len(c.Args) > 1 {
					w.unknown(unknown.ZshDeclaration, text)
				}
				if strings.ContainsAny(text, "n") && variant != "export" || strings.Contains(text, "f") && text[0] == '-' {
					w.unknown(unknown.NameAttribute, text)
					w.evaluates(w.source(c))
				}
				if strings.Contains(text, "f") {
					w.cur.ExportsFuncs = true
				}
			default:
				w.unknown(unknown.Evaluated, w.source(a))
			}
			continue
		}
		prior, aborts := w.cur.Clone(), len(w.aborts)
		if w.declared(a, before, exports, slices.Contains(w.sure, c), variant); len(w.aborts) > aborts {
			w.aborts = append(w.aborts, prior) // with the names that were set before
		}
	}
	for _, a := range c.Args {
		if a.Name != nil && classOf(a.Name.Value, w.lookup(a.Name.Value)) == cardea.EnvDangerous && (!a.Naked || exports || w.cur.Locals != nil && variant != "readonly") {
			w.unknown(unknown.SetsVariable, w.source(a), a.Name.Value)
		}
	}
	w.cmd.spots = saved.spots
	w.emit(cardea.Part{ShellFacts: cardea.ShellFacts{Text: w.source(c), Opaque: spots, NoEffect: !grammar.PrintsValues(c), Start: w.offset(c)}})
	w.cmd = saved
}

// declared handles one name of a declaration.
func (w *commands) declared(a *syntax.Assign, before *shell.State, exports, sure bool, variant string) {
	name, again := a.Name.Value, false
	if w.cur.Attributes[name]&grammar.Integer != 0 && shellSets(name) {
		w.unknown(unknown.ValueAttribute, w.source(a)) // values that the shell sets are evaluated
	}
	if a.Naked && variant != "export" && variant != "readonly" {
		w.noteOutside(name)
	}
	if variant != "export" && variant != "readonly" && w.cur.Locals != nil {
		if _, again = w.cur.Locals[name]; !again {
			w.cur.Locals[name] = shell.Hidden{Value: w.cur.Vars.Get(name), Maybe: !sure}
		}
	}
	if a.Naked {
		w.cur.FixedSet[name] = w.cur.FixedSet[name] || w.cur.Attributes[name]&grammar.Fixed != 0
		if a.Index != nil {
			w.unknown(unknown.Evaluated, w.source(a))
		}
		if w.cur.Locals != nil && variant != "export" && variant != "readonly" {
			if knowledge.VariableClass(name) == cardea.EnvDangerous { // bash without PATH runs files of the current folder
				w.unknown(unknown.HidesVariable, "", name)
			}
			w.cur.Vars.Set(name, shell.Removed)
			if again {
				w.cur.Vars.Set(name, shell.Any) // an existing local variable keeps its value
			}
		}
	} else {
		after := w.cur
		w.cur = before.Clone()
		w.assign(a)
		v, later, forgotten := w.cur.Vars.Get(name), w.cur.Later, w.cur.Forgotten
		for other, x := range w.cur.Vars.All() { // declare x=$((y=1))
			if other != name && !shell.Same(x, before.Vars.Get(other)) {
				after.Vars.Set(other, shell.Join(after.Vars.Get(other), x))
			}
		}
		w.cur = after
		if variant == "local" && w.cur.Locals == nil || a.Append && w.cur.Locals != nil || grammar.HasBraces(a.Value) {
			v = shell.Any // it fails, or sets the variable more than once
		}
		w.cur.Vars.Set(name, v)
		w.cur.Doubt(forgotten)
		w.markOpaque(later)
		mayBeList := shellSets(name) || w.cur.Attributes[name]&grammar.Listed != 0 || !w.cur.Forgotten.None()
		if a.Array == nil && mayBeList && (strings.HasPrefix(v.Text, "(") || !v.Known()) {
			w.unknown(unknown.ListValue, w.source(a))
		}
	}
	if exports {
		w.export(name)
		if a.Naked && knowledge.VariableClass(name) == cardea.EnvDangerous {
			w.unknown(unknown.ExportsVariable, "", name)
		}
	}
}

// opaqueBuiltin handles a builtin that changes how later commands are found or read.
func (w *commands) opaqueBuiltin(inv invocation) {
	if len(inv.argv) == 1 || inv.argv[0].Text == "hash" && len(inv.argv) == 2 && inv.argv[1].Text == "-r" {
		w.noEffect(inv)
		return
	}
	w.unknown(unknown.Lookup, inv.text)
	w.unknown(unknown.LookupLater, "", inv.argv[0].Text)
	w.emitBuiltin(inv, false)
	if w.used.overLimit || !knowledge.Has(form.NamesFiles, inv.argv[0].Text) {
		return
	}
	may := knowledge.NewInput(w.paths())
	for i, f := range inv.argv[1:] {
		may.Text(f.Text)
		if inv.argv[0].Text == "hash" && inv.argv[i].Text == "-p" && i+2 < len(inv.argv) {
			w.cur.Aliases[inv.argv[i+2].Text] = quote(f)
		}
	}
	addPotential(&w.out.Parts[len(w.out.Parts)-1], may.Potential, w.within())
}
