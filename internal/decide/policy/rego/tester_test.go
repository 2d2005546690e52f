package rego

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"cardea.dev/internal/decide/policy/engine"
)

func source(path, text string) engine.Source { return engine.Source{Path: path, Text: text} }

// tested runs tests, and returns the results by name.
func tested(t *testing.T, e Engine, o engine.TestOptions, files ...engine.Source) (engine.Tested, map[string]engine.TestResult) {
	t.Helper()
	got, err := e.Test(context.Background(), files, o)
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]engine.TestResult{}
	for _, r := range got.Results {
		by[r.Name] = r
	}
	if len(by) != len(got.Results) {
		t.Errorf("names are not told apart: %+v", got.Results)
	}
	return got, by
}

const guard = `package p

deny contains 1 if {
	input.a
	input.b
}

other contains 2 if input.c
`

const guardTest = `package p_test

import data.p

test_yes if count(p.deny) == 1 with input as {"a": 1, "b": 2}

test_no if {
	print("why", {"a": 1})
	print("more")
	x := 2
	not x == 3
	count(p.deny) == 7 with input as {"a": 1}
}

test_no if false

todo_test_later if false

test_breaks if { {k: v | some k in [1, 1]; some v in [1, 2]} }

test_seven := 7

test_case[name] if {
	some name, n in {"one": 1, "two": 2, "three": 3}
	n < 3
}

test_pair[a][b] if {
	some a in ["x", "y"]
	some b in [1, 2]
}

not_a_test if false
`

// The results of OPA's tester arrive completely and in order.
func TestResults(t *testing.T) {
	got, by := tested(t, Engine{}, engine.TestOptions{}, source("p.rego", guard), source("p_test.rego", guardTest))
	var names []string
	for _, r := range got.Results {
		if r.File != "p_test.rego" || r.Package != "p_test" || r.Line == 0 {
			t.Errorf("%+v", r)
		}
		names = append(names, fmt.Sprintf("%s %v", r.Name, r.Pass))
	}
	want := []string{
		"test_yes true",
		"test_no false",
		"test_no#01 false",
		"todo_test_later false",
		"test_breaks false",
		"test_seven false",
		"test_case false",
		"test_pair true",
	}
	if !slices.Equal(names, want) || len(got.Broken) > 0 {
		t.Errorf("%v, %v", names, got.Broken)
	}
	if r := by["test_yes"]; r.Line != 5 || r.Took == 0 || r.Output != nil || r.Failed != 0 || r.Cases != nil {
		t.Errorf("%+v", r)
	}
	if r := by["test_no"]; r.Line != 7 || r.Failed != 12 || !slices.Equal(r.Output, []string{`why {"a": 1}`, "more"}) || r.Error != "" || r.Skipped {
		t.Errorf("%+v", r)
	}
	if r := by["test_no#01"]; r.Line != 15 || r.Failed != 15 {
		t.Errorf("%+v", r)
	}
	if r := by["todo_test_later"]; !r.Skipped || r.Error != "" {
		t.Errorf("%+v", r)
	}
	if r := by["test_breaks"]; r.Error != "p_test.rego:19:19: object keys must be unique" {
		t.Errorf("%+v", r)
	}
	if r := by["test_case"]; !reflect.DeepEqual(r.Cases, []engine.TestCase{{Name: "one", Pass: true}, {Name: "three"}, {Name: "two", Pass: true}}) {
		t.Errorf("%+v", r)
	}
	if r := by["test_pair"]; len(r.Cases) != 4 || r.Cases[3] != (engine.TestCase{Name: "y/2", Pass: true}) {
		t.Errorf("%+v", r)
	}
}

func TestCoverage(t *testing.T) {
	got, _ := tested(t, Engine{}, engine.TestOptions{}, source("p.rego", guard), source("none.rego", "package none\n"), source("p_test.rego", guardTest))
	want := []engine.Coverage{{File: "p.rego", Covered: 3, Total: 4, Missed: []int{8}}, {File: "none.rego"}}
	if !reflect.DeepEqual(got.Coverage, want) {
		t.Errorf("%+v", got.Coverage)
	}
}

func TestRun(t *testing.T) {
	files := []engine.Source{source("p.rego", guard), source("p_test.rego", guardTest)}
	for run, want := range map[string]int{"": 8, `test_no`: 2, `^data\.p_test\.test_yes$`: 1, "later": 1, "p_test": 8, "nosuch": 0, "not_a_test": 0} {
		got, _ := tested(t, Engine{}, engine.TestOptions{Run: run}, files...)
		if len(got.Results) != want {
			t.Errorf("%q: %+v", run, got.Results)
		}
	}
	if _, err := (Engine{}).Test(context.Background(), files, engine.TestOptions{Run: "("}); err == nil || !strings.Contains(err.Error(), "choose tests") {
		t.Errorf("%v", err)
	}
}

