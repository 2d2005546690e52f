// Package call splits a tool call into its parts: a shell command has one part for every program
// that it starts; a file tool has one for every file; every other call is one part.
//
// It is the only place that knows the meaning of a tool's fields for the gate. It takes it from the
// fields' roles in internal/harness, so that a new tool is a line in that table.
package call

import (
	"maps"
	pathpkg "path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/bash"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
	"cardea.dev/internal/harness"
)

// Analyse returns the event with the parts of its call, and its flows and opaque spots, added to
// the opaque spots from the adapter. It does not change ev.
func Analyse(ev *cardea.Event, system knowledge.System) *cardea.Event {
	c := ev.Call
	if c == nil {
		return ev
	}
	a := analysis{ev: ev, system: system}
	a.system.Differs = fewDiffers(system.Differs)
	a.dirs = []string{slash(ev.Cwd)}
	if dirs, certain, given := harness.RunsIn(ev.Harness, c); given {
		a.runIn(dirs, certain)
	}
	info, known := harness.Tool(c.Tool)
	switch {
	case strings.HasPrefix(c.Tool, "mcp__"):
		a.unknown(a.mcpField)
	case !known:
		a.unknown(nil)
	case c.Tool == "PowerShell":
		a.powershell()
	default:
		a.fields(info)
		a.unread(info)
	}
	a.typed(info)
	out := c.WithParts(a.parts, a.flows, a.opaque)
	out.Opens = openedBy(out.Parts, system)
	out.Unsandboxed = c.Unsandboxed || harness.AsksOut(c) // a rewrite may ask for it
	return ev.With(func(e *cardea.Event) { e.Call = out })
}

type analysis struct {
	ev     *cardea.Event
	system knowledge.System
	parts  []cardea.Part
	opaque []cardea.Opaque
	flows  []cardea.Flow
	// dirs are the folders in which a command may run.
	dirs []string
	// outputRoots are the folders in which new output may be written.
	outputRoots []string
}

// maxDirs is the largest number of folders in which a line is judged.
const maxDirs = 8

// runIn sets the folders in which the call may run to those that the input names. A folder that is
// unknown, or begins with a text that only some harnesses expand, is uncertain: nothing is then
// allowed, and the line is judged in each likely folder.
func (a *analysis) runIn(named []string, certain bool) {
	a.dirs = nil
	for _, dir := range named {
		at, sure := a.folder(slash(dir))
		certain = certain && sure
		if len(a.dirs) < maxDirs && !slices.Contains(a.dirs, at) {
			a.dirs = append(a.dirs, at)
		}
	}
	if !certain {
		if len(named) == 0 {
			a.dirs = append(a.dirs, "")
		}
		if here := slash(a.ev.Cwd); !slices.Contains(a.dirs, here) {
			a.dirs = append(a.dirs, here)
		}
		a.opaque = append(a.opaque, cardea.Opaque{Code: cardea.OpaqueInput, Text: harness.RunsInField, Reason: "the folder in which the call runs is not certain"})
	}
	a.in(a.dirs[0])
}

// in sets the folder in which the call runs.
func (a *analysis) in(dir string) {
	if a.ev.Cwd != dir {
		a.ev = a.ev.With(func(e *cardea.Event) { e.Cwd = dir })
	}
}

// folder returns the folder of a name, "" for an unknown one, and whether it is certain.
func (a *analysis) folder(dir string) (at string, certain bool) {
	cwd, home := slash(a.ev.Cwd), slash(a.system.Home)
	certain = !strings.HasPrefix(dir, "~") && !strings.Contains(dir, "$")
	if !certain && home != "" {
		dir = a.atHome(strings.NewReplacer("${HOME}", home, "$HOME", home).Replace(dir))
	}
	absolute := strings.HasPrefix(dir, "/") || harness.IsDrivePath(dir)
	switch {
	case strings.HasPrefix(dir, "~") || strings.Contains(dir, "$"):
		return "", false
	case strings.Contains(dir, ".."), strings.Contains(dir, "/proc/"):
		places, _ := knowledge.Places(cwd, dir, a.system.Resolve)
		if len(places) != 1 || places[0] == "" {
			return "", false
		}
		return places[0], certain
	case absolute:
		return dir, certain
	case cwd == "":
		return "", certain
	}
	return pathpkg.Join(cwd, dir), certain
}

