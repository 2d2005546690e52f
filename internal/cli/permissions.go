package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/decide/permissions"
	"cardea.dev/internal/harness/permissionlist"
	"cardea.dev/internal/hook"
)

// permissionFlags are the flags of permissions.
type permissionFlags struct {
	settings []string
	json     bool
}

// permissionsCommand returns the command "permissions".
func permissionsCommand(p Process) *cobra.Command {
	var f permissionFlags
	c := &cobra.Command{
		Use:   "permissions [--json]",
		Short: "show the permission lists of the harnesses, and what is wrong in them",
		Long: `Show the entries of all permission lists that are in force here, with their
files: first deny, then ask, then allow.

Deny and ask entries count for every harness. Allow entries count only with the
setting permissions: {expand: true}, and only for the harness whose list it is.
What another harness's list allows, and what it asks about a whole tool, is shown
with the reason why it applies to that harness alone.
After the entries come likely mistakes: entries that never match, that another
entry hides, or that allow more than they seem to.`,
		Example: `  cardea permissions
  cardea permissions suggest "timeout 30 npm test | tee test.log"`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return showPermissions(p, f) },
	}
	fs := c.PersistentFlags()
	fs.StringArrayVar(&f.settings, "settings", nil, "a settings file that the harness was started with (--settings)")
	fs.BoolVar(&f.json, "json", false, "answer as one JSON object")
	c.AddCommand(&cobra.Command{
		Use:   "suggest \"<command>\" [--json]",
		Short: "show the narrowest entries that would allow a command",
		Long: `Show the narrowest allow entries that would allow a command, and what no entry
can allow. Nothing is written.`,
		Args: oneCommand,
		RunE: func(_ *cobra.Command, args []string) error { return suggest(p, f, args[0]) },
	})
	return c
}

// permissionListing is the JSON of permissions.
type permissionListing struct {
	Expand  bool             `json:"expand"`
	Entries []entryListing   `json:"entries"`
	Files   []permissionFile `json:"files"`
	// Diagnostics holds problems of the files and likely mistakes in entries.
	Diagnostics []diagnostic.Diagnostic `json:"diagnostics"`
}

type entryListing struct {
	Entry   string        `json:"entry"`
	Effect  cardea.Effect `json:"effect"`
	Harness string        `json:"harness"`
	Scope   cardea.Scope  `json:"scope"`
	Source  string        `json:"source"`
	// Counts is false for an entry that allows nothing; Why is the reason.
	Counts bool   `json:"counts"`
	Why    string `json:"why,omitempty"`
}

type permissionFile struct {
	File    string       `json:"file"`
	Harness string       `json:"harness"`
	Scope   cardea.Scope `json:"scope"`
	Entries int          `json:"entries"`
	Stored  bool         `json:"last_good_form,omitempty"`
}

func showPermissions(p Process, f permissionFlags) error {
	p.Given = f.settings
	l, pl, err := gather(p, nil)
	if err != nil {
		return err
	}
	out := permissionsOf(l, pl)
	return p.answer(f.json, out, out.show)
}

func permissionsOf(l *inforce.Loaded, pl place) permissionListing {
	out := permissionListing{Expand: l.Expands(), Entries: entriesOf(l), Files: []permissionFile{}, Diagnostics: []diagnostic.Diagnostic{}}
	for _, f := range l.PermissionFiles {
		out.Files = append(out.Files, permissionFile{f.From.File, f.From.Harness, f.From.Scope, f.Entries, f.Cached})
		out.Diagnostics = append(out.Diagnostics, slices.DeleteFunc(slices.Clone(f.Problems), isRemark)...)
	}
	out.Diagnostics = append(out.Diagnostics, permissionFindings(l, pl)...)
	return out
}

