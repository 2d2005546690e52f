package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev/internal/base/state"
	"cardea.dev/internal/harness/claudecode"
)

// This file installs the file that defines the command /cardea for Claude Code. A prompt
// that begins with an unknown command never reaches a hook (seen with 2.1.330), and the
// hook answers "/cardea register coder".

// commandMark identifies a file that this program wrote.
const commandMark = "<!-- written by cardea install; cardea install --uninstall removes it -->"

const commandText = `---
description: Show the status of this session in Cardea, or the command that gives it a role, or switches Cardea off for it
argument-hint: register ROLE [--supervisor] | switch ROLE | disable | enable | status | approve NUMBER | deny NUMBER
disable-model-invocation: true
---
` + commandMark + `
This prompt is a command for Cardea: $ARGUMENTS

Cardea's hook should have answered it before you saw it, and did not. Carry out nothing yourself. Tell the person that the hook for
prompts did not run, and that "cardea doctor" in a terminal of their own says why.
`

// besideFile is a change of a file next to the one with the hooks.
type besideFile struct {
	path string
	text []byte
	// says describes the file for people.
	says string
	// write and remove are the action; if neither is set, the file stays as it is.
	write, remove bool
}

// planCommand plans the command file of a settings file, or its removal.
func (p *Plan) planCommand(h Harness, wanted bool) {
	if h.Name != claudecode.Name || p.scope == Managed {
		return
	}
	c := besideFile{path: commandBeside(p.File), text: []byte(commandText), says: "the command /cardea, by which you register sessions"}
	data, err := state.Read(c.path, 64<<10)
	ours := err == nil && strings.Contains(string(data), commandMark)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.write = wanted
	case !ours:
		if wanted {
			p.note(CodeOtherHook, "remove or rename it, if /cardea is to reach the hook as it is described", "the command "+c.path+" is not Cardea's, and was left alone")
		}
	case wanted:
		c.write, p.replaces = string(data) != commandText, true
	default:
		c.remove = true
	}
	p.beside = append(p.beside, c)
}

// commandBeside returns the path of the command file for a settings file.
func commandBeside(settings string) string {
	return filepath.Join(filepath.Dir(settings), "commands", "cardea.md")
}

// KnowsCommand reports whether a harness knows the command /cardea, or passes it to the
// found hooks without knowing it.
func (f Findings) KnowsCommand(h Harness) bool {
	return h.Name != claudecode.Name || slices.ContainsFunc(f.Wirings, func(w Wiring) bool {
		_, err := os.Lstat(commandBeside(w.File))
		return w.Scope == Managed || w.Scope == Plugin || err == nil
	})
}

// pending reports whether the file must be changed.
func (c besideFile) pending() bool { return c.write || c.remove }

// diff describes the change as in a plan's diff.
func (c besideFile) diff() string {
	switch {
	case c.write:
		return fmt.Sprintf("+ %s\n  %s", c.path, c.says)
	case c.remove:
		return "- " + c.path
	}
	return ""
}

// takeAway removes the file if planned.
func (c besideFile) takeAway() error {
	if !c.remove {
		return nil
	}
	if err := os.Remove(c.path); err != nil {
		return fmt.Errorf("remove %s: %w", c.path, err)
	}
	_ = os.Remove(filepath.Dir(c.path)) // fails if the folder is not empty
	return nil
}

// put writes the file if planned. mode and dirMode are the modes of the file and its
// folder.
func (c besideFile) put(mode, dirMode os.FileMode) error {
	if !c.write {
		return nil
	}
	err := os.MkdirAll(filepath.Dir(c.path), dirMode)
	if err == nil {
		err = state.Replace(c.path, c.text, func(f *os.File) error { return f.Chmod(mode) })
	}
	if err != nil {
		return fmt.Errorf("write %s, %s: %w; the hook itself is there", c.path, c.says, err)
	}
	return nil
}
