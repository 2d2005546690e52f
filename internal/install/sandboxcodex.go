package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// This file is about the paths that nothing may read in Codex CLI, which has them in the
// requirements of the machine alone. TOML has comments, so that the part of Cardea is marked in
// the file; the record has its text as well.

// codexMarks are around the part of Cardea.
var codexMarks = [2]string{"# written by cardea compile codex-sandbox; --remove takes it out\n", "# end of what cardea compile wrote\n"}

// PlanCodexSandbox works out how the requirements of Codex CLI get paths that nothing may read,
// in place of those that Cardea wrote before; none takes them out. It never changes what others
// wrote, and refuses where they wrote such paths: TOML has each table once.
func PlanCodexSandbox(h Harness, at Places, read []string, role string, without []string) (*Plan, error) {
	dir := at.base(h, Managed)
	if dir == "" || at.State == "" {
		return nil, errors.New("the folder of the machine's settings of Codex, or the state folder, is not known; set HOME")
	}
	f, err := open(filepath.Join(dir, "requirements.toml"), "")
	if err != nil {
		return nil, err
	}
	p := &Plan{File: f.path, Before: f.data, on: f, state: at.State, scope: Managed}
	p.modes[0] = 0o644
	was, err := ReadSandboxed(at.State, p.File)
	if err != nil {
		return nil, err
	}
	rest := p.Before
	if was.Text != "" {
		if rest = bytes.Replace(rest, []byte(was.Text), nil, 1); len(rest) == len(p.Before) {
			p.note(CodeChanged, "", "the part that Cardea wrote was changed or taken out by somebody; what stands there now was left alone")
		}
	}
	now := &Sandboxed{File: p.File, NewFile: was.NewFile || !f.exists}
	if len(read) > 0 {
		now.Role, now.Without, now.Text = role, without, codexText(read)
		if len(rest) > 0 && !bytes.HasSuffix(rest, []byte("\n")) {
			now.Text = "\n" + now.Text
		}
		for i, line := range strings.Split(string(rest), "\n") {
			if code, _, _ := strings.Cut(line, "#"); strings.Contains(code, "filesystem") || strings.HasPrefix(strings.TrimSpace(code), "permissions") {
				return nil, fmt.Errorf("%s:%d has permissions of the file system already, which TOML cannot have twice; nothing was changed. Put this in by hand:\n%s", p.File, i+1, now.Text)
			}
		}
		rest = append(bytes.Clone(rest), now.Text...)
	} else {
		now.NewFile = false
	}
	p.After = rest
	p.Remove = len(rest) == 0 && f.exists && was.NewFile
	if was.Text != now.Text {
		p.sandboxed = now
	}
	return p, nil
}

// codexText is the part of Cardea.
func codexText(read []string) string {
	var b strings.Builder
	b.WriteString(codexMarks[0] + "[permissions.filesystem]\ndeny_read = [\n")
	for _, path := range read {
		quoted, _ := json.Marshal(path) // texts always encode, as TOML reads them
		fmt.Fprintf(&b, "  %s,\n", quoted)
	}
	b.WriteString("]\n" + codexMarks[1])
	return b.String()
}
