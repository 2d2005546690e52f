package config

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/document"
)

// read reads the key's value into its place. What is wrong is reported to the
// document.
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
		*at = v.Int(int(k.Low), int(k.High))
	case *float64:
		*at = k.fraction(v)
	case *time.Duration:
		*at = duration(v, k.High)
	case *[]string:
		*at = k.texts(v)
	default:
		k.readMap(v, at)
	}
}

// readMap reads values that are maps, or lists of maps.
func (k Key) readMap(v document.Value, at any) {
	switch at := at.(type) {
	case *map[string]string:
		*at = entries(v, func(e document.Value) string { return filled(e, e.Text()) })
	case *map[string]int:
		for _, name := range v.Map().Keys() {
			if !slices.Contains(k.Words, name) {
				v.Problem("use "+strings.Join(k.Words, ", "), "unknown key %q in %s", name, k.Name)
			}
		}
		*at = entries(v, func(e document.Value) int { return e.Int(int(k.Low), int(k.High)) })
	case *map[string]Signal:
		*at = entries(v, signal)
	case *[]Command:
		*at = commands(v)
	case *map[string][]Command:
		*at = entries(v, commands)
	case *[]Provider:
		for _, e := range v.List() {
			*at = append(*at, k.provider(e))
		}
	}
}

// text is a text; a name that becomes part of a path must be one.
func (k Key) text(v document.Value) string {
	if len(k.Words) > 0 {
		return v.Word(k.Words...)
	}
	s := v.Text()
	switch {
	case k.Name == "org.name" && s != "" && !isName(s):
		v.Problem("use letters, digits, and . _ -", "%q is no name", s)
		return ""
	case k.Name == "ledger.dir" && s != "" && !filepath.IsAbs(s):
		v.Problem("write an absolute path", "%q is not an absolute path", s)
		return ""
	}
	return s
}

// isName reports whether a text can be the name of a folder.
func isName(s string) bool {
	return len(s) <= 100 && !strings.HasPrefix(s, ".") && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r))
	})
}

func (k Key) texts(v document.Value) []string {
	var out []string
	for _, e := range v.Items() {
		if len(k.Words) > 0 {
			out = append(out, e.Word(k.Words...))
		} else {
			out = append(out, filled(e, e.Text()))
		}
	}
	return out
}

// filled reports an empty text where one says nothing.
func filled(v document.Value, s string) string {
	if s == "" {
		v.Problem("give it a value or remove it", "an empty text")
	}
	return s
}

// fraction is a number within the key's bounds.
func (k Key) fraction(v document.Value) float64 {
	f, err := strconv.ParseFloat(v.Text(), 64)
	if err != nil || math.IsNaN(f) || f < k.Low || f > k.High {
		v.Problem(fmt.Sprintf("use a number from %g to %g", k.Low, k.High), "%s is out of range", k.Name)
		return 0
	}
	return f
}

// duration is a length of time of at most so many seconds.
func duration(v document.Value, seconds float64) time.Duration {
	d := v.Duration()
	if d.Seconds() > seconds {
		v.Problem("use at most "+time.Duration(seconds*float64(time.Second)).String(), "%s is too long", d)
		return 0
	}
	return d
}

// entries reads a map whose keys are the author's.
func entries[T any](v document.Value, read func(document.Value) T) map[string]T {
	m := v.Map()
	out := make(map[string]T)
	for _, name := range m.Keys() {
		out[name] = read(m.Get(name))
	}
	return out
}

func signal(v document.Value) Signal {
	m := v.Map()
	s := Signal{Command: m.Need("command").Text(), TimeoutSeconds: 5}
	if t := m.Get("timeout_seconds"); t.Present() {
		s.TimeoutSeconds = t.Int(1, int(maxWait.Seconds()))
	}
	m.Done()
	return s
}

func commands(v document.Value) []Command {
	var out []Command
	for _, e := range v.List() {
		m := e.Map()
		c := Command{Command: m.Need("command").Text()}
		if w := m.Map("when"); m.Has("when") {
			c.When = When{Events: w.Texts("events"), Tools: w.Texts("tools"), Harnesses: w.Texts("harnesses"), Effects: w.Texts("effects"),
				Severity: w.Word("severity", "low", "medium", "high", "critical")}
			w.Done()
		}
		out = append(out, c)
		m.Done()
	}
	return out
}

// provider is a link of the judge's chain: the name of a known one, or a map,
// where an unknown name needs an endpoint.
func (k Key) provider(v document.Value) Provider {
	if !v.IsMap() {
		return Provider{Name: v.Word(k.Words...)}
	}
	m := v.Map()
	p := Provider{Name: m.Need("name").Text(), Endpoint: m.Text("endpoint"), Model: m.Text("model"),
		APIKeyCommand: m.Text("api_key_command"), Timeout: duration(m.Get("timeout"), maxWait.Seconds())}
	if p.Endpoint != "" && !strings.HasPrefix(p.Endpoint, "https://") && !strings.HasPrefix(p.Endpoint, "http://") {
		m.Get("endpoint").Problem("write https://…", "%q is no address", p.Endpoint)
	}
	if p.Endpoint == "" && !slices.Contains(k.Words, p.Name) {
		v.Problem("add endpoint: https://…, or use "+strings.Join(k.Words, ", "), "the provider %q is not known", p.Name)
	}
	m.Done()
	return p
}
