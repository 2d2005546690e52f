package policy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/decide/policy/engine"
)

// Limits of a folder. A project's may come from any pull request.
const (
	maxEntries = 1 << 14
	maxDepth   = 32
	// maxFile is the largest policy file, in bytes.
	maxFile = 1 << 20
	// maxProjectFile is the largest policy file of a project, in bytes. Parsing cannot be
	// interrupted, and takes some microseconds per byte.
	maxProjectFile = 256 << 10
	// maxProject is the most bytes of policies in a project.
	maxProject = 8 << 20
)

// Folder is a scope's folder of policies.
type Folder struct {
	// Dir is the absolute path of the folder: …/policies.
	Dir string
	// Scope is the scope of the folder.
	Scope cardea.Scope
	// Inside is the folder that links must not leave, "" for no limit.
	Inside string
	// Nearby is set for a folder of a project other than the session's.
	Nearby bool
	// Tightens is set for a folder of which only denies and asks apply.
	Tightens bool
	// Trusts reports whether the person accepted a file with this content. If nil, no
	// acceptance is needed.
	Trusts func(path string, data []byte) bool
	// Trusted is set if the person trusts the project, so that files not yet accepted are
	// reported.
	Trusted bool
	// Known reports whether the person accepted a file in some form. Gone returns the paths
	// of accepted policies that no longer exist. Both are nil if no acceptance is needed.
	Known func(path string) bool
	Gone  func() []string
	// Extra are functions that its policies may use in addition to the pure ones.
	Extra []string
	// Embedded are built-in policies, by name. Dir is then only a name.
	Embedded map[string]string
}

// file is a policy file of a folder, with a stamp that changes when the file does.
type file struct {
	path, stamp string
	size        int64
	inode       uint64
	// fresh is set if the file changed so recently that other content could have the same
	// stamp. changed is the time of that change, in nanoseconds.
	fresh   bool
	changed int64
	// wrong is the reason why it cannot be read, or "".
	wrong string
}

// files lists the policies and tests of a folder, sorted, with links followed.
func (f Folder) files(now int64) ([]file, *diagnostic.Diagnostic) {
	return f.walk(walk{folder: f, now: now, seen: map[string]bool{}})
}

// walk lists the files of a folder, sorted. The diagnostic reports a folder that cannot be
// listed completely. A missing folder is empty.
func (f Folder) walk(w walk) ([]file, *diagnostic.Diagnostic) {
	if f.Embedded != nil {
		var out []file
		for name, text := range f.Embedded {
			out = append(out, file{path: name, stamp: digest(text)})
		}
		slices.SortFunc(out, func(a, b file) int { return strings.Compare(a.path, b.path) })
		return out, nil
	}
	if real, err := filepath.EvalSymlinks(f.Dir); err == nil {
		w.seen[real] = true
	}
	if why := w.outside(f.Dir, true); why != "" {
		if _, err := os.Lstat(f.Dir); err != nil {
			return nil, nil
		}
		return nil, &diagnostic.Diagnostic{File: f.Dir, Code: diagnostic.CodeUnreadable, Text: "the policies are not read: " + why, Hint: "mend the folder"}
	}
	if _, err := os.Stat(f.Dir); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(f.Dir); err == nil {
			return nil, &diagnostic.Diagnostic{File: f.Dir, Code: diagnostic.CodeUnreadable, Text: "the policies are not read: it is a link that leads nowhere", Hint: "mend the folder"}
		}
		return nil, nil
	}
	w.dir(f.Dir, 0)
	slices.SortFunc(w.out, func(a, b file) int { return strings.Compare(a.path, b.path) })
	w.out = once(w.out)
	if w.err != nil {
		return w.out, &diagnostic.Diagnostic{File: f.Dir, Code: diagnostic.CodeTooLarge, Text: "not all policies can be listed: " + plain(w.err), Hint: "mend the folder"}
	}
	return w.out, nil
}

// once removes files that are in the list under another name, by a link. A file of tests
// never replaces a policy.
func once(files []file) []file {
	seen := make(map[string]bool, len(files))
	return slices.DeleteFunc(files, func(f file) bool {
		if isTest(f.path) || isDocument(filepath.Base(f.path)) {
			return false // the same document in another folder defines another path
		}
		again := f.wrong == "" && f.inode != 0 && seen[f.stamp]
		seen[f.stamp] = true
		return again
	})
}

// TestSuffix is the end of the names of files with tests of policies. They are never
// routed, and no policy refers to them.
const TestSuffix = "_test.rego"

func isTest(path string) bool { return strings.HasSuffix(path, TestSuffix) }

// Misplaced reports whether a file with the name of a test file holds a policy, which never
// runs.
func Misplaced(path string, f *engine.Facts) bool {
	return isTest(path) && f.Policy() && len(f.Events) > 0 && len(f.Verbs) > 0
}

// misplaced returns the diagnostic for such a file.
func misplaced(path string, line int) *diagnostic.Diagnostic {
	return &diagnostic.Diagnostic{File: path, Line: line, Column: 1, Code: engine.CodeNoEvents, Hint: "rename it",
		Text: "this policy is never asked: a file whose name ends in " + TestSuffix + " holds tests"}
}

type walk struct {
	folder  Folder
	now     int64
	seen    map[string]bool // folders, with links followed
	entries int
	out     []file
	// ignored collects the files that look like policies and are ignored. If nil, they are
	// not collected.
	ignored *[]string
	// err is the first error.
	err error
}

