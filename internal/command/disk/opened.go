package disk

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/git"
	"cardea.dev/internal/command/knowledge"
)

// Limits of reading a folder: entries, and nested folders.
const (
	maxOpened      = 10_000
	maxOpenedDepth = 32
)

// Opened returns the absolute paths of the files that a read of a folder or of a pattern
// opens now. unseen is why there may be more, or "" if these are all.
func Opened(a *cardea.Access) (files []string, unseen string) {
	if a.Path == "" {
		return nil, "its path is not known"
	}
	if a.Selection.Tracked {
		return openedTracked(a.Path)
	}
	w := opening{access: a, left: maxOpened}
	only, all := paths.NewIgnore(a.Selection.Only)
	if w.only = only; !all {
		w.only = nil
	}
	w.except, _ = paths.NewIgnore(a.Selection.Except)
	if a.Glob {
		folder := paths.LiteralBegin(a.Pattern)
		folder = folder[:strings.LastIndexByte(folder, '/')+1] // its links are followed in Path
		if at := strings.TrimSuffix(a.Path, "/") + "/"; a.Search && strings.HasPrefix(a.Pattern, at) {
			folder = at
		}
		w.pattern = paths.Literal(a.Path).Join(a.Pattern[len(folder):])
	}
	if a.Selection.SkipsIgnored || a.SkipsHidden {
		w.lists = ignoreLists(a.Path)
	}
	w.walk(a.Path, maxOpenedDepth)
	return w.files, w.unseen
}

// opening is the state of reading a folder.
type opening struct {
	access       *cardea.Access
	only, except paths.Ignore
	pattern      paths.Pattern
	lists        []ignoreList
	left         int
	files        []string
	unseen       string
}

// ignoreList is a .gitignore, and the folder to which it applies.
type ignoreList struct {
	folder string
	list   paths.Ignore
	// git is set for git's own lists. weak is set if the list may not apply: files that it
	// excludes may be opened, and files that it includes are.
	git, weak bool
}

// walk adds the opened files of a folder, down to a depth. It sets unseen if there may be more.
func (w *opening) walk(dir string, depth int) {
	entries, err := state.Entries(dir, w.left+1)
	if w.left -= len(entries); w.left < 0 || depth == 0 {
		w.unseen = "there are too many files in " + w.access.Path
		return
	}
	if err != nil && !os.IsNotExist(err) {
		if info, e := os.Stat(dir); e == nil && info.IsDir() {
			w.unseen = dir + " cannot be listed"
		}
		return
	}
	if w.lists != nil && dir != w.access.Path {
		defer func(n int) { w.lists = w.lists[:n] }(len(w.lists))
		w.lists = appendIgnore(w.lists, dir)
	}
	for _, e := range entries {
		if w.unseen != "" {
			return
		}
		w.entry(dir+"/"+e.Name(), e, depth)
	}
}

// entry adds one entry of a folder if it is opened, with the target of a symlink. It
// walks folders.
func (w *opening) entry(full string, e fs.DirEntry, depth int) {
	folder := e.IsDir()
	switch {
	case w.leavesOut(full, e.Name(), folder):
		return
	case e.Name() == ".git" && folder: // it holds packed contents of files
		folder, full = false, full+"/config"
	}
	if folder {
		w.walk(full, depth-1)
		return
	}
	if w.pattern != nil && !w.matches(paths.Segments(full)) {
		return
	}
	if w.only != nil {
		if named, _ := w.only.Names(w.below(full), 0, false); !named {
			return
		}
	}
	w.files = append(w.files, full)
	if e.Type()&fs.ModeSymlink == 0 {
		return
	}
	real, err := filepath.EvalSymlinks(full)
	if err != nil {
		return
	}
	if info, err := os.Stat(real); err == nil && info.IsDir() {
		if named := w.pattern != nil && w.pattern.Match(paths.Segments(full)); named || !w.access.Selection.KeepsLinks {
			w.unseen = "it follows the link " + full
		}
		return
	}
	w.files = append(w.files, filepath.ToSlash(real))
}

// matches reports whether the pattern matches a file, or a folder above it that is read
// recursively.
func (w *opening) matches(file []string) bool {
	for n := range file {
		if w.access.Recursive && w.pattern.Match(file[:n]) {
			return true
		}
	}
	return w.pattern.Match(file)
}

// below returns the segments of a path relative to the folder to which the selection's
// patterns apply.
func (w *opening) below(full string) []string {
	from := w.access.Selection.From
	if from == "" || !paths.Below(from, full) {
		from = w.access.Path
	}
	return paths.Segments(strings.TrimPrefix(full, strings.TrimSuffix(from, "/")))
}

