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

// purged are the folders that a purge removes. One that may not be removed is an error, and
// nothing is removed then.
func purged(p Process, s site) ([]ownFolder, error) {
	all := ownFolders(s)
	var err error
	for _, f := range all {
		err = errors.Join(err, removable(p, f.path))
	}
	return all, err
}

// removable says why a folder may not be removed with all in it, or nil. Variables name
// folders, and links lead elsewhere: only a folder called cardea that holds nothing of
// others goes.
func removable(p Process, dir string) error {
	no := func(why string) error {
		return fmt.Errorf("%s is left alone, and so is all else: %s; remove it by hand", dir, why)
	}
	named := dir
	if filepath.Base(named) != "cardea" {
		named = filepath.Dir(named) // cardea/state, as macOS and Windows have it
	}
	home := locate(p, "", "", p.Dir).Dirs.Home
	above := paths.Real(filepath.Dir(named))
	real := filepath.Clean(dir)
	if rel, err := filepath.Rel(home, real); home != "" && err == nil && filepath.IsLocal(rel) {
		real = filepath.Join(paths.Real(home), rel)
	}
	switch {
	case !filepath.IsAbs(dir) || filepath.Base(named) != "cardea":
		return no("it is not called cardea")
	case home == "" || above == paths.Real(home) || above == filepath.Dir(above):
		return no("it is no folder of Cardea's, but one of your home folder or of the root")
	case paths.Real(dir) != real:
		return no("a symbolic link leads to it, or it is one")
	case paths.Within(real, paths.Real(home)), paths.Within(real, paths.Real(p.Program)), p.Dir != "" && paths.Within(real, paths.Real(p.Dir)):
		return no("your home folder, this program or the working folder is in it")
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // it went meanwhile
			return nil
		case err != nil:
			return no(err.Error())
		case d.Type()&os.ModeSymlink == 0 && p.Machine.Foreign(path):
			return no(path + " is of another user")
		}
		return nil
	})
}
