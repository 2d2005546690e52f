package lesson

import (
	"fmt"
	"path"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// NoCall returns the reason why no call can have the tool or the folder of a lesson, or "".
func (r *Record) NoCall() string {
	if word, known := harness.ToolWord(r.Tool); known && word != r.Tool {
		return fmt.Sprintf("no call has the tool %q; write %q", r.Tool, word)
	}
	info, _ := harness.Tool(r.Tool)
	switch {
	case r.Dir == AnyDir:
	case !isShell(info) && r.Dir != ".":
		return fmt.Sprintf("no call of %s is kept under the folder %q; write \".\"", r.Tool, r.Dir)
	case r.Dir == ".." || strings.HasPrefix(r.Dir, "../"):
		return fmt.Sprintf("no call has the folder %q; write . for the project, and folders outside of it from / on", r.Dir)
	case r.Dir != path.Clean(r.Dir):
		return fmt.Sprintf("no call has the folder %q; write %q", r.Dir, path.Clean(r.Dir))
	}
	return ""
}

// OtherForm returns the form in which a command is stored, if the subject of a lesson has another
// form and so matches no call; otherwise "". analyse finds the parts of a call.
func (k *Keyer) OtherForm(r *Record, analyse func(*cardea.Event) *cardea.Event) string {
	info, known := harness.Tool(r.Tool)
	if !known || !isShell(info) || strings.Contains(r.Subject, "<REDACTED") {
		return ""
	}
	at := cardea.Event{Kind: cardea.PreToolUse, Cwd: k.Absolute("."), Project: k.Absolute("."),
		Call: &cardea.Call{Tool: r.Tool, Name: r.Tool, Known: true, Input: map[string]any{info.FieldsOf(harness.Command)[0]: r.Subject}}}
	if r.Dir != AnyDir {
		at.Cwd = k.Absolute(r.Dir)
	}
	stored := ""
	keys := k.Keys(analyse(&at))
	for i := range keys {
		if keys[i].Subject == r.Subject {
			return ""
		}
		if keys[i].Teaches {
			stored = keys[i].Subject
		}
	}
	if stored == "" {
		return ""
	}
	return "this command is kept in another form; write `" + stored + "`"
}
