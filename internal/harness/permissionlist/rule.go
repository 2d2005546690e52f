// Package permissionlist reads entries of the harnesses' permission lists and matches them:
// "Bash(npm test:*)", "Read(./.env)", "WebFetch(domain:example.com)".
//
// The decider defines the effect of a match (internal/decide/permissions), and the adapters find
// the lists. An entry has two readings. An entry that allows is read strictly, and ignored if it
// cannot be interpreted. One that denies or asks is read generously, since a list that denies
// something means it in every spelling.
//
// The language is Claude Code's (https://code.claude.com/docs/en/permissions), which Qwen Code
// shares. The lists of other harnesses are translated into it (foreign.go).
package permissionlist

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/harness"
)

// Form is the kind of an entry's specifier.
type Form uint8

// The forms.
const (
	// Whole is an entry without a specifier, or with "*": every call.
	Whole Form = iota
	// Command is a pattern of commands: Bash, PowerShell.
	Command
	// File is a pattern of paths: Read, Edit.
	File
	// Host is a pattern of hosts: WebFetch(domain:…).
	Host
	// Named is the main field of any other tool: Agent(Explore), Skill(name *).
	Named
	// Param is a field of the input: Bash(run_in_background:true).
	Param
	// Exception is a pattern of paths that excludes paths from earlier entries of the same list:
	// Read(!notes/public/**).
	Exception
	// Nothing is an entry that cannot be interpreted, or never applies.
	Nothing
)

// Rule is a parsed entry.
type Rule struct {
	// Text is the entry as written.
	Text string
	// Tool is the canonical name of a tool, or a glob of names.
	Tool string
	// Spec is the text in the parentheses, Form its kind.
	Spec string
	Form Form
	// Why is the reason why the entry is ignored, if Form is Nothing.
	Why string

	command            pattern
	spelled, operators bool
	// more holds the fields that few entries have, nil for the others: a hook reads long lists,
	// nearly all of which are commands.
	more *more
}

// more holds the fields of entries of other forms than commands.
type more struct {
	file filePattern
	host string
	// anySpelling is set if host means an address in every spelling.
	anySpelling bool
	param       string // the field's name, also with another form
	value       pattern
	// except are patterns, and exceptFiles patterns of paths, that win over the rule in an ordered
	// list.
	except      []pattern
	exceptFiles []filePattern
	// exceptLikeIgnore is set if exceptFiles are gitignore exceptions, which bring back nothing
	// from a folder that matches itself.
	exceptLikeIgnore bool
}

// extend returns the fields that few entries have, and creates them if needed.
func (r *Rule) extend() *more {
	if r.more == nil {
		r.more = &more{}
	}
	return r.more
}

// Context holds the facts on which the reading of an entry depends.
type Context struct {
	// Effect is the effect of the entry's list: Allow, Ask or Deny.
	Effect cardea.Effect
	// CommandLine is set for entries of the harness's own flags.
	CommandLine bool
}

// Parse parses an entry. It never fails: an entry that cannot be interpreted has the form Nothing
// and a reason in Why.
func Parse(text string, c Context) Rule {
	r := Rule{Text: text}
	rule := strings.TrimSpace(text)
	name, spec, scoped := strings.Cut(rule, "(")
	if !r.look(rule, len(name)) {
		return r.nothing("it holds a control character, or one that is not valid")
	}
	if name == "" || strings.ContainsAny(name, " )") {
		return r.nothing("it does not begin with the name of a tool")
	}
	if scoped {
		var closed bool
		if spec, closed = strings.CutSuffix(spec, ")"); !closed {
			return r.nothing("the closing parenthesis is missing")
		}
	}
	if why := r.name(name, c); why != "" {
		return r.nothing(why)
	}
	if !scoped || spec == "*" {
		return r
	}
	if spec == "" {
		return r.nothing("nothing stands in the parentheses")
	}
	r.Spec = spec
	if strings.HasPrefix(r.Tool, "mcp__") && !c.CommandLine {
		return r.nothing("an entry for a tool of a server takes no parentheses")
	}
	return r.specifier(c)
}

// look records features of the text of an entry, and reports whether all of it is visible.
func (r *Rule) look(text string, open int) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c == 0x7f:
			return false
		case c >= utf8.RuneSelf:
			if !utf8.ValidString(text) || strings.ContainsRune(text, utf8.RuneError) {
				return false
			}
		case i > open && (c == '\'' || c == '"' || c == '\\' || c == '~' || c == '$' || c == ' ' && (text[i-1] == ' ' || text[i-1] == '(')):
			r.spelled = true
		case i > open && (c == '|' || c == '&' || c == ';' || c == '<' || c == '>' || c == '(' || c == ')' && i < len(text)-1):
			r.operators = true
		}
	}
	return true
}

