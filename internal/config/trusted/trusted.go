// Package trusted tells which scripts a person accepted: which files of a project
// a command runs, and whether they are as the person accepted them.
//
// What a command runs is what its files say, so a command of a project runs only
// as long as all of them are accepted. A command of the person's own runs nothing
// of a project that they have not trusted.
package trusted

import (
	"os"
	"slices"

	"cardea.dev"
	"cardea.dev/internal/config/project"
)

// Place is a project in which commands run, and what the person accepted of it.
type Place struct {
	// Project is the project's folder, or "". Home is the person's.
	Project, Home string
	// Trust reports whether the person accepted a file as it is, Known whether
	// they accepted it in whatever form; nil where the project is not trusted.
	Trust func(path string, data []byte) bool
	Known func(path string) bool
}

// State is how files of the project stand against what the person accepted.
type State uint8

// The states.
const (
	Accepted State = iota
	Never
	Changed
)

// State tells whether files of the project are as the person accepted them: the
// worst of all. A file that is added to accepted ones changes them.
func (p Place) State(files []string) State {
	worst, some := Accepted, false
	for _, path := range files {
		data, _, err := project.ReadFile(path, p.Project)
		switch {
		case err == nil && data != nil && p.Trust != nil && p.Trust(path, data):
			some = true
		case p.knows(path):
			worst = Changed
		case worst == Accepted:
			worst = Never
		}
	}
	if worst == Never && some {
		return Changed
	}
	return worst
}

// MayRun reports whether the scripts that a command of a scope runs are as they
// were accepted.
func (p Place) MayRun(scope cardea.Scope, command string) bool {
	if scope != cardea.ScopeProject {
		return p.RunsUntrusted(command) == ""
	}
	files := p.FilesOf(command)
	return files.Unseen == "" && p.State(files.All) == Accepted
}

// RunsUntrusted is why a command of the person's, or of a stronger scope, does
// not run in a project that is not trusted: it would run what the project brings.
// It is "" where the command runs.
func (p Place) RunsUntrusted(command string) string {
	if p.Project == "" || p.Trust != nil {
		return ""
	}
	files := p.FilesOf(command)
	for _, file := range files.All {
		if _, err := os.Lstat(file); err == nil && slices.Contains(files.Runs, file) {
			return "it runs " + file + " of a project that you have not trusted"
		}
	}
	return ""
}

// knows reports whether the person accepted a file in some form.
func (p Place) knows(path string) bool { return p.Known != nil && p.Known(path) }
