package settings

import (
	"fmt"
	"maps"
	"sort"
	"strconv"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/base/lists"
)

// Text returns the key's value as YAML in one line.
func (k Key) Text(v *Values) string {
	switch at := k.At(v).(type) {
	case *cardea.Effect:
		return at.String()
	case *cardea.OnError:
		return at.String()
	case *string:
		if len(k.Words) > 0 {
			return *at
		}
		return scalar(*at)
	case *bool:
		return strconv.FormatBool(*at)
	case *int:
		return strconv.Itoa(*at)
	case *[]string:
		return list(*at, scalar)
	case *time.Duration:
		return at.String()
	case *float64:
		return ratioText(*at)
	case *judge.Money:
		return at.String()
	case *[]judge.Provider:
		return list(*at, providerText)
	case *map[string]judge.Price:
		return fields(*at, priceText)
	case *map[string]string:
		return fields(*at, scalar)
	case *map[string]Signal:
		good := maps.Clone(*at) // invalid ones are problems of the file
		maps.DeleteFunc(good, func(_ string, s Signal) bool { return s.Wrong != "" })
		return fields(good, func(s Signal) string {
			return fmt.Sprintf("{command: %s, timeout_seconds: %d}", scalar(s.Command), s.TimeoutSeconds)
		})
	case *[]Command:
		return list(*at, Command.text)
	case *map[string][]Command:
		return fields(*at, func(c []Command) string { return list(c, Command.text) })
	}
	return ""
}

// text returns an action as YAML in one line.
func (c Command) text() string {
	out := "{command: " + scalar(c.Command)
	var when []string
	for _, w := range []struct {
		key   string
		words []string
	}{{"events", c.When.Events}, {"tools", c.When.Tools}, {"harnesses", c.When.Harnesses}, {"effects", c.When.Effects}} {
		if len(w.words) > 0 {
			when = append(when, w.key+": "+list(w.words, scalar))
		}
	}
	if c.When.Severity != "" {
		when = append(when, "severity: "+c.When.Severity)
	}
	if len(when) > 0 {
		out += ", when: {" + strings.Join(when, ", ") + "}"
	}
	return out + "}"
}

// scalar returns a text as YAML, in quotes unless it is a simple word.
func scalar(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || r == '-')
	}) || s[0] == '-' {
		return strconv.Quote(s)
	}
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return strconv.Quote(s)
	}
	return s
}

func list[T any](all []T, text func(T) string) string {
	return "[" + strings.Join(lists.Of(all, text), ", ") + "]"
}

func fields[T any](all map[string]T, text func(T) string) string {
	out := make([]string, 0, len(all))
	for name, e := range all {
		out = append(out, scalar(name)+": "+text(e))
	}
	sort.Strings(out)
	return "{" + strings.Join(out, ", ") + "}"
}
