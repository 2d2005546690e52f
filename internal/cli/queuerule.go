package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"cardea.dev"
	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/hook"
)

// ruleFile is a rules file that a command writes.
type ruleFile struct {
	path, text string
	// project is the project of the file, "" for the user's own.
	project string
	// alone is set if no person attends. The file then changes the trust in no project.
	alone bool
}

// errNoRule is returned for a call for which no rule can be written.
var errNoRule = errors.New("no rule can be written for this call by itself; write one by hand (docs/rule-language.md)")

// ruleOf returns the rule for an entry's call, after testing it.
func (p Process) ruleOf(e *queue.Entry, effect cardea.Effect, f answerFlags) (*ruleFile, error) {
	if e.Truncated || strings.Contains(e.Input.String(), "<REDACTED") {
		return nil, fmt.Errorf("the call is not shown whole: %w", errNoRule)
	}
	d, err := registrarHere(p.in(e.Project.String()))
	if err != nil {
		return nil, err
	}
	r := &ruleFile{path: filepath.Join(d.Place.Dirs.User, "rules")}
	if f.scope != "user" {
		if d.Place.Project == "" || d.Place.Project == d.Place.Dirs.Home {
			return nil, errors.New("the call was not made in a project; use --scope user")
		}
		r.project = d.Place.Project
		r.path = filepath.Join(r.project, ".cardea", "rules")
	} else if d.Place.Dirs.User == "" {
		return nil, errors.New("there is no folder for your rules; set HOME")
	}
	name := fmt.Sprintf("queue-%d", e.ID)
	r.path = filepath.Join(r.path, name+".yaml")
	if _, err := os.Lstat(r.path); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is there already, and is not written over; remove it, or answer without --add-rule", r.path)
	}
	if err := stillAsks(e, effect, userDir(d.Place.Dirs.User)); err != nil {
		return nil, err
	}
	bodies := ruleBodies(e, effect, name, r.project == "")
	if len(bodies) == 0 {
		return nil, errNoRule
	}
	because := cmp.Or(f.message, "a person answered so in the queue")
	if len(redact.New().Find(because)) > 0 {
		return nil, errors.New("the message holds what looks like a secret, which would stand in the rule; say it without")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Written for %s by \"cardea queue %s %d --add-rule\" on %s.\nversion: 1\nrules:\n", hook.Plain(p.UserName()),
		map[bool]string{true: "deny", false: "approve"}[effect == cardea.Deny], e.ID, p.Now().Format("2006-01-02"))
	for _, body := range bodies {
		b.WriteString(strings.ReplaceAll(body, "BECAUSE", strconv.Quote(because)))
	}
	r.text = b.String()
	return r, p.testRule(r)
}

// stillAsks returns an error if something always asks about an entry's call. A rule that
// allows does not lift a question; it only applies if nothing else decided.
func stillAsks(e *queue.Entry, effect cardea.Effect, user userDir) error {
	if effect != cardea.Allow {
		return nil
	}
	for _, o := range e.Opinions {
		decider, rule, _ := strings.Cut(o.By, ":")
		if o.Effect != cardea.Ask || slices.Contains([]string{"near", "judge", "supervisor"}, decider) { // these are asked only if nothing else decided
			continue
		}
		by := cardea.Opinion{Decider: decider, Rule: rule, Effect: o.Effect, Source: o.Source.String()}
		for _, s := range cardea.Scopes() {
			if s.String() == o.Scope {
				by.Scope = s
			}
		}
		return fmt.Errorf("%s asks about every such call, and a rule that allows does not change that; answer without --add-rule. To change it: %s", o.By, user.change(by))
	}
	return nil
}

// quoted returns a text in YAML's single quotes.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// ruleWriter writes the rules for an entry's call.
type ruleWriter struct {
	entry  *queue.Entry
	effect cardea.Effect
	bodies []string
}

// add adds a rule with its conditions, a test input that it matches, and one that it does
// not match.
func (w *ruleWriter) add(id string, match []string, input, other string) {
	var b strings.Builder
	fmt.Fprintf(&b, "  - id: %s\n    tool: %s\n    match:\n", id, w.entry.Tool)
	for _, m := range match {
		fmt.Fprintf(&b, "      %s\n", m)
	}
	fmt.Fprintf(&b, "    effect: %s\n", w.effect)
	if w.effect != cardea.Allow {
		fmt.Fprintf(&b, "    message: BECAUSE\n")
	}
	fmt.Fprintf(&b, "    because: BECAUSE\n    tests:\n      - {input: {%s}, expect: %s}\n      - {input: {%s}, expect: none}\n", input, w.effect, other)
	w.bodies = append(w.bodies, b.String())
}

