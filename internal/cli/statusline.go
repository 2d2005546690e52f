package cli

import (
	"encoding/json"
	"io"
	"path/filepath"
	"slices"

	"cardea.dev"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/install"
	"github.com/spf13/cobra"
)

// maxStatus is how much of a status message is read, in bytes.
const maxStatus = 1 << 20

func statuslineCommand(p Process) *cobra.Command {
	return &cobra.Command{
		Use:   "statusline",
		Short: "print one line for Claude Code's status line",
		Long: `Read Claude Code's status message from standard input and print one line: whether
the hook works, and when the harness last called it. It starts no program and never
fails. In ~/.claude/settings.json:

  "statusLine": {"type": "command", "command": "/usr/local/bin/cardea statusline"}`,
		Args:               cobra.ArbitraryArgs,
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true}, // never fails
		RunE: func(*cobra.Command, []string) error {
			out := screenOn(p.Stdout, p.Env)
			out.printf("%s\n", statusOf(p))
			return nil // a status line that cannot be written is no failure
		},
	}
}

// statusOf is the line. A program fault must not show in a person's prompt.
func statusOf(p Process) (line string) {
	defer func() {
		if recover() != nil {
			line = "cardea: not known, run cardea doctor"
		}
	}()
	if dir := statusFolder(p); dir != "" {
		p.Dir = dir
	}
	s := siteOf(p)
	h, err := install.Find(claudecode.Name)
	if err != nil {
		return "cardea: not known, run cardea doctor"
	}
	found := install.Inspect(h, s.at)
	last, beat := s.place.heartbeats().LastEvent(h.Name)
	gone := slices.Contains(found.Missing(h), h.Gate())
	bad := slices.ContainsFunc(found.Wirings, func(w install.Wiring) bool { return w.Event == h.Gate() && len(w.Diagnostics) > 0 })
	switch {
	case cardea.HasError(found.Diagnostics):
		return "cardea: settings are broken, run cardea doctor"
	case len(found.Wirings) == 0:
		return "cardea: absent"
	case gone:
		return "cardea: switched off, run cardea doctor"
	case bad:
		return "cardea: has a problem, run cardea doctor"
	case !beat:
		return "cardea: ready, no call yet"
	}
	return "cardea: live, last call " + age(p.Now().Sub(last)) + " ago"
}

// statusFolder is the project's folder of the status message, "" where it has
// none.
func statusFolder(p Process) string {
	if isTerminal(p.Stdin) {
		return ""
	}
	var m struct {
		Cwd       string `json:"cwd"`
		Workspace struct {
			Project string `json:"project_dir"`
		} `json:"workspace"`
	}
	raw, err := io.ReadAll(io.LimitReader(p.Stdin, maxStatus))
	if err != nil || json.Unmarshal(raw, &m) != nil {
		return ""
	}
	for _, dir := range []string{m.Workspace.Project, m.Cwd} {
		if filepath.IsAbs(dir) {
			return dir
		}
	}
	return ""
}
