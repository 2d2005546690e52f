package cli

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/config/trust"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/decide/rules"
)

// trustListing is the JSON of trust.
type trustListing struct {
	Project string `json:"project"`
	Trusted bool   `json:"trusted"`
	// Files holds the project's files, and accepted files that are gone.
	Files    []projectFile        `json:"files"`
	Settings []settings.Effective `json:"settings"`
	Rules    []ruleListing        `json:"rules"`
	// Roles holds the roles that the project defines.
	Roles    []roleListing   `json:"roles"`
	Routes   []routeListing  `json:"routes"`
	Policies []policy.Listed `json:"policies"`
	// Permissions holds the entries of the harnesses' lists in the project.
	Permissions []entryListing `json:"permissions"`
	// Lessons holds the lessons of others that the person has not accepted.
	Lessons []lessonListing `json:"lessons"`
	// Changes holds what would change if all of it was accepted.
	Changes []string `json:"changes"`
	// The errors among the diagnostics prevent trust.
	report
}

// projectFile is a file with its state since it was accepted: new, changed, accepted or gone.
type projectFile struct {
	Path  string `json:"path"`
	State string `json:"state"`
}

// files returns the project's files, and accepted files that are gone.
func (s *survey) files() []projectFile {
	if s.accepted == nil {
		return compared(nil, s.digests)
	}
	return compared(s.accepted.Files, s.digests)
}

