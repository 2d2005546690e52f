// Package engine has the types by which policies are parsed, compiled, tested
// and evaluated. It contains no code of OPA.
//
// There are two engines: package rego, which is OPA in this process, and package
// remote, which asks another process that has rego. The hook is a process per
// call and would pay for linking OPA at every one of them, so it has the second
// (docs/decisions/0022). Both give the same answers: what goes in and out are
// texts and JSON values. An engine keeps nothing that cannot be made again from
// the texts, so that a process that dies takes nothing along.
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

	"cardea.dev"
)

// Engine parses, compiles and evaluates policies. It may be used by many
// goroutines. Its errors tell that the engine itself does not work; what is
// wrong with policies is part of the answers.
type Engine interface {
	// Ready tells why the engine cannot work at all, nil where nothing is known
	// to be wrong. It starts nothing.
	Ready() error
	// Wake tells that the engine is about to be needed. It does not wait.
	Wake()
	// Parse gives what files say about themselves, in their order.
	Parse(ctx context.Context, files []Source) ([]Parsed, error)
	// Look gives the mistakes in files that parse which OPA does not report, in
	// the order of the files.
	Look(ctx context.Context, files []Source) ([]cardea.Diagnostic, error)
	// Fields gives the fields of input that files read and that no event has. Files
	// that do not compile are left out.
	Fields(ctx context.Context, files []Source, o Options, shapes []Shape) ([]cardea.Diagnostic, error)
	// Format gives the texts of files as OPA's formatter writes them, in their order.
	Format(ctx context.Context, files []Source) ([]Formatted, error)
	// Compile compiles files together, some time before the program is used. It
	// need not wait.
	Compile(files []Source, o Options) Program
	// Test runs the test rules of files that are compiled together.
	Test(ctx context.Context, files []Source, o TestOptions) (Tested, error)
}

// Program is policies that were compiled together. It may be used by many
// goroutines.
type Program interface {
	// Broken are the files that were left out since they have mistakes, with
	// why. It waits until they are compiled.
	Broken(ctx context.Context) (map[string]Problems, error)
	// Eval gives the values of rules, in order. It comes to its end when ctx
	// does; what there was no time for has an error.
	Eval(ctx context.Context, queries []Query) []Result
}

// Source is a file of policies. Path names it in messages.
type Source struct {
	Path, Text string
	// Data is set where the file is a data document, JSON or YAML by its ending: the
	// folder, with slashes, below which policies find it under data; "/" is data
	// itself.
	Data string `json:",omitempty"`
}

// Folders are the names that lead from data to a document.
func (s Source) Folders() []string {
	return strings.FieldsFunc(s.Data, func(r rune) bool { return r == '/' })
}

// Options say how policies are compiled.
type Options struct {
	// Extra are functions that policies may use besides those that are pure.
	Extra []string
	// Checked is set where these very files compiled before with all checks, so
	// that the slow ones need not be made again.
	Checked bool
	// Strict is set where OPA's strict mode looks, too.
	Strict bool
	// Print is set where what policies print is wanted. Else calls of print do
	// nothing.
	Print bool
}

// Shape says which fields the input of some files has, by examples: a map has the
// example's fields and no others, the elements of a list look like the first one,
// and what is empty in the example may be anything.
type Shape struct {
	// Files are the paths of the files.
	Files []string
	// Input is an example of input. Its tool_input is not looked at.
	Input map[string]any
	// Tools are examples of tool_input, by the tool's name. Of a tool that is not
	// there nothing is known.
	Tools map[string]any
	// Routed are the tools that files are asked about, by path; none are any.
	Routed map[string][]string
}

// TestOptions say which tests are run.
type TestOptions struct {
	// Extra are functions that files may use besides those that are pure.
	Extra []string
	// Run is a regular expression: only tests whose name it matches are run, ""
	// for all. The name is written data.PACKAGE.NAME.
	Run string
}

// Parsed is what came of parsing a file.
type Parsed struct {
	// Facts are what it says about itself; of a file with mistakes, what its
	// head says; of one that says nothing at all, none.
	Facts Facts
	// Problems are why it cannot be parsed, nil where it can.
	Problems Problems
	// Lost is set where not even the head could be read.
	Lost bool
}

// Formatted is what came of formatting a file.
type Formatted struct {
	Text string
	// Problems are why it cannot be formatted, nil where it can.
	Problems Problems
}

// Query is a rule of a package, and the input that it sees.
type Query struct {
	Package, Rule string
	Input         Input
}

// Result is the JSON value of a rule, nil where it is undefined.
type Result struct {
	Value any
	Err   error
	Took  time.Duration
	// Printed is what the rule, and those that were evaluated for it, printed.
	Printed []Printed
}

// Printed is what a call of print in a policy said.
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