// Spelled reports whether the entry's text is one of several spellings of its words: it has quotes,
// "~", "$" or several blanks.
func (r *Rule) Spelled() bool { return r.spelled }

// Operators reports whether the entry contains an operator of the shell, so that it can only match
// a line as a whole.
func (r *Rule) Operators() bool { return r.operators }

func (r Rule) nothing(why string) Rule {
	r.Form, r.Why = Nothing, why
	return r
}

// name reads the tool. Other names of a tool in harnesses become the canonical one. In a list that
// allows, only the harness's own older names do, since names are case-sensitive.
func (r *Rule) name(name string, c Context) string {
	r.Tool = name
	if c.Effect != cardea.Allow || name == "Task" {
		r.Tool, _ = harness.ToolWord(name)
	}
	if strings.ContainsAny(name, "?[") {
		return "only * is a wildcard in the name of a tool"
	}
	if !strings.Contains(name, "*") || c.Effect != cardea.Allow {
		return ""
	}
	server, _, _ := strings.Cut(strings.TrimPrefix(name, "mcp__"), "__")
	if !strings.HasPrefix(name, "mcp__") || server == "" || strings.Contains(server, "*") {
		return "a wildcard in the name of a tool allows only behind mcp__SERVER__"
	}
	return ""
}

// coveredBy maps tools to the tool whose paths apply to them. Denies and asks may name either.
var coveredBy = map[string]string{"Write": "Edit", "NotebookEdit": "Edit", "MultiEdit": "Edit", "apply_patch": "Edit", "Glob": "Read", "Grep": "Read"}

// specifier reads the text in the parentheses.
func (r Rule) specifier(c Context) Rule {
	r.parameter(c)
	if by := coveredBy[r.Tool]; by != "" && r.more == nil {
		if c.Effect == cardea.Allow {
			return r.nothing("write " + by + "(" + r.Spec + "), which covers this tool")
		}
		if value, field, ok := cutParam(r.Spec); ok && primary(field) {
			r.Spec = value
		}
		r.Tool = by
	}
	switch r.Tool {
	case "Bash", "PowerShell", "Monitor":
		r.Form = Command
		r.command = commandPattern(r.Spec)
		r.command.bare = r.command.bare || c.Effect != cardea.Allow && strings.HasSuffix(r.Spec, ":*")
		return r
	case "Read", "Edit":
		r.Form = File
		var why string
		spec, allow := r.Spec, c.Effect == cardea.Allow
		if rest, ok := strings.CutPrefix(strings.TrimSpace(spec), "!"); ok {
			// Exclusions from an allow are read generously.
			r.Form, spec, allow = Exception, rest, !allow
		}
		if r.extend().file, why = newFilePattern(spec, allow); why != "" {
			return r.nothing(why)
		}
		return r
	case "WebFetch":
		if host, ok := strings.CutPrefix(strings.TrimSpace(r.Spec), "domain:"); ok {
			return r.hosts(host, c.Effect != cardea.Allow)
		}
	}
	if r.more != nil { // a parameter
		r.Form = Param
		return r
	}
	info, known := harness.Tool(r.Tool)
	if _, field, ok := cutParam(r.Spec); ok && (r.Tool == "WebFetch" || primary(field)) || r.Tool == "WebFetch" || r.Tool == "WebSearch" || r.Tool == "Cd" {
		return r.nothing("this specifier is not documented for the tool")
	}
	if !known || info.Primary == "" || strings.Contains(r.Tool, "*") || c.Effect == cardea.Allow && !AllowsByName(r.Tool) {
		return r.nothing("it is not known what the specifier is compared with")
	}
	r.Form = Named
	r.command = commandPattern(r.Spec)
	return r
}

// AllowsByName reports whether an entry may allow calls of a tool by their main field. An entry
// that denies or asks may name the main field of any tool.
func AllowsByName(tool string) bool { return tool == "Agent" || tool == "Skill" }

