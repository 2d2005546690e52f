package hook

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/memory/candidate"
	"cardea.dev/internal/memory/lesson"
)

// The limits of what a queue entry shows, in bytes and in numbers. The entry says if
// something was left out. Its digest covers everything.
const (
	maxShownInput    = 64 << 10
	maxShownSubject  = 4 << 10
	maxShownParts    = 64
	maxShownOpinions = 64
)

// QueueEntry returns the queue's entry for the call: as it would run, without its secrets.
func (j *Evaluation) QueueEntry(v cardea.Verdict, r *redact.Redactor) (queue.Entry, error) {
	ev := j.Event
	if v.Rewritten != nil {
		ev = ev.With(func(e *cardea.Event) { e.Call = v.Rewritten })
	}
	input, err := json.MarshalIndent(shownInput(ev.Call), "", "  ")
	if err != nil {
		return queue.Entry{}, fmt.Errorf("show the call: %w", err)
	}
	key, err := state.LoadKey(j.Place.State)
	if err != nil {
		return queue.Entry{}, err
	}
	subject, diff := subjectOf(ev), diffOf(ev.Call)
	texts := []string{string(input), subject, diff}
	for i := range ev.Call.Parts {
		texts = append(texts, ev.Call.Parts[i].Text)
	}
	together := r.Together(texts...)
	about, _ := j.aboutNow() // problems with it are reported where a judge is asked
	e := queue.Entry{Harness: ev.Harness, Session: r.Text(ev.Session), Agent: r.Text(ev.Agent), Role: ev.Role, Task: r.Text(about.Task), Team: r.Text(about.Team),
		Project: r.Text(ev.Project), Folder: r.Text(ev.Cwd), Tool: ev.Call.Tool, Rewritten: v.Rewritten != nil,
		Effect: v.Effect, By: v.By, Reason: together.Text(v.Reason)}
	whole := [3]bool{}
	e.Subject, whole[0] = together.Text(subject).Head(maxShownSubject)
	e.Input, whole[1] = together.Text(string(input)).Head(maxShownInput)
	e.Diff, whole[2] = together.Text(diff).Head(maxShownInput)
	e.Truncated = whole != [3]bool{true, true, true} || len(ev.Call.Parts) > maxShownParts
	e.Parts = shownParts(ev.Call, v, together)
	for _, o := range v.Opinions {
		if o.Effect != cardea.Abstain && len(e.Opinions) < maxShownOpinions {
			e.Opinions = append(e.Opinions, queue.Opinion{By: o.By(), Effect: o.Effect, Part: o.Part, Scope: o.Scope.String(), Reason: together.Text(o.Reason), Source: r.Text(o.Source)})
		}
	}
	if j.Judge != nil {
		if a := j.Judge.About(ev.Call); a != nil && a.Err == nil {
			e.Recommendation = &queue.Recommendation{Effect: a.Answer.Decision, Confidence: a.Answer.Confidence, Reason: a.Answer.Reason, Model: r.Text(a.Answer.Model)}
		}
	}
	keyer := lesson.NewKeyer(redact.New(), key, j.Place.Project)
	files := teaches(&e, ev, keyer, r)
	maps.Copy(files, keyer.Used(ev))
	e.Digest, err = queue.Digest(key, ev, files)
	if j.process.AsPrompt {
		e = promptEntry(e, r)
	}
	return e, err
}

// shownInput returns a call's input. It includes further values of a field that came twice
// or under another name, since it is unknown which one the harness uses.
func shownInput(c *cardea.Call) any {
	if len(c.Shadowed) == 0 {
		return c.Input
	}
	return struct {
		Input any              `json:"input"`
		Again map[string][]any `json:"given again"`
	}{c.Input, c.Shadowed}
}

// firstOf returns the elements of a list that are shown.
func firstOf[T any](all []T) []T { return all[:min(len(all), maxShownParts)] }

// shownParts returns the parts of a call, with their known effects.
func shownParts(c *cardea.Call, v cardea.Verdict, r *redact.Together) (out []queue.Part) {
	for i := range firstOf(c.Parts) {
		p := &c.Parts[i]
		text, _ := r.Text(p.Text).Head(maxShownSubject)
		part := queue.Part{Text: text, Command: r.Text(strings.Join(p.Command, " "))}
		if len(v.Parts) == len(c.Parts) {
			part.Effect = v.Parts[i]
		}
		for _, o := range firstOf(p.Options) {
			part.Flags = append(part.Flags, r.Text(o.Name))
		}
		for _, a := range firstOf(p.Access) {
			part.Access = append(part.Access, r.Text(strings.TrimSpace(string(a.Kind)+" "+a.Path+a.Host)))
		}
		for _, o := range firstOf(p.Opaque) {
			part.Opaque = append(part.Opaque, r.Text(o.Text+": "+o.Reason))
		}
		out = append(out, part)
	}
	return out
}

// subjectOf returns a call in one line: the command, the path, or the address.
func subjectOf(ev *cardea.Event) string {
	for _, field := range []string{"command", "file_path", "notebook_path", "path", "url", "pattern", "query", "prompt", "description"} {
		text, is := ev.Call.Input[field].(string)
		if !is || text == "" {
			continue
		}
		if rel, err := filepath.Rel(ev.Project, text); err == nil && filepath.IsAbs(text) && filepath.IsLocal(rel) {
			text = rel
		}
		return text
	}
	return ev.Call.Name
}

// diffOf returns the file changes of a call, as a diff without line numbers.
func diffOf(c *cardea.Call) string {
	var b strings.Builder
	lines := func(sign string, value any) {
		if text, is := value.(string); is && text != "" {
			for line := range strings.Lines(text) {
				b.WriteString(sign + strings.TrimSuffix(line, "\n") + "\n")
			}
		}
	}
	change := func(m map[string]any) {
		lines("-", m["old_string"])
		lines("+", m["new_string"])
	}
	change(c.Input)
	if edits, is := c.Input["edits"].([]any); is {
		for _, e := range edits {
			if m, is := e.(map[string]any); is {
				b.WriteString("@@\n")
				change(m)
			}
		}
	}
	if c.EditsFiles {
		lines("+", c.Input["content"])
		lines("+", c.Input["new_source"])
		lines("", c.Input["patch"])
	}
	return b.String()
}

// teaches adds to an entry what an answer would teach. It returns the hashes of the files
// that the call runs.
func teaches(e *queue.Entry, ev *cardea.Event, k *lesson.Keyer, r *redact.Redactor) map[string]string {
	files := map[string]string{}
	allows, err := k.DraftsOf(ev, cardea.Allow)
	if err != nil {
		e.Why = r.Text(err.Error())
	}
	for _, d := range allows {
		maps.Copy(files, d.Files)
	}
	holds, _ := k.DraftsOf(ev, cardea.Deny) // on an error, a denial is not remembered
	e.Allows, e.Holds = candidate.Drafts(allows), candidate.Drafts(holds)
	return files
}
