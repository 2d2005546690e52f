package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/peer"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/config/trust"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/hook/control"
	"github.com/spf13/cobra"
)

// uninstallCommand returns the command "uninstall".
func uninstallCommand(p Process) *cobra.Command {
	var f installFlags
	c := &cobra.Command{
		Use:   "uninstall [HARNESS…] [--user | --project | --managed] [--purge] [--dry-run]",
		Short: "remove the hook from harnesses, or Cardea as a whole",
		Long: `Remove the hook from harnesses, or from all that have it if you name none. Only what
Cardea added is removed. The command says what stays, and where.

--purge also removes your settings, rules, lessons, state and cache, and ends the
daemon. It touches no file of the machine, of your organisation's repositories or of
projects, and no program.`,
		ValidArgs: install.Words(),
		RunE:      func(_ *cobra.Command, args []string) error { return uninstall(p, args, f) },
	}
	fs := inOrder(c)
	f.addScopes(fs)
	fs.BoolVar(&f.purge, "purge", false, "remove your settings, state and cache as well")
	fs.BoolVar(&f.dryRun, "dry-run", false, "show what would change, and write nothing")
	c.MarkFlagsMutuallyExclusive("user", "project", "managed")
	c.MarkFlagsMutuallyExclusive("purge", "project", "managed")
	return c
}

// setUpChange is a planned change of hooks.
type setUpChange struct {
	// what completes the question "type k7q2mf to". why is the reason to ask for a code, "" to
	// ask for none.
	what, why string
	plans     []*install.Plan
	// folders are removed afterwards, and the daemon at socket is ended.
	folders []ownFolder
	socket  string
}

// carryOut makes the change, after a person confirms it if why is set.
func (c setUpChange) carryOut(p Process, s harnessPaths, dry bool, out *screen) error {
	first := !slices.ContainsFunc(c.plans, func(plan *install.Plan) bool { return plan.Remove })
	show := func(out *screen) {
		p.tell(hook.SetUpChanges(s.At, load(p, &s.Place, nil)))
		for _, plan := range c.plans {
			if plan.Changed() {
				out.block("", withoutToken(plan.Diff()))
			}
		}
		for _, f := range c.folders {
			out.printf("- %s\n", f)
		}
	}
	if dry {
		show(out)
		out.printIf(c.why != "", "carried out, this asks for a code, since %s\n", c.why)
		tellPlans(c.plans, "would remove", "would write", out)
		return out.err
	}
	if c.why != "" {
		if err := p.byPerson(c.what, show); err != nil && p.agentAbove() == nil && p.needsPerson() != nil {
			return fmt.Errorf("%w; a code is asked for, since %s", err, c.why) // a script can change that
		} else if err != nil {
			return err
		}
	}
	remember := p.remembering(first)
	for _, plan := range c.plans {
		if err := plan.Apply(); err != nil {
			return err
		}
	}
	tellPlans(c.plans, "removed", "wrote", out)
	return cmp.Or(remember(), c.purge(p, out), out.err)
}

// tellPlans writes what was or would be done to the files of plans.
func tellPlans(plans []*install.Plan, removed, wrote string, out *screen) {
	for _, plan := range plans {
		switch {
		case !plan.Changed():
			out.printf("nothing to remove from %s\n", plan.File)
		case plan.Remove:
			out.printf("%s %s\n", removed, plan.File)
		default:
			out.printf("%s %s\n", wrote, plan.File)
		}
		showDiagnostics(out, plan.Notes)
	}
}

