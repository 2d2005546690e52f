package evidence

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/paths"
)

// keepsTree reports whether a part is git, doing something that changes none of
// the files that it looks after, and starting no program that it was told in
// the line.
func keepsTree(p *cardea.Part) bool {
	if len(p.Command) < 2 || p.Command[0] != "git" {
		return false
	}
	switch p.Command[1] {
	case "add", "commit", "push", "status", "diff", "log", "show", "fetch", "branch", "tag":
	case "checkout", "switch": // to a new branch, which begins here
		if len(p.Operands) > 0 || !slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return o.Name == "-b" || o.Name == "-c" || o.Name == "--create" }) ||
			slices.ContainsFunc(p.Options, func(o cardea.Option) bool {
				return o.Name == "-f" || strings.HasPrefix(o.Name, "--") && o.Name != "--create" && o.Name != "--quiet"
			}) {
			return false
		}
	default:
		return false
	}
	return !slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return starts(p, o) }) &&
		!slices.ContainsFunc(p.Assigns, func(a cardea.Assign) bool { return a.Class == cardea.EnvDangerous && !harmless(a) })
}

// starts reports options that name a program, or settings that may (git(1),
// git-fetch(1), git-push(1)).
func starts(p *cardea.Part, o cardea.Option) bool {
	for _, name := range []string{"--config-env", "--exec-path", "--git-dir", "--upload-pack", "--receive-pack", "--exec"} {
		if len(o.Name) >= len("--e") && strings.HasPrefix(name, o.Name) {
			return true
		}
	}
	if o.Name != "-c" || o.Word >= subcommand(p) {
		return false
	}
	key, value, _ := strings.Cut(o.Value, "=")
	section, _, _ := strings.Cut(strings.ToLower(key), ".")
	switch section {
	case "user", "author", "committer", "color", "advice", "init", "push", "pull", "http", "safe", "protocol", "gc", "i18n":
		return !o.Static
	}
	switch strings.ToLower(key) {
	case "commit.gpgsign", "tag.gpgsign", "core.quotepath", "core.autocrlf", "core.safecrlf", "core.filemode", "core.abbrev", "diff.renames", "log.showsignature":
		return !o.Static
	case "core.pager", "core.editor", "sequence.editor":
		return !o.Static || !slices.Contains(idle, value)
	}
	return true
}

// idle are programs that write no file when they are a pager or an editor.
var idle = []string{"", "cat", "true", ":", "less"}

// harmless reports variables of git that name no program, or one that is idle
// (git(1), ENVIRONMENT VARIABLES).
func harmless(a cardea.Assign) bool {
	switch a.Name {
	case "GIT_PAGER", "PAGER", "GIT_EDITOR", "EDITOR", "VISUAL":
		return a.Static && slices.Contains(idle, a.Value)
	case "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "GIT_MERGE_AUTOEDIT", "GIT_LITERAL_PATHSPECS":
		return true
	}
	return strings.HasPrefix(a.Name, "GIT_AUTHOR_") || strings.HasPrefix(a.Name, "GIT_COMMITTER_") || strings.HasPrefix(a.Name, "LESS")
}

// subcommand is the place of git's subcommand among the words of a part.
func subcommand(p *cardea.Part) int {
	for i := 1; i < len(p.Argv) && len(p.Command) > 1; i++ {
		value := slices.ContainsFunc(p.Options, func(o cardea.Option) bool {
			return o.Word == i-1 && p.Argv[o.Word].Text == o.Name && o.Value == p.Argv[i].Text
		})
		if p.Argv[i].Text == p.Command[1] && !value {
			return i
		}
	}
	return 0 // git-commit: all its options are the subcommand's
}

// folders are those whose repositories a part of git works in; false where the
// line hides one.
func folders(p *cardea.Part) ([]string, bool) {
	dir, known := p.Dir, p.Dir != ""
	join := func(value string, static bool) string {
		known = known && static
		if filepath.IsAbs(value) {
			return filepath.Clean(value)
		}
		return filepath.Join(dir, value)
	}
	var out []string
	other := func(name, value string, static bool) {
		switch name {
		case "--git-dir", "GIT_DIR":
			out = append(out, strings.TrimSuffix(join(value, static), string(filepath.Separator)+".git"))
		case "--work-tree", "GIT_WORK_TREE":
			out = append(out, join(value, static))
		}
	}
	at := subcommand(p)
	for _, o := range p.Options {
		if o.Name == "-C" && o.Word < at {
			dir = join(o.Value, o.Static)
		}
	}
	for _, o := range p.Options {
		if o.Word < at {
			other(o.Name, o.Value, o.Static)
		}
	}
	for _, a := range p.Assigns {
		other(a.Name, a.Value, a.Static)
	}
	return append(out, dir), known
}

// tree is the folder whose checks count for what is done in a folder: the project,
// for its own repository and for what lies in it besides; else the repository that
// the folder lies in. Another working tree of a repository is one of its own
// wherever it lies, since other files stand there (git-worktree(1)).
func (s Store) tree(dir string) string {
	dir = paths.Real(dir)
	root := repository(dir)
	switch {
	case root == "" && !paths.Within(s.project, dir):
		return dir
	case root == "" || root == repository(s.project):
		return s.project
	case paths.Within(s.project, root) && !linked(root):
		return s.project
	}
	return root
}

// repository is the folder of the repository that a folder lies in, "" for none.
func repository(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// linked reports whether a folder is another working tree of a repository: its
// file .git leads there, and not to a submodule's (gitrepository-layout(5)).
func linked(root string) bool {
	data, err := os.ReadFile(filepath.Join(root, ".git"))
	return err == nil && strings.Contains(filepath.ToSlash(string(data)), "/worktrees/")
}

// of is the store of a repository.
func (s Store) of(tree string) Store {
	if tree == s.project {
		return s
	}
	return New(s.state, tree, tree)
}
