package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"cardea.dev"
	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/harness/claudecode"
	"github.com/spf13/cobra"
)

// rulesCommand returns the command "rules", which lists what is in force.
func rulesCommand(p Process) *cobra.Command {
	c := listCommand(p)
	c.Use, c.Short = "rules [flags]", "list, write, check and test rules"
	c.AddCommand(listCommand(p), lintCommand(p), testCommand(p), ruleNewCommand(p))
	return c
}

// newRule holds the flags of "rules new".
type newRule struct {
	effect, because string
	user            bool
}

// ruleNewCommand returns the command "rules new".
func ruleNewCommand(p Process) *cobra.Command {
	var f newRule
	c := &cobra.Command{Use: "new [\"COMMAND\"] [--effect deny|ask|allow] [--user]", Short: "write a rule about a command, with tests",
		Long: `Write a rule with tests into the project, or with --user into your own rules. It matches
the program with its subcommands, one of the options, and one of the operands of the
command. Nothing is overwritten. Without a command, write an example as "cardea init"
does. A rule that allows, or with --user, asks for a code. A project
that you trusted stays trusted if you are at a terminal. See docs/rule-language.md.`,
		Example: "  cardea rules new \"git push --force\"\n  cardea rules new \"npm publish\" --effect ask --because \"CI makes releases.\"",
	}
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return oneCommand(c, args)
	}
	c.RunE = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return initScope(p, f.user)
		}
		return f.write(p, args[0])
	}
	c.Flags().StringVar(&f.effect, "effect", "deny", "what the rule says: deny, ask or allow")
	c.Flags().StringVar(&f.because, "because", "", "why, for the model")
	c.Flags().BoolVar(&f.user, "user", false, "for all projects, not only this one")
	return c
}

// write writes the rule if its tests pass.
func (f newRule) write(p Process, command string) error {
	effect, err := cardea.ParseEffect(f.effect)
	if err != nil || effect != cardea.Deny && effect != cardea.Ask && effect != cardea.Allow {
		return wrongUsage{fmt.Errorf("--effect is deny, ask or allow (got %q)", f.effect)}
	}
	dir, err := scopeFolder(p, f.user)
	if err != nil {
		return err
	}
	id, text, err := f.text(p, command, effect)
	if err != nil {
		return wrongUsage{err}
	}
	r := &ruleFile{path: filepath.Join(dir, "rules", id+".yaml"), text: text, alone: !p.attended()}
	if !f.user {
		r.project = filepath.Dir(dir)
	}
	if err := p.testRule(r); err != nil {
		return err
	}
	out := screenOn(p.Stdout, p.Env)
	if f.user || effect == cardea.Allow {
		err = p.byPerson("write this rule", func(s *screen) { s.block("", text) })
	} else {
		out.block("", text)
	}
	if err == nil {
		err = r.write(p, out)
	}
	return cmp.Or(err, f.tellStricter(p, command, effect, out), out.err)
}

// tellStricter adds a note if a stricter rule decides the command instead of the new one.
func (f newRule) tellStricter(p Process, command string, effect cardea.Effect, out *screen) error {
	m, err := f.call(p, command)
	if err != nil {
		return err
	}
	v := newEvaluation(p, m.event).Verdict(context.Background())
	if other, is := strings.CutPrefix(v.By, "rules:"); is && v.Effect.Stricter(effect) {
		out.printf("note: the rule %s says %s, which is stricter. To change it: cardea config set rules.effect.%s %s\n", other, v.Effect, other, onlyIf(effect == cardea.Ask, "ask")+onlyIf(effect == cardea.Allow, "defer"))
	}
	return nil
}

// call returns the call of a command, as Claude Code makes it.
func (f newRule) call(p Process, command string) (tried, error) {
	return tryFlags{tool: "Bash", harness: claudecode.Name, event: string(cardea.PreToolUse)}.message(p, command)
}

// text returns the file with the rule about a command, and the rule's id.
func (f newRule) text(p Process, command string, effect cardea.Effect) (id, text string, err error) {
	if strings.ContainsFunc(command+f.because, unicode.IsControl) || len(redact.New().Find(command+" "+f.because)) > 0 {
		return "", "", errors.New("the command or the reason holds a control character, or what looks like a secret; a rule must not")
	}
	m, err := f.call(p, command)
	if err != nil {
		return "", "", err
	}
	j := newEvaluation(p, m.event)
	j.Analyse()
	parts := j.Event.Call.Parts
	if len(parts) != 1 || len(parts[0].Command) == 0 || len(parts[0].Opaque)+len(j.Event.Call.Opaque) > 0 {
		return "", "", errors.New("name one command without variables, pipes or other commands in it, such as \"git push --force\"; docs/rule-language.md explains rules for more")
	}
	match, other := matchOf(&parts[0])
	if effect == cardea.Allow {
		match = append(match, "stdin: none")
	}
	id = effect.String() + strings.TrimRight(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString("-"+strings.ToLower(shorten(parts[0].Text, 50)), "-"), "-")
	w := ruleWriter{entry: &queue.Entry{Tool: "Bash"}, effect: effect}
	w.add(id, match, "command: "+quoted(command), "command: "+quoted(other))
	because := cmp.Or(f.because, map[cardea.Effect]string{cardea.Deny: "Do not run", cardea.Ask: "Ask before you run", cardea.Allow: "You may run"}[effect]+" \""+parts[0].Text+"\".")
	return id, "version: 1\nrules:\n" + strings.ReplaceAll(w.bodies[0], "BECAUSE", strconv.Quote(because)), nil
}

// matchOf returns the conditions of a rule about a part, and a command that it does not match.
func matchOf(part *cardea.Part) (match []string, other string) {
	words := strings.Join(part.Command, " ")
	match, other = []string{"command: " + quoted(words)}, "echo "+words
	flags := listOf(part.Options, func(o cardea.Option) string { return quoted(o.Name) })
	args := listOf(part.Operands, func(i int) string { return quoted("^" + regexp.QuoteMeta(part.Argv[i].Text) + "$") })
	if len(flags) > 0 {
		match, other = append(match, "flags: ["+strings.Join(flags, ", ")+"]"), words
	}
	if len(args) > 0 {
		match, other = append(match, "args: ["+strings.Join(args, ", ")+"]"), words
	}
	return match, other
}
