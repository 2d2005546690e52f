package inforce

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/decide/rules"
)

// This file turns settings into the rules that they stand for. The rules have the
// scope of the file that says so, and are switched off by their pack's name like
// any other.

// The packs of the rules for policies.protected, policies.context and
// sensitive.*.
const (
	protectedPaths = "protected-paths"
	promptContext  = "prompt-context"
	sensitivePaths = "sensitive-paths"
)

// GeneratedPacks are the packs whose rules the settings stand for.
func GeneratedPacks() []string { return []string{protectedPaths, promptContext, sensitivePaths} }

// generatedRules are the rules that the settings of a scope stand for. Those of a
// project that is not trusted only tighten, as its own rules do, so its sensitive
// paths count, too.
func (l *Loaded) generatedRules(scope cardea.Scope) []rules.Rule {
	var out []rules.Rule
	for i := range l.SettingsFiles {
		f := &l.SettingsFiles[i]
		if f.Scope != scope || !f.Found {
			continue
		}
		from := func(key, id, pack string) rules.Rule {
			at, _ := f.Gives(key)
			return rules.Rule{ID: id, Pack: pack, Scope: scope, Trusted: f.Counts, Source: fmt.Sprintf("%s:%d", f.Path, at.Line)}
		}
		home, v := l.Where.Dirs.Home, &f.Values
		if f.Counts {
			out = append(out, protect(v.Policies.Protected, from("policies.protected", protectedPaths, protectedPaths), home)...)
			for _, text := range v.Policies.Context {
				r := from("policies.context", promptContext, promptContext)
				r.Events, r.Effect, r.Context = []string{"UserPromptSubmit"}, cardea.Abstain, text
				out = append(out, r)
			}
		}
		for _, s := range []struct {
			key     string
			globs   []string
			effect  cardea.Effect
			kinds   []cardea.AccessKind
			message string
			unknown string
		}{
			{"sensitive.deny_read", v.Sensitive.DenyRead, cardea.Deny, reads, "reading %s is denied by the setting sensitive.deny_read", "it is not known what this reads, and the setting sensitive.deny_read denies some files"},
			{"sensitive.ask_read", v.Sensitive.AskRead, cardea.Ask, reads, "reading %s needs a person, by the setting sensitive.ask_read", "it is not known what this reads, and the setting sensitive.ask_read names some files"},
			{"sensitive.ask_write", v.Sensitive.AskWrite, cardea.Ask, changes, "changing %s needs a person, by the setting sensitive.ask_write", "it is not known what this writes, and the setting sensitive.ask_write names some files"},
		} {
			like := from(s.key, strings.NewReplacer(".", "-", "_", "-").Replace(s.key), sensitivePaths)
			out = append(out, sensitive(s.globs, like, s.effect, s.kinds, s.message, s.unknown, home)...)
		}
	}
	return out
}

// reads are the kinds of access that learn what a file says, or may: a file that
// is run is read, too.
var reads = []cardea.AccessKind{cardea.Read, cardea.Execute, cardea.Unknown}

// sensitive are the rules for globs of sensitive paths.
func sensitive(globs []string, like rules.Rule, effect cardea.Effect, kinds []cardea.AccessKind, message, unknown, home string) []rules.Rule {
	var out []rules.Rule
	like.Severity = cardea.SeverityHigh
	like.Person = effect == cardea.Ask
	for _, glob := range globs {
		r := like
		r.Effect, r.Message = effect, fmt.Sprintf(message, glob)
		r.Match = rules.Match{Access: kinds, Paths: withContents(glob)}
		out = append(out, r)
		if slices.Contains(kinds, cardea.Read) {
			// A part that takes a file away and writes another one moves it to
			// where it can be read.
			r.Match = rules.Match{Access: []cardea.AccessKind{cardea.Delete}, Paths: withContents(glob), Any: []rules.Match{{Access: []cardea.AccessKind{cardea.Write}}}}
			out = append(out, r)
		}
		// PowerShell is not analysed, so naming the path is enough for an ask.
		r.Effect, r.Person, r.Tools = cardea.Ask, true, []string{"PowerShell"}
		r.Match = rules.Match{Field: "command", Pattern: mentions(glob, home)}
		if !slices.Contains(kinds, cardea.Read) {
			r.Match.UnlessText = powershellReads
		}
		out = append(out, r)
	}
	if len(globs) > 0 {
		r := like
		r.Effect, r.Person, r.Message = cardea.Ask, true, unknown
		r.Match = rules.Match{Access: kinds[:1], UnknownPath: true}
		out = append(out, r)
	}
	return out
}

// withContents is a glob of a rule with what lies below it, as a name in
// .gitignore means a folder with all of its contents.
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

// exempted are the rules without what the settings of system, organisation and
// person exempt from the built-in sensitive paths. No other rule is touched: what
// protects the gate is in other packs, and what a person wrote is theirs to change.
func (l *Loaded) exempted(all []rules.Rule) []rules.Rule {
	var globs []string
	for i := range l.SettingsFiles {
		if f := &l.SettingsFiles[i]; f.Counts && f.Scope != cardea.ScopeProject {
			for _, g := range f.Values.Sensitive.Exempt {
				globs = append(globs, withContents(g)...)
			}
		}
	}
	if len(globs) == 0 {
		return all
	}
	out := slices.Clone(all)
	for i := range out {
		if r := &out[i]; r.Scope == cardea.ScopeBuiltin && r.Pack == sensitiveBuiltins {
			r.Match = unlessPaths(r.Match, globs)
		}
	}
	return out
}

// sensitiveBuiltins is the built-in pack of sensitive paths.
const sensitiveBuiltins = "secrets-exposure"

// unlessPaths is a match that leaves paths alone.
func unlessPaths(m rules.Match, globs []string) rules.Match {
	if len(m.Paths) > 0 {
		m.UnlessPaths = append(slices.Clone(m.UnlessPaths), globs...)
	}
	m.Any = slices.Clone(m.Any)
	for i := range m.Any {
		m.Any[i] = unlessPaths(m.Any[i], globs)
	}
	return m
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
