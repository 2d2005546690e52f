package cli

import (
	"fmt"
	"io"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/decide/policy/engine"
)

// testFormats are the forms in which "cardea policy test" answers.
var testFormats = []string{"text", "json", "junit", "github"}

// The elements of a JUnit file, as CI servers read it.
type (
	junitSuites struct {
		Suites []junitSuite
	}
	junitSuite struct {
		Name     string
		Tests    int
		Failures int
		Skipped  int
		Errors   int
		Cases    []junitCase
	}
	junitCase struct {
		Name    string
		Class   string
		File    string
		Line    int
		Seconds string
		Failure *junitProblem
		Error   *junitProblem
		Skipped *struct{}
	}
	junitProblem struct {
		Message string
		Text    string
	}
)

// junit writes the report as JUnit XML: a suite for each package, and one for files
// that are broken.
func (r testReport) junit(w io.Writer) error {
	var out junitSuites
	at := map[string]int{}
	for _, t := range r.Tests {
		i, known := at[t.Package]
		if !known {
			i = len(out.Suites)
			at[t.Package] = i
			out.Suites = append(out.Suites, junitSuite{Name: t.Package})
		}
		s := &out.Suites[i]
		c := junitCase{Name: t.Name, Class: t.Package, File: t.File, Line: t.Line, Seconds: fmt.Sprintf("%.6f", t.Took.Seconds())}
		s.Tests++
		switch {
		case t.Skipped:
			c.Skipped = &struct{}{}
			s.Skipped++
		case !t.Pass:
			c.Failure = &junitProblem{failureOf(t), strings.Join(t.Output, "\n")}
			s.Failures++
		}
		s.Cases = append(s.Cases, c)
	}
	if len(r.Broken) > 0 {
		s := junitSuite{Name: "files", Tests: len(r.Broken), Errors: len(r.Broken)}
		for _, d := range r.Broken {
			s.Cases = append(s.Cases, junitCase{Name: d.File, Class: "files", File: d.File, Line: d.Line, Seconds: "0", Error: &junitProblem{d.String(), ""}})
		}
		out.Suites = append(out.Suites, s)
	}
	_, err := io.WriteString(w, out.text())
	return err
}

// text is the file. It is written without encoding/xml, which would cost every hook:
// it prepares tables when the program starts.
func (out junitSuites) text() string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n<testsuites>\n")
	for _, s := range out.Suites {
		fmt.Fprintf(&b, `  <testsuite name="%s" tests="%d" failures="%d" skipped="%d" errors="%d">`+"\n", xmlText(s.Name), s.Tests, s.Failures, s.Skipped, s.Errors)
		for _, c := range s.Cases {
			c.write(&b)
		}
		b.WriteString("  </testsuite>\n")
	}
	b.WriteString("</testsuites>\n")
	return b.String()
}

func (c *junitCase) write(b *strings.Builder) {
	fmt.Fprintf(b, `    <testcase name="%s" classname="%s"`, xmlText(c.Name), xmlText(c.Class))
	if c.File != "" {
		fmt.Fprintf(b, ` file="%s"`, xmlText(c.File))
	}
	if c.Line != 0 {
		fmt.Fprintf(b, ` line="%d"`, c.Line)
	}
	fmt.Fprintf(b, ` time="%s">`, c.Seconds)
	within := false
	for _, p := range []struct {
		name string
		*junitProblem
	}{{"failure", c.Failure}, {"error", c.Error}} {
		if p.junitProblem != nil {
			fmt.Fprintf(b, "\n      <%s message=\"%s\">%s</%s>", p.name, xmlText(p.Message), xmlText(p.Text), p.name)
			within = true
		}
	}
	if c.Skipped != nil {
		b.WriteString("\n      <skipped></skipped>")
		within = true
	}
	if within {
		b.WriteString("\n    ")
	}
	b.WriteString("</testcase>\n")
}

// xmlText is text as XML writes it, in attributes too. What is no character of XML
// becomes the replacement character.
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

// failureOf says in one line why a test did not pass.
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
	if len(out) == 0 {
		return "the test is not true"
	}
	return strings.Join(out, "; ")
}

// github writes the failures as commands that GitHub's runner shows beside the lines
// (workflow commands for GitHub Actions, "Setting an error message").
func (r testReport) github(s *screen) {
	say := func(file string, line int, title, text string) {
		s.printf("%s\n", fmt.Sprintf("::error file=%s,line=%d,title=%s::%s", githubValue(file), max(line, 1), githubValue(title), githubText(text)))
	}
	for _, d := range r.Broken {
		if d.Severity == cardea.LevelError {
			say(d.File, d.Line, "policy", d.Text)
		}
	}
	failed := 0
	for _, t := range r.Tests {
		if !t.Pass && !t.Skipped {
			failed++
			line := t.Line
			if t.Failed > 0 {
				line = t.Failed
			}
			say(t.File, line, t.Package+"."+t.Name, failureOf(t))
		}
	}
	s.printf("%d tests, %d failed\n", len(r.Tests), failed)
}

// githubText escapes what ends a command.
func githubText(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// githubValue escapes what ends a value within a command, too.
func githubValue(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(githubText(s))
}
