package sandbox

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/decide/roles"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/packs"
)

// texts returns the entries of a list.
func (c *Compiled) texts(list string) (out []string) {
	for _, e := range c.Entries {
		if e.List == list {
			out = append(out, e.Value)
		}
	}
	return out
}

func rule(effect cardea.Effect, scope cardea.Scope, m rules.Match) rules.Rule {
	return rules.Rule{ID: "r", Scope: scope, Effect: effect, Match: m}
}

var reads, writes = []cardea.AccessKind{cardea.Read}, []cardea.AccessKind{cardea.Write}

// TestPaths checks the form of rule globs in the settings, "" if left out.
func TestPaths(t *testing.T) {
	for _, tt := range []struct{ glob, read, write string }{
		{"~/.ssh/id_rsa", "~/.ssh/id_rsa", "~/.ssh/id_rsa"},
		{"/home/u/.ssh/id_rsa", "~/.ssh/id_rsa", "~/.ssh/id_rsa"},
		{"/home/user2/x", "/home/user2/x", "/home/user2/x"},
		{"/srv/data/", "/srv/data", "/srv/data"},
		{"/srv/data/**", "/srv/data", "/srv/data"},
		{"/**/.env", "~/**/.env", "~/.env"},
		{"**/.env", "~/**/.env", "~/.env"},
		{".env", "~/**/.env", "~/.env"},
		{"*.pem", "~/**/*.pem", ""},
		{"~/x/*.key", "~/x/*.key", ""},
		{"/srv/a b", "/srv/a b", "/srv/a b"},
		{`/srv/a\*b`, "", ""},
		{`/srv/\[x\]`, "", ""},
		{`/srv/a\b`, "", ""},
		{"src/**", "", ""},
		{"./secret", "", ""},
		{"/", "", ""},
		{"/**", "", ""},
		{"**", "", ""},
		{"~", "", ""},
		{"~/**", "", ""},
		{"/home/u", "", ""},
		{"/srv/../etc", "", ""},
		{"/srv/{a,b}", "", ""},
		{"/srv/!x", "", ""},
		{"/srv/x ", "", ""},
		{"/srv/a\nb", "", ""},
		{"/srv/a\x7f", "", ""},
		{"/dev/sda", "", ""},
		{"~/Library/Keychains", "", ""},
	} {
		c := Compile(About{OS: "linux", Home: "/home/u", Rules: []rules.Rule{rule(cardea.Deny, cardea.ScopeUser, rules.Match{Paths: []string{tt.glob}})}})
		got := [2]string{strings.Join(c.texts(install.DenyRead), " | "), strings.Join(c.texts(install.DenyWrite), " | ")}
		if got != [2]string{tt.read, tt.write} {
			t.Errorf("%q is read %q, written %q; want %q, %q", tt.glob, got[0], got[1], tt.read, tt.write)
		}
		if tt.write == "" && len(c.Left) == 0 && !strings.Contains(tt.glob, "Library") {
			t.Errorf("%q is left out without a word", tt.glob)
		}
	}
	mac := Compile(About{OS: "darwin", Home: "/Users/u", Rules: []rules.Rule{rule(cardea.Deny, cardea.ScopeUser, rules.Match{Paths: []string{"*.pem", "~/Library/x"}, Access: writes})}})
	if got := mac.texts(install.DenyWrite); !slices.Equal(got, []string{"~/**/*.pem", "~/Library/x"}) {
		t.Errorf("macOS: %v", got)
	}
}

