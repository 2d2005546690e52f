package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/decide/policy/engine"
	"cardea.dev/internal/harness"
)

func policyCommand(p Process) *cobra.Command {
	return group("policy", "write, check and test policies in Rego", "Write, check and test policies in Rego. See docs/policies.md.",
		policyValidateCommand(p), policyInspectCommand(p), policyTestCommand(p), policyFmtCommand(p), policyNewCommand(p), policyInputCommand(p))
}

// policyValidateCommand returns the command "policy validate".
func policyValidateCommand(p Process) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "validate [--json] [path ...]",
		Short: "find mistakes in policies",
		Long: `Find mistakes in the policies of the given files and folders, or in all that are
in force here:

  - errors of OPA, also in its strict mode, and functions that policies may not use
  - METADATA that is missing or in the wrong place
  - events, tools and signals that do not exist, and input fields that no event
    has, at any depth
  - verbs that have no meaning on an event, and decisions with a wrong form
  - functions that always fail, and negations of values that may be missing`,
		Args: cobra.ArbitraryArgs,
	}, func(paths []string, asJSON bool) error { return policyValidate(p, paths, asJSON) })
}

// policyFolders returns the folders that are named. Without paths it returns those in
// force, and l is the loaded configuration.
func policyFolders(p Process, paths []string) (folders []policy.Folder, l *inforce.Loaded, err error) {
	if len(paths) == 0 {
		if l, _, err = gather(p, nil); err != nil {
			return nil, nil, err
		}
		return l.PolicyFolders(), l, nil
	}
	for _, path := range paths {
		f, err := policyFolderAt(path)
		if err != nil {
			return nil, nil, err
		}
		folders = append(folders, f)
	}
	return folders, nil, nil
}

// policySources returns the named policies, one group per path. Without paths it returns
// those in force, one group per scope.
func policySources(p Process, paths []string) (out []policy.Sources, found []diagnostic.Diagnostic, err error) {
	folders, loaded, err := policyFolders(p, paths)
	for _, f := range folders {
		s, problems := sourcesOf(p, f, loaded)
		out, found = append(out, s), append(found, problems...)
	}
	return out, found, err
}

// checkedBy sets the engine that checks policies, and what they may read.
func checkedBy(s *policy.Sources, by engine.Engine) {
	s.Engine, s.Tool, s.Fields, s.Settings = by, harness.ToolWord, toolFields(), (&inforce.Loaded{}).PolicyFacts()
}

// sourcesOf returns the policies of a folder, with the input that they get. loaded is the
// configuration in force, nil for a folder that was named.
func sourcesOf(p Process, f policy.Folder, loaded *inforce.Loaded) (policy.Sources, []diagnostic.Diagnostic) {
	s, problems := f.Sources()
	checkedBy(&s, p.Engines.Own)
	if loaded != nil && f.Scope != cardea.ScopeBuiltin { // signals of Cardea's own policies may be absent
		s.Signals = func(name string) bool { return loaded.HasSignal(f, name) }
	}
	return s, problems
}

// toolFields returns the documented input fields of all tools.
func toolFields() map[string][]string {
	out := map[string][]string{}
	for _, t := range harness.Tools() {
		for _, f := range t.Fields {
			out[t.Name] = append(out[t.Name], f.Name)
		}
	}
	return out
}

// policyFolderAt returns a folder of policies, or one file as a folder.
func policyFolderAt(path string) (policy.Folder, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return policy.Folder{}, fmt.Errorf("there is no file or folder %s; name a file in Rego, or a folder of them", path)
	}
	if err != nil {
		return policy.Folder{}, fmt.Errorf("read policies: %w", err)
	}
	if info.IsDir() {
		return policy.Folder{Dir: path}, nil
	}
	data, err := state.ReadLinked(path, document.MaxSize)
	if err != nil {
		return policy.Folder{}, fmt.Errorf("read policies: %w", err)
	}
	return policy.Folder{Dir: filepath.Dir(path), Embedded: map[string]string{path: string(data)}}, nil
}

