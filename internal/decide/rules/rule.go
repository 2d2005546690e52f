// Package rules reads and applies rules: the language in which people, and the
// built-in packs, say what may run, what may not, and what is better.
//
// A rule speaks about a piece of a call, never about a line of text: every
// condition of its match must hold on the same part. A rule that tightens
// reads a part generously, since the agent may spell a command in many ways; a
// rule that allows reads it strictly, since what it does not mention is not
// allowed (allow.go).
//
// Rules are plain values, so that the built-in ones are a table in the
// program's data segment and cost nothing to load. Regular expressions and
// globs are compiled when a call reaches them.
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
	// ID names the rule in verdicts and switches. It is unique in a file.
	ID string
	// Pack is the file's base name without extension; a switch for it
	// switches all rules of the file.
	Pack string
	// Source is where the rule is written, "packs/git.yaml:12".
	Source string
	// Scope is who wrote it.
	Scope cardea.Scope
	// Trusted is set where the person trusts the project that the rule comes
	// from, or where the organisation is the one whose allows count. Only rules of
	// project and org scope need it.
	Trusted bool
	// Root is the folder that relative path globs are relative to; "" is the
	// event's project.
	Root string
	// Events are globs of event kinds; none is PreToolUse.
	Events []string
	// Tools are globs of tool names, harness aliases folded in; none is every
	// tool.
	Tools []string
	// Match is what must hold.
	Match Match
	// Effect is what the rule wants. Abstain is advice only.
	Effect cardea.Effect
	// Person turns an ask into a deny where nobody is attending.
	Person bool
	// Certain makes it speak about what a part does for certain alone, not about
	// what it may do.
	Certain bool
	// Message is told to the model and the person; "" is a default text.
	Message string
	// Instead is the better way, Context what the model is told whatever is
	// decided, Rewrite the fields of the tool input to replace.
	Instead, Context string
	Rewrite          []Field
	Severity         cardea.Severity
	// Loses names what is lost where the rule holds. It orders the reasons of a verdict.
	Loses cardea.Loss
	// Because is the incident or cause behind the rule.
	Because string
	// Tests are the rule's own examples; Examples gives them for any rule.
	Tests []Test
	// Packed are the tests of a rule in the program's own table, as JSON: only
	// "cardea rules test" looks at them, and thousands of values with pointers would
	// cost every start of the program.
	Packed string
}

// Examples are the rule's tests.
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

// Match is a set of conditions. All that are given must hold on the same part.
// The zero value holds for everything.
type Match struct {
	// Command are programs with leading subcommands; one of them must lead
	// the part.
	Command [][]string
	// AnyProgram is set where the command may also be that of a part whose program is
	// only known when it runs: a variable, a pattern for file names.
	AnyProgram bool
	// Programs has a bit for the program of each command (bitOf), or of each
	// alternative's where all of them name commands; 0 is unknown. It is
	// worked out when the rule is read, and saves most parts the comparison
	// with a long list.
	Programs uint64
	// Any are alternatives; one of them must hold on the part, too.
	Any []Match
	// Flags are options; one of them must be given. In a rule that allows
	// they are the only options that may be given.
	Flags []string
	// Args are RE2 expressions; one must match an operand. In a rule that
	// allows, every operand must be matched.
	Args []string
	// Paths are globs, Access kinds of access, Hosts globs of host names.
	// What is given of them must hold on the same access; in a rule that
	// allows, on every access.
	Paths  []string
	Access []cardea.AccessKind
	Hosts  []string
	// Outside asks for a path, on the same access, that lies in no folder of the
	// work, of temporary files or of the person's caches.
	Outside bool
	// Own are things of the gate's own; the access, the same one, touches one
	// of them where it lies in truth.
	Own []Own
	// Flows are kinds of flows that the part is an end of.
	Flows []string
	// Env are globs of variables; one of them must be set for the part.
	Env []string
	// StartedBy are RE2 expressions; one must be found in a command that starts the part.
	StartedBy []string
	// Unless are options, as they stand on the command line; the part is left
	// alone where one of them is given for certain.
	Unless []string
	// UnlessCommand are programs; a part that starts one of them is left alone.
	UnlessCommand []string
	// UnlessPaths are globs; an access is left alone where they name all of it,
	// read as strictly as in a rule that allows. UnlessMetadata leaves reads of
	// names and attributes alone, UnlessSearch what only may come by: a folder
	// above, accessed as a whole, and a pattern of the line such as *.json.
	UnlessPaths                  []string
	UnlessMetadata, UnlessSearch bool
	// UnlessReads leaves a part alone that only reads, for certain, or only asks for help.
	UnlessReads bool
	// HoldsKey asks for a file, on the same access, that holds a private key.
	HoldsKey bool
	// Redirection asks for a file, on the same access, that the shell itself opens.
	Redirection bool
	// Stdin says, in a rule that allows, whether the line may give the part something to
	// read: "none", "any", or "" for what follows from the rest of the rule.
	Stdin string
	// UnlessText is an RE2 expression;
	// a field is left alone where it matches all of it. UnknownPath asks for an
	// access of which it is not known what it touches. Rules that settings stand
	// for have them, and files of rules cannot.
	UnlessText  string
	UnknownPath bool
	// Opaque asks for an opaque spot in the part or the call.
	Opaque bool
	// Roles are globs of agent roles.
	Roles []string
	// Field is a field of the tool input, dotted for nested ones. The opinion
	// is about the whole call then.
	Field string
	// Pattern is an RE2 expression, case-insensitive, for the field, or for
	// the part's canonical text where no field is given.
	Pattern string
	// Needs are texts, in lower case, of which every match of Pattern
	// contains one; none is unknown. They are found when the rule is read, and
	// save most calls the compiling of the pattern.
	Needs []string
}

