package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/jsonedit"
	"cardea.dev/internal/base/paths"
)

// Plan is a change of one file that is worked out and checked, and not made
// yet.
type Plan struct {
	// File is the file that is changed, links followed.
	File string
	// Before and After are its whole text; Remove says that it goes.
	Before, After []byte
	Remove        bool
	// Notes are what a person should know.
	Notes []cardea.Diagnostic

	on     *file
	state  string
	memory *memory // to be kept; nil to be forgotten
	scope  Scope
	dirs   []string // to be removed where they are empty
	// beside are files beside it, such as that of the command /cardea.
	beside []besideFile
	// modes are those of a new file, for others to read and for the person alone.
	modes [2]os.FileMode
	// secret is set where the file is to hold a token, which only the person may read.
	secret bool
	// replaces is set where an installation changes what an earlier one wrote.
	replaces bool
	// sandboxed is the record of denies of the sandbox to be kept, nil where it stays.
	sandboxed *Sandboxed
}

// OnlyAdds says why the plan is more than a hook which is added to the file of that name,
// or "".
func (p *Plan) OnlyAdds() string {
	if link := p.on.link(); link != "" {
		return link + " is a symbolic link"
	}
	if p.replaces {
		return p.File + " has a hook of Cardea already"
	}
	return ""
}

// closes reports whether the plan takes the right to read the file from others.
func (p *Plan) closes() bool { return p.secret && p.on.exists && p.on.mode&othersBits != 0 }

// private says why a file that others can read cannot be one with a token, or nil. A token
// that is in it already is no secret any more.
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

// PlanInstall works out how a harness's file gets the wanted hook. What others
// wrote stays; what an earlier installation put in is replaced, for the same events
// and those that are wanted now. An error says what to do, and names line and
// column where it is about a place in the file.
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
	if kept := besides(d, h); len(kept) > 0 {
		h.events = slices.Concat(h.events, kept)
		p.note(CodeKeptEvents, "for fewer events, run this with --uninstall first", "still for "+strings.Join(kept, ", ")+", as before")
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

// PlanUninstall works out how a file loses Cardea's entries and nothing else.
func PlanUninstall(h Harness, scope Scope, at Places) (*Plan, error) {
	p, err := planUninstall(h, scope, at)
	if err == nil {
		p.withoutSandbox(h)
	}
	return p, err
}

// planUninstall works out how a file loses the hook.
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

// unplain notes what a harness may not read: its vendor promises JSON, and a
// file that is refused as a whole is an open gate.
func unplain(h Harness, file string, data []byte) []cardea.Diagnostic {
	if json.Valid(data) {
		return nil
	}
	return []cardea.Diagnostic{{Severity: cardea.LevelNote, File: file, Code: cardea.CodeNotJSON, Hint: "if " + h.Title + " complains about its settings, take them out",
		Text: "the file has comments, trailing commas or a byte order mark, which are kept but are no JSON"}}
}

func (p *Plan) note(code cardea.Code, hint, text string) {
	p.Notes = append(p.Notes, cardea.Diagnostic{Severity: cardea.LevelNote, File: p.File, Code: code, Text: text, Hint: hint})
}

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

// create makes a new file.
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

// cleaned is a document without Cardea's entries: to the byte where the file
// is as it was written, else by what the entries say.
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

// onlyOurs reports whether nothing is left that somebody else could have
// wanted.
func onlyOurs(root *jsonedit.Node) bool {
	return !slices.ContainsFunc(root.Items, func(m jsonedit.Item) bool {
		empty := m.Key == "hooks" && m.Value.Kind == jsonedit.Object && len(m.Value.Items) == 0
		return !empty && m.Key != "version"
	})
}

// verify makes sure that a plan does what it should and leaves what others
// wrote. It guards against this package's own mistakes.
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

// Refused says why the plan cannot be carried out, or nil.
func (p *Plan) Refused() error {
	if !p.Changed() {
		return nil
	}
	return errors.Join(p.on.writable(), p.on.unchanged())
}

// Apply makes the change. Where it fails, the file is as it was.
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

// newModes are the modes of a new file and a new folder.
func (p *Plan) newModes() (file, folder os.FileMode) {
	if p.scope == User {
		return p.modes[1], 0o700
	}
	return p.modes[0], 0o755
}

func (p *Plan) applyFile() error {
	if p.Remove {
		if err := os.Remove(p.File); err != nil {
			return fmt.Errorf("remove %s: %w", p.File, err)
		}
		for _, dir := range p.dirs {
			if paths.Within(paths.Real(dir), p.File) {
				_ = os.Remove(dir) // one that is not empty stays
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
		p.note(cardea.CodeUnwritten, "", fmt.Sprintf("it could not be remembered what was put in (%v); --uninstall finds the entries by what they say", err))
	}
	return nil
}
