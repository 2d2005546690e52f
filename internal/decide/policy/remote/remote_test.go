package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"cardea.dev/internal/decide/policy/engine"
	"cardea.dev/internal/decide/policy/rego"
	"cardea.dev/internal/testing/testrun"
)

// TestMain is the server if the test binary is started under the name of one.
func TestMain(m *testing.M) {
	switch strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") {
	case Program:
		if err := Serve(rego.Engine{}, os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
	case "garbage":
		_, _ = os.Stdout.WriteString("\xff\xff\xff\xff and much more")
		time.Sleep(time.Hour)
	case "babbling":
		_, _ = os.Stdout.Write([]byte{0, 0, 0, 2, 9, 9, 0, 0, 0, 0, 0, 0, 0, 0, 'n', 'o'})
		time.Sleep(time.Hour)
	case "evasive":
		answerEach(message{version: version, tag: tagDone})
	case "failing":
		answerEach(message{version: version, tag: tagFailed, body: []byte("no")})
	case "muddled":
		answerEach(message{version: version, tag: 77})
	case "hanging":
		time.Sleep(time.Hour)
	case "dying":
		os.Exit(3)
	default:
		os.Exit(m.Run())
	}
}

// answerEach sends the same answer to every request.
func answerEach(with message) {
	for {
		if _, err := readMessage(os.Stdin, maxRequest); err != nil {
			return
		}
		_ = with.write(os.Stdout)
	}
}

// client returns an engine whose process is the test binary under a name.
func client(t testing.TB, name string) *Engine {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name+filepath.Ext(own))
	if runtime.GOOS != "windows" {
		path = filepath.Join(filepath.Dir(path), name)
	}
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
	e := newEngine(name, func() (string, error) { return path, nil })
	t.Cleanup(e.Close)
	return e
}

