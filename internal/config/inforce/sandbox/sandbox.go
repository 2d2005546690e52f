// Package sandbox compiles unconditional denies of Cardea into denies that a harness's
// sandbox enforces: paths that must not be read or written, and hosts. A sandbox also
// covers programs that a gate does not know, and cannot ask.
package sandbox

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/decide/roles"
	"cardea.dev/internal/decide/rules"
)

// About holds the sources of the denies.
type About struct {
	// Rules holds the rules in force. Own returns the paths of the gate's own things.
	Rules []rules.Rule
	Own   func(rules.Own) []string
	// Role holds the definitions of the role of every session, none for no role. Its relative
	// paths are in Project.
	Role          []roles.Role
	Home, Project string
	// OS is the system as in GOOS. Only the sandbox of macOS supports patterns for writes.
	OS string
	// Without holds the sources, or values, to leave out.
	Without []string
}

// Entry is a deny with its source: the id of a rule, or "role NAME".
type Entry struct {
	install.Deny
	From string
}

// LeftOut is the reason for entries in [About] Without.
const LeftOut = "you left it out (--without)"

// Left is a deny that a sandbox cannot express, and why.
type Left struct{ From, What, Why string }

// Compiled holds the denies for the sandbox, and those left to the gate.
type Compiled struct {
	Entries []Entry
	Left    []Left
	about   About
}

// Compile returns the denies. It leaves to the gate what asks, what applies in only one
// project, and what depends on more than a path or a host.
func Compile(a About) *Compiled {
	c := &Compiled{about: a}
	for _, builtIn := range []bool{false, true} { // the user's rules come first
		for i := range a.Rules {
			if r := &a.Rules[i]; builtIn == (r.Scope == cardea.ScopeBuiltin) {
				c.rule(r)
			}
		}
	}
	for _, r := range a.Role {
		if r.Scope == cardea.ScopeProject && !r.Trusted {
			continue // the agent may have written its globs
		}
		for i, globs := range [][]roles.Glob{r.Paths.DenyRead, r.Paths.DenyWrite} {
			for _, g := range globs {
				c.path([]string{install.DenyRead, install.DenyWrite}[i], "role "+r.Name, g.Text, a.Project, true)
			}
		}
	}
	return c
}

// rule compiles a rule about shell commands, if it denies every access to its paths, hosts
// or own things.
func (c *Compiled) rule(r *rules.Rule) {
	shell := len(r.Tools) == 0 || slices.ContainsFunc(r.Tools, func(t string) bool { return paths.MatchName(t, "Bash") })
	if !shell || len(r.Events) > 0 && !slices.Contains(r.Events, string(cardea.PreToolUse)) {
		return
	}
	all := r.Match.Any
	if len(all) == 0 {
		all = []rules.Match{{}}
	}
	for _, m := range all {
		both := m // with the conditions of all alternatives
		both.Paths, both.Hosts, both.Own = slices.Concat(r.Match.Paths, m.Paths), slices.Concat(r.Match.Hosts, m.Hosts), slices.Concat(r.Match.Own, m.Own)
		if both.UnlessPaths = slices.Concat(r.Match.UnlessPaths, m.UnlessPaths); len(m.Access) == 0 {
			both.Access = r.Match.Access
		}
		named := len(both.Paths) + len(both.Own)
		more := func(k cardea.AccessKind) bool { return len(r.Match.Access) > 0 && !slices.Contains(r.Match.Access, k) }
		// two accesses that must both match
		two := len(r.Match.Paths)+len(r.Match.Hosts)+len(r.Match.Own) > 0 && len(r.Match.Any) > 0 || slices.ContainsFunc(m.Access, more)
		switch {
		case named+len(both.Hosts) == 0 || r.Effect < cardea.Ask || r.Effect == cardea.Ask && r.Scope == cardea.ScopeBuiltin:
		case r.Effect == cardea.Ask:
			c.left(r.ID, "", "it asks, and a sandbox cannot")
		case r.Scope == cardea.ScopeProject:
			c.left(r.ID, "", "it holds in a project, and these settings hold in all")
		case !plain(r.Match) || !plain(m) || two || len(both.Hosts) > 0 && named > 0:
			if !two || r.Scope == cardea.ScopeBuiltin || len(m.Paths) > 0 { // otherwise settings and another rule cover it
				c.left(r.ID, "", "it depends on the command")
			}
		default:
			c.match(r, both)
		}
	}
}

// plain reports whether a match has only conditions on what is accessed.
func plain(m rules.Match) bool {
	m.Paths, m.Hosts, m.Own, m.Access, m.Any, m.UnlessPaths = nil, nil, nil, nil, nil, nil
	m.UnlessMetadata, m.UnlessSearch, m.Programs, m.Needs = false, false, 0, nil
	return reflect.DeepEqual(m, rules.Match{})
}

