package hook

import "cardea.dev"

// noteQuestion records that a person is asked about the call, so that its end is recorded
// later. The input is the one that the answer gives the call.
func (j *Evaluation) noteQuestion(a cardea.Answer) {
	if c := j.Event.Call; c != nil && j.Event.Kind.Answered() && a.Effect == cardea.Ask {
		input := c.Input
		if a.Rewrite != nil {
			input = a.Rewrite
		}
		j.Place.Session.Asks(callName(c, input))
	}
}

// endsQuestion reports whether the event reports the end of a call about which a person was
// asked.
func (j *Evaluation) endsQuestion() bool {
	ended := j.Event.Kind == "PostToolUse" || j.Event.Kind == "PostToolUseFailure"
	return ended && j.Event.Call != nil && j.Place.Session.HasAsked() && j.Place.Session.EndsQuestion(callName(j.Event.Call, j.Event.Call.Input))
}
