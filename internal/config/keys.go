package config

import (
	"cmp"
	"slices"
	"time"

	"cardea.dev"
)

// Key is one key of cardea.yaml: its place among [Values], what it may be, and
// how scopes are put together. Reading, merging, listing, the JSON Schema and
// the page that init writes all go by this table.
type Key struct {
	// Name is the key, dotted.
	Name string
	// About says in a line what it is, for init and the schema.
	About string
	// At gives the place of the value, a pointer.
	At func(*Values) any
	// Words are all values there are, for texts and for each entry of a list;
	// none is any text.
	Words []string
	// Low and High bound a number.
	Low, High float64
	// Idle marks a key that is read and checked but has no effect in this
	// version.
	Idle bool
	// Own marks a key that a project cannot give: it is about the person's
	// machine.
	Own bool
	// Shared marks a key that only system and organisation can give.
	Shared bool
	// Partly marks a list or map that counts as far as it can be read.
	Partly bool
	// Security marks a value of which the strictest counts, the default
	// included.
	Security bool
	// Strongest marks a value that is the strongest scope's to give.
	Strongest bool
	// order compares two values, the stricter one is greater; nil where none
	// is stricter.
	order func(a, b any) int
}

// rising orders values by a place in a list of words, the strictest last.
func rising(words ...string) func(a, b any) int {
	return func(a, b any) int {
		return slices.Index(words, *a.(*string)) - slices.Index(words, *b.(*string))
	}
}

