package knowledge

import (
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge/form"
)

// This file is about programs that unpack: what they write stands in an archive or a
// patch, and not on the line.

// unpacked adds the files that an archive or a patch may write: its members where it
// can be read, and otherwise the hidden files and folders that lie where it is
// unpacked, since those are what guards are about.
func (r *reader) unpacked(p *possibility) {
	s := r.spec
	for i, f := range r.argv {
		if len(r.argv) <= i+3 || f.Text != "-m" || !slices.Contains(r.words(form.UnpacksWith), r.argv[i+1].Text) {
			continue
		}
		switch r.argv[i+2].Text {
		case "-e", "--extract":
			p.run("tar -xf " + quote(r.argv[i+3].Text) + " -C " + quote(slices.Concat(r.argv, []Word{Literal(".")})[i+4].Text))
		case "-c", "--create":
			for _, packed := range r.argv[i+4:] {
				reads := r.paths.OpenWord(cardea.Read, packed)
				r.folders(reads)
				r.out.Access = append(r.out.Access, reads...)
			}
		}
	}
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
		for _, m := range members {
			p.touch(cardea.Unknown, path.Join(at, m))
		}
		if !known && r.world.Names != nil {
			there, _ := r.world.Names(at)
			for _, name := range there {
				if strings.HasPrefix(name, ".") {
					p.touch(cardea.Unknown, path.Join(at, name))
				}
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
		if a.Path == "" || a.Glob || a.Redirect || slices.ContainsFunc(r.archives(a.Path), func(file string) bool { return !r.world.IsNew(file) }) {
			return false
		}
		found = true
	}
	return found
}

// packed are the members of what the program reads, false where they are not all known.
func (r *reader) packed() (members []string, known bool) {
	if r.world.Members == nil || r.inv.FilesChanged {
		return nil, false
	}
	all := true
	for _, a := range r.out.Access {
		if a.Kind != cardea.Read || a.Path == "" || a.Glob {
			continue
		}
		for _, file := range r.archives(a.Path) {
			found, ok := r.world.Members(file)
			members, known, all = append(members, found...), known || ok, all && (ok || file == a.Path)
		}
	}
	return members, known && all
}

// archives are the files that a name stands for, which the program itself may take for a
// pattern: unzip '*.zip'. Those that are there are told with the name itself.
func (r *reader) archives(name string) []string {
	out := []string{name}
	dir, base := path.Split(name)
	if !paths.IsPattern(base) || r.world.Names == nil {
		return out
	}
	all, _ := r.world.Names(path.Clean(dir))
	for _, other := range all {
		if other != base && paths.MatchName(base, other) {
			out = append(out, dir+other)
		}
	}
	return out
}
