package install

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// codexPart matches Cardea's part of Codex CLI's requirements, which are TOML. Comments
// mark it, and the first has the digest of the text after it.
var codexPart = regexp.MustCompile(`(?s)\n?# written by cardea compile codex-sandbox ([0-9a-f]+)\n(.*?)# end of what cardea compile wrote\n`)

// codexOther matches lines of others about file system permissions.
var codexOther = regexp.MustCompile(`(?m)^\s*("?permissions\b|\[\s*"?permissions\b|[^#\n]*\bfilesystem\b).*$`)

// PlanCodexSandbox plans the paths that must not be read for Codex CLI's machine
// requirements, in place of those that Cardea wrote before; no paths remove them. It fails
// if others wrote such paths, since TOML allows each table once.
func PlanCodexSandbox(at Places, read []string) (*Plan, error) {
	f, err := open(filepath.Join(at.Machine["codex"], "requirements.toml"), "")
	if err != nil {
		return nil, err
	}
	p := &Plan{File: f.path, Before: f.data, on: f, scope: Managed}
	p.modes[0] = 0o644
	quoted, _ := json.MarshalIndent(read, "", "  ") // texts never fail, and TOML reads the result
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
