package call

import (
	"cmp"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
)

// writesThrough adds the files that parts may write through a descriptor: Linux opens the target
// again, so that a file may be written that was opened for reading. A program's normal output is
// only a file if the part itself opens one.
func writesThrough(parts []cardea.Part) {
	for i := range parts {
		p := &parts[i]
		any, own := descriptors(p)
		for k := range parts {
			for _, a := range parts[k].Access {
				if name := cmp.Or(a.Path, a.Spelled); a.Kind == cardea.Read && a.Redirect && name != "" && (any || own && k == i) {
					p.Access = append(p.Access[:len(p.Access):len(p.Access)], cardea.Access{Kind: cardea.Write, Spelled: name})
				}
			}
		}
	}
}

// descriptors reports whether a part writes to the target of a descriptor, and whether that
// descriptor is its output.
func descriptors(p *cardea.Part) (any, output bool) {
	for _, a := range p.Access {
		name := cmp.Or(a.Path, a.Spelled)
		switch {
		case a.Kind != cardea.Write:
		case name == "/dev/stdout" || name == "/dev/stderr":
			output = true
		case paths.IsDescriptor(name), name == "" && slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return strings.Contains(w.Text, "/fd/") }):
			any = true
		}
	}
	return any, output
}
