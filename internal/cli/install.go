package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/config/release"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/decide/policy/remote"
	"cardea.dev/internal/harness/permissionlist"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/memory/lesson"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// installFlags are the flags of install.
type installFlags struct {
	user, project, managed        bool
	uninstall, dryRun, unattended bool
	daemon, purge                 bool
	binary, version               string
	events                        []string
	timeout                       time.Duration
	http                          bool
}

// installCommand returns the command "install".
func installCommand(p Process) *cobra.Command {
	var f installFlags
	c := &cobra.Command{
		Use:   "install claude|copilot|codex|… [--user | --project | --managed] [--uninstall]",
		Short: "register the hook in a harness, or remove it",
		Long: `Register Cardea as a hook in the settings of a harness. --uninstall removes it.
The table below says in which file.

Everything else in the file stays as it is: order, layout and comments. The hook
is registered with the absolute path of this program, the harness's time limit,
and a shorter limit for Cardea. Installing twice changes nothing. --dry-run shows
the change and needs no terminal; where the change would be refused, it says so and
ends with the same exit code.

A first registration without other flags asks for nothing, in a script as well, if
no agent started it, and if Cardea has no settings, rules, roles or lessons yet but
those of the machine. So does --managed as root. All else asks for a code, which a
person types at a terminal.

Every event with a hook costs a process. The hook is registered for tool calls, for
prompts, where it carries out "/cardea register coder", for what the harness's own
reviewer denies (PermissionDenied), and for what rules, policies and settings in force
here wait for. --events names more, or all that the harness documents but
WorktreeCreate and WorktreeRemove. Events that are registered already stay.

` + install.Overview() + `
A person can switch off the person's hooks, and a project its own. Only hooks
that were installed with --managed, as root, cannot be switched off.`,
		Args:      oneArgument,
		ValidArgs: install.Words(),
		RunE: func(_ *cobra.Command, args []string) error {
			if f.uninstall {
				return uninstall(p, args, f)
			}
			h, err := install.Find(args[0])
			if err != nil {
				return wrongUsage{err}
			}
			return installHarness(p, h, f)
		},
	}
	f.add(c.Flags())
	c.MarkFlagsMutuallyExclusive("http", "managed")
	c.MarkFlagsMutuallyExclusive("http", "project")
	c.MarkFlagsMutuallyExclusive("user", "project", "managed")
	return c
}

// add adds the flags of install to a command's.
func (f *installFlags) add(fs *pflag.FlagSet) {
	fs.SortFlags = false
	f.addScopes(fs)
	fs.BoolVar(&f.uninstall, "uninstall", false, "remove what Cardea added, and nothing else")
	fs.BoolVar(&f.dryRun, "dry-run", false, "show what would change, and write nothing")
	fs.StringVar(&f.binary, "binary", "", "the program that the hook starts (default: this one, if it lies in a permanent folder)")
	fs.BoolVar(&f.daemon, "daemon", false, "start cardea-hook, which asks the daemon, and has cardea answer where there is none (default: where daemon.start is set)")
	fs.DurationVar(&f.timeout, "timeout", 0, "the harness's time limit (default: 10s, 30s where the judge is on, or 120s where calls wait in the queue)")
	fs.BoolVar(&f.unattended, "unattended", false, "no person watches this agent: questions that need a person become denials")
	fs.StringVar(&f.version, "harness-version", "", "the harness's version (default: the harness is asked)")
	fs.StringSliceVar(&f.events, "events", nil, "more events, by the harness's names, or all")
	fs.BoolVar(&f.http, "http", false, "have the harness send its hooks to the daemon by HTTP; the daemon must run (docs/http.md)")
}

// addScopes adds the flags for the scope.
func (f *installFlags) addScopes(fs *pflag.FlagSet) {
	fs.BoolVar(&f.user, "user", false, "your own settings, for all projects (default)")
	fs.BoolVar(&f.project, "project", false, "the settings of this project, which others share")
	fs.BoolVar(&f.managed, "managed", false, "the settings of the machine, for all its users; needs root")
}

// scope returns the scope that the flags name.
func (f installFlags) scope() install.Scope {
	switch {
	case f.project:
		return install.Project
	case f.managed:
		return install.Managed
	}
	return install.User
}

