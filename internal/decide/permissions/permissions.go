// Package permissions applies the harness's own permission lists to the parts
// of a call instead of to the text of the line.
//
// Harnesses compare an entry with the text of a command, so that "npm test" is
// approved and "timeout 30 npm test" asks. Here the analysis takes wrappers,
// chains and scripts apart first, and every part is compared by itself. What a
// list denies or asks about always counts, from every harness's list, in every
// spelling that the analysis knows to be the same. What it allows counts where
// the person switched it on, for the harness whose list it is.
//
// It never creates a permission that is not there in another form. An allow is
// no wider than the program that the entry names: variables that change what
// the program does, files that the shell writes, other users and machines, and
// what cannot be seen through each stop it, and [Decider.Refusal] says which,
// and what entry would be needed.
package permissions

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/permissionlist"
)

// Settings are what the decider is told.
type Settings struct {
	// Expand makes what lists allow count.
	Expand bool
	// Loose lets words that bash may split stand where an entry has its last
	// wildcard (permissions.strict: false).
	Loose bool
	// KnownSafe lets only variables that are known to be harmless be set
	// (permissions.env: known-safe).
	KnownSafe bool
	// Home is the person's home folder, Start the one in which the session
	// began.
	Home, Start string
	// FreeToRead reports whether a read needs nobody's word, as readonly has it; nil
	// is none.
	FreeToRead func(*cardea.Event, *cardea.Access) bool
	// OnlyTouches reports whether a part does nothing but read and write files which are
	// free to read or covered; nil is none.
	OnlyTouches func(ev *cardea.Event, p *cardea.Part, covered func(*cardea.Access) bool) bool
	// Trace is told how a call was judged, line by line; nil tells nobody.
	Trace func(line string)
}

// Decider is the decider "permissions". It may be used by many goroutines.
type Decider struct {
	entries []permissionlist.Entry
	about   Settings
	part    part
	index   *index
}

// part is what of its work a decider does.
type part uint8

const (
	everything part = iota // denies, asks and allows
	firm                   // denies and asks by the entries of the system and the person alone
	rest                   // denies and asks by those of projects, and allows
)

// New makes the decider of the entries of all lists, which must not change any
// more. Nothing is compiled until a call is judged.
func New(entries []permissionlist.Entry, about Settings) *Decider {
	return &Decider{entries: entries, about: about, index: &index{}}
}

// WatchesFiles reports whether an entry denies or asks because of a path that is read.
func (d *Decider) WatchesFiles() bool {
	d.index.once.Do(func() { d.index.fill(d.entries, d.about.Home) })
	return slices.ContainsFunc(d.index.files, func(k int) bool {
		e := &d.entries[k]
		return e.Effect != cardea.Allow && e.Tool == "Read" && (&call{Decider: d}).mine(e)
	})
}

// Halves are two deciders that together do what this one does: the first denies
// and asks by what system and person wrote, so that a project's long list cannot
// keep that from being heard; the second does the rest.
func (d *Decider) Halves() (own, others *Decider) {
	first, second := *d, *d
	first.part, second.part = firm, rest
	return &first, &second
}

// Name is "permissions".
func (*Decider) Name() string { return "permissions" }

// Decide gives what the lists say about a call. It never fails.
func (d *Decider) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	if ev.Call == nil || len(d.entries) == 0 && ev.Mode != cardea.ModeAcceptEdits {
		return nil, nil
	}
	c := d.call(ev)
	c.ctx = ctx
	if d.about.Trace != nil && d.part != firm && !ev.Call.OnlyPossible {
		d.trace("permissions: %s, entries: %d, expand: %v", ev.Call.Tool, len(d.entries), d.about.Expand)
		for i, p := range ev.Call.Parts {
			stripped := ""
			if names := p.Variables(); len(names) > 0 {
				stripped = fmt.Sprintf(", variables taken off %q", names)
			}
			d.trace("permissions: part %d: %q%s, started by %q, reached through %q", i+1, shorten(p.Text), stripped, p.Wrappers, p.Via)
		}
	}
	if ev.Call.OnlyOpened {
		c.restrictFiles()
		return c.out, nil
	}
	c.restrict()
	for i := range ev.Call.Parts {
		if d.part == firm || ev.Call.OnlyPossible || ctx.Err() != nil {
			break // the gate reports it
		}
		c.allow(i)
	}
	return c.out, nil
}

