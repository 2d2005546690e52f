package config

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/decide/rules"
)

// This file turns settings into the rules that they stand for. The rules have the
// scope of the file that says so, and are switched off by their pack's name like
// any other.

// protectedPaths is the pack, and the id, of the rules for policies.protected.
const protectedPaths = "protected-paths"

// GeneratedPacks are the packs whose rules the settings stand for.
func GeneratedPacks() []string { return []string{protectedPaths} }

// generatedRules are the rules that the settings of a scope stand for.
func (l *Loaded) generatedRules(scope cardea.Scope) []rules.Rule {
	var out []rules.Rule
	for i := range l.SettingsFiles {
		f := &l.SettingsFiles[i]
		if !f.Counts || f.Scope != scope {
			continue
		}
		at, _ := f.gives("policies.protected")
		out = append(out, protect(f.Values.Policies.Protected, rules.Rule{ID: protectedPaths, Pack: protectedPaths, Scope: scope, Trusted: true,
			Source: fmt.Sprintf("%s:%d", f.Path, at.Line)}, l.Where.Dirs.Home)...)
	}
	return out
}

// changes are the kinds of access that change something, or may.
var changes = []cardea.AccessKind{cardea.Write, cardea.Delete, cardea.Unknown}

// protect are the rules for protected paths: nothing changes them, where it is not
// known what is changed a person is asked, and so where PowerShell, which is not
// analysed, names one of them and does more than read.
func protect(names []string, like rules.Rule, home string) []rules.Rule {
	var out []rules.Rule
	rule := func(effect cardea.Effect, severity cardea.Severity, message string) *rules.Rule {
		out = append(out, like)
		r := &out[len(out)-1]
		r.Effect, r.Severity, r.Message = effect, severity, message
		return r
	}
	for _, name := range names {
		rule(cardea.Deny, cardea.SeverityHigh, name+" is protected; leave it, or ask the person").Match =
			rules.Match{Access: changes, Paths: protectedGlobs(name)}
		r := rule(cardea.Ask, cardea.SeverityMedium, "it is not known what PowerShell writes, and it names what is protected ("+name+")")
		r.Tools = []string{"PowerShell"}
		r.Match = rules.Match{Field: "command", Pattern: mentions(name, home), UnlessText: powershellReads}
	}
	if len(names) > 0 {
		rule(cardea.Ask, cardea.SeverityMedium, "it is not known what this writes, and it may be something that is protected").Match =
			rules.Match{Access: changes[:2], UnknownPath: true}
	}
	return out
}

// protectedGlobs are the globs of a protected path: itself, and what lies below.
// A name that does not begin with "/" or "~/" lies in the project. Brackets and
// backslashes are letters like others.
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

// mentions is an expression for how a text may name a protected path: as the
// settings do, below the home folder, or by its last name.
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

// powershellReads is an expression for a PowerShell script of which every statement
// begins with a command that reads, without a redirection.
var powershellReads = func() string {
	rest := `(?:\s[^;|&\n\r(){}>]*)?`
	statement := `\s*(?:(?:(?:get|test|measure|compare|resolve|select|sort|where|group)-[a-z]+|format-(?:table|list|wide|hex)|(?:set|push|pop)-location|` +
		`cat|cd|dir|echo|findstr|gc|gci|gi|ls|more|select|sls|sort|type|where|write-host|write-output|git\s+(?:diff|log|show|status|blame))` + rest + `)?`
	return statement + `(?:[;|&\n\r(){}]+` + statement + `)*`
}()
