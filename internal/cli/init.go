package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

func initCommand(p Process) *cobra.Command {
	var user bool
	c := &cobra.Command{
		Use:   "init [--user]",
		Short: "create a folder with settings and rules",
		Long: `Create .cardea/ in the project, or with --user the folder of your own settings.

init overwrites nothing. All settings that it writes are commented out, so
nothing changes until you edit them.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return initScope(p, user) },
	}
	c.Flags().BoolVar(&user, "user", false, "create your own folder, which counts in every project")
	return c
}

// initScope writes the files of a scope that are not there yet.
func initScope(p Process, user bool) error {
	dir, err := scopeFolder(p, user)
	if err != nil {
		return err
	}
	files := []struct{ path, text string }{
		{"cardea.yaml", settingsTemplate(user)},
		{"rules/example.yaml", template("rules.yaml")},
	}
	if !user {
		files = append(files, struct{ path, text string }{".gitignore", "# what only you see of this project\nlocal/\n"})
	}
	out := screenOn(p.Stdout, p.Env)
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.path))
		written, err := begin(path, f.text, user)
		switch {
		case err != nil:
			return fmt.Errorf("begin %s: %w; nothing was overwritten, mend this and run init again", path, err)
		case written:
			out.printf("wrote %s\n", path)
		default:
			out.printf("kept  %s\n", path)
		}
	}
	out.printf("next: uncomment what you want, then run \"cardea lint\" and \"cardea test\"\n")
	return out.err
}

func scopeFolder(p Process, user bool) (string, error) {
	pl := locate(p, "", "", p.Dir)
	project, home, dirs := pl.project, pl.dirs.Home, pl.dirs
	p.tell(pl.troubles)
	switch {
	case user && dirs.User == "":
		return "", errors.New("there is no folder for your settings; set HOME or XDG_CONFIG_HOME")
	case user:
		return dirs.User, nil
	case project == "":
		return "", errNoFolder
	case project == home:
		return "", errors.New("this is your home folder, not a project; change into one, or use --user")
	}
	return filepath.Join(project, ".cardea"), nil
}

// begin writes a file that is not there yet, and says whether it did.
func begin(path, text string, private bool) (bool, error) {
	dirMode, mode := fs.FileMode(0o755), fs.FileMode(0o644)
	if private {
		dirMode, mode = 0o700, 0o600
	}
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return false, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = f.WriteString(text)
	return true, errors.Join(err, f.Close())
}
