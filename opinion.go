package cardea

import (
	"fmt"
	"slices"
	"strings"
)

// Scope is who wrote a thing. Lower values rank higher.
type Scope uint8

// The scopes, strongest first (docs/design.md#scopes).
const (
	ScopeSystem Scope = iota
	ScopeOrg
	ScopeProject
	ScopeUser
	// ScopeRole is what a role says by itself: a built-in role's paths.
	ScopeRole
	ScopeBuiltin
)

var scopeNames = [...]string{"system", "org", "project", "user", "role", "builtin"}

// Scopes are all of them, strongest first.
func Scopes() []Scope {
	return []Scope{ScopeSystem, ScopeOrg, ScopeProject, ScopeUser, ScopeRole, ScopeBuiltin}
}

// String is the scope's word.
func (s Scope) String() string {
	if int(s) < len(scopeNames) {
		return scopeNames[s]
	}
	return fmt.Sprintf("scope(%d)", uint8(s))
}

// MarshalText writes the scope as its word.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Severity is how bad a match is, in the words of rules files: "low",
// "medium", "high", "critical", or "" where nobody said.
type Severity string

// The severities, from lowest to highest.
const (
	SeverityNone     Severity = ""
	SeverityLow      Severity = "low"
	SeverityMedium   Severity = "medium"
	SeverityHigh     Severity = "high"
	SeverityCritical Severity = "critical"
)

// Rank orders severities; an unknown word ranks like none.
func (s Severity) Rank() int {
	ranks := []Severity{SeverityNone, SeverityLow, SeverityMedium, SeverityHigh, SeverityCritical}
	return max(slices.Index(ranks, s), 0)
}

// Loss names what would be lost, in the words of rules files.
type Loss string

// The losses, in the order in which reasons are given.
const (
	// LossProject is the project, the home folder or the machine.
	LossProject Loss = "project"
	// LossHistory is work that is kept in a history: commits, branches.
	LossHistory Loss = "history"
	// LossFiles is other files and data.
	LossFiles Loss = "files"
	// LossSecrets is a secret, deleted or told.
	LossSecrets Loss = "secrets"
	// LossNone is for what loses nothing, or nothing that has a word here.
	LossNone Loss = ""
	// LossGate is the files of the gate, which a person can write again.
	LossGate Loss = "gate"
)

// Losses lists the losses in their order.
func Losses() []Loss {
	return []Loss{LossProject, LossHistory, LossFiles, LossSecrets, LossNone, LossGate}
}

// IDHint says what an id may be.
const IDHint = "use letters, digits, and . _ / -"

// IsID reports whether a text can be the id of a rule, by which settings,
// verdicts and the ledger name it. It says nothing else to a model.
func IsID(s string) bool {
	return s != "" && len(s) <= 100 && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._/-", r))
	})
}

// WholeCall is the Part of an opinion about the whole call.
const WholeCall = -1

// Opinion is what one decider says about a part, or about the whole call.
type Opinion struct {
	// Decider and Rule name who speaks: "rules", "git-force-push".
	Decider, Rule string
	Effect        Effect
	// Part is the index of the part, or WholeCall.
	Part  int
	Scope Scope
	// Source is where the rule is written, "file:line".
	Source   string
	Severity Severity
	Loses    Loss
	// File is the file or folder that the opinion is about, as a person reads it; ""
	// for none.
	File string
	// Reason is for people, and for the model unless Withheld.
	Reason string
	// ForPeople is a part of Reason that the model does not read: advice for people.
	ForPeople string
	// Because is the incident or cause behind the rule, for people.
	Because string
	// Withheld means that the model is told only which rule spoke: the
	// reason comes from a project that the person has not trusted.
	Withheld bool
	// Person turns an ask into a deny where nobody is attending.
	Person bool
	Advice Advice
	// Yields says whether an override takes the opinion's place.
	Yields Yield
	// Overrides is set for an override's own opinion: what yields about the same part,
	// and is of its scope or below, does not count. OverridesRule is the rule that it
	// names, if any.
	Overrides     bool
	OverridesRule string
	// Lifts is set for an allow that wins over a defer about the same part. It wins over
	// nothing that is about the whole call.
	Lifts bool
}

// Yield says whether an opinion yields to an override.
type Yield uint8

// The yields.
const (
	// YieldsNever is what a person wrote, and what is uncertain.
	YieldsNever Yield = iota
	// YieldsToOverride is a default: a built-in rule, or the paths of a role.
	YieldsToOverride
	// YieldsByName is a rule that protects the gate itself. Only an override that
	// names it, of a person's own scope or above, takes its place.
	YieldsByName
)

// replaces reports whether an override's opinion takes the place of another one about
// the same part.
func (o Opinion) replaces(other Opinion) bool {
	if !o.Overrides || other.Overrides || other.Scope < o.Scope || o.Scope == ScopeProject && other.Scope == ScopeUser {
		return false // a project loosens nothing that its person wrote
	}
	switch other.Yields {
	case YieldsToOverride:
		return true
	case YieldsByName:
		return o.OverridesRule != "" && o.OverridesRule == other.Rule && (o.Scope <= ScopeOrg || o.Scope == ScopeUser)
	}
	return false
}

// By names decider and rule in one word, as a verdict does.
func (o Opinion) By() string {
	if o.Rule == "" {
		return o.Decider
	}
	return o.Decider + ":" + o.Rule
}

// Advice rides along with an opinion and decides nothing.
type Advice struct {
	// Context is told to the model whatever is decided.
	Context string
	// Instead is a command or input that does the same, better.
	Instead string
	// Rewrite replaces fields of the tool input, by exact key. Values are in the
	// types of [Call].Input.
	Rewrite map[string]any
	// AllowsRewritten allows what the rewrite made, where nobody else speaks about
	// it.
	AllowsRewritten bool
}

// Empty reports whether there is no advice.
func (a Advice) Empty() bool {
	return a.Context == "" && a.Instead == "" && len(a.Rewrite) == 0
}
