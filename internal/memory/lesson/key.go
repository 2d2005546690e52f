package lesson

import (
	"encoding/hex"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/jsontext"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/disk"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/harness"
)

// Key is a key under which a call, or a part of it, is looked up.
type Key struct {
	// Tool, Subject, Kind, Dir, Role and Unsandboxed are those of a [Record]. Dir is "" where it is
	// unknown.
	Tool, Subject, Kind, Dir, Role string
	Unsandboxed                    bool
	// Parts are the parts of the call that the subject covers.
	Parts []int
	// Line is set where the subject is the whole line as it was typed, and not a single command of
	// it.
	Line bool
	// Teaches is set for the keys under which a decision about the whole call is stored. The other
	// keys are only looked up: each command of a line by itself.
	Teaches bool
	// Refusal is the reason why no allow applies under this key, or "".
	Refusal string
	// Absolute paths: the files that the parts run, and further files to which an allow is bound if
	// they exist. hidden is set where an opaque spot requires that an allow is bound to a file.
	runs, besides []string
	hidden        bool
	// endless is set if the files that may run are unknown, or too many to be bound.
	endless bool
}

// Keyer makes the keys of calls. It is safe for concurrent use.
type Keyer struct {
	redactor *redact.Redactor
	secret   []byte
	roots    []string
}

// NewKeyer returns a Keyer for a project, to which folders and paths are relative. Digests of
// secrets use a key derived from the user's key. Without one, a call with a secret cannot be
// allowed by a lesson.
func NewKeyer(r *redact.Redactor, userKey []byte, project string) *Keyer {
	k := &Keyer{redactor: r}
	if len(userKey) == state.KeySize {
		k.secret = state.Sign(userKey, "digests in lessons")
	}
	if project != "" {
		k.roots = []string{project}
		if real := paths.Real(project); real != project {
			k.roots = append(k.roots, real)
		}
	}
	return k
}

// Keys returns the keys under which the call of an event is looked up, nil for a call without parts
// or one that is a question to the person.
func (k *Keyer) Keys(ev *cardea.Event) []Key {
	c := ev.Call
	if c == nil || len(c.Parts) == 0 || harness.AsksPerson(c) {
		return nil
	}
	info, known := harness.Tool(c.Tool)
	var out []Key
	switch {
	case c.Tool == "PowerShell":
		out = k.ofTexts(ev, "PowerShell is not read")
	case isShell(info) && text(c, "command") != "":
		out = k.ofLine(ev)
	case known && (info.EditsFiles || len(info.FieldsOf(harness.FilePath))+len(info.FieldsOf(harness.SearchPath)) > 0):
		out = k.ofFiles(ev)
	case c.Tool == "WebFetch":
		out = k.ofAddress(ev)
	case c.Tool == "WebSearch":
		out = []Key{{Subject: c.Tool, Parts: all(c)}}
	case (c.Tool == "Agent" || c.Tool == "Skill") && text(c, info.Primary) != "":
		out = []Key{{Subject: text(c, info.Primary), Parts: all(c)}}
	default:
		out = k.ofInput(ev)
	}
	for i := range out {
		key := &out[i]
		key.Tool, key.Role, key.Unsandboxed = c.Tool, ev.Role, c.Unsandboxed
		if !isShell(info) {
			key.Dir, key.Teaches = ".", true
			if slices.ContainsFunc(c.Parts, func(p cardea.Part) bool { return p.Coverage != cardea.Complete }) {
				key.Refusal = "what it runs is not known"
			}
		}
		if len(ev.Faults) > 0 || len(c.Shadowed) > 0 {
			key.Refusal = "the input cannot be read with certainty"
		}
		if isShell(info) && slices.ContainsFunc(key.Parts, func(part int) bool { return leadsOut(ev.Project, c.Parts[part].Access) }) {
			key.Refusal = "it changes a file outside of the project, through a link"
		}
	}
	return out
}

// root returns the project's folder, or "".
func (k *Keyer) root() string {
	if len(k.roots) == 0 {
		return ""
	}
	return k.roots[0]
}

func isShell(info harness.ToolInfo) bool { return len(info.FieldsOf(harness.Command)) > 0 }

// text returns a text field of the input, "" for any other value.
func text(c *cardea.Call, field string) string {
	s, _ := c.Input[field].(string)
	return s
}

