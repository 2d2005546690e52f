package rules

import (
	"fmt"
	"regexp"
	"strings"
)

// String is what a match asks for, in the words of rules files, for people.
func (m *Match) String() string {
	var out []string
	add := func(key string, values []string) {
		if len(values) > 0 {
			out = append(out, key+" "+strings.Join(values, ", "))
		}
	}
	var commands []string
	for _, c := range m.Command {
		commands = append(commands, strings.Join(c, " "))
	}
	add("command", commands)
	add("flags", m.Flags)
	add("args", m.Args)
	add("access", texts(m.Access))
	add("path", m.Paths)
	add("host", m.Hosts)
	add("own", texts(m.Own))
	add("flow", m.Flows)
	add("env", m.Env)
	add("role", m.Roles)
	for _, x := range []struct {
		is   bool
		word string
	}{{m.Outside, "outside"}, {m.HoldsKey, "holds a private key"}, {m.Redirection, "redirection"}, {m.Opaque, "opaque"}, {m.UnknownPath, "path unknown"}} {
		if x.is {
			out = append(out, x.word)
		}
	}
	if m.Field != "" {
		out = append(out, "field "+m.Field)
	}
	if m.Pattern != "" {
		out = append(out, "pattern "+m.Pattern)
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
	var out []string
	for _, x := range list {
		out = append(out, string(x))
	}
	return out
}

// Found are the pieces of a text that the patterns of a match find, each with its
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
