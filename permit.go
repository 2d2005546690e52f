package cardea

import (
	"path"
	"slices"
)

// This file says what a yes that names no more than a program, or a part, does not
// cover: the yes of a policy, and of who rewrites a call.

// BeyondParts is why a yes for the parts of the event's call is no yes for the call, ""
// where it is.
func (e *Event) BeyondParts() string {
	switch c := e.Call; {
	case len(c.Opaque) > 0 || len(e.Faults) > 0:
		return "something in the call cannot be seen through"
	case c.Unsandboxed:
		return "the call asks to run outside of the sandbox"
	}
	return ""
}

// IsOnePart reports whether the call is one part, and nothing leads to it: what runs in
// a function, or in a loop, is not what the line's first word says.
func (c *Call) IsOnePart() bool { return len(c.Parts) == 1 && len(c.Parts[0].Via) == 0 }

// BeyondProgram is why a yes for a part's program is no yes for the part, "" where it
// is: redirections that write, another user, machine or folder, a variable that may
// change what the program does, words that may become options, and a program that is
// looked up nowhere, since the agent may have written it.
func (p *Part) BeyondProgram() string {
	switch {
	case p.Coverage != Complete || len(p.Opaque) > 0:
		return "cannot be seen through"
	case p.Elevated || p.Remote:
		return "runs as another user or elsewhere"
	case slices.ContainsFunc(p.Access, func(a Access) bool { return a.NeedsSeparatePermission() }):
		return "writes by a redirection, which needs a yes of its own"
	case slices.ContainsFunc(p.Assigns, func(a Assign) bool { return a.Class != EnvSafe }):
		return "sets a variable that may change what the program does"
	case slices.ContainsFunc(p.Argv, func(w Word) bool { return w.MayBeOption }), p.UnseenOption():
		return "has a word that may become options nobody has seen"
	case len(p.Argv) > 0 && !p.Argv[0].lookedUp():
		return "starts a program by its path; let a rule of yours allow it"
	}
	return ""
}

// lookedUp reports whether a word is the name of a program, as the shell looks it
// up, or its path in a folder of the system.
func (w Word) lookedUp() bool {
	dir, name := path.Split(w.Text)
	return w.Static && name != "" && (dir == "" || dir == "/bin/" || dir == "/usr/bin/")
}
