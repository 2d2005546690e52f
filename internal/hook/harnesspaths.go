package hook

import (
	"fmt"
	"path/filepath"

	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/harness/claudecode"
)

// HarnessPaths holds the folders of the harnesses' settings for this process.
type HarnessPaths struct {
	At    install.Places
	Place Location
	Path  []string
	// Refused is the reason why a change would be refused. A dry run shows the change anyway.
	Refused error
}

// HarnessPathsOf returns the folders of the harnesses for the working folder.
func HarnessPathsOf(p Process) HarnessPaths { return harnessPathsAt(p, Locate(p, "", "", p.Dir)) }

// harnessPathsAt returns the folders of the harnesses for a place.
func harnessPathsAt(p Process, pl Location) HarnessPaths {
	s := HarnessPaths{Place: pl, Path: filepath.SplitList(p.Env("PATH"))}
	project := pl.Project
	if paths.Real(project) == paths.Real(pl.Dirs.Home) {
		project = "" // the files there are the person's own
	}
	s.At = install.Places{User: map[string]string{}, Machine: map[string]string{}, Project: project, State: pl.Dirs.State,
		Programs: install.ProgramFolders(pl.Dirs.Home, project, s.Path)}
	for _, h := range install.Harnesses() {
		s.At.User[h.Name] = s.own(p, project, h)
		s.At.Machine[h.Name] = h.MachineFolder(p.Machine.OS)
	}
	s.At.User[claudecode.Name], s.At.Machine[claudecode.Name] = pl.Dirs.Claude, p.Managed
	if p.Machine.RefuseState(pl.Dirs.State, project, pl.Dirs.Home) != "" {
		s.At.State = ""
	}
	return s
}

// own returns a harness's own folder. It ignores a variable that names a folder in the
// project or one of another user, since a project can set variables.
func (s *HarnessPaths) own(p Process, project string, h install.Harness) string {
	own, variable, below := h.OwnFolder()
	standard := ""
	if s.Place.Dirs.Home != "" {
		standard = filepath.Join(s.Place.Dirs.Home, filepath.FromSlash(own))
	}
	if variable == "" || h.Name == claudecode.Name {
		return standard
	}
	dir := p.Env(variable)
	switch {
	case dir == "":
		return standard
	case !filepath.IsAbs(dir), paths.Within(paths.Real(project), paths.Real(dir)), p.Machine.Foreign(dir):
		s.Place.tell(fmt.Sprintf("%s=%s is not a folder of yours outside of the project; it is ignored", variable, dir))
		return standard
	}
	return filepath.Join(filepath.Clean(dir), below)
}
