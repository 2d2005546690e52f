package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/config/inforce/sandbox"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/harness/claudecode"
)

// compileFlags are the flags of compile.
type compileFlags struct {
	codex, user, managed, diff  bool
	check, remove, enable, shut bool
	role                        string
	without                     []string
}

// compiledEndings holds the meanings of exit codes 0 and 1.
var compiledEndings = [2]string{"done; with --check: nothing differs", "with --check: something is missing, changed or out of date; or an error; it is on standard error"}

// compileCommand returns the command "compile".
func compileCommand(p Process) *cobra.Command {
	f, codex := compileFlags{}, compileFlags{codex: true, managed: true}
	c := compileTarget(p, &f, "claude-sandbox [--user | --managed] [--diff | --check | --remove]", "write denies into the sandbox of Claude Code",
		`Write denies into the sandbox of Claude Code: paths that nothing may read or write, and
hosts. They come from rules and settings of Cardea, your organisation and you, and from
Cardea's own files. What asks, depends on the command, or holds in one project is
left to Cardea (docs/sandbox.md). No file of a project is written.

A record in the state folder has what was written. --remove takes that out again, and
nothing that you wrote; so does "cardea uninstall". A second run brings the entries up
to date, with the flags --role and --without of the first.

The first run without other flags asks for nothing if no agent started it. All else asks
for a code, which a person types at a terminal.`)
	fs := c.Flags()
	fs.BoolVar(&f.user, "user", false, "your own settings (default)")
	fs.BoolVar(&f.managed, "managed", false, "the settings of the machine, which no project can loosen; needs root")
	fs.BoolVar(&f.enable, "enable", false, "switch the sandbox on as well")
	fs.BoolVar(&f.shut, "closed", false, "let no command out of it (allowUnsandboxedCommands: false); with --managed also none that a project excludes")
	c.MarkFlagsMutuallyExclusive("user", "managed")
	return group("compile", "have the sandbox of a harness enforce what Cardea denies", "", c,
		compileTarget(p, &codex, "codex-sandbox [--diff | --check | --remove]", "write denies into the sandbox of Codex CLI",
			`Write the paths that nothing may read into /etc/codex/requirements.toml, which is for the
machine and needs root: Codex CLI has no such list for one person, and none for writes.`))
}

// compileTarget returns the command for one harness.
func compileTarget(p Process, f *compileFlags, use, short, long string) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Long: long, Args: noArguments, RunE: func(*cobra.Command, []string) error { return compileInto(p, *f) }}
	fs := inOrder(c)
	fs.BoolVar(&f.diff, "diff", false, "show what would change and why, and write nothing")
	fs.BoolVar(&f.check, "check", false, "show what is missing, changed or out of date, and what the sandbox lets out")
	fs.BoolVar(&f.remove, "remove", false, "take out what Cardea wrote, and nothing else")
	fs.StringVar(&f.role, "role", "", "also what this role may not read or write, for all sessions; its relative paths are in this project")
	fs.StringSliceVar(&f.without, "without", nil, "leave out a rule by its id, or one path or host as it would be written")
	c.MarkFlagsMutuallyExclusive("check", "diff")
	c.MarkFlagsMutuallyExclusive("check", "remove")
	return c
}

// compilation holds the denies for one file, and the change that writes them.
type compilation struct {
	*sandbox.Compiled
	h     install.Harness
	flags compileFlags
	was   install.Sandboxed
	plan  *install.Plan
}

