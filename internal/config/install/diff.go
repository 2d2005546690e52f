package install

import (
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Diff is the change as a unified difference, "" where there is none.
func (p *Plan) Diff() string {
	beside := ""
	for _, c := range p.beside {
		if d := c.diff(); d != "" {
			beside += d + "\n"
		}
	}
	if !p.changesFile() {
		return strings.TrimSuffix(beside, "\n")
	}
	mode := ""
	if p.closes() {
		mode = fmt.Sprintf("%s: mode %#o becomes %#o, since it holds the token of HTTP\n", p.File, p.on.mode, p.on.mode&^othersBits)
	}
	text := string(diff.Diff(sideName(p.File, p.on.exists), p.Before, sideName(p.File, !p.Remove), p.After))
	_, text, _ = strings.Cut(text, "\n") // its first line is the command that would show it
	return strings.TrimSuffix(mode+text+beside, "\n")
}

func sideName(file string, there bool) string {
	if there {
		return file
	}
	return "/dev/null"
}
