package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/config/importer"
	"cardea.dev/internal/decide/routes"
	"cardea.dev/internal/harness"
)

// routesVariable is the variable with the files that tool-routing reads instead of all others.
const routesVariable = "TOOL_ROUTING_ROUTES"

// importRoutesCommand returns the command "import tool-routing".
func importRoutesCommand(p Process) *cobra.Command {
	return lookLeaf(p, &cobra.Command{
		Use:   "tool-routing [file] [--json]",
		Short: "look at the route files of the tool-routing plugin",
		Long: `Look at the route files of the tool-routing plugin, which work as they are: by
default all that are found for this project. Nothing is written, since there is
nothing to copy.

The tests inside of the files are run, and for each route a call that it blocks is
judged. Patterns with lookahead or lookbehind that run in another form are named,
patterns that cannot run are shown as lost.` + lossHelp,
	}, func(args []string) (*importing, error) { return importRoutes(p, args) })
}

// importRoutes checks the route file in args, or all that are found for this project.
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
		root := filepath.Dir(file)
		if filepath.Base(root) == ".claude-plugin" {
			root = filepath.Dir(root) // paths in routes.json are relative to the plugin
		}
		sources = []routes.Source{{File: file, Scope: cardea.ScopeUser, Root: root}}
		i.next = "this file was only looked at; it works where Cardea finds it, see docs/routes.md"
	} else {
		i.variable(p, sources)
	}
	if len(sources) == 0 && len(i.Table) == 0 {
		return nil, errors.New("there are no files of routes: no .claude/tool-routes.yaml in the project, and none in a plugin that is enabled; name a file")
	}
	list, problems := routes.Load(sources, l.Where.Trust, harness.ToolWord, document.Read, true)
	for _, s := range sources {
		row := importer.Row{What: "the file", File: s.File, Outcome: importer.TakenOver, How: "works unchanged, where it is"}
		if slices.ContainsFunc(problems, func(d diagnostic.Diagnostic) bool { return d.File == s.File && d.Severity == diagnostic.LevelError }) {
			row.Outcome, row.How = importer.Changed, "works where it is, without what is left out"
		}
		i.Table = append(i.Table, row)
	}
	for _, d := range problems {
		row := importer.Row{What: "a route or file", File: d.File, Line: d.Line, Outcome: importer.LeftOut,
			Protected: d.Severity == diagnostic.LevelError, How: strings.TrimSuffix(d.Text+"; "+d.Hint, "; ")}
		if d.Code == diagnostic.CodeDuplicate {
			row.What, row.Outcome = "two routes of one name", importer.Changed
			row.How = d.Text + ", where tool-routing took no route at all"
		}
		i.Table = append(i.Table, row)
	}
	withheld := false
	for n := range list {
		i.route(p, &list[n], len(args) == 0)
		withheld = withheld || list[n].Scope == cardea.ScopeProject && !list[n].Trusted
	}
	if withheld && len(args) == 0 {
		i.next = "until you trust this project, the model is told the names of its routes and not their messages: run \"cardea trust\""
	}
	return i, nil
}

// variable adds rows for the files in tool-routing's variable, which Cardea does not read.
func (i *importing) variable(p Process, found []routes.Source) {
	for _, name := range strings.FieldsFunc(p.Env(routesVariable), func(r rune) bool { return r == ',' }) {
		file := within(p.Dir, strings.TrimSpace(name))
		if !slices.ContainsFunc(found, func(s routes.Source) bool { return s.File == file }) {
			i.Table = append(i.Table, importer.Row{What: routesVariable, File: file, Outcome: importer.LeftOut, Protected: true,
				How: "Cardea reads no such variable; copy the routes into .claude/tool-routes.yaml of the project, or hooks/tool-routes.yaml of a plugin"})
		}
	}
}

// route adds a row with how a route works here, runs its tests, and judges a call that it
// blocks. inForce is set for a route that the gate finds.
func (i *importing) route(p Process, r *routes.Route, inForce bool) {
	row := importer.Row{What: "route " + r.Name, File: r.Source, Outcome: importer.TakenOver, How: "works unchanged"}
	expression, _ := r.Expression() // a pattern that cannot run is not a route
	if r.Rewritten {
		row.Outcome = importer.Changed
		row.How = fmt.Sprintf("its pattern %s runs without lookahead and lookbehind, in %d characters", shorten(r.Written, longPattern), len([]rune(expression)))
		if len(expression) <= longPattern {
			row.How += ": " + expression
		}
	}
	var failed []string
	var calls []importer.TrialCall
	for _, t := range routes.RunTests([]routes.Route{*r}, harness.ToolWord) {
		if t.Problem != "" {
			failed = append(failed, fmt.Sprintf("its test in line %d fails: %s", t.Test.Line, t.Problem))
		}
		if t.Test.Block {
			calls = append(calls, importer.TrialCall{Tool: t.Test.Tool, Input: t.Test.Input, Said: "deny"})
		}
	}
	if len(calls) == 0 && !strings.Contains(r.Field, ".") {
		if c, ok := importer.SampleCall(r.Tool, r.Field, expression, "deny"); ok {
			calls = append(calls, c)
		}
	}
	if len(failed) == 0 && len(r.Tests) > 0 {
		row.How += fmt.Sprintf("; its tests pass (%d)", len(r.Tests))
	}
	if inForce {
		failed = append(failed, i.try(p, calls)...)
	}
	if len(failed) > 0 {
		row.Outcome, row.Protected, row.How = importer.LeftOut, true, strings.Join(failed, "; ")
	}
	i.Table = append(i.Table, row)
}

// longPattern is how much of a pattern the table shows, in characters.
const longPattern = 100

// try judges calls that a route blocks, and returns a text for each that passes.
func (i *importing) try(p Process, calls []importer.TrialCall) (passed []string) {
	for _, c := range calls {
		v, err := i.verdict(p, c)
		if err != nil || len(i.tried) == mostCalls {
			continue
		}
		done := judgedCall{Event: string(cardea.PreToolUse), Tool: c.Tool, Input: c.Input, Said: c.Said, After: v.Effect.String(), By: v.By}
		i.tried = append(i.tried, done)
		if done.weaker() {
			passed = append(passed, fmt.Sprintf("the gate does not stop %s %s, which it blocks", c.Tool, shorten(c.Input, longPattern)))
		}
	}
	return passed
}
