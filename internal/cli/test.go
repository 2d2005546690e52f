package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/decide/routes"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/hook/gate"
)

// testCommand returns the command "rules test".
func testCommand(p Process) *cobra.Command {
	var inGate, all bool
	c := withJSON(&cobra.Command{
		Use:   "test [--gate] [--all] [--json] [file or folder ...]",
		Short: "run the tests inside of rules and routes",
		Long: `Run the tests inside of rules and routes: of all that are in force here, built-in
packs included, or of the given files and folders. What you and others wrote comes
first, and the built-in packs are one line, unless --all shows each of them.

Each rule is tested alone, as if its project was trusted, and with its own effect,
whatever rules.effect of your settings says. Tests use the project
` + testProject + ` and the home folder ` + testHome + ` on every machine.

With --gate the tests of rules that you and others wrote are run in the whole gate
too, with everything that is in force here. A test whose call is decided otherwise
there is a warning, which says who decides: the rule alone does what it should, and
another one is stricter, or allows what it leaves open.`,
		Args: cobra.ArbitraryArgs,
	}, func(paths []string, asJSON bool) error { return test(p, paths, inGate, all, asJSON) })
	c.Flags().BoolVar(&inGate, "gate", false, "run the tests in the whole gate, too")
	c.Flags().BoolVar(&all, "all", false, "show each built-in pack on a line of its own")
	return c
}

// inlineTest is the result of a test in a rule or route.
type inlineTest struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Name string `json:"name"`
	Desc string `json:"desc"`
	Pass bool   `json:"pass"`
	// builtin is set for a test of a built-in pack.
	builtin bool
}

// inlineTests is the JSON of rules test. Its diagnostics are the broken files and the
// failed tests.
type inlineTests struct {
	Tests []inlineTest `json:"tests"`
	report
	// each is set to show every built-in pack on a separate line. untested lists the files of
	// people whose rules have no tests.
	each     bool
	untested []string
}

// test runs the tests of the named files, or of all that is in force, and shows the results.
func test(p Process, paths []string, inGate, each, asJSON bool) error {
	l, pl, err := gather(p, paths)
	if err != nil {
		return err
	}
	out := inlineTests{[]inlineTest{}, report{notNil(append(l.Problems(), l.RouteProblems...))}, each, nil}
	out.run(l)
	if inGate {
		all := load(p, &pl, nil)
		all.ReadRoutes()
		out.Diagnostics = append(out.Diagnostics, gateFindings(p, all, l.Rules())...)
	}
	return failIf(diagnostic.HasError(out.Diagnostics), p.answer(asJSON, out, out.show))
}

// run runs all tests, in the order of files.
func (all *inlineTests) run(l *inforce.Loaded) {
	builtin := map[string]bool{}
	for _, r := range l.Rules() {
		builtin[r.Source] = r.Scope == cardea.ScopeBuiltin
	}
	add := func(source, name, desc, input, problem string) {
		desc = cmp.Or(desc, shorten(input, 100))
		file, line := diagnostic.SplitSource(source)
		all.Tests = append(all.Tests, inlineTest{file, line, name, desc, problem == "", builtin[source]})
		if problem != "" {
			all.Diagnostics = append(all.Diagnostics, diagnostic.Diagnostic{File: file, Line: line, Code: diagnostic.CodeTestFailed, Text: name + ": " + desc + ": " + problem})
		}
	}
	for _, r := range rules.RunTests(l.List.AsWritten(), stand(), analyseTest) {
		add(r.Source, "rule "+r.Rule, r.Test.Desc, r.Test.Input, r.Problem)
	}
	for _, f := range l.Files {
		if f.Rules > 0 && !slices.ContainsFunc(all.Tests, func(t inlineTest) bool { return t.File == f.Path }) {
			all.untested = append(all.untested, f.Path)
		}
	}
	for _, r := range routes.RunTests(l.Routes, harness.ToolWord) {
		add(r.Source, "route "+r.Route, r.Test.Desc, r.Test.Input, r.Problem)
	}
}