// values returns the values of a field: its own value first, then those of duplicate and
// case-variant keys.
func (a *analysis) values(field string) (out []any) {
	if v, ok := a.ev.Call.Input[field]; ok {
		out = append(out, v)
	}
	return append(out, a.ev.Call.Shadowed[field]...)
}

// fields builds the parts from the roles of a tool's fields.
func (a *analysis) fields(info harness.ToolInfo) {
	found := false
	for _, f := range info.Fields {
		for _, v := range a.values(f.Name) {
			if v == nil {
				continue
			}
			text, isText := v.(string)
			found = found || saysWhat(f.Role)
			_, isList := v.([]any)
			if !isText && (saysWhat(f.Role) && f.Role != harness.URL || f.Role == harness.SearchPath || f.Role == harness.Shell) || f.Form == harness.List && f.Role == harness.Content && !isList {
				a.mistyped(f, v)
				continue
			}
			if inner := inText(text); inner != nil && saysWhat(f.Role) {
				a.mistyped(f, inner) // some harnesses accept this form
			}
			a.field(info, f, v, text)
		}
	}
	switch {
	case info.Name == "Grep" || info.Name == "Glob":
		a.search(info)
	case info.Name == "WebSearch":
		a.one(info.Name, cardea.Access{Kind: cardea.Network})
	case found:
	case slices.ContainsFunc(info.Fields, func(f harness.Field) bool { return saysWhat(f.Role) }):
		// The field with the action is missing.
		a.opaque = append(a.opaque, cardea.Opaque{Code: cardea.OpaqueInput, Text: info.Name, Reason: "the input does not say what is to be done"})
		a.unknown(nil)
	case info.Harmless:
		a.one(info.Name)
	default:
		text := info.Name
		if s, ok := a.ev.Call.Input[info.Primary].(string); ok && s != "" {
			text += " " + s
		}
		a.one(text, cardea.Access{Kind: cardea.Unknown})
		a.acts(info)
	}
}

// field builds the parts of one value of a field; text is "" for a value that is not a text.
func (a *analysis) field(info harness.ToolInfo, f harness.Field, v any, text string) {
	switch f.Role {
	case harness.Command:
		a.command(text)
	case harness.FilePath:
		a.file(info, text)
	case harness.Patch:
		a.patch(text)
	case harness.Code:
		if cell, _ := a.ev.Call.Input["cell_type"].(string); cell != "markdown" {
			a.code(text)
		}
	case harness.Content:
		a.entries(info, v)
	case harness.URL:
		a.one(info.Name+" "+urlText(v), network(urlText(v))...)
	}
}

// saysWhat reports whether a field with this role contains the action of a call.
func saysWhat(r harness.FieldKind) bool {
	return r == harness.Command || r == harness.FilePath || r == harness.Patch || r == harness.URL
}

// mistyped adds a part for a field of another type than documented. It is unknown how the harness
// reads it, so any text in it may name something, and is a patch in place of a patch.
func (a *analysis) mistyped(f harness.Field, v any) {
	a.opaque = append(a.opaque, cardea.Opaque{Code: cardea.OpaqueInput, Text: f.Name, Reason: "the field is not text"})
	a.may(a.ev.Call.Tool, func(walk func(string, any) []string) {
		words := walk(f.Name, v)
		if f.Role == harness.Patch {
			a.patch(strings.Join(words, "\n"))
		}
	}, func(field, value string) []cardea.Access {
		switch {
		case f.Role != harness.FilePath && f.Role != harness.SearchPath:
			return nil
		case field == f.Name:
			field = "path"
		}
		return a.mcpField(field, value)
	})
}

// unread adds a part for the fields of a known tool that are not in the table, together with those
// that contain the action: a list of arguments belongs to a command. It skips a lenient harness.
func (a *analysis) unread(info harness.ToolInfo) {
	c := a.ev.Call
	unusual := map[string]any{}
	for name, v := range c.Input {
		if harness.NotRead(a.ev.Harness, c, name) && holdsText(v) {
			unusual[name] = v
		}
	}
	if len(unusual) == 0 {
		return
	}
	for _, f := range info.Fields {
		if v, there := c.Input[f.Name]; there && f.Role == harness.Command {
			unusual[f.Name] = v
		}
	}
	a.may(c.Tool, func(walk func(string, any) []string) { walk("", unusual) }, a.mcpField)
}

