package ledger

import (
	"bytes"
	"os"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/command/redact"
)

// records returns those that answer, and the error at the end.
func records(t *testing.T, l *bench, q Query) (out []Record, last error) {
	t.Helper()
	for r, err := range l.Records(q) {
		if err != nil {
			last = err
			continue
		}
		out = append(out, r)
	}
	return out, last
}

// A record holds what the entry holds, in the order of a search.
func TestRecordsAreTheEntries(t *testing.T) {
	l := start(t)
	ev, v := command("asked \"about\"", cardea.Ask)
	asked := NewEntry(ev, v, Circumstances{Redactor: redact.New(), Key: testKey(), Now: l.now, Took: 40 * time.Microsecond, Version: "test"})
	for _, e := range []Entry{l.entry("git status"), l.entry("say \"ä\\n\" \\ \\\\\" {[,]} \u2028 <x>"), asked} {
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	got, err := records(t, l, Query{})
	if err != nil || len(got) != 3 {
		t.Fatalf("%d records, %v", len(got), err)
	}
	i := 0
	for line, err := range l.Search(Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		e, r := line.Entry, got[i]
		i++
		same := r.Time.Equal(e.Time) && r.Harness == e.Harness.String() && r.Session == e.Session.String() && r.Event == e.Event.String() &&
			r.Mode == e.Mode.String() && r.Tool == e.Tool.String() && r.Role == e.Role.String() && r.Project == e.Project.String() &&
			r.By == e.By.String() && r.Effect == e.Effect && r.Digest == e.Input.Digest && r.Micros == e.Took.Microseconds() && len(r.Opinions) == len(e.Opinions)
		if e.Effect == cardea.Ask {
			same = same && r.Text == e.Input.Text.String()
		}
		for n, o := range r.Opinions {
			same = same && o.Decider == e.Opinions[n].Decider.String() && o.Rule == e.Opinions[n].Rule.String() && o.Effect == e.Opinions[n].Effect
		}
		if !same {
			t.Errorf("%+v is not %+v", r, e)
		}
	}
}

func TestRecordsOfAQuery(t *testing.T) {
	l := start(t)
	l.add(5)
	all, _ := records(t, l, Query{})
	if len(all) != 5 {
		t.Fatal(len(all))
	}
	at := all[2].Time
	for name, c := range map[string]struct {
		query Query
		want  int
	}{
		"since": {Query{Since: at}, 3}, "until": {Query{Until: at}, 2}, "role": {Query{Role: "nobody"}, 0}, "harness": {Query{Harness: all[0].Harness}, 5},
		"session": {Query{Session: all[0].Session + "x"}, 0}, "project": {Query{Project: all[0].Project}, 5},
		"by": {Query{By: all[0].By}, 5}, "by another": {Query{By: "nobody"}, 0},
	} {
		if got, err := records(t, l, c.query); err != nil || len(got) != c.want {
			t.Errorf("%s: %d records, want %d; %v", name, len(got), c.want, err)
		}
	}
}

// A line that another program wrote, changed or moved is left out and reported.
func TestRecordsThatWereChanged(t *testing.T) {
	l := start(t)
	l.add(4)
	days, err := l.days()
	if err != nil || len(days) != 1 {
		t.Fatal(days, err)
	}
	path := l.dayPath(days[0])
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	lines[1] = bytes.Replace(lines[1], []byte(`"effect":"`), []byte(`"effect": "`), 1)
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := records(t, l, Query{}); err == nil || len(got) != 3 {
		t.Errorf("%d records, %v", len(got), err)
	}
	// The file of another day.
	moved := l.dayPath("2001-01-01")
	if err := os.Rename(path, moved); err != nil {
		t.Fatal(err)
	}
	if got, err := records(t, l, Query{}); err == nil || len(got) != 0 {
		t.Errorf("%d records, %v", len(got), err)
	}
}

func TestTimesOfRecords(t *testing.T) {
	for _, text := range []string{"2026-11-20T09:15:53.000001Z", "2024-02-29T23:59:59.999999Z"} {
		want, err := time.Parse(timeForm, text)
		if got := timeIn([]byte(`"` + text + `"`)); err != nil || !got.Equal(want) {
			t.Errorf("%s: %s", text, got)
		}
	}
	if !timeIn([]byte(`"2026"`)).IsZero() {
		t.Error("half a time")
	}
}

func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":"x\"","c":[{"d":null}]}`))
	f.Add([]byte(`{"c":[{"d":null}@}`))
	f.Fuzz(func(_ *testing.T, b []byte) {
		members(b, func(_, value []byte) { elements(value, func([]byte) {}) })
	})
}
