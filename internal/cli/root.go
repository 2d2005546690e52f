package cli

import (
	"cmp"
	"errors"
	"strings"

	"cardea.dev/internal/hook"
	"github.com/spf13/cobra"
)

// Main runs one command line without the program's name, and returns the exit
// code. It never exits by itself.
func Main(args []string, p Process) int {
	if code, is := hook.Run(args, p.Process); is {
		return code
	}
	p.Widen()
	root := tree(p)
	root.SetArgs(args)
	_, err := root.ExecuteC()
	code, tell := codeOf(err)
	if tell {
		p.warn(err.Error())
	}
	return code
}

// tree returns the root command with all others.
func tree(p Process) *cobra.Command {
	root := &cobra.Command{
		Use:   "cardea",
		Short: "A gate for every tool call of an AI coding agent",
		Long: `Cardea is a gate. It decides about every tool call of an AI coding agent.

A harness, such as Claude Code, starts "cardea check" as its hook. All other
commands are for people. Begin with "cardea try": it shows what would be decided
about a command, and why.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noSuchCommand,
		Version:       hook.ThisVersion(),
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	root.AddCommand(checkCommand(p), tryCommand(p), permissionsCommand(p), explainCommand(p), auditCommand(p), knowledgeCommand(p),
		rulesCommand(p), policyCommand(p), initCommand(p), importCommand(p), installCommand(p), cautious(uninstallCommand(p)), compileCommand(p), acceptCommand(p), doctorCommand(p),
		statuslineCommand(p), trustCommand(p), configCommand(p), syncCommand(p), versionCommand(p), updateCommand(p),
		rolesCommand(p), registerCommand(p), switchCommand(p), disableCommand(p), enableCommand(p), statusCommand(p), sessionCheckCommand(p), overrideCommand(p), allowCommand(p), scanCommand(p), statsCommand(p), suggestCommand(p),
		lessonsCommand(p), judgeCommand(p), superviseCommand(p), serveCommand(p), monitorCommand(p), mcpCommand(p), queueCommand(p))
	root.InitDefaultHelpCmd()
	helpWithAll(below(root, "help"))
	root.InitDefaultCompletionCmd()
	below(root, "completion").Short = "write the script by which a shell completes commands"
	finish(root)
	arrange(root)
	usage := root.UsageFunc()
	root.SetUsageFunc(func(c *cobra.Command) error {
		if c.HasParent() {
			return usage(c)
		}
		return overview(c)
	})
	return root
}

// finish adds the exit codes to the help of each command, and makes wrong arguments a
// [wrongUsage].
func finish(c *cobra.Command) {
	c.Long = strings.TrimSpace(either(c.Long != "", c.Long, strings.ToUpper(c.Short[:1])+c.Short[1:]+".")) + "\n\n" + exitHelp(nameOf(c))
	c.DisableFlagsInUseLine = true
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usageOf(c, err) })
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			return usageOf(c, cmp.Or(check(c, args), c.ValidateFlagGroups()))
		}
	}
	for _, sub := range c.Commands() {
		finish(sub)
	}
}

// nameOf returns a command's name without the program's: "trust verify", and "cardea" for
// the root. For a second name it returns the first one.
func nameOf(c *cobra.Command) string {
	return cmp.Or(c.Annotations[sameAs], strings.TrimPrefix(c.CommandPath(), "cardea "))
}

// usageOf turns an error into a [wrongUsage] with a hint.
func usageOf(c *cobra.Command, err error) error {
	if err == nil || errors.As(err, new(wrongUsage)) { // it already has a hint
		return err
	}
	return wrongUsage{withHint{errorText(hook.Plainly(err)), "run \"" + c.CommandPath() + " --help\""}}
}

type withHint struct {
	error
	hint string
}

func (e withHint) Error() string { return strings.TrimSpace(e.error.Error()) + "; " + e.hint }
func (e withHint) Unwrap() error { return e.error }

// noSuchCommand returns an error if there are words after a command, with proposals.
func noSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := "there is no command \"" + strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), "cardea")+" "+args[0]) + "\""
	if near := proposals(c, args[0]); len(near) > 0 {
		text += ", did you mean \"" + strings.Join(near, "\" or \"") + "\"?"
	}
	return errorText(text)
}

// noArguments accepts no arguments. After a command with subcommands, a word is reported as
// an unknown command.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) == 0 || c.HasSubCommands() {
		return noSuchCommand(c, args)
	}
	return errorText("\"" + c.CommandPath() + "\" takes no arguments (got \"" + strings.Join(args, " ") + "\")")
}

// oneCommand accepts one argument, a shell command. The error for several explains the quotes.
func oneCommand(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return wrongUsage{errorText("quote the command: " + c.CommandPath() + " \"" + strings.Join(args, " ") + "\"")}
	}
	return oneArgument(c, args)
}

// oneArgument accepts exactly one argument.
func oneArgument(c *cobra.Command, args []string) error {
	if err := atLeastOneArgument(c, args); err != nil {
		return err
	}
	return atMostOneArgument(c, args)
}

// atLeastOneArgument accepts one argument or more.
func atLeastOneArgument(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errorText("an argument is missing: " + c.UseLine())
	}
	return nil
}

// atMostOneArgument accepts one argument or none.
func atMostOneArgument(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return errorText("only one argument is taken (" + c.UseLine() + "), and \"" + strings.Join(args[1:], " ") + "\" came besides; put what is one argument into quotes, and see --help")
	}
	return nil
}

// errorText is an error that consists of a text.
type errorText string

func (e errorText) Error() string { return string(e) }
