package settings

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/command/pathglob"
	"cardea.dev/internal/decide/policy"
)

// read reads the key's value into its place, and reports errors to the document.
func (k Key) read(v document.Value, into *Values) {
	switch at := k.At(into).(type) {
	case *cardea.Effect:
		if e, err := cardea.ParseEffect(v.Word(k.Words...)); err == nil {
			*at = e
		}
	case *cardea.OnError:
		if e, err := cardea.ParseOnError(v.Word(k.Words...)); err == nil {
			*at = e
		}
	case *string:
		*at = k.text(v)
	case *bool:
		*at = v.Bool()
	case *int:
		*at = v.Int(k.Low, k.High)
	case *[]string:
		*at = k.texts(v)
	case *time.Duration:
		*at = k.duration(v)
	case *float64:
		*at = ratio(v)
	case *judge.Money:
		*at = money(v)
	case *map[string]string:
		*at = entries(v, k.text)
	case *map[string]Signal:
		*at = signalsOf(v)
	case *[]judge.Provider:
		*at = chain(v)
	case *map[string]judge.Price:
		*at = entries(v, price)
	case *[]Command:
		*at = commands(v)
	case *map[string][]Command:
		*at = entries(v, commands)
	}
}

// text reads a text. It validates names, addresses and paths.
func (k Key) text(v document.Value) string {
	if len(k.Words) > 0 {
		return v.Word(k.Words...)
	}
	s := v.Text()
	switch {
	case k.Name == "org.name" && s != "" && !IsName(s):
		v.Problem(diagnostic.CodeBadValue, "use letters, digits, and . _ -", "%q is no name", s)
		return ""
	case k.Name == "org.key" && s != "" && !filepath.IsAbs(s) && !strings.HasPrefix(s, "~/"):
		v.Problem(diagnostic.CodeBadValue, "write an absolute path, or one that begins with ~/", "%q is not an absolute path", s)
		return ""
	case (k.Name == "human.webhook" || k.Name == "human.ntfy") && s != "" && !queue.SafeAddress(s):
		v.Problem(diagnostic.CodeBadValue, "write an address that begins with https://, or with http:// and localhost", "%q is not such an address", s)
		return ""
	case k.Name == "ledger.dir" && s != "" && !filepath.IsAbs(s):
		v.Problem(diagnostic.CodeBadValue, "write an absolute path", "%q is not an absolute path", s)
		return ""
	}
	return s
}

// duration reads a duration of at most High seconds.
func (k Key) duration(v document.Value) time.Duration {
	d := v.Duration()
	if most := time.Duration(k.High) * time.Second; d < 0 || d > most {
		v.Problem(diagnostic.CodeBadValue, "write 0s to "+most.String(), "%s is out of range", d)
		return most
	}
	return d
}

// IsName reports whether a text can be the name of an organisation, which is also a folder
// name.
func IsName(s string) bool {
	return s != "" && len(s) <= 100 && !strings.HasPrefix(s, ".") && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r))
	})
}

// texts reads a list of texts. It reports invalid entries and leaves them out.
func (k Key) texts(v document.Value) []string {
	var out []string
	for _, e := range v.Items() {
		s := ""
		wrong := e.Broken(func() {
			if len(k.Words) > 0 {
				s = e.Word(k.Words...)
			} else {
				s = filled(e, e.Text())
			}
			if k.Globs {
				pathglob.Check(e, s)
			}
			if k.Name == "judge.context" && !filepath.IsLocal(filepath.FromSlash(s)) && s != "" {
				e.Problem(diagnostic.CodeBadValue, "write a path in the project: docs/policy.md", "%q is no path in the project", s)
			}
		})
		if wrong == "" {
			out = append(out, s)
		}
	}
	return out
}

// filled returns s, and reports an error if it is empty.
func filled(v document.Value, s string) string {
	if s == "" {
		v.Problem(diagnostic.CodeMissing, "give it a value or remove it", "an empty text")
	}
	return s
}

// entries reads a map with arbitrary keys, without invalid entries.
func entries[T any](v document.Value, read func(document.Value) T) map[string]T {
	m := v.Map()
	out := make(map[string]T)
	for _, name := range m.Keys() {
		var e T
		if v.Broken(func() { e = read(m.Get(name)) }) == "" {
			out[name] = e
		}
	}
	return out
}

// signalsOf reads a map of signals. An invalid signal stores its error.
func signalsOf(v document.Value) map[string]Signal {
	m := v.Map()
	out := make(map[string]Signal)
	for _, name := range m.Keys() {
		var s Signal
		if wrong := v.Broken(func() { s = signal(m.Get(name)) }); wrong != "" {
			s = Signal{Wrong: wrong}
		}
		out[name] = s
	}
	return out
}

func signal(v document.Value) Signal {
	m := v.Map()
	s := Signal{Command: command(m), TimeoutSeconds: 5}
	if t := m.Get("timeout_seconds"); t.Present() {
		s.TimeoutSeconds = t.Int(1, int(limit.Setting.Seconds()))
	}
	m.Done()
	return s
}

// command reads a shell command. It warns of an empty one.
func command(m document.Map) string {
	v := m.Need("command")
	text := v.Text()
	if text == "" && v.Present() && !v.Null() {
		v.Warn(diagnostic.CodeNoEffect, "write what is to run, or remove the entry", "an empty command does nothing")
	}
	return text
}

// commands reads a list of actions, without invalid ones.
func commands(v document.Value) []Command {
	var out []Command
	for _, e := range v.List() {
		var c Command
		if e.Broken(func() { c = commandOf(e) }) == "" {
			out = append(out, c)
		}
	}
	return out
}

// commandOf reads an action with its condition.
func commandOf(v document.Value) Command {
	m := v.Map()
	c := Command{Command: command(m)}
	if w := m.Map("when"); m.Has("when") {
		c.When = When{Events: w.Texts("events"), Tools: w.Texts("tools"), Harnesses: w.Texts("harnesses"), Effects: w.Texts("effects"),
			Severity: w.Word("severity", "low", "medium", "high", "critical")}
		words(w.Get("events"), "event", policy.EventNames())
		words(w.Get("effects"), "effect after which actions run", []string{"ask", "deny", "halt"})
		w.Done()
	}
	m.Done()
	return c
}

// words warns of patterns that match none of the known words.
func words(v document.Value, what string, known []string) {
	for _, e := range v.Items() {
		if e.IsMap() || e.IsList() {
			continue // already reported
		}
		word := e.Text()
		if slices.ContainsFunc(known, func(k string) bool { ok, err := path.Match(word, k); return err == nil && ok }) {
			continue
		}
		hint := "use " + strings.Join(known[:min(len(known), 3)], ", ")
		if near := document.NearestName(word, known); near != "" {
			hint = fmt.Sprintf("write %q", near)
		}
		e.Warn(diagnostic.CodeUnknownName, hint, "there is no %s %q, so nothing runs for it", what, word)
	}
}
