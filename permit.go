package cardea

import (
	"path"
	"slices"
)

// This file describes the limits of a permission that names only a program or a part, as policies
// and rewrites give it.

// BeyondParts returns the reason why a permission for each part does not cover the event's call, or
// "" where it does.
func (e *Event) BeyondParts() string {
	switch c := e.Call; {
	case len(c.Opaque) > 0 || len(e.Faults) > 0:
		return "something in the call cannot be seen through"
	case c.Unsandboxed:
		return "the call asks to run outside of the sandbox"
	}
	return ""
}

// IsOnePart reports whether the call is one part that no operator or construct leads to. In a
// function or a loop, the line's first word does not determine what runs.
func (c *Call) IsOnePart() bool { return len(c.Parts) == 1 && len(c.Parts[0].Via) == 0 }

// BeyondProgram returns the reason why a permission for a part's program does not cover the part,
// or "" where it does. Reasons are redirections that write, another user, machine or folder,
// variables that may change the program, and words that may become options. A program given by a
// path outside /bin and /usr/bin is also not covered, since the agent may have written it.
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

// lookedUp reports whether a word is the name of a program that the shell looks up, or a path in
// /bin or /usr/bin.
func (w Word) lookedUp() bool {
	dir, name := path.Split(w.Text)
	return w.Static && name != "" && (dir == "" || dir == "/bin/" || dir == "/usr/bin/")
}
