package inforce

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/decide/rules"
)

// Problems returns the problems of settings, rules and permission lists, by file. If scopes
// are given, it returns only theirs.
func (l *Loaded) Problems(scopes ...cardea.Scope) []diagnostic.Diagnostic {
	var out []diagnostic.Diagnostic
	add := func(scope cardea.Scope, problems []diagnostic.Diagnostic) {
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

// Issues returns the problems as the gate treats them: a broken file of settings or rules
// is a failure, a warning is only reported. Untrusted settings do not apply, so their
// problems have no effect either.
func (l *Loaded) Issues() cardea.Issues {
	var out cardea.Issues
	add := func(scope cardea.Scope, counts, cached, costs bool, problems []diagnostic.Diagnostic) {
		// The last good form may be trusted, but the problems quote the broken one.
		quotable := scope != cardea.ScopeProject || counts && !cached
		for _, p := range problems {
			t := issueOf(p, quotable, costs)
			if cached && t.Failure == cardea.BrokenFile {
				t.Failure = cardea.StoredForm
			}
			out = addOnce(out, t)
		}
	}
	for _, f := range l.SettingsFiles {
		add(f.Scope, f.Counts, f.Stored, f.Counts, f.Problems)
	}
	for _, f := range l.Files {
		add(f.Scope, f.Counts, f.Cached, true, f.Problems)
	}
	for _, f := range l.RolesFiles {
		add(f.Scope, f.Roles.Trusted, f.Cached, true, f.Problems)
	}
	out = append(out, l.roleProblem...)
	for _, f := range l.PermissionFiles {
		add(f.From.Scope, !f.From.Withheld, f.Cached, true, f.Problems)
	}
	for _, path := range l.changed() {
		out = append(out, cardea.Warning(path, diagnostic.CodeUntrusted, "look at it with \"cardea trust\"",
			"is new or not as you trusted it, so only its denies and asks count"))
	}
	return out.First(maxIssues, "cardea rules lint")
}

// changed returns the files of a trusted project that differ from what the user accepted.
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

// maxIssues is the maximum number of issues reported at once.
const maxIssues = 20

// issueOf returns a problem as an issue for the gate. Problems quote their file, and the
// model also gets failures. So for an untrusted file, the issue has only the name of the
// file and the kind of the error. "cardea rules lint" shows the rest.
func issueOf(p diagnostic.Diagnostic, trusted, costs bool) cardea.Issue {
	t := cardea.Issue{Diagnostic: p}
	if costs && p.Severity == diagnostic.LevelError {
		t.Failure = cardea.BrokenFile
	}
	if !trusted {
		t.Diagnostic = p.Withheld()
	}
	return t
}

// addOnce adds an issue. Of two with the same text, the one that is a failure stays.
func addOnce(all cardea.Issues, t cardea.Issue) cardea.Issues {
	i := slices.IndexFunc(all, func(old cardea.Issue) bool { return old.Error() == t.Error() })
	switch {
	case i < 0:
		return append(all, t)
	case all[i].Failure == cardea.NoFailure:
		all[i] = t
	}
	return all
}

// addBroken adds the first error of a file of a surrounding project. Such a file is
// untrusted in this session.
func addBroken(broken cardea.Issues, problems []diagnostic.Diagnostic) cardea.Issues {
	for _, p := range problems {
		if len(broken) == 0 && p.Severity == diagnostic.LevelError {
			broken = append(broken, issueOf(p, false, true))
		}
	}
	return broken
}

// withheld returns why a file of the project does not apply.
func (l *Loaded) withheld() string {
	if l.Where.Trusted() {
		return "the file is not as you trusted it"
	}
	return "the project is not trusted"
}

// UncountedPolicies returns which decisions of the project's policies have no effect,
// because the user has not accepted the files. It reads all of them.
func (l *Loaded) UncountedPolicies() []diagnostic.Diagnostic {
	f, ok := l.policyFolder(l.project())
	if !ok {
		return nil
	}
	list, _, err := f.List(l.Where.Engines.Project)
	if err != nil {
		return nil // reported when policies are evaluated
	}
	var out []diagnostic.Diagnostic
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

// Outweighed returns notes on settings of a trusted project that have no effect, since
// others are as strict or stricter.
func (l *Loaded) Outweighed() []diagnostic.Diagnostic {
	var out []diagnostic.Diagnostic
	for i := range l.SettingsFiles {
		f := &l.SettingsFiles[i]
		if f.Scope != cardea.ScopeProject || !f.Counts {
			continue
		}
		out = append(out, lists.Of(l.Settings.Outweighed(f), func(g settings.Given) diagnostic.Diagnostic { return l.outweighed(f, g) })...)
	}
	return out
}

// outweighed describes the effect of a project's setting that is not the one in force.
func (l *Loaded) outweighed(f *settings.File, g settings.Given) diagnostic.Diagnostic {
	d := diagnostic.Diagnostic{File: g.File, Line: g.Line, Severity: diagnostic.LevelNote, Code: diagnostic.CodeNoEffect,
		Text: fmt.Sprintf("%s: %s has no effect: a project may only make it stricter, and it is as strict already", g.Key, g.Value),
		Hint: "to loosen it for yourself, write it into " + filepath.Join(l.Where.Dirs.User, "cardea.yaml")}
	if need, without := l.JudgeThreshold(), l.thresholdWithout(f); g.Key == "judge.enabled" && l.Settings.Judge.Enabled && need > without {
		d.Text = fmt.Sprintf("%s: %s switches nothing on, and raises the confidence that the judge needs from %.2f to %.2f (confidence.project)", g.Key, g.Value, without, need)
		d.Hint = "see docs/judge.md"
	}
	return d
}

// uncounted returns a warning that something in a source does not apply as written.
func uncounted(source, text string) diagnostic.Diagnostic {
	return cardea.Warning(source, diagnostic.CodeUntrusted, "", text).Diagnostic
}

// Uncounted returns warnings for settings and rules that do not apply. Those of the project
// do not if the user has not trusted them in this form, those of organisations if nothing
// names them here.
func (l *Loaded) Uncounted() []diagnostic.Diagnostic {
	why := l.withheld()
	var out []diagnostic.Diagnostic
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

// uncountedRules is Uncounted for rules. It reports once per file that the model does not
// get the reason.
func (l *Loaded) uncountedRules(why string) []diagnostic.Diagnostic {
	var out []diagnostic.Diagnostic
	unreported := map[string][]rules.Rule{} // by file
	for _, r := range l.Rules() {
		switch {
		case !r.Tightens():
		case r.Scope == cardea.ScopeOrg:
			if file, _ := diagnostic.SplitSource(r.Source); r.Effect < cardea.Ask {
				out = append(out, uncounted(r.Source, fmt.Sprintf("rule %s does not count, since %s", r.ID, orgNamed(filepath.Dir(file)))))
			}
		case r.Effect == cardea.Halt:
			out = append(out, uncounted(r.Source, fmt.Sprintf("the halt of rule %s counts as deny, since %s", r.ID, why)))
		case r.Effect == cardea.Deny || r.Effect == cardea.Ask:
			file, _ := diagnostic.SplitSource(r.Source)
			unreported[file] = append(unreported[file], r)
			if len(unreported[file]) > 1 {
				continue
			}
			d := uncounted(r.Source, "")
			d.Severity, d.Hint = diagnostic.LevelNote, "if it is yours, run \"cardea trust\""
			out = append(out, d)
		default:
			out = append(out, uncounted(r.Source, fmt.Sprintf("rule %s does not count, since %s and may only deny and ask", r.ID, why)))
		}
	}
	for i := range out {
		if of := unreported[out[i].File]; out[i].Text == "" {
			more := ""
			if len(of) > 1 {
				more = fmt.Sprintf(" (so are %d more of this file)", len(of)-1)
			}
			out[i].Text = fmt.Sprintf("the model is told that rule %s decided, and not why, since %s%s", of[0].ID, why, more)
		}
	}
	return out
}