func (w *walk) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// dir adds the policies of a folder. It skips hidden files and folders.
func (w *walk) dir(dir string, depth int) {
	if depth > maxDepth {
		w.fail(fmt.Errorf("%s is nested deeper than %d folders", dir, maxDepth))
		return
	}
	in, entries, err := openDir(dir)
	if err != nil {
		if depth > 0 || !errors.Is(err, fs.ErrNotExist) {
			w.fail(err)
		}
		return
	}
	defer in.Close()
	if w.entries += len(entries); w.entries > maxEntries {
		w.fail(fmt.Errorf("there are more than %d files", maxEntries))
		return
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || !IsFile(name) && looksLikePolicy(name) && !e.IsDir() {
			w.ignore(filepath.Join(dir, name))
			continue
		}
		link := e.Type()&fs.ModeSymlink != 0
		if !link && !e.IsDir() && !IsFile(name) {
			continue
		}
		w.entry(in, name, link, depth)
	}
}

// looksLikePolicy reports whether a user may expect that a file is read.
func looksLikePolicy(name string) bool {
	return slices.Contains([]string{".rego", ".json", ".yaml", ".yml"}, strings.ToLower(filepath.Ext(name)))
}

// IsFile reports whether a folder of policies reads files of this name.
func IsFile(name string) bool { return strings.HasSuffix(name, ".rego") || isDocument(name) }

// isDocument reports whether a file of this name is a data document, as in a bundle of OPA.
func isDocument(name string) bool {
	return name == "data.json" || name == "data.yaml" || name == "data.yml"
}

// mount returns the path of a document below data, with slashes, or "" for other files.
func (f Folder) mount(path string) string {
	if !isDocument(filepath.Base(path)) {
		return ""
	}
	below, err := filepath.Rel(f.Dir, filepath.Dir(path))
	if err != nil || below == "." {
		return "/"
	}
	return "/" + filepath.ToSlash(below)
}

// source returns a file of the folder in the form for the engine.
func (f Folder) source(path, text string) engine.Source {
	return engine.Source{Path: path, Text: text, Data: f.mount(path)}
}

// ignore records a file that looks like a policy and is ignored, or all such files in a
// folder.
func (w *walk) ignore(top string) {
	if w.ignored == nil {
		return
	}
	_ = filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		if w.entries++; w.entries > maxEntries || err != nil {
			return fs.SkipAll
		}
		// Not every file in a hidden folder was meant as a policy.
		if name := e.Name(); !e.IsDir() && (IsFile(name) || strings.EqualFold(filepath.Ext(name), ".rego") || path == top && name[0] != '.') {
			*w.ignored = append(*w.ignored, path)
		}
		return nil
	})
}

// openDir opens a folder and returns its entries, sorted by name.
func openDir(dir string) (*os.File, []os.DirEntry, error) {
	in, err := state.OpenFolder(dir)
	if err != nil {
		return nil, nil, err
	}
	entries, err := in.ReadDir(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		_ = in.Close()
		return nil, nil, err
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return in, entries, nil
}

// entry adds a file, or the files of a folder, with links followed.
func (w *walk) entry(dir *os.File, name string, link bool, depth int) {
	path := filepath.Join(dir.Name(), name)
	at, err := statusIn(dir, name)
	counts := IsFile(name)
	if err != nil {
		if counts || link && filepath.Ext(name) == "" { // the target may have been a folder
			w.add(file{path: path, stamp: "?", wrong: "it cannot be read: " + plain(err)})
		}
		return
	}
	if !at.dir && !counts {
		return
	}
	if why := w.outside(path, link); why != "" {
		w.add(file{path: path, stamp: "outside", wrong: why})
		return
	}
	if at.dir {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || w.seen[real] {
			return
		}
		w.seen[real] = true
		w.dir(path, depth+1)
		return
	}
	f := file{path: path, size: at.size, inode: at.inode}
	most := int64(maxFile)
	if w.folder.Inside != "" {
		most = maxProjectFile
	}
	switch {
	case !at.regular:
		f.stamp, f.wrong = "?", "it is no regular file"
	case at.size > most:
		f.stamp, f.wrong = "?", fmt.Sprintf("it is larger than %d bytes", most)
	default:
		f.stamp, f.fresh = at.stamp(w.now)
		f.changed = at.last()
	}
	w.add(f)
}

// outside returns the reason why a link is not followed, or "".
func (w *walk) outside(path string, link bool) string {
	if !link || w.folder.Inside == "" {
		return ""
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "it is a link that leads nowhere"
	}
	if !paths.Within(paths.Real(w.folder.Inside), real) {
		return "it is a link out of the project; copy the file into the project"
	}
	return ""
}

// add adds a file. It is unreadable if its name has control characters.
func (w *walk) add(f file) {
	for _, c := range f.path {
		if c < ' ' || c == 0x7f {
			f.wrong = "its name has control characters"
		}
	}
	w.out = append(w.out, f)
}

// read returns the text of a file of the folder.
func (f Folder) read(path string) (string, error) {
	if f.Embedded != nil {
		return f.Embedded[path], nil
	}
	data, err := state.ReadLinked(path, maxFile)
	return string(data), err
}

// Paths returns the paths of a folder's policies and tests.
func (f Folder) Paths() []string {
	files, _ := f.walk(walk{folder: f, seen: map[string]bool{}})
	right := lists.Where(files, func(at file) bool { return at.wrong == "" })
	return lists.Of(right, func(at file) string { return at.path })
}

// plain returns the text of a file system error without the path.
func plain(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// trusts reports whether the person accepted a file.
func (f Folder) trusts(path, text string) bool {
	return f.Trusts == nil || f.Trusts(path, []byte(text))
}
