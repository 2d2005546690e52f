package inforce

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/decide/rules"
)

// Problems are all that is wrong with settings, rules and permission lists, file
// by file: of all scopes, or of some.
func (l *Loaded) Problems(scopes ...cardea.Scope) []cardea.Diagnostic {
	var out []cardea.Diagnostic
	add := func(scope cardea.Scope, problems []cardea.Diagnostic) {
		if len(scopes) == 0 || slices.Contains(scopes, scope) {
			out = append(out, problems...)
		}
	}
	for _, f := range l.SettingsFiles {
		add(f.Scope, f.Problems)
	}
	for _, f := range l.Files {
		add(f.Scope, f.Problems)
	}
	for _, f := range l.RolesFiles {
		add(f.Scope, f.Problems)
	}
	for _, f := range l.PermissionFiles {
		add(f.From.Scope, f.Problems)
	}
	return out
}

// Troubles are the problems as the gate counts them: a broken file of settings
// or rules is a failure, a warning is only told. Settings that are not trusted
// do not count, so neither does what is wrong with them.
func (l *Loaded) Troubles() cardea.Troubles {
	var out cardea.Troubles
	add := func(scope cardea.Scope, counts, kept, costs bool, problems []cardea.Diagnostic) {
		// The last good form may be trusted; what is wrong with the file quotes
		// another one.
		quotable := scope != cardea.ScopeProject || counts && !kept
		for _, p := range problems {
			t := troubleOf(p, quotable, costs)
			if kept && t.Failure == cardea.BrokenFile {
				t.Failure = cardea.KeptForm
			}
			out = addOnce(out, t)
		}
	}
	for _, f := range l.SettingsFiles {
		add(f.Scope, f.Counts, f.Kept, f.Counts, f.Problems)
	}
	for _, f := range l.Files {
		add(f.Scope, f.Counts, f.Kept, true, f.Problems)
	}
	for _, f := range l.RolesFiles {
		add(f.Scope, f.Roles.Trusted, f.Kept, true, f.Problems)
	}
	out = append(out, l.roleProblem...)
	for _, f := range l.PermissionFiles {
		add(f.From.Scope, !f.From.Withheld, f.Kept, true, f.Problems)
	}
	for _, path := range l.changed() {
		out = append(out, cardea.Warning(path, cardea.CodeUntrusted, "look at it with \"cardea trust\"",
			"is new or not as you trusted it, so only its denies and asks count"))
	}
	return out.First(maxTroubles, "cardea rules lint")
}

// changed are the files of a trusted project that are not as the person
// accepted them.
func (l *Loaded) changed() []string {
	var out []string
	if !l.Where.Trusted() {
		return nil
	}
	for _, f := range l.SettingsFiles {
		if f.Scope == cardea.ScopeProject && !f.Counts && !f.IsEmpty() {
			out = append(out, f.Path)
		}
	}
	for _, f := range l.Files {
		if f.Scope == cardea.ScopeProject && !f.Counts {
			out = append(out, f.Path)
		}
	}
	for _, f := range l.RolesFiles {
		if f.Scope == cardea.ScopeProject && !f.Roles.Trusted {
			out = append(out, f.Path)
		}
	}
	for _, f := range l.PermissionFiles {
		if f.From.Withheld && f.From.Why != "" && f.From.Why != otherProject {
			out = append(out, f.From.File)
		}
	}
	return out
}

// maxTroubles is how many troubles a person is told of at once.
const maxTroubles = 20

// troubleOf is a problem as the gate counts it. What is wrong with a file
// quotes the file, and a failure is told to the model too. So of a file that is
// not trusted nothing is told but its name and the kind of the mistake.
// "cardea rules lint" tells the rest.
func troubleOf(p cardea.Diagnostic, trusted, costs bool) cardea.Trouble {
	t := cardea.Trouble{Diagnostic: p}
	if costs && p.Severity == cardea.LevelError {
		t.Failure = cardea.BrokenFile
	}
	if !trusted {
		t.Diagnostic = p.Withheld()
	}
	return t
}

// addOnce adds a trouble. Of those that read the same, the one that costs
// something stays.
func addOnce(all cardea.Troubles, t cardea.Trouble) cardea.Troubles {
	i := slices.IndexFunc(all, func(old cardea.Trouble) bool { return old.Error() == t.Error() })
	switch {
	case i < 0:
		return append(all, t)
	case all[i].Failure == cardea.NoFailure:
		all[i] = t
	}
	return all
}

// addBroken adds the first error among the problems of a file around a call.
// Nobody trusted the file for this session.
func addBroken(broken cardea.Troubles, problems []cardea.Diagnostic) cardea.Troubles {
	for _, p := range problems {
		if len(broken) == 0 && p.Severity == cardea.LevelError {
			broken = append(broken, troubleOf(p, false, true))
		}
	}
	return broken
}

// withheld is why a file of the project does not count.
func (l *Loaded) withheld() string {
	if l.Where.Trusted() {
		return "the file is not as you trusted it"
	}
	return "the project is not trusted"
}

