package hook

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"cardea.dev/internal/limit"
	"cardea.dev/internal/state"
)

// setUpNotice is where the daemon notes for the status line that the set-up changed.
func setUpNotice(folder string) string { return filepath.Join(folder, "set-up-changed") }

// NoteSetUp notes for the status line what changed in the set-up, "" for nothing. The note
// counts for a short time: who writes it writes it again.
func NoteSetUp(folder, text string) error {
	if text != "" {
		return state.Write(setUpNotice(folder), []byte(Plain(text)+"\n"))
	}
	if err := os.Remove(setUpNotice(folder)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// setUpNoted reports whether the daemon notes that the set-up changed.
func setUpNoted(folder string, now time.Time) bool {
	if folder == "" {
		return false
	}
	info, err := os.Lstat(setUpNotice(folder))
	return err == nil && info.Mode().IsRegular() && now.Sub(info.ModTime()) < 3*limit.SetUpWhole
}
