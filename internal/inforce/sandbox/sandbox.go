// Package sandbox compiles what Cardea denies for certain into denies that the sandbox of a
// harness enforces: paths that nothing may read or write, hosts, and variables. A sandbox holds
// for programs of which a gate knows nothing, and cannot ask.
package sandbox

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/install"
	"cardea.dev/internal/paths"
	"cardea.dev/internal/roles"
)

// About is what is compiled.
type About struct {
	// Rules are those in force, Own tells where the gate's own things lie.
	Rules []rules.Rule
	Own   func(rules.Own) []string
	// Role are the definitions of the role of every session, none for no role. Its relative
	// paths lie in Project.
	Role    []roles.Role
	Home    string
	Project string
	// Variables hold keys of Cardea's own.
	Variables []string
	// OS is the system by its GOOS. Only the sandbox of macOS knows patterns for writes.
	OS string
	// Without are names of sources, or values, that are left out.
	Without []string
}

// Entry is a deny, and what it comes from: the id of a rule, or "role NAME".
type Entry struct {
	install.Deny
	From string
}

// Left is what a sandbox cannot do, and why.
type Left struct{ From, What, Why string }

// Compiled are the denies, and what is left to the gate.
type Compiled struct {
	Entries []Entry
	Left    []Left
	about   About
}

// Denies are the entries alone.
func (c *Compiled) Denies() (out []install.Deny) {
	for _, e := range c.Entries {
		out = append(out, e.Deny)
	}
	return out
}

// Compile works out the denies. What needs more than a path or a host to be decided, asks, or
// holds in one project alone is left to the gate.
func Compile(a About) *Compiled {
	c := &Compiled{about: a}
	for _, builtIn := range []bool{false, true} { // what people wrote is shown first
		for i := range a.Rules {
			if r := &a.Rules[i]; builtIn == (r.Scope == cardea.ScopeBuiltin) {
				c.rule(r)
			}
		}
	}
	for _, r := range a.Role {
		if r.Scope == cardea.ScopeProject && !r.Trusted {
			continue // its globs are the agent's
		}
		for _, g := range r.Paths.DenyRead {
			c.path(install.DenyRead, "role "+r.Name, g.Text, a.Project)
		}
		for _, g := range r.Paths.DenyWrite {
			c.path(install.DenyWrite, "role "+r.Name, g.Text, a.Project)
		}
	}
	for _, v := range a.Variables {
		c.add(install.DenyVariable, "settings", v)
	}
	return c
}

// rule compiles a rule, where it denies all that its paths, hosts or own things name.
func (c *Compiled) rule(r *rules.Rule) {
	names := len(r.Match.Paths)+len(r.Match.Hosts)+len(r.Match.Own) > 0 || slices.ContainsFunc(r.Match.Any, func(m rules.Match) bool { return len(m.Paths)+len(m.Hosts)+len(m.Own) > 0 })
	shell := len(r.Tools) == 0 || slices.ContainsFunc(r.Tools, func(t string) bool { return paths.MatchName(t, "Bash") })
	switch {
	case !names || !shell || len(r.Events) > 0 && !slices.Contains(r.Events, string(cardea.PreToolUse)):
		return
	case r.Scope == cardea.ScopeProject:
		c.left(r.ID, "", "it holds in a project, and these settings hold in all")
		return
	case r.Effect < cardea.Deny:
		if r.Effect == cardea.Ask && r.Scope != cardea.ScopeBuiltin {
			c.left(r.ID, "", "it asks, and a sandbox cannot")
		}
		return
	}
	all := r.Match.Any
	if len(all) == 0 {
		all = []rules.Match{{}}
	}
	for _, m := range all {
		c.match(r, m)
	}
}

