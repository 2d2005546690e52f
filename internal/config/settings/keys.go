package settings

import (
	"cmp"
	"slices"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/memory/meaning"
)

// Key is a key of cardea.yaml: its place in [Values], its possible values, and how scopes
// are merged. Reading, merging, listing, the JSON Schema and the page that init writes all
// use this table.
type Key struct {
	// Name is the dotted key.
	Name string
	// About describes it in a line, for init and the schema.
	About string
	// At returns a pointer to the value.
	At func(*Values) any
	// Words holds all possible values, for texts and for entries of a list; empty means any
	// text.
	Words []string
	// Globs marks a list of path globs as in rules.
	Globs bool
	// Low and High are the limits of a number.
	Low, High int
	// PersonOnly marks a key that a project cannot set: it is about the user's machine, or
	// loosens.
	PersonOnly bool
	// AdminOnly marks a key that only system and organisation can set.
	AdminOnly bool
	// KeepsGoodEntries marks a list or map whose valid entries apply even if others are
	// broken.
	KeepsGoodEntries bool
	// Security marks a key whose strictest value applies, including the default.
	Security bool
	// Of is the switch that the key depends on, "" for none.
	Of string
	// FromStrongest marks a key for which the strongest scope's value applies.
	FromStrongest bool
	// order compares two values; the stricter one is greater. It is nil if neither can be
	// stricter.
	order func(a, b any) int
}

// byWord orders words by their index in a list, the strictest last.
func byWord(words ...string) func(a, b any) int {
	return func(a, b any) int {
		return slices.Index(words, *a.(*string)) - slices.Index(words, *b.(*string))
	}
}

