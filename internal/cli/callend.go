package cli

import (
	"time"

	"cardea.dev"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/memory/ledger"
	"cardea.dev/internal/memory/stats"
	"cardea.dev/internal/memory/transcript"
)

// maxTranscripts is the most sessions whose transcripts one run reads.
const maxTranscripts = 200

// transcripts returns a reader of a harness's own decisions about the calls of a session.
// It reads each session once. left receives the sessions beyond the limit, used those with
// decisions.
func (p Process) transcripts(left, used map[string]bool) func(harness, session string) map[string]cardea.Review {
	pl := locate(p, "", "", p.Dir)
	read := map[string]map[string]cardea.Review{}
	return func(harness, session string) map[string]cardea.Review {
		key := harness + "\n" + session
		if _, is := read[key]; !is && len(read) < maxTranscripts {
			read[key] = transcript.Decisions(harness, pl.Dirs.Claude, session)
		} else if !is {
			left[key] = true
		}
		if len(read[key]) > 0 {
			used[key] = true
		}
		return read[key]
	}
}

// callEnd is the final decision about a call.
type callEnd struct {
	By     string        `json:"by"`
	Effect cardea.Effect `json:"effect"`
	Reason string        `json:"reason"`
	// Cardea is Cardea's own answer.
	Cardea  cardea.Effect `json:"cardea"`
	Differs string        `json:"differs"`
}

// callWindow is how far before and after an entry other entries of the same call are searched.
const callWindow = 24 * time.Hour

// endOf returns who finally decided the call of an entry.
func (p Process) endOf(l *ledger.Ledger, e *ledger.Entry) callEnd {
	q := ledger.Query{Session: e.Session.String(), Harness: e.Harness.String(), Since: e.Time.Add(-callWindow), Until: e.Time.Add(callWindow)}
	call, end, found := stats.EndOf(l.Records(q), e.Time, e.Input.Digest, p.transcripts(map[string]bool{}, map[string]bool{}))
	if !found || q.Session == "" || e.Input.Digest == "" {
		review, _ := cardea.ParseEffect(e.Review.String())
		call.Effect, end = e.Effect, stats.Ended(e.Effect, e.By.String(), []cardea.Review{{By: e.Reviewer.String(), Effect: review, Reason: e.ReviewReason.String()}})
	}
	return callEnd{end.By, end.Effect, redact.New().Show(end.Reason), call.Effect, stats.Differs(call.Effect, end)}
}

// reviewed returns what another reviewer did, or "" if the entry reports no such decision.
func reviewed(e *ledger.Entry) string {
	did := map[string]string{"allow": "allowed by ", "deny": "blocked by ", "ask": "asked: ", "abstain": "answered by "}[e.Review.String()]
	return did + onlyIf(did != "", stats.Who(e.Reviewer.String()))
}

// show writes who finally decided, and whether that differs from Cardea's answer.
func (d callEnd) show(s *screen) {
	text := "unknown"
	switch {
	case d.Effect == cardea.Allow && d.By == "":
		text = "the call ran"
	case d.Effect != cardea.Abstain:
		text = map[bool]string{true: "allowed by ", false: "blocked by "}[d.Effect == cardea.Allow] + stats.Who(d.By) + prefixed(": ", d.Reason)
	}
	s.labelled("end", inLine(text))
	s.labelled("differs", onlyIf(d.By != cardea.ByCardea, d.Differs))
}
