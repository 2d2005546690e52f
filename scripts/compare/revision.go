package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// result holds the output of a revision's dumper for one input.
type result struct {
	Parts, Accesses, Answers, Reasons string
}

// dumper is the folder of the dumper in the module.
const dumper = "scripts/compare/dump"

// both runs both revisions over the inputs.
func both(ctx context.Context, root, dir string, o options, inputs []testInput) (was, is []result, err error) {
	var stdin bytes.Buffer
	e := json.NewEncoder(&stdin)
	for _, in := range inputs {
		if err := e.Encode(in.toolCall); err != nil {
			return nil, nil, fmt.Errorf("write %q: %w", in.text, err)
		}
	}
	var programs [2]string
	for i, rev := range []string{o.old, o.new} {
		tree := root
		if rev != "" {
			tree = filepath.Join(dir, "tree-"+strconv.Itoa(i))
			defer removeTree(root, tree)
			if err := checkOut(ctx, root, tree, rev); err != nil {
				return nil, nil, err
			}
		}
		programs[i] = filepath.Join(dir, "dump-"+strconv.Itoa(i))
		err := build(ctx, tree, programs[i])
		if err != nil && rev != "" {
			// Packages were moved or renamed since: the revision's own dumper fits them.
			if run(ctx, tree, "git", "checkout", "--quiet", rev, "--", dumper) == nil {
				err = build(ctx, tree, programs[i])
			}
		}
		if err != nil {
			return nil, nil, err
		}
	}
	homes, err := makeHomes(ctx, filepath.Join(dir, "homes"), o.homes, o.settings)
	if err != nil {
		return nil, nil, err
	}
	var out [2][]result
	var errs [2]error
	var wait sync.WaitGroup
	for i, program := range programs {
		wait.Go(func() {
			out[i], errs[i] = dump(ctx, program, homes, stdin.Bytes(), len(inputs))
		})
	}
	wait.Wait()
	return out[0], out[1], errors.Join(errs[0], errs[1])
}

// build builds the dumper of a tree.
func build(ctx context.Context, tree, program string, flags ...string) error {
	return run(ctx, tree, "go", slices.Concat([]string{"build", "-buildvcs=false"}, flags, []string{"-o", program, "./" + dumper})...)
}

// checkOut makes a git worktree of a revision with this dumper in it.
func checkOut(ctx context.Context, root, tree, rev string) error {
	if err := run(ctx, root, "git", "worktree", "add", "--quiet", "--force", "--detach", tree, rev); err != nil {
		return err
	}
	own, err := os.ReadFile(filepath.Join(root, dumper, "main.go"))
	if err != nil {
		return fmt.Errorf("read the dumper: %w", err)
	}
	into := filepath.Join(tree, dumper)
	if err := errors.Join(os.RemoveAll(into), os.MkdirAll(into, 0o700), os.WriteFile(filepath.Join(into, "main.go"), own, 0o600)); err != nil {
		return fmt.Errorf("add the dumper: %w", err)
	}
	return nil
}

// removeTree removes a git worktree. "git worktree prune" removes leftovers.
func removeTree(root, tree string) {
	if err := run(context.Background(), root, "git", "worktree", "remove", "--force", tree); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
	}
}

// run runs a program in a folder.
func run(ctx context.Context, dir, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("run %s %s: %w: %s", program, strings.Join(args, " "), err, out)
	}
	return nil
}

// dump runs a dumper. Two may run at the same time in the same homes, since an evaluation
// writes nothing.
func dump(ctx context.Context, program string, homes []string, stdin []byte, want int) ([]result, error) {
	cmd := exec.CommandContext(ctx, program, homes...)
	cmd.Dir, cmd.Stdin, cmd.Stderr = filepath.Dir(program), bytes.NewReader(stdin), os.Stderr
	if len(homes) > 0 {
		cmd.Dir = homes[0]
	}
	data, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("run the dumper: %w", err)
	}
	var out []result
	for d := json.NewDecoder(bytes.NewReader(data)); d.More(); {
		var r result
		if err := d.Decode(&r); err != nil {
			return nil, fmt.Errorf("read the dumper's output: %w", err)
		}
		out = append(out, r)
	}
	if len(out) != want {
		return nil, fmt.Errorf("read the dumper's output: %d results for %d inputs", len(out), want)
	}
	return out, nil
}

// denying is the permission list of the home "listed".
const denying = `{"permissions": {"allow": ["Bash"], "deny": ["Read(.env)", "Read(**/*.pem)", "Bash(rm -rf:*)", "Bash(git push:*)"]}}`

// files returns the files of the project in a home.
func files() map[string]string {
	return map[string]string{"README.md": "x\n", "src/a.py": "x = 1\n", "package.json": `{"scripts": {"test": "echo ok"}}` + "\n", "Makefile": "test:\n\techo t\n",
		".gitignore": "out/\n", "f": "p q\n", "g": "1\n", "h": "a\n", "sub/f": "p\n", "sub/deep/f": "p\n"}
}

// makeHomes makes home folders with a project "app" in each, whose files are in git's index.
func makeHomes(ctx context.Context, dir string, names, settings []string) ([]string, error) {
	lists := map[string]string{"empty": "", "listed": denying}
	for _, file := range settings {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read settings: %w", err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		names, lists[name] = append(names, name), string(text)
	}
	var out []string
	for _, name := range names {
		home := filepath.Join(dir, name)
		all := map[string]string{}
		for file, text := range files() {
			all["app/"+file] = text
		}
		if name == "listed" {
			all["app/.env"] = "SECRET=x\n"
		}
		if lists[name] != "" {
			all[".claude/settings.json"], all[".config/cardea/cardea.yaml"] = lists[name], "version: 1\npermissions: {expand: true}\n"
		}
		for file, text := range all {
			path := filepath.Join(home, file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
				return nil, fmt.Errorf("make a home: %w", err)
			}
		}
		app := filepath.Join(home, "app")
		if err := errors.Join(run(ctx, app, "git", "init", "-q"), run(ctx, app, "git", "add", "-A")); err != nil {
			return nil, err
		}
		// Lines that activate an environment run in a project that has it.
		with := filepath.Join(home, "app-with-environment")
		if err := errors.Join(os.CopyFS(with, os.DirFS(app)), os.Mkdir(filepath.Join(with, "project"), 0o700)); err != nil {
			return nil, fmt.Errorf("make a home: %w", err)
		}
		for _, env := range []string{"venv", "datasci_env", "project/datasci_env"} {
			if err := run(ctx, with, "python3", "-m", "venv", "--without-pip", env); err != nil {
				return nil, err
			}
		}
		out = append(out, home)
	}
	return out, nil
}
