package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/importer"
	"github.com/spf13/cobra"
)

func importBouncerCommand(p Process) *cobra.Command {
	var defaultAllow, keepDenials bool
	c := importLeaf(p, &cobra.Command{
		Use:   "bouncer [config.json] [--write] [--json]",
		Short: "import the rules and switches of Bouncer",
		Long: `Import Bouncer's config.json, by default the one in ~/.bouncer, for all projects.

Custom rules become rules, and switches become settings. Rules that allow must match
a whole command. For each group of rules that is on, the calls that Bouncer's
documentation denies are judged here, and the table names those that Cardea asks
about or leaves to the agent's own prompt.` + tableHelp,
	}, func(args []string) (*importing, error) { return importBouncer(p, args, defaultAllow, keepDenials) })
	c.Flags().BoolVar(&defaultAllow, "default-allow", false, "take over defaultAction: allow, by which calls that no rule matches run without a prompt")
	c.Flags().BoolVar(&keepDenials, "keep-denials", false, "deny what Bouncer's groups deny and Cardea's packs do not")
	return c
}

func importBouncer(p Process, args []string, defaultAllow, keepDenials bool) (*importing, error) {
	dir, err := scopeFolder(p, true)
	if err != nil {
		return nil, err
	}
	file := ""
	if len(args) > 0 {
		file = args[0]
	} else {
		home := locate(p, "", "", p.Dir).Dirs.Home
		if home == "" {
			return nil, errors.New("there is no home folder; name the config.json")
		}
		file = filepath.Join(home, ".bouncer", "config.json")
	}
	data, err := readSmall(within(p.Dir, file))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w; name Bouncer's config.json", file, err)
	}
	i := &importing{tool: "Bouncer", dir: dir, user: true}
	i.from(within(p.Dir, file))
	name, err := i.ownName("bouncer")
	if err != nil {
		return nil, err
	}
	i.Imported = importer.Bouncer(file, data, importer.BouncerOptions{DefaultAllow: defaultAllow, Name: name,
		TooWide: func(rule string) string { return tooWideRule(p, rule) }})
	i.bouncerVariables(p)
	if !cardea.HasError(i.Problems) {
		i.compareGroups(p, keepDenials)
	}
	return i, nil
}

// bouncerVariables tells the variables that Bouncer reads after its file.
func (i *importing) bouncerVariables(p Process) {
	keys := []string{"defaultAction", "llmFallback__enabled"}
	for _, g := range importer.Groups() {
		keys = append(keys, "ruleGroups__"+g+"__enabled")
	}
	for _, key := range keys {
		for _, name := range []string{"BOUNCER_" + key, "BOUNCER_" + strings.ToUpper(key)} {
			if v := p.Env(name); v != "" {
				i.row(name, importer.LeftOut, true, fmt.Sprintf("it is %q, and Bouncer believes it before the file; write it into the file, and import that", v))
				break // Windows finds both spellings
			}
		}
	}
}

// tooWideRule is what lint says about a rule that allows too much, "" for another.
func tooWideRule(p Process, rule string) string {
	list, _ := rules.Parse("", []byte("version: 1\nrules:\n"+rule), rules.Origin{Scope: cardea.ScopeUser, Tool: harness.ToolWord})
	for _, d := range tooWide(list, locate(p, "", "", p.Dir)) {
		return d.Text + "; " + d.Hint
	}
	return ""
}

// compareGroups judges what Bouncer's groups deny, and adds to the table what
// Cardea's packs do not deny.
func (i *importing) compareGroups(p Process, keepDenials bool) {
	var groups []string
	asked, silent := map[string]string{}, map[string]string{}
	for _, c := range i.Calls {
		if c.Group == "" || c.Said != "deny" {
			continue
		}
		if !slices.Contains(groups, c.Group) {
			groups = append(groups, c.Group)
		}
		v, err := i.verdict(p, c)
		text := "\n" + c.Tool + ": " + c.About
		switch id := strings.TrimPrefix(v.By, "rules:"); {
		case err != nil || v.Effect >= cardea.Deny:
		case v.Effect == cardea.Ask && keepDenials && id != v.By:
			i.Settings = append(i.Settings, importer.Setting{Path: []string{"rules", "effect", id}, Value: "deny", Protects: true})
			asked[c.Group] += text + " (rules: {effect: {" + id + ": deny}})"
		case v.Effect == cardea.Ask:
			asked[c.Group] += text + " (" + id + ")"
		case i.silenceIs("deny"):
		case keepDenials && c.Keep != nil:
			i.Settings = append(i.Settings, *c.Keep)
			asked[c.Group] += text + " (" + strings.Join(c.Keep.Path, ".") + ": " + strings.Join(c.Keep.Items, ", ") + ")"
		case i.silenceIs("ask"):
			asked[c.Group] += text + " (default: ask)"
		default:
			silent[c.Group] += text
		}
	}
	how := "gentler: Bouncer denies these, and Cardea's pack asks a person; --keep-denials denies them"
	if keepDenials {
		how = "Cardea's pack does not deny these by itself, and they are denied as in Bouncer"
	}
	decides := "so the agent's own prompt decides (--keep-denials denies them)"
	if i.silenceIs("allow") {
		decides = "so they run (default: allow; --keep-denials denies them)"
	}
	for _, g := range groups {
		if silent[g] != "" {
			i.row(g, importer.LeftOut, true, "Bouncer denies these, and no rule of Cardea's speaks, "+decides+":"+silent[g])
		}
		if asked[g] != "" {
			i.row(g, importer.Changed, false, how+":"+asked[g])
		}
	}
}

// silenceIs reports whether the import makes an effect of silence.
func (i *importing) silenceIs(effect string) bool {
	return slices.ContainsFunc(i.Settings, func(s importer.Setting) bool { return s.Path[0] == "default" && s.Value == effect })
}
