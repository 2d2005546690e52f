package install

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/jsonedit"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/harness/claudecode"
)

// This file writes denies into the sandbox settings of Claude Code. The settings have no
// place for a mark, so a signed record in the state folder holds what was written.

// The lists in the settings for denies. The last two are switches: of the sandbox, and of
// the ways out of it.
const (
	DenyRead  = "sandbox.filesystem.denyRead"
	DenyWrite = "sandbox.filesystem.denyWrite"
	DenyHost  = "sandbox.network.deniedDomains"
	DenyFile  = "sandbox.credentials.files"
	SandboxOn = "sandbox.enabled"
	WaysOut   = "sandbox.allowUnsandboxedCommands"
)

// Deny is an entry of a list: a path, a host, or for a switch "true" or "false".
type Deny struct{ List, Value string }

// Sandboxed records the entries that Cardea wrote into one file.
type Sandboxed struct {
	Denies []Deny
	// Made holds the keys created for them. NewFile is set if there was no file.
	Made    []string
	NewFile bool
	// Role and Without are the command's flags.
	Role    string
	Without []string
}

func sandboxedPath(folder, file string) string {
	return filepath.Join(folder, "compile", digest([]byte(file))[:32])
}

// ReadSandboxed returns the record of a file, empty if none exists.
func ReadSandboxed(folder, file string) (s Sandboxed, err error) {
	path := sandboxedPath(folder, file)
	if folder == "" || !state.Exists(path) {
		return s, nil
	}
	key, err := state.ReadKey(folder)
	if err == nil {
		err = state.ReadSignedJSON(path, key, "compile", file, maxFile, &s)
	}
	if err != nil {
		return Sandboxed{}, fmt.Errorf("the record %s of what was written into %s is not used: %w; remove it, and take the entries out by hand", path, file, err)
	}
	return s, nil
}

// saveSandboxed stores the record. It writes one with entries before the file, since
// entries without a record could never be removed. It writes an empty one after the file.
func (p *Plan) saveSandboxed(behind bool) error {
	if p.sandboxed == nil || behind != (len(p.sandboxed.Denies) == 0) {
		return nil
	}
	key, err := state.LoadKey(p.state)
	if err != nil {
		return err
	}
	return state.WriteSignedJSON(sandboxedPath(p.state, p.File), key, "compile", p.File, p.sandboxed)
}

func (x Deny) switches() bool { return x.List == SandboxOn || x.List == WaysOut }

// raw returns the entry as JSON.
func (x Deny) raw() string {
	quoted, _ := json.Marshal(x.Value) // texts never fail
	switch {
	case x.switches():
		return x.Value
	case x.List == DenyFile:
		return `{"path": ` + string(quoted) + `, "mode": "deny"}`
	}
	return string(quoted)
}

// find returns the container of the entry and its index there, -1 if it is missing. If a
// container is missing, it returns the innermost existing one; depth is the number of keys
// that lead there.
func (x Deny) find(d *jsonedit.Document) (n *jsonedit.Node, at, depth int, err error) {
	keys := strings.Split(x.List, ".")
	last := ""
	if x.switches() {
		keys, last = keys[:1], keys[1]
	}
	n = d.Root
	for i := 0; ; i++ {
		want := jsonedit.Object
		if i == len(keys) && last == "" {
			want = jsonedit.Array
		}
		if n.Kind != want || i < len(keys) && len(n.All(keys[i])) > 1 {
			line, column := jsonedit.Position(d.Data, n.Start)
			return nil, -1, i, &jsonedit.SyntaxError{Line: line, Column: column, Text: "what holds " + x.List + " must be " + want.String() + ", with each key once"}
		}
		if i == len(keys) {
			same := func(it jsonedit.Item) bool {
				return it.Key == last && compact(d.Data[it.Value.Start:it.Value.End]) == compact([]byte(x.raw()))
			}
			return n, slices.IndexFunc(n.Items, same), i, nil
		}
		next := n.Get(keys[i])
		if next == nil {
			return n, -1, i, nil
		}
		n = next
	}
}

func compact(text []byte) string {
	var out bytes.Buffer
	if json.Compact(&out, text) != nil {
		return string(text)
	}
	return out.String()
}

// put returns the text with the entry, and the keys created for it. has is set if the entry
// was already there.
func (x Deny) put(data []byte) (out []byte, made []string, has bool, err error) {
	keys := strings.Split(x.List, ".")
	for {
		d, err := jsonedit.Parse(data)
		if err != nil {
			return nil, nil, false, err
		}
		n, at, depth, err := x.find(d)
		switch {
		case err != nil || at >= 0:
			return data, made, at >= 0, err
		case x.switches() && depth == 1 && n.Get(keys[1]) != nil:
			return nil, nil, false, errors.New(x.List + " is not " + x.Value + ", and that is left as it is; change it by hand")
		case x.switches() && depth == 1:
			return jsonedit.Apply(data, d.Append(n, keys[1], jsonedit.Raw(x.raw()))), made, false, nil
		case depth == len(keys):
			return jsonedit.Apply(data, d.Append(n, "", jsonedit.Raw(x.raw()))), made, false, nil
		}
		empty := jsonedit.Raw("{}")
		if depth > 0 && depth == len(keys)-1 {
			empty = "[]"
		}
		data, made = jsonedit.Apply(data, d.Append(n, keys[depth], empty)), append(made, strings.Join(keys[:depth+1], "."))
	}
}

