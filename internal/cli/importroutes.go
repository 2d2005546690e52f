package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/decide/routes"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/importer"
	"github.com/spf13/cobra"
)

func importRoutesCommand(p Process) *cobra.Command {
	return importLeaf(p, &cobra.Command{
		Use:   "tool-routing [file] [--json]",
		Short: "look at the route files of the tool-routing plugin",
		Long: `Look at the route files of the tool-routing plugin, which work as they are: by
default all that are found for this project.

Nothing is written. Patterns with lookahead or lookbehind are shown in the form in
which they run, patterns that cannot run are shown as lost, and the tests inside of
the files are run.` + tableHelp,
	}, func(args []string) (*importing, error) { return importRoutes(p, args) })
}

func importRoutes(p Process, args []string) (*importing, error) {
	pl := locate(p, "", "", p.Dir)
	l := load(p, &pl, nil)
	sources := routes.Find(l.Where.Plugins, l.Where.Project, l.Where.Plugin)
	i := &importing{tool: "tool-routing"}
	if len(args) > 0 {
		file := within(p.Dir, args[0])
		if _, err := readSmall(file); err != nil {
			return nil, fmt.Errorf("read %s: %w; name a file of routes", file, err)
		}
		sources = []routes.Source{{File: file, Scope: cardea.ScopeUser, Root: filepath.Dir(file)}}
		i.next = "this file was only looked at; it works where Cardea finds it, see docs/routes.md"
	}
	if len(sources) == 0 {
		return nil, errors.New("there are no files of routes: no .claude/tool-routes.yaml in the project, and none in a plugin that is enabled; name a file")
	}
	list, problems := routes.Load(sources, nil, harness.ToolWord)
	for _, d := range problems {
		i.Table = append(i.Table, importer.Row{What: "a route or file", File: d.File, Line: d.Line, Outcome: importer.LeftOut,
			Protected: d.Severity == cardea.LevelError, How: strings.TrimSuffix(d.Text+"; "+d.Hint, "; ")})
	}
	for _, s := range sources {
		i.Table = append(i.Table, importer.Row{What: "the file", File: s.File, Outcome: importer.TakenOver, How: "it works as it is"})
	}
	for n := range list {
		i.route(&list[n])
	}
	return i, nil
}

// route says how a route works here, and runs its tests.
func (i *importing) route(r *routes.Route) {
	row := importer.Row{What: "route " + r.Name, File: r.Source, Outcome: importer.TakenOver, How: "works as it is"}
	if r.Rewritten {
		row.Outcome, row.How = importer.Changed, "its pattern runs without lookahead and lookbehind: "+r.Pattern
	}
	failed := ""
	for _, t := range routes.RunTests([]routes.Route{*r}, harness.ToolWord) {
		if t.Problem != "" {
			failed = fmt.Sprintf("its test in line %d fails: %s", t.Test.Line, t.Problem)
		}
	}
	switch {
	case failed != "":
		row.Outcome, row.Protected, row.How = importer.LeftOut, true, failed
	case len(r.Tests) > 0:
		row.How += fmt.Sprintf("; its tests pass (%d)", len(r.Tests))
	}
	i.Table = append(i.Table, row)
}
