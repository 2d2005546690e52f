package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/decide/policy/remote"
)

// alone runs a command line of a program without cardea-engine in its folder.
func (d *fixture) alone(stdin string, args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	p := d.process(strings.NewReader(stdin), &out, &errs)
	program := filepath.Join(d.home, "bin", "cardea")
	d.write(program, "")
	p.Engines = policy.Engines{Own: remote.Beside(program), Project: remote.Beside(program)}
	code = Main(args, p)
	return out.String(), errs.String(), code
}

// Without cardea-engine everything works that needs no policy. Calls with a matching policy
// ask, and commands say what is missing.
func TestWithoutEngine(t *testing.T) {
	const missing = "cardea-engine is missing beside cardea"
	d := newFixture(t)
	if out, errs, code := d.alone(d.call("PreToolUse", "default", "git status"), "check"); code != exitOK || strings.Contains(out+errs, "cardea-engine") {
		t.Errorf("no policies: exit %d, %s%s", code, out, errs)
	}
	for _, args := range [][]string{{"policy", "validate"}, {"policy", "inspect"}, {"list"}, {"lint"}} {
		if out, errs, code := d.alone("", args...); code != exitOK || strings.Contains(out+errs, "cardea-engine") {
			t.Errorf("no policies, %v: exit %d, %s%s", args, code, out, errs)
		}
	}
	path := d.policy("guard.rego", guardPolicy)
	out, errs, code := d.alone(d.call("PreToolUse", "default", "git status"), "check")
	if code != exitOK || !strings.Contains(out, `"permissionDecision":"ask"`) || !strings.Contains(out, missing) {
		t.Errorf("routed: exit %d, %s%s", code, out, errs)
	}
	// Once the index exists, policies for other tools need no engine.
	d.policy("guard.rego", strings.Replace(guardPolicy, `["*"]`, "[PreToolUse]\n#     required_tools: [Read]", 1))
	for range 2 {
		d.run(d.call("PreToolUse", "default", "git status"), "check")
		time.Sleep(150 * time.Millisecond) // so that stamps are trusted
	}
	if out, errs, _ := d.alone(d.call("PreToolUse", "default", "git status"), "check"); strings.Contains(out+errs, "cardea-engine") {
		t.Errorf("routed elsewhere: %s%s", out, errs)
	}
	for _, args := range [][]string{{"policy", "validate"}, {"policy", "validate", path}, {"policy", "inspect"}, {"policy", "inspect", path}, {"lint"}} {
		if out, errs, code := d.alone("", args...); code != exitError || !strings.Contains(out+errs, missing) {
			t.Errorf("%v: exit %d, %s%s", args, code, out, errs)
		}
	}
	for _, args := range [][]string{{"policy", "test"}, {"policy", "test", path}} {
		if out, errs, code := d.alone("", args...); code != exitError || !strings.Contains(errs, "cardea-engine is missing beside cardea in "+filepath.Join(d.home, "bin")) ||
			!strings.Contains(errs, "go install") {
			t.Errorf("%v: exit %d, %s%s", args, code, out, errs)
		}
	}
	if out, errs, _ := d.alone("", "list"); !strings.Contains(out, missing) {
		t.Errorf("list: %s%s", out, errs)
	}
	if out, _, code := d.alone("", "doctor"); code != exitError || !strings.Contains(out, missing) {
		t.Errorf("doctor: exit %d, %s", code, out)
	}
	if out, _, _ := d.alone("", "doctor", "--json"); !strings.Contains(out, missing) {
		t.Errorf("doctor: %s", out)
	}
	if out, _, _ := d.run("", "doctor"); strings.Contains(out, missing) {
		t.Errorf("doctor with an engine: %s", out)
	}
	d.write(filepath.Join(d.project, ".cupcake/policies/claude/a.rego"), guardPolicy)
	if _, errs, code := d.alone("", "import", "cupcake"); code != exitError || !strings.Contains(errs, missing) {
		t.Errorf("import: exit %d, %s", code, errs)
	}
	// The effect of a project's policies is unknown, so it cannot be trusted.
	d.write(filepath.Join(d.project, ".cardea/policies/a.rego"), guardPolicy)
	if out, errs, _ := d.alone("", "trust", "--json"); !strings.Contains(out+errs, missing) {
		t.Errorf("trust: %s%s", out, errs)
	}
}