// Files with mistakes are left out, with the reason, and the others are tested. Functions
// that policies may not use are also refused in tests.
func TestBroken(t *testing.T) {
	good := source("good_test.rego", "package good_test\n\ntest_good if data.p.x == 1\n")
	files := []engine.Source{good, source("p.rego", "package p\n\nx := 1\n"),
		source("parse.rego", "package q\n\nx := {{{"),
		source("undefined_test.rego", "package u_test\n\ntest_x if nosuch(1)\n"),
		source("send_test.rego", "package s_test\n\ntest_x if http.send({\"method\": \"get\", \"url\": \"http://127.0.0.1/\"}).status_code == 200\n"),
		source("mock_test.rego", "package m_test\n\nsend(_) := 1\n\ntest_x if data.p.x == 1 with http.send as send\n"),
		source("clock_test.rego", "package c_test\n\ntest_x if time.now_ns() > 0\n"),
		source("case_test.rego", "package d_test\n\ntest_x[n] if {\n\tsome n in [1]\n\tunsafe\n}\n"),
	}
	got, by := tested(t, Engine{}, engine.TestOptions{}, files...)
	if len(got.Results) != 1 || !by["test_good"].Pass || len(got.Coverage) != 1 {
		t.Errorf("%+v", got)
	}
	for file, says := range map[string]string{"parse.rego": "parse.rego:3", "undefined_test.rego": "nosuch", "send_test.rego": "policies may not use it",
		"mock_test.rego": "with keyword target must reference existing", "clock_test.rego": "policies may not use it", "case_test.rego": "unsafe"} {
		if len(got.Broken[file]) == 0 || !strings.Contains(got.Broken[file].Error(), says) {
			t.Errorf("%s: %v", file, got.Broken[file])
		}
	}
	if len(got.Broken) != 6 {
		t.Errorf("%v", got.Broken)
	}
	// Tests may use functions that settings permit.
	if got, by = tested(t, Engine{}, engine.TestOptions{Extra: []string{"time.now_ns"}}, files[6]); !by["test_x"].Pass || len(got.Broken) > 0 {
		t.Errorf("%+v", got)
	}
	for _, none := range [][]engine.Source{nil, files[2:3], files[3:5]} {
		if got, _ := tested(t, Engine{}, engine.TestOptions{}, none...); len(got.Results) > 0 || len(got.Broken) != len(none) {
			t.Errorf("%+v", got)
		}
	}
}

// A test without end is stopped and reported, and does not affect other tests.
func TestLimit(t *testing.T) {
	slow := "package a_test\n\ntest_slow if {\n\tsome x in numbers.range(1, 100000)\n\tsome y in numbers.range(1, 100000)\n\tx * y < 0\n}\n\ntest_quick if true\n"
	_, by := tested(t, Engine{TestLimit: 100 * time.Millisecond}, engine.TestOptions{}, source("a_test.rego", slow))
	if r := by["test_slow"]; r.Pass || r.Error != "it takes longer than 100ms, and was stopped" || !by["test_quick"].Pass {
		t.Errorf("%+v", by)
	}
	// No test has any time left.
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	got, err := Engine{}.Test(ctx, []engine.Source{source("a_test.rego", slow)}, engine.TestOptions{Run: "slow"})
	if err != nil || len(got.Results) != 1 || got.Results[0].Error != "there was no time left for it" {
		t.Errorf("%+v, %v", got, err)
	}
}

// A test that cannot be stopped, since it is inside of a single function, or that takes all
// memory, is abandoned.
func TestLeftBehind(t *testing.T) {
	for _, tt := range []struct {
		text, want string
		limit      time.Duration
	}{
		{"test_x if regex.match(\"(0?){500}1\", sprintf(\"%01000000d\", [0]))", "it takes longer than 2s and cannot be stopped; the tests after it did not run", 2 * time.Second},
		{"test_x if count([s | some i in numbers.range(1, 100000); s := sprintf(\"%0100000d\", [i])]) == 0", "it takes more than 256 MiB of memory; the tests after it did not run", time.Minute},
	} {
		begin := time.Now()
		_, by := tested(t, Engine{TestLimit: tt.limit}, engine.TestOptions{}, source("a_test.rego", "package a_test\n\n"+tt.text+"\n"))
		if r := by["test_x"]; r.Pass || r.Error != tt.want || r.Package != "a_test" || r.File != "a_test.rego" || r.Line != 3 {
			t.Errorf("%+v", r)
		}
		if took := time.Since(begin); took > 30*time.Second {
			t.Errorf("%s took %s", tt.text, took)
		}
	}
}

// Of a test's output, the beginning is stored.
func TestOutput(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "a\n": 1, "a\n\nb\n": 3, "\n": 1, strings.Repeat("x\n", maxLines): maxLines,
		strings.Repeat("x\n", maxLines+1): maxLines + 1, strings.Repeat("x", maxOutput+1): 2} {
		got := output([]byte(text))
		if len(got) != want || len(strings.Join(got, "\n")) > maxOutput+100 {
			t.Errorf("%.20q: %d lines", text, len(got))
		}
		if told := want > 0 && strings.HasPrefix(got[want-1], "and more"); told != (len(text) > 2*maxLines) {
			t.Errorf("%.20q ends with %.20q", text, got[want-1])
		}
	}
}
