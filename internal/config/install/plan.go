package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/jsonedit"
	"cardea.dev/internal/base/paths"
)

// Plan is a change of a file that is checked but not yet made.
type Plan struct {
	// File is the file to change, with links followed.
	File string
	// Before and After are its whole text. Remove is set if the file is to be removed.
	Before, After []byte
	Remove        bool
	// Notes holds notes for the user.
	Notes []diagnostic.Diagnostic

	on     *file
	state  string
	memory *memory // to be stored; nil to be removed
	scope  Scope
	dirs   []string // to be removed if empty
	// beside holds changes of other files, such as that of the command /cardea.
	beside []besideFile
	// modes are the modes of a new file: readable for others, and for the user alone.
	modes [2]os.FileMode
	// secret is set if the file will hold a token, which only the user may read.
	secret bool
	// replaces is set if an installation changes the work of an earlier one.
	replaces bool
	// sandboxed is the new record of sandbox denies, nil if it stays.
	sandboxed *Sandboxed
}

// OnlyAdds returns "" if the plan only adds a hook to the file of that name, else why not.
func (p *Plan) OnlyAdds() string {
	if link := p.on.link(); link != "" {
		return link + " is a symbolic link"
	}
	if p.replaces {
		return p.File + " has a hook of Cardea already"
	}
	return ""
}

// closes reports whether the plan removes the right of others to read the file.
func (p *Plan) closes() bool { return p.secret && p.on.exists && p.on.mode&othersBits != 0 }

// private returns an error if a file that others can read must not hold a token. A token
// already in it is no longer secret.
func (p *Plan) private(token string) error {
	p.secret = token != ""
	switch {
	case !p.closes():
		return nil
	case bytes.Contains(p.Before, []byte("Bearer "+token)):
		return errors.New(OtherToken(p.File, p.state) + ", and run this again")
	case p.on.link() != "" || ofAnother(p.File):
		return fmt.Errorf("others can read %s, which would hold the token of HTTP, and it is another user's, or reached by a symbolic link; run: %s", p.File, shellLine("", "chmod", []string{"600", p.File}))
	}
	return nil
}

// Changed reports whether the plan changes anything.
func (p *Plan) Changed() bool {
	return p.changesFile() || p.sandboxed != nil || slices.ContainsFunc(p.beside, besideFile.pending)
}

func (p *Plan) changesFile() bool {
	return p.Remove || !bytes.Equal(p.Before, p.After) || p.closes()
}

const leftAlone = "nothing was changed. Mend the file and run this again"

// PlanInstall plans the installation of the wanted hook in a harness's file. Entries of
// others stay. Entries of an earlier installation are replaced, for their events and the
// wanted ones. The error says what to do, with line and column if it concerns a place in
// the file.
func PlanInstall(h Harness, scope Scope, at Places, w Wanted) (*Plan, error) {
	p, err := newPlan(h, scope, at, w.Token)
	if err != nil {
		return nil, err
	}
	if h.plugin != nil {
		return p, p.planProgram(h, &w)
	}
	p.planCommand(h, true)
	if !p.on.exists {
		p.create(h, w)
		return p, nil
	}
	d, err := jsonedit.Parse(p.Before)
	if err != nil {
		return nil, broken(p.File, leftAlone, err)
	}
	p.Notes = append(p.Notes, unplain(h, p.File, p.Before)...)
	if stored := otherHooks(d, h); len(stored) > 0 {
		h.events = slices.Concat(h.events, stored)
		p.note(CodeStoredEvents, "for fewer events, run this with --uninstall first", "still for "+strings.Join(stored, ", ")+", as before")
	}
	if at, why := fits(d, h); why != "" {
		line, column := jsonedit.Position(d.Data, at)
		return nil, broken(p.File, leftAlone, &jsonedit.SyntaxError{Line: line, Column: column, Text: why})
	}
	if asWanted(d, h, w) {
		p.After = p.Before
		return p, nil
	}
	p.replaces = len(spots(d.Root)) > 0
	old := recall(p.state, p.File)
	clean, err := cleaned(d, old)
	if err != nil {
		return nil, err
	}
	done, ins, made, err := add(clean, h, w)
	if err != nil {
		return nil, err
	}
	p.After = done.Data
	p.memory = &memory{V: 1, File: p.File, After: digest(done.Data), Insertions: ins, Made: made}
	if old != nil {
		p.memory.NewFile, p.memory.NewDirs = old.NewFile, old.NewDirs
		p.memory.Made = slices.Compact(slices.Sorted(slices.Values(append(made, old.Made...))))
	}
	return p, p.verify(d, done, asWanted(done, h, w))
}

