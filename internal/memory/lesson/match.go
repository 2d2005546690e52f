package lesson

import (
	"time"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// JudgeVersion identifies the current judge. Its lessons apply while it is the same.
type JudgeVersion struct{ Model, Prompt, Policy string }

// Matches reports whether a lesson is about the call of a key, as far as the key shows. An allow
// needs every field to be equal, and equal [Keyer.Files] as well. A deny or ask applies to every
// tool that changes the file, in an unknown folder, and outside of the sandbox. An ask applies to
// every kind of change.
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

// InTime reports whether a lesson applies at a time, with the current judge; nil means that there
// is no judge.
func (r *Record) InTime(now time.Time, judge *JudgeVersion) bool {
	if r.By == ByJudge && (judge == nil || r.Model != judge.Model || r.Prompt != judge.Prompt || r.Policy != judge.Policy) {
		return false
	}
	return !r.Expired(now)
}
