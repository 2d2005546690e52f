package bash

import (
	"maps"
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/bash/grammar"
	"cardea.dev/internal/bash/unknown"
	"cardea.dev/internal/knowledge"
)

// value is what is known of a variable.
type value struct {
	kind valueKind
	text string   // kind known
	list []string // kind array
	may  []string // kind dynamic: what it may be, as far as the line tells
	// fromOutside is set where the value is dynamic, and may be that from outside of the line.
	fromOutside bool
	// found is set where the value is dynamic, and a name that a search finds.
	found *knowledge.Search
}

type valueKind uint8

const (
	outside valueKind = iota // not set by the line
	unset                    // unset by the line
	known                    // set to text
	array                    // set to list
	dynamic                  // set to something that is not known
)

// function is a function that the line defines somewhere.
type function struct {
	bodies []*syntax.Stmt
	srcs   []string
	at     uint // offset of the first definition
	sure   bool // defined once, unconditionally, at the top of the line
	active bool
	walked bool
	begun  running // where active
}

// state is what bash would know at a point of the line.
type state struct {
	vars      variables
	cwd       string   // "" when unknown
	pushed    []string // where popd leads, one after the other, as far as known
	params    []string // $1…, certain when paramsOK
	name      string   // $0, "" when unknown
	paramsOK  bool
	exported  []cardea.Assign // set and exported by the line so far
	tainted   cardea.Opaque   // why every later command is opaque; without a code none is
	allexport bool
	// unsure is set when anything may change a variable at any time: then the
	// line has no constants any more.
	unsure bool
	// cdMayFail is set by a cd that may have failed, until the next command
	// shows that it has not, by standing behind &&.
	cdMayFail bool
}

// variables are what is known of variables, by name. Copies share a map until one of
// them changes it: most subshells and branches change nothing.
type variables struct {
	m      map[string]value
	shared bool
}

func (v *variables) get(name string) value { return v.m[name] }

func (v *variables) set(name string, x value) {
	switch {
	case v.m == nil:
		v.m = map[string]value{}
	case v.shared:
		v.m = maps.Clone(v.m)
	}
	v.shared = false
	v.m[name] = x
}

func newState(env Env) *state {
	s := &state{cwd: env.Cwd, name: env.Name}
	if env.Home != "" {
		s.vars.set("HOME", value{kind: known, text: env.Home})
	}
	if env.Cwd != "" {
		s.vars.set("PWD", value{kind: known, text: env.Cwd})
	}
	return s
}

func (s *state) clone() *state {
	s.vars.shared = true // for both
	c := *s
	c.exported = append([]cardea.Assign(nil), s.exported...)
	return &c
}

// merge joins the state after a construct that may not have run, or that ran
// in one of several ways: what differs is not known.
func (s *state) merge(o *state) {
	for name, v := range o.vars.m {
		if old := s.vars.get(name); !same(old, v) || !slices.Equal(old.may, v.may) || old.fromOutside != v.fromOutside {
			s.vars.set(name, either(old, v))
		}
	}
	for name, v := range s.vars.m {
		if other := o.vars.get(name); !same(other, v) || other.fromOutside != v.fromOutside {
			s.vars.set(name, either(other, v))
		}
	}
	if s.cwd != o.cwd || s.cdMayFail != o.cdMayFail || !slices.Equal(s.pushed, o.pushed) {
		s.setCwd("")
		s.cdMayFail = false
	}
	if s.tainted.Code == "" {
		s.tainted = o.tainted
	}
	s.paramsOK = s.paramsOK && o.paramsOK && slices.Equal(s.params, o.params)
	for _, text := range o.params {
		if len(s.params) < maxLikely && !slices.Contains(s.params, text) {
			s.params = append(s.params[:len(s.params):len(s.params)], text)
		}
	}
	for _, e := range o.exported {
		if !slices.ContainsFunc(s.exported, func(a cardea.Assign) bool { return a.Name == e.Name }) {
			s.exported = append(s.exported[:len(s.exported):len(s.exported)], e)
		}
	}
	s.allexport = s.allexport || o.allexport
	s.unsure = s.unsure || o.unsure
}

// either is what is known of a variable that holds one of two values.
func either(a, b value) value {
	out := value{kind: dynamic}
	switch {
	case numeric(a) && numeric(b):
		out = someNumber
		out.fromOutside = a.fromOutside || b.fromOutside
		return out
	case evaluatesSafely(a) && evaluatesSafely(b):
		out = safeValue
	}
	out.fromOutside = a.mayBeOutside() || b.mayBeOutside()
	for _, v := range [2]value{a, b} {
		for _, text := range v.texts() {
			if len(out.may) < maxLikely && !slices.Contains(out.may, text) {
				out.may = append(out.may, text)
			}
		}
	}
	return out
}