func all(c *cardea.Call) []int {
	out := make([]int, len(c.Parts))
	for i := range out {
		out[i] = i
	}
	return out
}

// ofLine returns the keys of a command line: one for each command and, unless the line is one plain
// command, one for the whole line as it was typed.
func (k *Keyer) ofLine(ev *cardea.Event) []Key {
	c := ev.Call
	line := text(c, "command")
	var out []Key
	var effective []int
	for i := range c.Parts {
		if c.Parts[i].NoEffect {
			continue
		}
		effective = append(effective, i)
		if len(c.Parts[i].Argv) > 0 {
			key := k.keyOf(c.Parts[i].Text, i)
			key.Dir = k.relative(c.Parts[i].Dir)
			key.bind(&c.Parts[i], k.root())
			if why := beyondText(ev, i, line); why != "" {
				key.Refusal = why
			}
			out = append(out, key)
		}
	}
	if len(effective) == 0 {
		return nil
	}
	if len(effective) == 1 && len(out) == 1 && out[0].Refusal == "" && len(c.Opaque) == 0 {
		out[0].Teaches = true
		return out
	}
	whole := k.keyOf(strings.TrimSpace(line), effective...)
	whole.Dir, whole.Line, whole.Teaches, whole.hidden = k.relative(ev.Cwd), true, true, len(c.Opaque) > 0
	for _, i := range effective {
		p := &c.Parts[i]
		whole.bindInLine(c.Parts, i, k.root())
		whole.hidden = whole.hidden || p.Coverage != cardea.Complete || len(p.Opaque) > 0
		if why := unseenWord(p); why != "" {
			whole.Refusal = why
		}
	}
	if len(c.Flows) > 0 {
		whole.Refusal = "what one command of the line makes, another one uses"
	}
	for i := range out {
		if len(effective) > 1 && out[i].isBound() && !onlyReads(c.Parts, effective, out[i].Parts[0]) {
			out[i].Refusal = "another command of the line may change the file that it runs"
		}
	}
	if whole.isBound() && slices.ContainsFunc(effective, func(i int) bool { return whole.changedBy(&c.Parts[i]) }) {
		whole.Refusal = "the line changes a file that it runs"
	}
	return append(out, whole)
}

// unseenWord returns the reason why the words of a part do not determine its effect in a line, or
// "".
func unseenWord(p *cardea.Part) string {
	touches := len(p.Access) > 0 || p.Knowledge != cardea.Complete
	switch {
	case touches && len(knowledge.Unseen(p)) > 0:
		return "what a word becomes is known only when it runs, and it may name anything"
	case slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return w.MayBeOption }), p.UnseenOption():
		return "a word may become options that nobody has seen"
	}
	return ""
}

// beyondText returns the reason why the text of a command does not determine its effect in a line,
// or "".
func beyondText(ev *cardea.Event, part int, line string) string {
	p := &ev.Call.Parts[part]
	switch {
	case p.Coverage != cardea.Complete || len(p.Opaque) > 0:
		return "something in the command cannot be seen through"
	case p.Elevated || p.Remote:
		return "it runs as another user or elsewhere"
	case strings.Contains(line, "<"):
		return "the line reads input that the command's words do not show"
	case slices.ContainsFunc(p.Via, func(v string) bool { return v != "&&" && v != "||" && v != "&" }):
		return "how it is reached changes what it does"
	case len(p.Assigns) > 0:
		return "it sets a variable, whose value may be code or name another target"
	case slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return !w.Static }):
		return "what a word becomes is known only when it runs"
	case slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Redirect && !a.Nowhere() && !(a.Kind == cardea.Write && a.Fresh) }):
		return "it has a redirection"
	case slices.ContainsFunc(ev.Call.Flows, func(f cardea.Flow) bool { return f.To == part || f.From == part }):
		return "it uses what another command of the line makes"
	}
	return ""
}

// leadsOut reports whether a change to a file that is named in the project affects a file outside.
func leadsOut(project string, all []cardea.Access) bool {
	return project != "" && slices.ContainsFunc(all, func(a cardea.Access) bool {
		return (a.Kind == cardea.Write || a.Kind == cardea.Delete) && a.Path != "" && a.Spelled != "" &&
			paths.Within(project, a.Spelled) && !paths.Within(paths.Real(project), a.Path)
	})
}

