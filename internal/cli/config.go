package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/settings"
)

// configCommand returns the command "config".
func configCommand(p Process) *cobra.Command {
	show := func(d sessionRegistrar, args []string, asJSON bool) error { return showConfig(p, d, args, asJSON) }
	c := jsonOn(p, registrarHere, &cobra.Command{
		Use:   "config [KEY] [--json]",
		Short: "show and change settings",
		Long: `Show every setting with its value and where that comes from: a file with its line and
scope, or the default. With a key, show what it means, which values there are, and what
every file says about it, in force or not.

The commands below change a cardea.yaml. They check the new text, show the difference
and ask for a code. Comments stay. The scope is user (your own settings, the default),
project or system; what an organisation says comes by "cardea sync".`,
		Example: `  cardea config
  cardea config on_error
  cardea config set default.unattended ask
  cardea config set policies.checks "npm test" "npm run lint" --scope project
  cardea config unset packs.web`,
		Args: atMostOneArgument,
	}, show)
	leaf := func(use, short string, check cobra.PositionalArgs) *cobra.Command {
		return jsonOn(p, registrarHere, &cobra.Command{Use: use, Short: short, Args: check}, show)
	}
	c.AddCommand(leaf("get KEY [--json]", "show a setting, as \"cardea config KEY\" does", oneArgument),
		leaf("show [KEY] [--json]", "show all settings or one, as \"cardea config\" does", atMostOneArgument),
		leaf("list [--json]", "show all settings, as \"cardea config\" does", noArguments),
		configSetCommand(p), configUnsetCommand(p), configEditCommand(p))
	return c
}

// configuration is the JSON of "cardea config".
type configuration struct {
	Project  string        `json:"project"`
	Settings []configEntry `json:"settings"`
	report
}

// configEntry is a setting in force.
type configEntry struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	// Source is the file and line of the value in force, or "default". Scope is the scope of
	// that file. Lists can come from several files.
	Source  string   `json:"source"`
	Scope   string   `json:"scope,omitempty"`
	Default string   `json:"default"`
	Meaning string   `json:"meaning"`
	Allowed []string `json:"allowed,omitempty"`
	// Said holds the value in every file, strongest scope first.
	Said []configSaid `json:"said"`
}

// configSaid is the value of a key in one file.
type configSaid struct {
	Value   string `json:"value"`
	Source  string `json:"source"`
	Scope   string `json:"scope"`
	InForce bool   `json:"in_force"`
	// Why is the reason why it is not in force, or "".
	Why string `json:"why,omitempty"`
}

// showConfig shows all settings, or the one in args.
func showConfig(p Process, d sessionRegistrar, args []string, asJSON bool) error {
	l := d.Loaded
	out := configuration{Project: d.Place.Project, report: report{[]diagnostic.Diagnostic{}}}
	for i := range l.SettingsFiles {
		out.Diagnostics = append(out.Diagnostics, l.SettingsFiles[i].Problems...)
	}
	if len(args) == 0 {
		out.Settings = listOf(keysIn(l), func(name settings.Name) configEntry { return entryOf(l, name) })
		return p.answer(asJSON, out, out.show)
	}
	name, err := settings.FindName(args[0])
	if err != nil {
		return wrongUsage{err}
	}
	e := entryOf(l, name)
	out.Settings = []configEntry{e}
	return p.answer(asJSON, out, e.show)
}

// keysIn returns the known keys, and the switches that appear in some file.
func keysIn(l *inforce.Loaded) []settings.Name {
	var out []settings.Name
	add := func(key string) {
		same := func(n settings.Name) bool { return strings.Join(n.Path, ".") == key }
		if name, err := settings.FindName(key); err == nil && !slices.ContainsFunc(out, same) {
			out = append(out, name)
		}
	}
	for _, k := range settings.Keys() {
		add(k.Name)
	}
	for i := range l.SettingsFiles {
		for _, g := range l.SettingsFiles[i].Given {
			add(g.Key)
		}
	}
	return out
}

// entryOf returns the setting of a key that is in force.
func entryOf(l *inforce.Loaded, name settings.Name) configEntry {
	e := configEntry{Key: strings.Join(name.Path, "."), Default: name.Default(), Source: "default", Said: []configSaid{}}
	var values, sources, scopes []string
	for i := range l.SettingsFiles {
		f := &l.SettingsFiles[i]
		for _, g := range f.Given {
			if !name.Of(g) {
				continue
			}
			s := configSaid{Value: g.Value, Source: fmt.Sprintf("%s:%d", g.File, g.Line), Scope: g.Scope.String(), Why: whyNot(l, f, g)}
			if s.InForce = s.Why == ""; s.InForce {
				values, sources, scopes = append(values, s.Value), append(sources, s.Source), append(scopes, s.Scope)
			}
			e.Said = append(e.Said, s)
		}
	}
	if len(values) > 0 {
		e.Source, e.Scope = strings.Join(slices.Compact(sources), ", "), strings.Join(slices.Compact(scopes), ", ")
	}
	switch {
	case name.Key != nil:
		e.Value, e.Meaning, e.Allowed = name.Key.Text(&l.Settings.Values), name.Key.About, name.Key.Words
	case e.Key == "rules.off":
		e.Value, e.Meaning = "["+strings.Join(values, ", ")+"]", "rules and packs that are switched off"
	default:
		e.Value, e.Meaning = strings.Join(values, ", "), "a switch of a pack, a built-in policy or a rule"
	}
	return e
}

// whyNot returns why the value in a file is not in force, or "".
func whyNot(l *inforce.Loaded, f *settings.File, g settings.Given) string {
	id := g.Value
	if parts := strings.SplitN(g.Key, ".", 3); parts[0] == "packs" {
		id = parts[1]
	} else if len(parts) == 3 && parts[0] == "rules" {
		id = parts[2]
	}
	isSwitch := strings.HasPrefix(g.Key, "packs.") || strings.HasPrefix(g.Key, "rules.")
	switch {
	case !f.Counts && g.Scope == cardea.ScopeOrg:
		return "the organisation does not count here"
	case !f.Counts:
		return "the project is not trusted, or not in this form"
	case isSwitch && slices.Contains(f.Idle, id):
		return "it changes nothing; see \"cardea rules lint\""
	case g.Key != "version" && !isSwitch && !slices.Contains(l.Settings.Given, g):
		return "another file has a stricter or nearer value"
	}
	return ""
}

// show writes all settings for people, one a line.
func (c configuration) show(s *screen) {
	showDiagnostics(s, c.Diagnostics)
	for _, e := range c.Settings {
		s.printf("%s: %s  %s\n", painted{bold, e.Key}, e.Value, painted{faint, joined(", ", e.Scope, e.Source)})
	}
}

// show writes a setting for people.
func (e configEntry) show(s *screen) {
	s.printf("%s: %s\n", painted{bold, e.Key}, e.Value)
	s.field("meaning", e.Meaning)
	s.field("values", strings.Join(e.Allowed, ", "))
	s.field("default", e.Default)
	for _, said := range e.Said {
		s.printf("  %s  %s\n", said.Value, painted{faint, said.Scope + ", " + said.Source + ", " + cmp.Or(prefixed("not in force: ", said.Why), "in force")})
	}
	s.printIf(len(e.Said) == 0, "  no file says anything about it\n")
}
