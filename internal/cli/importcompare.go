package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/document/yamledit"
	"cardea.dev/internal/importer"
)

// compareStops judges the calls that the other tool stops by what the import would write,
// and tells those that are not denied then as losses.
func (i *importing) compareStops(p Process) error {
	if len(i.Stops) == 0 {
		return nil
	}
	dir, err := os.MkdirTemp("", "cardea-import-")
	if err != nil {
		return fmt.Errorf("compare calls: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := i.rehearse(filepath.Join(dir, "cardea")); err != nil {
		return fmt.Errorf("compare calls: %w", err)
	}
	env := p.Env
	p.Env = func(name string) string {
		if name == "XDG_CONFIG_HOME" || name == "XDG_STATE_HOME" || name == "XDG_CACHE_HOME" {
			return dir
		}
		return env(name)
	}
	p.Machine.Env = p.Env
	var groups []string
	passed := map[string]string{}
	for _, c := range i.Stops {
		if v, err := i.verdict(p, c); err == nil && v.Effect < cardea.Deny {
			if !slices.Contains(groups, c.Group) {
				groups = append(groups, c.Group)
			}
			passed[c.Group] += fmt.Sprintf("\n%s: %s (%s%s)", c.Tool, c.About, v.Effect, prefixed("; ", c.Why))
		}
	}
	for _, g := range groups {
		lost := importer.Row{What: g, Outcome: importer.LeftOut, Protected: true, How: i.tool + " denies these, and Cardea does not:" + passed[g]}
		if n := slices.IndexFunc(i.Table, func(r importer.Row) bool { return r.What == g }); n >= 0 {
			lost.File, lost.Line = i.Table[n].File, i.Table[n].Line
			i.Table[n].Outcome = importer.Changed
		}
		i.Table = append(i.Table, lost)
	}
	return nil
}

// rehearse writes the rules and settings of the import to another folder. What would run
// something of the project's is left out.
func (i *importing) rehearse(dir string) (err error) {
	if err := os.MkdirAll(filepath.Join(dir, "rules"), 0o700); err != nil {
		return err
	}
	text := "version: 1\n"
	for _, s := range i.Settings {
		switch {
		case s.Path[0] == "signals" || s.Path[0] == "actions":
		case s.Items != nil:
			text, _, err = yamledit.Append(text, s.Path, s.Items)
		default:
			text, _, err = yamledit.Set(text, s.Path, s.Value)
		}
		if err != nil {
			return err
		}
	}
	for _, f := range append(slices.Clone(i.Files), importer.File{Path: "cardea.yaml", Text: text}) {
		if f.Path != "cardea.yaml" && !strings.HasPrefix(f.Path, "rules/") {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(f.Path)), []byte(f.Text), 0o600); err != nil {
			return err
		}
	}
	return nil
}
