package stats

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/memory/ledger"
)

// begin is the time of the first entry.
var begin = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// call returns an entry of a call, by its text.
func call(text string, e cardea.Effect, by string) ledger.Record {
	return ledger.Record{Harness: "claude-code", Session: "s", Event: "PreToolUse", Mode: "default", Tool: "Bash", By: by, Effect: e, Text: text, Digest: text}
}

func event(r ledger.Record, kind string) ledger.Record {
	r.Event = kind
	return r
}

// counts counts entries in the order in which they were written, one a minute.
func counts(all ...ledger.Record) Report {
	for i := range all {
		if all[i].Time.IsZero() {
			all[i].Time = begin.Add(time.Duration(i) * time.Minute)
		}
	}
	slices.Reverse(all)
	return Count(func(yield func(ledger.Record, error) bool) {
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
	}, time.UTC, "probe", nil, func(error) {})
}

// A command in the file of a skill is a call, and allowing it saves no prompt.
func TestCommandsOfSkills(t *testing.T) {
	r := counts(
		event(call("a", cardea.Deny, "rules:x"), "PreSkillShellCommand"),
		event(call("b", cardea.Abstain, "readonly"), "PreSkillShellCommand"),
		event(call("c", cardea.Deny, "x"), "UserPromptSubmit"),
	)
	if r.Calls != 2 || r.Saved != (Saved{}) {
		t.Errorf("%d calls, saved %+v", r.Calls, r.Saved)
	}
}

func TestSavedPrompts(t *testing.T) {
	reads := call("a", cardea.Allow, "readonly")
	reads.Opinions = []ledger.RecordOpinion{{Decider: "readonly", Effect: cardea.Allow}, {Decider: "rules", Effect: cardea.Abstain}}
	listed := call("b", cardea.Allow, "permissions")
	listed.Opinions = []ledger.RecordOpinion{{Decider: "permissions", Effect: cardea.Allow}}
	with := func(r ledger.Record, mode, tool string) ledger.Record {
		r.Mode, r.Tool = mode, tool
		return r
	}
	for name, c := range map[string]struct {
		record ledger.Record
		want   Saved
	}{
		"at the prompt":         {event(listed, "PermissionRequest"), Saved{Answered: 1}},
		"answered in the queue": {event(call("q", cardea.Allow, "person:queue"), "PermissionRequest"), Saved{}},
		"before the prompt":     {listed, Saved{Likely: 1}},
		"reads":                 {reads, Saved{Reading: 1}},
		"a tool that reads":     {with(listed, "default", "Read"), Saved{Reading: 1}},
		"a tool of a server":    {with(listed, "default", "mcp__x__y"), Saved{Likely: 1}},
		"a schedule":            {with(listed, "default", "CronCreate"), Saved{NoPrompt: 1}},
		"a message":             {with(listed, "default", "SendMessage"), Saved{Likely: 1}},
		"a list":                {with(listed, "default", "CronList"), Saved{Reading: 1}},
		"an edit":               {with(listed, "default", "Edit"), Saved{Likely: 1}},
		"an edit without":       {with(listed, "acceptEdits", "Edit"), Saved{NoPrompt: 1}},
		"a command":             {with(listed, "acceptEdits", "Bash"), Saved{Likely: 1}},
		"nobody is asked":       {with(listed, "bypassPermissions", "Bash"), Saved{NoPrompt: 1}},
		"a mode nobody knows":   {with(listed, "new", "Bash"), Saved{NoPrompt: 1}},
		"what is denied":        {call("c", cardea.Deny, "rules:x"), Saved{}},
		"what is left to it":    {call("c", cardea.Abstain, ""), Saved{}},
		"what runs, afterwards": {event(listed, "PostToolUse"), Saved{}},
	} {
		if got := counts(c.record); got.Saved != c.want {
			t.Errorf("%s: %+v", name, got.Saved)
		}
	}
}

// The messages about one call are one call, and the last decision applies.
func TestOneCallWithTwoMessages(t *testing.T) {
	asked := call("x", cardea.Ask, "rules:r")
	r := counts(asked, event(asked, "PermissionRequest"), call("y", cardea.Abstain, ""), event(call("y", cardea.Allow, "judge"), "PermissionRequest"),
		call("z", cardea.Ask, "rules:r"), event(call("z", cardea.Abstain, ""), "PermissionRequest"), event(call("alone", cardea.Deny, "rules:d"), "PermissionRequest"))
	if r.Calls != 4 || r.Effects != (Effects{Allow: 1, Ask: 2, Deny: 1}) || r.Saved.Answered != 1 {
		t.Errorf("%+v", r)
	}
	if r := counts(asked, event(asked, "PermissionRequest"), asked, event(asked, "PermissionRequest")); r.Calls != 2 || r.Effects.Ask != 2 {
		t.Errorf("asked twice: %+v", r)
	}
}