// PlanUninstall plans the removal of only Cardea's entries from a file.
func PlanUninstall(h Harness, scope Scope, at Places) (*Plan, error) {
	p, err := planUninstall(h, scope, at)
	if err == nil {
		p.withoutSandbox(h)
	}
	return p, err
}

// planUninstall plans the removal of the hook.
func planUninstall(h Harness, scope Scope, at Places) (*Plan, error) {
	p, err := newPlan(h, scope, at, "")
	if err != nil {
		return nil, err
	}
	if h.plugin != nil {
		return p, p.planProgram(h, nil)
	}
	p.planCommand(h, false)
	if p.After = p.Before; !p.on.exists {
		return p, nil
	}
	old := recall(p.state, p.File)
	d, err := jsonedit.Parse(p.Before)
	if err != nil {
		return p, p.salvage(err)
	}
	if len(spots(d.Root)) == 0 {
		return p, nil
	}
	clean, err := cleaned(d, old)
	if err != nil {
		return nil, err
	}
	p.After = clean.Data
	if onlyOurs(clean.Root) && (h.ownFile || scope == Managed || old != nil && old.NewFile) {
		p.Remove, p.After = true, nil
		if old != nil {
			p.dirs = old.NewDirs
		}
	}
	return p, p.verify(d, clean, len(spots(clean.Root)) == 0)
}

// unplain returns a note if a file is not standard JSON. Vendors promise only JSON, and a
// file that is rejected as a whole is an open gate.
func unplain(h Harness, file string, data []byte) []diagnostic.Diagnostic {
	if json.Valid(data) {
		return nil
	}
	return []diagnostic.Diagnostic{{Severity: diagnostic.LevelNote, File: file, Code: diagnostic.CodeNotJSON, Hint: "if " + h.Title + " complains about its settings, take them out",
		Text: "the file has comments, trailing commas or a byte order mark, which are kept but are no JSON"}}
}

func (p *Plan) note(code diagnostic.Code, hint, text string) {
	p.Notes = append(p.Notes, diagnostic.Diagnostic{Severity: diagnostic.LevelNote, File: p.File, Code: code, Text: text, Hint: hint})
}

// newPlan returns a plan without changes for the settings file of a scope. It fails if the
// file cannot be opened or must not hold the token.
func newPlan(h Harness, scope Scope, at Places, token string) (*Plan, error) {
	named, err := at.File(h, scope)
	if err != nil {
		return nil, err
	}
	within := ""
	if scope == Project {
		within = at.Project
	}
	f, err := open(named, within)
	if err != nil {
		return nil, err
	}
	p := &Plan{File: f.path, Before: f.data, on: f, state: at.State, scope: scope, modes: [2]os.FileMode{0o644, 0o600}}
	return p, p.private(token)
}

// create plans a new file.
func (p *Plan) create(h Harness, w Wanted) {
	var hooks, root []jsonedit.Field
	for _, event := range h.events {
		hooks = append(hooks, jsonedit.Field{Key: event, Value: []any{h.entry(w, event)}})
	}
	if h.version > 0 {
		root = append(root, jsonedit.Field{Key: "version", Value: h.version})
	}
	p.After = jsonedit.Render(append(root, jsonedit.Field{Key: "hooks", Value: hooks}))
	p.memory = &memory{V: 1, File: p.File, After: digest(p.After), NewFile: true, Made: []string{"hooks"}}
	for _, event := range h.events {
		p.memory.Made = append(p.memory.Made, "hooks."+event)
	}
}

