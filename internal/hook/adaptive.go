package hook

import (
	"path/filepath"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/decide/byjudge"
	"cardea.dev/internal/memory/ledger"
	"cardea.dev/internal/memory/stats"
)

// This file lets the confidence that the judge needs follow the person, where they want
// that (judge.adaptive). What became of the judge's recommendations stands in the ledger.
// It is counted at most once a day, when an answer is out.

const (
	agreementPurpose = "agreement with the judge"
	maxAgreement     = 4 << 10
	// agreementDays is how far back is counted.
	agreementDays = 30
)

// agreement is what is kept.
type agreement struct {
	judge.Agreement
	// Day is when it was counted, in UTC.
	Day string `json:"day"`
}

func (pl *Place) agreementFile() string { return filepath.Join(pl.State, "judge", "agreement") }

// agreement reads what was counted last. A file that this user's Cardea did not write
// counts for nothing.
func (pl *Place) agreement() (out agreement) {
	if pl.State == "" {
		return out
	}
	key, err := state.ReadKey(pl.State)
	if err != nil || state.ReadSignedJSON(pl.agreementFile(), key, agreementPurpose, "", maxAgreement, &out) != nil {
		return agreement{}
	}
	return out
}

// JudgeThreshold is the least confidence with which the judge's answer counts here.
func (j *Judgement) JudgeThreshold() float64 {
	base := j.Loaded.JudgeThreshold()
	if !j.Loaded.Settings.Judge.Adaptive {
		return base
	}
	return j.Place.agreement().Adapt(base)
}

// countAgreement counts what became of recommendations, unless that was done today.
func (j *Judgement) countAgreement() error {
	if !j.Loaded.Settings.Judge.Adaptive || j.Place.State == "" {
		return nil
	}
	now := j.process.Now()
	last := j.Place.agreement()
	today := now.UTC().Format(time.DateOnly)
	if last.Day == today {
		return nil
	}
	key, err := state.LoadKey(j.Place.State)
	if err != nil {
		return err
	}
	write := func(a agreement) error {
		return state.WriteSignedJSON(j.Place.agreementFile(), key, agreementPurpose, "", a)
	}
	// First, so that a ledger which takes too long is not counted at every call.
	last.Day = today
	if err := write(last); err != nil {
		return err
	}
	l, err := LedgerOf(j.process, &j.Place, j.Loaded.Settings.Ledger)
	if err != nil {
		return err
	}
	report := stats.Count(l.Records(ledger.Query{Since: now.Add(-agreementDays * 24 * time.Hour)}), time.UTC, "", nil, func(error) {})
	counted := agreement{Day: today}
	for _, r := range report.Rules {
		switch r.By {
		case byjudge.Name + ":" + byjudge.RecommendsAllow:
			counted.Agreed += r.Ran
			counted.Overruled += r.NotRun
		case byjudge.Name + ":" + byjudge.RecommendsDeny:
			counted.Agreed += r.NotRun
			counted.Overruled += r.Ran
		}
	}
	if err := countAnswers(l, now, &counted.Agreement); err != nil {
		return err
	}
	return write(counted)
}

// countAnswers counts what a person answered in the queue to what the judge recommended.
func countAnswers(l *ledger.Ledger, now time.Time, a *judge.Agreement) error {
	for line, err := range l.Search(ledger.Query{Since: now.Add(-agreementDays * 24 * time.Hour), By: saidInQueue}) {
		if err != nil {
			return err
		}
		for _, o := range line.Entry.Opinions {
			recommended := o.Rule.String()
			switch allowed := line.Entry.Effect == cardea.Allow; {
			case o.Decider.String() != byjudge.Name || recommended != byjudge.RecommendsAllow && recommended != byjudge.RecommendsDeny:
			case allowed == (recommended == byjudge.RecommendsAllow):
				a.Agreed++
			default:
				a.Overruled++
			}
		}
	}
	return nil
}
