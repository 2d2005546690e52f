// Package pathglob tells which accesses a path glob is about, as rules and roles
// write them: generously for what tightens ([Glob.Touches]), strictly for what
// allows ([Glob.Covers]).
package pathglob

import (
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
)

// Glob is a path glob of a rule, made absolute; [paths.Pattern] says what its
// segments mean.
//
// "~/x" is in the home folder, "/x" absolute, "a/b" relative to the project.
// Without a slash it is a base name, at any depth. A trailing slash is a
// trailing "/**".
type Glob struct {
	segs paths.Pattern
	// floating globs have no literal root of their own: base names, and those
	// that begin with "**".
	floating bool
	// rooted globs begin with a slash: "/**" is everything, project or not.
	rooted bool
	// project is the project's folder, for floating ones.
	project paths.Pattern
	known   bool
	// above is the path of its literal root, key its last literal segment,
	// for a quick look.
	above, key string
}

// Place is what path globs are relative to. Paths are absolute.
type Place struct {
	// Project is the folder that relative globs are relative to, "" where it is not
	// known.
	Project string
	// fold compares paths without regard to case, as the file systems of
	// macOS and Windows do.
	fold bool
	// HomeDir and ProjectDir are home folder and project as they are compared,
	// homeSegs and projectSegs their segments.
	HomeDir, ProjectDir   string
	homeSegs, projectSegs paths.Pattern
}

// NewPlace is the place of a project, and of a home folder; "" is one that is not
// known. fold compares paths without regard to case.
func NewPlace(home, project string, fold bool) *Place {
	pl := &Place{Project: project, fold: fold}
	pl.HomeDir, pl.ProjectDir = pl.Folded(home), pl.Folded(project)
	pl.homeSegs, pl.projectSegs = paths.Literal(pl.HomeDir), paths.Literal(pl.ProjectDir)
	return pl
}

// Glob makes a rule's glob absolute. Where that needs a folder that is not
// known, the glob matches nothing, or for a relative one at any depth.
func (pl *Place) Glob(text string) *Glob {
	text = pl.Folded(text)
	if strings.HasSuffix(text, "/") && strings.Trim(text, "/") != "" {
		text += "**"
	}
	out := &Glob{project: pl.projectSegs, known: true}
	switch {
	case text == "~" || strings.HasPrefix(text, "~/"):
		out.segs, out.known = pl.homeSegs.Join(text[1:]), pl.HomeDir != ""
	case rooted(text):
		out.segs, out.rooted = paths.Pattern(nil).Join(text), true
	case text == "":
		out.known = false
	case pl.Project == "" || !strings.Contains(text, "/") && text != "." && text != "..":
		out.segs = paths.Pattern{paths.AnyDepth}.Join(text)
	default:
		out.segs = pl.projectSegs.Join(text)
		out.floating = strings.HasPrefix(text, "**")
	}
	if len(out.segs) > 0 && out.segs[0] == paths.AnyDepth {
		out.floating = true
	}
	out.above, out.key = spelled(out.segs.Root()), out.segs.LastLiteral()
	return out
}

// spelled is the path of segments, "" for the root.
func spelled(segs paths.Pattern) string {
	path := ""
	for _, s := range segs {
		path += "/" + s.Text
	}
	return path
}

// Folds reports whether paths are compared without regard to case.
func (pl *Place) Folds() bool { return pl.fold }

// Folded is a path as it is compared.
func (pl *Place) Folded(s string) string {
	s = filepath.ToSlash(s)
	if pl.fold {
		return strings.ToLower(s)
	}
	return s
}

// rooted reports whether a path is absolute, on Windows too.
func rooted(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 2 && p[1] == ':' && p[2] == '/'
}

// KeyOf is the last segment of a glob that stands for itself, "" where a quick look
// at it says nothing.
func (pl *Place) KeyOf(g string) string {
	if strings.Contains(g, "..") || strings.Contains(g, "//") || strings.Contains(g, "/./") {
		return ""
	}
	return lastLiteral(pl.Folded(g))
}

