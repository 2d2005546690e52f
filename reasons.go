package cardea

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxReasons is how many reasons a verdict gives: one that lists everything
// that could be said is read by nobody. The trace has them all.
const maxReasons = 2

// explain fills in who decided, and what the person and the model are told.
func (t *tally) explain() {
	v := &t.verdict
	for _, o := range v.Opinions {
		if c := o.Advice.Context; c != "" && !slices.Contains(v.Context, c) {
			v.Context = append(v.Context, c)
		}
	}
	if v.By == "default" || v.Effect == Abstain {
		return
	}
	v.giveReasons(decidingOpinions(t.event, v))
}

// decidingOpinions are those with the verdict's effect, the severest first.
// Opinions about parts without effect come after the others of their severity,
// since nobody needs to know about those parts.
func decidingOpinions(ev *Event, v *Verdict) []Opinion {
	aboutNothing := func(o Opinion) bool {
		return ev.Call != nil && o.Part >= 0 && o.Part < len(ev.Call.Parts) && ev.Call.Parts[o.Part].NoEffect
	}
	out := slices.DeleteFunc(slices.Clone(v.Opinions), func(o Opinion) bool { return o.Effect != v.Effect })
	slices.SortStableFunc(out, func(a, b Opinion) int {
		if a.Severity.Rank() != b.Severity.Rank() {
			return b.Severity.Rank() - a.Severity.Rank()
		}
		if aboutNothing(a) == aboutNothing(b) {
			return 0
		}
		if aboutNothing(b) {
			return -1
		}
		return 1
	})
	return out
}

// giveReasons puts together what the deciding opinions say.
func (v *Verdict) giveReasons(deciding []Opinion) {
	var reasons, messages []string
	for _, o := range deciding {
		v.By = cmp.Or(v.By, o.By())
		if v.Instead == "" && v.Effect >= Ask {
			v.Instead = o.Advice.Instead
		}
		if o.Reason == "" || slices.Contains(reasons, o.Reason) || len(reasons) == maxReasons {
			continue
		}
		reasons = append(reasons, o.Reason)
		if o.Withheld {
			messages = append(messages, fmt.Sprintf("%s: rule %q of a project (the person has not accepted its text for this session, so it is withheld)", v.Effect, o.Rule))
		} else {
			messages = append(messages, o.Reason)
		}
	}
	v.Reason, v.Message = strings.Join(reasons, "\n"), strings.Join(messages, "\n")
}