// when orders truth values: the one that is strict is greater.
func when(strict bool) func(a, b any) int {
	return func(a, b any) int {
		return cmp.Compare(index(*a.(*bool) == strict), index(*b.(*bool) == strict))
	}
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

func highest(a, b any) int {
	switch a := a.(type) {
	case *float64:
		return cmp.Compare(*a, *b.(*float64))
	case *int:
		return cmp.Compare(*a, *b.(*int))
	}
	return cmp.Compare(*a.(*cardea.OnError), *b.(*cardea.OnError))
}

// alike has no stricter value: what a person wrote stays, and a project fills
// in silence.
func alike(any, any) int { return 0 }

func strictest(a, b any) int {
	x, y := *a.(*cardea.Effect), *b.(*cardea.Effect)
	return index(x.Stricter(y)) - index(y.Stricter(x))
}

// The bounds of what can be waited for, kept and counted.
const (
	maxWait   = 10 * time.Minute
	maxNumber = 1_000_000
)

// AllKeys is the table, in the order of docs/settings.md. The keys version,
// packs and rules are not in it.
func AllKeys() []Key {
	return slices.Concat(decisionKeys(), sessionKeys(), judgeKeys(), scriptKeys(), recordKeys())
}

func decisionKeys() []Key {
	effects := []string{"abstain", "allow", "defer", "ask", "deny"}
	env := []string{"any-but-dangerous", "known-safe"}
	return []Key{
		{Name: "default.attended", Words: effects, Security: true, order: strictest, At: func(v *Values) any { return &v.Default.Attended },
			About: "what replaces silence where a person is sure to see a question"},
		{Name: "default.unattended", Words: effects, Security: true, order: strictest, At: func(v *Values) any { return &v.Default.Unattended },
			About: "the same where nobody is watching"},
		{Name: "on_error", Words: []string{"defer", "deny", "allow"}, Security: true, order: highest, At: func(v *Values) any { return &v.OnError },
			About: "what a broken file, an unreadable input or an internal error costs"},
		{Name: "from_env", Words: []string{"permissions", "role"}, Own: true, At: func(v *Values) any { return &v.FromEnv },
			About: "variables that count although they loosen: CARDEA_PERMISSIONS, CARDEA_ROLE"},
		{Name: "permissions.expand", order: when(false), At: func(v *Values) any { return &v.Permissions.Expand },
			About: "apply what the harness's own lists allow to the parts of a line"},
		{Name: "permissions.strict", order: when(true), At: func(v *Values) any { return &v.Permissions.Strict },
			About: "only what is certain"},
		{Name: "permissions.env", Words: env, order: rising(env...), At: func(v *Values) any { return &v.Permissions.Env },
			About: "which variables may be set in front of a permitted command"},
		{Name: "sensitive.ask_write", Idle: true, At: func(v *Values) any { return &v.Sensitive.AskWrite }, About: "globs of paths: ask before writing"},
		{Name: "sensitive.ask_read", Idle: true, At: func(v *Values) any { return &v.Sensitive.AskRead }, About: "globs of paths: ask before reading"},
		{Name: "sensitive.deny_read", Idle: true, At: func(v *Values) any { return &v.Sensitive.DenyRead }, About: "globs of paths: do not read"},
		{Name: "sensitive.exempt", Own: true, Idle: true, At: func(v *Values) any { return &v.Sensitive.Exempt }, About: "globs of paths that are not sensitive after all"},
	}
}

func sessionKeys() []Key {
	registration := []string{"optional", "required"}
	learn := []string{"auto", "suggest", "off"}
	return []Key{
		{Name: "sessions.registration", Words: registration, Security: true, Idle: true, order: rising(registration...), At: func(v *Values) any { return &v.Sessions.Registration },
			About: "whether a session must be registered before it may do anything"},
		{Name: "sessions.wait", High: maxWait.Seconds(), Idle: true, At: func(v *Values) any { return &v.Sessions.Wait }, About: "how long the first call waits for that"},
		{Name: "sessions.default_role", Idle: true, order: alike, At: func(v *Values) any { return &v.Sessions.DefaultRole }, About: "the role of sessions that nobody gave one"},
		{Name: "sessions.agents", Idle: true, At: func(v *Values) any { return &v.Sessions.Agents }, About: "roles by type of agent: {Explore: researcher}"},
		{Name: "near.jaccard", High: 1, Idle: true, order: highest, At: func(v *Values) any { return &v.Near.Jaccard }, About: "how alike in words a lesson must be"},
		{Name: "near.embedding", High: 1, Idle: true, order: highest, At: func(v *Values) any { return &v.Near.Embedding }, About: "how alike in meaning"},
		{Name: "near.min_tokens", Low: 1, High: 1000, Idle: true, order: highest, At: func(v *Values) any { return &v.Near.MinTokens }, About: "how many words a call must have to be compared"},
		{Name: "learn", Words: learn, Security: true, Idle: true, order: rising(learn...), At: func(v *Values) any { return &v.Learn },
			About: "what becomes of answers given in the harness's own prompt"},
	}
}

func judgeKeys() []Key {
	return []Key{
		{Name: "judge.enabled", Security: true, Idle: true, order: when(false), At: func(v *Values) any { return &v.Judge.Enabled }, About: "ask a model about what no rule decides"},
		{Name: "judge.backend", Words: []string{"chain", "supervisor"}, Idle: true, At: func(v *Values) any { return &v.Judge.Backend }, About: "who is asked"},
		{Name: "judge.chain", Words: []string{"anthropic", "github-models", "openai", "ollama"}, Idle: true, At: func(v *Values) any { return &v.Judge.Chain },
			About: "providers, first to last: names, or {name, endpoint, model, timeout, api_key_command}"},
		{Name: "judge.context", Idle: true, At: func(v *Values) any { return &v.Judge.Context }, About: "files that the judge is shown"},
		{Name: "judge.budget", Words: []string{"calls_per_hour", "calls_per_day", "tokens_per_day"}, High: maxNumber, Idle: true, At: func(v *Values) any { return &v.Judge.Budget },
			About: "the most it may cost: {calls_per_hour, calls_per_day, tokens_per_day}"},
		{Name: "judge.allow_opaque", Idle: true, order: when(false), At: func(v *Values) any { return &v.Judge.AllowOpaque }, About: "whether it may allow what cannot be seen through"},
		{Name: "judge.adaptive", Idle: true, order: when(false), At: func(v *Values) any { return &v.Judge.Adaptive }, About: "learn thresholds from what people answer"},
		{Name: "confidence.org", High: 1, Idle: true, order: highest, At: func(v *Values) any { return &v.Confidence.Org }, About: "below this, the judge's answer is a recommendation"},
		{Name: "confidence.project", High: 1, Idle: true, order: highest, At: func(v *Values) any { return &v.Confidence.Project }, About: "the same for lessons of the project"},
		{Name: "confidence.user", High: 1, Idle: true, order: highest, At: func(v *Values) any { return &v.Confidence.User }, About: "the same for lessons of yours"},
		{Name: "human.mode", Words: []string{"harness", "queue", "both"}, Idle: true, At: func(v *Values) any { return &v.Human.Mode }, About: "where a person is asked"},
		{Name: "human.timeout", High: maxWait.Seconds(), Idle: true, At: func(v *Values) any { return &v.Human.Timeout }, About: "how long an answer is waited for"},
	}
}

func scriptKeys() []Key {
	return []Key{
		{Name: "policies.functions", Own: true, Shared: true, At: func(v *Values) any { return &v.Policies.Functions },
			About: "functions of OPA that policies may use although they reach outside, such as http.send or time.now_ns; system and organisation only"},
		{Name: "policies.checks", Partly: true, At: func(v *Values) any { return &v.Policies.Checks },
			About: "commands that must have succeeded since the last change before git commit, push and merge: [npm test]"},
		{Name: "policies.protected", Partly: true, At: func(v *Values) any { return &v.Policies.Protected },
			About: "globs of paths that nothing writes or deletes; relative ones are the project's"},
		{Name: "policies.context", Partly: true, At: func(v *Values) any { return &v.Policies.Context }, About: "texts that are told to the model with every prompt"},
		{Name: "signals", Partly: true, At: func(v *Values) any { return &v.Signals }, About: "scripts for policies: {name: {command, timeout_seconds: 5}}"},
		{Name: "actions.on_any_denial", Partly: true, At: func(v *Values) any { return &v.Actions.OnAnyDenial }, About: "what runs after a denial: [{command, when}]"},
		{Name: "actions.on_halt", Partly: true, At: func(v *Values) any { return &v.Actions.OnHalt }, About: "after a halt: [{command, when}]"},
		{Name: "actions.on_ask", Partly: true, At: func(v *Values) any { return &v.Actions.OnAsk }, About: "after an ask: [{command, when}]"},
		{Name: "actions.violations", Partly: true, At: func(v *Values) any { return &v.Actions.Violations }, About: "after one rule: {rule: [{command, when}]}"},
	}
}

func recordKeys() []Key {
	return []Key{
		{Name: "ledger.dir", Own: true, At: func(v *Values) any { return &v.Ledger.Dir }, About: "the folder of the audit log; none is the state folder"},
		{Name: "ledger.keep_days", Low: 1, High: 36500, Own: true, At: func(v *Values) any { return &v.Ledger.KeepDays }, About: "days that are kept"},
		{Name: "ledger.max_mb", Low: 1, High: maxNumber, Own: true, At: func(v *Values) any { return &v.Ledger.MaxMB }, About: "megabytes that are kept"},
		{Name: "ledger.levels.allow", Own: true, At: func(v *Values) any { return &v.Ledger.Levels.Allow }, About: "whether allows are written down"},
		{Name: "ledger.levels.abstain", Own: true, At: func(v *Values) any { return &v.Ledger.Levels.Abstain }, About: "whether abstains are"},
		{Name: "ledger.levels.deny", Own: true, At: func(v *Values) any { return &v.Ledger.Levels.Deny }, About: "whether denies are"},
		{Name: "org.name", Own: true, Strongest: true, At: func(v *Values) any { return &v.Org.Name }, About: "the organisation whose folder org/NAME counts"},
		{Name: "org.source", Own: true, Strongest: true, Idle: true, At: func(v *Values) any { return &v.Org.Source }, About: "where that folder is synced from"},
	}
}
