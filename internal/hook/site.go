package hook

import (
	"fmt"
	"path/filepath"

	"cardea.dev/internal/install"
	"cardea.dev/internal/paths"
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
	s.At = install.Places{Claude: pl.Dirs.Claude, Copilot: s.copilot(p, project), Project: project, State: pl.Dirs.State,
		ClaudeManaged: p.Managed, CopilotPolicy: install.PolicyDir(p.Machine.OS)}
	if p.Machine.RefuseState(pl.Dirs.State, project, pl.Dirs.Home) != "" {
		s.At.State = ""
	}
	return s
}

// copilot is Copilot CLI's own folder. COPILOT_HOME is doubted as every
// variable that a project can set.
func (s *Site) copilot(p Process, project string) string {
	standard := ""
	if s.Place.Dirs.Home != "" {
		standard = filepath.Join(s.Place.Dirs.Home, ".copilot")
	}
	dir := p.Env("COPILOT_HOME")
	switch {
	case dir == "":
		return standard
	case !filepath.IsAbs(dir), paths.Within(paths.Real(project), paths.Real(dir)), p.Machine.Foreign(dir):
		s.Place.tell(fmt.Sprintf("COPILOT_HOME=%s is not a folder of yours outside of the project; it is ignored", dir))
		return standard
	}
	return filepath.Clean(dir)
}
