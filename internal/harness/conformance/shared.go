package conformance

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/testing/sharedtest"
)

// Sample is a stdin payload of the shared material.
type Sample struct {
	Path, Harness, Kind string
}

// Samples lists the stdin payloads.
func Samples(t testing.TB) []Sample {
	t.Helper()
	var index struct{ Files []Sample }
	sharedtest.ReadJSON(t, &index, "payloads", "INDEX.json")
	var out []Sample
	for _, f := range index.Files {
		if f.Kind == "stdin" {
			out = append(out, f)
		}
	}
	if sharedtest.Available(t) && len(out) < 200 {
		t.Fatalf("only %d stdin payloads in the index", len(out))
	}
	return out
}

// golden reads the payloads of the shared material, and those in the folder
// testdata of the adapter.
func (s Suite) golden(t *testing.T) {
	n := 0
	for _, f := range Samples(t) {
		if s.Folder != "" && f.Harness == s.Folder {
			n++
			s.payload(t, f.Path, sharedtest.Read(t, "payloads", f.Path))
		}
	}
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		n++
		s.payload(t, f, raw)
	}
	if n == 0 && s.Folder != "" {
		t.Errorf("no payloads of %s", s.Folder)
	}
}

// payload checks one golden payload against Expect.
func (s Suite) payload(t *testing.T, path string, raw []byte) {
	t.Helper()
	file := strings.TrimSuffix(filepath.Base(path), ".json")
	p, err := harness.Read(raw)
	if err != nil {
		t.Errorf("%s: %v", file, err)
		return
	}
	if !s.Adapter.Detect(p, func(string) string { return "" }) {
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

// response is a file of payloads/<harness>/responses.
type response struct {
	Event    string
	ExitCode int `json:"exit_code"`
	Stdout   string
	Stderr   string
}

// asVendor matches the text that Cardea adds to a vendor's sample.
var asVendor = regexp.MustCompile(`"systemMessage":"Cardea: To see [^"]*",?|Cardea: |\\n(To see|The person can run)[^"]*`)

// replies checks the adapter's output against golden responses, and the model against theirs.
func (s Suite) replies(t *testing.T) {
	for file, r := range s.Replies {
		var want response
		sharedtest.ReadJSON(t, &want, "payloads", s.Folder, "responses", file+".json")
		got := s.answer(s.parse(t, r.Message), r.Verdict)
		if got.Exit != want.ExitCode || !sameJSON(asVendor.ReplaceAll(got.Stdout, nil), []byte(want.Stdout)) {
			t.Errorf("%s: exit %d, %s\nwant exit %d, %s", file, got.Exit, got.Stdout, want.ExitCode, want.Stdout)
		}
	}
	for file, outcome := range s.Effects {
		var r response
		sharedtest.ReadJSON(t, &r, "payloads", s.Folder, "responses", file+".json")
		kind := cardea.Kind(strings.ToUpper(r.Event[:1]) + r.Event[1:])
		ev := &cardea.Event{Kind: kind, Wire: r.Event, Call: &cardea.Call{Tool: "Bash"}}
		a := harness.Output{Stdout: []byte(r.Stdout), Stderr: []byte(r.Stderr), Exit: r.ExitCode}
		if got := s.Outcome(ev, a); got != outcome {
			t.Errorf("%s: the model says %s, the documentation %s", file, got, outcome)
		}
	}
}

// matrix compares the model with the failure matrix, column by column, if an answer can show the
// column.
func (s Suite) matrix(t *testing.T) {
	var table map[string]any
	sharedtest.ReadJSON(t, &table, "payloads", "_vectors", "failure-matrix.json")
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
		deny := s.answer(ev, cardea.Verdict{Effect: cardea.Deny, Reason: "x", Message: "x"})
		for i, a := range map[int]harness.Output{
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

// decisionMap checks the adapter's output for each decision against the vendor's decision map.
func (s Suite) decisionMap(t *testing.T) {
	var table map[string]map[string]string
	sharedtest.ReadJSON(t, &table, "payloads", "_vectors", "decision-map.json")
	row := table[s.Adapter.Name()]
	if len(row) != 4 {
		t.Fatalf("no row of four for %s", s.Adapter.Name())
	}
	for word, says := range row {
		effect, err := cardea.ParseEffect(word)
		if err != nil {
			t.Fatal(err)
		}
		a := s.answer(s.parse(t, s.PreToolUse[0]), cardea.Verdict{Effect: effect, Reason: "x", Message: "x"})
		silent := strings.Contains(says, "empty stdout")
		if silent != (len(a.Stdout) == 0) || a.Exit != 0 {
			t.Errorf("%s: exit %d, %q; the map says %s", word, a.Exit, a.Stdout, says)
		}
		if !silent && !strings.Contains(string(a.Stdout), `"permissionDecision":"`+word+`"`) {
			t.Errorf("%s: %s; the map says %s", word, a.Stdout, says)
		}
	}
}
