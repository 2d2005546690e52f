package cli

import (
	"cardea.dev"
	"cardea.dev/internal/decide/routes"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/inforce"
	"github.com/spf13/cobra"
)

func testCommand(p Process) *cobra.Command {
	var inGate bool
	c := withJSON(&cobra.Command{
		Use:   "test [--gate] [--json] [file or folder ...]",
		Short: "run the tests inside of rules and routes",
		Long: `Run the tests inside of rules and routes: of all that are in force here, built-in
packs included, or of the given files and folders.

Each rule is tested alone, as if its project was trusted. Tests use the project
` + testProject + ` and the home folder ` + testHome + ` on every machine.

With --gate the tests of rules that you and others wrote are run in the whole gate
too, with everything that is in force here. A test whose call is decided otherwise
there is a warning, which says who decides: the rule alone does what it should, and
another one is stricter, or allows what it leaves open.`,
		Args: cobra.ArbitraryArgs,
	}, func(paths []string, asJSON bool) error { return test(p, paths, inGate, asJSON) })
	c.Flags().BoolVar(&inGate, "gate", false, "run the tests in the whole gate, too")
	return c
}

// inlineTest is a test inside of a rule or route that was run.
type inlineTest struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Name string `json:"name"`
	Desc string `json:"desc"`
	Pass bool   `json:"pass"`
}

// inlineTests is what "cardea test --json" says. The diagnostics are the broken
// files and the tests that failed.
type inlineTests struct {
	Tests []inlineTest `json:"tests"`
	report
}

func test(p Process, paths []string, inGate, asJSON bool) error {
	l, pl, err := gather(p, paths)
	if err != nil {
		return err
	}
	out := inlineTests{[]inlineTest{}, report{notNil(append(l.Problems(), l.RouteProblems...))}}
	out.run(l)
	if inGate {
		all := load(p, &pl, nil)
		all.ReadRoutes()
		out.Diagnostics = append(out.Diagnostics, gateFindings(p, all, l.Rules())...)
	}
	return failIf(cardea.HasError(out.Diagnostics), p.answer(asJSON, out, out.show))
}

// run runs all tests, in the order of files.
func (all *inlineTests) run(l *inforce.Loaded) {
	add := func(source, name, desc, input, problem string) {
		if desc == "" {
			desc = shorten(input, 100)
		}
		file, line := cardea.SplitSource(source)
		all.Tests = append(all.Tests, inlineTest{file, line, name, desc, problem == ""})
		if problem != "" {
			all.Diagnostics = append(all.Diagnostics, cardea.Diagnostic{File: file, Line: line, Code: cardea.CodeTestFailed, Text: name + ": " + desc + ": " + problem})
		}
	}
	for _, r := range rules.RunTests(l.Rules(), stand(), analyseTest) {
		add(r.Source, "rule "+r.Rule, r.Test.Desc, r.Test.Input, r.Problem)
	}
	for _, r := range routes.RunTests(l.Routes, harness.ToolWord) {
		add(r.Source, "route "+r.Route, r.Test.Desc, r.Test.Input, r.Problem)
	}
}

// show writes what is broken or failed one by one, and what passed file by file.
func (all inlineTests) show(s *screen) {
	failed, _ := showDiagnostics(s, all.Diagnostics)
	passed, bad := map[string]int{}, map[string]bool{}
	var files []string
	for _, t := range all.Tests {
		if passed[t.File] == 0 && !bad[t.File] {
			files = append(files, t.File)
		}
		passed[t.File]++
		bad[t.File] = bad[t.File] || !t.Pass
	}
	for _, f := range files {
		if !bad[f] {
			s.printf("%s  %s: %d tests passed\n", painted{green, "ok"}, f, passed[f])
		}
	}
	s.printf("%s, %d failed or broken\n", count(len(all.Tests), "test"), failed)
}
