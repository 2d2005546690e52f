package call

import (
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge"
)

const (
	// maxNamed is the largest number of files that a pattern may match by name, maxAllNamed the
	// number for all patterns of a call together.
	maxNamed, maxAllNamed = 256, 4096
)

// findNames records the matches of a line's patterns: bash replaces a pattern by the names of the
// existing files when it comes to it. They are unknown if another command of the line may make
// files before.
func (a *analysis) findNames(parts []cardea.Part) {
	if a.system.Names == nil {
		return
	}
	found, left := map[string]*cardea.Files{}, maxAllNamed
	for i := range parts {
		p := &parts[i]
		if p.Remote || !slices.ContainsFunc(p.Access, inOneFolder) && !slices.ContainsFunc(p.MayTouch, inOneFolder) || othersMakeFiles(parts, i) {
			continue
		}
		words := patternWords(p)
		for _, list := range [][]cardea.Access{p.Access, p.MayTouch} {
			for k := range list {
				if r := &list[k]; inOneFolder(*r) && words[r.Pattern] {
					if _, known := found[r.Pattern]; !known {
						found[r.Pattern] = a.namesOf(r, left)
						if f := found[r.Pattern]; f != nil {
							left -= len(f.Names)
						}
					}
					r.Files = found[r.Pattern]
				}
			}
		}
	}
}

// patternWords returns the patterns that are words of the line, as the shell expands them. A name
// that a program makes of its words is not one of them: a target (cp x/* y), a backup.
func patternWords(p *cardea.Part) map[string]bool {
	words := map[string]bool{}
	for _, w := range p.Argv {
		if !w.Static && w.MaySplit {
			words[knowledge.Absolute(p.Dir, w.Text)] = true
		}
	}
	return words
}

// inOneFolder reports whether all matches of a pattern are in one folder, even where "**" means all
// folders below.
func inOneFolder(r cardea.Access) bool {
	dir, base := path.Split(r.Pattern)
	return r.Glob && !r.Search && r.Path != "" && base != "" && !paths.IsPattern(dir) && !strings.Contains(base, "**") && !strings.ContainsAny(dir+base, "({\\'\"")
}

// namesOf returns the files that a pattern matches, with the targets of links, at most most. It
// returns nil if they are unknown. A pattern without a match stays as it is.
func (a *analysis) namesOf(r *cardea.Access, most int) *cardea.Files {
	all, ok := a.system.Names(r.Path)
	if !ok {
		return nil
	}
	dir, base := path.Split(r.Pattern)
	out := []string{r.Pattern}
	for _, name := range all {
		if !paths.MayBeNamed(base, name) {
			continue
		}
		if len(out) >= min(maxNamed, most) {
			return nil
		}
		spelled := dir + name
		if out = append(out, spelled); a.resolve(spelled) != spelled {
			out = append(out, a.resolve(spelled))
		}
	}
	return &cardea.Files{Names: out}
}

// othersMakeFiles reports whether another part of a line may make or move files. A part with
// another root (chroot) or in a container may do this in a folder that is visible there.
func othersMakeFiles(parts []cardea.Part, but int) bool {
	for i := range parts {
		p := &parts[i]
		makes := func(a cardea.Access) bool { return a.Kind != cardea.Read && a.Kind != cardea.Network && !a.Nowhere() }
		if i != but && !p.NoEffect && (p.Remote || p.Knowledge != cardea.Complete || slices.ContainsFunc(p.Access, makes)) {
			return true
		}
	}
	return false
}
