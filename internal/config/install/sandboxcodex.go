package install

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// codexPart matches what Cardea wrote into the requirements of Codex CLI, which are TOML: comments
// mark it, and the first has the digest of what follows.
var codexPart = regexp.MustCompile(`(?s)\n?# written by cardea compile codex-sandbox ([0-9a-f]+)\n(.*?)# end of what cardea compile wrote\n`)

// codexOther is a line of others about permissions of the file system.
var codexOther = regexp.MustCompile(`(?m)^\s*("?permissions\b|\[\s*"?permissions\b|[^#\n]*\bfilesystem\b).*$`)

// PlanCodexSandbox works out how the requirements of the machine for Codex CLI get paths that
// nothing may read, in place of those that Cardea wrote before; none takes them out. It refuses
// where others wrote such paths, since TOML has each table once.
func PlanCodexSandbox(at Places, read []string) (*Plan, error) {
	f, err := open(filepath.Join(at.Machine["codex"], "requirements.toml"), "")
	if err != nil {
		return nil, err
	}
	p := &Plan{File: f.path, Before: f.data, on: f, scope: Managed}
	p.modes[0] = 0o644
	quoted, _ := json.MarshalIndent(read, "", "  ") // texts always encode, as TOML reads them
	part, rest := "[permissions.filesystem]\ndeny_read = "+string(quoted)+"\n", string(p.Before)
	if m := codexPart.FindStringSubmatch(rest); m != nil {
		switch {
		case m[1] != digest([]byte(m[2])):
			return nil, fmt.Errorf("the part of Cardea in %s was changed without Cardea, so it was left alone; take it out by hand", p.File)
		case m[2] == part:
			p.After = p.Before
			return p, nil
		}
		rest = strings.Replace(rest, m[0], "", 1)
	}
	p.Remove = rest == "" && len(read) == 0 && f.exists
	if len(read) > 0 {
		if other := codexOther.FindString(rest); other != "" {
			return nil, fmt.Errorf("%s has permissions already, which TOML cannot have twice (%s); nothing was changed. Put this in by hand:\n%s", p.File, strings.TrimSpace(other), part)
		}
		if rest != "" {
			rest += "\n"
		}
		rest += "# written by cardea compile codex-sandbox " + digest([]byte(part)) + "\n" + part + "# end of what cardea compile wrote\n"
	}
	p.After = []byte(rest)
	return p, nil
}
