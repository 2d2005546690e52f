package readonly

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/files"
)

// python returns the reason why a script in the words of a command may import modules other
// than Python's own, or "". Python looks for them first in its working folder
// (docs.python.org/3/library/sys.html#sys.path).
func (c *evaluation) python(p *cardea.Part) string {
	// Variables that add folders or import modules: docs.python.org/3/using/cmdline.html.
	if c.set("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONUSERBASE", "PYTHONWARNINGS", "PYTHONPLATLIBDIR", "PYTHONEXECUTABLE",
		"PYTHONPYCACHEPREFIX", "PYTHONBREAKPOINT", "PYTHONCASEOK", "__PYVENV_LAUNCHER__") {
		return "the environment says where Python finds modules"
	}
	for i := range c.ev.Call.Parts {
		q := &c.ev.Call.Parts[i]
		if q != p && slices.ContainsFunc(q.Access, func(a cardea.Access) bool { return (a.Kind == cardea.Write || a.Kind == cardea.Delete) && !a.Nowhere() }) {
			return "another command of the line writes files, and Python may import one"
		}
	}
	if c.unclear(p) {
		return "another command of the line may write what Python imports"
	}
	if why := c.interpreter(p); why != "" {
		return why
	}
	entries, err := state.Entries(filepath.FromSlash(p.Dir), maxEntries)
	if p.Dir == "" || err != nil || len(entries) == maxEntries {
		return "what lies where Python runs cannot be looked at"
	}
	for _, e := range entries {
		if name := e.Name(); knowledge.ShadowsPython(name) && (strings.Contains(name, ".") || !e.IsDir() || isPackage(filepath.Join(p.Dir, name))) {
			return "Python may import " + name + " of the folder where it runs"
		}
	}
	return ""
}

// isPackage reports whether a folder is a regular package. Python prefers its own modules
// to other folders (docs.python.org/3/reference/import.html, "Namespace packages").
func isPackage(dir string) bool {
	inits, err := filepath.Glob(filepath.Join(escaped.Replace(dir), "__init__.*"))
	return err != nil || len(inits) > 0
}

// escaped turns a path into a pattern that matches only this path.
var escaped = strings.NewReplacer("\\", "\\\\", "*", "\\*", "?", "\\?", "[", "\\[")

// interpreter returns the reason why the program may not be the system's Python, or uses
// modules of a virtual environment. The marker of an environment is in the program's folder
// or the one above (docs.python.org/3/library/venv.html).
func (c *evaluation) interpreter(p *cardea.Part) string {
	name := p.Argv[0].Text
	if !strings.Contains(name, "/") {
		for _, dir := range filepath.SplitList(c.about.Path) {
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && !info.IsDir() {
				name = filepath.Join(dir, name)
				break
			}
		}
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil || !filepath.IsAbs(name) || runtime.GOOS == "windows" {
		return "the Python that runs cannot be found"
	}
	if !strings.HasPrefix(filepath.Base(real), "python3") {
		return "it may not be Python 3 that runs"
	}
	for _, file := range []string{name, real} {
		dir := filepath.Dir(file)
		if !files.HoldsPrograms(dir) || c.about.Guarded == nil || c.about.Guarded(dir) != "" || c.about.Guarded(file) != "" {
			return "it is no Python of the system: " + file
		}
		for _, marker := range []string{filepath.Join(dir, "pyvenv.cfg"), filepath.Join(filepath.Dir(dir), "pyvenv.cfg")} {
			if _, err := os.Lstat(marker); err == nil {
				return "it is the Python of a virtual environment: " + filepath.Dir(marker)
			}
		}
	}
	return ""
}

// set reports whether the environment has one of the variables.
func (c *evaluation) set(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return c.about.Env != nil && c.about.Env(name) != "" })
}
