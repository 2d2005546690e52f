// Package rules reads and applies rules. In their language people, and the built-in packs,
// define what may run, what may not, and what is better.
//
// A rule is about a part of a call, never about a line of text: every condition of its
// match must hold on the same part. A rule that tightens reads a part broadly, since the
// agent may spell a command in many ways. A rule that allows reads it strictly, and allows
// nothing that it does not mention (allow.go).
//
// Rules are plain values, so that the built-in ones are a table in the program's data
// segment and cost nothing to load. Regular expressions and globs are compiled when a call
// reaches them.
package rules

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
)

// Rule is one rule.
type Rule struct {
	// ID is the name of the rule in verdicts and switches. It is unique in a file.
	ID string
	// Pack is the file's base name without extension. A switch for it applies to all rules
	// of the file.
	Pack string
	// Source is the position of the rule, "packs/git.yaml:12".
	Source string
	// Scope is the scope of its file.
	Scope cardea.Scope
	// Trusted is set if the person trusts the rule's project, or the rule is from the
	// organisation whose allows apply. It matters only for project and org scope.
	Trusted bool
	// Root is the folder to which path globs are relative, "" for the event's project.
	Root string
	// Events are globs of event kinds. If empty, the rule is for PreToolUse.
	Events []string
	// Tools are globs of tool names, with harness aliases resolved. If empty, the rule is
	// for every tool.
	Tools []string
	// Match is the condition of the rule.
	Match Match
	// Effect is the effect of the rule. Abstain is for advice only.
	Effect cardea.Effect
	// Person turns an ask into a deny if no person attends the session.
	Person bool
	// Certain limits the rule to what a part certainly does, without its potential effects.
	Certain bool
	// Message is the reason for the model and the person, "" for a default text.
	Message string
	// Instead is a better way. Context is text for the model, whatever the decision.
	// Rewrite holds the fields of the tool input to replace.
	Instead, Context string
	Rewrite          []Field
	Severity         cardea.Severity
	// Loses names the loss that the rule prevents. It orders the reasons of a verdict.
	Loses cardea.Loss
	// Because is the incident or cause of the rule.
	Because string
	// Tests are the rule's own examples. [Rule.Examples] returns them for any rule.
	Tests []Test
	// Packed holds the tests of a rule in the program's own table, as JSON. Only "cardea
	// rules test" reads them, and thousands of values with pointers would slow down each
	// start of the program.
	Packed string
}

// Examples returns the rule's tests. It fails if Packed is invalid.
func (r *Rule) Examples() ([]Test, error) {
	if r.Packed == "" {
		return r.Tests, nil
	}
	var tests []Test
	if err := json.Unmarshal([]byte(r.Packed), &tests); err != nil {
		return nil, fmt.Errorf("read the tests of rule %s: %w", r.ID, err)
	}
	return tests, nil
}

// PackTests moves the rule's tests to Packed.
func (r *Rule) PackTests() error {
	packed, err := json.Marshal(r.Tests)
	if err != nil {
		return fmt.Errorf("pack the tests of rule %s: %w", r.ID, err)
	}
	r.Packed, r.Tests = string(packed), nil
	return nil
}

// Field is a field of the tool input and its new value.
type Field struct{ Name, Value string }

// Match is a set of conditions. All that are given must hold on the same part. The zero
// value matches everything.
type Match struct {
	// Command holds programs with leading subcommands. The part must begin with one of
	// them.
	Command [][]string
	// AnyProgram also matches a part whose program is unknown before it runs: a variable, a
	// pattern for file names.
	AnyProgram bool
	// Programs has a bit for the program of each command (bitOf). If only the alternatives
	// name commands, it has their bits; 0 is unknown. It is computed when the rule is read,
	// and saves most parts the comparison with a long list.
	Programs uint64
	// Any are alternatives. One of them must also hold on the part.
	Any []Match
	// Flags are options, one of which must be given. In a rule that allows, they are the
	// only permitted options.
	Flags []string
	// Args are RE2 expressions. One must match an operand; in a rule that allows, every
	// operand must match one.
	Args []string
	// Paths are globs, Access kinds of access, Hosts globs of host names. Those given must
	// hold on the same access; in a rule that allows, on every access.
	Paths  []string
	Access []cardea.AccessKind
	Hosts  []string
	// Outside requires a path, on the same access, outside of the folders of the work, of
	// temporary files and of the person's caches.
	Outside bool
	// Own are kinds of the gate's own files. The same access must touch one of them at its
	// actual place.
	Own []Own
	// Flows are kinds of flows. The part must be an end of one.
	Flows []string
	// Env are globs of variables, one of which the part must set.
	Env []string
	// StartedBy are RE2 expressions, one of which must match a command that starts the
	// part.
	StartedBy []string
	// Unless are options as on the command line. The rule ignores a part that certainly has
	// one of them.
	Unless []string
	// UnlessCommand are programs. The rule ignores a part that starts one of them.
	UnlessCommand []string
	// UnlessPaths are globs. The rule ignores an access if they match all of it, as
	// strictly as in a rule that allows. UnlessMetadata ignores reads of names and
	// attributes. UnlessSearch ignores accesses that only may reach the path: a recursive
	// access to a folder above, or a pattern of the line such as *.json.
	UnlessPaths                  []string
	UnlessMetadata, UnlessSearch bool
	// UnlessReads ignores a part that certainly only reads, or only asks for help.
	UnlessReads bool
	// HoldsKey requires a file with a private key, on the same access.
	HoldsKey bool
	// Redirection requires a file that the shell itself opens, on the same access.
	Redirection bool
	// Stdin is for rules that allow: whether the line may give the part input. It is
	// "none", "any", or "" to derive it from the rest of the rule.
	Stdin string
	// UnlessText is an RE2 expression. The rule ignores a field, or a part, if it matches
	// the whole text. UnknownPath requires an access with an unknown target. Only the rules
	// of settings have it; files of rules cannot.
	UnlessText  string
	UnknownPath bool
	// Opaque requires an opaque spot in the part or the call.
	Opaque bool
	// Roles are globs of agent roles.
	Roles []string
	// Field is a field of the tool input, dotted for nested ones. The opinion is then about
	// the whole call.
	Field string
	// Pattern is an RE2 expression that ignores case. It is for the field, or for the
	// part's texts if there is no field.
	Pattern string
	// Needs are texts, in lower case, of which every match of Pattern contains one. If
	// empty, none is known. They are computed when the rule is read, and save most calls
	// compiling the pattern.
	Needs []string
}