// TestRules checks that only unconditional denies are compiled.
func TestRules(t *testing.T) {
	path := []string{"/p"}
	for name, tt := range map[string]struct {
		rule rules.Rule
		want string
	}{
		"read": {rule(cardea.Deny, cardea.ScopeUser, rules.Match{Paths: path, Access: reads}), "sandbox.filesystem.denyRead /p"},
		"halt": {rule(cardea.Halt, cardea.ScopeSystem, rules.Match{Paths: path, Access: writes}), "sandbox.filesystem.denyWrite /p"},
		"any": {
			rule(cardea.Deny, cardea.ScopeOrg, rules.Match{Access: append(reads, writes...), Any: []rules.Match{{Paths: path, Access: reads}, {Paths: []string{"/q"}, Access: writes}}}),
			"sandbox.filesystem.denyRead /p|sandbox.filesystem.denyWrite /q",
		},
		"read and write": {rule(cardea.Deny, cardea.ScopeUser, rules.Match{Access: reads, Any: []rules.Match{{Paths: path, Access: writes}}}), ""},
		"host": {
			rule(cardea.Deny, cardea.ScopeUser, rules.Match{Hosts: []string{"*.Evil.example", "::1", "10.0.0.1"}}),
			"sandbox.network.deniedDomains *.evil.example|sandbox.network.deniedDomains ::1|sandbox.network.deniedDomains 10.0.0.1",
		},
		"odd hosts":      {rule(cardea.Deny, cardea.ScopeUser, rules.Match{Hosts: []string{"*", "evil*", "a b", "x/y", "*.*.x", ""}}), ""},
		"delete":         {rule(cardea.Deny, cardea.ScopeUser, rules.Match{Paths: path, Access: []cardea.AccessKind{cardea.Delete}}), ""},
		"ask":            {rule(cardea.Ask, cardea.ScopeUser, rules.Match{Paths: path}), ""},
		"allow":          {rule(cardea.Allow, cardea.ScopeUser, rules.Match{Paths: path}), ""},
		"project":        {rule(cardea.Deny, cardea.ScopeProject, rules.Match{Paths: path}), ""},
		"command":        {rule(cardea.Deny, cardea.ScopeUser, rules.Match{Paths: path, Command: [][]string{{"cat"}}}), ""},
		"command around": {rule(cardea.Deny, cardea.ScopeUser, rules.Match{Pattern: "x", Any: []rules.Match{{Paths: path}}}), ""},
		"role":           {rule(cardea.Deny, cardea.ScopeUser, rules.Match{Paths: path, Roles: []string{"tester"}}), ""},
		"both":           {rule(cardea.Deny, cardea.ScopeUser, rules.Match{Paths: path, Hosts: []string{"evil.example"}}), ""},
		"except": {
			rule(cardea.Deny, cardea.ScopeUser, rules.Match{Paths: []string{"/**/.aws/credentials", "/q"}, Access: reads, UnlessPaths: []string{"~/.aws", "~/.aws/**"}}),
			"sandbox.filesystem.denyRead /q",
		},
		"other tools": {rules.Rule{ID: "r", Effect: cardea.Deny, Tools: []string{"Read"}, Match: rules.Match{Paths: path}}, ""},
		"prompts":     {rules.Rule{ID: "r", Effect: cardea.Deny, Events: []string{"UserPromptSubmit"}, Match: rules.Match{Paths: path}}, ""},
		"moved":       {rule(cardea.Deny, cardea.ScopeUser, rules.Match{Paths: path, Access: []cardea.AccessKind{cardea.Delete}, Any: []rules.Match{{Access: writes}}}), ""},
		"secrets": {
			rules.Rule{ID: "r", Effect: cardea.Deny, Loses: cardea.LossSecrets, Match: rules.Match{Paths: path, Access: reads}},
			"sandbox.filesystem.denyRead /p|sandbox.credentials.files /p",
		},
		"own": {rules.Rule{ID: "r", Effect: cardea.Deny, Match: rules.Match{Own: []rules.Own{rules.OwnKey}, Access: writes}}, "sandbox.filesystem.denyWrite ~/.state/k"},
	} {
		c := Compile(About{OS: "linux", Home: "/home/u", Rules: []rules.Rule{tt.rule}, Own: func(rules.Own) []string { return []string{"/home/u/.state/k"} }})
		var got []string
		for _, e := range c.Entries {
			got = append(got, e.List+" "+e.Value)
		}
		if text := strings.Join(got, "|"); text != tt.want {
			t.Errorf("%s: %s, want %s", name, text, tt.want)
		}
	}
}

