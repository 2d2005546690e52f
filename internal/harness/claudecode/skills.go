package claudecode

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
)

// ShellLine is a shell command in the file of a skill or a slash command. Claude Code runs it when
// it loads the file.
type ShellLine struct {
	File string
	// Line is the line of the command in the file, from 1.
	Line int
	// Tool is the shell, "Bash" or "PowerShell".
	Tool, Command string
	// Certain is unset if another text may run.
	Certain bool
}

// maxSkillFile is the largest file that Claude Code loads, in bytes. maxSkillEntries is the largest
// number of entries that are read for one name, maxShellLines that of commands.
const maxSkillFile, maxSkillEntries, maxShellLines = 1 << 20, 8192, 64

// skillSearch looks for the files that a name may mean.
type skillSearch struct {
	name    []string
	args    string
	project string
	left    int // entries that may still be read
	lines   []ShellLine
	unknown []string
}

// ShellLines returns the shell commands in all files that the name of a skill or slash command may
// mean, with its arguments and the folder of the project inserted. unknown holds the files that
// cannot be read, with the reason. Files are looked for in configs, which are folders such as
// ~/.claude, and in the folders of plugins. Names are compared generously: which file wins, and
// what may be left out of its name, differs by version.
func ShellLines(name, args, project string, configs, plugins []string) (lines []ShellLine, unknown []string) {
	s := &skillSearch{name: strings.Split(strings.TrimPrefix(name, "/"), ":"), args: args, project: project, left: maxSkillEntries}
	for _, dir := range configs {
		s.look(filepath.Join(dir, "commands"), filepath.Dir(dir), nil, true)
		s.look(filepath.Join(dir, "skills"), filepath.Dir(dir), nil, false)
	}
	for _, root := range plugins {
		manifest, _ := state.ReadLinked(filepath.Join(root, ".claude-plugin", "plugin.json"), maxSettings) // without one, there are only the usual folders
		dirs := []string{"commands", "skills"}
		for _, m := range manifestPath().FindAllStringSubmatch(string(manifest), -1) {
			dirs = append(dirs, m[1])
		}
		for _, dir := range dirs {
			s.look(filepath.Join(root, filepath.FromSlash(dir)), root, []string{"*"}, true)
		}
	}
	if s.left <= 0 {
		s.unknown = append(s.unknown, "there are too many files of skills and slash commands, or commands in them, to look at all; remove some")
	}
	return s.lines, s.unknown
}

// ProjectConfigs returns the folders .claude of a session that began in a folder: there, and above
// it up to the root of the repository.
func ProjectConfigs(start string) (out []string) {
	for dir := start; dir != "" && len(out) < maxAbove; dir = filepath.Dir(dir) {
		out = append(out, filepath.Join(dir, ".claude"))
		if dir == filepath.Dir(dir) || state.Exists(filepath.Join(dir, ".git")) {
			break
		}
	}
	return out
}

// Most hooks need none of these, so they are compiled at their first use.
var (
	manifestPath    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"\./([^"\\]*)"`) })
	frontmatterName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^["']?name["']?[ \t]*:[ \t]*["']?([^"'\n]*?)["']?[ \t\r]*$`)
	})
	frontmatterShell = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?mi)\bshell["']?[ \t]*:.*powershell`) })
	escapedKey       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\[^\n]*"[ \t]*:`) })
	hookCommand      = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(command|args|file|script)["']?[ \t]*:[ \t]*("[^"\\\n]*"|'[^'\n]*'|[^\s"'|>&*!%@{\[][^\n]*|)`)
	})
	// After a value: the end, or another key, entry or bracket. Any other line continues it.
	valueEnd = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[ \t]*([,}\]#]|$|\n\s*([#}\]]|-\s|["']?[\w-]+["']?[ \t]*:|$))`)
	})
)

// look searches a folder or a file. Files behind links that lead out of the folder within are
// uncertain. above are the names before those of the files, "*" for a plugin's. If all is set,
// every file is searched, not only those with the name of a skill's.
func (s *skillSearch) look(at, within string, above []string, all bool) {
	is, err := os.Stat(at)
	base := filepath.Base(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil || !is.IsDir():
		name := strings.TrimSuffix(strings.ToLower(base), ".md")
		if name == "skill" && len(above) > 0 {
			s.file(at, within, above)
		} else if all && name != strings.ToLower(base) {
			s.file(at, within, append(slices.Clip(above), name))
		}
		return
	}
	entries, _ := state.Entries(at, max(s.left, 1)) // Claude Code cannot read what is unreadable here
	s.left -= len(entries)
	for _, e := range entries {
		if s.left > 0 {
			s.look(filepath.Join(at, e.Name()), within, append(slices.Clip(above), base), all)
		}
	}
}

