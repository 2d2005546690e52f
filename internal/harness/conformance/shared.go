package conformance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// Shared gives a path below the folder of shared test material, which lies
// beside the repository. Without it the test is skipped, or fails where
// CARDEA_SHARED=require says that it must be there.
func Shared(t testing.TB, elem ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
	file := filepath.Join(append([]string{dir, "..", "shared"}, elem...)...)
	if _, err := os.Stat(file); err != nil {
		if os.Getenv("CARDEA_SHARED") == "require" {
			t.Fatal(err)
		}
		t.Skip("no shared test material")
	}
	return file
}

// ReadJSON reads a JSON file of the shared material into v.
func ReadJSON(t testing.TB, v any, elem ...string) {
	t.Helper()
	raw, err := os.ReadFile(Shared(t, elem...))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatalf("%s: %v", filepath.Join(elem...), err)
	}
}

// Sample is a stdin payload of the shared material.
type Sample struct {
	Path, Harness, Kind string
}

// Samples lists the stdin payloads.
func Samples(t testing.TB) []Sample {
	t.Helper()
	var index struct{ Files []Sample }
	ReadJSON(t, &index, "payloads", "INDEX.json")
	var out []Sample
	for _, f := range index.Files {
		if f.Kind == "stdin" {
			out = append(out, f)
		}
	}
	if len(out) < 200 {
		t.Fatalf("only %d stdin payloads in the index", len(out))
	}
	return out
}

func (s Suite) golden(t *testing.T) {
	none := func(string) string { return "" }
	n := 0
	for _, f := range Samples(t) {
		if f.Harness != s.Folder {
			continue
		}
		n++
		file := strings.TrimSuffix(filepath.Base(f.Path), ".json")
		raw, err := os.ReadFile(Shared(t, "payloads", f.Path))
		if err != nil {
			t.Fatal(err)
		}
		p, err := harness.Read(raw)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if !s.Adapter.Detect(p, none) {
			t.Errorf("%s is not detected", file)
		}
		ev := s.Adapter.Parse(p)
		kind, tool := s.Expect(file)
		got := ""
		if ev.Call != nil {
			got = ev.Call.Tool
		}
		if ev.Kind != kind || got != tool || ev.Harness != s.Adapter.Name() {
			t.Errorf("%s: %s of %q, want %s of %q", file, ev.Kind, got, kind, tool)
		}
		if len(ev.Faults) > 0 {
			t.Errorf("%s: faults %v", file, ev.Faults)
		}
		if ev.Session == "" || ev.Kind.Answered() && !strings.HasPrefix(got, "mcp__") && !ev.Call.Known {
			t.Errorf("%s: no session, or a tool that is not known: %+v", file, ev)
		}
	}
	if n == 0 {
		t.Errorf("no payloads of %s", s.Folder)
	}
}

// response is a file of payloads/<harness>/responses.
type response struct {
	Event    string
	ExitCode int `json:"exit_code"`
	Stdout   string
	Stderr   string
}

func (s Suite) replies(t *testing.T) {
	for file, r := range s.Replies {
		var want response
		ReadJSON(t, &want, "payloads", s.Folder, "responses", file+".json")
		got := s.Adapter.Render(s.parse(t, r.Message), r.Verdict)
		if got.Exit != want.ExitCode || !sameJSON(got.Stdout, []byte(want.Stdout)) {
			t.Errorf("%s: exit %d, %s\nwant exit %d, %s", file, got.Exit, got.Stdout, want.ExitCode, want.Stdout)
		}
	}
	for file, outcome := range s.Effects {
		var r response
		ReadJSON(t, &r, "payloads", s.Folder, "responses", file+".json")
		kind := cardea.Kind(strings.ToUpper(r.Event[:1]) + r.Event[1:])
		ev := &cardea.Event{Kind: kind, Wire: r.Event, Call: &cardea.Call{Tool: "Bash"}}
		a := harness.Answer{Stdout: []byte(r.Stdout), Stderr: []byte(r.Stderr), Exit: r.ExitCode}
		if got := s.Outcome(ev, a); got != outcome {
			t.Errorf("%s: the model says %s, the documentation %s", file, got, outcome)
		}
	}
}

// matrix compares the model with the failure matrix, column by column, where
// an answer can show the column.
func (s Suite) matrix(t *testing.T) {
	var table map[string]any
	ReadJSON(t, &table, "payloads", "_vectors", "failure-matrix.json")
	for kind, row := range s.Matrix {
		cells, ok := table[row].([]any)
		if !ok {
			t.Errorf("no row %q", row)
			continue
		}
		sample := s.PreToolUse[0]
		if kind == cardea.PermissionRequest {
			sample = s.PermissionRequest[0]
		}
		ev := s.parse(t, sample)
		deny := s.Adapter.Render(ev, cardea.Verdict{Effect: cardea.Deny, Reason: "x", Message: "x"})
		for i, a := range map[int]harness.Answer{
			0: {}, 1: deny, 2: {Exit: 1, Stderr: []byte("x\n")}, 3: {Exit: 2, Stderr: []byte("x\n")},
			6: {Stdout: []byte("{\"x\": }\n")},
		} {
			want := strings.HasPrefix(cells[i].(string), "closed")
			if got := s.Outcome(ev, a); (got >= Blocked) != want {
				t.Errorf("%s, column %d: the model says %s, the matrix %v", row, i, got, cells[i])
			}
		}
	}
}

func (s Suite) decisionMap(t *testing.T) {
	var table map[string]map[string]string
	ReadJSON(t, &table, "payloads", "_vectors", "decision-map.json")
	row := table[s.Adapter.Name()]
	if len(row) != 4 {
		t.Fatalf("no row of four for %s", s.Adapter.Name())
	}
	for word, says := range row {
		effect, err := cardea.ParseEffect(word)
		if err != nil {
			t.Fatal(err)
		}
		a := s.Adapter.Render(s.parse(t, s.PreToolUse[0]), cardea.Verdict{Effect: effect, Reason: "x", Message: "x"})
		silent := strings.Contains(says, "empty stdout")
		if silent != (len(a.Stdout) == 0) || a.Exit != 0 {
			t.Errorf("%s: exit %d, %q; the map says %s", word, a.Exit, a.Stdout, says)
		}
		if !silent && !strings.Contains(string(a.Stdout), `"permissionDecision":"`+word+`"`) {
			t.Errorf("%s: %s; the map says %s", word, a.Stdout, says)
		}
	}
}