// onlyReads reports whether all parts except but are certain to change nothing.
func onlyReads(parts []cardea.Part, of []int, but int) bool {
	return !slices.ContainsFunc(of, func(i int) bool {
		return i != but && (parts[i].Knowledge != cardea.Complete ||
			slices.ContainsFunc(parts[i].Access, func(a cardea.Access) bool { return a.Kind != cardea.Read && a.Kind != cardea.Network && !a.Nowhere() }))
	})
}

// bind records the code that the part runs, to which an allow is bound.
func (key *Key) bind(p *cardea.Part, root string) {
	code := disk.CodeOf(p, root)
	key.endless = key.endless || code.Unnamed
	for _, a := range p.Access {
		if a.Kind == cardea.Execute && slices.Contains(code.Runs, a.Path) {
			key.runs = withName(key.runs, a.Path)
		}
	}
	for _, name := range slices.Concat(code.Runs, code.Named, code.Trees) {
		key.besides = withName(key.besides, name)
	}
	if p.Coverage != cardea.Complete || len(p.Opaque) > 0 {
		key.bindUsed(p)
	}
}

// bindInLine is bind for a part of a line. A part that reads from a pipe may run its input, so the
// files that other parts read are bound as well.
func (key *Key) bindInLine(parts []cardea.Part, part int, root string) {
	p := &parts[part]
	key.bind(p, root)
	if !slices.Contains(p.Via, "|") || p.Knowledge == cardea.Complete {
		return
	}
	interprets := knowledge.IsInterpreter(p.Program()) || knowledge.Has(form.Shell, p.Program())
	for i := range parts {
		if i == part || parts[i].NoEffect {
			continue
		}
		key.bindUsed(&parts[i])
		if interprets && !slices.ContainsFunc(parts[i].Access, func(a cardea.Access) bool { return a.Kind == cardea.Read && a.Path != "" }) {
			key.Refusal = "it runs what another command prints"
		}
	}
}

// bindUsed records the files that a part may read. Files of a remote part are on another machine,
// except those that are read locally for it.
func (key *Key) bindUsed(p *cardea.Part) {
	for _, list := range [][]cardea.Access{p.Access, p.MayTouch} {
		for _, a := range list {
			if (a.Kind == cardea.Read || a.Kind == cardea.Unknown) && (!p.Remote || a.Redirect) {
				key.besides = withName(key.besides, a.Path)
			}
		}
	}
}

