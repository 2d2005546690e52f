package cardea

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// rewriteInput returns input with the rewrites of the opinions applied, and reports whether they
// change it. For each field, the value of the severest opinion wins, then the first one.
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

// rewriting returns the opinions that rewrite the input.
func rewriting(opinions []Opinion) []Opinion {
	return slices.DeleteFunc(slices.Clone(opinions), func(o Opinion) bool { return len(o.Advice.Rewrite) == 0 })
}

// withRewrite returns the verdict on a call whose input is rewritten, given the verdict on the
// rewritten call. The stricter of both wins. allowed reports whether a decider allows the new
// input; otherwise a person is asked about it.
func (v Verdict) withRewrite(rewritten *Call, second Verdict, allowed bool) Verdict {
	rewrites := rewriting(v.Opinions)
	for _, t := range second.Issues {
		if !slices.Contains(v.Issues, t) {
			v.Issues = append(v.Issues, t)
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

// allowsRewritten reports whether all opinions that rewrite the call also allow the result. It
// requires a call of one part before and after, since the agent chose everything around a part. The
// permission for the part's program must also cover the call.
func allowsRewritten(first, second Verdict, before, after *Event) bool {
	all := rewriting(first.Opinions)
	refuses := slices.ContainsFunc(all, func(o Opinion) bool { return !o.Advice.AllowsRewritten })
	return len(all) > 0 && !refuses && before.isOnePart() && after.isOnePart()
}

// rewritesFurther reports whether a rule that did not rewrite the old input would rewrite the new
// one.
func rewritesFurther(first, second Verdict) bool {
	all := rewriting(first.Opinions)
	return slices.ContainsFunc(rewriting(second.Opinions), func(o Opinion) bool {
		return !slices.ContainsFunc(all, func(a Opinion) bool { return a.Decider == o.Decider && a.names(o.Rule) })
	})
}

// names reports whether o has every one of the given rules, which are joined by "+".
func (o Opinion) names(rules string) bool {
	mine := strings.Split(o.Rule, "+")
	return !slices.ContainsFunc(strings.Split(rules, "+"), func(r string) bool { return !slices.Contains(mine, r) })
}

// isOnePart reports whether the event's call is one part, and a permission for the part's program
// covers the call.
func (e *Event) isOnePart() bool {
	return e.BeyondParts() == "" && e.Call.IsOnePart() && e.Call.Parts[0].BeyondProgram() == ""
}

// reasonsOf returns the reasons of the opinions that rewrite, joined into one text, or nil.
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
