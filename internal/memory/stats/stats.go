// Package stats counts the entries of the ledger: the decisions by decider, the questions and their
// ends, and the prompts that Cardea saved (docs/stats.md).
package stats

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/memory/ledger"
)

const (
	// ManyAsks is the largest acceptable number of questions of one rule a day, over the days with
	// calls.
	ManyAsks = 5
	// alikeAsks is the number of questions about one call with the same end from which the call is
	// reported.
	alikeAsks = 3
)

// Effects counts calls by their effect.
type Effects struct {
	Allow   int `json:"allow"`
	Abstain int `json:"abstain"`
	Defer   int `json:"defer"`
	Ask     int `json:"ask"`
	Deny    int `json:"deny"`
	Halt    int `json:"halt"`
}

// add counts a call of the effect x. Unknown effects are counted as Abstain.
func (e *Effects) add(x cardea.Effect) {
	switch x {
	case cardea.Allow:
		e.Allow++
	case cardea.Defer:
		e.Defer++
	case cardea.Ask:
		e.Ask++
	case cardea.Deny:
		e.Deny++
	case cardea.Halt:
		e.Halt++
	default:
		e.Abstain++
	}
}

// Total returns the number of calls.
func (e Effects) Total() int { return e.Allow + e.Abstain + e.Defer + e.Ask + e.Deny + e.Halt }

// Saved counts the calls that Cardea allowed, by what is known of the harness's prompt.
type Saved struct {
	// Answered are those for which the harness was about to show a prompt, as it announced by the
	// event PermissionRequest.
	Answered int `json:"answered"`
	// Likely are those for which the harness asks in its mode: calls of tools that run, write or
	// fetch, and do more than read.
	Likely int `json:"likely"`
	// Reading are those that only read. A harness asks about some of these.
	Reading int `json:"reading"`
	// NoPrompt are those in a mode in which the harness never asks.
	NoPrompt int `json:"no_prompt"`
}

// Decider counts the opinions of one decider.
type Decider struct {
	Name string `json:"name"`
	// Spoke is the number of calls on which it had an opinion, Decided the number whose effect it
	// made.
	Spoke   int     `json:"spoke"`
	Decided int     `json:"decided"`
	Effects Effects `json:"effects"`
}

// Group is a group of calls with the same attribute.
type Group struct {
	Name    string  `json:"name"`
	Effects Effects `json:"effects"`
}

// Rule counts the decisions of one rule.
type Rule struct {
	// By is the decider and the rule, Source the position of the rule as FILE:LINE.
	By      string  `json:"by"`
	Source  string  `json:"source,omitempty"`
	Scope   string  `json:"scope,omitempty"`
	Effects Effects `json:"effects"`
	// Ran is the number of its questions known to have ended with the call running, NotRun the
	// number of the others with a known end.
	Ran    int `json:"ran"`
	NotRun int `json:"not_run"`
	// AsksADay is its number of questions per day with calls. Many is set where that exceeds
	// [ManyAsks].
	AsksADay float64 `json:"asks_a_day"`
	Many     bool    `json:"many,omitempty"`
}

// Alike is one call that was asked about several times, always with the same end.
type Alike struct {
	By     string `json:"by"`
	Source string `json:"source,omitempty"`
	Scope  string `json:"scope,omitempty"`
	Tool   string `json:"tool"`
	Text   string `json:"text"`
	Asks   int    `json:"asks"`
	Ran    bool   `json:"ran"`
	// Role is the role of the agents, if all had the same one.
	Role string `json:"role,omitempty"`
}

// Latency holds percentiles of the time to decide, in microseconds.
type Latency struct {
	P50 int64 `json:"p50"`
	P90 int64 `json:"p90"`
	P99 int64 `json:"p99"`
	Max int64 `json:"max"`
}

