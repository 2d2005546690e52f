package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Names selects the files that a command of git shows.
type Names struct {
	// Kind is "tracked" or "found" for files of the index or of revisions, and "changes" for files
	// that differ between the working tree, the index and revisions. It is "commits" for files
	// that the commits up to the revisions change, and "objects" for those that the revisions
	// change. "copies" also includes "tracked" of the last commit, "named" only named files.
	Kind string
	// Revisions and Paths are the arguments of the command, Chose its options that choose commits.
	Revisions, Paths, Chose []string
	// Staged is set if the index is compared, not the working tree. Recorded is set if the
	// line has put the files of the working tree into the index or a commit before.
	Staged, Recorded bool
}

// maxNames is the size in bytes up to which a list of files from git is read.
const maxNames = 4 << 20

// Show returns the root of the working tree and the names relative to it. root is that
// root if it is known, else "".
func (r Repository) Show(ctx context.Context, root string, n Names) (_ string, names []string, err error) {
	if root == "" {
		top, err := r.Run(ctx, nil, MaxLine, "rev-parse", "--show-toplevel")
		if err != nil {
			return "", nil, err
		}
		root = strings.TrimSuffix(string(top), "\n")
	}
	named := len(n.Revisions) > 0
	if err := r.resolve(ctx, &n); err != nil || n.Kind == "named" || named && len(n.Revisions)+len(n.Paths) == 0 {
		return root, nil, err
	}
	paths := append([]string{"--"}, n.Paths...)
	list := func(args ...string) {
		if err == nil {
			var out []byte
			out, err = r.Run(ctx, nil, maxNames, append(args, paths...)...)
			names = append(names, split(out)...)
		}
	}
	differ := []string{"--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--no-relative"}
	switch {
	case n.Kind == "commits" || n.Kind == "objects":
		if n.Kind == "objects" {
			n.Chose = append(n.Chose, "--no-walk")
		}
		args := append([]string{"-c", "log.showSignature=false", "-c", "log.showRoot=true", "log", "--format=", "-m", "--root"}, differ...)
		list(append(append(args, n.Chose...), n.Revisions...)...)
	case n.Kind != "changes" && len(n.Revisions) > 0:
		none, _ := r.Run(ctx, nil, MaxLine, "hash-object", "-t", "tree", "--stdin") // an empty tree
		for _, rev := range n.Revisions {
			list(append(append([]string{"diff-tree", "-r"}, differ...), strings.TrimSpace(string(none)), rev)...)
		}
	case n.Kind != "changes":
		list("ls-files", "-z", "--full-name")
	case len(n.Revisions) == 0 && n.Staged:
		list(append(append([]string{"diff-index", "--cached"}, differ...), "HEAD")...)
	case len(n.Revisions) == 0:
		names, err = r.changed(ctx, root, paths)
	default:
		names, err = r.between(ctx, root, n, differ, paths)
	}
	if n.Recorded && err == nil {
		list("ls-files", "-z", "--full-name", "-o", "--exclude-standard")
		more, changed := r.between(ctx, root, Names{Revisions: []string{"HEAD"}}, differ, paths)
		names, err = append(names, more...), cmp.Or(err, changed)
	}
	for _, none := range [...]string{"unknown revision", "bad revision", "does not have any commits yet"} {
		if err != nil && strings.Contains(err.Error(), none) {
			return root, nil, nil // the command shows nothing either
		}
	}
	return root, names, err
}

// resolve removes the revisions that are files, which the line names, and treats words that are
// not revisions as paths. It fails for a revision that is a folder, or a file without its name.
func (r Repository) resolve(ctx context.Context, n *Names) error {
	var ask strings.Builder
	var asked, revisions []string
	for _, rev := range n.Revisions {
		ends := []string{rev}
		if !strings.Contains(rev, ":") {
			rev, _, _ := strings.Cut(strings.TrimPrefix(rev, "^"), "^!")
			ends = strings.Split(strings.ReplaceAll(rev, "...", ".."), "..")
		}
		for _, end := range ends {
			if strings.HasPrefix(end, "-") || strings.Contains(end, "\n") {
				return errors.New("a revision begins with a dash, or has several lines")
			}
			fmt.Fprintf(&ask, "%s\n%[1]s^{commit}\n", cmp.Or(end, "HEAD"))
			asked = append(asked, rev)
		}
	}
	if asked == nil {
		return nil
	}
	out, err := r.Run(ctx, []byte(ask.String()), maxNames, "cat-file", "--batch-check=%(objecttype)")
	lines := strings.Split(string(out), "\n")
	if err != nil || len(lines) < 2*len(asked) {
		return cmp.Or(err, errors.New("git does not say what the revisions are"))
	}
	for i, rev := range asked {
		switch kind := lines[2*i]; {
		case lines[2*i+1] == "commit" || kind == "commit", strings.HasSuffix(kind, " missing") && !strings.HasPrefix(rev, ":"):
			revisions = append(revisions, rev)
		case strings.HasSuffix(kind, " missing"):
			n.Paths = append(n.Paths, rev)
		case kind == "blob" && strings.Contains(rev, ":"), kind == "tree" && (n.Kind == "objects" || n.Kind == "named"):
		default:
			return errors.New(rev + " is no commit")
		}
	}
	n.Revisions = slices.Compact(revisions)
	return nil
}

