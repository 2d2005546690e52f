package cli

import (
	"cmp"
	"fmt"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/bash"
	"cardea.dev/internal/command/knowledge"
	"github.com/spf13/cobra"
)

// knowledgeCommand returns the command "knowledge".
func knowledgeCommand(p Process) *cobra.Command {
	var asJSON, scaffold bool
	c := &cobra.Command{
		Use:   "knowledge [flags] [<program> [words…]]",
		Short: "show what is known about a program or a command",
		Long: `Show what is known about a program: what it does to its operands and options, and
which options are known to be harmless. With a command, show what is known about
that command, and why it is read-only or not. Without arguments, list the known
programs.

The knowledge is data of Cardea's source, packs/commands/*.yaml. For whoever changes
that, --scaffold reads the help of a program from standard input and writes a first
version of such a file.`,
		Example: `  cardea knowledge git log --output=x
  cardea knowledge
  rg --help | cardea knowledge --scaffold rg`,
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case scaffold && len(args) == 1:
				return writeScaffold(p, args[0])
			case scaffold:
				return wrongUsage{fmt.Errorf("--scaffold needs the name of one program")}
			case len(args) == 0:
				return listPrograms(p, asJSON)
			}
			return showKnowledge(p, args, asJSON)
		},
	}
	fs := c.Flags()
	fs.SetInterspersed(false) // flags after the program's name belong to the program
	fs.BoolVar(&asJSON, "json", false, "answer as one JSON object")
	fs.BoolVar(&scaffold, "scaffold", false, "write a first file of command knowledge from the help on standard input")
	return c
}

func listPrograms(p Process, asJSON bool) error {
	names := knowledge.ProgramNames()
	return p.answer(asJSON, names, func(s *screen) { s.block("", strings.Join(names, "\n")) })
}

// known is the JSON of knowledge.
type known struct {
	knowledge.Program
	Calls []knownCall `json:"calls"`
}

// knownCall is a part of the call that the words make.
type knownCall struct {
	Text     string   `json:"text"`
	Same     []string `json:"same,omitempty"`
	Access   []string `json:"access"`
	Complete bool     `json:"complete"`
	ReadOnly bool     `json:"read_only"`
	Why      string   `json:"why,omitempty"`
}

// showKnowledge shows what is known about a program or command.
func showKnowledge(p Process, args []string, asJSON bool) error {
	line := args[0]
	if words := strings.Fields(line); len(args) == 1 && len(words) > 1 {
		args = words // a command in quotes, as in try
	} else {
		line = strings.Join(listOf(args, bash.Quote), " ") // the line passes exactly these words
	}
	info, ok := knowledge.KnownProgram(args[0], args[1:]...)
	if !ok {
		return fmt.Errorf("nothing is known of %q, so it may do anything; a rule can decide about it all the same, see docs/rule-language.md", args[0])
	}
	k := known{info, calls(p, line)}
	return p.answer(asJSON, k, k.show)
}

// calls returns the parts of a line, without the project's rules.
func calls(p Process, line string) []knownCall {
	f := tryFlags{tool: "Bash", harness: "claude-code", event: string(cardea.PreToolUse)}
	m, err := f.message(p, line)
	if err != nil {
		return nil
	}
	j := newEvaluation(p, m.event)
	j.Analyse()
	only := j.Loaded.ReadonlyDecider()
	var out []knownCall
	for i := range j.Event.Call.Parts {
		part := &j.Event.Call.Parts[i]
		call := knownCall{Text: part.Text, Same: part.UsualCommand, Complete: part.Knowledge == cardea.Complete, Why: only.Refusal(j.Event, i), Access: listOf(part.Access, accessText)}
		call.ReadOnly = call.Why == ""
		out = append(out, call)
	}
	return out
}

// show writes what is known for people.
func (k known) show(s *screen) {
	s.printf("%s  %s\n", painted{bold, strings.Join(k.Command, " ")}, painted{faint, k.Source + ", from " + k.Manual})
	s.printIf(len(k.Names) > 1, "  the same: %s\n", strings.Join(k.Names, " "))
	for _, x := range []struct {
		name string
		kind cardea.AccessKind
	}{{"operands", k.Operands}, {"the first", k.First}, {"the last", k.Last}} {
		s.printIf(x.kind != "", "  %s: %s\n", x.name, string(x.kind))
	}
	for _, a := range k.Access {
		s.printf("  besides: %s\n", string(a))
	}
	switch {
	case k.Any:
		s.printf("  with all words this is all that it does\n")
	case k.Certain:
		s.printf("  with the options marked + alone this is all that it does\n")
	default:
		s.printf("  it may do more than this\n")
	}
	s.printIf(len(k.Subcommands) > 0, "  subcommands: %s\n", strings.Join(k.Subcommands, " "))
	for _, o := range k.Options {
		mark := cmp.Or(onlyIf(o.Harmless, "+"), " ")
		s.printf("  %s %s%s%s\n", mark, o.Name, onlyIf(o.Value, " VALUE"), painted{faint, prefixed("  ", string(o.Access))})
	}
	s.printIf(len(k.Variables) > 0, "  variables: %s\n", strings.Join(k.Variables, " "))
	heading(s, "this call")
	for _, c := range k.Calls {
		verdict := either(c.ReadOnly, "read-only", "not read-only: "+c.Why)
		s.printf("  %s  %s\n", painted{bold, c.Text}, verdict)
		if c.Same != nil {
			s.printf("    the same as %s\n", strings.Join(c.Same, " "))
		}
		for _, a := range c.Access {
			s.printf("     %s: %s\n", painted{faint, "access"}, a)
		}
	}
}
