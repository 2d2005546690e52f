package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cardea.dev"
)

// Many programs write a file by making it empty first, or by moving it away. Whoever
// reads it in between finds half of a policy, or none, and half a policy forbids less.
// So a file counts as changed when it has stood still for a while.

const (
	// quiet is how long a file must stand still. A call waits for that at most
	// maxWait, and looks every lookAgain.
	quiet     = 40 * time.Millisecond
	maxWait   = 120 * time.Millisecond
	lookAgain = 5 * time.Millisecond
)

// settled lists the policies of a folder once none of them is being written, or when
// there is no more time to wait for it.
func (f Folder) settled(before past, deadline time.Time) ([]file, *cardea.Diagnostic) {
	end := time.Now().Add(maxWait)
	if deadline.Before(end) {
		end = deadline
	}
	for {
		now := time.Now()
		if files, problem := f.files(now.UnixNano()); f.Embedded != nil || now.Add(lookAgain).After(end) || !moving(before, files, now) {
			return files, problem
		}
		time.Sleep(lookAgain)
	}
}

// moving reports whether a file changed just now, or one that was there is just gone.
func moving(before past, files []file, now time.Time) bool {
	recent := func(when int64) bool {
		age := now.UnixNano() - when
		return age >= 0 && age < int64(quiet)
	}
	if slices.ContainsFunc(files, func(at file) bool { return recent(at.changed) }) {
		return true
	}
	for i := range before.entries {
		path := before.entries[i].path
		_, there := slices.BinarySearchFunc(files, path, func(at file, path string) int { return strings.Compare(at.path, path) })
		if !there && recent(changeOf(filepath.Dir(path))) {
			return true
		}
	}
	return false
}

// changeOf is when a folder changed last, 0 where that is not known.
func changeOf(dir string) int64 {
	if info, err := os.Stat(dir); err == nil {
		return info.ModTime().UnixNano()
	}
	return 0
}

// stampOf is the stamp that a file has now, "" where there is none.
func (f Folder) stampOf(path string) string {
	if f.Embedded != nil {
		return digest(f.Embedded[path])
	}
	at, err := statusAt(path)
	if err != nil {
		return ""
	}
	stamp, _ := at.stamp(0)
	return stamp
}

// readWhole reads a file that does not change meanwhile, or, where it does all the
// time, as it is then. What is said of the file becomes what was read.
func (f Folder) readWhole(at *file) (string, error) {
	end := time.Now().Add(maxWait)
	for {
		text, err := f.read(at.path)
		now := f.stampOf(at.path)
		if err != nil || now == at.stamp {
			return text, err
		}
		at.stamp, at.fresh = now, true
		if time.Now().After(end) {
			return text, nil
		}
		time.Sleep(lookAgain)
	}
}
