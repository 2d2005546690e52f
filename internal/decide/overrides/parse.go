package overrides

import (
	"fmt"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/pathglob"
)

// Parse reads an overrides.yaml. If one of the diagnostics is an error, the caller must
// ignore the file. tool returns the canonical name of a tool.
func Parse(path string, scope cardea.Scope, data []byte, tool func(string) (string, bool)) ([]Override, []diagnostic.Diagnostic) {
	return Read(path, scope, document.Read(path, data), tool)
}

// Read is like [Parse], for a document that was read already.
func Read(path string, scope cardea.Scope, doc *document.Reader, tool func(string) (string, bool)) ([]Override, []diagnostic.Diagnostic) {
	doc.KeysIn("docs/overrides.md")
	top := doc.Top().Map()
	if v := top.Get("version"); v.Present() {
		v.Int(1, 1)
	}
	var out []Override
	for _, v := range top.List("overrides") {
		o := override(v, scope, tool)
		o.Source = fmt.Sprintf("%s:%d", path, v.Line())
		out = append(out, o)
	}
	top.Only()
	return out, doc.Problems()
}

// override reads one entry of the list, and reports its mistakes to the document of v.
func override(v document.Value, scope cardea.Scope, tool func(string) (string, bool)) Override {
	m := v.Map()
	o := Override{Scope: scope, Role: m.Text("role"), File: m.Text("file"), Rule: m.Text("rule"), By: m.Text("by"), Because: m.Text("because"),
		Until: moment(m.Get("until")), At: moment(m.Get("at"))}
	var err error
	if o.Command, err = grammar.PlainWords(m.Text("command")); err != nil {
		m.Get("command").Problem(diagnostic.CodeBadValue, "write the words as in a shell", "%s", err)
	}
	if name := m.Text("tool"); name != "" {
		o.Tool = name
		if word, known := tool(name); known {
			o.Tool = word
		}
	}
	if e, err := cardea.ParseEffect(m.Need("effect").Word("allow", "ask", "deny")); err == nil {
		o.Effect = e
	}
	if hint, wrong := o.wrong(); wrong != "" {
		v.Problem(diagnostic.CodeBadValue, hint, "%s", wrong)
	}
	if o.File != "" {
		pathglob.Check(m.Get("file"), o.File)
	}
	m.Only()
	return o
}

// wrong describes an error in an override as a whole, and its fix. Both are "" if there is
// no error.
func (o Override) wrong() (hint, text string) {
	for i, w := range o.Command {
		switch {
		case w == "*" && i == 0:
			return "name the command", "an override for every command is a setting, not an override"
		case w == "*" && i < len(o.Command)-1:
			return "put it last, or write the words out", "a * stands for more words only at the end"
		}
	}
	switch {
	case len(o.Command) == 0 && o.File == "":
		return "add command: or file:", "an override needs a command or a file"
	case o.Rule != "" && o.Scope == cardea.ScopeProject:
		return "write it into your own overrides", "a project cannot override what protects the gate"
	}
	return "", ""
}

func moment(v document.Value) time.Time {
	text := v.Text()
	if text == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		v.Problem(diagnostic.CodeBadValue, `write it as "2026-11-23T12:00:00Z"`, "%q is no time", text)
	}
	return t
}

// Wrong describes an error in an override that a person asks for, with its fix, or returns
// "".
func (o Override) Wrong() string {
	hint, text := o.wrong()
	if text == "" {
		return ""
	}
	return text + "; " + hint
}
