// Package org fetches the settings of an organisation from a git repository, an archive or
// a signed bundle. It writes them next to the folder in force, which they replace as a
// whole after a person has seen the differences. A failure changes nothing, and the
// previous form is stored.
//
// Until then, the files are untrusted. Names, types, sizes and numbers of files are
// limited, and only files that a scope's folder can hold are used. The program
// cardea-engine fetches and unpacks archives, since the hook's program has no HTTP.
package org

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// The limits for incoming files.
const (
	// MaxDownload is the maximum size of an archive in bytes, MaxFile that of a file in it,
	// and MaxTotal that of all files together.
	MaxDownload = 32 << 20
	MaxFile     = 1 << 20
	MaxTotal    = 32 << 20
	// MaxFiles is the maximum number of files, used or not.
	MaxFiles = 4096
	maxDepth = 16
	maxName  = 200
)

// File is an incoming file.
type File struct {
	Data []byte `json:"data"`
	// Program is set if it is executable.
	Program bool `json:"program,omitempty"`
}

// Tree is a set of incoming files by path, and the list of those left out.
type Tree struct {
	Files map[string]File `json:"files"`
	// Left holds the files that a scope's folder cannot hold, sorted.
	Left []string `json:"left"`
	// Form identifies the version of the source: a commit, or the digest of an archive.
	Form string `json:"form"`
	// Signed is set if a signature was verified.
	Signed bool `json:"signed"`
}

// Incoming collects the files of a tree within the limits.
type Incoming struct {
	files map[string]File
	// links maps the paths of links, devices and similar entries to a description.
	links map[string]string
	seen  map[string]string
	total int
}

// NewIncoming returns an Incoming without files.
func NewIncoming() *Incoming {
	return &Incoming{files: map[string]File{}, links: map[string]string{}, seen: map[string]string{}}
}

// Name validates the name of an entry, and returns it as a path: without "./" and without
// the leading slash of names in OPA bundles. "" is the root.
func (in *Incoming) Name(name string) (string, error) {
	clean := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(name, "./"), "/"), "/")
	if clean == "" || clean == "." {
		return "", nil
	}
	words := strings.Split(clean, "/")
	bad := !utf8.ValidString(clean) || len(clean) > maxDepth*maxName || len(words) > maxDepth || strings.ContainsAny(clean, `\:`) ||
		strings.ContainsFunc(clean, func(r rune) bool { return r < ' ' || r == 0x7f }) ||
		slices.ContainsFunc(words, func(w string) bool { return w == "" || w == "." || w == ".." || len(w) > maxName })
	if bad {
		return "", fmt.Errorf("holds a file with the name %q, which is not taken", name)
	}
	if len(in.seen) >= MaxFiles {
		return "", fmt.Errorf("holds more than %d files", MaxFiles)
	}
	key := strings.ToLower(clean)
	if old, twice := in.seen[key]; twice {
		return "", fmt.Errorf("holds %q and %q, which are one name on some machines", old, clean)
	}
	in.seen[key] = clean
	return clean, nil
}

// Link records an entry that is neither a file nor a folder. It is an error only if a
// scope's folder could hold it.
func (in *Incoming) Link(name, what string) { in.links[name] = what }

// Room returns the maximum size of the next file in bytes.
func (in *Incoming) Room() int { return min(MaxFile, MaxTotal-in.total) }

// Add adds a file under the name returned by [Incoming.Name].
func (in *Incoming) Add(name string, f File) error {
	if len(f.Data) > in.Room() {
		return fmt.Errorf("is too large: %s has more than %d bytes, or all files more than %d", name, MaxFile, MaxTotal)
	}
	in.total += len(f.Data)
	in.files[name] = f
	return nil
}

// Files returns the added files by name.
func (in *Incoming) Files() map[string]File { return in.files }

// Tree returns the files that a scope's folder can hold. A single folder at the top is
// removed, as in the archives of repository hosts. Policies and data of a bundle move below
// policies/.
func (in *Incoming) Tree() (*Tree, error) {
	top := in.top()
	_, bundle := in.files[path.Join(top, ".manifest")]
	inner := func(name string) string { return strings.TrimPrefix(name, top) }
	for _, name := range sorted(in.links) {
		if Taken(inner(name)) {
			return nil, fmt.Errorf("holds %s, which is %s; only files and folders are taken", name, in.links[name])
		}
	}
	out := &Tree{Files: map[string]File{}, Left: []string{}}
	for _, name := range sorted(in.files) {
		to := inner(name)
		if bundle && isPolicy(to) && !strings.HasPrefix(to, "policies/") {
			to = "policies/" + to
		}
		if !Taken(to) {
			if to != ".manifest" && to != ".signatures.json" {
				out.Left = append(out.Left, name)
			}
			continue
		}
		f := in.files[name]
		f.Program = f.Program && isScript(to)
		out.Files[to] = f
	}
	if len(out.Files) == 0 {
		return nil, fmt.Errorf("holds nothing that settings are made of: cardea.yaml, roles.yaml, overrides.yaml, rules/, policies/, signals/ or actions/ at its top")
	}
	return out, nil
}

// top returns the only folder at the top with its slash, or "".
func (in *Incoming) top() string {
	top := ""
	for name := range in.files {
		first, _, below := strings.Cut(name, "/")
		if !below || top != "" && top != first+"/" || Taken(name) {
			return ""
		}
		top = first + "/"
	}
	return top
}

// isPolicy reports whether a file is a policy or a data document of policies.
func isPolicy(name string) bool {
	switch path.Base(name) {
	case "data.json", "data.yaml", "data.yml":
		return true
	}
	return strings.HasSuffix(name, ".rego")
}

func isScript(name string) bool {
	return strings.HasPrefix(name, "signals/") || strings.HasPrefix(name, "actions/")
}

// Taken reports whether a scope's folder can hold a file.
func Taken(name string) bool {
	if name == "cardea.yaml" || name == "roles.yaml" || name == "overrides.yaml" {
		return true
	}
	if strings.HasPrefix(name, ".") || strings.Contains(name, "/.") {
		return false
	}
	folder, rest, below := strings.Cut(name, "/")
	switch {
	case !below:
		return false
	case folder == "policies":
		return isPolicy(rest)
	case folder == "rules":
		return path.Ext(rest) == ".yaml" || path.Ext(rest) == ".yml"
	}
	return isScript(name)
}

func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