// Test is an example in a rule: a call, and the expected result of the rule.
type Test struct {
	// Tool is the canonical name of the tool, "" for the rule's own. Input is the tool
	// input as JSON.
	Tool  string `json:",omitempty"`
	Input string
	// Event, Role and Cwd describe the event. "" means PreToolUse, no role and the
	// project's folder.
	Event string `json:",omitempty"`
	Role  string `json:",omitempty"`
	Cwd   string `json:",omitempty"`
	// Expect is an effect, "none" for no opinion, "block" for deny or halt, or "pass" for
	// anything else.
	Expect string
	// Contains is a text that the rule's message or advice must contain.
	Contains string `json:",omitempty"`
	Desc     string `json:",omitempty"`
	// Line is the line of the test in the file.
	Line int
}

// Tightens reports whether only a deny or ask of the rule applies, without advice. This is
// so in a project that the person does not trust, and for an organisation that no setting
// names.
func (r *Rule) Tightens() bool {
	return !r.Trusted && (r.Scope == cardea.ScopeProject || r.Scope == cardea.ScopeOrg)
}

// Switches change rules by id: the settings packs and rules of one scope.
type Switches struct {
	// By is the scope of the settings, File their file.
	By   cardea.Scope
	File string
	// Off are ids, names of packs, or globs of either.
	Off []string
	// Effect replaces the effects of rules, by exact id.
	Effect map[string]cardea.Effect
}

// SelfProtection is the pack that protects the gate. Switches change its rules only by
// exact id, and only from user scope or above.
const SelfProtection = "builtins"

// TurnsOff reports whether Off matches a name, which must not be that of a self-protection
// rule.
func (s Switches) TurnsOff(name string) bool {
	return slices.ContainsFunc(s.Off, func(o string) bool { return o == name || paths.MatchName(o, name) })
}

// givesEffect reports whether the switches change the effect of a rule within their reach.
func (s Switches) givesEffect(r *Rule) bool {
	_, gives := s.Effect[r.ID]
	return gives && s.reaches(r)
}

// reaches reports whether the rule is of the switches' scope or a weaker one. An
// organisation has no power over another one.
func (s Switches) reaches(r *Rule) bool {
	if s.By == cardea.ScopeOrg && r.Scope == cardea.ScopeOrg && s.File != "" {
		return strings.HasPrefix(r.Source, filepath.Dir(s.File)+string(filepath.Separator))
	}
	return s.By <= r.Scope
}

// counts reports whether the switches' scope may change the rule.
func (s Switches) counts(r *Rule) bool {
	switch {
	case r.Effect == cardea.Halt, s.By == cardea.ScopeProject, s.By == cardea.ScopeBuiltin:
		return s.By == r.Scope && s.reaches(r)
	default:
		return s.reaches(r)
	}
}

// TurnsOffRule returns the entry of Off that switches a rule off, and whether the switches'
// scope may do that.
func (s Switches) TurnsOffRule(r *Rule) (string, bool) {
	name, is := s.off(r)
	return name, is && s.counts(r)
}

// Names reports whether a name of the switches matches a rule, even if their scope may not
// change it.
func (s Switches) Names(name string, r *Rule) bool {
	if _, gives := s.Effect[name]; gives && name == r.ID {
		return true
	}
	return slices.Contains(s.Off, name) && (name == r.Pack || paths.MatchName(name, r.ID) || paths.MatchName(name, r.Pack))
}

// off returns the entry of Off that switches the rule off, and whether there is one.
func (s Switches) off(r *Rule) (string, bool) {
	for _, o := range s.Off {
		if o == r.ID {
			return o, true
		}
		if r.Scope == cardea.ScopeBuiltin && r.Pack == SelfProtection {
			continue
		}
		if o == r.Pack || paths.MatchName(o, r.ID) || paths.MatchName(o, r.Pack) {
			return o, true
		}
	}
	return "", false
}
