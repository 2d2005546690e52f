package embedding

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// The pieces are those of the original tokenizer, for commands, other scripts,
// accents, control characters and words that are too long.
func TestPiecesAreTheOriginals(t *testing.T) {
	f, err := os.Open("testdata/pieces.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table := open(t)
	n, wrong := 0, 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		left, right, _ := strings.Cut(lines.Text(), "\t")
		var text string
		var want, got []string
		if err := json.Unmarshal([]byte(left), &text); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(right), &want); err != nil {
			t.Fatal(err)
		}
		table.pieces(text, func(row int) {
			if row == unknown {
				got = append(got, "[UNK]")
				return
			}
			got = append(got, table.text(row))
		})
		n++
		if !slices.Equal(got, want) {
			if wrong++; wrong < 10 {
				t.Errorf("%q:\n got %q\nwant %q", text, got, want)
			}
		}
	}
	if err := lines.Err(); err != nil || n < 3000 {
		t.Fatalf("%d strings, %v", n, err)
	}
	if wrong > 0 {
		t.Errorf("%d of %d strings are split in another way", wrong, n)
	}
}

func open(t testing.TB) *Table {
	t.Helper()
	table, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return table
}
