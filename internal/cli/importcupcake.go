package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/decide/policy/engine"
	"cardea.dev/internal/importer"
	"cardea.dev/internal/paths"
	"cardea.dev/internal/project"
	"cardea.dev/internal/state"
	"github.com/spf13/cobra"
)

func importCupcakeCommand(p Process) *cobra.Command {
	var dry, user bool
	c := importLeaf(p, &cobra.Command{
		Use:   "cupcake [folder] [--user] [--dry-run] [--json]",
		Short: "import the policies, signals and actions of Cupcake",
		Long: `Import a .cupcake folder, by default the one in the current folder.

Policies for Claude Code are copied without changes to policies/cupcake in the
project's folder of settings, or with --user in your own. Scripts of signals and
actions are copied too. The content of rulebook.yml is shown as settings; copy
them to cardea.yaml. Whatever cannot be imported is reported. No file is
overwritten. Writing needs a person at a terminal, who types a code.`,
	}, func(args []string) (imported, error) { return importCupcake(p, args, user, dry) })
	c.Flags().BoolVar(&user, "user", false, "for all projects, not only this one")
	c.Flags().BoolVar(&dry, "dry-run", false, "show what would be done, and write nothing")
	return c
}

func importCupcake(p Process, args []string, user, dry bool) (imported, error) {
	from := ".cupcake"
	if len(args) > 0 {
		from = args[0]
	}
	from = within(p.Dir, from)
	if info, err := os.Stat(from); err != nil || !info.IsDir() {
		return imported{}, fmt.Errorf("there is no folder %s; name the .cupcake folder", from)
	}
	if len(args) == 0 && !paths.Within(paths.Real(p.Dir), paths.Real(from)) {
		return imported{}, fmt.Errorf("%s is a link to %s, outside of the project; name that folder, if it is meant", from, paths.Real(from))
	}
	to, err := scopeFolder(p, user)
	if err != nil {
		return imported{}, err
	}
	if !dry {
		if err := p.byPerson("to copy what is in "+from+" to "+to, func(*screen) {}); err != nil {
			return imported{}, err
		}
	}
	m := move{engine: p.Engines.Own, from: from, to: to, done: imported{Dry: dry, SettingsFile: filepath.Join(to, "cardea.yaml")}}
	if !user {
		m.inside = paths.Real(filepath.Dir(to))
	}
	for _, step := range []func() error{
		func() error { return m.policies("policies") },
		func() error { return m.policies("helpers") },
		m.others,
		func() error { return m.scripts("signals") },
		func() error { return m.scripts("actions") },
		m.rulebook,
	} {
		if err := step(); err != nil {
			return m.done, err
		}
	}
	if user && !dry {
		var files []string
		for _, f := range m.done.Files {
			files = append(files, f.Path)
		}
		if err := rememberWritten(locate(p, "", "", p.Dir).state, files...); err != nil {
			return m.done, err
		}
	}
	m.done.next = count(len(m.done.Files), "file") + "; next: run \"cardea policy validate\" and \"cardea policy inspect\""
	if !user {
		m.done.next += "\nin a project that you do not trust, signals and actions do not run, and nothing is allowed; look at it with \"cardea trust\""
	}
	return m.done, nil
}

// move copies a .cupcake folder.
type move struct {
	engine   engine.Engine
	from, to string
	// inside is the folder that copies must not leave by a link, "" for none: a
	// project could bring one to the person's own settings.
	inside string
	done   imported
}

// leave notes a file that is left out.
func (m *move) leave(path, why string) {
	m.done.Diagnostics = append(m.done.Diagnostics, cardea.Diagnostic{Severity: cardea.LevelWarning, File: path, Code: cardea.CodeNotConverted, Text: "left out: " + why})
}

// others tells what lies in the folder and is not taken over.
func (m *move) others() error {
	entries, err := state.Entries(m.from, project.MaxEntries)
	if err != nil {
		return fmt.Errorf("read %s: %w", m.from, bare(err))
	}
	for _, e := range entries {
		switch e.Name() {
		case "policies", "helpers", "signals", "actions", "rulebook.yml", "rulebook.yaml":
		case "system":
			m.leave(filepath.Join(m.from, e.Name()), "Cardea gathers the verbs by itself")
		default:
			m.leave(filepath.Join(m.from, e.Name()), "it is not known what it is for")
		}
	}
	return nil
}

