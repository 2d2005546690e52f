package org

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/base/script"
)

// Clone returns the files of the newest commit of a repository. The clone is shallow and
// bare: nothing is checked out, so hooks, filters, attributes and submodules of the
// repository have no effect. The clone is in a folder below temp, which Clone removes.
func Clone(ctx context.Context, s Source, environ []string, temp string) (*Tree, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, errors.New("git is not installed, or not in PATH; install it, or use an https archive as the source")
	}
	dir, err := os.MkdirTemp(temp, "clone-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the clone: %w", err)
	}
	defer os.RemoveAll(dir)
	g := git{program: program, dir: dir, env: gitEnvironment(environ)}
	repo := filepath.Join(dir, "repo")
	args := []string{"clone", "--quiet", "--bare", "--depth=1", "--single-branch", "--no-tags", "--no-recurse-submodules", "--template="}
	if s.Ref != "" {
		args = append(args, "--branch="+s.Ref)
	}
	if _, err := g.run(ctx, nil, append(args, "--", s.Address, repo)...); err != nil {
		return nil, err
	}
	g.dir = repo
	commit, err := g.run(ctx, nil, "rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		return nil, err
	}
	tree, err := g.tree(ctx)
	if err != nil {
		return nil, fmt.Errorf("the repository %w", err)
	}
	tree.Form = strings.TrimSpace(string(commit))
	return tree, nil
}

// gitEnvironment returns the environment without git's variables, but with those that
// restrict git.
func gitEnvironment(environ []string) []string {
	out := lists.Where(environ, func(v string) bool { return !strings.HasPrefix(strings.ToUpper(v), "GIT_") })
	return append(out, "GIT_ALLOW_PROTOCOL=https:ssh:file", "GIT_TERMINAL_PROMPT=0", "GIT_LFS_SKIP_SMUDGE=1", "LC_ALL=C")
}

type git struct {
	program, dir string
	env          []string
}

// run runs git, and returns its output.
func (g git) run(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	// Settings and hooks of a repository above the folder must not apply.
	always := []string{"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "protocol.ext.allow=never", "-c", "core.pager=cat"}
	p := script.Process{Path: g.program, Args: append(always, args...), Dir: g.dir, Env: append(g.env, "GIT_CEILING_DIRECTORIES="+filepath.Dir(g.dir)),
		Stdin: stdin, Limit: limit.Fetch, MaxOutput: 2 * MaxTotal, MaxErrors: 4 << 10}
	out, told, err := p.Run(ctx)
	if err == nil {
		return out, nil
	}
	words := strings.TrimSpace(string(told))
	words = cmp.Or(words, err.Error())
	return nil, fmt.Errorf("git %s: %s", args[0], words)
}

// entry is a file of a commit.
type entry struct {
	mode, hash, name string
	size             int
}

// tree returns the files of the commit.
func (g git) tree(ctx context.Context) (*Tree, error) {
	list, err := g.run(ctx, nil, "ls-tree", "-r", "-z", "--long", "--full-tree", "HEAD")
	if err != nil {
		return nil, err
	}
	in := NewIncoming()
	var wanted []entry
	for _, line := range strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		e, err := in.entry(line)
		if err != nil {
			return nil, err
		}
		if e.hash != "" {
			wanted = append(wanted, e)
		}
	}
	if err := g.read(ctx, in, wanted); err != nil {
		return nil, err
	}
	return in.Tree()
}

// entry parses a line of ls-tree: mode, type, hash, size and name. hash is "" if the file
// is not needed.
func (in *Incoming) entry(line string) (entry, error) {
	head, raw, ok := strings.Cut(line, "\t")
	words := strings.Fields(head)
	if line == "" {
		return entry{}, nil
	}
	if !ok || len(words) != 4 {
		return entry{}, fmt.Errorf("lists its files in a way that is not understood: %q", line)
	}
	name, err := in.Name(raw)
	if err != nil {
		return entry{}, err
	}
	e := entry{mode: words[0], hash: words[2], name: name}
	switch e.mode {
	case "100644", "100755":
	case "120000":
		in.Link(name, "a link")
		return entry{}, nil
	default:
		in.Link(name, "a submodule")
		return entry{}, nil
	}
	if e.size, err = strconv.Atoi(words[3]); err != nil {
		return entry{}, fmt.Errorf("lists its files in a way that is not understood: %q", line)
	}
	if !taken(name) {
		e.size, e.hash = 0, ""
		return e, in.Add(name, File{})
	}
	return e, nil
}

// taken reports whether a scope's folder can hold a file, directly or below one folder at
// the top.
func taken(name string) bool {
	_, below, _ := strings.Cut(name, "/")
	return Taken(name) || Taken(below)
}

// read reads files with one process.
func (g git) read(ctx context.Context, in *Incoming, wanted []entry) error {
	var ask bytes.Buffer
	total := 0
	for _, e := range wanted {
		if total += e.size; e.size > MaxFile || total > MaxTotal {
			return fmt.Errorf("is too large: %s has %d bytes; a file may have %d, and all together %d", e.name, e.size, MaxFile, MaxTotal)
		}
		ask.WriteString(e.hash + "\n")
	}
	if len(wanted) == 0 {
		return nil
	}
	out, err := g.run(ctx, ask.Bytes(), "cat-file", "--batch")
	if err != nil {
		return err
	}
	for _, e := range wanted {
		line, rest, _ := bytes.Cut(out, []byte("\n"))
		if string(line) != fmt.Sprintf("%s blob %d", e.hash, e.size) || len(rest) < e.size+1 {
			return fmt.Errorf("lacks %s", e.name)
		}
		if err := in.Add(e.name, File{Data: bytes.Clone(rest[:e.size]), Program: e.mode == "100755"}); err != nil {
			return err
		}
		out = rest[e.size+1:]
	}
	return nil
}