func (d *Decider) trace(format string, args ...any) {
	if d.about.Trace != nil {
		d.about.Trace(fmt.Sprintf(format, args...))
	}
}

// call is one call that is being judged.
type call struct {
	*Decider
	ctx  context.Context
	ev   *cardea.Event
	out  []cardea.Opinion
	told map[told]bool
	// linkers are the parts that may make links; nil: they were not looked for.
	linkers []*cardea.Part
}

// told is an entry, and the part about which it has spoken.
type told struct {
	entry *permissionlist.Entry
	part  int
}

func (d *Decider) call(ev *cardea.Event) *call {
	d.index.once.Do(func() { d.index.fill(d.entries, d.about.Home) })
	return &call{Decider: d, ctx: context.Background(), ev: ev, told: map[told]bool{}}
}

// place is what an entry's paths are relative to. What denies counts from every
// folder that may be meant, what allows only from the session's.
func (c *call) place(e *permissionlist.Entry) permissionlist.Place {
	at := permissionlist.Place{Home: c.about.Home, Source: e.From.Source, Cwds: []string{c.about.Start}}
	if c.about.Start == "" {
		at.Cwds = []string{c.ev.Project}
	}
	if e.Effect != cardea.Allow {
		at.Cwds = []string{c.about.Start, c.ev.Cwd, c.ev.Project}
		if e.From.Scope == cardea.ScopeProject {
			at.Cwds = append(at.Cwds, e.From.Source)
		}
	}
	return at
}

// restrict adds what denies and what asks.
func (c *call) restrict() {
	for _, k := range c.index.strict {
		e := &c.entries[k]
		if !c.mine(e) || !c.covers(e) {
			continue
		}
		switch {
		case e.Form == permissionlist.Whole, e.ParamIs(c.ev.Call), e.NamedIs(subject(c.ev.Call)):
			c.say(e, cardea.WholeCall)
		case e.Form == permissionlist.Host:
			c.perPart(e, func(p *cardea.Part) bool {
				return slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return e.HostIs(a.Host) })
			})
		}
	}
	c.restrictCommands()
	c.restrictFiles()
}

// mine reports whether an entry that denies or asks is this decider's to apply.
func (c *call) mine(e *permissionlist.Entry) bool {
	return c.part == everything || (c.part == firm) == (e.From.Scope != cardea.ScopeProject)
}

// covers reports whether an entry that denies or asks is about the call's tool:
// Bash covers what else runs commands, Edit and Read all tools of their kind.
func (c *call) covers(e *permissionlist.Entry) bool {
	if e.Names(c.ev.Call) {
		return true
	}
	switch e.Tool {
	case "Bash":
		return c.ev.Call.Tool == "Monitor" || c.ev.Call.OnlyPossible
	case "Edit":
		return c.ev.Call.EditsFiles
	case "Read":
		return c.ev.Call.Tool == "Grep" || c.ev.Call.Tool == "Glob"
	}
	return false
}

func (c *call) perPart(e *permissionlist.Entry, is func(p *cardea.Part) bool) {
	for i := range c.ev.Call.Parts {
		if is(&c.ev.Call.Parts[i]) {
			c.say(e, i)
		}
	}
}

