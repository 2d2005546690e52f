package policy

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"cardea.dev"
	"cardea.dev/internal/paths"
)

// ofCupcake reports whether a package was written for Cupcake: it gets the fields
// that Cupcake gives, and its modify allows.
func ofCupcake(pkg string) bool { return strings.HasPrefix(pkg, "cupcake.") }

// asCupcake gives an input the fields that Cupcake gives, so that policies written
// for it match what they matched there. A rule about a field that is missing says
// nothing, and nobody would notice.
func asCupcake(in map[string]any, ev *cardea.Event) {
	if ev.Call == nil {
		return
	}
	input := maps.Clone(ev.Call.Input)
	if input == nil {
		input = map[string]any{}
	}
	in["tool_input"] = input
	switch ev.Call.Tool {
	case "Agent":
		in["tool_name"] = "Task"
	case "Bash":
		if command, ok := input["command"].(string); ok {
			input["command"] = oneSpace(command)
		}
	case "Write":
		if content, ok := input["content"]; ok {
			input["new_string"] = content
		}
	case "MultiEdit":
		input["edits"] = withPaths(input["edits"], input["file_path"], ev.Cwd)
	}
	for _, key := range []string{"file_path", "path", "notebook_path"} {
		if name, ok := input[key].(string); ok && name != "" && !(ev.Call.Tool == "Glob" && key == "path") {
			maps.Copy(in, pathFields(name, ev.Cwd))
			return
		}
	}
}

// withPaths gives each edit the fields about its file.
func withPaths(edits, file any, cwd string) any {
	list, ok := edits.([]any)
	if !ok {
		return edits
	}
	out := make([]any, 0, len(list))
	for _, e := range list {
		edit, ok := e.(map[string]any)
		if !ok {
			out = append(out, e)
			continue
		}
		edit = maps.Clone(edit)
		name, ok := edit["file_path"].(string)
		if !ok {
			name, _ = file.(string)
		}
		if name != "" {
			maps.Copy(edit, pathFields(name, cwd))
		}
		out = append(out, edit)
	}
	return out
}

// pathFields are what Cupcake says of a path: where it leads, how it was written,
// and whether it is a link.
func pathFields(name, cwd string) map[string]any {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	info, err := os.Lstat(path)
	return map[string]any{"original_file_path": name, "resolved_file_path": paths.Real(path), "is_symlink": err == nil && info.Mode()&os.ModeSymlink != 0}
}

// oneSpace is a command with one space in the place of each run of white space
// outside of quotes, and none at its ends.
func oneSpace(command string) string {
	var b strings.Builder
	var quote rune
	escaped, space := false, false
	for _, c := range command {
		if quote == 0 && !escaped && unicode.IsSpace(c) {
			space = true
			continue
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space = false
		b.WriteRune(c)
		switch {
		case escaped:
			escaped = false
		case c == '\\' && quote != '\'':
			escaped = true
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote:
			quote = 0
		}
	}
	return b.String()
}
