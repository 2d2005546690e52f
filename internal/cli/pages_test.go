package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// commandsPage is docs/commands.md: what every command's help says.
func commandsPage(p Process) string {
	var b strings.Builder
	b.WriteString("# Commands\n\n<!-- Made from the program: go test ./internal/cli -run TestPagesAreCurrent -update -->\n")
	eachCommand(tree(p), func(c *cobra.Command) {
		about, exits, _ := strings.Cut(strings.TrimSpace(c.Long), "\n\nExit codes:\n")
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n```\n%s\n```\n\nExit codes:\n\n```\n%s\n```\n", c.CommandPath(), about, c.UseLine(), exits)
		if c.Example != "" {
			fmt.Fprintf(&b, "\nExamples:\n\n```\n%s\n```\n", c.Example)
		}
		if flags := strings.TrimRight(c.LocalFlags().FlagUsages(), "\n"); flags != "" {
			fmt.Fprintf(&b, "\n```\n%s\n```\n", flags)
		}
	})
	return b.String()
}

// exitCodesPage is docs/exit-codes.md: the table of exit.go.
func exitCodesPage(p Process) string {
	var b strings.Builder
	b.WriteString("# Exit codes\n\n<!-- Made from the program: go test ./internal/cli -run TestPagesAreCurrent -update -->\n\n" +
		"`check` ends with 0 or 2 and nothing else: harnesses take any other code for a broken hook, and let the call run.\n\n" +
		"| command | code | meaning |\n|---|---|---|\n")
	eachCommand(tree(p), func(c *cobra.Command) {
		for _, e := range endings(nameOf(c)) {
			fmt.Fprintf(&b, "| `%s` | %d | %s |\n", c.CommandPath(), e.code, e.meaning)
		}
	})
	return b.String()
}

// eachCommand visits the commands in the order of the help, but the ones that
// cobra adds.
func eachCommand(c *cobra.Command, visit func(*cobra.Command)) {
	if c.Name() == "help" {
		return
	}
	visit(c)
	if c.Name() == "completion" {
		return
	}
	for _, sub := range c.Commands() {
		eachCommand(sub, visit)
	}
}
