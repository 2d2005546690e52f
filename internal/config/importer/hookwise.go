package importer

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/decide/roles"
)

// Hookwise imports a folder of hookwise as settings and roles. The function read returns a
// file of the folder, nil if it is missing; folder is its name in messages. The function
// lessons returns the lines of lessons for an answer, or an error.
//
// hookwise's globs begin at the project, and their "*" matches "/"; Cardea's follow
// gitignore. A glob that denies is translated at least as wide as it was meant, one that
// allows no wider.
func Hookwise(folder string, read func(name string) []byte, builtin []roles.Category, lessons func(RememberedAnswer) ([]string, error)) Imported {
	h := hookwise{folder: folder, builtin: builtin, lessons: lessons, categories: map[string][]string{}}
	h.policy(read("policy.yml"))
	h.roles(read("roles.yml"))
	h.learned(read)
	h.file = folder
	h.changed(nil, "calls that nobody decided", "hookwise denied them; Cardea leaves them to the agent's own prompt, or to the setting default")
	return Imported{Table: h.rows, Files: h.files, Settings: h.set, Calls: h.calls, Problems: h.problems}
}

type hookwise struct {
	table
	folder     string
	builtin    []roles.Category
	lessons    func(RememberedAnswer) ([]string, error)
	categories map[string][]string
	files      []File
	set        []Setting
	calls      []TrialCall
	problems   []diagnostic.Diagnostic
}

// asked are the paths for which hookwise asks by default.
var asked = []string{".claude/**", ".hookwise/**", ".env*", "**/.env*", ".git/hooks/**", "**/secrets/**", "~/.claude/**", "~/.config/**"}

// policy imports policy.yml.
func (h *hookwise) policy(data []byte) {
	h.file = h.folder + "/policy.yml"
	doc := document.Read(h.file, data)
	top := doc.Top().Map()
	globs, at := asked, top.Get("sensitive_paths")
	what := "the sensitive paths that hookwise has by default"
	if at.Present() {
		if own := at.Map().Texts("ask_write"); len(own) > 0 || at.Map().Has("ask_write") {
			globs, what = own, "sensitive_paths"
		}
	}
	list := lists.Of(slices.Concat(lists.Of(globs, wide)...), quoted)
	if len(list) > 0 {
		h.set = append(h.set, Setting{Path: []string{"sensitive", "ask_write"}, Items: list, Protects: true}, Setting{Path: []string{"sensitive", "ask_read"}, Items: list, Protects: true})
		h.taken(at, what, "sensitive: {ask_write: […], ask_read: […]}, since hookwise asks about reading them, too")
		h.calls = append(h.calls, call("Write", "file_path", ".claude/settings.json", "ask"), call("Read", "file_path", "secrets/key.txt", "ask"))
	}
	wait := top.Get("registration_timeout_secs")
	h.set = append(h.set, Setting{Path: []string{"sessions", "registration"}, Value: "required", Protects: true})
	if n := wait.Int(0, 60); wait.Present() {
		h.set = append(h.set, Setting{Path: []string{"sessions", "wait"}, Value: fmt.Sprintf("%ds", n)})
	}
	h.taken(wait, "the registration of sessions", "sessions: {registration: required}; the wait holds for sessions of a team alone, others are answered at once")
	h.numbers(top, "confidence", map[string][]string{"org": {"confidence", "org"}, "project": {"confidence", "project"}, "user": {"confidence", "user"}})
	h.numbers(top, "similarity", map[string][]string{"jaccard_threshold": {"near", "jaccard"}, "embedding_threshold": {"near", "embedding"}, "jaccard_min_tokens": {"near", "min_tokens"}})
	if v := top.Get("human_timeout_secs"); v.Present() {
		h.left(v, "human_timeout_secs", "a project cannot say how long calls wait for you; write human: {mode: queue, timeout: %ds} into your own settings, see docs/queue.md", v.Int(0, 600))
	}
	if v := top.Get("supervisor"); v.Present() {
		h.lost(v, "supervisor", "a project cannot say which model judges its calls; write judge: {enabled: true} into your own settings, see docs/judge.md and docs/supervisor.md")
	}
	top.Done()
	h.problems = append(h.problems, h.remarks(doc.Problems())...)
}

// numbers imports a section of numbers.
func (h *hookwise) numbers(top document.Map, section string, keys map[string][]string) {
	at := top.Get(section)
	if !at.Present() {
		return
	}
	m := at.Map()
	var taken []string
	for _, key := range m.Keys() {
		v := m.Get(key)
		path, known := keys[key]
		if !known {
			h.left(v, section+"."+key, "it has no counterpart")
			continue
		}
		h.set = append(h.set, Setting{Path: path, Value: v.Text()})
		taken = append(taken, strings.Join(path, "."))
	}
	if len(taken) > 0 {
		h.taken(at, section, "%s", strings.Join(taken, ", "))
	}
}