// policies copies those of Claude Code, and those of no harness; helpers are
// libraries.
func (m *move) policies(folder string) error {
	root := filepath.Join(m.from, folder)
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return fmt.Errorf("read policies: %w", err)
		}
		rel, _ := filepath.Rel(root, path)
		if d.IsDir() {
			if name := filepath.ToSlash(rel); name == "cursor" || name == "opencode" || name == "factory" || name == "copilot" {
				m.leave(path, "policies are written once here, for every harness; those of the claude folder count")
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".rego") {
			return nil
		}
		data, err := m.read(path)
		if data == nil {
			return err
		}
		all, err := m.engine.Parse(context.Background(), []engine.Source{{Path: path, Text: string(data)}})
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		parsed := all[0]
		switch {
		case len(parsed.Problems) > 0:
			m.leave(path, "it is broken: "+parsed.Problems.Error())
			return nil
		case parsed.Facts.Package == engine.SystemPackage:
			m.leave(path, "Cardea gathers the verbs by itself")
			return nil
		case strings.Contains(parsed.Facts.Package, ".builtins."):
			m.leave(path, "it is one of Cupcake's own; see what is said about builtins")
			return nil
		}
		rel = strings.TrimPrefix(filepath.ToSlash(rel), "claude/")
		if folder != "policies" {
			rel = filepath.Join(folder, rel)
		}
		return m.copy(path, data, filepath.Join("policies", "cupcake", rel), 0o644)
	})
}

// scripts copies those of a folder.
func (m *move) scripts(name string) error {
	entries, err := state.Entries(filepath.Join(m.from, name), project.MaxEntries)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", name, bare(err))
	}
	for _, e := range entries {
		path := filepath.Join(m.from, name, e.Name())
		if e.IsDir() {
			continue
		}
		data, err := m.read(path)
		if err != nil {
			return err
		}
		if data == nil {
			continue
		}
		if name == "actions" {
			m.done.Diagnostics = append(m.done.Diagnostics, cardea.Diagnostic{Severity: cardea.LevelNote, File: path, Code: cardea.CodeNoEffect,
				Text: "it is named by nothing", Hint: "put it under actions in cardea.yaml"})
		}
		if err := m.copy(path, data, filepath.Join(name, e.Name()), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// read reads a file of the folder. It gives nothing for a link out of it, which
// is told.
func (m *move) read(path string) ([]byte, error) {
	if !paths.Within(paths.Real(m.from), paths.Real(path)) {
		m.leave(path, "it is a link out of the folder")
		return nil, nil
	}
	data, err := readSmall(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return append([]byte{}, data...), nil
}

// copy writes a file that is not there.
func (m *move) copy(from string, data []byte, rel string, mode fs.FileMode) error {
	path := filepath.Join(m.to, rel)
	if _, err := os.Lstat(path); err == nil {
		m.leave(from, path+" is there already")
		return nil
	}
	if real := paths.Real(filepath.Dir(path)); m.inside != "" && !paths.Within(m.inside, real) {
		return fmt.Errorf("copy %s: %s leads to %s, out of the project; remove the link, or use --user where every project is meant", from, filepath.Dir(path), real)
	}
	if m.done.Dry {
		m.done.Files = append(m.done.Files, importedFile{From: from, Path: path})
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	m.done.Files = append(m.done.Files, importedFile{From: from, Path: path})
	return nil
}

// rulebook takes over what is in the settings.
func (m *move) rulebook() error {
	for _, name := range []string{"rulebook.yml", "rulebook.yaml"} {
		path := filepath.Join(m.from, name)
		data, err := readSmall(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		got := importer.Cupcake(path, data)
		m.done.Diagnostics = append(m.done.Diagnostics, got.Notes...)
		for _, l := range got.Settings {
			m.done.Settings = append(m.done.Settings, m.moved(l))
		}
		return nil
	}
	return nil
}

// moved is a line of settings with the scripts where they are now.
func (m *move) moved(line string) string {
	for _, name := range []string{"signals", "actions"} {
		to := m.to
		if filepath.Base(to) == ".cardea" {
			to = ".cardea" // commands run in the project's folder
		}
		line = strings.ReplaceAll(line, ".cupcake/"+name+"/", filepath.ToSlash(filepath.Join(to, name))+"/")
	}
	return line
}
