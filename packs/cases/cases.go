// Package cases reads the expected behavior of the built-in policies: for each a file
// packs/policies/NAME.yaml with calls and their outcomes. go generate ./packs makes its
// page from it. A test sends every call in the messages of every harness and reads the
// answers (internal/cli). The program does not link it.
package cases

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"cardea.dev/internal/base/document"
	_ "cardea.dev/internal/base/document/yamltext" // reads YAML
)

// Policy is the expected behavior of a built-in policy.
type Policy struct {
	// Name is the name of the file, and of the policy in settings.
	Name string
	// Title and About describe its purpose, About in Markdown.
	Title string
	About string
	// Rules are the built-in rules that implement it, if it is not written in Rego.
	Rules []string
	// Settings are the settings that switch it on, "" if it is always on. Signal is an
	// alternative to them.
	Settings, Signal string
	// Says are texts. Every answer that is not silent contains one of them.
	Says []string
	// Files are the files of the project, by path.
	Files map[string]string
	Cases []Case
}

// Case is a call or a prompt, with its expected outcome.
type Case struct {
	// After are calls that the harness reported as done before.
	After []ToolCall
	ToolCall
	// Done is set if the case is the message after the call.
	Done bool
	// Prompt is the text of the person, if there is no call.
	Prompt string
	// Expect is "deny", "ask", "told" (to the model), or "nothing".
	Expect string
}

// ToolCall is a call of a tool. Texts may contain {project}.
type ToolCall struct {
	// Tool is the tool, "" for Bash.
	Tool  string
	Input map[string]any
}

// ToolName returns the tool's name.
func (c ToolCall) ToolName() string {
	if c.Tool == "" {
		return "Bash"
	}
	return c.Tool
}

// Fields returns the input of the tool, with {project} replaced.
func (c ToolCall) Fields(project string) map[string]any {
	out := make(map[string]any, len(c.Input))
	for k, v := range c.Input {
		if s, ok := v.(string); ok {
			v = strings.ReplaceAll(s, "{project}", project)
		}
		out[k] = v
	}
	return out
}

// Read reads all files of a folder, in the order of their names.
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

// policy reads the file of the policy with a name.
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

// oneCase reads one case.
func oneCase(m document.Map) Case {
	defer m.Done()
	c := Case{ToolCall: call(m), Prompt: m.Text("prompt"), Expect: m.Word("expect", "deny", "ask", "told", "nothing")}
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

func call(m document.Map) ToolCall {
	c := ToolCall{Tool: m.Text("tool")}
	if v := m.Get("input"); v.Present() {
		c.Input, _ = v.Any().(map[string]any)
	}
	return c
}
