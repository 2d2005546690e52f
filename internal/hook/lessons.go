package hook

import "cardea.dev/internal/base/script"

// indexCommand is the internal command by which a hook rebuilds the index of lessons after
// its answer is out. The command tree does not show it.
const indexCommand = "index-lessons-of-this-project"

// maxRebuilt is the number of projects whose index one hook rebuilds.
const maxRebuilt = 4

// startIndexes starts to rebuild the indexes of lessons that a call found out of date.
func (h *Hook) startIndexes() {
	stale := h.progress.Load().stale
	if stale == nil {
		return
	}
	for i, project := range stale() {
		if i == maxRebuilt {
			return // the next call finds the others
		}
		if err := script.StartSelf(h.process.Program, project, indexCommand); err != nil {
			h.process.Warn(err.Error())
		}
	}
}

// indexLessons rebuilds the indexes of the working folder and returns the exit code.
func indexLessons(p Process) int {
	pl := Locate(p, "", "", p.Dir)
	return p.exit(Load(p, &pl, nil).RebuildLessons())
}
