package cli

import (
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/hook"
)

// trial is a tried call, with its results.
type trial struct {
	p          Process
	evaluation *evaluation
	verdict    cardea.Verdict
	answer     cardea.Answer
	output     harness.Output
	harness    string
	// waiting is how the queue treats the verdict. The answer is the one without a person's.
	waiting hook.Waiting
	// auto is the effect in auto mode, nil in other modes.
	auto *autoMode
}

// trialJSON is the JSON of try. Other programs read it: names and order must not change
// (docs/commands.md).
type trialJSON struct {
	Effect   cardea.Effect `json:"effect"`
	Reason   string        `json:"reason"`
	By       string        `json:"by"`
	Tool     string        `json:"tool"`
	Role     string        `json:"role"`
	Parts    []partJSON    `json:"parts"`
	Opaque   []opaqueJSON  `json:"opaque"`
	Flows    []flowJSON    `json:"flows"`
	Opinions []opinionJSON `json:"opinions"`
	// Hints hold texts that decide nothing and help a person to decide.
	Hints []hintJSON `json:"hints"`
	// SwitchedOff are switched-off rules that would have matched.
	SwitchedOff []offJSON   `json:"switched_off"`
	Stages      []stageJSON `json:"stages"`
	Answer      answerJSON  `json:"answer"`
	Rendered    string      `json:"rendered"`
	AutoMode    *autoMode   `json:"auto_mode"`
}

// answerJSON is the answer to the harness: the effect, and why it differs from the decision.
type answerJSON struct {
	Effect cardea.Effect      `json:"effect"`
	Limits []cardea.Shortfall `json:"limits"`
}

type partJSON struct {
	Text     string        `json:"text"`
	Argv     []string      `json:"argv"`
	Effect   cardea.Effect `json:"effect"`
	Coverage string        `json:"coverage"`
	Wrappers []string      `json:"wrappers"`
	// Variables are the names of the variables that are set before the part.
	Variables []string     `json:"variables"`
	Via       []string     `json:"via"`
	Access    []accessJSON `json:"access"`
	// MayTouch and MayRun are named by its words, and by the files that it runs.
	MayTouch   []accessJSON `json:"may_touch"`
	MayRun     []mayRunJSON `json:"may_run"`
	LookedInto []string     `json:"looked_into"`
	Opaque     []spotJSON   `json:"opaque"`
	// NotReadOnly is the reason why an undecided part is not read-only.
	NotReadOnly string `json:"not_read_only,omitempty"`
}

// mayRunJSON is a command that may run. From is the file and line that contain it, "" for
// the part itself.
type mayRunJSON struct {
	Text string `json:"text"`
	From string `json:"from"`
}

// accessJSON has a path or a host, depending on its kind. "" is unknown.
type accessJSON struct {
	Kind cardea.AccessKind `json:"kind"`
	Path *string           `json:"path,omitempty"`
	Host *string           `json:"host,omitempty"`
}

type spotJSON struct {
	Text   string `json:"text"`
	Reason string `json:"reason"`
	// Code is for programs.
	Code cardea.OpaqueCode `json:"code"`
}

// opaqueJSON is a spot and its part, null for the whole call.
type opaqueJSON struct {
	spotJSON
	Part *int `json:"part"`
}

type flowJSON struct {
	Kind string `json:"kind"`
	From int    `json:"from"`
	To   int    `json:"to"`
}

type opinionJSON struct {
	Decider  string          `json:"decider"`
	Rule     string          `json:"rule"`
	Effect   cardea.Effect   `json:"effect"`
	Part     *int            `json:"part"`
	Scope    cardea.Scope    `json:"scope"`
	Source   string          `json:"source"`
	Severity cardea.Severity `json:"severity"`
	Reason   string          `json:"reason"`
	Advice   adviceJSON      `json:"advice"`
}

// hintJSON is a hint about a part, null for the whole call, with its source.
type hintJSON struct {
	Part   *int   `json:"part"`
	Text   string `json:"text"`
	Source string `json:"source"`
}

// offJSON is a rule that would have matched. By is the position that switches it off, as
// "FILE:LINE".
type offJSON struct {
	Rule   string        `json:"rule"`
	Effect cardea.Effect `json:"effect"`
	Source string        `json:"source"`
	By     string        `json:"by"`
}

type adviceJSON struct {
	Context string         `json:"context,omitempty"`
	Instead string         `json:"instead,omitempty"`
	Rewrite map[string]any `json:"rewrite,omitempty"`
	// AllowsRewritten is set if the rewriting decider allows the rewritten call.
	AllowsRewritten bool `json:"allows_rewritten,omitempty"`
}

