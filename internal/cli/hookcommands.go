package cli

import (
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/hook"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// checkCommand returns the command "check".
func checkCommand(p Process) *cobra.Command {
	c := &cobra.Command{
		Use:   "check [--harness H] [--limit D]",
		Short: "judge the call on standard input (this is the hook)",
		Long: `Read a hook message from standard input and write the answer that the harness
expects.

Harnesses start this command for every tool call. To see what it would answer,
use "cardea try". Standard output gets one JSON object or nothing. Messages for
a person go to standard error.

A denial ends with 0 and JSON on standard output where the harness reads that, as
Claude Code does, and with 2 elsewhere. A script that only wants to know uses
--exit-code.`,
		Args: noArguments,
	}
	var f checkFlags
	addCheckFlags(c.Flags(), &f)
	// The tree only shows the command, and Main runs it. A call that gets here, by flags
	// before the command's name, must not pass.
	c.RunE = func(*cobra.Command, []string) error { return ended(hook.New(p.Process, f).Run()) }
	return c
}

// statuslineCommand returns the command "statusline".
func statuslineCommand(p Process) *cobra.Command {
	return &cobra.Command{
		Use:   "statusline",
		Short: "print one line for Claude Code's status line",
		Long: `Read Claude Code's status message from standard input and print one line: whether
the hook works, and when the harness last called it. It starts no program and never
fails. In ~/.claude/settings.json:

  "statusLine": {"type": "command", "command": "/usr/local/bin/cardea statusline"}`,
		Args:               cobra.ArbitraryArgs,
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true}, // it never fails
		RunE: func(*cobra.Command, []string) error {
			hook.Run([]string{"statusline"}, p.Process)
			return nil // it never fails
		},
	}
}

// addCheckFlags declares the flags of check. The hook parses them without the tree.
func addCheckFlags(fs *pflag.FlagSet, f *checkFlags) {
	fs.StringVar(&f.Harness, "harness", "", "the harness that this hook is installed for (default: detected from the message)")
	fs.DurationVar(&f.Limit, "limit", limit.Hook, "answer within this time; the harness's own limit must be longer")
	fs.StringArrayVar(&f.Settings, "settings", nil, "a settings file that the harness was started with, if its own --settings cannot be seen")
	fs.BoolVar(&f.ExitCode, "exit-code", false, "for scripts: exit with 2 and the reason on standard error for ask, deny and halt, else with 0 and nothing")
	fs.BoolVar(&f.Unattended, "unattended", false, "no person watches this agent, like CARDEA_UNATTENDED=1")
	fs.IntVar(&f.Caller, "caller", 0, "for the daemon: the process that asked over HTTP, whose variables and command line count")
}

func versionCommand(p Process) *cobra.Command {
	c := &cobra.Command{Use: "version [--json]", Short: "show the version, the commit and its date", Args: noArguments}
	return withJSON(c, func(_ []string, asJSON bool) error {
		if asJSON {
			return encode(p, hook.ThisBuild())
		}
		return ended(hook.ShowVersion(p.Process))
	})
}
