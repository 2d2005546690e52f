// Package git runs git on a repository that may be hostile: it starts or contacts nothing that
// the configuration names, such as a filter, a hook, a monitor or another host.
package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"cardea.dev/internal/base/script"
)

// Repository is a git repository that git reads.
type Repository struct {
	// Dir is a folder in it.
	Dir string
	// Limit is the time after which git is stopped.
	Limit time.Duration
	// Hooks is set if the repository may configure where its hooks are.
	Hooks bool

	program string
	env     []string
}

// MaxLine is the size in bytes up to which a line of git is read.
const MaxLine = 64 << 10

// Open finds git for the repository that contains a folder. environ is the environment
// of this process. It fails if git is not in PATH.
func Open(dir string, environ []string, limit time.Duration) (Repository, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return Repository{}, errors.New("git is not installed, or not in PATH")
	}
	return Repository{Dir: dir, Limit: limit, program: program, env: environment(environ)}, nil
}

// Program returns the path of git.
func (r Repository) Program() string { return r.program }

// stored are the variables by which git tells a hook the repository and the index of a
// commit. All others could change the behavior of git.
var stored = []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CEILING_DIRECTORIES"}

func environment(environ []string) []string {
	var out []string
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(strings.ToUpper(name), "GIT_") || slices.Contains(stored, name) {
			out = append(out, v)
		}
	}
	return append(out, "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
}

// Run returns the output of git with some arguments. It reads at most most bytes.
func (r Repository) Run(ctx context.Context, stdin []byte, most int, args ...string) ([]byte, error) {
	always := []string{"-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "-c", "protocol.allow=never"}
	if !r.Hooks {
		always = append(always, "-c", "core.hooksPath="+os.DevNull)
	}
	if stdin == nil {
		stdin = []byte{}
	}
	p := script.Process{Path: r.program, Args: append(always, args...), Dir: r.Dir, Env: r.env, Stdin: stdin, Limit: r.Limit,
		MaxOutput: most, MaxErrors: 4 << 10}
	out, told, err := p.Run(ctx)
	if err == nil {
		return out, nil
	}
	if words := strings.TrimSpace(string(told)); words != "" {
		err = errors.New(words)
	}
	return nil, fmt.Errorf("git %s: %w", args[0], err)
}
