package shell

import (
	"maps"
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
)

// State is the state of a shell at a point of a line. If several paths lead to the
// point, it holds only what all have in common.
type State struct {
	// Vars are the variables that the line has touched.
	Vars Variables
	// Folder is the current folder, or "" if it is unknown.
	Folder string
	// FolderMayFail is set after a cd that may have failed, up to the next command. A
	// command after && shows that it has not.
	FolderMayFail bool
	// Pushed are the folders to which popd leads, the next one last.
	Pushed []string
	// Name is $0, or "" if it is unknown.
	Name string
	// Params are $1, $2 and so on if ParamsKnown is set. Otherwise they are texts that any
	// of them may be.
	Params      []string
	ParamsKnown bool
	// Exported are the variables that the line exports. ExportsAll is set if it exports all
	// that it sets.
	Exported   []string
	ExportsAll bool
	// Later is the spot of every later command of this shell. Its code is empty if later
	// commands have no spot.
	Later cardea.Opaque
	// Forgotten is why variables, parameters and the folder are unknown from here on, or
	// the zero Reason.
	Forgotten unknown.Reason
	// Facts apply in any place of the line in which this shell is. States of one shell share them.
	*Facts
}

// Facts apply to all of a shell, or to the script that it runs, independent of the order of
// commands: a loop or a function can make a later definition apply to an earlier command.
type Facts struct {
	Funcs      map[string]*Function
	OuterFuncs map[string]*Function // functions of the shell that started this one
	Aliases    map[string]string
	Attributes map[string]grammar.Attribute
	FixedSet   map[string]bool   // read-only variables that the line has set
	Locals     map[string]Hidden // the values that local variables of the current function hide; nil outside of functions
	Origins    map[string][2]int // the parts whose output variables hold
	// Descriptors are the parts that write or read descriptors.
	Descriptors map[string][2]int
	Options
}

// Hidden is the value that a local variable of a function hides.
type Hidden struct {
	Value
	// Maybe is set if the declaration may not have run.
	Maybe bool
}

// After returns the value of the variable after the function. v is its value at the end
// of the function.
func (h Hidden) After(v Value) Value {
	if h.Maybe {
		return Join(h.Value, v)
	}
	return h.Value
}

// Options are options of a shell that apply to all of a line.
type Options struct {
	HasExitTrap      bool // a command runs when the shell ends
	HasHandler       bool // a command that sets nothing may run at any time
	UnsetsFuncs      bool
	ExportsFuncs     bool
	Closes           bool // a descriptor may be closed
	Traced           bool // the shell prints its commands with their values
	POSIX            bool // another shell than bash may run it
	IgnoresCase      bool // patterns may match letters of the other case
	FindsHiddenNames bool // patterns may match names that begin with a dot
}

// Function is a function that a line defines.
type Function struct {
	Bodies []*syntax.Stmt
	Srcs   []string // the texts that the bodies were parsed from
	At     uint     // offset of the first definition
	// Sure is set if it is defined once, unconditionally, at the top of the line.
	Sure bool
	// Active is set while it is walked, and Walked after that.
	Active, Walked bool
}

// New returns the state in which a line begins. An empty home or folder is unknown.
func New(folder, home, name string) *State {
	s := &State{Folder: folder, Name: name, Facts: &Facts{Funcs: map[string]*Function{}, Aliases: map[string]string{}, Attributes: map[string]grammar.Attribute{},
		FixedSet: map[string]bool{}, Origins: map[string][2]int{}, Descriptors: map[string][2]int{}}}
	if home != "" {
		s.Vars.Set("HOME", Known(home))
	}
	if folder != "" {
		s.Vars.Set("PWD", Known(folder))
	}
	return s
}

// Variables are the values of variables by name. Copies share a map until one of them
// changes it: most subshells and branches change nothing.
type Variables struct {
	m      map[string]Value
	shared bool
}

// Get returns the value of a variable.
func (v *Variables) Get(name string) Value {
	if x, is := v.m[name]; is {
		return x
	}
	return Untouched
}

// Set changes the value of a variable.
func (v *Variables) Set(name string, x Value) {
	switch {
	case v.m == nil:
		v.m = map[string]Value{}
	case v.shared:
		v.m = maps.Clone(v.m)
	}
	v.shared = false
	v.m[name] = x
}

