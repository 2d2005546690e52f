// Package org brings the settings of an organisation to this machine: from a git
// repository, an archive or a signed bundle into a folder beside the one in force,
// which they replace as a whole when a person has seen the difference. What fails
// changes nothing, and the form before is kept.
//
// What comes is a stranger's until then: names, types, sizes and counts of files are
// bounded here, and only what a scope's folder may hold is taken. Archives are fetched
// and unpacked by cardea-engine, since HTTP is no matter of the hook's program.
package org

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// The bounds of what comes.
const (
	// MaxDownload is how many bytes an archive may have, MaxFile a file in it, and
	// MaxTotal all of them together.
	MaxDownload = 32 << 20
	MaxFile     = 1 << 20
	MaxTotal    = 32 << 20
	// MaxFiles is how many files there may be, taken or not.
	MaxFiles = 4096
	maxDepth = 16
	maxName  = 200
)

// File is a file that came.
type File struct {
	Data []byte `json:"data"`
	// Program is set where it may be executed.
	Program bool `json:"program,omitempty"`
}

// Tree is what came, by path, and what was left out of it.
type Tree struct {
	Files map[string]File `json:"files"`
	// Left are the files that a scope's folder has no place for, sorted.
	Left []string `json:"left"`
	// Form says which form of the source it is: a commit, or the digest of an archive.
	Form string `json:"form"`
	// Signed is set where a signature was verified.
	Signed bool `json:"signed"`
}

// Incoming is a tree that is being read, under limits.
type Incoming struct {
	files map[string]File
	// links are the paths of links, devices and the like.
	links map[string]string
	seen  map[string]string
	total int
}

// NewIncoming is one without files.
func NewIncoming() *Incoming {
	return &Incoming{files: map[string]File{}, links: map[string]string{}, seen: map[string]string{}}
}

// Name checks the name of an entry, and gives it as a path: without "./" and without the
// slash that names in OPA's bundles begin with. "" is the root.
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

// Link notes an entry that is neither a file nor a folder. It is an error only where
// a scope's folder has a place for it.
func (in *Incoming) Link(name, what string) { in.links[name] = what }

// Room is how large the next file may be, in bytes.
func (in *Incoming) Room() int { return min(MaxFile, MaxTotal-in.total) }

// Add takes a file by the name that [Incoming.Name] gave.
func (in *Incoming) Add(name string, f File) error {
	if len(f.Data) > in.Room() {
		return fmt.Errorf("is too large: %s has more than %d bytes, or all files more than %d", name, MaxFile, MaxTotal)
	}
	in.total += len(f.Data)
	in.files[name] = f
	return nil
}

// Files are the files that were added, by name.
func (in *Incoming) Files() map[string]File { return in.files }

// Tree is what a scope's folder has a place for. What lies in one folder at the top
// lies at the top, as in the archives of hosts of repositories, and policies and data of
// a bundle lie below policies/, wherever they were.
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

// top is the one folder that everything lies in, with its slash, or "".
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

// isPolicy reports whether a file is a policy, or a document of data beside some.
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

// Taken reports whether a scope's folder has a place for a file.
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