// policyValidate shows the mistakes in the named policies, or in those in force.
func policyValidate(p Process, paths []string, asJSON bool) error {
	groups, found, err := policySources(p, paths)
	if err != nil {
		return err
	}
	files := 0
	for _, s := range groups {
		files += len(s.Paths)
		mistakes, err := s.Validate(context.Background())
		if err != nil {
			return err
		}
		found = append(found, mistakes...)
	}
	if len(paths) == 0 {
		found = append(found, policyEventFindings(p)...)
	}
	return p.answerDiagnostics(asJSON, found, count(files, "file")+", ")
}

// policyEventFindings returns the policies on events that no hook sends, and the scripts
// that cannot start.
func policyEventFindings(p Process) []diagnostic.Diagnostic {
	l, _, err := gather(p, nil)
	if err != nil {
		return nil // the caller met the same error
	}
	onPolicies := slices.DeleteFunc(eventFindings(p, l), func(d diagnostic.Diagnostic) bool { return !strings.HasSuffix(d.File, ".rego") })
	return append(onPolicies, l.NotExecutable()...)
}

func policyInspectCommand(p Process) *cobra.Command {
	c := &cobra.Command{
		Use:   "inspect [--json] [path ...]",
		Short: "show policies and their routing",
		Long: `Show the policies that are in force here, or those of the given files and
folders: title, authors, package, scope, routing and verbs.`,
		Args: cobra.ArbitraryArgs,
	}
	asJSON := c.Flags().Bool("json", false, "answer as one JSON array")
	c.RunE = func(_ *cobra.Command, paths []string) error { return policyInspect(p, paths, *asJSON) }
	return c
}

// policyInspect shows the named policies, or those in force, with their routing.
func policyInspect(p Process, paths []string, asJSON bool) error {
	folders, _, err := policyFolders(p, paths)
	if err != nil {
		return err
	}
	all := []policy.Listed{}
	for _, f := range folders {
		list, problems, err := f.List(p.Engines.Own)
		if err != nil {
			return err
		}
		for _, problem := range problems {
			p.warn(problem.String())
		}
		all = append(all, list...)
	}
	return p.answer(asJSON, all, func(s *screen) { showPolicies(s, all) })
}

// showPolicies writes policies for people.
func showPolicies(s *screen, all []policy.Listed) {
	for _, l := range all {
		if l.Data != nil {
			s.printf("%s  a data document\n", painted{bold, "data"})
			s.printf("  %s\n", painted{faint, fmt.Sprintf("%s, %s", l.File, l.Scope)})
			if l.Broken != "" {
				s.block("  broken: ", l.Broken)
			} else {
				s.printf("  defines: %s\n", strings.Join(l.Data, ", "))
			}
			continue
		}
		if l.Package == "" && l.Broken == "" {
			s.printf("%s\n  nothing is written in it\n", l.File)
			continue
		}
		s.printf("%s  %s\n", painted{bold, l.Package}, l.Title)
		s.printf("  %s\n", painted{faint, fmt.Sprintf("%s:%d, %s", l.File, l.Line, l.Scope)})
		if l.Broken != "" {
			s.block("  broken: ", l.Broken)
			continue
		}
		s.printIf(l.Library, "  a library: it is not asked by itself\n")
		for _, x := range []struct {
			name  string
			words []string
		}{{"authors", l.Authors}, {"events", l.Events}, {"tools", l.Tools}, {"signals", l.Signals}, {"verbs", l.Verbs}} {
			s.printIf(len(x.words) > 0, "  %s: %s\n", x.name, strings.Join(x.words, ", "))
		}
		s.printIf(!l.Trusted, "  not trusted: it may deny and ask, and its signals do not run\n")
	}
	s.printIf(len(all) == 0, "there are no policies here; begin one with \"cardea policy new NAME\"\n")
}

