package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/inforce/sandbox"
	"cardea.dev/internal/install"
	"cardea.dev/internal/jsonedit"
	"cardea.dev/internal/state"
	"github.com/spf13/cobra"
)

// compileFlags are the flags of compile.
type compileFlags struct {
	user, managed                       bool
	diff, check, remove, enable, closed bool
	role                                string
	without                             []string
}

func compileCommand(p Process) *cobra.Command {
	return group("compile", "have the sandbox of a harness enforce what Cardea denies", `Write what Cardea denies for certain into the sandbox settings of a harness. A sandbox
holds for programs that Cardea does not know.`, compileTarget(p, claudecode.Name), compileTarget(p, "codex"))
}

// compileTarget is the command for one harness.
func compileTarget(p Process, harness string) *cobra.Command {
	var f compileFlags
	c := cautious(&cobra.Command{
		Use:   "claude-sandbox [--user | --managed] [--diff | --check | --remove]",
		Short: "write denies into the sandbox of Claude Code",
		Long: `Write denies into the sandbox of Claude Code: paths that nothing may read or write,
hosts, and variables. They come from the rules and settings of Cardea, of your
organisation and of you, from Cardea's own files, and with --role from a role.
Only denies are written, never into a file of a project. What asks, what depends on
the command, and what holds in one project is left to Cardea (docs/sandbox.md).

A record in the state folder has what was written. --remove takes that out again, and
nothing that you wrote; "cardea uninstall" does, too. A second run brings the entries
up to date, with the flags --role and --without of the first.

The first run asks for nothing if no agent started it. All else asks for a code, which
a person types at a terminal.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return compileInto(p, harness, f) },
	})
	fs := inOrder(c)
	if harness != claudecode.Name {
		f.managed = true
		c.Use, c.Short = "codex-sandbox [--diff | --check | --remove]", "write denies into the sandbox of Codex CLI"
		c.Long = `Write the paths that nothing may read into /etc/codex/requirements.toml, which is for
the machine and needs root: Codex CLI has no such list for one person. It knows no
denies of writes there, and hosts need its own proxy, so both are left out.`
	} else {
		fs.BoolVar(&f.user, "user", false, "your own settings (default)")
		fs.BoolVar(&f.managed, "managed", false, "the settings of the machine, which no project can loosen; needs root")
		fs.BoolVar(&f.enable, "enable", false, "switch the sandbox on as well")
		fs.BoolVar(&f.closed, "closed", false, "let no command out of it (allowUnsandboxedCommands: false); with --managed also none that a project excludes")
	}
	fs.BoolVar(&f.diff, "diff", false, "show what would change, and write nothing")
	fs.BoolVar(&f.check, "check", false, "say what is missing, changed or out of date, and what the sandbox lets out")
	fs.BoolVar(&f.remove, "remove", false, "take out what Cardea wrote, and nothing else")
	fs.StringVar(&f.role, "role", "", "also what this role may not read or write, for all sessions; its relative paths lie in this project")
	fs.StringSliceVar(&f.without, "without", nil, "leave out a rule by its id, or one path or host as it would be written")
	c.MarkFlagsMutuallyExclusive("check", "diff")
	c.MarkFlagsMutuallyExclusive("check", "remove")
	if fs.Lookup("enable") != nil {
		c.MarkFlagsMutuallyExclusive("user", "managed")
		c.MarkFlagsMutuallyExclusive("enable", "remove")
		c.MarkFlagsMutuallyExclusive("closed", "remove")
	}
	return c
}

// compiledEndings are what exit codes 0 and 1 mean.
var compiledEndings = [2]string{"done; with --check: nothing differs", "with --check: something is missing, changed or out of date; or an error; it is on standard error"}

// compilation is what is compiled for one file.
type compilation struct {
	h     install.Harness
	scope install.Scope
	was   *install.Sandboxed
	flags compileFlags
	*sandbox.Compiled
	// wanted are the entries, with the switch of the sandbox where it was switched on.
	wanted []install.Deny
	plan   *install.Plan
}

// compiled works out what a file is to have, and how it gets there.
func compiled(p Process, s site, harness string, f compileFlags) (c compilation, err error) {
	c.h, err = install.Find(harness)
	if err != nil {
		return c, err
	}
	if c.scope = install.User; f.managed {
		c.scope = install.Managed
	}
	if c.plan, err = c.planned(s); err != nil {
		return c, err
	}
	c.was, err = install.ReadSandboxed(s.At.State, c.plan.File)
	if err != nil {
		return c, err
	}
	f.role = cmp.Or(f.role, c.was.Role)
	if len(f.without) == 0 {
		f.without = c.was.Without
	}
	if c.flags = f; f.remove {
		c.plan, err = c.planned(s)
		return c, err
	}
	if c.Compiled, err = compileFor(p, s, f, c.was.Without); err != nil {
		return c, err
	}
	if harness != claudecode.Name {
		c.Only(install.DenyRead, "the requirements of "+c.h.Title+" have no list for it")
	}
	for i, x := range []install.Deny{{List: install.SandboxOn, Value: "true"}, {List: install.WaysOut, Value: "false"}} {
		if [...]bool{f.enable, f.closed}[i] || slices.Contains(c.was.Denies, x) {
			c.wanted = append(c.wanted, x)
		}
	}
	c.wanted = append(c.wanted, c.Denies()...)
	c.plan, err = c.planned(s)
	return c, err
}

// planned is how the file gets what is wanted so far.
func (c *compilation) planned(s site) (*install.Plan, error) {
	if c.h.Name == claudecode.Name {
		return install.PlanSandbox(c.h, c.scope, s.At, c.wanted, c.flags.role, c.flags.without)
	}
	read := listOf(c.wanted, func(x install.Deny) string { return x.Value })
	return install.PlanCodexSandbox(c.h, s.At, read, c.flags.role, c.flags.without)
}

// compileFor compiles what holds everywhere: as seen from the home folder, so that no project
// adds to it but with a role. kept are names of --without from before.
func compileFor(p Process, s site, f compileFlags, kept []string) (*sandbox.Compiled, error) {
	home := s.Place.Dirs.Home
	if home == "" {
		return nil, errors.New("the home folder is not known; set HOME")
	}
	pl := locate(p, "", "", home)
	l := load(p.in(home), &pl, nil)
	about := sandbox.About{Rules: l.Rules(), Own: l.Own(), Home: home, Project: s.At.Project, OS: p.Machine.OS, Without: f.without}
	if key := l.Settings.Near.Embedder.KeyVariable; key != "" {
		about.Variables = []string{key}
	}
	if f.role != "" {
		roles := load(p, &s.Place, nil).Roles()
		if about.Role = roles.Of(f.role); !roles.Has(f.role) {
			return nil, wrongUsage{fmt.Errorf("there is no role %q; see \"cardea roles list\"", f.role)}
		}
	}
	out := sandbox.Compile(about)
	for _, name := range f.without {
		if !out.LeftOut(name) && !slices.Contains(kept, name) {
			return nil, wrongUsage{fmt.Errorf("--without %s leaves nothing out; name a rule, a path or a host as --diff shows it", name)}
		}
	}
	return out, nil
}

// compileInto carries the command out.
func compileInto(p Process, harness string, f compileFlags) error {
	as := installFlags{managed: f.managed, dryRun: f.diff || f.check, dry: "--diff"}
	s, err := as.site(p)
	if err != nil {
		return err
	}
	c, err := compiled(p, s, harness, f)
	if err != nil {
		return err
	}
	out := screenOn(p.Stdout, p.Env)
	if f.check {
		wrong := c.differences()
		for _, line := range wrong {
			out.printf("%s\n", line)
		}
		out.printf("%s\n", c.state(s, len(wrong)))
		c.showHoles(s, out)
		return failIf(len(wrong) > 0, out.err)
	}
	if !f.remove {
		c.show(out)
	}
	if !c.plan.Changed() {
		out.printf("nothing to change in %s\n", c.plan.File)
		showDiagnostics(out, c.plan.Notes)
	} else {
		change := setUpChange{what: onlyIf(!f.remove, "write") + onlyIf(f.remove, "remove") + " denies of the sandbox of " + c.h.Title, why: c.whyCode(p), dry: as.dry, plans: []*install.Plan{c.plan}}
		if err := change.carryOut(p, s, f.diff, out); err != nil {
			return err
		}
	}
	if !f.remove && !f.diff {
		out.printf("%s\n", c.state(s, 0))
		c.showHoles(s, out)
	}
	return cmp.Or(out.err, as.rehearsed(s, c.plan))
}

// whyCode says why a change asks for a code, "" where it asks for none.
func (c *compilation) whyCode(p Process) string {
	switch err := p.agentAbove(); {
	case c.flags.remove:
		return "something is removed"
	case err != nil:
		return err.Error()
	case c.flags.enable || c.flags.closed:
		return "the sandbox itself is switched"
	case !c.was.Empty():
		return c.plan.File + " has denies of Cardea already"
	}
	return c.plan.OnlyAdds()
}

// show says where each entry comes from, what may break, and what is left to Cardea.
func (c *compilation) show(out *screen) {
	for i, e := range c.Entries {
		if i == 0 || c.Entries[i-1].From != e.From || c.Entries[i-1].List != e.List {
			out.printf("%s from %s:\n", painted{bold, e.List}, e.From)
		}
		out.printf("  %s\n", e.Value)
	}
	for _, b := range c.Breaks() {
		out.printf("may break in the sandbox: %s\n", b)
	}
	var whys []string
	of := map[string][]string{}
	for _, l := range c.Left {
		what := strings.TrimSpace(l.From + " " + l.What)
		if of[l.Why] == nil {
			whys = append(whys, l.Why)
		}
		of[l.Why] = append(of[l.Why], what)
	}
	for _, why := range whys {
		const shown = 6
		more := onlyIf(len(of[why]) > shown, fmt.Sprintf(" and %d more", len(of[why])-shown))
		out.printf("left to Cardea (%s): %s%s\n", why, strings.Join(of[why][:min(shown, len(of[why]))], ", "), more)
	}
}

// differences says what is missing in the file, changed, or out of date.
func (c *compilation) differences() (out []string) {
	if c.h.Name != claudecode.Name {
		return onlyLine(c.plan.Changed(), c.plan.File+" has not what would be written now")
	}
	d, err := jsonedit.Parse(append(slices.Clone(c.plan.Before), onlyIf(len(c.plan.Before) == 0, "{}")...))
	if err != nil {
		return []string{err.Error()}
	}
	for _, x := range c.wanted {
		switch was := slices.Contains(c.was.Denies, x); {
		case x.In(d):
		case was:
			out = append(out, "changed or taken out: "+x.String())
		default:
			out = append(out, "missing: "+x.String())
		}
	}
	for _, x := range c.was.Denies {
		if !slices.Contains(c.wanted, x) && x.In(d) {
			out = append(out, "out of date: "+x.String())
		}
	}
	return out
}

func onlyLine(is bool, line string) []string {
	if !is {
		return nil
	}
	return []string{line}
}

// state says in one line what is written, and whether it has an effect.
func (c *compilation) state(s site, wrong int) string {
	text := fmt.Sprintf("the sandbox of %s: %s, by %s", c.h.Title, cmp.Or(onlyIf(wrong > 0, count(wrong, "difference")+" from what Cardea denies"), "has what Cardea denies"), c.plan.File)
	if c.h.Name != claudecode.Name {
		return text
	}
	switch box := install.Sandbox(c.h, s.At); {
	case box.On:
		return text + "; it is on (" + box.By + ")"
	case box.By != "":
		return text + "; written, but the sandbox is off (" + box.By + ")"
	}
	return text + "; written, but the sandbox is off: run this with --enable, or /sandbox in Claude Code"
}

// showHoles shows what the settings let out of the sandbox.
func (c *compilation) showHoles(s site, out *screen) {
	if c.h.Name != claudecode.Name {
		return
	}
	for _, hole := range install.Sandbox(c.h, s.At).Holes {
		out.printf("let out: %s\n", hole)
	}
}

// checkSandbox says in one line whether the sandbox of Claude Code has what Cardea denies.
func (c *checkup) checkSandbox(p Process, s site) {
	h, err := install.Find(claudecode.Name)
	if err != nil {
		return
	}
	written := false
	for _, scope := range []install.Scope{install.User, install.Managed} {
		file, err := s.At.File(h, scope)
		if err != nil || s.At.State == "" || !state.Exists(file) {
			continue
		}
		done, err := compiled(p, s, h.Name, compileFlags{managed: scope == install.Managed})
		switch {
		case err != nil:
			c.add(cardea.LevelWarning, cardea.CodeIgnored, "", "the denies of the sandbox cannot be compared: "+err.Error())
		case !done.was.Empty():
			wrong := len(done.differences())
			c.Sandbox, written = append(c.Sandbox, done.state(s, wrong)), true
			if wrong > 0 {
				c.add(cardea.LevelNote, install.CodeChanged, "run \"cardea compile claude-sandbox --check\"", "the sandbox has not what Cardea denies now")
			}
		}
	}
	if !written && install.Sandbox(h, s.At).On {
		c.add(cardea.LevelNote, install.CodeNoHook, "run \"cardea compile claude-sandbox\"", "the sandbox of Claude Code is on, and has no denies of Cardea")
	}
}
