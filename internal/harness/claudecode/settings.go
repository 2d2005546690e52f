package claudecode

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"cardea.dev/internal/harness"
)

// maxSettings bounds a settings file. Claude Code's are a few kilobytes.
const maxSettings = 4 << 20

// scope is who a settings file speaks for, by DESIGN.md section 2.
type scope uint8

const (
	managedScope scope = iota
	localScope
	projectScope
	userScope
)

type settingsFile struct {
	path  string
	scope scope
}

// ManagedDir is the folder of Claude Code's managed settings on a platform, by
// its GOOS.
func ManagedDir(goos string) string {
	switch goos {
	case "darwin":
		return "/Library/Application Support/ClaudeCode"
	case "windows":
		return `C:\Program Files\ClaudeCode`
	}
	return "/etc/claude-code"
}

// settingsFiles lists Claude Code's settings files, the strongest first:
// managed, local, project, user (settings, "Precedence"). Project files are
// those of the project and of the root of its repository, where newer versions
// keep the local one.
func settingsFiles(configDir, project, managedDir string) []settingsFile {
	var out []settingsFile
	if managedDir != "" {
		more, _ := filepath.Glob(filepath.Join(managedDir, "managed-settings.d", "*.json"))
		sort.Strings(more)
		for _, f := range append([]string{filepath.Join(managedDir, "managed-settings.json")}, more...) {
			out = append(out, settingsFile{f, managedScope})
		}
	}
	for _, dir := range projectDirs(project) {
		out = append(out, settingsFile{filepath.Join(dir, ".claude", "settings.local.json"), localScope})
	}
	for _, dir := range projectDirs(project) {
		out = append(out, settingsFile{filepath.Join(dir, ".claude", "settings.json"), projectScope})
	}
	if configDir != "" {
		out = append(out, settingsFile{filepath.Join(configDir, "settings.json"), userScope})
	}
	return out
}

func projectDirs(project string) []string {
	if project == "" {
		return nil
	}
	out := []string{project}
	for dir := project; ; {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			if dir != project {
				out = append(out, dir)
			}
			return out
		}
		up := filepath.Dir(dir)
		if up == dir {
			return out
		}
		dir = up
	}
}

// readObject reads a JSON file, nil where it does not exist. A pipe or device
// in its place would hang the hook, so only regular files are opened.
func readObject(file string) (*harness.Payload, error) {
	info, err := os.Stat(file)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; make the file readable", file, err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxSettings {
		return nil, fmt.Errorf("%s: no regular file of less than %d bytes; replace it", file, maxSettings)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; make the file readable", file, err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w; make the file readable", file, err)
	}
	p, err := harness.Read(raw)
	if err != nil {
		// Read speaks of stdin; what counts here is what was found.
		return nil, fmt.Errorf("%s: no JSON object (%s); mend the file", file, found(err))
	}
	return p, nil
}

// found cuts the words about stdin from an error of harness.Read.
func found(err error) string {
	s := strings.TrimPrefix(err.Error(), harness.ErrNoObject.Error()+": ")
	if i := strings.LastIndex(s, ";"); i > 0 {
		s = s[:i]
	}
	return s
}

// values gives the value of every occurrence of a key, since it is the
// reader's choice which of them counts.
func values(p *harness.Payload, key string) []any { return valuesOf(p.Root(), key) }

func valuesOf(o *harness.Object, key string) []any {
	var out []any
	for _, e := range o.Entries() {
		if e.Key == key {
			out = append(out, e.Value)
		}
	}
	return out
}

// Ask is an entry of permissions.ask.
type Ask struct {
	// Rule is the entry as written: "Bash(git push *)".
	Rule string
	// File is where it stands.
	File string
}

// Asks are the entries of permissions.ask that are in force for a session. It
// does not know those of --settings and of the session itself.
type Asks struct {
	Entries []Ask
	// Problems are the files that could not be read, with the reason. An
	// unreadable file may hold any entry.
	Problems []string
}

