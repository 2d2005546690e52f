package jsontext

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// FuzzString compares the output with that of encoding/json.
func FuzzString(f *testing.F) {
	for _, s := range []string{"", "a", `"\/`, "<b>&\x00\x1f\b\f\n\r\t\x7f", "ü\u2028\u2029\xff\xe2\x80", "\ufffd€😀"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		same(t, s)
		same(t, map[string]any{s: []any{s, nil, true, json.Number("1e3")}, s + "b": map[string]any{}})
	})
}

func TestValues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		same(t, value(r, 3))
	}
	same(t, map[string]any(nil))
	same(t, []any(nil))
	for _, number := range []json.Number{"0", "-1.5e7", "", "x", "null", `"1"`, "1 ", " 1", "01", "-", "true"} {
		want, err := json.Marshal(number)
		got, ok := HTML.Value(nil, number)
		if ok && (err != nil || !bytes.Equal(got, want)) {
			t.Errorf("number %q: %s; encoding/json gives %s, %v", number, got, want, err)
		}
	}
	if b, ok := HTML.Value(nil, 1); ok {
		t.Errorf("an int is no value of a decoder, and became %s", b)
	}
}

func value(r *rand.Rand, depth int) any {
	switch n := r.IntN(8); {
	case n == 0:
		return nil
	case n == 1:
		return r.IntN(2) == 0
	case n == 2:
		return json.Number("-12.5")
	case n == 3 && depth > 0:
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = value(r, depth-1)
		}
		return list
	case n == 4 && depth > 0:
		object := map[string]any{}
		for range r.IntN(4) {
			object[text(r)] = value(r, depth-1)
		}
		return object
	}
	return text(r)
}

func text(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(12) {
		if r.IntN(3) == 0 {
			b.WriteByte(byte(r.IntN(256)))
		} else {
			b.WriteRune([]rune("ab<>&\"\\\n\u2028ü€😀")[r.IntN(12)])
		}
	}
	return b.String()
}

func same(t *testing.T, v any) {
	t.Helper()
	want, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := HTML.Value(nil, v); !ok || string(got) != string(want) {
		t.Errorf("%#v: %s, want %s", v, got, want)
	}
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	if got, ok := Plain.Value(nil, v); !ok || string(got)+"\n" != plain.String() {
		t.Errorf("plain %#v: %s, want %s", v, got, plain.String())
	}
}

func TestObject(t *testing.T) {
	f, err := Object([]byte(`{"t": "x", "n": 9007199254740993, "l": ["a", "b"], "o": [{"t": "y"}], "null": null}`))
	if err != nil || f.Text("t") != "x" || f.Number("n") != 9007199254740993 || len(f.Texts("l")) != 2 || f.Objects("o")[0].Text("t") != "y" ||
		f.Text("null") != "" || f.Text("missing") != "" || f.Err() != nil {
		t.Errorf("%v, %v, %v", f, err, f.Err())
	}
	for _, text := range []string{
		`{"t": 1}`,
		`{"t": ["x"]}`,
		`{"l": [1]}`,
		`{"l": "x"}`,
		`{"n": "1"}`,
		`{"n": 1.5}`,
		`{"o": [{"t": 1}]}`,
	} {
		f, err := Object([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		f.Text("t")
		f.Texts("l")
		f.Number("n")
		for _, o := range f.Objects("o") {
			o.Text("t")
		}
		if f.Err() == nil {
			t.Errorf("%s has a field of another type", text)
		}
	}
	for _, text := range []string{"", "[]", "{} {}", `{"a":1}x`, "1"} {
		if _, err := Object([]byte(text)); err == nil {
			t.Errorf("%q is no object", text)
		}
	}
}
