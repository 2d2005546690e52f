package harness_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/testing/testrun"
)

func read(t testing.TB, raw string) *harness.Payload {
	t.Helper()
	p, err := harness.Read([]byte(raw))
	if err != nil {
		t.Fatalf("%v in %.200s", err, raw)
	}
	return p
}

func TestReadNoObject(t *testing.T) {
	for raw, found := range map[string]string{
		"":                                 "it is empty",
		" \n\t":                            "it is empty",
		"null":                             "it is null",
		"[]":                               "it is an array",
		`[{"a":1}]`:                        "it is an array",
		`"x"`:                              "it is a string",
		"-1.5e+3":                          "it is a number",
		"true":                             "it is a boolean",
		`{"a":1}{"b":2}`:                   "there is an object behind the object, at byte 7",
		`{"a":1} 2`:                        "there is a number behind the object, at byte 8",
		`{"a":1}x`:                         "broken JSON at byte 7",
		`{`:                                "broken JSON at byte 1",
		`{"a"}`:                            "broken JSON at byte 4: a colon",
		`{"a":}`:                           "broken JSON at byte 5",
		`{"a":1,}`:                         "broken JSON at byte 7",
		`{"a":1 "b":2}`:                    "broken JSON at byte 7",
		`{a:1}`:                            "broken JSON at byte 1",
		`{"a":01}`:                         "broken JSON at byte 6",
		`{"a":1.}`:                         "broken JSON at byte 7",
		`{"a":1e}`:                         "broken JSON at byte 7",
		`{"a":-}`:                          "broken JSON at byte 6",
		`{"a":+1}`:                         "broken JSON at byte 5",
		`{"a":nul}`:                        "broken JSON at byte 5",
		`{"a":"x`:                          "broken JSON at byte 7: a string has no end",
		`{"a":"\`:                          "broken JSON at byte 6: a string has no end",
		`{"a":"\n`:                         "broken JSON at byte 8: a string has no end",
		`{"a":"\x41"}`:                     "an unknown escape",
		`{"a":"\u12"}`:                     "an unknown escape",
		`{"a":"\u+123"}`:                   "an unknown escape",
		"{\"a\":\"x\ny\"}":                 "a control character",
		"{\"a\":\"\\\\x\ny\"}":             "a control character",
		"{\"a\":\"x\x00y\"}":               "a control character",
		"\xef\xbb\xbf\xef\xbb\xbf{}":       "broken JSON at byte 0",
		"\xff\xfe{":                        "broken JSON at byte 0",
		`{"a":[1,2}`:                       "broken JSON at byte 9",
		`{"a":` + strings.Repeat("[", 200): "broken JSON at byte",
		`{"a":` + strings.Repeat(`{"a":`, 200) + "1,":   "broken JSON at byte",
		`{"a":` + strings.Repeat(`[`, 200) + `{"a":1,2`: "broken JSON at byte",
		`{"a":` + strings.Repeat(`[`, 200) + `{"a" 1`:   "a colon is missing",
		`{"a":` + strings.Repeat(`[`, 200) + `{"a\q"`:   "an unknown escape",
		`{"a":` + strings.Repeat(`[`, 200) + `1 2`:      "a comma or closing bracket",
	} {
		_, err := harness.Read([]byte(raw))
		if !errors.Is(err, harness.ErrNoObject) || !strings.Contains(err.Error(), found) {
			t.Errorf("%.40q: %v, want %q", raw, err, found)
		}
		if json.Valid([]byte(raw)) && strings.Contains(fmt.Sprint(err), "broken") {
			t.Errorf("%.40q is valid JSON", raw)
		}
	}
}

func TestReadDefects(t *testing.T) {
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	for raw, reason := range map[string]string{
		`{"a":1,"b":{"c":"é😀\ud83d\ude00\"\\\/\b\f\n\r\t"}}`: "",
		`{"a":1,"a":1}`:                 "twice",
		`{"tool_name":1,"Tool_Name":1}`: "differs only in case",
		`{"k":1,"\u212a":1}`:            "differs only in case", // KELVIN SIGN
		`{"s":1,"ſ":1}`:                 "differs only in case",
		`{"ς":1,"σ":1}`:                 "differs only in case",
		`{"a":"\ud800"}`:                "surrogate",
		`{"a":"\udc00x"}`:               "surrogate",
		`{"a":"\ud800\ud800\udc00"}`:    "surrogate",
		`{"a":"\ud800A"}`:               "surrogate",
		"{\"a\":\"\xff\"}":              "UTF-8",
		"{\"a\":\"\\n\xff\"}":           "UTF-8",
		"{\"\xff\":1}":                  "UTF-8",
		`{"a":"x\u0000y"}`:              "NUL",
		`{"a\u0000":1}`:                 "NUL",
		`{"a":` + deep + `}`:            "too deep",
		`{"a":"�"}`:                     "",
	} {
		defects := read(t, raw).Defects("a")
		if (len(defects) == 0) != (reason == "") || len(defects) > 0 && !strings.Contains(fmt.Sprint(defects), reason) {
			t.Errorf("%.40q: %v, want %q", raw, defects, reason)
		}
	}
}

// A tool input that is too deep or too large is beyond a limit, and other defects before it do not
// hide that.
func TestInputBeyondALimit(t *testing.T) {
	many := strings.Repeat(`{"k":1,"k":1},`, 60)
	for raw, want := range map[string]bool{
		`{"a":` + strings.Repeat("[", 101) + strings.Repeat("]", 101) + `}`:                 true,
		`{"a":[` + many + strings.Repeat("[", 101) + strings.Repeat("]", 101) + `]}`:        true,
		`{"a":[` + strings.Repeat("0,", 500_000) + `0]}`:                                    true,
		`{"a":` + strings.Repeat("[", 50) + strings.Repeat("]", 50) + `,"b":{"k":1,"k":1}}`: false,
		`{"a":{"k":1,"k":1}}`: false,
		`{"b":` + strings.Repeat("[", 101) + strings.Repeat("]", 101) + `,"a":{"k":1,"K":1}}`: false,
	} {
		defects := read(t, raw).Defects("a")
		if got := slices.ContainsFunc(defects, func(o cardea.Opaque) bool { return o.Code.Limit() }); got != want {
			t.Errorf("%.40q: %v", raw, defects)
		}
	}
}

func TestDefectsBelowOtherKeysDoNotCount(t *testing.T) {
	// A key with many defects must not crowd out those of the next.
	p := read(t, `{"response":{"x":[`+strings.Repeat(`{"a":1,"a":1},`, 60)+`0]},"tool_input":{"a":1,"a":2}}`)
	if f := p.Defects(); len(f) != 0 {
		t.Errorf("at the top: %v", f)
	}
	if f := p.Defects("tool_input"); len(f) != 1 {
		t.Errorf("in the input: %v", f)
	}
}

func TestDecodedAgreesWithEncodingJSON(t *testing.T) {
	raw := `{"s":"a\u00e9\n😀\ud83d\ude00","n":[0,-1,1.5e-3,1E+2],"o":{"x":{},"y":[[],null,true,false]},"":"empty"}`
	var want any
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&want); err != nil {
		t.Fatal(err)
	}
	if got := harness.Decoded(read(t, raw).Root()); !reflect.DeepEqual(got, want) {
		t.Errorf("%#v\n%#v", got, want)
	}
}

