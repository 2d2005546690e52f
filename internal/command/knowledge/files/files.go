// Package files is what is known of files by their names: which ones hold
// secrets, which ones something runs, which ones say what agents may do.
//
// It is data: packs/files/*.yaml and the credentials of packs/commands/*.yaml, from which the lists in lists_gen.go are
// generated. Rules name a list with the condition "files"; everything else asks
// here, so that each list exists once.
package files

import (
	pathpkg "path"
	"slices"
	"strings"
	"sync"

	"cardea.dev/internal/base/paths"
)

//go:generate go run ./gen

// list is a list of globs with the meaning that they have in rules.
type list struct {
	name  string
	globs []string
}

// Names are the names of all lists.
func Names() []string {
	var out []string
	for i := range lists {
		out = append(out, lists[i].name)
	}
	return out
}

// Globs are the globs of a list, nil where there is none of that name.
func Globs(name string) []string {
	for i := range lists {
		if lists[i].name == name {
			return lists[i].globs
		}
	}
	return nil
}

// set is lists made ready to be compared with paths. Case does not count: the
// names of secrets are known on every platform.
type set struct {
	// byName are the patterns by their last segment that stands for itself, ""
	// for none.
	byName map[string][]entry
}

// entry is a pattern. One of a folder, which ends with a slash or "/**", names
// what lies below, too.
type entry struct {
	paths.Pattern
	folder bool
	// needs is a piece of the pattern without wildcards, which every path has that it
	// names: to look for that is quicker than to compare.
	needs string
}

// names reports whether a pattern names a path, or a folder above it if it names what
// lies below, too.
func (e *entry) names(p *path) bool {
	if !strings.Contains(p.text, e.needs) {
		return false
	}
	segs := p.segs
	for n := len(segs); n > 0; n-- {
		if e.Match(segs[:n]) {
			return true
		}
		if !e.folder {
			break
		}
	}
	return false
}

func newSet(names ...string) *set {
	s := &set{byName: map[string][]entry{}}
	for _, name := range names {
		for _, g := range Globs(name) {
			p := newEntry(g)
			key := p.LastLiteral()
			s.byName[key] = append(s.byName[key], p)
		}
	}
	return s
}

// newEntry is a glob as a pattern of whole paths. A home folder may lie anywhere.
func newEntry(glob string) entry {
	glob = strings.ToLower(glob)
	name := strings.TrimSuffix(strings.TrimSuffix(glob, "/**"), "/")
	folder := name != glob
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = "/**/" + rest
	}
	pattern := paths.Pattern(nil).Join(name)
	return entry{pattern, folder, needed(pattern)}
}

