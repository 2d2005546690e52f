package inforce

import (
	"os"
	"path/filepath"
	"strings"
	"sync"

	"cardea.dev/internal/ask/supervisor/post"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/decide/policy/remote"
	"cardea.dev/internal/decide/rules"
)

// Own returns a function for the paths of the gate's own things, with links followed. It
// looks on first use, since most calls neither write nor delete anything.
func (l *Loaded) Own() func(rules.Own) []string {
	settings := sync.OnceValue(l.ownSettings)
	programs := sync.OnceValue(l.ownPrograms)
	return func(o rules.Own) []string {
		switch {
		case o == rules.OwnSettings:
			return settings()
		case o == rules.OwnFolder:
			return l.ownFolders()
		case o == rules.OwnKey && l.Where.Dirs.State != "":
			dir := l.links.Real(l.Where.Dirs.State)
			return []string{state.KeyPath(dir), state.TokenPath(dir), filepath.Join(dir, post.Folder)}
		case o == rules.OwnPrograms:
			return programs()
		case o == rules.OwnBin && l.Where.Program != "":
			return []string{filepath.Dir(l.links.Real(l.Where.Program))}
		}
		return nil
	}
}

// parts are the entries of a scope's folder that affect decisions. The lessons of a
// project's folder belong to the team.
var parts = []string{"cardea.yaml", "roles.yaml", "overrides.yaml", ".gitignore", "rules", "policies", "signals", "local"}

// ownSettings returns the folders of all scopes, the state, the targets of links in them,
// and Cardea's own plugin. Of the harnesses' lists, it returns the targets of links, since
// the rules know the others by name.
func (l *Loaded) ownSettings() []string {
	dirs := append([]string{l.Where.Dirs.System, l.Where.Dirs.User, l.Where.Dirs.State, l.Where.Dirs.Runtime}, l.Where.Dirs.Doubted...)
	out := lists.Of(lists.Where(dirs, func(dir string) bool { return dir != "" }), l.links.Real)
	if l.Where.PluginFiles != nil {
		out = append(out, lists.Of(l.Where.PluginFiles(), l.links.Real)...)
	}
	for _, at := range l.folders() {
		// Without a folder, nothing is in force.
		if at.dir == "" || !l.absent.Exists(at.dir) {
			continue
		}
		dir := l.links.Real(at.dir)
		inside := func(path string) bool { return at.inside == "" || paths.Within(l.links.Real(at.inside), path) }
		for _, name := range parts {
			path := filepath.Join(dir, name)
			if dir != at.dir && inside(path) {
				out = append(out, path)
			}
			for _, p := range links(path) {
				if real := l.links.Real(p); inside(real) {
					out = append(out, real)
				}
			}
		}
	}
	files := []string{project.Below(l.Where.Dirs.Claude, "settings.json"), project.Below(l.Where.Dirs.Claude, "hooks")}
	for _, s := range l.Where.Lists {
		files = append(files, s.File)
	}
	for _, path := range files {
		if path != "" && !l.absent.Folder(filepath.Dir(path)) && (l.absent.IsLink(path) || l.absent.IsLink(filepath.Dir(path))) {
			out = append(out, l.links.Real(path))
		}
	}
	return out
}

// ownFolders returns the scopes' folders and those of Cardea's plugin.
func (l *Loaded) ownFolders() []string {
	known := lists.Where(l.folders(), func(at folder) bool { return at.dir != "" })
	out := lists.Of(known, func(at folder) string { return l.links.Real(at.dir) })
	for _, root := range l.Where.Plugins {
		if state.Exists(filepath.Join(root, "scripts", "cardea-hook.sh")) {
			out = append(out, l.links.Real(root))
		}
	}
	return out
}

// links returns path if it is a link, and the links in a folder: users have them to store
// their files in another folder.
func links(path string) []string {
	var out []string
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&os.ModeSymlink != 0 {
		out = append(out, path)
		info, err = os.Stat(path)
	}
	if err != nil || !info.IsDir() {
		return out
	}
	entries, _ := state.Entries(path, project.MaxEntries) // unreadable entries are not in force
	for _, e := range entries {
		if e.Type()&os.ModeSymlink != 0 {
			out = append(out, filepath.Join(path, e.Name()))
		}
	}
	return out
}

// ownPrograms returns the paths of this program, and of the programs looked for next to it.
func (l *Loaded) ownPrograms() []string {
	if l.Where.Program == "" {
		return nil
	}
	real := l.links.Real(l.Where.Program)
	out := []string{l.Where.Program, real}
	ext := ""
	if strings.EqualFold(filepath.Ext(real), ".exe") {
		ext = filepath.Ext(real)
	}
	return append(out, lists.Of([]string{"cardea", "cardea-hook", remote.Program}, func(name string) string { return filepath.Join(filepath.Dir(real), name+ext) })...)
}
