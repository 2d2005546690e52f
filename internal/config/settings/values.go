package settings

import (
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/memory/meaning"
)

// Values holds the settings of a cardea.yaml, or of several merged ones, each with its own
// type. The table of keys (keys.go) defines their meaning, who may set them, and how scopes
// are merged. Switches of packs and rules are separate, since they apply to rules.
type Values struct {
	// Default replaces an empty answer after all stages.
	Default cardea.Defaults
	// OnError is the reaction to a failure.
	OnError cardea.OnError
	// FromEnv lists the variables that apply although they loosen, by the words of
	// [Variables].
	FromEnv     []string
	Permissions Permissions
	Sensitive   Sensitive
	Sessions    Sessions
	Judge       JudgeSettings
	Confidence  Confidence
	Near        Near
	Human       Human
	Policies    Policies
	Signals     map[string]Signal
	Actions     Actions
	Ledger      Ledger
	Daemon      Daemon
	Org         Org
	// Learn is LearnOff, LearnSuggest or LearnAuto.
	Learn string
}

// The values of [Judge].Backend.
const (
	ByChain      = "chain"
	BySupervisor = "supervisor"
)

// The values of [Human].Mode.
const (
	// ByHarness: in the harness's own prompt.
	ByHarness = "harness"
	// ByQueue: only in the queue.
	ByQueue = "queue"
	// ByBoth: in the queue, and in the harness's prompt if there is no answer.
	ByBoth = "both"
)

// What Cardea learns from calls that the user allowed in the harness's own prompt.
const (
	// LearnOff: nothing is recorded.
	LearnOff = "off"
	// LearnSuggest: they are recorded, and the user may turn them into lessons.
	LearnSuggest = "suggest"
	// LearnAuto: Cardea turns read-only ones into lessons.
	LearnAuto = "auto"
)

// Daemon holds the settings of cardea serve.
type Daemon struct {
	// HTTP is the address of its HTTP server, "" for none.
	HTTP string
	// Start is set if a hook that finds no daemon starts one.
	Start bool
	// Idle is the time without calls after which such a daemon ends; 0 means never.
	Idle time.Duration
}

// Fallback returns the settings for a call that the gate has not evaluated.
func (v Values) Fallback() cardea.Fallback {
	return cardea.Fallback{OnError: v.OnError, Default: v.Default}
}

// Permissions holds the settings for the harness's own lists.
type Permissions struct {
	Expand, Strict bool
	// Env is "any-but-dangerous" or "known-safe".
	Env string
}

// Sensitive holds globs of paths in addition to the built-in ones, and those exempt from
// the built-in rules.
type Sensitive struct{ AskWrite, AskRead, DenyRead, Exempt []string }

// Sessions holds the settings for the identity of agents.
type Sessions struct {
	// Registration is "optional" or "required".
	Registration string
	// Wait is how long a call of a team's session waits for its registration.
	Wait time.Duration
	// DefaultRole is the role of an unregistered session, "" for none.
	DefaultRole string
	// Agents maps types of subagents to roles.
	Agents map[string]string
	// LeadMayGive lists the roles that a lead may give.
	LeadMayGive []string
}

// Required reports whether a session needs a role.
func (s Sessions) Required() bool { return s.Registration == "required" }

// JudgeSettings holds the settings of the language model that decides calls without a
// matching rule.
type JudgeSettings struct {
	Enabled bool
	// Backend is ByChain or BySupervisor.
	Backend string
	// Config holds the chain, its budget, and the user's prices.
	judge.Config
	// Context lists the files of the project that the model gets as its policy, by their paths
	// in the project.
	Context []string
	// AllowOpaque makes an allow cover deferred and opaque parts. Adaptive adjusts the
	// required confidence to how often the user overrules the model.
	AllowOpaque, Adaptive bool
}

// Confidence is the confidence required of the model, from 0 to 1, by the scope for which
// its answer applies.
type Confidence struct{ Org, Project, User float64 }

