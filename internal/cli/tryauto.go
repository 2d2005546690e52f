package cli

import (
	"slices"

	"cardea.dev"
	"cardea.dev/internal/harness/claudecode"
)

// autoMode is the effect of an answer in Claude Code's auto mode.
type autoMode struct {
	// Decides is who makes the final decision: "cardea", "person" or "classifier".
	Decides string `json:"decides"`
	// Terminal is the answer at a terminal. Elsewhere is the answer where a person may not see
	// a question.
	Terminal  cardea.Effect `json:"terminal"`
	Elsewhere cardea.Effect `json:"elsewhere"`
	Text      string        `json:"text"`
}

// atTerminal returns an event as a terminal session of Claude Code sends it, since the user of
// try is at a terminal. It does not change an event without a person or with an unknown mode.
func atTerminal(ev cardea.Event) cardea.Event {
	if ev.Harness == claudecode.Name && ev.Attendance == cardea.AttendanceUnsaid && slices.Contains(cardea.Modes(), ev.Mode) {
		ev.Attendance = cardea.PersonAttends
	}
	return ev
}

// inAutoMode judges the call again with the other attendance. It returns nil for other
// modes and harnesses.
func (t trial) inAutoMode(p Process, m tried) *autoMode {
	ev := m.event
	if ev.Harness != claudecode.Name || ev.Mode != cardea.ModeAuto || ev.Kind != cardea.PreToolUse || ev.Call == nil {
		return nil
	}
	person, nobody := t.answer.Effect, t.answer.Effect
	other, attendance := &person, cardea.PersonAttends
	if ev.Attended() {
		other, attendance = &nobody, cardea.NobodyAttends
	}
	*other = trialOf(p, newEvaluation(p, ev.With(func(e *cardea.Event) { e.Attendance = attendance })), m.adapter).answer.Effect
	out := &autoMode{Terminal: person, Elsewhere: nobody}
	switch e := t.answer.Effect; {
	case e == cardea.Allow:
		out.Decides, out.Text = "cardea", "in auto mode it runs without the classifier (seen with 2.1.332)"
	case e == cardea.Ask && nobody == e:
		out.Decides, out.Text = "person", "in auto mode a terminal asks, and \"claude -p\" denies it"
	case e == cardea.Ask:
		out.Decides, out.Text = "person", "in auto mode a terminal asks; where no person is sure to see it (claude -p, editors): "+effectFor(nobody, t.harness).text
	case e >= cardea.Deny:
		out.Decides, out.Text = "cardea", "in auto mode this is final"
	default:
		out.Decides, out.Text = "classifier", "in auto mode the classifier decides"
	}
	switch e := t.answer.Effect; {
	case e != person:
		out.Text += "; at a terminal: " + effectFor(person, t.harness).text
	case e != nobody && e != cardea.Ask:
		out.Text += "; where no person is sure to see a question: " + effectFor(nobody, t.harness).text
	}
	return out
}