// entriesOf returns the entries of all lists, the strictest first.
func entriesOf(l *inforce.Loaded) []entryListing {
	out := []entryListing{}
	for i := range l.Permissions {
		e := &l.Permissions[i]
		row := entryListing{e.Text, e.Effect, e.From.Harness, e.From.Scope, e.Source(), e.Counts(e.From.Harness), ""}
		switch {
		case e.Form == permissionlist.Nothing:
			row.Why = e.Why
		case e.Effect != cardea.Allow:
		case !row.Counts:
			row.Why = e.From.Why
		case !l.Expands():
			row.Counts, row.Why = false, "permissions.expand is off"
		}
		out = append(out, row)
	}
	for _, f := range l.PermissionFiles {
		for i := range f.Left {
			e := &f.Left[i]
			out = append(out, entryListing{e.Text, e.Effect, e.From.Harness, e.From.Scope, e.Source(), false, e.Why})
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Effect > out[j].Effect })
	return out
}

func (l permissionListing) show(s *screen) {
	s.printIf(!l.Expand, "what allows does not count here: permissions.expand is off\n")
	for _, effectOf := range []cardea.Effect{cardea.Deny, cardea.Ask, cardea.Allow} {
		heading(s, effectOf.String())
		showPermissionEntries(s, slices.DeleteFunc(slices.Clone(l.Entries), func(e entryListing) bool { return e.Effect != effectOf }))
	}
	section(s, "look at these", len(l.Diagnostics))
	showDiagnostics(s, l.Diagnostics)
}

// permissionFindings returns likely mistakes in entries.
func permissionFindings(l *inforce.Loaded, pl place) []diagnostic.Diagnostic {
	var out []diagnostic.Diagnostic
	probed := newProbing(pl)
	for i := range l.Permissions {
		e := &l.Permissions[i]
		doubts := e.Doubts()
		out = append(out, doubts...)
		wide := slices.ContainsFunc(doubts, func(d diagnostic.Diagnostic) bool { return d.Code == diagnostic.CodeTooWide })
		if e.Form == permissionlist.Nothing {
			continue
		}
		if o := hiddenBy(l.Permissions, i); o != nil {
			out = append(out, e.Doubt(diagnostic.CodeNoEffect, "remove one of them", fmt.Sprintf("it never decides: %s (%s) %s the same", o.Text, o.Source(), permissionlist.Verb(o.Effect))))
		}
		if e.Effect == cardea.Allow && !wide {
			if call := probed.allowedBy(*e); call != "" {
				out = append(out, e.Doubt(diagnostic.CodeTooWide, "name the command with what it is passed", "it also allows "+call))
			}
		}
	}
	return out
}

// hiddenBy returns an entry that makes entry i useless, or nil: it is at least as strict
// and covers all that entry i covers.
func hiddenBy(all []permissionlist.Entry, i int) *permissionlist.Entry {
	e := &all[i]
	for k := range all {
		o := &all[k]
		if k == i || o.Effect < e.Effect || !o.Shadows(e) {
			continue
		}
		if o.Effect == e.Effect && (o.From.Harness != e.From.Harness || !o.From.Allows && e.Effect == cardea.Allow || e.Shadows(o) && k > i) {
			continue
		}
		return o
	}
	return nil
}

// probing tests entries with calls that no entry should allow, by the analysis and decider
// of a real call.
type probing struct {
	place  place
	events []*cardea.Event
	names  []string
}

func newProbing(pl place) *probing {
	out := &probing{place: pl}
	analyse := hook.Analysis(pl.Dirs.Home, nil)
	for _, pr := range probes() {
		out.events = append(out.events, analyse(pr.event(pl)))
		out.names = append(out.names, pr.tool+" "+fmt.Sprintf("%q", pr.value))
	}
	return out
}

// allowedBy returns a call that an entry allows without naming it, or "".
func (pr *probing) allowedBy(e permissionlist.Entry) string {
	from := *e.From
	from.Allows, from.Harness = true, "claude-code"
	e.From = &from
	d := permissions.New([]permissionlist.Entry{e}, permissions.Options{Expand: true, Home: pr.place.Dirs.Home, Start: pr.place.Start})
	for i, ev := range pr.events {
		opinions, err := d.Decide(context.Background(), ev)
		if err != nil || len(opinions) < len(ev.Call.Parts) || len(opinions) == 0 || names(e, ev) {
			continue
		}
		return pr.names[i]
	}
	return ""
}

