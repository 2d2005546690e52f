package gate

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/bash"
)

// NotExecutable are the scripts of all scopes that are started as they are, and may
// not be executed: those in signals/, and those that commands of the settings
// begin with.
func (l *Loaded) NotExecutable() []cardea.Diagnostic {
	if runtime.GOOS == "windows" {
		return nil // there it is no matter of the file's mode
	}
	var out []cardea.Diagnostic
	for _, scope := range []cardea.Scope{cardea.ScopeSystem, cardea.ScopeOrg, cardea.ScopeUser, cardea.ScopeProject} {
		for _, path := range l.scopeFiles(scope, "signals") {
			if unexecutable(path) && looksLikeScript(path) {
				out = append(out, cardea.Diagnostic{File: path, Line: 1, Column: 1, Severity: cardea.LevelWarning, Code: cardea.CodeNotExecutable,
					Text: "this signal cannot be started: the file is not executable", Hint: "run \"chmod +x\" on it"})
			}
		}
	}
	for i := range l.SettingsFiles {
		f := &l.SettingsFiles[i]
		for _, command := range f.Commands() {
			for _, path := range l.starts(command) {
				if unexecutable(path) {
					out = append(out, cardea.Diagnostic{File: f.Path, Line: f.LineOfCommands(), Column: 1, Severity: cardea.LevelWarning, Code: cardea.CodeNotExecutable,
						Text: fmt.Sprintf("%q cannot be started: %s is not executable", command, path), Hint: "run \"chmod +x\" on it"})
				}
			}
		}
	}
	return out
}

// starts are the files that a command starts by their path.
func (l *Loaded) starts(command string) []string {
	project := l.Where.Project
	var out []string
	for _, p := range bash.Analyse(command, bash.Env{Cwd: project, Home: l.Where.Dirs.Home, Roots: []string{project}}).Parts {
		if len(p.Argv) > 0 && p.Argv[0].Static && strings.ContainsRune(p.Argv[0].Text, '/') && p.Dir != "" {
			out = append(out, from(p.Dir, p.Argv[0].Text))
		}
	}
	return out
}

// unexecutable reports whether a path is a file that nobody may execute.
func unexecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 == 0
}

// looksLikeScript reports whether a file is there to be run: what lies beside
// scripts, such as a README.md, is not.
func looksLikeScript(path string) bool {
	if ext := filepath.Ext(path); ext == "" || ext == ".sh" {
		return true
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 2)
	_, err = io.ReadFull(f, head)
	return err == nil && bytes.Equal(head, []byte("#!"))
}
