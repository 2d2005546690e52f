package settings

import (
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/memory/meaning"
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
	// FromEnv are the variables that count although they loosen, by the words of
	// [Variables].
	FromEnv     []string
	Permissions Permissions
	Sensitive   Sensitive
	Sessions    Sessions
	Judge       Judge
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

// Who is asked as judge.
const (
	ByChain      = "chain"
	BySupervisor = "supervisor"
)

// Where a person is asked.
const (
	// ByHarness: in the harness's own prompt.
	ByHarness = "harness"
	// ByQueue: in the queue alone.
	ByQueue = "queue"
	// ByBoth: in the queue, and in the harness's prompt when nobody answered there.
	ByBoth = "both"
)

// What becomes of calls that the person allowed in the harness's own prompt.
const (
	// LearnOff: nothing is noted.
	LearnOff = "off"
	// LearnSuggest: they are noted, and the person may make lessons of them.
	LearnSuggest = "suggest"
	// LearnAuto: of those that only read, Cardea makes lessons by itself.
	LearnAuto = "auto"
)

// Daemon is about cardea serve.
type Daemon struct {
	// HTTP is the address at which it answers over HTTP, "" for none.
	HTTP string
	// Start is set where a hook starts it that finds none.
	Start bool
	// Idle is after how long without a call it ends that was started so; 0 is never.
	Idle time.Duration
}

// Fallback are the settings for a call that no gate has judged.
func (v Values) Fallback() cardea.Fallback {
	return cardea.Fallback{OnError: v.OnError, Default: v.Default}
}

// Permissions are about the harness's own lists.
type Permissions struct {
	Expand, Strict bool
	// Env is "any-but-dangerous" or "known-safe".
	Env string
}

// Sensitive are globs of paths besides the built-in ones, and those that the
// built-in rules leave alone.
type Sensitive struct{ AskWrite, AskRead, DenyRead, Exempt []string }

// Sessions are about who an agent is.
type Sessions struct {
	// Registration is "optional" or "required".
	Registration string
	// Wait is how long a call of a team's session waits for its registration.
	Wait time.Duration
	// DefaultRole is the role of a session that nobody registered, "" for none.
	DefaultRole string
	// Agents are the roles of subagents by their type.
	Agents map[string]string
	// LeadMayGive are the roles that a lead may give.
	LeadMayGive []string
}

// Required reports whether a session needs a role.
func (s Sessions) Required() bool { return s.Registration == "required" }

// Judge is about the language model that is asked about what no rule decides.
type Judge struct {
	Enabled bool
	// Backend is ByChain or BySupervisor.
	Backend string
	// Config are the chain, its budget, and the person's prices.
	judge.Config
	// Context are files of the project whose text the model is told as its policy, by
	// their paths in the project.
	Context []string
	// AllowOpaque lets an allow cover deferred and opaque parts, Adaptive lets the
	// confidence that is needed follow what the person overrules.
	AllowOpaque, Adaptive bool
}

// Confidence is how certain the model must be, from 0 to 1, by the scope for which its
// answer would count.
type Confidence struct{ Org, Project, User float64 }

// Human is about the person who is asked.
type Human struct {
	// Mode is ByHarness, ByQueue or ByBoth.
	Mode string
	// Surfaces are more of Claude Code than the terminal on which a person sees a question
	// in every mode.
	Surfaces []string
	// Timeout is how long a call waits in the queue, Ticket how long after its approval
	// a call may run that was denied with a ticket.
	Timeout, Ticket time.Duration
	// Notify shows new entries on the desktop. Webhook and Ntfy are addresses to which
	// they are sent, "" for none.
	Notify        bool
	Webhook, Ntfy string
}

// Queues reports whether calls wait in the queue.
func (h Human) Queues() bool { return h.Mode != ByHarness }

// Near is about lessons on similar calls.
type Near struct {
	// Jaccard is how much of their words two calls must share, from 0 to 1. A call of
	// fewer than MinTokens words is not compared by words.
	Jaccard   float64
	MinTokens int
	// Embedding is how much alike in meaning two commands must be, from 0 to 1; 0 for
	// no such comparison.
	Embedding float64
	Embedder  Embedder
}

// Embedder is who makes vectors of commands: the built-in table, or a server.
type Embedder struct {
	Kind, URL, Model string
	// KeyVariable names the variable with the server's key, "" for none.
	KeyVariable string
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
type Org struct {
	// Name is that of its folder. Source is where "cardea sync" gets it from, Key the
	// file with the public key of its bundles, "" for such as need not be signed.
	Name, Source, Key string
}

// Defaults are the settings where nobody says anything.
func Defaults() Values {
	return Values{
		Default:     cardea.Defaults{Attended: cardea.Abstain, Unattended: cardea.Abstain},
		OnError:     cardea.OnErrorDefer,
		Sessions:    Sessions{Registration: "optional", Wait: 5 * time.Second},
		Learn:       LearnSuggest,
		Judge:       Judge{Backend: ByChain},
		Confidence:  Confidence{Org: 0.9, Project: 0.7, User: 0.6},
		Near:        Near{Jaccard: 0.7, MinTokens: 3, Embedding: 0.85, Embedder: Embedder{Kind: meaning.Builtin}},
		Human:       Human{Mode: ByHarness, Timeout: time.Minute, Ticket: 10 * time.Minute, Notify: true},
		Permissions: Permissions{Strict: true, Env: "any-but-dangerous"},
		Daemon:      Daemon{Idle: limit.DaemonIdle},
		Ledger:      Ledger{KeepDays: 30, MaxMB: 256, Levels: Levels{Allow: true, Abstain: true, Deny: true}},
	}
}
