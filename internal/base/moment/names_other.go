//go:build !linux

package moment

import "time"

// stamp is nothing: it is not known of these systems which of their file systems give a
// folder a new time when its names change, and no daemon runs on them.
type stamp struct{}

func stampOf(string) stamp { return stamp{} }

func (stamp) tells(string, time.Time) bool { return false }

func look(string, stamp, string) (Name, bool) { return Name{}, false }
