package permissionlist

import (
	"path"
	"runtime"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/paths"
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
	// segs are the segments, "**" for any number of them.
	segs []string
}

const anyDepth = "**"

// newFilePattern reads a pattern of paths. allow is the strict reading: a folder
// of one segment lies below the anchor itself ("src/**").
func newFilePattern(spec string, allow bool) (p filePattern, why string) {
	text := strings.TrimSpace(spec)
	if runtime.GOOS == "windows" {
		text = strings.ReplaceAll(text, `\`, "/")
	}
	switch {
	case strings.HasPrefix(text, "!"):
		return p, "a pattern that takes back another one is not known here"
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
		s = strings.ReplaceAll(s, "[!", "[^")
		if s == "" || s == "." || s == ".." {
			return p, "a path with an empty segment, \".\" or \"..\" is not known here"
		}
		if _, err := path.Match(s, "x"); err != nil {
			return p, "the pattern of " + s + " cannot be read"
		}
		if s == anyDepth && len(p.segs) > 0 && p.segs[len(p.segs)-1] == anyDepth {
			continue
		}
		p.segs = append(p.segs, s)
	}
	if folder && p.segs[len(p.segs)-1] != anyDepth {
		p.segs = append(p.segs, anyDepth)
	}
	name := len(p.segs) == 1
	inner := len(p.segs) == 2 && p.segs[1] == anyDepth && !allow
	if p.anchor == fromCwd && !dotted && (name || inner) && p.segs[0] != anyDepth {
		p.segs = append([]string{anyDepth}, p.segs...)
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
	if r.Form != File || a.Path == "" || strings.Contains(a.Pattern, "..") {
		return false
	}
	for _, base := range r.more.file.bases(at) {
		if r.more.file.covers(a.Path, a, base) && (a.Spelled == "" || r.more.file.covers(a.Spelled, a, base)) {
			return true
		}
	}
	return false
}

func (p *filePattern) covers(name string, a *cardea.Access, base string) bool {
	below, ok := relative(name, base, false)
	if !ok {
		return false
	}
	if !a.Recursive && !a.Glob {
		return matchSegs(p.segs, below)
	}
	// Everything below must be named: what stands in front of the last "**"
	// names the folder, or one above it.
	n := len(p.segs)
	if p.segs[n-1] != anyDepth {
		return false
	}
	return n == 1 || matchSegs(p.segs[:n-1], below) || matchSegs(p.segs, below)
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
	for i := range r.more.exceptFiles {
		p := &r.more.exceptFiles[i]
		for _, base := range p.bases(at) {
			if a.Path != "" && p.covers(a.Path, a, base) {
				return false
			}
		}
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

// folds is set where file names that differ in case are the same.
const folds = runtime.GOOS == "darwin" || runtime.GOOS == "windows"

func (p *filePattern) touches(name string, a *cardea.Access, base string) bool {
	segs := p.segs
	if folds {
		segs = lower(segs)
	}
	below, ok := relative(name, base, folds)
	if !ok {
		// A folder above the base that is changed as a whole takes it along.
		return a.Recursive && a.Kind != cardea.Read && paths.Within(slashed(name, folds), slashed(base, folds))
	}
	if a.Glob {
		return overlap(segs, below)
	}
	for i := len(below); i > 0; i-- {
		if matchSegs(segs, below[:i]) { // the folder of it is named
			return true
		}
	}
	if !a.Recursive {
		return false
	}
	if n := len(segs); n > 1 && segs[n-1] == anyDepth && matchSegs(segs[:n-1], below) {
		return true // all of what is looked through is named
	}
	if a.Kind == cardea.Read {
		return false
	}
	root := literalRoot(segs)
	return len(root) >= len(below) && slices.Equal(root[:len(below)], below)
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
		below, ok := relative(a.Path, base, folds)
		if !ok {
			if paths.Within(slashed(a.Path, folds), slashed(base, folds)) {
				return true
			}
			continue
		}
		root := literalRoot(r.more.file.segs)
		n := min(len(root), len(below))
		if !slices.Equal(root[:n], below[:n]) {
			continue
		}
		if !a.Glob || a.Recursive {
			return true
		}
		if pat, ok := relative(a.Pattern, base, folds); !ok || overlap(r.more.file.segs, pat) {
			return true
		}
	}
	return false
}

func literalRoot(segs []string) []string {
	for i, s := range segs {
		if s == anyDepth || strings.ContainsAny(s, `*?[\`) {
			return segs[:i]
		}
	}
	return segs
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

func lower(segs []string) []string {
	out := make([]string, len(segs))
	for i, s := range segs {
		out[i] = strings.ToLower(s)
	}
	return out
}

// matchSegs reports whether names match segments. A "**" at the end needs at
// least one name.
func matchSegs(segs, names []string) bool {
	i, j, star, mark := 0, 0, -1, 0
	for j < len(names) {
		switch {
		case i < len(segs) && segs[i] == anyDepth:
			if i == len(segs)-1 {
				return true
			}
			star, mark = i, j
			i++
		case i < len(segs) && sameName(segs[i], names[j]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	return i == len(segs)
}

func sameName(seg, name string) bool {
	if seg == name {
		return true
	}
	ok, err := path.Match(seg, name)
	return ok && err == nil
}

// overlap reports whether a pattern of the line can become something that
// segments name. It errs on the side of yes.
func overlap(segs, line []string) bool {
	// row[j] tells whether segs[i:] and line[j:] can be the same.
	row, next := make([]bool, len(line)+1), make([]bool, len(line)+1)
	for i := len(segs); i >= 0; i-- {
		row, next = next, row
		for j := len(line); j >= 0; j-- {
			switch {
			case i == len(segs):
				row[j] = true // what lies in a folder that is named is named
			case segs[i] == anyDepth:
				row[j] = next[j] || j < len(line) && row[j+1]
			case j < len(line) && line[j] == anyDepth:
				row[j] = row[j+1] || next[j] && !(i == len(segs)-1 && namesFile(segs[i]))
			default:
				row[j] = j < len(line) && next[j+1] && mayBeSame(segs[i], line[j])
			}
		}
	}
	return row[0]
}

// namesFile reports a segment that is the name of a file rather than that of a
// folder in which a pattern of the line may find something.
func namesFile(seg string) bool {
	ext := path.Ext(seg)
	return len(ext) > 1 && ext != seg && !strings.ContainsAny(seg, `*?[\`)
}

// mayBeSame reports whether a segment and a name of the line, each of which may
// hold wildcards, can be one name.
func mayBeSame(seg, name string) bool {
	special := func(s string) bool { return strings.ContainsAny(s, `*?[({\`) }
	switch {
	case !special(name):
		return sameName(seg, name)
	case strings.ContainsAny(name, "({"):
		return true
	case !special(seg):
		if strings.HasPrefix(seg, ".") && strings.IndexAny(name, "*?[") == 0 {
			return false // a shell's wildcard leaves hidden files alone
		}
		ok, err := path.Match(strings.ReplaceAll(name, "[!", "[^"), seg)
		return ok || err != nil
	}
	a, b := seg[:strings.IndexAny(seg, `*?[({\`)], name[:strings.IndexAny(name, `*?[({\`)]
	n := min(len(a), len(b))
	return a[:n] == b[:n]
}
