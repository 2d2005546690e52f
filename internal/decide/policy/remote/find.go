package remote

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Name is the name of the program.
const Name = "cardea-policy"

// find gives the path of cardea-policy in the folder of a program, links
// resolved. No variable, no working folder and no PATH is asked: the agent may
// set the one and write to the others. A file that may be written by who may not
// write the program itself is refused.
func find(program string) (string, error) {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return "", fmt.Errorf("policies cannot be evaluated, since this program is not found: %w; run it by its path", err)
	}
	own, err := os.Stat(real)
	if err != nil {
		return "", fmt.Errorf("policies cannot be evaluated, since this program is not found: %w; run it by its path", err)
	}
	path := filepath.Join(filepath.Dir(real), Name)
	if strings.EqualFold(filepath.Ext(real), ".exe") {
		path += filepath.Ext(real)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return "", fmt.Errorf("%s is missing beside cardea in %s: install both with \"go install cardea.dev/cmd/...\"", Name, filepath.Dir(real))
	}
	if why := unsafe(info, own); why != "" {
		return "", fmt.Errorf("%s %s, so it is not started: install it anew with \"go install cardea.dev/cmd/...\"", path, why)
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
