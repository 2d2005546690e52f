// Package evidence remembers which checks of a project succeeded since something
// in it was last changed.
//
// It is what the policy git_checks asks. The harness tells, after a call, that it
// succeeded; so nothing is run here and no output is parsed. A note is kept for
// each repository, signed with the person's key, so that neither the agent nor the
// project can write one. Whatever may have changed a file takes all notes away:
// evidence that is missing costs another run of the tests.
package evidence

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/bash"
	"cardea.dev/internal/paths"
	"cardea.dev/internal/state"
)

const (
	purpose     = "evidence of checks"
	namePurpose = "name of evidence"
	signature   = 32
	// maxFile is how much of a note is read, in bytes; maxFiles how many are kept.
	maxFile  = 64 << 10
	maxFiles = 512
	// maxTrees is of how many repositories besides the project a call is noted.
	maxTrees = 8
)

// Store keeps the notes of one project.
type Store struct{ state, project, start string }

// New makes the store of a project. state is the state folder, start the one in
// which the session began, links resolved: there or at the root of the project a
// check is run.
func New(state, project, start string) Store { return Store{state, project, start} }

func (s Store) path(key []byte) string {
	return filepath.Join(s.state, "evidence", hex.EncodeToString(state.Sign(key, namePurpose, []byte(s.project))))
}

// Passed are the checks that succeeded since the last change. What cannot be
// believed is no evidence.
func (s Store) Passed() []string {
	if s.state == "" || s.project == "" {
		return nil
	}
	key, err := state.ReadKey(s.state)
	if err != nil {
		return nil
	}
	path := s.path(key)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil || len(data) < signature || !state.Signed(key, data[:signature], purpose, []byte(s.project), data[signature:]) {
		return nil
	}
	var passed []string
	if json.Unmarshal(data[signature:], &passed) != nil {
		return nil
	}
	return passed
}

// Held is what holds when a call begins to commit, push or merge.
type Held struct {
	// Passed are the checks that succeeded in every repository in which it does.
	Passed []string
	// Elsewhere are those of these repositories that are not the project's.
	Elsewhere []string
	// Hidden is set where the line hides one of them.
	Hidden bool
}

// Holds tells what holds when a call begins to commit, push or merge: nothing that
// it does before it does so for the last time may change a file. publishes tells
// the parts that do, or may.
func (s Store) Holds(ev *cardea.Event, checks []string, publishes func(*cardea.Part) bool) Held {
	held := Held{Passed: s.Passed()}
	if ev.Call == nil {
		return held
	}
	trees := map[string]bool{}
	for i := range ev.Call.Parts {
		if p := &ev.Call.Parts[i]; publishes(p) {
			dirs, known := folders(p)
			held.Hidden = held.Hidden || !known
			for _, dir := range dirs {
				if known {
					trees[s.tree(dir)] = true
				}
			}
		}
	}
	if len(trees) == 0 || held.Hidden {
		trees[s.project] = true
	}
	known := read(checks)
	held.Passed = slices.Clone(checks)
	for _, tree := range slices.Sorted(maps.Keys(trees)) {
		of := s.of(tree)
		passed := of.Passed()
		if of.changedFirst(ev.Call.Parts, known, publishes) {
			passed = nil
		}
		held.Passed = slices.DeleteFunc(held.Passed, func(c string) bool { return !slices.Contains(passed, c) })
		if tree != s.project {
			held.Elsewhere = append(held.Elsewhere, tree)
		}
	}
	return held
}

// changedFirst reports whether something may change a file of the project before
// the last part that publishes has ended.
func (s Store) changedFirst(parts []cardea.Part, checks []check, publishes func(*cardea.Part) bool) bool {
	last, until := lastOf(parts, publishes)
	for i := range parts[:until] {
		p := &parts[i]
		if i == last && !overwrites(p, s.project) {
			continue
		}
		if partChanges(p, s.project, checks) {
			return true
		}
	}
	return false
}

// lastOf is the last part that publishes, -1 for none, and how many parts may run
// before it has ended: what runs at the same time, or again, may do so whatever
// its place in the line.
func lastOf(parts []cardea.Part, publishes func(*cardea.Part) bool) (last, until int) {
	last, whenever := -1, false
	for i := range parts {
		if p := &parts[i]; publishes(p) {
			last = i
			whenever = whenever || slices.ContainsFunc(p.Via, repeats) || slices.ContainsFunc(p.Wrappers, repeats)
		}
	}
	if whenever {
		return last, len(parts)
	}
	if until = last + 1; last >= 0 && len(parts[last].Command) > 1 && parts[last].Command[1] == "push" {
		return last, last // what is pushed was committed before
	}
	for until > 0 && until < len(parts) && slices.ContainsFunc(parts[until].Via, alongside) {
		until++
	}
	return last, until
}