// uninstall removes the hooks of the named harnesses, or of all.
func uninstall(p Process, names []string, f installFlags) error {
	if f.purge && len(names) > 0 {
		return wrongUsage{errors.New("--purge removes the hooks of all harnesses; name none with it")}
	}
	s, err := f.fixture(p)
	if err != nil {
		return err
	}
	c := setUpChange{why: "something is removed"}
	titles, err := c.planAll(names, f.scope(), s)
	if err != nil {
		return err
	}
	c.what = onlyIf(len(titles) > 0, "remove the hook of "+strings.Join(titles, ", "))
	known, _ := trust.List(s.Place.State) // unreadable entries name no project
	if f.purge {
		c.folders = ownFolders(s)
		for _, folder := range c.folders { // one folder that must not be removed keeps all
			err = errors.Join(err, removable(p, folder.path))
		}
		if err != nil {
			return err
		}
		c.socket = onlyIf(control.Listens(control.Socket(p.Env)), control.Socket(p.Env))
		c.what = joined(" and ", c.what, onlyIf(len(c.folders) > 0, "delete "+count(len(c.folders), "folder")+" with all in it"), onlyIf(c.socket != "", "end the daemon"))
	}
	out := screenOn(p.Stdout, p.Env)
	if c.what == "" {
		tellPlans(c.plans, "", "", out)
		out.printIf(len(names) == 0, "nothing to remove: no harness has a hook of Cardea in the scope %s\n", f.scope())
	} else if err := c.carryOut(p, s, f.dryRun, out); err != nil {
		return err
	}
	if f.purge {
		out.printf("stays: the programs cardea, cardea-engine and cardea-hook in %s\n", filepath.Dir(p.Program))
		for _, m := range known {
			if dir := filepath.Join(m.Project, ".cardea"); isFolder(dir) {
				out.printf("stays: %s, which is the project's\n", dir)
			}
		}
	}
	if !f.dryRun {
		tellRest(s, f.purge, out)
	}
	return cmp.Or(out.err, f.rehearsed(s, c.plans...))
}

// planAll plans the change for the named harnesses, or for those with a hook. It returns
// the titles of those that lose one.
func (c *setUpChange) planAll(names []string, scope install.Scope, s harnessPaths) (titles []string, err error) {
	var all []install.Harness
	for _, name := range names {
		h, err := install.Find(name)
		if err != nil {
			return nil, wrongUsage{err}
		}
		all = append(all, h)
	}
	if len(names) == 0 {
		all = install.Harnesses()
	}
	for _, h := range all {
		plan, err := install.PlanUninstall(h, scope, s.At)
		wired := slices.ContainsFunc(install.Inspect(h, s.At).Wirings, func(w install.Wiring) bool { return w.Scope == scope })
		named := wired || plan != nil && strings.Contains(strings.ToLower(string(plan.Before)), "cardea") // a broken file has no wirings
		switch {
		case len(names) == 0 && (err != nil && !named || err == nil && !plan.Changed()):
			continue
		case err != nil:
			return nil, err
		case plan.Changed():
			titles = append(titles, h.Title)
		}
		c.plans = append(c.plans, plan)
	}
	return titles, nil
}

// tellRest writes what remains: hooks, and without purge the person's folders.
func tellRest(s harnessPaths, purge bool, out *screen) {
	for _, h := range install.Harnesses() {
		told := ""
		for _, w := range install.Inspect(h, s.At).Wirings {
			out.printIf(w.File != told, "still registered: %s in %s:%d (%s)\n", h.Title, w.File, w.Line, w.Scope)
			told = w.File
		}
	}
	if rest := ownFolders(s); !purge && len(rest) > 0 {
		for _, r := range rest {
			out.printf("stays: %s\n", r)
		}
		out.printf("to remove them: cardea uninstall --purge\n")
	}
}

// purge ends the daemon and removes the folders.
func (c *setUpChange) purge(p Process, out *screen) error {
	if c.socket != "" {
		if err := endDaemon(c.socket); err != nil {
			return fmt.Errorf("end the daemon: %w; end it by hand, and the unit that starts it; then run this again", err)
		}
		out.printf("ended the daemon\n")
	}
	for _, f := range c.folders {
		err := removable(p, f.path) // the path may be another folder by now
		if err == nil {
			err = os.RemoveAll(f.path)
		}
		if err != nil {
			return fmt.Errorf("remove %s: %w", f.path, err)
		}
		_ = os.Remove(filepath.Dir(f.path)) // it fails if the folder is not empty
		out.printf("removed %s\n", f.path)
	}
	return nil
}