// UncountedPolicies says what the policies of the project do in vain, because the
// person has not accepted them. It reads them all.
func (l *Loaded) UncountedPolicies() []cardea.Diagnostic {
	f, ok := l.policyFolder(l.project())
	if !ok {
		return nil
	}
	list, _, err := f.List(l.Where.Engines.Project)
	if err != nil {
		return nil // told where policies are asked
	}
	var out []cardea.Diagnostic
	say := func(x *policy.Listed, what string) {
		d := uncounted(x.File, what+", since "+l.withheld())
		d.Line = x.Line
		out = append(out, d)
	}
	for i := range list {
		x := &list[i]
		if x.Trusted || x.Library || x.Broken != "" {
			continue
		}
		var vain []string
		for _, verb := range x.Verbs {
			switch verb {
			case "modify", "allow_override", "add_context":
				vain = append(vain, verb)
			case "halt":
				say(x, "the halt of this policy counts as deny")
			}
		}
		if len(vain) > 0 {
			say(x, strings.Join(vain, ", ")+": what this policy says so counts for nothing")
		}
		if len(x.Signals) > 0 {
			say(x, "this policy needs signals, so it is not asked, and asks once a session instead")
		}
	}
	return out
}

// Outweighed says which settings of a trusted project are not in force, since those
// of others are as strict or stricter.
func (l *Loaded) Outweighed() []cardea.Diagnostic {
	var out []cardea.Diagnostic
	for i := range l.SettingsFiles {
		f := &l.SettingsFiles[i]
		if f.Scope != cardea.ScopeProject || !f.Counts {
			continue
		}
		out = append(out, lists.Of(l.Settings.Outweighed(f), func(g settings.Given) cardea.Diagnostic { return l.outweighed(f, g) })...)
	}
	return out
}

// outweighed says what comes of a setting of the project that is not the one in force.
func (l *Loaded) outweighed(f *settings.File, g settings.Given) cardea.Diagnostic {
	d := cardea.Diagnostic{File: g.File, Line: g.Line, Severity: cardea.LevelNote, Code: cardea.CodeNoEffect,
		Text: fmt.Sprintf("%s: %s has no effect: a project may only make it stricter, and it is as strict already", g.Key, g.Value),
		Hint: "to loosen it for yourself, write it into " + filepath.Join(l.Where.Dirs.User, "cardea.yaml")}
	if need, without := l.JudgeThreshold(), l.thresholdWithout(f); g.Key == "judge.enabled" && l.Settings.Judge.Enabled && need > without {
		d.Text = fmt.Sprintf("%s: %s switches nothing on, and raises the confidence that the judge needs from %.2f to %.2f (confidence.project)", g.Key, g.Value, without, need)
		d.Hint = "see docs/judge.md"
	}
	return d
}

// uncounted says of what stands in a source that it does not count as written.
func uncounted(source, text string) cardea.Diagnostic {
	return cardea.Warning(source, cardea.CodeUntrusted, "", text).Diagnostic
}

// Uncounted says which settings and rules do not count: of the project, because the
// person has not trusted it, or not in this form, and of organisations, because
// nothing names them here.
func (l *Loaded) Uncounted() []cardea.Diagnostic {
	why := l.withheld()
	var out []cardea.Diagnostic
	for _, f := range l.SettingsFiles {
		switch {
		case f.Counts || f.IsEmpty():
		case f.Scope == cardea.ScopeOrg:
			out = append(out, uncounted(f.Path, "of these settings only what tightens counts, since "+orgNamed(f.Path)))
		default:
			d := uncounted(f.Path, "these settings do not count, since "+why)
			d.Hint = "if it is yours, run \"cardea trust\""
			out = append(out, d)
		}
	}
	out = append(out, l.uncountedRules(why)...)
	for _, f := range l.PermissionFiles {
		if !f.From.Allows && f.From.Why != "" && l.Expands() {
			out = append(out, uncounted(f.From.File, "what these permissions allow does not count, since "+f.From.Why))
		}
	}
	return out
}

// uncountedRules are the same for rules. That the model is not told why is said once
// for each file.
func (l *Loaded) uncountedRules(why string) []cardea.Diagnostic {
	var out []cardea.Diagnostic
	untold := map[string][]rules.Rule{} // by file
	for _, r := range l.Rules() {
		switch {
		case !r.Tightens():
		case r.Scope == cardea.ScopeOrg:
			if file, _ := cardea.SplitSource(r.Source); r.Effect < cardea.Ask {
				out = append(out, uncounted(r.Source, fmt.Sprintf("rule %s does not count, since %s", r.ID, orgNamed(filepath.Dir(file)))))
			}
		case r.Effect == cardea.Halt:
			out = append(out, uncounted(r.Source, fmt.Sprintf("the halt of rule %s counts as deny, since %s", r.ID, why)))
		case r.Effect == cardea.Deny || r.Effect == cardea.Ask:
			file, _ := cardea.SplitSource(r.Source)
			untold[file] = append(untold[file], r)
			if len(untold[file]) > 1 {
				continue
			}
			d := uncounted(r.Source, "")
			d.Severity, d.Hint = cardea.LevelNote, "if it is yours, run \"cardea trust\""
			out = append(out, d)
		default:
			out = append(out, uncounted(r.Source, fmt.Sprintf("rule %s does not count, since %s and may only deny and ask", r.ID, why)))
		}
	}
	for i := range out {
		if of := untold[out[i].File]; out[i].Text == "" {
			more := ""
			if len(of) > 1 {
				more = fmt.Sprintf(" (so are %d more of this file)", len(of)-1)
			}
			out[i].Text = fmt.Sprintf("the model is told that rule %s decided, and not why, since %s%s", of[0].ID, why, more)
		}
	}
	return out
}