// MayTouch is a quick look at whether a glob, which has a key, can touch an access at
// all: the key is a segment of the path, or the path is a folder that the glob may lie
// below. It only says no when touches would.
func (pl *Place) MayTouch(g, key string, a *Named) bool {
	if a.Glob || key == "" {
		return true
	}
	for i := range a.paths {
		p := a.paths[i].text
		if hasSegment(p, key) || a.Recursive && pl.mayLieBelow(pl.Folded(g), p, a.Kind) {
			return true
		}
	}
	return false
}

// mayLieBelow reports whether what a glob names may lie below a folder.
func (pl *Place) mayLieBelow(g, folder string, k cardea.AccessKind) bool {
	switch {
	case folder == "/":
		return true
	case strings.HasPrefix(g, "/**/") || strings.HasPrefix(g, "**") || !strings.Contains(g, "/"):
		return k == cardea.Delete && strings.HasPrefix(pl.ProjectDir, folder)
	case strings.HasPrefix(g, "~/"):
		if rest, ok := strings.CutPrefix(folder, pl.HomeDir); ok {
			return strings.HasPrefix(g[1:], rest)
		}
		return strings.HasPrefix(pl.HomeDir, folder)
	case strings.HasPrefix(g, "/"):
		return strings.HasPrefix(g, folder)
	}
	return true
}

// lastLiteral is the last segment of a glob that stands for itself.
func lastLiteral(g string) string {
	for g != "" {
		i := strings.LastIndexByte(g, '/')
		s := g[i+1:]
		if s != "" && s != "." && s != ".." && s != "~" && !paths.IsPattern(s) {
			return s
		}
		g = g[:max(i, 0)]
	}
	return ""
}

// hasSegment reports whether a path has a segment.
func hasSegment(p, s string) bool {
	for i := 0; ; {
		j := strings.Index(p[i:], s)
		if j < 0 {
			return false
		}
		i += j
		if (i == 0 || p[i-1] == '/') && (i+len(s) == len(p) || p[i+len(s)] == '/') {
			return true
		}
		i++
	}
}

// Named is an access with what is compared of it, worked out once for all the
// globs that are held against it.
type Named struct {
	*cardea.Access
	place *Place
	paths []namedPath
	first [1]namedPath // most have one, which needs no memory of its own
	files []*Named
	last  *lastName
}

// lastName is the last segment of a pattern of the line, without classes, and its pieces.
type lastName struct {
	text   string
	wild   bool
	pieces []string
}

func newLastName(pattern string) *lastName {
	n := &lastName{text: paths.WithoutClasses(pattern)}
	n.wild, n.pieces = paths.IsPattern(n.text), pieces(n.text)
	return n
}

// name is the last segment of the access's pattern.
func (n *Named) name() *lastName {
	if n.last == nil {
		n.last = newLastName(filepath.Base(n.Pattern))
	}
	return n.last
}

// each are the files that a pattern of the line stands for.
func (n *Named) each() []*Named {
	if n.files == nil {
		for _, name := range n.Access.Files.Names {
			file := n.One(name)
			n.files = append(n.files, n.place.Name(&file))
		}
	}
	return n.files
}

type namedPath struct {
	text string
	// folder is, for a pattern, the folder above the first wildcard.
	folder string
	segs   []string
	// ends are, for a pattern, the literal ends of each segment.
	ends []nameEnds
}

// nameEnds are what every name that a pattern matches begins and ends with.
type nameEnds struct{ front, back string }

// Name is an access as it is held against globs.
func (pl *Place) Name(a *cardea.Access) *Named {
	n := &Named{}
	n.Set(pl, a)
	return n
}

// Set makes it that access, as it is held against globs of a place.
func (n *Named) Set(pl *Place, a *cardea.Access) {
	n.Access, n.place, n.files = a, pl, nil
	n.paths = n.first[:0]
	for _, p := range Paths(a) {
		if p == "" {
			continue
		}
		named := namedPath{text: pl.Folded(p)}
		if a.Glob {
			named.folder = literalFolder(named.text, patternChars)
		}
		n.paths = append(n.paths, named)
	}
}