// cleaned returns a document without Cardea's entries. If the file is unchanged since the
// installation, the result is exact to the byte; otherwise entries are found by their
// content.
func cleaned(d *jsonedit.Document, m *memory) (*jsonedit.Document, error) {
	if m != nil && !m.NewFile && m.After == digest(d.Data) {
		if before, ok := jsonedit.Revert(d.Data, m.Insertions); ok {
			if back, err := jsonedit.Parse(before); err == nil && len(spots(back.Root)) == 0 {
				return back, nil
			}
		}
	}
	return strip(d, m.mayDrop)
}

// onlyOurs reports whether nothing is left that others may want.
func onlyOurs(root *jsonedit.Node) bool {
	return !slices.ContainsFunc(root.Items, func(m jsonedit.Item) bool {
		empty := m.Key == "hooks" && m.Value.Kind == jsonedit.Object && len(m.Value.Items) == 0
		return !empty && m.Key != "version"
	})
}

// verify returns an error unless a plan has its effect and keeps the entries of others. It
// guards against bugs of this package.
func (p *Plan) verify(before, after *jsonedit.Document, done bool) error {
	was, err := foreign(before)
	if err != nil {
		return err
	}
	is, err := foreign(after)
	if err != nil {
		return err
	}
	if was != is || !done {
		return fmt.Errorf("%s was left alone, because what others wrote would not have stayed as it is; change it by hand, and please report this with the file's layout", p.File)
	}
	return nil
}

// Refused returns why the plan cannot be carried out, or nil.
func (p *Plan) Refused() error {
	if !p.Changed() {
		return nil
	}
	return errors.Join(p.on.writable(), p.on.unchanged())
}

// Apply makes the change. If it fails, the file is unchanged.
func (p *Plan) Apply() error {
	if !p.Changed() {
		return nil
	}
	if err := p.Refused(); err != nil {
		return err
	}
	for _, c := range p.beside {
		if err := c.takeAway(); err != nil {
			return err
		}
	}
	if err := p.saveSandboxed(false); err != nil {
		return err
	}
	if p.changesFile() {
		if err := p.applyFile(); err != nil {
			return err
		}
	}
	if err := p.saveSandboxed(true); err != nil {
		return err
	}
	for _, c := range p.beside {
		if err := c.put(p.newModes()); err != nil {
			return err
		}
	}
	return nil
}

// newModes returns the modes of a new file and a new folder.
func (p *Plan) newModes() (file, folder os.FileMode) {
	if p.scope == User {
		return p.modes[1], 0o700
	}
	return p.modes[0], 0o755
}

// applyFile removes or replaces the file, and stores or removes its memory.
func (p *Plan) applyFile() error {
	if p.Remove {
		if err := os.Remove(p.File); err != nil {
			return fmt.Errorf("remove %s: %w", p.File, err)
		}
		for _, dir := range p.dirs {
			if paths.Within(paths.Real(dir), p.File) {
				_ = os.Remove(dir) // fails if the folder is not empty
			}
		}
		return forget(p.state, p.File)
	}
	if p.closes() {
		p.on.mode &^= othersBits
	}
	mode, dirMode := p.newModes()
	made, err := p.on.replace(p.After, mode, dirMode)
	if err != nil {
		return fmt.Errorf("write %s: %w; nothing was changed", p.File, err)
	}
	if p.memory == nil {
		return forget(p.state, p.File)
	}
	p.memory.NewDirs = append(made, p.memory.NewDirs...)
	if err := p.memory.save(p.state); err != nil {
		p.note(diagnostic.CodeUnwritten, "", fmt.Sprintf("it could not be remembered what was put in (%v); --uninstall finds the entries by what they say", err))
	}
	return nil
}
