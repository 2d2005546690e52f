package gate

import (
	"fmt"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/decide/policy"
)

// Problems are all that is wrong with settings and rules, file by file.
func (l *Loaded) Problems() []cardea.Diagnostic {
	var out []cardea.Diagnostic
	for _, f := range l.SettingsFiles {
		out = append(out, f.Problems...)
	}
	for _, f := range l.Files {
		out = append(out, f.Problems...)
	}
	for _, f := range l.PermissionFiles {
		out = append(out, f.Problems...)
	}
	return out
}

// Troubles are the problems as the gate counts them: a broken file of settings
// or rules is a failure, a warning is only told. Settings that are not trusted
// do not count, so neither does what is wrong with them.
func (l *Loaded) Troubles() []cardea.Trouble {
	var out []cardea.Trouble
	add := func(f RulesFile, costs bool) {
		for _, p := range f.Problems {
			// The last good form may be trusted; what is wrong with the file
			// quotes another one.
			quotable := f.Scope != cardea.ScopeProject || f.Counts && !f.Kept
			t := troubleOf(p, quotable, costs)
			if f.Kept && t.Failure == cardea.BrokenFile {
				t.Failure = cardea.KeptForm
			}
			out = append(out, t)
		}
	}
	for _, f := range l.SettingsFiles {
		add(RulesFile{Scope: f.Scope, Counts: f.Counts, Kept: f.Kept, Problems: f.Problems}, f.Counts)
	}
	for _, f := range l.Files {
		add(f, true)
	}
	for _, f := range l.PermissionFiles {
		add(RulesFile{Scope: f.From.Scope, Counts: !f.From.Withheld, Kept: f.Kept, Problems: f.Problems}, true)
	}
	for _, path := range l.changed() {
		out = append(out, cardea.Trouble{Source: path, Text: path +
			": is new or not as you trusted it, so only its denies and asks count; look at it with \"cardea trust\""})
	}
	return firstTroubles(out)
}

// changed are the files of a trusted project that are not as the person
// accepted them.
func (l *Loaded) changed() []string {
	var out []string
	if !l.Where.Trusted() {
		return nil
	}
	for _, f := range l.SettingsFiles {
		if f.Found && !f.Counts && len(f.Given)+len(f.Problems) > 0 {
			out = append(out, f.Path)
		}
	}
	for _, f := range l.Files {
		if f.Scope == cardea.ScopeProject && !f.Counts {
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

// firstTroubles are the first troubles, and that there are more.
func firstTroubles(all []cardea.Trouble) []cardea.Trouble {
	if len(all) <= maxTroubles {
		return all
	}
	more := cardea.Trouble{Text: fmt.Sprintf("and %d more; run \"cardea lint\" to see them", len(all)-maxTroubles)}
	rest := all[maxTroubles:]
	for _, t := range rest {
		// A broken file costs at least what one with a last good form costs.
		if more.Failure == cardea.NoFailure || t.Failure == cardea.BrokenFile {
			more.Failure = t.Failure
		}
	}
	return append(all[:maxTroubles:maxTroubles], more)
}

// troubleOf is a problem as the gate counts it. What is wrong with a file
// quotes the file, and a failure is told to the model too; so of a file that
// is not trusted only the place is told. "cardea lint" tells the rest.
func troubleOf(p cardea.Diagnostic, trusted, costs bool) cardea.Trouble {
	t := cardea.Trouble{Text: p.String(), Source: p.File}
	if !trusted {
		p.Text, p.Hint = "has mistakes", `run "cardea lint" in the project to see them`
		t.Text = p.String()
	}
	if costs && p.Severity == cardea.LevelError {
		t.Failure = cardea.BrokenFile
	}
	return t
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
func (l *Loaded) UncountedPolicies() []string {
	f, ok := l.policyFolder(l.project())
	if !ok {
		return nil
	}
	list, _, err := f.List(l.Where.Engines.Project)
	if err != nil {
		return nil // told where policies are asked
	}
	var out []string
	say := func(x *policy.Listed, what string) {
		out = append(out, fmt.Sprintf("%s:%d: %s, since %s", x.File, x.Line, what, l.withheld()))
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

// Uncounted says which settings and rules of the project do not count, because
// the person has not trusted it, or not in this form.
func (l *Loaded) Uncounted() []string {
	why := l.withheld()
	var out []string
	for _, f := range l.SettingsFiles {
		if f.Found && !f.Counts {
			out = append(out, fmt.Sprintf("%s: these settings do not count, since %s", f.Path, why))
		}
	}
	for _, r := range l.Rules {
		if r.Scope != cardea.ScopeProject || r.Trusted {
			continue
		}
		switch {
		case r.Effect == cardea.Halt:
			out = append(out, fmt.Sprintf("%s: the halt of rule %s counts as deny, since %s", r.Source, r.ID, why))
		case r.Effect != cardea.Deny && r.Effect != cardea.Ask:
			out = append(out, fmt.Sprintf("%s: rule %s does not count, since %s and may only deny and ask", r.Source, r.ID, why))
		}
	}
	for _, f := range l.PermissionFiles {
		if !f.From.Allows && f.From.Why != "" && l.Expands() {
			out = append(out, fmt.Sprintf("%s: what these permissions allow does not count, since %s", f.From.File, f.From.Why))
		}
	}
	return out
}
