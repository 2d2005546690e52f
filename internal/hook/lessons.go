package hook

import "cardea.dev/internal/base/script"

// indexCommand is the word by which a hook has the index of lessons made again when its
// answer is out. It is nobody's command, so the tree does not show it.
const indexCommand = "index-lessons-of-this-project"

// maxRebuilt is for how many projects a hook has the index made again.
const maxRebuilt = 4

// startIndexes has the indexes of lessons made again that a call found out of date.
func (h *Hook) startIndexes() {
	stale := h.progress.Load().stale
	if stale == nil {
		return
	}
	for i, project := range stale() {
		if i == maxRebuilt {
			return // the next call names the others
		}
		if err := script.StartSelf(h.process.Program, project, indexCommand); err != nil {
			h.process.Warn(err.Error())
		}
	}
}

// indexLessons makes the indexes of the place in which the process stands.
func indexLessons(p Process) int {
	pl := Locate(p, "", "", p.Dir)
	return p.exit(Load(p, &pl, nil).RebuildLessons())
}