// entries adds the files that the entries of a list of edits name.
func (a *analysis) entries(info harness.ToolInfo, v any) {
	list, _ := v.([]any)
	for _, e := range list {
		entry, _ := e.(map[string]any)
		for _, k := range sortedKeys(entry) {
			if name, is := entry[k].(string); is && namesPath(strings.ToLower(k)) {
				a.file(info, name)
			}
		}
	}
}

// inText returns the list or object in a JSON text, or nil.
func inText(text string) any { return harness.Decoded(harness.InText(text)) }

// typed adds a part for each text of the input that is a command for Cardea, if the harness submits
// it as a prompt. Examples are the text of a schedule and a message to another agent. An unknown
// field may be a prompt.
func (a *analysis) typed(info harness.ToolInfo) {
	if info.Harmless {
		return
	}
	for _, name := range sortedKeys(a.ev.Call.Input) {
		if i := slices.IndexFunc(info.Fields, func(f harness.Field) bool { return f.Name == name }); i < 0 || info.Fields[i].Role == harness.Prompt {
			for _, text := range a.texts(name) {
				if words := harness.TypedCommand(text); words != nil {
					p := a.one(strings.TrimSpace(text), cardea.Access{Kind: cardea.Unknown})
					for _, word := range append([]string{"cardea"}, words...) {
						p.Argv = append(p.Argv, cardea.Word{Text: word, Static: true})
					}
				}
			}
		}
	}
}

// holdsText reports whether a value is or contains a nonempty text.
func holdsText(v any) bool {
	switch v := v.(type) {
	case string:
		return v != ""
	case []any:
		return slices.ContainsFunc(v, holdsText)
	case map[string]any:
		return len(v) > 0
	}
	return false
}

// code adds the potential effects of the code in a field to the part of its file.
func (a *analysis) code(text string) {
	if len(a.parts) == 0 || text == "" {
		return
	}
	may := knowledge.NewInput(a.places())
	may.Code(text)
	bash.AddPotential(&a.parts[len(a.parts)-1], may.Potential, a.env())
}

// one adds a part that is not a shell command, and returns it.
func (a *analysis) one(text string, access ...cardea.Access) *cardea.Part {
	a.parts = append(a.parts, cardea.Part{
		ShellFacts:   cardea.ShellFacts{Text: text, Coverage: cardea.Complete, Dir: a.ev.Cwd, Start: -1},
		CommandFacts: cardea.CommandFacts{Access: access},
	})
	a.findKeys(a.parts[len(a.parts)-1:])
	return &a.parts[len(a.parts)-1]
}

// roots returns the folders that belong to the work, as far as their location is known.
func (a *analysis) roots() []string {
	return a.resolved(slices.Concat([]string{a.ev.Project}, a.ev.Roots))
}

// resolved returns the folders to which names lead, without unknown ones.
func (a *analysis) resolved(names []string) []string {
	out := make([]string, 0, len(names))
	for _, name := range names {
		if at := a.resolve(slash(name)); at != "" {
			out = append(out, at)
		}
	}
	return out
}

// places returns the settings for resolving paths of the call.
func (a *analysis) places() knowledge.Paths {
	return knowledge.Paths{Dir: slash(a.ev.Cwd), Home: slash(a.system.Home), Resolve: a.system.Resolve}
}

// env returns the environment of the call for the analysis of a line.
func (a *analysis) env() bash.Env {
	system := a.system
	system.Home, system.Roots = slash(system.Home), slices.Clip(a.roots())
	return bash.Env{Cwd: slash(a.ev.Cwd), System: system, Fresh: a.fresh}
}

// command adds the parts of a line, in each folder in which it may run, and under the shell that
// the input names for it.
func (a *analysis) command(text string) {
	lines := []string{text}
	for _, v := range a.values("shell") {
		if program, is := v.(string); is && program != "" && !usualShell(program) {
			lines = append(lines, bash.Quote(program)+" -c "+bash.Quote(text))
		}
	}
	for _, dir := range a.dirs {
		a.in(dir)
		for _, line := range lines {
			a.shell(line)
		}
	}
}

