package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document/yamledit"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/decide/overrides"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/memory/ledger"
)

// overrideFlags holds the flags of an override as typed.
type overrideFlags struct {
	role, command, tool, file, rule, because string
	allow, deny, ask                         bool
	scope, until                             string
	length                                   time.Duration
}

// overrideCommand returns the command "override".
func overrideCommand(p Process) *cobra.Command {
	var f overrideFlags
	c := &cobra.Command{
		Use:   "override --command WORDS | --file GLOB  --allow | --ask | --deny [flags]",
		Short: "make an exception for a command or a file, for a while or for good",
		Long: `Make an exception. What built-in rules and the paths of roles say about the
command or file does not count any more, and what the override says does. What a
person wrote as a rule, policy or permission stays in force, and so does everything
of system and organisation. See docs/overrides.md. Only a person may do this.

A command is words, from its beginning, in quotes where a shell needs them; a last *
stands for more operands. Options that are not named are not allowed.`,
		Example: `  cardea override --role tester --command "docker compose up *" --allow
  cardea override --role coder --tool Write --file ".claude/*" --ask --scope user
  cardea override --command "git clean -fd" --allow --for 30m --because "a broken build"
  cardea override list`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return addOverride(p, f) },
	}
	fs := inOrder(c)
	fs.StringVar(&f.command, "command", "", "the words of the command; a last * is any more operands")
	fs.StringVar(&f.file, "file", "", "a glob of paths, as in rules")
	fs.StringVar(&f.tool, "tool", "", "the tool, by its canonical name or a harness's")
	fs.StringVar(&f.role, "role", "", "only for agents with this role")
	fs.BoolVar(&f.allow, "allow", false, "it may run without a question")
	fs.BoolVar(&f.ask, "ask", false, "a person is asked each time")
	fs.BoolVar(&f.deny, "deny", false, "it does not run")
	fs.StringVar(&f.scope, "scope", "project", "whose override it is: project, user, org or system")
	fs.DurationVar(&f.length, "for", 0, "how long it counts: 30m, 8h")
	fs.StringVar(&f.until, "until", "", "until when it counts: 2026-11-24, or \"2026-11-24 18:00\"")
	fs.StringVar(&f.rule, "rule", "", "the rule of the pack builtins that it is an exception from; never in a project")
	fs.StringVar(&f.because, "because", "", "why; it is listed, and told with each use")
	c.MarkFlagsMutuallyExclusive("allow", "ask", "deny")
	c.MarkFlagsMutuallyExclusive("for", "until")
	c.AddCommand(
		jsonOn(p, registrarHere, &cobra.Command{Use: "list [--json]", Short: "list all overrides, and how often each was used", Args: noArguments,
			Long: "List the overrides that are in force here, those that ended included: what each\nsays, who made it, when and why, and how often it was used."},
			func(d sessionRegistrar, _ []string, asJSON bool) error { return listOverrides(p, d, asJSON) }),
		cautious(&cobra.Command{Use: "rm ID", Short: "remove an override", Long: "Remove an override by the id that \"cardea override list\" shows. Only a person may do this.", Args: oneArgument,
			RunE: runOn(p, registrarHere, func(d sessionRegistrar, args []string) error { return removeOverride(p, d, args[0]) })}),
	)
	return cautious(c)
}

// allowCommand returns the command "allow", the short form of "override --allow" for a command.
func allowCommand(p Process) *cobra.Command {
	f := overrideFlags{allow: true}
	always := false
	c := &cobra.Command{Use: "allow \"COMMAND\" [--for 10m | --always]", Short: "allow a command for ten minutes", Args: oneCommand,
		Long:    "Make an exception that allows a command in this project for ten minutes, as \"cardea\noverride --command COMMAND --allow --for 10m\" does. Only a person may do this.",
		Example: "  cardea allow \"git clean -fd\"\n  cardea allow \"docker compose up *\" --for 8h --scope user",
		RunE: func(_ *cobra.Command, args []string) error {
			if f.command = args[0]; always {
				f.length = 0
			} else if f.length == 0 {
				return wrongUsage{errors.New("--for must be longer than nothing; for good is --always")}
			}
			return addOverride(p, f)
		}}
	fs := c.Flags()
	fs.DurationVar(&f.length, "for", 10*time.Minute, "how long it is allowed: 30m, 8h")
	fs.BoolVar(&always, "always", false, "allow it for good")
	fs.StringVar(&f.scope, "scope", "project", "where it applies: project or user (all your projects)")
	fs.StringVar(&f.because, "because", "", "why; it is listed, and shown with each use")
	c.MarkFlagsMutuallyExclusive("for", "always")
	return cautious(c)
}