// repeats reports constructs and wrappers whose commands run more than once, later
// or beside the others.
func repeats(via string) bool {
	return slices.Contains([]string{"for", "while", "until", "&", "coproc", "trap", "find", "fd", "fdfind", "gfind", "xargs", "gxargs", "parallel", "watch"}, via)
}

// alongside reports constructs whose commands run beside the one in front of them.
func alongside(via string) bool { return via == "|" || via == "|&" || via == ">( )" }

// overwrites reports whether a part opens a file of the project for writing that
// is there already: it is another one when the program begins.
func overwrites(p *cardea.Part, project string) bool {
	opened := *p
	opened.Access = slices.DeleteFunc(slices.Clone(p.Access), func(a cardea.Access) bool { return !a.Redirect || a.Fresh })
	return writes(&opened, project)
}

// Note takes notice of an event: of a call that succeeded, what it checked and
// whether it may have changed something; of one that begins or failed, the latter
// alone. It does so for the project, and for each repository in which the call does
// something. checks are the commands that count.
func (s Store) Note(ev *cardea.Event, checks []string) error {
	if s.state == "" || s.project == "" || ev.Call == nil || len(checks) == 0 {
		return nil
	}
	known := read(checks)
	err := s.note(ev, known)
	for _, tree := range s.touched(ev) {
		err = errors.Join(err, s.of(tree).note(ev, known))
	}
	return err
}

// touched are the repositories besides the project in which a call does something.
func (s Store) touched(ev *cardea.Event) []string {
	var dirs, out []string
	if line(ev.Call) != "" {
		dirs = append(dirs, ev.Cwd)
	}
	for i := range ev.Call.Parts {
		p := &ev.Call.Parts[i]
		if len(p.Command) > 0 && p.Command[0] == "git" {
			in, _ := folders(p)
			dirs = append(dirs, in...)
		} else {
			dirs = append(dirs, p.Dir)
		}
		for _, a := range p.Access {
			if a.Kind == cardea.Write || a.Kind == cardea.Delete {
				dirs = append(dirs, a.Path)
			}
		}
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		if dir == "" {
			continue
		}
		if tree := s.tree(dir); tree != s.project && repository(tree) == tree && !slices.Contains(out, tree) && len(out) < maxTrees {
			out = append(out, tree)
		}
	}
	return out
}

func (s Store) note(ev *cardea.Event, checks []check) error {
	before := s.Passed()
	after := before
	if changes(ev, s.project, checks) {
		after = nil
	}
	if ev.Kind == "PostToolUse" && succeeded(ev) {
		for _, c := range s.shown(ev, checks) {
			if !slices.Contains(after, c) {
				after = append(slices.Clone(after), c)
			}
		}
	}
	if slices.Equal(before, after) {
		return nil
	}
	return s.write(after)
}

// succeeded reports whether the harness says nothing else of the call than that
// it succeeded: Copilot CLI sends failures by the same event, and Claude Code
// what was interrupted.
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

func (s Store) write(passed []string) error {
	key, err := state.LoadKey(s.state)
	if err != nil {
		return err
	}
	data, err := json.Marshal(passed)
	if err != nil {
		return err
	}
	path := s.path(key)
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > maxFiles {
		for _, e := range entries[:len(entries)-maxFiles] {
			_ = os.Remove(filepath.Join(dir, e.Name())) // a missing note costs a run of the tests
		}
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(state.Sign(key, purpose, []byte(s.project), data), data...))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// shown are the checks that a call which succeeded has shown to hold: the line
// itself, where it is one, and commands in it whose failure would have been the
// line's, after which it writes nothing. A line that goes on whatever a check says
// shows nothing, nor does a command of the same name in another folder.
func (s Store) shown(ev *cardea.Event, checks []check) []string {
	c := ev.Call
	text := line(c)
	if text == "" || len(ev.Faults) > 0 || c.Input["run_in_background"] == true {
		return nil
	}
	var out []string
	if s.began(ev.Cwd, text) {
		out = whole(c, checks)
	}
	links := bash.Links(text)
	if len(c.Opaque) > 0 || len(links) != len(c.Parts) {
		return out
	}
	for i := range c.Parts {
		p := &c.Parts[i]
		if p.Coverage != cardea.Complete || len(p.Opaque) > 0 || p.Remote || !plain(p) {
			return out
		}
	}
	var linked []string
	for i := len(c.Parts) - 1; i >= 0; i-- {
		p := &c.Parts[i]
		if writes(p, s.project) || p.Command[0] == "cd" {
			break // what was checked before is checked no more, and nobody knows where
		}
		if is := asLink(links[i], p, checks); len(is) > 0 && s.at(p.Dir) {
			linked = append(linked, is...)
			continue
		}
		if partChanges(p, s.project, checks) {
			break
		}
	}
	slices.Reverse(linked)
	return append(out, linked...)
}

// at reports whether a folder is one in which checks are run.
func (s Store) at(dir string) bool {
	dir = paths.Real(dir)
	return dir == s.project || dir == s.start && paths.Within(s.project, dir)
}

// began reports whether a line that has ended in a folder began in one in which
// checks are run. The working directory of Claude Code's messages follows cd
// (https://code.claude.com/docs/en/hooks).
func (s Store) began(cwd, text string) bool {
	if s.at(cwd) {
		return true
	}
	return len(bash.Links(text)) > 0 && slices.ContainsFunc([]string{s.project, s.start}, func(from string) bool {
		parts := bash.Analyse(text, bash.Env{Cwd: from}).Parts
		return s.at(from) && len(parts) > 0 && parts[len(parts)-1].Dir != "" && paths.Real(parts[len(parts)-1].Dir) == paths.Real(cwd)
	})
}

// passOn are wrappers that run their command and end as it does.
var passOn = []string{"timeout", "gtimeout", "nohup", "env", "nice", "time", "stdbuf"}

// aside reports whether a wrapper may end well though its command did not run, or
// did not end: it tells of itself, or passes on how a command ended that it has
// stopped (timeout(1), time(1)).
func aside(p *cardea.Part) bool {
	for i, outer := range p.Outer {
		inner := p.Argv
		if i+1 < len(p.Outer) {
			inner = p.Outer[i+1].Argv
		}
		for _, w := range outer.Argv[:max(0, len(outer.Argv)-len(inner))] {
			short := strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "--") && strings.ContainsAny(w.Text, "pV")
			if w.MayBeOption || short ||
				len(w.Text) > len("--") && slices.ContainsFunc([]string{"--help", "--version", "--preserve-status"}, func(o string) bool { return strings.HasPrefix(o, w.Text) }) {
				return true
			}
		}
	}
	return false
}

