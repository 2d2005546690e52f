package rules

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp/syntax"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge/files"
	"cardea.dev/internal/command/pathglob"
)

// Origin describes the source of a file of rules.
type Origin struct {
	// Scope is the scope of the file.
	Scope cardea.Scope
	// Trusted is set if the person trusts the project.
	Trusted bool
	// Root is the folder to which path globs are relative, "" for the project of each
	// event.
	Root string
	// Tool returns the canonical name of a harness's tool, as harness.ToolWord does. Nil
	// keeps names.
	Tool func(word string) (string, bool)
	// Events are the names of all events. Nil accepts every name.
	Events []string
}

// Parse reads a file of rules. It drops and reports a rule with a mistake, and keeps the
// others. An unknown key of a rule or match is a mistake, since it may be a condition:
// without it the rule would apply to more calls. Other unknown keys are warnings.
func Parse(file string, data []byte, from Origin) ([]Rule, []diagnostic.Diagnostic) {
	return Read(file, document.Read(file, data), from)
}

// Read is like [Parse], for a document that was read already.
func Read(file string, doc *document.Reader, from Origin) ([]Rule, []diagnostic.Diagnostic) {
	doc.Hints(keysOfOthers)
	p := &parser{doc: doc, file: file, from: from, seen: map[string]int{}}
	top := doc.Top().Map()
	if v := top.Get("version"); v.Present() {
		v.Int(1, 1)
	}
	if !top.Has("rules") && doc.Top().Present() && (len(top.Unknown()) > 0 || len(top.Keys()) == 0) { // a file of comments has at most a version
		doc.Top().Problem(diagnostic.CodeMissing, "write rules: and a list below it", "the file has no rules")
	}
	for _, v := range top.List("rules") {
		p.rule(v)
	}
	top.Done()
	return p.rules, doc.Problems()
}

// keysOfOthers returns hints for keys of the tools whose rules Cardea replaces: Bouncer's
// groups and the routes of tool-routing.
func keysOfOthers() map[string]string {
	return map[string]string{
		"defaultAction": "the setting default in cardea.yaml says what happens where no rule decides; \"cardea import bouncer\" takes the file over",
		"customRules":   "write rules: with the keys of docs/rule-language.md; \"cardea import bouncer\" takes the file over",
		"ruleGroups":    "packs are switched in cardea.yaml; \"cardea import bouncer\" takes the file over",
		"routes":        "routes stay in .claude/tool-routes.yaml, where they work unchanged; here write rules:",
		"name":          "write id:, such as id: no-deploy",
		"toolMatch":     "write tool: with the tool's name",
		"action":        "write effect: deny, ask or allow",
		"block":         "write effect: deny",
		"reason":        "write message:",
		"pattern":       "write it below match: as {pattern: …}",
		"enabled":       "rules are switched in cardea.yaml: rules: {off: [ID]}",
	}
}

type parser struct {
	doc   *document.Reader
	file  string
	from  Origin
	rules []Rule
	seen  map[string]int // line of each id
}

// effectWords are the effects that a rule may have.
var effectWords = []string{"halt", "deny", "ask", "defer", "allow", "abstain"}

// rule reads one rule, and adds it if it has no mistake.
func (p *parser) rule(v document.Value) {
	before := p.doc.Errors()
	m := v.Map()
	if !v.IsMap() {
		return
	}
	r := Rule{Scope: p.from.Scope, Trusted: p.from.Trusted, Root: p.from.Root,
		Pack: packName(p.file), Source: fmt.Sprintf("%s:%d", p.file, v.Line())}
	r.ID = p.id(m)
	r.Effect, _ = cardea.ParseEffect(cmp.Or(p.effect(m.Get("effect")), "abstain"))
	r.Events = p.events(m.Get("event"))
	r.Tools = p.tools(m.Get("tool"), r.Effect)
	if v := m.Get("match"); v.Present() {
		r.Match = p.match(v)
	}
	r.Person, r.Certain = m.Bool("person"), m.Bool("certain")
	r.Message, r.Instead, r.Because, r.Context = m.Text("message"), m.Text("instead"), m.Text("because"), m.Text("context")
	r.Severity = cardea.Severity(m.Word("severity", "low", "medium", "high", "critical"))
	r.Loses = cardea.Loss(m.Word("loses", "project", "history", "files", "secrets", "gate"))
	r.Rewrite = p.rewrite(m.Map("rewrite"))
	r.Tests = lists.Of(m.List("tests"), func(t document.Value) Test { return p.test(t, &r) })
	p.sense(m, &r)
	m.Only()
	if p.doc.Errors() == before {
		p.rules = append(p.rules, r)
	}
}