// usualTimeout returns the harness's time limit without a flag. A judge takes some seconds,
// and a person a minute.
func usualTimeout(s settings.Settings) time.Duration {
	switch {
	case s.Human.Queues():
		return limit.HarnessFor(s.Human.Timeout)
	case s.Judge.Enabled:
		return limit.HarnessJudge
	}
	return limit.HarnessHook
}

// installHarness registers the hook in a harness.
func installHarness(p Process, h install.Harness, f installFlags) error {
	s, err := f.fixture(p)
	if err != nil {
		return err
	}
	w, err := f.wanted(p, s)
	if err != nil {
		return err
	}
	version, unknown := f.harnessVersion(h, s)
	h, left, err := f.on(p, &s, h, version)
	if err != nil {
		return err
	}
	w.FailClosed = install.FailsClosed(h, version)
	if err := f.overHTTP(p, s, h, version, &w); err != nil {
		return err
	}
	plan, err := install.PlanInstall(h, f.scope(), s.At, w)
	if err != nil {
		return err
	}
	out := screenOn(p.Stdout, p.Env)
	if plan.Changed() {
		c := setUpChange{what: "have " + h.Title + " call " + w.Binary + onlyIf(w.HTTP != "", " for prompts, and send all else to http://"+w.HTTP), why: f.whyCode(p, s, h, plan, w), plans: []*install.Plan{plan}}
		err = c.carryOut(p, s, f.dryRun, out)
	} else {
		out.printf("nothing to change: %s already calls %s, by %s\n", h.Title, w.Binary, plan.File)
		showDiagnostics(out, plan.Notes)
		p.tell(hook.SetUpChanges(s.At, load(p, &s.Place, nil)))
	}
	if err != nil {
		return err
	}
	out.printf("  %s %s\n", w.Binary, strings.Join(w.Args(h), " "))
	out.printf("  %s\n", h.Limits(w.Timeout, w.Limit()))
	out.printf("  %s\n", h.WhenFailing(version, unknown, w.FailClosed))
	out.printIf(len(left) > 0, "  note: without %s, since %s\n", strings.Join(left, ", "), tooOld(h, version, unknown, left...))
	f.notes(h, s, w, out)
	offerExpansion(p, h, s, out)
	out.printIf(!f.dryRun && plan.Changed(), "next: %s, then run \"cardea doctor\"\n", cmp.Or(h.Trust, "start a new session"))
	return cmp.Or(out.err, f.rehearsed(s, plan))
}

// offerExpansion suggests the setting that applies the harness's own allow lists to the
// parts of a line. This is shown if they allow something and no settings mention it yet.
func offerExpansion(p Process, h install.Harness, s harnessPaths, out *screen) {
	l := load(p, &s.Place, nil)
	if _, said := l.Given("permissions.expand"); said || l.Expands() {
		return
	}
	found := 0
	for i := range l.Permissions {
		if e := &l.Permissions[i]; e.Effect == cardea.Allow && e.Form != permissionlist.Nothing && e.Counts(h.Name) {
			found++
		}
	}
	if found > 0 {
		out.printf("  note: %s of %s's lists allow something; for the parts of a line as well, run \"cardea config set permissions.expand true\"\n", entries(int64(found)), h.Title)
	}
}

// wanted returns how the hook is to be started.
func (f installFlags) wanted(p Process, s harnessPaths) (w install.Wanted, err error) {
	inForce := load(p, &s.Place, nil).Settings
	f.timeout = cmp.Or(f.timeout, usualTimeout(inForce))
	f.daemon = f.daemon || f.binary == "" && inForce.Daemon.Start
	if f.timeout < 2*time.Second || f.timeout%time.Second != 0 {
		return w, wrongUsage{errors.New("--timeout must be whole seconds, at least 2s")}
	}
	w = install.Wanted{Timeout: f.timeout, Unattended: f.unattended}
	w.Binary, err = f.program(p, s)
	return w, err
}

