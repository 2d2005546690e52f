package routes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/harness"
)

// Test is an example in a route.
type Test struct {
	// Tool is the tool's name, Input its input as JSON.
	Tool, Input string
	// Block is set if the route must block the call, otherwise it must not.
	Block bool
	// Contains is a text that the message must contain.
	Contains, Desc string
	Line           int
}

// Origin describes the source of a file of routes.
type Origin struct {
	Scope   cardea.Scope
	Trusted bool
	// Tool returns the canonical name of a harness's tool, as harness.ToolWord does. Nil
	// keeps names.
	Tool func(word string) (string, bool)
}

// read reads a file of routes, in YAML or JSON. It drops and reports a route with a
// mistake, and keeps all others, even two with the same name. If routes is a list, as in
// routes.json, its entries are returned as files.
func read(file string, doc *document.Reader, from Origin) (list []Route, files []string, problems []diagnostic.Diagnostic) {
	top := doc.Top().Map()
	v := top.Get("routes")
	top.Know("version", "name", "description", "$schema")
	switch {
	case doc.Errors() > 0:
	case !v.Present():
		doc.Top().Problem(diagnostic.CodeMissing, "write routes: and a name for each below it", "the file has no routes")
	case v.IsList():
		files = lists.Of(v.List(), document.Value.Text)
	default:
		if m := v.Map(); v.IsMap() {
			for _, name := range m.Keys() {
				if r, ok := route(doc, file, name, m.Get(name), from); ok {
					list = append(list, r)
				}
			}
		}
	}
	top.Done()
	return list, files, doc.Problems()
}

// route reads one route, and reports whether it has no mistake.
func route(doc *document.Reader, file, name string, v document.Value, from Origin) (Route, bool) {
	before := doc.Errors()
	m := v.Map()
	r := Route{Name: name, Source: fmt.Sprintf("%s:%d", file, v.KeyLine()), Scope: from.Scope, Trusted: from.Trusted}
	r.Tool = m.Need("tool").Text()
	if from.Tool != nil {
		if tool, ok := from.Tool(r.Tool); ok {
			r.Tool = tool
		}
	}
	r.Field = cmp.Or(m.Text("field"), mainField(r.Tool))
	if r.Field == "" && r.Tool != "" {
		m.Value().Problem(diagnostic.CodeMissing, "add field: with the name of the input field to look at", "it is not known which field of %s the pattern is for", r.Tool)
	}
	if p := m.Need("pattern"); p.Present() {
		var err error
		r.Written = p.Text()
		if r.Pattern, r.Rewritten, err = translate(p.Text()); err != nil {
			p.Problem(diagnostic.CodeBadPattern, hint(err), "the pattern of route %q cannot be run: %s", name, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		} else if p.Text() == "" {
			p.Problem(diagnostic.CodeMissing, "write what to look for", "the empty pattern of route %q matches everything", name)
		}
	}
	r.Message = m.Need("message").Text()
	r.Tests = lists.Of(m.List("tests"), test)
	m.Done()
	return r, doc.Errors() == before
}

// mainField returns the input field that a route matches by default, "" if the tool has
// none.
func mainField(tool string) string {
	if tool == "Agent" {
		return "prompt"
	}
	info, _ := harness.Tool(tool)
	return info.Primary
}

// test reads one inline test.
func test(v document.Value) Test {
	m := v.Map()
	t := Test{Line: v.Line(), Desc: m.Text("desc"), Contains: m.Text("contains")}
	t.Block = m.Need("expect").Word("block", "allow") == "block"
	in := m.Need("input").Map()
	t.Tool = in.Need("tool_name").Text()
	input := in.Need("tool_input")
	text, err := json.Marshal(input.Any())
	if err != nil || !input.IsMap() {
		in.Value().Problem(diagnostic.CodeMissing, "write {tool_name: …, tool_input: {…}}", "the test has no tool_input")
	}
	t.Input = string(text)
	m.Done()
	return t
}
