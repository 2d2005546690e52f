package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/command/git"
	"cardea.dev/internal/command/redact"
)

// modeSubmodule is the mode of an entry for another repository, as git writes it.
const modeSubmodule = "160000"

const (
	// maxList is the size in bytes up to which git's list of staged files is read.
	maxList = 256 << 20
	// batch is the number of bytes that git is asked for at once.
	batch = 64 << 20
)

// Staged searches what the index of the repository that contains a folder holds and its last
// commit does not: files that were added, changed or renamed, with the contents that git would
// commit. With paths, which are relative to the folder, it searches only those.
//
// A repository may be hostile. Git only returns the names and contents of objects, which starts
// no filter, textconv, hook or monitor that a configuration names, and fetches nothing.
func Staged(ctx context.Context, r *redact.Redactor, dir string, environ, paths []string) (Result, error) {
	at, err := git.Open(dir, environ, limit.Fetch)
	if err != nil {
		return Result{}, err
	}
	g := asking{at, ctx}
	if _, err := g.run(nil, git.MaxLine, "rev-parse", "--git-dir"); err != nil {
		return Result{}, fmt.Errorf("this is no git repository that can be used: %w", err)
	}
	entries, err := g.staged(paths)
	if err != nil {
		return Result{}, err
	}
	return g.search(r, entries)
}

// Repository holds the places of a git repository. All paths are absolute.
type Repository struct {
	// Root is the folder of the files, Common the folder of git's own files.
	Root, Common string
	// Hooks is the folder of the hooks, as configured.
	Hooks string
}

// Find returns the repository that contains a folder.
func Find(ctx context.Context, dir string, environ []string) (Repository, error) {
	at, err := git.Open(dir, environ, limit.Fetch)
	if err != nil {
		return Repository{}, err
	}
	at.Hooks = true
	g := asking{at, ctx}
	out, err := g.run(nil, 4*git.MaxLine, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir", "--git-path", "hooks")
	if err != nil {
		return Repository{}, err
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != 3 {
		return Repository{}, errors.New("git names its folders in a way that is not understood")
	}
	return Repository{Root: lines[0], Common: lines[1], Hooks: lines[2]}, nil
}

// asking is a repository and the context of a search in it.
type asking struct {
	git.Repository
	ctx context.Context
}

func (g asking) run(stdin []byte, most int, args ...string) ([]byte, error) {
	return g.Run(g.ctx, stdin, most, append([]string{"--literal-pathspecs"}, args...)...)
}

// entry is a staged file.
type entry struct {
	mode, hash, name string
	size             int64
}

// staged returns the staged files. A renamed file is treated as a new one.
func (g asking) staged(paths []string) ([]entry, error) {
	base, err := g.run(nil, git.MaxLine, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil { // no commit yet
		if base, err = g.run(nil, git.MaxLine, "hash-object", "-t", "tree", "--stdin"); err != nil {
			return nil, err
		}
	}
	args := []string{"diff-index", "--cached", "--raw", "-z", "--full-index", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv",
		"--ignore-submodules=dirty", "--diff-filter=ACMRT", strings.TrimSpace(string(base)), "--"}
	list, err := g.run(nil, maxList, append(args, paths...)...)
	if err != nil {
		return nil, err
	}
	return parseRaw(list)
}

// parseRaw reads the raw form of a difference: ":MODE MODE HASH HASH STATUS", a zero
// byte, the name, and a zero byte.
func parseRaw(list []byte) ([]entry, error) {
	var out []entry
	fields := strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		words := strings.Fields(fields[i])
		if len(words) != 5 || !strings.HasPrefix(words[0], ":") || fields[i+1] == "" || strings.Trim(words[3], "0123456789abcdef") != "" {
			return nil, fmt.Errorf("git lists what is staged in a way that is not understood: %q", fields[i])
		}
		out = append(out, entry{mode: words[1], hash: words[3], name: fields[i+1]})
	}
	if len(fields)%2 != 0 && fields[0] != "" {
		return nil, errors.New("git lists what is staged in a way that is not understood")
	}
	return out, nil
}

// search searches the contents of entries.
func (g asking) search(r *redact.Redactor, entries []entry) (Result, error) {
	var out Result
	var wanted []entry
	for _, e := range entries {
		if e.mode == modeSubmodule {
			out.Submodules++
			continue
		}
		wanted = append(wanted, e)
	}
	if err := g.sizes(wanted); err != nil {
		return Result{}, err
	}
	for len(wanted) > 0 {
		n, size := 0, int64(0)
		for n < len(wanted) && (n == 0 || size+wanted[n].size <= batch) {
			size += wanted[n].size
			n++
		}
		found, err := g.searchBatch(r, wanted[:n])
		if err != nil {
			return Result{}, err
		}
		out.add(found)
		wanted = wanted[n:]
	}
	return out, g.ctx.Err()
}

// ask returns the names of objects in the input format of git.
func ask(entries []entry) []byte {
	var b bytes.Buffer
	for _, e := range entries {
		b.WriteString(e.hash + "\n")
	}
	return b.Bytes()
}

// sizes sets the sizes of the contents of entries.
func (g asking) sizes(entries []entry) error {
	if len(entries) == 0 {
		return nil
	}
	out, err := g.run(ask(entries), maxList, "cat-file", "--batch-check")
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(entries) {
		return errors.New("git does not say how large the staged files are")
	}
	for i := range entries {
		size, is := strings.CutPrefix(lines[i], entries[i].hash+" blob ")
		if entries[i].size, err = strconv.ParseInt(size, 10, 64); !is || err != nil || entries[i].size < 0 {
			return fmt.Errorf("git lacks the contents of %s: %q", entries[i].name, lines[i])
		}
	}
	return nil
}

// searchBatch reads the contents of entries with one process, and searches them.
func (g asking) searchBatch(r *redact.Redactor, entries []entry) (Result, error) {
	var out Result
	var small []entry
	room := 0
	for _, e := range entries {
		if why := tooLarge(e.size); why != "" {
			out.Gaps = append(out.Gaps, Gap{e.name, why})
			continue
		}
		small = append(small, e)
		room += len(e.hash) + int(e.size) + 64
	}
	if len(small) == 0 {
		return out, nil
	}
	text, err := g.run(ask(small), room, "cat-file", "--batch")
	if err != nil {
		return Result{}, err
	}
	type blob struct {
		name string
		data []byte
	}
	var blobs []blob
	for _, e := range small {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		if string(line) != fmt.Sprintf("%s blob %d", e.hash, e.size) || int64(len(rest)) < e.size+1 {
			return Result{}, fmt.Errorf("git lacks the contents of %s", e.name)
		}
		blobs, text = append(blobs, blob{e.name, rest[:e.size]}), rest[e.size+1:]
	}
	out.add(all(g.ctx, blobs, func(b blob) Result { return searchFile(r, b.name, b.data) }))
	return out, nil
}