// TestRole checks that a role's relative paths are in the project, and that an untrusted
// project's role is ignored.
func TestRole(t *testing.T) {
	glob := func(all ...string) (out []roles.Glob) {
		for _, g := range all {
			out = append(out, roles.Glob{Text: g})
		}
		return out
	}
	def := roles.Role{Name: "tester", Scope: cardea.ScopeUser, Paths: roles.Paths{DenyWrite: glob("src/**", "*.tf", "/etc/x", "docs/"), DenyRead: glob("customers/**", "*.csv", "~/mail")}}
	planted := roles.Role{Name: "tester", Scope: cardea.ScopeProject, Paths: roles.Paths{DenyRead: glob("/bin")}}
	c := Compile(About{OS: "linux", Home: "/home/u", Project: "/w/app", Role: []roles.Role{def, planted}})
	if r, w := c.texts(install.DenyRead), c.texts(install.DenyWrite); !slices.Equal(r, []string{"/w/app/customers", "/w/app/**/*.csv", "~/mail"}) ||
		!slices.Equal(w, []string{"/w/app/src", "/etc/x", "/w/app/docs"}) {
		t.Errorf("%v, %v", r, w)
	}
}

func TestWithout(t *testing.T) {
	c := Compile(About{OS: "linux", Home: "/home/u", Without: []string{"/p", "x", "nothing"}, Rules: []rules.Rule{
		{ID: "r", Effect: cardea.Deny, Match: rules.Match{Paths: []string{"/p", "/q"}, Access: reads}}, {ID: "x", Effect: cardea.Deny, Match: rules.Match{Paths: []string{"/y"}}}}})
	if len(c.Entries) != 1 || c.Entries[0].Value != "/q" || len(c.Left) != 2 {
		t.Errorf("%v, %v", c.Entries, c.Left)
	}
}

// TestBuiltIn checks that the built-in rules produce valid paths, and none that blocks a
// folder of the system or of the work.
func TestBuiltIn(t *testing.T) {
	c := Compile(About{OS: "linux", Home: "/home/u", Own: rules.OwnInTests, Rules: packs.Rules()})
	form := regexp.MustCompile(`^(~|/[a-z]+)/[^*?{}\\!]+$|^/etc/ssh/ssh_host_\*_key$`)
	for _, e := range c.Entries {
		if path := e.List != install.DenyHost; path && !form.MatchString(e.Value) {
			t.Errorf("%v from %s", e.Deny, e.From)
		}
	}
	for list, want := range map[string][]string{
		install.DenyRead:  {"~/.ssh/id_rsa", "/etc/shadow", "~/.local/state/cardea/key"},
		install.DenyWrite: {"~/.claude/settings.json", "~/.ssh/id_rsa", "/opt/gate/cardea-engine", "~/.local/state/cardea", "/etc/sudoers"},
		install.DenyFile:  {"~/.ssh/id_rsa", "~/.local/state/cardea/key"},
		install.DenyHost:  {"169.254.169.254"},
	} {
		for _, w := range want {
			if w = strings.Replace(w, "~/.local/state/cardea", "/home/user/.local/state/cardea", 1); !slices.Contains(c.texts(list), w) {
				t.Errorf("%s has no %s", list, w)
			}
		}
	}
	mac := Compile(About{OS: "darwin", Home: "/Users/u", Own: rules.OwnInTests, Rules: packs.Rules()}) // its sandbox searches no folders
	if !slices.Contains(mac.texts(install.DenyRead), "~/**/.ssh/id_rsa") {
		t.Errorf("macOS: %v", mac.texts(install.DenyRead))
	}
}