// strictIf orders truth values; strict is the stricter one.
func strictIf(strict bool) func(a, b any) int {
	return func(a, b any) int {
		return oneIf(*a.(*bool) == strict) - oneIf(*b.(*bool) == strict)
	}
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

func byOnError(a, b any) int { return cmp.Compare(*a.(*cardea.OnError), *b.(*cardea.OnError)) }

func byEffect(a, b any) int {
	x, y := *a.(*cardea.Effect), *b.(*cardea.Effect)
	return oneIf(x.Stricter(y)) - oneIf(y.Stricter(x))
}

// byLimit orders limits: 0 means no limit, and a lower one is stricter.
func byLimit[T int | float64 | judge.Money](a, b any) int {
	x, y := *a.(*T), *b.(*T)
	switch {
	case x == y:
		return 0
	case y == 0 || x != 0 && x < y:
		return 1
	}
	return -1
}

func byRatio(a, b any) int { return cmp.Compare(*a.(*float64), *b.(*float64)) }

// The limits of durations and numbers.
const (
	maxNumber = 1_000_000
	// maxSeconds is the maximum wait for a person in seconds.
	maxSeconds = int(limit.Setting / time.Second)
	maxTokens  = 1_000_000_000
)

// Keys returns the table, in the order of docs/settings.md. The keys version, packs and
// rules are not in it.
func Keys() []Key {
	return slices.Concat(decisionKeys(), sessionKeys(), lessonKeys(), judgeKeys(), humanKeys(), scriptKeys(), recordKeys(), daemonKeys())
}

// decisionKeys returns the keys about decisions, permissions and sensitive paths.
func decisionKeys() []Key {
	effects := []string{"abstain", "allow", "defer", "ask", "deny"}
	env := []string{"any-but-dangerous", "known-safe"}
	return []Key{
		{Name: "default.attended", Words: effects, Security: true, order: byEffect, At: func(v *Values) any { return &v.Default.Attended },
			About: "what replaces silence if a person is sure to see a question"},
		{Name: "default.unattended", Words: effects, Security: true, order: byEffect, At: func(v *Values) any { return &v.Default.Unattended },
			About: "the same if no person is watching"},
		{Name: "on_error", Words: []string{"defer", "deny", "allow"}, Security: true, order: byOnError, At: func(v *Values) any { return &v.OnError },
			About: "what a broken file, an unreadable input or an internal error costs"},
		{Name: "from_env", Words: Variables(), PersonOnly: true, At: func(v *Values) any { return &v.FromEnv },
			About: "[permissions] lets the variable CARDEA_PERMISSIONS switch permissions.expand on, [log] lets CARDEA_LOG name a file for the trace, [proxy] and [certificates] let HTTPS_PROXY and SSL_CERT_FILE count for the judge; variables of Permitter count by name"},
		{Name: "permissions.expand", order: strictIf(false), At: func(v *Values) any { return &v.Permissions.Expand },
			About: "apply what the harness's own lists allow to the parts of a line"},
		{Name: "permissions.strict", order: strictIf(true), At: func(v *Values) any { return &v.Permissions.Strict },
			About: "only what is certain"},
		{Name: "permissions.env", Words: env, order: byWord(env...), At: func(v *Values) any { return &v.Permissions.Env },
			About: "which variables may be set in front of a permitted command"},
		{Name: "sensitive.ask_write", Globs: true, KeepsGoodEntries: true, At: func(v *Values) any { return &v.Sensitive.AskWrite },
			About: "globs of paths: ask before they are written or deleted"},
		{Name: "sensitive.ask_read", Globs: true, KeepsGoodEntries: true, At: func(v *Values) any { return &v.Sensitive.AskRead },
			About: "globs of paths: ask before they are read"},
		{Name: "sensitive.deny_read", Globs: true, KeepsGoodEntries: true, At: func(v *Values) any { return &v.Sensitive.DenyRead },
			About: "globs of paths that nothing may read"},
		{Name: "sensitive.exempt", Globs: true, PersonOnly: true, At: func(v *Values) any { return &v.Sensitive.Exempt },
			About: "globs of paths that the built-in pack secrets-exposure leaves alone"},
	}
}

// sessionKeys returns the keys about sessions and roles.
func sessionKeys() []Key {
	registration := []string{"optional", "required"}
	return []Key{
		{Name: "sessions.registration", Words: registration, Security: true, order: byWord(registration...), At: func(v *Values) any { return &v.Sessions.Registration },
			About: "whether a session needs a role before it may do more than read"},
		{Name: "sessions.wait", High: 60, FromStrongest: true, At: func(v *Values) any { return &v.Sessions.Wait },
			About: "how long a call of a team's session waits for its registration, where one is required"},
		{Name: "sessions.default_role", FromStrongest: true, At: func(v *Values) any { return &v.Sessions.DefaultRole },
			About: "the role of a session that nobody registered"},
		{Name: "sessions.agents", KeepsGoodEntries: true, At: func(v *Values) any { return &v.Sessions.Agents },
			About: "roles of subagents by their type: {Explore: researcher}"},
		{Name: "sessions.lead_may_give", PersonOnly: true, At: func(v *Values) any { return &v.Sessions.LeadMayGive },
			About: "roles that a session which you registered as lead may give to new sessions of its team"},
	}
}

// judgeKeys returns the keys about the judge, similar lessons and confidence. All but the
// first have an effect only with judge.enabled.
func judgeKeys() []Key {
	keys := []Key{
		{Name: "judge.enabled", Security: true, order: strictIf(false), At: func(v *Values) any { return &v.Judge.Enabled },
			About: "ask a language model about what no rule decides (docs/judge.md)"},
		{Name: "judge.backend", Words: []string{ByChain, BySupervisor}, PersonOnly: true, At: func(v *Values) any { return &v.Judge.Backend },
			About: "who is asked: the chain of providers, or the supervisor of the session's team"},
		{Name: "judge.chain", PersonOnly: true, At: func(v *Values) any { return &v.Judge.Chain },
			About: "the providers in order: [{type, model, endpoint, api_key_command, timeout, max_tokens}]; none is anthropic, github-models, openai, ollama"},
		{Name: "judge.context", KeepsGoodEntries: true, At: func(v *Values) any { return &v.Judge.Context },
			About: "files of the project whose text the model is told as its policy"},
		{Name: "judge.budget.calls_per_day", High: maxNumber, Security: true, order: byLimit[int], At: func(v *Values) any { return &v.Judge.Budget.CallsPerDay },
			About: "requests to providers in a day (UTC); 0 is no limit"},
		{Name: "judge.budget.calls_per_session", High: maxNumber, Security: true, order: byLimit[int], At: func(v *Values) any { return &v.Judge.Budget.CallsPerSession },
			About: "the same for one session"},
		{Name: "judge.budget.tokens_per_day", High: maxTokens, Security: true, order: byLimit[int], At: func(v *Values) any { return &v.Judge.Budget.TokensPerDay },
			About: "tokens in a day, read and written; 0 is no limit"},
		{Name: "judge.budget.money_per_day", Security: true, order: byLimit[judge.Money], At: func(v *Values) any { return &v.Judge.Budget.MoneyPerDay },
			About: "US dollars in a day; 0 is no limit"},
		{Name: "judge.prices", PersonOnly: true, KeepsGoodEntries: true, At: func(v *Values) any { return &v.Judge.Prices },
			About: "what models cost in US dollars for a million tokens: {model: {in: 1, out: 5}}; before the built-in prices"},
		{Name: "judge.allow_opaque", PersonOnly: true, Security: true, order: strictIf(false), At: func(v *Values) any { return &v.Judge.AllowOpaque },
			About: "an allow of the model covers deferred and opaque parts, too"},
		{Name: "judge.adaptive", PersonOnly: true, Security: true, order: strictIf(false), At: func(v *Values) any { return &v.Judge.Adaptive },
			About: "the confidence that is needed follows how often you overrule the model"},
		{Name: "near.jaccard", At: func(v *Values) any { return &v.Near.Jaccard },
			About: "how much of their words two calls must share for a lesson about one to be looked at for the other (docs/near.md); 1 is all"},
		{Name: "near.embedding", order: byLimit[float64], At: func(v *Values) any { return &v.Near.Embedding },
			About: "how much alike in meaning two commands must be for a lesson about one to be looked at for the other (docs/near-embedding.md); 0 compares none"},
		{Name: "near.embedder.kind", Words: []string{meaning.Builtin, meaning.Ollama, meaning.OpenAI}, PersonOnly: true, At: func(v *Values) any { return &v.Near.Embedder.Kind },
			About: "who compares the meaning of commands: the built-in table, or a server with such an API, which is sent commands without secrets"},
		{Name: "near.embedder.url", PersonOnly: true, At: func(v *Values) any { return &v.Near.Embedder.URL },
			About: "its address, in front of /api/embed (ollama) or /embeddings (openai)"},
		{Name: "near.embedder.model", PersonOnly: true, At: func(v *Values) any { return &v.Near.Embedder.Model },
			About: "its model; near.embedding must fit to it"},
		{Name: "near.embedder.key_variable", PersonOnly: true, At: func(v *Values) any { return &v.Near.Embedder.KeyVariable },
			About: "the variable with the key that it wants; none sends no key"},
		{Name: "near.min_tokens", Low: 1, High: 100, At: func(v *Values) any { return &v.Near.MinTokens },
			About: "how many words a call needs to be compared by words"},
		{Name: "confidence.org", Security: true, order: byRatio, At: func(v *Values) any { return &v.Confidence.Org },
			About: "how certain the model must be where its answer would count for the organisation"},
		{Name: "confidence.project", Security: true, order: byRatio, At: func(v *Values) any { return &v.Confidence.Project },
			About: "the same for the project"},
		{Name: "confidence.user", Security: true, order: byRatio, At: func(v *Values) any { return &v.Confidence.User },
			About: "the same for you alone"},
	}
	for i := range keys[1:] {
		keys[1+i].Of = keys[0].Name
	}
	return keys
}

// humanKeys returns the keys about how the user is asked.
func humanKeys() []Key {
	modes := []string{ByHarness, ByBoth, ByQueue}
	return []Key{
		{Name: "human.mode", Words: modes, PersonOnly: true, FromStrongest: true, At: func(v *Values) any { return &v.Human.Mode },
			About: "where a person is asked: in the harness's own prompt, in the queue of Cardea (docs/queue.md), or in both"},
		{Name: "human.surfaces", PersonOnly: true, KeepsGoodEntries: true, At: func(v *Values) any { return &v.Human.Surfaces },
			About: "more surfaces of Claude Code than the terminal, such as claude-vscode, on which you saw its questions in auto mode (docs/auto-mode.md)"},
		{Name: "human.timeout", High: maxSeconds, PersonOnly: true, FromStrongest: true, At: func(v *Values) any { return &v.Human.Timeout },
			About: "how long a call waits in the queue; then it is denied (queue), or the harness asks (both)"},
		{Name: "human.ticket", High: maxSeconds, PersonOnly: true, FromStrongest: true, At: func(v *Values) any { return &v.Human.Ticket },
			About: "how long after its approval a call may run that was denied with a ticket"},
		{Name: "human.notify", PersonOnly: true, At: func(v *Values) any { return &v.Human.Notify },
			About: "show a notification on the desktop for each new entry of the queue"},
		{Name: "human.webhook", PersonOnly: true, At: func(v *Values) any { return &v.Human.Webhook },
			About: "an https address to which each new entry is posted as JSON, without secrets; none is off"},
		{Name: "human.ntfy", PersonOnly: true, At: func(v *Values) any { return &v.Human.Ntfy },
			About: "the same as text for a topic of ntfy: https://ntfy.example/topic"},
	}
}

func lessonKeys() []Key {
	learn := []string{LearnAuto, LearnSuggest, LearnOff} // off is the strictest
	return []Key{
		{Name: "learn", Words: learn, Security: true, order: byWord(learn...), At: func(v *Values) any { return &v.Learn },
			About: "what becomes of calls that you allow in the harness's own prompt: noted for \"cardea lessons learn\", remembered after two days if they only read, or nothing"},
	}
}

// scriptKeys returns the keys about policies, signals and actions.
func scriptKeys() []Key {
	return []Key{
		{Name: "policies.functions", PersonOnly: true, AdminOnly: true, At: func(v *Values) any { return &v.Policies.Functions },
			About: "functions of OPA that policies may use although they reach outside, such as http.send or time.now_ns; system and organisation only"},
		{Name: "policies.checks", KeepsGoodEntries: true, At: func(v *Values) any { return &v.Policies.Checks },
			About: "commands that must have succeeded since the last change before git commit, push and merge: [npm test]"},
		{Name: "policies.protected", KeepsGoodEntries: true, At: func(v *Values) any { return &v.Policies.Protected },
			About: "globs of paths that nothing writes or deletes; relative ones are the project's"},
		{Name: "policies.context", KeepsGoodEntries: true, At: func(v *Values) any { return &v.Policies.Context }, About: "texts that are told to the model with every prompt"},
		{Name: "signals", KeepsGoodEntries: true, At: func(v *Values) any { return &v.Signals }, About: "scripts for policies: {name: {command, timeout_seconds: 5}}"},
		{Name: "actions.on_any_denial", KeepsGoodEntries: true, At: func(v *Values) any { return &v.Actions.OnAnyDenial }, About: "what runs after a denial: [{command, when}]"},
		{Name: "actions.on_halt", KeepsGoodEntries: true, At: func(v *Values) any { return &v.Actions.OnHalt }, About: "after a halt: [{command, when}]"},
		{Name: "actions.on_ask", KeepsGoodEntries: true, At: func(v *Values) any { return &v.Actions.OnAsk }, About: "after an ask: [{command, when}]"},
		{Name: "actions.violations", KeepsGoodEntries: true, At: func(v *Values) any { return &v.Actions.Violations }, About: "after one rule: {rule: [{command, when}]}"},
	}
}

// recordKeys returns the keys about the ledger and the organisation.
func recordKeys() []Key {
	return []Key{
		{Name: "ledger.dir", PersonOnly: true, At: func(v *Values) any { return &v.Ledger.Dir }, About: "the folder of the audit log; none is the state folder"},
		{Name: "ledger.keep_days", Low: 1, High: 36500, PersonOnly: true, At: func(v *Values) any { return &v.Ledger.KeepDays }, About: "days that are kept"},
		{Name: "ledger.max_mb", Low: 1, High: maxNumber, PersonOnly: true, At: func(v *Values) any { return &v.Ledger.MaxMB }, About: "megabytes that are kept"},
		{Name: "ledger.levels.allow", PersonOnly: true, At: func(v *Values) any { return &v.Ledger.Levels.Allow }, About: "whether allows are written down"},
		{Name: "ledger.levels.abstain", PersonOnly: true, At: func(v *Values) any { return &v.Ledger.Levels.Abstain }, About: "whether abstains are"},
		{Name: "ledger.levels.deny", PersonOnly: true, At: func(v *Values) any { return &v.Ledger.Levels.Deny }, About: "whether denies are"},
		{Name: "org.name", PersonOnly: true, FromStrongest: true, At: func(v *Values) any { return &v.Org.Name }, About: "the organisation whose folder org/NAME counts in every project"},
		{Name: "org.source", PersonOnly: true, FromStrongest: true, At: func(v *Values) any { return &v.Org.Source }, About: "where cardea sync gets that folder from: a git repository or an archive"},
		{Name: "org.key", PersonOnly: true, FromStrongest: true, At: func(v *Values) any { return &v.Org.Key }, About: "the file with the public key (PEM) with which its bundles must be signed"},
	}
}

func daemonKeys() []Key {
	return []Key{
		{Name: "daemon.start", PersonOnly: true, FromStrongest: true, At: func(v *Values) any { return &v.Daemon.Start }, About: "whether a hook that finds no daemon starts one when it has answered"},
		{Name: "daemon.idle", High: 86400, PersonOnly: true, FromStrongest: true, At: func(v *Values) any { return &v.Daemon.Idle }, About: "after how long without a call a daemon ends that was started so; 0s is never"},
		{Name: "daemon.http", PersonOnly: true, FromStrongest: true, At: func(v *Values) any { return &v.Daemon.HTTP },
			About: "the address of this machine at which cardea serve answers over HTTP (docs/http.md): 127.0.0.1:7717; none is off"},
	}
}

// Variables returns the words of from_env.
func Variables() []string {
	return []string{"permissions", "role", "log", judge.ProxyVariables, judge.CertificateVariables, "PERMITTER_ENABLED", "PERMITTER_STRICT", "PERMITTER_DEBUG", "PERMITTER_LOG", "ENSEMBLE_PERMITTER_DISABLE"}
}

// SecuritySections returns the top-level keys that affect what is allowed. A misspelt one
// breaks its file, since its author expects protection.
func SecuritySections() []string {
	return []string{"default", "on_error", "from_env", "sessions", "permissions", "sensitive", "policies", "rules", "packs", "judge", "confidence", "learn", "human"}
}
