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

// This file adjusts the confidence that the judge needs to the person, if they want that
// (judge.adaptive). The ledger records whether they followed the judge's recommendations.
// Cardea counts that at most once a day, after an answer is out.

const (
	agreementPurpose = "agreement with the judge"
	maxAgreement     = 4 << 10
	// agreementDays is how many days back are counted.
	agreementDays = 30
)

// agreement is the saved count.
type agreement struct {
	judge.Agreement
	// Day is the day of the count, in UTC.
	Day string `json:"day"`
}

func (pl *Location) agreementFile() string { return filepath.Join(pl.State, "judge", "agreement") }

// agreement returns the last count. A file that this user's Cardea did not write is ignored.
func (pl *Location) agreement() (out agreement) {
	if pl.State == "" {
		return out
	}
	key, err := state.ReadKey(pl.State)
	if err != nil || state.ReadSignedJSON(pl.agreementFile(), key, agreementPurpose, "", maxAgreement, &out) != nil {
		return agreement{}
	}
	return out
}

// JudgeThreshold returns the least confidence at which the judge's answer applies here.
func (j *Evaluation) JudgeThreshold() float64 {
	base := j.Loaded.JudgeThreshold()
	if !j.Loaded.Settings.Judge.Adaptive {
		return base
	}
	return j.Place.agreement().Adapt(base)
}

// countAgreement counts how often recommendations were followed, at most once a day.
func (j *Evaluation) countAgreement() error {
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
	// Written first, so that a slow ledger is not counted at every call.
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

// countAnswers adds the person's answers in the queue to the count.
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
