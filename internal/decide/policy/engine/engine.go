// Package engine has the types for parsing, compiling, testing and evaluating policies. It
// contains no code of OPA.
//
// There are two engines. Package rego is OPA in this process. Package remote asks another
// process that has rego. The hook is a process per call, and linking OPA would slow down
// each of them, so it uses remote (docs/decisions/engine-process.md). Both give the same answers, since
// inputs and outputs are texts and JSON values. An engine can make all of its state again
// from the texts, so nothing is lost if its process ends.
package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"cardea.dev/internal/base/diagnostic"
)

// Engine parses, compiles and evaluates policies. It is safe for concurrent use. An error
// means that the engine itself fails. Mistakes in policies are part of the results.
type Engine interface {
	// Ready returns the reason why the engine cannot work, nil if none is known. It starts
	// nothing.
	Ready() error
	// Wake announces that the engine is needed soon. It does not wait.
	Wake()
	// Parse returns the facts of files, in their order.
	Parse(ctx context.Context, files []Source) ([]Parsed, error)
	// Look returns mistakes that OPA does not report in files that parse, in the order of
	// the files.
	Look(ctx context.Context, files []Source) ([]diagnostic.Diagnostic, error)
	// Fields returns the input fields that files read and that no event has. It ignores
	// files that do not compile.
	Fields(ctx context.Context, files []Source, o Options, shapes []Shape) ([]diagnostic.Diagnostic, error)
	// Format returns the texts of files as OPA's formatter writes them, in their order.
	Format(ctx context.Context, files []Source) ([]Formatted, error)
	// Compile compiles files together. It need not wait until they are compiled.
	Compile(files []Source, o Options) Program
	// Test runs the test rules of files that are compiled together.
	Test(ctx context.Context, files []Source, o TestOptions) (Tested, error)
}

// Program is a set of policies compiled together. It is safe for concurrent use.
type Program interface {
	// Broken returns the files left out because of mistakes, with the mistakes. It waits
	// until all are compiled.
	Broken(ctx context.Context) (map[string]Problems, error)
	// Eval returns the values of rules, in order. It ends when ctx does. A rule for which
	// no time was left has an error.
	Eval(ctx context.Context, queries []Query) []Result
}

// Source is a file of policies. Path is its name in messages.
type Source struct {
	Path, Text string
	// Data is set if the file is a data document, JSON or YAML by its extension. It is the
	// path of the document below data, with slashes; "/" is data itself.
	Data string `json:",omitempty"`
}

// Folders returns the names on the path from data to a document.
func (s Source) Folders() []string {
	return strings.FieldsFunc(s.Data, func(r rune) bool { return r == '/' })
}

// Options configure the compilation of policies.
type Options struct {
	// Extra are functions that policies may use in addition to the pure ones.
	Extra []string
	// Checked is set if exactly these files compiled before with all checks, so that slow
	// checks can be skipped.
	Checked bool
	// Strict also applies OPA's strict mode.
	Strict bool
	// Print collects what policies print. Otherwise calls of print have no effect.
	Print bool
}

// Shape describes the input fields of some files by examples. A map has exactly the
// example's fields. The elements of a list have the shape of the first one. An empty
// example may be any value.
type Shape struct {
	// Files are the paths of the files.
	Files []string
	// Input is an example of input. Its tool_input is ignored.
	Input map[string]any
	// Tools are examples of tool_input, by tool. The input of any other tool is unknown.
	Tools map[string]any
	// Routed are the tools to which files are routed, by path. A file without an entry is
	// routed to every tool.
	Routed map[string][]string
}

// TestOptions select the tests to run.
type TestOptions struct {
	// Extra are functions that files may use in addition to the pure ones.
	Extra []string
	// Run is a regular expression for the names of tests to run, data.PACKAGE.NAME. "" runs
	// all.
	Run string
}

// Parsed is the result of parsing a file.
type Parsed struct {
	// Facts are the facts of the file. For a file with mistakes they are those of its head,
	// if it can be read.
	Facts Facts
	// Problems are the reasons why it cannot be parsed, or nil.
	Problems Problems
	// Lost is set if not even the head can be read.
	Lost bool
}

// Formatted is the result of formatting a file.
type Formatted struct {
	Text string
	// Problems are the reasons why it cannot be formatted, or nil.
	Problems Problems
}

// Query is a rule of a package, with its input.
type Query struct {
	Package, Rule string
	Input         Input
}

// Result is the JSON value of a rule, nil if it is undefined.
type Result struct {
	Value any
	Err   error
	Took  time.Duration
	// Printed is the output of the rule, and of the rules evaluated for it.
	Printed []Printed
}

// Printed is the output of one call of print in a policy.
type Printed struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// Errors of an evaluation.
var (
	ErrTime   = errors.New("it takes too long")
	ErrMemory = errors.New("it takes too much memory")
)

// Input is the input of policies: a JSON value, made once for all of them. Two are the same
// input if one is a copy of the other.
type Input struct{ at *input }

type input struct {
	// value is set if it is known without parsing text.
	value any
	once  sync.Once
	text  json.RawMessage
}

