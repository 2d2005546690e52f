package cli

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"cardea.dev/internal/person"
	"cardea.dev/internal/script"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Main runs one command line without the program's name, and returns the exit
// code. It never exits by itself.
func Main(args []string, p Process) int {
	// A harness starts check for every tool call, so the command tree is not
	// built for it. The flags are the same set that the tree shows.
	if len(args) > 0 && args[0] == "check" && !asksForHelp(args[1:]) {
		return check(args[1:], p)
	}
	if len(args) == 0 {
		if message := hookMessage(p.Stdin); message != nil {
			p.Stdin = message
			return check(nil, p)
		}
	}
	p.widen()
	if len(args) == 1 && args[0] == script.ActionCommand {
		return perform(p)
	}
	// A template for the version would have the linker keep every method of every
	// type, a tenth of the program.
	if len(args) == 1 && (args[0] == "--version" || args[0] == "-v") {
		args = []string{"version"}
	}
	root := tree(p)
	root.SetArgs(args)
	_, err := root.ExecuteC()
	code, tell := codeOf(err)
	if tell {
		p.warn(err.Error())
	}
	return code
}

// hookMessage is standard input where it begins as a hook message does, nil where
// it does not: some harnesses drop the arguments of a hook and start the bare
// program, and a help text in answer would let the call run.
func hookMessage(stdin io.Reader) io.Reader {
	if stdin == nil || person.Terminal(stdin) {
		return nil
	}
	begin := make([]byte, 512)
	n, err := stdin.Read(begin)
	if err != nil && !errors.Is(err, io.EOF) || !bytes.HasPrefix(bytes.TrimLeft(begin[:n], " \t\r\n\ufeff"), []byte("{")) {
		return nil
	}
	return io.MultiReader(bytes.NewReader(begin[:n]), stdin)
}

// perform runs an action that a hook left behind. It is nobody's command, so the
// tree does not show it.
func perform(p Process) int {
	if err := script.Perform(p.Stdin); err != nil {
		p.warn(err.Error())
		return exitError
	}
	return exitOK
}

// asksForHelp reports whether check was asked what it is. Everything else that
// is wrong with its flags must end in a denial.
func asksForHelp(args []string) bool {
	return len(args) == 1 && (args[0] == "--help" || args[0] == "-h")
}

// tree is all commands.
func tree(p Process) *cobra.Command {
	root := &cobra.Command{
		Use:   "cardea",
		Short: "A gate for every tool call of an AI coding agent",
		Long: `Cardea is a gate. It decides about every tool call of an AI coding agent.

Harnesses (Claude Code, Copilot CLI) start "cardea check" as a hook. All other
commands are for people. Begin with "cardea try": it shows what would be decided
about a command, and why.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noSuchCommand,
		Version:       thisVersion(),
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SuggestionsMinimumDistance = 2
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	root.AddCommand(checkCommand(p), tryCommand(p), permissionsCommand(p), explainCommand(p), auditCommand(p), knowledgeCommand(p),
		testCommand(p), listCommand(p), lintCommand(p), policyCommand(p), initCommand(p), importCommand(p), installCommand(p), doctorCommand(p),
		statuslineCommand(p), trustCommand(p), configCommand(p), syncCommand(p), versionCommand(p),
		rolesCommand(p), registerCommand(p), switchCommand(p), disableCommand(p), enableCommand(p), statusCommand(p), sessionCheckCommand(p), overrideCommand(p))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Short = "show the help text of a command"
		case "completion":
			c.Short = "write the script by which a shell completes commands"
		}
	}
	finish(root)
	return root
}

// finish gives every command its exit codes, and wrong usage its exit code.
func finish(c *cobra.Command) {
	if c.Long == "" {
		c.Long = strings.ToUpper(c.Short[:1]) + c.Short[1:] + "."
	}
	c.Long = strings.TrimSpace(c.Long) + "\n\n" + exitHelp(nameOf(c))
	c.DisableFlagsInUseLine = true
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usageOf(c, err) })
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error { return usageOf(c, check(c, args)) }
	}
	for _, sub := range c.Commands() {
		finish(sub)
	}
}

// nameOf is a command without the program's name: "trust verify", and "cardea"
// for the program itself.
func nameOf(c *cobra.Command) string {
	return strings.TrimPrefix(c.CommandPath(), "cardea ")
}

// usageOf makes an error one of wrong usage, with the next step.
func usageOf(c *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	return wrongUsage{withHint{errorText(plainly(err)), "run \"" + c.CommandPath() + " --help\""}}
}

// plainly is an error in words for people: without the names of functions that the
// standard library puts in front.
func plainly(err error) string {
	text := err.Error()
	if before, after, found := strings.Cut(text, "time: "); found {
		what := "this is no length of time"
		if strings.HasPrefix(after, "missing unit") {
			what = "the unit is missing"
		}
		return before + what + "; write it as 5s, 200ms or 1m30s"
	}
	before, after, found := strings.Cut(text, "strconv.Parse")
	switch {
	case !found:
		return text
	case strings.HasPrefix(after, "Bool"):
		return before + "write true or false"
	case strings.Contains(after, "out of range"):
		return before + "the number is out of range"
	}
	return before + "this is no number"
}

type withHint struct {
	error
	hint string
}

func (e withHint) Error() string { return strings.TrimSpace(e.error.Error()) + "; " + e.hint }
func (e withHint) Unwrap() error { return e.error }

// noSuchCommand is the root's complaint about words that are no command.
func noSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := "there is no command \"" + args[0] + "\""
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		text += ", did you mean \"" + strings.Join(near, "\" or \"") + "\"?"
	}
	return errorText(text)
}

// oneArgument wants one argument.
func oneArgument(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errorText("an argument is missing: " + c.UseLine())
	}
	return atMostOneArgument(c, args)
}

// atMostOneArgument wants one argument or none.
func atMostOneArgument(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return errorText("only one argument is taken (" + c.UseLine() + "), and \"" + strings.Join(args[1:], " ") + "\" came besides; put what belongs together into quotes")
	}
	return nil
}

// errorText is an error that is only a text.
type errorText string

func (e errorText) Error() string { return string(e) }

// flagSet makes an empty set of flags that says nothing by itself.
func flagSet(name string) *pflag.FlagSet {
	fs := pflag.NewFlagSet(name, pflag.ContinueOnError)
	fs.SortFlags = false
	fs.Usage = func() {}
	return fs
}
