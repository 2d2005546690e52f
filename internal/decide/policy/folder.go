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
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/decide/policy/engine"
)

// The bounds of a folder. A project's is written by whoever sent the pull
// request.
const (
	maxEntries = 1 << 14
	maxDepth   = 32
	// maxFile is the largest file that is a policy, in bytes.
	maxFile = 1 << 20
	// maxProjectFile is the largest file of a project: reading one cannot be
	// stopped, and takes some microseconds a byte.
	maxProjectFile = 256 << 10
	// maxProject is how many bytes of policies a project may bring.
	maxProject = 8 << 20
)

// Folder is a scope's folder of policies.
type Folder struct {
	// Dir is the folder, absolute: …/policies.
	Dir string
	// Scope is whose it is.
	Scope cardea.Scope
	// Inside is the folder that links must not leave, "" for anywhere.
	Inside string
	// Around marks a folder of a project that is not the session's own.
	Around bool
	// Tightens marks a folder of which only denies and asks count here.
	Tightens bool
	// Trusts reports whether the person accepted a file as it is; nil where
	// nobody has to.
	Trusts func(path string, data []byte) bool
	// Trusted is set where the person trusts the project, so that a file which
	// they did not accept is told.
	Trusted bool
	// Known reports whether the person accepted a file in some form; Gone are
	// the paths of policies that they accepted and that are not there. Nil where
	// nobody has to.
	Known func(path string) bool
	Gone  func() []string
	// Extra are functions that its policies may use besides those that are
	// pure.
	Extra []string
	// Embedded are built-in policies, by name; Dir is only a name then.
	Embedded map[string]string
}

// file is a policy file of a folder, with a stamp that changes when the file
// does.
type file struct {
	path, stamp string
	size        int64
	inode       uint64
	// fresh is set where the file changed so recently that its stamp could be
	// that of another content. changed is when that was, in nanoseconds.
	fresh   bool
	changed int64
	// wrong is why it cannot be read.
	wrong string
}

// files lists the policies of a folder and their tests, sorted, links followed.
func (f Folder) files(now int64) ([]file, *cardea.Diagnostic) {
	return f.walk(walk{folder: f, now: now, seen: map[string]bool{}})
}

func (f Folder) walk(w walk) ([]file, *cardea.Diagnostic) {
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
		return nil, &cardea.Diagnostic{File: f.Dir, Code: cardea.CodeUnreadable, Text: "the policies are not read: " + why, Hint: "mend the folder"}
	}
	if _, err := os.Stat(f.Dir); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(f.Dir); err == nil {
			return nil, &cardea.Diagnostic{File: f.Dir, Code: cardea.CodeUnreadable, Text: "the policies are not read: it is a link that leads nowhere", Hint: "mend the folder"}
		}
		return nil, nil
	}
	w.dir(f.Dir, 0)
	slices.SortFunc(w.out, func(a, b file) int { return strings.Compare(a.path, b.path) })
	w.out = once(w.out)
	if w.err != nil {
		return w.out, &cardea.Diagnostic{File: f.Dir, Code: cardea.CodeTooLarge, Text: "not all policies can be listed: " + plain(w.err), Hint: "mend the folder"}
	}
	return w.out, nil
}

// once leaves out files that are there under another name already, by a link. A file
// of tests takes no policy's place.
func once(files []file) []file {
	seen := make(map[string]bool, len(files))
	return slices.DeleteFunc(files, func(f file) bool {
		if isTest(f.path) || isDocument(filepath.Base(f.path)) {
			return false // the same document elsewhere defines something else
		}
		again := f.wrong == "" && f.inode != 0 && seen[f.stamp]
		seen[f.stamp] = true
		return again
	})
}

// TestSuffix ends the names of files that hold tests of policies. They are never
// routed, and nothing refers to them.
const TestSuffix = "_test.rego"

func isTest(path string) bool { return strings.HasSuffix(path, TestSuffix) }

// Misplaced reports whether a file holds a policy, and its name says that it holds
// tests: it is never asked.
func Misplaced(path string, f *engine.Facts) bool {
	return isTest(path) && f.Policy() && len(f.Events) > 0 && len(f.Verbs) > 0
}

// misplaced is what is said of it.
func misplaced(path string, line int) *cardea.Diagnostic {
	return &cardea.Diagnostic{File: path, Line: line, Column: 1, Code: engine.CodeNoEvents, Hint: "rename it",
		Text: "this policy is never asked: a file whose name ends in " + TestSuffix + " holds tests"}
}

type walk struct {
	folder  Folder
	now     int64
	seen    map[string]bool // folders, links followed
	entries int
	out     []file
	// ignored gets the files that look like policies and are not read; nil asks
	// for none.
	ignored *[]string
	// err is the first thing that went wrong.
	err error
}

func (w *walk) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

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

// looksLikePolicy reports whether somebody may think that a file is read.
func looksLikePolicy(name string) bool {
	return slices.Contains([]string{".rego", ".json", ".yaml", ".yml"}, strings.ToLower(filepath.Ext(name)))
}

// IsFile reports whether a file of this name counts in a folder of policies.
func IsFile(name string) bool { return strings.HasSuffix(name, ".rego") || isDocument(name) }

// isDocument reports whether a file of this name is a data document, as in a
// bundle of OPA's.
func isDocument(name string) bool {
	return name == "data.json" || name == "data.yaml" || name == "data.yml"
}

// mount is the folder, with slashes, below which policies find a document under
// data, "" for a file of another name.
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

// source is a file of the folder as the engine has it.
func (f Folder) source(path, text string) engine.Source {
	return engine.Source{Path: path, Text: text, Data: f.mount(path)}
}

// ignore notes a file that looks like a policy and is not read, or all of them in
// a folder.
func (w *walk) ignore(top string) {
	if w.ignored == nil {
		return
	}
	_ = filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		if w.entries++; w.entries > maxEntries || err != nil {
			return fs.SkipAll
		}
		// Not all that is in a hidden folder was meant to be read.
		if name := e.Name(); !e.IsDir() && (IsFile(name) || strings.EqualFold(filepath.Ext(name), ".rego") || path == top && name[0] != '.') {
			*w.ignored = append(*w.ignored, path)
		}
		return nil
	})
}

// openDir opens a folder and gives what is in it, by name.
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

// entry takes a file or goes into a folder, links followed.
func (w *walk) entry(dir *os.File, name string, link bool, depth int) {
	path := filepath.Join(dir.Name(), name)
	at, err := statusIn(dir, name)
	counts := IsFile(name)
	if err != nil {
		if counts || link && filepath.Ext(name) == "" { // it may have been a folder
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

// outside says why a link is not followed.
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

// add keeps a file whose name can be shown and written down.
func (w *walk) add(f file) {
	for _, c := range f.path {
		if c < ' ' || c == 0x7f {
			f.wrong = "its name has control characters"
		}
	}
	w.out = append(w.out, f)
}

// read reads a file of the folder.
func (f Folder) read(path string) (string, error) {
	if f.Embedded != nil {
		return f.Embedded[path], nil
	}
	data, err := state.ReadLinked(path, maxFile)
	return string(data), err
}

// Paths lists the policies of a folder.
func (f Folder) Paths() []string {
	files, _ := f.walk(walk{folder: f, seen: map[string]bool{}})
	right := lists.Where(files, func(at file) bool { return at.wrong == "" })
	return lists.Of(right, func(at file) string { return at.path })
}

// plain is an error of the file system without the path.
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
