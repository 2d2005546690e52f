package cli

import (
	"fmt"
	"slices"
	"strings"

	"cardea.dev/internal/base/document"
	"github.com/spf13/cobra"
)

// The annotations of commands. sameAs holds the first name of a command under a second
// name. unproposed marks a command that removes, disables or approves something: "did you
// mean" never proposes it.
const sameAs, unproposed = "same as", "unproposed"

// helpGroups returns the groups of the help text with their commands, in order. All other
// commands are hidden.
func helpGroups() [][2]string {
	return [][2]string{
		{"Start", "try install uninstall doctor init import"},
		{"Rules", "rules policy override trust"},
		{"Watch", "explain audit monitor queue stats"},
		{"Team", "roles sync"},
		{"Administration", "config disable update"},
	}
}

// secondNames returns commands with their second names: old ones, and words that people know
// from other programs. A name below a noun is shown in the noun's help. All others are hidden.
func secondNames() [][2]string {
	return [][2]string{
		{"explain", "audit explain, why"}, {"register", "roles register"}, {"switch", "roles switch"}, {"status", "roles status, sessions"},
		{"rules list", "list, ls"}, {"rules lint", "rules check, lint, validate"}, {"rules test", "test"},
		{"lessons build", "build"}, {"lessons invalidate", "invalidate"}, {"lessons learn", "learn"}, {"queue approve", "approve"}, {"queue deny", "deny"},
		{"audit search", "log, logs, history, search"}, {"audit verify", "verify"}, {"disable", "off, pause"}, {"enable", "on, resume"},
		{"update", "upgrade"}, {"uninstall", "remove"}, {"install", "setup"}, {"config", "settings"},
	}
}

// cautious marks a command that removes, disables or approves something.
func cautious(c *cobra.Command) *cobra.Command {
	c.Annotations = map[string]string{unproposed: "true"}
	return c
}

// arrange puts the commands below root into groups, hides the others, and mounts the second
// names. The commands must be finished.
func arrange(root *cobra.Command) {
	for _, c := range root.Commands() {
		c.Hidden = true
	}
	for _, g := range helpGroups() {
		root.AddGroup(&cobra.Group{ID: g[0], Title: g[0] + ":"})
		for _, c := range inGroup(root, g) {
			c.GroupID, c.Hidden = g[0], false
		}
	}
	for _, names := range secondNames() {
		if c := below(root, names[0]); c != nil {
			for _, name := range strings.Split(names[1], ", ") {
				mount(root, c, name)
			}
		}
	}
}

// mount gives a command a second name. Flags, help and exit codes are the same ones.
func mount(root, c *cobra.Command, name string) {
	second, parent := *c, root
	noun, verb, found := strings.Cut(name, " ")
	if found {
		parent, name = below(root, noun), verb
	}
	_, rest, _ := strings.Cut(c.Use, " ")
	second.Use, second.GroupID, second.Hidden = strings.TrimSpace(name+" "+rest), "", !found
	second.Annotations = map[string]string{sameAs: nameOf(c), unproposed: c.Annotations[unproposed]}
	parent.AddCommand(&second)
}

// below returns the command that a path of names leads to from c, or nil.
func below(c *cobra.Command, path string) *cobra.Command {
	for name := range strings.FieldsSeq(path) {
		i := slices.IndexFunc(c.Commands(), func(sub *cobra.Command) bool { return sub.Name() == name })
		if i < 0 {
			return nil
		}
		c = c.Commands()[i]
	}
	return c
}

// inGroup returns the commands of a group that exist.
func inGroup(root *cobra.Command, g [2]string) (out []*cobra.Command) {
	for name := range strings.FieldsSeq(g[1]) {
		if c := below(root, name); c != nil {
			out = append(out, c)
		}
	}
	return out
}

// proposals returns the commands below c that a misspelt word most likely means, or nil. If
// one of them is cautious, it proposes none.
func proposals(c *cobra.Command, word string) (out []string) {
	word = strings.ToLower(word)
	names := listOf(c.Commands(), (*cobra.Command).Name)
	near := []string{document.Nearest(word, names)}
	if near[0] == "" {
		near = slices.DeleteFunc(names, func(name string) bool { return len(word) < 2 || !strings.HasPrefix(name, word) })
	}
	for _, name := range near {
		sub := below(c, name)
		if sub.Annotations[unproposed] != "" {
			return nil
		}
		if name := nameOf(sub); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// helpWithAll gives the help command the flag --all, and an exit code for unknown commands.
func helpWithAll(c *cobra.Command) {
	c.Use, c.Short = "help [--all] [command]", "show the help text of a command, or list all commands"
	c.Long = "Show the help text of a command. With --all, list every command."
	all := c.Flags().Bool("all", false, "list every command, hidden ones and second names included")
	c.Run = nil
	c.RunE = func(c *cobra.Command, words []string) error {
		if *all {
			return listAll(c.Root())
		}
		of, rest, err := c.Root().Find(words)
		if err == nil && of.HasSubCommands() {
			err = noSuchCommand(of, rest)
		}
		if err != nil {
			return usageOf(c.Root(), err)
		}
		of.InitDefaultHelpFlag()
		of.InitDefaultVersionFlag()
		return of.Help()
	}
}

// listAll lists all commands, with what each does or which one it is the same as.
func listAll(root *cobra.Command) (err error) {
	eachCommand(root, func(c *cobra.Command) {
		about := either(c.Annotations[sameAs] != "", "the same as "+nameOf(c), c.Short)
		if err == nil {
			_, err = fmt.Fprintf(root.OutOrStdout(), "  %-18s %s\n", strings.TrimPrefix(c.CommandPath(), "cardea "), about)
		}
	})
	return err
}

// eachCommand visits the commands in the order of the help, but the ones that cobra adds.
func eachCommand(c *cobra.Command, visit func(*cobra.Command)) {
	if c.Name() == "help" {
		return
	}
	visit(c)
	if c.Name() == "completion" || c.Annotations[sameAs] != "" {
		return
	}
	for _, sub := range c.Commands() {
		eachCommand(sub, visit)
	}
}

// overview writes what the help text of the program has below its description.
func overview(root *cobra.Command) error {
	text := "Usage:\n  cardea [command]\n"
	for _, g := range helpGroups() {
		text += "\n" + g[0] + ":\n"
		for _, c := range inGroup(root, g) {
			text += fmt.Sprintf("  %-10s %s\n", c.Name(), c.Short)
		}
	}
	_, err := fmt.Fprintf(root.OutOrStdout(), "%s\nFlags:\n%s\n\"cardea COMMAND --help\" explains a command, and \"cardea help --all\" lists the others.\n", text, root.LocalFlags().FlagUsages())
	return err
}
