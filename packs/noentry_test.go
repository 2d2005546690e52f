package packs_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/source"
	"cardea.dev/internal/decide/noeffect"
	"cardea.dev/internal/decide/opaque"
	"cardea.dev/internal/decide/permissions"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness/permissionlist"
	"cardea.dev/packs"
)

// TestEveryProgramCanBeAllowed looks for known programs and subcommands that no entry of a
// permission list allows, neither with the words nor with a wildcard after them.
// testdata/no-entry.txt lists the intended ones with their reasons.
func TestEveryProgramCanBeAllowed(t *testing.T) {
	meant := map[string]string{}
	data, err := os.ReadFile("testdata/no-entry.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		commands, why, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if strings.HasPrefix(line, "#") || line == "\n" {
			continue
		}
		for words := range strings.SplitSeq(commands, ", ") {
			if !ok || why == "" || meant[words] != "" {
				t.Errorf("%q has no reason, or stands twice", words)
			}
			meant[words] = why
		}
	}
	guards := rules.New(rules.ListOf(packs.Rules()), stand().Options)
	for _, words := range describedCommands(t) {
		why := noEntry(guards, words)
		if why != "" && meant[words] == "" {
			t.Errorf("no entry allows %q: %s", words, why)
		}
		if why == "" && meant[words] != "" {
			t.Errorf("an entry allows %q: take it out of testdata/no-entry.txt", words)
		}
		delete(meant, words)
	}
	for words := range meant {
		t.Errorf("testdata/no-entry.txt names %q, which is not described", words)
	}
}

// describedCommands returns the programs of command knowledge, each with its subcommands,
// and wrappers.
func describedCommands(t *testing.T) (out []string) {
	var add func(words []string)
	add = func(words []string) {
		p, ok := knowledge.KnownProgram(words[0], words[1:]...)
		if !ok || len(p.Command) < len(words) {
			return
		}
		out = append(out, strings.Join(words, " "))
		for _, sub := range p.Subcommands {
			add(append(slices.Clone(words), strings.ReplaceAll(sub, "*", "x")))
		}
	}
	for _, name := range knowledge.ProgramNames() {
		add([]string{name})
	}
	files, _, err := source.ReadFolder("commands")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for _, w := range file.Wrappers {
			for _, name := range w.Name {
				if !strings.HasSuffix(name, "*") && !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
	}
	return out
}

// noEntry returns the reason why no entry allows a command, or "".
func noEntry(guards *rules.Decider, words string) (why string) {
	from := &permissionlist.Origin{Harness: "claude-code", File: "settings.json", Source: "/home/user/project", Allows: true}
	for _, line := range []string{words, words + " x", words + " x y"} {
		for _, form := range []string{"Bash(%s)", "Bash(%s:*)"} {
			entry := permissionlist.Entry{From: from, Effect: cardea.Allow,
				Rule: permissionlist.Parse(fmt.Sprintf(form, line), permissionlist.Context{Effect: cardea.Allow, CommandLine: true})}
			list := permissions.New([]permissionlist.Entry{entry}, permissions.Options{Home: "/home/user", Start: "/home/user/project", Expand: true})
			ev := analyse(bash(line))
			ev.Harness = "claude-code"
			gate := cardea.Gate{Placements: []cardea.Placement{{Decider: opaque.New(cardea.OnErrorDefer)}, {Decider: noeffect.New()}, {Decider: guards}, {Decider: list}}}
			v := gate.Decide(context.Background(), ev)
			if v.Effect == cardea.Allow {
				return ""
			}
			for i := range ev.Call.Parts {
				if r := list.Refusal(ev, i); why == "" && len(r.Why) > 0 {
					why = r.Why[0]
				}
			}
			for _, o := range v.Opinions {
				if o.Effect >= cardea.Ask {
					why = o.Rule
				}
			}
		}
	}
	return why + "."
}