// In reports whether it was worked out for a place.
func (n *Named) In(pl *Place) bool { return n.place == pl }

// segments are the path's segments, split when they are first needed.
func (p *namedPath) segments() []string {
	if p.segs == nil {
		p.segs = paths.Segments(p.text)
	}
	return p.segs
}

// Touches reports whether an access has to do with what the glob names, read
// generously: as the path or as it was spelled, by what a pattern on the line
// may become, and by deleting a folder above. Where it is known for which files the
// pattern stands, and it says nothing of the name that the glob is about, these count.
func (g *Glob) Touches(a *Named) bool {
	if !g.known {
		return false
	}
	if a.Files != nil && !g.saysName(a.name()) {
		return slices.ContainsFunc(a.each(), g.Touches)
	}
	if n := len(g.segs); a.Search && a.Kind == cardea.Write && n > 1 && g.segs[n-2] == paths.AnyDepth && !g.saysName(a.name()) {
		return false // a name that may lie in any folder
	}
	for i := range a.paths {
		p := &a.paths[i]
		if a.Glob && !g.mayMeet(p, a) {
			continue
		}
		segs := p.segments()
		if overlap(segs, g.segs, a.Glob) || a.Recursive && g.below(segs, a) || a.Search && a.Kind == cardea.Delete && g.isFound(segs) {
			return true
		}
	}
	return false
}

// TouchesNamed is Touches for who is asked about each file that a folder or a pattern stands
// for, by [cardea.Call.Opens]: such an access has to do with what the glob names only where
// it says part of the name, or is the file or folder itself.
func (g *Glob) TouchesNamed(a *Named) bool {
	switch {
	case !a.LookedUp:
		return g.Touches(a)
	case a.Glob:
		return g.saysName(a.name()) && g.Touches(a)
	}
	one := *a.Access
	one.Recursive = false
	return g.Touches(a.place.Name(&one))
}

// isFound reports whether a search that deletes what it finds by its name may find what
// the glob names. What may lie anywhere is sought in the project. A glob that does not
// tell names (.claude/hooks/**) is about a search for all names alone: others come by.
func (g *Glob) isFound(line []string) bool {
	rule := g.segs
	if len(rule) > 0 && rule[0] == paths.AnyDepth {
		rule = slices.Concat(g.project, rule[1:])
	}
	if !rule.SaysName(line[len(line)-1]) && !seeksAll(line) {
		return false
	}
	return atLeastOne(rule).Meets(line, func(int) bool { return true })
}

// seeksAll reports the pattern of a search for whatever lies below a folder.
func seeksAll(line []string) bool {
	first := slices.IndexFunc(line, paths.IsPattern)
	return first >= 0 && !slices.ContainsFunc(line[first:], func(s string) bool { return strings.Trim(s, "*?") != "" })
}

// IsNamedBy reports whether an access that touches what the glob names does more
// than come by: the path is such a file or folder itself, or a pattern of the line says
// part of its name. A word that may be the name of a folder above (gcloud secrets) is
// none.
func (g *Glob) IsNamedBy(a *Named, onlyPossible bool) bool {
	if (a.Glob || a.Recursive && !onlyPossible) && g.Covers(a.Access, a.place) {
		return true
	}
	if a.Glob {
		return g.saysName(a.name()) || a.Search && a.Kind == cardea.Delete && slices.ContainsFunc(a.paths, func(p namedPath) bool {
			return g.isFound(p.segments())
		})
	}
	for i := range a.paths {
		if overlap(a.paths[i].segments(), g.segs, false) {
			return true
		}
	}
	return false
}