func in(t testing.TB, v any) engine.Input {
	t.Helper()
	out, err := engine.NewInput(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func one(rule string, in engine.Input) []engine.Query {
	return []engine.Query{{Package: "a", Rule: rule, Input: in}}
}

// files returns the files that the tests use.
func files() []engine.Source {
	return []engine.Source{
		{
			Path: "a.rego",
			Text: "package a\n\nimport rego.v1\n\nsum := input.n + 1\n\nname := input.name\n\nset contains x if some x in [3, 1, 2]\n\nno := 1 if false\n\nbig := " +
				"123456789012345678901234567890\n\ntwo := 1 if input.n\n\ntwo := 2 if input.n\n\nnever if regex.match(\"(\", input.name)\n\nslow if {\n\tsome x in numbers.range(1, 100000)\n\tsome y in " +
				"numbers.range(1, 100000)\n\tx * y < 0\n}\n\nlong := [s | some i in numbers.range(1, 1000); s := concat(\"\", [input.name, \"xxxxxxxxxxxxxxxx\"])]\n",
		},
		{Path: "a_test.rego", Text: "package a_test\n\nimport rego.v1\nimport data.a\n\ntest_sum if a.sum == 3 with input as {\"n\": 2}\n\ntest_no if { print(\"why\"); false }\n"},
		{Path: "bad.rego", Text: "package b\n\nimport rego.v1\n\nx := nosuch(1)\n"},
		{Path: "worse.rego", Text: "# METADATA\n# scope: package\n# title: T\npackage c\n\nx := {{{"},
		{Path: "lost.rego", Text: "{{{"},
		{Path: "d/data.json", Text: "{\"d\": [1, 2]}", Data: "/d"},
		{Path: "data.yaml", Text: "d: [", Data: "/"},
	}
}

// Both engines give the same results.
func TestSameAsInProcess(t *testing.T) {
	here, there := rego.Engine{}, client(t, Program)
	ctx := within(t, time.Minute)
	there.Wake()
	for name, ask := range map[string]func(engine.Engine) (any, error){
		"parse": func(e engine.Engine) (any, error) { return e.Parse(ctx, files()) },
		"look":  func(e engine.Engine) (any, error) { return e.Look(ctx, files()) },
		"fields": func(e engine.Engine) (any, error) {
			return e.Fields(ctx, files(), engine.Options{}, []engine.Shape{{Files: []string{"a.rego"}, Input: map[string]any{"nam": nil}}})
		},
		"format": func(e engine.Engine) (any, error) { return e.Format(ctx, files()) },
		"test": func(e engine.Engine) (any, error) {
			out, err := e.Test(ctx, files(), engine.TestOptions{})
			for i := range out.Results {
				out.Results[i].Took = 0
			}
			return out, err
		},
		"broken": func(e engine.Engine) (any, error) {
			return e.Compile(files(), engine.Options{Extra: []string{"time.now_ns"}, Checked: true}).Broken(ctx)
		},
		"eval": func(e engine.Engine) (any, error) {
			a, b := in(t, map[string]any{"n": json.Number("41"), "name": "ä\u2028<&>\x00"}), in(t, map[string]any{"n": json.Number("0.1e3")})
			var queries []engine.Query
			for _, x := range []engine.Input{a, b} {
				for _, rule := range []string{"sum", "name", "set", "no", "big", "two", "nosuch"} {
					queries = append(queries, engine.Query{Package: "a", Rule: rule, Input: x})
				}
			}
			var out []string
			for _, r := range e.Compile(files(), engine.Options{}).Eval(ctx, queries) {
				out = append(out, fmt.Sprintf("%#v %v", r.Value, r.Err))
			}
			return out, nil
		},
	} {
		want, err := ask(here)
		got, err2 := ask(there)
		if err != nil || err2 != nil || len(fmt.Sprint(want)) < 10 {
			t.Fatalf("%s: %v, %v, %v", name, want, err, err2)
		}
		// An empty value may be nil on one side.
		a, _ := json.Marshal(want)
		b, _ := json.Marshal(got)
		if x, y := strings.ReplaceAll(string(a), "[]", "null"), strings.ReplaceAll(string(b), "[]", "null"); x != y {
			t.Errorf("%s:\nhere  %s\nthere %s", name, x, y)
		}
	}
	if err := there.Ready(); err != nil {
		t.Error(err)
	}
}

// killProcess ends a process without the engine's knowledge.
func killProcess(t *testing.T, pid int) {
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		t.Error(err)
	}
}

// No state is lost with a process that ends.
func TestKilled(t *testing.T) {
	e := client(t, Program)
	ctx := within(t, time.Minute)
	p := e.Compile(files(), engine.Options{})
	if broken, err := p.Broken(ctx); len(broken) != 4 || err != nil {
		t.Fatal(broken, err)
	}
	x := in(t, map[string]any{"n": 1})
	for range 3 {
		killProcess(t, e.child.Pid())
		if got := p.Eval(ctx, one("sum", x)); got[0].Err != nil || got[0].Value != json.Number("2") {
			t.Errorf("%+v", got)
		}
	}
	// Killed while it works: every caller gets an answer, of this process or of another
	// one.
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			p := e.Compile(files(), engine.Options{})
			if i == 7 {
				<-e.turn
				killProcess(t, e.child.Pid())
				e.turn <- struct{}{}
			}
			if got := p.Eval(ctx, one("sum", x)); got[0].Err != nil {
				t.Errorf("%d: %v", i, got[0].Err)
			}
		})
	}
	group.Wait()
}

