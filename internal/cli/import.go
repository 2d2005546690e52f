package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/config/importer"
	"github.com/spf13/cobra"
)

// lossHelp ends the help of every import, and tableHelp that of those that can write.
const (
	lossHelp = `

The import ends with a table: what is taken over, what is changed and how, and what
is left out. If something is left out that protected you, it is shown first, on
standard error, and the import ends with exit code 1. --accept-losses accepts this.`
	tableHelp = lossHelp + `

Without --write nothing is written. With it, the difference is shown, and the same
calls are judged before and after. Nothing that is there is overwritten, except what
an import of the same file or folder wrote and that is as it was written. Writing asks for
a code at a terminal.`
)

// importCommand returns the command "import".
func importCommand(p Process) *cobra.Command {
	permitter := importLeaf(p, &cobra.Command{
		Use:   "permitter [settings.json or shell profile] [--write] [--json]",
		Short: "import the switches of Permitter",
		Long: `Import Permitter's variables: from the environment, and from the env block of
Claude Code's settings.json (by default the one in ~/.claude) or from the start-up
file of a shell.

Permitter uses Claude Code's own permission lists. Cardea reads these as they are,
so nothing is copied. The variables become settings. Places where Permitter itself
is started are reported.` + tableHelp,
	}, func(args []string) (*importing, error) { return importPermitter(p, args) })
	return group("import", "import the configuration of another tool", "", importBouncerCommand(p), importCupcakeCommand(p), permitter, importRoutesCommand(p), importHookwiseCommand(p))
}

// importLeaf returns a command that reads, shows what it found, and writes with --write.
func importLeaf(p Process, c *cobra.Command, read func(args []string) (*importing, error)) *cobra.Command {
	var write bool
	c.Flags().BoolVar(&write, "write", false, "write it")
	c.Flags().Bool("dry-run", false, "write nothing, which is so without --write")
	c.MarkFlagsMutuallyExclusive("write", "dry-run")
	return lookLeaf(p, c, func(args []string) (*importing, error) {
		i, err := read(args)
		if err == nil {
			i.toWrite = write
		}
		return i, err
	})
}

// lookLeaf returns a command that reads and shows what it found.
func lookLeaf(p Process, c *cobra.Command, read func(args []string) (*importing, error)) *cobra.Command {
	var accept bool
	c.Args = atMostOneArgument
	c.Flags().BoolVar(&accept, "accept-losses", false, "go on although something is left out that protected you")
	return withJSON(c, func(args []string, asJSON bool) error {
		i, err := read(args)
		if err != nil {
			return err
		}
		return i.run(p, accept, asJSON)
	})
}

// importFolder begins the import of another tool's folder: the one in args, or the one with
// this name in the working folder.
func importFolder(p Process, args []string, name string, user bool) (i *importing, from string, err error) {
	from = within(p.Dir, name)
	if len(args) > 0 {
		from = within(p.Dir, args[0])
	}
	if !isFolder(from) {
		return nil, "", fmt.Errorf("there is no folder %s; name the %s folder", from, name)
	}
	if len(args) == 0 && !paths.Within(paths.Real(p.Dir), paths.Real(from)) {
		return nil, "", fmt.Errorf("%s is a link to %s, outside of the project; name that folder, if it is meant", from, paths.Real(from))
	}
	to, err := scopeFolder(p, user)
	if err != nil {
		return nil, "", err
	}
	i = &importing{dir: to, user: user}
	if !user {
		i.inside = paths.Real(filepath.Dir(to))
	}
	i.from(from)
	return i, from, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// importPermitter reads the switches of Permitter, from the file in args or by default.
func importPermitter(p Process, args []string) (*importing, error) {
	file, data := "", []byte(nil)
	dirs := locate(p, "", "", p.Dir).Dirs
	dir, err := scopeFolder(p, true)
	if err != nil {
		return nil, err
	}
	if len(args) > 0 {
		file = args[0]
		text, err := readSmall(within(p.Dir, file))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w; name a settings.json or the start-up file of a shell", file, err)
		}
		data = text
	} else if dirs.Claude != "" {
		text, err := readSmall(filepath.Join(dirs.Claude, "settings.json"))
		if err == nil {
			file, data = filepath.Join(dirs.Claude, "settings.json"), text
		}
	}
	i := &importing{tool: "Permitter", dir: dir, user: true, Imported: importer.Permitter(p.Env, file, data)}
	i.Calls = append(i.Calls, permittedCalls(p)...)
	return i, nil
}

// permittedCalls returns test calls for the harness's own lists: what each entry allows, in
// the forms that Permitter handles.
func permittedCalls(p Process) (out []importer.TrialCall) {
	pl := locate(p, "", "", p.Dir)
	for _, e := range load(p, &pl, nil).Permissions {
		command, ok := strings.CutSuffix(strings.TrimPrefix(e.Text, "Bash("), ":*)")
		if !ok || e.Effect != cardea.Allow {
			continue
		}
		for _, form := range []string{"%s", "A=1 %s", "timeout 30 %s", "cd . && %s", "%s; rm -rf /"} {
			said := either(strings.HasSuffix(form, "/"), "ask", "allow")
			out = append(out, importer.CommandCall(fmt.Sprintf(form, command), said))
		}
		if len(out) > 20 {
			break
		}
	}
	return out
}

// within returns a path relative to a folder as absolute path.
func within(dir, path string) string {
	return either(filepath.IsAbs(path), path, filepath.Join(dir, path))
}

// readSmall reads a file that is at most as large as a document may be.
func readSmall(path string) ([]byte, error) {
	data, err := state.ReadLinked(path, document.MaxSize)
	return data, bare(err)
}

// bare returns an error of the file system without the path.
func bare(err error) error {
	if p, is := errors.AsType[*fs.PathError](err); is {
		return p.Err
	}
	return err
}