// Input is what policies see as input: a JSON value, made once for all of them.
// Two are the same input if one is a copy of the other.
type Input struct{ at *input }

type input struct {
	// value is there where text need not be read to know it.
	value any
	once  sync.Once
	text  json.RawMessage
}

// NewInput takes a JSON value: string, json.Number, bool, nil, []any and
// map[string]any, and Go's numbers. Nobody may change it afterwards.
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

// JSON is the input that a text of JSON describes.
func JSON(text json.RawMessage) Input { return Input{&input{text: text}} }

// plain reports whether a value is the same after it was written as JSON and read
// again: invalid UTF-8 is not, nor are types of one's own.
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

// JSON is the input as text.
func (i Input) JSON() json.RawMessage {
	if i.at == nil {
		return json.RawMessage("null")
	}
	i.at.once.Do(func() {
		if i.at.text == nil {
			i.at.text, _ = json.Marshal(i.at.value) // a plain value can be written
		}
	})
	return i.at.text
}

// Value is the input as a value, for who would else read the text. It reports
// false where there is only the text.
func (i Input) Value() (any, bool) {
	if i.at == nil || i.at.value == nil {
		return nil, false
	}
	return i.at.value, true
}

// Tested is what came of running tests.
type Tested struct {
	Results  []TestResult
	Coverage []Coverage
	// Broken are the files that do not compile, with why.
	Broken map[string]Problems
}

// TestResult is what came of a test rule. Of rules of one name each is a test;
// from the second one on names have a number: "test_x#01".
type TestResult struct {
	Package string `json:"package"`
	Name    string `json:"name"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	// Pass is set where the rule holds, Skipped for rules named todo_test_….
	Pass    bool `json:"pass"`
	Skipped bool `json:"skipped"`
	// Failed is the line of what did not hold, 0 where it is not known.
	Failed int `json:"failed_line"`
	// Cases are those of a rule with parameters, "test_x[case] if …", by name.
	Cases []TestCase `json:"cases"`
	// Error is why it could not be evaluated, "" where it could.
	Error string `json:"error"`
	// Output is what it printed, by lines.
	Output []string      `json:"output"`
	Took   time.Duration `json:"nanoseconds"`
}

// TestCase is one case of a test.
type TestCase struct {
	// Name is the value of the parameter, of several joined by "/".
	Name string `json:"name"`
	Pass bool   `json:"pass"`
}

// Coverage tells which lines of a file were evaluated, as OPA counts them: a
// line of which some is evaluated and some is not counts as both.
type Coverage struct {
	File string `json:"file"`
	// Covered and Total count lines that can be evaluated; Missed are those on
	// which something was not.
	Covered int   `json:"covered"`
	Total   int   `json:"total"`
	Missed  []int `json:"missed"`
}

// Facts are what a file says about itself: enough to route without reading it
// again.
type Facts struct {
	// Package is the dotted package, without "data", "" in a file that is empty
	// but for comments.
	Package string
	// Line is where the package is written, VerbLine where the first verb is.
	Line, VerbLine int
	// Title, Description and Authors are of the METADATA.
	Title, Description string
	Authors            []string
	// Routed is set where the METADATA of the package has custom.routing.
	Routed bool
	// Events, Tools and Signals are required_events, required_tools and
	// required_signals.
	Events, Tools, Signals []string
	// Verbs are those that the file has rules for.
	Verbs []string
	// Refs are the dotted paths below data that the file refers to, as far as
	// they are constant.
	Refs []string
	// Data are the dotted paths below data that a data document defines, "*" for
	// everything; nil for a file of policies.
	Data []string
	// Mistakes are what is wrong with the METADATA.
	Mistakes []cardea.Diagnostic
}

// Policy reports whether the package is one whose verbs are gathered. Every
// other package is a library.
func (f *Facts) Policy() bool { return IsPolicy(f.Package) }

// IsPolicy reports whether a dotted package is one whose verbs are gathered:
// Cardea's own and, unchanged, Cupcake's.
func IsPolicy(pkg string) bool {
	return slices.ContainsFunc([]string{"cardea.policies", "cupcake.policies", "cupcake.global.policies"}, func(root string) bool {
		return pkg == root || strings.HasPrefix(pkg, root+".")
	})
}

// SystemPackage is the package of Cupcake's aggregation, which Cardea does by
// itself.
const SystemPackage = "cupcake.system"

// Verbs are the names of the rules that decide, strictest first, in the order
// in which their decisions are gathered.
func Verbs() []string {
	return []string{"halt", "deny", "block", "ask", "modify", "allow_override", "add_context"}
}

// Problems are the mistakes of a file or of several compiled together.
type Problems []cardea.Diagnostic

// Error is the first mistake.
func (p Problems) Error() string {
	if len(p) == 0 {
		return "nothing is wrong"
	}
	return p[0].String()
}