func same(a, b value) bool {
	return a.kind == b.kind && a.text == b.text && slices.Equal(a.list, b.list) && a.found == b.found
}

// mayBeOutside reports whether a variable may hold what it held before the line.
func (v value) mayBeOutside() bool { return v.kind == outside || v.fromOutside }

func (s *state) setCwd(dir string) {
	if s.unsure {
		dir = ""
	}
	s.cwd, s.cdMayFail = dir, false
	if dir == "" {
		s.pushed = nil
		s.vars.set("PWD", value{kind: dynamic})
	} else {
		s.vars.set("PWD", value{kind: known, text: dir})
	}
}

// taint makes every later command of this shell opaque, unless one already is.
func (w *walker) taint(why cardea.Opaque) {
	if why.Code == "" || w.cur.tainted.Code != "" {
		return
	}
	w.cur.tainted = why
	if w.shell.hasExitTrap {
		w.opaqueLine(cardea.Opaque{Code: why.Code, Text: unknown.Shorten(w.src), Reason: "a trap runs after " + why.Reason})
	}
}

// taintOf is the spot of a command that the line's state makes opaque.
func (s *state) taintOf(text string) cardea.Opaque {
	return cardea.Opaque{Code: s.tainted.Code, Text: unknown.Shorten(text), Reason: s.tainted.Reason}
}

// export marks a variable as given to every later command.
func (w *walker) export(name string) {
	if slices.ContainsFunc(w.cur.exported, func(e cardea.Assign) bool { return e.Name == name }) {
		return
	}
	if len(w.cur.exported) >= maxExported {
		w.unknown(unknown.TooManyExports, "")
		return
	}
	w.cur.exported = append(w.cur.exported, cardea.Assign{Name: name})
}

// exportedVariables are the exported variables with the values that they have now.
func (w *walker) exportedVariables() []cardea.Assign {
	var out []cardea.Assign
	for _, a := range w.cur.exported {
		if v := w.lookup(a.Name); v.kind == known {
			a.Value, a.Static = v.text, true
		}
		a.Class = knowledge.AssignmentClass(a.Name, a.Value, a.Static)
		out = append(out, a)
	}
	return out
}

// collectFunctions notes the functions that were found in a script, wherever they stand: a
// name that is a function somewhere is judged as one everywhere.
func (w *walker) collectFunctions(script *grammar.Script) {
	if len(script.Functions) == 0 {
		return
	}
	top := map[*syntax.Stmt]bool{}
	for _, s := range script.Stmts {
		top[s] = true
	}
	for _, s := range script.Functions {
		decl := s.Cmd.(*syntax.FuncDecl)
		names := decl.Names
		if decl.Name != nil {
			names = append(names[:len(names):len(names)], decl.Name)
		}
		if w.shell.hasHandler { // a handler may call it
			w.forgetAll()
		}
		for _, name := range names {
			if takenApart(name.Value) || slices.Contains([]string{"declare", "typeset", "readonly", "local", "export", "let", "command_not_found_handle"}, name.Value) {
				w.shadows(name.Value)
			}
			f := w.shell.funcs[name.Value]
			if f == nil {
				f = &function{at: decl.Pos().Offset(), sure: top[s] && w.used.scripts == 1 && !s.Background && !s.Negated && len(s.Redirs) == 0}
				w.shell.funcs[name.Value] = f
			} else {
				f.sure = false
			}
			if len(f.bodies) < maxBodies {
				f.bodies = append(f.bodies, decl.Body)
				f.srcs = append(f.srcs, w.src)
			} else {
				w.unknown(unknown.TooManyBodies, name.Value)
			}
		}
	}
}

// takenApart reports a builtin or a wrapper, whose words are followed.
func takenApart(name string) bool {
	_, is := builtinOf(name)
	_, unwrap := wrapperOf(name)
	return is || unwrap != nil
}

// shadows notes a function or an alias that stands for what is read here.
func (w *walker) shadows(name string) {
	w.unknown(unknown.ShadowsCommand, name)
}

// uncalled walks the bodies of functions that nothing called: handlers run
// without a call.
func (w *walker) uncalled() {
	for changed := true; changed; {
		changed = false
		for _, name := range slices.Sorted(maps.Keys(w.shell.funcs)) {
			if f := w.shell.funcs[name]; !f.walked {
				changed = true
				w.callFunction(name, f, nil, false)
			}
		}
	}
}
