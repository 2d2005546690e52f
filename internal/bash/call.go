package bash

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/bash/grammar"
	"cardea.dev/internal/bash/shell"
	"cardea.dev/internal/bash/unknown"
	"cardea.dev/internal/knowledge"
	"cardea.dev/internal/knowledge/files"
	"cardea.dev/internal/knowledge/form"
)

// invocation is a simple command on its way to becoming a part: wrappers take
// words off its front.
type invocation struct {
	argv     []field
	assigns  []cardea.Assign
	access   []cardea.Access     // of redirections
	may      map[string][]string // what the assigns may be which are not certain
	wrappers []string
	around   []cardea.Outer // the commands that were taken apart on the way
	elevated bool
	remote   bool
	// dropped are the variables that env takes away; "*" stands for all.
	dropped []string
	// renamed is set where the program gets another name than that of its file.
	renamed bool
	// program is set when the shell no longer looks the name up itself, so
	// that functions, aliases and builtins do not count.
	program bool
	// mayFail is set when a redirection can fail, so that it may not run.
	mayFail bool
	text    string // as written, for messages
	start   int
}

// call handles a simple command.
func (w *walker) call(c *syntax.CallExpr, redirs []*syntax.Redirect) {
	var spots []cardea.Opaque
	saved := w.cmd
	w.cmd.spots, w.cmd.pending, w.cmd.appends = &spots, nil, false
	defer func() { w.cmd = saved }()

	inv := invocation{start: w.offset(c), text: w.source(c), wrappers: slices.Clone(w.around.wrappers), around: w.around.outer, mayFail: w.mayFail(redirs)}
	reads := ""
	w.cmd.reads = &reads
	inv.argv = make([]field, 0, len(c.Args))
	for _, word := range c.Args {
		inv.argv = w.appendFields(inv.argv, word)
	}
	if len(inv.argv) > 0 && w.runByShell(inv.argv[0]) {
		w.fed, reads = w.fed+reads, "" // what it runs or sets may read it
	}
	if len(c.Args) == 0 {
		w.cmd.reads = nil
		w.assignments(c, redirs, &spots)
		return
	}
	for _, a := range c.Assigns {
		given, may := w.prefix(a)
		inv.assigns = append(inv.assigns, given)
		inv.mayBe(given.Name, may)
	}
	inv.access = w.redirects(redirs)
	if len(inv.argv) == 0 {
		// All words vanished: bash runs nothing, or what a substitution gave.
		if grammar.Expands(c.Args[0]) {
			w.unknown(unknown.CommandName, w.source(c.Args[0]))
		}
		w.emit(cardea.Part{Text: inv.text, Access: inv.access, Opaque: spots, Start: inv.start, NoEffect: len(inv.access) == 0})
		return
	}
	w.start(inv)
}

// assignments handles a command that only sets variables.
func (w *walker) assignments(c *syntax.CallExpr, redirs []*syntax.Redirect, spots *[]cardea.Opaque) {
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
	w.emit(cardea.Part{Text: w.source(c), Access: access, Opaque: *spots, Start: w.offset(c), NoEffect: len(access) == 0})
}

// assign sets a variable of the shell.
func (w *walker) assign(a *syntax.Assign) {
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
		if w.cur.Traits[name]&grammar.Integer != 0 || shell.Counter(name) {
			w.evaluated(name, v)
			v = shell.SomeNumber // the sum
		} else if old := w.lookup(name); old.Known() && v.Known() {
			v.Text = old.Text + v.Text
		} else if !old.IsUnset() {
			v = w.someOf(w.joined(w.joined([]string{""}, w.mayBe(name)), v.Texts()))
		}
	}
	w.set(name, v)
}

// setElement assigns an element of an array, or of a variable that becomes
// one.
func (w *walker) setElement(name string, v shell.Value) {
	if !v.Known() {
		v = shell.SomeOf(v.May)
	}
	others := append(w.mayBe(name), v.Texts()...)
	w.set(name, v) // an integer evaluates it
	w.store(name, w.someOf(others))
}