func TestWhatBecameOfQuestions(t *testing.T) {
	yes, no, mixed := call("git clean -fd", cardea.Ask, "rules:git-clean"), call("npm publish", cardea.Ask, "rules:publish"), call("make x", cardea.Ask, "rules:m")
	other := yes
	other.Harness = "copilot-cli"
	all := []ledger.Record{no, yes, event(yes, "PostToolUse")} // the first no came before the harness told anything
	for range 3 {
		all = append(all, yes, event(yes, "PostToolUseFailure"), no, other)
	}
	all = append(all, mixed, mixed, mixed, event(mixed, "PostToolUse"))
	r := counts(all...)
	if r.Effects.Ask != 14 || r.Ran != 5 || r.NotRun != 5 {
		t.Errorf("%+v", r)
	}
	want := []Alike{{By: "rules:git-clean", Tool: "Bash", Text: "git clean -fd", Asks: 4, Ran: true}, {By: "rules:publish", Tool: "Bash", Text: "npm publish", Asks: 3}}
	if !slices.Equal(r.Alike, want) {
		t.Errorf("%+v", r.Alike)
	}
	// A call that was left to the harness and ran answers no later question about the same.
	silent := yes
	silent.Effect, silent.By = cardea.Abstain, ""
	if r := counts(silent, event(silent, "PostToolUse"), yes); r.Ran != 0 || r.NotRun != 1 {
		t.Errorf("%+v", r)
	}
	// Another session's call that ran is no answer.
	far := event(yes, "PostToolUse")
	far.Session = "another"
	if r := counts(yes, far); r.Ran != 0 {
		t.Errorf("%+v", r)
	}
}

func TestRulesThatAskTooMuch(t *testing.T) {
	for asks, want := range map[int]bool{ManyAsks * 2: false, ManyAsks*2 + 1: true} {
		all := []ledger.Record{{Event: "PreToolUse", Effect: cardea.Abstain, Time: begin.AddDate(0, 0, -1)}}
		for i := range asks {
			all = append(all, call(fmt.Sprint(i), cardea.Ask, "rules:r"))
		}
		if r := counts(all...); len(r.Rules) != 1 || r.Rules[0].Many != want || r.Days != 2 {
			t.Errorf("%d questions on two days: %+v", asks, r.Rules)
		}
	}
}

func TestDecidersAndRoles(t *testing.T) {
	a := call("x", cardea.Deny, "rules:git-force-push")
	a.Role = "coder"
	a.Opinions = []ledger.RecordOpinion{{Decider: "rules", Rule: "git-force-push", Effect: cardea.Deny, Source: "packs/git.yaml:12", Scope: "builtin"},
		{Decider: "rules", Effect: cardea.Ask}, {Decider: "brand-new", Effect: cardea.Allow}}
	r := counts(a, call("y", cardea.Allow, "brand-new"))
	if len(r.Deciders) != 2 || r.Deciders[0] != (Decider{"brand-new", 1, 1, Effects{Allow: 1}}) || r.Deciders[1] != (Decider{"rules", 1, 1, Effects{Deny: 1}}) {
		t.Errorf("%+v", r.Deciders)
	}
	if len(r.Rules) != 1 || r.Rules[0].Source != "packs/git.yaml:12" || r.Rules[0].Scope != "builtin" {
		t.Errorf("%+v", r.Rules)
	}
	if len(r.Roles) != 2 || r.Roles[1].Name != "coder" || r.Roles[1].Effects.Deny != 1 {
		t.Errorf("%+v", r.Roles)
	}
}

func TestDaysAreThoseOfTheZone(t *testing.T) {
	late := call("x", cardea.Allow, "")
	late.Time = time.Date(2026, 11, 20, 18, 40, 0, 0, time.UTC)
	one := func(yield func(ledger.Record, error) bool) { yield(late, nil) }
	for zone, want := range map[*time.Location]string{time.UTC: "2026-11-20", time.FixedZone("Nepal", 5*3600+45*60): "2026-11-21"} {
		if r := Count(one, zone, "", nil, nil); r.From != want || r.To != want || r.Days != 1 {
			t.Errorf("%s: %s to %s", zone, r.From, r.To)
		}
	}
}

func TestWhatDoesNotCount(t *testing.T) {
	probe := call("x", cardea.Deny, "rules:r")
	probe.AgentType = "probe"
	if r := counts(probe, event(call("x", cardea.Deny, ""), "Stop")); r.Calls != 0 || r.Days != 0 {
		t.Errorf("%+v", r)
	}
	told := 0
	var broken iter.Seq2[ledger.Record, error] = func(yield func(ledger.Record, error) bool) { yield(ledger.Record{}, errors.New("x")) }
	if r := Count(broken, time.UTC, "", nil, func(error) { told++ }); r.Calls != 0 || told != 1 {
		t.Errorf("%+v, told %d times", r, told)
	}
}

func TestLatency(t *testing.T) {
	var all []ledger.Record
	for i := range 101 {
		r := call(fmt.Sprint(i), cardea.Allow, "")
		r.Micros = int64(i)
		all = append(all, r)
	}
	// Who waited for a person says nothing of the gate's own time.
	for _, by := range []string{"person:queue", "queue:timed-out"} {
		r := call(by, cardea.Deny, by)
		r.Micros = 60e6
		all = append(all, r)
	}
	if r := counts(all...); r.Latency != (Latency{50, 90, 99, 100}) {
		t.Errorf("%+v", r.Latency)
	}
}
