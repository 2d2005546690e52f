package install

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/jsonedit"
	"cardea.dev/internal/state"
)

// This file is about the denies that Cardea writes into the sandbox of Claude Code. Its
// settings have no room for a mark, so a signed record beside the state has what was written.

// The lists below "sandbox" in the settings that get denies. The last two are no lists, but
// switches: of the sandbox, and of ways out of it.
const (
	DenyRead     = "filesystem.denyRead"
	DenyWrite    = "filesystem.denyWrite"
	DenyHost     = "network.deniedDomains"
	DenyFile     = "credentials.files"
	DenyVariable = "credentials.envVars"
	SandboxOn    = "enabled"
	WaysOut      = "allowUnsandboxedCommands"
)

// Deny is one entry of such a list.
type Deny struct {
	List  string `json:"list"`
	Value string `json:"value"`
}

// String is the entry for people.
func (x Deny) String() string { return x.List + " " + x.Value }

// Sandboxed is what Cardea wrote into one file, and what a person chose for it.
type Sandboxed struct {
	File   string `json:"file"`
	Denies []Deny `json:"denies"`
	// Made are the keys that were made for them, NewFile is set where there was no file.
	Made    []string `json:"made"`
	NewFile bool     `json:"new_file"`
	// Role and Without are the flags of the command.
	Role    string   `json:"role"`
	Without []string `json:"without"`
	// Text is what was written into a file that is no JSON.
	Text string `json:"text,omitempty"`
}

func sandboxedPath(folder, file string) string {
	return filepath.Join(folder, "compile", digest([]byte(file))[:32])
}

// ReadSandboxed gives what was written into a file, nothing where there is no record.
func ReadSandboxed(folder, file string) (*Sandboxed, error) {
	out := &Sandboxed{File: file}
	path := sandboxedPath(folder, file)
	if _, err := os.Lstat(path); folder == "" || errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	key, err := state.ReadKey(folder)
	if err == nil {
		err = state.ReadSignedJSON(path, key, "compile", file, maxFile, out)
	}
	if err != nil {
		return &Sandboxed{File: file}, fmt.Errorf("the record of what was written into %s is not used: %s: %w; remove it, and take the entries out by hand", file, path, err)
	}
	return out, nil
}

// Empty reports whether nothing of Cardea's is written.
func (s *Sandboxed) Empty() bool { return len(s.Denies) == 0 && s.Text == "" }

