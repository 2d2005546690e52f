package importer

import (
	"fmt"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/document"
	"cardea.dev/internal/roles"
)

// Hookwise turns a folder of hookwise's into settings and roles. read gives a file of
// the folder by its name, nil where there is none; folder is how it is called.
//
// hookwise's globs begin at the project, and their "*" crosses folders; Cardea's follow
// gitignore. What denies is taken over as widely as it was meant, what allows no wider.
func Hookwise(folder string, read func(name string) []byte, builtin []roles.Category) Imported {
	h := hookwise{folder: folder, builtin: builtin, categories: map[string][]string{}}
	h.policy(read("policy.yml"))
	h.roles(read("roles.yml"))
	for _, effect := range []string{"deny", "ask", "allow"} {
		h.learned(effect, read("rules/"+effect+".jsonl"))
	}
	h.file = folder
	h.changed(nil, "calls that nobody decided", "hookwise denied them; Cardea leaves them to the agent's own prompt, or to the setting default")
	return Imported{Table: h.rows, Files: h.files, Settings: h.set, Calls: h.calls, Problems: h.problems}
}

type hookwise struct {
	table
	folder     string
	builtin    []roles.Category
	categories map[string][]string
	files      []File
	set        []Setting
	calls      []Call
	problems   []cardea.Diagnostic
}

// asked are the paths about which hookwise asks where its policy names none.
var asked = []string{".claude/**", ".hookwise/**", ".env*", "**/.env*", ".git/hooks/**", "**/secrets/**", "~/.claude/**", "~/.config/**"}

// policy reads policy.yml.
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
	var list []string
	for _, g := range globs {
		for _, one := range wide(g) {
			list = append(list, quoted(one))
		}
	}
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
	for _, key := range []string{"confidence", "similarity", "human_timeout_secs"} {
		if v := top.Get(key); v.Present() {
			h.left(v, key, "it has no counterpart yet, and decided nothing by itself")
		}
	}
	if v := top.Get("supervisor"); v.Present() {
		h.lost(v, "supervisor", "no model judges calls yet; write default: {attended: ask, unattended: deny} for what nobody decides")
	}
	top.Done()
	h.problems = append(h.problems, h.remarks(doc.Problems())...)
}

// roles reads roles.yml, and writes roles.yaml.
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
		name := strings.Trim(strings.Map(func(r rune) rune {
			if strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-", r) {
				return r
			}
			return '-'
		}, strings.ToLower(id)), "-")
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
		h.files = append(h.files, File{Path: "roles.yaml", Text: Seal("version: 1\nroles:\n" + b.String()), From: "", Protects: true})
	}
}

// role writes a role.
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

// expanded are the globs of a list, with the file's own categories put in. Braces
// become entries of their own.
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
			for _, g := range own {
				out = append(out, braces(g)...)
			}
		case slices.ContainsFunc(h.builtin, func(c roles.Category) bool { return c.Name == inner }):
			out = append(out, text)
		default:
			h.lost(v, "category "+inner+" of role "+role, "it is defined nowhere; write its globs")
		}
	}
	return out
}

// braces are the texts that a glob with {a,b} means.
func braces(g string) []string {
	open := strings.IndexByte(g, '{')
	length := strings.IndexByte(g[max(open, 0):], '}')
	if open < 0 || length < 0 || strings.HasPrefix(g, "{{") {
		return []string{g}
	}
	var out []string
	for _, word := range strings.Split(g[open+1:open+length], ",") {
		out = append(out, braces(g[:open]+word+g[open+length+1:])...)
	}
	return out
}

// wide is a glob of hookwise's that tightens: everything that it matches, and perhaps
// more. "docs/*.md" matches in the folders below docs, too.
func wide(g string) []string {
	out := []string{g}
	if strings.HasPrefix(g, "{{") || !strings.Contains(g, "/") {
		return out // a name, which counts at any depth
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

// narrow is a glob of hookwise's that allows, as one that matches no more: a name
// without a wildcard in front is that of a file in the project's folder.
func narrow(g string) []string {
	if strings.HasPrefix(g, "{{") || strings.Contains(g, "/") || strings.HasPrefix(g, "*") {
		return []string{g}
	}
	return []string{"./" + g}
}

// learned tells of the answers that hookwise remembers.
func (h *hookwise) learned(effect string, data []byte) {
	n := 0
	for line := range strings.Lines(string(data)) {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	if n == 0 {
		return
	}
	h.file = h.folder + "/rules/" + effect + ".jsonl"
	what := fmt.Sprintf("%d remembered answers (%s)", n, effect)
	const how = "they stay where they lie, and count for nothing yet; write those that matter as rules"
	if effect == "allow" {
		h.left(nil, what, "%s", how)
	} else {
		h.lost(nil, what, "%s", how)
	}
}