// compared returns the states of files, sorted by path. The maps hold their digests by path.
func compared(before, now map[string]string) []projectFile {
	out := []projectFile{}
	for path, digest := range now {
		state := "new"
		if old, known := before[path]; known && old == digest {
			state = "accepted"
		} else if known {
			state = "changed"
		}
		out = append(out, projectFile{path, state})
	}
	for path := range before {
		if _, there := now[path]; !there {
			out = append(out, projectFile{path, "gone"})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	return out
}

// showFiles writes files with their states.
func showFiles(out *screen, indent string, files []projectFile) {
	for _, f := range files {
		style := either(f.State == "accepted", green, yellow)
		out.printf("%s%s  %s\n", indent, painted{style, f.State}, f.Path)
	}
}

// broken returns the mistakes in the project's own files.
func (s *survey) broken() []diagnostic.Diagnostic {
	out := slices.DeleteFunc(s.then.Problems(cardea.ScopeProject), isRemark)
	if _, err := policiesOf(s.then); err != nil { // without the engine their effect is unknown
		out = append(out, diagnostic.Diagnostic{Code: diagnostic.CodeNoEngine, Text: err.Error()})
	}
	return out
}

// isRemark reports whether a diagnostic is not an error.
func isRemark(d diagnostic.Diagnostic) bool { return d.Severity != diagnostic.LevelError }

// vain returns what in the project's files has no effect, trusted or not.
func (s *survey) vain() []diagnostic.Diagnostic {
	var out []diagnostic.Diagnostic
	for i := range s.then.SettingsFiles {
		if f := &s.then.SettingsFiles[i]; f.Scope == cardea.ScopeProject {
			out = append(out, slices.DeleteFunc(slices.Clone(f.Problems), func(d diagnostic.Diagnostic) bool { return d.Severity == diagnostic.LevelError })...)
		}
	}
	return append(out, s.then.Outweighed()...)
}

// isIdle reports whether a setting is a switch of the project that changes nothing.
func (s *survey) isIdle(e settings.Effective) bool {
	name := either(e.Key != "rules.off", e.Key[strings.LastIndexByte(e.Key, '.')+1:], e.Value)
	return (strings.HasPrefix(e.Key, "rules.") || strings.HasPrefix(e.Key, "packs.")) &&
		slices.ContainsFunc(s.then.SettingsFiles, func(f settings.File) bool {
			return f.Scope == cardea.ScopeProject && slices.Contains(f.Idle, name)
		})
}

// settings returns the settings in the project's file, even those without effect.
func (s *survey) settings() []settings.Effective {
	out := []settings.Effective{}
	for _, f := range s.then.SettingsFiles {
		if f.Scope != cardea.ScopeProject {
			continue
		}
		for _, g := range f.Given {
			if g.Key == "version" {
				continue
			}
			out = append(out, settings.Effective{Key: g.Key, Value: g.Value, Source: fmt.Sprintf("%s:%d", g.File, g.Line), Scope: g.Scope.String()})
		}
	}
	return out
}

// roles returns the roles that the project defines.
func (s *survey) roles() []roleListing {
	out := []roleListing{}
	for _, f := range s.then.RolesFiles {
		for _, r := range f.Roles.Roles {
			if f.Scope == cardea.ScopeProject {
				out = append(out, roleListingOf(s.then.Roles(), r.Name))
			}
		}
	}
	return out
}

// rules returns the project's rules, including those that it switches off, the strictest first.
func (s *survey) rules() []rules.Rule {
	out := slices.DeleteFunc(slices.Concat(s.then.Rules(), s.then.Off()), func(r rules.Rule) bool { return r.Scope != cardea.ScopeProject })
	sort.SliceStable(out, func(i, j int) bool { return out[i].Effect > out[j].Effect })
	return out
}

// changes returns what would change if the project was trusted in its current form.
func (s *survey) changes() []string {
	out := []string{}
	before := map[string]settings.Effective{}
	for _, e := range s.now.Settings.Effective() {
		before[e.Key+e.Source] = e
	}
	for _, e := range s.then.Settings.Effective() {
		if before[e.Key+e.Source] != e && e.Scope == cardea.ScopeProject.String() && !s.isIdle(e) {
			out = append(out, fmt.Sprintf("setting %s: %s takes effect", e.Key, e.Value))
		}
	}
	type key struct{ id, source string }
	was := map[key]rules.Rule{}
	for _, r := range s.now.Rules() {
		was[key{r.ID, r.Source}] = r
	}
	for _, r := range s.then.Rules() {
		old, there := was[key{r.ID, r.Source}]
		switch {
		case r.Scope != cardea.ScopeProject:
		case there && old.Trusted == r.Trusted && old.Effect == r.Effect:
		case there && old.Effect != r.Effect:
			out = append(out, fmt.Sprintf("rule %s wants %s and not %s", r.ID, word(r.Effect), word(old.Effect)))
		case r.Effect == cardea.Deny || r.Effect == cardea.Ask:
			out = append(out, fmt.Sprintf("rule %s counts already (%s); its text is told to the model", r.ID, r.Effect))
		default:
			out = append(out, fmt.Sprintf("rule %s begins to count (%s)", r.ID, word(r.Effect)))
		}
	}
	for _, r := range s.then.Off() {
		if _, there := was[key{r.ID, r.Source}]; there {
			out = append(out, fmt.Sprintf("rule %s is switched off", r.ID))
		}
	}
	for i := range s.then.Permissions {
		if e := &s.then.Permissions[i]; e.From.Scope == cardea.ScopeProject && i < len(s.now.Permissions) &&
			e.Effect == cardea.Allow && e.From.Allows && !s.now.Permissions[i].From.Allows {
			out = append(out, fmt.Sprintf("the permission %s begins to count, where permissions.expand is on", e.Text))
		}
	}
	for i, r := range s.then.Routes {
		if r.Trusted && i < len(s.now.Routes) && !s.now.Routes[i].Trusted {
			out = append(out, fmt.Sprintf("route %s counts already; its text is told to the model", r.Name))
		}
	}
	return append(out, s.scriptChanges()...)
}

// scriptChanges returns what would change for policies, roles and commands.
func (s *survey) scriptChanges() []string {
	var out []string
	was := map[string]bool{}
	now, _ := policiesOf(s.now)
	then, _ := policiesOf(s.then)
	for _, p := range now {
		was[p.File] = p.Trusted
	}
	for _, p := range then {
		switch {
		case was[p.File] || p.Library:
		case len(p.Signals) > 0:
			out = append(out, fmt.Sprintf("policy %s begins to count, with its signals %s", p.Package, strings.Join(p.Signals, ", ")))
		default:
			if gains := gainsOf(p.Verbs); gains != "" {
				out = append(out, fmt.Sprintf("policy %s: %s", p.Package, gains))
			}
		}
	}
	for _, f := range s.then.RolesFiles {
		if f.Scope == cardea.ScopeProject && !s.now.Trusts(f.Path) {
			for _, r := range f.Roles.Roles {
				out = append(out, fmt.Sprintf("role %s is what the project says, and what it allows begins to count", r.Name))
			}
			for _, c := range f.Roles.Categories {
				out = append(out, fmt.Sprintf("the category {{%s}} means %s in the built-in roles", c.Name, strings.Join(c.Globs, ", ")))
			}
		}
	}
	for _, f := range s.then.SettingsFiles {
		if f.Scope == cardea.ScopeProject && !s.now.Trusts(f.Path) {
			for _, c := range f.Commands() {
				out = append(out, "a command begins to run: "+c)
			}
		}
	}
	return out
}

// gainsOf returns which of a policy's verbs take effect with trust. Verbs that only tighten
// are in force already.
func gainsOf(verbs []string) string {
	var gains []string
	for _, verb := range verbs {
		switch verb {
		case "modify", "allow_override", "add_context":
			gains = append(gains, verb+" begins to count")
		case "halt":
			gains = append(gains, "halt stops the agent, and does not only deny")
		}
	}
	return strings.Join(gains, ", ")
}

// policiesOf returns the project's policies. It fails if the engine fails, since their
// effect is then unknown.
func policiesOf(l *inforce.Loaded) (out []policy.Listed, err error) {
	out = []policy.Listed{}
	for _, f := range l.PolicyFolders() {
		if f.Scope == cardea.ScopeProject {
			list, _, failed := f.List(l.Where.Engines.Own)
			out, err = append(out, list...), cmp.Or(err, failed)
		}
	}
	return out, err
}

// word returns an effect's word for a rule.
func word(e cardea.Effect) string {
	return either(e == cardea.Abstain, "advice", e.String())
}

func (s *survey) listing() trustListing {
	policies, _ := policiesOf(s.then)
	permissions := slices.DeleteFunc(entriesOf(s.then), func(e entryListing) bool { return e.Scope != cardea.ScopeProject })
	return trustListing{Project: s.project, Trusted: s.accepted != nil, Files: s.files(), Settings: s.settings(), Rules: rulesOf(s.rules(), notOff),
		Roles: s.roles(), Routes: routesOf(s.then.Routes, cardea.ScopeProject), Policies: policies, Permissions: permissions, Lessons: s.lessonListings(), Changes: s.changes(),
		report: report{notNil(slices.Concat(s.broken(), s.vain(), s.unrunnable))}}
}

// show writes all that the project contains.
func (s *survey) show(out *screen) {
	l := s.listing()
	trusted := "not trusted"
	if l.Trusted {
		trusted = "trusted since " + s.accepted.When.Format("2006-01-02 15:04 MST")
	}
	out.printf("project %s (%s)\n", l.Project, trusted)
	section(out, "files", len(l.Files))
	showFiles(out, "  ", l.Files)
	section(out, "settings", len(l.Settings))
	showSettings(out, l.Settings)
	own := s.rules()
	section(out, "rules", len(own))
	showRules(out, l.Rules)
	for _, r := range own {
		if r.Context != "" {
			out.block("  "+r.ID+" tells the model: ", r.Context)
		}
		for _, f := range r.Rewrite {
			out.printf("  %s rewrites %s: %s\n", r.ID, f.Name, f.Value)
		}
	}
	section(out, "roles", len(l.Roles))
	for _, r := range l.Roles {
		out.printf("  %s  %s\n", painted{bold, r.Name}, r.Description)
	}
	section(out, "routes", len(l.Routes))
	showRoutes(out, l.Routes)
	if section(out, "permissions", len(l.Permissions)) {
		showPermissionEntries(out, l.Permissions)
	}
	section(out, "policies", len(l.Policies))
	for _, p := range l.Policies {
		out.printf("  %s  %s  %s\n", painted{bold, cmp.Or(p.Package, "data")}, strings.Join(append(p.Verbs, p.Data...), ", "), painted{faint, p.File})
	}
	s.showDifferences(out)
	if !s.same() || s.accepted == nil || len(l.Changes) > 0 {
		title := either(l.Trusted, "what would change if you accepted it as it is now", "what would change if you trusted it")
		heading(out, title)
		for _, c := range l.Changes {
			out.printf("  %s\n", c)
		}
		out.noneIf(len(l.Changes) == 0)
	}
	vain := s.vain()
	section(out, "has no effect, trusted or not", len(vain))
	showDiagnostics(out, vain)
	broken := s.broken()
	section(out, "broken, so that it cannot be trusted", len(broken))
	showDiagnostics(out, broken)
}

// showDifferences shows the new lessons, and the differences of the changed files to their
// accepted form.
func (s *survey) showDifferences(out *screen) {
	s.showLessons(out)
	before := trust.Texts(s.state, s.project)
	for _, f := range s.files() {
		old, stored := before[f.Path]
		if f.State != "changed" {
			continue
		}
		heading(out, "what changed in "+f.Path)
		showDifference(out, old, s.texts[f.Path].String(), stored)
	}
}

// showDifference shows how a file changed since it was accepted. kept is false if its old
// text is unknown.
func showDifference(out *screen, old, now string, stored bool) {
	text := string(diff.Diff("accepted", []byte(old), "now", []byte(now)))
	switch _, text, _ := strings.Cut(text, "\n"); {
	case !stored:
		out.printf("  it was too large to be kept, so look at all of it\n")
	case text == "":
		out.printf("  only what looks like a secret\n")
	default:
		out.block("  ", text)
	}
}

// section writes a heading unless the section is empty, and reports whether it did.
func section(out *screen, title string, entries int) bool {
	if entries > 0 {
		heading(out, title)
	}
	return entries > 0
}

// next writes what the person can do next.
func (s *survey) next(out *screen) {
	switch {
	case len(s.digests) == 0 && len(s.lessons) == 0 && s.accepted == nil:
		out.printf("\nthe project brings nothing\n")
	case s.accepted == nil:
		out.printf("\nto trust it in its present form: cardea trust, in a terminal of your own\n")
	case s.same():
		out.printf("\nit is as you trusted it; to stop trusting it: cardea trust revoke\n")
	default:
		out.printf("\nto accept its present form: cardea trust, in a terminal of your own\n")
	}
}
