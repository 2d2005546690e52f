package cli

import (
	"encoding/xml"
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
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Errors   int         `xml:"errors,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		File    string        `xml:"file,attr,omitempty"`
		Line    int           `xml:"line,attr,omitempty"`
		Seconds string        `xml:"time,attr"`
		Failure *junitProblem `xml:"failure,omitempty"`
		Error   *junitProblem `xml:"error,omitempty"`
		Skipped *struct{}     `xml:"skipped,omitempty"`
	}
	junitProblem struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
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
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(out); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
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
