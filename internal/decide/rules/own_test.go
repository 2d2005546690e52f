package rules_test

import (
	"context"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness/call"
)

// An access to the gate's own files matches in every spelling, and also through a folder
// above.
func TestOwn(t *testing.T) {
	for _, c := range []struct {
		match   string
		yes, no []string
	}{
		{"{own: settings, access: write}",
			[]string{"echo x > ~/dotfiles/cardea/rules/x.yaml", "cd ~/dotfiles && tee cardea/cardea.yaml", "tee ~/dotfiles/c*/cardea.yaml", "touch ../dotfiles/./cardea/x"},
			[]string{
				"echo x > ~/dotfiles/x",
				"cat ~/dotfiles/cardea/x",
				"cp x ~/dotfiles",
				"echo x > dotfiles/cardea/x",
				"ssh h 'echo x > /home/user/dotfiles/cardea/x'",
			},
		},
		{"{own: settings, access: delete}",
			[]string{
				"rm -rf ~/dotfiles",
				"rm -rf ~/dot*",
				"rm -rf ~",
				"rm ~/dotfiles/cardea/x",
				"mv ~/dotfiles/cardea x",
			},
			[]string{"rm -rf ~/dotfiles/vim", "rm ~/dotfiles/*.md", "rm -rf ."}},
		{"{own: programs, access: [write, delete]}",
			[]string{"rm -rf /opt", "echo > /opt/gate/cardea-engine", "rm /opt/gate/c*"}, []string{"echo > /opt/gate/x", "rm /opt/gate/x"}},
		{"{own: bin, access: delete}", []string{"rmdir /opt/gate", "rm -r /opt/*"}, []string{"rm /opt/gate/x", "rm /opt/x"}},
		{"{own: [key, bin], access: read}",
			[]string{
				"cat ~/.local/state/cardea/key",
				"head -c 64 ~/.local/state/cardea/http-token",
				"cat ~/.local/state/*/key",
				"cp -r ~/.local/state x",
				"cp -r ~/.local/* x",
			},
			[]string{
				"cat ~/.local/state/cardea/trust",
				"grep -r x ~",
				"grep -r x /",
				"ls ~/.local/state/cardea/key",
				"cat ~/.local/state/cardea/keys",
			},
		},
	} {
		d := rules.New(rules.ListOf([]rules.Rule{one(t, "effect: deny, match: "+c.match)}), rules.Options{Home: home, Own: rules.OwnInTests})
		none := rules.New(rules.ListOf([]rules.Rule{one(t, "effect: deny, match: "+c.match)}), rules.Options{Home: home})
		for want, list := range map[bool][]string{true: c.yes, false: c.no} {
			for _, line := range list {
				ev := bash(line)
				ev = call.Analyse(ev, knowledge.System{Home: home})
				ops, err := d.Decide(context.Background(), ev)
				if err != nil || len(ops) > 0 != want {
					t.Errorf("%s: %s: %v, %v", c.match, line, ops, err)
				}
				if ops, _ := none.Decide(context.Background(), ev); len(ops) > 0 {
					t.Errorf("%s: %s: touches what is not known", c.match, line)
				}
			}
		}
	}
}

func TestOwnIsChecked(t *testing.T) {
	for text, want := range map[string]string{
		"effect: deny, match: {own: house}":                   "house",
		"effect: allow, tool: Bash, match: {own: [settings]}": "cannot be allowed by rule",
	} {
		list, problems := rules.Parse("f.yaml", []byte("rules: [{id: r, "+text+"}]"), rules.Origin{Scope: cardea.ScopeUser})
		if len(list) != 0 || len(problems) != 1 || !strings.Contains(problems[0].Error(), want) {
			t.Errorf("%s: %v, %v", text, list, problems)
		}
	}
}
