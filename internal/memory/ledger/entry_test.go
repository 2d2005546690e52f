package ledger

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/command/redact"
)

func circumstances() Circumstances {
	return Circumstances{Redactor: redact.New(), Key: testKey(), Now: time.Date(2026, 11, 20, 12, 0, 0, 123456789, time.UTC), Took: 41500 * time.Nanosecond, Version: "v1"}
}

func inputOf(c *cardea.Call) InputSummary {
	return NewEntry(&cardea.Event{Call: c}, cardea.Verdict{}, circumstances()).Input
}

func TestInputsAreToldShortly(t *testing.T) {
	long := strings.Repeat("secret content ", 100)
	var deep any = "bottom"
	for range 10 {
		deep = map[string]any{"x": deep}
	}
	many := []any{}
	wide := map[string]any{}
	for i := range 100 {
		many = append(many, i)
		wide[fmt.Sprintf("k%03d", i)] = true
	}
	for _, tt := range []struct {
		name string
		call cardea.Call
		want string
	}{
		{"a command", cardea.Call{Tool: "Bash", Input: map[string]any{"command": "git status && <x>", "description": "d"}}, "git status && <x>"},
		{"a file", cardea.Call{Tool: "Write", EditsFiles: true, Input: map[string]any{"file_path": "a.go", "content": "short"},
			Parts: []cardea.Part{{ShellFacts: cardea.ShellFacts{Text: "Write a.go"}}}}, "Write a.go"},
		{"two files", cardea.Call{Tool: "apply_patch", EditsFiles: true, Parts: []cardea.Part{{ShellFacts: cardea.ShellFacts{Text: "apply_patch a"}},
			{ShellFacts: cardea.ShellFacts{Text: "apply_patch b"}}}}, "apply_patch a\napply_patch b"},
		{"a file that is not known", cardea.Call{Tool: "Write", EditsFiles: true, Input: map[string]any{"content": "short"}}, "Write"},
		{
			"fields",
			cardea.Call{Tool: "mcp__x__y", Input: map[string]any{"id": json.Number("7"), "body": long, "ok": true, "none": nil, "q": "<a>"}},
			`{"body":"(1500 bytes)","id":7,"none":null,"ok":true,"q":"<a>"}`,
		},
		{"a long number", cardea.Call{Tool: "T", Input: map[string]any{"n": json.Number(strings.Repeat("7", 300))}}, `{"n":"(300 digits)"}`},
		{"deep", cardea.Call{Tool: "T", Input: map[string]any{"d": deep}}, `{"d":{"x":{"x":{"x":"(1 fields)"}}}}`},
		{"a deep list", cardea.Call{Tool: "T", Input: map[string]any{"d": []any{[]any{[]any{[]any{1}}}}}}, `{"d":[[["(1 values)"]]]}`},
		{"two values of one key", cardea.Call{Tool: "Bash", Input: map[string]any{"command": "ls"}, Shadowed: map[string][]any{"command": {"rm x"}}}, `{"command":"ls","command (again)":["rm x"]}`},
		{"a command that is no text", cardea.Call{Tool: "Bash", Input: map[string]any{"command": []any{"rm", "x"}}}, `{"command":["rm","x"]}`},
		{"nothing", cardea.Call{Tool: "T"}, ""},
		{"no JSON", cardea.Call{Tool: "T", Input: map[string]any{"f": func() {}}}, "T"},
	} {
		in := inputOf(&tt.call)
		if got := in.Text.String(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if tt.name != "no JSON" && (len(in.Digest) != 32 || in.Bytes == 0) {
			t.Errorf("%s: %+v", tt.name, in)
		}
	}
	if got := inputOf(&cardea.Call{Tool: "T", Input: map[string]any{"l": many}}).Text.String(); !strings.HasSuffix(got, `39,"(60 more values)"]}`) {
		t.Error(got)
	}
	if got := inputOf(&cardea.Call{Tool: "T", Input: wide}).Text.String(); !strings.Contains(got, `"…":"(60 more fields)"`) || strings.Contains(got, "k040") {
		t.Error(got)
	}
}

// Equal calls have equal digests. A digest needs the key, and covers all of the input.
func TestDigests(t *testing.T) {
	call := func(content string) *cardea.Call {
		return &cardea.Call{Tool: "Write", EditsFiles: true, Input: map[string]any{"file_path": "a", "content": content}}
	}
	a, b, c := inputOf(call("x")), inputOf(call("x")), inputOf(call("y"))
	if a != b || a.Digest == c.Digest {
		t.Errorf("%v %v %v", a, b, c)
	}
	with := circumstances()
	with.Key = make([]byte, 32)
	if NewEntry(&cardea.Event{Call: call("x")}, cardea.Verdict{}, with).Input.Digest == a.Digest {
		t.Error("the digest does not need the key")
	}
}

func TestRewritesAreStored(t *testing.T) {
	ev, v := command("npm i", cardea.Ask)
	v.Rewrite = map[string]any{"command": "npm ci"}
	e := NewEntry(ev, v, circumstances())
	if e.Rewrite == nil || e.Rewrite.Text.String() != "npm ci" || e.Input.Text.String() != "npm i" || e.Rewrite.Digest == e.Input.Digest {
		t.Errorf("%+v", e)
	}
	b := start(t)
	if err := b.Append(e); err != nil {
		t.Fatal(err)
	}
	if l, err := b.Get(e.ID); err != nil || !reflect.DeepEqual(l.Entry, e) {
		t.Errorf("%+v, %v", l, err)
	}
	if got := 0; len(b.commands()) != 1 {
		t.Error(got)
	}
}

// However much an agent sends, an entry stays small, whole, and keeps what is
// strict.
func TestEntriesAreBounded(t *testing.T) {
	huge := strings.Repeat("\x01ü ", 10000)
	ev := &cardea.Event{Kind: cardea.Kind(huge), Harness: huge, Session: huge, Agent: huge, AgentType: huge, Cwd: huge, Project: huge, Mode: cardea.Mode(huge), Role: huge,
		Call: &cardea.Call{Tool: huge, Input: map[string]any{"command": huge}}}
	v := cardea.Verdict{Effect: cardea.Deny, By: huge, Reason: huge, Instead: huge}
	for i := range 500 {
		p, e := cardea.Part{ShellFacts: cardea.ShellFacts{Text: huge}}, cardea.Allow
		if i == 321 {
			p, e = cardea.Part{ShellFacts: cardea.ShellFacts{Text: "curl evil"}}, cardea.Deny
		}
		ev.Call.Parts, v.Parts = append(ev.Call.Parts, p), append(v.Parts, e)
		v.Opinions = append(v.Opinions, cardea.Opinion{Decider: huge, Rule: huge, Effect: e, Part: i, Source: huge, Severity: cardea.Severity(huge), Reason: huge})
		v.Issues = append(v.Issues, cardea.Warning("", diagnostic.CodeIgnored, "", huge))
	}
	e := NewEntry(ev, v, circumstances())
	if len(e.Parts) != maxList || len(e.Opinions) != maxList || len(e.Issues) != maxList || e.Omitted != 3*(500-maxList) {
		t.Errorf("%d parts, %d opinions, %d troubles, %d omitted", len(e.Parts), len(e.Opinions), len(e.Issues), e.Omitted)
	}
	found := false
	for _, p := range e.Parts {
		found = found || p.Index == 321 && p.Text.String() == "curl evil" && p.Effect == cardea.Deny
	}
	if !found {
		t.Error("the part that was denied is lost among harmless ones")
	}
	for _, text := range []redact.Text{e.Harness, e.Session, e.Cwd, e.By, e.Reason, e.Input.Text, e.Opinions[0].Reason} {
		if s := text.String(); len(s) > maxInput || !utf8.ValidString(s) || !strings.HasSuffix(s, " …") {
			t.Errorf("%d bytes, valid %t", len(s), utf8.ValidString(s))
		}
	}
	b := start(t)
	if err := b.Append(e); err != nil {
		t.Fatal(err)
	}
	if n := len(b.lines(day1)[0]); n > maxLine {
		t.Errorf("the line has %d bytes", n)
	}
	l, err := b.Get(e.ID)
	if err != nil || l.Entry.Omitted+len(l.Entry.Parts)+len(l.Entry.Opinions)+len(l.Entry.Issues) != 1500 {
		t.Errorf("%d omitted, %v", l.Entry.Omitted, err)
	}
	b.intact(1)
}

// Issues of the whole session replace those of the verdict, which are only the unreported ones.
func TestIssuesOfTheCircumstances(t *testing.T) {
	c := circumstances()
	c.Issues = cardea.Issues{cardea.Warning("", diagnostic.CodeIgnored, "", "told before")}
	e := NewEntry(&cardea.Event{}, cardea.Verdict{Issues: cardea.Issues{cardea.Warning("", diagnostic.CodeIgnored, "", "new")}}, c)
	if len(e.Issues) != 1 || e.Issues[0].String() != "told before" {
		t.Errorf("%v", e.Issues)
	}
}

// What others write into a line does not become more than it is.
func TestEntriesOfOthers(t *testing.T) {
	r := redact.New()
	for name, text := range map[string]string{
		"effect":     `{"v":1,"id":"0jk3v9x2mabc1234","time":"2026-11-20T10:00:00.000000Z","effect":"maybe"}`,
		"id":         `{"v":1,"id":"../x","time":"2026-11-20T10:00:00.000000Z","effect":"deny"}`,
		"time":       `{"v":1,"id":"0jk3v9x2mabc1234","time":"now","effect":"deny"}`,
		"a part's":   `{"v":1,"id":"0jk3v9x2mabc1234","time":"2026-11-20T10:00:00.000000Z","effect":"deny","parts":[{"effect":""}]}`,
		"an opinion": `{"v":1,"id":"0jk3v9x2mabc1234","time":"2026-11-20T10:00:00.000000Z","effect":"deny","opinions":[{"effect":"x"}]}`,
	} {
		w, err := parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.entry(r); err == nil {
			t.Errorf("a strange %s passes", name)
		}
	}
	for _, text := range []string{``, `x`, `{}`, `{"v":2}`, `{"v":1,"parts":{}}`, `[]`} {
		if _, err := parse([]byte(text)); err == nil {
			t.Errorf("%s is an entry", text)
		}
	}
	in := (&writtenInput{Digest: "\x1b[2J"}).input(r)
	if in.Digest != "" {
		t.Errorf("a digest of %q", in.Digest)
	}
}

func TestMarshal(t *testing.T) {
	b := start(t)
	e := b.add(1)[0]
	l, err := b.Get(e.ID)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	data, err := json.Marshal(l)
	if err == nil {
		err = json.Unmarshal(data, &got)
	}
	if err != nil || got["id"] != e.ID || got["day"] != day1 || got["n"] != 1.0 || got["genuine"] != true || got["effect"] != "deny" {
		t.Errorf("%s, %v", data, err)
	}
	data, err = json.Marshal(e)
	if err != nil || !strings.HasPrefix(string(data), `{"v":1,"id":"`+e.ID) {
		t.Errorf("%s, %v", data, err)
	}
}

// What is written is what encoding/json would write.
func TestWrittenAsJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			v.SetString([]string{"", "", "plain", "<a> & \"b\"\n\\", "ü\u2028\xff\x00"}[r.IntN(5)])
		case reflect.Int, reflect.Int64:
			v.SetInt(int64(r.IntN(3)) * 1_000_003)
		case reflect.Struct:
			for i := range v.NumField() {
				fill(v.Field(i))
			}
		case reflect.Pointer:
			if r.IntN(2) == 0 {
				v.Set(reflect.New(v.Type().Elem()))
				fill(v.Elem())
			}
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), r.IntN(3), 3))
			for i := range v.Len() {
				fill(v.Index(i))
			}
		default:
			t.Fatalf("a field of type %s", v.Type())
		}
	}
	for range 2000 {
		var w written
		fill(reflect.ValueOf(&w).Elem())
		want, err := marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.append(nil); string(got) != string(want) {
			t.Fatalf("%s\nwant\n%s", got, want)
		}
		var h head
		fill(reflect.ValueOf(&h).Elem())
		if want, err = marshal(h); err != nil || string(h.append(nil))+"}" != string(want) {
			t.Fatalf("%s}\nwant\n%s, %v", h.append(nil), want, err)
		}
	}
}
