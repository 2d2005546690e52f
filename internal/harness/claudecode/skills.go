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

	"cardea.dev/internal/paths"
	"cardea.dev/internal/state"
)

// ShellLine is a shell command in the file of a skill or a slash command. Claude Code
// runs it when it loads the file.
type ShellLine struct {
	File string
	// Line is that of the command in the file, from 1.
	Line int
	// Tool is the shell, "Bash" or "PowerShell".
	Tool, Command string
	// Certain is unset where what runs may be another text.
	Certain bool
}

// maxSkillFile is how much of a file Claude Code loads, in bytes. maxSkillEntries bounds
// the entries of folders that are looked at for one name, maxShellLines the commands.
const maxSkillFile, maxSkillEntries, maxShellLines = 1 << 20, 8192, 64

// skillSearch looks for the files that a name may mean.
type skillSearch struct {
	name    []string
	args    string
	left    int // entries that may still be looked at
	lines   []ShellLine
	unknown []string
}

// ShellLines finds the shell commands in all files that the name of a skill or slash
// command may mean, with its arguments put in. unknown says which files cannot be looked
// into, and why. Files are looked for in configs, which are folders such as ~/.claude,
// and in the folders of plugins. Names are compared generously: which file wins, and what
// may be left out of its name, differs by version.
func ShellLines(name, args string, configs, plugins []string) (lines []ShellLine, unknown []string) {
	s := &skillSearch{name: strings.Split(strings.TrimPrefix(name, "/"), ":"), args: args, left: maxSkillEntries}
	for _, dir := range configs {
		s.look(filepath.Join(dir, "commands"), filepath.Dir(dir), nil, true)
		s.look(filepath.Join(dir, "skills"), filepath.Dir(dir), nil, false)
	}
	for _, root := range plugins {
		manifest, _ := state.ReadLinked(filepath.Join(root, ".claude-plugin", "plugin.json"), maxSettings) // without one, the usual folders are all
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

// ProjectConfigs are the folders .claude of a session that began in a folder: there, and
// above it up to the root of the repository.
func ProjectConfigs(start string) (out []string) {
	for dir := start; dir != "" && len(out) < maxAbove; dir = filepath.Dir(dir) {
		out = append(out, filepath.Join(dir, ".claude"))
		if dir == filepath.Dir(dir) || state.Exists(filepath.Join(dir, ".git")) {
			break
		}
	}
	return out
}

// Most hooks need none of them, so that they are made when they are needed.
var (
	manifestPath     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"\./([^"\\]*)"`) })
	frontmatterName  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^name:[ \t]*["']?([^"'\n]*?)["']?[ \t\r]*$`) })
	frontmatterShell = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?mi)^shell:.*powershell`) })
	placeholder      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$(ARGUMENTS(\[\d+\])?|\d+)`) })
	namedPlaceholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$(ARGUMENTS(\[\d+\])?|\d+|[A-Za-z_]\w*)`) })
)

// look looks through a folder, or at a file. Links out of the folder within lead to files
// of which nothing is certain. above are the names in front of theirs, "*" for those of a
// plugin. all says that every file counts, and not only those with the name of a skill's.
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
	entries, _ := state.Entries(at, max(s.left, 1)) // what cannot be read here Claude Code cannot read, either
	s.left -= len(entries)
	for _, e := range entries {
		if s.left > 0 {
			s.look(filepath.Join(at, e.Name()), within, append(slices.Clip(above), base), all)
		}
	}
}

// file looks into a file, if the name may mean it.
func (s *skillSearch) file(path, within string, names []string) {
	data, err := state.ReadLinked(path, maxSkillFile)
	text := strings.ReplaceAll(string(data), "\r\n", "\n") // as Claude Code does
	head, _, _ := strings.Cut(strings.TrimLeft(text, "-\r\n"), "\n---")
	also := frontmatterName().FindStringSubmatch(head + "\nname:")[1]
	if !s.means(names, also) {
		return
	}
	if err != nil {
		s.unknown = append(s.unknown, path+": its shell commands are unknown ("+err.Error()+"); make it a regular file of less than 1 MiB")
		return
	}
	tools, used := []string{"Bash"}, placeholder()
	if frontmatterShell().MatchString(head) {
		tools = append(tools, "PowerShell")
	}
	if strings.Contains("\n"+head, "\narguments:") {
		used = namedPlaceholder()
	}
	sure := paths.Within(paths.Real(within), paths.Real(path))
	for _, found := range shellTexts(text) {
		command, certain := s.filled(found, used)
		for _, tool := range tools {
			s.lines = append(s.lines, ShellLine{path, 1 + strings.Count(text[:found.at], "\n"), tool, command, certain && sure})
		}
	}
	if len(s.lines) > maxShellLines {
		s.left = 0
	}
}

// means reports whether the name may mean a file with these names. Whoever names it may
// leave out folders and the plugin.
func (s *skillSearch) means(names []string, also string) bool {
	last := len(s.name) - 1
	if !strings.EqualFold(s.name[last], names[len(names)-1]) && !strings.EqualFold(s.name[last], also[strings.LastIndex(also, ":")+1:]) {
		return false
	}
	return names[0] == "*" || !slices.ContainsFunc(s.name[:last], func(word string) bool {
		return !slices.ContainsFunc(append(strings.Split(also, ":"), names...), func(n string) bool { return strings.EqualFold(n, word) })
	})
}

// filled puts the arguments into a command, as Claude Code does before the shell reads it:
// as text. Which of them a number or a name stands for is not certain, so all of them
// stand for each.
func (s *skillSearch) filled(found shellText, used *regexp.Regexp) (text string, certain bool) {
	certain = !strings.Contains(found.text, "${CLAUDE_")
	text = used.ReplaceAllStringFunc(found.text, func(word string) string {
		certain = certain && word == "$ARGUMENTS"
		return s.args
	})
	text, _, _ = strings.Cut(text, found.end) // the arguments may hold what ends the command
	return text, certain
}

// shellText is what stands between two marks, end is the second.
type shellText struct {
	at        int
	text, end string
}

// shellTexts finds what Claude Code runs: !`command` behind a blank, and blocks between
// ```! and ``` (seen in 2.1.330 and 2.1.332). Marks in other marks count, too.
func shellTexts(text string) (out []shellText) {
	for at := 0; at < len(text) && len(out) <= maxShellLines; at++ {
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		end := "`"
		rest, is := strings.CutPrefix(text[at:], "!`")
		if is = is && (at == 0 || unicode.IsSpace(before) || before == '\ufeff'); !is {
			end = "```"
			rest, is = strings.CutPrefix(text[at:], "```!")
		}
		block, _, closed := strings.Cut(rest, end)
		if command := strings.TrimLeftFunc(block, unicode.IsSpace); is && closed && command != "" {
			out = append(out, shellText{len(text) - len(rest) + len(block) - len(command), strings.TrimSpace(command), end})
		}
	}
	return out
}