// compile returns the denies for a harness's file and the change that writes them.
func compile(p Process, s harnessPaths, f compileFlags) (c compilation, err error) {
	name, scope := claudecode.Name, install.User
	if f.codex {
		name = "codex"
	} else if f.managed {
		scope = install.Managed
	}
	if c.h, err = install.Find(name); err != nil {
		return c, err
	}
	given := f.without
	wanted := func(was install.Sandboxed) (now install.Sandboxed, err error) {
		if c.was = was; len(f.without) == 0 {
			f.without = was.Without
		}
		f.role = cmp.Or(f.role, was.Role)
		if c.Compiled, err = compileFor(p, s, f); err != nil || f.remove {
			return now, err
		}
		for _, name := range given {
			if !slices.ContainsFunc(c.Left, func(l sandbox.Left) bool { return l.Why == sandbox.LeftOut && (l.From == name || l.What == name) }) {
				return now, wrongUsage{fmt.Errorf("--without %s: no rule, path or host that is written has this name; --diff shows them", Plain(name))}
			}
		}
		now.Role, now.Without = f.role, f.without
		for i, x := range []install.Deny{{List: install.SandboxOn, Value: "true"}, {List: install.WaysOut, Value: "false"}} {
			if [...]bool{f.enable, f.shut}[i] || slices.Contains(was.Denies, x) {
				now.Denies = append(now.Denies, x)
			}
		}
		now.Denies = append(now.Denies, lists.Of(c.Entries, func(e sandbox.Entry) install.Deny { return e.Deny })...)
		return now, nil
	}
	if c.flags = f; !f.codex {
		c.plan, err = install.PlanSandbox(c.h, scope, s.At, wanted)
		return c, err
	}
	now, err := wanted(c.was)
	if err != nil {
		return c, err
	}
	read := lists.Where(now.Denies, func(x install.Deny) bool { return x.List == install.DenyRead })
	c.Entries = slices.DeleteFunc(c.Entries, func(e sandbox.Entry) bool { return e.List != install.DenyRead })
	c.plan, err = install.PlanCodexSandbox(s.At, lists.Of(read, func(x install.Deny) string { return x.Value }))
	return c, err
}

// compileFor compiles the denies that apply everywhere. It looks from the home folder, so a
// project adds none except through a role.
func compileFor(p Process, s harnessPaths, f compileFlags) (*sandbox.Compiled, error) {
	home := s.Place.Dirs.Home
	if home == "" {
		return nil, errors.New("the home folder is not known; set HOME")
	}
	pl := locate(p, "", "", home)
	l := load(p.in(home), &pl, nil)
	about := sandbox.About{Rules: l.Rules(), Own: l.Own(), Home: home, Project: s.At.Project, OS: p.Machine.OS, Without: f.without}
	if f.role != "" {
		set := load(p, &s.Place, nil).Roles()
		if about.Role = set.Of(f.role); !set.Has(f.role) {
			return nil, wrongUsage{fmt.Errorf("there is no role %q; see \"cardea roles list\"", f.role)}
		}
	}
	return sandbox.Compile(about), nil
}

// compileInto runs the command.
func compileInto(p Process, f compileFlags) error {
	as := installFlags{managed: f.managed, dryRun: f.diff || f.check}
	s, err := as.fixture(p)
	if err != nil {
		return err
	}
	c, err := compile(p, s, f)
	if err != nil {
		return err
	}
	out, changed := screenOn(p.Stdout, p.Env), c.plan.Changed()
	if !f.remove && !f.check {
		c.show(out)
	}
	switch {
	case f.check && changed:
		out.block("", c.plan.Diff())
		showDiagnostics(out, c.plan.Notes)
	case changed:
		what := cmp.Or(onlyIf(f.remove, "take denies out of"), "write denies into")
		change := setUpChange{what: what + " the sandbox of " + c.h.Title, why: c.whyCode(p), plans: []*install.Plan{c.plan}}
		if err := change.carryOut(p, s, f.diff, out); err != nil {
			return err
		}
	default:
		out.printf("nothing to change in %s\n", c.plan.File)
	}
	if !f.remove && !f.diff {
		line, holes := c.state(s, f.check && changed)
		out.printf("%s\n", line)
		for _, hole := range holes {
			out.printf("let out: %s\n", hole)
		}
	}
	if f.check {
		return failIf(changed, out.err)
	}
	return cmp.Or(out.err, as.rehearsed(s, c.plan))
}

