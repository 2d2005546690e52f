package project

import (
	"fmt"
	"path/filepath"
	"slices"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
)

// IgnoreFile is the text of .cardea/.gitignore: the folder local is the person's alone.
const IgnoreFile = "# what only you see of this project\nlocal/\n"

// Dirs are the folders of one person on this machine. A folder that could not
// be told is "", and nothing is read from it or written to it.
type Dirs struct {
	// Home is the person's home folder.
	Home string
	// System is the scope folder of whoever administers the machine, User that
	// of the person: cardea.yaml, rules/.
	System, User string
	// State holds what must outlive a call, Cache what may be lost, Runtime
	// the sockets.
	State, Cache, Runtime string
	// Claude is Claude Code's own configuration folder.
	Claude string
	// Doubted are scope folders that are the person's, or the project's: variables name
	// them that point into the project. What is there may only tighten.
	Doubted []string
}

// Machine is what [FindDirs] asks the machine. The zero value of a field is
// not usable; [ThisMachine] gives the real one.
type Machine struct {
	// OS is a value of runtime.GOOS.
	OS string
	// Env looks up a variable as os.Getenv does.
	Env func(string) string
	// Home is the home folder of the password database, which no variable can
	// change.
	Home func() (string, error)
	// User is the person's name to the system.
	User func() (string, error)
	// Foreign reports whether a path exists and belongs to another user.
	Foreign func(path string) bool
	// System is the system's scope folder, "" where there is none. Guarded says
	// what keeps a path from being the system's own, or "".
	System  string
	Guarded func(path string) string
	// Links remembers where links lead, for the time of one look; nil remembers nothing.
	Links *paths.Links
}

// FindDirs finds the person's folders. HOME, XDG_* and CLAUDE_CONFIG_DIR come
// from an environment that the project can set (a .envrc, the env block of a
// harness's project settings), so one that is relative, points into one of the
// projects or at a folder of another user is not used, and is reported.
func FindDirs(m Machine, projects ...string) (Dirs, cardea.Troubles) {
	f := finder{machine: m, links: m.links()}
	for _, p := range projects {
		// Everything lies in the root folder; there nothing follows from it.
		if p = f.links.Real(p); p != filepath.Dir(p) {
			f.projects = append(f.projects, p)
		}
	}
	f.dirs.Home = f.home()
	f.dirs.System = f.machine.System
	f.dirs.User = f.own("XDG_CONFIG_HOME", f.defaults(f.dirs.Home).config)
	f.dirs.State = f.own("XDG_STATE_HOME", f.defaults(f.dirs.Home).state)
	f.dirs.Cache = f.own("XDG_CACHE_HOME", f.defaults(f.dirs.Home).cache)
	f.dirs.Runtime = f.runtime()
	f.dirs.Doubted = slices.DeleteFunc(f.dirs.Doubted, func(dir string) bool { return dir == f.dirs.User })
	f.dirs.Claude = f.variable("CLAUDE_CONFIG_DIR", Below(f.dirs.Home, ".claude"))
	return f.dirs, f.troubles
}

// links remembers where links lead.
func (m Machine) links() *paths.Links {
	if m.Links == nil {
		return new(paths.Links)
	}
	return m.Links
}

type finder struct {
	machine  Machine
	projects []string
	links    *paths.Links
	dirs     Dirs
	troubles cardea.Troubles
}

// home is HOME where it can be believed, else the password database's.
func (f *finder) home() string {
	name := "HOME"
	if f.machine.OS == "windows" {
		name = "USERPROFILE"
	}
	path := f.machine.Env(name)
	why := f.doubt(path)
	if path != "" && why == "" {
		return filepath.Clean(path)
	}
	ignored := "it is ignored"
	if f.holds(path) {
		f.dirs.Doubted = append(f.dirs.Doubted, f.defaults(filepath.Clean(path)).config)
		ignored = "of your settings in it only denies and asks count,"
	}
	real, err := f.machine.Home()
	if err != nil {
		f.report("%s cannot be used (%s) and the password database gives no home folder (%v): there are no settings of yours; set %s", name, orUnset(why), err, name)
		return ""
	}
	// Who works in the home folder itself has HOME in the project, rightly.
	if path != "" && filepath.Clean(path) != filepath.Clean(real) {
		f.report("%s=%s %s; %s and %s is used. Set it to your own home folder", name, path, why, ignored, real)
	}
	return filepath.Clean(real)
}

