package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/document/yamledit"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/person"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/scan"
	"github.com/rogpeppe/go-internal/diff"
)

// scanLine is the command that a git hook runs before a commit.
const scanLine = "cardea scan --staged"

// hookScript is the text of a new hook.
const hookScript = "#!/bin/sh\n# Cardea looks for secrets in what is about to be committed.\n" + scanLine + " || exit 1\n"

// commitHook is a file by which a repository runs a program before each commit.
type commitHook struct {
	change
	// repo is the repository that the file must be in.
	repo scan.Repository
	// add is the text for the person to add to the file, if Cardea cannot do it; why is the
	// reason.
	add, why string
}

// hookFile is a file of a hook manager, with the text to add and the function that adds it.
type hookFile struct {
	names []string
	add   string
	edit  func(text string) (string, yamledit.Result, error)
}

// hookFiles returns the supported files of hook managers.
func hookFiles() []hookFile {
	const lefthook, local = "{run: " + scanLine + "}",
		"{repo: local, hooks: [{id: cardea-scan, name: secrets, entry: " + scanLine + ", language: system, always_run: true, pass_filenames: false}]}"
	return []hookFile{
		{[]string{"lefthook.yml", ".lefthook.yml", "lefthook.yaml", ".lefthook.yaml"}, "pre-commit:\n  commands:\n    cardea-scan: " + lefthook + "\n",
			func(text string) (string, yamledit.Result, error) {
				return yamledit.Set(text, []string{"pre-commit", "commands", "cardea-scan"}, lefthook)
			}},
		{[]string{".pre-commit-config.yaml"}, "repos:\n  - " + local + "\n",
			func(text string) (string, yamledit.Result, error) {
				return yamledit.Append(text, []string{"repos"}, []string{local})
			}},
	}
}

// offerCommitHook offers a person at a terminal to search each commit for secrets. It asks
// only in a git repository whose commits are not searched yet.
func offerCommitHook(p Process, project string, out *screen) error {
	if !p.attended() {
		return nil
	}
	repo, err := scan.Find(context.Background(), project, os.Environ())
	if err != nil {
		return nil // no repository
	}
	h := findHook(repo)
	if h == nil {
		return nil
	}
	if h.why != "" {
		out.printf("no commit is searched for secrets: %s; to have it done, add to %s:\n", h.why, h.path)
		out.block("  ", h.add)
		return out.err
	}
	err = p.byPerson("write "+h.path, func(out *screen) {
		out.printf("\nCardea can look for secrets before each commit of git. To go on without, press Enter alone.\n%s\n", h.path)
		showDiff(out, "  ", importedFile{Diff: string(diff.Diff(h.path, []byte(h.old), h.path, []byte(h.text)))})
	})
	if errors.Is(err, person.ErrDeclined) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := h.write(false); err != nil {
		return fmt.Errorf("write %s: %w", h.path, err)
	}
	out.printf("wrote %s\n", h.path)
	return out.err
}

// findHook returns the file to change, or nil if commits are already searched.
func findHook(repo scan.Repository) *commitHook {
	for _, f := range hookFiles() {
		for _, name := range f.names {
			h := &commitHook{change: change{path: filepath.Join(repo.Root, name)}, repo: repo, add: f.add}
			if !state.Exists(h.path) {
				continue
			}
			if h.read(); h.why != "" || strings.Contains(h.old, scanLine) {
				return h.orNil()
			}
			text, result, err := f.edit(h.old)
			if h.text = text; err != nil || result != yamledit.Added {
				h.why = "nothing can be added to " + name
			}
			return h
		}
	}
	h := &commitHook{change: change{path: filepath.Join(repo.Hooks, "pre-commit"), mode: 0o755}, repo: repo, add: scanLine + " || exit 1"}
	if filepath.Base(repo.Hooks) == "_" && filepath.Base(filepath.Dir(repo.Hooks)) == ".husky" {
		h.path = filepath.Join(filepath.Dir(repo.Hooks), "pre-commit") // husky generates the files in the folder _
	}
	if h.read(); h.fresh && h.why == "" {
		h.text = hookScript
	}
	if !h.fresh && h.why == "" {
		h.insert()
	}
	return h.orNil()
}

// orNil returns nil for a hook that already searches.
func (h *commitHook) orNil() *commitHook {
	if strings.Contains(h.old, scanLine) {
		return nil
	}
	return h
}

// read reads the current file. It sets why for a link out of the repository, and for a
// hooks folder of all repositories.
func (h *commitHook) read() {
	real := paths.Real(h.path)
	if !paths.WithinAny([]string{paths.Real(h.repo.Root), paths.Real(h.repo.Common)}, real) {
		h.why = h.path + " is not in this repository"
		return
	}
	h.path = real
	data, err := state.Read(real, document.MaxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		h.fresh = true
	case err != nil:
		h.why = err.Error()
	default:
		h.old = string(data)
	}
}

// insert adds the search at the start of an existing hook, so that nothing in the hook can
// skip it.
func (h *commitHook) insert() {
	first, rest, ok := strings.Cut(h.old, "\n")
	shell := strings.HasPrefix(first, "#!") && strings.HasSuffix(strings.TrimRight(first, " \r"), "sh") && !strings.Contains(first, "fish")
	husky := filepath.Base(filepath.Dir(h.path)) == ".husky" // sh runs it, even without a #! line
	info, err := os.Stat(h.path)
	switch {
	case husky && !strings.HasPrefix(first, "#!"):
		h.text = scanLine + " || exit 1\n" + h.old
	case !shell || !ok || strings.HasSuffix(first, "\r"):
		h.why = "the hook that is there is no script of sh or bash"
	case err != nil || !husky && info.Mode().Perm()&0o111 == 0:
		h.why = "the hook that is there is not executable, so git does not run it"
	default:
		h.text = first + "\n" + scanLine + " || exit 1\n" + rest
	}
}