// endDaemon ends the daemon, and waits for it.
func endDaemon(socket string) error {
	if err := state.PrivateSocket(socket); err != nil {
		return err
	}
	conn, err := net.DialTimeout("unix", socket, limit.DaemonSilence)
	if err != nil {
		return err
	}
	defer conn.Close()
	pid, err := peer.PID(conn)
	if err != nil {
		return err
	}
	daemon, err := os.FindProcess(pid)
	if err == nil {
		err = daemon.Signal(syscall.SIGTERM)
	}
	for end := time.Now().Add(limit.DaemonTurn); err == nil && control.Listens(socket); time.Sleep(limit.DaemonSilence) {
		if time.Now().After(end) {
			err = errors.New("it still answers")
		}
	}
	return err
}

// ownFolder is a folder of Cardea for a person, with its size.
type ownFolder struct {
	holds, path string
	files       int
	bytes       int64
}

func (f ownFolder) String() string {
	return fmt.Sprintf("%s: %s (%s, %d KB)", f.holds, f.path, count(f.files, "file"), (f.bytes+1023)/1024)
}

// ownFolders returns Cardea's existing folders of the person.
func ownFolders(s harnessPaths) []ownFolder {
	dirs := s.Place.Dirs
	var out []ownFolder
	for _, f := range []ownFolder{
		{holds: "settings, rules, lessons", path: dirs.User}, {holds: "state, ledger", path: dirs.State},
		{holds: "cache", path: dirs.Cache}, {holds: "sockets", path: dirs.Runtime},
	} {
		if f.path == "" || !state.Exists(f.path) {
			continue
		}
		if i := slices.IndexFunc(out, func(o ownFolder) bool { return paths.Within(o.path, f.path) }); i >= 0 {
			out[i].holds += ", " + f.holds
			continue
		}
		_ = filepath.WalkDir(f.path, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil // the size of unreadable entries is unknown
			}
			f.files++
			if info, err := d.Info(); err == nil {
				f.bytes += info.Size()
			}
			return nil
		})
		out = append(out, f)
	}
	return out
}

// removable returns nil if a folder may be removed with all its content, else the reason
// why not. Variables name folders, and links lead to other places. So only a folder named
// cardea without files of others may be removed.
func removable(p Process, dir string) error {
	own, named, real := dir, locate(p, "", "", p.Dir).Dirs.Home, filepath.Clean(dir)
	home := paths.Real(named)
	if filepath.Base(own) != "cardea" {
		own = filepath.Dir(own) // cardea/state, as on macOS and Windows
	}
	if rel, err := filepath.Rel(named, real); err == nil && filepath.IsLocal(rel) {
		real = filepath.Join(home, rel)
	}
	why, above := "", paths.Real(filepath.Dir(own))
	switch {
	case !filepath.IsAbs(dir) || filepath.Base(own) != "cardea":
		why = "it is not called cardea"
	case named == "" || above == home || above == filepath.Dir(above):
		why = "it is no folder of Cardea's, but one of your home folder or of the root"
	case paths.Real(dir) != real:
		why = "a symbolic link leads to it, or it is one"
	case paths.Within(real, home), paths.Within(real, paths.Real(p.Program)), p.Dir != "" && paths.Within(real, paths.Real(p.Dir)):
		why = "your home folder, this program or the working folder is in it"
	default:
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // errors become the reason
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				why = err.Error()
			} else if err == nil && d.Type()&os.ModeSymlink == 0 && p.Machine.Foreign(path) {
				why = path + " is of another user"
			}
			return nil
		})
	}
	if why == "" {
		return nil
	}
	return fmt.Errorf("%s is left alone, and so is all else: %s; remove it by hand", dir, why)
}
