package knowledge

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
)

// Paths say what the paths in a command's words mean.
type Paths struct {
	// Dir is the folder in which the command runs, "" where it is not known.
	Dir string
	// Likely are then the folders to which the last cd may lead.
	Likely []string
	// Home is what ~ and $HOME mean, "" where that is not known.
	Home string
	// Hidden is set where patterns may find names that begin with a dot, AnyCase where they
	// may find those in capitals and in small letters.
	Hidden, AnyCase bool
	// Resolve follows the symbolic links of an absolute path as far as it exists.
	// Nil leaves paths as they are spelled.
	Resolve func(path string) string
}

// Enter makes the access of a path as bash's own cd reads it: ".." comes off by
// the letter, before links are followed. An empty name is a path that is not
// known.
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

// Open makes the accesses of a path that a program is passed, or that the
// shell opens: one for each place that it may lead to (see [Places]).
func (p Paths) Open(kind cardea.AccessKind, name string, redirect bool) []cardea.Access {
	return p.appendOpen(nil, kind, name, redirect)
}

// appendOpen appends the accesses of Open.
func (p Paths) appendOpen(out []cardea.Access, kind cardea.AccessKind, name string, redirect bool) []cardea.Access {
	at := placesOf(p.Dir, name, p.Resolve)
	if at.spelled == "" {
		// A cd may have failed. What it led to is likely, and not certain.
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

// OpenWord makes the accesses of a word that may be a pattern.
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
			// What lies above a link that the pattern finds is anybody's guess.
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

// also adds the patterns for further names that the shell finds.
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

// hiddenName is a pattern for the names that another one finds which begin with a dot.
func hiddenName(pattern string) string {
	if end := strings.IndexByte(pattern, ']'); pattern[0] == '[' && end >= 0 {
		return "." + pattern[end+1:]
	}
	return "." + strings.TrimPrefix(pattern, "?")
}

// Guesses are the files that a pattern names through a link of a process, as far as the
// folder of the line and those around it tell.
func (p Paths) Guesses(pattern string) []string {
	at, rest, of := paths.ThroughProcess(joined(p.Dir, pattern), p.Dir, true)
	if of == paths.NoProcess || at == "" {
		return nil
	}
	return append(guesses(p.Dir, rest), at)
}

// climbs reports whether a path has a ".." in it.
func climbs(name string) bool {
	return name == ".." || strings.HasPrefix(name, "../../") || strings.HasSuffix(name, "/..") || strings.Contains(name, "/../")
}

// simpleGlob reports whether a word is only a pattern, without quotes or
// expansions, so that its text can be read as one.
func simpleGlob(s string) bool { return !strings.ContainsAny(s, "$`'\"\\(){}") }

// Absolute joins a name to a folder and cleans the result; "" when the folder
// is needed and not known. A link of a process is replaced by where it leads, and one of
// another process makes the result "".
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

// joined joins a name to a folder; "" when the folder is needed and not known.
func joined(dir, name string) string {
	switch {
	case name == "" || name[0] == '/':
		return name
	case dir == "":
		return ""
	}
	return dir + "/" + name
}

// guesses are the files that a path may name which begins at a folder that is not known:
// one that a process has open. They are in the folder of the line or in one above.
func guesses(dir, rest string) []string {
	for rest = path.Clean(rest); rest == ".." || strings.HasPrefix(rest, "../../"); {
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

// maxGuesses is how many folders are looked at for one path of a process.
const maxGuesses = 32

// Places lists where a name may lead to, and how it is spelled: absolute, with
// ".." taken off by the letter. The kernel follows links first, so that
// "link/../x" lies beside what the link points to; programs that clean their
// paths themselves, as editors and git do, open what is spelled. Where the two
// differ, both are places. A place is "" where it is not known.
func Places(dir, name string, resolve func(string) string) (places []string, spelled string) {
	at := placesOf(dir, name, resolve)
	return at.list[:at.n:at.n], at.spelled
}

// places is what [Places] gives. A line may name thousands of paths, and each of them
// takes less memory this way.
type places struct {
	list    [2]string
	n       int
	spelled string
	guesses []string // what it may also be, where the folder is unknown
}

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

// follow follows the symbolic links of a path.
func (p Paths) follow(name string) string {
	if p.Resolve == nil {
		return name
	}
	return p.Resolve(name)
}

// SaysHidden reports whether a pattern names hidden files: one that lies in a hidden
// folder below those of the work, or begins with a dot itself. Other patterns leave hidden
// files alone.
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
