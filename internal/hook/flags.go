package hook

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// flags maps the names of a command's flags to what they set: a text, a list of texts, a
// duration, a number, or a switch. Commands for people parse the same flags with a library,
// which is too large for the hook.
type flags map[string]any

// parseFlags parses a command line that has only flags, as that library does: --name value,
// --name=value, and --switch or --switch=false.
func parseFlags(args []string, of flags) error {
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		if word == "--" && len(args) > 0 {
			word = args[0]
		} else if word == "--" {
			return nil
		} else if strings.HasPrefix(word, "-") && word != "-" {
			var err error
			if args, err = of.set(word, args); err != nil {
				return err
			}
			continue
		}
		return fmt.Errorf("it takes no arguments, and %q was found", word)
	}
	return nil
}

// set parses the flag in word. It returns the words after the flag and its value.
func (of flags) set(word string, rest []string) ([]string, error) {
	name, value, given := strings.Cut(strings.TrimPrefix(word, "--"), "=")
	to, known := of[name]
	if !known || !strings.HasPrefix(word, "--") {
		return nil, fmt.Errorf("unknown flag: %s", word)
	}
	if on, is := to.(*bool); is {
		*on = true
		if !given {
			return rest, nil
		}
		v, err := strconv.ParseBool(value)
		if err != nil {
			return nil, fmt.Errorf("--%s: write true or false", name)
		}
		*on = v
		return rest, nil
	}
	if !given {
		if len(rest) == 0 {
			return nil, fmt.Errorf("flag needs an argument: --%s", name)
		}
		value, rest = rest[0], rest[1:]
	}
	switch to := to.(type) {
	case *string:
		*to = value
	case *[]string:
		*to = append(*to, value)
	case *time.Duration:
		d, err := time.ParseDuration(value)
		if err != nil {
			return nil, fmt.Errorf("invalid argument %q for --%s: %w", value, name, err)
		}
		*to = d
	case *int:
		n, err := strconv.Atoi(value)
		if err != nil {
			return nil, fmt.Errorf("invalid argument %q for --%s: write a number", value, name)
		}
		*to = n
	}
	return rest, nil
}
