// Package evidence remembers which checks of a project succeeded since something
// in it was last changed. The policy git_checks asks for it.
//
// Nothing is run here and no output is read: the harness reports that a call
// succeeded. A check counts when a call was exactly its line, ran where checks are
// run, and succeeded while no other call that may write a file began or ended. Such
// a call removes all evidence. Evidence that is missing costs another run of the
// check.
//
// This keeps checks from being forgotten. It does not stop an agent that wants to
// deceive: what a script of the project does when it is run is not seen.
package evidence

import (
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/bash"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

const (
	purpose     = "evidence of checks"
	namePurpose = "name of evidence"
	// maxFile is how much evidence is read, in bytes; maxFiles is how many
	// projects have a file of it.
	maxFile  = 64 << 10
	maxFiles = 512
)

// Store keeps the evidence of one project.
type Store struct{ folder, project, start string }

// New makes the store of a project. folder is the state folder. Checks are run in
// the project, or in start, where the session began. Links in both are resolved.
func New(folder, project, start string) Store { return Store{folder, project, start} }

// kept is the file of a project: the checks that succeeded since the last change,
// and those that began since then.
type kept struct {
	Passed []string `json:"passed"`
	Begun  []string `json:"begun"`
}

func (s Store) path(key []byte) string {
	return filepath.Join(s.folder, "evidence", hex.EncodeToString(state.Sign(key, namePurpose, []byte(s.project))))
}

// read gives what is kept. A file that this user's Cardea did not write is no
// evidence.
func (s Store) read() (k kept) {
	if s.folder == "" || s.project == "" {
		return kept{}
	}
	key, err := state.ReadKey(s.folder)
	if err != nil {
		return kept{}
	}
	if err := state.ReadSignedJSON(s.path(key), key, purpose, s.project, maxFile, &k); err != nil {
		return kept{}
	}
	return k
}

func (s Store) write(k kept) error {
	key, err := state.LoadKey(s.folder)
	if err != nil {
		return err
	}
	path := s.path(key)
	if err := state.Prune(filepath.Dir(path), maxFiles, maxFiles); err != nil {
		return err
	}
	return state.WriteSignedJSON(path, key, purpose, s.project, k)
}

// Passed are the checks that succeeded since the last change.
func (s Store) Passed() []string { return s.read().Passed }

// Note records a call: one that begins, succeeded (PostToolUse) or
// failed. checks are the lines that count.
func (s Store) Note(ev *cardea.Event, checks []string) error {
	if s.folder == "" || s.project == "" || ev.Call == nil || len(checks) == 0 {
		return nil
	}
	before := s.read()
	after := s.next(before, ev, checks)
	if slices.Equal(before.Passed, after.Passed) && slices.Equal(before.Begun, after.Begun) {
		return nil
	}
	return s.write(after)
}

// next is what is kept after a call.
func (s Store) next(k kept, ev *cardea.Event, checks []string) kept {
	check := line(ev.Call)
	begins := ev.Kind.Begins()
	foreground := ev.Call.Input["run_in_background"] != true && len(ev.Faults) == 0
	if !slices.Contains(checks, check) || begins && !(s.runsChecks(ev.Cwd) && foreground) || !begins && !slices.Contains(k.Begun, check) {
		if s.mayChange(ev.Call) {
			return kept{}
		}
		return k
	}
	k = kept{without(k.Passed, check), without(k.Begun, check)}
	switch {
	case begins:
		k.Begun = append(k.Begun, check)
	case ev.Kind == "PostToolUse" && succeeded(ev):
		k.Passed = append(k.Passed, check)
	}
	return k
}

func without(list []string, s string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(x string) bool { return x == s })
}

// line is the command of a call of the shell, "" for other calls.
func line(c *cardea.Call) string {
	text, _ := c.Input["command"].(string)
	if c.Tool != "Bash" {
		return ""
	}
	return strings.TrimSpace(text)
}

// runsChecks reports whether checks are run in a folder.
func (s Store) runsChecks(dir string) bool {
	dir = paths.Real(dir)
	return dir == s.project || dir == s.start && paths.Within(s.project, dir)
}

// succeeded reports whether the harness says that a call succeeded: Copilot CLI
// sends failures by the same event, and Claude Code what was interrupted.
func succeeded(ev *cardea.Event) bool {
	if ev.Sent == nil {
		return true
	}
	for key, v := range ev.Sent.Fields() {
		result, _ := v.(map[string]any)
		switch key {
		case "toolResult":
			return result["resultType"] == "success"
		case "tool_result":
			return result["result_type"] == "success"
		case "tool_response":
			return result["interrupted"] != true
		}
	}
	return true
}

