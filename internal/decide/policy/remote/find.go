package remote

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	// Program is the name of the program with the engine.
	Program = "cardea-engine"
	// Policies is its argument: what it is started for.
	Policies = "policies"
)

// Find gives the path of [Program] beside another program of Cardea's.
func Find(program string) (string, error) { return find(program, Program) }

// find gives the path of a program in the folder of another one, links resolved.
// No variable, no working folder and no PATH is asked: the agent may set the one
// and write to the others. A file that may be written by who may not write the
// other one itself is refused.
func find(program, name string) (string, error) {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return "", fmt.Errorf("cardea-engine cannot be found, since this program is not: %w; run it by its path", err)
	}
	own, err := os.Stat(real)
	if err != nil {
		return "", fmt.Errorf("cardea-engine cannot be found, since this program is not: %w; run it by its path", err)
	}
	path := filepath.Join(filepath.Dir(real), name)
	if strings.EqualFold(filepath.Ext(real), ".exe") {
		path += filepath.Ext(real)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return "", fmt.Errorf("%s is missing beside cardea in %s: put both programs of a release there, or run \"GOBIN=%[2]s go install cardea.dev/cmd/...@latest\" (in the clone: go install ./cmd/...)", name, filepath.Dir(real))
	}
	if why := unsafe(info, own); why != "" {
		return "", fmt.Errorf("%s %s, so it is not started: put both programs of a release there, or run \"GOBIN=%s go install cardea.dev/cmd/...@latest\" (in the clone: go install ./cmd/...)", path, why, filepath.Dir(path))
	}
	return path, nil
}

// unsafe says why a file cannot be believed to be who installed a program's.
func unsafe(info, own fs.FileInfo) string {
	switch mode := info.Mode(); {
	case !mode.IsRegular():
		return "is no regular file"
	case !written(info, own):
		return "may be written by others than who may write cardea"
	}
	return ""
}
