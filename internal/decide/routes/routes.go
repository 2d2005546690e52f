// Package routes applies the route files of the tool-routing plugin. A route
// blocks a call whose field matches a pattern, and says what to use instead.
//
//	routes:
//	  github-pr:
//	    tool: WebFetch
//	    pattern: 'github\.com/[^/]+/[^/]+/pull/'
//	    message: Use gh pr view.
//	    tests:
//	      - {input: {tool_name: WebFetch, tool_input: {url: …}}, expect: block}
//
// A route sees the raw field, anywhere in it, and that is its weakness: it is
// a hint that a person gives the model, not a wall. For a wall there are
// rules. What the original does at a mistake (it fails open, in silence, for
// all routes) is not kept: a mistake is reported, and costs its own route
// only.
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
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/lookaround"
)

// Route is one route.
type Route struct {
	// Name is the route's key in its file.
	Name string
	// Tool is a tool name or glob, with the harness aliases folded in; Field
	// is the field of its input, dotted for nested ones.
	Tool, Field string
	// Pattern is an expression, already translated from Python's dialect. Written is
	// the pattern as it stands in the file. Rewritten is set where it has lookahead or
	// lookbehind, and runs as what [Route.Expression] gives.
	Pattern, Written string
	Rewritten        bool
	// Message is what the model is told.
	Message string
	// Source is where the route is written, "file:line".
	Source string
	// Scope is who wrote it; Trusted is set where the person trusts the
	// project that it comes from.
	Scope   cardea.Scope
	Trusted bool
	Tests   []Test
}

// Expression is the pattern as RE2 runs it.
func (r *Route) Expression() (string, error) {
	if !r.Rewritten {
		return r.Pattern, nil
	}
	return lookaround.Remove(r.Pattern, true)
}

// Decider is the decider "routes". It may be used by many goroutines.
type Decider struct {
	routes []Route
	mu     sync.Mutex
	done   map[string]*regexp.Regexp
}

// New makes a decider of routes, in the order in which they are tried. It
// compiles nothing.
func New(list []Route) *Decider { return &Decider{routes: list} }

// Decide gives the opinion of the first route that matches, and of no other.
// An error is [cardea.Troubles] about a pattern that does not compile; the
// routes after it have been tried then.
func (d *Decider) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	if ev.Call == nil || !ev.Kind.Answered() {
		return nil, nil
	}
	var trouble error
	for i := range d.routes {
		if ctx.Err() != nil {
			break // the gate reports it
		}
		r := &d.routes[i]
		if !r.isAbout(ev.Call) {
			continue
		}
		hit, err := d.matches(r, ev.Call)
		if err != nil && trouble == nil {
			t := cardea.BrokenFile.Trouble(r.Source, cardea.CodeBadPattern, "", fmt.Sprintf("the pattern of route %s does not compile: %v", r.Name, err))
			if r.Rewritten {
				t.Failure = cardea.NoFailure // as any other mistake in a file of routes, which is found late here
			}
			if r.Scope == cardea.ScopeProject && !r.Trusted {
				t.Diagnostic = t.Diagnostic.Withheld()
			}
			trouble = cardea.Troubles{t}
		}
		if hit {
			return []cardea.Opinion{{Decider: "routes", Rule: r.Name, Effect: cardea.Deny, Part: cardea.WholeCall,
				Scope: r.Scope, Source: r.Source, Reason: r.Message,
				Withheld: r.Scope == cardea.ScopeProject && !r.Trusted}}, trouble
		}
	}
	return nil, trouble
}

func (r *Route) isAbout(c *cardea.Call) bool {
	return slices.ContainsFunc([]string{c.Tool, c.Name}, func(name string) bool { return name != "" && paths.MatchName(r.Tool, name) })
}

// matches reports whether the pattern is found in one of the field's values,
// those of duplicate and case-variant keys included.
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
	// Most calls do not even match without the lookarounds, and rewriting takes
	// milliseconds.
	if found, err := d.finds(lookaround.Loose(r.Pattern), vals); err != nil || !found {
		return false, err
	}
	expression, err := r.Expression()
	if err != nil {
		return false, err
	}
	return d.finds(expression, vals)
}

// finds reports whether an expression is found in one of several values.
func (d *Decider) finds(expression string, vals []any) (bool, error) {
	re, err := d.compile(expression)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(vals, func(v any) bool { return re.MatchString(text(v)) }), nil
}

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

// within are the values of a field; a dotted name leads into maps.
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

// text is what a pattern sees of a value: a string as it is, anything else as
// JSON.
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