// match compiles the denies of a rule.
func (c *Compiled) match(r *rules.Rule, m rules.Match) {
	has := func(k cardea.AccessKind) bool { return len(m.Access) == 0 || slices.Contains(m.Access, k) }
	if !has(cardea.Read) && !has(cardea.Write) && !has(cardea.Network) {
		c.left(r.ID, "", "a sandbox knows reads, writes and hosts alone")
	}
	for _, h := range m.Hosts {
		if h = strings.ToLower(h); !hostForm.MatchString(h) {
			c.left(r.ID, h, "the sandbox knows no such pattern for hosts")
		} else if has(cardea.Network) {
			c.add(install.DenyHost, r.ID, h)
		}
	}
	for _, g := range append(m.Paths, slices.Concat(lists.Of(m.Own, c.about.Own)...)...) {
		if slices.ContainsFunc(m.UnlessPaths, func(e string) bool { return mayMeet(e, g) }) {
			c.left(r.ID, g, "a part of it is excepted, and denies alone are written")
			continue
		}
		deep := r.Scope != cardea.ScopeBuiltin
		if has(cardea.Read) {
			// A project's filesystem.allowRead overrides the first, but not the second.
			c.path(install.DenyRead, r.ID, g, "", deep)
			if r.Loses == cardea.LossSecrets || len(m.Own) > 0 {
				c.path(install.DenyFile, r.ID, g, "", deep)
			}
		}
		if has(cardea.Write) {
			c.path(install.DenyWrite, r.ID, g, "", deep)
		}
	}
}

// mayMeet reports whether two globs may name the same path, or a folder around one. It
// returns false only if neither contains the last name of the other.
func mayMeet(a, b string) bool {
	as, bs := strings.Split(strings.TrimSuffix(a, "/**"), "/"), strings.Split(strings.TrimSuffix(b, "/**"), "/")
	in := func(name string, all []string) bool {
		return strings.ContainsAny(name, `*?[\`) || slices.ContainsFunc(all, func(s string) bool { return strings.EqualFold(s, name) })
	}
	return in(as[len(as)-1], bs) || in(bs[len(bs)-1], as)
}

// hostForm matches the hosts that the sandbox supports: names, addresses, and a leading
// "*.".
var hostForm = regexp.MustCompile(`^(\*\.)?[a-z0-9_:]([a-z0-9_.:-]*[a-z0-9_])?$`)

// unusualForm matches the paths that the sandbox would interpret differently from a rule.
var unusualForm = regexp.MustCompile(`[\\{}!\x00-\x1f\x7f]|(^|/)\.\.(/|$)|^\s|\s$`)

// path compiles a glob. The folder project is the base of a relative glob, "" for a glob of
// all projects. On Linux, a glob for any depth is included only if deep is set. The sandbox
// there searches the folder for each such glob before each command (docs/sandbox.md).
func (c *Compiled) path(list, from, glob, project string, deep bool) {
	name := strings.TrimSuffix(strings.TrimRight(glob, "/"), "/**")
	if home := c.about.Home; paths.Within(home, name) {
		name = "~" + strings.TrimPrefix(name, home)
	}
	noPatterns := list == install.DenyWrite && c.about.OS != "darwin"
	switch rest, anywhere := strings.CutPrefix(strings.TrimPrefix(name, "/"), "**/"); {
	case slices.Contains([]string{"", "**", "/**", "~", "/"}, name):
		c.left(from, glob, "it would shut out everything")
		return
	case anywhere, !strings.Contains(strings.TrimRight(glob, "/"), "/"):
		root := project
		if project == "" || strings.HasPrefix(name, "/") {
			root = "~"
			c.left(from, glob, "outside of the home folder")
		}
		switch name = root + "/" + rest; {
		case noPatterns:
			c.left(from, glob, "below other folders: the sandbox knows no patterns for writes")
		case !deep && c.about.OS != "darwin":
			c.left(from, glob, "below other folders: each command would search the home folder")
		default:
			name = root + "/**/" + rest
		}
	case !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "~/"):
		if project == "" {
			c.left(from, glob, "it is in each project, and these settings hold in all")
			return
		}
		name = project + "/" + strings.TrimPrefix(name, "./")
	}
	switch {
	case noPatterns && strings.ContainsAny(name, "*?["):
		c.left(from, glob, "the sandbox knows no patterns for writes")
	case unusualForm.MatchString(name):
		c.left(from, glob, "the sandbox would read its characters otherwise")
	case c.about.OS != "darwin" && (strings.Contains(name, "/Library/") || strings.HasPrefix(name, "/private/")), strings.Contains(name, "/AppData/"):
		// a folder of another system
	case strings.HasPrefix(name, "/dev/") && !strings.HasPrefix(name, "/dev/shm/"), strings.HasPrefix(name, "/proc/"), strings.HasPrefix(name, "/sys/"):
		c.left(from, glob, "the sandbox has its own")
	default:
		c.add(list, from, name)
	}
}

// add adds an entry once, unless it is to be left out.
func (c *Compiled) add(list, from, value string) {
	d := install.Deny{List: list, Value: value}
	switch {
	case slices.Contains(c.about.Without, from) || slices.Contains(c.about.Without, value):
		c.left(from, value, LeftOut)
	case !slices.ContainsFunc(c.Entries, func(e Entry) bool { return e.Deny == d }):
		c.Entries = append(c.Entries, Entry{d, from})
	}
}

func (c *Compiled) left(from, what, why string) {
	if l := (Left{from, what, why}); !slices.Contains(c.Left, l) {
		c.Left = append(c.Left, l)
	}
}
