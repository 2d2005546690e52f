package claudecode

import (
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness/permissionlist"
)

// Flags are the permissions on Claude Code's own command line (settings, "Precedence").
type Flags struct {
	// Settings are files, or settings themselves as JSON (--settings).
	Settings []string
	// Allowed and Disallowed are entries (--allowedTools, --disallowedTools).
	Allowed, Disallowed []string
	// Dirs are folders that were added to the work (--add-dir).
	Dirs []string
	// Nested is set where another agent started this one, so that the line may not be a person's.
	Nested bool
}

// FlagsOf finds Claude Code among the command lines of ancestors, nearest first, and returns its
// flags. It returns the zero value without one.
func FlagsOf(lines [][]string) Flags {
	var f Flags
	found := false
	for _, line := range lines {
		args, ok := argsOfClaude(line)
		if !ok {
			continue
		}
		if found {
			f.Nested = true
			return f
		}
		found = true
		f.read(args)
	}
	return f
}

// argsOfClaude returns the words after the program, if a line starts Claude Code by its own name or
// by an interpreter.
func argsOfClaude(line []string) ([]string, bool) {
	for i, word := range line[:min(len(line), 3)] {
		name := path.Base(filepath.ToSlash(word))
		if name == "claude" || name == "claude.exe" || name == "cli.js" && strings.Contains(word, "claude-code") {
			return line[i+1:], true
		}
		if i > 0 && strings.HasPrefix(word, "-") {
			break
		}
	}
	return nil, false
}

// Interactive reports whether a command line starts Claude Code for a dialog with a person, not to
// print one answer (-p, --print).
func Interactive(line []string) bool {
	args, ok := argsOfClaude(line)
	return ok && !slices.ContainsFunc(args, func(a string) bool {
		return strings.HasPrefix(a, "--print") || strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "p")
	})
}

// read adds the flags in the words of a command line, up to "--".
func (f *Flags) read(args []string) {
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return
		}
		name, value, joined := strings.Cut(args[i], "=")
		var list *[]string
		switch name {
		case "--settings":
			if !joined && i+1 < len(args) {
				i++
				value = args[i]
			}
			if value != "" {
				f.Settings = append(f.Settings, value)
			}
			continue
		case "--allowedTools", "--allowed-tools":
			list = &f.Allowed
		case "--disallowedTools", "--disallowed-tools":
			list = &f.Disallowed
		case "--add-dir":
			list = &f.Dirs
		default:
			continue
		}
		values := []string{value}
		if !joined {
			values = nil
			for i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				i++
				values = append(values, args[i])
			}
		}
		for _, v := range values {
			if list != &f.Dirs {
				*list = append(*list, entries(v)...)
			} else if v != "" {
				f.Dirs = append(f.Dirs, v)
			}
		}
	}
}

// entries splits "Bash(git *),Edit Read" at commas and blanks outside of parentheses.
func entries(s string) []string {
	var out []string
	depth, from := 0, 0
	for i := 0; i <= len(s); i++ {
		switch {
		case i == len(s), depth == 0 && (s[i] == ',' || s[i] == ' '):
			if e := strings.TrimSpace(s[from:i]); e != "" {
				out = append(out, e)
			}
			from = i + 1
		case s[i] == '(':
			depth++
		case s[i] == ')':
			depth = max(depth-1, 0)
		}
	}
	return out
}

// Lists returns the sources of the lists that the flags name, for a session that began in start.
func (f Flags) Lists(start string) []permissionlist.Source {
	var out []permissionlist.Source
	add := func(file, source string, text []byte) {
		out = append(out, permissionlist.Source{Text: text, Nested: f.Nested, Origin: permissionlist.Origin{Harness: Name, File: file,
			Scope: cardea.ScopeUser, Source: source, CommandLine: text != nil}})
	}
	for _, s := range f.Settings {
		if strings.HasPrefix(strings.TrimSpace(s), "{") {
			add("--settings", start, []byte(s))
			continue
		}
		if !filepath.IsAbs(s) {
			s = filepath.Join(start, s)
		}
		add(s, filepath.Dir(s), nil)
	}
	if len(f.Allowed)+len(f.Disallowed)+len(f.Dirs) > 0 {
		text, err := json.Marshal(map[string]any{"permissions": map[string]any{
			"allow": nonNil(f.Allowed), "deny": nonNil(f.Disallowed), "additionalDirectories": nonNil(f.Dirs)}})
		if err == nil { // texts can always be encoded
			add("the command line of Claude Code", start, text)
		}
	}
	return out
}

func nonNil(s []string) []string { return append([]string{}, s...) }