func split(out []byte) (names []string) {
	for name := range bytes.SplitSeq(out, []byte{0}) {
		if name := strings.Trim(string(name), "\n"); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// between returns the files that differ between revisions, or between one of them and
// the working tree or the index.
func (r Repository) between(ctx context.Context, root string, n Names, differ, paths []string) ([]string, error) {
	out, err := r.Run(ctx, nil, MaxLine, append([]string{"rev-parse", "--revs-only"}, n.Revisions...)...)
	if err != nil {
		return nil, err
	}
	var trees []string
	for line := range strings.Lines(string(out)) {
		trees = append(trees, strings.TrimLeft(strings.TrimSpace(line), "^"))
	}
	var names []string
	switch {
	case len(trees) == 0:
		return nil, nil // the revision does not exist, and the command shows nothing either
	case len(trees) == 1:
		out, err = r.Run(ctx, nil, maxNames, append(append(append([]string{"diff-index", "--cached"}, differ...), trees[0]), paths...)...)
		if err == nil && !n.Staged {
			names, err = r.changed(ctx, root, paths)
		}
		return append(names, split(out)...), err
	}
	for _, other := range trees[1:] {
		out, err := r.Run(ctx, nil, maxNames, append(append(append([]string{"diff-tree", "-r"}, differ...), trees[0], other), paths...)...)
		if err != nil {
			return nil, err
		}
		names = append(names, split(out)...)
	}
	return names, nil
}

// changed returns the tracked files whose size or time differs from the index. To
// compare contents, git would start filters of the repository.
func (r Repository) changed(ctx context.Context, root string, paths []string) ([]string, error) {
	out, err := r.Run(ctx, nil, maxNames, append([]string{"ls-files", "-z", "--full-name", "--debug"}, paths...)...)
	if err != nil {
		return nil, err
	}
	var names []string
	for text := string(out); text != ""; {
		name, rest, ok := strings.Cut(text, "\x00")
		about, next, end := strings.Cut(rest, "flags: ")
		if !ok || !end {
			return nil, errors.New("git lists the index in a way that is not understood")
		}
		_, text, _ = strings.Cut(next, "\n")
		info, err := os.Lstat(filepath.Join(root, name))
		if err == nil {
			at := info.ModTime()
			same := strings.Contains(about, fmt.Sprintf("mtime: %d:%d\n", at.Unix(), at.Nanosecond())) && strings.Contains(about, fmt.Sprintf("size: %d\t", info.Size()))
			if same {
				continue
			}
		}
		names = append(names, name)
	}
	return names, nil
}

// Differing returns the files that differ between the last commit and a revision,
// relative to the root of the working tree, or all files of the third parent of a stash.
// "" is the working tree and the index. For a range, it compares the ends.
func (r Repository) Differing(ctx context.Context, revision string) ([]string, error) {
	if revision == "" {
		_, names, err := r.Show(ctx, "", Names{Kind: "changes", Revisions: []string{"HEAD"}})
		return names, err
	}
	from, to, is := strings.Cut(revision, "..")
	if !is {
		from, to = "HEAD", revision
	}
	compare := func(from string) ([]byte, error) {
		return r.Run(ctx, nil, maxNames, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", "--end-of-options",
			from+"^{tree}", cmp.Or(to, "HEAD")+"^{tree}")
	}
	out, err := compare(cmp.Or(from, "HEAD"))
	if err != nil && !is && strings.Contains(err.Error(), "'HEAD^{tree}': unknown revision") { // the repository has no commit yet
		none, _ := r.Run(ctx, nil, MaxLine, "hash-object", "-t", "tree", "--stdin")
		out, err = compare(strings.TrimSpace(string(none)))
	}
	if err == nil && strings.HasPrefix(revision, "stash") {
		more, _ := r.Run(ctx, nil, maxNames, "ls-tree", "-r", "-z", "--name-only", "--full-tree", "--end-of-options", revision+"^3")
		out = append(out, more...)
	}
	return split(out), err
}
