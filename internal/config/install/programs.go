package install

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/state"
)

// This file handles harnesses without hook settings. A small program in their folder only
// starts Cardea, and rejects a call if that fails.

//go:embed programs
var programTexts embed.FS

// programMark precedes, in the first lines of a small program, its [Wanted] as JSON.
const programMark = " cardea-hook "

// smallProgram generates the small programs of a harness.
type smallProgram struct {
	// first is the program's first line, "" for none; comment begins a comment.
	first, comment string
	// parts are the files that make up its text.
	parts []string
	// perEvent is set if each event has its own program, named after it.
	perEvent bool
}

// text returns the small program for a hook.
func (g *smallProgram) text(h Harness, w Wanted) []byte {
	head, _ := json.Marshal(w)
	words, _ := json.Marshal(append([]string{w.Binary}, w.Args(h)...))
	command, wait := string(words), strconv.FormatInt(w.Timeout.Milliseconds(), 10)
	if g.comment == "#" {
		command, wait = shellLine("", w.Binary, w.Args(h)), strconv.Itoa(int(w.Timeout/time.Second))
	}
	var b strings.Builder
	b.WriteString(g.first + g.comment + programMark + string(head) + "\n")
	for _, part := range g.parts {
		text, _ := programTexts.ReadFile("programs/" + part)
		b.WriteString(strings.NewReplacer("COMMAND", command, "LIMIT", wait, "HARNESS", h.Name).Replace(string(text)))
	}
	return []byte(b.String())
}

// programOf returns the Wanted of a small program; false for other files.
func programOf(data []byte) (w Wanted, ours bool) {
	for i, line := range strings.SplitN(string(data), "\n", 3) {
		_, head, found := strings.Cut(line, programMark)
		if i < 2 && found && json.Unmarshal([]byte(head), &w) == nil {
			return w, true
		}
	}
	return Wanted{}, false
}

// companions returns the files of further small programs next to the first, by event.
func (h Harness) companions(file string) map[string]string {
	out := map[string]string{}
	if h.plugin.perEvent {
		for _, event := range slices.Concat(h.gates, h.prompts, h.more) {
			if path := filepath.Join(filepath.Dir(file), event+filepath.Ext(file)); path != file {
				out[event] = path
			}
		}
	}
	return out
}

// planProgram plans the installation of the small programs, or their removal if w is nil.
func (p *Plan) planProgram(h Harness, w *Wanted) error {
	p.modes = [2]os.FileMode{0o644, 0o600}
	if h.plugin.perEvent {
		p.modes = [2]os.FileMode{0o755, 0o700} // the harness executes the file
	}
	old := recall(p.state, p.File)
	p.replaces = p.on.exists
	if p.on.exists {
		switch _, ours := programOf(p.Before); {
		case ours && w == nil:
			p.Remove = true
		case !ours && w != nil:
			return notOurs(p.File)
		}
	}
	p.After = p.Before
	if w != nil {
		p.After = h.plugin.text(h, *w)
		p.memory = &memory{V: 1, File: p.File, After: digest(p.After), NewFile: true}
	}
	if p.Remove {
		p.After = nil
	}
	if old != nil {
		p.dirs = old.NewDirs
		if p.memory != nil {
			p.memory.NewDirs = old.NewDirs
		}
	}
	for event, path := range h.companions(p.File) {
		c, err := p.planCompanion(path, event, w != nil, w != nil && slices.Contains(h.events, event))
		if errors.Is(err, errNotOurs) { // the other files are still written
			p.note(CodeOtherHook, "", "without "+event+": "+err.Error())
			continue
		}
		if err != nil {
			return err
		}
		p.beside = append(p.beside, c)
	}
	slices.SortFunc(p.beside, func(a, b besideFile) int { return strings.Compare(a.path, b.path) })
	return nil
}

// planCompanion plans the small program for a further event. An installation keeps an
// existing one; an uninstallation removes it.
func (p *Plan) planCompanion(path, event string, installs, wanted bool) (besideFile, error) {
	c := besideFile{path: path, says: "the hook for " + event}
	data, err := state.Read(path, maxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("%w; make it readable", err)
	}
	_, ours := programOf(data)
	if err == nil && !ours && wanted {
		return c, notOurs(path)
	}
	c.remove = ours && !installs
	p.replaces = p.replaces || ours
	if (wanted || ours && installs) && string(data) != string(p.After) {
		c.write, c.text = true, p.After
	}
	return c, nil
}

var errNotOurs = errors.New("is not Cardea's, and was left alone; move it away and run this again")

func notOurs(path string) error { return fmt.Errorf("%s %w", path, errNotOurs) }

// programWirings returns the hooks of the small programs of a harness.
func (h Harness) programWirings(at Places) (out []Wiring, problems []diagnostic.Diagnostic) {
	for _, scope := range []Scope{Project, User} {
		file, err := at.File(h, scope)
		if err != nil {
			continue
		}
		files := h.companions(file)
		files[h.Gate()] = file
		for _, event := range slices.Concat(h.gates, h.prompts, h.more) {
			data, err := state.ReadLinked(files[event], maxFile)
			if files[event] == "" || errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				problems = append(problems, broken(files[event], "make it readable", err))
				continue
			}
			w, ours := programOf(data)
			if !ours {
				problems = append(problems, diagnostic.Diagnostic{Severity: diagnostic.LevelNote, File: files[event], Code: CodeOtherHook, Text: "it is not Cardea's, and stands where Cardea's hook would"})
				continue
			}
			out = append(out, h.programWiring(scope, files[event], event, data, w))
		}
	}
	return out, problems
}

func (h Harness) programWiring(scope Scope, file, event string, data []byte, wanted Wanted) Wiring {
	w := Wiring{Scope: scope, File: file, Line: 1, Event: event, Program: wanted.Binary, Args: wanted.Args(h), Timeout: wanted.Timeout, Limit: wanted.Limit(), OnFailure: "deny"}
	if string(h.plugin.text(h, wanted)) != string(data) {
		w.Diagnostics = append(w.Diagnostics, w.Says(diagnostic.LevelError, CodeChanged, h.Repair(w), "it is not what this version of Cardea writes: it was changed, or is of another version"))
	}
	if info, err := os.Stat(file); h.plugin.perEvent && err == nil && info.Mode().Perm()&0o100 == 0 {
		w.Diagnostics = append(w.Diagnostics, w.Says(diagnostic.LevelError, CodeChanged, h.Repair(w), "it is not executable, so %s does not start it", h.Title))
	}
	return w
}
