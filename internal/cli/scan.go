package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/command/scan"
	"github.com/spf13/cobra"
)

// scanFormats are the output formats of "cardea scan".
var scanFormats = []string{"text", "json", "github"}

type scanFlags struct {
	staged bool
	format string
}

// scanCommand returns the command "scan".
func scanCommand(p Process) *cobra.Command {
	var f scanFlags
	c := withJSON(&cobra.Command{
		Use:   "scan [--staged] [path...]",
		Short: "find secrets in files, or in what git is about to commit",
		Long: `Find secrets before they get into git. A secret is never shown, only its place,
its kind and its length. See docs/scan.md.

Without a path, the folder .cardea of the project is searched. With --staged,
it is what the next commit of git would add or change, as it is staged.

If something is no secret, write the comment "` + scan.AllowMark + `" on its line or on
the line before.`,
		Example: `  cardea scan
  cardea scan --staged
  cardea scan src testdata/config.yaml
  cardea scan --format github .`,
	}, func(args []string, asJSON bool) error {
		if asJSON {
			f.format = "json"
		}
		return scanFor(p, f, args)
	})
	fs := inOrder(c)
	fs.BoolVar(&f.staged, "staged", false, "what is staged in git, instead of files")
	fs.StringVar(&f.format, "format", "text", "the form of the answer: "+strings.Join(scanFormats, ", "))
	return c
}

// scanFor searches the paths, or the staged changes, and shows the findings.
func scanFor(p Process, f scanFlags, paths []string) error {
	if !slices.Contains(scanFormats, f.format) {
		return wrongUsage{fmt.Errorf("there is no format %q: use %s", f.format, strings.Join(scanFormats, ", "))}
	}
	if p.Dir == "" {
		return errNoFolder
	}
	ctx, r := context.Background(), redact.New()
	var found scan.Result
	var err error
	if f.staged {
		found, err = scan.Staged(ctx, r, p.Dir, os.Environ(), paths)
	} else {
		if len(paths) == 0 {
			paths = p.scannedFolder()
		}
		found, err = scan.Files(ctx, r, p.Dir, paths)
	}
	if err != nil {
		return errors.New(r.Show(err.Error()))
	}
	a := scanAnswer(f, found, r.Show)
	show := map[string]func(*screen){"github": a.github, "text": a.show}[f.format]
	return failIf(!found.Clean(), p.answer(f.format == "json", a, show))
}

// scannedFolder returns the folder that is searched if no path is named, nil if it is missing.
func (p Process) scannedFolder() []string {
	pl := locate(p, "", "", p.Dir)
	dir := filepath.Join(pl.Project, ".cardea")
	if pl.Project == "" || !state.Exists(dir) {
		p.warn("there is no folder .cardea here; name files or folders, or use --staged")
		return nil
	}
	if pl.Project == p.Dir {
		dir = ".cardea"
	}
	return []string{dir}
}

// scanned is the JSON of a search.
type scanned struct {
	Clean      bool            `json:"clean"`
	Staged     bool            `json:"staged"`
	Files      int             `json:"files"`
	Bytes      int64           `json:"bytes"`
	Binary     int             `json:"binary"`
	Links      int             `json:"links"`
	Submodules int             `json:"submodules"`
	Allowed    int             `json:"allowed"`
	Findings   []scanFinding   `json:"findings"`
	Unsearched []unsearchedGap `json:"unsearched"`
}

type scanFinding struct {
	File       string `json:"file"`
	Line       int    `json:"line"`
	Column     int    `json:"column"`
	Kind       string `json:"kind"`
	Characters int    `json:"characters"`
}

type unsearchedGap struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// scanAnswer returns the JSON of a search. It redacts secrets in names of files.
func scanAnswer(f scanFlags, r scan.Result, show func(string) string) scanned {
	return scanned{Clean: r.Clean(), Staged: f.staged, Files: r.Files, Bytes: r.Bytes, Binary: r.Binary, Links: r.Links, Submodules: r.Submodules,
		Allowed: r.Allowed,
		Findings: listOf(r.Findings, func(x scan.Finding) scanFinding {
			return scanFinding{show(x.File), x.Line, x.Column, x.Kind, x.Characters}
		}),
		Unsearched: listOf(r.Gaps, func(g scan.Gap) unsearchedGap { return unsearchedGap{show(g.File), show(g.Why)} })}
}

func (f scanFinding) text() string {
	return fmt.Sprintf("a secret: %s, %s%s", f.Kind, count(f.Characters, "character"), onlyIf(f.Line == 0, ", in the name of the file"))
}

// show writes the findings for people.
func (a scanned) show(s *screen) {
	for _, f := range a.Findings {
		place := either(f.Line > 0, fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column), f.File)
		s.printf("%s: %s: %s\n", place, painted{red, "error"}, f.text())
	}
	for _, g := range a.Unsearched {
		s.printf("%s: %s: not searched: %s\n", g.File, painted{red, "error"}, g.Why)
	}
	a.sum(s)
	if len(a.Findings) > 0 {
		what := "take them out of the files" + onlyIf(a.Staged, " and stage the files again")
		s.printf("%s; if one is no secret, write the comment %s on its line or on the line before\n", what, scan.AllowMark)
	}
}

// sum writes how much was searched, and what was not.
func (a scanned) sum(s *screen) {
	text := fmt.Sprintf("%s in %s", count(len(a.Findings), "secret"), count(a.Files, onlyIf(a.Staged, "staged ")+"file"))
	for _, x := range []struct {
		n    int
		word string
		tail string
	}{{len(a.Unsearched), "file", " not searched"}, {a.Allowed, "finding", " allowed by a comment"}, {a.Binary, "file", " searched as binary"},
		{a.Links, "link", " not followed"}, {a.Submodules, "submodule", " not searched"}} {
		if x.n > 0 {
			text += ", " + count(x.n, x.word) + x.tail
		}
	}
	s.printf("%s\n", text)
}

// github writes findings as commands that GitHub's runner shows next to the lines (workflow
// commands for GitHub Actions, "Setting an error message").
func (a scanned) github(s *screen) {
	for _, f := range a.Findings {
		s.printf("%s\n", fmt.Sprintf("::error file=%s,line=%d,col=%d,title=secret::%s", githubValue(f.File), max(f.Line, 1), max(f.Column, 1), githubText(f.text())))
	}
	for _, g := range a.Unsearched {
		s.printf("%s\n", fmt.Sprintf("::error file=%s,title=not searched::%s", githubValue(g.File), githubText(g.Why)))
	}
	a.sum(s)
}