// read returns the override that the flags describe.
func (f overrideFlags) read(p Process) (o overrides.Override, err error) {
	now := p.Now().UTC().Truncate(time.Second)
	o = overrides.Override{Role: f.role, Tool: f.tool, File: f.file, Rule: f.rule, Because: strings.TrimSpace(f.because),
		By: p.UserName(), At: now, Effect: cardea.Allow}
	if o.Command, err = grammar.PlainWords(f.command); err != nil {
		return o, fmt.Errorf("--command: %w", err)
	}
	switch {
	case f.ask:
		o.Effect = cardea.Ask
	case f.deny:
		o.Effect = cardea.Deny
	case !f.allow:
		return o, errors.New("say --allow, --ask or --deny")
	}
	if word, known := harness.ToolWord(f.tool); known {
		o.Tool = word
	}
	if o.Scope, err = scopeOf(f.scope); err != nil {
		return o, err
	}
	switch {
	case f.length < 0:
		return o, errors.New("--for must be longer than nothing")
	case f.length > 0:
		o.Until = now.Add(f.length)
	case f.until != "":
		if o.Until, err = parseTime(f.until, p.Now()); err != nil {
			return o, fmt.Errorf("--until: %w", err)
		}
		if o.Until = o.Until.UTC().Truncate(time.Second); !o.Until.After(now) {
			return o, errors.New("--until is over already")
		}
	}
	if wrong := o.Wrong(); wrong != "" {
		return o, errors.New(wrong)
	}
	return o, nil
}

// scopeOf returns the scope for a word. It fails for a scope without a folder.
func scopeOf(word string) (cardea.Scope, error) {
	for _, s := range []cardea.Scope{cardea.ScopeProject, cardea.ScopeUser, cardea.ScopeOrg, cardea.ScopeSystem} {
		if s.String() == word {
			return s, nil
		}
	}
	return 0, fmt.Errorf("there is no scope %q to write to: use project, user, org or system", word)
}

// overridesPath returns the path of a scope's file of overrides.
func overridesPath(d sessionRegistrar, scope cardea.Scope) (string, error) {
	dirs, dir := d.Place.Dirs, ""
	switch scope {
	case cardea.ScopeProject:
		if d.Place.Project == "" || d.Place.Project == dirs.Home {
			return "", errors.New("this is no project; change into one, or use --scope user")
		}
		dir = filepath.Join(d.Place.Project, ".cardea")
	case cardea.ScopeUser:
		dir = dirs.User
	case cardea.ScopeSystem:
		dir = dirs.System
	case cardea.ScopeOrg:
		name := d.Loaded.Settings.Org.Name
		if name == "" || dirs.User == "" {
			return "", errors.New("no organisation is set; give its name in the setting org.name")
		}
		dir = filepath.Join(dirs.User, "org", name)
	}
	if dir == "" {
		return "", fmt.Errorf("there is no folder of the scope %s", scope)
	}
	return filepath.Join(dir, inforce.OverridesFile), nil
}

// overrideEntry returns an override as YAML for its file.
func overrideEntry(o overrides.Override) string {
	var out []string
	add := func(key, value string) {
		if value != "" {
			out = append(out, key+": "+strconv.Quote(value))
		}
	}
	add("command", grammar.Quoted(o.Command))
	add("tool", o.Tool)
	add("file", o.File)
	add("role", o.Role)
	add("rule", o.Rule)
	out = append(out, "effect: "+o.Effect.String())
	if !o.Until.IsZero() {
		add("until", o.Until.Format(time.RFC3339))
	}
	add("by", o.By)
	add("at", o.At.Format(time.RFC3339))
	add("because", o.Because)
	return "{" + strings.Join(out, ", ") + "}"
}

// addOverride writes the override that the flags describe, if the person confirms it.
func addOverride(p Process, f overrideFlags) error {
	o, err := f.read(p)
	if err != nil {
		return wrongUsage{err}
	}
	d, err := registrarHere(p)
	if err != nil {
		return err
	}
	if len(redact.New().Find(overrideEntry(o))) > 0 {
		return errors.New("it holds what looks like a secret, which would stand in the file; say it without")
	}
	if o.Role != "" && !d.Loaded.Roles().Has(o.Role) {
		return unknownRole(d.Loaded.Roles(), o.Role)
	}
	if slices.ContainsFunc(d.Loaded.Overrides, func(old overrides.Override) bool { return old.ID() == o.ID() && old.Scope == o.Scope }) {
		return fmt.Errorf("there is such an override already: %s; see \"cardea override list\"", o.ID())
	}
	return changeOverrides(p, d, o.Scope, "make this exception in the scope "+o.Scope.String(), fmt.Sprintf("override %s: %s", o.ID(), describe(o)), func(text string) (string, error) {
		if strings.TrimSpace(text) == "" {
			text = "# Exceptions that a person made; docs/overrides.md explains the keys.\nversion: 1\n"
		}
		out, _, err := yamledit.Append(text, []string{"overrides"}, []string{overrideEntry(o)})
		return out, err
	})
}

// describe returns an override in one line.
func describe(o overrides.Override) string {
	command := onlyIf(len(o.Command) > 0, strconv.Quote(grammar.Quoted(o.Command)))
	return joined(" ", o.Effect.String(), command, o.Tool, prefixed("on ", o.File), prefixed("for the role ", o.Role), prefixed("in spite of ", o.Rule),
		onlyIf(!o.Until.IsZero(), "until "+o.Until.Local().Format("2006-01-02 15:04")))
}

