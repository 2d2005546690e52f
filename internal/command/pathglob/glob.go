// Package pathglob matches accesses against the path globs of rules and roles: generously
// for rules that restrict ([Glob.Touches]), strictly for rules that allow ([Glob.Covers]).
package pathglob

import (
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
)

// Glob is a path glob of a rule, made absolute. See [paths.Pattern] for its segments.
//
// "~/x" is in the home folder, "/x" is absolute, "a/b" is relative to the project. A glob
// without a slash is a base name at any depth. A trailing slash means a trailing "/**".
type Glob struct {
	segs paths.Pattern
	// floating is set for globs without a literal root: base names, and those that begin with
	// "**".
	floating bool
	// rooted is set for globs that begin with a slash: "/**" matches everything, inside and
	// outside the project.
	rooted bool
	// project is the project's folder, for floating globs.
	project paths.Pattern
	known   bool
	// above is the path of the literal root, key the last literal segment. Both serve quick
	// checks.
	above, key string
}

// Base holds the folders that path globs are relative to. Paths are absolute.
type Base struct {
	// Project is the folder that relative globs are relative to, "" if unknown.
	Project string
	// fold makes comparisons ignore case, as the file systems of macOS and Windows do.
	fold bool
	// HomeDir and ProjectDir are the home folder and the project in the form used for
	// comparison; homeSegs and projectSegs are their segments.
	HomeDir, ProjectDir   string
	homeSegs, projectSegs paths.Pattern
}

// NewPlace returns the Base for a home folder and a project; "" means unknown. fold makes
// comparisons ignore case.
func NewPlace(home, project string, fold bool) *Base {
	pl := &Base{Project: project, fold: fold}
	pl.HomeDir, pl.ProjectDir = pl.Folded(home), pl.Folded(project)
	pl.homeSegs, pl.projectSegs = paths.Literal(pl.HomeDir), paths.Literal(pl.ProjectDir)
	return pl
}