// All returns the values of all variables that the line has touched.
func (v *Variables) All() map[string]Value { return v.m }

// Clone returns an independent copy.
func (s *State) Clone() *State {
	s.Vars.shared = true // for both
	c := *s
	c.Exported = slices.Clone(s.Exported)
	return &c
}

// Join makes s the state after a construct that leaves either s or o.
func (s *State) Join(o *State) {
	for name, v := range o.Vars.m {
		if old := s.Vars.Get(name); !equal(old, v) {
			s.Vars.Set(name, Join(old, v))
		}
	}
	for name, v := range s.Vars.m {
		if _, both := o.Vars.m[name]; !both && !equal(Untouched, v) {
			s.Vars.Set(name, Join(v, Untouched))
		}
	}
	if s.Folder != o.Folder || s.FolderMayFail != o.FolderMayFail || !slices.Equal(s.Pushed, o.Pushed) {
		s.Enter("")
	}
	if s.Later.Code == "" {
		s.Later = o.Later
	}
	s.ParamsKnown = s.ParamsKnown && o.ParamsKnown && slices.Equal(s.Params, o.Params)
	for _, text := range o.Params {
		if len(s.Params) < MaxTexts && !slices.Contains(s.Params, text) {
			s.Params = append(s.Params[:len(s.Params):len(s.Params)], text)
		}
	}
	for _, name := range o.Exported {
		if !slices.Contains(s.Exported, name) {
			s.Exported = append(s.Exported[:len(s.Exported):len(s.Exported)], name)
		}
	}
	s.ExportsAll = s.ExportsAll || o.ExportsAll
	if s.Forgotten.None() {
		s.Forgotten = o.Forgotten
	}
}

func equal(a, b Value) bool { return Same(a, b) && slices.Equal(a.May, b.May) }

// Forget makes all variables, the parameters and the folder unknown for the rest of the
// shell: the top of the lattice. Their possible texts stay.
func (s *State) Forget(why unknown.Reason) {
	s.Doubt(why)
	s.ParamsKnown = false
	s.Enter("")
}

// Doubt makes all variables unknown for the rest of the shell, and the folders that it
// enters from here on.
func (s *State) Doubt(why unknown.Reason) {
	if s.Forgotten.None() {
		s.Forgotten = why
	}
}

// LaterSpot returns the spot of a later command.
func (s *State) LaterSpot(text string) cardea.Opaque {
	spot := s.Later
	spot.Text = unknown.Shorten(text)
	return spot
}

// Enter changes the current folder. "" is a folder that is unknown.
func (s *State) Enter(folder string) {
	if !s.Forgotten.None() {
		folder = ""
	}
	s.Folder, s.FolderMayFail = folder, false
	if folder == "" {
		s.Pushed = nil
		s.Vars.Set("PWD", Any)
	} else {
		s.Vars.Set("PWD", Known(folder))
	}
}

// Bodies returns the bodies of a function of the line.
func (s *State) Bodies(function string) []*syntax.Stmt {
	if f := s.Funcs[function]; f != nil {
		return f.Bodies
	}
	return nil
}

// IsAlias reports whether the line makes a name an alias.
func (s *State) IsAlias(name string) bool {
	_, is := s.Aliases[name]
	return is
}

// Counter reports whether bash keeps a variable as an integer by itself (bash(1), "Shell
// Variables"). An assignment to it is evaluated.
func Counter(name string) bool { return knowledge.IsVariableOf("counter", name) }

// Fixed reports whether a variable is read-only in every bash.
func Fixed(name string) bool { return knowledge.IsVariableOf("read_only", name) }

// IsFixed reports whether a variable may be read-only.
func (s *State) IsFixed(name string) bool {
	return Fixed(name) || s.Attributes[name]&grammar.Fixed != 0
}

// IsInteger reports whether a value assigned to a variable is evaluated.
func (s *State) IsInteger(name string) bool {
	return s.Attributes[name]&grammar.Integer != 0 || Counter(name)
}

// IsPlainCommand reports whether a name is neither a function nor an alias of the line,
// and has the same meaning in every later command.
func (s *State) IsPlainCommand(name string) bool {
	_, alias := s.Aliases[name]
	return s.Funcs[name] == nil && !alias && s.Later.Code == ""
}
