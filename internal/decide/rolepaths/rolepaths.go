// Package rolepaths applies the paths of an agent's role. It denies what the role may not
// read or write, allows the files that it may, and defers to a person what may write
// unseen.
package rolepaths

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/files"
	"cardea.dev/internal/command/pathglob"
	"cardea.dev/internal/decide/roles"
)

// Options configure the decider for a place.
type Options struct {
	// Role holds the definitions of the agent's role that apply, with categories expanded.
	// If empty, the agent has no role.
	Role []roles.Role
	// Home is the person's home folder.
	Home string
	// OnlyTouches reports whether a part only reads and writes files, each of which is free
	// to read or covered. If nil, no command is allowed.
	OnlyTouches func(ev *cardea.Event, p *cardea.Part, covered func(*cardea.Access) bool) bool
}

// Decider is the decider "roles". It is safe for concurrent use.
type Decider struct {
	about    Options
	mu       sync.Mutex
	compiled *policy
}

// New returns the decider of a role. It compiles nothing.
func New(s Options) *Decider { return &Decider{about: s} }

// Name returns "roles".
func (*Decider) Name() string { return "roles" }

// Decide returns the role's opinions.
//
// It denies each part with an access that a glob of deny_write or deny_read may match. It
// allows a part that only reads and writes single files, if allow_read and allow_write
// match all of them for certain. It never allows deletions, execution or connections. It
// defers a part whose writes are unknown, unless the role may write everything. It has no
// opinion about other parts.
func (d *Decider) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	if len(d.about.Role) == 0 || ev.Call == nil {
		return nil, nil
	}
	c := evaluation{policy: d.policy(ev.Project), about: &d.about, ev: ev}
	for i := range ev.Call.Parts {
		if ctx.Err() != nil {
			break // the gate reports it
		}
		c.judge(i)
	}
	return c.out, nil
}

// WatchesFiles reports whether the role denies reading any path.
func (d *Decider) WatchesFiles() bool {
	return slices.ContainsFunc(d.about.Role, func(r roles.Role) bool { return len(r.Paths.DenyRead) > 0 })
}

// policy returns the role's globs, compiled once for a project.
func (d *Decider) policy(project string) *policy {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.compiled == nil || d.compiled.exact.Project != project {
		d.compiled = compile(d.about.Role, d.about.Home, project)
	}
	return d.compiled
}

// policy holds a role's globs in a project. Denials ignore case, since the file system of a
// folder may. Allowances ignore it only on systems where all file systems do.
type policy struct {
	exact, folded *pathglob.Base
	definitions   []definition
	// everywhere is set if the role may write everything, so that unknown writes are no
	// problem.
	everywhere bool
}

// definition is one definition of the role, with compiled globs.
type definition struct {
	roles.Role
	denyWrite, denyRead, allowWrite, allowRead []glob
}

// glob is a glob of a definition, in all forms that it means.
type glob struct {
	roles.Glob
	forms []*pathglob.Glob
	// fixed is a text in every path that the glob matches.
	fixed string
	// source is the glob's position, allows the reason for what it allows.
	source, allows string
}

// compile compiles the definitions of a role for a project.
func compile(defs []roles.Role, home, project string) *policy {
	folds := runtime.GOOS == "darwin" || runtime.GOOS == "windows"
	p := &policy{exact: pathglob.NewPlace(home, project, folds), folded: pathglob.NewPlace(home, project, true)}
	p.everywhere = true
	for _, r := range defs {
		p.definitions = append(p.definitions, definition{Role: r,
			denyWrite: globsIn(p.folded, r, r.Paths.DenyWrite), denyRead: globsIn(p.folded, r, r.Paths.DenyRead),
			allowWrite: globsIn(p.exact, r, r.Paths.AllowWrite), allowRead: globsIn(p.exact, r, r.Paths.AllowRead)})
		anything := slices.ContainsFunc(r.Paths.AllowWrite, func(g roles.Glob) bool { return g.Text == "**" || g.Text == "/**" })
		p.everywhere = p.everywhere && len(r.Paths.DenyWrite)+len(r.Paths.DenyRead) == 0 && anything
	}
	return p
}

// globsIn compiles the globs of a definition in a place.
func globsIn(pl *pathglob.Base, r roles.Role, globs []roles.Glob) []glob {
	out := make([]glob, len(globs))
	file, _ := diagnostic.SplitSource(r.Source)
	for i, g := range globs {
		out[i].Glob, out[i].source = g, r.Source
		if g.Line > 0 {
			out[i].source = fmt.Sprintf("%s:%d", file, g.Line)
		}
		out[i].allows = fmt.Sprintf("the role %s may do this (%s)", r.Name, g.Shown())
		out[i].forms = append(out[i].forms, lists.Of(withContents(g.Text), pl.Glob)...)
		out[i].fixed = out[i].forms[0].Fixed()
	}
	return out
}

