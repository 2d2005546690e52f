package knowledge

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
)

// Paths resolves the paths in a command's words.
type Paths struct {
	// Dir is the folder in which the command runs, or "" if it is unknown.
	Dir string
	// Likely are the folders to which the last cd may lead, if Dir is unknown.
	Likely []string
	// Home is the path of ~ and $HOME, or "" if it is unknown.
	Home string
	// Hidden is set if patterns may match names that begin with a dot, AnyCase if they may
	// ignore case.
	Hidden, AnyCase bool
	// Resolve follows the symlinks of an absolute path as far as it exists. Nil leaves
	// paths as they are spelled.
	Resolve func(path string) string
}

// Enter returns the access to a path as bash's own cd reads it: ".." is removed in the
// text, before links are followed. An empty name is an unknown path.
func (p Paths) Enter(kind cardea.AccessKind, name string) cardea.Access {
	a := cardea.Access{Kind: kind}
	spelled := Absolute(p.Dir, name)
	if spelled == "" {
		return a
	}
	if _, _, of := paths.ThroughProcess(joined(p.Dir, name), p.Dir, false); of == paths.NoProcess {
		a.Path = p.follow(spelled)
	}
	if a.Path != spelled {
		a.Spelled = spelled
	}
	return a
}

// Open returns the accesses to a path that a program or the shell opens: one for each
// place to which it may lead (see [Places]).
func (p Paths) Open(kind cardea.AccessKind, name string, redirect bool) []cardea.Access {
	return p.appendOpen(nil, kind, name, redirect)
}

// appendOpen appends the accesses of Open.
func (p Paths) appendOpen(out []cardea.Access, kind cardea.AccessKind, name string, redirect bool) []cardea.Access {
	at := placesOf(p.Dir, name, p.Resolve)
	if at.spelled == "" {
		// A cd may have failed. Its target is likely, but not certain.
		if len(p.Likely) == 0 || name == "" {
			return append(out, cardea.Access{Kind: kind, Redirect: redirect})
		}
		for _, dir := range p.Likely {
			a := cardea.Access{Kind: kind, Spelled: Absolute(dir, name), Redirect: redirect}
			if leads := p.follow(a.Spelled); leads != a.Spelled && leads != "" {
				out = append(out, cardea.Access{Kind: kind, Spelled: leads, Redirect: redirect})
			}
			if strings.ContainsAny(dir, "*?[") { // the cd was to a pattern
				a.Spelled, a.Glob, a.Pattern = "", true, a.Spelled
			}
			out = append(out, a)
		}
		return out
	}
	for _, place := range at.list[:at.n] {
		a := cardea.Access{Kind: kind, Path: place, Redirect: redirect}
		if place != at.spelled {
			a.Spelled = at.spelled
		}
		out = append(out, a)
	}
	for _, guess := range at.guesses {
		out = append(out, cardea.Access{Kind: kind, Spelled: guess, Redirect: redirect})
	}
	return out
}

// OpenWord returns the accesses to a word that may be a pattern.
func (p Paths) OpenWord(kind cardea.AccessKind, f Word) []cardea.Access {
	return p.appendWord(nil, kind, f)
}

// appendWord appends the accesses of OpenWord.
func (p Paths) appendWord(to []cardea.Access, kind cardea.AccessKind, f Word) []cardea.Access {
	if f.Static {
		return p.appendOpen(to, kind, f.Text, false)
	}
	unknown := cardea.Access{Kind: kind}
	if !f.Glob || !simpleGlob(f.Text) {
		return append(to, unknown)
	}
	pattern := f.Text
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
		if p.Home == "" {
			return append(to, unknown)
		}
		pattern = p.Home + "/" + rest
	}
	root := paths.LiteralBegin(pattern)
	dir := root[:strings.LastIndexByte(root, '/')+1]
	out := p.Open(kind, cmp.Or(dir, "."), false)
	for i := range out {
		out[i].Glob = true
		if out[i].Path == "" && out[i].Spelled == "" {
			continue
		}
		from := p.Dir
		if from == "" && i < len(p.Likely) {
			from = p.Likely[i]
		}
		if whole := joined(from, pattern); whole != "" {
			out[i].Pattern = cmp.Or(Absolute("", whole), path.Clean(whole))
		}
		if climbs(pattern[len(dir):]) {
			// The folder above a link that the pattern finds is unknown.
			out[i].Path = ""
		}
	}
	for _, guess := range p.Guesses(pattern) {
		a := cardea.Access{Kind: kind, Spelled: guess}
		if paths.IsPattern(guess) {
			a.Spelled, a.Glob, a.Pattern = "", true, guess
		}
		out = append(out, a)
	}
	return append(to, p.also(out)...)
}

// also adds the patterns for further names that the shell matches.
func (p Paths) also(out []cardea.Access) []cardea.Access {
	for _, a := range out {
		if p.AnyCase && a.Pattern != "" {
			a.Pattern = paths.EitherCase(a.Pattern)
			out = append(out, a)
		}
		segs := strings.Split(a.Pattern, "/")
		for i, segment := range segs {
			if says := strings.TrimLeft(segment, "*?"); p.Hidden && says != "" && says[0] != '.' && paths.IsPattern(segment[:1]) {
				a.Pattern = strings.Join(slices.Concat(segs[:i], []string{hiddenName(segment)}, segs[i+1:]), "/")
				out = append(out, a)
			}
		}
	}
	return out
}