// whyCode returns why a change asks for a code, or "" if it does not.
func (c *compilation) whyCode(p Process) string {
	switch err := p.agentAbove(); {
	case c.flags.remove:
		return "something is removed"
	case err != nil:
		return err.Error()
	case c.flags.enable || c.flags.shut || c.flags.role != "" || len(c.flags.without) > 0:
		return "there are other flags than --user and --managed"
	case len(c.was.Denies) > 0 || c.flags.codex && strings.Contains(string(c.plan.Before), "cardea"):
		return c.plan.File + " has denies of Cardea already"
	}
	return c.plan.OnlyAdds()
}

// show writes the source of each entry, and what is left to Cardea.
func (c *compilation) show(out *screen) {
	slices.SortStableFunc(c.Entries, func(a, b sandbox.Entry) int { return strings.Compare(a.List, b.List) })
	for i, e := range c.Entries {
		if i == 0 || c.Entries[i-1].From != e.From || c.Entries[i-1].List != e.List {
			out.printf("%s from %s:\n", painted{bold, e.List}, e.From)
		}
		out.printf("  %s\n", e.Value)
	}
	out.printf("programs that need one of these fail in the sandbox, such as git with keys in ~/.ssh; --without leaves an entry out\n")
	slices.SortStableFunc(c.Left, func(a, b sandbox.Left) int { return strings.Compare(a.Why, b.Why) })
	for i, n := 0, 0; i < len(c.Left); i = n {
		var what []string
		for n = i; n < len(c.Left) && c.Left[n].Why == c.Left[i].Why; n++ {
			what = append(what, strings.TrimSpace(c.Left[n].From+" "+c.Left[n].What))
		}
		const shown = 6
		out.printf("left to Cardea (%s): %s%s\n", c.Left[i].Why, strings.Join(what[:min(shown, len(what))], ", "), onlyIf(len(what) > shown, fmt.Sprintf(" and %d more", len(what)-shown)))
	}
}

// state returns one line on what is written and whether the sandbox is on. holes is what
// the settings let out of the sandbox.
func (c *compilation) state(s harnessPaths, differs bool) (line string, holes []string) {
	written := len(c.was.Denies) > 0 || !differs
	has := either(!differs, " has what Cardea denies", either(written, " has not all that Cardea denies, or more", " has no denies of Cardea"))
	line = "the sandbox of " + c.h.Title + has + ", by " + c.plan.File
	if c.flags.codex {
		return line, nil
	}
	on, by, holes := install.Sandbox(c.h, s.At)
	off := either(written, "written, but the sandbox is off", "it is off")
	switch {
	case on:
		line += "; it is on (" + by + ")"
	case by != "":
		line += "; " + off + " (" + by + ")"
	default:
		line += "; " + off + ": run this with --enable, or /sandbox in Claude Code"
	}
	return line, holes
}

// checkSandbox reports in one line whether the sandbox of Claude Code has what Cardea denies.
func (c *checkup) checkSandbox(p Process, s harnessPaths) {
	for _, managed := range []bool{false, true} {
		done, err := compile(p, s, compileFlags{managed: managed})
		switch {
		case len(done.was.Denies) == 0 && !errors.Is(err, state.ErrForged):
		case err != nil:
			c.add(diagnostic.LevelWarning, diagnostic.CodeIgnored, "", "the denies of the sandbox cannot be compared: "+err.Error())
		default:
			line, _ := done.state(s, done.plan.Changed())
			if c.Sandbox = append(c.Sandbox, line); done.plan.Changed() {
				c.add(diagnostic.LevelNote, install.CodeChanged, "run \"cardea compile claude-sandbox --check\"", "the sandbox has not what Cardea denies now")
			}
		}
	}
	h, _ := install.Find(claudecode.Name) // it always exists
	if on, _, _ := install.Sandbox(h, s.At); on && len(c.Sandbox) == 0 {
		c.add(diagnostic.LevelNote, install.CodeNoHook, "run \"cardea compile claude-sandbox\"", "the sandbox of Claude Code is on, and has no denies of Cardea")
	}
}