// withContents returns the globs for a name and everything below it, as a name in
// .gitignore means a folder with its contents.
func withContents(text string) []string {
	name := strings.TrimRight(text, "/")
	switch {
	case name == "":
		return []string{"/**"}
	case strings.HasSuffix(name, "**"):
		return []string{name}
	case !strings.Contains(name, "/") && name != "~":
		return []string{name, "**/" + name + "/**"}
	}
	return []string{name, name + "/**"}
}

// touched returns the first glob that an access may match, or nil. For most globs a quick
// look at the path is enough.
func touched(globs []glob, pl *pathglob.Base, a *cardea.Access) *glob {
	plain, path, spelled := !a.Glob && !a.Recursive, pl.Folded(a.Path), pl.Folded(a.Spelled)
	var named *pathglob.Named
	for i := range globs {
		if fixed := globs[i].fixed; plain && !strings.Contains(path, fixed) && !strings.Contains(spelled, fixed) {
			continue
		}
		if named == nil {
			named = pl.Name(a)
		}
		if slices.ContainsFunc(globs[i].forms, func(f *pathglob.Glob) bool { return f.TouchesNamed(named) }) {
			return &globs[i]
		}
	}
	return nil
}

// covered returns the first glob that matches everything that an access touches, or nil.
func covered(globs []glob, pl *pathglob.Base, a *cardea.Access) *glob {
	for i := range globs {
		if slices.ContainsFunc(globs[i].forms, func(f *pathglob.Glob) bool { return f.Covers(a, pl) }) {
			return &globs[i]
		}
	}
	return nil
}

// evaluation is the evaluation of one event.
type evaluation struct {
	*policy
	about *Options
	ev    *cardea.Event
	out   []cardea.Opinion
}

// judge adds the opinions about a part.
func (c *evaluation) judge(i int) {
	p := &c.ev.Call.Parts[i]
	if p.NoEffect {
		return
	}
	denied := false
	for k := range c.definitions {
		denied = c.denies(&c.definitions[k], i) || denied
	}
	if denied || c.ev.Call.OnlyPotential || c.ev.Call.OnlyOpened {
		return
	}
	if by, def := c.allows(p); by != nil {
		for k := range p.Access {
			if a := &p.Access[k]; a.Kind == cardea.Write && files.MayHoldSecret(a.Path) {
				c.say(def, cardea.Ask, i, by, fmt.Sprintf("it writes %s, which holds secrets that are in no history", c.shown(a)))
				return
			}
		}
		c.say(def, cardea.Allow, i, by, by.allows)
		return
	}
	if !c.everywhere && (unseen(c.ev.Call, p) || c.fills(p)) {
		def := &c.definitions[0]
		c.say(def, cardea.Defer, i, nil, fmt.Sprintf("what this may write cannot be seen, and the role %s may not write everything", def.Name))
	}
}

// denies adds the denial of a definition for part i, and reports whether there is one. It
// asks instead if it is unknown what a pattern expands to.
func (c *evaluation) denies(def *definition, i int) bool {
	p := &c.ev.Call.Parts[i]
	for k := range p.Access {
		a := &p.Access[k]
		if a.Kind == cardea.Network || p.Remote && !a.Redirect || a.Path+a.Spelled+a.Pattern == "" {
			continue
		}
		globs, verb, list := def.denyRead, "read", "deny_read"
		if a.Kind == cardea.Write || a.Kind == cardea.Delete {
			globs, verb, list = def.denyWrite, "write", "deny_write"
		}
		if len(globs) == 0 {
			continue
		}
		if g := touched(globs, c.folded, a); g != nil {
			effect, may := cardea.Deny, "may not"
			if a.Glob && covered([]glob{*g}, c.folded, a) == nil {
				effect, may = cardea.Ask, "may not, should this name it," // a pattern's expansion is unknown
			}
			c.say(def, effect, i, g, fmt.Sprintf("the role %s %s %s %s (%s: %s)", def.Name, may, verb, c.shown(a), list, g.Shown()))
			return true
		}
	}
	return false
}

// shown returns the name of an access, relative to the project if it is inside.
func (c *evaluation) shown(a *cardea.Access) string {
	name := cmp.Or(a.Path, a.Spelled)
	if a.Glob && a.Pattern != "" {
		name = a.Pattern
	}
	if rel, below := strings.CutPrefix(name, strings.TrimSuffix(c.ev.Project, "/")+"/"); below && c.ev.Project != "" {
		return rel
	}
	return name
}