func TestReadIsLinear(t *testing.T) {
	size := testrun.Pick(4, 20) << 20
	begin := time.Now()
	for name, raw := range map[string]string{
		"text":       `{"a":"` + strings.Repeat("x", size) + `"}`,
		"escapes":    `{"a":"` + strings.Repeat(`\u0041`, size/6) + `"}`,
		"brackets":   `{"a":` + strings.Repeat("[", size/2) + strings.Repeat("]", size/2) + `}`,
		"values":     `{"a":[` + strings.Repeat("0,", size/2) + `0],"b":"c"}`,
		"keys":       `{"a":{` + strings.Repeat(`"k":0,`, size/6) + `"l":0},"b":"c"}`,
		"top keys":   `{` + strings.Repeat(`"k":0,`, size/60) + `"b":"c"}`,
		"surrogates": `{"a":"` + strings.Repeat(`\ud800`, size/6) + `"}`,
	} {
		p := read(t, raw)
		if name != "text" && name != "escapes" && len(p.Defects("a")) == 0 {
			t.Errorf("%s: no fault", name)
		}
		if p.Has("b") != strings.Contains(raw, `"b"`) {
			t.Errorf("%s: a key behind a huge value is lost", name)
		}
	}
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("took %s", took) // a hang guard; it takes about three seconds
	}
}

