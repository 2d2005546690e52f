package agents

import (
	"flag"
	"os"
	"strings"
	"testing"

	"cardea.dev/internal/ask/supervisor"
	"cardea.dev/packs"
)

var update = flag.Bool("update", false, "write the table of roles anew")

// The documented table of roles has the built-in roles.
func TestRolesAreCurrent(t *testing.T) {
	const head = "| role | what it is for |\n|---|---|\n"
	before, _, found := strings.Cut(Supervisor, head)
	if !found {
		t.Fatal("there is no table of roles")
	}
	want := before + head
	for _, r := range packs.Roles().Roles {
		want += "| `" + r.Name + "` | " + strings.Join(strings.Fields(r.Description), " ") + " |\n"
	}
	if want == Supervisor {
		return
	}
	if !*update {
		t.Fatal("the table of roles is stale; run go test ./agents -update")
	}
	if err := os.WriteFile("supervisor.md", []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The agent's instructions name only tools that exist.
func TestToolsExist(t *testing.T) {
	for _, tool := range supervisor.Tools(supervisor.NewInbox()) {
		if !strings.Contains(Supervisor, "mcp__cardea__"+tool.Name) || !strings.Contains(Supervisor, "`"+tool.Name+"`") {
			t.Errorf("the supervisor's instructions do not name %s", tool.Name)
		}
	}
}