func orUnset(why string) string {
	if why == "" {
		return "it is not set"
	}
	return why
}

// own is Cardea's folder in the one that a variable names.
func (f *finder) own(name, standard string) string {
	base := f.variable(name, "")
	if base == "" {
		if path := f.machine.Env(name); name == "XDG_CONFIG_HOME" && f.holds(path) {
			f.dirs.Doubted = append(f.dirs.Doubted, filepath.Join(path, "cardea"))
		}
		return standard
	}
	return filepath.Join(base, "cardea")
}

// runtime is a folder for sockets. Where the machine gives none, it lies in
// the state folder.
func (f *finder) runtime() string {
	return f.own("XDG_RUNTIME_DIR", Below(f.dirs.State, "run"))
}

// variable is the folder that a variable names where it can be believed, else
// the standard one.
func (f *finder) variable(name, standard string) string {
	path := f.machine.Env(name)
	if path == "" {
		return standard
	}
	if why := f.doubt(path); why != "" {
		f.report("%s=%s %s; it is ignored. Set it to a folder of yours outside of the project, or unset it", name, path, why)
		return standard
	}
	return filepath.Clean(path)
}

// doubt says why a folder named by a variable cannot be believed, or "".
func (f *finder) doubt(path string) string {
	if path == "" {
		return ""
	}
	if !filepath.IsAbs(path) {
		return "is not an absolute path"
	}
	if p := f.projectOf(path); p != "" {
		return "points into the project " + p
	}
	if f.machine.Foreign(path) {
		return "is a folder of another user"
	}
	return ""
}

// projectOf is the project in which a path lies, "" for none.
func (f *finder) projectOf(path string) string {
	real := f.links.Real(path)
	for _, p := range f.projects {
		if paths.Within(p, real) {
			return p
		}
	}
	return ""
}

// holds reports whether a variable names a folder of the user's in a project.
func (f *finder) holds(path string) bool {
	return filepath.IsAbs(path) && f.projectOf(path) != "" && !f.machine.Foreign(path)
}

// RefuseState says why state cannot be kept in a folder, or "". A project that
// holds the home folder holds all of the person's folders, so there is nothing
// better to ask for.
func (m Machine) RefuseState(dir, project, home string) string {
	links := m.links()
	project = links.Real(project)
	switch {
	case paths.Within(project, links.Real(dir)) && !paths.Within(project, links.Real(home)):
		return "lies in the project " + project
	case m.Foreign(dir):
		return "belongs to another user"
	}
	return ""
}

func (f *finder) report(format string, args ...any) {
	f.troubles = append(f.troubles, cardea.Warning("", cardea.CodeIgnored, "", fmt.Sprintf(format, args...)))
}

type standard struct{ config, state, cache string }

// defaults are the platform's own folders below a home folder.
func (f *finder) defaults(home string) standard {
	s := standard{config: ".config/cardea", state: ".local/state/cardea", cache: ".cache/cardea"}
	switch f.machine.OS {
	case "darwin":
		s = standard{config: "Library/Application Support/cardea", state: "Library/Application Support/cardea/state", cache: "Library/Caches/cardea"}
	case "windows":
		s = standard{config: "AppData/Roaming/cardea", state: "AppData/Local/cardea/state", cache: "AppData/Local/cardea/cache"}
	}
	return standard{config: Below(home, s.config), state: Below(home, s.state), cache: Below(home, s.cache)}
}

// Below joins, except to a folder that is not known.
func Below(base, path string) string {
	if base == "" {
		return ""
	}
	return filepath.Join(base, filepath.FromSlash(path))
}
