package permissions

import (
	"cmp"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/files"
	"cardea.dev/internal/command/knowledge/form"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/permissionlist"
)

// accesses stops accesses that an entry for a program does not cover. These are files that
// the shell writes, private ones that it reads, paths that the harness always asks about,
// and reads of what a list denies. named is set if an entry names the program that writes
// as the shell does.
func (c *evaluation) accesses(p *cardea.Part, r *Refusal, named bool) {
	edits := c.ev.Call.EditsFiles
	for i := range p.Access {
		a := &p.Access[i]
		named := named && slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return knowledge.Absolute(p.Dir, w.Text) == cmp.Or(a.Spelled, a.Path) })
		switch a.Kind {
		case cardea.Write, cardea.Delete:
			switch {
			case a.Nowhere():
			case harness.TouchesProtected(*a):
				r.stop("it changes %s, which is never approved by an entry", orUnknown(a.Path))
			case harness.DeletesCritical(*a, *p, c.ev, c.about.Home):
				r.stop("it may delete %s, which is never approved by an entry", orUnknown(a.Path))
			case a.Kind == cardea.Write && (p.EditsFiles || a.Redirect || knowledge.MayMakeLinks(p)) && p.Dir != "" && strings.Contains(strings.TrimPrefix(a.Path, p.Dir), "/-"):
				r.stop("it makes %s: where a pattern finds a name that begins with a dash, it is an option", a.Path)
			case a.Redirect && !edits && !named && !c.mayWrite(a):
				r.stop("the shell writes %s, which needs a yes of its own", orUnknown(a.Path))
				if a.Path != "" && !a.Glob {
					r.need("Edit(/" + a.Path + ")")
				}
			}
		case cardea.Read:
			if a.Redirect && !c.mayRead(a) {
				r.stop("the shell reads %s, which needs a yes of its own", orUnknown(a.Path))
				if a.Path != "" {
					r.need("Read(/" + a.Path + ")")
				}
			}
			if e := c.shut(a); e != nil {
				r.stop("it may read what %s %s (%s)", e.Text, permissionlist.Verb(e.Effect), e.Source())
			}
		default:
			if a.Redirect {
				r.stop("the shell itself contacts %s", orUnknown(a.Host))
			}
		}
	}
}

func orUnknown(p string) string { return cmp.Or(p, "what is not known") }

// mayWrite reports whether a file that the shell writes has an approval of its own. It is
// new and plain output, the mode accepts edits of the project, or an entry for Edit names
// it.
func (c *evaluation) mayWrite(a *cardea.Access) bool {
	if a.Kind != cardea.Write || a.Path == "" || a.Glob || len(c.makers()) > 0 {
		return false
	}
	return a.Fresh || c.ev.Mode == cardea.ModeAcceptEdits && c.inWork(a) || c.covering("Edit", a) != nil
}

// makers returns the parts that may make links, found once for each call.
func (c *evaluation) makers() []*cardea.Part {
	if c.linkers == nil {
		c.linkers = []*cardea.Part{}
		for i := range c.ev.Call.Parts {
			if p := &c.ev.Call.Parts[i]; knowledge.MayMakeLinks(p) {
				c.linkers = append(c.linkers, p)
			}
		}
	}
	return c.linkers
}

// onFiles reports whether a command only reads and writes files, as the tools Read and Edit
// do, and each is covered. An entry for these tools covers a file, and so does the mode
// acceptEdits. by is one of these entries, or nil.
func (c *evaluation) onFiles(p *cardea.Part) (by *permissionlist.Entry, ok bool) {
	switch {
	case c.about.OnlyTouches == nil, !c.about.Expand,
		p.EditsFiles && slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return !w.Static }),
		p.EditsFiles && slices.ContainsFunc(c.makers(), func(q *cardea.Part) bool { return q != p }):
		return nil, false
	}
	accepted := c.ev.Mode == cardea.ModeAcceptEdits && p.EditsFiles && knowledge.Has(form.AcceptedAsEdit, p.Program())
	used := false
	covered := func(a *cardea.Access) bool {
		var e *permissionlist.Entry
		switch {
		case a.Redirect && a.Kind == cardea.Write:
			return true // checked by accesses
		case a.Kind == cardea.Read && a.Path != "":
			e = c.covering("Read", a)
			if e != nil && e.Form == permissionlist.Whole && (a.Recursive || a.Glob) {
				e = nil // "every file" does not include a whole folder, which may hold secrets
			}
		case !p.EditsFiles || a.Path == "" || a.Glob:
			return false
		case a.Kind == cardea.Write && a.Path == "/dev/null", accepted && (a.Kind == cardea.Write || a.Kind == cardea.Delete) && c.inWork(a):
			used = true
			return true
		case a.Kind == cardea.Write && !a.Recursive:
			e = c.covering("Edit", a)
		}
		if e != nil {
			by, used = e, true
		}
		return e != nil
	}
	return by, c.about.OnlyTouches(c.ev, p, covered) && used
}

