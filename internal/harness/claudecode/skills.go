package claudecode

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cardea.dev/internal/harness"
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
	Tool    string
	Command string
	// Certain is unset where what runs may be another text.
	Certain bool
}

// SkillPlaces are where Claude Code looks for skills and slash commands.
type SkillPlaces struct {
	// Folders have a folder .claude: that of the session, those above it, and further ones
	// that were added to the work. Configs are such folders by other names.
	Folders, Configs []string
	// Plugins are the folders of plugins.
	Plugins []string
}

const (
	// maxSkillFile is how much of a file Claude Code loads, in bytes.
	maxSkillFile = 1 << 20
	// maxSkillEntries bounds the entries of folders that are looked at for one name,
	// maxSkillDepth how deep they are, maxShellLines the commands.
	maxSkillEntries, maxSkillDepth, maxShellLines = 8192, 8, 64
)

// skillSearch looks for the files that a name may mean.
type skillSearch struct {
	name    []string
	args    string
	left    int // entries that may still be looked at
	seen    []string
	lines   []ShellLine
	unknown []string
}

// ShellLines finds the shell commands in all files that the name of a skill or slash
// command may mean, with its arguments put in. unknown says which files cannot be looked
// into, and why. Names are compared generously: which file wins differs by version.
func (p SkillPlaces) ShellLines(name, args string) (lines []ShellLine, unknown []string) {
	s := &skillSearch{name: strings.Split(strings.TrimPrefix(name, "/"), ":"), args: args, left: maxSkillEntries}
	configs := slices.Clone(p.Configs)
	for _, dir := range p.Folders {
		configs = append(configs, filepath.Join(dir, ".claude"))
	}
	for _, dir := range configs {
		s.look(filepath.Join(dir, "commands"), filepath.Dir(dir), nil, true)
		s.look(filepath.Join(dir, "skills"), filepath.Dir(dir), nil, false)
	}
	for _, root := range p.Plugins {
		s.plugin(root)
	}
	if s.left <= 0 {
		s.unknown = append(s.unknown, "there are too many files of skills and slash commands to look at all; remove some")
	}
	return s.lines, s.unknown
}

// ProjectFolders are the folders in which Claude Code looks for skills of a project: one,
// and those above it up to the root of its repository.
func ProjectFolders(start string) (out []string) {
	for dir := start; dir != "" && len(out) < maxAbove; dir = filepath.Dir(dir) {
		out = append(out, dir)
		if dir == filepath.Dir(dir) || state.Exists(filepath.Join(dir, ".git")) {
			break
		}
	}
	return out
}

// plugin looks in the folders of a plugin, and in those that its manifest names.
func (s *skillSearch) plugin(root string) {
	name := []string{"*"}
	dirs := []string{"commands", "skills"}
	if p, err := readObject(filepath.Join(root, ".claude-plugin", "plugin.json"), "", nil); err == nil && p != nil {
		if text := p.Text("name"); text != "" {
			name = []string{text}
		}
		for _, key := range []string{"commands", "skills"} {
			for _, v := range values(p, key) {
				dirs = append(dirs, pathsIn(v)...)
			}
		}
	}
	for _, dir := range dirs {
		s.look(filepath.Join(root, filepath.FromSlash(dir)), root, name, true)
	}
}

// pathsIn are the texts in a value of a manifest: a path, a list of them, or objects that
// hold one.
func pathsIn(value any) (out []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, e := range v {
			out = append(out, pathsIn(e)...)
		}
	case *harness.Object:
		for _, e := range v.Entries() {
			out = append(out, pathsIn(e.Value)...)
		}
	}
	return out
}

// look looks through a folder, or at a file. within is the folder that its files do not
// lead out of, above are the names in front of theirs; commands says that every file counts.
func (s *skillSearch) look(at, within string, above []string, commands bool) {
	entries, err := state.Entries(at, max(s.left, 1))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		s.file(at, within, append(above, strings.TrimSuffix(filepath.Base(at), ".md")))
		return
	case s.left <= 0 || len(above) > maxSkillDepth:
		s.left = 0
		return
	}
	s.left -= len(entries)
	if i := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return strings.EqualFold(e.Name(), "SKILL.md") }); i >= 0 {
		s.file(filepath.Join(at, entries[i].Name()), within, append(slices.Clip(above), filepath.Base(at)))
		if !commands {
			return // what lies beside it belongs to the skill
		}
	}
	for _, e := range entries {
		path, base := filepath.Join(at, e.Name()), e.Name()
		is, err := os.Stat(path)
		switch {
		case err == nil && is.IsDir():
			s.look(path, within, append(slices.Clip(above), base), commands)
		case commands && strings.EqualFold(filepath.Ext(base), ".md"):
			s.file(path, within, append(slices.Clip(above), base[:len(base)-len(".md")]))
		}
	}
}

