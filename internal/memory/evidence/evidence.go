// Package evidence remembers which checks of a project succeeded since the last change to it. The
// policy git_checks uses it.
//
// The package runs nothing and reads no output: the harness reports that a call succeeded. A check
// is accepted when a call was exactly its line, ran in a folder for checks, and succeeded. No other
// call that may write a file may begin or end in the meantime. Such a call removes all evidence.
// Missing evidence costs another run of the check.
//
// This keeps checks from being forgotten. It does not stop an agent that wants to deceive, since
// the effects of the project's scripts are not seen.
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
	// maxFile is the largest size of the evidence, in bytes. maxFiles is the largest number of
	// projects with a file.
	maxFile  = 64 << 10
	maxFiles = 512
)

// Store stores the evidence of one project.
type Store struct{ folder, project, start string }

// New returns the store of a project. folder is the state folder. Checks are run in the project, or
// in start, where the session began. Links in both are resolved.
func New(folder, project, start string) Store { return Store{folder, project, start} }

// storedFile is the file of a project: the checks that succeeded since the last change, and those that
// began since then.
type storedFile struct {
	Passed []string `json:"passed"`
	Begun  []string `json:"begun"`
}

func (s Store) path(key []byte) string {
	return filepath.Join(s.folder, "evidence", hex.EncodeToString(state.Sign(key, namePurpose, []byte(s.project))))
}

// read returns the stored evidence. A file that this user's Cardea did not write is treated as
// empty.
func (s Store) read() (k storedFile) {
	if s.folder == "" || s.project == "" {
		return storedFile{}
	}
	key, err := state.ReadKey(s.folder)
	if err != nil {
		return storedFile{}
	}
	if err := state.ReadSignedJSON(s.path(key), key, purpose, s.project, maxFile, &k); err != nil {
		return storedFile{}
	}
	return k
}

func (s Store) write(k storedFile) error {
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

// Passed returns the checks that succeeded since the last change.
func (s Store) Passed() []string { return s.read().Passed }

// Note records a call that begins, succeeded (PostToolUse) or failed. checks are the lines that are
// accepted as checks.
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

// next returns the evidence after a call.
func (s Store) next(k storedFile, ev *cardea.Event, checks []string) storedFile {
	check := line(ev.Call)
	begins := ev.Kind.Begins()
	foreground := ev.Call.Input["run_in_background"] != true && len(ev.Faults) == 0
	if !slices.Contains(checks, check) || begins && !(s.runsChecks(ev.Cwd) && foreground) || !begins && !slices.Contains(k.Begun, check) {
		if s.mayChange(ev.Call) {
			return storedFile{}
		}
		return k
	}
	k = storedFile{without(k.Passed, check), without(k.Begun, check)}
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

// line returns the command of a shell call, "" for other calls.
func line(c *cardea.Call) string {
	text, _ := c.Input["command"].(string)
	if c.Tool != "Bash" {
		return ""
	}
	return strings.TrimSpace(text)
}

// runsChecks reports whether a folder is one for checks.
func (s Store) runsChecks(dir string) bool {
	dir = paths.Real(dir)
	return dir == s.project || dir == s.start && paths.Within(s.project, dir)
}

// succeeded reports whether the harness reports success. Copilot CLI sends failures by the same
// event, and Claude Code sends interrupted calls.
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

// Publish describes the other effects of a call that commits, pushes or merges.
type Publish struct {
	// Writes is set where the call may also change a file.
	Writes bool
	// Elsewhere is set where it commits, pushes or merges in another repository than the project's,
	// or in an unknown one.
	Elsewhere bool
}

// Look returns the other effects of a call that commits, pushes or merges. publishes reports
// whether a part does one of these.
func (s Store) Look(c *cardea.Call, publishes func(*cardea.Part) bool) (out Publish) {
	for i := range c.Parts {
		p := &c.Parts[i]
		last := i == len(c.Parts)-1 && publishes(p) // a final merge has already merged its changes
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
		case o.Name == "-C": // or the commit of git commit -C, which is not a path outside
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

// keepsFiles reports whether a part's command leaves the files of the project unchanged, as
// knowledge says.
func keepsFiles(p *cardea.Part) bool {
	return knowledge.Has(form.KeepsProjectFiles, p.Command...)
}

// writes reports whether a part is known to write a file of the project, except git's own.
func (s Store) writes(p *cardea.Part) bool {
	return slices.ContainsFunc(p.Access, func(a cardea.Access) bool {
		own := paths.Within(filepath.Join(s.project, ".git"), a.Path)
		there := paths.Within(s.project, a.Path) && !own || a.Recursive && paths.Within(a.Path, s.project)
		return (a.Kind == cardea.Write || a.Kind == cardea.Delete) && a.Path != "" && there
	})
}

// Mistakes returns the checks that can never be accepted, with the reason for each.
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
