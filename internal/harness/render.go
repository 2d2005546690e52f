package harness

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"cardea.dev"
)

// maxText is the longest text in one field. Claude Code moves longer strings (10 000 characters)
// into a file that the model need not read.
const (
	maxText    = 9_800
	maxInstead = 2_000
)

// Encode returns an answer as one JSON object and a newline, without the escapes for HTML, which
// would make commands hard to read in a prompt. It panics on a value that JSON cannot hold;
// cardea.Express returns none.
func Encode(v any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// Cap cuts a text that is too long for a field, and marks the cut.
func Cap(s string) string { return capAt(s, maxText) }

// capAt measures length as JavaScript does, in UTF-16 units.
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

// typed is the decider of a prompt that is a command for Cardea. No rule applies there.
const typed = "typed"

// NextStep is the command that shows the person why a call was held back.
const NextStep = "cardea explain last"

// ForModel returns the text for the model: the speaker, the reason, the better way, more, and the
// rule. It is never empty, since harnesses drop a refusal without a reason.
func ForModel(a cardea.Answer, more ...string) string {
	return say(a, a.Message, append([]string{Instead(a)}, more...))
}

// ForBoth returns the text for a field that both the model and the person read: the text for the
// model, more, and the next step.
func ForBoth(a cardea.Answer, more ...string) string {
	next := ""
	if asksToExplain(a) {
		next = "The person can run: " + NextStep
	}
	return ForModel(a, append(slices.Clip(more), next)...)
}

// AtPrompt returns the message of a refusal on PermissionRequest. A person who was asked in
// the queue has read the next step in the question.
func AtPrompt(a cardea.Answer) string {
	if strings.HasPrefix(a.By, "queue:") {
		return ForModel(a, a.Context...)
	}
	return ForBoth(a, a.Context...)
}

// ForPerson returns the text for a person: the speaker, the reason, more, and the rule.
func ForPerson(a cardea.Answer, more ...string) string { return say(a, a.Reason, more) }

// Next returns the person's next step as a sentence, "" for none.
func Next(a cardea.Answer) string {
	if !asksToExplain(a) {
		return ""
	}
	return "To see why and what you can do, run: " + NextStep
}

// asksToExplain reports whether a person may want the answer explained: it is a question or a
// refusal that the person did not give or type, for a reader that knows the field.
func asksToExplain(a cardea.Answer) bool {
	return !a.Foreign && a.Effect.Stricter(cardea.Defer) && a.By != typed && !strings.HasPrefix(a.By, "person:")
}

// say returns one text for a field: "Cardea: WHY", further lines, and at the end the author of the
// decision, in parentheses. A long text is cut before that author.
func say(a cardea.Answer, why string, more []string) string {
	more = slices.DeleteFunc(more, func(s string) bool { return s == "" })
	if why = strings.TrimSpace(why); why == "" {
		why = "the answer is " + a.Decided.String()
	}
	most, end := maxText, ""
	if len(more) > 0 {
		most -= maxInstead
	}
	text := strings.Join(append([]string{Named(capAt(own.Replace(why), most))}, more...), "\n")
	if by := decidedBy(a.By); by != "" {
		end = " (" + by + ")"
		if strings.Contains(text, "\n") { // a command at the end of a line stays as it is
			end = "\n" + end[1:]
		}
	}
	return capAt(text, maxText-len(end)) + end
}

// own indents lines of a reason that look like lines of an answer: a reason may quote text of the
// agent.
var own = strings.NewReplacer("\nCardea:", "\n  Cardea:", "\nInstead:", "\n  Instead:", "\nTo see why", "\n  To see why", "\nThe person can run:", "\n  The person can run:")

// Refused returns the text of a refusal without a verdict. by is its author.
func Refused(by, why string) string {
	return say(cardea.Answer{Verdict: cardea.Verdict{By: by}}, why, nil)
}

// Named returns a text that names Cardea as the speaker.
func Named(text string) string {
	rest, is := strings.CutPrefix(text, "Cardea")
	if next, _ := utf8.DecodeRuneInString(rest); is && !unicode.IsLetter(next) && !unicode.IsDigit(next) {
		return text
	}
	return "Cardea: " + text
}

// decidedBy returns the author of the decision: the id of a rule, or the decider with its rule.
// Other names are left out: the entry of a permission list can be any text.
func decidedBy(by string) string {
	decider, rule, _ := strings.Cut(by, ":")
	switch {
	case by == typed:
		return ""
	case !cardea.IsID(rule):
		return decider
	case decider == "rules":
		return rule
	}
	return by
}

// Instead returns the better way as a sentence, "" for none.
func Instead(a cardea.Answer) string {
	if a.Instead == "" {
		return ""
	}
	return capAt("Instead: "+a.Instead, maxInstead)
}

// Beside returns the text for the model next to an answer, or "".
func Beside(a cardea.Answer) string {
	switch text := strings.Join(a.Context, "\n"); {
	case a.TellModel:
		return ForModel(a, text)
	case text != "":
		return Cap(Named(text))
	}
	return ""
}

// Notice returns the text that a person must learn, or "": failures, and a reason that the answer
// cannot carry.
func Notice(a cardea.Answer) string {
	text, better := a.Issues.Error(), ""
	if text != "" {
		text = Named(text)
	}
	if !a.TellModel && !a.Effect.Stricter(cardea.Defer) {
		better = Instead(a)
	}
	if a.TellPerson {
		text = lines(text, ForPerson(a, better))
	}
	return Cap(text)
}

// NoticeWithNext returns the notice, and the next step if the call is held back, for a field that
// only the person reads.
func NoticeWithNext(a cardea.Answer) string {
	if next := Next(a); next != "" && a.Effect >= cardea.Deny {
		return lines(Notice(a), Named(next))
	}
	return Notice(a)
}

// lines returns two texts, of which either may be empty, as one.
func lines(a, b string) string { return Cap(strings.Trim(a+"\n"+b, "\n")) }

// ByExit returns an answer by exit code alone, which even a harness of another form is sure to
// understand. Exit code 2 with the reason blocks, and 0 without output leaves the harness's own
// flow in force.
func ByExit(a cardea.Answer) Output {
	if a.Effect.Stricter(cardea.Defer) {
		return Output{Stderr: []byte(ForBoth(a, a.Context...) + "\n"), Exit: 2}
	}
	out := Output{}
	if t := Notice(a); t != "" {
		out.Stderr = []byte(t + "\n")
	}
	return out
}

// byExit returns the answers that ByExit can express: it can deny events about a call that can
// still be held back.
func byExit(sender string) cardea.Capabilities {
	return cardea.Capabilities{Harness: sender, Rows: []cardea.Row{
		{Kinds: []cardea.Kind{cardea.PreToolUse, cardea.PermissionRequest, cardea.PreSkillShellCommand}, Ask: cardea.Deny, Deny: cardea.Deny, Halt: cardea.Deny},
	}}
}

// byExitUnread is byExit for a message that could not be read: it may be about a call, whatever its
// kind seems to be.
func byExitUnread(sender string) cardea.Capabilities {
	return cardea.Capabilities{Harness: sender, Rows: []cardea.Row{{Ask: cardea.Deny, Deny: cardea.Deny, Halt: cardea.Deny}}}
}
