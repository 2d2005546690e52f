package policy

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/bash/grammar"
)

// ofCupcake reports whether a package was written for Cupcake: it gets the fields
// that Cupcake gives, and its modify allows.
func ofCupcake(pkg string) bool { return strings.HasPrefix(pkg, "cupcake.") }

// asCupcake gives an input the fields that Cupcake gives, so that policies written
// for it match what they matched there. A rule about a field that is missing says
// nothing, and nobody would notice. It gives the command as the shell reads it, too,
// where that may be another one, else "": a line that the agent wrote must not
// disappear in another one, nor in a quote that is none.
func asCupcake(in map[string]any, ev *cardea.Event) (inShell string) {
	if ev.Call == nil {
		return ""
	}
	input := orEmpty(maps.Clone(ev.Call.Input))
	in["tool_input"] = input
	switch ev.Call.Tool {
	case "Agent":
		in["tool_name"] = "Task"
	case "Bash", "Monitor":
		if command, ok := input["command"].(string); ok {
			as := read(command)
			if input["command"] = as.text; as.merged {
				inShell = asShell(command)
			}
			if inShell == as.text {
				inShell = ""
			}
		}
		if dirs := folders(ev.Call); len(dirs) > 0 {
			in["affected_parent_directories"] = dirs
		}
	case "Write":
		if content, ok := input["content"]; ok {
			input["new_string"] = content
		}
	case "MultiEdit":
		input["edits"] = withPaths(input["edits"], input["file_path"], ev.Cwd)
	}
	for _, key := range pathKeys(ev.Call.Tool) {
		if name, ok := input[key].(string); ok && name != "" {
			maps.Copy(in, pathFields(name, ev.Cwd))
			break
		}
	}
	return inShell
}

// pathKeys are the fields in which a tool's path may stand, the one that the tool reads
// first: another one beside it must not hide it.
func pathKeys(tool string) []string {
	switch tool {
	case "Glob", "Grep", "LS":
		return []string{"path", "file_path", "notebook_path"}
	case "NotebookEdit", "NotebookRead":
		return []string{"notebook_path", "file_path", "path"}
	}
	return []string{"file_path", "path", "notebook_path"}
}

// asShell is a command as the shell reads it, or as it is where that cannot be told.
func asShell(command string) string {
	if line, ok := grammar.OneLine(command); ok {
		return line
	}
	return command
}

// folders are what a command touches: the paths themselves, and of a pattern the folder
// above it.
func folders(c *cardea.Call) []any {
	var out []any
	for i := range c.Parts {
		for _, list := range [][]cardea.Access{c.Parts[i].Access, c.Parts[i].MayTouch} {
			for _, a := range list {
				if a.Path != "" && a.Kind != cardea.Execute && !slices.Contains(out, any(a.Path)) {
					out = append(out, a.Path)
				}
			}
		}
	}
	return out
}

// readsAsShell reports whether a call's command is what Cupcake's packages see of it.
// What they allow counts only then.
func readsAsShell(c *cardea.Call) bool {
	command, ok := c.Input["command"].(string)
	return !ok || !read(command).merged
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
		name, ok := file.(string)
		if !ok {
			name, _ = edit["file_path"].(string)
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

// reading is a command as Cupcake shows it.
type reading struct {
	text string
	// merged is set where the shell may read something else: lines stand in one, or
	// there is a comment, a here-document, or a quote in a quote, with which the text
	// loses count of what is quoted.
	merged bool
}

// read gives a command with one space in the place of each run of white space
// outside of quotes, and none at its ends.
func read(command string) reading {
	var b strings.Builder
	var r reading
	var quote, before, space rune // space is the white space that is due, the worst of a run
	escaped := false
	for _, c := range command {
		if quote == 0 && !escaped && unicode.IsSpace(c) {
			if space == 0 || c != ' ' && c != '\t' {
				space = c
			}
			continue
		}
		if space != 0 && b.Len() > 0 {
			b.WriteByte(' ')
			r.merged = r.merged || space != ' ' && space != '\t'
			before = ' '
		}
		space = 0
		b.WriteRune(c)
		r.merged = r.merged || misread(before, c, quote, escaped)
		before = c
		switch {
		case escaped:
			escaped, before = false, 0
		case c == '\\' && quote != '\'':
			escaped = true
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote:
			quote = 0
		}
	}
	r.text = b.String()
	return r
}

// misread reports whether a character, behind another one, means something that a look
// at quotes alone does not see.
func misread(before, c, quote rune, escaped bool) bool {
	switch {
	case escaped:
		return quote == 0 && c == '\n' // the line goes on
	case quote == '"':
		return c == '`' || before == '$' && (c == '(' || c == '{')
	case quote == '\'':
		return false
	}
	switch c {
	case '#':
		return before == 0 || strings.ContainsRune(" ;&|()", before)
	case '\'', '"':
		return before == '$'
	case '<':
		return before == '<'
	}
	return c == '`'
}