// policyTestCommand returns the command "policy test".
func policyTestCommand(p Process) *cobra.Command {
	var f policyTestFlags
	c := &cobra.Command{
		Use:   "test [--run REGEX] [--coverage] [--format FORMAT] [path ...]",
		Short: "run the tests of policies",
		Long: `Run the tests of the policies that are in force here, or of the given files and
folders, with OPA's own tester. Tests are rules named test_… in files that end in
_test.rego. They set the input by "with input as".

Where no test was run, nothing was shown to work, and the command fails.`,
		Args: cobra.ArbitraryArgs,
	}
	c.Flags().StringVar(&f.run, "run", "", "only tests whose name data.PACKAGE.NAME matches this regular expression")
	c.Flags().BoolVar(&f.coverage, "coverage", false, "show the lines that were not evaluated")
	c.Flags().StringVar(&f.format, "format", "text", "text, json, junit (XML for CI servers) or github (commands for GitHub Actions)")
	return withJSON(c, func(paths []string, asJSON bool) error {
		if asJSON {
			f.format = "json"
		}
		return policyTest(p, paths, f)
	})
}

type policyTestFlags struct {
	run, format string
	coverage    bool
}

// testReport is the JSON of policy test.
type testReport struct {
	Tests    []engine.TestResult     `json:"tests"`
	Coverage []engine.Coverage       `json:"coverage"`
	Broken   []diagnostic.Diagnostic `json:"diagnostics"`
}

// policyTest runs the tests of the named policies, or of those in force.
func policyTest(p Process, paths []string, f policyTestFlags) error {
	if _, err := regexp.Compile(f.run); err != nil {
		return wrongUsage{fmt.Errorf("--run: %w", err)}
	}
	if !slices.Contains(testFormats, f.format) {
		return wrongUsage{fmt.Errorf("there is no format %q: use %s", f.format, strings.Join(testFormats, ", "))}
	}
	groups, found, err := policySources(p, paths)
	if err != nil {
		return err
	}
	report := testReport{Tests: []engine.TestResult{}, Coverage: []engine.Coverage{},
		Broken: notNil(slices.DeleteFunc(found, func(d diagnostic.Diagnostic) bool { return d.Severity == diagnostic.LevelNote }))}
	for _, s := range groups {
		ctx, cancel := context.WithTimeout(context.Background(), limit.PolicyTests)
		tested, broken, err := s.Test(ctx, p.Engines.Own, f.run)
		cancel()
		if err != nil {
			return err
		}
		report.Tests, report.Coverage, report.Broken = append(report.Tests, tested.Results...), append(report.Coverage, tested.Coverage...), append(report.Broken, broken...)
	}
	failed := len(report.Broken)
	for _, r := range report.Tests {
		if !r.Pass && !r.Skipped {
			failed++
		}
	}
	show := map[string]func(*screen){"junit": report.junit, "github": report.github, "text": func(s *screen) { report.show(s, f.coverage) }}[f.format]
	if err := p.answer(f.format == "json", report, show); err != nil {
		return err
	}
	if len(report.Tests) == 0 && failed == 0 {
		return errors.New("no test was run, so nothing was shown to work: write rules named test_… in files that end in _test.rego, or name others by --run")
	}
	return failIf(failed > 0, nil)
}

// show writes the report for people.
func (r testReport) show(s *screen, coverage bool) {
	failed := 0
	showDiagnostics(s, r.Broken)
	for _, t := range r.Tests {
		word := painted{green, "pass"}
		switch {
		case t.Skipped:
			word = painted{yellow, "todo"}
		case !t.Pass:
			failed++
			word = painted{red, "FAIL"}
		}
		about := fmt.Sprintf("%s:%d, %s", t.File, t.Line, t.Took.Round(time.Microsecond)) + onlyIf(len(t.Cases) > 0, fmt.Sprintf(", %d cases", len(t.Cases)))
		s.printf("%s  %s.%s  %s\n", word, t.Package, t.Name, painted{faint, about})
		if !t.Pass {
			showFailure(s, t)
		}
	}
	covered, total := 0, 0
	for _, c := range r.Coverage {
		covered, total = covered+c.Covered, total+c.Total
		if coverage && c.Total > 0 {
			missed := strings.Trim(fmt.Sprint(c.Missed), "[]")
			s.printf("%3d %%  %s%s\n", 100*c.Covered/c.Total, c.File, prefixed("  not evaluated: lines ", missed))
		}
	}
	s.printf("%d tests, %d failed", len(r.Tests), failed)
	if total > 0 {
		s.printf(", %d %% of the lines evaluated", 100*covered/total)
	}
	s.printf("\n")
}

