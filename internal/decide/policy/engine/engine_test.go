package engine

import (
	"encoding/json"
	"reflect"
	"testing"

	"cardea.dev/internal/base/diagnostic"
)

func TestInput(t *testing.T) {
	a, err := NewInput(map[string]any{"a": "<>"})
	if err != nil || string(a.JSON()) != `{"a":"\u003c\u003e"}` {
		t.Errorf("%s, %v", a.JSON(), err)
	}
	b, _ := NewInput(map[string]any{"a": "<>"})
	if same := a; same != a || a == b {
		t.Error("inputs are told apart by what they hold")
	}
	if got := (Input{}).JSON(); string(got) != "null" {
		t.Errorf("nothing is %s", got)
	}
	if _, err := NewInput(func() {}); err == nil {
		t.Error("a function is input")
	}
	// Readers of the value and of the text see the same input.
	for _, v := range []any{"a\xffb", map[string]any{"\xff": 1}, []any{"x", 1.5}, []string{"x"}} {
		if in, err := NewInput(v); err != nil {
			t.Error(err)
		} else if _, there := in.Value(); there {
			t.Errorf("%v is taken as it is", v)
		}
	}
	v := map[string]any{"a": []any{"<ä>", 7, json.Number("1e400"), nil, true}}
	in, _ := NewInput(v)
	if got, there := in.Value(); !there || !reflect.DeepEqual(got, v) || string(in.JSON()) != `{"a":["\u003cä\u003e",7,1e400,null,true]}` {
		t.Errorf("%v %v %s", got, there, in.JSON())
	}
}

func TestNames(t *testing.T) {
	for pkg, want := range map[string]bool{"cardea.policies.a": true, "cupcake.policies": true, "cupcake.global.policies.a.b": true, "cardea.policiesx": false, "lib": false} {
		if f := (&Facts{Package: pkg}); f.Policy() != want {
			t.Errorf("%s: %v", pkg, !want)
		}
	}
	if v := Verbs(); v[0] != "halt" || v[len(v)-1] != "add_context" {
		t.Errorf("%v", v)
	}
	if (Problems{}).Error() == "" || (Problems{{File: "x", Text: "y"}}).Error() != "x: y" || (diagnostic.Diagnostic{File: "x", Line: 1, Column: 2, Text: "y"}).String() != "x:1:2: y" {
		t.Error("problems are not told with their places")
	}
}