// readsNeeded returns the missing entries for Read that would cover a command that only
// reads. It returns nil if entries cannot cover it.
func (c *evaluation) readsNeeded(p *cardea.Part) []string {
	if c.about.OnlyTouches == nil || p.EditsFiles {
		return nil
	}
	var needs []string
	named := func(a *cardea.Access) bool {
		if a.Kind != cardea.Read || a.Path == "" || a.Glob || files.MayHoldSecret(a.Path) || strings.ContainsAny(a.Path, "*?[\\!()") {
			return false
		}
		if c.covering("Read", a) == nil {
			needs = append(needs, c.readEntry(a))
		}
		return true
	}
	if !c.about.OnlyTouches(c.ev, p, named) {
		return nil
	}
	return needs
}

// readEntry returns the narrowest entry for Read that covers an access.
func (c *evaluation) readEntry(a *cardea.Access) string {
	name := "/" + a.Path
	if below, ok := strings.CutPrefix(a.Path, strings.TrimSuffix(c.about.Home, "/")+"/"); ok && c.about.Home != "" {
		name = "~/" + below
	}
	if a.Recursive {
		name += "/**"
	}
	return "Read(" + name + ")"
}

// mayRead reports whether a file that the shell reads needs no further approval: the read
// is free, or an entry for Read covers it.
func (c *evaluation) mayRead(a *cardea.Access) bool {
	return a.Path != "" && (c.about.FreeToRead != nil && c.about.FreeToRead(c.ev, a) || c.covering("Read", a) != nil)
}

// inWork reports whether a file is in the project, or in a folder that the person added, by
// both of its names.
func (c *evaluation) inWork(a *cardea.Access) bool {
	return slices.ContainsFunc(append([]string{c.ev.Project}, c.ev.Roots...), func(root string) bool {
		return root != "" && paths.Below(root, a.Path) && (a.Spelled == "" || paths.Below(root, a.Spelled))
	})
}

// covering returns an entry of a file tool that allows an access, or nil.
func (c *evaluation) covering(tool string, a *cardea.Access) *permissionlist.Entry {
	for _, list := range [][]int{c.index.files, c.index.others} {
		for _, k := range list {
			e := &c.entries[k]
			if c.ctx.Err() == nil && e.Effect == cardea.Allow && e.Tool == tool && (e.Form == permissionlist.File || e.Form == permissionlist.Whole) &&
				e.Counts(c.ev.Harness) && e.Covers(a, c.place(e)) {
				return e
			}
		}
	}
	return nil
}

// shut returns an entry that denies reading a path which a recursive access or a pattern
// may reach, or nil.
func (c *evaluation) shut(a *cardea.Access) *permissionlist.Entry {
	for _, k := range c.index.files {
		e := &c.entries[k]
		if e.Effect != cardea.Allow && e.Form == permissionlist.File && e.Tool == "Read" && (c.ctx.Err() != nil || e.MayLieBelow(a, c.place(e))) {
			return e
		}
	}
	return nil
}

// otherTool returns the entry that allows a part of a tool other than a shell. If there is
// none, it adds the reason to r.
func (c *evaluation) otherTool(p *cardea.Part, r *Refusal) *permissionlist.Entry {
	call := c.ev.Call
	reads := call.Tool == "Read" || call.Tool == "Grep" || call.Tool == "Glob"
	var idle *permissionlist.Entry
	for k := range c.entries {
		e := &c.entries[k]
		if e.Effect != cardea.Allow {
			continue
		}
		about := e.Names(call) || e.Tool == "Edit" && call.EditsFiles || e.Tool == "Read" && reads
		if !about || !c.permits(e, p) {
			continue
		}
		if e.Counts(c.ev.Harness) {
			return e
		}
		idle = e
	}
	c.unnamed(p, idle, "", r)
	r.need(toolEntry(call, p, reads))
	return nil
}

// permits reports whether an entry that is about the call's tool allows a part.
func (c *evaluation) permits(e *permissionlist.Entry, p *cardea.Part) bool {
	switch e.Form {
	case permissionlist.Whole:
		return true
	case permissionlist.Named:
		return e.NamedIs(subject(c.ev.Call)) && len(c.ev.Call.Shadowed) == 0
	case permissionlist.Host:
		return len(p.Access) > 0 && !slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return !e.HostIs(a.Host) })
	case permissionlist.File:
		at := c.place(e)
		return len(p.Access) > 0 && !slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind == cardea.Unknown || !e.Covers(&a, at) })
	}
	return false
}

// toolEntry returns the narrowest entry for a part of a tool other than a shell. It returns
// "" if no entry helps.
func toolEntry(call *cardea.Call, p *cardea.Part, reads bool) string {
	one := ""
	for _, a := range p.Access {
		name := "/" + a.Path
		if a.Recursive {
			name += "/**"
		}
		switch {
		case a.Kind == cardea.Network && a.Host != "" && call.Tool == "WebFetch":
			one = "WebFetch(domain:" + a.Host + ")"
		case a.Path == "":
		case call.EditsFiles:
			one = "Edit(" + name + ")"
		case reads:
			one = "Read(" + name + ")"
		}
	}
	if s := subject(call); one == "" && s != "" && permissionlist.AllowsByName(call.Tool) && !strings.ContainsAny(s, "*\n") {
		one = call.Tool + "(" + s + ")"
	}
	if one == "" && !call.EditsFiles && !reads && call.Tool != "WebFetch" {
		one = call.Tool
	}
	return one
}
