package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/decide/policy/engine"
)

// testFormats are the output formats of "cardea policy test".
var testFormats = []string{"text", "json", "junit", "github"}

// junitSuite is a suite of a JUnit file for CI servers: its numbers, and the text of its cases.
type junitSuite struct {
	name                             string
	tests, failures, skipped, errors int
	cases                            strings.Builder
}

// add adds a case. outcome is its child element, "" for a test that passed.
func (s *junitSuite) add(name, file string, line int, seconds, outcome string) {
	s.tests++
	fmt.Fprintf(&s.cases, `    <testcase name="%s" classname="%s"`, xmlText(name), xmlText(s.name))
	if file != "" {
		fmt.Fprintf(&s.cases, ` file="%s"`, xmlText(file))
	}
	if line != 0 {
		fmt.Fprintf(&s.cases, ` line="%d"`, line)
	}
	fmt.Fprintf(&s.cases, ` time="%s">%s</testcase>`+"\n", seconds, onlyIf(outcome != "", "\n      "+outcome+"\n    "))
}

// junitProblem returns the element for a failure or error of a case.
func junitProblem(kind, message, text string) string {
	return fmt.Sprintf("<%s message=\"%s\">%s</%s>", kind, xmlText(message), xmlText(text), kind)
}

// junit writes the report as JUnit XML: a suite for each package, and one for broken files. It
// avoids encoding/xml, which builds tables at program start and so would cost every hook.
func (r testReport) junit(s *screen) {
	var suites []*junitSuite
	for _, t := range r.Tests {
		i := slices.IndexFunc(suites, func(s *junitSuite) bool { return s.name == t.Package })
		if i < 0 {
			i, suites = len(suites), append(suites, &junitSuite{name: t.Package})
		}
		outcome := ""
		switch {
		case t.Skipped:
			outcome = "<skipped></skipped>"
			suites[i].skipped++
		case !t.Pass:
			outcome = junitProblem("failure", failureOf(t), strings.Join(t.Output, "\n"))
			suites[i].failures++
		}
		suites[i].add(t.Name, t.File, t.Line, fmt.Sprintf("%.6f", t.Took.Seconds()), outcome)
	}
	if len(r.Broken) > 0 {
		broken := &junitSuite{name: "files", errors: len(r.Broken)}
		for _, d := range r.Broken {
			broken.add(d.File, d.File, d.Line, "0", junitProblem("error", d.String(), ""))
		}
		suites = append(suites, broken)
	}
	s.raw(`<?xml version="1.0" encoding="UTF-8"?>` + "\n<testsuites>\n")
	for _, x := range suites {
		s.raw(fmt.Sprintf(`  <testsuite name="%s" tests="%d" failures="%d" skipped="%d" errors="%d">`+"\n%s  </testsuite>\n",
			xmlText(x.name), x.tests, x.failures, x.skipped, x.errors, x.cases.String()))
	}
	s.raw("</testsuites>\n")
}

// xmlText returns text escaped for XML content and attributes. Characters that XML does not
// allow become the replacement character.
func xmlText(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '&', r == '<', r == '>', r == '"', r == '\'', r == '\t', r == '\n', r == '\r':
			fmt.Fprintf(&b, "&#%d;", r)
		case r < ' ', r == 0xfffe, r == 0xffff:
			b.WriteRune('\ufffd')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// failureOf returns in one line why a test did not pass.
func failureOf(t engine.TestResult) string {
	var out []string
	if t.Error != "" {
		out = append(out, t.Error)
	}
	if t.Failed > 0 {
		out = append(out, fmt.Sprintf("does not hold: %s:%d", t.File, t.Failed))
	}
	for _, c := range t.Cases {
		if !c.Pass {
			out = append(out, "case "+c.Name)
		}
	}
	return cmp.Or(strings.Join(out, "; "), "the test is not true")
}

// github writes the failures as commands that GitHub's runner shows next to the lines
// (workflow commands for GitHub Actions, "Setting an error message").
func (r testReport) github(s *screen) {
	say := func(file string, line int, title, text string) {
		s.printf("%s\n", fmt.Sprintf("::error file=%s,line=%d,title=%s::%s", githubValue(file), max(line, 1), githubValue(title), githubText(text)))
	}
	for _, d := range r.Broken {
		if d.Severity == diagnostic.LevelError {
			say(d.File, d.Line, "policy", d.Text)
		}
	}
	failed := 0
	for _, t := range r.Tests {
		if !t.Pass && !t.Skipped {
			failed++
			line := either(t.Failed > 0, t.Failed, t.Line)
			say(t.File, line, t.Package+"."+t.Name, failureOf(t))
		}
	}
	s.printf("%d tests, %d failed\n", len(r.Tests), failed)
}

// githubText escapes the characters that end a command.
func githubText(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// githubValue also escapes the characters that end a value in a command.
func githubValue(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(githubText(s))
}