// Test is an example in a rule: a call, and what the rule says about it.
type Test struct {
	// Tool is the canonical name of the tool, "" for the one that the rule is
	// about. Input is the tool input as JSON.
	Tool  string `json:",omitempty"`
	Input string
	// Event, Role and Cwd are the event's; "" is PreToolUse, no role and the
	// project's folder.
	Event string `json:",omitempty"`
	Role  string `json:",omitempty"`
	Cwd   string `json:",omitempty"`
	// Expect is an effect, "none" for silence, "block" for deny or halt, or
	// "pass" for anything else.
	Expect string
	// Contains must be part of what the rule tells.
	Contains string `json:",omitempty"`
	Desc     string `json:",omitempty"`
	// Line is the line of the test in the file.
	Line int
}

// Tightens reports whether only a deny or ask of the rule counts, without advice: in
// a project that the person does not trust, and where nothing names the organisation.
func (r *Rule) Tightens() bool {
	return !r.Trusted && (r.Scope == cardea.ScopeProject || r.Scope == cardea.ScopeOrg)
}

// Switches change rules by id: the settings packs and rules of one scope.
type Switches struct {
	// By is the scope whose settings these are, File the file.
	By   cardea.Scope
	File string
	// Off are ids, names of packs, or globs of either.
	Off []string
	// Effect gives rules another effect, by exact id.
	Effect map[string]cardea.Effect
}

// SelfProtection is the pack that keeps the gate shut. Its rules are switched
// by exact id only, and only from user scope or above.
const SelfProtection = "builtins"

// TurnsOff reports whether something that goes by a name, and is no rule of the
// pack that protects the gate, is switched off.
func (s Switches) TurnsOff(name string) bool {
	return slices.ContainsFunc(s.Off, func(o string) bool { return o == name || paths.MatchName(o, name) })
}

// givesEffect reports whether the switches give a rule of their reach an effect.
func (s Switches) givesEffect(r *Rule) bool {
	_, gives := s.Effect[r.ID]
	return gives && s.reaches(r)
}

// reaches reports whether the rule is of the switches' scope or a weaker one. An
// organisation is none over another one.
func (s Switches) reaches(r *Rule) bool {
	if s.By == cardea.ScopeOrg && r.Scope == cardea.ScopeOrg && s.File != "" {
		return strings.HasPrefix(r.Source, filepath.Dir(s.File)+string(filepath.Separator))
	}
	return s.By <= r.Scope
}

// counts reports whether the switches' scope may change the rule at all.
func (s Switches) counts(r *Rule) bool {
	switch {
	case r.Effect == cardea.Halt, s.By == cardea.ScopeProject, s.By == cardea.ScopeBuiltin:
		return s.By == r.Scope && s.reaches(r)
	default:
		return s.reaches(r)
	}
}

// TurnsOffRule is the entry of Off that switches a rule off, where the switches'
// scope may.
func (s Switches) TurnsOffRule(r *Rule) (string, bool) {
	name, is := s.off(r)
	return name, is && s.counts(r)
}

// Names reports whether a name of the switches is about a rule, whether or not the
// switches' scope may change it.
func (s Switches) Names(name string, r *Rule) bool {
	if _, gives := s.Effect[name]; gives && name == r.ID {
		return true
	}
	return slices.Contains(s.Off, name) && (name == r.Pack || paths.MatchName(name, r.ID) || paths.MatchName(name, r.Pack))
}

// off is the entry of Off that switches the rule off.
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
