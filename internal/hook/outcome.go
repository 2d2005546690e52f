package hook

import "cardea.dev"

// noteQuestion notes that a person is asked about the call, so that its end is recorded
// when the harness tells it. The input is that which the answer gives the call.
func (j *Judgement) noteQuestion(a cardea.Answer) {
	if c := j.Event.Call; c != nil && j.Event.Kind.Answered() && a.Effect == cardea.Ask {
		input := c.Input
		if a.Rewrite != nil {
			input = a.Rewrite
		}
		j.Place.Session.Asks(callName(c, input))
	}
}

// endsQuestion reports whether the event tells that a call ran about which a person was
// asked.
func (j *Judgement) endsQuestion() bool {
	ended := j.Event.Kind == "PostToolUse" || j.Event.Kind == "PostToolUseFailure"
	return ended && j.Event.Call != nil && j.Place.Session.HasAsked() && j.Place.Session.EndsQuestion(callName(j.Event.Call, j.Event.Call.Input))
}
