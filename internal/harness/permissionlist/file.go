package permissionlist

import (
	"path"
	"runtime"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
)

// anchor is what a pattern of paths is relative to.
type anchor uint8

const (
	fromCwd    anchor = iota // "path", "./path"
	fromRoot                 // "//path"
	fromHome                 // "~/path"
	fromSource               // "/path": the settings' own folder
)

// filePattern is a pattern of gitignore's, with its anchor.
type filePattern struct {
	anchor anchor
	segs   paths.Pattern
}

// newFilePattern reads a pattern of paths. allow is the strict reading: a folder
// of one segment lies below the anchor itself ("src/**").
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

// Place is what patterns of paths are relative to.
type Place struct {
	// Home is the person's home folder. Source is the folder that the file of
	// the entry stands for.
	Home, Source string
	// Cwds are the folders that count as the working folder.
	Cwds []string
}

// bases are the folders that the pattern may be relative to; none where they
// are not known.
func (p *filePattern) bases(at Place) []string {
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

// Covers reports whether all that an access touches is what the entry names,
// read strictly: the path and how it was spelled, and of a folder as a whole or
// a pattern of the line only "folder/**".
func (r *Rule) Covers(a *cardea.Access, at Place) bool {
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

func (p *filePattern) covers(name string, a *cardea.Access, base string) bool {
	below, ok := relative(name, base, false)
	if !ok {
		return false
	}
	if !a.Recursive && !a.Glob {
		return p.segs.Match(below)
	}
	// Everything below must be named: what stands in front of the last "**"
	// names the folder, or one above it.
	n := len(p.segs)
	return p.segs.EndsAnyDepth() && (n == 1 || p.segs[:n-1].Match(below) || p.segs.Match(below))
}

// Touches reports whether an access has to do with what the entry names, read
// generously: by either name, by what a pattern of the line may become, in a
// folder that the entry names, and by changing a folder above.
func (r *Rule) Touches(a *cardea.Access, at Place) bool {
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

// takenBack reports whether an exception names all that an access touches.
func (r *Rule) takenBack(a *cardea.Access, at Place) bool {
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

// namesFolderOf reports whether the entry names a folder above a path, and not only what
// lies in it. Then no exception brings the path back (gitignore(5)).
func (r *Rule) namesFolderOf(name string, at Place) bool {
	segs, inside := r.more.file.segs, 0
	if segs.EndsAnyDepth() {
		segs = segs[:len(segs)-1]
		if !strings.HasSuffix(strings.TrimSpace(r.Spec), "/") {
			inside = 1 // "x/**" is what lies in x, not x itself
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

// mayBeTakenBack reports whether an exception has to do with an access that the entry
// would allow.
func (r *Rule) mayBeTakenBack(a *cardea.Access, at Place) bool {
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

// namesOf are the paths, or patterns, that an access names. The folder of a
// pattern may be a link: what it leads to counts, too.
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

// saysName reports whether a pattern of the line says something of the name that an entry
// ends with, and fits it.
func saysName(segs paths.Pattern, line string) bool {
	last := segs[len(segs)-1]
	return last.Literal && strings.Trim(line, "*?") != "" && paths.MatchName(line, last.Text)
}

func (p *filePattern) touches(name string, a *cardea.Access, base string) bool {
	segs := p.segs
	if paths.FoldsCase {
		segs = folded(segs)
	}
	below, ok := relative(name, base, paths.FoldsCase)
	if !ok {
		// A folder above the base that is changed as a whole takes it along.
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
		if segs.Match(below[:i]) { // the folder of it is named
			return true
		}
	}
	if !a.Recursive {
		return false
	}
	if n := len(segs); n > 1 && segs.EndsAnyDepth() && segs[:n-1].Match(below) {
		return true // all of what is looked through is named
	}
	if a.Kind == cardea.Read {
		return false
	}
	root := segs.Root()
	return len(root) >= len(below) && root[:len(below)].Match(below)
}

// MayLieBelow reports whether something that the entry names may lie in a folder
// that an access reads as a whole, or among what a pattern of the line becomes.
func (r *Rule) MayLieBelow(a *cardea.Access, at Place) bool {
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

// relative are the segments of a path below a base.
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

// slashed is a path as patterns have it: C:\Users is /c/Users.
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

// meets reports whether a pattern of the line can become something that a
// pattern names, or that lies in a folder that it names.
func meets(p paths.Pattern, line []string) bool {
	n := len(p)
	return append(p[:n:n], paths.AnyDepth).Meets(line, func(k int) bool { return k != n-1 || !namesFile(p[k].Text) })
}

// named reports whether the pattern of a search says the name that a pattern is about,
// or names what lies in a folder of that name. That it may come by is not enough: it
// may do so everywhere.
func named(p paths.Pattern, line []string) bool {
	n := len(p)
	for n > 0 && p[n-1] == paths.AnyDepth {
		n--
	}
	return n > 0 && append(p[:n:n], paths.AnyDepth).Meets(line, func(k int) bool { return k != n-1 })
}

// namesFile reports a segment that is the name of a file rather than that of a
// folder in which a pattern of the line may find something.
func namesFile(seg string) bool {
	ext := path.Ext(seg)
	return len(ext) > 1 && ext != seg && !paths.IsPattern(seg)
}
