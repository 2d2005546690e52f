package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"cardea.dev/internal/paths"
	"cardea.dev/internal/state"
)

// ownFolder is a folder that Cardea has for a person, and what it takes up.
type ownFolder struct {
	holds, path string
	files       int
	bytes       int64
}

func (f ownFolder) String() string {
	return fmt.Sprintf("%s: %s (%s, %d KB)", f.holds, f.path, count(f.files, "file"), (f.bytes+1023)/1024)
}

// ownFolders are those that are there.
func ownFolders(s site) []ownFolder {
	dirs := s.Place.Dirs
	var out []ownFolder
	for _, f := range []ownFolder{
		{holds: "settings, rules, lessons", path: dirs.User}, {holds: "state, ledger", path: dirs.State},
		{holds: "cache", path: dirs.Cache}, {holds: "sockets", path: dirs.Runtime},
	} {
		if f.path == "" || !state.Exists(f.path) {
			continue
		}
		if i := slices.IndexFunc(out, func(o ownFolder) bool { return paths.Within(o.path, f.path) }); i >= 0 {
			out[i].holds += ", " + f.holds
			continue
		}
		_ = filepath.WalkDir(f.path, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil // what cannot be read takes up nothing that is known
			}
			f.files++
			if info, err := d.Info(); err == nil {
				f.bytes += info.Size()
			}
			return nil
		})
		out = append(out, f)
	}
	return out
}

// removable says why a folder may not be removed with all in it, or nil. Variables name
// folders, and links lead elsewhere: only a folder called cardea that holds nothing of
// others goes.
func removable(p Process, dir string) error {
	own, named, real := dir, locate(p, "", "", p.Dir).Dirs.Home, filepath.Clean(dir)
	home := paths.Real(named)
	if filepath.Base(own) != "cardea" {
		own = filepath.Dir(own) // cardea/state, as macOS and Windows have it
	}
	if rel, err := filepath.Rel(named, real); err == nil && filepath.IsLocal(rel) {
		real = filepath.Join(home, rel)
	}
	why, above := "", paths.Real(filepath.Dir(own))
	switch {
	case !filepath.IsAbs(dir) || filepath.Base(own) != "cardea":
		why = "it is not called cardea"
	case named == "" || above == home || above == filepath.Dir(above):
		why = "it is no folder of Cardea's, but one of your home folder or of the root"
	case paths.Real(dir) != real:
		why = "a symbolic link leads to it, or it is one"
	case paths.Within(real, home), paths.Within(real, paths.Real(p.Program)), p.Dir != "" && paths.Within(real, paths.Real(p.Dir)):
		why = "your home folder, this program or the working folder is in it"
	default:
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // its errors become the reason
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				why = err.Error()
			} else if err == nil && d.Type()&os.ModeSymlink == 0 && p.Machine.Foreign(path) {
				why = path + " is of another user"
			}
			return nil
		})
	}
	if why == "" {
		return nil
	}
	return fmt.Errorf("%s is left alone, and so is all else: %s; remove it by hand", dir, why)
}