// Report is the result of [Count].
type Report struct {
	// From and To are the first and last day with a call, Days the number of days with one.
	From    string  `json:"from"`
	To      string  `json:"to"`
	Days    int     `json:"days"`
	Calls   int     `json:"calls"`
	Effects Effects `json:"effects"`
	Saved   Saved   `json:"saved"`
	// Ran and NotRun count the known ends of questions.
	Ran    int     `json:"ran"`
	NotRun int     `json:"not_run"`
	ByDay  []Group `json:"by_day"`
	// Ends counts who decided in the end, by the words of [cardea.Review].By. A call with an
	// unknown end is counted under "", with the effect Abstain.
	Ends []Group `json:"ends"`
	// Differences are the calls whose end differs from Cardea's answer, the most frequent first.
	Differences []Difference `json:"differences"`
	Deciders    []Decider    `json:"deciders"`
	Roles       []Group      `json:"roles"`
	Rules       []Rule       `json:"rules"`
	Alike       []Alike      `json:"alike"`
	Latency     Latency      `json:"latency"`
}

// Count counts entries as [ledger.Ledger.Records] yields them, the last written first. It skips
// those of an agent of the type probe. It passes errors to warn.
func Count(records iter.Seq2[ledger.Record, error], zone *time.Location, probe string, decisions Decisions, warn func(error)) Report {
	c := newCounting(zone, decisions)
	c.all(records, probe, warn)
	return c.report()
}

// all counts records.
func (c *counting) all(records iter.Seq2[ledger.Record, error], probe string, warn func(error)) {
	for r, err := range records {
		switch {
		case err != nil:
			warn(err)
		case r.AgentType != "" && r.AgentType == probe:
		default:
			c.record(r)
		}
	}
	for _, r := range c.shown {
		c.call(r)
	}
}

func newCounting(zone *time.Location, decisions Decisions) counting {
	return counting{zone: zone, days: map[string]*Effects{}, roles: map[string]*Effects{}, deciders: map[string]*Decider{}, rules: map[string]*Rule{},
		shown: map[string]ledger.Record{}, ran: map[string]int{}, reports: map[string]time.Time{}, byHour: map[int64]string{},
		ending: ending{decisions: decisions, facts: map[string][]cardea.Review{}, ends: map[string]*Effects{}, differs: map[string]map[string]int{}}}
}

type counting struct {
	zone     *time.Location
	calls    int
	effects  Effects
	saved    Saved
	days     map[string]*Effects
	roles    map[string]*Effects
	deciders map[string]*Decider
	rules    map[string]*Rule
	asks     []ask
	micros   []int64
	// shown holds messages that a prompt was shown, by call, until the message before it is read.
	// ran are calls that ran.
	shown map[string]ledger.Record
	ran   map[string]int
	// reports holds the time since which a harness reports the calls that ran.
	reports map[string]time.Time
	byHour  map[int64]string
	ending
}

// ask is a question.
type ask struct {
	record ledger.Record
	ran    bool
}

// name returns a key that distinguishes the calls of a session.
func name(r *ledger.Record) string { return r.Harness + "\n" + r.Session + "\n" + r.Digest }

// record counts one record. Records about the same call come in the reverse order of their events.
func (c *counting) record(r ledger.Record) {
	if review, err := cardea.ParseEffect(r.Review); err == nil {
		c.facts[name(&r)] = append(c.facts[name(&r)], cardea.Review{By: r.Reviewer, Effect: review, Reason: r.ReviewReason})
		return
	}
	switch r.Event {
	case "PostToolUse", "PostToolUseFailure":
		c.ran[name(&r)]++
		c.reports[r.Harness] = r.Time
	case string(cardea.PermissionRequest):
		if old, is := c.shown[name(&r)]; is {
			c.call(old)
		}
		c.shown[name(&r)] = r
	case string(cardea.PreToolUse), string(cardea.PreSkillShellCommand):
		if after, is := c.shown[name(&r)]; is {
			// The same call: the later decision applies.
			delete(c.shown, name(&r))
			after.Call = r.Call
			if after.Effect == cardea.Abstain || after.Effect == cardea.Defer {
				c.facts[name(&r)] = append(c.facts[name(&r)], cardea.Review{By: cardea.ByPerson, Effect: cardea.Ask})
			}
			if after.Effect != cardea.Abstain && after.Effect != cardea.Defer {
				after.Time, after.Micros = r.Time, r.Micros
				r = after
			}
		}
		c.call(r)
	}
}

