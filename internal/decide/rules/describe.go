package rules

import (
	"fmt"
	"regexp"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/lists"
)

// String returns the conditions of a match for people, in the words of rules files.
func (m *Match) String() string {
	var out []string
	add := func(key string, values []string) {
		if len(values) > 0 {
			out = append(out, key+" "+strings.Join(values, ", "))
		}
	}
	commands := lists.Of(m.Command, func(c []string) string { return strings.Join(c, " ") })
	add("command", commands)
	add("flags", m.Flags)
	add("args", m.Args)
	add("access", texts(m.Access))
	add("path", m.Paths)
	add("host", m.Hosts)
	add("own", texts(m.Own))
	add("flow", m.Flows)
	add("env", m.Env)
	add("started by", m.StartedBy)
	add("role", m.Roles)
	for _, x := range []struct {
		is   bool
		word string
	}{{m.Outside, "outside"}, {m.HoldsKey, "holds a private key"}, {m.Redirection, "redirection"}, {m.Opaque, "opaque"}, {m.AnyProgram, "any program"}, {m.UnknownPath, "path unknown"},
		{m.Stdin != "", "stdin " + m.Stdin}, {m.Field != "", "field " + m.Field}, {m.Pattern != "", "pattern " + m.Pattern}} {
		if x.is {
			out = append(out, x.word)
		}
	}
	if len(m.Any) > 0 {
		var any []string
		for i := range m.Any {
			any = append(any, m.Any[i].String())
		}
		out = append(out, "any of ("+strings.Join(any, " | ")+")")
	}
	add("unless", append(append(m.Unless[:len(m.Unless):len(m.Unless)], m.UnlessCommand...), m.UnlessPaths...))
	return strings.Join(out, "; ")
}

func texts[T ~string](list []T) []string {
	return lists.Of(list, func(x T) string { return string(x) })
}

// Found returns the pieces of a text that the patterns of a match find, each with its
// pattern.
func (m *Match) Found(text string) []string {
	var out []string
	if m.Pattern != "" {
		if re, err := regexp.Compile(insensitive(m.Pattern)); err == nil {
			if at := re.FindString(text); at != "" {
				out = append(out, fmt.Sprintf("%q, by pattern %s", at, m.Pattern))
			}
		}
	}
	for i := range m.Any {
		out = append(out, m.Any[i].Found(text)...)
	}
	return out
}

// FoundIn returns the operands, options and accesses of a part that meet conditions of a
// rule, each with its condition.
func (d *Decider) FoundIn(ev *cardea.Event, r *Rule, part int) []string {
	c := &evaluation{d: d, ev: ev, rule: r}
	return c.found(&r.Match, &ev.Call.Parts[part], 1)
}

// found does the work of FoundIn for a match. after is the number of words of the part that
// belong to the command.
func (c *evaluation) found(m *Match, p *cardea.Part, after int) []string {
	var out []string
	if len(m.Command) > 0 {
		var ok bool
		if after, ok = m.leads(p); !ok {
			return nil
		}
	}
	for _, f := range m.Flags {
		if hasFlag([]string{f}, p) {
			out = append(out, fmt.Sprintf("%q, by flags %s", f, f))
		}
	}
	for k := after; k < words(p); k++ {
		text, static := word(p, k)
		for _, a := range m.Args {
			if c.fits(a, text) || !static && c.fits(a, unquoted(text)) {
				out = append(out, fmt.Sprintf("%q, by args %s", text, a))
			}
		}
	}
	for k := range p.Access {
		a := &p.Access[k]
		alone := *p
		alone.Access = p.Access[k : k+1]
		switch {
		case len(m.Paths)+len(m.Hosts) == 0 || !c.accessHolds(m, &alone):
		case a.Kind == cardea.Network:
			out = append(out, fmt.Sprintf("%q, by host %s", a.Host, strings.Join(m.Hosts, ", ")))
		default:
			out = append(out, fmt.Sprintf("%q, by path %s", a.Path, strings.Join(m.Paths, ", ")))
		}
	}
	for i := range m.Any {
		out = append(out, c.found(&m.Any[i], p, after)...)
	}
	return out
}
