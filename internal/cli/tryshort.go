package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/memory/ledger"
	"cardea.dev/internal/memory/stats"
)

// shortLine is how much of a call, a reason or an issue a line of the short form shows, in
// characters. Lines to paste are not cut.
const shortLine = 160

// toldToPeople is shown instead of ways to a looser answer, if an agent may be reading.
const toldToPeople = "how to allow it is shown to a person at a terminal"

// effectFor returns the word for an effect for people, with the name of their harness.
func effectFor(e cardea.Effect, harnessName string) painted {
	out := effect(e)
	if e == cardea.Abstain || e == cardea.Defer {
		out.text = "left to " + titleOf(harnessName)
	}
	return out
}

// titleOf returns the name that people use for a harness.
func titleOf(name string) string {
	if h, err := install.Find(harness.Canonical(name)); err == nil {
		return h.Title
	}
	return cmp.Or(name, "the harness")
}

// inLine returns text as one line of at most shortLine characters.
func inLine(text string) string { return shorten(strings.Join(strings.Fields(text), " "), shortLine) }

// labelled writes a line of the short form, if there is a text.
func (s *screen) labelled(label, text string) {
	s.printIf(text != "", "  %s%s\n", painted{faint, fmt.Sprintf("%-9s", label)}, text)
}

// showShort writes a trial in at most eight lines, and one more for each of several parts.
func (t trial) showShort(s *screen) {
	ev, v := t.evaluation.Event, t.verdict
	s.printf("%s  %s\n", effectFor(v.Effect, t.harness), painted{bold, t.title()})
	if ev.Call != nil && len(ev.Call.Parts) > 1 {
		for i := range ev.Call.Parts {
			s.printf("  %d  %s  %s\n", i+1, effectFor(t.effect(i), t.harness), inLine(ev.Call.Parts[i].Text))
		}
	}
	s.labelled("rule", ruleOf(v.By, v.Effect, v.Opinions))
	s.labelled("why", inLine(cmp.Or(v.Reason, t.undecided(), meaning[v.Effect])))
	s.labelled("instead", inLine(v.Instead))
	t.showTwoWays(s)
	s.labelled("note", t.notes())
	broken := slices.DeleteFunc(t.broken(), func(d diagnostic.Diagnostic) bool { return strings.Contains(v.Reason, d.Text) })
	if len(broken) > 0 {
		s.labelled("problem", inLine(broken[0].String())+onlyIf(len(broken) > 1, fmt.Sprintf(" (and %d more, see -v)", len(broken)-1)))
	}
}

// undecided returns why the first undecided part is not read-only, or "" if all are
// decided. The long form shows all parts.
func (t trial) undecided() string {
	if t.verdict.Effect != cardea.Abstain || t.evaluation.Event.Call == nil {
		return ""
	}
	parts := t.evaluation.Event.Call.Parts
	for i := range parts {
		if why := t.beyondReading(i); why != "" {
			return meaning[cardea.Abstain] + ", and not read-only: " + onlyIf(len(parts) > 1, fmt.Sprintf("part %d: ", i+1)) + why + " (more with -v)"
		}
	}
	return ""
}

// title returns the call in one line, or the event.
func (t trial) title() string {
	ev := t.evaluation.Event
	switch {
	case !ev.Kind.Answered():
		return fmt.Sprintf("this event (%s) permits nothing; only rules and policies that name it decide", ev.Kind)
	case ev.Call == nil:
		return string(ev.Kind)
	}
	command, _ := ev.Call.Input["command"].(string)
	if command == "" && len(ev.Call.Parts) == 1 {
		command = ev.Call.Parts[0].Text
	}
	return inLine(cmp.Or(command, ev.Call.Tool))
}

