package schema

import (
	"fmt"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/config/settings"
)

// The table of keys is between these two lines of docs/settings.md.
const (
	tableBegin = "<!-- written by go generate ./internal/config/settings -->\n"
	tableEnd   = "<!-- end of the table -->\n"
)

// Page returns the page about settings with the current table of keys.
func Page(page string) (string, error) {
	head, rest, begins := strings.Cut(page, tableBegin)
	_, tail, ends := strings.Cut(rest, tableEnd)
	if !begins || !ends {
		return "", fmt.Errorf("the page has no table between %q and %q", tableBegin, tableEnd)
	}
	return head + tableBegin + "\n" + table() + "\n" + tableEnd + tail, nil
}

// table returns the keys as a Markdown table.
func table() string {
	rows := []string{
		"| key | values | default | meaning |",
		"|---|---|---|---|",
		"| `version` | `1` | `1` | the version of this format |",
		"| `packs` | a map of names to `on` or `off` | all on, but `full-reads` | built-in packs to switch off |",
		"| `rules.off` | ids, names of packs, or globs of either | none | rules to switch off |",
		"| `rules.effect` | a map of ids to effects | none | rules to give another effect |",
	}
	defaults := settings.Defaults()
	for _, k := range settings.Keys() {
		about := k.About
		if k.PersonOnly && !k.AdminOnly {
			about += "; yours only"
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | `%s` | %s |", k.Name, valuesOf(k), k.Text(&defaults), about))
	}
	return strings.Join(rows, "\n") + "\n"
}

// valuesOf describes the possible values of a key.
func valuesOf(k settings.Key) string {
	words := "`" + strings.Join(k.Words, "`, `") + "`"
	v := settings.Defaults()
	switch k.At(&v).(type) {
	case *cardea.Effect, *cardea.OnError:
		return words
	case *string:
		if len(k.Words) > 0 {
			return words
		}
		return "text"
	case *bool:
		return "`true`, `false`"
	case *int:
		return fmt.Sprintf("%d to %d", k.Low, k.High)
	case *time.Duration:
		return fmt.Sprintf("a time of at most %ds: `500ms`, `5s`", k.High)
	case *[]string:
		if len(k.Words) > 0 {
			return "a list of " + words
		}
		return "a list"
	case *float64:
		return "0 to 1"
	case *judge.Money:
		return "an amount in US dollars"
	case *[]settings.Command, *[]judge.Provider:
		return "a list"
	}
	return "a map"
}