// file searches a file, if the name may mean it.
func (s *skillSearch) file(path, within string, names []string) {
	data, err := state.ReadLinked(path, maxSkillFile)
	text := strings.ReplaceAll(string(data), "\r\n", "\n") // as Claude Code does
	head := frontmatter(text)
	also := frontmatterName().FindStringSubmatch(head + "\nname:")[1]
	if !s.means(names, also) {
		return
	}
	if err != nil {
		s.unknown = append(s.unknown, path+": its shell commands are unknown ("+err.Error()+"); make it a regular file of less than 1 MiB")
		return
	}
	used := placeholders(head)
	if s.args != "" {
		text += "\n\nARGUMENTS: $ARGUMENTS" // Claude Code adds this if the text has no placeholder
	}
	large := len(head) > 1<<16 || len(s.args)*strings.Count(text, "$") > 4*maxSkillFile
	if large || s.completes(text, used) {
		s.unknown = append(s.unknown, path+": its arguments may become shell commands; leave out backticks and exclamation marks, and shorten the frontmatter or the arguments")
	}
	if large {
		return
	}
	dirs := strings.NewReplacer("${CLAUDE_SKILL_DIR}", filepath.Dir(path), "${CLAUDE_PLUGIN_ROOT}", within, "${CLAUDE_PROJECT_DIR}", s.project).Replace(text)
	tools := []string{"Bash"}
	if frontmatterShell().MatchString(head) {
		tools = append(tools, "PowerShell")
	}
	sure := paths.Within(paths.Real(within), paths.Real(path))
	for _, l := range s.commands(path, []string{s.filled(dirs, used, given), s.filled(dirs, used, written), s.filled(dirs, used, empty), s.filled(text, used, given)}) {
		l.Certain = l.Certain && sure
		for _, l.Tool = range tools {
			s.lines = append(s.lines, l)
		}
	}
	if len(s.lines) > maxShellLines {
		s.left = 0
	}
}

// commands returns the commands in all texts that a file may become except the last, which only
// shows commands that depend on folders. Only commands in all texts are certain.
func (s *skillSearch) commands(path string, texts []string) (lines []ShellLine) {
	in, allHooks := map[string]int{}, true
	for i, text := range texts {
		hooks, all := hookCommands(frontmatter(text))
		allHooks = allHooks && all
		found := append(hooks, shellTexts(text)...)
		for n, f := range found {
			before, is := in[f.text]
			if !is && i < len(texts)-1 {
				lines = append(lines, ShellLine{File: path, Line: 1 + strings.Count(text[:f.at], "\n"), Command: f.text})
			}
			if n < len(hooks) {
				before = -1 // a hook is never certain
			} else if before == i {
				before++
			}
			in[f.text] = before
		}
		if len(found) > maxShellLines {
			s.left = 0
		}
	}
	if !allHooks {
		s.unknown = append(s.unknown, path+": its hooks are unknown; write each command on one line, without escapes")
	}
	for i, l := range lines {
		lines[i].Certain = in[l.Command] == len(texts) && !strings.Contains(l.Command, "${CLAUDE_")
	}
	return lines
}

// frontmatter returns the start of a file up to its second line of dashes, or "".
func frontmatter(text string) string {
	head, _, _ := strings.Cut(text, "\n---")
	if !strings.HasPrefix(strings.TrimLeft(head, "\ufeff \t\r\n"), "---") {
		return ""
	}
	return head
}

// placeholders returns a pattern for the placeholders of arguments. If the frontmatter may name
// arguments, each of its words may be a name.
func placeholders(head string) *regexp.Regexp {
	names := ""
	if strings.Contains(head, "arguments") || escapedKey().MatchString(head) {
		words := strings.FieldsFunc(head, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`,:[]{}"'`, r) })
		slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) })
		for _, word := range words {
			names += "|" + regexp.QuoteMeta(strings.ToValidUTF8(word, ""))
		}
		names += `|[\pL_][\pL\d_]*`
	}
	return regexp.MustCompile(`\\*\$(ARGUMENTS(\[\d+\])?|\d+` + names + `)`)
}