// withName returns the list with the name added, unless it is empty or already there.
func withName(list []string, name string) []string {
	if name == "" || slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

// isBound reports whether an allow may be bound to a file.
func (key *Key) isBound() bool { return len(key.runs)+len(key.besides) > 0 }

// changedBy reports whether a part is certain to write or delete a file to which an allow is bound.
func (key *Key) changedBy(p *cardea.Part) bool {
	return slices.ContainsFunc(p.Access, func(a cardea.Access) bool {
		return (a.Kind == cardea.Write || a.Kind == cardea.Delete) && slices.ContainsFunc(slices.Concat(key.runs, key.besides), func(f string) bool {
			return a.Path == f || (a.Recursive || a.Glob) && paths.Within(a.Path, f)
		})
	})
}

// keyOf returns the key of a text that may hold secrets.
func (k *Keyer) keyOf(raw string, parts ...int) Key {
	subject, why := k.subject(raw)
	return Key{Subject: subject, Parts: parts, Refusal: why}
}

// ofTexts returns keys by the texts of the parts, under which no allow applies.
func (k *Keyer) ofTexts(ev *cardea.Event, why string) (out []Key) {
	for i := range ev.Call.Parts {
		key := k.keyOf(ev.Call.Parts[i].Text, i)
		key.Dir, key.Teaches, key.Refusal = k.relative(ev.Cwd), true, why
		out = append(out, key)
	}
	return out
}

// ofFiles returns the keys of a tool that reads or changes files, one for each path.
func (k *Keyer) ofFiles(ev *cardea.Event) (out []Key) {
	for i := range ev.Call.Parts {
		p := &ev.Call.Parts[i]
		var places []string
		writes, deletes := false, false
		for _, a := range p.Access {
			writes, deletes = writes || a.Kind == cardea.Write, deletes || a.Kind == cardea.Delete
			if a.Path != "" && !slices.Contains(places, a.Path) {
				places = append(places, a.Path)
			}
		}
		for _, at := range places {
			key := k.keyOf(k.relative(at), i)
			switch {
			case writes && deletes:
				key.Kind = Move
			case deletes:
				key.Kind = Delete
			case writes && state.Exists(at):
				key.Kind = Edit
			case writes:
				key.Kind = Create
			}
			switch {
			case len(places) > 1:
				key.Refusal = "it is not certain which file is meant"
			case len(p.Opaque) > 0 || len(ev.Call.Opaque) > 0:
				key.Refusal = "the input cannot be read with certainty"
			}
			out = append(out, key)
		}
	}
	return out
}

// ofAddress returns the key of an address: scheme, host and path. It leaves out the query, which
// holds search terms and secrets.
func (k *Keyer) ofAddress(ev *cardea.Event) []Key {
	raw := strings.TrimSpace(text(ev.Call, "url"))
	address, _, _ := strings.Cut(raw, "#")
	address, _, _ = strings.Cut(address, "?")
	scheme, rest, found := strings.Cut(address, "://")
	host, at, _ := strings.Cut(rest, "/")
	key := k.keyOf(strings.ToLower(scheme)+"://"+strings.ToLower(host)+path.Join("/", at), all(ev.Call)...)
	if !found || len(knowledge.Hosts(raw)) != 1 || strings.ContainsAny(rest, "@\\%") || strings.Contains(rest, "..") {
		key.Refusal = "the address can be read in more than one way"
	}
	return []Key{key}
}

// ofInput returns the key of an unknown tool: a digest of the whole input, made with the user's
// key, since the input may be easy to guess.
func (k *Keyer) ofInput(ev *cardea.Event) []Key {
	if k.secret == nil {
		return nil
	}
	input, ok := jsontext.Plain.Value(nil, map[string]any(ev.Call.Input))
	if !ok {
		return nil
	}
	digest := hex.EncodeToString(state.Sign(k.secret, "input of a call", []byte(ev.Call.Tool), input)[:16])
	return []Key{{Subject: ev.Call.Tool + " " + digest, Parts: all(ev.Call)}}
}

// relative returns a folder or file as lessons name it: relative to the project if it is inside,
// else absolute. "" means unknown and stays "".
func (k *Keyer) relative(at string) string {
	for _, root := range k.roots {
		if !paths.Within(root, at) {
			continue
		}
		if rel, err := filepath.Rel(root, at); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	return at
}

// Absolute returns the absolute path of a folder or file that a lesson names.
func (k *Keyer) Absolute(name string) string {
	if len(k.roots) == 0 || path.IsAbs(filepath.ToSlash(name)) {
		return name
	}
	return filepath.Join(k.roots[0], name)
}

// subject returns a text without its secrets. A secret in a known position, such as the value of an
// option, is left out of the key, so that the next token needs no new answer. Every other secret is
// replaced by a digest, since two texts that differ only in it need different keys. why is the
// reason why nothing may be allowed, or "".
func (k *Keyer) subject(raw string) (subject, why string) {
	if strings.Contains(raw, "<REDACTED") {
		why = "the call holds the mark of a secret that was taken out"
	}
	found := k.redactor.Find(raw)
	if len(found) == 0 {
		return raw, why
	}
	if k.secret == nil {
		why = "there is no key to tell secrets apart"
	}
	var b strings.Builder
	at := 0
	for _, f := range found {
		b.WriteString(raw[at:f.Start])
		b.WriteString(redact.Mark)
		if secret := raw[f.Start:f.End]; !f.Placed || !isData(raw, f.Start, secret) {
			b.WriteString("#" + hex.EncodeToString(state.Sign(k.secret, "secret in a subject", []byte(secret))[:8]))
		}
		at = f.End
	}
	b.WriteString(raw[at:])
	return b.String(), why
}

// isData reports whether a secret in a known position can only be data. It must not be an
// expansion, an operator or an option, nor a host in an address.
func isData(raw string, start int, secret string) bool {
	if secret == "" || strings.IndexByte("-./~", secret[0]) >= 0 || strings.Contains(secret, "..") {
		return false
	}
	word := raw[strings.LastIndexAny(raw[:start], " \t\n'\"")+1 : start]
	for i := range len(secret) {
		c := secret[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("._+=-", c) >= 0:
		case c == '/' && !strings.Contains(word, "://"):
		default:
			return false
		}
	}
	return true
}
