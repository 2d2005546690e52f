package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/decide/routes"
	"cardea.dev/internal/decide/rules"
)

// listCommand returns the command "rules list".
func listCommand(p Process) *cobra.Command {
	var f listFlags
	c := jsonOn(p, registrarHere, &cobra.Command{
		Use:   "list [flags]",
		Short: "show everything that is in force here, and where it comes from",
		Long: `Show the settings, rules, permissions, routes and policies that are in force in
the current folder, and then the built-in packs. Each has its file and its scope.
Entries that are switched off or ignored are marked. What you and others wrote
comes first, what is built in last.`,
		Example: `  cardea rules list --mine
  cardea rules list --pack git
  cardea rules list --scope project,user --json`,
		Args: noArguments,
	}, func(d sessionRegistrar, _ []string, asJSON bool) error { return list(p, d, f, asJSON) })
	fs := inOrder(c)
	fs.BoolVar(&f.mine, "mine", false, "only what a person wrote: nothing built in, no settings at their defaults")
	fs.BoolVar(&f.routes, "routes", false, "only routes")
	fs.StringVar(&f.pack, "pack", "", "only the rules of this pack, or of the file of this name")
	fs.StringSliceVar(&f.scopes, "scope", nil, "only these scopes: system, org, project, user, builtin; several with commas")
	return c
}

// listFlags are the flags of rules list.
type listFlags struct {
	mine, routes bool
	pack         string
	scopes       []string
}

// wants reports whether the flags select a scope.
func (f listFlags) wants(scope string) bool {
	return (!f.mine || scope != cardea.ScopeBuiltin.String()) && (len(f.scopes) == 0 || slices.Contains(f.scopes, scope))
}

// apply removes what the flags do not select.
func (f listFlags) apply(l *listing) error {
	for i, s := range f.scopes {
		f.scopes[i] = strings.ToLower(s)
		s = f.scopes[i]
		if !slices.ContainsFunc(cardea.Scopes(), func(x cardea.Scope) bool { return x.String() == s }) {
			return wrongUsage{fmt.Errorf("there is no scope %q: use system, org, project, user or builtin", s)}
		}
	}
	if err := f.knows(l); err != nil {
		return err
	}
	alone := f.routes || f.pack != ""
	l.Settings = slices.DeleteFunc(l.Settings, func(e settings.Effective) bool { return alone || f.mine && e.Source == "default" || !f.wants(e.Scope) })
	l.Permissions = slices.DeleteFunc(l.Permissions, func(e entryListing) bool { return alone || !f.wants(e.Scope.String()) })
	l.Policies = slices.DeleteFunc(l.Policies, func(p policy.Listed) bool { return alone || !f.wants(p.Scope.String()) })
	unwanted := func(r ruleListing) bool {
		return f.routes || f.pack != "" && r.Pack != f.pack || !f.wants(r.Scope.String())
	}
	l.Rules, l.Off = slices.DeleteFunc(l.Rules, unwanted), slices.DeleteFunc(l.Off, unwanted)
	l.Routes = slices.DeleteFunc(l.Routes, func(r routeListing) bool { return f.pack != "" || !f.wants(r.Scope.String()) })
	l.Packs = slices.DeleteFunc(l.Packs, func(p packListing) bool {
		return f.routes || f.pack != "" && p.Name != f.pack || !f.wants(cardea.ScopeBuiltin.String())
	})
	return nil
}

// knows returns an error for an unknown pack.
func (f listFlags) knows(l *listing) error {
	names := append(listOf(l.Packs, func(p packListing) string { return p.Name }),
		listOf(slices.Concat(l.Rules, l.Off), func(r ruleListing) string { return r.Pack })...)
	if f.pack == "" || slices.Contains(names, f.pack) {
		return nil
	}
	near := document.Nearest(f.pack, names)
	return wrongUsage{fmt.Errorf("there is no pack and no file of rules %q here%s", f.pack, onlyIf(near != "", fmt.Sprintf("; did you mean %q?", near)))}
}

// listing holds what is in force in a place, and is its JSON.
type listing struct {
	Project  string               `json:"project"`
	Trusted  bool                 `json:"trusted"`
	Settings []settings.Effective `json:"settings"`
	Packs    []packListing        `json:"packs"`
	Rules    []ruleListing        `json:"rules"`
	Off      []ruleListing        `json:"off"`
	Routes   []routeListing       `json:"routes"`
	Policies []policy.Listed      `json:"policies"`
	// Permissions are the entries of the harnesses' own lists.
	Permissions []entryListing `json:"permissions"`
	// Diagnostics holds problems, and what is ignored of a project.
	Diagnostics []diagnostic.Diagnostic `json:"diagnostics"`
	// mine is set if --mine is the only filter.
	mine bool
}