// notes shows further notes about an installation.
func (f installFlags) notes(h install.Harness, s harnessPaths, w install.Wanted, out *screen) {
	for _, d := range install.Inspect(h, s.At).Diagnostics {
		out.printIf(d.Code == install.CodeOtherHook, "  note: %s\n", d)
	}
	out.printIf(h.Seen == "", "  note: this is as %s documents its hooks; nobody has tried it on the real program, so look at what \"cardea doctor\" says\n", h.Title)
	if w.HTTP != "" {
		out.printf("  note: calls go to http://%s; all are blocked while the daemon does not run there (docs/daemon.md, \"Units\")\n", w.HTTP)
		out.printf("  note: %s does not check who listens there; cardea-hook does (docs/decisions/http.md)\n", h.Title)
	}
	out.printIf(f.project, "  note: others who share this file need the program at the same path\n")
	if err := remote.Beside(w.Binary).Ready(); err != nil {
		out.printf("  note: policies will ask instead of deciding: %s\n", err)
	}
}

// on returns the harness with the events of the hook: those that the person named, those of
// prompts, and those that something in force needs. left holds the ones that its version
// does not send.
func (f installFlags) on(p Process, s *harnessPaths, h install.Harness, version string) (on install.Harness, left []string, err error) {
	needed := neededEvents(h, load(p, &s.Place, nil))
	on, left, err = h.On(version, slices.Concat(f.events, needed)...)
	if err != nil {
		return h, nil, wrongUsage{err}
	}
	for _, e := range f.events {
		if slices.Contains(left, e) {
			return h, nil, wrongUsage{fmt.Errorf("%s is left out, since %s", e, tooOld(h, version, "", e))}
		}
	}
	return on, left, nil
}

// tooOld returns why a version does not send some events.
func tooOld(h install.Harness, version, why string, left ...string) string {
	if version != "" {
		return fmt.Sprintf("this is %s %s, which does not know them all; update it to %s or newer, and install again", h.Title, version, h.Since(left...))
	}
	return fmt.Sprintf("the version of %s is not known%s, and one before %s does not know them all; give the version with --harness-version",
		h.Title, onlyIf(why != "", " ("+why+")"), h.Since(left...))
}

// fixture returns the folders of the harnesses, and fails if the change is refused. It warns
// about problems with them.
func (f installFlags) fixture(p Process) (harnessPaths, error) {
	s := harnessPathsOf(p)
	p.tell(s.Place.Issues)
	switch why := p.foreignHome(s.Place.Dirs.Home); {
	case why != "" && !f.managed:
		s.Refused = errors.New(why)
	case f.managed && p.Machine.OS != "windows" && os.Geteuid() != 0:
		s.Refused = errors.New("--managed writes the machine's settings, which only root may; run it with sudo")
	}
	if f.dryRun {
		return s, nil
	}
	return s, s.Refused
}

// rehearsed returns the error for which the change itself would be refused, at the end of a
// dry run. It ignores that no person is there.
func (f installFlags) rehearsed(s harnessPaths, plans ...*install.Plan) error {
	if !f.dryRun {
		return nil
	}
	err := s.Refused
	for _, plan := range plans {
		err = cmp.Or(err, plan.Refused())
	}
	if err != nil {
		return fmt.Errorf("carried out, this is refused: %w", err)
	}
	return nil
}

// foreignHome returns why the home folder is not the user's own, or "". The user's harness
// does not read the settings in another home folder.
func (p Process) foreignHome(home string) string {
	own, err := p.Machine.Home()
	if err != nil || home == "" || paths.Real(own) == paths.Real(home) {
		return ""
	}
	return fmt.Sprintf("the home folder %s, which HOME names, is not yours, which is %s; run this with HOME=%s", home, own, own)
}

// program returns the path of the program that the hook starts.
func (f installFlags) program(p Process, s harnessPaths) (string, error) {
	if f.binary != "" {
		if f.daemon {
			return "", wrongUsage{errors.New("--daemon names the program, too; leave out --binary")}
		}
		f.binary = within(p.Dir, f.binary)
	}
	advice := either(p.Machine.OS == "windows", "see "+release.Repository+"/releases/latest", "curl -fsSL "+release.Repository+"/releases/latest/download/install.sh | sh")
	path, err := install.StableBinary(install.Machine{Executable: p.Program, Named: f.binary, Project: projectOf(s), Home: s.Place.Dirs.Home, Advice: advice,
		Temp: slices.Concat(p.Temporary, []string{p.Env("TMPDIR")})})
	if err != nil || !f.daemon {
		return path, err
	}
	path = install.Asker(path)
	return path, install.CheckBinary(path)
}

