package cli

import (
	"slices"

	"cardea.dev"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/decide/routes"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/inforce"
	"cardea.dev/internal/settings"
	"github.com/spf13/cobra"
)

func listCommand(p Process) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "list [--json]",
		Short: "show everything that is in force here, and where it comes from",
		Long: `Show the settings, policies, packs, rules, permissions and routes that are in
force in the current folder. Each has its file and its scope. Entries that are
switched off or ignored are marked.`,
		Args: cobra.NoArgs,
	}, func(_ []string, asJSON bool) error { return list(p, asJSON) })
}

// listing is what is in force in a place.
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
	// Diagnostics say what is wrong, and what of a project does not count.
	Diagnostics []cardea.Diagnostic `json:"diagnostics"`
}

type packListing struct {
	Name  string `json:"name"`
	On    bool   `json:"on"`
	Rules int    `json:"rules"`
	// Policy is set for a built-in policy, which has no rules.
	Policy bool `json:"policy"`
}

type ruleListing struct {
	ID       string          `json:"id"`
	Effect   cardea.Effect   `json:"effect"`
	Pack     string          `json:"pack"`
	Scope    cardea.Scope    `json:"scope"`
	Severity cardea.Severity `json:"severity"`
	Source   string          `json:"source"`
	// Trusted is unset for a rule of a project that the person has not trusted
	// in this form: it can only deny or ask, and the model is not told its text.
	Trusted bool `json:"trusted"`
}

type routeListing struct {
	Name   string       `json:"name"`
	Tool   string       `json:"tool"`
	Field  string       `json:"field"`
	Scope  cardea.Scope `json:"scope"`
	Source string       `json:"source"`
}

func list(p Process, asJSON bool) error {
	l, pl, err := gather(p, nil)
	if err != nil {
		return err
	}
	out := listingOf(l, pl)
	return p.answer(asJSON, out, out.show)
}

func listingOf(l *inforce.Loaded, pl place) listing {
	out := listing{Project: pl.project, Trusted: l.Where.Trusted(),
		Settings:    l.Settings.Effective(),
		Permissions: entriesOf(l), Packs: packsOf(l), Rules: rulesOf(l.Rules()), Off: rulesOf(l.Off()), Routes: routesOf(l.Routes),
		Diagnostics: slices.Concat([]cardea.Diagnostic{}, l.Uncounted(), l.UncountedPolicies())}
	out.Policies = []policy.Listed{}
	for _, f := range l.PolicyFolders() {
		list, problems, err := f.List(l.Where.Engines.Own)
		out.Policies = append(out.Policies, list...)
		out.Diagnostics = append(out.Diagnostics, problems...)
		if err != nil {
			out.Diagnostics = append(out.Diagnostics, cardea.Diagnostic{File: f.Dir, Code: cardea.CodeNoEngine, Text: err.Error()})
		}
	}
	for _, t := range pl.troubles {
		out.Diagnostics = append(out.Diagnostics, t.Diagnostic)
	}
	out.Diagnostics = slices.Concat(out.Diagnostics, l.Problems(), l.RouteProblems)
	return out
}

// routesOf are routes of all scopes, or of some.
func routesOf(list []routes.Route, scopes ...cardea.Scope) []routeListing {
	out := []routeListing{}
	for _, r := range list {
		if len(scopes) == 0 || slices.Contains(scopes, r.Scope) {
			out = append(out, routeListing{r.Name, r.Tool, r.Field, r.Scope, r.Source})
		}
	}
	return out
}

func rulesOf(list []rules.Rule) []ruleListing {
	out := []ruleListing{}
	for _, r := range list {
		out = append(out, ruleListing{r.ID, r.Effect, r.Pack, r.Scope, r.Severity, r.Source, r.Trusted || r.Scope != cardea.ScopeProject})
	}
	return out
}

// packsOf are the built-in packs in the order of their rules, and the built-in
// policies. One whose rules are all off is off.
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
	for _, b := range l.PolicySwitches() {
		out = append(out, packListing{Name: b.Name, On: b.On, Policy: true})
	}
	return out
}

func (l listing) show(s *screen) {
	trust := "not trusted"
	if l.Trusted {
		trust = "trusted"
	}
	s.printf("project %s (%s)\n", l.Project, trust)
	heading(s, "settings")
	showSettings(s, l.Settings)
	section(s, "policies", len(l.Policies))
	for _, p := range l.Policies {
		s.printf("  %s  %s  %s\n", painted{bold, p.Package}, p.Title, painted{faint, p.Scope.String() + ", " + p.File})
	}
	heading(s, "packs")
	for _, p := range l.Packs {
		state := "off"
		switch {
		case p.On && p.Policy:
			state = "on, a policy"
		case p.On:
			state = "on, " + count(p.Rules, "rule")
		case p.Policy:
			state = "off, a policy"
		}
		s.printf("  %s: %s\n", p.Name, state)
	}
	heading(s, "rules")
	showRules(s, l.Rules)
	if section(s, "switched off", len(l.Off)) {
		showRules(s, l.Off)
	}
	heading(s, "permissions")
	showPermissionEntries(s, l.Permissions)
	heading(s, "routes")
	showRoutes(s, l.Routes)
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
		note := ""
		if e.Why != "" {
			note = ", does not count: " + e.Why
		}
		s.printf("  %s  %s  %s\n", effect(e.Effect), painted{bold, e.Entry}, painted{faint, e.Source + ", " + e.Harness + ", " + e.Scope.String() + note})
	}
	s.noneIf(len(list) == 0)
}

func showRoutes(s *screen, list []routeListing) {
	for _, r := range list {
		s.printf("  %s  %s.%s  %s\n", painted{bold, r.Name}, r.Tool, r.Field, painted{faint, r.Scope.String() + ", " + r.Source})
	}
	s.noneIf(len(list) == 0)
}

func showRules(s *screen, list []ruleListing) {
	for _, r := range list {
		word := effect(r.Effect)
		if r.Effect == cardea.Abstain {
			word.text = "advice"
		}
		note := ""
		if !r.Trusted {
			note = ", not trusted"
		}
		s.printf("  %s  %s  %s\n", word, painted{bold, r.ID}, painted{faint, r.Scope.String() + ", " + r.Source + note})
	}
	s.noneIf(len(list) == 0)
}