func (w *walker) arrayValue(a *syntax.Assign) shell.Value {
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
		for _, f := range w.elements(e.Value) {
			certain = certain && f.Static && len(elements) <= maxList
			if len(elements) > maxList { // what is behind it runs all the same
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

// mayBe notes what a variable may be that a command is given.
func (inv *invocation) mayBe(name string, texts []string) {
	if len(texts) == 0 {
		return
	}
	inv.may = maps.Clone(inv.may)
	if inv.may == nil {
		inv.may = map[string][]string{}
	}
	inv.may[name] = texts
}

// prefix reads an assignment in front of a command, and what it may be.
func (w *walker) prefix(a *syntax.Assign) (cardea.Assign, []string) {
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
	if v.Known() && !a.Append && a.Array == nil {
		out.Value, out.Static = v.Text, true
	}
	out.Class = knowledge.AssignmentClass(out.Name, out.Value, out.Static && a.Index == nil && a.Array == nil)
	return out, v.May
}

// classOf says what a variable can do that has a value.
func classOf(name string, v shell.Value) cardea.EnvClass {
	if !v.Known() && v.Numeric() {
		return knowledge.AssignmentClass(name, "0", true)
	}
	return knowledge.AssignmentClass(name, v.Text, v.Known())
}

// start looks at the first word of an invocation: what bash would run.
func (w *walker) start(inv invocation) {
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
	if !inv.program {
		if w.alias(inv, name) || w.function(inv, name) {
			return
		}
		if b, ok := builtinOf(name); ok {
			if startsOther(name) {
				inv.around = inv.outerAndSelf()
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
		inv.around = inv.outerAndSelf()
		unwrap(w, spec, inv)
		return
	}
	w.emitProgram(inv)
}

// builtin runs a builtin of the shell. What is assigned in front of it holds
// while it runs, and for the special ones of POSIX perhaps afterwards.
func (w *walker) builtin(b builtin, inv invocation) {
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

// special reports the special builtins of POSIX, after which assignments in
// front of them stay, and those that run other commands of this shell.
func special(name string) bool { return knowledge.Has(form.StaysAfter, name) }

// inPOSIX reports the builtins that every sh has, of those that change its state.
func inPOSIX(name string) bool { return knowledge.Has(form.InEveryShell, name) }

// function handles a call of a function that the line defines.
func (w *walker) function(inv invocation, name string) bool {
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
	defer func() { // what the function sets them to is gone in bash, and may not be in sh
		for name, v := range before {
			w.cur.Vars.Set(name, shell.Join(v, w.cur.Vars.Get(name)))
		}
	}()
	if len(inv.access) > 0 || len(*w.cmd.spots) > 0 {
		w.emit(cardea.Part{Text: inv.text, Access: inv.access, Opaque: slices.Clone(*w.cmd.spots), Start: inv.start})
		defer w.printsInto(len(w.out.Parts))
	}
	sure := f.Sure && !w.cur.UnsetsFuncs && int(f.At) <= w.at && len(w.aborts) == 0
	if !sure { // it may be the program of that name, too
		w.emitProgram(inv)
	}
	w.unless(inv.mayFail || !sure, func() { w.callFunction(name, f, params, static) })
	return true
}

func (w *walker) callFunction(name string, f *shell.Function, params []string, known bool) {
	f.Walked = true
	if f.Active {
		w.callsItself(w.begun[f])
		w.emit(cardea.Part{Text: name, Start: -1, Opaque: []cardea.Opaque{unknown.FunctionCallsItself.Spot(name)}})
		return
	}
	f.Active, w.begun[f] = true, w.begin(name)
	saved, src, base, at := w.cmd, w.src, w.base, w.at
	w.cmd.spots, w.cmd.reads, w.cmd.pending = nil, nil, nil
	savedParams, savedOK, savedLocals := w.cur.Params, w.cur.ParamsKnown, w.cur.Locals
	w.cur.Locals = map[string]shell.Value{}
	w.cmd.stdin = w.cmd.stdin.shared()
	before, exits, aborts := w.cur, len(w.exits), len(w.aborts)
	for i, body := range f.Bodies {
		w.cur = before.Clone()
		w.cur.Params, w.cur.ParamsKnown = params, known && before.Forgotten == 0
		if w.src = f.Srcs[i]; w.src != src {
			w.base = -1
		}
		w.inConstruct("function "+name, func() { w.stmt(body) })
		if i == 0 && len(f.Bodies) == 1 {
			before = w.cur
		} else {
			before.Join(w.cur)
		}
	}
	w.cur = before
	w.mergeExits(nil, exits)
	w.cur.Params, w.cur.ParamsKnown = savedParams, savedOK
	for name, v := range w.cur.Locals {
		w.cur.Vars.Set(name, v)
	}
	for _, s := range w.aborts[min(aborts, len(w.aborts)):] { // giving up leaves the function, too
		s.Params, s.ParamsKnown = savedParams, savedOK
		for name, v := range w.cur.Locals {
			s.Vars.Set(name, shell.Join(v, s.Vars.Get(name)))
		}
	}
	w.cur.Locals = savedLocals
	w.cmd, w.src, w.base, w.at = saved, src, base, at
	f.Active = false
}

// alias handles a word that the line has made an alias. Whether bash expands
// it depends on how the shell was started, so both readings are judged.
func (w *walker) alias(inv invocation, name string) bool {
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

// nested walks a script that a command runs in a shell of its own or in this
// one.
func (w *walker) nested(via, text string, inv invocation) {
	if w.runsItself(text) {
		w.emit(cardea.Part{Text: inv.text, Access: inv.access, Start: inv.start, Opaque: []cardea.Opaque{unknown.ScriptRunsItself.Spot(text)}})
		return
	}
	w.running = append(w.running, w.begin(text))
	defer func() { w.running = w.running[:len(w.running)-1] }()
	saved, around := w.cmd, w.around
	w.cmd.spots, w.cmd.reads, w.cmd.pending = nil, nil, nil
	w.around = around.with(inv)
	w.cmd.stdin = w.cmd.stdin.shared()
	begin := len(w.out.Parts)
	w.inConstruct(via, func() { w.script(text) })
	w.cmd, w.around = saved, around
	// What was in the outer command's words and redirections must not get lost.
	if w.cmd.spots != nil && (len(*w.cmd.spots) > 0 || len(inv.access) > 0) || begin == len(w.out.Parts) {
		part := cardea.Part{Text: inv.text, Access: inv.access, Start: inv.start, Wrappers: inv.wrappers, Outer: inv.outer(), Elevated: inv.elevated}
		if w.cmd.spots != nil {
			part.Opaque = slices.Clone(*w.cmd.spots)
		}
		w.emit(part)
	}
}

// surroundings are what a command inherits from the commands around it: those
// that started the script which is being walked.
type surroundings struct {
	wrappers         []string
	outer            []cardea.Outer
	elevated, remote bool
	assigns          []cardea.Assign
	spots            []cardea.Opaque // of the assigns
}

// with are the surroundings of a script that a command starts.
func (s surroundings) with(inv invocation) surroundings {
	out := surroundings{wrappers: inv.wrappers, outer: inv.outer(), elevated: s.elevated || inv.elevated, remote: s.remote || inv.remote,
		assigns: slices.Concat(s.assigns, inv.assigns)}
	out.spots = append(variableSpots(inv.assigns), s.spots...)
	return out
}

// quote writes a field so that bash reads it back as the same word.
func quote(f field) string {
	if !f.Static {
		return f.Text
	}
	return Quote(f.Text)
}

// Quote writes a text so that bash reads it as one word.
func Quote(s string) string {
	q, err := syntax.Quote(s, syntax.LangBash)
	if err != nil {
		return s
	}
	return q
}

// emitProgram makes a part of an invocation of a program.
func (w *walker) emitProgram(inv invocation) {
	does := w.describe(inv)
	p := cardea.Part{Wrappers: inv.wrappers, Outer: inv.outer(), Elevated: inv.elevated, Remote: inv.remote, Start: inv.start,
		Assigns: slices.Concat(w.exportedVariables(), inv.assigns), Opaque: slices.Clone(*w.cmd.spots), Access: does.Access,
		Command: does.Command, UsualCommand: does.UsualCommand, Operands: does.Operands, Options: does.Options,
		Knowledge: does.Knowledge, EditsFiles: does.EditsFiles, Configs: does.Configs, Doubt: does.Doubt, UnseenInput: w.cmd.stdin.unseen,
		OpensUnnamed: does.OpensUnnamed, Copies: does.Possible.Copies, Script: does.Script}
	p.Text, p.Argv = spelled(inv.argv)
	p.Typed = inv.text
	w.noteUnseen(&p, &does)
	p.ProgramPattern = programPattern(inv.argv[0])
	p.Remote = p.Remote || w.around.remote
	if does.Knowledge != cardea.Complete {
		for _, a := range inv.assigns {
			if a.Static && strings.ContainsAny(a.Value, "/.~") {
				does.Possible.Touch = append(does.Possible.Touch, knowledge.PossibleValue(a.Value, w.paths())...)
			}
			for _, text := range inv.may[a.Name] {
				does.Possible.Touch = append(does.Possible.Touch, knowledge.PossibleValue(text, w.paths())...)
			}
		}
		does.Possible.Add(w.readOf(does.Access))
	}
	for _, a := range inv.assigns {
		for _, text := range append(inv.may[a.Name], a.Value) {
			does.Possible.Run = append(does.Possible.Run, codeOf(a.Name, text)...)
		}
	}
	possible(&p, does.Possible, w.within())
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

// readOf is what a program may do because of the texts in the files of some accesses which
// the line writes.
func (w *walker) readOf(list []cardea.Access) knowledge.Possible {
	in := knowledge.NewInput(w.paths())
	for _, a := range list {
		if i := w.writtenTo(a.Path); a.Kind == cardea.Read && i >= 0 {
			in.Code(w.out.Written[i].Text)
		}
	}
	return in.Possible
}

// programPattern is what the base name of a command's first word fits, "" where it is
// certain.
func programPattern(first field) string {
	if first.Static {
		return ""
	}
	return path.Base(cmp.Or(first.Pattern, "*"))
}

// claimed reports whether a program takes a variable that is not dangerous by its name
// for a setting of its own. One that evaluates all variables takes each, but the
// harmless ones with a value in which there is nothing to evaluate.
func claimed(program string, a *cardea.Assign) bool {
	safe := a.Class == cardea.EnvSafe
	if knowledge.Has(form.EvaluatesVariables, program) {
		return !safe || !a.Static || strings.Contains(a.Value, "$")
	}
	return !safe && knowledge.Claims(program, a.Name)
}

// variableSpots are the spots of the dangerous variables that a command is given.
func variableSpots(assigns []cardea.Assign) []cardea.Opaque {
	var out []cardea.Opaque
	for _, a := range assigns {
		if a.Class == cardea.EnvDangerous {
			out = append(out, variableSpot(a.Name))
		}
	}
	return out
}

// variableSpot is the spot of a variable that a command is given.
func variableSpot(name string) cardea.Opaque {
	if name == "PATH" {
		return unknown.GivesSearchPath.Spot(name, name)
	}
	return unknown.GivesVariable.Spot(name, name)
}

// describe says what an invocation does, and notes what it makes.
func (w *walker) describe(inv invocation) knowledge.Meaning {
	at, wrappers := len(w.out.Parts), inv.wrappers
	does := knowledge.Describe(knowledge.Invocation{Words: inv.argv, Paths: w.paths(), Redirections: inv.access, FilesChanged: w.files.changed, Possible: w.env.depth > 0,
		MadeFolder: func(path string) bool { return w.files.created.folder(target{path, at}) },
		MayBecome:  func(word field) []knowledge.PossiblePath { return w.mayBecome(word, wrappers) }, Input: w.input(), Fed: w.cmd.stdin.kind != inherited || w.fed != ""}, &w.env.World)
	for _, path := range does.Targets {
		w.files.creates.targets = append(w.files.creates.targets, target{path, at})
	}
	for _, l := range does.Links {
		w.files.creates.add(l, at, w.via)
	}
	return does
}

// paths say what paths mean at this point of the line.
func (w *walker) paths() knowledge.Paths {
	p := knowledge.Paths{Dir: w.cur.Folder, Resolve: w.env.Resolve, Hidden: w.cur.FindsHiddenNames, AnyCase: w.cur.IgnoresCase}
	if home := w.cur.Vars.Get("HOME"); home.Known() {
		p.Home = home.Text
	}
	if p.Dir == "" {
		p.Likely = w.files.entered
	}
	return p
}

// emit adds a part.
func (w *walker) emit(p cardea.Part) {
	if len(w.out.Parts) >= maxParts {
		w.unknown(unknown.TooManyCommands, w.src)
		return
	}
	p.Via = slices.Clone(w.via)
	p.Dir = w.cur.Folder
	p.Elevated, p.Remote = p.Elevated || w.around.elevated, p.Remote || w.around.remote
	p.Assigns = slices.Concat(w.around.assigns, p.Assigns)
	p.Opaque = slices.Concat(p.Opaque, w.around.spots)
	p.Access = w.access(p)
	if w.cur.Later.Code != "" {
		p.Opaque = append(p.Opaque, w.cur.LaterSpot(p.Text))
	}
	if len(p.Opaque) == 0 {
		p.Coverage = cardea.Complete
	} else {
		p.NoEffect = false
	}
	w.files.changed = w.files.changed || changes(p)
	at := len(w.out.Parts)
	w.feedsInto(at, &p)
	if at >= fewParts && at == cap(w.out.Parts) {
		w.out.Parts = slices.Grow(w.out.Parts, maxParts+2*maxPieces-at) // what is not used takes no memory
	}
	w.out.Parts = append(w.out.Parts, p)
}

// fewParts is how many parts of a line are honest: what has more may have very many.
const fewParts = 256

// access are the accesses of a part, as seen from this machine.
func (w *walker) access(p cardea.Part) []cardea.Access {
	fresh := func(a cardea.Access) bool {
		return w.env.Fresh != nil && a.Redirect && a.Kind == cardea.Write && a.Path != "" && !a.Glob && !p.Remote && w.env.Fresh(a.Path)
	}
	if !p.Remote && !slices.ContainsFunc(p.Access, fresh) {
		return p.Access
	}
	out := slices.Clone(p.Access)
	for i, a := range out {
		if p.Remote {
			out[i].Path, out[i].Spelled, out[i].Pattern = "", "", ""
		}
		out[i].Fresh = fresh(a)
	}
	return out
}

// changes reports whether a part may change files.
func changes(p cardea.Part) bool {
	if p.NoEffect {
		return false
	}
	return len(p.Opaque) > 0 || len(p.Access) == 0 && p.Knowledge != cardea.Complete || slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind != cardea.Read })
}
