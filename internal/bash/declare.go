package bash

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/bash/grammar"
	"cardea.dev/internal/bash/texts"
	"cardea.dev/internal/bash/unknown"
	"cardea.dev/internal/knowledge"
	"cardea.dev/internal/knowledge/form"
)

// declareWords handles export and its kin where the parser sees plain words
// (after command or builtin).
func (w *walker) declareWords(inv invocation) {
	exports := inv.argv[0].Text == "export" || inv.argv[0].Text == "readonly"
	for _, f := range inv.argv[1:] {
		name, val, ok := strings.Cut(f.Text, "=")
		switch {
		case !f.Static:
			w.unknown(unknown.Evaluated, f.Text)
		case strings.HasPrefix(f.Text, "-"), strings.HasPrefix(f.Text, "+"):
			if f.Text != "--" && (f.Text != "-x" || exports) {
				w.unknown(unknown.ValueTrait, f.Text)
			}
		case !texts.PlainName(name), strings.HasPrefix(val, "("):
			w.unknown(unknown.Evaluated, f.Text)
		default:
			if v := inv.argv[0].Text; v != "export" && v != "declare" || v == "declare" && w.shell.locals != nil {
				w.shell.traits[name] |= grammar.Odd // read-only, or only inside of a function
				w.cur.unsure = true
			}
			if !ok {
				w.forgetName(name)
			} else {
				w.set(name, value{kind: known, text: val})
			}
			if inv.argv[0].Text == "export" {
				w.export(name)
			}
		}
	}
	w.noEffect(inv)
}

// declClause handles declare, export, local, readonly and typeset.
func (w *walker) declClause(c *syntax.DeclClause) {
	var spots []cardea.Opaque
	saved := w.cmd
	w.cmd.spots, w.cmd.pending = &spots, nil
	variant := c.Variant.Value
	exports := variant == "export"
	before := w.cur.clone() // bash expands all words before it sets any
	for _, a := range c.Args {
		if a.Name == nil {
			text, ok := w.static(a.Value)
			switch {
			case ok && (strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+")):
				exports = exports || strings.Contains(text, "x") && text[0] == '-'
				if strings.Trim(text[1:], "-aAfFgiIlnprtux") != "" {
					w.unknown(unknown.ZshDeclaration, text)
				}
				if strings.ContainsAny(text, "n") && variant != "export" || strings.Contains(text, "f") && text[0] == '-' {
					w.unknown(unknown.NameTrait, text)
					w.evaluates(w.source(c))
				}
				if strings.Contains(text, "f") {
					w.shell.exportsFuncs = true
				}
			default:
				w.unknown(unknown.Evaluated, w.source(a))
			}
			continue
		}
		prior, aborts := w.cur.clone(), len(w.aborts)
		if w.declared(a, before, exports, variant); len(w.aborts) > aborts {
			w.aborts = append(w.aborts, prior) // with the names that were set before
		}
	}
	for _, a := range c.Args {
		if a.Name != nil && classOf(a.Name.Value, w.lookup(a.Name.Value)) == cardea.EnvDangerous && (!a.Naked || exports || w.shell.locals != nil && variant != "readonly") {
			w.unknown(unknown.SetsVariable, w.source(a), a.Name.Value)
		}
	}
	w.cmd.spots = saved.spots
	w.emit(cardea.Part{Text: w.source(c), Opaque: spots, NoEffect: !grammar.PrintsValues(c), Start: w.offset(c)})
	w.cmd = saved
}

// declared handles one name of a declaration.
func (w *walker) declared(a *syntax.Assign, before *state, exports bool, variant string) {
	name, again := a.Name.Value, false
	if variant != "export" && variant != "readonly" && w.shell.locals != nil {
		if _, again = w.shell.locals[name]; !again {
			w.shell.locals[name] = w.cur.vars.get(name)
		}
	}
	if a.Naked {
		w.shell.fixedSet[name] = w.shell.fixedSet[name] || w.shell.traits[name]&grammar.Fixed != 0
		if a.Index != nil {
			w.unknown(unknown.Evaluated, w.source(a))
		}
		if w.shell.locals != nil && variant != "export" && variant != "readonly" {
			if knowledge.VariableClass(name) == cardea.EnvDangerous { // bash without PATH runs what lies here
				w.unknown(unknown.HidesVariable, "", name)
			}
			w.cur.vars.set(name, value{kind: unset})
			if again {
				w.cur.vars.set(name, value{kind: dynamic}) // one that is local already keeps its value
			}
		}
	} else {
		after := w.cur
		w.cur = before.clone()
		w.assign(a)
		v, tainted, vague := w.cur.vars.get(name), w.cur.tainted, w.cur.unsure
		w.cur = after
		if variant == "local" && w.shell.locals == nil || grammar.HasBraces(a.Value) {
			v = value{kind: dynamic} // it fails, or sets it more than once
		}
		w.cur.vars.set(name, v)
		w.cur.unsure = w.cur.unsure || vague
		w.taint(tainted)
		if a.Array == nil && (strings.HasPrefix(v.text, "(") || v.kind != known && (w.shell.traits[name]&grammar.Listed != 0 || w.cur.unsure)) {
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

// opaqueBuiltin changes how later commands are found or read.
func (w *walker) opaqueBuiltin(inv invocation) {
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
			w.shell.aliases[inv.argv[i+2].Text] = quote(f)
		}
	}
	possible(&w.out.Parts[len(w.out.Parts)-1], may.Possible, w.within())
}