// match compiles an alternative of a rule together with the rest of its match.
func (c *Compiled) match(r *rules.Rule, m rules.Match) {
	base := r.Match
	kinds := m.Access
	if len(kinds) == 0 {
		kinds = base.Access
	}
	globs, hosts, own := slices.Concat(base.Paths, m.Paths), slices.Concat(base.Hosts, m.Hosts), slices.Concat(base.Own, m.Own)
	excepted := slices.Concat(base.UnlessPaths, m.UnlessPaths)
	if !plain(base) || !plain(m) || len(m.Any) > 0 || len(base.Paths) > 0 && len(m.Paths) > 0 || len(hosts) > 0 && len(globs)+len(own) > 0 {
		c.left(r.ID, "", "it depends on the command")
		return
	}
	has := func(k cardea.AccessKind) bool { return len(kinds) == 0 || slices.Contains(kinds, k) }
	for _, h := range hosts {
		if has(cardea.Network) {
			c.host(r.ID, h)
		}
	}
	for _, list := range []string{install.DenyRead, install.DenyWrite} {
		if kind := map[string]cardea.AccessKind{install.DenyRead: cardea.Read, install.DenyWrite: cardea.Write}[list]; !has(kind) {
			continue
		}
		secret := list == install.DenyRead && (r.Loses == cardea.LossSecrets || len(own) > 0)
		from := len(c.Entries)
		for _, g := range globs {
			if slices.ContainsFunc(excepted, func(e string) bool { return mayMeet(e, g) }) {
				c.left(r.ID, g, "a part of it is excepted, and denies alone are written")
				continue
			}
			c.path(list, r.ID, g, "")
		}
		for _, o := range own {
			for _, thing := range c.about.Own(o) {
				c.path(list, r.ID, literal(thing), "")
			}
		}
		for _, e := range slices.Clone(c.Entries[from:]) {
			if secret { // which a project's filesystem.allowRead does not open again
				c.add(install.DenyFile, r.ID, e.Value)
			}
		}
	}
}

// plain reports whether a match has no conditions but on what is accessed.
func plain(m rules.Match) bool {
	m.Paths, m.Hosts, m.Own, m.Access, m.Any, m.UnlessPaths = nil, nil, nil, nil, nil, nil
	m.UnlessMetadata, m.UnlessSearch, m.Programs, m.Needs = false, false, 0, nil
	return reflect.DeepEqual(m, rules.Match{})
}

