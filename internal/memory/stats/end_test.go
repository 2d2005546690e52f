package stats

import (
	"slices"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/memory/ledger"
)

func TestEnded(t *testing.T) {
	fact := func(by string, e cardea.Effect) cardea.Review { return cardea.Review{By: by, Effect: e} }
	ran, shown := fact("", cardea.Allow), fact("person", cardea.Ask)
	for name, c := range map[string]struct {
		effect  cardea.Effect
		by      string
		facts   []cardea.Review
		want    cardea.Review
		differs string
	}{
		"allowed":                         {cardea.Allow, "rules:x", nil, fact("cardea", cardea.Allow), ""},
		"denied":                          {cardea.Deny, "rules:x", nil, fact("cardea", cardea.Deny), "Cardea denied, no one else was asked"},
		"halted":                          {cardea.Halt, "rules:x", nil, fact("cardea", cardea.Halt), "Cardea denied, no one else was asked"},
		"silent":                          {cardea.Abstain, "", nil, fact("", cardea.Abstain), ""},
		"asked":                           {cardea.Ask, "rules:x", nil, fact("", cardea.Abstain), ""},
		"allowed, the classifier blocked": {cardea.Allow, "x", []cardea.Review{fact("classifier", cardea.Deny)}, fact("classifier", cardea.Deny), "Cardea allowed, the classifier blocked"},
		"allowed, a list blocked":         {cardea.Allow, "x", []cardea.Review{fact("list", cardea.Deny)}, fact("list", cardea.Deny), "Cardea allowed, a permission list blocked"},
		"silent, the classifier blocked":  {cardea.Abstain, "", []cardea.Review{fact("classifier", cardea.Deny)}, fact("classifier", cardea.Deny), "Cardea was silent, the classifier blocked"},
		"deferred, unknown reviewer":      {cardea.Defer, "opaque", []cardea.Review{fact("", cardea.Deny)}, fact("", cardea.Deny), "Cardea was silent, an unknown reviewer blocked"},
		"unknown, then known": {
			cardea.Abstain,
			"",
			[]cardea.Review{fact("", cardea.Deny), fact("list", cardea.Deny)},
			fact("list", cardea.Deny),
			"Cardea was silent, a permission list blocked",
		},
		"asked, yes":                       {cardea.Ask, "x", []cardea.Review{ran}, fact("person", cardea.Allow), "Cardea asked, the person said yes"},
		"asked, no":                        {cardea.Ask, "x", []cardea.Review{fact("person", cardea.Deny)}, fact("person", cardea.Deny), "Cardea asked, the person said no"},
		"asked, the classifier blocked":    {cardea.Ask, "x", []cardea.Review{fact("classifier", cardea.Deny)}, fact("classifier", cardea.Deny), "Cardea asked, the classifier blocked"},
		"asked, no one saw it":             {cardea.Ask, "x", []cardea.Review{fact("nobody", cardea.Deny)}, fact("nobody", cardea.Deny), "Cardea asked, no one who could be asked blocked"},
		"silent, shown, ran":               {cardea.Abstain, "", []cardea.Review{ran, shown}, fact("person", cardea.Allow), ""},
		"silent, shown":                    {cardea.Abstain, "", []cardea.Review{shown}, fact("", cardea.Abstain), ""},
		"silent, ran":                      {cardea.Abstain, "", []cardea.Review{ran}, fact("", cardea.Abstain), ""},
		"silent, the mode allowed":         {cardea.Abstain, "", []cardea.Review{fact("harness", cardea.Allow)}, fact("harness", cardea.Allow), ""},
		"silent, another hook blocked":     {cardea.Abstain, "", []cardea.Review{fact("hook", cardea.Deny)}, fact("hook", cardea.Deny), "Cardea was silent, another hook blocked"},
		"denied, as the hook says":         {cardea.Deny, "x", []cardea.Review{fact("hook", cardea.Deny)}, fact("cardea", cardea.Deny), "Cardea denied, no one else was asked"},
		"denied, and a forged event":       {cardea.Deny, "x", []cardea.Review{fact("classifier", cardea.Deny)}, fact("cardea", cardea.Deny), "Cardea denied, no one else was asked"},
		"allowed, as the hook says":        {cardea.Allow, "x", []cardea.Review{fact("hook", cardea.Allow)}, fact("cardea", cardea.Allow), ""},
		"denied, and it ran":               {cardea.Deny, "x", []cardea.Review{ran}, fact("", cardea.Allow), "Cardea denied, but the call ran"},
		"denied, and another hook allowed": {cardea.Deny, "x", []cardea.Review{fact("hook", cardea.Allow)}, fact("hook", cardea.Allow), "Cardea denied, another hook allowed"},
		"answered in the queue":            {cardea.Allow, answeredInQueue, nil, fact("person", cardea.Allow), ""},
		"a new word":                       {cardea.Abstain, "", []cardea.Review{fact("oracle", cardea.Deny)}, fact("oracle", cardea.Deny), "Cardea was silent, an unknown reviewer blocked"},
	} {
		end := Ended(c.effect, c.by, c.facts)
		if end != c.want || Differs(c.effect, end) != c.differs {
			t.Errorf("%s: %+v, %q", name, end, Differs(c.effect, end))
		}
	}
}