// saysName reports whether a pattern of the line says part of the name that the glob
// is about, and not its ending alone: s*.json and *secret* do, *.json does not. A class is
// one character, so [.]env says the dot, and [a-z]* no more than ?*.
func (g *Glob) saysName(n *lastName) bool {
	if len(g.segs) == 0 {
		return false // the root, which no pattern names
	}
	if !n.wild {
		return true // it is one name
	}
	line, pattern := n.pieces, n.text
	if last := g.segs[len(g.segs)-1]; !last.Literal && last != paths.AnyDepth {
		about := pieces(last.Text)
		names := slices.DeleteFunc(slices.Clone(about), func(p string) bool { return p[0] == '.' })
		return slices.ContainsFunc(line, func(p string) bool {
			if len(names) == 0 {
				return slices.Contains(about, p)
			}
			return slices.ContainsFunc(names, func(n string) bool { return strings.Contains(p, n[:min(len(n), 4)]) })
		})
	}
	return slices.ContainsFunc(line, func(p string) bool {
		return len(p) > 2 && p[0] != '.' || strings.HasPrefix(pattern, p)
	})
}

// pieces are the texts between the wildcards of a pattern.
func pieces(pattern string) []string {
	return strings.FieldsFunc(pattern, func(r rune) bool { return strings.ContainsRune(patternChars+"])},!|", r) })
}

// Paths are the paths, or patterns, that an access names. The folder of a
// pattern may be a link: what it leads to counts, too.
func Paths(a *cardea.Access) [2]string {
	if !a.Glob {
		return [2]string{a.Path, a.Spelled}
	}
	folder := strings.TrimSuffix(a.Path, "/")
	if a.Pattern == "" {
		return [2]string{folder + "/*"}
	}
	spelled := literalFolder(a.Pattern, "*?[(")
	if a.Path == "" || folder == spelled {
		return [2]string{a.Pattern}
	}
	return [2]string{a.Pattern, folder + a.Pattern[len(spelled):]}
}

// literalFolder is the folder above a pattern's first wildcard, without a slash
// at the end.
func literalFolder(pattern, wildcards string) string {
	if i := strings.IndexAny(pattern, wildcards); i >= 0 {
		pattern = pattern[:i]
	}
	return pattern[:max(strings.LastIndexByte(pattern, '/'), 0)]
}

