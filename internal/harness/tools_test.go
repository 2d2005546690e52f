package harness

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardea.dev/internal/testing/sharedtest"
)

func TestToolTable(t *testing.T) {
	seen := map[string]bool{}
	for _, tool := range Tools() {
		if seen[tool.Name] {
			t.Errorf("%s stands twice", tool.Name)
		}
		seen[tool.Name] = true
		if tool.Primary != "" && !tool.has(tool.Primary) {
			t.Errorf("%s: the primary field %s is none of its fields", tool.Name, tool.Primary)
		}
		folded := map[string]bool{}
		for _, f := range tool.Fields {
			if folded[fold(f.Name)] {
				t.Errorf("%s: two fields are called %s", tool.Name, f.Name)
			}
			folded[fold(f.Name)] = true
		}
	}
	for tool, field := range map[string]string{"Bash": "command", "WebFetch": "url", "Read": "file_path", "Write": "file_path",
		"Edit": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path", "Glob": "pattern", "Grep": "pattern",
		"apply_patch": "input", "PowerShell": "command", "Monitor": "command"} {
		if info, ok := Tool(tool); !ok || info.Primary != field {
			t.Errorf("%s: %s", tool, info.Primary)
		}
	}
	for _, name := range []string{"", "bash", "Bash ", "mcp__a__b", "CronMake"} {
		if _, ok := Tool(name); ok {
			t.Errorf("%q is known", name)
		}
	}
	if info, _ := Tool("Grep"); !slices.Equal(info.FieldsOf(SearchPath), []string{"path"}) || info.FieldsOf(URL) != nil {
		t.Error("roles of Grep")
	}
}

// The tools that Claude Code declares are in the table, with all their fields.
func TestToolsOfTheNewestClaudeCode(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(sharedtest.Path(t, "lab"), "claude-*-tools.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no file with the tools of Claude Code: %v", err)
	}
	for _, file := range files {
		var declared []struct {
			Name   string
			Schema struct{ Properties map[string]any } `json:"input_schema"`
		}
		sharedtest.ReadJSON(t, &declared, "lab", filepath.Base(file))
		if len(declared) < 4 || sharedtest.Available(t) && len(declared) < 24 {
			t.Errorf("%s declares %d tools only", filepath.Base(file), len(declared))
		}
		for _, d := range declared {
			info, known := Tool(d.Name)
			if !known {
				t.Errorf("%s declares the tool %s, which tools.go does not have: say there what its fields do", filepath.Base(file), d.Name)
				continue
			}
			for field := range d.Schema.Properties {
				if !info.has(field) {
					t.Errorf("%s: %s has the field %s, which tools.go does not have: say there what it does", filepath.Base(file), d.Name, field)
				}
			}
		}
	}
}

// A word in a rules file means the same tool for every harness, and tables name tools and fields
// that exist.
func TestAliasTables(t *testing.T) {
	senderNames := map[string]bool{}
	for _, s := range senders {
		senderNames[s.harness] = true
	}
	means := map[string]string{}
	for _, w := range worded {
		if _, ok := Tool(w.tool); !ok || !senderNames[w.harness] {
			t.Errorf("%+v names a tool or harness that is not known", w)
		}
		if wordsOf(w.harness, w.tool) != w {
			t.Errorf("%+v is a second row of one tool", w)
		}
		for wire := range strings.FieldsSeq(w.names) {
			if first, ok := means[wire]; ok && first != w.tool {
				t.Errorf("%s means %s and %s", wire, first, w.tool)
			}
			means[wire] = w.tool
			if info, ok := Tool(wire); ok && info.Name != w.tool {
				t.Errorf("%s is a canonical name too", wire)
			}
			if ToolName(w.harness, wire) != w.tool || ToolName("another", wire) != wire {
				t.Errorf("ToolName of %s of %+v", wire, w)
			}
			if got, ok := ToolWord(wire); !ok || got != w.tool {
				t.Errorf("ToolWord(%s) = %s", wire, got)
			}
		}
		for _, r := range renames(w.harness, w.tool) {
			if r.field == "" || fieldName(w.harness, w.tool, r.wire) != r.field || fieldName(w.harness, w.tool, r.field) != r.field {
				t.Errorf("fieldName of %+v of %+v", r, w)
			}
			if back := wireName(w.harness, w.tool, r.field); back != r.wire && !r.oneWay {
				t.Errorf("%+v of %+v is renamed back to %s", r, w, back)
			}
		}
	}
	for word, ok := range map[string]bool{"Bash": true, "mcp__a__b": false, "BASH": false} {
		if got, known := ToolWord(word); got != word || known != ok {
			t.Errorf("ToolWord(%s) = %s, %v", word, got, known)
		}
	}
}
