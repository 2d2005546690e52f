package lesson

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"cardea.dev"
)

// A file of several chunks is read as one. Lines keep their numbers, duplicates are merged, a
// removal applies to every chunk, and unsorted lines at the border of two chunks are sorted.
func TestBuildOfChunks(t *testing.T) {
	p := here(t)
	p.Shared, p.Scope = false, cardea.ScopeUser
	const n = 3 * chunkSize / 200
	fill(t, p, n)
	path := file(p, "allow.jsonl")
	all := strings.Split(strings.TrimSuffix(contents(t, path), "\n"), "\n")
	subject := func(i int) string { return fmt.Sprintf(benchSubject, i) }
	perChunk := chunkSize / (len(all[0]) + 1)
	if n < 2*perChunk+10 {
		t.Fatalf("%d lines of %d in a chunk", n, perChunk)
	}

	first, others := all[:perChunk], all[perChunk:]
	put(t, path, strings.Join(slices.Concat(others[:perChunk], first, others[perChunk:]), "\n")+"\n")
	if built, err := writer(t, p).Build(time.Minute); err != nil || built.Lessons != n || built.Broken != 0 {
		t.Fatal(built, err)
	}
	if got := contents(t, path); got != strings.Join(all, "\n")+"\n" {
		t.Error("two chunks that each are in order, but not behind each other, were not put in order")
	}

	broken := slices.Clone(all)
	broken[2] = "{"
	broken[perChunk+3] = "{"
	broken[n-1] = broken[0]
	broken[5] = fmt.Sprintf(`{"v":1,"removes":%q,"by":"person","who":"","when":""}`, IDOf(all[n-2]))
	put(t, path, strings.Join(broken, "\n")+"\n")
	denies := (&Draft{Effect: cardea.Deny, By: ByPerson, When: when}).line()
	denies.Tool, denies.Role, denies.Dir = "Bash", AnyRole, "."
	var more strings.Builder
	const denied = 300
	for i := range denied {
		denies.Subject = fmt.Sprintf("denied-%d %s", i, strings.Repeat("x", smallFile/denied))
		more.WriteString(denies.text() + "\n")
	}
	put(t, file(p, "deny.jsonl"), more.String())
	notes := map[int]string{}
	w, err := NewWriter(p, Section{Name: "subjects", Note: func(b []byte, r *Record) []byte { return append(b, r.Subject...) },
		Make: func(seq iter.Seq2[int, []byte]) []byte {
			for number, note := range seq {
				notes[number] = string(note)
			}
			return []byte("made")
		}})
	if err != nil {
		t.Fatal(err)
	}
	if built, err := w.Build(time.Minute); err != nil || built.Lessons != n-5+denied || built.Broken != 2 {
		t.Fatal(built, err, n)
	}
	s := Open(p)
	defer s.Close()
	for i, want := range map[int]string{0: "allow own 1", 2: "", 5: "", perChunk - 1: fmt.Sprint("allow own ", perChunk), perChunk: fmt.Sprint("allow own ", perChunk+1),
		perChunk + 3: "", 2*perChunk + 1: fmt.Sprint("allow own ", 2*perChunk+2), n - 2: ""} {
		if got := strings.Join(found(s, subject(i)), ", "); got != want {
			t.Errorf("line %d: %q, not %q", i+1, got, want)
		}
	}
	section, ok := s.Section("subjects")
	if !ok || section.Count() != n-5+denied || len(notes) != section.Count() {
		t.Fatalf("%d notes of %d lessons; the section is there: %v", len(notes), n-5+denied, ok)
	}
	for number, note := range notes {
		if f, ok := section.At(number); !ok || f.Subject != note {
			t.Fatalf("lesson %d is about %v, and %q was noted of it", number, f, note)
		}
	}
	var lines []int
	for _, issue := range s.Issues() {
		lines = append(lines, issue.Diagnostic.Line)
	}
	if !slices.Equal(lines, []int{3, perChunk + 4}) {
		t.Errorf("broken lines %v", lines)
	}
}