// Human holds the settings for questions to the user.
type Human struct {
	// Mode is ByHarness, ByQueue or ByBoth.
	Mode string
	// Surfaces lists surfaces of Claude Code, in addition to the terminal, that show a
	// question in every mode.
	Surfaces []string
	// Timeout is how long a call waits in the queue. Ticket is how long a call that was denied
	// with a ticket may run after its approval.
	Timeout, Ticket time.Duration
	// Notify shows new entries on the desktop. Webhook and Ntfy are addresses to which they
	// are sent, "" for none.
	Notify        bool
	Webhook, Ntfy string
}

// Queues reports whether calls wait in the queue.
func (h Human) Queues() bool { return h.Mode != ByHarness }

// Near holds the settings for lessons on similar calls.
type Near struct {
	// Jaccard is the share of words that two calls must have in common, from 0 to 1. Calls
	// with fewer than MinTokens words are not compared.
	Jaccard   float64
	MinTokens int
	// Embedding is how similar in meaning two commands must be, from 0 to 1; 0 disables this
	// comparison.
	Embedding float64
	Embedder  Embedder
}

// Embedder is the source of vectors for commands: the built-in table, or a server.
type Embedder struct {
	Kind, URL, Model string
	// KeyVariable is the variable with the server's key, "" for none.
	KeyVariable string
}

// Policies holds the settings of Rego policies.
type Policies struct {
	// Functions lists OPA's functions with outside access that policies may use, such as
	// http.send.
	Functions []string
	// Checks lists commands that must have succeeded since the last change before git commit,
	// push and merge. Protected lists globs of paths that must not change, Context texts that
	// are added to every prompt.
	Checks, Protected, Context []string
}

// Signal is a script whose output policies use.
type Signal struct {
	Command string
	// TimeoutSeconds is at least 1.
	TimeoutSeconds int
	// Wrong is the error in the entry, "" if it is valid.
	Wrong string
}

// Command is a command to run after an answer.
type Command struct {
	Command string
	// When restricts when it runs.
	When When
}

// When is a condition on an answer. Every non-empty list must match.
type When struct {
	// Events, Tools and Harnesses are names or globs; Effects are words.
	Events, Tools, Harnesses, Effects []string
	// Severity is the minimum severity of the deciding opinion.
	Severity string
}

// Actions holds commands that run after the answer. They affect no verdict.
type Actions struct {
	OnAnyDenial, OnHalt, OnAsk []Command
	// Violations holds commands by rule id.
	Violations map[string][]Command
}

// Ledger holds the settings of the audit log.
type Ledger struct {
	// Dir is a folder, "" for the one in the state folder.
	Dir             string
	KeepDays, MaxMB int
	Levels          Levels
}

// Levels selects the verdicts that are recorded in addition to asks.
type Levels struct{ Allow, Abstain, Deny bool }

// Org is the organisation whose scope applies.
type Org struct {
	// Name is the name of its folder. Source is the source for "cardea sync". Key is the file
	// with the public key of its bundles, "" if no signature is required.
	Name, Source, Key string
}

// Defaults returns the default settings.
func Defaults() Values {
	return Values{
		Default:     cardea.Defaults{Attended: cardea.Abstain, Unattended: cardea.Abstain},
		OnError:     cardea.OnErrorDefer,
		Sessions:    Sessions{Registration: "optional", Wait: 5 * time.Second},
		Learn:       LearnSuggest,
		Judge:       JudgeSettings{Backend: ByChain},
		Confidence:  Confidence{Org: 0.9, Project: 0.7, User: 0.6},
		Near:        Near{Jaccard: 0.7, MinTokens: 3, Embedding: 0.85, Embedder: Embedder{Kind: meaning.Builtin}},
		Human:       Human{Mode: ByHarness, Timeout: time.Minute, Ticket: 10 * time.Minute, Notify: true},
		Permissions: Permissions{Strict: true, Env: "any-but-dangerous"},
		Daemon:      Daemon{Idle: limit.DaemonIdle},
		Ledger:      Ledger{KeepDays: 30, MaxMB: 256, Levels: Levels{Allow: true, Abstain: true, Deny: true}},
	}
}
