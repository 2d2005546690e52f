// Package files knows files by their names: which hold secrets, which some program runs,
// and which control agents.
//
// The lists are data: packs/files/*.yaml and the credentials of packs/commands/*.yaml,
// from which lists_gen.go is generated. Rules name a list with the condition "files".
// All other code uses this package, so that each list exists once.
package files

import (
	pathpkg "path"
	"slices"
	"strings"
	"sync"

	"cardea.dev/internal/base/paths"
)

//go:generate go run ./gen

// list is a named list of globs, as rules understand them.
type list struct {
	name  string
	globs []string
}

// Names returns the names of all lists.
func Names() []string {
	var out []string
	for i := range lists {
		out = append(out, lists[i].name)
	}
	return out
}

// Globs returns the globs of a list, or nil if no list has that name.
func Globs(name string) []string {
	for i := range lists {
		if lists[i].name == name {
			return lists[i].globs
		}
	}
	return nil
}

// set is the lists in a form that is fast to compare with paths. Case is ignored: the
// names of secrets are the same on every platform.
type set struct {
	// byName holds the patterns by their last literal segment, "" for those without one.
	byName map[string][]entry
}

// entry is a pattern. A pattern of a folder, which ends with a slash or "/**", also
// matches all paths below it.
type entry struct {
	paths.Pattern
	folder bool
	// needs is a literal piece of the pattern that every matching path contains. To look
	// for it is faster than to compare.
	needs string
}

// names reports whether e matches p, or a folder above p if e also matches all paths below.
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

// newEntry returns the pattern of a glob for whole paths. A home folder may be anywhere.
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

// needed returns the longest literal piece that every path matched by pattern contains,
// or "" if there is no certain one.
func needed(pattern paths.Pattern) (longest string) {
	for _, seg := range pattern {
		pieces := []string{seg.Text}
		switch {
		case seg.Literal:
		case strings.ContainsAny(seg.Text, `[\`):
			pieces[0] = seg.Text[:strings.IndexAny(seg.Text, `*?[\`)] // the rest may be part of a class
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

// path is a path in lower case, prepared for comparison with sets: its text and its segments.
type path struct {
	text string
	segs []string
}

func pathOf(p string) *path {
	text := strings.ToLower(p)
	return &path{text, paths.Segments(text)}
}

// has reports whether p, or a folder above it, is in the set.
func (s *set) has(p string) bool { return s.names(pathOf(p)) }

// names is like has, for a path that is compared with more than one set.
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

// MayHoldSecret reports whether a path, or a pattern, looks like one of a file with a
// secret. It prefers false positives: such a file is not read without a question, and
// rules decide between asking and denying.
func MayHoldSecret(p string) bool {
	name := pathpkg.Base(p)
	stored := strings.Trim(name, "#~")
	for _, end := range [...]string{".bak", ".old", ".orig", ".save", ".backup", ".swp", "~"} {
		if !strings.HasSuffix(strings.ToLower(stored), ".tfstate.backup") {
			stored = strings.TrimSuffix(stored, end)
		}
	}
	plain := strings.TrimSuffix(p, name) + stored
	asPlain := pathOf(plain)
	if templates().names(asPlain) && !secrets().has(pathpkg.Dir(p)) {
		return false
	}
	if secrets().names(asPlain) || saysSecret(asPlain, plain) || EndsLikeKey(stored) {
		return true
	}
	if plain != p {
		if asGiven := pathOf(p); secrets().names(asGiven) || saysSecret(asGiven, p) {
			return true
		}
	}
	// A pattern for hidden files matches .env.
	return strings.HasPrefix(stored, ".") && strings.ContainsAny(stored, "*?[") && paths.MayBeNamed(stored, ".env")
}

// HoldsSecret reports whether p is known to hold a secret. It returns false for "".
func HoldsSecret(p string) bool {
	if p == "" {
		return false
	}
	given := pathOf(p)
	return (surely().names(given) || saysSecret(given, p)) && !templates().names(given)
}

// saysSecret reports whether a name, or the name of a folder above it, indicates a
// secret. Source code and documents about secrets are excluded.
func saysSecret(p *path, given string) bool {
	return (named().names(p) || folders().has(pathpkg.Dir(given))) && !sourceCode().names(p)
}

// EndsLikeKey reports whether name ends like that of a key file.
func EndsLikeKey(name string) bool { return keyEndings().has("/" + pathpkg.Base(name)) }

// protectedLists are the lists of files that Claude Code never writes without a question
// (permission-modes, "Protected paths").
var protectedLists = []string{"executed", "executed-plain", "repository-and-harness"}

// Protected reports whether harnesses never write a path, or a folder above it, without
// a question.
func Protected(p string) bool { return protected().has(p) }

// SaysAgents reports whether p controls what agents may do.
func SaysAgents(p string) bool { return steering().has(p) }

// MayBeProtected reports whether a pattern of one name may match a protected file.
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

// Temporary returns the folders for temporary files.
func Temporary() []string { return foldersOf("temporary-folders") }

// System returns the folders of the system, whose files every user may read.
func System() []string { return foldersOf("system-folders") }

// Mounted returns the folders in which each name is a mount of another machine.
func Mounted() []string { return foldersOf("mounted-when-named") }

// SetEnvironment returns the files that set environment variables, as paths inside a project.
func SetEnvironment() []string {
	var out []string
	for _, g := range Globs("sets-environment") {
		out = append(out, strings.TrimPrefix(g, "/**/"))
	}
	return out
}

// HoldsPrograms reports whether dir is a folder of system programs, where a known name
// is the known program.
func HoldsPrograms(dir string) bool { return slices.Contains(foldersOf("system-programs"), dir) }

// ShowsMachine reports whether p is a file of /proc that every user may read.
func ShowsMachine(p string) bool { return machine().has(p) }

func foldersOf(list string) []string {
	var out []string
	for _, g := range Globs(list) {
		out = append(out, strings.TrimSuffix(g, "/**"))
	}
	return out
}

// IsFilledFolder reports whether p is named like a folder next to code that tools fill.
func IsFilledFolder(p string) bool { return filled().has(p) }

// IsPlainOutput reports whether p is named like plain output. The list holds names that are
// known to be harmless: a tool may run any other file or read it as its configuration.
func IsPlainOutput(p string) bool { return output().has(p) && !input().has(lastTwo(p)) }

// lastTwo returns the last two names of a path, after a slash.
func lastTwo(p string) string {
	return "/" + pathpkg.Join(pathpkg.Base(pathpkg.Dir(p)), pathpkg.Base(p))
}
