package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/config/trust"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/hook"
)

// policyFmtCommand returns the command "policy fmt".
func policyFmtCommand(p Process) *cobra.Command {
	f := formatting{written: map[string]string{}}
	c := &cobra.Command{
		Use:   "fmt [--check] [--list] [--diff] [path ...]",
		Short: "format policies",
		Long: `Write the policies of the given files and folders, or your own and the project's,
as OPA's formatter does. Files keep their mode. A file that does not parse is left
as it is.

With --check, --list or --diff nothing is written.

What a person formats in a project that is trusted stays trusted.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, paths []string) error { return f.run(p, paths) },
	}
	c.Flags().BoolVar(&f.check, "check", false, "say which files are not formatted")
	c.Flags().BoolVar(&f.list, "list", false, "print the names of files that are not formatted, and nothing else")
	c.Flags().BoolVar(&f.diff, "diff", false, "show what would change")
	return c
}

// formatting is one run of "cardea policy fmt".
type formatting struct {
	check, list, diff bool
	// files is the number of files, differ the number of those that are not formatted.
	files, differ int
	// found holds the reasons why files could not be formatted.
	found []diagnostic.Diagnostic
	// written maps the path of each written file to its new digest.
	written map[string]string
}

// writes reports whether files are written.
func (f *formatting) writes() bool { return !f.check && !f.list && !f.diff }

// run formats the named policies, or the person's and the project's.
func (f *formatting) run(p Process, paths []string) error {
	folders, loaded, err := policyFolders(p, paths)
	if err != nil {
		return err
	}
	if loaded != nil { // not those of the machine, the organisation and Cardea
		folders = slices.DeleteFunc(folders, func(f policy.Folder) bool { return f.Scope != cardea.ScopeUser && f.Scope != cardea.ScopeProject })
	}
	var before *survey
	if f.writes() && p.attended() && p.Dir != "" {
		before, _ = surveyHere(p) // without a state folder nothing was trusted
	}
	s := screenOn(p.Stdout, p.Env)
	for _, folder := range folders {
		if err := f.folder(p, s, folder); err != nil {
			return err
		}
	}
	if before != nil {
		if err := f.remember(p, before); err != nil {
			return err
		}
	}
	if f.list {
		showDiagnostics(screenOn(p.Stderr, p.Env), f.found)
	} else {
		showDiagnostics(s, f.found)
		f.sum(s)
	}
	return failIf(len(f.found) > 0 || f.differ > 0 && !f.writes(), s.err)
}

// folder formats the files of a folder. It fails only if the engine fails.
func (f *formatting) folder(p Process, s *screen, folder policy.Folder) error {
	src, problems := folder.Sources()
	src.Engine = p.Engines.Own
	changed, files, broken, err := src.Format(context.Background())
	if err != nil {
		return err
	}
	f.files, f.differ = f.files+files, f.differ+len(changed)
	f.found = append(f.found, slices.DeleteFunc(append(problems, broken...), func(d diagnostic.Diagnostic) bool { return d.Severity == diagnostic.LevelNote })...)
	for _, path := range src.Paths {
		text, unlike := changed[path]
		switch {
		case !unlike:
		case !f.writes():
			f.show(s, path, src.Texts[path], text)
		default:
			if err := f.write(s, path, src.Texts[path], text); err != nil {
				f.found = append(f.found, diagnostic.Diagnostic{File: path, Code: diagnostic.CodeUnreadable, Text: "it was not written: " + bare(err).Error()})
			}
		}
	}
	return nil
}

// sum writes the number of files, and how many were or are not formatted.
func (f *formatting) sum(s *screen) {
	if f.check || f.diff {
		s.printf("%s, %d not formatted\n", count(f.files, "file"), f.differ)
		return
	}
	s.printf("%s, %d changed\n", count(f.files, "file"), len(f.written))
}

// show reports that a file is not formatted, in the requested way.
func (f *formatting) show(s *screen, path, old, text string) {
	switch {
	case f.list:
		s.printf("%s\n", path)
	case f.check:
		s.printf("%s: not formatted\n", path)
	}
	if !f.diff {
		return
	}
	_, lines, _ := strings.Cut(string(diff.Diff(path, []byte(old), path, []byte(text))), "\n")
	for line := range strings.Lines(lines) {
		s.code("", strings.TrimSuffix(line, "\n"))
	}
}

// write writes a file. It follows links.
func (f *formatting) write(s *screen, path, old, text string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	if err := rewrite(real, old, text); err != nil {
		return err
	}
	f.written[real] = trust.Digest([]byte(text))
	s.printf("formatted %s\n", path)
	return nil
}

// The reasons why a file is not written.
var (
	errMeanwhile = errors.New("it changed meanwhile; run the command again")
	errReadOnly  = errors.New("it is write-protected")
)

// rewrite replaces the text of a file and keeps its mode. It fails if the text is not old.
func rewrite(path, old, text string) error {
	now, err := readSmall(path)
	if err != nil {
		return err
	}
	switch info, err := os.Stat(path); {
	case err != nil:
		return err
	case string(now) != old:
		return errMeanwhile
	case info.Mode().Perm()&0o200 == 0:
		return errReadOnly
	default:
		return state.Replace(path, []byte(text), func(f *os.File) error { return f.Chmod(info.Mode().Perm()) })
	}
}

// remember keeps trusted files trusted, since the person formatted them.
func (f *formatting) remember(p Process, before *survey) error {
	inside := map[string]string{}
	for path, digest := range f.written {
		if name := hook.InProject(before.project, path); filepath.IsLocal(name) {
			inside[name] = digest
		}
	}
	if len(inside) == 0 || before.accepted == nil || !before.same() {
		return nil
	}
	return before.begin(p, screenOn(p.Stderr, p.Env), func(path, digest string) bool { return inside[path] == digest })
}
