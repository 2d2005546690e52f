package trusted

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/bash"
	"cardea.dev/internal/command/disk"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/config/settings"
)

// NotExecutable returns warnings for scripts that are started directly but are not
// executable: the files of signals, and programs of commands in the settings.
func (p AcceptedProject) NotExecutable(signals []string, files []settings.File) []diagnostic.Diagnostic {
	if runtime.GOOS == "windows" {
		return nil // on Windows, the mode does not matter
	}
	var out []diagnostic.Diagnostic
	for _, path := range signals {
		if unexecutable(path) && looksLikeScript(path) {
			out = append(out, diagnostic.Diagnostic{File: path, Line: 1, Column: 1, Severity: diagnostic.LevelWarning, Code: diagnostic.CodeNotExecutable,
				Text: "this signal cannot be started: the file is not executable", Hint: "run \"chmod +x\" on it"})
		}
	}
	for i := range files {
		f := &files[i]
		for _, command := range f.Commands() {
			for _, path := range p.starts(command) {
				if unexecutable(path) {
					out = append(out, diagnostic.Diagnostic{File: f.Path, Line: f.LineOfCommands(), Column: 1, Severity: diagnostic.LevelWarning, Code: diagnostic.CodeNotExecutable,
						Text: fmt.Sprintf("%q cannot be started: %s is not executable", command, path), Hint: "run \"chmod +x\" on it"})
				}
			}
		}
	}
	return out
}

// starts returns the files that a command starts by path.
func (p AcceptedProject) starts(command string) []string {
	var out []string
	for _, part := range bash.Analyse(command, bash.Env{Cwd: p.Project, System: knowledge.System{Home: p.Home, Roots: []string{p.Project}}}).Parts {
		if len(part.Argv) > 0 && part.Argv[0].Static && strings.ContainsRune(part.Argv[0].Text, '/') && part.Dir != "" {
			out = append(out, disk.Absolute(part.Dir, part.Argv[0].Text))
		}
	}
	return out
}

// unexecutable reports whether a path is a file that no user may execute.
func unexecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 == 0
}

// looksLikeScript reports whether a file is meant to be run. Other files next to scripts,
// such as a README.md, are not.
func looksLikeScript(path string) bool {
	if ext := filepath.Ext(path); ext == "" || ext == ".sh" {
		return true
	}
	f, _, err := state.OpenLinked(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 2)
	_, err = io.ReadFull(f, head)
	return err == nil && bytes.Equal(head, []byte("#!"))
}