// takeFrom returns the text without the entry, and without the keys in made that become
// empty. has is set if the entry was there.
func (x Deny) takeFrom(data []byte, made []string) (out []byte, has bool, err error) {
	d, err := jsonedit.Parse(data)
	if err != nil {
		return nil, false, err
	}
	n, at, depth, err := x.find(d)
	if err != nil || at < 0 {
		return data, false, nil
	}
	data = d.Remove(n, at)
	for keys := strings.Split(x.List, ".")[:depth]; len(keys) > 0 && slices.Contains(made, strings.Join(keys, ".")); keys = keys[:len(keys)-1] {
		if d, err = jsonedit.Parse(data); err != nil {
			return nil, true, err
		}
		n := d.Root
		for _, key := range keys[:len(keys)-1] {
			n = n.Get(key)
		}
		i := slices.IndexFunc(n.Items, func(it jsonedit.Item) bool { return it.Key == keys[len(keys)-1] })
		if len(n.Items[i].Value.Items) > 0 {
			break
		}
		data = d.Remove(n, i)
	}
	return data, true, nil
}

// PlanSandbox plans the denies of wanted for the settings of Claude Code, in place of those
// that Cardea wrote before; no denies remove them. Entries of the user stay, and so do
// entries of Cardea that the user changed.
func PlanSandbox(h Harness, scope Scope, at Places, wanted func(was Sandboxed) (Sandboxed, error)) (*Plan, error) {
	if scope == Project || at.State == "" {
		return nil, errors.New("denies of the sandbox need a state folder, and are for your own settings or those of the machine; set HOME")
	}
	p, err := newPlan(h, scope, at, "")
	if err != nil {
		return nil, err
	}
	p.After, p.memory = p.Before, recall(at.State, p.File) // an uninstallation of the hook needs it
	if p.on.exists {
		p.Notes = unplain(h, p.File, p.Before)
	}
	was, err := ReadSandboxed(p.state, p.File)
	if err != nil {
		return nil, err
	}
	now, err := wanted(was)
	if err != nil {
		return nil, err
	}
	return p, p.sandbox(was, now)
}

// sandbox changes the plan's text so that now holds the only entries of Cardea.
func (p *Plan) sandbox(was, now Sandboxed) (err error) {
	data, has := p.After, false
	if len(data) == 0 {
		data = []byte("{}\n")
	}
	for _, x := range slices.Backward(was.Denies) {
		if err == nil && !slices.Contains(now.Denies, x) {
			if data, has, err = x.takeFrom(data, was.Made); !has && err == nil {
				p.note(CodeChanged, "", x.List+" "+x.Value+" was changed or taken out; the present text was left alone")
			}
		}
	}
	all, made := now.Denies, []string(nil)
	now.Denies, now.Made = nil, was.Made
	for _, x := range all {
		if err == nil {
			data, made, has, err = x.put(data)
		}
		if err == nil && !has && slices.Contains(was.Denies, x) {
			p.note(CodeChanged, "", x.List+" "+x.Value+" was changed or taken out, and is put in again")
		}
		if !has || slices.Contains(was.Denies, x) {
			now.Denies, now.Made = append(now.Denies, x), append(slices.Clip(now.Made), made...)
		}
	}
	if err != nil {
		return broken(p.File, leftAlone, err)
	}
	hook := recall(p.state, p.File)
	now.NewFile = was.NewFile || !p.on.exists || hook != nil && hook.NewFile
	if len(now.Denies) == 0 {
		empty := compact(data) == "{}"
		p.Remove = empty && p.on.exists && (now.NewFile || p.scope == Managed)
		if now = (Sandboxed{}); p.Remove || empty && !p.on.exists {
			data = nil
		}
	}
	if p.After = data; !reflect.DeepEqual(was, now) {
		p.sandboxed = &now
	}
	return nil
}

// withoutSandbox also removes the sandbox denies when the hook is removed.
func (p *Plan) withoutSandbox(h Harness) {
	after := p.After
	was, err := ReadSandboxed(p.state, p.File)
	if h.Name != claudecode.Name || p.scope == Project || p.Remove || !p.on.exists || err == nil && len(was.Denies) == 0 {
		return
	}
	if err == nil {
		err = p.sandbox(was, Sandboxed{})
	}
	if err != nil {
		p.After = after
		p.note(diagnostic.CodeUnwritten, "", "the denies of the sandbox stay: "+err.Error())
	}
}

// Sandbox reads the settings of Claude Code, including the project's. It returns whether
// the sandbox is on, the file that says so ("" for none), and the settings that open it.
func Sandbox(h Harness, at Places) (on bool, by string, holes []string) {
	outside, shut := "", false // shut is set by the machine: openings of a project are ignored
	for _, f := range h.files(at) {
		data, unread := state.ReadLinked(f.path, maxFile)
		d, broken := jsonedit.Parse(data)
		if unread != nil || broken != nil {
			continue // Inspect reports it
		}
		box := d.Root.Get("sandbox")
		if said := box.Lit("enabled"); said != "" && by == "" {
			on, by = said == "true", f.path
		}
		if shut && (f.scope == Project || f.scope == local) {
			continue
		}
		outside = cmp.Or(outside, box.Lit("allowUnsandboxedCommands"))
		shut = shut || f.scope == Managed && outside == "false"
		for _, key := range []string{"excludedCommands", "allowRead", "disabled", "allowNestedUserNamespaces", "enableWeakerNestedSandbox"} {
			for _, n := range append(box.All(key), box.Get("filesystem").All(key)...) {
				if len(n.Items) > 0 || n.Text == "true" {
					holes = append(holes, f.path+": "+key+": "+compact(data[n.Start:n.End]))
				}
			}
		}
	}
	if outside != "false" {
		holes = append(holes, "allowUnsandboxedCommands is not false: the agent may ask to run a command outside (dangerouslyDisableSandbox)")
	}
	return on, by, holes
}
