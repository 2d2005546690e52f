package claudecode

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/harness"
)

// PluginRoots returns the folders of Claude Code's enabled plugins, sorted and without duplicates.
// It reads Claude Code's own files, since `claude plugin list` would start Claude Code at every
// call. configDir is ~/.claude, project and managedDir are as for [Lists]. Problems name the file
// and the defect; the result has everything that could be read. Defects of settings are reported by
// the reader of their lists.
//
// A plugin is off if enabledPlugins is false for it in managed, local or user settings. The
// project's own settings.json switches off only plugins installed for the project: a cloned
// repository must not disable what a person installed to hold the agent back.
//
// absent caches missing folders; it may be nil.
func PluginRoots(configDir, project, managedDir string, absent *state.Absent) (roots, problems []string) {
	if configDir == "" {
		return nil, nil
	}
	var off disabled
	absent = cmp.Or(absent, new(state.Absent))
	for _, f := range settingsFiles(configDir, project, managedDir, absent) {
		off.read(f, absent)
	}
	file := filepath.Join(configDir, "plugins", "installed_plugins.json")
	p, err := readObject(file, "", absent)
	if err != nil {
		problems = append(problems, err.Error())
	}
	if p != nil {
		installs, bad := installed(p, file)
		problems = append(problems, bad...)
		for _, in := range installs {
			if in.appliesTo(project) && !off.has(in) {
				roots = append(roots, cmp.Or(inFolder(configDir, in.name), filepath.Clean(in.path)))
			}
		}
	}
	if dir := filepath.Join(configDir, "plugins"); !absent.Folder(dir) {
		byHand, err := unlisted(dir)
		if err != nil {
			problems = append(problems, err.Error())
		}
		roots = append(roots, byHand...)
	}
	slices.Sort(roots)
	return slices.Compact(roots), problems
}

// inFolder returns the path of a plugin ("name@market") whose marketplace is a folder, "" for any
// other. Claude Code reads such a plugin there, and not in the copy that it installs (seen with
// 2.1.330 and 2.1.332).
func inFolder(configDir, plugin string) string {
	read := func(elem ...string) (v map[string]any) {
		data, _ := state.ReadLinked(filepath.Join(elem...), maxSettings)
		_ = json.Unmarshal(data, &v) // an unreadable file names no folder
		return v
	}
	name, market, _ := strings.Cut(plugin, "@")
	known := read(configDir, "plugins", "known_marketplaces.json")
	folder, kind := textAt(known[market], "installLocation"), textAt(known[market], "source", "source")
	if kind != "directory" && kind != "file" || !filepath.IsAbs(folder) {
		return ""
	}
	list := read(folder, ".claude-plugin", "marketplace.json")
	plugins, _ := list["plugins"].([]any)
	for _, p := range plugins {
		if source := textAt(p, "source"); source != "" && textAt(p, "name") == name {
			if !strings.HasPrefix(source, ".") {
				source = filepath.Join(textAt(list["metadata"], "pluginRoot"), source)
			}
			return filepath.Join(folder, filepath.FromSlash(source))
		}
	}
	return ""
}

// textAt returns a text in nested objects, or "".
func textAt(v any, keys ...string) string {
	for _, key := range keys {
		object, _ := v.(map[string]any)
		v = object[key]
	}
	text, _ := v.(string)
	return text
}

// install is an entry of installed_plugins.json.
type install struct {
	name, path, scope, project string
}

// installed reads both versions of the file: {"plugins": {"name@market": {"installPath": …}}}, and
// lists of {scope, installPath, projectPath} in place of the objects.
func installed(p *harness.Payload, file string) (out []install, problems []string) {
	for _, v := range values(p, "plugins") {
		plugins, ok := v.(*harness.Object)
		if !ok {
			problems = append(problems, file+": plugins is no object; reinstall a plugin to write the file anew")
			continue
		}
		for _, e := range plugins.Entries() {
			entries, isList := e.Value.([]any)
			if !isList {
				entries = []any{e.Value}
			}
			for _, entry := range entries {
				in, ok := newInstall(e.Key, entry)
				if !ok {
					problems = append(problems, file+": "+e.Key+" has no absolute installPath; reinstall the plugin")
					continue
				}
				out = append(out, in)
			}
		}
	}
	return out, problems
}

// newInstall returns the entry of a plugin. It returns false for an invalid entry, and for one
// without an absolute path.
func newInstall(name string, entry any) (install, bool) {
	o, ok := entry.(*harness.Object)
	if !ok {
		return install{}, false
	}
	text := func(key string) string {
		v, _ := o.Get(key)
		s, _ := v.(string)
		return s
	}
	in := install{name: name, path: text("installPath"), scope: text("scope"), project: text("projectPath")}
	return in, filepath.IsAbs(in.path)
}

// forProject reports whether the plugin was installed for one project.
func (in install) forProject() bool { return in.project != "" }

func (in install) appliesTo(project string) bool {
	return !in.forProject() || paths.Within(in.project, project)
}

// disabled holds the plugins that enabledPlugins switches off: by the project's file, and by all
// others.
type disabled struct {
	seen                 map[string]bool // names that a stronger file has settled
	byProject, byPersons []string
}

func (d *disabled) has(in install) bool {
	return slices.Contains(d.byPersons, in.name) || in.forProject() && slices.Contains(d.byProject, in.name)
}

// read adds a settings file. The strongest files come first, and the first that names a plugin
// decides.
func (d *disabled) read(f settingsFile, absent *state.Absent) {
	p, err := readObject(f.path, "enabledPlugins", absent)
	if err != nil || p == nil {
		return
	}
	if d.seen == nil {
		d.seen = map[string]bool{}
	}
	for _, v := range values(p, "enabledPlugins") {
		o, ok := v.(*harness.Object)
		if !ok {
			continue
		}
		for _, e := range o.Entries() {
			on, isBool := e.Value.(bool)
			switch {
			case !isBool:
			case d.seen[e.Key]:
			case f.scope == projectScope && !on:
				d.byProject = append(d.byProject, e.Key)
			default:
				d.seen[e.Key] = true
				if !on {
					d.byPersons = append(d.byPersons, e.Key)
				}
			}
		}
	}
}

// maxPlugins is the largest number of entries of the plugins folder that are read.
const maxPlugins = 4096

// unlisted returns plugins that were put into the folder by hand.
func unlisted(dir string) ([]string, error) {
	entries, err := state.Entries(dir, maxPlugins)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		root := filepath.Join(dir, e.Name())
		for _, mark := range []string{filepath.Join("hooks", "tool-routes.yaml"), ".claude-plugin"} {
			if _, err := os.Stat(filepath.Join(root, mark)); err == nil {
				out = append(out, root)
				break
			}
		}
	}
	return out, nil
}