// day returns the day of a time in the time zone of the report.
func (c *counting) day(t time.Time) string {
	hour := t.Unix() / 900 // zones differ by quarters of an hour
	d, is := c.byHour[hour]
	if !is {
		d = t.In(c.zone).Format("2006-01-02")
		c.byHour[hour] = d
	}
	return d
}

// entryOf returns the entry of a name, and creates it if it is missing.
func entryOf[T any](m map[string]*T, name string) *T {
	e := m[name]
	if e == nil {
		e = new(T)
		m[name] = e
	}
	return e
}

// call counts one call with its final verdict.
func (c *counting) call(r ledger.Record) {
	c.calls++
	c.effects.add(r.Effect)
	entryOf(c.days, c.day(r.Time)).add(r.Effect)
	entryOf(c.roles, r.Role).add(r.Effect)
	byPerson := r.By == answeredInQueue
	if !byPerson && !strings.HasPrefix(r.By, "queue:") { // waiting for a person is not time of the gate
		c.micros = append(c.micros, r.Micros)
	}
	c.decided(&r)
	c.end(&r, c.ran[name(&r)] > 0)
	switch {
	case byPerson: // it was a prompt, in the queue, so no prompt was saved
	case r.Effect == cardea.Allow:
		c.allowed(&r)
	case r.Effect == cardea.Ask:
		n := name(&r)
		ran := c.ran[n] > 0
		if ran {
			c.ran[n]--
		}
		r.Opinions = nil
		c.asks = append(c.asks, ask{r, ran})
	case c.ran[name(&r)] > 0:
		c.ran[name(&r)]-- // it ran without a question, so it does not end one
	}
}

// answeredInQueue is the author of an effect that a person chose in the queue (docs/queue.md).
const answeredInQueue = "person:queue"

// decided counts the opinions of the deciders, and the one that decided.
func (c *counting) decided(r *ledger.Record) {
	for i := range r.Opinions {
		o := &r.Opinions[i]
		if !slices.ContainsFunc(r.Opinions[:i], func(before ledger.RecordOpinion) bool { return before.Decider == o.Decider }) {
			entryOf(c.deciders, o.Decider).Spoke++
		}
	}
	if r.By == "" {
		return
	}
	who, rule, ruled := strings.Cut(r.By, ":")
	d := entryOf(c.deciders, who)
	d.Decided++
	d.Effects.add(r.Effect)
	if !ruled {
		return
	}
	x := entryOf(c.rules, r.By)
	x.Effects.add(r.Effect)
	if x.Source == "" {
		if i := slices.IndexFunc(r.Opinions, func(o ledger.RecordOpinion) bool { return o.Decider == who && o.Rule == rule }); i >= 0 {
			x.Source, x.Scope = r.Opinions[i].Source, r.Opinions[i].Scope
		}
	}
}

// allowed counts an allowed call by what is known of its prompt.
func (c *counting) allowed(r *ledger.Record) {
	switch {
	case r.Event == string(cardea.PermissionRequest):
		c.saved.Answered++
	case !asksIn(r.Mode, r.Tool):
		c.saved.NoPrompt++
	case onlyReads(r):
		c.saved.Reading++
	default:
		c.saved.Likely++
	}
}

// asksIn reports whether a harness asks a person in a mode about some calls of a tool.
func asksIn(mode, tool string) bool {
	if tool == "CronCreate" || tool == "ScheduleWakeup" { // seen to run without a question in every mode
		return false
	}
	switch cardea.Mode(mode) {
	case cardea.ModeUnknown, cardea.ModeDefault, cardea.ModePlan:
		return true
	case cardea.ModeAcceptEdits:
		t, known := harness.Tool(tool)
		return !known || !t.EditsFiles
	}
	return false
}

