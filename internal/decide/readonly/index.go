package readonly

import (
	"slices"

	"cardea.dev"
	"cardea.dev/internal/gitindex"
	"cardea.dev/internal/knowledge/files"
)

// contents reports whether a git command shows what files hold, and not only
// their names, who changed them and when. What it is not told about by name is
// taken for one that does.
func contents(p *cardea.Part) bool {
	if len(p.Command) < 2 {
		return false
	}
	switch p.Command[1] {
	case "status":
		return hasOption(p, "-v", "-vv", "--verbose")
	case "branch", "tag", "remote", "config", "rev-parse", "rev-list", "shortlog", "ls-files", "ls-tree", "describe", "name-rev", "for-each-ref", "show-ref",
		"show-branch", "merge-base", "cherry", "count-objects", "check-ignore", "check-attr", "check-ref-format", "check-mailmap", "symbolic-ref", "fsck", "worktree",
		"hash-object", "patch-id", "stripspace", "bisect", "notes", "sparse-checkout", "bundle", "replace", "verify-pack", "show-index", "apply", "version", "help":
		return false
	case "blame", "annotate":
		return false // of its operand alone, which is an access
	case "log", "reflog", "stash":
		return p.Command[1] == "stash" && len(p.Command) > 2 && p.Command[2] == "show" || patches(p)
	case "diff":
		return !onlyNames(p)
	}
	return true
}

// patches reports options with which git log shows patches (git-log(1), "Diff
// formatting").
func patches(p *cardea.Part) bool {
	for _, o := range p.Options {
		switch o.Name {
		case "-p", "-u", "--patch", "-U", "--unified", "--patch-with-raw", "--patch-with-stat", "-W", "--function-context", "--word-diff", "--word-diff-regex", "--color-words",
			"-L", "--check", "-c", "--cc", "-m", "--dd", "--remerge-diff", "--diff-merges", "--binary", "-a", "--text", "--color-moved", "--inter-hunk-context", "--full-index":
			return true
		}
	}
	return false
}

func hasOption(p *cardea.Part, names ...string) bool {
	return slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return slices.Contains(names, o.Name) })
}

// onlyNames reports options with which git diff says which files differ, and not
// how. Git show shows what a blob holds whatever its options say.
func onlyNames(p *cardea.Part) bool {
	names := false
	for _, o := range p.Options {
		switch o.Name {
		case "--stat", "--numstat", "--shortstat", "--dirstat", "--summary", "--name-only", "--name-status", "--raw", "-s", "--no-patch", "--quiet", "--compact-summary":
			names = true
		}
	}
	return names && !patches(p)
}

// secrets reports whether an index may list a file whose name is that of a
// secret. Names that only end like a key do not count: keys of tests are tracked
// everywhere.
func secrets(x gitindex.Index) bool {
	f := x.Find(func(name string, mode uint32) bool {
		return mode == gitindex.Folder || files.MayHoldSecret("/"+name) && !files.EndsLikeKey(name)
	})
	return f.Such || f.Broken || f.Elsewhere
}

// links reports whether an index may link to another repository.
func links(x gitindex.Index) bool {
	f := x.Find(func(_ string, mode uint32) bool { return mode == gitindex.Link })
	return f.Such || f.Broken || f.Elsewhere
}

// maxIndex bounds the index that is looked through, in bytes.
const maxIndex = 8 << 20
