package inforce

import (
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/config/project"
)

// NotRead returns warnings for files in the scopes' folders that look like settings or
// rules but are not read. Their authors expect them to apply.
func (l *Loaded) NotRead() []diagnostic.Diagnostic {
	var out []diagnostic.Diagnostic
	for _, at := range l.folders() {
		if at.dir == "" {
			continue
		}
		out = append(out, unreadFiles(at.dir, func(name string, isDir bool) bool { return !isDir && !slices.Contains(parts, name) },
			"settings are read from cardea.yaml alone, rules from rules/*.yaml, policies from policies/*.rego")...)
		out = append(out, unreadFiles(filepath.Join(at.dir, "rules"), func(name string, isDir bool) bool {
			ext := filepath.Ext(name)
			return isDir || ext != ".yaml" && ext != ".yml"
		}, "rules are read from files of this folder alone whose names end in .yaml or .yml")...)
	}
	return out
}

// unreadFiles returns warnings for unread entries of a folder that look as if they should be
// read.
func unreadFiles(dir string, unread func(name string, isDir bool) bool, hint string) []diagnostic.Diagnostic {
	entries, err := state.Entries(dir, project.MaxEntries)
	if err != nil {
		return nil // missing, or reported where it is read
	}
	var out []diagnostic.Diagnostic
	for _, e := range entries {
		looks := e.IsDir() || slices.Contains([]string{".yaml", ".yml", ".json", ".jsonl", ".toml", ".rego"}, strings.ToLower(filepath.Ext(e.Name())))
		if looks && !strings.HasPrefix(e.Name(), ".") && unread(e.Name(), e.IsDir()) {
			out = append(out, diagnostic.Diagnostic{File: filepath.Join(dir, e.Name()), Severity: diagnostic.LevelWarning, Code: diagnostic.CodeNoEffect, Text: "nobody reads this here", Hint: hint})
		}
	}
	return out
}