// onlyReads reports whether an allowed call only reads, so that a harness may run it without a
// prompt.
func onlyReads(r *ledger.Record) bool {
	if t, known := harness.Tool(r.Tool); known && t.OnlyReads() {
		return true
	}
	return !slices.ContainsFunc(r.Opinions, func(o ledger.RecordOpinion) bool {
		return o.Effect == cardea.Allow && o.Decider != "readonly" && o.Decider != "no-effect"
	})
}

// report returns the result, with its lists sorted.
func (c *counting) report() Report {
	out := Report{Calls: c.calls, Days: len(c.days), Effects: c.effects, Saved: c.saved, ByDay: groups(c.days), Roles: groups(c.roles),
		Ends: groups(c.ends), Differences: c.ending.differences(), Deciders: []Decider{}, Rules: []Rule{}, Alike: []Alike{}}
	if len(out.ByDay) > 0 {
		slices.SortFunc(out.ByDay, func(a, b Group) int { return cmp.Compare(a.Name, b.Name) })
		out.From, out.To = out.ByDay[0].Name, out.ByDay[len(out.ByDay)-1].Name
	}
	for name, d := range c.deciders {
		d.Name = name
		out.Deciders = append(out.Deciders, *d)
	}
	slices.SortFunc(out.Deciders, func(a, b Decider) int {
		return cmp.Or(b.Decided-a.Decided, b.Spoke-a.Spoke, cmp.Compare(a.Name, b.Name))
	})
	c.questions(&out)
	for by, r := range c.rules {
		r.By = by
		r.AsksADay = float64(r.Effects.Ask) / float64(max(1, out.Days))
		r.Many = r.AsksADay > ManyAsks
		out.Rules = append(out.Rules, *r)
	}
	slices.SortFunc(out.Rules, func(a, b Rule) int {
		return cmp.Or(b.Effects.Total()-a.Effects.Total(), cmp.Compare(a.By, b.By))
	})
	slices.Sort(c.micros)
	if n := len(c.micros); n > 0 {
		at := func(percent int) int64 { return c.micros[(n-1)*percent/100] }
		out.Latency = Latency{at(50), at(90), at(99), c.micros[n-1]}
	}
	return out
}

func groups(m map[string]*Effects) []Group {
	out := []Group{}
	for name, e := range m {
		out = append(out, Group{name, *e})
	}
	slices.SortFunc(out, func(a, b Group) int {
		return cmp.Or(b.Effects.Total()-a.Effects.Total(), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// questions determines the ends of questions. A question without further messages ended with no if
// the harness had already reported calls that ran.
func (c *counting) questions(out *Report) {
	type ends struct {
		Alike
		ran, notRun, unknown int
	}
	all := map[string]*ends{}
	for _, a := range c.asks {
		r := &a.record
		key := r.By + "\n" + r.Tool + "\n" + r.Text // not its digest, since a call also has a description
		e := all[key]
		if e == nil {
			e = &ends{Alike: Alike{By: r.By, Tool: r.Tool, Text: r.Text, Role: r.Role}}
			all[key] = e
		}
		if e.Role != r.Role {
			e.Role = ""
		}
		since, reports := c.reports[r.Harness]
		rule := cmp.Or(c.rules[r.By], &Rule{}) // the author of the question may not be a rule
		e.Source, e.Scope = rule.Source, rule.Scope
		switch {
		case a.ran:
			e.ran++
			rule.Ran++
			out.Ran++
		case reports && r.Time.After(since):
			e.notRun++
			rule.NotRun++
			out.NotRun++
		default:
			e.unknown++
		}
	}
	for _, e := range all {
		e.Asks, e.Alike.Ran = e.ran+e.notRun, e.ran > 0
		if e.Asks >= alikeAsks && (e.ran == 0 || e.notRun == 0) {
			out.Alike = append(out.Alike, e.Alike)
		}
	}
	slices.SortFunc(out.Alike, func(a, b Alike) int {
		return cmp.Or(b.Asks-a.Asks, cmp.Compare(a.Text, b.Text), cmp.Compare(a.By, b.By), cmp.Compare(a.Tool, b.Tool))
	})
}
