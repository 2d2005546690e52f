package install

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/harnesses.md")

// live is the result of scripts/live for one real program, from docs/harnesses/live.json.
type live struct {
	Version, Date                                     string
	Deny, Reason, Run, Ask, Rewrite, Halt             string
	Missing, Crash, Killed, Nonsense, Slow, Uninstall string
}

// TestLiveTableIsCurrent checks that the table of docs/harnesses.md matches the results of
// scripts/live, and that Seen names the tested versions.
func TestLiveTableIsCurrent(t *testing.T) {
	data, err := os.ReadFile("../../../docs/harnesses/live.json")
	if err != nil {
		t.Fatal(err)
	}
	var seen map[string]live
	if err := json.Unmarshal(data, &seen); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| harness | `git push --force` | the model learns why | `git status` | Cardea asks, nobody is there | rewrite | halt |\n|---|---|---|---|---|---|---|\n")
	rows := func(row func(h Harness, l live)) {
		for _, h := range Harnesses() {
			if l, there := seen[h.Program]; there {
				row(h, l)
			}
		}
	}
	rows(func(h Harness, l live) {
		fmt.Fprintf(&b, "| %s %s, %s | %s | %s | %s | %s | %s | %s |\n", h.Title, l.Version, l.Date, l.Deny, l.Reason, l.Run, l.Ask, l.Rewrite, l.Halt)
	})
	b.WriteString("\n| harness | program missing | exit code 1 | killed | prints no JSON | too slow | files after `--uninstall` |\n|---|---|---|---|---|---|---|\n")
	rows(func(h Harness, l live) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", h.Title, l.Missing, l.Crash, l.Killed, l.Nonsense, l.Slow, l.Uninstall)
	})
	for _, h := range Harnesses() {
		if l := seen[h.Program]; l.Version != h.Seen {
			t.Errorf("%s was tried in version %q, and the table of install says %q", h.Title, l.Version, h.Seen)
		} else if h.Seen != "" && (l.Deny != "denied" || l.Run != "runs" || l.Missing == "runs" || l.Crash == "runs" || l.Killed == "runs" || l.Uninstall != "as before" || l.Ask == "RAN") {
			t.Errorf("%s: %+v", h.Title, l)
		}
	}
	const begin, end = "<!-- begin of the table of scripts/live -->\n", "<!-- end of the table -->\n"
	page, err := os.ReadFile("../../../docs/harnesses.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), begin)
	_, after, ends := strings.Cut(rest, end)
	if !found || !ends {
		t.Fatal("docs/harnesses.md has no place for the table")
	}
	want := before + begin + b.String() + end + after
	if *update {
		if err := os.WriteFile("../../../docs/harnesses.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(page) {
		t.Error("the table of docs/harnesses.md is not current; run: go test ./internal/config/install -run TestLiveTableIsCurrent -update")
	}
}
