package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"cardea.dev/internal/document"
	"cardea.dev/internal/importer"
	"cardea.dev/internal/state"
	"github.com/spf13/cobra"
)

func importCommand(p Process) *cobra.Command {
	c := &cobra.Command{
		Use:   "import",
		Short: "import the configuration of another tool",
		Args:  noSuchCommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var dry bool
	bouncer := &cobra.Command{
		Use:   "bouncer [config.json] [--dry-run]",
		Short: "import the rules and switches of Bouncer",
		Long: `Import Bouncer's config.json, by default the one in ~/.bouncer.

Custom rules are written to rules/imported-bouncer.yaml in the folder of your own
settings. There, rules that allow must match a whole command. Every rule whose
meaning changes is reported. Settings are only shown; copy them to cardea.yaml.

A file that somebody else wrote, or that changed since the last import, is never
overwritten.`,
		Args: atMostOneArgument,
		RunE: func(_ *cobra.Command, args []string) error { return importBouncer(p, args, dry) },
	}
	bouncer.Flags().BoolVar(&dry, "dry-run", false, "show the rules, and write nothing")
	c.AddCommand(bouncer, importCupcakeCommand(p), &cobra.Command{
		Use:   "permitter [settings.json or shell profile]",
		Short: "import the switches of Permitter",
		Long: `Import Permitter's variables: from the environment, and from the env block of
Claude Code's settings.json (by default the one in ~/.claude) or from the start-up
file of a shell.

Permitter uses Claude Code's own permission lists. Cardea reads these as they are,
so nothing is copied. The settings that replace the variables are shown; copy them
to cardea.yaml. Places where Permitter itself is started are reported.`,
		Args: atMostOneArgument,
		RunE: func(_ *cobra.Command, args []string) error { return importPermitter(p, args) },
	})
	return c
}

func importBouncer(p Process, args []string, dry bool) error {
	dir, err := scopeFolder(p, true)
	if err != nil {
		return err
	}
	file := ""
	if len(args) > 0 {
		file = args[0]
	} else {
		home := locate(p, "", "", p.Dir).dirs.Home
		if home == "" {
			return errors.New("there is no home folder; name the config.json")
		}
		file = filepath.Join(home, ".bouncer", "config.json")
	}
	data, err := readSmall(within(p.Dir, file))
	if err != nil {
		return fmt.Errorf("read %s: %w; name Bouncer's config.json", file, err)
	}
	got := importer.Bouncer(file, data)
	s := screenOn(p.Stdout, p.Env)
	mistakes, _ := showDiagnostics(s, got.Notes)
	if err := giveRules(s, filepath.Join(dir, "rules", "imported-bouncer.yaml"), got, dry); err != nil {
		return err
	}
	return giveSettings(s, got, mistakes)
}

// giveSettings shows the lines for the person's settings, and ends an import.
func giveSettings(s *screen, got importer.Imported, mistakes int) error {
	if len(got.Settings) > 0 {
		s.printf("for your cardea.yaml:\n")
	}
	for _, l := range got.Settings {
		s.printf("%s\n", l)
	}
	if s.err == nil && mistakes > 0 {
		return ended(exitError)
	}
	return s.err
}

func importPermitter(p Process, args []string) error {
	file, data := "", []byte(nil)
	if len(args) > 0 {
		file = args[0]
		text, err := readSmall(within(p.Dir, file))
		if err != nil {
			return fmt.Errorf("read %s: %w; name a settings.json or the start-up file of a shell", file, err)
		}
		data = text
	} else if dir := locate(p, "", "", p.Dir).dirs.Claude; dir != "" {
		text, err := readSmall(filepath.Join(dir, "settings.json"))
		if err == nil {
			file, data = filepath.Join(dir, "settings.json"), text
		}
	}
	got := importer.Permitter(p.Env, file, data)
	s := screenOn(p.Stdout, p.Env)
	mistakes, _ := showDiagnostics(s, got.Notes)
	return giveSettings(s, got, mistakes)
}

// within is a path as seen from a folder.
func within(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// readSmall reads a file that is not larger than a document may be.
func readSmall(path string) ([]byte, error) {
	data, err := state.ReadLinked(path, document.MaxSize)
	return data, bare(err)
}

// bare is an error of the file system without the path.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// giveRules writes the rules, or shows them.
func giveRules(s *screen, path string, got importer.Imported, dry bool) error {
	switch {
	case got.Count == 0:
		s.printf("no rules to import\n")
		return nil
	case dry:
		s.printf("would write %s:\n", path)
		s.block("", got.Rules)
		return nil
	}
	if err := replaceOwn(path, importer.Seal(got.Rules)); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	s.printf("wrote %s, rules: %d\nnext: run \"cardea lint\", and \"cardea try\" what they are about\n", path, got.Count)
	return nil
}

// replaceOwn writes a file that is not there, or that an import wrote and
// nobody changed.
func replaceOwn(path, text string) error {
	written, err := begin(path, text, true)
	if written || err != nil {
		return err
	}
	there, err := readSmall(path)
	if err != nil {
		return err
	}
	if !importer.Untouched(string(there)) {
		return errors.New("it is there, and not as an import wrote it; rename it and import again")
	}
	return state.Replace(path, []byte(text), nil)
}
