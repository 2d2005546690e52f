package bash

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

// This file follows the symbolic links and the folders that a line makes itself:
// they are not there yet when it is looked at, and its other commands go through
// them.

// creations is what a line makes itself, as far as its other commands go through it.
type creations struct {
	// links are symbolic links, by their absolute paths whose folders are
	// resolved. What a link leads to is absolute, or "" where that is not known.
	// "ln -s x y" makes y/x where y is a folder, and y where it is not: both are
	// here, each in a table of its own.
	inside, beside map[string][]string
	// folders are absolute paths that may be folders, or links to one, behind some command:
	// the place of the one part that makes it, and any for several, or in a loop.
	folders map[string]int
	// again are the ranges of parts that a loop may repeat.
	again [][2]int
	// targets are what parts copy or move to, and is no folder yet.
	targets []target
}

// target is a path that a part copies or moves to.
type target struct {
	at   string
	part int
}

// several is the place of several parts.
const several = -1

// matters reports whether another look, with what is made, may find more.
func (m *creations) matters() bool {
	return len(m.inside)+len(m.beside) > 0 || slices.ContainsFunc(m.targets, m.folder)
}

// folder reports whether another part may make a folder of a target.
func (m *creations) folder(t target) bool {
	part, made := m.folders[t.at]
	return made && part != t.part
}

// makes notes that a part makes a path. again is set where it may run more than once.
func (m *creations) makes(at string, part int, again bool) {
	if other, there := m.folders[at]; there && other != part || again {
		part = several
	}
	m.folders[at] = part
}

// maxLeads is how many places are followed to which one name leads.
const maxLeads = 4

// looks are the links for each look at the line, and whether all were followed: those of a
// name that gets several are taken one after the other.
func (m *creations) looks() (out []map[string]string, all bool) {
	all = true
	for _, table := range []map[string][]string{m.inside, m.beside} {
		for n, more := 0, true; more && n <= maxLeads; n++ {
			links := map[string]string{}
			more = n == 0
			for at, to := range table {
				if len(to) > 1 { // first, its target is unknown
					to = append([]string{""}, to...)
				}
				links[at] = to[min(n, len(to)-1)]
				more, all = more || n < len(to), all && len(to) <= maxLeads+1
			}
			if more {
				out = append(out, links)
			}
		}
	}
	return out, all
}

// add notes a link that a part makes.
func (m *creations) add(l knowledge.Link, part int, again bool) {
	if l.IfFolder {
		link(m.inside, l.At, l.Target)
	}
	if l.IfNoFolder {
		link(m.beside, l.At, l.Target)
		m.makes(l.At, part, again)
	}
	if l.Target == "" {
		m.makes(l.At, several, again)
	}
}

// link notes a link in a table.
func link(table map[string][]string, at, target string) {
	if !slices.Contains(table[at], target) {
		table[at] = append(table[at], target)
	}
}

// note notes the folders that parts make, with those above.
func (m *creations) note(parts []cardea.Part) {
	for i := range parts {
		if !knowledge.Has(form.MakesFolders, parts[i].Program()) {
			continue
		}
		repeated := slices.ContainsFunc(parts[i].Via, inFunction) || slices.ContainsFunc(m.again, func(r [2]int) bool { return r[0] <= i && i < r[1] })
		for _, a := range parts[i].Access {
			if a.Kind != cardea.Write || a.Redirect || a.Glob {
				continue
			}
			for _, p := range []string{a.Path, a.Spelled} {
				for ; p != "" && p != "/"; p = path.Dir(p) {
					m.makes(p, i, repeated)
				}
			}
		}
	}
}

// over is a resolve that sees links, too. Its result is "" where a path leads
// nobody knows where.
func over(links map[string]string, resolve func(string) string) func(string) string {
	if resolve == nil {
		resolve = path.Clean
	}
	return func(name string) string {
		todo, done := name, ""
		for followed := 0; todo != ""; {
			var next string
			next, todo, _ = strings.Cut(strings.TrimLeft(todo, "/"), "/")
			switch next {
			case "", ".":
				continue
			case "..":
				done = done[:max(strings.LastIndexByte(done, '/'), 0)]
				continue
			}
			at := done + "/" + next
			target, made := links[at]
			if !made {
				real := resolve(at)
				if real == "" {
					return ""
				}
				done = strings.TrimSuffix(real, "/")
				continue
			}
			// A kernel gives up as early (path_resolution(7)).
			if followed++; target == "" || followed > 40 {
				return ""
			}
			todo, done = target+"/"+todo, ""
		}
		return cmp.Or(done, "/")
	}
}

// join adds what a second look has found, which saw the links that the line
// makes, or some of them: what is there before a link is made counts, and what is there
// after.
func (a *Analysis) join(again Analysis, text string, all bool) {
	same := all && slices.EqualFunc(a.Parts, again.Parts, func(p, q cardea.Part) bool { return slices.Equal(p.Command, q.Command) })
	if !same {
		a.Opaque = append(a.Opaque, unknown.MadeLinks.Spot(text))
		return
	}
	joinParts(a.Parts, again.Parts)
}

// joinParts adds to parts what another look has found that they do, or may do.
func joinParts(parts, again []cardea.Part) {
	for i := range parts {
		p, q := &parts[i], &again[i]
		p.Access = withAll(p.Access, q.Access)
		if slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind == cardea.Link }) {
			continue // a link does not go through itself
		}
		p.MayTouch = withAll(p.MayTouch, q.MayTouch)
		if len(p.MayRun) == len(q.MayRun) {
			joinParts(p.MayRun, q.MayRun)
		}
	}
}

// withAll are accesses with those of another list that are not among them.
func withAll(list, more []cardea.Access) []cardea.Access {
	for _, a := range more {
		if !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	return list
}
