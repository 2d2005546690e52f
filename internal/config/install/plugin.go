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

// This file is about Cardea's own plugin for Claude Code and Copilot CLI (docs/plugin.md):
// its hooks start a script, which looks for the program.

// Plugin is the scope of the hooks that Cardea's plugin brings.
const Plugin Scope = "plugin"

// pluginScript is the script's place in the plugin.
const pluginScript = "/scripts/cardea-hook.sh"

// ProgramFolders is where the plugin's script looks for the program, in this order: where
// people install programs, and then in PATH, but never in the project.
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

// pluginFiles are the files of hooks of Cardea's plugin, where it is switched on.
func (h Harness) pluginFiles(at Places) []settings {
	var roots []string
	file := ""
	switch h.Name {
	case claudecode.Name:
		file = "hooks/hooks.json"
		// What cannot be read is told where routes of plugins are read.
		roots, _ = claudecode.PluginRoots(at.User[h.Name], at.Project, at.Machine[h.Name], &state.Absent{})
	case copilotcli.Name:
		file = "hooks/copilot.json"
		roots = copilotRoots(at.User[h.Name])
	}
	var out []settings
	for _, root := range roots {
		script, hooks := filepath.Join(root, filepath.FromSlash(pluginScript)), filepath.Join(root, filepath.FromSlash(file))
		if state.Exists(script) && state.Exists(hooks) {
			out = append(out, settings{scope: Plugin, path: hooks})
		}
	}
	return out
}

// PluginFiles are the files and folders of Cardea's plugin that decide what its hooks do,
// and the list of the marketplace above it, which says where it lies.
func PluginFiles(at Places) (out []string) {
	for _, h := range Harnesses() {
		for _, f := range h.pluginFiles(at) {
			root := filepath.Dir(filepath.Dir(f.path))
			for _, name := range []string{"hooks", "scripts", "commands", ".claude-plugin", ".github/plugin", ".mcp.json", "../../.claude-plugin", "../../../.claude-plugin"} {
				out = append(out, filepath.Join(root, filepath.FromSlash(name)))
			}
		}
	}
	return out
}

// copilotRoots are the folders of plugins with Cardea's name that Copilot CLI's settings
// switch on (seen with 1.0.102): a marketplace in a folder is used where it lies, others
// are copied.
func copilotRoots(dir string) (roots []string) {
	data, err := state.ReadLinked(filepath.Join(dir, "settings.json"), maxFile)
	if err != nil {
		return nil
	}
	d, err := jsonedit.Parse(data)
	if err != nil {
		return nil // told with the file's own hooks
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

// startsPlugin reads the line of a hook that starts the plugin's script: what the script
// starts the program with.
func startsPlugin(handler *jsonedit.Node) (args []string, is bool) {
	for _, key := range []string{"command", "bash"} {
		words := shellWords(handler.Str(key))
		if len(words) > 3 && words[0] == "sh" && strings.HasSuffix(words[1], pluginScript) && (words[2] == "call" || words[2] == "note") {
			return append([]string{"check"}, words[3:]...), true
		}
	}
	return nil, false
}

// pluginWirings are the hooks of one such file, as the script starts them.
func (h Harness) pluginWirings(f settings, at Places) (out []Wiring) {
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

// pluginProgram is what the script starts: the first cardea that is not the project's own,
// by its name or by what that leads to, or cardea-hook beside it.
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
