package lesson

import (
	"time"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// Judge is what the judge is now: its lessons count while it is the same.
type Judge struct{ Model, Prompt, Policy string }

// Matches reports whether a lesson is about what a key names, as far as the key tells.
// An allow needs every field to be equal, and [Keyer.Files] besides. A deny and an ask
// count for every tool that changes the file, in an unknown folder, and outside of the
// sandbox; an ask counts whatever the kind of the change is.
func (r *Record) Matches(key *Key) bool {
	if r.Subject != key.Subject || r.Role != AnyRole && r.Role != key.Role {
		return false
	}
	if r.Effect == cardea.Allow {
		return r.Tool == key.Tool && r.Dir == key.Dir && r.Kind == key.Kind && r.Unsandboxed == key.Unsandboxed && key.Refusal == ""
	}
	switch {
	case r.Tool != key.Tool && !(changesFiles(r.Tool) && changesFiles(key.Tool)):
		return false
	case r.Dir != AnyDir && r.Dir != key.Dir && key.Dir != "":
		return false
	case r.Unsandboxed && !key.Unsandboxed:
		return false
	}
	return r.Effect == cardea.Ask || r.Kind == key.Kind
}

func changesFiles(tool string) bool {
	info, known := harness.Tool(tool)
	return known && info.EditsFiles
}

// InTime reports whether a lesson counts at a time, with the judge that there is; nil
// for none.
func (r *Record) InTime(now time.Time, judge *Judge) bool {
	if r.By == ByJudge && (judge == nil || r.Model != judge.Model || r.Prompt != judge.Prompt || r.Policy != judge.Policy) {
		return false
	}
	return !r.Expired(now)
}
