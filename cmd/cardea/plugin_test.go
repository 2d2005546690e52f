package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"cardea.dev/agents"
)

// pluginFolder is the plugin for Claude Code and Copilot CLI.
const pluginFolder = "../../plugin"

// typedName matches a command that Cardea lists for an unknown one.
var typedName = regexp.MustCompile(`(?:/cardea |, | or )([a-z]+)`)

// plugin compares the plugin with the last output. "plugin hooks FILE" compares with the
// file that install shows, "plugin commands" with the list of what a person can type.
// "plugin agent" compares with the supervisor's instructions. "plugin copy FOLDER" copies
// the plugin into the script's folder.
func plugin(ts *testscript.TestScript, neg bool, args []string) {
	switch {
	case neg || len(args) == 0:
		ts.Fatalf("usage: plugin hooks FILE, plugin commands, plugin agent, plugin copy FOLDER")
	case args[0] == "agent":
		data, err := os.ReadFile(filepath.Join(pluginFolder, "agents", "supervisor.md"))
		ts.Check(err)
		// The tools of a plugin's server have longer names.
		if want := strings.ReplaceAll(agents.Supervisor, "mcp__cardea__", "mcp__plugin_cardea_cardea__"); string(data) != want {
			ts.Fatalf("agents/supervisor.md of the plugin must be agents/supervisor.md with other names of tools:\n%s", want)
		}
	case args[0] == "copy":
		ts.Check(os.CopyFS(ts.MkAbs(args[1]), os.DirFS(pluginFolder)))
	case args[0] == "hooks":
		installed := handlersIn(ts, addedLines(ts.ReadFile("stdout")))
		data, err := os.ReadFile(filepath.Join(pluginFolder, filepath.FromSlash(args[1])))
		ts.Check(err)
		has := handlersIn(ts, string(data))
		for event, h := range has {
			if strings.EqualFold(event, "sessionStart") {
				delete(has, event)
				continue
			}
			word := "note"
			if strings.EqualFold(event, "preToolUse") || strings.EqualFold(event, "permissionRequest") || event == "PreSkillShellCommand" {
				word = "call"
			}
			_, line, found := strings.Cut(h.line(), word+" ")
			if want := installed[event]; !found || !strings.HasSuffix(want.line(), " check "+line) || h.seconds() != want.seconds() || h.OnFailure != want.OnFailure {
				ts.Fatalf("%s: the plugin has %+v, and install writes %+v", event, h, want)
			}
		}
		if a, b := slices.Sorted(maps.Keys(installed)), slices.Sorted(maps.Keys(has)); !slices.Equal(a, b) {
			ts.Fatalf("install registers %v, the plugin %v", a, b)
		}
	case args[0] == "commands":
		var known, files []string
		for _, m := range typedName.FindAllStringSubmatch(ts.ReadFile("stdout"), -1) {
			if m[1] != "nonsense" {
				known = append(known, m[1])
			}
		}
		entries, err := os.ReadDir(filepath.Join(pluginFolder, "commands"))
		ts.Check(err)
		for _, e := range entries {
			files = append(files, strings.TrimSuffix(e.Name(), ".md"))
		}
		slices.Sort(known)
		if !slices.Equal(known, files) {
			ts.Fatalf("a person can type %v, the plugin has %v", known, files)
		}
	}
}

// handler is one hook in a file of hooks.
type handler struct {
	Command, Bash, OnFailure string
	Timeout, TimeoutSec      int
	Hooks                    []handler
}

func (h handler) line() string { return h.Command + h.Bash }
func (h handler) seconds() int { return h.Timeout + h.TimeoutSec }

// handlersIn returns the hook of each event, which has exactly one.
func handlersIn(ts *testscript.TestScript, text string) map[string]handler {
	var file struct{ Hooks map[string][]handler }
	ts.Check(json.Unmarshal([]byte(text), &file))
	out := map[string]handler{}
	for event, list := range file.Hooks {
		if len(list) == 1 && len(list[0].Hooks) == 1 {
			list = list[0].Hooks
		}
		if len(list) != 1 {
			ts.Fatalf("%s has %d hooks", event, len(list))
		}
		out[event] = list[0]
	}
	return out
}

// addedLines returns the new file in a diff.
func addedLines(diff string) string {
	var b strings.Builder
	for line := range strings.Lines(diff) {
		if rest, ok := strings.CutPrefix(line, "+"); ok && (strings.HasPrefix(rest, "{") || b.Len() > 0) {
			b.WriteString(rest)
			if strings.HasPrefix(rest, "}") {
				break
			}
		}
	}
	return b.String()
}
