package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cardea.dev/internal/base/diagnostic"
)

// Many programs truncate a file before they write it, or move it away. A reader in between
// finds half of a policy, or no file, and half a policy forbids less. So a changed file is
// read after it has been unchanged for a while.

const (
	// quiet is the time for which a file must be unchanged. A call waits at most maxWait,
	// and checks every lookAgain.
	quiet     = 40 * time.Millisecond
	maxWait   = 120 * time.Millisecond
	lookAgain = 5 * time.Millisecond
)

// settled lists the policies of a folder when none of them is being written, or when the
// time is up.
func (f Folder) settled(before past, deadline time.Time) ([]file, *diagnostic.Diagnostic) {
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

// moving reports whether a file has just changed, or has just disappeared.
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

// changeOf returns the time of a folder's last change, in nanoseconds, 0 if unknown.
func changeOf(dir string) int64 {
	if info, err := os.Stat(dir); err == nil {
		return info.ModTime().UnixNano()
	}
	return 0
}

// stampOf returns the current stamp of a file, "" if it cannot be read.
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

// readWhole reads a file that does not change meanwhile. If it changes all the time,
// readWhole returns the text at the end of maxWait. It updates the stamp in at.
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