// projectOf returns the project in which the agent can write. It is "" for one that
// contains the home folder, such as / in which scripts start.
func projectOf(s harnessPaths) string {
	if p := s.At.Project; p == "" || p == filepath.Dir(p) || paths.Within(paths.Real(p), paths.Real(s.Place.Dirs.Home)) {
		return ""
	}
	return s.At.Project
}

// harnessVersion returns the harness's version, or why it is unknown.
func (f installFlags) harnessVersion(h install.Harness, s harnessPaths) (version, why string) {
	if f.version != "" {
		return f.version, ""
	}
	v, err := install.Version(context.Background(), h, s.Path, projectOf(s))
	if err != nil {
		return "", err.Error()
	}
	return v, ""
}

// A first registration removes nothing, so it asks for no code, and scripts can make it
// (docs/decisions/installing.md).

// whyCode returns why an installation asks for a code, or "".
func (f installFlags) whyCode(p Process, s harnessPaths, h install.Harness, plan *install.Plan, w install.Wanted) string {
	if !f.plain() {
		return "there are other flags than --user, --project and --managed"
	}
	if err := p.agentAbove(); err != nil {
		return err.Error()
	}
	all := install.Inspect(h, s.At).Wirings
	if f.managed { // root decides, whatever users have installed
		return onlyIf(!renews(plan, h, w, all), plan.OnlyAdds())
	}
	if i := slices.IndexFunc(all, func(w install.Wiring) bool { return w.Scope != install.Managed }); i >= 0 {
		return all[i].File + " has a hook of Cardea already"
	}
	return cmp.Or(plan.OnlyAdds(), otherProgram(s, w.Binary), loadedNote(load(p, &s.Place, nil)))
}

// otherProgram returns text about a hook that calls a program in another folder, or "".
func otherProgram(s harnessPaths, program string) string {
	for _, h := range install.Harnesses() {
		for _, w := range install.Inspect(h, s.At).Wirings {
			if w.Program != "" && filepath.Dir(w.Program) != filepath.Dir(program) {
				return h.Title + " calls another program, " + w.Program
			}
		}
	}
	return ""
}

// plain reports whether the flags only select the file.
func (f installFlags) plain() bool {
	return f.binary == "" && f.version == "" && len(f.events) == 0 && f.timeout == 0 && !f.unattended && !f.daemon && !f.http
}

// renews reports whether an installation only adds to the hook in its file: the same
// program, arguments and time limit, and not fewer blocked failures.
func renews(plan *install.Plan, h install.Harness, wanted install.Wanted, all []install.Wiring) bool {
	same := false
	for _, w := range all {
		if w.File != plan.File {
			continue
		}
		if w.Program != wanted.Binary || !slices.Equal(w.Args, wanted.Args(h)) || w.Timeout != wanted.Timeout || w.OnFailure == "block" && !wanted.FailClosed {
			return false
		}
		same = true
	}
	return same
}

// loadedNote returns text about a file with settings, rules, policies, roles, exceptions or
// lessons of another scope than the machine's, or "".
func loadedNote(l *inforce.Loaded) string {
	found := ""
	add := func(scope cardea.Scope, path string, is bool) {
		if is && scope != cardea.ScopeSystem && scope != cardea.ScopeBuiltin {
			found = cmp.Or(found, path)
		}
	}
	for i := range l.SettingsFiles {
		add(l.SettingsFiles[i].Scope, l.SettingsFiles[i].Path, !l.SettingsFiles[i].IsEmpty())
	}
	for _, f := range l.Files {
		add(f.Scope, f.Path, f.Rules > 0 || len(f.Problems) > 0)
	}
	for _, f := range l.PolicyFolders() {
		add(f.Scope, f.Dir, len(f.Paths()) > 0)
	}
	l.Roles()
	for _, f := range l.RolesFiles {
		add(f.Scope, f.Path, true)
	}
	for _, o := range l.Overrides {
		add(o.Scope, o.Source, true)
	}
	for _, at := range l.LessonPlaces() {
		files, _ := filepath.Glob(filepath.Join(lesson.Folder(at.Dir), "*.jsonl")) // only a bad pattern fails
		add(at.Scope, lesson.Folder(at.Dir), len(files) > 0)
	}
	return onlyIf(found != "", found+" is in force already")
}
