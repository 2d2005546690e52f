package readonly

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/gitindex"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

// git returns the reason why a git command that only reads may still execute something, or
// "". Git takes commands from the repository's configuration, which the agent may have
// written (CVE-2022-24765, CVE-2024-32002 and others; git-config(1)). So git is trusted
// only in the project's own repository, and only if all of its configuration is known.
func (c *evaluation) git(p *cardea.Part) string {
	sub := subcommand(p)
	elsewhere, _ := knowledge.WordsOf(form.ChangesConfigurationWith, p.Program())
	folder, _ := knowledge.WordsOf(form.ChangesFolderWith, p.Program())
	for _, o := range p.Options {
		if o.Word > sub {
			continue // the options -c of git log and -C of git diff have other meanings
		}
		if slices.Contains(elsewhere, o.Name) {
			return "git is told another configuration or repository"
		}
	}
	for i := range c.ev.Call.Parts {
		for _, a := range c.ev.Call.Parts[i].Access {
			if (a.Kind == cardea.Write || a.Kind == cardea.Delete) && (a.Path == "" || strings.Contains(a.Path+"/", "/.git/") || strings.Contains(a.Spelled+"/", "/.git/")) {
				return "the call writes where git is configured"
			}
		}
	}
	dir := p.Dir
	for _, o := range p.Options {
		if !slices.Contains(folder, o.Name) || o.Word > sub {
			continue
		}
		if !o.Static || o.Value == "" || strings.HasPrefix(o.Value, "~") {
			return "it is not known in which folder git runs"
		}
		if len(p.Operands) > 0 {
			return "git reads its operands in another folder"
		}
		if path.IsAbs(o.Value) {
			dir = o.Value
		} else if dir != "" {
			dir += "/" + o.Value
		}
	}
	if dir == "" {
		return "it is not known in which folder git runs"
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "it is not known in which folder git runs"
	}
	dir = filepath.ToSlash(real)
	why, ok := c.repo[dir]
	if !ok {
		why = c.repository(dir)
		c.repo[dir] = why
	}
	if why == "" && knowledge.ShowsContents(p) && slices.ContainsFunc(c.indexes, secrets) {
		return "a secret is committed here, and git may show it"
	}
	if why == "" && knowledge.Has(form.ShowsAddresses, p.Command...) && (c.userinfo || c.personal()) {
		return "an address of the repository may hold a password"
	}
	if why == "" && knowledge.Has(form.ComparesFiles, p.Command...) && c.compares(p, dir) {
		return "git compares what lies outside of the repository, with all below it"
	}
	return why
}

// compares reports whether git diff reads files outside of a repository: if it runs outside
// of one, or if an operand is outside of it (git-diff(1), --no-index).
func (c *evaluation) compares(p *cardea.Part, dir string) bool {
	root := dir
	for ; ; root = path.Dir(root) {
		if _, err := os.Lstat(root + "/.git"); err == nil {
			break
		}
		if root == path.Dir(root) {
			return len(p.Operands) > 0
		}
	}
	return slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind == cardea.Read && !a.Redirect && !paths.Within(root, a.Path) })
}

// subcommand returns the index of git's subcommand among the words, the first that is not
// an option or an option's value. Without a subcommand it returns len(p.Argv).
func subcommand(p *cardea.Part) int {
	for i := 1; i < len(p.Argv); i++ {
		if !p.Argv[i].Static || !strings.HasPrefix(p.Argv[i].Text, "-") {
			return i
		}
		for _, o := range p.Options {
			if o.Word == i && o.Name == p.Argv[i].Text && i+1 < len(p.Argv) && o.Value != "" && o.Value == p.Argv[i+1].Text {
				i++
				break
			}
		}
	}
	return len(p.Argv)
}

// personal reports whether the person's git configuration contains addresses with a user
// name or password, which git may substitute (url.*.insteadOf), or includes other files.
func (c *evaluation) personal() bool {
	for _, name := range []string{"/.gitconfig", "/.config/git/config"} {
		if _, err := os.Lstat(c.about.Home + name); err != nil {
			continue
		}
		data, err := state.ReadLinked(c.about.Home+name, 256<<10)
		if text := string(data); err != nil || holdsUserinfo(text) || strings.Contains(strings.ToLower(text), "[include") {
			return true
		}
	}
	return false
}

