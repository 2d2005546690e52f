package bash

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

// emitProgram adds the part of an invocation of a program.
func (w *recorder) emitProgram(inv invocation) {
	does := w.describe(inv)
	p := cardea.Part{
		ShellFacts:   cardea.ShellFacts{Wrappers: inv.wrappers, Outer: inv.outer(), Elevated: inv.elevated, Remote: inv.remote, Start: inv.start, Assigns: slices.Concat(w.exportedVariables(), inv.assigns), Opaque: slices.Clone(*w.cmd.spots), UnseenInput: w.cmd.stdin.unseen},
		CommandFacts: cardea.CommandFacts{Access: does.Access, Command: does.Command, UsualCommand: does.UsualCommand, Operands: does.Operands, Options: does.Options, Knowledge: does.Knowledge, EditsFiles: does.EditsFiles, Configs: does.Configs, Doubt: does.Doubt, OpensUnnamed: does.OpensUnnamed, Copies: does.Potential.Copies, Script: does.Script},
	}
	p.Text, p.Argv = spelled(inv.argv)
	p.Typed = inv.text
	w.noteUnseen(&p, &does)
	p.ProgramPattern = programPattern(inv.argv[0])
	p.Remote = p.Remote || w.enclosing.remote
	if does.Knowledge != cardea.Complete {
		for _, a := range inv.assigns {
			if a.Static && strings.ContainsAny(a.Value, "/.~") {
				does.Potential.Touch = append(does.Potential.Touch, knowledge.PathsInValue(a.Value, w.paths())...)
			}
			for _, text := range inv.may[a.Name] {
				does.Potential.Touch = append(does.Potential.Touch, knowledge.PathsInValue(text, w.paths())...)
			}
		}
		does.Potential.Add(w.readOf(does.Access))
	}
	for _, a := range inv.assigns {
		for _, text := range append(inv.may[a.Name], a.Value) {
			does.Potential.Run = append(does.Potential.Run, codeOf(a.Name, text)...)
		}
	}
	addPotential(&p, does.Potential, w.within())
	for i, a := range p.Assigns {
		if a.Class != cardea.EnvDangerous && len(p.Command) > 0 && claimed(p.Command[0], &a) {
			p.Opaque = append(p.Opaque, variableSpot(a.Name))
			p.Assigns[i].Class = cardea.EnvDangerous
		}
	}
	p.Opaque = append(p.Opaque, variableSpots(inv.assigns)...)
	if w.emit(p); !w.used.overLimit {
		w.notePrinted(inv.argv)
		w.noteInput()
	}
}

// readOf returns the potential effects of a program that reads texts which the line has
// written to files.
func (w *recorder) readOf(list []cardea.Access) knowledge.Potential {
	in := knowledge.NewInput(w.paths())
	for _, a := range list {
		if i := w.writtenTo(a.Path); a.Kind == cardea.Read && i >= 0 {
			in.Code(w.out.Written[i].Text)
		}
	}
	return in.Potential
}

// programPattern returns the pattern that the base name of a command's first word
// matches, or "" if the name is certain.
func programPattern(first field) string {
	if first.Static {
		return ""
	}
	return path.Base(cmp.Or(first.Pattern, "*"))
}

// claimed reports whether a program reads a variable without a dangerous name as a
// setting of its own. A program that evaluates all variables claims each, except
// harmless ones with a value without anything to evaluate.
func claimed(program string, a *cardea.Assign) bool {
	safe := a.Class == cardea.EnvSafe
	if knowledge.Has(form.EvaluatesVariables, program) {
		return !safe || !a.Static || strings.Contains(a.Value, "$")
	}
	return !safe && knowledge.Claims(program, a.Name)
}

// variableSpots returns the opaque spots of the dangerous variables that a command receives.
func variableSpots(assigns []cardea.Assign) []cardea.Opaque {
	var out []cardea.Opaque
	for _, a := range assigns {
		if a.Class == cardea.EnvDangerous {
			out = append(out, variableSpot(a.Name))
		}
	}
	return out
}

// variableSpot returns the opaque spot of a variable that a command receives.
func variableSpot(name string) cardea.Opaque {
	if name == "PATH" {
		return unknown.GivesSearchPath.Spot(name, name)
	}
	return unknown.GivesVariable.Spot(name, name)
}

// describe returns the meaning of an invocation, and records the files that it creates.
func (w *recorder) describe(inv invocation) knowledge.Meaning {
	at, wrappers := len(w.out.Parts), inv.wrappers
	does := knowledge.Describe(knowledge.Invocation{Words: inv.argv, Paths: w.paths(), Redirections: inv.access, FilesChanged: w.files.changed, Stands: w.files.stands, Potential: w.env.depth > 0,
		MadeFolder: func(path string) bool { return w.files.created.folder(target{path, at}) },
		MayBecome:  func(word field) []knowledge.PotentialPath { return w.mayBecome(word, wrappers) }, Input: w.input(), Document: w.document(), Fed: w.cmd.stdin.kind != inherited || w.fed != ""}, &w.env.System)
	for _, path := range does.Targets {
		w.files.creates.targets = append(w.files.creates.targets, target{path, at})
	}
	for _, l := range does.Links {
		w.files.creates.add(l, at, w.loops > 0 || slices.ContainsFunc(w.via, inFunction))
	}
	return does
}

