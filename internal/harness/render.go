package harness

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"cardea.dev"
)

// maxText bounds what is said in one field. Claude Code moves longer strings
// (10 000 characters) into a file that the model need not read.
const (
	maxText    = 9_800
	maxInstead = 2_000
)

// Encode writes an answer: one JSON object and a newline, without the escapes
// for HTML, which would make commands hard to read in a prompt. It panics on
// what JSON cannot hold; cardea.Express gives nothing of the kind.
func Encode(v any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// Cap cuts a text that is too long for a field, and says so.
func Cap(s string) string { return capAt(s, maxText) }

// capAt counts as JavaScript does, in UTF-16 units.
func capAt(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const mark = " … (cut)"
	n := 0
	for i, r := range s {
		n += max(1, utf16.RuneLen(r))
		if n > limit-utf8.RuneCountInString(mark) && len(s)-i > len(mark) {
			return s[:i] + mark
		}
	}
	return s
}

// ForModel is what the model is told: why, and the better way as a sentence of
// its own. It is never empty, since harnesses drop a refusal without a reason.
func ForModel(a cardea.Answer) string { return withInstead(a, a.Message) }

// ForPerson is what a person is told.
func ForPerson(a cardea.Answer) string { return withInstead(a, a.Reason) }

func withInstead(a cardea.Answer, why string) string {
	if strings.TrimSpace(why) == "" {
		why = "Cardea says " + a.Decided.String()
		if a.By != "" {
			why += " (" + a.By + ")"
		}
	}
	better := Instead(a)
	if better == "" {
		return Cap(why)
	}
	return capAt(why, maxText-maxInstead) + "\n" + better
}

// Instead is the better way as a sentence, "" where there is none.
func Instead(a cardea.Answer) string {
	if a.Instead == "" {
		return ""
	}
	return capAt("Instead: "+a.Instead, maxInstead)
}

// TroubleText joins the failures that a person must learn of.
func TroubleText(a cardea.Answer) string {
	return Cap(a.Troubles.Error())
}

// ByExit writes an answer with the exit code alone, which is all that a harness of
// another form is sure to understand: 2 with the reason blocks, 0 without a word
// leaves its own flow in force.
func ByExit(a cardea.Answer) Output {
	if a.Effect.Stricter(cardea.Defer) {
		return Output{Stderr: []byte(ForModel(a) + "\n"), Exit: 2}
	}
	out := Output{}
	if t := TroubleText(a); t != "" {
		out.Stderr = []byte(t + "\n")
	}
	return out
}

// byExit is what ByExit can express: the events about a call that is still to run
// can be denied.
func byExit(sender string) cardea.Capabilities {
	return cardea.Capabilities{Harness: sender, Rows: []cardea.Row{
		{Kinds: []cardea.Kind{cardea.PreToolUse, cardea.PermissionRequest, cardea.PreSkillShellCommand}, Ask: cardea.Deny, Deny: cardea.Deny, Halt: cardea.Deny},
	}}
}

// byExitUnread is the same for a message that could not be read: it may be about
// a call, whatever its kind seems to be.
func byExitUnread(sender string) cardea.Capabilities {
	return cardea.Capabilities{Harness: sender, Rows: []cardea.Row{{Ask: cardea.Deny, Deny: cardea.Deny, Halt: cardea.Deny}}}
}