// hosts reads the host of an entry. A deny or ask may name it in any form of an address: "[::1]",
// "0x7f000001", "user@host:8080".
func (r Rule) hosts(host string, strict bool) Rule {
	host = strings.TrimSpace(host)
	address := strings.Trim(host[strings.Index(host, "://")+1:], "/")
	if named := knowledge.Hosts(host); strict && len(named) == 1 && named[0] != "" && !strings.ContainsAny(address, `*/?#\`) {
		host = named[0]
	} else if bare, ok := strings.CutPrefix(host, "["); ok {
		host = strings.TrimSuffix(bare, "]")
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	r.Form, r.extend().host, r.more.anySpelling = Host, host, strict
	switch v6 := strings.Count(host, ":") > 1; {
	case host == "*":
		r.Form = Whole
	case host == "" || strings.ContainsAny(host, "/ @?#\\[") || !v6 && strings.Contains(host, ":"):
		return r.nothing("domain: takes the name of a host, without scheme, port or path")
	}
	return r
}

// parameter reads Tool(param:value), which only denies and asks. The same text may also have
// another reading.
func (r *Rule) parameter(c Context) {
	if c.Effect == cardea.Allow {
		return
	}
	value, field, ok := cutParam(r.Spec)
	if !ok || primary(field) || r.Tool == "WebFetch" && field == "domain" {
		return
	}
	if value == "*" && (r.Tool == "Bash" || r.Tool == "PowerShell" || r.Tool == "Monitor") {
		return // "npm:*" is a command
	}
	r.extend().param, r.extend().value = field, newPattern(value)
}

// cutParam splits "field: value".
func cutParam(spec string) (value, field string, ok bool) {
	field, value, ok = strings.Cut(spec, ":")
	field, value = strings.TrimSpace(field), strings.TrimSpace(value)
	if !ok || field == "" || value == "" {
		return "", "", false
	}
	for _, c := range field {
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return "", "", false
		}
	}
	return value, field, true
}

// primary reports whether no parameter may name a field, since the entry's own form is about it.
func primary(field string) bool {
	return slices.Contains([]string{"command", "file_path", "path", "notebook_path", "url"}, field)
}

// Names reports whether the entry is about a tool, by its canonical name or by that of the harness.
// It ignores the specifier.
func (r *Rule) Names(c *cardea.Call) bool {
	return r.namesTool(c.Tool) || c.Name != "" && c.Name != c.Tool && r.namesTool(c.Name)
}

func (r *Rule) namesTool(tool string) bool {
	if r.Tool == tool {
		return true
	}
	if strings.Contains(r.Tool, "*") {
		return newPattern(r.Tool).match(tool)
	}
	// "mcp__server" covers all tools of the server.
	return strings.HasPrefix(r.Tool, "mcp__") && strings.HasPrefix(tool, r.Tool+"__")
}

// NamedIs reports whether a Named entry matches the main field of a call, with the words after it.
func (r *Rule) NamedIs(value string) bool { return r.Form == Named && r.command.match(value) }

// ParamIs reports whether a field of the input has the value of the entry. A missing field never
// has it.
func (r *Rule) ParamIs(c *cardea.Call) bool {
	if r.more == nil || r.more.param == "" {
		return false
	}
	vals := c.Shadowed[r.more.param]
	if v, ok := c.Input[r.more.param]; ok {
		vals = append(vals[:len(vals):len(vals)], v)
	}
	for _, v := range vals {
		if text, ok := scalar(v); ok && r.more.value.match(text) {
			return true
		}
	}
	return false
}

// scalar returns a text, truth value or number as a text, or false for any other value.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		if v {
			return "true", true
		}
		return "false", true
	case interface{ String() string }: // json.Number
		return v.String(), true
	}
	return "", false
}

// HostIs reports whether an entry matches a host. It ignores case and a dot at the end.
// "*.example.com" matches every host below, at any depth, and a "*" in another place does not cross
// a dot. An entry that denies or asks matches an address in every spelling.
func (r *Rule) HostIs(host string) bool {
	if r.Form != Host || host == "" {
		return false
	}
	names, owns := knowledge.HostNames(host), knowledge.HostNames(r.more.host)
	if !r.more.anySpelling {
		names, owns = names[:1], []string{r.more.host}
	}
	return slices.ContainsFunc(owns, func(own string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return matchesHost(own, name) })
	})
}

func matchesHost(pattern, host string) bool {
	if below, ok := strings.CutPrefix(pattern, "*."); ok && !strings.Contains(below, "*") {
		return strings.HasSuffix(host, "."+below) && len(host) > len(below)+1
	}
	if !strings.Contains(pattern, "*") {
		return host == pattern
	}
	ok, err := path.Match(strings.ReplaceAll(pattern, ".", "/"), strings.ReplaceAll(host, ".", "/"))
	return ok && err == nil
}
