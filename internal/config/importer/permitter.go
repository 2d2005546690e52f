package importer

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/jsonedit"
)

// Permitter imports the switches of Permitter as settings. The function env returns a
// variable of this process. Unless file is "", it is a settings.json of Claude Code or a
// shell start-up file that may set variables; data is its text. Permitter's lists are the
// harness's own, and Cardea reads them in place.
func Permitter(env func(string) string, file string, data []byte) Imported {
	p := permitter{table: table{file: file}, given: map[string]string{}}
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
	p.translate()
	return Imported{Settings: p.set, Table: p.rows, Problems: p.problems}
}

func permitterVariables() []string {
	return []string{"PERMITTER_ENABLED", "PERMITTER_DEBUG", "PERMITTER_STRICT", "PERMITTER_LOG", "ENSEMBLE_PERMITTER_DISABLE"}
}

type permitter struct {
	table
	given    map[string]string
	set      []Setting
	problems []diagnostic.Diagnostic
}

// line is a line number.
type line int

// Line returns the line number.
func (l line) Line() int { return int(l) }

// settings reads the variables of a settings.json, and finds the hooks of Permitter.
func (p *permitter) settings(file string, data []byte) {
	doc, err := jsonedit.Parse(data)
	if err != nil {
		problem := diagnostic.Diagnostic{File: file, Code: diagnostic.CodeSyntax, Text: "not valid JSON: " + err.Error(), Hint: "mend the file"}
		if s, ok := err.(*jsonedit.SyntaxError); ok {
			problem.Line, problem.Column, problem.Text = s.Line, s.Column, "not valid JSON: "+s.Text
		}
		p.problems = append(p.problems, problem)
		return
	}
	for _, name := range permitterVariables() {
		if v := doc.Root.Get("env").Str(name) + doc.Root.Get("env").Lit(name); v != "" {
			p.given[name] = v
		}
	}
	p.hooks(data, doc.Root)
}

// hooks reports the entries that start Permitter, which must not answer in addition to
// Cardea.
func (p *permitter) hooks(data []byte, n *jsonedit.Node) {
	if n == nil {
		return
	}
	if (n.Kind == jsonedit.String) && (strings.Contains(n.Text, "permitter.js") || strings.Contains(n.Text, "ensemble-permitter")) {
		p.startedAt(data, n.Start)
	}
	for _, it := range n.Items {
		if strings.HasPrefix(it.Key, "ensemble-permitter") && it.Value.Text == "true" {
			p.startedAt(data, it.Start)
		}
		p.hooks(data, it.Value)
	}
}

func (p *permitter) startedAt(data []byte, at int) {
	n, _ := jsonedit.Position(data, at)
	p.changed(line(n), "the hook of Permitter", "Cardea answers in its place; take this entry out, since its answers would count beside Cardea's")
}

// profile reads the assignments of a start-up file.
func (p *permitter) profile(data []byte) {
	assignment := regexp.MustCompile(`(?m)^\s*(?:export\s+|set\s+-gx\s+)?((?:ENSEMBLE_)?PERMITTER_[A-Z]+)[= ]["']?([^"'\s;#]*)`)
	for _, m := range assignment.FindAllStringSubmatch(string(data), -1) {
		p.given[m[1]] = m[2]
	}
}

// translate adds the settings for the variables.
func (p *permitter) translate() {
	setting := func(key, value string, protects bool) {
		p.set = append(p.set, Setting{Path: []string{"permissions", key}, Value: value, Protects: protects})
	}
	p.taken(nil, "the lists of permissions", "Cardea reads the harness's own lists where they are, ask and managed settings too")
	switch v, there := p.given["PERMITTER_ENABLED"]; {
	case v == "1":
		setting("expand", "true", false)
		p.taken(nil, "PERMITTER_ENABLED", "permissions: {expand: true}")
	case !there && p.started():
		setting("expand", "true", false)
		p.changed(nil, "PERMITTER_ENABLED", "it is not set, and newer versions of Permitter are on without it: permissions: {expand: true}")
	case there:
		setting("expand", "false", false)
		p.changed(nil, "PERMITTER_ENABLED", "it is %q, and only 1 switched Permitter on: permissions: {expand: false}", v)
	default:
		p.left(nil, "PERMITTER_ENABLED", "it is not set, so Permitter was off; name the file in which you set it, write permissions: {expand: true}, or from_env: [PERMITTER_ENABLED] where you set it for single sessions")
	}
	switch v, there := p.given["PERMITTER_STRICT"]; {
	case v == "0":
		setting("strict", "false", false)
		p.changed(nil, "PERMITTER_STRICT", "permissions: {strict: false}. It does not go as far: a line that cannot be parsed is never allowed (docs/permissions.md)")
	case there:
		setting("strict", "true", true)
		p.taken(nil, "PERMITTER_STRICT", "permissions: {strict: true}")
	}
	p.byName()
	for _, name := range slices.Sorted(maps.Keys(p.given)) {
		if !slices.Contains(permitterVariables(), name) {
			p.left(nil, name, "it is no variable of Permitter's")
		}
	}
}

// byName imports the variables that stay in use under their own names, since users set them
// for single runs.
func (p *permitter) byName() {
	var names []string
	if v := p.given["PERMITTER_DEBUG"]; v != "" {
		names = append(names, "PERMITTER_DEBUG")
		p.taken(nil, "PERMITTER_DEBUG", "from_env: [PERMITTER_DEBUG]: where it is 1, the trace is on standard error, with the variables and wrappers that were taken off")
	}
	if v := p.given["PERMITTER_LOG"]; v != "" {
		names = append(names, "PERMITTER_LOG")
		const how = "from_env: [PERMITTER_LOG]: the trace of a run goes to the end of the file that it names. Every verdict is in the ledger, too: cardea audit search --decider permissions"
		fromHome := strings.HasPrefix(v, "~/") || strings.HasPrefix(v, "$HOME/") // as in a profile
		if (filepath.IsAbs(v) || fromHome) && filepath.Ext(v) == ".log" {
			p.taken(nil, "PERMITTER_LOG", how)
		} else {
			p.changed(nil, "PERMITTER_LOG", how+". It must be an absolute path that ends in .log, which %q is not", v)
		}
	}
	if len(names) > 0 {
		p.set = append(p.set, Setting{Path: []string{"from_env"}, Items: names})
	}
}

// started reports whether the harness starts Permitter. Newer versions are on unless
// switched off.
func (p *permitter) started() bool {
	return p.given["ENSEMBLE_PERMITTER_DISABLE"] != "1" && slices.ContainsFunc(p.rows, func(r Row) bool { return r.What == "the hook of Permitter" })
}