// NewInput returns the input for a JSON value: string, json.Number, bool, nil, []any and
// map[string]any, and Go's numbers. The value must not be changed after that.
func NewInput(v any) (Input, error) {
	if plain(v) {
		return Input{&input{value: v}}, nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return Input{}, fmt.Errorf("make the input of policies: %w", err)
	}
	return JSON(text), nil
}

// JSON returns the input that a JSON text describes.
func JSON(text json.RawMessage) Input { return Input{&input{text: text}} }

// plain reports whether a value stays the same when it is written as JSON and read again.
// Invalid UTF-8 and other types do not.
func plain(v any) bool {
	switch v := v.(type) {
	case string:
		return utf8.ValidString(v)
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !plain(e) })
	case map[string]any:
		for k, e := range v {
			if !utf8.ValidString(k) || !plain(e) {
				return false
			}
		}
		return true
	case nil, bool, int, json.Number:
		return true
	}
	return false
}

// JSON returns the input as text.
func (i Input) JSON() json.RawMessage {
	if i.at == nil {
		return json.RawMessage("null")
	}
	i.at.once.Do(func() {
		if i.at.text == nil {
			i.at.text, _ = json.Marshal(i.at.value) // a plain value can always be encoded
		}
	})
	return i.at.text
}

// Value returns the input as a value, so that the text need not be parsed. It reports false
// if there is only text.
func (i Input) Value() (any, bool) {
	if i.at == nil || i.at.value == nil {
		return nil, false
	}
	return i.at.value, true
}

// Tested is the result of running tests.
type Tested struct {
	Results  []TestResult
	Coverage []Coverage
	// Broken are the files that do not compile, with their mistakes.
	Broken map[string]Problems
}

// TestResult is the result of a test rule. Each of several rules with the same name is a
// test. From the second one on, names have a number: "test_x#01".
type TestResult struct {
	Package string `json:"package"`
	Name    string `json:"name"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	// Pass is set if the rule holds, Skipped for rules named todo_test_….
	Pass    bool `json:"pass"`
	Skipped bool `json:"skipped"`
	// Failed is the line of the expression that does not hold, 0 if unknown.
	Failed int `json:"failed_line"`
	// Cases are the cases of a rule with parameters, "test_x[case] if …", by name.
	Cases []TestCase `json:"cases"`
	// Error is the reason why it could not be evaluated, or "".
	Error string `json:"error"`
	// Output holds the lines that it printed.
	Output []string      `json:"output"`
	Took   time.Duration `json:"nanoseconds"`
}

// TestCase is one case of a test.
type TestCase struct {
	// Name is the value of the parameter. Several are joined by "/".
	Name string `json:"name"`
	Pass bool   `json:"pass"`
}

// Coverage records which lines of a file were evaluated, in the way of OPA: a line that was
// partly evaluated is both covered and missed.
type Coverage struct {
	File string `json:"file"`
	// Covered and Total are numbers of lines that can be evaluated. Missed are the lines
	// with an expression that was not evaluated.
	Covered int   `json:"covered"`
	Total   int   `json:"total"`
	Missed  []int `json:"missed"`
}

// Facts are the facts of a file that are enough to route it without reading it again.
type Facts struct {
	// Package is the dotted package, without "data". It is "" in a file that has only
	// comments.
	Package string
	// Line is the line of the package, VerbLine that of the first verb.
	Line, VerbLine int
	// Title, Description and Authors are those of the METADATA.
	Title, Description string
	Authors            []string
	// Routed is set if the METADATA of the package has custom.routing.
	Routed bool
	// Events, Tools and Signals are required_events, required_tools and required_signals.
	Events, Tools, Signals []string
	// Verbs are the verbs that the file defines.
	Verbs []string
	// Refs are the constant dotted paths below data that the file refers to.
	Refs []string
	// Data are the dotted paths below data that a data document defines, "*" for all; nil
	// for a file of policies.
	Data []string
	// Mistakes are the mistakes in the METADATA.
	Mistakes []diagnostic.Diagnostic
}

// Policy reports whether the verbs of the package are evaluated. Every other package is a
// library.
func (f *Facts) Policy() bool { return IsPolicy(f.Package) }

// IsPolicy reports whether the verbs of a dotted package are evaluated. These are Cardea's
// own packages and, unchanged, Cupcake's.
func IsPolicy(pkg string) bool {
	return slices.ContainsFunc([]string{"cardea.policies", "cupcake.policies", "cupcake.global.policies"}, func(root string) bool {
		return pkg == root || strings.HasPrefix(pkg, root+".")
	})
}

// SystemPackage is the package of Cupcake's aggregation, which Cardea replaces.
const SystemPackage = "cupcake.system"

// Verbs returns the names of the rules that decide, strictest first. Decisions are
// collected in this order.
func Verbs() []string {
	return []string{"halt", "deny", "block", "ask", "modify", "allow_override", "add_context"}
}

// Problems are the mistakes in a file, or in several compiled together.
type Problems []diagnostic.Diagnostic

// Error returns the first mistake.
func (p Problems) Error() string {
	if len(p) == 0 {
		return "nothing is wrong"
	}
	return p[0].String()
}
