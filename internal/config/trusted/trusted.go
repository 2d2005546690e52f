// Package trusted determines which files of a project a command runs, and whether they are
// as the user accepted them.
//
// The files are part of what a command does, so a project's command runs only while all of
// them are accepted. A command of the user runs no files of an untrusted project.
package trusted

import (
	"os"
	"slices"

	"cardea.dev"
	"cardea.dev/internal/config/project"
)

// AcceptedProject is a project in which commands run, and what the user accepted of it.
type AcceptedProject struct {
	// Project is the project's folder, or "". Home is the user's.
	Project, Home string
	// Trust reports whether the user accepted a file in this form, Known whether in any form;
	// nil if the project is not trusted.
	Trust func(path string, data []byte) bool
	Known func(path string) bool
}

// State compares files of a project with what the user accepted.
type State uint8

// The states.
const (
	Accepted State = iota
	Never
	Changed
)

// State returns the worst state of the files. A file added to accepted ones is a change.
func (p AcceptedProject) State(files []string) State {
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

// MayRun reports whether the scripts of a command are as they were accepted.
func (p AcceptedProject) MayRun(scope cardea.Scope, command string) bool {
	if scope != cardea.ScopeProject {
		return p.RunsUntrusted(command) == ""
	}
	files := p.FilesOf(command)
	return files.Unseen == "" && p.State(files.All) == Accepted
}

// RunsUntrusted returns why a command of the user, or of a stronger scope, does not run in
// an untrusted project: it would run the project's files. It returns "" if the command may
// run.
func (p AcceptedProject) RunsUntrusted(command string) string {
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

// knows reports whether the user accepted a file in any form.
func (p AcceptedProject) knows(path string) bool { return p.Known != nil && p.Known(path) }
