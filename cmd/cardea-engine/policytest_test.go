package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const tested = `package p

deny contains "d" if input.a
`

const tests = `package p_test

test_yes if data.p.deny with input as {"a": 1}

test_case[name] if {
	some name, n in {"small": 1, "large": 9}
	n < 3
}

test_endless if {
	some x in numbers.range(1, 100000)
	some y in numbers.range(1, 100000)
	x * y < 0
}

test_after if true
`

func installTests(t *testing.T) *fixture {
	s := install(t)
	s.write(filepath.Join(s.work, "p.rego"), tested)
	s.write(filepath.Join(s.work, "p_test.rego"), tests)
	return s
}

// A test that hangs is stopped, and the others run.
func TestPolicyTest(t *testing.T) {
	s := installTests(t)
	out := s.run("", "policy", "test", "--coverage", ".")
	for _, want := range []string{
		"pass  p_test.test_yes",
		"FAIL  p_test.test_case",
		"FAIL  large",
		"pass  small",
		"FAIL  p_test.test_endless",
		"it takes longer than 5s, and was stopped",
		"pass  p_test.test_after",
		"4 tests, 2 failed",
		"100 %  p.rego",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
	if out := s.run("", "policy", "test", "--run", `\.test_yes$`, "."); !strings.Contains(out, "1 tests, 0 failed") {
		t.Errorf("--run: %s", out)
	}
}

// Only a program in the folder of cardea, as it was installed, is started.
func TestPolicyTestWithoutEngine(t *testing.T) {
	s := installTests(t)
	program := s.exe("cardea-engine")
	elsewhere := filepath.Join(s.work, filepath.Base(program))
	if err := os.Rename(program, elsewhere); err != nil {
		t.Fatal(err)
	}
	refused := func(why string) {
		t.Helper()
		if out := s.run("", "policy", "test", "."); !strings.Contains(out, why) || !strings.Contains(out, "go install ./cmd/...") || strings.Contains(out, "pass") {
			t.Errorf("no %q in %s", why, out)
		}
	}
	refused("cardea-engine is missing beside cardea in " + s.bin)
	if out := s.run("", "lint"); !strings.Contains(out, "cardea-engine is missing") {
		t.Errorf("lint of a policy: %s", out)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Symlink(elsewhere, program); err != nil {
		t.Fatal(err)
	}
	refused("is no regular file")
}