// mayMeet reports whether two globs may name one path, or a folder around one: it only says no
// where the last name of neither is among those of the other.
func mayMeet(a, b string) bool {
	as, bs := strings.Split(strings.TrimSuffix(a, "/**"), "/"), strings.Split(strings.TrimSuffix(b, "/**"), "/")
	in := func(name string, all []string) bool {
		return strings.ContainsAny(name, `*?[\`) || slices.ContainsFunc(all, func(s string) bool { return strings.EqualFold(s, name) })
	}
	return in(as[len(as)-1], bs) || in(bs[len(bs)-1], as)
}

// literal is a path as a glob.
func literal(p string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(p)
}

// path compiles a glob. project is where a relative one lies, "" for one that holds in all
// projects.
func (c *Compiled) path(list, from, glob, project string) {
	name := strings.TrimSuffix(strings.TrimRight(glob, "/"), "/**")
	if home := c.about.Home; home != "" && paths.Within(home, name) {
		name = "~" + strings.TrimPrefix(name, home)
	}
	switch rest, anywhere := strings.CutPrefix(strings.TrimPrefix(name, "/"), "**/"); {
	case name == "" || name == "**" || name == "/**" || name == "~" || name == "/":
		c.left(from, glob, "it would shut out everything")
		return
	case anywhere, !strings.Contains(strings.TrimRight(glob, "/"), "/"):
		if project != "" && !strings.HasPrefix(name, "/") {
			name = project + "/**/" + rest
		} else {
			name = "~/**/" + rest
			c.left(from, glob, "outside of the home folder")
		}
		if list == install.DenyWrite && c.about.OS != "darwin" {
			name = strings.Replace(name, "/**/", "/", 1)
			c.left(from, glob, "below other folders: the sandbox knows no patterns for writes")
		}
	case !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "~/"):
		if project == "" {
			c.left(from, glob, "it lies in each project, and these settings hold in all")
			return
		}
		name = project + "/" + strings.TrimPrefix(name, "./")
	}
	if plain, is := unescaped(name); is {
		name = plain
	} else if list == install.DenyWrite && c.about.OS != "darwin" {
		c.left(from, glob, "the sandbox knows no patterns for writes")
		return
	}
	switch {
	case strings.ContainsAny(name, `\{}!`) || strings.TrimSpace(name) != name || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) || slices.Contains(strings.Split(name, "/"), ".."):
		c.left(from, glob, "the sandbox would read its characters otherwise")
	case c.about.OS != "darwin" && (strings.Contains(name, "/Library/") || strings.HasPrefix(name, "/private/")) || c.about.OS != "windows" && strings.Contains(name, "/AppData/"):
		// a folder of another system
	case strings.HasPrefix(name, "/dev/") && !strings.HasPrefix(name, "/dev/shm/") || strings.HasPrefix(name, "/proc/") || strings.HasPrefix(name, "/sys/"):
		c.left(from, glob, "the sandbox has its own")
	default:
		c.add(list, from, name)
	}
}

// unescaped is the one path that a glob names, where it is no pattern.
func unescaped(glob string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		switch ch := glob[i]; {
		case ch == '\\' && i+1 < len(glob):
			i++
			if strings.IndexByte("*?[", glob[i]) >= 0 {
				return "", false // such a name is a pattern there
			}
			b.WriteByte(glob[i])
		case strings.IndexByte("*?[", ch) >= 0:
			return "", false
		default:
			b.WriteByte(ch)
		}
	}
	return b.String(), true
}

var hostForm = regexp.MustCompile(`^(\*\.)?[a-z0-9_:]([a-z0-9_.:-]*[a-z0-9_])?$`)

// host compiles a host. The sandbox knows names, addresses, and "*." in front.
func (c *Compiled) host(from, glob string) {
	if glob = strings.ToLower(glob); !hostForm.MatchString(glob) {
		c.left(from, glob, "the sandbox knows no such pattern for hosts")
		return
	}
	c.add(install.DenyHost, from, glob)
}

// add adds an entry, once, and unless it is to be left out.
func (c *Compiled) add(list, from, value string) {
	d := install.Deny{List: list, Value: value}
	switch {
	case slices.Contains(c.about.Without, from) || slices.Contains(c.about.Without, value):
		c.left(from, value, leftOut)
	case !slices.ContainsFunc(c.Entries, func(e Entry) bool { return e.Deny == d }):
		c.Entries = append(c.Entries, Entry{d, from})
	}
}

const leftOut = "you left it out (--without)"

// LeftOut reports whether a name of --without left something out.
func (c *Compiled) LeftOut(name string) bool {
	return slices.ContainsFunc(c.Left, func(l Left) bool { return l.Why == leftOut && (l.From == name || l.What == name) })
}

// Only keeps the entries of one list, for a harness that has no other.
func (c *Compiled) Only(list, why string) {
	c.Entries = slices.DeleteFunc(c.Entries, func(e Entry) bool {
		if e.List != list && e.List != install.DenyFile { // which has the same paths
			c.left(e.From, e.Value, why)
		}
		return e.List != list
	})
}

func (c *Compiled) left(from, what, why string) {
	if l := (Left{from, what, why}); !slices.Contains(c.Left, l) {
		c.Left = append(c.Left, l)
	}
}

// breaks are what may not work any more in the sandbox, by a part of the path.
func breaks() [][2]string {
	return [][2]string{{"/.ssh/", "git and ssh with keys in files"}, {"/.aws/", "aws, terraform"}, {"/.config/gcloud/", "gcloud"}, {"/.azure/", "az"},
		{"/.gnupg/", "signing with gpg"}, {"/.config/gh/", "gh"}, {"/.git-credentials", "git over https"}, {"/.netrc", "curl and git with .netrc"},
		{"/.docker/config.json", "docker push and private images"}, {"/.kube/", "kubectl"}, {"/.npmrc", "npm"}, {"/.pypirc", "twine"}, {"/.env", "programs that read .env"}}
}

// Breaks says what may not work any more, for people.
func (c *Compiled) Breaks() (out []string) {
	for _, b := range breaks() {
		for _, e := range c.Entries {
			if e.List == install.DenyRead && strings.Contains(e.Value, b[0]) {
				out = append(out, fmt.Sprintf("%s (--without %s)", b[1], e.From))
				break
			}
		}
	}
	return out
}
