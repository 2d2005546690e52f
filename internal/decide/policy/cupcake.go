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

// ofCupcake reports whether a package was written for Cupcake. Its input has Cupcake's
// fields, and its modify allows the call.
func ofCupcake(pkg string) bool { return strings.HasPrefix(pkg, "cupcake.") }

// asCupcake adds the fields that Cupcake gives to an input, so that its policies match the
// same calls. A rule about a missing field would fail without notice. It returns the
// command as the shell reads it if that may differ from the field, else "". A line of the
// agent must not disappear by being joined to another one, or in text that only looks
// quoted.
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

// pathKeys returns the fields that may hold a tool's path. The field that the tool reads
// comes first, so that another one cannot hide it.
func pathKeys(tool string) []string {
	switch tool {
	case "Glob", "Grep", "LS":
		return []string{"path", "file_path", "notebook_path"}
	case "NotebookEdit", "NotebookRead":
		return []string{"notebook_path", "file_path", "path"}
	}
	return []string{"file_path", "path", "notebook_path"}
}

// asShell returns a command as the shell reads it, or unchanged if that is unknown.
func asShell(command string) string {
	if line, ok := grammar.OneLine(command); ok {
		return line
	}
	return command
}

// folders returns the paths that a command touches. For a pattern this is the folder above.
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

// readsAsShell reports whether Cupcake's packages see a call's command as the shell reads
// it. Otherwise their allows do not apply.
func readsAsShell(c *cardea.Call) bool {
	command, ok := c.Input["command"].(string)
	return !ok || !read(command).merged
}

// withPaths adds the fields about its file to each edit.
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

// pathFields returns Cupcake's fields about a path: its target, the path as written, and
// whether it is a link.
func pathFields(name, cwd string) map[string]any {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	info, err := os.Lstat(path)
	return map[string]any{"original_file_path": name, "resolved_file_path": paths.Real(path), "is_symlink": err == nil && info.Mode()&os.ModeSymlink != 0}
}

// reading is a command in the form that Cupcake shows.
type reading struct {
	text string
	// merged is set if the shell may read the command differently. Then the text joins
	// several lines, or has a comment, a here-document or nested quotes, after which it is
	// unclear what is quoted.
	merged bool
}

// read replaces each run of white space outside of quotes by one space, and removes it at
// both ends.
func read(command string) reading {
	var b strings.Builder
	var r reading
	var quote, before, space rune // space is the pending white space, the worst of a run
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

// misread reports whether a character after another one has a meaning that a parser of
// quotes alone does not see.
func misread(before, c, quote rune, escaped bool) bool {
	switch {
	case escaped:
		return quote == 0 && c == '\n' // a continued line
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
