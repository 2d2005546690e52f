package importer

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/jsonedit"
)

// Permitter turns the switches of Permitter into settings. env looks up a
// variable of the process that the person runs; file, if it is not "", is a
// settings.json of Claude Code or a start-up file of a shell in which variables
// may be set, with its text. Permitter's lists are the harness's own, which are
// read where they lie.
func Permitter(env func(string) string, file string, data []byte) Imported {
	p := permitter{given: map[string]string{}}
	for _, name := range permitterVariables() {
		if v := env(name); v != "" {
			p.given[name] = v
		}
	}
	switch {
	case file == "":
	case strings.HasSuffix(file, ".json"):
		p.settings(file, data)
	default:
		p.profile(data)
	}
	p.translate(file)
	return Imported{Settings: p.lines, Notes: p.notes}
}

func permitterVariables() []string {
	return []string{"PERMITTER_ENABLED", "PERMITTER_DEBUG", "PERMITTER_STRICT", "PERMITTER_LOG"}
}

type permitter struct {
	given map[string]string
	lines []string
	notes []cardea.Diagnostic
}

// settings reads the variables of a settings.json, and what starts Permitter.
func (p *permitter) settings(file string, data []byte) {
	doc, err := jsonedit.Parse(data)
	if err != nil {
		problem := cardea.Diagnostic{File: file, Code: cardea.CodeSyntax, Text: "not valid JSON: " + err.Error(), Hint: "mend the file"}
		if s, ok := err.(*jsonedit.SyntaxError); ok {
			problem.Line, problem.Column, problem.Text = s.Line, s.Column, "not valid JSON: "+s.Text
		}
		p.notes = append(p.notes, problem)
		return
	}
	for _, name := range permitterVariables() {
		if v := doc.Root.Get("env").Str(name) + doc.Root.Get("env").Lit(name); v != "" {
			p.given[name] = v
		}
	}
	p.hooks(file, data, doc.Root)
}

// hooks finds what starts Permitter itself, which must not answer beside
// Cardea.
func (p *permitter) hooks(file string, data []byte, n *jsonedit.Node) {
	if n == nil {
		return
	}
	if (n.Kind == jsonedit.String) && (strings.Contains(n.Text, "permitter.js") || strings.Contains(n.Text, "ensemble-permitter")) {
		p.startedAt(file, data, n.Start)
	}
	for _, it := range n.Items {
		if strings.HasPrefix(it.Key, "ensemble-permitter") && it.Value.Text == "true" {
			p.startedAt(file, data, it.Start)
		}
		p.hooks(file, data, it.Value)
	}
}

func (p *permitter) startedAt(file string, data []byte, at int) {
	line, column := jsonedit.Position(data, at)
	p.notes = append(p.notes, cardea.Diagnostic{File: file, Line: line, Column: column, Severity: cardea.LevelWarning, Code: cardea.CodeNotConverted,
		Text: "Permitter is started here", Hint: "take it out once cardea is installed: its answers would count beside these"})
}

// profile reads assignments as a start-up file has them.
func (p *permitter) profile(data []byte) {
	assignment := regexp.MustCompile(`(?m)^\s*(?:export\s+|set\s+-gx\s+)?(PERMITTER_[A-Z]+)[= ]["']?([^"'\s;#]*)`)
	for _, m := range assignment.FindAllStringSubmatch(string(data), -1) {
		p.given[m[1]] = m[2]
	}
}

func (p *permitter) note(file, text, hint string) {
	p.notes = append(p.notes, cardea.Diagnostic{File: file, Severity: cardea.LevelWarning, Code: cardea.CodeNotConverted, Text: text, Hint: hint})
}

// translate writes what the variables mean here.
func (p *permitter) translate(file string) {
	var parts []string
	switch v, there := p.given["PERMITTER_ENABLED"]; {
	case v == "1":
		parts = append(parts, "expand: true")
	case there:
		parts = append(parts, "expand: false")
		p.note(file, fmt.Sprintf("PERMITTER_ENABLED is %q, and only 1 switched Permitter on", v), "write expand: true if you want it")
	default:
		p.note(file, "PERMITTER_ENABLED is not set, so Permitter was off", "name the file in which you set it, or write permissions: {expand: true}")
	}
	if v, there := p.given["PERMITTER_STRICT"]; there {
		if v == "0" {
			parts = append(parts, "strict: false")
			p.note(file, "PERMITTER_STRICT=0 let a line pass that could not be parsed; strict: false does not go as far: such a line is never allowed",
				"look at docs/permissions.md")
		} else {
			parts = append(parts, "strict: true")
		}
	}
	if p.given["PERMITTER_DEBUG"] == "1" {
		p.note(file, "PERMITTER_DEBUG is CARDEA_DEBUG", "set CARDEA_DEBUG=1 where you want the trace on standard error")
	}
	if v := p.given["PERMITTER_LOG"]; v != "" {
		p.note(file, "PERMITTER_LOG is not needed: every verdict is in the ledger", `look at "cardea audit search --decider permissions"`)
	}
	for _, name := range slices.Sorted(maps.Keys(p.given)) {
		if !strings.Contains(" PERMITTER_ENABLED PERMITTER_DEBUG PERMITTER_STRICT PERMITTER_LOG ", " "+name+" ") {
			p.note(file, name+" is no variable of Permitter's", "look whether you need it")
		}
	}
	if len(parts) > 0 {
		p.lines = append(p.lines, "permissions: {"+strings.Join(parts, ", ")+"}")
	}
}