// usualShell reports whether a program is a shell that reads a line as this analysis does, given by
// name or in a folder of the system.
func usualShell(program string) bool {
	dir, name := pathpkg.Split(program)
	return slices.Contains([]string{"", "/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"}, dir) && knowledge.Has(form.Shell, name) && !knowledge.Has(form.OwnSyntax, name)
}

// shell adds the parts of a line for a shell, with their flows, opaque spots and files.
func (a *analysis) shell(text string) {
	base := len(a.parts)
	env := a.env()
	res := bash.Analyse(text, env)
	a.findKeys(res.Parts)
	a.findNames(res.Parts)
	writesThrough(res.Parts)
	flows := Flows(&res, a.system.IsNew)
	if env.ReadFile != nil && a.ev.Kind.Answered() {
		s := scripts{env: env, written: res.Written, inputs: res.Inputs, texts: map[string]string{}, copies: map[string][]string{}, seen: map[string]bool{}}
		s.lookIntoLine(res.Parts)
		flows = append(flows, s.certain...)
	}
	a.parts = append(a.parts, res.Parts...)
	a.opaque = append(a.opaque, res.Opaque...)
	for _, f := range flows {
		f.From, f.To = f.From+base, f.To+base
		a.flows = append(a.flows, f)
	}
}

// powershell adds one part with unknown effects, since PowerShell is not parsed here.
func (a *analysis) powershell() {
	vals := a.values("command")
	if len(vals) == 0 {
		vals = []any{nil}
	}
	for _, v := range vals {
		if text, ok := v.(string); ok {
			a.one(text, cardea.Access{Kind: cardea.Unknown}).Coverage = cardea.Partial
		} else {
			a.mistyped(harness.Field{Name: "command", Role: harness.Command}, v)
		}
	}
}

func (a *analysis) file(info harness.ToolInfo, name string) {
	kind := cardea.Read
	if info.EditsFiles {
		kind = cardea.Write
	}
	if name == "" {
		a.opaque = append(a.opaque, cardea.Opaque{Code: cardea.OpaqueInput, Text: info.Name, Reason: "the input names no file"})
	}
	a.one(info.Name+" "+name, a.paths(kind, name, false)...)
}

// unknown adds the part of an MCP call, or of an unknown tool: it may touch and run whatever any
// text of its input names. Fields that look like paths and addresses add accesses, which can deny
// or ask and never allow.
func (a *analysis) unknown(access func(field, value string) []cardea.Access) {
	a.may(a.ev.Call.Tool, func(walk func(string, any) []string) {
		walk("", map[string]any(a.ev.Call.Input))
		for _, k := range sortedKeys(a.ev.Call.Shadowed) {
			for _, v := range a.ev.Call.Shadowed[k] {
				walk(k, v)
			}
		}
	}, access)
}

// may adds a part with unknown effects except for the values that each passes on: it may touch and
// run whatever any text in them names.
func (a *analysis) may(text string, each func(walk func(name string, v any) []string), access func(field, value string) []cardea.Access) {
	p := cardea.Part{
		ShellFacts:   cardea.ShellFacts{Text: text, Coverage: cardea.Complete, Dir: a.ev.Cwd, Start: -1},
		CommandFacts: cardea.CommandFacts{Access: []cardea.Access{{Kind: cardea.Unknown}}},
	}
	may := knowledge.NewInput(a.places())
	removes := removal(a.ev.Call.Tool)
	var walk func(name string, v any) []string
	walk = func(name string, v any) (words []string) {
		switch v := v.(type) {
		case string:
			if access != nil {
				p.Access = append(p.Access, access(strings.ToLower(name), v)...)
			}
			may.Text(v)
			if inner := inText(v); inner != nil {
				words = walk(name, inner)
			}
			if removes || moved(name) {
				may.Folder(v)
			}
			return append(words, v)
		case []any:
			for _, e := range v {
				words = append(words, walk(name, e)...)
			}
			may.List(words)
		case map[string]any:
			keys := sortedKeys(v)
			fields := make([][]string, len(keys))
			for i, k := range keys {
				may.Key(k)
				fields[i] = walk(k, v[k])
				if !strings.EqualFold(k, a.ev.Call.Tool) { // a field with the name of its tool names no program
					may.Command(append([]string{k}, fields[i]...))
				}
				words = append(words, fields[i]...)
			}
			together(fields, may.List)
		}
		return words
	}
	each(walk)
	bash.AddPotential(&p, may.Potential, a.env())
	a.parts = append(a.parts, p)
}

