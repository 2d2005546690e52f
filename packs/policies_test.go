package packs_test

import (
	"context"
	"strings"
	"testing"

	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/decide/policy/rego"
	"cardea.dev/internal/harness"
	"cardea.dev/packs"
)

// Every built-in policy passes its tests, has no mistakes, and is covered completely by
// them.
func TestBuiltinPolicies(t *testing.T) {
	sources, found := policy.Folder{Dir: "policies"}.Sources()
	sources.Tool, sources.Engine = harness.ToolWord, rego.Engine{}
	mistakes, err := sources.Validate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(found, mistakes...) {
		if !strings.HasSuffix(f.File, ".yaml") { // those are calls for tests, not data
			t.Errorf("%+v", f)
		}
	}
	tested, broken, err := sources.Test(context.Background(), rego.Engine{}, "")
	if len(tested.Results) < 14 || len(broken) > 0 || err != nil {
		t.Errorf("%d tests, broken: %v, %v", len(tested.Results), broken, err)
	}
	for _, r := range tested.Results {
		if !r.Pass {
			t.Errorf("%s.%s fails: %s", r.Package, r.Name, r.Error)
		}
	}
	for _, c := range tested.Coverage {
		if c.Covered*100 < c.Total*95 {
			t.Errorf("%s: %d of %d lines evaluated, not %v", c.File, c.Covered, c.Total, c.Missed)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(c.File, "policies/"), ".rego")
		if packs.Policy(name) == "" {
			t.Errorf("%s is not in the program", name)
		}
	}
	if packs.Policy("nothing") != "" {
		t.Error("a policy that is not there")
	}
}
