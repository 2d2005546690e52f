package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev/internal/base/jsonedit"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/harness/copilotcli"
)

// This file handles Cardea's own plugin for Claude Code and Copilot CLI (docs/plugin.md):
// its hooks start a script, which looks for the program.

// Plugin is the scope of the hooks of Cardea's plugin.
const Plugin Scope = "plugin"

// pluginScript is the script's path in the plugin.
const pluginScript = "/scripts/cardea-hook.sh"

// ProgramFolders returns the folders in which the plugin's script looks for the program, in
// order: the usual install folders, then PATH without folders of the project.
func ProgramFolders(home, project string, path []string) []string {
	var out []string
	if home != "" {
		out = []string{filepath.Join(home, ".local", "bin"), filepath.Join(home, ".local", "share", "cardea", "bin"), filepath.Join(home, "go", "bin")}
	}
	out = append(out, "/usr/local/bin", "/opt/homebrew/bin", "/usr/bin")
	for _, dir := range path {
		if filepath.IsAbs(dir) && (project == "" || !paths.Within(project, dir)) {
			out = append(out, dir)
		}
	}
	return out
}

// pluginFiles returns the hook files of Cardea's plugin, if it is enabled.
func (h Harness) pluginFiles(at Places) []hooksFile {
	var roots []string
	file := ""
	switch h.Name {
	case claudecode.Name:
		file = "hooks/hooks.json"
		// Reading the routes of plugins reports errors.
		roots, _ = claudecode.PluginRoots(at.User[h.Name], at.Project, at.Machine[h.Name], &state.Absent{})
	case copilotcli.Name:
		file = "hooks/copilot.json"
		roots = copilotRoots(at.User[h.Name])
	}
	var out []hooksFile
	for _, root := range roots {
		script, hooks := filepath.Join(root, filepath.FromSlash(pluginScript)), filepath.Join(root, filepath.FromSlash(file))
		if state.Exists(script) && state.Exists(hooks) {
			out = append(out, hooksFile{scope: Plugin, path: hooks})
		}
	}
	return out
}

// PluginFiles returns the files and folders of Cardea's plugin that affect its hooks, and
// the marketplace list above it, which contains its place.
func PluginFiles(at Places) (out []string) {
	for _, h := range Harnesses() {
		for _, f := range h.pluginFiles(at) {
			root := filepath.Dir(filepath.Dir(f.path))
			for _, name := range []string{"hooks", "scripts", "commands", ".claude-plugin", ".github/plugin", ".mcp.json", "../.claude-plugin", "../../.claude-plugin"} {
				out = append(out, filepath.Join(root, filepath.FromSlash(name)))
			}
		}
	}
	return out
}

// copilotRoots returns the folders of plugins named cardea that Copilot CLI's settings
// enable (seen with 1.0.102). A marketplace in a folder is used in place, others are
// copied.
func copilotRoots(dir string) (roots []string) {
	data, err := state.ReadLinked(filepath.Join(dir, "settings.json"), maxFile)
	if err != nil {
		return nil
	}
	d, err := jsonedit.Parse(data)
	if err != nil {
		return nil // reported with the file's own hooks
	}
	enabled := d.Root.Get("enabledPlugins")
	if enabled == nil || enabled.Kind != jsonedit.Object {
		return nil
	}
	for _, on := range enabled.Items {
		market, ours := strings.CutPrefix(on.Key, "cardea@")
		if !ours || enabled.Lit(on.Key) != "true" || strings.ContainsAny(market, `/\`) {
			continue
		}
		if source := d.Root.Get("extraKnownMarketplaces").Get(market).Get("source"); source.Str("source") == "directory" {
			roots = append(roots, filepath.Join(source.Str("path"), "plugin"))
		}
		roots = append(roots, filepath.Join(dir, "installed-plugins", market, "cardea"))
	}
	return roots
}

// startsPlugin reports whether a handler starts the plugin's script, and returns the
// arguments that the script passes to the program.
func startsPlugin(handler *jsonedit.Node) (args []string, is bool) {
	for _, key := range []string{"command", "bash"} {
		words := shellWords(handler.Str(key))
		if len(words) > 3 && words[0] == "sh" && strings.HasSuffix(words[1], pluginScript) && (words[2] == "call" || words[2] == "note") {
			return append([]string{"check"}, words[3:]...), true
		}
	}
	return nil, false
}

// pluginWirings returns the hooks of a plugin's file as the script starts them.
func (h Harness) pluginWirings(f hooksFile, at Places) (out []Wiring) {
	program := at.pluginProgram()
	ours := func(n *jsonedit.Node) bool { _, is := startsPlugin(n); return is }
	for _, s := range handlers(f.doc.Root, ours) {
		args, _ := startsPlugin(s.handler)
		w := h.wiring(f, s)
		w.Program, w.Args, w.Shell, w.key = program, args, "", ""
		w.Limit = limitOf(args)
		w.Diagnostics = h.problems(w, s)
		out = append(out, w)
	}
	return out
}

// pluginProgram returns the program that the script starts: the first cardea that is not in
// the project, even through a link, or cardea-hook next to it.
func (p Places) pluginProgram() string {
	i := slices.IndexFunc(p.Programs, func(dir string) bool {
		path := filepath.Join(dir, "cardea")
		return isProgram(path) && (p.Project == "" || paths.Within(p.Project, dir) || !paths.Within(paths.Real(p.Project), paths.Real(path)))
	})
	if i < 0 {
		return ""
	}
	program := filepath.Join(p.Programs[i], "cardea")
	if asker := Asker(program); isProgram(asker) {
		return asker
	}
	return program
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