// ruleOf returns the rule that decided and its position, or "".
func ruleOf(by string, e cardea.Effect, all []cardea.Opinion) string {
	names := map[string]bool{}
	text := by
	for _, o := range all {
		if o.Effect == e && e != cardea.Abstain {
			names[o.By()] = true
		}
		if o.By() == by {
			kind := map[string]string{"policies": "policy", "permissions": "permission", "lessons": "lesson", "overrides": "override", "routes": "route", "roles": "role"}[o.Decider]
			text = cmp.Or(o.Rule, o.Decider) + " (" + joined(", ", kind, strings.Replace(o.Scope.String(), "builtin", "built-in", 1), o.Source) + ")"
		}
	}
	if more := len(names) - 1; more > 0 && by != "" {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// wayNames holds the words for kinds of ways, in the short form and in explain.
var wayNames = map[string][2]string{"trust": {"trust", "trust the project, if it is yours"}, "once": {"once", "for ten minutes"}, "always": {"for good", "for good"},
	"permission": {"for good", "as a permission of the harness"}, "rule": {"change", "change the rule"}, "setting": {"change", "change the setting"}, "edit": {"change", "by hand"}}

// showTwoWays writes the two best ways to a looser answer.
func (t trial) showTwoWays(s *screen) {
	if t.verdict.Effect == cardea.Allow {
		return
	}
	if t.p.byAgent() {
		s.labelled("allow", toldToPeople)
		return
	}
	all, why := t.ways()
	s.labelled("once", why)
	if why != "" && len(all) > 1 {
		all = all[:1]
	}
	for _, w := range all[:min(len(all), 2)] {
		s.labelled(wayNames[w.Kind][0], joined(", and run: ", w.Text, w.Command))
	}
}

// notes returns how the verdict changes on its way to the harness.
func (t trial) notes() string {
	a, v := t.answer, t.verdict
	out := []string{t.waits()}
	if t.auto != nil {
		out = append(out, t.auto.Text)
	}
	out = append(out, onlyIf(a.Effect != a.Decided, titleOf(t.harness)+" gets "+a.Effect.String()+" instead of "+a.Decided.String()))
	for _, l := range a.Limits {
		out = append(out, l.Text())
	}
	to, _ := v.Rewrite["command"].(string)
	out = append(out,
		onlyIf(t.silent(), "the mode "+string(cardea.ModeBypass)+" has no prompts, so the call runs without a question unless the harness's own lists deny it"),
		onlyIf(v.Effect == cardea.Halt, meaning[v.Effect]),
		onlyIf(v.Rewrite != nil, "rewritten"+prefixed(" to ", to)),
		onlyIf(t.asksJudge(), "the judge would be asked first"))
	return shorten(joined("; ", out...), 2*shortLine)
}

// silent reports whether the harness gets no answer and runs the call without a question.
func (t trial) silent() bool {
	return len(t.output.Stdout) == 0 && t.output.Exit != exitDeny && t.evaluation.Event.Mode == cardea.ModeBypass && t.decided()
}

// showEntryShort writes an entry of the ledger in a few lines, and the ways to a looser answer.
func (p Process) showEntryShort(s *screen, e explained) {
	l := &e.line.Entry
	s.printIf(!e.line.Genuine, "This line is not as the ledger wrote it; run \"cardea audit verify\".\n\n")
	call := cmp.Or(l.Input.Text.String(), l.Event.String())
	said := effectFor(l.Effect, l.Harness.String())
	said.text = cmp.Or(reviewed(l), said.text)
	s.printf("%s  %s\n", said, painted{bold, inLine(joined(" ", onlyIf(l.Tool.String() != "Bash" && len(l.Parts) == 0, l.Tool.String()), call))})
	s.labelled("rule", ruleOf(l.By.String(), l.Effect, opinionsOf(l)))
	s.labelled("why", inLine(cmp.Or(l.ReviewReason.String(), l.Reason.String(), onlyIf(reviewed(l) == "", meaning[l.Effect]))))
	if reviewed(l) != "" {
		e.End.Reason = "" // the line above shows it
		s.labelled("cardea", effectFor(e.End.Cardea, l.Harness.String()).text)
	}
	s.labelled("instead", inLine(l.Instead.String()))
	e.End.show(s)
	for _, limit := range l.Limits {
		s.labelled("note", joined(", but ", prefixed("decided was ", l.Decided.String()), cardea.Shortfall(limit.String()).Text()))
	}
	s.labelled("when", p.timeIn(l.Time)+prefixed(", in ", cmp.Or(l.Project.String(), l.Cwd.String())))
	s.labelled("entry", l.ID+"; --verbose shows all of it")
	for _, t := range l.Issues {
		s.labelled("problem", inLine(t.String()))
	}
	if why := e.WaysHidden + e.WhyNot; why != "" || len(e.Ways) > 0 {
		heading(s, "to allow it")
		showWays(s, e.Ways, why, l.Harness.String())
	}
}

// showWays writes ways. It adds the resulting answer unless that is allow.
func showWays(s *screen, all []way, whyNot, harness string) {
	s.printIf(whyNot != "", "  %s\n", painted{faint, whyNot})
	for i, w := range all {
		title := wayNames[w.Kind][1]
		if w.Effect != nil && *w.Effect != cardea.Allow {
			title += " (then: " + effectFor(*w.Effect, harness).text + ")"
		}
		s.printIf(i == 0 || w.Kind != "edit" || all[i-1].Kind != "edit", "  %s\n", title)
		for _, line := range []string{w.Text, w.Command} {
			s.printIf(line != "", "    %s\n", line)
		}
	}
}

// opinionsOf returns the opinions of an entry.
func opinionsOf(e *ledger.Entry) []cardea.Opinion {
	return listOf(e.Opinions, func(o ledger.Opinion) cardea.Opinion {
		out := cardea.Opinion{Decider: o.Decider.String(), Rule: o.Rule.String(), Effect: o.Effect, Part: o.Part, Source: o.Source.String()}
		out.Scope = cardea.Scope(max(0, slices.IndexFunc(cardea.Scopes(), func(s cardea.Scope) bool { return s.String() == o.Scope.String() })))
		return out
	})
}

// explained is an entry of the ledger with the ways to a looser answer.
type explained struct {
	line ledger.Line
	// End is the final decision.
	End  callEnd `json:"end"`
	Ways []way   `json:"ways"`
	// WhyNot is the reason why the ways contain no exception, WaysHidden why no ways are shown.
	WhyNot     string `json:"why_not"`
	WaysHidden string `json:"ways_hidden"`
}

// explained returns an entry with the ways to a looser answer. It judges the call again, as
// far as the ledger has it.
func (p Process) explained(l *ledger.Ledger, line ledger.Line) explained {
	out, e := explained{line: line, Ways: []way{}, End: p.endOf(l, &line.Entry)}, &line.Entry
	decided := e.Effect
	if d, err := cardea.ParseEffect(e.Decided.String()); err == nil {
		decided = d
	}
	// The classifier does not check calls that Cardea allows (docs/auto-mode.md).
	unchecked := e.Reviewer.String() == cardea.ByClassifier && e.Harness.String() == claudecode.Name && out.End.Cardea != cardea.Allow
	if unchecked {
		call := *e
		call.Event, e, decided = redact.New().Text(string(cardea.PreToolUse)), &call, out.End.Cardea
	}
	switch {
	case decided == cardea.Allow:
		return out
	case reviewed(e) != "" && !unchecked:
		out.WhyNot = onlyIf(e.Reviewer.String() != cardea.ByPerson, "Cardea cannot change what "+stats.Who(e.Reviewer.String())+" decides; the settings of "+titleOf(e.Harness.String())+" can")
		return out
	case p.byAgent():
		out.WaysHidden = toldToPeople
		return out
	case !line.Genuine:
		out.WaysHidden = "how to allow it is not shown, since this line is not as the ledger wrote it"
		return out
	}
	t, err := p.judgedAgain(e, decided)
	switch {
	case err != nil:
		out.WhyNot = "no command can be shown: " + err.Error()
	case t.verdict.Effect == decided:
		out.Ways, out.WhyNot = t.ways()
		return out
	case t.verdict.Effect == cardea.Allow:
		out.WhyNot = "the same call is allowed now"
		return out
	default:
		out.WhyNot = "judged again, it gets another answer (" + effectFor(t.verdict.Effect, t.harness).text + "): settings changed, or the ledger does not have all of the call"
	}
	t.verdict = cardea.Verdict{Effect: decided, By: e.By.String(), Opinions: opinionsOf(e)}
	t.evaluation = &evaluation{Place: locate(p, "", "", p.Dir), Loaded: new(inforce.Loaded)}
	out.Ways = listOf(t.edits(), func(line string) way { return way{Kind: "edit", Text: line} })
	return out
}

// judgedAgain judges the call of an entry with the current configuration. It uses the
// attendance with which the decision has the same effect.
func (p Process) judgedAgain(e *ledger.Entry, decided cardea.Effect) (t trial, err error) {
	input, err := inputOfEntry(e)
	if err != nil {
		return t, err
	}
	p.Stderr = io.Discard
	f := tryFlags{cwd: e.Cwd.String(), role: e.Role.String(), tool: e.Tool.String(), harness: e.Harness.String(), event: e.Event.String(), mode: e.Mode.String(), session: e.Session.String()}
	m, err := f.message(p, input)
	if err != nil {
		return t, err
	}
	m.event.Agent, m.event.AgentType = e.Agent.String(), e.AgentType.String()
	for _, a := range []cardea.Attendance{m.event.Attendance, cardea.NobodyAttends} {
		ev := *m.event
		ev.Attendance = a
		j := newEvaluation(p, &ev)
		j.NearAtOnce, j.Loaded.Callbacks.Once = true, func(string) bool { return true }
		if t = trialOf(p, j, m.adapter); t.verdict.Effect == decided {
			break
		}
	}
	return t, nil
}

// leftOut matches the ledger's placeholders for long values.
var leftOut = regexp.MustCompile(`"\(\d+ (bytes|fields|values|digits|more fields|more values)\)"`)

// inputOfEntry returns the tool input of an entry as JSON. Contents of files are replaced,
// since the ledger never has them. The error says why the entry is not sufficient.
func inputOfEntry(e *ledger.Entry) (string, error) {
	text, tool := e.Input.Text.String(), e.Tool.String()
	info, _ := harness.Tool(tool)
	// For a file tool, the text is the tool's name and the file, as in the part.
	file, isFile := strings.CutPrefix(text, tool+" ")
	switch {
	case tool == "":
		return "", errors.New("the event is about no call")
	case strings.Contains(e.Cwd.String()+e.Project.String()+text, redact.Mark[:len(redact.Mark)-1]):
		return "", errors.New("a secret was taken out of the call")
	case strings.HasSuffix(text, " …"):
		return "", errors.New("the ledger has only the beginning of the call")
	case len(info.FieldsOf(harness.Command)) > 0 && !strings.Contains(text, "\ufffd"):
		return `{"command":` + asJSON(text) + "}", nil
	case isFile && info.Primary == "file_path" && !strings.Contains(file, "\n"):
		return `{"file_path":` + asJSON(file) + `,"content":"","old_string":"","new_string":"x"}`, nil
	case strings.HasPrefix(text, "{") && json.Valid([]byte(text)) && !leftOut.MatchString(text):
		return text, nil
	}
	return "", errors.New("the ledger does not have all of the call")
}