var (
	frontmatterName  = regexp.MustCompile(`(?m)^name:[ \t]*["']?([^"'\n]*?)["']?[ \t\r]*$`)
	frontmatterShell = regexp.MustCompile(`(?mi)^shell:.*powershell`)
	placeholder      = regexp.MustCompile(`\$(ARGUMENTS(\[\d+\])?|\d+)`)
	namedPlaceholder = regexp.MustCompile(`\$(ARGUMENTS(\[\d+\])?|\d+|[A-Za-z_]\w*)`)
)

// file looks into a file, if the name may mean it.
func (s *skillSearch) file(path, within string, names []string) {
	real := paths.Real(path)
	if slices.Contains(s.seen, real) {
		return
	}
	data, err := state.ReadLinked(path, maxSkillFile)
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	head, _, _ := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---")
	also := ""
	if m := frontmatterName.FindStringSubmatch(head); m != nil && len(head) < len(text) {
		also = m[1]
	}
	if !s.means(names, also) || errors.Is(err, fs.ErrNotExist) {
		return
	}
	s.seen = append(s.seen, real)
	if err != nil {
		s.unknown = append(s.unknown, path+": its shell commands are unknown ("+err.Error()+"); make it a regular file of less than 1 MiB")
		return
	}
	tools := []string{"Bash"}
	if frontmatterShell.MatchString(head) {
		tools = append(tools, "PowerShell")
	}
	used := placeholder
	if strings.Contains(head, "\narguments:") {
		used = namedPlaceholder
	}
	sure := paths.Within(paths.Real(within), real)
	for _, found := range shellTexts(text) {
		if len(s.lines) >= maxShellLines {
			s.unknown = append(s.unknown, path+": it has too many shell commands to look at all; split the file")
			return
		}
		command, certain := s.filled(found, used)
		for _, tool := range tools {
			s.lines = append(s.lines, ShellLine{File: path, Line: 1 + strings.Count(text[:found.at], "\n"), Tool: tool, Command: command, Certain: certain && sure})
		}
	}
}

// means reports whether the name may mean a file. Whoever names it may leave folders and
// the plugin out.
func (s *skillSearch) means(names []string, also string) bool {
	last := len(s.name) - 1
	if also != "" && strings.EqualFold(strings.Join(s.name, ":"), also) {
		return true
	}
	if !strings.EqualFold(s.name[last], names[len(names)-1]) && (also == "" || !strings.EqualFold(s.name[last], also)) {
		return false
	}
	return !slices.ContainsFunc(s.name[:last], func(word string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return n == "*" || strings.EqualFold(n, word) })
	})
}

// filled puts the arguments into a command, as Claude Code does before the shell reads it:
// as text. Which of them a number or a name stands for is not certain, so all of them
// stand for each.
func (s *skillSearch) filled(found shellText, used *regexp.Regexp) (text string, certain bool) {
	certain = true
	text = used.ReplaceAllStringFunc(found.text, func(word string) string {
		certain = certain && word == "$ARGUMENTS"
		return s.args
	})
	text, _, _ = strings.Cut(text, found.end) // the arguments may hold what ends the command
	return text, certain && !strings.Contains(text, "${CLAUDE_")
}

// shellText is what stands between two marks, end is the second.
type shellText struct {
	at        int
	text, end string
}

// shellTexts finds what Claude Code runs: !`command` behind a blank, and blocks between
// ```! and ``` (seen in 2.1.330 and 2.1.332). Marks in other marks count, too.
func shellTexts(text string) (out []shellText) {
	add := func(at int, rest, end string) {
		block, _, closed := strings.Cut(rest, end)
		if command := strings.TrimLeftFunc(block, unicode.IsSpace); closed && command != "" {
			out = append(out, shellText{at + len(block) - len(command), strings.TrimSpace(command), end})
		}
	}
	for at := 0; at < len(text) && len(out) <= maxShellLines; at++ {
		rest := text[at:]
		if block, is := strings.CutPrefix(rest, "```!"); is {
			add(at+len("```!"), block, "```")
		}
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		if inline, is := strings.CutPrefix(rest, "!`"); is && (at == 0 || unicode.IsSpace(before) || before == '\ufeff') {
			add(at+len("!`"), inline, "`")
		}
	}
	return out
}
