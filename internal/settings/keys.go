package settings

import (
	"cmp"
	"slices"

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
	// Globs marks a list of path globs, in the meaning of rules.
	Globs bool
	// Low and High bound a number.
	Low, High int
	// PersonOnly marks a key that a project cannot give: it is about the person's
	// machine, or loosens.
	PersonOnly bool
	// AdminOnly marks a key that only system and organisation can give.
	AdminOnly bool
	// KeepsGoodEntries marks a list or map that counts as far as it can be read.
	KeepsGoodEntries bool
	// Security marks a value of which the strictest counts, the default
	// included.
	Security bool
	// FromStrongest marks a value of which the strongest scope's counts.
	FromStrongest bool
	// order compares two values, the stricter one is greater; nil where none
	// is stricter.
	order func(a, b any) int
}

// byWord orders words by their place in a list, the strictest last.
func byWord(words ...string) func(a, b any) int {
	return func(a, b any) int {
		return slices.Index(words, *a.(*string)) - slices.Index(words, *b.(*string))
	}
}

// strictIf orders truth values: strict is the stricter one.
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

// The bounds of what can be waited for, kept and counted.
const (
	maxNumber = 1_000_000
)

// Keys is the table, in the order of docs/settings.md. The keys version,
// packs and rules are not in it.
func Keys() []Key {
	return slices.Concat(decisionKeys(), sessionKeys(), scriptKeys(), recordKeys())
}

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
			About: "[permissions] lets the variable CARDEA_PERMISSIONS switch permissions.expand on, [log] lets CARDEA_LOG name a file for the trace; variables of Permitter count by name"},
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

// Variables are the words of from_env.
func Variables() []string {
	return []string{"permissions", "role", "log", "PERMITTER_ENABLED", "PERMITTER_STRICT", "PERMITTER_DEBUG", "PERMITTER_LOG", "ENSEMBLE_PERMITTER_DISABLE"}
}

// SecuritySections are the top-level keys that decide what is allowed. A
// misspelt one breaks its file: its author believes to be protected.
func SecuritySections() []string {
	return []string{"default", "on_error", "from_env", "sessions", "permissions", "sensitive", "policies", "rules", "packs"}
}

// UnsupportedSections are keys of designs and earlier versions that promise
// protection and that this version does not have. They break their file.
func UnsupportedSections() []string {
	return []string{"near", "learn", "judge", "confidence", "human"}
}
