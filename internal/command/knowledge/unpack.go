package knowledge

import (
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge/form"
)

// This file handles programs that unpack: the names that they write are in an archive or
// a patch, not on the line.

// unpacked adds the files that an archive or a patch may write: its members if it can be read.
// Otherwise it adds the hidden files and folders of the target folder, which guards protect.
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
	if !r.hasProperty(form.Unpacks) || !unpacks || r.system == nil {
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
		if !known && r.system.Names != nil {
			there, _ := r.system.Names(at)
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

// missing reports whether the files that the program reads do not exist and no command
// of the line creates them, so that there is nothing to unpack.
func (r *reader) missing() bool {
	if r.inv.FilesChanged || r.system.IsNew == nil {
		return false
	}
	found := false
	for _, a := range r.out.Access {
		if a.Kind != cardea.Read {
			continue
		}
		if a.Path == "" || a.Glob || a.Redirect || slices.ContainsFunc(r.archives(a.Path), func(file string) bool { return !r.system.IsNew(file) }) {
			return false
		}
		found = true
	}
	return found
}

// packed returns the members of the archives that the program reads, or false if they
// are not all known.
func (r *reader) packed() (members []string, known bool) {
	if r.system.Members == nil || r.inv.FilesChanged {
		return nil, false
	}
	all := true
	for _, a := range r.out.Access {
		if a.Kind != cardea.Read || a.Path == "" || a.Glob {
			continue
		}
		for _, file := range r.archives(a.Path) {
			found, ok := r.system.Members(file)
			members, known, all = append(members, found...), known || ok, all && (ok || file == a.Path)
		}
	}
	return members, known && all
}

// archives returns the name of an archive and the existing files that match it, since
// the program itself may read the name as a pattern: unzip '*.zip'.
func (r *reader) archives(name string) []string {
	out := []string{name}
	dir, base := path.Split(name)
	if !paths.IsPattern(base) || r.system.Names == nil {
		return out
	}
	all, _ := r.system.Names(path.Clean(dir))
	for _, other := range all {
		if other != base && paths.MatchName(base, other) {
			out = append(out, dir+other)
		}
	}
	return out
}
