package rules

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"cardea.dev"
)

// This file has the rules that implement settings.

// reads are the kinds of access that reveal, or may reveal, the contents of a file. Running
// a file also reads it.
var reads = []cardea.AccessKind{cardea.Read, cardea.Execute, cardea.Unknown}

// SensitiveSettings returns the settings that name sensitive paths, with their effects.
func SensitiveSettings() []SensitiveSetting {
	return []SensitiveSetting{
		{"sensitive.deny_read", cardea.Deny, reads, "reading %s is denied by the setting sensitive.deny_read", "it is not known what this reads, and the setting sensitive.deny_read denies some files"},
		{"sensitive.ask_read", cardea.Ask, reads, "reading %s needs a person, by the setting sensitive.ask_read", "it is not known what this reads, and the setting sensitive.ask_read names some files"},
		{"sensitive.ask_write", cardea.Ask, changes, "changing %s needs a person, by the setting sensitive.ask_write", "it is not known what this writes, and the setting sensitive.ask_write names some files"},
	}
}

// SensitiveSetting is a setting that names sensitive paths.
type SensitiveSetting struct {
	// Key is the key of the setting.
	Key    string
	effect cardea.Effect
	kinds  []cardea.AccessKind
	// message is the reason for a path, unknown the one for an access with an unknown path.
	message, unknown string
}

// Rules returns the rules that implement the setting. like has their scope and source, home
// is the person's home folder.
func (s SensitiveSetting) Rules(globs []string, like Rule, home string) []Rule {
	var out []Rule
	like.Severity, like.Loses = cardea.SeverityHigh, cardea.LossSecrets
	like.Person = s.effect == cardea.Ask
	for _, glob := range globs {
		r := like
		r.Effect, r.Message = s.effect, fmt.Sprintf(s.message, glob)
		r.Match = Match{Access: s.kinds, Paths: withContents(glob), UnlessMetadata: s.kinds[0] == cardea.Read}
		out = append(out, r)
		if slices.Contains(s.kinds, cardea.Read) {
			// A part that deletes the file and writes another one may move it to a place
			// where it can be read.
			r.Match = Match{Access: []cardea.AccessKind{cardea.Delete}, Paths: withContents(glob), Any: []Match{{Access: []cardea.AccessKind{cardea.Write}}}}
			out = append(out, r)
		}
		// PowerShell is not analysed, so naming the path is enough for an ask.
		r.Effect, r.Person, r.Tools = cardea.Ask, true, []string{"PowerShell"}
		r.Match = Match{Field: "command", Pattern: mentions(glob, home)}
		if !slices.Contains(s.kinds, cardea.Read) {
			r.Match.UnlessText = powershellReads
		}
		out = append(out, r)
	}
	if len(globs) > 0 {
		r := like
		r.Effect, r.Person, r.Message = cardea.Ask, true, s.unknown
		r.Match = Match{Access: s.kinds[:1], UnknownPath: true}
		out = append(out, r)
	}
	return out
}

// withContents returns the globs for a name and everything below it, as a name in
// .gitignore means a folder with its contents.
func withContents(glob string) []string {
	name := strings.TrimRight(glob, "/")
	switch {
	case name == "":
		return []string{"/**"}
	case strings.HasSuffix(name, "/**"):
		return []string{name}
	case name == "~":
		return []string{"~", "~/**"}
	case !strings.Contains(name, "/"):
		return []string{name, "/**/" + name, "/**/" + name + "/**"}
	}
	return []string{name, name + "/**"}
}

// Exempt returns the rules with globs exempted from the built-in sensitive paths. Other
// rules stay unchanged: other packs protect the gate, and users change their own rules.
func Exempt(all List, exempt []string) List {
	if len(exempt) == 0 {
		return all
	}
	var globs []string
	for _, g := range exempt {
		globs = append(globs, withContents(g)...)
	}
	out := slices.Clone(all)
	for i := range out {
		if r := out[i].whole; r != nil && r.Scope == cardea.ScopeBuiltin && r.Pack == "secrets-exposure" {
			other := *r
			other.Match = unlessPaths(r.Match, globs)
			entry := *out[i]
			entry.whole, entry.table, out[i] = &other, nil, &entry
		}
	}
	return out
}