// roles imports roles.yml as roles.yaml.
func (h *hookwise) roles(data []byte) {
	if data == nil {
		return
	}
	h.file = h.folder + "/roles.yml"
	doc := document.Read(h.file, data)
	top := doc.Top().Map()
	own := top.Map("categories")
	for _, name := range own.Keys() {
		h.categories[name] = own.Get(name).Texts()
	}
	var b strings.Builder
	names := map[string]bool{}
	list := top.Map("roles")
	for _, id := range list.Keys() {
		at := list.Get(id)
		name := roleName(id)
		if !roles.IsName(name) || names[name] {
			h.lost(at, "role "+id, "its name is no name here, or that of another one; give it a name of small letters, digits and -")
			continue
		}
		names[name] = true
		h.role(&b, at, id, name)
	}
	top.Done()
	h.problems = append(h.problems, h.remarks(doc.Problems())...)
	if len(names) > 0 {
		h.files = append(h.files, File{Path: "roles.yaml", Text: "version: 1\nroles:\n" + b.String(), Sealed: true, Protects: true})
	}
}

// roleName returns a role's name in the characters that Cardea allows.
func roleName(id string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-", r) {
			return r
		}
		return '-'
	}, strings.ToLower(id)), "-")
}

// role appends the YAML of a role to b.
func (h *hookwise) role(b *strings.Builder, at document.Value, id, name string) {
	m := at.Map()
	m.Know("name")
	fmt.Fprintf(b, "  %s:\n", name)
	if text := strings.Join(strings.Fields(m.Text("description")), " "); text != "" {
		fmt.Fprintf(b, "    description: %s\n", quoted(text))
	}
	paths := m.Map("paths")
	how := "roles.yaml"
	b.WriteString("    paths:\n")
	for _, key := range []string{"allow_write", "deny_write", "allow_read"} {
		v := paths.Get(key)
		var out []string
		for _, g := range h.expanded(v, id) {
			form := narrow
			if key == "deny_write" {
				form = wide
			}
			for _, one := range form(g) {
				out = append(out, quoted(one))
				if one != g {
					how = "roles.yaml, with globs that mean here what they meant there"
				}
			}
		}
		if key == "allow_read" && !slices.Contains(out, quoted("**")) {
			h.lost(v, "allow_read of role "+id, "hookwise denies all other reads; name what it may not read in deny_read")
		}
		fmt.Fprintf(b, "      %s: [%s]\n", key, strings.Join(out, ", "))
	}
	if name != id {
		how += fmt.Sprintf(", under the name %s", name)
	}
	if how == "roles.yaml" {
		h.taken(at, "role "+id, "%s", how)
	} else {
		h.changed(at, "role "+id, "%s", how)
	}
	paths.Done()
	m.Done()
}

// expanded returns the globs of a list, with the file's own categories inserted. Braces
// become separate entries.
func (h *hookwise) expanded(v document.Value, role string) []string {
	var out []string
	for _, text := range v.Texts() {
		inner, is := strings.CutPrefix(text, "{{")
		inner = strings.TrimSpace(strings.TrimSuffix(inner, "}}"))
		own, known := h.categories[inner]
		switch {
		case !is:
			out = append(out, braces(text)...)
		case known:
			out = append(out, slices.Concat(lists.Of(own, braces)...)...)
		case slices.ContainsFunc(h.builtin, func(c roles.Category) bool { return c.Name == inner }):
			out = append(out, text)
		default:
			h.lost(v, "category "+inner+" of role "+role, "it is defined nowhere; write its globs")
		}
	}
	return out
}

// braces returns the texts that a glob with {a,b} stands for.
func braces(g string) []string {
	open := strings.IndexByte(g, '{')
	length := strings.IndexByte(g[max(open, 0):], '}')
	if open < 0 || length < 0 || strings.HasPrefix(g, "{{") {
		return []string{g}
	}
	words := strings.Split(g[open+1:open+length], ",")
	return slices.Concat(lists.Of(words, func(word string) []string { return braces(g[:open] + word + g[open+length+1:]) })...)
}