// hiddenName returns a pattern for the names with a leading dot that pattern matches.
func hiddenName(pattern string) string {
	if end := strings.IndexByte(pattern, ']'); pattern[0] == '[' && end >= 0 {
		return "." + pattern[end+1:]
	}
	return "." + strings.TrimPrefix(pattern, "?")
}

// Guesses returns the files that a pattern may name through a process's link in /proc,
// derived from the folder of the line and those above it.
func (p Paths) Guesses(pattern string) []string {
	at, rest, of := paths.ThroughProcess(joined(p.Dir, pattern), p.Dir, true)
	if of == paths.NoProcess || at == "" {
		return nil
	}
	return append(guesses(p.Dir, rest), at)
}

// climbs reports whether a path has a ".." in it.
func climbs(name string) bool {
	return name == ".." || strings.HasPrefix(name, "../") || strings.HasSuffix(name, "/..") || strings.Contains(name, "/../")
}

// simpleGlob reports whether s has no quotes or expansions, so that its text can be read
// as a pattern.
func simpleGlob(s string) bool { return !strings.ContainsAny(s, "$`'\"\\(){}") }

// Absolute joins a name to a folder and cleans the result. It returns "" if the folder
// is needed and unknown. A process's link in /proc is replaced by its target, and a link
// of another process gives "".
func Absolute(dir, name string) string {
	whole := joined(dir, name)
	if whole == "" {
		return ""
	}
	if at, _, of := paths.ThroughProcess(whole, dir, false); of == paths.OwnProcess {
		return at
	} else if of == paths.OtherProcess {
		return ""
	}
	return path.Clean(whole)
}

// joined joins a name to a folder, or returns "" if the folder is needed and unknown.
func joined(dir, name string) string {
	switch {
	case name == "" || name[0] == '/':
		return name
	case dir == "":
		return ""
	}
	return dir + "/" + name
}

// guesses returns the files that a path may name if it begins at an unknown folder, one
// that a process has open. They are in the folder of the line or in one above.
func guesses(dir, rest string) []string {
	for rest = path.Clean(rest); rest == ".." || strings.HasPrefix(rest, "../"); {
		rest = strings.TrimPrefix(rest[2:], "/")
	}
	var out []string
	for at := dir; rest != "" && rest != "." && strings.HasPrefix(at, "/") && len(out) < maxGuesses; at = path.Dir(at) {
		if out = append(out, path.Join(at, rest)); at == "/" {
			break
		}
	}
	return out
}

// maxGuesses is the number of folders that are tried for one path of a process.
const maxGuesses = 32

// Places returns the paths to which a name may lead, and its absolute spelling with ".."
// removed in the text. The kernel follows links first, so "link/../x" is next to the
// target of the link. Programs that clean their paths, as editors and git do, open the
// spelled path. If the two differ, both are returned. A place is "" if it is unknown.
func Places(dir, name string, resolve func(string) string) (places []string, spelled string) {
	at := placesOf(dir, name, resolve)
	return at.list[:at.n:at.n], at.spelled
}

// places is the result of [Places]. A line may name thousands of paths, and this form
// needs less memory.
type places struct {
	list    [2]string
	n       int
	spelled string
	guesses []string // further possible paths, if the folder is unknown
}

// placesOf returns the places of a name, as [Places] does, and guesses for a path of
// another process. resolve may be nil.
func placesOf(dir, name string, resolve func(string) string) places {
	whole := joined(dir, name)
	if at, rest, of := paths.ThroughProcess(whole, dir, false); of != paths.NoProcess {
		out := places{n: 1, spelled: at} // the program that opens it reads the link
		if of == paths.OtherProcess {
			out.guesses = guesses(dir, rest)
		}
		if resolve != nil && at != "" {
			out.list[1], out.n = resolve(at), 2
		}
		return out
	}
	out := places{n: 1}
	if whole != "" {
		out.spelled = path.Clean(whole)
	}
	out.list[0] = out.spelled
	switch {
	case out.spelled == "" || resolve == nil:
		return out
	case paths.IsDescriptor(out.spelled):
		out.list[0] = ""
		return out
	}
	out.list[0] = resolve(out.spelled)
	if climbs(whole) {
		if p := resolve(whole); p != out.list[0] {
			out.list, out.n = [2]string{p, out.list[0]}, 2
		}
	}
	return out
}

// follow returns a path with symlinks followed.
func (p Paths) follow(name string) string {
	if p.Resolve == nil {
		return name
	}
	return p.Resolve(name)
}

// SaysHidden reports whether a pattern names hidden files: it is in a hidden folder below those
// of the work, or begins with a dot itself. Other patterns do not match hidden files.
func (p Paths) SaysHidden(pattern string, roots []string) bool {
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
		pattern = p.Home + "/" + rest
	}
	pattern = paths.WithoutClasses(pattern)
	for _, dir := range append(p.Likely[:len(p.Likely):len(p.Likely)], p.Dir) {
		name := cmp.Or(Absolute(dir, pattern), pattern)
		below := 0
		for _, root := range append(roots[:len(roots):len(roots)], p.Home) {
			if strings.HasPrefix(name, root+"/") {
				below = max(below, len(root))
			}
		}
		if strings.Contains("/"+name[below:], "/.") {
			return true
		}
	}
	return false
}
