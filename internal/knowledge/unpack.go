package knowledge

import (
	"path"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/knowledge/form"
)

// This file is about programs that unpack: what they write stands in an archive or a
// patch, and not on the line.

// unpacked adds the files that an archive or a patch may write: its members where it
// can be read, and otherwise the hidden files and folders that lie where it is
// unpacked, since those are what guards are about.
func (r *reader) unpacked(p *possibility) {
	s := r.spec
	unpacks := len(s.WritesUnnamedFiles) == 0 || r.has(s.WritesUnnamedFiles) && !r.has(s.WritesUnnamedFilesUnless)
	if !r.hasProperty(form.Unpacks) || !unpacks || r.world == nil {
		return
	}
	members, known := r.packed()
	if !known && r.missing() {
		return
	}
	for _, dir := range append(r.into(), Literal(".")) {
		at := Absolute(p.paths.Dir, dir.Text)
		if at == "" || !dir.Static {
			continue
		}
		if !known && r.world.Names != nil {
			members, _ = r.world.Names(at)
		}
		for _, m := range members {
			if hidden := strings.Contains("/"+m, "/."); hidden || known {
				p.touch(cardea.Unknown, path.Join(at, m))
			}
		}
		if len(r.into()) > 0 {
			return
		}
	}
}

// missing reports that the files which the program reads do not exist, and that nothing
// on the line creates them: there is nothing to unpack.
func (r *reader) missing() bool {
	if r.inv.FilesChanged || r.world.IsNew == nil {
		return false
	}
	found := false
	for _, a := range r.out.Access {
		if a.Kind != cardea.Read {
			continue
		}
		if a.Path == "" || a.Glob || a.Redirect || !r.world.IsNew(a.Path) {
			return false
		}
		found = true
	}
	return found
}

// packed are the members of what the program reads, false where they are not known.
func (r *reader) packed() (members []string, known bool) {
	if r.world.Members == nil || r.inv.FilesChanged {
		return nil, false
	}
	for _, a := range r.out.Access {
		if a.Kind != cardea.Read || a.Path == "" || a.Glob {
			continue
		}
		if found, ok := r.world.Members(a.Path); ok {
			members, known = append(members, found...), true
		}
	}
	return members, known
}
