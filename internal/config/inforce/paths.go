package inforce

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/decide/routes"
	"cardea.dev/internal/harness"
	"cardea.dev/packs"
)

// LoadPaths reads files that the user names, as the user's own, to test and check them
// before they apply. A folder is a scope's folder, a project, a plugin, or a folder of rule
// files. It fails for a path that is missing or is a policy.
func LoadPaths(paths []string) (*Loaded, error) {
	all := func(string, []byte) bool { return true }
	l := &Loaded{Where: Where{Trust: all}, Settings: settings.Merge()}
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%s is not there; name a file of rules, routes or settings, or a folder of them", path)
		case err != nil:
			return nil, err
		case info.IsDir():
			l.addFolder(path)
		case filepath.Ext(path) == ".rego":
			return nil, fmt.Errorf("%[1]s is a policy; \"cardea policy validate %[1]s\" looks for mistakes in it, and \"cardea policy\" has more commands for it", path)
		default:
			l.addFile(path)
		}
	}
	l.routesRead.Do(func() {
		l.Routes, l.RouteProblems = routes.Load(l.RouteFiles, all, harness.ToolWord, document.Read, true)
	})
	return l, nil
}

// addFile reads a file; its name determines the kind.
func (l *Loaded) addFile(path string) {
	switch filepath.Base(path) {
	case "cardea.yaml":
		f := l.loadSettings(folder{dir: filepath.Dir(path), scope: cardea.ScopeUser})
		l.SettingsFiles = append(l.SettingsFiles, f)
	case "tool-routes.yaml", "tool-routes.yml", "routes.json":
		l.RouteFiles = append(l.RouteFiles, routes.Source{File: path, Scope: cardea.ScopeUser, Root: pluginOf(path)})
	case OverridesFile:
		l.readOverrides(folder{dir: filepath.Dir(path), scope: cardea.ScopeUser})
	case "roles.yaml":
		if f, found := l.loadRoles(folder{dir: filepath.Dir(path), scope: cardea.ScopeUser}, packs.Roles().Categories); found {
			l.RolesFiles = append(l.RolesFiles, f)
		}
	default:
		left := document.MaxSize + 1
		f, list := l.readRulesFile(path, folder{scope: cardea.ScopeUser}, &left)
		l.Files, l.List = append(l.Files, f), append(l.List, list...)
	}
}

// pluginOf returns the root of the plugin of a route file: both files of a plugin are one
// folder below it.
func pluginOf(path string) string { return filepath.Dir(filepath.Dir(path)) }

// addFolder reads the known files of a folder, or if none exist, every rule file in it.
func (l *Loaded) addFolder(dir string) {
	known := false
	for _, name := range []string{"cardea.yaml", "roles.yaml", OverridesFile, "rules", ".cardea/cardea.yaml", ".cardea/roles.yaml", ".cardea/" + OverridesFile, ".cardea/rules",
		".claude/tool-routes.yaml", "hooks/tool-routes.yaml", ".claude-plugin/routes.json"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		known = true
		if info.IsDir() {
			l.addRules(path)
		} else {
			l.addFile(path)
		}
	}
	if !known {
		l.addRules(dir)
	}
}

func (l *Loaded) addRules(dir string) {
	files, err := project.RuleFiles(dir)
	if err != nil {
		l.Files = append(l.Files, RulesFile{Path: dir, Scope: cardea.ScopeUser, Problems: []diagnostic.Diagnostic{unread(dir, err)}})
	}
	for _, f := range files {
		l.addFile(f)
	}
}