// Publish says what a call does that commits, pushes or merges.
type Publish struct {
	// Writes is set where the call may change a file besides.
	Writes bool
	// Elsewhere is set where it does so in another repository than the
	// project's, or it is not known in which one.
	Elsewhere bool
}

// Look looks at a call that commits, pushes or merges. publishes tells the parts
// that do so.
func (s Store) Look(c *cardea.Call, publishes func(*cardea.Part) bool) (out Publish) {
	for i := range c.Parts {
		p := &c.Parts[i]
		last := i == len(c.Parts)-1 && publishes(p) // what a merge at the end changes is merged already
		out.Writes = out.Writes || s.writes(p) || !last && s.partMayChange(p)
		out.Elsewhere = out.Elsewhere || publishes(p) && !s.within(p)
	}
	return out
}

// within reports whether git works in a folder of the project.
func (s Store) within(p *cardea.Part) bool {
	dir := p.Dir
	for _, o := range p.Options {
		switch {
		case o.Name == "--git-dir" || o.Name == "--work-tree" || o.Name == "-C" && !o.Static:
			return false
		case o.Name == "-C" && filepath.IsAbs(o.Value):
			dir = o.Value
		case o.Name == "-C": // or the commit of git commit -C, which is no path out of here
			dir = filepath.Join(dir, o.Value)
		}
	}
	other := slices.ContainsFunc(p.Assigns, func(a cardea.Assign) bool { return a.Name == "GIT_DIR" || a.Name == "GIT_WORK_TREE" })
	return !other && p.Dir != "" && paths.Within(s.project, paths.Real(dir))
}

// mayChange reports whether a call may change a file of the project.
func (s Store) mayChange(c *cardea.Call) bool {
	switch {
	case c.EditsFiles:
		return true
	case c.Tool != "Bash" && c.Tool != "Monitor" && c.Tool != "PowerShell":
		return !c.Known || slices.ContainsFunc(c.Parts, func(p cardea.Part) bool {
			return p.Coverage != cardea.Complete || len(p.Argv) > 0 && s.partMayChange(&p)
		})
	case len(c.Opaque) > 0 || len(c.Parts) == 0:
		return true
	}
	return slices.ContainsFunc(c.Parts, func(p cardea.Part) bool { return s.partMayChange(&p) })
}

// partMayChange reports whether a part may change a file of the project.
func (s Store) partMayChange(p *cardea.Part) bool {
	switch {
	case s.writes(p):
		return true
	case p.NoEffect || keepsFiles(p):
		return false
	}
	writes := slices.ContainsFunc(p.Access, func(a cardea.Access) bool {
		return a.Path == "" && (a.Kind == cardea.Write || a.Kind == cardea.Delete || a.Kind == cardea.Unknown)
	})
	return writes || len(p.Opaque) > 0 || p.Knowledge != cardea.Complete && !knowledge.Has(form.ChangesNoFile, p.Program())
}

// keepsFiles reports whether a part's command changes none of the files that the
// program looks after.
func keepsFiles(p *cardea.Part) bool {
	return knowledge.Has(form.KeepsProjectFiles, p.Command...)
}

// writes reports whether a part is known to write a file of the project, except
// git's own.
func (s Store) writes(p *cardea.Part) bool {
	return slices.ContainsFunc(p.Access, func(a cardea.Access) bool {
		own := paths.Within(filepath.Join(s.project, ".git"), a.Path)
		there := paths.Within(s.project, a.Path) && !own || a.Recursive && paths.Within(a.Path, s.project)
		return (a.Kind == cardea.Write || a.Kind == cardea.Delete) && a.Path != "" && there
	})
}

// Mistakes are what is wrong with checks that can never count, by check.
func Mistakes(checks []string) map[string]string {
	out := map[string]string{}
	for _, check := range checks {
		a := bash.Analyse(check, bash.Env{})
		switch {
		case len(a.Opaque) == 0 && !slices.ContainsFunc(a.Parts, func(p cardea.Part) bool { return len(p.Argv)+len(p.Assigns)+len(p.Access) > 0 }):
			out[check] = "it runs nothing"
		case len(a.Opaque) > 0 && len(a.Parts[0].Argv) == 0 && len(a.Parts) == 1:
			out[check] = a.Opaque[0].Reason
		case slices.ContainsFunc(a.Parts, func(p cardea.Part) bool { return slices.Contains(p.Via, "&") }):
			out[check] = "its last command runs in the background, so its result is not known"
		}
	}
	return out
}