// save keeps the record, or forgets it where nothing is written any more.
func (s *Sandboxed) save(folder string) error {
	if s.Empty() {
		if err := os.Remove(sandboxedPath(folder, s.File)); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	key, err := state.LoadKey(folder)
	if err != nil {
		return err
	}
	return state.WriteSignedJSON(sandboxedPath(folder, s.File), key, "compile", s.File, s)
}

// switches reports whether the entry is a switch.
func (x Deny) switches() bool { return x.List == SandboxOn || x.List == WaysOut }

// keys lead to what holds the entry.
func (x Deny) keys() []string {
	if x.switches() {
		return []string{"sandbox"}
	}
	return append([]string{"sandbox"}, strings.Split(x.List, ".")...)
}

// holder is what holds the entry, or what holds the first of its keys that is missing, and
// how many keys lead there.
func (x Deny) holder(d *jsonedit.Document) (n *jsonedit.Node, found int, err error) {
	wrong := func(at int, text string) error {
		line, column := jsonedit.Position(d.Data, at)
		return &jsonedit.SyntaxError{Line: line, Column: column, Text: text}
	}
	if n = d.Root; n.Kind != jsonedit.Object {
		return nil, 0, wrong(n.Start, "the file must hold an object")
	}
	keys := x.keys()
	for i, key := range keys {
		all := n.All(key)
		if len(all) == 0 {
			return n, i, nil
		}
		want := jsonedit.Object
		if i > 0 && i == len(keys)-1 {
			want = jsonedit.Array
		}
		if len(all) > 1 {
			return nil, 0, wrong(all[1].Start, "the key "+key+" stands here for the second time; unite the two")
		}
		if n = all[0]; n.Kind != want {
			return nil, 0, wrong(n.Start, key+" must be "+want.String()+", and is "+n.Kind.String())
		}
	}
	return n, len(keys), nil
}

// value is the entry as it is written.
func (x Deny) value() any {
	switch x.List {
	case DenyFile:
		return jsonedit.Flat{{Key: "path", Value: x.Value}, {Key: "mode", Value: "deny"}}
	case DenyVariable:
		return jsonedit.Flat{{Key: "name", Value: x.Value}, {Key: "mode", Value: "deny"}}
	case SandboxOn, WaysOut:
		return x.Value == "true"
	}
	return x.Value
}

// is reports whether an item is the entry, as Cardea writes it.
func (x Deny) is(it jsonedit.Item) bool {
	n := it.Value
	switch x.List {
	case DenyFile, DenyVariable:
		return len(n.Items) == 2 && cmp.Or(n.Str("path"), n.Str("name")) == x.Value && n.Str("mode") == "deny"
	case SandboxOn, WaysOut:
		return it.Key == x.List && n.Kind == jsonedit.Literal && n.Text == x.Value
	}
	return n.Kind == jsonedit.String && n.Text == x.Value
}

// In reports whether a document has the entry.
func (x Deny) In(d *jsonedit.Document) bool {
	n, found, err := x.holder(d)
	return err == nil && found == len(x.keys()) && slices.ContainsFunc(n.Items, x.is)
}

// put is a text with the entry, and the keys that were made for it.
func (x Deny) put(data []byte) (out []byte, made []string, err error) {
	keys := x.keys()
	for {
		d, err := jsonedit.Parse(data)
		if err != nil {
			return nil, nil, err
		}
		n, found, err := x.holder(d)
		switch {
		case err != nil:
			return nil, nil, err
		case found < len(keys):
			v := any([]any{})
			if x.switches() {
				v = []jsonedit.Field{{Key: x.List, Value: x.value()}}
			}
			for i := len(keys) - 1; i > found; i-- {
				v = []jsonedit.Field{{Key: keys[i], Value: v}}
			}
			for i := range keys[found:] {
				made = append(made, strings.Join(keys[:found+i+1], "."))
			}
			data = jsonedit.Apply(data, d.Append(n, keys[found], v))
		case !x.switches():
			return jsonedit.Apply(data, d.Append(n, "", x.value())), made, nil
		case n.Get(x.List) == nil:
			return jsonedit.Apply(data, d.Append(n, x.List, x.value())), made, nil
		case x.In(d):
			return data, made, nil
		default:
			return nil, nil, fmt.Errorf("sandbox.%s is not %s, and that is left as it is; change it by hand", x.List, x.Value)
		}
	}
}

// without is a text without the entries of a record, the last one first, and without the keys
// that were made for them, where nothing else is in these. gone are the entries that were not
// there any more.
func (s *Sandboxed) without(data []byte, stays func(Deny) bool) (out []byte, gone []Deny, err error) {
	for _, x := range slices.Backward(s.Denies) {
		if stays(x) {
			continue
		}
		d, err := jsonedit.Parse(data)
		if err != nil {
			return nil, nil, err
		}
		if !x.In(d) {
			gone = append(gone, x)
			continue
		}
		n, _, _ := x.holder(d) // In found it
		last := len(n.Items) - 1
		for !x.is(n.Items[last]) {
			last--
		}
		data = d.Remove(n, last)
	}
	for _, made := range slices.Backward(slices.SortedFunc(slices.Values(s.Made), func(a, b string) int { return strings.Count(a, ".") - strings.Count(b, ".") })) {
		d, err := jsonedit.Parse(data)
		if err != nil {
			return nil, nil, err
		}
		n, keys := d.Root, strings.Split(made, ".")
		for _, key := range keys[:len(keys)-1] {
			n = n.Get(key)
		}
		if v := n.Get(keys[len(keys)-1]); v != nil && len(v.Items) == 0 && v.Kind <= jsonedit.Array {
			data = d.Remove(n, slices.IndexFunc(n.Items, func(it jsonedit.Item) bool { return it.Value == v }))
		}
	}
	return data, gone, nil
}

// PlanSandbox works out how the settings of Claude Code get denies of the sandbox, in place of
// those that Cardea wrote before; none takes them out. What a person wrote stays, and so does an
// entry of Cardea's that they changed.
func PlanSandbox(h Harness, scope Scope, at Places, wanted []Deny, role string, without []string) (*Plan, error) {
	if scope == Project || at.State == "" {
		return nil, errors.New("denies of the sandbox are written into your own settings or those of the machine alone, and remembered in the state folder; set HOME")
	}
	p, err := newPlan(h, scope, at)
	if err != nil {
		return nil, err
	}
	p.After, p.memory = p.Before, recall(at.State, p.File) // which an uninstallation of the hook needs
	if p.on.exists && len(wanted) > 0 {
		p.Notes = unplain(h, p.File, p.Before)
	}
	return p, p.sandbox(wanted, role, without)
}

// sandbox changes the plan's text so that it has the wanted denies, and no other of Cardea's.
func (p *Plan) sandbox(wanted []Deny, role string, without []string) error {
	was, err := ReadSandboxed(p.state, p.File)
	if err != nil {
		return err
	}
	hook := recall(p.state, p.File)
	now := &Sandboxed{File: p.File, NewFile: was.NewFile || !p.on.exists || hook != nil && hook.NewFile, Role: role, Without: without}
	data := p.After
	if len(data) == 0 {
		data = []byte("{}\n")
	}
	kept := func(x Deny) bool { return slices.Contains(wanted, x) }
	data, gone, err := was.without(data, kept)
	if err != nil {
		return broken(p.File, leftAlone, err)
	}
	for _, x := range gone {
		p.note(CodeChanged, "", "the entry "+x.String()+" was changed or taken out by somebody; what stands there now was left alone")
	}
	now.Made = was.Made
	for _, x := range wanted {
		d, err := jsonedit.Parse(data)
		if err != nil {
			return broken(p.File, leftAlone, err)
		}
		if x.In(d) {
			if slices.Contains(was.Denies, x) {
				now.Denies = append(now.Denies, x)
			}
			continue
		}
		done, made, err := x.put(data)
		if err != nil {
			return broken(p.File, leftAlone, err)
		}
		data, now.Denies, now.Made = done, append(now.Denies, x), slices.Compact(slices.Sorted(slices.Values(append(made, now.Made...))))
	}
	if !sameBeside(was, p.After, now, data) {
		return fmt.Errorf("%s was left alone, because what others wrote would not have stayed as it is; change it by hand, and please report this with the file's layout", p.File)
	}
	if len(now.Denies) == 0 {
		now = &Sandboxed{File: p.File}
		if d, err := jsonedit.Parse(data); err == nil && len(d.Root.Items) == 0 && p.on.exists && (was.NewFile || p.scope == Managed) {
			p.Remove, data = true, nil
		} else if !p.on.exists {
			data = nil
		}
	}
	if p.After = data; !reflect.DeepEqual(was, now) {
		p.sandboxed = now
	}
	return nil
}

// sameBeside reports whether two texts say the same without the entries of two records.
// It guards against this file's own mistakes.
func sameBeside(was *Sandboxed, before []byte, now *Sandboxed, after []byte) bool {
	plain := func(s *Sandboxed, data []byte) (out any) {
		if len(data) == 0 {
			data = []byte("{}")
		}
		data, _, err := s.without(data, func(Deny) bool { return false })
		if err != nil {
			return err
		}
		d, err := jsonedit.Parse(data)
		if err != nil {
			return err
		}
		return shapeOf(d.Root)
	}
	return reflect.DeepEqual(plain(was, before), plain(now, after))
}

// shapeOf is what a value says, without how it is laid out.
func shapeOf(n *jsonedit.Node) any {
	var out []any
	for _, it := range n.Items {
		out = append(out, it.Key, shapeOf(it.Value))
	}
	return []any{n.Kind, n.Text, out}
}

// withoutSandbox takes the denies of the sandbox out as well, where the hook goes.
func (p *Plan) withoutSandbox(h Harness) {
	if h.Name != claudecode.Name || p.scope == Project || p.Remove || !p.on.exists {
		return
	}
	if s, err := ReadSandboxed(p.state, p.File); err == nil && len(s.Denies) == 0 {
		return
	}
	after := p.After
	if err := p.sandbox(nil, "", nil); err != nil {
		p.After = after
		p.note(cardea.CodeUnwritten, "", "the denies of the sandbox stay: "+err.Error())
	}
}

// SandboxState is what the settings of Claude Code say about its sandbox.
type SandboxState struct {
	// On reports whether it is on, By is the file that says so, or "".
	On bool   `json:"on"`
	By string `json:"by"`
	// Holes are settings that let something out of it.
	Holes []string `json:"holes"`
}

// Sandbox looks at the settings of Claude Code, those of the project included.
func Sandbox(h Harness, at Places) SandboxState {
	out := SandboxState{Holes: []string{}}
	var outside string
	shut := false // by the machine, so that what a project lets out does not count
	for _, f := range h.files(at) {
		in, err := open(f.path, "")
		if err != nil || !in.exists {
			continue
		}
		d, err := jsonedit.Parse(in.data)
		if err != nil {
			continue // Inspect reports it
		}
		box := d.Root.Get("sandbox")
		if on := box.Lit("enabled"); on != "" && out.By == "" {
			out.On, out.By = on == "true", f.path
		}
		if shut && (f.scope == Project || f.scope == local) {
			continue
		}
		outside = cmp.Or(outside, box.Lit(WaysOut))
		shut = shut || f.scope == Managed && outside == "false"
		add := func(key, text string) { out.Holes = append(out.Holes, f.path+": "+key+" "+text) }
		for _, key := range []string{"excludedCommands", "filesystem.allowRead"} {
			n := box
			for k := range strings.SplitSeq(key, ".") {
				n = n.Get(k)
			}
			if words, _ := n.Words(); len(words) > 0 {
				shown, _ := json.Marshal(words) // texts always encode
				add(key, string(shown))
			}
		}
		for _, key := range []string{"allowNestedUserNamespaces", "enableWeakerNestedSandbox"} {
			if box.Lit(key) == "true" {
				add(key, "is true")
			}
		}
		if f.scope != Project && f.scope != local && box.Get("filesystem").Lit("disabled") == "true" {
			add("filesystem.disabled", "is true: no path is denied")
		}
	}
	if outside != "false" {
		out.Holes = append(out.Holes, "allowUnsandboxedCommands is not false: the agent may ask to run a command outside (dangerouslyDisableSandbox)")
	}
	return out
}
