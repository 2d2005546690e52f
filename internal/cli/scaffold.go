package cli

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// maxHelp is how much of a help text is read, in bytes.
const maxHelp = 1 << 20

// writeScaffold writes a file of command knowledge from a help text. The file makes no
// claims: a person must check every option in the manual.
func writeScaffold(p Process, name string) error {
	help, err := io.ReadAll(io.LimitReader(p.Stdin, maxHelp))
	if err != nil {
		return fmt.Errorf("read the help of %s from standard input: %w", name, err)
	}
	flags, values := helpOptions(string(help))
	commands := helpCommands(string(help))
	if len(flags)+len(values)+len(commands) == 0 {
		return fmt.Errorf("no options or commands are in the text on standard input; pipe the help in: %s --help | cardea knowledge --scaffold %s", name, name)
	}
	var valued, complete, subcommands string // an empty list would be a mistake
	if len(values) > 0 {
		valued = "    value_options: [" + strings.Join(values, ", ") + "]\n"
	}
	if all := slices.Concat(flags, values); len(all) > 0 {
		complete = "options: [" + strings.Join(all, ", ") + "]"
	}
	if len(commands) > 0 {
		subcommands = "    subcommands:\n"
	}
	for _, names := range commands {
		subcommands += "      - {name: [" + strings.Join(names, ", ") + "], operands: none, accesses: [unknown]}\n"
	}
	s := screenOn(p.Stdout, p.Env)
	s.printf(fmt.Sprintf(template("command.yaml"), "%s", valued, complete, subcommands), name)
	return s.err
}

// These match the headings above commands in a help text, a command's name, and a list of
// names alone.
var (
	commandHead = regexp.MustCompile(`^((?i:[a-z]\S* )*(?i:sub)?(?i:commands)( are)?:|([A-Z]+ )*(SUB)?COMMANDS)$`)
	commandName = regexp.MustCompile(`^[a-z0-9][\w:.-]*$`)
	commandList = regexp.MustCompile(`^\{([^{} ]+)\}$`)
)

// helpCommands returns the commands in a help text, each with its other names. It finds
// lines that are indented after one such as "Commands:", "Available Commands:" or "The
// commands are:", and lists such as {add,remove}.
func helpCommands(help string) (out [][]string) {
	head, indent := false, 0
	seen := map[string]bool{}
	for line := range strings.Lines(help) {
		text := strings.TrimSpace(line)
		in := len(line) - len(strings.TrimLeft(line, " \t"))
		switch {
		case text == "":
			continue
		case commandHead.MatchString(text):
			head, indent = true, 0
			continue
		case in == 0:
			head = false
		case head && indent == 0:
			indent = in
		}
		names, _, described := strings.Cut(strings.ReplaceAll(text, "\t", "  "), "  ")
		list := commandList.FindStringSubmatch(names)
		if list == nil && (!head || in != indent) {
			continue
		}
		entries := commandsIn(names, described)
		if list != nil {
			entries = commandsIn(list[1], false)
		}
		for _, names := range entries {
			if names = slices.DeleteFunc(names, func(n string) bool { return seen[n] }); len(names) > 0 {
				out = append(out, names)
			}
			for _, n := range names {
				seen[n] = true
			}
		}
		if len(entries) == 0 {
			indent = 0 // a placeholder for the commands after it
		}
	}
	return out
}

// commandsIn returns the commands in a line, each with its other names. Without a
// description, each name is a separate command.
func commandsIn(names string, described bool) (out [][]string) {
	if !described && !strings.Contains(names, ",") {
		names, _, _ = strings.Cut(names, " ")
	}
	var words []string
	for name := range strings.SplitSeq(names, ",") {
		name, _, _ = strings.Cut(strings.TrimSpace(name), " ") // operands follow the name
		if name = strings.TrimRight(name, ":*"); commandName.MatchString(name) {
			words = append(words, name)
		}
	}
	if described && len(words) > 0 {
		return [][]string{words}
	}
	return listOf(words, func(w string) []string { return []string{w} })
}

// helpOptions returns the options in a help text: those without a value, and those with one.
func helpOptions(help string) (flags, values []string) {
	for line := range strings.Lines(help) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "-") {
			continue
		}
		head, _, _ := strings.Cut(line, "  ") // the description follows
		valued := false
		var names []string
		for _, word := range strings.FieldsFunc(head, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '|' }) {
			option, value, has := strings.Cut(word, "=")
			optional := strings.HasSuffix(option, "[")
			option = strings.TrimRight(option, "[")
			switch {
			case strings.HasPrefix(option, "-") && len(option) > 1 && strings.Trim(option, "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_?") == "":
				names = append(names, option)
				valued = valued || has && value != "" && !optional
			case !strings.HasPrefix(option, "-") && len(names) > 0 && !optional && !strings.HasPrefix(word, "["):
				valued = true
			}
		}
		for _, n := range names {
			switch {
			case slices.Contains(flags, n) || slices.Contains(values, n):
			case valued:
				values = append(values, n)
			default:
				flags = append(flags, n)
			}
		}
	}
	return flags, values
}
