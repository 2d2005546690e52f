package cli

import (
	"cardea.dev"
	"cardea.dev/internal/decide/routes"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/gate"
	"cardea.dev/internal/harness"
	"github.com/spf13/cobra"
)

func testCommand(p Process) *cobra.Command {
	return &cobra.Command{
		Use:   "test [file or folder ...]",
		Short: "run the tests inside of rules and routes",
		Long: `Run the tests inside of rules and routes: of all that are in force here, built-in
packs included, or of the given files and folders.

Each rule is tested alone, as if its project was trusted. Tests use the project
` + testProject + ` and the home folder ` + testHome + ` on every machine.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, paths []string) error { return test(p, paths) },
	}
}

// outcome is an inline test that was run.
type outcome struct{ file, source, name, desc, problem string }

func test(p Process, paths []string) error {
	l, _, err := gather(p, paths)
	if err != nil {
		return err
	}
	outcomes := outcomesOf(l)
	s := screenOn(p.Stdout, p.Env)
	failed, _ := showDiagnostics(s, append(l.Problems(), l.RouteProblems...))
	failed += showOutcomes(s, outcomes)
	s.printf("%s, %d failed or broken\n", count(len(outcomes), "test"), failed)
	if s.err != nil {
		return s.err
	}
	if failed > 0 {
		return ended(exitError)
	}
	return nil
}

// outcomesOf runs all tests, in the order of files.
func outcomesOf(l *gate.Loaded) []outcome {
	var out []outcome
	for _, r := range rules.RunTests(l.Rules, stand(), analyseTest) {
		out = append(out, outcome{fileOf(r.Source), r.Source, "rule " + r.Rule, described(r.Test.Desc, r.Test.Input), r.Problem})
	}
	for _, r := range routes.RunTests(l.Routes, harness.ToolWord) {
		out = append(out, outcome{fileOf(r.Source), r.Source, "route " + r.Route, described(r.Test.Desc, r.Test.Input), r.Problem})
	}
	return out
}

func described(desc, input string) string {
	if desc != "" {
		return desc
	}
	return shorten(input, 100)
}

// fileOf is the file of a source "file:line".
func fileOf(source string) string {
	file, _ := cardea.SplitSource(source)
	return file
}

// showOutcomes writes failures one by one and what passed file by file, and
// counts the failures.
func showOutcomes(s *screen, all []outcome) (failed int) {
	passed, bad := map[string]int{}, map[string]bool{}
	var files []string
	for _, o := range all {
		if passed[o.file] == 0 && !bad[o.file] {
			files = append(files, o.file)
		}
		if o.problem == "" {
			passed[o.file]++
			continue
		}
		failed++
		bad[o.file] = true
		s.printf("%s  %s: %s: %s\n", painted{red, "FAIL"}, o.source, o.name, o.desc)
		s.block("      ", o.problem)
	}
	for _, f := range files {
		if !bad[f] {
			s.printf("%s  %s: %d tests passed\n", painted{green, "ok"}, f, passed[f])
		}
	}
	return failed
}