// effect reads the name of an effect.
func (p *parser) effect(v document.Value) string {
	if v.Present() && !v.Null() && !v.IsList() && !v.IsMap() {
		if meant := effectOfOthers(strings.ToLower(v.Text())); meant != "" {
			v.Problem(diagnostic.CodeBadValue, "write effect: "+meant, "unknown value %q for %s", v.Text(), v.Name())
			return ""
		}
	}
	return v.Word(effectWords...)
}

// effectOfOthers returns the effect for a word that other tools use, or "".
func effectOfOthers(word string) string {
	return map[string]string{
		"block": "deny", "reject": "deny", "forbid": "deny", "stop": "halt", "warn": "ask", "prompt": "ask", "confirm": "ask",
		"permit": "allow", "approve": "allow", "accept": "allow", "none": "abstain", "ignore": "abstain",
	}[word]
}

// packName returns a file's base name without extension.
func packName(file string) string {
	base := filepath.Base(filepath.ToSlash(file))
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// id reads the id of a rule, and warns about a duplicate.
func (p *parser) id(m document.Map) string {
	v := m.Need("id")
	id := v.Text()
	if !v.Present() || id == "" && v.Null() {
		return ""
	}
	if !cardea.IsID(id) {
		v.Problem(diagnostic.CodeBadValue, cardea.IDHint, "%q is no id", id)
		return id
	}
	if line, dup := p.seen[id]; dup {
		v.Warn(diagnostic.CodeDuplicate, "give it another id, so that it can be switched by itself", "id %q is given twice, first in line %d; both rules stay in force", id, line)
	} else {
		p.seen[id] = v.Line()
	}
	return id
}

// sense reports rules that are valid but make no sense.
func (p *parser) sense(m document.Map, r *Rule) {
	advice := r.Context != "" || r.Instead != "" || len(r.Rewrite) > 0
	switch {
	case r.Effect == cardea.Abstain && !advice && m.Has("effect") && m.Text("effect") != "abstain": // reported already
	case r.Effect == cardea.Abstain && !advice:
		m.Value().Problem(diagnostic.CodeMissing, "add effect: deny, ask … or context:", "the rule has neither an effect nor advice")
	case r.Effect == cardea.Allow && r.Match.empty() && (len(r.Tools) == 0 || slices.Contains(r.Tools, "*")):
		m.Value().Problem(diagnostic.CodeTooWide, "name a tool, or what must match", "the rule allows everything")
	case r.Match.empty() && len(r.Tools) == 0 && r.Effect != cardea.Abstain && len(m.Unknown()) == 0: // an unknown key may be the condition
		m.Value().Warn(diagnostic.CodeTooWide, "name a tool, or what must match", "the rule is about every call")
	}
	if r.Effect == cardea.Allow && r.Match.hides() {
		m.Get("match").Problem(diagnostic.CodeTooWide, "remove opaque, flow, own, env and unless; options that are not in flags, and variables that may do harm, are never allowed",
			"what is opaque, flows or is the gate's own cannot be allowed by rule, and env and unless have no meaning there")
	}
	if r.Effect != cardea.Allow && r.Match.saysStdin() {
		m.Get("match").Problem(diagnostic.CodeNoEffect, "remove stdin", "stdin has a meaning in rules that allow only")
	}
	if r.Person && r.Effect != cardea.Ask {
		m.Get("person").Warn(diagnostic.CodeNoEffect, "use effect: ask", "person has a meaning for effect: ask only")
	}
	if len(r.Rewrite) > 0 && r.Effect > cardea.Ask {
		m.Get("rewrite").Warn(diagnostic.CodeNoEffect, "use instead:", "a denied call is never rewritten")
	}
}

// empty reports whether the match holds for everything.
func (m *Match) empty() bool {
	return !m.aboutPart() && m.Field == "" && len(m.Roles) == 0 && len(m.Any) == 0
}

// hides reports whether the match has conditions without a meaning in a rule that allows.
func (m *Match) hides() bool {
	return m.Opaque || m.AnyProgram || m.HoldsKey || m.Redirection || m.UnlessMetadata || m.UnlessSearch || m.UnlessReads || m.UnlessText != "" || len(m.Flows)+len(m.Env)+len(m.StartedBy)+len(m.Unless)+len(m.UnlessCommand)+len(m.UnlessPaths)+len(m.Own) > 0 || m.anyOf((*Match).hides)
}

// saysStdin reports whether the match has a condition on the part's input.
func (m *Match) saysStdin() bool {
	return m.Stdin != "" || m.anyOf((*Match).saysStdin)
}

// events reads names and globs of events. It warns about an unknown event, which never
// occurs, but keeps the rule, since a harness may know more events.
func (p *parser) events(v document.Value) []string {
	var out []string
	for _, e := range v.Items() {
		before := p.doc.Errors()
		name := e.Text()
		if p.doc.Errors() > before {
			continue
		}
		out = append(out, name)
		if p.from.Events == nil || slices.ContainsFunc(p.from.Events, func(known string) bool { return paths.MatchName(name, known) }) {
			continue
		}
		hint := "see docs/policies.md for the events there are"
		if near := document.NearestName(name, p.from.Events); near != "" {
			hint = fmt.Sprintf("write %q", near)
		}
		e.Warn(diagnostic.CodeUnknownName, hint, "there is no event %q, so the rule is not asked on it", name)
	}
	return out
}

// tools reads tool names and resolves harness aliases. A rule that tightens also keeps the
// name as written, which may be that of an unknown tool.
func (p *parser) tools(v document.Value, e cardea.Effect) []string {
	var out []string
	for _, t := range listOf(v) {
		canonical, ok := p.alias(t)
		if ok {
			out = append(out, canonical)
		}
		if !ok || e != cardea.Allow {
			out = append(out, t)
		}
	}
	return slices.Compact(out)
}

// alias returns the canonical name of a harness's tool, and whether it differs.
func (p *parser) alias(name string) (string, bool) {
	if p.from.Tool == nil {
		return "", false
	}
	tool, ok := p.from.Tool(name)
	return tool, ok && tool != name
}

// listOf reads a text or a list of texts that must not be empty.
func listOf(v document.Value) []string {
	out := v.Texts()
	if v.Present() && (v.Null() || v.IsList() && len(v.List()) == 0 || slices.Contains(out, "")) {
		v.Problem(diagnostic.CodeMissing, "give it a value or remove it", "an empty condition")
	}
	return out
}

// match reads a match. An unknown key is a mistake.
func (p *parser) match(v document.Value) Match {
	m := v.Map()
	var out Match
	for _, c := range listOf(m.Get("command")) {
		if words := strings.Fields(c); len(words) > 0 {
			out.Command = append(out.Command, words)
			out.Programs |= bitOf(words[0])
		}
	}
	out.Flags = p.flags(m.Get("flags"))
	out.Args, out.StartedBy = items(m.Get("args"), p.expr), items(m.Get("started_by"), p.expr)
	listOf(m.Get("args"))
	out.Paths = append(p.globs(m.Get("path")), p.lists(m.Get("files"))...)
	out.Access = items(m.Get("access"), func(e document.Value) cardea.AccessKind {
		return cardea.AccessKind(e.Word("read", "write", "delete", "execute", "network", "link", "unknown"))
	})
	out.Hosts, out.Roles = p.globs(m.Get("host")), p.globs(m.Get("role"))
	out.Outside, out.Redirection = onlyTrue(m, "outside"), onlyTrue(m, "redirection")
	out.Own = items(m.Get("own"), func(e document.Value) Own { return Own(e.Word("settings", "folder", "key", "programs", "bin")) })
	if h := m.Get("holds"); h.Present() {
		out.HoldsKey = h.Word("private-key") != ""
	}
	out.Flows = items(m.Get("flow"), func(e document.Value) string {
		return e.Word("download-run", "decode-run", "unpack-run", "secret-network", "write-run", "self-call", "multiplies", "*")
	})
	out.Env = p.globs(m.Get("env"))
	p.unless(m.Get("unless"), &out)
	out.Opaque, out.AnyProgram = onlyTrue(m, "opaque"), onlyTrue(m, "any_program")
	if s := m.Get("stdin"); s.Present() {
		out.Stdin = s.Word(stdinNone, stdinAny)
	}
	out.Field = m.Text("field")
	out.Pattern = p.expr(m.Get("pattern"))
	out.Needs = needs(out.Pattern)
	if a := m.Get("any"); a.Present() {
		out.Any = lists.Of(a.List(), p.match)
		out.Programs |= programsOfAny(&out)
		if len(out.Any) == 0 {
			a.Problem(diagnostic.CodeMissing, "list at least one alternative, or remove it", "any is empty")
		}
	}
	m.Only()
	if v.IsMap() && len(m.Keys()) == 0 {
		v.Problem(diagnostic.CodeMissing, "add a condition, or remove it", "an empty match")
	}
	return out
}

// programsOfAny returns the program bits of all alternatives. It returns 0 if the match has
// a command, or an alternative has no program.
func programsOfAny(m *Match) (all uint64) {
	for i := range m.Any {
		if len(m.Command) > 0 || m.Any[i].Programs == 0 {
			return 0
		}
		all |= m.Any[i].Programs
	}
	return all
}

// unless reads the exceptions of a match. The conditions on accesses must be read before.
func (p *parser) unless(v document.Value, out *Match) {
	if !v.Present() {
		return
	}
	except := v.Map()
	out.Unless, out.UnlessPaths = p.flags(except.Get("flags")), p.lists(except.Get("files"))
	out.UnlessCommand = items(except.Get("command"), document.Value.Text)
	out.UnlessMetadata, out.UnlessSearch = onlyTrue(except, "metadata"), onlyTrue(except, "search")
	out.UnlessReads, out.UnlessText = onlyTrue(except, "reads"), p.expr(except.Get("pattern"))
	except.Only()
	aboutAccess := len(out.Paths)+len(out.Access)+len(out.Hosts)+len(out.Own) > 0 || out.Outside || out.HoldsKey || out.Redirection
	switch {
	case len(except.Keys()) == 0:
		v.Problem(diagnostic.CodeMissing, "write unless: {flags: [--help]}", "unless makes no exception")
	case !aboutAccess && (len(out.UnlessPaths) > 0 || out.UnlessMetadata || out.UnlessSearch):
		v.Problem(diagnostic.CodeNoEffect, "add access, path or files", "an exception for accesses has no effect without a condition on them")
	}
}

// onlyTrue reads a key that must be true if present.
func onlyTrue(m document.Map, key string) bool {
	v := m.Get(key)
	if !v.Present() {
		return false
	}
	is := v.Bool()
	if !is {
		v.Problem(diagnostic.CodeBadValue, "remove it; true is the only value there is", "%s must be true", key)
	}
	return is
}

// lists reads names of lists of files, and returns their globs.
func (p *parser) lists(v document.Value) []string {
	return slices.Concat(lists.Of(v.Items(), func(e document.Value) []string { return files.Globs(e.Word(files.Names()...)) })...)
}

// items reads the entries of a value.
func items[T any](v document.Value, read func(document.Value) T) (out []T) {
	return lists.Of(v.Items(), read)
}

func (p *parser) flags(v document.Value) []string {
	out := listOf(v)
	for i, e := range v.Items() {
		if i < len(out) && !strings.HasPrefix(out[i], "-") {
			e.Problem(diagnostic.CodeBadValue, "write it as on the command line: -f, --force", "%q is no option", out[i])
		}
	}
	return out
}

// globs reads globs, and reports syntax of other tools' globs that these lack.
func (p *parser) globs(v document.Value) []string {
	out := listOf(v)
	for i, e := range v.Items() {
		if i < len(out) {
			pathglob.Check(e, out[i])
		}
	}
	return out
}

// expr reads a regular expression and reports one that RE2 cannot run.
func (p *parser) expr(v document.Value) string {
	s := v.Text()
	if v.Present() && s == "" {
		v.Problem(diagnostic.CodeMissing, "give it a value or remove it", "an empty expression matches everything")
	}
	if err := CheckExpression(s); err != nil {
		v.Problem(diagnostic.CodeBadPattern, ExpressionHint(err), "the expression cannot be run: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return s
}

// CheckExpression returns an error if RE2 cannot run an expression. It compiles nothing.
func CheckExpression(s string) error {
	_, err := syntax.Parse(s, syntax.Perl)
	return err
}

// ExpressionHint returns what to do about an expression that RE2 cannot run.
func ExpressionHint(err error) string {
	e, ok := err.(*syntax.Error)
	if !ok {
		return "see https://pkg.go.dev/regexp/syntax"
	}
	switch {
	case strings.HasPrefix(e.Expr, "(?=") || strings.HasPrefix(e.Expr, "(?!") || strings.HasPrefix(e.Expr, "(?<=") || strings.HasPrefix(e.Expr, "(?<!"):
		return "RE2 has no lookahead and no lookbehind; match what must be there, and use flags, args or a second rule for the rest"
	case e.Code == syntax.ErrInvalidPerlOp:
		return "RE2 does not know this group; use (…), (?:…) or (?i)"
	case e.Code == syntax.ErrInvalidEscape:
		return `RE2 has no backreferences and no \Z or \u; write the text out, \z and \x{…}`
	case e.Code == syntax.ErrInvalidRepeatSize:
		return "RE2 repeats at most 1000 times"
	case e.Code == syntax.ErrInvalidRepeatOp:
		return "RE2 has no possessive repeats; use * or +"
	}
	return "check brackets and escapes; in YAML, put expressions in single quotes"
}

func (p *parser) rewrite(m document.Map) []Field {
	return lists.Of(m.Keys(), func(k string) Field { return Field{Name: k, Value: m.Text(k)} })
}

// test reads an inline test in one of its forms: {input: {command: …}} for the rule's own
// tool, {tool: Bash, input: {…}}, or a whole call, {tool_name: Bash, tool_input: {…}}. The
// whole call may also be the value of input.
func (p *parser) test(v document.Value, r *Rule) Test {
	m := v.Map()
	t := Test{Line: v.Line(), Desc: m.Text("desc"), Contains: m.Text("contains"),
		Event: m.Text("event"), Role: m.Text("role"), Cwd: m.Text("cwd")}
	t.Expect = m.Need("expect").Word("allow", "deny", "ask", "defer", "halt", "abstain", "none", "block")
	if t.Expect == "allow" && r.Effect != cardea.Allow {
		t.Expect = "pass" // the word of tool-routing for "not blocked"
	}
	call := m
	if in := m.Get("input"); in.IsMap() && (in.Map().Has("tool_name") || in.Map().Has("tool_input")) {
		call = in.Map()
	}
	t.Tool = call.Text("tool_name")
	if t.Tool == "" {
		t.Tool = call.Text("tool")
	}
	in := call.Get("tool_input")
	if !in.Present() {
		in = call.Get("input")
	}
	if in.Present() && !in.IsMap() {
		in.Problem(diagnostic.CodeWrongType, `write input: {command: "…"}`, "the input of a test is a map")
		return t
	}
	if !in.IsMap() {
		v.Problem(diagnostic.CodeMissing, `add input: {command: "…"}`, "the test has no input")
		return t
	}
	input, ok := in.Any().(map[string]any)
	text, err := json.Marshal(input)
	if !ok || err != nil {
		in.Problem(diagnostic.CodeWrongType, "use text, numbers, true, false, lists and maps", "the input cannot be read")
	}
	t.Input = string(text)
	if t.Tool == "" {
		t.Tool = ownTool(r, input)
	}
	if canonical, ok := p.alias(t.Tool); ok {
		t.Tool = canonical
	}
	m.Done()
	return t
}

// ownTool returns the tool of a test that names none: the rule's tool, or the one with such
// an input.
func ownTool(r *Rule, input map[string]any) string {
	for _, t := range r.Tools {
		if !strings.ContainsAny(t, "*?[") {
			return t
		}
	}
	for _, f := range []struct{ field, tool string }{
		{"command", "Bash"}, {"url", "WebFetch"}, {"query", "WebSearch"}, {"notebook_path", "NotebookEdit"},
		{"content", "Write"}, {"old_string", "Edit"}, {"file_path", "Read"}, {"pattern", "Grep"},
	} {
		if _, ok := input[f.field]; ok {
			return f.tool
		}
	}
	return "Bash"
}