// needed is the longest piece of a pattern of which every path that it matches has each
// letter in this order, "" where there is none that is certain.
func needed(pattern paths.Pattern) (longest string) {
	for _, seg := range pattern {
		pieces := []string{seg.Text}
		switch {
		case seg.Literal:
		case strings.ContainsAny(seg.Text, `[\`):
			pieces[0] = seg.Text[:strings.IndexAny(seg.Text, `*?[\`)] // what stands behind may be part of a class
		default:
			pieces = strings.FieldsFunc(seg.Text, func(r rune) bool { return r == '*' || r == '?' })
		}
		for _, piece := range pieces {
			if len(piece) > len(longest) {
				longest = piece
			}
		}
	}
	return longest
}

// path is what sets are compared with, in lower case: its text, and its segments.
type path struct {
	text string
	segs []string
}

func pathOf(p string) *path {
	text := strings.ToLower(p)
	return &path{text, paths.Segments(text)}
}

// has reports whether a path is one of the set, or lies below a folder that is.
func (s *set) has(p string) bool { return s.names(pathOf(p)) }

// names is has for a path that is compared with more than one set.
func (s *set) names(p *path) bool {
	by := func(name string) bool {
		return slices.ContainsFunc(s.byName[name], func(e entry) bool { return e.names(p) })
	}
	return slices.ContainsFunc(p.segs, by) || by("")
}

var (
	secrets = sync.OnceValue(func() *set {
		return newSet("private-keys", "system-keys", "key-folders", "env-files", "histories", "browser-profiles", "transcripts", "credentials",
			"likely-secrets")
	})
	surely = sync.OnceValue(func() *set {
		return newSet("private-keys", "system-keys", "env-files", "credentials", "process-secrets")
	})
	named      = sync.OnceValue(func() *set { return newSet("secret-names") })
	folders    = sync.OnceValue(func() *set { return newSet("secret-folders") })
	sourceCode = sync.OnceValue(func() *set { return newSet("source-code") })
	keyEndings = sync.OnceValue(func() *set { return newSet("key-endings") })
	templates  = sync.OnceValue(func() *set { return newSet("templates") })
	protected  = sync.OnceValue(func() *set { return newSet(protectedLists...) })
	steering   = sync.OnceValue(func() *set { return newSet("gate-settings", "harness-configs") })
	filled     = sync.OnceValue(func() *set { return newSet("filled-folders") })
	output     = sync.OnceValue(func() *set { return newSet("plain-output") })
	machine    = sync.OnceValue(func() *set { return newSet("machine-state") })
	input      = sync.OnceValue(func() *set { return newSet("read-as-input") })
)

// MayHoldSecret reports whether a path, or a pattern, looks like one that holds a
// secret. It errs on the side of yes: what it takes for one is not read without a
// question, and rules say whether it is asked about or denied.
func MayHoldSecret(p string) bool {
	name := pathpkg.Base(p)
	kept := strings.Trim(name, "#~")
	for _, end := range [...]string{".bak", ".old", ".orig", ".save", ".backup", ".swp", "~"} {
		if !strings.HasSuffix(strings.ToLower(kept), ".tfstate.backup") {
			kept = strings.TrimSuffix(kept, end)
		}
	}
	plain := strings.TrimSuffix(p, name) + kept
	asPlain := pathOf(plain)
	if templates().names(asPlain) && !secrets().has(pathpkg.Dir(p)) {
		return false
	}
	if secrets().names(asPlain) || saysSecret(asPlain, plain) || EndsLikeKey(kept) {
		return true
	}
	if plain != p {
		if asGiven := pathOf(p); secrets().names(asGiven) || saysSecret(asGiven, p) {
			return true
		}
	}
	// A pattern for hidden files reaches .env.
	return strings.HasPrefix(kept, ".") && strings.ContainsAny(kept, "*?[") && paths.MayBeNamed(kept, ".env")
}

// HoldsSecret reports whether a path is one that is known to hold a secret.
func HoldsSecret(p string) bool {
	if p == "" {
		return false
	}
	given := pathOf(p)
	return (surely().names(given) || saysSecret(given, p)) && !templates().names(given)
}

// saysSecret reports whether a name, or the name of a folder above it, says that it
// is a secret. Source code and documents about secrets are none.
func saysSecret(p *path, given string) bool {
	return (named().names(p) || folders().has(pathpkg.Dir(given))) && !sourceCode().names(p)
}

// EndsLikeKey reports names that end like those of keys.
func EndsLikeKey(name string) bool { return keyEndings().has("/" + pathpkg.Base(name)) }

// protectedLists are what Claude Code never writes without a question
// (permission-modes, "Protected paths").
var protectedLists = []string{"executed", "executed-plain", "repository-and-harness"}

// Protected reports whether a path is, or lies below, what harnesses never write
// without a question.
func Protected(p string) bool { return protected().has(p) }

// SaysAgents reports whether a file says what agents may do.
func SaysAgents(p string) bool { return steering().has(p) }

// MayBeProtected reports whether a pattern of one name may stand for something
// that is protected.
func MayBeProtected(name string) bool {
	for _, l := range protectedLists {
		for _, g := range Globs(l) {
			if paths.MayBeNamed(name, pathpkg.Base(strings.TrimSuffix(strings.TrimSuffix(g, "/**"), "/"))) {
				return true
			}
		}
	}
	return false
}

// Temporary are the folders for files that nobody keeps.
func Temporary() []string { return foldersOf("temporary-folders") }

// System are the folders of the system, whose files everybody reads.
func System() []string { return foldersOf("system-folders") }

// Mounted are the folders in which each name is another machine's.
func Mounted() []string { return foldersOf("mounted-when-named") }

// SetEnvironment are the files of a project, as paths in it, that set variables.
func SetEnvironment() []string {
	var out []string
	for _, g := range Globs("sets-environment") {
		out = append(out, strings.TrimPrefix(g, "/**/"))
	}
	return out
}

// HoldsPrograms reports a folder in which a program's name means what it says.
func HoldsPrograms(dir string) bool { return slices.Contains(foldersOf("system-programs"), dir) }

// ShowsMachine reports a file of /proc that everybody may read.
func ShowsMachine(p string) bool { return machine().has(p) }

func foldersOf(list string) []string {
	var out []string
	for _, g := range Globs(list) {
		out = append(out, strings.TrimSuffix(g, "/**"))
	}
	return out
}

// IsFilledFolder reports whether a name is that of a folder beside code that tools fill.
func IsFilledFolder(p string) bool { return filled().has(p) }

// IsPlainOutput reports whether a name is that of plain output. The list is of
// what is known to be harmless: any other name may be one that a tool runs or
// reads as its configuration.
func IsPlainOutput(p string) bool { return output().has(p) && !input().has(lastTwo(p)) }

// lastTwo are the last two names of a path.
func lastTwo(p string) string {
	return "/" + pathpkg.Join(pathpkg.Base(pathpkg.Dir(p)), pathpkg.Base(p))
}