// leavesOut reports whether a file or folder is not opened.
func (w *opening) leavesOut(full, name string, folder bool) bool {
	if named, _ := w.except.Names(w.below(full), len(w.below(w.access.Path)), folder); named {
		return true
	}
	hidden := strings.HasPrefix(name, ".")
	if w.pattern != nil && hidden && !w.access.Search && !folder && !strings.Contains(w.access.Pattern, "/.") {
		return true // a pattern of the shell matches no hidden file
	}
	for i := len(w.lists) - 1; i >= 0; i-- {
		l := &w.lists[i]
		given := len(paths.Segments(strings.TrimPrefix(w.access.Path, l.folder)))
		if strings.HasPrefix(l.folder, w.access.Path) {
			given = 0
		}
		weak := l.weak || !w.access.Selection.SkipsIgnored
		if named, known := l.list.Names(paths.Segments(strings.TrimPrefix(full, l.folder)), given, folder); known && !(named && weak) {
			return named
		}
	}
	return hidden && w.access.SkipsHidden
}

// ignoreLists returns the lists of a folder and of the folders above it.
func ignoreLists(dir string) []ignoreList {
	lists := []ignoreList{}
	root := TopLevel(dir)
	for at := ""; ; {
		if lists = appendIgnore(lists, at); at == dir || !strings.HasPrefix(dir, at+"/") {
			break
		}
		next, _, _ := strings.Cut(dir[len(at)+1:], "/")
		at += "/" + next
	}
	for i := range lists {
		l := &lists[i]
		l.weak = l.git && (root == "" || !paths.Within(root, l.folder))
	}
	return lists
}

// maxIgnore is the size in bytes up to which a .gitignore is read.
const maxIgnore = 256 << 10

// appendIgnore adds the lists of a folder. A later one wins.
func appendIgnore(lists []ignoreList, dir string) []ignoreList {
	add := func(text string, git bool) {
		list, all := paths.NewIgnore(text)
		if !all {
			list, _ = paths.NewIgnore("!**")
		}
		lists = append(lists, ignoreList{folder: dir, list: list, git: git})
	}
	if info, err := os.Lstat(dir + "/.git"); err == nil && !info.IsDir() {
		add("!**", true) // its excludes are in another place
	}
	for _, name := range [...]string{".git/info/exclude", ".gitignore", ".ignore", ".rgignore"} {
		text, err := state.ReadLinked(dir+"/"+name, maxIgnore)
		switch {
		case err == nil:
			add(string(text), strings.HasPrefix(name, ".git"))
		case !os.IsNotExist(err) && !errors.Is(err, syscall.ENOTDIR):
			add("!**", false)
		}
	}
	return lists
}

// The time limits of git for a command that shows files, and for the differences of a revision.
const (
	gitLimit  = 500 * time.Millisecond
	diffLimit = 200 * time.Millisecond
)

// repository returns the repository that contains a folder. It fails if git is a program
// in that folder.
func repository(dir string, limit time.Duration) (git.Repository, error) {
	r, err := git.Open(dir, os.Environ(), limit)
	if err == nil && paths.Within(dir, filepath.ToSlash(r.Program())) {
		err = errors.New("the program git is in the folder of the project")
	}
	return r, err
}

// Shown returns the absolute paths of the files that a command of git, run in a folder, shows.
func Shown(dir string, command knowledge.GitShows) ([]string, error) {
	r, err := repository(dir, gitLimit)
	if err != nil {
		return nil, err
	}
	root, names, err := r.Show(context.Background(), TopLevel(dir), git.Names(command))
	for i := range names {
		names[i] = filepath.ToSlash(filepath.Join(root, names[i]))
	}
	return names, err
}

// Differs returns the files that differ between the last commit and a revision of the
// repository that contains a folder, relative to its root. The error is
// [knowledge.ErrNoRevision] if the revision does not exist.
func Differs(dir, revision string) ([]string, error) {
	r, err := repository(dir, diffLimit)
	if err != nil {
		return nil, err
	}
	names, err := r.Differing(context.Background(), revision)
	if err != nil && strings.Contains(err.Error(), "'"+revision+"^{tree}': unknown revision") {
		// git prints the same error if it could not read the objects. A name needs none.
		_, unnamed := r.Run(context.Background(), nil, git.MaxLine, "rev-parse", "--verify", "--end-of-options", revision)
		if unnamed != nil && strings.Contains(unnamed.Error(), "Needed a single revision") {
			err = knowledge.ErrNoRevision
		}
	}
	return names, err
}