// showFailure writes why a test did not pass.
func showFailure(s *screen, t engine.TestResult) {
	if t.Error != "" {
		s.block("      ", t.Error)
	}
	s.printIf(t.Failed > 0, "      does not hold: %s:%d\n", t.File, t.Failed)
	for _, c := range t.Cases {
		word := either(c.Pass, painted{green, "pass"}, painted{red, "FAIL"})
		s.printf("      %s  %s\n", word, c.Name)
	}
	for _, line := range t.Output {
		s.block("      printed ", line)
	}
}

// policyNewCommand returns the command "policy new".
func policyNewCommand(p Process) *cobra.Command {
	var user bool
	c := &cobra.Command{
		Use:   "new [--user] NAME",
		Short: "create a policy and its test",
		Long: `Write NAME.rego and NAME_test.rego into the project's folder of policies, or with
--user into your own. Existing files are not changed.`,
		Example: `  cardea policy new no_force_push`,
		Args:    oneArgument,
		RunE:    func(_ *cobra.Command, args []string) error { return policyNew(p, args[0], user) },
	}
	c.Flags().BoolVar(&user, "user", false, "for all projects, not only this one")
	return c
}

// policyNew writes a new policy and its test.
func policyNew(p Process, name string, user bool) error {
	if ok, _ := regexp.MatchString(`^[a-z][a-z0-9_]*$`, name); !ok || strings.HasSuffix(name, "_test") {
		return wrongUsage{fmt.Errorf("%q is no name for a policy: use small letters, digits and _, such as no_force_push", name)}
	}
	if slices.Contains(takenNames(), name) {
		return wrongUsage{fmt.Errorf("%q is a word of Rego, or of the test that is written, so it cannot name a policy: add a word, such as no_%s", name, name)}
	}
	if p.Dir == "" {
		return errNoFolder
	}
	dir, err := scopeFolder(p, user)
	if err != nil {
		return err
	}
	dir = filepath.Join(dir, "policies")
	files := []struct{ name, template string }{{name + ".rego", "NAME.rego.txt"}, {name + "_test.rego", "NAME_test.rego.txt"}}
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		written, err := begin(path, strings.ReplaceAll(template(f.template), "NAME", name), user)
		switch {
		case err != nil:
			return fmt.Errorf("begin the policy: %w", err)
		case !written:
			return fmt.Errorf("begin the policy: %s is there already; choose another name, or edit what is there", path)
		}
	}
	s := screenOn(p.Stdout, p.Env)
	s.printf("wrote %s and its test; run \"cardea policy test\" and \"cardea policy validate\"\n", filepath.Join(dir, name+".rego"))
	s.printIf(!user, "in a project that is not trusted it may deny and ask; see \"cardea trust\"\n")
	return s.err
}

// takenNames returns the words that have another meaning in Rego or in the template of the
// test.
func takenNames() []string {
	return strings.Fields("as contains data default else every false if import in input not null package some true with v1 call count d")
}

// policyInputCommand returns the command "policy input".
func policyInputCommand(p Process) *cobra.Command {
	var f tryFlags
	c := &cobra.Command{
		Use:   "input [flags] \"<command or input JSON>\"",
		Short: "print the input that policies get for a call",
		Long: `Print the input that policies get for a call, as JSON. Argument and flags are
those of "cardea try". Signals do not run.`,
		Args: oneArgument,
		RunE: func(_ *cobra.Command, args []string) error { return policyInput(p, f, args[0]) },
	}
	f.call(c.Flags())
	return c
}

func policyInput(p Process, f tryFlags, text string) error {
	m, err := f.message(p, text)
	if err != nil {
		return wrongUsage{err}
	}
	j := newEvaluation(p, m.event)
	j.Analyse()
	return encodeBy(p, policy.Input(j.Event, nil, j.Loaded.PolicyFacts()), "  ")
}
