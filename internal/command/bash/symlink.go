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

// This file follows the symlinks and folders that a line creates: they do not exist yet
// during the analysis, and other commands of the line go through them.

// creations holds the symlinks and folders that a line creates, as far as its other
// commands go through them.
type creations struct {
	// inside and beside map the absolute path of a symlink, its folder resolved, to its
	// absolute targets, or "" if a target is unknown. "ln -s x y" creates y/x if y is a
	// folder, and y if it is not: both are here, each in its own table.
	inside, beside map[string][]string
	// folders are absolute paths that may be folders, or links to one, after some command. The
	// value is the index of the part that creates it, or several for more parts, or a loop.
	folders map[string]int
	// again are the ranges of parts that a loop may repeat.
	again [][2]int
	// targets are the paths to which parts copy or move and that are not a folder yet.
	targets []target
}

// target is a path that a part copies or moves to.
type target struct {
	at   string
	part int
}

// several is the index for more than one part.
const several = -1

// matters reports whether another pass that knows the creations may find more.
func (m *creations) matters() bool {
	return len(m.inside)+len(m.beside) > 0 || slices.ContainsFunc(m.targets, m.folder)
}

// folder reports whether another part may create a folder at a target.
func (m *creations) folder(t target) bool {
	part, made := m.folders[t.at]
	return made && part != t.part
}

// makes records that a part creates a path. again is set if it may run more than once.
func (m *creations) makes(at string, part int, again bool) {
	if other, there := m.folders[at]; there && other != part || again {
		part = several
	}
	m.folders[at] = part
}

// maxLeads is the number of targets of one name that are followed.
const maxLeads = 4

// looks returns the links for each pass over the line, and whether all were followed. A
// name with several targets has one of them in each pass.
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

// add records a link that a part creates.
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

// link records a link in a table.
func link(table map[string][]string, at, target string) {
	if !slices.Contains(table[at], target) {
		table[at] = append(table[at], target)
	}
}

// note records the folders that parts create, with those above them.
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

// over returns a function that resolves paths as resolve does and also follows links.
// Its result is "" if the path is unknown.
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
			// A kernel stops as early (path_resolution(7)).
			if followed++; target == "" || followed > 40 {
				return ""
			}
			todo, done = target+"/"+todo, ""
		}
		return cmp.Or(done, "/")
	}
}

// join adds the result of a second pass, which saw all or some of the links that the
// line creates. The state before a link is created applies, and so does the one after.
func (a *Analysis) join(again Analysis, text string, all bool) {
	same := all && slices.EqualFunc(a.Parts, again.Parts, func(p, q cardea.Part) bool { return slices.Equal(p.Command, q.Command) })
	if !same {
		a.Opaque = append(a.Opaque, unknown.MadeLinks.Spot(text))
		return
	}
	joinParts(a.Parts, again.Parts)
}

// joinParts adds to parts the effects and potential effects that another pass has found.
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

// withAll returns list with the accesses of more that it lacks.
func withAll(list, more []cardea.Access) []cardea.Access {
	for _, a := range more {
		if !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	return list
}
