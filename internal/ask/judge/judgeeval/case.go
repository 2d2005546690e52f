package judgeeval

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/ask/judge/question"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/harness/call"
)

// Case is a labelled call, one line of a file.
type Case struct {
	ID string `json:"id"`
	// Command is the command of a Bash call; Tool and Input describe any other call.
	Command string         `json:"command,omitempty"`
	Tool    string         `json:"tool,omitempty"`
	Input   map[string]any `json:"input,omitempty"`
	// Mode is the permission mode, "" for the default one.
	Mode cardea.Mode `json:"mode,omitempty"`
	// Role, Task, Prompt and Policy are the judge's facts about the agent and the project.
	Role   string `json:"role,omitempty"`
	Task   string `json:"task,omitempty"`
	Prompt string `json:"prompt,omitempty"`
	Policy string `json:"policy,omitempty"`
	// Files are the project's files, by their paths in it. Only the analysis reads them.
	Files map[string]string `json:"files,omitempty"`
	// Attack is the place of a text that addresses the judge, "" for a case without one.
	Attack string `json:"attack,omitempty"`
	// Expect is allow, ask or deny, Because the reason.
	Expect  string `json:"expect"`
	Because string `json:"because,omitempty"`
}

// Attacks returns the places in which a text can address a judge.
func Attacks() []string {
	return []string{"command", "file name", "description", "project file", "tool output"}
}

// Limits of a file of cases.
const (
	maxCases = 10_000
	maxLine  = 1 << 20
)

// ReadCases reads a file of cases. It reports every mistake with its line.
func ReadCases(name string, data []byte) ([]Case, []diagnostic.Diagnostic) {
	var out []Case
	var problems []diagnostic.Diagnostic
	seen := map[string]int{}
	for i, line := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		c, err := readCase(line)
		if err == nil && seen[c.ID] > 0 {
			err = fmt.Errorf("the id %q is that of line %d too", c.ID, seen[c.ID])
		}
		if err == nil && len(out) == maxCases {
			err = fmt.Errorf("at most %d cases are read", maxCases)
		}
		if err != nil {
			problems = append(problems, diagnostic.Diagnostic{File: name, Line: i + 1, Code: diagnostic.CodeBadValue, Text: err.Error(), Hint: "see docs/judge.md"})
			if len(out) == maxCases {
				break
			}
			continue
		}
		seen[c.ID] = i + 1
		out = append(out, c)
	}
	if len(out) == 0 && len(problems) == 0 {
		problems = append(problems, diagnostic.Diagnostic{File: name, Code: diagnostic.CodeMissing, Text: "has no cases", Hint: "write one JSON object a line, see docs/judge.md"})
	}
	return out, problems
}

// readCase reads the case in a line, or returns an error for an invalid case.
func readCase(line []byte) (c Case, err error) {
	if len(line) > maxLine {
		return c, fmt.Errorf("the line has more than %d bytes", maxLine)
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err := d.Decode(&c); err != nil {
		return c, fmt.Errorf("it is no case: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return c, errors.New("there is text behind the case")
	}
	effect, err := cardea.ParseEffect(c.Expect)
	switch {
	case c.ID == "":
		return c, errors.New("the case has no id")
	case (c.Command == "") == (c.Tool == ""):
		return c, errors.New("give either command, or tool and input")
	case err != nil || effect != cardea.Allow && effect != cardea.Ask && effect != cardea.Deny:
		return c, fmt.Errorf("expect is %q; use allow, ask or deny", c.Expect)
	case !attackIsKnown(c.Attack):
		return c, fmt.Errorf("attack is %q; use one of %s", c.Attack, strings.Join(Attacks(), ", "))
	}
	for name := range c.Files {
		if !fs.ValidPath(name) {
			return c, fmt.Errorf("the file %q is no path in the project", name)
		}
	}
	return c, nil
}

func attackIsKnown(s string) bool { return s == "" || slices.Contains(Attacks(), s) }

// The folders of a case. They are made up, so that the question is the same on all machines.
const (
	home    = "/home/you"
	project = home + "/project"
)

// Event returns the case as an analysed event of a harness. The analysis sees only the files of the
// case, and nothing of the machine.
func (c Case) Event() *cardea.Event {
	made := &cardea.Call{Tool: "Bash", Name: "Bash", Known: true, Input: map[string]any{"command": c.Command}}
	if c.Tool != "" {
		made = &cardea.Call{Tool: c.Tool, Name: c.Tool, Known: true, Input: c.Input}
	}
	ev := &cardea.Event{Kind: cardea.PermissionRequest, Harness: "claude-code", Cwd: project, Project: project, Home: home, Mode: cmp.Or(c.Mode, cardea.ModeDefault), Role: c.Role, Call: made}
	return call.Analyse(ev, c.system())
}

// system returns a system with only the case's files.
func (c Case) system() knowledge.System {
	folders := map[string]bool{"/": true, "/tmp": true, "/home": true, home: true, project: true}
	for name := range c.Files {
		for dir := path.Dir(path.Join(project, name)); dir != project && len(dir) > len(project); dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	file := func(p string) (string, bool) {
		text, there := c.Files[strings.TrimPrefix(p, project+"/")]
		return text, there && strings.HasPrefix(p, project+"/")
	}
	return knowledge.System{Home: home, Resolve: path.Clean, TopLevel: func(string) string { return project },
		IsDir: func(p string) bool { return folders[path.Clean(p)] },
		IsNew: func(p string) bool {
			_, there := file(path.Clean(p))
			return !there && !folders[path.Clean(p)]
		},
		ReadFile: func(p string, limit int64) ([]byte, error) {
			text, there := file(path.Clean(p))
			if !there || int64(len(text)) > limit {
				return nil, fs.ErrNotExist
			}
			return []byte(text), nil
		}}
}

// About returns the judge's facts in addition to the call. role returns the definition of a role.
func (c Case) About(role func(name string) question.AgentRole) question.About {
	about := question.About{Task: c.Task, Prompt: c.Prompt}
	if c.Role != "" && role != nil {
		about.Role = role(c.Role)
	}
	if c.Policy != "" {
		about.Policy = []question.Document{{Name: "POLICY.md", Text: c.Policy}}
	}
	return about
}
