package hook

import (
	"fmt"
	"path/filepath"

	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/harness/claudecode"
)

// Site is where harnesses' settings lie for this process.
type Site struct {
	At    install.Places
	Place Place
	Path  []string
	// Refused is why the change would be refused; a dry run shows it all the same.
	Refused error
}

// SiteOf finds the folders of the harnesses.
func SiteOf(p Process) Site { return siteAt(p, Locate(p, "", "", p.Dir)) }

// siteAt finds the folders of the harnesses in a place.
func siteAt(p Process, pl Place) Site {
	s := Site{Place: pl, Path: filepath.SplitList(p.Env("PATH"))}
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

// own is a harness's own folder. The variable that names it is doubted as every variable
// that a project can set.
func (s *Site) own(p Process, project string, h install.Harness) string {
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
