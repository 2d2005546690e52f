package install

import (
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Diff returns the change as a unified diff, "" if none exists.
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
	_, text, _ = strings.Cut(text, "\n") // the first line is the diff command
	return strings.TrimSuffix(mode+text+beside, "\n")
}

func sideName(file string, there bool) string {
	if there {
		return file
	}
	return "/dev/null"
}