// restrictCommands compares the parts of a shell's line.
func (c *call) restrictCommands() {
	switch c.ev.Call.Tool {
	case "PowerShell":
		c.powershell()
		return
	case "Bash", "Monitor":
	default:
		if !c.ev.Call.OnlyPossible {
			return
		}
	}
	for i := range c.ev.Call.Parts {
		if c.ctx.Err() != nil {
			return
		}
		if c.ev.Call.OnlyPossible && len(c.ev.Call.Parts[i].Argv) == 0 {
			continue
		}
		texts := c.spellings(&c.ev.Call.Parts[i])
		for _, k := range candidates(c.index.strictCommands, texts) {
			e := &c.entries[k]
			if !c.mine(e) || !c.covers(e) {
				continue
			}
			if slices.ContainsFunc(texts, func(words string) bool { return c.words(k).CommandIs(words) }) || flagsAre(e, &c.ev.Call.Parts[i]) {
				c.say(e, i)
			}
		}
	}
	line, _ := c.ev.Call.Input["command"].(string)
	line = strings.TrimSpace(line)
	for _, k := range c.index.lines {
		if e := &c.entries[k]; c.mine(e) && e.CommandIs(line) {
			c.say(e, cardea.WholeCall)
		}
	}
}

// restrictFiles compares what is read and written, by whatever tool.
func (c *call) restrictFiles() {
	if len(c.index.files) == 0 {
		return
	}
	for i := range c.ev.Call.Parts {
		p := &c.ev.Call.Parts[i]
		if p.Remote || c.ctx.Err() != nil {
			continue
		}
		for _, k := range c.index.strict {
			e := &c.entries[k]
			if e.Form != permissionlist.File || !c.mine(e) || c.ctx.Err() != nil {
				continue
			}
			at := c.place(e)
			if slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return c.concerns(e, &a) && e.Touches(&a, at) }) {
				c.say(e, i)
			}
		}
	}
}

// concerns reports whether an entry of paths is about a kind of access: Edit
// about changes, Read about reading and about changing what must not be read.
func (c *call) concerns(e *permissionlist.Entry, a *cardea.Access) bool {
	switch a.Kind {
	case cardea.Read:
		// Names and attributes are no contents, but Read is about Glob, too.
		return e.Tool == "Read" && (!a.MetadataOnly || c.ev.Call.Tool == "Glob")
	case cardea.Write, cardea.Delete:
		return e.Tool == "Edit" || e.Effect == cardea.Deny && c.ev.Call.Tool != "NotebookEdit"
	case cardea.Link:
		return e.Tool == "Edit" && e.Effect == cardea.Deny
	case cardea.Execute:
		return e.Tool == "Read" && a.Path != ""
	}
	return false
}

// say adds what an entry says about a part, or the whole call, once.
func (c *call) say(e *permissionlist.Entry, part int) {
	if c.told[told{e, part}] {
		return
	}
	c.told[told{e, part}] = true
	o := cardea.Opinion{Decider: "permissions", Rule: e.Text, Effect: e.Effect, Part: part, Scope: e.From.Scope, Source: e.Source()}
	what := c.ev.Call.Tool
	if part != cardea.WholeCall {
		what = shorten(c.ev.Call.Parts[part].Text)
	}
	o.Reason = fmt.Sprintf("the list of %s %s %s: %s", e.From.Harness, permissionlist.Verb(e.Effect), e.Text, what)
	if e.From.Withheld {
		// The text is the project's, and the model reads the rule's name.
		o.Rule, o.Withheld = fmt.Sprintf("permissions.%s, line %d", e.Effect, e.Line()), true
	}
	c.trace("permissions: part %d: %s by %s (%s)", part+1, e.Effect, e.Text, o.Source)
	c.out = append(c.out, o)
}

// subject is what a Named entry is compared with: the main field, and the words
// behind a skill.
func subject(c *cardea.Call) string {
	info, _ := harness.Tool(c.Tool)
	text, _ := c.Input[info.Primary].(string)
	if args, _ := c.Input["args"].(string); c.Tool == "Skill" && args != "" {
		text += " " + args
	}
	return text
}

// shorten cuts text for a message.
func shorten(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
