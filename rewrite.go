package cardea

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// rewriteInput applies the rewrites of one round to an input, and reports
// whether they change it. For each field the severest opinion's value wins, then
// the first given.
func rewriteInput(input map[string]any, opinions []Opinion) (map[string]any, bool) {
	rewrites := rewriting(opinions)
	slices.SortStableFunc(rewrites, func(a, b Opinion) int { return b.Severity.Rank() - a.Severity.Rank() })
	fields := map[string]any{}
	for _, o := range rewrites {
		for k, value := range o.Advice.Rewrite {
			if _, taken := fields[k]; !taken {
				fields[k] = value
			}
		}
	}
	out, changed := map[string]any{}, false
	maps.Copy(out, input)
	for k, value := range fields {
		if !reflect.DeepEqual(out[k], value) {
			out[k], changed = value, true
		}
	}
	return out, changed
}

// rewriting are the opinions that rewrite the input.
func rewriting(opinions []Opinion) []Opinion {
	return slices.DeleteFunc(slices.Clone(opinions), func(o Opinion) bool { return len(o.Advice.Rewrite) == 0 })
}

// withRewrite is the verdict on a call whose input is to be rewritten, given the
// verdict on the rewritten call: what holds back either counts, and a new input that
// nobody allows is asked about. allowed tells whether somebody does.
func (v Verdict) withRewrite(rewritten *Call, second Verdict, allowed bool) Verdict {
	rewrites := rewriting(v.Opinions)
	for _, t := range second.Troubles {
		if !slices.Contains(v.Troubles, t) {
			v.Troubles = append(v.Troubles, t)
		}
	}
	if second.Effect.Stricter(v.Effect) {
		v.Effect, v.By, v.Reason, v.Message = second.Effect, second.By, second.Reason, second.Message
		v.Opinions = append(v.Opinions, second.Opinions...)
	}
	if v.Effect.Stricter(Ask) {
		return v
	}
	v.Rewrite, v.Rewritten = rewritten.Input, rewritten
	why := "the input was rewritten"
	switch {
	case v.Effect == Abstain && allowed:
		v.Effect, v.By = Allow, rewrites[0].By()
		if second.Effect == Allow {
			v.By, v.Opinions = second.By, append(v.Opinions, second.Opinions...)
		}
	case v.Effect == Defer || v.Effect == Abstain:
		v.Effect, v.By, why = Ask, rewrites[0].By(), why+"; check the new one"
	default:
		return v
	}
	v.Reason = strings.Join(append([]string{why}, reasonsOf(rewrites)...), ": ")
	v.Message = v.Reason
	return v
}

// allowsRewritten reports whether those who rewrite a call allow what became of it.
// It holds for a call of one part, before and after, since what an agent writes beside
// a part is its own; and for nothing that a yes for the part's program does not cover.
func allowsRewritten(first, second Verdict, before, after *Event) bool {
	all := rewriting(first.Opinions)
	refuses := slices.ContainsFunc(all, func(o Opinion) bool { return !o.Advice.AllowsRewritten })
	return len(all) > 0 && !refuses && before.isOnePart() && after.isOnePart()
}

// rewritesFurther reports whether somebody would rewrite the new input who did not
// rewrite the old one.
func rewritesFurther(first, second Verdict) bool {
	all := rewriting(first.Opinions)
	return slices.ContainsFunc(rewriting(second.Opinions), func(o Opinion) bool {
		return !slices.ContainsFunc(all, func(a Opinion) bool { return a.Decider == o.Decider && a.names(o.Rule) })
	})
}

// names reports whether the opinion's rules, joined by "+" where there are several,
// are all of some others.
func (o Opinion) names(rules string) bool {
	mine := strings.Split(o.Rule, "+")
	return !slices.ContainsFunc(strings.Split(rules, "+"), func(r string) bool { return !slices.Contains(mine, r) })
}

// isOnePart reports whether the event's call is one part, and a yes for the part's
// program is a yes for the call.
func (e *Event) isOnePart() bool {
	return e.BeyondParts() == "" && e.Call.IsOnePart() && e.Call.Parts[0].BeyondProgram() == ""
}

// reasonsOf are the reasons of those who rewrite, as one text, or none.
func reasonsOf(rewrites []Opinion) []string {
	var why []string
	for _, o := range rewrites {
		if o.Reason != "" && !o.Withheld && !slices.Contains(why, o.Reason) && len(why) < maxReasons {
			why = append(why, o.Reason)
		}
	}
	if len(why) == 0 {
		return nil
	}
	return []string{strings.Join(why, "\n")}
}