// holdsUserinfo reports whether a text contains a URL with a user name or password, such as
// https://token@github.com/.
func holdsUserinfo(text string) bool {
	for {
		_, rest, ok := strings.Cut(text, "://")
		if !ok {
			return false
		}
		end := strings.IndexAny(rest, "/ \t\r\n\"")
		if end < 0 {
			end = len(rest)
		}
		if at := strings.LastIndexByte(rest[:end], '@'); at >= 0 && (!strings.HasSuffix(text[:len(text)-len(rest)], "ssh://") || strings.Contains(rest[:at], ":")) {
			return true
		}
		text = rest
	}
}

// repository returns the reason why the repository that git finds from a folder is not the
// project's own, or may execute something. It returns "" if there is no such reason.
func (c *evaluation) repository(dir string) string {
	if !paths.WithinAny(c.trees(), dir) {
		return "git runs outside of the working tree"
	}
	for at := dir; ; at = path.Dir(at) {
		if _, err := os.Lstat(at + "/HEAD"); err == nil {
			return "the folder looks like a bare repository: " + at
		}
		info, err := os.Lstat(at + "/.git")
		if err != nil {
			if !paths.WithinAny(c.trees(), path.Dir(at)) {
				return "" // no repository in the work: git fails, or uses one of the person in a folder above
			}
			continue
		}
		// A repository below the root of the work was added by others.
		inside := paths.WithinAny(c.trees(), path.Dir(at))
		if inside && info.IsDir() {
			return anotherRepository + at
		}
		if _, err := os.Lstat(at + "/.gitmodules"); err == nil {
			return "git looks into submodules, whose configuration is not looked at"
		}
		if !info.IsDir() {
			return c.worktree(at, inside)
		}
		return c.configuration(at+"/.git", at+"/.git", at)
	}
}

const anotherRepository = "another repository lies inside of the project: "

// worktree checks the .git file of a linked worktree, and returns the reason not to trust
// its repository, or "". The repository must be the project's own, or one of the person
// outside of the work and of temporary folders.
func (c *evaluation) worktree(at string, inside bool) string {
	data, err := state.ReadLinked(at+"/.git", 4096)
	link, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
	if err != nil || !ok || !path.IsAbs(link) || path.Clean(link) != link || strings.ContainsAny(link, "\n\r") {
		return "the .git file cannot be read"
	}
	common := path.Dir(link)
	if path.Base(common) != "worktrees" || path.Base(path.Dir(common)) != ".git" {
		return "the .git file leads to something else than a worktree's folder"
	}
	common, own := path.Dir(common), link
	// The project's own repository is checked as in the project's folder.
	ours := slices.ContainsFunc(c.trees(), func(tree string) bool { return common == tree+"/.git" })
	if inside && !ours {
		return anotherRepository + at
	}
	if !ours && (paths.WithinAny(c.about.Temp, common) || paths.WithinAny(c.trees(), common)) {
		return "the repository lies in a folder that the agent may write"
	}
	back, err := state.ReadLinked(own+"/commondir", 4096)
	if real, rerr := filepath.EvalSymlinks(own); err != nil || rerr != nil || filepath.ToSlash(real) != own || strings.TrimSpace(string(back)) != "../.." {
		return "the folder of the worktree leads to another repository"
	}
	return c.configuration(common, own, at)
}

// configuration returns the reason why a repository's own configuration is not harmless, or
// "".
func (c *evaluation) configuration(common, own, tree string) string {
	if why := c.linked(common, own); why != "" {
		return why
	}
	// commondir moves the configuration to another folder, alternates the objects.
	for _, name := range []string{tree + "/.git/commondir", common + "/commondir", common + "/objects/info/alternates"} {
		if _, err := os.Lstat(name); err == nil {
			return "the repository takes parts of itself from elsewhere: " + path.Base(name)
		}
	}
	hash := 20
	for _, name := range []string{common + "/config", own + "/config.worktree"} {
		if _, err := os.Lstat(name); err != nil {
			continue
		}
		data, err := state.ReadLinked(name, 256<<10)
		if err != nil {
			return "the configuration of the repository cannot be read"
		}
		c.userinfo = c.userinfo || holdsUserinfo(string(data))
		hooks, format, why := configured(string(data))
		if format == "sha256" {
			hash = 32
		}
		if why != "" {
			return "the configuration of the repository may execute something: " + why
		}
		if hooks != "" && !path.IsAbs(hooks) {
			hooks = path.Join(tree, hooks)
		}
		if hooks != "" {
			if _, err := os.Lstat(hooks + "/post-index-change"); err == nil {
				return "a hook of the repository runs"
			}
		}
	}
	if _, err := os.Lstat(common + "/hooks/post-index-change"); err == nil {
		return "a hook of the repository runs"
	}
	if _, err := os.Lstat(own + "/index"); err != nil {
		return ""
	}
	data, err := state.ReadLinked(own+"/index", maxIndex)
	if err != nil {
		return "the index of the repository cannot be read"
	}
	index := gitindex.Index{Data: data, Hash: hash}
	c.indexes = append(c.indexes, index)
	if links(index) {
		return "the index may link to another repository, in which git runs, too"
	}
	return ""
}

