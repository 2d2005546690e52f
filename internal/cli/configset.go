package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document/yamledit"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/person"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/config/trust"
)

// configSetCommand returns the command "config set".
func configSetCommand(p Process) *cobra.Command {
	return configLeaf(&cobra.Command{
		Use:   "set KEY VALUE... [--scope SCOPE]",
		Short: "give a setting a value",
		Long: `Give a setting a value in the cardea.yaml of a scope. The value is YAML in one line; a
list can be given word by word. Comments stay.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return errors.New("a key and a value are missing: cardea config set KEY VALUE")
			}
			return nil
		},
	}, func(scope string, args []string, asJSON bool) error {
		return changeSetting(p, scope, args[0], asJSON, func(text string, name settings.Name) (string, error) {
			value, err := name.Value(args[1:])
			if err != nil {
				return "", wrongUsage{err}
			}
			if strings.TrimSpace(text) == "" {
				text = "version: 1\n"
			}
			return yamledit.Put(text, name.Path, value)
		})
	})
}

// configUnsetCommand returns the command "config unset".
func configUnsetCommand(p Process) *cobra.Command {
	return cautious(configLeaf(&cobra.Command{
		Use:   "unset KEY [--scope SCOPE]",
		Short: "remove a setting, so that its default or another scope counts",
		Long:  "Remove a setting from the cardea.yaml of a scope. Its default counts then, or what another\nscope says.",
		Args:  oneArgument,
	}, func(scope string, args []string, asJSON bool) error {
		return changeSetting(p, scope, args[0], asJSON, func(text string, name settings.Name) (string, error) {
			out, _, err := yamledit.Remove(text, name.Path)
			return out, err
		})
	}))
}

func configEditCommand(p Process) *cobra.Command {
	return configLeaf(&cobra.Command{
		Use:   "edit [--scope SCOPE]",
		Short: "edit the settings in your editor",
		Long: `Open a copy of the cardea.yaml of a scope in your editor ($VISUAL, $EDITOR), and check it
afterwards. If it has mistakes, they are shown, and you can go on editing. The copy is
kept until it is written, so nothing is lost.`,
		Args: noArguments,
	}, func(scope string, _ []string, asJSON bool) error { return editSettings(p, scope, asJSON) })
}

// configLeaf returns a command that changes the settings of a scope.
func configLeaf(c *cobra.Command, run func(scope string, args []string, asJSON bool) error) *cobra.Command {
	scope := c.Flags().String("scope", "user", "whose settings: user, project or system")
	return withJSON(c, func(args []string, asJSON bool) error { return run(*scope, args, asJSON) })
}

// configChange is a pending change of a cardea.yaml.
type configChange struct {
	change
	p     Process
	pl    place
	scope cardea.Scope
	// file is the path by which the settings are read.
	file string
	// before holds the configuration in force before the change.
	before *inforce.Loaded
}

// configured is the result of a change, and its JSON.
type configured struct {
	File    string `json:"file"`
	Diff    string `json:"diff"`
	Written bool   `json:"written"`
	// Settings holds the changed key as it is in force after the change.
	Settings []configEntry `json:"settings"`
	report
}

// startChange prepares a change of the file of a scope.
func startChange(p Process, scope string) (*configChange, error) {
	c := &configChange{p: p}
	c.scope, _ = scopeOf(scope) // unknown scopes are refused below
	dir := ""
	switch scope {
	case "user", "project":
		folder, err := scopeFolder(p, scope == "user")
		if err != nil {
			return nil, err
		}
		dir = folder
	case "system":
		if dir = p.Machine.System; dir == "" {
			return nil, errors.New("there is no folder for the system's settings on this machine")
		}
	case "org":
		return nil, wrongUsage{errors.New("the settings of an organisation come by \"cardea sync\"; change them where they come from")}
	default:
		return nil, wrongUsage{fmt.Errorf("there is no scope %q: use user, project or system", scope)}
	}
	if p.Dir == "" {
		return nil, errNoFolder
	}
	c.pl = locate(p, "", "", p.Dir)
	c.file = filepath.Join(dir, "cardea.yaml")
	c.before = inforce.Load(p.Whose(&c.pl))
	i := importing{dir: dir, user: c.private()}
	if c.scope == cardea.ScopeProject {
		i.inside = paths.Real(filepath.Dir(dir))
	}
	var err error
	c.change, err = i.change("cardea.yaml")
	c.text = c.old
	return c, err
}

// private reports whether the file is the person's own.
func (c *configChange) private() bool { return c.scope == cardea.ScopeUser }

// changeSetting changes one key of a file.
func changeSetting(p Process, scope, key string, asJSON bool, change func(text string, name settings.Name) (string, error)) error {
	name, err := settings.FindName(key)
	if err != nil {
		return wrongUsage{err}
	}
	c, err := startChange(p, scope)
	if err != nil {
		return err
	}
	if c.text, err = change(c.old, name); err != nil {
		return fmt.Errorf("change %s in %s: %w", key, c.file, err)
	}
	refused := p.needsPerson()
	problems := c.problems()
	if len(problems) > 0 {
		out := configured{File: c.file, Settings: []configEntry{}, report: report{problems}}
		if refused == nil { // an agent may be forbidden to read the file
			out.Diff = c.diff()
		}
		return failIf(true, p.answer(asJSON, out, func(s *screen) {
			showDiagnostics(s, problems)
			s.printf("nothing was written\n")
		}))
	}
	if refused != nil {
		return refused
	}
	return c.finish(asJSON, &name)
}

// load returns the configuration that would be in force with the new text.
func (c *configChange) load() *inforce.Loaded {
	w := c.p.Whose(&c.pl)
	w.Drafts = map[string][]byte{c.file: []byte(c.text)}
	w.State = "" // check the text itself, not a last good form
	return inforce.Load(w)
}

// problems returns the problems of the new text that the old one does not have.
func (c *configChange) problems() []diagnostic.Diagnostic {
	of := func(l *inforce.Loaded) (out []diagnostic.Diagnostic) {
		for i := range l.SettingsFiles {
			if l.SettingsFiles[i].Path == c.file {
				out = append(out, l.SettingsFiles[i].Problems...)
			}
		}
		return out
	}
	old := of(c.before)
	return slices.DeleteFunc(of(c.load()), func(d diagnostic.Diagnostic) bool {
		return slices.ContainsFunc(old, func(o diagnostic.Diagnostic) bool { return o.Code == d.Code && o.Text == d.Text })
	})
}

func (c *configChange) diff() string {
	return string(diff.Diff(c.shown, []byte(c.old), c.shown, []byte(c.text)))
}

// finish writes the file if the person agrees, and shows what is then in force of a key.
func (c *configChange) finish(asJSON bool, name *settings.Name) error {
	out := configured{File: c.file, Diff: c.diff(), Settings: []configEntry{}, report: report{[]diagnostic.Diagnostic{}}}
	if c.text != c.old {
		show := func(s *screen) {
			s.printf("%s\n", c.file)
			showDiff(s, "  ", importedFile{Diff: out.Diff})
		}
		if err := c.write(show); err != nil {
			return err
		}
		out.Written = true
	}
	if name != nil {
		out.Settings = append(out.Settings, entryOf(inforce.Load(c.p.Whose(&c.pl)), *name))
	}
	return c.p.answer(asJSON, out, func(s *screen) {
		s.printf(either(out.Written, "wrote %s\n", "%s is so already, nothing was written\n"), c.file)
		for _, e := range out.Settings {
			e.show(s)
			s.printIf(out.Written && slices.Contains(atInstallation, e.Key), "next: run \"cardea install\" again for each harness; its hook is written by this setting\n")
		}
	})
}

// atInstallation lists the settings that determine the hook that "cardea install" writes:
// its time limit and its program.
var atInstallation = []string{"human.mode", "human.timeout", "judge.enabled", "daemon.start"}

// write writes the file if the person agrees. A change in a trusted project stays trusted.
func (c *configChange) write(show func(*screen)) error {
	before, err := surveyIf(c.p, c.scope == cardea.ScopeProject && c.before.Where.Trusted())
	if err != nil {
		return err
	}
	if err := c.p.byPerson("change "+c.file, show); err != nil {
		return err
	}
	remember := c.p.remembering(false)
	if err := c.change.write(c.private()); err != nil {
		return fmt.Errorf("write %s: %w", c.file, bare(err))
	}
	if before == nil {
		return remember()
	}
	return before.begin(c.p, screenOn(c.p.Stderr, c.p.Env), func(path, digest string) bool {
		return path == ".cardea/cardea.yaml" && digest == trust.Digest([]byte(c.text))
	})
}

// draftName is the name of the edited copy, in the folder of the file.
const draftName = ".draft-cardea.yaml"

// editSettings lets the person edit a copy of a file until it has no mistakes.
func editSettings(p Process, scope string, asJSON bool) error {
	c, err := startChange(p, scope)
	if err == nil {
		err = p.needsPerson()
	}
	if err != nil {
		return err
	}
	draft := filepath.Join(filepath.Dir(c.path), draftName)
	if project := filepath.Dir(c.path); !c.private() {
		if err := os.MkdirAll(project, 0o755); err != nil {
			return err
		}
	}
	screen := screenOn(p.Stderr, p.Env)
	switch _, err := readSmall(draft); {
	case err == nil:
		screen.printf("you go on with %s\n", draft)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("read %s: %w; mend or remove it", draft, err)
	default:
		begin := either(c.fresh, settingsTemplate(scope == "user"), c.old)
		if err := state.Write(draft, []byte(begin)); err != nil {
			return fmt.Errorf("make a copy of %s: %w", c.file, bare(err))
		}
	}
	for again := true; again; {
		if again, err = c.editOnce(screen, draft); err != nil {
			return err
		}
	}
	if err := c.finish(asJSON, nil); err != nil {
		return fmt.Errorf("%w; your text is kept in %s", err, draft)
	}
	return os.Remove(draft)
}

// editOnce lets the person edit the copy. again is true if they want to continue.
func (c *configChange) editOnce(s *screen, draft string) (again bool, err error) {
	if c.p.Edit == nil {
		return false, errors.New("there is no editor here")
	}
	if err := c.p.Edit(draft); err != nil {
		return false, fmt.Errorf("edit %s: %w; set EDITOR to your editor", draft, err)
	}
	data, err := readSmall(draft)
	if err != nil {
		return false, fmt.Errorf("read %s: %w", draft, err)
	}
	c.text = string(data)
	mistakes := slices.DeleteFunc(c.problems(), func(d diagnostic.Diagnostic) bool {
		return d.Severity != diagnostic.LevelError && d.Code != diagnostic.CodeWrongScope
	})
	if len(mistakes) == 0 {
		return false, nil
	}
	showDiagnostics(s, mistakes)
	s.printf("\ntype e and Enter to go on editing, or Enter alone to stop: ")
	if s.err != nil {
		return false, s.err
	}
	if answer, err := person.ReadLine(c.p.Stdin, 256); err != nil || strings.TrimSpace(answer) != "e" {
		return false, errors.Join(err, fmt.Errorf("%s stays as it is; your text is kept in %s, and \"cardea config edit\" goes on with it", c.file, draft))
	}
	return true, nil
}

// editor opens a file in the person's editor, which may be a program with arguments.
func editor(path string) error {
	line := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"))
	c := exec.Command("sh", "-c", cmp.Or(line, "vi")+` "$1"`, "editor", path)
	if runtime.GOOS == "windows" {
		c = exec.Command(cmp.Or(line, "notepad"), path)
	}
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stderr, os.Stderr
	return c.Run()
}
