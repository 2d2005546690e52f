// Package cases reads what is promised of the built-in policies: for each a file
// packs/policies/NAME.yaml, with calls and what becomes of them. Its page is made
// from it (go generate ./packs), and a test puts every call into the messages of
// every harness and reads the answers (internal/cli). The program does not link
// it.
package cases

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"cardea.dev/internal/base/document"
	_ "cardea.dev/internal/base/document/yamltext" // reads YAML
)

// Policy is what is promised of a built-in policy.
type Policy struct {
	// Name is the file's, and the one by which settings switch the policy.
	Name string
	// Title and About say what it is for, About in Markdown.
	Title string
	About string
	// Rules are the built-in rules that say it, where no Rego does.
	Rules []string
	// Settings are those with which it is on, "" where it always is; Signal are
	// others that do the same.
	Settings, Signal string
	// Says are texts of which one is in every answer that is not silent.
	Says []string
	// Files are what lies in the project, by path.
	Files map[string]string
	Cases []Case
}

// Case is a call, or a prompt, and what becomes of it.
type Case struct {
	// After are calls that the harness told of before, as done.
	After []Call
	Call
	// Done is set where the case is the message that follows the call.
	Done bool
	// Prompt is what the person says, where there is no call.
	Prompt string
	// Expect is "deny", "ask", "told" (to the model), or "nothing".
	Expect string
}

// Call is a call of a tool. Texts may hold {project}.
type Call struct {
	// Tool is Bash where it is left out.
	Tool  string
	Input map[string]any
}

// ToolName is the tool's name.
func (c Call) ToolName() string {
	if c.Tool == "" {
		return "Bash"
	}
	return c.Tool
}

// Fields are the input of the tool in a project.
func (c Call) Fields(project string) map[string]any {
	out := make(map[string]any, len(c.Input))
	for k, v := range c.Input {
		if s, ok := v.(string); ok {
			v = strings.ReplaceAll(s, "{project}", project)
		}
		out[k] = v
	}
	return out
}

// Read reads all files of a folder, by name.
func Read(dir string) ([]Policy, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var out []Policy
	for _, file := range files {
		data, readErr := os.ReadFile(file)
		r := document.Read(file, data)
		out = append(out, policy(strings.TrimSuffix(filepath.Base(file), ".yaml"), r.Top().Map()))
		err = errors.Join(err, readErr)
		for _, p := range r.Problems() {
			err = errors.Join(err, p)
		}
	}
	return out, err
}

func policy(name string, m document.Map) Policy {
	defer m.Done()
	p := Policy{Name: name, Title: m.Text("title"), About: m.Text("about"), Rules: m.Texts("rules"), Settings: m.Text("settings"), Signal: m.Text("signal"),
		Says: m.Texts("says"), Files: map[string]string{}}
	if m.Has("files") {
		files := m.Map("files")
		for _, path := range files.Keys() {
			p.Files[path] = files.Text(path)
		}
	}
	for _, v := range m.List("cases") {
		p.Cases = append(p.Cases, oneCase(v.Map()))
	}
	return p
}

func oneCase(m document.Map) Case {
	defer m.Done()
	c := Case{Call: call(m), Prompt: m.Text("prompt"), Expect: m.Word("expect", "deny", "ask", "told", "nothing")}
	if m.Has("done") {
		c.Done = m.Bool("done")
	}
	for _, v := range m.List("after") {
		before := v.Map()
		c.After = append(c.After, call(before))
		before.Done()
	}
	return c
}

func call(m document.Map) Call {
	c := Call{Tool: m.Text("tool")}
	if v := m.Get("input"); v.Present() {
		c.Input, _ = v.Any().(map[string]any)
	}
	return c
}
