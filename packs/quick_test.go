package packs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"cardea.dev/internal/decide/policy/engine"
	"cardea.dev/internal/decide/policy/rego"
	"cardea.dev/packs"
)

// A line of a few kilobytes has tens of thousands of accesses, and a verdict that
// comes too late is none: what is protected is looked for in no more time than a
// few readings of the input take.
func TestProtectedPathsAreQuick(t *testing.T) {
	const pkg = "cardea.policies.protected_paths"
	accesses := []any{}
	for i := range 30_000 {
		path := fmt.Sprintf("/home/user/project/f%d", i)
		accesses = append(accesses, map[string]any{"part": 0, "kind": "delete", "path": path, "spelled": path, "host": "", "recursive": false, "glob": false})
	}
	last := accesses[len(accesses)-1].(map[string]any)
	last["path"] = "/home/user/project/yarn.lock"
	protected := []any{"*.lock", "docs/**/*.md"}
	for i := range 20 {
		protected = append(protected, fmt.Sprintf("lib%d/", i))
	}
	in, err := json.Marshal(map[string]any{"cardea": map[string]any{"project": "/home/user/project", "accesses": accesses,
		"settings": map[string]any{"protected": protected}}})
	if err != nil {
		t.Fatal(err)
	}
	asked := func(text string) (time.Duration, int) {
		p := rego.Engine{}.Compile([]engine.Source{{Path: "a.rego", Text: text}}, engine.Options{})
		begin := time.Now()
		got := p.Eval(context.Background(), []rego.Query{{Package: pkg, Rule: "deny", Input: engine.JSON(in)}})
		if got[0].Err != nil {
			t.Fatal(got[0].Err)
		}
		return time.Since(begin), len(got[0].Value.([]any))
	}
	reading, _ := asked("package " + pkg + "\n\nimport rego.v1\n\ndeny contains 1 if input.x\n")
	took, denied := asked(packs.Policy("protected_paths"))
	if denied != 1 || took > 20*reading {
		t.Errorf("%d are denied, in %s; reading takes %s", denied, took, reading)
	}
}
