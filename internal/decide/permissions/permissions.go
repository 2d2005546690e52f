// Package permissions applies the harness's own permission lists to the parts of a call
// instead of to the text of the line.
//
// Harnesses compare an entry with the text of a command: "npm test" is approved, but
// "timeout 30 npm test" asks. Here the analysis first takes wrappers, chains and scripts
// apart, and each part is compared by itself. Denials and asks of every harness's list
// always apply, in every spelling that the analysis knows to be the same. Allowances apply
// only if the person enabled them, and only for the harness of the list.
//
// The package never creates a new permission. An allow is no wider than the program that
// the entry names. Variables that change the program, files that the shell writes, other
// users or machines, and opaque spots each stop it. [Decider.Refusal] returns the reason,
// and the entry that would be needed.
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

// Options configure the decider.
type Options struct {
	// Expand enables the allowances of the lists.
	Expand bool
	// Loose lets the last wildcard of an entry match words that bash may split
	// (permissions.strict: false).
	Loose bool
	// KnownSafe permits only variables known to be harmless (permissions.env: known-safe).
	KnownSafe bool
	// Home is the person's home folder, Start the folder in which the session began.
	Home, Start string
	// FreeToRead reports whether a read needs no approval, as readonly decides it. If nil,
	// no read is free.
	FreeToRead func(*cardea.Event, *cardea.Access) bool
	// OnlyTouches reports whether a part only reads and writes files that are free to read
	// or covered. If nil, no part does.
	OnlyTouches func(ev *cardea.Event, p *cardea.Part, covered func(*cardea.Access) bool) bool
	// Trace receives the steps of a decision, line by line. If nil, there is no trace.
	Trace func(line string)
}

// Decider is the decider "permissions". It is safe for concurrent use.
type Decider struct {
	entries []permissionlist.Entry
	about   Options
	part    part
	index   *index
}

// part is the share of the work that a decider does.
type part uint8

const (
	everything part = iota // denies, asks and allows
	firm                   // denies and asks by entries of the system and the person only
	rest                   // denies and asks by entries of projects, and allows
)

// New returns the decider for the entries of all lists, which must not change after that.
// It compiles nothing until the first call.
func New(entries []permissionlist.Entry, about Options) *Decider {
	return &Decider{entries: entries, about: about, index: &index{}}
}

// WatchesFiles reports whether an entry denies or asks about reading a path.
func (d *Decider) WatchesFiles() bool {
	d.index.once.Do(func() { d.index.fill(d.entries, d.about.Home) })
	return slices.ContainsFunc(d.index.files, func(k int) bool {
		e := &d.entries[k]
		return e.Effect != cardea.Allow && e.Tool == "Read" && (&evaluation{Decider: d}).mine(e)
	})
}

// Halves returns two deciders that together do the work of d. The first denies and asks by
// entries of system and person, so that a project's long list cannot delay them. The second
// does the rest.
func (d *Decider) Halves() (own, others *Decider) {
	first, second := *d, *d
	first.part, second.part = firm, rest
	return &first, &second
}

// Name returns "permissions".
func (*Decider) Name() string { return "permissions" }

// Decide returns the opinions of the lists about a call. It never fails.
func (d *Decider) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	if ev.Call == nil || len(d.entries) == 0 && ev.Mode != cardea.ModeAcceptEdits {
		return nil, nil
	}
	c := d.call(ev)
	c.ctx = ctx
	if d.about.Trace != nil && d.part != firm && !ev.Call.OnlyPotential {
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
		if d.part == firm || ev.Call.OnlyPotential || ctx.Err() != nil {
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

// evaluation is the evaluation of one call.
type evaluation struct {
	*Decider
	ctx  context.Context
	ev   *cardea.Event
	out  []cardea.Opinion
	told map[told]bool
	// linkers are the parts that may make links, nil before makers looks for them.
	linkers []*cardea.Part
}

// told is a pair of an entry and a part that it has decided.
type told struct {
	entry *permissionlist.Entry
	part  int
}

func (d *Decider) call(ev *cardea.Event) *evaluation {
	d.index.once.Do(func() { d.index.fill(d.entries, d.about.Home) })
	return &evaluation{Decider: d, ctx: context.Background(), ev: ev, told: map[told]bool{}}
}

// place returns the folders to which an entry's paths are relative. A denial applies from
// every possible folder, an allowance only from the session's.
func (c *evaluation) place(e *permissionlist.Entry) permissionlist.PathBase {
	at := permissionlist.PathBase{Home: c.about.Home, Source: e.From.Source, Cwds: []string{c.about.Start}}
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

// restrict adds the denials and asks.
func (c *evaluation) restrict() {
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

// mine reports whether this decider applies an entry that denies or asks.
func (c *evaluation) mine(e *permissionlist.Entry) bool {
	return c.part == everything || (c.part == firm) == (e.From.Scope != cardea.ScopeProject)
}

// covers reports whether an entry that denies or asks applies to the call's tool. Bash also
// covers other tools that run commands, Edit and Read all tools of their kind.
func (c *evaluation) covers(e *permissionlist.Entry) bool {
	if e.Names(c.ev.Call) {
		return true
	}
	switch e.Tool {
	case "Bash":
		return c.ev.Call.Tool == "Monitor" || c.ev.Call.OnlyPotential
	case "Edit":
		return c.ev.Call.EditsFiles
	case "Read":
		return c.ev.Call.Tool == "Grep" || c.ev.Call.Tool == "Glob"
	}
	return false
}

func (c *evaluation) perPart(e *permissionlist.Entry, is func(p *cardea.Part) bool) {
	for i := range c.ev.Call.Parts {
		if is(&c.ev.Call.Parts[i]) {
			c.say(e, i)
		}
	}
}

// restrictCommands adds the denials and asks about the parts of a command line.
func (c *evaluation) restrictCommands() {
	switch c.ev.Call.Tool {
	case "PowerShell":
		c.powershell()
		return
	case "Bash", "Monitor":
	default:
		if !c.ev.Call.OnlyPotential {
			return
		}
	}
	for i := range c.ev.Call.Parts {
		if c.ctx.Err() != nil {
			return
		}
		if c.ev.Call.OnlyPotential && len(c.ev.Call.Parts[i].Argv) == 0 {
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

// restrictFiles adds the denials and asks about paths that any tool reads or writes.
func (c *evaluation) restrictFiles() {
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

// concerns reports whether an entry of paths applies to a kind of access. Edit applies to
// changes, Read to reads and to changes of files that must not be read.
func (c *evaluation) concerns(e *permissionlist.Entry, a *cardea.Access) bool {
	switch a.Kind {
	case cardea.Read:
		// Names and attributes are not contents. But Read also applies to Glob.
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

// say adds the opinion of an entry about a part, or the whole call, once.
func (c *evaluation) say(e *permissionlist.Entry, part int) {
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
		// The text is the project's, and the model sees the rule's name.
		o.Rule, o.Withheld = fmt.Sprintf("permissions.%s, line %d", e.Effect, e.Line()), true
	}
	c.trace("permissions: part %d: %s by %s (%s)", part+1, e.Effect, e.Text, o.Source)
	c.out = append(c.out, o)
}

// subject returns the text that a Named entry is compared with: the main field, and the
// arguments of a skill.
func subject(c *cardea.Call) string {
	info, _ := harness.Tool(c.Tool)
	text, _ := c.Input[info.Primary].(string)
	if args, _ := c.Input["args"].(string); c.Tool == "Skill" && args != "" {
		text += " " + args
	}
	return text
}

// shorten cuts text to 80 characters for a message.
func shorten(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
