package archtest

import (
	"os"
	"strings"
	"testing"
)

// The table is between these two lines.
const (
	tableBegin = "<!-- written by go test ./internal/testing/archtest -update -->\n"
	tableEnd   = "<!-- end of the table -->\n"
)

func TestTableIsCurrent(t *testing.T) {
	const page = "../../../docs/architecture.md"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begins := strings.Cut(string(data), tableBegin)
	table, tail, ends := strings.Cut(rest, tableEnd)
	if !begins || !ends {
		t.Fatalf("%s has no table between %q and %q", page, tableBegin, tableEnd)
	}
	want := "\n" + Table(tree(t)) + "\n"
	if table == want {
		return
	}
	if !*update {
		t.Fatalf("the table of %s is not current; run: go test ./internal/testing/archtest -update", page)
	}
	if err := os.WriteFile(page, []byte(head+tableBegin+want+tableEnd+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}
