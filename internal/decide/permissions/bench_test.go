package permissions_test

import (
	"context"
	"fmt"
	"testing"

	"cardea.dev/internal/decide/permissions"
	"cardea.dev/internal/harness/permissionlist"
)

// thousand returns a list of a thousand entries, as after years of use.
func thousand() stand {
	s := stand{deny: []string{"Bash(rm -rf:*)", "Read(./.env)", "Read(./secrets/**)"}, ask: []string{"Bash(git push:*)"}}
	for i := range 700 {
		s.allow = append(s.allow, fmt.Sprintf("Bash(program%d sub:*)", i))
	}
	for i := range 200 {
		s.allow = append(s.allow, fmt.Sprintf("Bash(npm run script%d)", i))
	}
	for i := range 90 {
		s.allow = append(s.allow, fmt.Sprintf("WebFetch(domain:host%d.example)", i))
	}
	s.allow = append(s.allow, "Bash(npm test:*)", "Bash(tee:*)", "Bash(* --version)", "Edit(src/**)", "mcp__github__get_*", "Bash(git commit:*)")
	return s
}

// BenchmarkCheckPermissions compares a line with a thousand entries. It shares index and
// entries between calls; Cold makes a new index for every line, as a hook does.
func BenchmarkCheckPermissions(b *testing.B) {
	s := thousand()
	entries := s.entries()
	ev := s.bash("timeout 30 npm test 2>&1 | tee test.log")
	about := permissions.Options{Expand: true, Home: "/Users/alice", Start: project}
	b.Run("Warm", func(b *testing.B) {
		d := permissions.New(entries, about)
		for b.Loop() {
			if ops, _ := d.Decide(context.Background(), ev); len(ops) != 2 {
				b.Fatal(ops)
			}
		}
	})
	b.Run("Cold", func(b *testing.B) {
		for b.Loop() {
			if ops, _ := permissions.New(entries, about).Decide(context.Background(), ev); len(ops) != 2 {
				b.Fatal(ops)
			}
		}
	})
	b.Run("Read", func(b *testing.B) {
		text := `{"permissions":{"allow":[`
		for i, e := range s.allow {
			if i > 0 {
				text += ","
			}
			text += fmt.Sprintf("%q", e)
		}
		text += `]}}`
		for b.Loop() {
			if got := permissionlist.Read(&permissionlist.Origin{File: "settings.json"}, []byte(text)); len(got.Entries) != len(s.allow) {
				b.Fatal(got.Problems)
			}
		}
	})
}