// allows returns the glob and the definition that allow all accesses of a part. Both are
// nil if the role does not allow it.
func (c *evaluation) allows(p *cardea.Part) (by *glob, of *definition) {
	call := c.ev.Call
	if len(c.ev.Faults)+len(call.Opaque)+len(p.Opaque) > 0 || call.Unsandboxed || !call.Known {
		return nil, nil
	}
	names := func(a *cardea.Access) bool {
		g, def := c.named(a)
		if g != nil && (by == nil || a.Kind == cardea.Write) {
			by, of = g, def
		}
		return g != nil
	}
	if len(p.Argv) == 0 {
		for k := range p.Access {
			if !names(&p.Access[k]) {
				return nil, nil
			}
		}
		return by, of
	}
	if c.about.OnlyTouches == nil || slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return !w.Static }) {
		return nil, nil
	}
	for i := range call.Parts {
		if q := &call.Parts[i]; q != p && knowledge.MayMakeLinks(q) {
			return nil, nil // a link of q may redirect the writes of p
		}
	}
	if !c.about.OnlyTouches(c.ev, p, names) {
		return nil, nil
	}
	return by, of
}

// named returns the glob and the definition that allow an access: a read, or a write of a
// single file.
func (c *evaluation) named(a *cardea.Access) (*glob, *definition) {
	for k := range c.definitions {
		def := &c.definitions[k]
		var g *glob
		switch {
		case a.Kind == cardea.Read:
			g = covered(def.allowRead, c.exact, a)
		case a.Kind == cardea.Write && !a.Recursive && !a.Glob:
			g = covered(def.allowWrite, c.exact, a)
		}
		if g != nil {
			return g, def
		}
	}
	return nil, nil
}

// fills reports whether a part writes a folder that may contain paths which the role may
// not write. It is unknown which files tar or unzip create there.
func (c *evaluation) fills(p *cardea.Part) bool {
	for k := range p.Access {
		a := &p.Access[k]
		if a.Kind != cardea.Write || a.Path == "" || p.Remote && !a.Redirect {
			continue
		}
		folder := c.folded.Folded(a.Path)
		for d := range c.definitions {
			if slices.ContainsFunc(c.definitions[d].denyWrite, func(g glob) bool { return g.forms[0].MayLieIn(folder) }) {
				return true
			}
		}
	}
	return false
}

// unseen reports whether a part may write an unknown path: it runs a program, or its
// accesses are not all known.
func unseen(call *cardea.Call, p *cardea.Part) bool {
	if !call.Known || len(p.Argv) > 0 && len(p.Access) == 0 && p.Knowledge != cardea.Complete {
		return true
	}
	return slices.ContainsFunc(p.Access, func(a cardea.Access) bool {
		switch a.Kind {
		case cardea.Unknown, cardea.Execute:
			return true
		case cardea.Write, cardea.Delete:
			return a.Path+a.Spelled+a.Pattern == "" && !a.Nowhere()
		}
		return false
	})
}

// say adds an opinion of a definition about a part. by is the glob that decides, or nil.
func (c *evaluation) say(def *definition, e cardea.Effect, part int, by *glob, reason string) {
	o := cardea.Opinion{Decider: "roles", Yields: cardea.YieldsToOverride, Rule: def.Name, Effect: e, Part: part, Scope: def.Scope, Source: def.Source, Reason: reason, Withheld: !def.Trusted}
	if def.Scope == cardea.ScopeBuiltin {
		o.Scope = cardea.ScopeRole
	}
	if by != nil {
		o.Source = by.source
	}
	if e >= cardea.Ask {
		o.Severity, o.Person = cardea.SeverityMedium, e == cardea.Ask
	}
	c.out = append(c.out, o)
}

// Rights is the effect of a role on reading and on writing a file.
type Rights struct{ Read, Write cardea.Effect }

// About returns the role's effect on one file: allow, deny, or abstain if the role has no
// matching glob.
func (d *Decider) About(project, path string) Rights {
	c := evaluation{policy: d.policy(project), about: &d.about, ev: &cardea.Event{Project: project, Call: &cardea.Call{}}}
	real := paths.Real(path)
	one := func(kind cardea.AccessKind) cardea.Effect {
		a := cardea.Access{Kind: kind, Path: real}
		if real != path {
			a.Spelled = path
		}
		c.ev.Call.Parts = []cardea.Part{{CommandFacts: cardea.CommandFacts{Access: []cardea.Access{a}}}}
		for k := range c.definitions {
			if c.denies(&c.definitions[k], 0) {
				return cardea.Deny
			}
		}
		if g, _ := c.named(&a); g != nil {
			return cardea.Allow
		}
		return cardea.Abstain
	}
	return Rights{Read: one(cardea.Read), Write: one(cardea.Write)}
}
