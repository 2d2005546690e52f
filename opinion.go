package cardea

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Scope is the origin of a rule or setting. Lower values rank higher.
type Scope uint8

// The scopes, strongest first (docs/design.md#scopes).
const (
	ScopeSystem Scope = iota
	ScopeOrg
	ScopeProject
	ScopeUser
	// ScopeRole is the scope of a role itself: the paths of a built-in role.
	ScopeRole
	ScopeBuiltin
)

var scopeNames = [...]string{"system", "org", "project", "user", "role", "builtin"}

// Scopes returns all scopes, strongest first.
func Scopes() []Scope {
	return []Scope{ScopeSystem, ScopeOrg, ScopeProject, ScopeUser, ScopeRole, ScopeBuiltin}
}

// String returns the scope's word.
func (s Scope) String() string {
	if int(s) < len(scopeNames) {
		return scopeNames[s]
	}
	return fmt.Sprintf("scope(%d)", uint8(s))
}

// MarshalText writes the scope as its word.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Severity grades a match, in the words of rules files: "low", "medium", "high", "critical", or ""
// where the rule has none.
type Severity string

// The severities, from lowest to highest.
const (
	SeverityNone     Severity = ""
	SeverityLow      Severity = "low"
	SeverityMedium   Severity = "medium"
	SeverityHigh     Severity = "high"
	SeverityCritical Severity = "critical"
)

// Rank returns the position of s among the severities, from 0. An unknown word has rank 0.
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
	// LossHistory is work in a version history: commits, branches.
	LossHistory Loss = "history"
	// LossFiles is other files and data.
	LossFiles Loss = "files"
	// LossSecrets is a secret that is deleted or disclosed.
	LossSecrets Loss = "secrets"
	// LossNone means that nothing is lost, or nothing that has a word here.
	LossNone Loss = ""
	// LossGate is the files of the gate, which a person can write again.
	LossGate Loss = "gate"
)

// Losses lists the losses in their order.
func Losses() []Loss {
	return []Loss{LossProject, LossHistory, LossFiles, LossSecrets, LossNone, LossGate}
}

// IDHint describes the characters of an id, for error messages.
const IDHint = "use letters, digits, and . _ / -"

// IsID reports whether a text can be the id of a rule in settings, verdicts and the ledger. Such a
// text is too short and plain to carry instructions to a model.
func IsID(s string) bool {
	return s != "" && len(s) <= 100 && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._/-", r))
	})
}

// WholeCall is the Part of an opinion about the whole call.
const WholeCall = -1

// Decider gives opinions about a call.
type Decider interface {
	// Name is the decider's word in verdicts: "rules".
	Name() string
	// Decide returns opinions on ev without changing it. For an error of type [Issues], the
	// failure table decides the effect. Every other error is treated as Panicked.
	Decide(ctx context.Context, ev *Event) ([]Opinion, error)
}

// Opinion is the view of one decider on a part, or on the whole call.
type Opinion struct {
	// Decider and Rule name the author of the opinion: "rules", "git-force-push".
	Decider, Rule string
	Effect        Effect
	// Part is the index of the part, or WholeCall.
	Part  int
	Scope Scope
	// Source is where the rule is written, "file:line".
	Source   string
	Severity Severity
	Loses    Loss
	// File is the file or folder that the opinion is about, as a person reads it, or "".
	File string
	// Reason is for people. The model also reads it unless Withheld is set.
	Reason string
	// ForPeople is a part of Reason that only people read, such as advice.
	ForPeople string
	// Because is the incident or the reason for the rule, for people.
	Because string
	// Withheld means that the model only learns which rule applied: the reason comes from a project
	// that the person has not trusted.
	Withheld bool
	// Person turns an ask into a deny where no person attends.
	Person bool
	Advice Advice
	// Yields states whether an override replaces the opinion.
	Yields Yield
	// Overrides is set for an override's own opinion. It replaces yielding opinions about the same
	// part of its scope or below. OverridesRule is the rule that the override names, if any.
	Overrides     bool
	OverridesRule string
	// Lifts is set for an allow that wins over a defer about the same part, but not over a defer
	// about the whole call.
	Lifts bool
}

// Yield states whether an opinion yields to an override.
type Yield uint8

// The yields.
const (
	// YieldsNever is for opinions that a person wrote and for uncertain ones.
	YieldsNever Yield = iota
	// YieldsToOverride is for defaults: a built-in rule, or the paths of a role.
	YieldsToOverride
	// YieldsByName is for rules that protect the gate itself. Only an override that names the rule,
	// of the user scope or above, replaces it.
	YieldsByName
)

// replaces reports whether an override's opinion replaces another opinion about the same part.
func (o Opinion) replaces(other Opinion) bool {
	if !o.Overrides || other.Overrides || other.Scope < o.Scope || o.Scope == ScopeProject && other.Scope == ScopeUser {
		return false // a project loosens no rule of its user
	}
	switch other.Yields {
	case YieldsToOverride:
		return true
	case YieldsByName:
		return o.OverridesRule != "" && o.OverridesRule == other.Rule && (o.Scope <= ScopeOrg || o.Scope == ScopeUser)
	}
	return false
}

// By returns the decider and its rule as one word, "decider:rule".
func (o Opinion) By() string {
	if o.Rule == "" {
		return o.Decider
	}
	return o.Decider + ":" + o.Rule
}

// Advice accompanies an opinion and has no influence on the effect.
type Advice struct {
	// Context is text for the model, whatever the verdict.
	Context string
	// Instead is a better command or input for the same purpose.
	Instead string
	// Rewrite holds new values for fields of the tool input, by exact key, in the types of
	// [Call].Input.
	Rewrite map[string]any
	// AllowsRewritten allows the rewritten call where no other decider has an opinion on it.
	AllowsRewritten bool
}

// Empty reports whether a holds no advice. AllowsRewritten alone is not advice.
func (a Advice) Empty() bool {
	return a.Context == "" && a.Instead == "" && len(a.Rewrite) == 0
}