// maxEntries is the most entries of a folder that are checked.
const maxEntries = 4000

// linked returns the reason why a part of the repository may be in another folder, or "".
func (c *evaluation) linked(common, own string) string {
	for _, dir := range []string{common, own, common + "/objects", common + "/objects/pack", common + "/objects/info", common + "/info", common + "/refs"} {
		entries, err := state.Entries(dir, maxEntries)
		if len(entries) == maxEntries {
			return "there is too much in " + dir
		}
		if err != nil && len(entries) == 0 {
			continue // there are no entries, or git cannot read them either
		}
		for _, e := range entries {
			if e.Type()&fs.ModeSymlink != 0 && e.Name() != "hooks" {
				return "a part of the repository lies elsewhere: " + e.Name()
			}
		}
	}
	return ""
}

// configured parses a git configuration file. It returns the folder of hooks, the object
// format, and the first setting not known to be harmless. Unexpected syntax is not
// harmless.
func configured(text string) (hooks, format, bad string) {
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if line[0] == '[' {
			if !plainHeader(line) {
				return "", "", line
			}
			section = strings.ToLower(line[1 : len(line)-1])
			continue
		}
		// Quotes, comments and escapes are not parsed.
		if strings.ContainsAny(line, "\"#;\\") {
			return "", "", line
		}
		key, value, _ := strings.Cut(line, "=")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		name, _, _ := strings.Cut(section, " ")
		if strings.HasSuffix(value, "\\") {
			return "", "", section + "." + key
		}
		if name == "core" && key == "hookspath" {
			hooks = strings.Trim(value, `"`)
			continue
		}
		if name == "extensions" && key == "objectformat" {
			format = strings.ToLower(value)
		}
		if name == "core" && key == "fsmonitor" && (value == "false" || value == "true") {
			continue
		}
		if !harmlessKey(name, section != name, key) {
			return "", "", name + "." + key
		}
	}
	return hooks, format, ""
}

// plainHeader reports whether a section header has the form that git writes: no text after
// it, and no escapes in its quotes.
func plainHeader(line string) bool {
	inner, ok := strings.CutSuffix(line[1:], "]")
	name, sub, quoted := strings.Cut(inner, " ")
	if !ok || name == "" || strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" {
		return false
	}
	if !quoted {
		return true
	}
	return len(sub) >= 2 && sub[0] == '"' && sub[len(sub)-1] == '"' && !strings.ContainsAny(sub[1:len(sub)-1], "\"\\]")
}

// harmlessKey reports whether a setting makes reading commands neither execute programs nor
// contact hosts (git-config(1) of git 2.45).
func harmlessKey(section string, sub bool, key string) bool {
	switch section {
	case "core":
		return slices.Contains([]string{"repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode", "symlinks", "autocrlf", "eol",
			"safecrlf", "abbrev", "quotepath", "compression", "untrackedcache", "preloadindex", "checkstat", "trustctime", "longpaths", "protecthfs",
			"protectntfs", "commentchar", "whitespace", "sparsecheckout", "sparsecheckoutcone", "multipackindex", "splitindex"}, key)
	case "remote":
		return sub && (key == "url" || key == "fetch" || key == "pushurl" || key == "push" || key == "tagopt" || key == "prune" || key == "mirror" || key == "gh-resolved")
	case "branch":
		return true // remote, merge, rebase, description: names and numbers
	case "user", "author", "committer":
		return key == "name" || key == "email" || key == "signingkey" || key == "useconfigonly"
	case "init", "pull", "push", "fetch", "rebase", "gc", "color", "advice", "rerere", "status", "column", "feature", "maintenance", "index", "pack", "i18n", "http", "credential":
		return true // not used by commands that only read
	case "commit", "tag":
		return key == "gpgsign" || key == "verbose" || key == "cleanup" || key == "template" || key == "sort"
	case "merge":
		return !sub
	case "log":
		return key != "showsignature"
	case "diff":
		return !sub && key != "external" && key != "orderfile"
	case "extensions":
		return key == "worktreeconfig" || key == "objectformat" || key == "refstorage"
	case "submodule":
		return !sub && key == "recurse"
	}
	return false
}