func TestCall(t *testing.T) {
	cases := []struct {
		name, tool, input string
		in                map[string]any
		shadowed          map[string][]any
		defects           int
	}{
		{"plain", "Bash", `{"command":"ls"}`, map[string]any{"command": "ls"}, nil, 0},
		{"missing field", "Bash", `{}`, map[string]any{}, nil, 0},
		{"unknown field", "Bash", `{"command":"ls","future":[1]}`, map[string]any{"command": "ls", "future": []any{json.Number("1")}}, nil, 0},
		{"wrong type", "Bash", `{"command":["ls"]}`, map[string]any{"command": []any{"ls"}}, nil, 1},
		{"null", "Bash", `{"command":null}`, map[string]any{"command": nil}, nil, 1},
		{"duplicate", "Bash", `{"command":"ls","command":"rm"}`, map[string]any{"command": "ls"}, map[string][]any{"command": {"rm"}}, 2},
		{"variant behind", "Bash", `{"command":"ls","Command":"rm"}`, map[string]any{"command": "ls", "Command": "rm"},
			map[string][]any{"command": {"rm"}}, 2},
		{"variants before", "Bash", `{"COMMAND":"a","COMMAND":"b","command":"ls"}`, map[string]any{"command": "ls", "COMMAND": "a"},
			map[string][]any{"command": {"a", "b"}}, 3},
		{"variant alone", "Bash", `{"Command":"ls"}`, map[string]any{"Command": "ls"}, map[string][]any{"command": {"ls"}}, 1},
		{"unknown tool", "mcp__x__y", `{"a":1,"A":2}`, map[string]any{"a": json.Number("1"), "A": json.Number("2")},
			map[string][]any{"a": {json.Number("2")}}, 2},
		{"no object", "Bash", `["ls"]`, map[string]any{"command": []any{"ls"}}, nil, 2},
		{"text", "Bash", `"ls"`, map[string]any{"command": "ls"}, nil, 1},
		{"text for an unknown tool", "Frobnicate", `"ls"`, map[string]any{"input": "ls"}, nil, 1},
		{"nothing", "Bash", `null`, map[string]any{}, nil, 1},
		{"nested", "MultiEdit", `{"edits":[{"old_string":"a","old_string":"b"}]}`,
			map[string]any{"edits": []any{map[string]any{"old_string": "a"}}}, nil, 1},
	}
	for _, c := range cases {
		p := read(t, `{"tool_input":`+c.input+`}`)
		r := harness.NewReading(p)
		v, there := r.Value("tool_input")
		call := r.Call("claude-code", c.tool, c.tool, v, there)
		if !reflect.DeepEqual(call.Input, c.in) || !reflect.DeepEqual(call.Shadowed, c.shadowed) {
			t.Errorf("%s: input %v, shadowed %v", c.name, call.Input, call.Shadowed)
		}
		if f := r.Defects("tool_input"); len(f) != c.defects {
			t.Errorf("%s: faults %v", c.name, f)
		}
	}
}

func TestReading(t *testing.T) {
	r := harness.NewReading(read(t, `{"a":"x","n":null,"Cwd":"/x","rel":"a/b","win":"C:\\x","unc":"\\\\h\\s","num":5}`))
	if r.Text("a") != "x" || r.Text("n") != "" || r.Text("none") != "" || r.Folder("win") != `C:\x` || r.Folder("unc") != `\\h\s` {
		t.Error("a plain field is not read")
	}
	if f := r.Defects(); len(f) != 0 {
		t.Errorf("faults %v", f)
	}
	for i, read := range []func() string{
		func() string { return r.Folder("cwd") }, func() string { return r.Folder("rel") }, func() string { return r.Text("num") },
	} {
		if read() != "" || len(r.Defects()) != i+1 {
			t.Errorf("%d: faults %v", i, r.Defects())
		}
	}
	r.Text("num")
	if len(r.Defects()) != 3 {
		t.Error("a fault is listed twice")
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":[1,{"b":"\ud800"}],"a":null}`, `{"a":"\u0000é"}`, `[`, `{"a":1}{}`, "{\"\xff\":1}",
		strings.Repeat(`{"a":`, 120)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := harness.Read(raw)
		var std map[string]any
		d := json.NewDecoder(strings.NewReader(string(raw)))
		d.UseNumber()
		stdErr := json.Unmarshal(raw, new(map[string]any))
		if (err == nil) != (stdErr == nil) && string(raw) != "null" && !strings.Contains(fmt.Sprint(stdErr), "max depth") &&
			!isNull(raw) {
			t.Fatalf("%q: %v, encoding/json: %v", raw, err, stdErr)
		}
		if err != nil || d.Decode(&std) != nil {
			return
		}
		if len(p.Defects(topKeys(p)...)) == 0 {
			if got := harness.Decoded(p.Root()); !reflect.DeepEqual(got, any(std)) {
				t.Fatalf("%q: %v, encoding/json: %v", raw, got, std)
			}
		}
	})
}

func isNull(raw []byte) bool {
	var v any
	return json.Unmarshal(raw, &v) == nil && v == nil
}

func topKeys(p *harness.Payload) []string {
	var out []string
	for _, e := range p.Root().Entries() {
		out = append(out, e.Key)
	}
	return out
}

func BenchmarkCheckReadBash(b *testing.B) {
	benchmarkRead(b, `{"session_id":"abc","transcript_path":"/h/t.jsonl","cwd":"/work/p","permission_mode":"default",
		"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"npm test","description":"d"},"tool_use_id":"t"}`)
}

func BenchmarkCheckReadWrite1MB(b *testing.B) {
	benchmarkRead(b, `{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/a","content":"`+
		strings.Repeat(`some text\n`, 100_000)+`"}}`)
}

func benchmarkRead(b *testing.B, raw string) {
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		p, err := harness.Read([]byte(raw))
		if err != nil {
			b.Fatal(err)
		}
		r := harness.NewReading(p)
		v, there := r.Value("tool_input")
		if c := r.Call("claude-code", p.Text("tool_name"), p.Text("tool_name"), v, there); !c.Known {
			b.Fatal(c)
		}
	}
}
