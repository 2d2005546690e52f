package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/person"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/config/trust"
	"github.com/spf13/cobra"
)

// firstFile is a file that init creates, by path in the scope's folder.
type firstFile struct{ path, text string }

// firstFiles returns the files of a scope. Those that can contain settings and rules come
// first.
func firstFiles(user bool) []firstFile {
	files := []firstFile{{"cardea.yaml", settingsTemplate(user)}, {"rules/example.yaml", template("rules.yaml")}}
	if !user {
		files = append(files, firstFile{".gitignore", project.IgnoreFile},
			firstFile{".gitattributes", inforce.LessonAttributes})
	}
	return files
}

// isFirst reports whether a project file has the path of a file of init and, if digest is
// not "", also its content.
func isFirst(path, digest string) bool {
	return slices.ContainsFunc(firstFiles(false), func(f firstFile) bool {
		return path == ".cardea/"+f.path && (digest == "" || digest == trust.Digest([]byte(f.text)))
	})
}

// initCommand returns the command "init".
func initCommand(p Process) *cobra.Command {
	var user bool
	c := &cobra.Command{
		Use:   "init [--user]",
		Short: "create a folder with settings and rules",
		Long: `Create .cardea/ in the project, or with --user the folder of your own settings.

init overwrites nothing. All settings that it writes are commented out, so
nothing changes until you edit them.

A project that you begin so is yours: it is trusted from then on. If it has files
of Cardea or of a harness already, init shows them first and asks for a code, as
"cardea trust" does. Without a person at a terminal nothing is trusted.

In a repository of git, init then offers to search each commit for secrets, with
a hook of git, of lefthook or of pre-commit: see docs/scan.md.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return initScope(p, user) },
	}
	c.Flags().BoolVar(&user, "user", false, "create your own folder, which counts in every project")
	return c
}

// initScope writes the files of a scope that do not exist yet.
func initScope(p Process, user bool) error {
	dir, err := scopeFolder(p, user)
	if err != nil {
		return err
	}
	if why := p.foreignHome(harnessPathsOf(p).Place.Dirs.Home); why != "" {
		p.warn(why)
	}
	before, err := surveyIf(p, !user && p.attended())
	if err != nil {
		return err
	}
	out := screenOn(p.Stdout, p.Env)
	example := ""
	for _, f := range firstFiles(user) {
		path := filepath.Join(dir, filepath.FromSlash(f.path))
		written, err := begin(path, f.text, user)
		switch {
		case err != nil:
			return fmt.Errorf("begin %s: %w; nothing was overwritten, mend this and run init again", path, err)
		case written:
			out.printf("wrote %s\n", path)
			if strings.HasSuffix(f.path, "/example.yaml") {
				example = path
			}
		default:
			out.printf("kept  %s\n", path)
		}
	}
	if before != nil {
		if err := before.begin(p, out, isFirst); err != nil {
			return err
		}
		if err := offerCommitHook(p, filepath.Dir(dir), out); err != nil {
			return err
		}
	}
	out.printIf(example != "", "next: %s holds a rule as a comment: delete the # in front of its lines, and change it\n", example)
	out.printf("to check: \"cardea rules lint\" finds mistakes, and \"cardea rules test\" runs the rule's own tests\n")
	out.printIf(!user, "then: \"cardea trust\" accepts your changes with a code\n")
	return out.err
}

// surveyIf returns the survey of the project, or nil if it is not needed.
func surveyIf(p Process, needed bool) (*survey, error) {
	if !needed {
		return nil, nil
	}
	return surveyHere(p)
}

// begin trusts a project that the person just began. It asks nothing if the project was
// empty before or only had accepted files. s is the survey from before, and mine reports
// whether Cardea wrote a file for the person.
func (s *survey) begin(p Process, out *screen, mine func(path, digest string) bool) error {
	now, err := surveyHere(p)
	if err != nil {
		return err
	}
	if len(s.lessons) == 0 {
		now.lessons = nil // lessons that an import added wait for a later review
	}
	switch {
	case now.same():
		return nil
	case now.acceptable(redact.New()) != nil:
		out.printf("not trusted: a file is broken, see \"cardea trust\"\n")
		return nil
	case len(now.lessons) == 0 && (s.accepted != nil && s.same() || s.accepted == nil && s.empty()):
		// Other files that appeared since the first survey are not the person's.
		for path, digest := range now.digests {
			if old, known := s.digests[path]; (!known || old != digest) && !mine(path, digest) {
				out.printf("not trusted: %s changed meanwhile, see \"cardea trust\"\n", path)
				return nil
			}
		}
		out.printf("trusted %s\n", now.project)
		return now.save(p)
	}
	if err := now.accept(p, out); !errors.Is(err, person.ErrDeclined) {
		return err
	}
	out.printf("not trusted: its rules can only deny and ask, and the model is told only their names\n")
	return nil
}

// empty reports whether the project contains no file of a harness, and no file of Cardea
// except ones with only comments.
func (s *survey) empty() bool {
	for path := range s.digests {
		if !isFirst(path, "") {
			return false
		}
	}
	says := slices.ContainsFunc(s.then.SettingsFiles, func(f settings.File) bool { return f.Scope == cardea.ScopeProject && !f.IsEmpty() })
	return !says && len(s.rules()) == 0 && len(s.broken()) == 0
}

// scopeFolder returns the folder of the user's own settings, or of the project's.
func scopeFolder(p Process, user bool) (string, error) {
	pl := locate(p, "", "", p.Dir)
	project, home, dirs := pl.Project, pl.Dirs.Home, pl.Dirs
	p.tell(pl.Issues)
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

// begin writes a file unless it exists, and reports whether it did.
func begin(path, text string, private bool) (bool, error) {
	folder, mode := modesOf(private)
	if err := os.MkdirAll(filepath.Dir(path), folder); err != nil {
		return false, err
	}
	err := create(path, text, mode)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return true, err
}

// modesOf returns the modes for a new folder and a new file.
func modesOf(private bool) (folder, file fs.FileMode) {
	if private {
		return 0o700, 0o600
	}
	return 0o755, 0o644
}

// create writes a new file. It fails if the file exists.
func create(path, text string, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