// hookCommands returns the commands of hooks in a frontmatter, which Claude Code runs later. all is
// unset if it may hold others.
func hookCommands(head string) (out []shellText, all bool) {
	if all = !escapedKey().MatchString(head); !strings.Contains(head, "hooks") {
		return nil, all
	}
	for _, m := range hookCommand().FindAllStringSubmatchIndex(head, -1) {
		command, line := strings.TrimSpace(head[m[4]:m[5]]), head[strings.LastIndex(head[:m[0]], "\n")+1:m[0]]
		all = all && head[m[2]:m[3]] == "command" && command != "" && valueEnd().MatchString(head[m[1]:])
		if quoted := strings.Trim(command, `"'`); quoted != "" && (command[0] == '"' || command[0] == '\'') {
			command = quoted
		} else if command, _, _ = strings.Cut(command, " #"); strings.Contains(line, "{") {
			all = all && !strings.Contains(command, ",")
			command, _, _ = strings.Cut(strings.TrimRight(command, " \t]}"), ",")
		}
		if command != "" {
			out = append(out, shellText{m[4], command})
		}
	}
	return out, all
}

// means reports whether the name may mean a file with these names. A name may leave out folders and
// the plugin.
func (s *skillSearch) means(names []string, also string) bool {
	names = strings.Split(strings.Join(names, ":"), ":") // a file's name may hold colons
	last := len(s.name) - 1
	if !strings.EqualFold(s.name[last], names[len(names)-1]) && !strings.EqualFold(s.name[last], also[strings.LastIndex(also, ":")+1:]) {
		return false
	}
	return names[0] == "*" || !slices.ContainsFunc(s.name[:last], func(word string) bool {
		return !slices.ContainsFunc(append(strings.Split(also, ":"), names...), func(n string) bool { return strings.EqualFold(n, word) })
	})
}

// The ways to fill placeholders: with the arguments, not at all, or with nothing.
const (
	given = iota
	written
	empty
)

// filled inserts the arguments into a text, as Claude Code does before it looks for commands. It is
// uncertain which argument a number or a name means, so each is replaced by all.
func (s *skillSearch) filled(text string, used *regexp.Regexp, how int) string {
	return used.ReplaceAllStringFunc(text, func(found string) string {
		word := strings.TrimLeft(found, `\`)
		slashes := found[:len(found)-len(word)]
		switch {
		case how == given && slashes == `\`:
			return word // an escaped placeholder
		case how == given, word == "$ARGUMENTS" && (how == empty || s.args != ""):
			return slashes + s.args
		case how == empty:
			return slashes
		}
		return found
	})
}

// completes reports whether one of the arguments may complete a mark, since it is uncertain which
// one is inserted there.
func (s *skillSearch) completes(text string, used *regexp.Regexp) bool {
	return strings.ContainsAny(s.args, "`!") && slices.ContainsFunc(used.FindAllStringIndex(text, -1), func(at []int) bool {
		before := text[:at[0]]
		return text[at[0]:at[1]] != "$ARGUMENTS" && (strings.HasSuffix(before, "!") || strings.HasSuffix(before, "`") || strings.HasPrefix(text[at[1]:], "!"))
	})
}

// shellText is a command with its position in a text.
type shellText struct {
	at   int
	text string
}

// shellTexts returns the commands that Claude Code runs: !`command` after a blank or the
// frontmatter, whose end need not be a line, and blocks between ```! and ``` (seen in 2.1.330 and
// 2.1.332). It also finds marks in other marks.
func shellTexts(text string) (out []shellText) {
	for at := 0; at < len(text) && len(out) <= maxShellLines; at++ {
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		end := "`"
		rest, is := strings.CutPrefix(text[at:], "!`")
		if is = is && (at == 0 || unicode.IsSpace(before) || before == '\ufeff' || strings.HasSuffix(text[:at], "---")); !is {
			end = "```"
			rest, is = strings.CutPrefix(text[at:], "```!")
		}
		block, _, closed := strings.Cut(rest, end)
		if command := strings.TrimLeftFunc(block, unicode.IsSpace); is && closed && command != "" {
			out = append(out, shellText{len(text) - len(rest) + len(block) - len(command), strings.TrimSpace(command)})
		}
	}
	return out
}