// show writes each problem and failure, and the passed tests by file: first what people
// wrote, then the built-in packs.
func (all inlineTests) show(s *screen) {
	failed, _ := showDiagnostics(s, all.Diagnostics)
	own, builtin := all.passed(false), all.passed(true)
	for _, f := range own {
		s.printf("%s  %s: %s passed\n", painted{green, "ok"}, f.name, count(f.tests, "test"))
	}
	for _, f := range all.untested {
		s.printf("%s  %s: its rules have no tests\n", painted{yellow, "--"}, f)
	}
	sum := 0
	for _, f := range builtin {
		sum += f.tests
		s.printIf(all.each, "%s  %s: %s passed\n", painted{green, "ok"}, f.name, count(f.tests, "test"))
	}
	s.printIf(!all.each && len(builtin) > 0, "%s  %s: %s passed (--all shows each)\n", painted{green, "ok"}, count(len(builtin), "built-in pack"), count(sum, "test"))
	s.printf("%s, %d failed or broken%s\n", count(len(all.Tests), "test"), failed, onlyIf(failed > 0, ": "+strings.Join(all.wrong(), ", ")))
}

// wrong returns the files that are broken or have a failed test.
func (all inlineTests) wrong() (out []string) {
	for _, d := range all.Diagnostics {
		if d.Severity == diagnostic.LevelError && !slices.Contains(out, d.File) {
			out = append(out, d.File)
		}
	}
	return out
}

// passedFile is a file whose tests all passed, with their number.
type passedFile struct {
	name  string
	tests int
}

// passed returns the files whose tests all passed, built-in or others, in the order of
// their first tests.
func (all inlineTests) passed(builtin bool) []passedFile {
	var out []passedFile
	bad := map[string]bool{}
	for _, t := range all.Tests {
		bad[t.File] = bad[t.File] || !t.Pass
		if t.builtin != builtin {
			continue
		}
		i := slices.IndexFunc(out, func(f passedFile) bool { return f.name == t.File })
		if i < 0 {
			i, out = len(out), append(out, passedFile{name: t.File})
		}
		out[i].tests++
	}
	return slices.DeleteFunc(out, func(f passedFile) bool { return bad[f.name] })
}

// gateFindings returns the tests of people's rules whose calls the whole gate decides
// differently. A test that expects none says nothing about other deciders, so it is skipped.
func gateFindings(p Process, l *inforce.Loaded, list []rules.Rule) []diagnostic.Diagnostic {
	var out []diagnostic.Diagnostic
	g := gate.Build(l, gate.SessionFacts{}, analyseTest, p.Now)
	for _, r := range written(list) {
		tests, err := r.Examples()
		if err != nil {
			continue // running them alone has reported it
		}
		for _, t := range tests {
			ev, err := rules.TestEvent(&r, t, stand())
			if err != nil || !ev.Kind.Answered() || t.Expect == "none" {
				continue
			}
			v := g.Decide(context.Background(), analyseTest(ev))
			if t.Meets(v.Effect) {
				continue
			}
			desc := cmp.Or(t.Desc, shorten(t.Input, 100))
			text := fmt.Sprintf("rule %s: %s: the rule expects %s, and the gate says %s%s", r.ID, desc, t.Expect, v.Effect, prefixed(", by ", v.By))
			hint := "see why with cardea try"
			if slices.ContainsFunc(l.Rules(), func(x rules.Rule) bool { return x.ID == r.ID && x.Scope == cardea.ScopeProject && !x.Trusted }) {
				hint = "the project is not trusted in this form; if it is yours, run \"cardea trust\""
			}
			d := cardea.Warning(r.Source, diagnostic.CodeTestFailed, hint, text).Diagnostic
			d.Line = cmp.Or(t.Line, d.Line)
			out = append(out, d)
		}
	}
	return out
}
