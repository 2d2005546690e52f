package project

import (
	"fmt"
	"path/filepath"
	"slices"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/paths"
)

// IgnoreFile is the text of .cardea/.gitignore: the folder local is for the user alone.
const IgnoreFile = "# what only you see of this project\nlocal/\n"

// Dirs holds the folders of a user on this machine. An unknown folder is ""; nothing is
// read from or written to it.
type Dirs struct {
	// Home is the user's home folder.
	Home string
	// System is the scope folder of the machine's administrator, User that of the user:
	// cardea.yaml, rules/.
	System, User string
	// State is for data that must outlive a call, Cache for data that may be lost, Runtime for
	// sockets.
	State, Cache, Runtime string
	// Claude is Claude Code's own configuration folder.
	Claude string
	// Scope folders that belong to the user or to the project: variables for them point into
	// the project. Their files may only restrict.
	Doubted []string
}

// Machine provides what [FindDirs] reads from the system. The zero value of a field is not
// usable; [ThisMachine] returns the real ones.
type Machine struct {
	// OS is a value of runtime.GOOS.
	OS string
	// Env returns a variable, as os.Getenv does.
	Env func(string) string
	// Home returns the home folder from the password database, which no variable can change.
	Home func() (string, error)
	// User returns the user's login name.
	User func() (string, error)
	// Foreign reports whether a path exists and belongs to another user.
	Foreign func(path string) bool
	// System is the system's scope folder, "" if none exists. Guarded returns why a path is
	// not the system's own, or "".
	System  string
	Guarded func(path string) string
	// Links caches the targets of links for a short time; nil caches nothing.
	Links *paths.Links
}

// FindDirs returns the user's folders. A project can set HOME, XDG_* and CLAUDE_CONFIG_DIR,
// with .envrc or the env block of a harness's project settings. So a value that is
// relative, or points into a project or to another user's folder, is ignored and reported.
func FindDirs(m Machine, projects ...string) (Dirs, cardea.Issues) {
	f := finder{machine: m, links: m.links()}
	for _, p := range projects {
		// Everything is in the root folder, so being in it means nothing.
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
	return f.dirs, f.issues
}

// links returns Links, or a new cache.
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
	issues   cardea.Issues
}

// home returns HOME if it is trusted, else the home folder of the password database.
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
	// In the home folder itself, HOME is rightly in the project.
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

// own returns Cardea's folder in the one that a variable names.
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

// runtime returns a folder for sockets. If the machine provides none, it is in the state
// folder.
func (f *finder) runtime() string {
	return f.own("XDG_RUNTIME_DIR", Below(f.dirs.State, "run"))
}

// variable returns the folder that a variable names if it is trusted, else the standard
// one.
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

// doubt returns why a folder from a variable is not trusted, or "".
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

// projectOf returns the project that contains a path, "" for none.
func (f *finder) projectOf(path string) string {
	real := f.links.Real(path)
	for _, p := range f.projects {
		if paths.Within(p, real) {
			return p
		}
	}
	return ""
}

// holds reports whether a variable names the user's own folder inside a project.
func (f *finder) holds(path string) bool {
	return filepath.IsAbs(path) && f.projectOf(path) != "" && !f.machine.Foreign(path)
}

// RefuseState returns why state must not be stored in a folder, or "". A project that
// contains the home folder contains all folders of the user, so it is accepted.
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
	f.issues = append(f.issues, cardea.Warning("", diagnostic.CodeIgnored, "", fmt.Sprintf(format, args...)))
}

type standard struct{ config, state, cache string }

// defaults returns the platform's standard folders below a home folder.
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

// Below joins base and path; it returns "" if base is unknown ("").
func Below(base, path string) string {
	if base == "" {
		return ""
	}
	return filepath.Join(base, filepath.FromSlash(path))
}