// builtins are the commands of the shell itself that change nothing about how it
// goes on.
var builtins = []string{"cd", "echo", "printf", "true", ":", "pwd", "test", "["}

// plain reports whether a part is a program, or a command of the shell that cannot
// make the line end well without the others.
func plain(p *cardea.Part) bool {
	if slices.ContainsFunc(p.Wrappers, func(w string) bool { return !slices.Contains(passOn, w) }) || len(p.Command) == 0 || aside(p) {
		return false
	}
	return slices.Contains(builtins, p.Command[0]) || !slices.Contains(shellOwn, p.Command[0])
}

// shellOwn are bash's other builtins (bash(1), SHELL BUILTIN COMMANDS).
var shellOwn = strings.Fields(". alias bg bind break builtin caller command compgen complete compopt continue declare dirs disown enable eval exec exit " +
	"export false fc fg getopts hash help history jobs kill let local logout mapfile popd pushd read readarray readonly return set shift shopt source " +
	"suspend times trap type typeset ulimit umask unalias unset wait")

// changes reports whether a call may have changed a file of the project, besides
// what git keeps for itself.
func changes(ev *cardea.Event, project string, checks []check) bool {
	if ev.Call.EditsFiles {
		return true
	}
	if ev.Call.Tool != "Bash" && ev.Call.Tool != "Monitor" && ev.Call.Tool != "PowerShell" {
		return !ev.Call.Known
	}
	if len(whole(ev.Call, checks)) > 0 {
		return slices.ContainsFunc(ev.Call.Parts, func(p cardea.Part) bool { return writes(&p, project) })
	}
	if len(ev.Call.Opaque) > 0 || len(ev.Call.Parts) == 0 {
		return true
	}
	return slices.ContainsFunc(ev.Call.Parts, func(p cardea.Part) bool { return partChanges(&p, project, checks) })
}

// partChanges reports whether a part may change a file of the project. Of a check,
// and of what git does with its own files, only what is known to be written counts.
func partChanges(p *cardea.Part, project string, checks []check) bool {
	if writes(p, project) {
		return true
	}
	if simple(p, checks) || p.NoEffect {
		return false
	}
	if keepsTree(p) {
		return false
	}
	for _, a := range p.Access {
		if a.Path == "" && (a.Kind == cardea.Write || a.Kind == cardea.Delete || a.Kind == cardea.Unknown) {
			return true
		}
	}
	own := len(p.Command) > 0 && slices.Contains(builtins, p.Command[0])
	return len(p.Opaque) > 0 || p.Knowledge != cardea.Complete && !own
}

// writes reports whether a part is known to write a file of the project, but
// git's own.
func writes(p *cardea.Part, project string) bool {
	return slices.ContainsFunc(p.Access, func(a cardea.Access) bool {
		own := paths.Within(filepath.Join(project, ".git"), a.Path)
		there := paths.Within(project, a.Path) && !own || a.Recursive && paths.Within(a.Path, project)
		return (a.Kind == cardea.Write || a.Kind == cardea.Delete) && a.Path != "" && there
	})
}
