// Package routes applies the route files of the tool-routing plugin. A route blocks a call
// whose field matches a pattern, and names a better tool.
//
//	routes:
//	  github-pr:
//	    tool: WebFetch
//	    pattern: 'github\.com/[^/]+/[^/]+/pull/'
//	    message: Use gh pr view.
//	    tests:
//	      - {input: {tool_name: WebFetch, tool_input: {url: …}}, expect: block}
//
// A route matches anywhere in the raw field. So it is a hint to the model, not a
// protection; rules protect. The original fails open without a message for all routes if it
// finds a mistake. This package reports a mistake, and drops only its own route.
package routes

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/lookaround"
)

// Route is one route.
type Route struct {
	// Name is the route's key in its file.
	Name string
	// Tool is a tool name or glob, with harness aliases resolved. Field is the field of its
	// input, dotted for nested ones.
	Tool, Field string
	// Pattern is an expression translated from Python's dialect, Written the pattern as in
	// the file. Rewritten is set if it has lookarounds. It then runs as [Route.Expression]
	// returns it.
	Pattern, Written string
	Rewritten        bool
	// Message is the reason for the model.
	Message string
	// Source is the position of the route, "file:line".
	Source string
	// Scope is the scope of its file. Trusted is set if the person trusts the file's
	// project.
	Scope   cardea.Scope
	Trusted bool
	Tests   []Test
}

// Expression returns the pattern for RE2.
func (r *Route) Expression() (string, error) {
	if !r.Rewritten {
		return r.Pattern, nil
	}
	return lookaround.Remove(r.Pattern, true)
}

// Decider is the decider "routes". It is safe for concurrent use.
type Decider struct {
	routes []Route
	mu     sync.Mutex
	done   map[string]*regexp.Regexp
}

// New returns a decider of routes, which it tries in order. It compiles nothing.
func New(list []Route) *Decider { return &Decider{routes: list} }

// Decide returns the opinion of the first route that matches. The error holds the issue of
// the first pattern that does not compile. Decide still tries the routes after it.
func (d *Decider) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	if ev.Call == nil || !ev.Kind.Answered() {
		return nil, nil
	}
	var issue error
	for i := range d.routes {
		if ctx.Err() != nil {
			break // the gate reports it
		}
		r := &d.routes[i]
		if !r.isAbout(ev.Call) {
			continue
		}
		hit, err := d.matches(r, ev.Call)
		if err != nil && issue == nil {
			t := cardea.BrokenFile.Issue(r.Source, diagnostic.CodeBadPattern, "", fmt.Sprintf("the pattern of route %s does not compile: %v", r.Name, err))
			if r.Rewritten {
				t.Failure = cardea.NoFailure // like any other mistake in a file of routes, but found only now
			}
			if r.Scope == cardea.ScopeProject && !r.Trusted {
				t.Diagnostic = t.Diagnostic.Withheld()
			}
			issue = cardea.Issues{t}
		}
		if hit {
			return []cardea.Opinion{{Decider: "routes", Rule: r.Name, Effect: cardea.Deny, Part: cardea.WholeCall,
				Scope: r.Scope, Source: r.Source, Reason: r.Message,
				Withheld: r.Scope == cardea.ScopeProject && !r.Trusted}}, issue
		}
	}
	return nil, issue
}

func (r *Route) isAbout(c *cardea.Call) bool {
	return slices.ContainsFunc([]string{c.Tool, c.Name}, func(name string) bool { return name != "" && paths.MatchName(r.Tool, name) })
}

// matches reports whether the pattern matches a value of the field, including those of
// duplicate and case-variant keys.
func (d *Decider) matches(r *Route, c *cardea.Call) (bool, error) {
	vals := within(c.Input, r.Field)
	for key, more := range c.Shadowed {
		for _, v := range more {
			vals = append(vals, within(map[string]any{key: v}, r.Field)...)
		}
	}
	if len(vals) == 0 {
		return false, nil
	}
	if !r.Rewritten {
		return d.finds(r.Pattern, vals)
	}
	// Most calls do not match even without lookarounds, and rewriting takes milliseconds.
	if found, err := d.finds(lookaround.Loose(r.Pattern), vals); err != nil || !found {
		return false, err
	}
	expression, err := r.Expression()
	if err != nil {
		return false, err
	}
	return d.finds(expression, vals)
}

// finds reports whether an expression matches one of several values.
func (d *Decider) finds(expression string, vals []any) (bool, error) {
	re, err := d.compile(expression)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(vals, func(v any) bool { return re.MatchString(text(v)) }), nil
}

// compile compiles a pattern once, ignoring case.
func (d *Decider) compile(pattern string) (*regexp.Regexp, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if re := d.done[pattern]; re != nil {
		return re, nil
	}
	re, err := regexp.Compile("(?i)" + pattern)
	if err != nil {
		return nil, err
	}
	if d.done == nil {
		d.done = map[string]*regexp.Regexp{}
	}
	d.done[pattern] = re
	return re, nil
}

// within returns the values of a field. A dotted name selects fields of nested maps.
func within(v any, field string) []any {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	if got, ok := m[field]; ok {
		return []any{got}
	}
	if first, rest, dotted := strings.Cut(field, "."); dotted {
		return within(m[first], rest)
	}
	return nil
}

// text returns the text of a value that a pattern is matched with: a string itself, any
// other value as JSON.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}
