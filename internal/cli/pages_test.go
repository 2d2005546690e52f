package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// commandsPage returns docs/commands.md: the help of every command, by group, and then the
// second names.
func commandsPage(p Process) string {
	var b strings.Builder
	b.WriteString("# Commands\n\n<!-- Made from the program: go test ./internal/cli -run TestPagesAreCurrent -update -->\n")
	var all, seconds []*cobra.Command
	eachCommand(tree(p), func(c *cobra.Command) {
		if c.Annotations[sameAs] != "" {
			seconds = append(seconds, c)
			return
		}
		all = append(all, c)
	})
	section := func(title, group string) {
		fmt.Fprintf(&b, "\n## %s\n", title)
		for _, c := range all {
			if groupOf(c) == group {
				writeCommand(&b, c)
			}
		}
	}
	for _, g := range helpGroups() {
		section(g[0], g[0])
	}
	section("Others", "")
	b.WriteString("\n## Second names\n\nEach has the flags and the exit codes of the other.\n\n| name | the same as |\n|---|---|\n")
	for _, c := range seconds {
		fmt.Fprintf(&b, "| `%s` | `cardea %s` |\n", c.CommandPath(), nameOf(c))
	}
	return b.String()
}

// writeCommand writes the section of a command.
func writeCommand(b *strings.Builder, c *cobra.Command) {
	about, exits, _ := strings.Cut(strings.TrimSpace(c.Long), "\n\nExit codes:\n")
	fmt.Fprintf(b, "\n### %s\n\n%s\n\n```\n%s\n```\n\nExit codes:\n\n```\n%s\n```\n", c.CommandPath(), about, c.UseLine(), exits)
	if c.Example != "" {
		fmt.Fprintf(b, "\nExamples:\n\n```\n%s\n```\n", c.Example)
	}
	if flags := strings.TrimRight(c.LocalFlags().FlagUsages(), "\n"); flags != "" {
		fmt.Fprintf(b, "\n```\n%s\n```\n", flags)
	}
}

// exitCodesPage returns docs/exit-codes.md: the table of exit.go.
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

// groupOf returns the group of a command, which a subcommand has from the command above it,
// or "".
func groupOf(c *cobra.Command) string {
	for c.HasParent() && c.Parent().HasParent() {
		c = c.Parent()
	}
	return c.GroupID
}
