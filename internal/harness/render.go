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
// for HTML, which would make commands hard to read in a prompt.
func Encode(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
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

// ForModel is what the model is told of a verdict: why, and the better way as
// a sentence of its own. It is never empty, since harnesses drop a refusal
// without a reason.
func ForModel(v cardea.Verdict) string { return said(v, v.Message) }

// ForPerson is what a person is told of a verdict.
func ForPerson(v cardea.Verdict) string { return said(v, v.Reason) }

func said(v cardea.Verdict, why string) string {
	if strings.TrimSpace(why) == "" {
		why = "Cardea says " + v.Effect.String()
		if v.By != "" {
			why += " (" + v.By + ")"
		}
	}
	better := Instead(v)
	if better == "" {
		return Cap(why)
	}
	return capAt(why, maxText-maxInstead) + "\n" + better
}

// Instead is the better way as a sentence, "" where there is none.
func Instead(v cardea.Verdict) string {
	if v.Instead == "" {
		return ""
	}
	return capAt("Instead: "+v.Instead, maxInstead)
}

// TroubleText joins the failures that a person must learn of.
func TroubleText(v cardea.Verdict) string {
	var lines []string
	for _, t := range v.Troubles {
		if t.Text != "" {
			lines = append(lines, t.Text)
		}
	}
	return Cap(strings.Join(lines, "\n"))
}

// ByExit answers with the exit code alone, which is all that a harness of
// another form is sure to understand: 2 with the reason blocks, 0 without a
// word leaves its own flow in force. A question cannot be asked so, and
// blocks.
func ByExit(v cardea.Verdict) Answer {
	if v.Effect.Stricter(cardea.Defer) {
		return Answer{Stderr: []byte(ForModel(v) + "\n"), Exit: 2}
	}
	a := Answer{}
	if t := TroubleText(v); t != "" {
		a.Stderr = []byte(t + "\n")
	}
	return a
}