// mostTogether is the largest number of fields of an object that are combined.
const mostTogether = 12

// together passes on the combined texts of each two fields of an object, in both orders: a program
// and its arguments, a folder and a name.
func together(fields [][]string, list func([]string)) {
	fields = fields[:min(len(fields), mostTogether)]
	for i, first := range fields {
		for k, second := range fields {
			if i != k && len(first) > 0 && len(second) > 0 {
				list(slices.Concat(first, second))
			}
		}
	}
}

// removal reports whether a tool removes files, by the words of its name.
func removal(tool string) bool {
	name := strings.ToLower(tool)
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' })
	return slices.ContainsFunc(words, func(word string) bool { return knowledge.Has(form.Removes, word) }) ||
		slices.ContainsFunc([]string{"delete", "remove", "erase", "move", "rename"}, func(verb string) bool { return strings.Contains(name, verb) })
}

// moved reports whether a field holds a file that is moved, by its name: the file is gone after the
// call.
func moved(field string) bool {
	name := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(field))
	return slices.Contains([]string{"source", "src", "from", "old", "sourcepath", "srcpath", "frompath", "oldpath", "oldname", "oldfile", "oldfilepath", "sourcefile", "olduri"}, name)
}

// mcpField returns the accesses of a field of an MCP call, by its name: a host for an address, and
// a read and a write for a path.
func (a *analysis) mcpField(name, v string) []cardea.Access {
	if v == "" {
		return nil
	}
	address := strings.HasPrefix(name, "url") || strings.HasPrefix(name, "uri")
	file, isFile := knowledge.FileURL(v)
	if drive := strings.TrimPrefix(file, "/"); harness.IsDrivePath(drive) {
		file = drive
	}
	switch {
	case isFile && (address || namesPath(name)):
		v = file
	case address:
		return network(v)
	case !namesPath(name):
		return nil
	}
	return append(a.paths(cardea.Read, v, false), a.paths(cardea.Write, v, false)...)
}

// namesPath reports whether a field of an MCP call is treated as a path, by its lower-case name. A
// value that is not a path, such as a branch, becomes a file of the folder to which no rule
// applies.
func namesPath(name string) bool {
	return slices.Contains([]string{"directory", "dir", "folder", "source", "src", "destination", "dest", "dst", "target"}, name) ||
		strings.HasPrefix(name, "file") || strings.HasSuffix(name, "path") || strings.HasSuffix(name, "paths")
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// paths returns the accesses of a path as a tool names it, one for each place to which it may lead.
func (a *analysis) paths(kind cardea.AccessKind, name string, recursive bool) []cardea.Access {
	name = a.atHome(name)
	out := a.places().Open(kind, name, false)
	if harness.IsDrivePath(name) {
		spelled := name[:2] + pathpkg.Clean("/"+name[2:])
		out = []cardea.Access{{Kind: kind, Path: a.resolve(spelled)}}
		if out[0].Path != spelled {
			out[0].Spelled = spelled
		}
	}
	for i := range out {
		out[i].Recursive = recursive
	}
	return out
}

// atHome returns a path of a tool with ~ replaced by the home folder.
func (a *analysis) atHome(name string) string {
	if rest, ok := strings.CutPrefix(name, "~"); ok && a.system.Home != "" && (rest == "" || rest[0] == '/') {
		name = a.system.Home + rest
	}
	return slash(name)
}

func (a *analysis) resolve(p string) string {
	if a.system.Resolve == nil || p == "" {
		return p
	}
	return a.system.Resolve(p)
}

// slash converts the backslashes of a Windows path. In any other path a backslash is an ordinary
// character.
func slash(p string) string {
	if harness.IsDrivePath(p) || strings.HasPrefix(p, `\\`) {
		return strings.ReplaceAll(p, `\`, "/")
	}
	return p
}

// urlText returns the address in a field: a text, or an object with a url.
func urlText(v any) string {
	if object, is := v.(map[string]any); is {
		v = object["url"]
	}
	text, _ := v.(string)
	return text
}

// network returns the accesses of an address, one for each host that it may mean.
func network(address string) (out []cardea.Access) {
	for _, h := range knowledge.Hosts(address) {
		out = append(out, cardea.Access{Kind: cardea.Network, Host: h})
	}
	return out
}
