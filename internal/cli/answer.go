package cli

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/hook"
)

// withJSON makes run the action of a command, and adds the flag --json.
func withJSON(c *cobra.Command, run func(args []string, asJSON bool) error) *cobra.Command {
	asJSON := c.Flags().Bool("json", false, "answer as one JSON object")
	c.RunE = func(_ *cobra.Command, args []string) error { return run(args, *asJSON) }
	return c
}

// runOn returns the action of a command that first opens something for the working folder,
// such as the lessons there.
func runOn[T any](p Process, open func(Process) (T, error), run func(of T, args []string) error) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		of, err := open(p)
		if err != nil {
			return err
		}
		return run(of, args)
	}
}

// jsonOn makes run the action of a command as runOn does, and adds the flag --json.
func jsonOn[T any](p Process, open func(Process) (T, error), c *cobra.Command, run func(of T, args []string, asJSON bool) error) *cobra.Command {
	asJSON := c.Flags().Bool("json", false, "answer as one JSON object")
	c.RunE = runOn(p, open, func(of T, args []string) error { return run(of, args, *asJSON) })
	return c
}

// inOrder returns the flags of a command. Its help then shows them in the order of declaration.
func inOrder(c *cobra.Command) *pflag.FlagSet {
	c.Flags().SortFlags = false
	return c.Flags()
}

// group returns a command that only has subcommands.
func group(use, short, long string, sub ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Long: long, Args: noSuchCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(sub...)
	return c
}

// answer writes the result of a command: as JSON, or with show for people.
func (p Process) answer(asJSON bool, found any, show func(*screen)) error {
	if asJSON {
		return encode(p, found)
	}
	s := screenOn(p.Stdout, p.Env)
	show(s)
	return s.err
}

// encode writes one JSON object in one line.
func encode(p Process, v any) error { return encodeBy(p, v, "") }

// encodeBy writes one JSON object, indented unless indent is "".
func encodeBy(p Process, v any, indent string) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := p.Stdout.Write(hook.PlainJSON(text.Bytes()))
	return err
}

// failIf returns err, or the exit code of an error if failed is set.
func failIf(failed bool, err error) error {
	if err == nil && failed {
		return ended(exitError)
	}
	return err
}

// tell writes warnings to standard error.
func (p Process) tell(all cardea.Issues) {
	for _, t := range all {
		p.warn(t.Error())
	}
}

// report is the JSON of commands that only look for mistakes.
type report struct {
	Diagnostics []diagnostic.Diagnostic `json:"diagnostics"`
}

// answerDiagnostics writes diagnostics and their numbers, after counts. It returns the exit
// code of an error if there are errors among them.
func (p Process) answerDiagnostics(asJSON bool, all []diagnostic.Diagnostic, counts string) error {
	return failIf(diagnostic.HasError(all), p.answer(asJSON, report{notNil(all)}, func(s *screen) {
		errors, warnings := showDiagnostics(s, all)
		s.printf("%s%s, %s\n", counts, count(errors, "error"), count(warnings, "warning"))
	}))
}

// showDiagnostics writes diagnostics, one a line, in the same form for every command:
// "file:line:col: severity: text; hint". It returns the numbers of errors and warnings.
func showDiagnostics(s *screen, all []diagnostic.Diagnostic) (errors, warnings int) {
	for _, d := range all {
		style := faint
		switch d.Severity {
		case diagnostic.LevelError:
			style = red
			errors++
		case diagnostic.LevelWarning:
			style = yellow
			warnings++
		}
		place := ""
		if d.File != "" {
			place, d.File = d.Place()+": ", ""
		}
		first, rest, more := strings.Cut(d.String(), "\n")
		s.printf("%s%s: %s\n", place, painted{style, d.Severity.String()}, first)
		if more {
			s.block("      ", rest)
		}
	}
	return errors, warnings
}

// listOf returns the results of of for each entry. An empty list is [] in JSON, not null.
func listOf[T, U any](all []T, of func(T) U) []U {
	out := make([]U, len(all))
	for i, x := range all {
		out[i] = of(x)
	}
	return out
}

// notNil returns a list that is [] in JSON if it is empty, not null.
func notNil[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}