// review returns an entry that reports what another reviewer decided about a call.
func review(r ledger.Record, by string, e cardea.Effect) ledger.Record {
	r.Event, r.Effect, r.Reviewer, r.Review, r.ReviewReason = "PermissionDenied", cardea.Abstain, by, e.String(), "because"
	return r
}

func TestWhoDecidedInTheEnd(t *testing.T) {
	silent, allowed, asked := call("make deploy", cardea.Abstain, ""), call("make x", cardea.Allow, "rules:x"), call("git clean", cardea.Ask, "rules:c")
	prompt := review(call("", cardea.Abstain, ""), "person", cardea.Ask)
	other := silent
	other.Session = "another"
	r := counts(silent, review(silent, "classifier", cardea.Deny), silent, review(silent, "classifier", cardea.Deny), silent, // the third has no end
		allowed, review(allowed, "classifier", cardea.Deny), asked, prompt, event(asked, "PostToolUse"), call("rm", cardea.Deny, "rules:r"), other)
	if r.Calls != 7 {
		t.Errorf("%d calls", r.Calls)
	}
	want := []Group{{"classifier", Effects{Deny: 3}}, {"", Effects{Abstain: 2}}, {"cardea", Effects{Deny: 1}}, {"person", Effects{Allow: 1}}}
	if !slices.Equal(r.Ends, want) {
		t.Errorf("%+v", r.Ends)
	}
	var got []string
	for _, d := range r.Differences {
		got = append(got, d.What+": "+d.Commands[0].Text)
	}
	if !slices.Equal(got, []string{"Cardea was silent, the classifier blocked: make deploy", "Cardea allowed, the classifier blocked: make x",
		"Cardea asked, the person said yes: git clean", "Cardea denied, no one else was asked: rm"}) || r.Differences[0].Calls != 2 {
		t.Errorf("%q", got)
	}
}

// In the mode auto no prompt is saved.
func TestModeAutoSavesNoPrompt(t *testing.T) {
	r := call("x", cardea.Allow, "permissions")
	r.Mode, r.Opinions = "auto", []ledger.RecordOpinion{{Decider: "permissions", Effect: cardea.Allow}}
	if got := counts(r).Saved; got != (Saved{NoPrompt: 1}) {
		t.Errorf("%+v", got)
	}
}

func TestEndOfOneCall(t *testing.T) {
	first, second := call("make", cardea.Abstain, ""), call("make", cardea.Abstain, "")
	first.Call, second.Call = "1", "2"
	all := []ledger.Record{first, review(first, "classifier", cardea.Deny), second, call("ls", cardea.Allow, "readonly")}
	for i := range all {
		all[i].Time = begin.Add(time.Duration(i) * time.Minute)
	}
	records := func(yield func(ledger.Record, error) bool) {
		for _, r := range slices.Backward(all) {
			if !yield(r, nil) {
				return
			}
		}
	}
	own := func(harness, session string) map[string]cardea.Review {
		if harness != "claude-code" || session != "s" {
			t.Errorf("%s, %s", harness, session)
		}
		return map[string]cardea.Review{"2": {By: "person", Effect: cardea.Deny}}
	}
	for minute, want := range []string{"classifier", "classifier", "person", "person"} {
		if _, end, found := EndOf(records, begin.Add(time.Duration(minute)*time.Minute), "make", own); !found || end.By != want {
			t.Errorf("at %d: %+v, %v", minute, end, found)
		}
	}
	if _, _, found := EndOf(records, begin.Add(time.Hour), "other", nil); found {
		t.Error("a call that is not there has an end")
	}
	if _, _, found := EndOf(records, begin.Add(-time.Hour), "make", nil); found {
		t.Error("a later call counts")
	}
}

// A transcript, which the agent can write, takes no denial of Cardea's away.
func TestTranscriptAgainstDenial(t *testing.T) {
	denied := call("rm -rf ~", cardea.Deny, "rules:r")
	denied.Call = "1"
	records := func(yield func(ledger.Record, error) bool) { yield(denied, nil) }
	_, end, found := EndOf(records, denied.Time, denied.Digest, func(string, string) map[string]cardea.Review {
		return map[string]cardea.Review{"1": {By: "person", Effect: cardea.Allow}}
	})
	if !found || end.By != "cardea" || end.Effect != cardea.Deny {
		t.Errorf("%+v, %v", end, found)
	}
}