type packListing struct {
	Name  string `json:"name"`
	On    bool   `json:"on"`
	Rules int    `json:"rules"`
	// Policy is set for a built-in policy, which has no rules.
	Policy bool `json:"policy"`
	// decider is set for a pack that decides by the program's own knowledge.
	decider bool
}

type ruleListing struct {
	ID       string          `json:"id"`
	Effect   cardea.Effect   `json:"effect"`
	Pack     string          `json:"pack"`
	Scope    cardea.Scope    `json:"scope"`
	Severity cardea.Severity `json:"severity"`
	Source   string          `json:"source"`
	Message  string          `json:"message"`
	// Match is a short form of the rule's conditions.
	Match string `json:"match"`
	// Trusted is false for a rule of a project that the person has not trusted in this form:
	// it can only deny or ask, and the model does not get its text. It is also false for a
	// rule of an organisation that is not the project's.
	Trusted bool `json:"trusted"`
	// SwitchedOff is the position that switches the rule off, as FILE:LINE.
	SwitchedOff string `json:"switched_off,omitempty"`
}

type routeListing struct {
	Name   string       `json:"name"`
	Tool   string       `json:"tool"`
	Field  string       `json:"field"`
	Scope  cardea.Scope `json:"scope"`
	Source string       `json:"source"`
	// Pattern is the pattern for the field, Message the text when it matches.
	Pattern string `json:"pattern"`
	Message string `json:"message"`
}

func list(p Process, d sessionRegistrar, f listFlags, asJSON bool) error {
	out := listingOf(d.Loaded, *d.Place)
	if err := f.apply(&out); err != nil {
		return err
	}
	out.mine = f.mine && len(f.scopes) == 0 && !f.routes && f.pack == ""
	return p.answer(asJSON, out, out.show)
}

// listingOf returns what is in force in a place.
func listingOf(l *inforce.Loaded, pl place) listing {
	out := listing{Project: pl.Project, Trusted: l.Where.Trusted(),
		Settings:    l.Settings.Effective(),
		Permissions: entriesOf(l), Packs: packsOf(l), Rules: rulesOf(l.Rules(), notOff), Off: rulesOf(l.Off(), l.SwitchedOff), Routes: routesOf(l.Routes),
		Diagnostics: append(append([]diagnostic.Diagnostic{}, l.Uncounted()...), l.UncountedPolicies()...)}
	out.Policies = []policy.Listed{}
	for _, f := range l.PolicyFolders() {
		list, problems, err := f.List(l.Where.Engines.Own)
		out.Policies = append(out.Policies, list...)
		out.Diagnostics = append(out.Diagnostics, problems...)
		if err != nil {
			out.Diagnostics = append(out.Diagnostics, diagnostic.Diagnostic{File: f.Dir, Code: diagnostic.CodeNoEngine, Text: err.Error()})
		}
	}
	for _, t := range pl.Issues {
		out.Diagnostics = append(out.Diagnostics, t.Diagnostic)
	}
	out.Diagnostics = notNil(slices.Concat(out.Diagnostics, l.Problems(), l.RouteProblems))
	return out
}

// routesOf returns the routes of some scopes, or of all.
func routesOf(list []routes.Route, scopes ...cardea.Scope) []routeListing {
	out := []routeListing{}
	for _, r := range list {
		if len(scopes) == 0 || slices.Contains(scopes, r.Scope) {
			out = append(out, routeListing{r.Name, r.Tool, r.Field, r.Scope, r.Source, r.Written, r.Message})
		}
	}
	return out
}

// rulesOf returns rules for people and programs, with the position that switches each off.
func rulesOf(list []rules.Rule, switchedOff func(*rules.Rule) string) []ruleListing {
	// Rules that a person wrote come first, then the built-in ones in the order of their packs.
	builtin := slices.DeleteFunc(slices.Clone(list), func(r rules.Rule) bool { return r.Scope != cardea.ScopeBuiltin })
	return listOf(append(written(list), builtin...), func(r rules.Rule) ruleListing {
		return ruleListing{r.ID, r.Effect, r.Pack, r.Scope, r.Severity, r.Source, r.Message, r.Match.String(), !r.Tightens(), switchedOff(&r)}
	})
}