// unlessPaths returns a match that ignores the paths that globs match.
func unlessPaths(m Match, globs []string) Match {
	if len(m.Paths) > 0 {
		m.UnlessPaths = append(slices.Clone(m.UnlessPaths), globs...)
	}
	m.Any = slices.Clone(m.Any)
	for i := range m.Any {
		m.Any[i] = unlessPaths(m.Any[i], globs)
	}
	return m
}

// changes are the kinds of access that change, or may change, a file, also through another
// name of it.
var changes = []cardea.AccessKind{cardea.Write, cardea.Delete, cardea.Link, cardea.Unknown}

// Protect returns the rules for protected paths. They deny changes. They ask if it is
// unknown what is changed, or if PowerShell, which is not analysed, names a protected path
// and does more than read.
func Protect(names []string, like Rule, home string) []Rule {
	var out []Rule
	rule := func(effect cardea.Effect, severity cardea.Severity, message string) *Rule {
		out = append(out, like)
		r := &out[len(out)-1]
		r.Effect, r.Severity, r.Message = effect, severity, message
		return r
	}
	for _, name := range names {
		rule(cardea.Deny, cardea.SeverityHigh, name+" is protected; leave it, or ask the person").Match =
			Match{Access: changes, Paths: protectedGlobs(name)}
		r := rule(cardea.Ask, cardea.SeverityMedium, "it is not known what PowerShell writes, and it names what is protected ("+name+")")
		r.Tools = []string{"PowerShell"}
		r.Match = Match{Field: "command", Pattern: mentions(name, home), UnlessText: powershellReads}
	}
	if len(names) > 0 {
		rule(cardea.Ask, cardea.SeverityMedium, "it is not known what this writes, and it may be something that is protected").Match =
			Match{Access: changes[:2], UnknownPath: true}
	}
	return out
}

// protectedGlobs returns the globs for a protected path and everything below it. A name
// that does not begin with "/" or "~/" is relative to the project. Brackets and backslashes
// are plain characters.
func protectedGlobs(name string) []string {
	glob := strings.NewReplacer(`\`, `\\`, "[", `\[`).Replace(strings.TrimRight(name, "/"))
	switch {
	case strings.Trim(name, "/") == "":
		return []string{"/**"}
	case strings.HasSuffix(name, "/**"):
	case !strings.HasPrefix(name, "/") && name != "~" && !strings.HasPrefix(name, "~/"):
		return []string{"./" + glob, "./" + glob + "/**"}
	default:
		return []string{glob, glob + "/**"}
	}
	if strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~/") {
		return []string{glob}
	}
	return []string{"./" + glob}
}

// mentions returns an expression for the ways in which a text may name a protected path.
// These are the name in the settings, the path with the home folder, and its last name.
func mentions(name, home string) string {
	clean := strings.TrimSuffix(path.Clean("/"+strings.TrimPrefix(name, "~/")), "/**")
	spellings := []string{clean}
	if strings.HasPrefix(name, "~/") && home != "" {
		spellings = append(spellings, path.Join(home, clean))
	}
	if last := path.Base(clean); !strings.ContainsAny(last, "*?/") {
		spellings = append(spellings, last)
	}
	for i, s := range spellings {
		s = regexp.QuoteMeta(strings.Trim(s, "/"))
		s = strings.NewReplacer(`\*\*/`, `(?:[^\s"']*[/\\])?`, `\*\*`, `[^\s"']*`, `\*`, `[^/\\\s"']*`, `\?`, `[^/\\\s"']`, "/", `[/\\]+`).Replace(s)
		spellings[i] = s
	}
	return `(?:^|[/\\\s"'=,;:(){}|&<>@])(?:` + strings.Join(spellings, "|") + `)[/\\]?(?:$|[/\\\s"'=,;:(){}|&<>])`
}

// powershellReads matches a PowerShell script in which every statement begins with a
// reading command and has no redirection.
const powershellReads = psStatement + `(?:[;|&\n\r(){}]+` + psStatement + `)*`

const (
	psStatement = `\s*(?:(?:(?:get|test|measure|compare|resolve|select|sort|where|group)-[a-z]+|format-(?:table|list|wide|hex)|(?:set|push|pop)-location|` +
		`cat|cd|dir|echo|findstr|gc|gci|gi|ls|more|select|sls|sort|type|where|write-host|write-output|git\s+(?:diff|log|show|status|blame))` + psRest + `)?`
	psRest = `(?:\s[^;|&\n\r(){}>]*)?`
)
