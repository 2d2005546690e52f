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
	// Policies is its argument, which selects the server.
	Policies = "policies"
)

// Find returns the path of [Program] in the folder of another program of Cardea.
func Find(program string) (string, error) { return find(program, Program) }

// find returns the path of a program in the folder of another one, with links resolved. It
// uses no variable, working folder or PATH, since the agent may set or write them. It
// refuses a file that users can write who cannot write the other program.
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

// unsafe returns the reason why a file may not be from the person who installed the
// program, or "".
func unsafe(info, own fs.FileInfo) string {
	switch mode := info.Mode(); {
	case !mode.IsRegular():
		return "is no regular file"
	case !written(info, own):
		return "may be written by others than who may write cardea"
	}
	return ""
}
