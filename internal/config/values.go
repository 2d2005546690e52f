package config

import (
	"time"

	"cardea.dev"
)

// Values are the settings of a cardea.yaml, or of several put together, each
// with its own type. What a key means, who may give it and how scopes are put
// together stands in the table of keys (keys.go); switches of packs and rules
// are apart, since they count for rules and not by themselves.
type Values struct {
	// Default replaces silence after all stages.
	Default cardea.Defaults
	// OnError is what a failure costs.
	OnError cardea.OnError
	// FromEnv are the variables that count although they loosen:
	// "permissions", "role".
	FromEnv     []string
	Permissions Permissions
	Sensitive   Sensitive
	Sessions    Sessions
	Near        Near
	// Learn is "off", "suggest" or "auto".
	Learn      string
	Judge      Judge
	Confidence Confidence
	Human      Human
	Policies   Policies
	Signals    map[string]Signal
	Actions    Actions
	Ledger     Ledger
	Org        Org
}

// Permissions are about the harness's own lists.
type Permissions struct {
	Expand, Strict bool
	// Env is "any-but-dangerous" or "known-safe".
	Env string
}

// Sensitive are globs of paths besides the built-in ones, and those that are
// exempt from them.
type Sensitive struct{ AskWrite, AskRead, DenyRead, Exempt []string }

// Sessions are about registering and roles.
type Sessions struct {
	// Registration is "optional" or "required".
	Registration string
	// Wait is how long the first call waits for a registration.
	Wait        time.Duration
	DefaultRole string
	// Agents are roles by type of agent.
	Agents map[string]string
}

// Near are the thresholds of similar lessons, from 0 to 1.
type Near struct {
	Jaccard, Embedding float64
	MinTokens          int
}

// Judge is about the judge's stage.
type Judge struct {
	Enabled bool
	// Backend is "chain" or "supervisor".
	Backend string
	Chain   []Provider
	// Context are files that the judge is shown.
	Context []string
	// Budget are the most calls or tokens in a time.
	Budget                map[string]int
	AllowOpaque, Adaptive bool
}

// Provider is a link of the judge's chain. A provider that is only named has
// that provider's own endpoint, model and time limit.
type Provider struct {
	Name, Endpoint, Model, APIKeyCommand string
	Timeout                              time.Duration
}

// Confidence are the thresholds below which the judge's answer is a
// recommendation, by the scope in which the lesson would be written.
type Confidence struct{ Org, Project, User float64 }

// Human is about asking a person.
type Human struct {
	// Mode is "harness", "queue" or "both".
	Mode    string
	Timeout time.Duration
}

// Policies are about Rego policies.
type Policies struct {
	// Functions are OPA's functions that policies may use although they reach
	// outside, such as http.send.
	Functions []string
	// Checks are the commands that must have succeeded since the last change
	// before git commit, push and merge. Protected are globs of paths that nothing
	// changes, Context texts that are told with every prompt.
	Checks, Protected, Context []string
}

// Signal is a script whose answer policies use.
type Signal struct {
	Command string
	// TimeoutSeconds is at least 1.
	TimeoutSeconds int
	// Wrong is what is wrong with the entry, "" where nothing is.
	Wrong string
}

// Command is something to run after an answer is out.
type Command struct {
	Command string
	// When narrows down when it runs.
	When When
}

// When is a condition on what an action is about. Every list that is given must
// have the word that is at hand.
type When struct {
	// Events, Tools and Harnesses are names or globs, Effects are words.
	Events, Tools, Harnesses, Effects []string
	// Severity is the least that the deciding opinion must have.
	Severity string
}

// Actions run after the answer, and affect no verdict.
type Actions struct {
	OnAnyDenial, OnHalt, OnAsk []Command
	// Violations are by id of rule.
	Violations map[string][]Command
}

// Ledger is about the audit log.
type Ledger struct {
	// Dir is a folder, "" for the one in the state folder.
	Dir             string
	KeepDays, MaxMB int
	Levels          Levels
}

// Levels say which verdicts are written down, besides those that ask.
type Levels struct{ Allow, Abstain, Deny bool }

// Org is the organisation whose scope counts.
type Org struct{ Name, Source string }

// Defaults are the settings where nobody says anything.
func Defaults() Values {
	return Values{
		Default:     cardea.Defaults{Attended: cardea.Abstain, Unattended: cardea.Abstain},
		OnError:     cardea.OnErrorDefer,
		Permissions: Permissions{Strict: true, Env: "any-but-dangerous"},
		Sessions:    Sessions{Registration: "optional", Wait: 5 * time.Second},
		Near:        Near{Jaccard: 0.7, Embedding: 0.85, MinTokens: 3},
		Learn:       "suggest",
		Judge:       Judge{Backend: "chain"},
		Confidence:  Confidence{Org: 0.9, Project: 0.7, User: 0.6},
		Human:       Human{Mode: "harness", Timeout: time.Minute},
		Ledger:      Ledger{KeepDays: 30, MaxMB: 256, Levels: Levels{Allow: true, Abstain: true, Deny: true}},
	}
}
