package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/config/importer"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness"
	"github.com/spf13/cobra"
)

// importBouncerCommand returns the command "import bouncer".
func importBouncerCommand(p Process) *cobra.Command {
	var defaultAllow, keepDenials bool
	c := importLeaf(p, &cobra.Command{
		Use:   "bouncer [config.json] [--write] [--json]",
		Short: "import the rules and switches of Bouncer",
		Long: `Import Bouncer's config.json, by default the one in ~/.bouncer, for all projects.

Custom rules become rules, and switches become settings. Rules that allow must match
a whole command. Examples of what Bouncer's rules deny are judged with what is
imported, and the table names those that Cardea does not deny.` + tableHelp,
	}, func(args []string) (*importing, error) { return importBouncer(p, args, defaultAllow, keepDenials) })
	c.Flags().BoolVar(&defaultAllow, "default-allow", false, "take over defaultAction: allow, by which calls that no rule matches run without a prompt")
	c.Flags().BoolVar(&keepDenials, "keep-denials", false, "write rules that deny what Bouncer's groups deny")
	return c
}

// importBouncer reads Bouncer's config.json, from the file in args or by default.
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
	i.Imported = importer.Bouncer(file, data, importer.BouncerOptions{DefaultAllow: defaultAllow, KeepDenials: keepDenials, Name: name,
		TooWide: func(rule string) string { return tooWideRule(p, rule) }})
	i.bouncerVariables(p)
	if !keepDenials {
		i.remedy = "; --keep-denials denies them"
	}
	return i, nil
}

// bouncerVariables adds rows for the set variables that override Bouncer's file.
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

// tooWideRule returns lint's text about a rule that allows too much, or "".
func tooWideRule(p Process, rule string) string {
	list, _ := rules.Parse("", []byte("version: 1\nrules:\n"+rule), rules.Origin{Scope: cardea.ScopeUser, Tool: harness.ToolWord})
	for _, d := range tooWide(list, locate(p, "", "", p.Dir)) {
		return d.Text + "; " + d.Hint
	}
	return ""
}
