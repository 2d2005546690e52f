package permissionlist

import (
	"path"
	"runtime"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
)

// anchor is the base of a pattern of paths.
type anchor uint8

const (
	fromCwd    anchor = iota // "path", "./path"
	fromRoot                 // "//path"
	fromHome                 // "~/path"
	fromSource               // "/path": the settings' own folder
)

// filePattern is a gitignore pattern with its anchor.
type filePattern struct {
	anchor anchor
	segs   paths.Pattern
}

// newFilePattern parses a pattern of paths. allow selects the strict reading: a folder of one
// segment is below the anchor itself ("src/**").
func newFilePattern(spec string, allow bool) (p filePattern, why string) {
	text := strings.TrimSpace(spec)
	if runtime.GOOS == "windows" {
		text = strings.ReplaceAll(text, `\`, "/")
	}
	switch {
	case strings.HasPrefix(text, "//"):
		p.anchor, text = fromRoot, text[2:]
	case strings.HasPrefix(text, "~/"):
		p.anchor, text = fromHome, text[2:]
	case text == "~" || strings.HasPrefix(text, "~"):
		return p, "only ~/ is the home folder"
	case strings.HasPrefix(text, "/"):
		p.anchor, text = fromSource, text[1:]
	}
	text, dotted := strings.CutPrefix(text, "./")
	folder := strings.HasSuffix(text, "/")
	for _, s := range strings.Split(strings.TrimSuffix(text, "/"), "/") {
		if s == "" || s == "." || s == ".." {
			return p, "a path with an empty segment, \".\" or \"..\" is not known here"
		}
		if !paths.WellFormed(s) {
			return p, "the pattern of " + s + " cannot be read"
		}
		if s != "**" || !p.segs.EndsAnyDepth() {
			p.segs = p.segs.Join(s)
		}
	}
	if folder && !p.segs.EndsAnyDepth() {
		p.segs = append(p.segs, paths.AnyDepth)
	}
	name := len(p.segs) == 1
	inner := len(p.segs) == 2 && p.segs.EndsAnyDepth() && !allow
	if p.anchor == fromCwd && !dotted && (name || inner) && p.segs[0] != paths.AnyDepth {
		p.segs = append(paths.Pattern{paths.AnyDepth}, p.segs...)
	}
	return p, ""
}

// PathBase holds the folders to which patterns of paths are relative.
type PathBase struct {
	// Home is the person's home folder. Source is the folder of the entry's file.
	Home, Source string
	// Cwds are the folders that are treated as the working folder.
	Cwds []string
}

// bases returns the folders to which the pattern may be relative, or none if they are unknown.
func (p *filePattern) bases(at PathBase) []string {
	bases := []string{""}
	switch p.anchor {
	case fromCwd:
		bases = at.Cwds
	case fromHome:
		bases = []string{at.Home}
	case fromSource:
		bases = []string{at.Source}
	case fromRoot:
		return []string{"/"}
	}
	var out []string
	for _, b := range bases {
		if b != "" && !slices.Contains(out, b) {
			out = append(out, b)
		}
	}
	return out
}

// Covers reports whether the entry matches everything that an access touches, read strictly: the
// path and its spelling. Only "folder/**" matches a whole folder or a pattern of the line.
func (r *Rule) Covers(a *cardea.Access, at PathBase) bool {
	if r.Form == Whole {
		return true
	}
	if r.Form != File || a.Path == "" || strings.Contains(a.Pattern, "..") || paths.MayLeadUp(a.Pattern) || r.mayBeTakenBack(a, at) {
		return false
	}
	return slices.ContainsFunc(r.more.file.bases(at), func(base string) bool {
		return r.more.file.covers(a.Path, a, base) && (a.Spelled == "" || r.more.file.covers(a.Spelled, a, base))
	})
}

// covers reports whether the pattern covers a path of an access, relative to a base.
func (p *filePattern) covers(name string, a *cardea.Access, base string) bool {
	below, ok := relative(name, base, false)
	if !ok {
		return false
	}
	if !a.Recursive && !a.Glob {
		return p.segs.Match(below)
	}
	// Everything below must match: the segments before the last "**" match the folder, or one above
	// it.
	n := len(p.segs)
	return p.segs.EndsAnyDepth() && (n == 1 || p.segs[:n-1].Match(below) || p.segs.Match(below))
}

// Touches reports whether an access may touch a match of the entry, read generously: by either
// name, by a possible match of a pattern of the line, in a folder that the entry matches, and by
// changing a folder above.
func (r *Rule) Touches(a *cardea.Access, at PathBase) bool {
	if r.Form == Whole {
		return true
	}
	if r.Form != File {
		return false
	}
	if a.Files != nil {
		return slices.ContainsFunc(a.Files.Names, func(name string) bool {
			file := a.One(name)
			return r.Touches(&file, at)
		})
	}
	if r.takenBack(a, at) {
		return false
	}
	for _, base := range r.more.file.bases(at) {
		for _, name := range namesOf(a) {
			if name != "" && r.more.file.touches(name, a, base) {
				return true
			}
		}
	}
	return false
}

// takenBack reports whether an exception matches everything that an access touches.
func (r *Rule) takenBack(a *cardea.Access, at PathBase) bool {
	if a.Path == "" || r.more.exceptLikeIgnore && (a.Recursive || a.Glob || r.namesFolderOf(a.Path, at)) {
		return false
	}
	for i := range r.more.exceptFiles {
		p := &r.more.exceptFiles[i]
		for _, base := range p.bases(at) {
			if p.covers(a.Path, a, base) {
				return true
			}
		}
	}
	return false
}

// namesFolderOf reports whether the entry matches a folder above a path, and not only the folder's
// contents. Then no exception brings the path back (gitignore(5)).
func (r *Rule) namesFolderOf(name string, at PathBase) bool {
	segs, inside := r.more.file.segs, 0
	if segs.EndsAnyDepth() {
		segs = segs[:len(segs)-1]
		if !strings.HasSuffix(strings.TrimSpace(r.Spec), "/") {
			inside = 1 // "x/**" matches the contents of x, not x itself
		}
	}
	for _, base := range r.more.file.bases(at) {
		below, ok := relative(name, base, paths.FoldsCase)
		for i := 0; ok && i+inside < len(below); i++ {
			if segs.Match(below[:i]) {
				return true
			}
		}
	}
	return false
}

// mayBeTakenBack reports whether an exception may apply to an access that the entry would allow.
func (r *Rule) mayBeTakenBack(a *cardea.Access, at PathBase) bool {
	if !r.more.exceptLikeIgnore {
		return false
	}
	for i := range r.more.exceptFiles {
		except := Rule{Form: File, more: &more{file: r.more.exceptFiles[i]}}
		if except.Touches(a, at) || except.MayLieBelow(a, at) {
			return true
		}
	}
	return false
}

// namesOf returns the paths, or patterns, of an access. The folder of a pattern may be a link, and
// its target is then included.
func namesOf(a *cardea.Access) []string {
	if !a.Glob {
		return []string{a.Path, a.Spelled}
	}
	if a.Pattern == "" {
		return []string{strings.TrimSuffix(a.Path, "/") + "/*"}
	}
	folder := a.Pattern[:max(strings.LastIndexByte(a.Pattern[:strings.IndexAny(a.Pattern+"*", "*?[({")], '/'), 0)]
	if a.Path == "" || strings.TrimSuffix(a.Path, "/") == folder {
		return []string{a.Pattern}
	}
	return []string{a.Pattern, strings.TrimSuffix(a.Path, "/") + a.Pattern[len(folder):]}
}

// saysName reports whether a pattern of the line contains characters of the name at the end of an
// entry, and matches it.
func saysName(segs paths.Pattern, line string) bool {
	last := segs[len(segs)-1]
	return last.Literal && strings.Trim(line, "*?") != "" && paths.MatchName(line, last.Text)
}

// touches reports whether a name of an access may touch a match of the pattern, relative to a base.
func (p *filePattern) touches(name string, a *cardea.Access, base string) bool {
	segs := p.segs
	if paths.FoldsCase {
		segs = folded(segs)
	}
	below, ok := relative(name, base, paths.FoldsCase)
	if !ok {
		// Changing a folder above the base also changes the base.
		return a.Recursive && a.Kind != cardea.Read && paths.Within(slashed(name, paths.FoldsCase), slashed(base, paths.FoldsCase))
	}
	switch {
	case a.LookedUp && a.Glob && !saysName(segs, path.Base(name)):
		return false
	case a.Search:
		return named(segs, below)
	case a.Glob:
		return meets(segs, below)
	}
	for i := len(below); i > 0; i-- {
		if segs.Match(below[:i]) { // a folder of the path matches
			return true
		}
	}
	if !a.Recursive {
		return false
	}
	if n := len(segs); n > 1 && segs.EndsAnyDepth() && segs[:n-1].Match(below) {
		return true // everything in the searched folder matches
	}
	if a.Kind == cardea.Read {
		return false
	}
	root := segs.Root()
	return len(root) >= len(below) && root[:len(below)].Match(below)
}

// MayLieBelow reports whether a match of the entry may be in a folder that an access reads as a
// whole, or among the matches of a pattern of the line.
func (r *Rule) MayLieBelow(a *cardea.Access, at PathBase) bool {
	if a.MetadataOnly || !a.Recursive && !a.Glob && a.Path != "" {
		return false
	}
	if r.Form == Whole || a.Path == "" {
		return true
	}
	if r.Form != File {
		return false
	}
	for _, base := range r.more.file.bases(at) {
		below, ok := relative(a.Path, base, paths.FoldsCase)
		if !ok {
			if paths.Within(slashed(a.Path, paths.FoldsCase), slashed(base, paths.FoldsCase)) {
				return true
			}
			continue
		}
		root := r.more.file.segs.Root()
		n := min(len(root), len(below))
		if !root[:n].Match(below[:n]) {
			continue
		}
		if !a.Glob || a.Recursive {
			return true
		}
		if pat, ok := relative(a.Pattern, base, paths.FoldsCase); !ok || meets(r.more.file.segs, pat) {
			return true
		}
	}
	return false
}

// relative returns the segments of a path below a base.
func relative(name, base string, fold bool) ([]string, bool) {
	name, base = slashed(name, fold), slashed(base, fold)
	if name == base {
		return nil, true
	}
	rest, ok := strings.CutPrefix(name, strings.TrimSuffix(base, "/")+"/")
	if !ok {
		return nil, false
	}
	return strings.Split(rest, "/"), true
}

// slashed returns a path in the form of patterns: C:\Users is /c/Users.
func slashed(p string, fold bool) string {
	if len(p) > 1 && p[1] == ':' && (p[0]|0x20) >= 'a' && (p[0]|0x20) <= 'z' {
		p = "/" + strings.ToLower(p[:1]) + strings.ReplaceAll(p[2:], `\`, "/")
	}
	if fold {
		p = strings.ToLower(p)
	}
	return path.Clean(p)
}

func folded(p paths.Pattern) paths.Pattern {
	out := slices.Clone(p)
	for i := range out {
		out[i].Text = strings.ToLower(out[i].Text)
	}
	return out
}

// meets reports whether a pattern of the line can match a path that a pattern matches, or one in a
// folder that it matches.
func meets(p paths.Pattern, line []string) bool {
	n := len(p)
	return append(p[:n:n], paths.AnyDepth).Meets(line, func(k int) bool { return k != n-1 || !namesFile(p[k].Text) })
}

// named reports whether the pattern of a search contains the name that a pattern is about, or
// matches contents of a folder of that name. A merely possible match is not enough, since that is
// the case everywhere.
func named(p paths.Pattern, line []string) bool {
	n := len(p)
	for n > 0 && p[n-1] == paths.AnyDepth {
		n--
	}
	return n > 0 && append(p[:n:n], paths.AnyDepth).Meets(line, func(k int) bool { return k != n-1 })
}

// namesFile reports whether a segment is the name of a file rather than that of a folder in which a
// pattern of the line may match.
func namesFile(seg string) bool {
	ext := path.Ext(seg)
	return len(ext) > 1 && ext != seg && !paths.IsPattern(seg)
}