// wide returns globs that match everything that a glob of hookwise matches, and perhaps
// more. "docs/*.md" also matches in the folders below docs.
func wide(g string) []string {
	out := []string{g}
	if strings.HasPrefix(g, "{{") || !strings.Contains(g, "/") {
		return out // a name, which matches at any depth
	}
	segments := strings.Split(g, "/")
	for i, s := range segments {
		if star := strings.IndexByte(s, '*'); star >= 0 && s != "**" {
			head := append(slices.Clone(segments[:i]), s[:star+1], "**", s[star:])
			if s[:star] == "" {
				head = append(slices.Clone(segments[:i]), "**", s)
			}
			out = append(out, strings.Join(append(head, segments[i+1:]...), "/"))
		}
	}
	return out
}

// narrow returns globs that match no more than a glob of hookwise. A name without a leading
// wildcard is a file in the project's folder.
func narrow(g string) []string {
	if strings.HasPrefix(g, "{{") || strings.Contains(g, "/") || strings.HasPrefix(g, "*") {
		return []string{g}
	}
	return []string{"./" + g}
}

// RememberedAnswer is an answer that hookwise remembered: a line of rules/*.jsonl.
type RememberedAnswer struct {
	// Effect is allow, deny or ask. Input is the tool's input as JSON, with "<REDACTED>" in
	// place of secrets. Role is "*" for every role.
	Effect, Tool, Input, Role, Reason string
	When                              time.Time
}

// answer parses a line in the form that hookwise writes, or in that of its design document.
func answer(line []byte) (RememberedAnswer, error) {
	var l struct {
		Key struct {
			Input string `json:"sanitized_input"`
			Tool  string `json:"tool"`
			Role  string `json:"role"`
		} `json:"key"`
		Decision string `json:"decision"`
		Metadata struct {
			Reason string `json:"reason"`
		} `json:"metadata"`
		When time.Time `json:"timestamp"`
		// The form of the design document.
		Command, Tool, Role, File, Reason string
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return RememberedAnswer{}, errors.New("it is no line of hookwise's")
	}
	a := RememberedAnswer{Effect: l.Decision, Tool: cmp.Or(l.Key.Tool, l.Tool), Input: l.Key.Input, Role: cmp.Or(l.Key.Role, l.Role, "*"), Reason: cmp.Or(l.Metadata.Reason, l.Reason), When: l.When}
	field, value := "command", l.Command
	if l.File != "" {
		field, value = "file_path", l.File
	}
	if a.Input == "" && value != "" {
		text, err := json.Marshal(map[string]string{field: value})
		if err != nil {
			return a, err
		}
		a.Input = string(text)
	}
	if a.Tool == "" || a.Input == "" || !slices.Contains([]string{"allow", "deny", "ask"}, a.Effect) {
		return a, errors.New("it does not say what was decided about which call")
	}
	return a, nil
}

// effects returns the effects that hookwise remembers, one file each.
func effects() []string { return []string{"deny", "ask", "allow"} }

// learned imports remembered answers as lessons. Those that deny or ask apply at once;
// those that allow apply after the user accepts them. The decision in a line applies,
// whichever file it is in.
func (h *hookwise) learned(read func(name string) []byte) {
	lines, answers := map[string][]string{}, map[string]int{}
	for _, effect := range effects() {
		h.file = h.folder + "/rules/" + effect + ".jsonl"
		number := 0
		for text := range strings.Lines(string(read("rules/" + effect + ".jsonl"))) {
			number++
			if strings.TrimSpace(text) == "" {
				continue
			}
			a, err := answer([]byte(text))
			var made []string
			if err == nil {
				if a.Role != "*" {
					a.Role = roleName(a.Role)
				}
				made, err = h.lessons(a)
			}
			if err != nil {
				h.add(line(number), LeftOut, cmp.Or(a.Effect, effect) != "allow", "a remembered answer", "%s", err.Error())
				continue
			}
			lines[a.Effect] = append(lines[a.Effect], made...)
			answers[a.Effect]++
		}
	}
	h.file = h.folder + "/rules"
	for _, effect := range effects() {
		if answers[effect] > 0 {
			h.remembered(effect, answers[effect], lines[effect])
		}
	}
}

// remembered adds the file with the lessons of one effect.
func (h *hookwise) remembered(effect string, answers int, lines []string) {
	slices.Sort(lines)
	lines = slices.Compact(lines)
	path := "lessons/" + effect + ".jsonl"
	h.files = append(h.files, File{Path: path, Text: strings.Join(lines, "\n") + "\n", Protects: effect != "allow"})
	how := path + ", in force for every role and folder that they name"
	if effect == "allow" {
		how = path + "; each counts when you have accepted it with \"cardea trust update\""
	}
	h.changed(nil, fmt.Sprintf("%d remembered answers (%s)", answers, effect), "%s", how)
}