// AskEntries reads permissions.ask from Claude Code's settings: those of the
// person in configDir (~/.claude), of the project, and managed ones in
// managedDir (see [ManagedDir]). "" leaves a place out.
func AskEntries(configDir, project, managedDir string) Asks {
	var out Asks
	for _, f := range settingsFiles(configDir, project, managedDir) {
		p, err := readObject(f.path)
		if err != nil {
			out.Problems = append(out.Problems, err.Error())
			continue
		}
		if p == nil {
			continue
		}
		for _, perms := range values(p, "permissions") {
			out.add(f.path, perms)
		}
	}
	return out
}

func (a *Asks) add(file string, permissions any) {
	o, ok := permissions.(*harness.Object)
	if !ok {
		a.Problems = append(a.Problems, file+": permissions is no object; mend the file")
		return
	}
	for _, v := range valuesOf(o, "ask") {
		list, ok := v.([]any)
		if !ok {
			a.Problems = append(a.Problems, file+": permissions.ask is no list; mend the file")
		}
		for _, e := range list {
			rule, ok := e.(string)
			if !ok {
				a.Problems = append(a.Problems, file+": permissions.ask holds something that is no text; mend the file")
				continue
			}
			a.Entries = append(a.Entries, Ask{Rule: rule, File: file})
		}
	}
}

// Unreadable lists the patterns of files whose reading Claude Code's settings
// deny or ask about: "./.env" of Read(./.env), "**" of a bare Read and of what
// cannot be read. The arguments are those of [AskEntries].
func Unreadable(configDir, project, managedDir string) []string {
	var out []string
	for _, f := range settingsFiles(configDir, project, managedDir) {
		p, err := readObject(f.path)
		if err != nil {
			out = append(out, "**")
		}
		if p == nil {
			continue
		}
		for _, perms := range values(p, "permissions") {
			o, _ := perms.(*harness.Object)
			for _, v := range append(valuesOf(o, "deny"), valuesOf(o, "ask")...) {
				list, _ := v.([]any)
				for _, e := range list {
					if rule, ok := e.(string); ok && ruleConcerns(rule, "Read") {
						out = append(out, readPattern(rule))
					}
				}
			}
		}
	}
	return out
}

func readPattern(rule string) string {
	_, pattern, scoped := strings.Cut(strings.TrimSpace(rule), "(")
	if pattern = strings.TrimSuffix(pattern, ")"); !scoped || pattern == "" {
		return "**"
	}
	return pattern
}

// MayConcern reports whether an entry may ask about calls of a tool, by its
// canonical name. It does not look at what is in the parentheses, and it takes
// what it cannot read for a yes: what a yes costs is a prompt that would have
// come anyway.
func (a Asks) MayConcern(tool string) bool {
	if len(a.Problems) > 0 {
		return true
	}
	for _, e := range a.Entries {
		if ruleConcerns(e.Rule, tool) {
			return true
		}
	}
	return false
}

func ruleConcerns(rule, tool string) bool {
	rule = strings.TrimSpace(rule)
	name, _, scoped := strings.Cut(rule, "(")
	name = strings.TrimSpace(name)
	if name == "" || scoped && !strings.HasSuffix(rule, ")") {
		return true
	}
	for _, word := range rulesWords(tool) {
		if ok, err := path.Match(name, word); ok || err != nil {
			return true
		}
	}
	// "mcp__server" covers all tools of the server.
	return strings.HasPrefix(tool, "mcp__") && strings.HasPrefix(tool, name+"__")
}

// rulesWords lists the tool names under which rules speak about a tool
// (permissions, "Tool-specific rules"): path rules are written for Read and
// Edit and reach the other file tools, the file commands of a shell and its
// redirections.
func rulesWords(tool string) []string {
	switch tool {
	case "Bash", "Monitor", "PowerShell":
		return []string{tool, "Bash", "Read", "Edit"}
	case "Write", "MultiEdit", "NotebookEdit", "Edit", "apply_patch":
		return []string{tool, "Edit", "Read"}
	case "Grep", "Glob":
		return []string{tool, "Read"}
	case "Agent":
		return []string{tool, "Task"}
	}
	return []string{tool}
}
