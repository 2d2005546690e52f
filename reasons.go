package cardea

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxReasons is the largest number of reasons in a verdict, once for built-in rules and once for
// others. The trace has all reasons.
const maxReasons = 2

// explain sets the author of the verdict, and the texts for the person and the model.
func (t *evaluation) explain() {
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

// decidingOpinions returns the opinions with the verdict's effect. The largest loss comes first,
// then the highest severity. Opinions about parts without effect come last within their severity.
func decidingOpinions(ev *Event, v *Verdict) []Opinion {
	aboutNothing := func(o Opinion) int {
		if ev.Call != nil && o.Part >= 0 && o.Part < len(ev.Call.Parts) && ev.Call.Parts[o.Part].NoEffect {
			return 1
		}
		return 0
	}
	out := slices.DeleteFunc(slices.Clone(v.Opinions), func(o Opinion) bool { return o.Effect != v.Effect })
	losses := Losses()
	slices.SortStableFunc(out, func(a, b Opinion) int {
		return cmp.Or(cmp.Compare(slices.Index(losses, a.Loses), slices.Index(losses, b.Loses)),
			cmp.Compare(b.Severity.Rank(), a.Severity.Rank()), cmp.Compare(aboutNothing(a), aboutNothing(b)))
	})
	return out
}

// giveReasons sets reason and message from the deciding opinions: each sentence once, and one
// built-in reason for each loss of a part. Built-in reasons name the file, others stay as their
// authors wrote them.
func (v *Verdict) giveReasons(deciding []Opinion) {
	type lost struct {
		part int
		what Loss
	}
	var reasons, messages []string
	said, named, given := map[string]bool{}, map[lost]bool{}, map[bool]int{}
	for _, o := range deciding {
		v.By = cmp.Or(v.By, o.By())
		if v.Instead == "" && v.Effect >= Ask {
			v.Instead = o.Advice.Instead
		}
		builtin, loses := o.Scope == ScopeBuiltin, lost{o.Part, o.Loses}
		if given[builtin] == maxReasons || builtin && o.Loses != LossNone && named[loses] {
			continue
		}
		reason := unsaid(o.Reason, said)
		if reason == "" {
			continue
		}
		if given[builtin]++; builtin {
			named[loses] = true
		}
		if builtin && o.File != "" && !said[o.File] && !strings.Contains(reason, o.File) {
			reason = o.File + ": " + reason
		}
		said[o.File] = true
		reasons = append(reasons, reason)
		if o.Withheld {
			messages = append(messages, fmt.Sprintf("%s: rule %q of a project (the person has not accepted its text for this session, so it is withheld)", v.Effect, o.Rule))
		} else {
			begin, end, _ := strings.Cut(reason, o.ForPeople)
			messages = append(messages, begin+end)
		}
	}
	v.Reason, v.Message = strings.Join(reasons, "\n"), strings.Join(messages, "\n")
}

// unsaid returns the text without the sentences in said, and adds its sentences to said.
func unsaid(text string, said map[string]bool) string {
	var out []string
	for sentence := range strings.SplitSeq(text, ". ") {
		if key := strings.TrimSuffix(sentence, "."); !said[key] {
			said[key] = true
			out = append(out, sentence)
		}
	}
	return strings.Join(out, ". ")
}