// ruleBodies returns the rules for an entry: one for each command of a line, or one for the
// file or address.
func ruleBodies(e *queue.Entry, effect cardea.Effect, name string, everywhere bool) []string {
	w := ruleWriter{entry: e, effect: effect}
	var input map[string]any
	if json.Unmarshal([]byte(e.Input.String()), &input) != nil {
		input = nil // the input was cut
	}
	file, _ := input["file_path"].(string)
	address, _ := input["url"].(string)
	switch {
	case e.Tool == "Bash":
		command, _ := input["command"].(string)
		w.addCommands(name, command)
	case file != "":
		w.addFile(name, file, everywhere)
	case address != "":
		w.add(name, []string{"field: url", "pattern: " + quoted("^"+regexp.QuoteMeta(address)+"$")}, "url: "+quoted(address), "url: "+quoted(address+"/other"))
	}
	return w.bodies
}

// addCommands adds a rule for each command of a line that needs one.
func (w *ruleWriter) addCommands(name, line string) {
	for i, part := range w.entry.Parts {
		text := part.Text.String()
		if part.Effect == cardea.Allow && w.effect == cardea.Allow || text == "" || len(part.Opaque) > 0 || strings.ContainsAny(text, "\n\r") {
			continue
		}
		var match, flags []string
		if c := part.Command.String(); c != "" {
			match = append(match, "command: "+quoted(c))
		}
		match = append(match, "pattern: "+quoted("^"+regexp.QuoteMeta(text)+"$"))
		example := quoted(text)
		if w.effect == cardea.Allow {
			// The command's input is not in its text. The example is the whole line, so that the
			// rule allows that line again.
			match = append(match, "stdin: none")
			example = either(strings.ContainsFunc(line, unicode.IsControl), strconv.QuoteToASCII(line), quoted(line))
		}
		for _, f := range part.Flags {
			if !slices.Contains(flags, quoted(f.String())) {
				flags = append(flags, quoted(f.String()))
			}
		}
		if len(flags) > 0 {
			match = append(match, "flags: ["+strings.Join(flags, ", ")+"]")
		}
		id := either(i > 0, fmt.Sprintf("%s-%d", name, i+1), name)
		w.add(id, match, "command: "+example, "command: "+quoted("another-"+text))
	}
}

// addFile adds a rule for a file: by its path in the project, or everywhere by its absolute
// path.
func (w *ruleWriter) addFile(name, file string, everywhere bool) {
	path, access := either(everywhere, file, w.entry.Subject.String()), "write"
	if strings.ContainsAny(path, "*?[]{}!\n") {
		return
	}
	if w.entry.Diff.String() == "" {
		access = "read"
	}
	more := map[string]string{"Write": ", content: x", "Edit": ", old_string: x, new_string: y"}[w.entry.Tool]
	shown := path
	if !filepath.IsAbs(shown) {
		shown = "./" + shown
	}
	w.add(name, []string{"path: " + quoted(shown), "access: " + access}, "file_path: "+quoted(path)+more, "file_path: "+quoted(path+".other")+more)
}

// testRule checks that the rule works: its tests pass, and lint finds no mistake.
func (p Process) testRule(r *ruleFile) error {
	dir, err := os.MkdirTemp("", "cardea-rule-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, filepath.Base(r.path))
	if err := os.WriteFile(file, []byte(r.text), 0o600); err != nil {
		return err
	}
	l, _, err := gather(p, []string{file})
	if err != nil {
		return err
	}
	all := inlineTests{Tests: []inlineTest{}}
	all.Diagnostics = append(all.Diagnostics, l.Problems()...)
	all.run(l)
	if len(all.Diagnostics) > 0 || len(all.Tests) == 0 {
		why := "it has no tests"
		if len(all.Diagnostics) > 0 {
			why = all.Diagnostics[0].Text
		}
		return fmt.Errorf("the rule would not decide about this call (%s): %w", why, errNoRule)
	}
	return nil
}

// write writes a new file. A trusted project stays trusted.
func (r *ruleFile) write(p Process, out *screen) error {
	at := p
	at.Dir = cmp.Or(r.project, p.Dir)
	before, err := surveyIf(at, r.project != "" && !r.alone)
	if err != nil {
		return err
	}
	remember := p.remembering(false)
	if err := os.MkdirAll(filepath.Dir(r.path), 0o755); err != nil {
		return err
	}
	_, mode := modesOf(r.project == "")
	if err := create(r.path, r.text, mode); err != nil {
		return fmt.Errorf("write the rule: %w", err)
	}
	out.printf("   wrote %s\n", r.path)
	if before == nil && r.alone {
		out.printIf(r.project != "", "next: run \"cardea trust\" at a terminal; until then the rule can only deny and ask, and the agent is not told its text\n")
		return nil
	}
	if before == nil {
		return remember()
	}
	name := hook.InProject(r.project, r.path)
	return before.begin(at, out, func(path, _ string) bool { return path == name })
}