// notOff returns "", for rules that are not switched off.
func notOff(*rules.Rule) string { return "" }

// packsOf returns the built-in packs in the order of their rules, and the built-in
// policies. A pack whose rules are all off is off.
func packsOf(l *inforce.Loaded) []packListing {
	out := []packListing{}
	at := map[string]int{}
	for i, list := range [][]rules.Rule{l.Rules(), l.Off()} {
		for _, r := range list {
			if r.Scope != cardea.ScopeBuiltin {
				continue
			}
			if _, known := at[r.Pack]; !known {
				at[r.Pack] = len(out)
				out = append(out, packListing{Name: r.Pack})
			}
			if i == 0 {
				out[at[r.Pack]].On = true
				out[at[r.Pack]].Rules++
			}
		}
	}
	out = append(out, packListing{Name: "readonly", On: !l.ReadonlyOff, decider: true})
	for _, b := range l.PolicySwitches() {
		out = append(out, packListing{Name: b.Name, On: b.On, Policy: true})
	}
	return out
}

// show writes the listing for people.
func (l listing) show(s *screen) {
	s.printf("project %s (%strusted)\n", l.Project, onlyIf(!l.Trusted, "not "))
	section(s, "settings", len(l.Settings))
	showSettings(s, l.Settings)
	section(s, "rules", len(l.Rules))
	showRules(s, l.Rules)
	section(s, "switched off", len(l.Off))
	showRules(s, l.Off)
	if section(s, "permissions", len(l.Permissions)) {
		showPermissionEntries(s, l.Permissions)
	}
	section(s, "routes", len(l.Routes))
	showRoutes(s, l.Routes)
	section(s, "policies", len(l.Policies))
	for _, p := range l.Policies {
		s.printf("  %s  %s  %s\n", painted{bold, p.Package}, p.Title, painted{faint, p.Scope.String() + ", " + p.File})
	}
	section(s, "packs", len(l.Packs))
	for _, p := range l.Packs {
		state := "off"
		switch {
		case p.On && p.decider:
			state = "on, allows what certainly only reads"
		case p.On && p.Policy:
			state = "on, a policy"
		case p.On:
			state = "on, " + count(p.Rules, "rule")
		case p.Policy:
			state = "off, a policy"
		}
		s.printf("  %s: %s\n", p.Name, state)
	}
	written := len(l.Settings) + len(l.Rules) + len(l.Off) + len(l.Routes) + len(l.Policies) + len(l.Packs)
	switch {
	case l.mine && written == 0 && len(l.Diagnostics) == 0:
		s.printf("\nyou have no rules or settings here yet: cardea init\n")
	case written+len(l.Permissions) == 0:
		s.printf("\nnothing of what was asked for is in force here\n")
	}
	section(s, "does not count, or is broken", len(l.Diagnostics))
	showDiagnostics(s, l.Diagnostics)
}

func showSettings(s *screen, list []settings.Effective) {
	for _, e := range list {
		s.printf("  %s: %s  %s\n", e.Key, painted{bold, e.Value}, painted{faint, e.Source})
	}
}

func showPermissionEntries(s *screen, list []entryListing) {
	for _, e := range list {
		note := prefixed(", does not count: ", e.Why)
		s.printf("  %s  %s  %s\n", effect(e.Effect), painted{bold, e.Entry}, painted{faint, e.Source + ", " + e.Harness + ", " + e.Scope.String() + note})
	}
	s.noneIf(len(list) == 0)
}

func showRoutes(s *screen, list []routeListing) {
	for _, r := range list {
		s.printf("  %s  %s.%s  %s\n", painted{bold, r.Name}, r.Tool, r.Field, painted{faint, r.Scope.String() + ", " + r.Source})
		s.field("  pattern", r.Pattern)
		s.field("  message", r.Message)
	}
}

// showRules writes rules for people.
func showRules(s *screen, list []ruleListing) {
	for _, r := range list {
		note := ""
		if !r.Trusted {
			note = either(r.Scope == cardea.ScopeOrg, ", of another organisation", ", not trusted")
		}
		note += prefixed(", off by ", r.SwitchedOff)
		s.printf("  %s  %s  %s\n", painted{effect(r.Effect).style, word(r.Effect)}, painted{bold, r.ID}, painted{faint, r.Scope.String() + ", " + r.Source + note})
		if r.Scope != cardea.ScopeBuiltin {
			s.field("  matches", shorten(r.Match, 2*longLine))
			s.field("  message", r.Message)
		}
	}
}