// A server that breaks the protocol, hangs or dies causes an error soon.
func TestBadServers(t *testing.T) {
	for name, want := range map[string]string{"garbage": "garbage answers in words that are not understood", "babbling": "not understood", "evasive": "not understood", "muddled": "not understood",
		"hanging": "no answer in time", "dying": "dying ended without an answer", "failing": "no"} {
		e := client(t, name)
		x := in(t, map[string]any{})
		for what, ask := range map[string]func(context.Context) error{
			"parse": func(ctx context.Context) error { _, err := e.Parse(ctx, files()); return err },
			"test":  func(ctx context.Context) error { _, err := e.Test(ctx, files(), engine.TestOptions{}); return err },
			"eval": func(ctx context.Context) error {
				got := e.Compile(files(), engine.Options{}).Eval(ctx, append(one("sum", x), one("set", x)...))
				if len(got) != 2 || got[1].Value != nil {
					t.Errorf("%s: %+v", name, got)
				}
				if err := got[0].Err; err == nil || !errors.Is(err, engine.ErrTime) {
					return err
				}
				return errNoAnswer
			},
			"compile": func(ctx context.Context) error {
				_, err := e.Compile(files(), engine.Options{}).Broken(ctx)
				return err
			},
			// More than a pipe holds, so that writing hangs.
			"huge": func(ctx context.Context) error {
				_, err := e.Parse(ctx, []engine.Source{{Path: "x", Text: strings.Repeat("#", 1<<20)}})
				return err
			},
		} {
			begin := time.Now()
			ctx, cancel := context.WithTimeout(context.Background(), 400*time.Millisecond)
			err := ask(ctx)
			cancel()
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
			if took := time.Since(begin); took > 20*time.Second {
				t.Errorf("%s, %s took %s", name, what, took)
			}
		}
		e.Close()
	}
}

