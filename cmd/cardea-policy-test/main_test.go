package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const policy = `package p

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

// site is the programs as they are installed, and a folder of policies.
type site struct {
	t         *testing.T
	bin, work string
}

func install(t *testing.T) *site {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, bin: filepath.Join(dir, "bin"), work: filepath.Join(dir, "work")}
	build := exec.Command("go", "build", "-o", s.bin+string(filepath.Separator), "cardea.dev/cmd/...")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, text := range map[string]string{"p.rego": policy, "p_test.rego": tests, ".git/x": ""} {
		path := filepath.Join(s.work, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *site) exe(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(s.bin, name)
}

// run runs cardea; an agent's PATH leads to other programs of these names.
func (s *site) run(args ...string) (stdout, stderr string, code int) {
	s.t.Helper()
	c := exec.Command(s.exe("cardea"), args...)
	c.Dir, c.Env = s.work, []string{"HOME=" + s.work, "USERPROFILE=" + s.work, "PATH=" + s.work, "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	_ = c.Run() // its exit code is looked at
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

// Each test has its time, and the others are told.
func TestInstalled(t *testing.T) {
	s := install(t)
	out, errs, code := s.run("policy", "test", "--coverage", ".")
	for _, want := range []string{"pass  p_test.test_yes", "FAIL  p_test.test_case", "FAIL  large", "pass  small", "FAIL  p_test.test_endless",
		"it takes longer than 5s, and was stopped", "pass  p_test.test_after", "4 tests, 2 failed", "100 %  p.rego"} {
		if code != 1 || !strings.Contains(out, want) {
			t.Errorf("exit %d, no %q in %s%s", code, want, out, errs)
		}
	}
	if out, errs, code := s.run("policy", "test", "--run", `\.test_yes$`, "."); code != 0 || !strings.Contains(out, "1 tests, 0 failed") {
		t.Errorf("--run: exit %d, %s%s", code, out, errs)
	}
}

// Only what lies beside cardea, and as it was installed, is started. Everything
// else works without it.
func TestMissing(t *testing.T) {
	s := install(t)
	program := s.exe("cardea-policy-test")
	real, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.work, filepath.Base(program)), real, 0o755); err != nil {
		t.Fatal(err)
	}
	refused := func(why string) {
		t.Helper()
		if out, errs, code := s.run("policy", "test", "."); code != 1 || out != "" || !strings.Contains(errs, why) || !strings.Contains(errs, "go install ./cmd/...") {
			t.Errorf("exit %d, no %q in %s%s", code, why, out, errs)
		}
	}
	refused("cardea-policy-test is missing beside cardea in " + s.bin)
	for _, args := range [][]string{{"policy", "validate", "p_test.rego"}, {"policy", "inspect", "."}, {"try", "git status"}, {"lint"}} {
		if out, errs, _ := s.run(args...); strings.Contains(out+errs, "cardea-policy-test") || out == "" {
			t.Errorf("%v: %s%s", args, out, errs)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Symlink(filepath.Join(s.work, filepath.Base(program)), program); err != nil {
		t.Fatal(err)
	}
	refused("is no regular file")
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, real, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(program, 0o757); err != nil {
		t.Fatal(err)
	}
	refused("may be written by others")
	// The engine of the hook runs no tests.
	engine, err := os.ReadFile(s.exe("cardea-policy"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, engine, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := s.run("policy", "test", "."); code != 1 || !strings.Contains(errs, "this program runs no tests") {
		t.Errorf("exit %d, %s", code, errs)
	}
}