type stageJSON struct {
	Name   string `json:"name"`
	Ran    bool   `json:"ran"`
	Micros int64  `json:"micros"`
}

// json returns the result as JSON.
func (t trial) json() trialJSON {
	ev, v := t.evaluation.Event, t.verdict
	ofCall := func(s cardea.Opaque) opaqueJSON { return opaqueJSON{spotOf(s), nil} }
	out := trialJSON{Effect: v.Effect, Reason: v.Reason, By: v.By, Role: ev.Role,
		Parts: []partJSON{}, Opaque: listOf(ev.Faults, ofCall), Flows: []flowJSON{}, Opinions: []opinionJSON{}, Hints: []hintJSON{}, SwitchedOff: t.switchedOff(), Stages: []stageJSON{},
		Answer:   answerJSON{t.answer.Effect, append([]cardea.Shortfall{}, t.answer.Limits...)},
		Rendered: strings.TrimSuffix(string(t.output.Stdout), "\n"), AutoMode: t.auto}
	for _, o := range v.Opinions {
		if o.Effect != cardea.Abstain {
			out.Opinions = append(out.Opinions, opinionOf(o))
		} else if isHint(o) {
			out.Hints = append(out.Hints, hintJSON{opinionOf(o).Part, o.Reason, o.Source})
		}
	}
	if t.decided() {
		out.Stages = listOf(v.Stages, func(r cardea.StageRun) stageJSON { return stageJSON{r.Stage.String(), r.Ran, r.Took.Microseconds()} })
	}
	if t.asksJudge() {
		out.Stages = append(out.Stages, stageJSON{Name: "judge"})
	}
	if ev.Call == nil {
		return out
	}
	out.Tool = ev.Call.Tool
	out.Opaque = append(out.Opaque, listOf(ev.Call.Opaque, ofCall)...)
	for i := range ev.Call.Parts {
		out.Parts = append(out.Parts, t.part(i))
		for _, s := range ev.Call.Parts[i].Opaque {
			out.Opaque = append(out.Opaque, opaqueJSON{spotOf(s), &i})
		}
	}
	out.Flows = listOf(ev.Call.Flows, func(f cardea.Flow) flowJSON { return flowJSON(f) })
	return out
}

func (t trial) part(i int) partJSON {
	part := &t.evaluation.Event.Call.Parts[i]
	return partJSON{Text: part.Text, Argv: wordsOf(part), Effect: t.effect(i), Coverage: part.Coverage.String(),
		Wrappers: append([]string{}, part.Wrappers...), Variables: notNil(part.Variables()), Via: append([]string{}, part.Via...),
		Access: listOf(part.Access, accessOf), MayTouch: listOf(part.MayTouch, accessOf), MayRun: mayRunOf(part, []mayRunJSON{}),
		LookedInto: append([]string{}, part.LookedInto...), Opaque: listOf(part.Opaque, spotOf), NotReadOnly: t.beyondReading(i)}
}

// wordsOf returns the words of a part.
func wordsOf(part *cardea.Part) []string {
	return listOf(part.Argv, func(w cardea.Word) string { return w.Text })
}

// mayRunOf appends what a part may run, and what that may run.
func mayRunOf(p *cardea.Part, to []mayRunJSON) []mayRunJSON {
	for i := range p.MayRun {
		to = append(to, mayRunJSON{p.MayRun[i].Text, p.MayRun[i].From})
		to = mayRunOf(&p.MayRun[i], to)
	}
	return to
}

// effect returns the effect of a part.
func (t trial) effect(i int) cardea.Effect {
	if i < len(t.verdict.Parts) {
		return t.verdict.Parts[i]
	}
	return cardea.Abstain
}

func accessOf(a cardea.Access) accessJSON {
	out := accessJSON{Kind: a.Kind}
	switch {
	case a.Kind == cardea.Network:
		out.Host = &a.Host
	case a.Kind != cardea.Unknown || a.Path != "":
		out.Path = &a.Path
	}
	return out
}

func spotOf(s cardea.Opaque) spotJSON { return spotJSON{s.Text, s.Reason, s.Code} }

func opinionOf(o cardea.Opinion) opinionJSON {
	out := opinionJSON{Decider: o.Decider, Rule: o.Rule, Effect: o.Effect, Scope: o.Scope, Source: o.Source,
		Severity: o.Severity, Reason: o.Reason, Advice: adviceJSON(o.Advice)}
	if o.Part != cardea.WholeCall {
		out.Part = &o.Part
	}
	return out
}