// Glob makes a rule's glob absolute. If the home folder is needed and unknown, the glob
// matches nothing. If the project is unknown, a relative glob matches at any depth.
func (pl *Base) Glob(text string) *Glob {
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

// spelled returns the path of segments, "" for the root.
func spelled(segs paths.Pattern) string {
	path := ""
	for _, s := range segs {
		path += "/" + s.Text
	}
	return path
}

// Folds reports whether comparisons ignore case.
func (pl *Base) Folds() bool { return pl.fold }

// Folded returns a path in the form used for comparison: with slashes, and in lower case if
// case is ignored.
func (pl *Base) Folded(s string) string {
	s = filepath.ToSlash(s)
	if pl.fold {
		return strings.ToLower(s)
	}
	return s
}

// rooted reports whether a path is absolute, including paths of Windows.
func rooted(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 2 && p[1] == ':' && p[2] == '/'
}

// KeyOf returns the last literal segment of a glob, "" if it is no use for a quick check.
func (pl *Base) KeyOf(g string) string {
	if strings.Contains(g, "..") || strings.Contains(g, "//") || strings.Contains(g, "/./") {
		return ""
	}
	return lastLiteral(pl.Folded(g))
}

// MayTouch is a quick check whether a glob with a key can touch an access. The key must be
// a segment of the path, or the path must be a folder that may contain what the glob names.
// It returns false only if Touches would.
func (pl *Base) MayTouch(g, key string, a *Named) bool {
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

// mayLieBelow reports whether files that a glob names may be below a folder.
func (pl *Base) mayLieBelow(g, folder string, k cardea.AccessKind) bool {
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

// lastLiteral returns the last literal segment of a glob.
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

// hasSegment reports whether s is a segment of path p.
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

// Named is an access prepared once for comparison with many globs.
type Named struct {
	*cardea.Access
	place *Base
	paths []namedPath
	first [1]namedPath // avoids an allocation for the usual single path
	files []*Named
	last  *lastName
}

// lastName is the last segment of a pattern of the command line, without classes, and its
// literal pieces.
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

// name returns the last segment of the access's pattern.
func (n *Named) name() *lastName {
	if n.last == nil {
		n.last = newLastName(filepath.Base(n.Pattern))
	}
	return n.last
}

// each returns the files that the pattern of the command line stands for.
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
	// folder is the folder above the first wildcard of a pattern.
	folder string
	segs   []string
	// ends holds the literal ends of each segment of a pattern.
	ends []nameEnds
}

// nameEnds holds the common prefix and suffix of all names that a pattern matches.
type nameEnds struct{ front, back string }

// Name returns an access prepared for comparison with globs.
func (pl *Base) Name(a *cardea.Access) *Named {
	n := &Named{}
	n.Set(pl, a)
	return n
}

// Set prepares n for access a and globs of place pl.
func (n *Named) Set(pl *Base, a *cardea.Access) {
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

// In reports whether n was prepared for a place.
func (n *Named) In(pl *Base) bool { return n.place == pl }

// segments returns the path's segments, split on first use.
func (p *namedPath) segments() []string {
	if p.segs == nil {
		p.segs = paths.Segments(p.text)
	}
	return p.segs
}

// Touches reports whether an access involves what the glob names, read generously. It
// checks the path, the path as spelled, the files a pattern of the command line may stand
// for, and deletion of a folder above. If those files are known, and the pattern says
// nothing of the name that the glob is about, only the files apply.
func (g *Glob) Touches(a *Named) bool {
	if !g.known {
		return false
	}
	if a.Files != nil && !g.saysName(a.name()) {
		return slices.ContainsFunc(a.each(), g.Touches)
	}
	if n := len(g.segs); a.Search && a.Kind == cardea.Write && n > 1 && g.segs[n-2] == paths.AnyDepth && !g.saysName(a.name()) {
		return false // a name that may be in any folder
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

// TouchesNamed is Touches for a caller that checks each file of a folder or pattern through
// [cardea.Call.Opens]. A looked-up access then touches the glob only if it says part of the
// name, or is the file or folder itself.
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

// isFound reports whether a search that deletes what it finds by name may find what the
// glob names. A floating glob is looked for in the project. A glob that does not say names
// (.claude/hooks/**) is found only by searches for all names; others find such files by
// accident.
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

// seeksAll reports whether line is the pattern of a search for everything below a folder.
func seeksAll(line []string) bool {
	first := slices.IndexFunc(line, paths.IsPattern)
	return first >= 0 && !slices.ContainsFunc(line[first:], func(s string) bool { return strings.Trim(s, "*?") != "" })
}

// IsNamedBy reports whether an access that touches what the glob names is meant to touch
// it. Its path is such a file or folder, or a pattern of the command line says part of the
// name. A word that may only be a folder above (gcloud secrets) does not suffice.
func (g *Glob) IsNamedBy(a *Named, onlyPotential bool) bool {
	if (a.Glob || a.Recursive && !onlyPotential) && g.Covers(a.Access, a.place) {
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

// saysName reports whether a pattern of the command line says part of the name that the
// glob is about. Its ending alone does not suffice: s*.json and *secret* do, *.json does
// not. A class is one character: [.]env says the dot, and [a-z]* says no more than ?*.
func (g *Glob) saysName(n *lastName) bool {
	if len(g.segs) == 0 {
		return false // the root, which no pattern names
	}
	if !n.wild {
		return true // a single name
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

// pieces returns the texts between the wildcards of a pattern.
func pieces(pattern string) []string {
	return strings.FieldsFunc(pattern, func(r rune) bool { return strings.ContainsRune(patternChars+"])},!|", r) })
}

// Paths returns the paths or patterns that an access names. The folder of a pattern may be
// a link, so its target is also included.
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

// literalFolder returns the folder above a pattern's first wildcard, without a slash at the
// end.
func literalFolder(pattern, wildcards string) string {
	if i := strings.IndexAny(pattern, wildcards); i >= 0 {
		pattern = pattern[:i]
	}
	return pattern[:max(strings.LastIndexByte(pattern, '/'), 0)]
}

// patternChars are the characters that may make a word of the command line a pattern, for
// the shell or for the program that gets it.
const patternChars = `*?[({\`

// mayMeet is a quick check whether a folded pattern of the command line can name what the
// glob names. Their literal folders must be on one path, and some segment must be able to
// match the glob's key. It returns false only if Touches would.
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

// endsOf returns the literal ends of a segment, empty if it may stand for anything.
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
		back = "" // an unclosed bracket, or an escaped character
	}
	return nameEnds{pattern[:i], back}
}

// below reports whether what the glob names is at or below a folder that is accessed as a
// whole. A floating glob may match anywhere, so a search through a folder does not touch
// it; only deleting the whole project does.
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

// Covers reports whether the glob names everything that an access may touch, read strictly.
// Both the path and its spelling must match. For a whole folder or a pattern of the command
// line, only "folder/**" matches.
func (g *Glob) Covers(a *cardea.Access, pl *Base) bool {
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

// overlap reports whether a path of the command line, or a pattern if wild is set, can name
// the same file as a glob. A "**" of the command line skips hidden folders, as in the
// shell. Like a search through a folder, it does not reach what a floating glob names.
func overlap(line []string, rule paths.Pattern, wild bool) bool {
	if !wild {
		return rule.Match(line)
	}
	rule = atLeastOne(rule)
	return rule.Meets(line, func(k int) bool {
		return !strings.HasPrefix(rule[k].Text, ".") && (!rule[k].Literal || rule[0] != paths.AnyDepth)
	})
}

// atLeastOne makes explicit that "**" at the end of a pattern stands for at least one
// segment.
func atLeastOne(rule paths.Pattern) paths.Pattern {
	if rule.EndsAnyDepth() {
		return append(rule[:len(rule)-1:len(rule)-1], paths.Segment{Text: "*"}, paths.AnyDepth)
	}
	return rule
}

// MayLieIn reports whether what the glob names may be in a folder, given in the form used
// for comparison. The folder must contain the glob's literal root, or the whole project for
// a floating glob.
func (g *Glob) MayLieIn(folder string) bool {
	root := g.above
	if g.floating {
		root = spelled(g.project)
	}
	return root != "" && paths.Within(folder, root)
}

// Fixed returns the longest text that every path matched by the glob contains, in the form
// used for comparison.
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

// Thing returns the glob of one file or folder of the gate itself; wildcards in the name
// are literal. It is floating, with path as its project: of accesses to folders above, only
// deletion touches it.
func (pl *Base) Thing(path string) *Glob {
	segs := paths.Literal(pl.Folded(path))
	g := &Glob{segs: segs, project: segs, floating: true, known: len(segs) > 0, above: spelled(segs)}
	if g.known {
		g.key = segs[len(segs)-1].Text
	}
	return g
}

// Key returns the last literal segment of the glob in the form used for comparison. The
// glob touches no path without that segment, except patterns and whole folders.
func (g *Glob) Key() string { return g.key }

// Contents returns the glob of everything below the folder that g names.
func (g *Glob) Contents() *Glob {
	below := *g
	below.segs = append(g.segs[:len(g.segs):len(g.segs)], paths.AnyDepth)
	return &below
}

// LiesBelow reports whether the glob's literal root is below a folder that is read as a
// whole. The home folder and those above it are exempt.
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