// changeOverrides edits a scope's file, if the person confirms it. The new text must be
// valid. A trusted project stays trusted.
func changeOverrides(p Process, d sessionRegistrar, scope cardea.Scope, why, what string, edit func(string) (string, error)) error {
	path, err := overridesPath(d, scope)
	if err != nil {
		return err
	}
	before, err := state.ReadLinked(path, maxOverrides)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	after, err := edit(string(before))
	if err != nil {
		return fmt.Errorf("%s was left as it is: %w", path, err)
	}
	if _, problems := overrides.Parse(path, scope, []byte(after), harness.ToolWord); diagnostic.HasError(problems) {
		return fmt.Errorf("%s was left as it is: %s", path, problems[0])
	}
	if err := p.byPerson(why, func(s *screen) { s.printf("%s\n%s\n", what, painted{faint, path}) }); err != nil {
		return err
	}
	survey, err := surveyIf(p, scope == cardea.ScopeProject)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	_, mode := modesOf(scope == cardea.ScopeUser)
	remember := p.remembering(false)
	if err := state.Replace(path, []byte(after), func(f *os.File) error { return f.Chmod(mode) }); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	out := screenOn(p.Stdout, p.Env)
	out.printf("%s\nwrote %s\n", what, path)
	if survey != nil {
		if err := survey.begin(p, out, func(name, _ string) bool { return name == ".cardea/"+inforce.OverridesFile }); err != nil {
			return err
		}
	}
	return cmp.Or(remember(), out.err)
}

// maxOverrides is the largest file of overrides, in bytes.
const maxOverrides = 1 << 20

// removeOverride removes the override with an id, if the person confirms it.
func removeOverride(p Process, d sessionRegistrar, id string) error {
	i := slices.IndexFunc(d.Loaded.Overrides, func(o overrides.Override) bool { return o.ID() == id })
	if i < 0 {
		return fmt.Errorf("there is no override %q here; see \"cardea override list\"", id)
	}
	o := d.Loaded.Overrides[i]
	return changeOverrides(p, d, o.Scope, "remove the exception "+id, "removed "+id+": "+describe(o), func(text string) (string, error) {
		list, _ := overrides.Parse("overrides.yaml", o.Scope, []byte(text), harness.ToolWord)
		k := slices.IndexFunc(list, func(x overrides.Override) bool { return x.ID() == id })
		if k < 0 {
			return "", errors.New("it changed meanwhile")
		}
		return yamledit.RemoveItem(text, []string{"overrides"}, k)
	})
}

// overrideListing is an override for people and its JSON.
type overrideListing struct {
	ID      string        `json:"id"`
	Effect  cardea.Effect `json:"effect"`
	Command string        `json:"command"`
	Tool    string        `json:"tool"`
	File    string        `json:"file"`
	Role    string        `json:"role"`
	Rule    string        `json:"rule"`
	Scope   cardea.Scope  `json:"scope"`
	Source  string        `json:"source"`
	By      string        `json:"by"`
	At      time.Time     `json:"at,omitzero"`
	Until   time.Time     `json:"until,omitzero"`
	Because string        `json:"because"`
	Trusted bool          `json:"trusted"`
	Ended   bool          `json:"ended"`
	// Used is how often it decided, and Last when it last decided.
	Used int       `json:"used"`
	Last time.Time `json:"last,omitzero"`
}

// listOverrides lists the overrides that are in force here.
func listOverrides(p Process, d sessionRegistrar, asJSON bool) error {
	l, err := ledgerOf(p, d.Place, d.Loaded.Settings.Ledger)
	if err != nil {
		return err
	}
	list := []overrideListing{}
	for _, o := range d.Loaded.Overrides {
		e := overrideListing{ID: o.ID(), Effect: o.Effect, Command: grammar.Quoted(o.Command), Tool: o.Tool, File: o.File, Role: o.Role, Rule: o.Rule, Scope: o.Scope,
			Source: o.Source, By: o.By, At: o.At, Until: o.Until, Because: o.Because, Trusted: o.Trusted, Ended: o.Ended(p.Now())}
		for line, err := range l.Search(ledger.Query{Rule: "overrides:" + e.ID}) {
			if err != nil {
				return err
			}
			if e.Used++; line.Entry.Time.After(e.Last) {
				e.Last = line.Entry.Time
			}
		}
		list = append(list, e)
	}
	return p.answer(asJSON, list, func(s *screen) {
		s.printIf(len(list) == 0, "there are no overrides here\n")
		for i, e := range list {
			s.printf("%s  %s\n", painted{bold, e.ID}, describe(d.Loaded.Overrides[i]))
			notes := joined(", ", e.Scope.String(), e.Source, prefixed("by ", e.By), onlyIf(!e.At.IsZero(), e.At.Local().Format("2006-01-02 15:04")),
				onlyIf(e.Ended, "ended"), onlyIf(!e.Trusted, "not trusted: only ask and deny count"))
			used := either(e.Used > 0, fmt.Sprintf("used %s, last %s", count(e.Used, "time"), e.Last.Local().Format("2006-01-02 15:04")), "never used")
			s.printf("          %s\n          %s%s\n", painted{faint, notes}, used, prefixed("; because ", e.Because))
		}
	})
}
