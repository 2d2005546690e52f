// Package permissionfiles finds the permission lists of the harnesses other than Claude Code.
//
// Sources: the documentation of Codex CLI, Gemini CLI, OpenCode, Amp, Qwen Code and Augment
// (docs/harnesses.md#hooks-of-one-harness-in-another). Copilot CLI, Cursor, Droid, Kiro, Cline and
// Crush document their hooks, but none of them documents the form of its list well enough.
package permissionfiles

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/harness/permissionlist"
)

// maxFiles is the largest number of files of a folder to read, maxEntries the largest number of its
// entries.
const (
	maxFiles   = 64
	maxEntries = 4096
)

// Of returns the sources of the lists of a person with this home folder, of the machine, and of the
// project in which the session began in start. "" leaves a source out. absent caches missing
// folders.
func Of(home, start, project, goos string, absent *state.Absent) []permissionlist.Source {
	f := finder{absent: absent, out: make([]permissionlist.Source, 0, 32)}
	f.machine(goos)
	if home != "" {
		f.person(home)
	}
	for _, dir := range folders(start, project) {
		f.project(dir)
	}
	return f.out
}

// In returns the sources of the lists in one folder of a project.
func In(dir string, absent *state.Absent) []permissionlist.Source {
	f := finder{absent: absent}
	f.project(dir)
	return f.out
}

func folders(start, project string) []string {
	switch {
	case start == "":
		return nil
	case project == "" || project == start:
		return []string{start}
	}
	return []string{start, project}
}

type finder struct {
	out    []permissionlist.Source
	absent *state.Absent
}

// machine adds the lists of the machine, whose folders depend on the platform.
func (f *finder) machine(goos string) {
	etc, library, data := "/etc", "/Library/Application Support", `C:\ProgramData`
	at := func(unix, mac, win string) string {
		switch goos {
		case "darwin":
			return filepath.Join(library, mac)
		case "windows":
			return filepath.Join(data, win)
		}
		return filepath.Join(etc, unix)
	}
	system := func(name, file string, format permissionlist.Format) {
		f.add(name, file, "", cardea.ScopeSystem, format)
	}
	system("qwen-code", filepath.Join(at("qwen-code", "QwenCode", "qwen-code"), "settings.json"), permissionlist.ClaudeSettings)
	system("opencode", filepath.Join(at("opencode", "opencode", "opencode"), "opencode.json"), permissionlist.OpenCodeConfig)
	system("augment", filepath.Join(at("augment", "augment", "Augment"), "settings.json"), permissionlist.AugmentSettings)
	for _, file := range f.inFolder(filepath.Join(at("gemini-cli", "GeminiCli", "gemini-cli"), "policies"), ".toml") {
		system("gemini-cli", file, permissionlist.GeminiPolicy)
	}
}

// person adds the lists in a home folder.
func (f *finder) person(home string) {
	own := func(name, file string, format permissionlist.Format) {
		f.add(name, filepath.Join(home, filepath.FromSlash(file)), "", cardea.ScopeUser, format)
	}
	own("qwen-code", ".qwen/settings.json", permissionlist.ClaudeSettings)
	own("opencode", ".config/opencode/opencode.json", permissionlist.OpenCodeConfig)
	own("opencode", ".config/opencode/opencode.jsonc", permissionlist.OpenCodeConfig)
	own("amp", ".config/amp/settings.json", permissionlist.AmpSettings)
	own("augment", ".augment/settings.json", permissionlist.AugmentSettings)
	for _, file := range f.inFolder(filepath.Join(home, ".codex", "rules"), ".rules") {
		f.add("codex", file, "", cardea.ScopeUser, permissionlist.CodexRules)
	}
	for _, file := range f.inFolder(filepath.Join(home, ".gemini", "policies"), ".toml") {
		f.add("gemini-cli", file, "", cardea.ScopeUser, permissionlist.GeminiPolicy)
	}
}

// project adds the lists in a folder of a project.
func (f *finder) project(dir string) {
	theirs := func(name, file string, format permissionlist.Format) {
		f.add(name, filepath.Join(dir, filepath.FromSlash(file)), dir, cardea.ScopeProject, format)
	}
	theirs("qwen-code", ".qwen/settings.json", permissionlist.ClaudeSettings)
	theirs("opencode", "opencode.json", permissionlist.OpenCodeConfig)
	theirs("opencode", "opencode.jsonc", permissionlist.OpenCodeConfig)
	theirs("opencode", ".opencode/opencode.json", permissionlist.OpenCodeConfig)
	theirs("amp", ".amp/settings.json", permissionlist.AmpSettings)
	theirs("augment", ".augment/settings.json", permissionlist.AugmentSettings)
	theirs("augment", ".augment/settings.local.json", permissionlist.AugmentSettings)
	for _, file := range f.inFolder(filepath.Join(dir, ".codex", "rules"), ".rules") {
		f.add("codex", file, dir, cardea.ScopeProject, permissionlist.CodexRules)
	}
}

func (f *finder) add(name, file, project string, scope cardea.Scope, format permissionlist.Format) {
	source := cmp.Or(project, filepath.Dir(file))
	f.out = append(f.out, permissionlist.Source{Project: project, Format: format,
		Origin: permissionlist.Origin{Harness: name, File: file, Scope: scope, Source: source}})
}

// inFolder returns the files of a folder with an ending, sorted. A folder that cannot be read is
// listed itself, so that the reader of the files reports the error.
func (f *finder) inFolder(dir, ending string) []string {
	if f.absent.Folder(filepath.Dir(dir)) || f.absent.Folder(dir) {
		return nil
	}
	entries, err := state.Entries(dir, maxEntries)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return []string{dir}
	}
	var out []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ending) && !strings.HasPrefix(e.Name(), ".") && len(out) < maxFiles {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}