// names reports whether an entry itself names what a probe is about.
func names(e permissionlist.Entry, ev *cardea.Event) bool {
	command, _ := ev.Call.Input["command"].(string)
	return !e.Wild() && e.CommandIs(command) || e.Form == permissionlist.Host || strings.HasPrefix(e.Tool, "mcp__")
}

// suggestion is the JSON of permissions suggest.
type suggestion struct {
	Effect  cardea.Effect   `json:"effect"`
	Allowed bool            `json:"allowed"`
	Entries []string        `json:"entries"`
	Parts   []suggestedPart `json:"parts"`
	// Expand is set if allow entries of lists apply. File is where to switch that on.
	Expand bool   `json:"expand"`
	File   string `json:"file"`
	// within is set if entries can allow it.
	within bool
}

type suggestedPart struct {
	Text   string        `json:"text"`
	Effect cardea.Effect `json:"effect"`
	Why    []string      `json:"why"`
	Needs  []string      `json:"needs"`
}

// suggest shows the narrowest entries that would allow a command.
func suggest(p Process, f permissionFlags, text string) error {
	m, err := tryFlags{tool: "Bash", harness: "claude-code", event: string(cardea.PreToolUse)}.message(p, text)
	if err != nil {
		return wrongUsage{err}
	}
	p.Given = f.settings
	j := newEvaluation(p, m.event)
	t := trialOf(p, j, m.adapter)
	v := t.verdict
	out := suggestion{Effect: v.Effect, Allowed: v.Effect == cardea.Allow, Entries: []string{}, Parts: []suggestedPart{},
		Expand: j.Loaded.Expands(), File: filepath.Join(j.Place.Dirs.User, "cardea.yaml"), within: v.Effect <= cardea.Defer}
	if !out.Allowed {
		entries, _, _ := t.candidate("permission")
		if entries == nil { // they are not enough, or allow more
			_, entries = j.Suggest(v)
		}
		out.Entries = append(out.Entries, entries...)
	}
	for i := range j.Event.Call.Parts {
		part := suggestedPart{Text: j.Event.Call.Parts[i].Text, Effect: v.Parts[i], Why: []string{}, Needs: []string{}}
		if e := v.Parts[i]; e == cardea.Abstain || e == cardea.Defer {
			r := refusal(j, i)
			part.Why, part.Needs = append(part.Why, r.Why...), append(part.Needs, r.Needs...)
			onlyOff := !out.Expand && len(r.Why) == 1
			out.within = out.within && (len(r.Needs) > 0 || onlyOff)
		}
		out.Parts = append(out.Parts, part)
	}
	return p.answer(f.json, out, func(s *screen) { out.show(s, v) })
}

// show writes the suggestion for people.
func (o suggestion) show(s *screen, v cardea.Verdict) {
	if o.Allowed {
		s.printf("it is allowed already, by %s\n", v.By)
		return
	}
	switch {
	case v.Effect > cardea.Defer:
		s.block("", fmt.Sprintf("no entry is enough: %s says %s: %s", v.By, v.Effect, v.Reason))
	case !o.within:
		s.printf("no entry would allow it\n")
	case !o.Expand:
		s.block("", fmt.Sprintf("what lists allow does not count yet: write permissions: {expand: true} into %s", o.File))
	}
	for _, e := range o.Entries {
		s.printf("%s\n", painted{bold, e})
	}
	s.printIf(len(o.Entries) == 0 && o.within, "no entry is missing\n")
	for _, p := range o.Parts {
		if len(p.Why) > 0 {
			s.block("  ", fmt.Sprintf("%s: %s", shorten(p.Text, 80), strings.Join(p.Why, "; ")))
		}
	}
}
