package evidence

import (
	"fmt"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/bash"
)

// check is a check of the settings, taken apart.
type check struct {
	// text is the check as it is written, and line as [bash.Tidy] has it, ""
	// where no line that is run can be it.
	text, line string
	// simple is the text of the part that a check is which is one command and
	// nothing else, "" for other checks.
	simple string
}

func read(texts []string) []check {
	out := make([]check, 0, len(texts))
	for _, text := range texts {
		c := check{text: text}
		c.line, _ = bash.Tidy(text) // what is wrong with it is told by [Mistakes]
		if a := bash.Analyse(text, bash.Env{}); len(a.Parts) == 1 && len(a.Opaque) == 0 && len(bash.Links(text)) == 1 {
			if p := &a.Parts[0]; len(p.Wrappers) == 0 && len(p.Assigns) == 0 && !slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Redirect }) {
				c.simple = p.Text
			}
		}
		out = append(out, c)
	}
	return out
}

// Mistakes are what is wrong with checks that can never hold, by check.
func Mistakes(texts []string) map[string]string {
	const project = "/project"
	out, writing := map[string]string{}, []string{}
	for _, text := range texts {
		if _, err := bash.Tidy(text); err != nil {
			out[text] = err.Error()
			continue
		}
		parts := bash.Analyse(text, bash.Env{Cwd: project}).Parts
		if slices.ContainsFunc(parts, func(p cardea.Part) bool { return writes(&p, project) }) {
			writing = append(writing, text)
		}
	}
	for i, text := range writing {
		if other := writing[(i+1)%len(writing)]; other != text {
			out[text] = fmt.Sprintf("it writes in the project, as %q does, and each takes the other's evidence away; make them one check", other)
		}
	}
	return out
}

// line is the command of a call of the shell, "" for other calls.
func line(c *cardea.Call) string {
	text, _ := c.Input["command"].(string)
	if c.Tool != "Bash" {
		return ""
	}
	return text
}

// whole are the checks that a call's line is, so that it ends as they do. What
// the parser may read in another way than bash has to be written in the same way.
func whole(c *cardea.Call, checks []check) []string {
	text := line(c)
	tidy, err := bash.Tidy(text)
	if err != nil {
		return nil
	}
	var out []string
	for _, ch := range checks {
		if ch.line == tidy && (len(c.Opaque) == 0 || strings.TrimSpace(text) == strings.TrimSpace(ch.text)) {
			out = append(out, ch.text)
		}
	}
	return out
}

// simple reports whether a part is one of the checks, whatever starts it.
func simple(p *cardea.Part, checks []check) bool {
	return slices.ContainsFunc(checks, func(c check) bool { return c.simple != "" && c.simple == p.Text })
}

// asLink are the checks that a link of a line is, which is a part by itself.
func asLink(link string, p *cardea.Part, checks []check) []string {
	var out []string
	for _, c := range checks {
		if c.line == link || c.simple != "" && c.simple == p.Text && len(p.Assigns) == 0 {
			out = append(out, c.text)
		}
	}
	return out
}
