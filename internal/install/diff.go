package install

import (
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Diff is the change as a unified difference, "" where there is none.
func (p *Plan) Diff() string {
	if !p.changesFile() {
		return p.command.diff()
	}
	text := string(diff.Diff(sideName(p.File, p.on.exists), p.Before, sideName(p.File, !p.Remove), p.After))
	_, text, _ = strings.Cut(text, "\n") // its first line is the command that would show it
	return strings.TrimSuffix(text+p.command.diff(), "\n")
}

func sideName(file string, there bool) string {
	if there {
		return file
	}
	return "/dev/null"
}