// An evaluation without end, or one that grows, is ended with its process, and the next one
// works.
func TestBounds(t *testing.T) {
	e := client(t, Program)
	x := in(t, map[string]any{"n": 1, "name": strings.Repeat("x", 10_000)})
	p := e.Compile(files(), engine.Options{})
	if _, err := p.Broken(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	before := e.child
	queries := append(append(one("sum", x), one("slow", x)...), one("set", x)...)
	got := p.Eval(within(t, 3*time.Second), queries)
	if got[0].Err != nil || !errors.Is(got[1].Err, engine.ErrTime) || !errors.Is(got[2].Err, engine.ErrTime) {
		t.Errorf("%+v", got)
	}
	if before.alive() {
		t.Error("the process is used again")
	}
	got = p.Eval(within(t, time.Minute), append(one("long", x), one("set", x)...))
	if got[0].Err == nil || !strings.Contains(got[0].Err.Error(), "larger than") || got[1].Err != nil {
		t.Errorf("%v, %v", got[0].Err, got[1].Err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got := p.Eval(ctx, one("sum", x)); !errors.Is(got[0].Err, engine.ErrTime) {
		t.Errorf("%+v", got)
	}
}

// A call of up to 64 MiB arrives.
func TestHugeInput(t *testing.T) {
	e, size := client(t, Program), testrun.Pick(2, 8)<<20
	p := e.Compile([]engine.Source{{Path: "a.rego", Text: "package a\n\nn := count(input.text)\n"}}, engine.Options{})
	got := p.Eval(within(t, time.Minute), one("n", in(t, map[string]any{"text": strings.Repeat("\x01", size)})))
	if got[0].Err != nil || got[0].Value != json.Number(fmt.Sprint(size)) {
		t.Errorf("%+v", got)
	}
}

// The process ends when its standard input does.
func TestEndsWithItsInput(t *testing.T) {
	e := client(t, Program)
	if _, err := e.Parse(within(t, time.Minute), files()); err != nil {
		t.Fatal(err)
	}
	if err := e.child.In.Close(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() { _, err := e.child.out.ReadByte(); gone <- err }()
	select {
	case err := <-gone:
		if err != io.EOF {
			t.Errorf("it answers %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("it is still there")
	}
}

// panics is an engine that panics.
type panics struct{ rego.Engine }

func (panics) Compile([]engine.Source, engine.Options) engine.Program { panic("oh") }

// Serve reports mistakes in a request, and ends with its input.
func TestServe(t *testing.T) {
	out, to := io.Pipe()
	in, from := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Serve(panics{}, in, to) }()
	for _, tt := range []struct {
		version, tag byte
		body, want   string
	}{
		{7, tagEval, "{}", "different versions"},
		{version, tagEval, `{"program": 9}`, "no program 9"},
		{version, tagCompile, `{"program": 4}`, "internal error: oh"},
		{version, tagEval, `{"program": 4}`, "no program 4"},
		{version, 99, "{}", "99"},
		{version, tagParse, "{}", "cannot unmarshal"},
		{version, tagEval, "[]", "cannot unmarshal"},
		{version, tagTest, "[", "unexpected end"},
	} {
		go func() {
			_ = message{version: tt.version, tag: tt.tag, left: time.Second, body: []byte(tt.body)}.write(from)
		}()
		if a, err := readMessage(out, maxAnswer); err != nil || a.tag != tagFailed || !strings.Contains(string(a.body), tt.want) {
			t.Errorf("%+v: %s, %v", tt, a.body, err)
		}
	}
	_ = from.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	for _, text := range []string{strings.Repeat("\xff", headSize), "\x00", "\x00\x00\x00\x14\x02\x03" + strings.Repeat("\x00", 8) + "no"} {
		if err := Serve(rego.Engine{}, strings.NewReader(text), io.Discard); err == nil {
			t.Errorf("%q is served", text)
		}
	}
	s := &server{engine: rego.Engine{}, programs: map[uint64]engine.Program{1: rego.Engine{}.Compile(nil, engine.Options{})}}
	if _, err := s.eval(context.Background(), evalRequest{Program: 1, Queries: []query{{Input: 1}}}); err == nil {
		t.Error("an input that is not there")
	}
}

// A server that is busy with a request also ends with its input.
func TestServeEndsWhileItWorks(t *testing.T) {
	in, from := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Serve(hangs{}, in, io.Discard) }()
	if err := (message{version: version, tag: tagCompile, left: time.Hour, body: []byte("{}")}).write(from); err != nil {
		t.Fatal(err)
	}
	_ = from.Close()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("it goes on")
	}
}

// hangs is an engine that never answers.
type hangs struct{ rego.Engine }

func (hangs) Compile([]engine.Source, engine.Options) engine.Program { select {} }

func TestMessages(t *testing.T) {
	long := message{version: 1, tag: tagLook, left: time.Hour, body: bytes.Repeat([]byte("x"), 3<<20)}
	var text bytes.Buffer
	if err := long.write(&text); err != nil {
		t.Fatal(err)
	}
	if got, err := readMessage(bytes.NewReader(text.Bytes()), maxRequest); err != nil || !reflect.DeepEqual(got, long) {
		t.Errorf("%d bytes, %v", len(got.body), err)
	}
	if _, err := readMessage(bytes.NewReader(text.Bytes()[:text.Len()-1]), maxRequest); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
	if _, err := readMessage(bytes.NewReader(text.Bytes()), 3<<20-1); err == nil {
		t.Error("a message that is too long is read")
	}
}

func TestSize(t *testing.T) {
	for v, want := range map[int]any{8: nil, 11: "abc", 9: json.Number("7"), 25: []any{nil, true}, 26: map[string]any{"k": "x", "": ""}} {
		if got := size(want, 1000); got < 8 || got > v+10 {
			t.Errorf("%v: %d", want, got)
		}
	}
	deep := any("x")
	for range 100 {
		deep = []any{deep, deep} // 2^100 as text
	}
	if got := size(deep, 10_000); got < 10_000 {
		t.Errorf("%d", got)
	}
	if got := size(map[string]any{"a": deep, "b": deep, "c": deep}, 100); got < 100 {
		t.Errorf("%d", got)
	}
}

func TestResults(t *testing.T) {
	for _, want := range []engine.Result{{Value: "x", Took: 3}, {Err: engine.ErrTime}, {Err: engine.ErrMemory}, {Err: errors.New("x")}} {
		if got := resultOf(want).received(); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, not %+v", got, want)
		}
	}
}
