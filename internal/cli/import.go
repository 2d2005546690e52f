package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/document"
	"cardea.dev/internal/importer"
	"cardea.dev/internal/state"
	"github.com/spf13/cobra"
)

func importCommand(p Process) *cobra.Command {
	var bouncerDry bool
	bouncer := importLeaf(p, &cobra.Command{
		Use:   "bouncer [config.json] [--dry-run] [--json]",
		Short: "import the rules and switches of Bouncer",
		Long: `Import Bouncer's config.json, by default the one in ~/.bouncer.

Custom rules are written to rules/imported-bouncer.yaml in the folder of your own
settings. There, rules that allow must match a whole command. Every rule whose
meaning changes is reported. Settings are only shown; copy them to cardea.yaml.

A file that somebody else wrote, or that changed since the last import, is never
overwritten. Writing needs a person at a terminal, who types a code.`,
	}, func(args []string) (imported, error) { return importBouncer(p, args, bouncerDry) })
	bouncer.Flags().BoolVar(&bouncerDry, "dry-run", false, "show the rules, and write nothing")
	permitter := importLeaf(p, &cobra.Command{
		Use:   "permitter [settings.json or shell profile] [--json]",
		Short: "import the switches of Permitter",
		Long: `Import Permitter's variables: from the environment, and from the env block of
Claude Code's settings.json (by default the one in ~/.claude) or from the start-up
file of a shell.

Permitter uses Claude Code's own permission lists. Cardea reads these as they are,
so nothing is copied. The settings that replace the variables are shown; copy them
to cardea.yaml. Places where Permitter itself is started are reported.`,
	}, func(args []string) (imported, error) { return importPermitter(p, args) })
	return group("import", "import the configuration of another tool", "", bouncer, importCupcakeCommand(p), permitter)
}

// importLeaf is a command that imports. What was imported until an error is
// shown, too.
func importLeaf(p Process, c *cobra.Command, run func(args []string) (imported, error)) *cobra.Command {
	c.Args = atMostOneArgument
	return withJSON(c, func(args []string, asJSON bool) error {
		done, err := run(args)
		done.Diagnostics, done.Files, done.Settings = notNil(done.Diagnostics), notNil(done.Files), notNil(done.Settings)
		if shown := p.answer(asJSON, done, done.show); err == nil {
			err = failIf(cardea.HasError(done.Diagnostics), shown)
		}
		return err
	})
}

// imported is what an import did, and the shape of its --json.
type imported struct {
	// Dry is set where nothing was written.
	Dry   bool           `json:"dry_run"`
	Files []importedFile `json:"files"`
	// Settings are lines for the person to copy into the file SettingsFile.
	Settings     []string `json:"settings"`
	SettingsFile string   `json:"settings_file"`
	report
	// next says what to do now.
	next string
}

// importedFile is a file that was written, or would be.
type importedFile struct {
	// From is the file that was copied, Text a new text; Rules is how many
	// rules are in it.
	From  string `json:"from,omitempty"`
	Path  string `json:"path"`
	Text  string `json:"text,omitempty"`
	Rules int    `json:"rules,omitempty"`
}

// show writes an import for people.
func (i imported) show(s *screen) {
	showDiagnostics(s, i.Diagnostics)
	for _, f := range i.Files {
		switch {
		case i.Dry && f.From != "":
			s.printf("would copy %s to %s\n", f.From, f.Path)
		case f.From != "":
			s.printf("copied %s\n", f.Path)
		case i.Dry:
			s.printf("would write %s:\n", f.Path)
			s.block("", f.Text)
		default:
			s.printf("wrote %s, rules: %d\n", f.Path, f.Rules)
		}
	}
	if len(i.Settings) > 0 {
		s.printf("for %s:\n", i.SettingsFile)
		s.block("", strings.Join(i.Settings, "\n"))
	}
	if i.next != "" {
		s.block("", i.next)
	}
}

// importedFrom is what an importer found, with nothing written yet.
func importedFrom(got importer.Imported, settings string) imported {
	return imported{Settings: got.Settings, SettingsFile: settings, report: report{got.Notes}}
}

func importBouncer(p Process, args []string, dry bool) (imported, error) {
	dir, err := scopeFolder(p, true)
	if err != nil {
		return imported{}, err
	}
	file := ""
	if len(args) > 0 {
		file = args[0]
	} else {
		home := locate(p, "", "", p.Dir).dirs.Home
		if home == "" {
			return imported{}, errors.New("there is no home folder; name the config.json")
		}
		file = filepath.Join(home, ".bouncer", "config.json")
	}
	data, err := readSmall(within(p.Dir, file))
	if err != nil {
		return imported{}, fmt.Errorf("read %s: %w; name Bouncer's config.json", file, err)
	}
	got := importer.Bouncer(file, data)
	out := importedFrom(got, filepath.Join(dir, "cardea.yaml"))
	out.Dry = dry
	if got.Count == 0 {
		out.next = "no rules to import"
		return out, nil
	}
	path := filepath.Join(dir, "rules", "imported-bouncer.yaml")
	if !dry {
		if err := p.byPerson("to write "+path, func(s *screen) { s.block("", got.Rules) }); err != nil {
			return out, err
		}
		if err := replaceOwn(path, importer.Seal(got.Rules)); err != nil {
			return out, fmt.Errorf("write %s: %w", path, err)
		}
		if err := rememberWritten(locate(p, "", "", p.Dir).state, path); err != nil {
			return out, err
		}
		out.next = "next: run \"cardea lint\", and \"cardea try\" what they are about"
	}
	out.Files = []importedFile{{Path: path, Text: got.Rules, Rules: got.Count}}
	return out, nil
}

func importPermitter(p Process, args []string) (imported, error) {
	file, data := "", []byte(nil)
	dirs := locate(p, "", "", p.Dir).dirs
	if len(args) > 0 {
		file = args[0]
		text, err := readSmall(within(p.Dir, file))
		if err != nil {
			return imported{}, fmt.Errorf("read %s: %w; name a settings.json or the start-up file of a shell", file, err)
		}
		data = text
	} else if dirs.Claude != "" {
		text, err := readSmall(filepath.Join(dirs.Claude, "settings.json"))
		if err == nil {
			file, data = filepath.Join(dirs.Claude, "settings.json"), text
		}
	}
	return importedFrom(importer.Permitter(p.Env, file, data), filepath.Join(dirs.User, "cardea.yaml")), nil
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