// emit adds a part.
func (w *recorder) emit(p cardea.Part) {
	if len(w.out.Parts) >= maxParts {
		w.unknown(unknown.TooManyCommands, w.src)
		return
	}
	p.Via = slices.Clone(w.via)
	p.Dir = w.cur.Folder
	p.Elevated, p.Remote = p.Elevated || w.enclosing.elevated, p.Remote || w.enclosing.remote
	p.Assigns = slices.Concat(w.enclosing.assigns, p.Assigns)
	p.Opaque = slices.Concat(p.Opaque, w.enclosing.spots)
	p.Access = w.access(p)
	if w.cur.Later.Code != "" {
		p.Opaque = append(p.Opaque, w.cur.LaterSpot(p.Text))
	}
	if len(p.Opaque) == 0 {
		p.Coverage = cardea.Complete
	} else {
		p.NoEffect = false
	}
	if changes(p) {
		w.files.change(&p)
	}
	at := len(w.out.Parts)
	w.pipesInto(at, &p)
	if at >= fewParts && at == cap(w.out.Parts) {
		w.out.Parts = slices.Grow(w.out.Parts, maxParts+2*maxPieces-at) // unused capacity takes no memory
	}
	w.out.Parts = append(w.out.Parts, p)
}

// fewParts is the number of parts up to which a line is normal. A line with more may
// have very many.
const fewParts = 256

// access returns the accesses of a part, as seen from this machine.
func (w *recorder) access(p cardea.Part) []cardea.Access {
	writes := func(a cardea.Access) bool { return a.Kind == cardea.Write }
	if !p.Remote && !slices.ContainsFunc(p.Access, writes) {
		return p.Access
	}
	fresh := func(a cardea.Access) bool {
		return w.env.Fresh != nil && (a.Redirect || knowledge.Has(form.AsksThisMachine, p.Program())) && writes(a) && a.Path != "" && !a.Glob && !p.Remote && w.env.Fresh(a.Path)
	}
	shells := !p.Remote && !p.Elevated && knowledge.Has(form.WritesAsShell, p.Program())
	if !p.Remote && !shells && !slices.ContainsFunc(p.Access, fresh) {
		return p.Access
	}
	out := slices.Clone(p.Access)
	for i := range out {
		out[i].Redirect = out[i].Redirect || shells && writes(out[i])
	}
	for i, a := range out {
		if p.Remote {
			out[i].Path, out[i].Spelled, out[i].Pattern = "", "", ""
		}
		out[i].Fresh = fresh(a)
	}
	return out
}

// change records the files that a part removes or replaces.
func (f *lineFiles) change(p *cardea.Part) {
	f.changed = true
	f.remade = f.remade || len(p.Opaque) > 0 || len(p.Access) == 0
	for _, a := range p.Access {
		switch replaces := a.Kind == cardea.Delete || a.Kind == cardea.Link || a.Kind == cardea.Write && a.Recursive; {
		case a.Kind == cardea.Read, a.Kind == cardea.Write && !replaces:
		case !replaces || a.Path == "" || a.Glob: // a program that it runs may do anything
			f.remade = true
		default:
			f.removed = append(f.removed, a.Path)
		}
	}
}

// stands reports whether no command so far may have removed or replaced a path.
func (f *lineFiles) stands(at string) bool {
	return !f.remade && !slices.ContainsFunc(f.removed, func(gone string) bool { return paths.Within(gone, at) })
}

// changes reports whether a part may change files.
func changes(p cardea.Part) bool {
	if p.NoEffect {
		return false
	}
	return len(p.Opaque) > 0 || len(p.Access) == 0 && p.Knowledge != cardea.Complete || slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind != cardea.Read })
}

// emitBuiltin adds the part of a builtin.
func (w *recorder) emitBuiltin(inv invocation, null bool) {
	p := cardea.Part{
		ShellFacts:   cardea.ShellFacts{Wrappers: inv.wrappers, Elevated: inv.elevated, Start: inv.start, Assigns: inv.assigns, Opaque: slices.Clone(*w.cmd.spots)},
		CommandFacts: cardea.CommandFacts{Access: inv.access},
	}
	if p.Text, p.Argv = spelled(inv.argv); len(inv.argv) > 0 && inv.argv[0].Static {
		p.Command = []string{inv.argv[0].Text}
	}
	for i, a := range p.Assigns {
		if splitsInput(a.Name, p.Command) {
			p.Assigns = slices.Clone(p.Assigns)
			p.Assigns[i].Class = cardea.EnvSafe
		}
	}
	p.NoEffect = null && !slices.ContainsFunc(p.Assigns, func(a cardea.Assign) bool { return a.Class != cardea.EnvSafe })
	for i := 1; i < len(inv.argv); i++ {
		p.Operands = append(p.Operands, i)
	}
	p.Opaque = append(p.Opaque, variableSpots(p.Assigns)...)
	w.emit(p)
}

// splitsInput reports whether a variable is IFS before a builtin that only splits its
// input by it.
func splitsInput(name string, command []string) bool {
	return name == "IFS" && len(command) == 1 && (command[0] == "read" || command[0] == "mapfile" || command[0] == "readarray")
}

// noteUnseen records the unseen options of a part that is about to be added.
func (w *recorder) noteUnseen(p *cardea.Part, does *knowledge.Meaning) {
	u := unseenOptions{len(w.out.Parts), does.UnseenIfMade, does.ByOption}
	u.mark(p, does.Unseen)
	if len(u.ifMade) > 0 && u.part < maxParts {
		w.unseen = append(w.unseen, u)
	}
}