// patternChars are the characters that may make a word of the line a pattern,
// for the shell or for the program that is passed it.
const patternChars = `*?[({\`

// mayMeet is a quick look at whether a pattern of the line, folded, can name
// what the glob names: their literal folders lie on one path, and some segment
// can be the glob's last literal one. It only says no when touches would.
func (g *Glob) mayMeet(p *namedPath, a *Named) bool {
	if !strings.HasPrefix(p.folder, g.above) && !strings.HasPrefix(g.above, p.folder) {
		return false
	}
	if a.Recursive || !g.floating || g.key == "" {
		return true
	}
	if p.ends == nil {
		for _, s := range p.segments() {
			p.ends = append(p.ends, endsOf(s))
		}
	}
	return slices.ContainsFunc(p.ends, func(e nameEnds) bool { return strings.HasPrefix(g.key, e.front) && strings.HasSuffix(g.key, e.back) })
}

func endsOf(pattern string) nameEnds {
	i := strings.IndexAny(pattern, patternChars)
	if i < 0 {
		return nameEnds{pattern, pattern}
	}
	if strings.ContainsAny(pattern, "({") {
		return nameEnds{} // it may stand for anything
	}
	back := pattern[strings.LastIndexAny(pattern, "*?]")+1:]
	if strings.ContainsAny(back, patternChars) {
		back = "" // a bracket without end, or a character that is escaped
	}
	return nameEnds{pattern[:i], back}
}

// below reports whether what the glob names lies at or below a folder that is
// accessed as a whole. What begins with "**", or is a base name, may lie
// anywhere, and a search through a folder is not about it; only deleting the
// whole project is.
func (g *Glob) below(folder []string, a *Named) bool {
	if g.segs.EndsAnyDepth() && overlap(folder, g.segs[:len(g.segs)-1], a.Glob) {
		return true
	}
	root := g.segs.Root()
	if g.floating {
		if a.Kind != cardea.Delete {
			return false
		}
		root = g.project
	}
	if len(folder) > len(root) {
		return false
	}
	return overlap(folder, root[:len(folder)], a.Glob)
}

// Covers reports whether all that an access may touch is what the glob names,
// read strictly: the path and how it was spelled, and for a folder as a whole
// or a pattern on the line only "folder/**".
func (g *Glob) Covers(a *cardea.Access, pl *Place) bool {
	if !g.known || a.Path == "" || pl.Project == "" && g.floating && !g.rooted {
		return false
	}
	whole := g.segs.EndsAnyDepth()
	if (a.Recursive || a.Glob) && !whole || strings.Contains(a.Pattern, "..") {
		return false
	}
	for _, p := range [2]string{a.Path, a.Spelled} {
		if p == "" {
			continue
		}
		segs := paths.Segments(pl.Folded(p))
		if g.floating && !g.rooted && !overlap(segs, append(g.project[:len(g.project):len(g.project)], paths.AnyDepth), false) {
			return false
		}
		inside := overlap(segs, g.segs, false) || (a.Recursive || a.Glob) && overlap(segs, g.segs[:len(g.segs)-1], false)
		if !inside {
			return false
		}
	}
	return true
}

// overlap reports whether a path of the line, or a pattern of the line where
// wild is set, and a glob can name the same file. A "**" of the line leaves
// hidden folders alone, as in the shell, and is no more about what a floating
// glob names than a search through a folder is.
func overlap(line []string, rule paths.Pattern, wild bool) bool {
	if !wild {
		return rule.Match(line)
	}
	rule = atLeastOne(rule)
	return rule.Meets(line, func(k int) bool {
		return !strings.HasPrefix(rule[k].Text, ".") && (!rule[k].Literal || rule[0] != paths.AnyDepth)
	})
}

// atLeastOne writes out that "**" at the end of a pattern stands for at least one segment.
func atLeastOne(rule paths.Pattern) paths.Pattern {
	if rule.EndsAnyDepth() {
		return append(rule[:len(rule)-1:len(rule)-1], paths.Segment{Text: "*"}, paths.AnyDepth)
	}
	return rule
}

// MayLieIn reports whether what the glob names may lie in a folder, as it is compared:
// its literal root does, or, for one without, the whole project.
func (g *Glob) MayLieIn(folder string) bool {
	root := g.above
	if g.floating {
		root = spelled(g.project)
	}
	return root != "" && paths.Within(folder, root)
}

// Fixed is the longest text that every path which the glob matches contains, as it is
// compared.
func (g *Glob) Fixed() string {
	longest := g.above
	for _, s := range g.segs {
		for _, piece := range pieces(s.Text) {
			if s.Literal {
				piece = s.Text
			} else if strings.ContainsAny(s.Text, patternChars[1:]) {
				piece = "" // a class, or an escaped character
			}
			if len(piece) > len(longest) {
				longest = piece
			}
		}
	}
	return longest
}

// Thing is the glob of one file or folder of the gate's own, whatever its name looks
// like. A folder above it matters as the project's does for what may lie anywhere:
// where it is deleted.
func (pl *Place) Thing(path string) *Glob {
	segs := paths.Literal(pl.Folded(path))
	g := &Glob{segs: segs, project: segs, floating: true, known: len(segs) > 0, above: spelled(segs)}
	if g.known {
		g.key = segs[len(segs)-1].Text
	}
	return g
}

// Key is the last segment of a glob that stands for itself, as it is compared: the glob
// touches no path without that segment, but for patterns and whole folders.
func (g *Glob) Key() string { return g.key }

// Contents is the glob of what lies below the folder that a glob names.
func (g *Glob) Contents() *Glob {
	below := *g
	below.segs = append(g.segs[:len(g.segs):len(g.segs)], paths.AnyDepth)
	return &below
}

// LiesBelow reports whether a thing lies below a folder that is read as a whole,
// which is not the home folder or one above it.
func (g *Glob) LiesBelow(a *Named) bool {
	if a.Kind != cardea.Read || !a.Recursive {
		return false
	}
	for i := range a.paths {
		folder := a.paths[i].text
		if a.Glob {
			folder = a.paths[i].folder
		}
		folder = strings.TrimSuffix(folder, "/")
		if paths.Below(folder, g.above) && !paths.Within(folder, a.place.HomeDir) {
			return true
		}
	}
	return false
}
