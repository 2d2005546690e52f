package conformance

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// mutations breaks a message in one place at a time. After every mutation, the call must still be
// found, and the event must have a defect or be unchanged.
func (s Suite) mutations(t *testing.T) {
	for _, raw := range s.messages() {
		p, err := harness.Read([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		whole := s.Adapter.Parse(p)
		if len(whole.Faults) > 0 || whole.Call == nil || !whole.Call.Known {
			t.Fatalf("the sample itself has faults or no known call: %+v", whole)
		}
		n := 0
		for _, m := range mutate(p.Root(), s.Inputs) {
			n++
			s.tryMutation(t, whole, m)
		}
		if n < 50 {
			t.Errorf("only %d mutations of %s", n, raw)
		}
	}
}

// tryMutation checks the event of one mutated message.
func (s Suite) tryMutation(t *testing.T, whole *cardea.Event, m mutation) {
	p, err := harness.Read([]byte(m.text))
	if err != nil {
		t.Fatalf("%s: %v", m.name, err)
	}
	ev := s.Adapter.Parse(p)
	if ev.Call == nil || !ev.Kind.Answered() {
		t.Errorf("%s: the call is out of sight: %s", m.name, m.text)
		return
	}
	read := ev.With(func(e *cardea.Event) { e.Sent = whole.Sent }) // the message itself differs, of course
	if !m.missing && len(ev.Faults) == 0 && !reflect.DeepEqual(read, whole) {
		t.Errorf("%s: the event changed without a fault: %s\n%+v\n%+v", m.name, m.text, ev, whole)
	}
	for _, effect := range cardea.Effects() {
		v := verdict(effect, 0)
		a := s.answer(ev, v)
		if err := s.check(ev, v, a); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

type mutation struct {
	name, text string
	missing    bool // a missing field is not a defect
}

// mutate changes every key of a message, and of the tool input in it.
func mutate(root *harness.Object, inputs []string) []mutation {
	out := mutateObject("", root, func(o string) string { return o })
	for i, e := range root.Entries() {
		in, ok := e.Value.(*harness.Object)
		if !ok || !slices.Contains(inputs, e.Key) {
			continue
		}
		out = append(out, mutateObject(e.Key+".", in, func(o string) string {
			parts := write(root)
			parts[i] = quote(e.Key) + ":" + o
			return join(parts)
		})...)
	}
	return out
}

// mutateObject returns the mutations of one object. embed returns the message with the object
// replaced.
func mutateObject(prefix string, o *harness.Object, embed func(string) string) []mutation {
	var out []mutation
	add := func(name string, missing bool, parts []string) {
		out = append(out, mutation{prefix + name, embed(join(parts)), missing})
	}
	for i, e := range o.Entries() {
		parts := write(o)
		add(e.Key+" dropped", true, slices.Delete(slices.Clone(parts), i, i+1))
		for _, v := range []string{`7`, `true`, `"\u0000"`, `["ls"]`, `[]`, `{}`, `"\ud800"`, `null`,
			strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)} {
			if sameType(text(e.Value), v) {
				continue // another value is not a defect
			}
			changed := slices.Clone(parts)
			changed[i] = quote(e.Key) + ":" + v
			// null means a missing field, but not within a tool input.
			add(fmt.Sprintf("%s is %.20s", e.Key, v), v == "null" && prefix == "", changed)
		}
		for _, k := range []string{e.Key, strings.ToUpper(e.Key), strings.ToUpper(e.Key[:1]) + e.Key[1:]} {
			add(k+" added before", false, append([]string{quote(k) + `:"x"`}, parts...))
			add(k+" added behind", false, append(slices.Clone(parts), quote(k)+`:"x"`))
			changed := slices.Clone(parts)
			changed[i] = quote(k) + ":" + text(e.Value)
			add(e.Key+" as "+k, k == e.Key, changed)
		}
	}
	return out
}

// sameType compares JSON values by their first byte. Strings always differ, since the tested ones
// cannot be read as text.
func sameType(a, b string) bool {
	class := func(s string) string {
		switch c := s[0]; c {
		case '{', '[':
			return string(c)
		case 't', 'f':
			return "boolean"
		case '"', 'n':
			return s
		}
		return "number"
	}
	return class(a) == class(b) && len(b) < 100
}

// write returns the members of an object as JSON texts.
func write(o *harness.Object) []string {
	var out []string
	for _, e := range o.Entries() {
		out = append(out, quote(e.Key)+":"+text(e.Value))
	}
	return out
}

// text returns the JSON of a value, with the order of keys preserved.
func text(v any) string {
	switch v := v.(type) {
	case *harness.Object:
		return join(write(v))
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, text(e))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(b)
}

func quote(s string) string { return text(s) }

func join(parts []string) string { return "{" + strings.Join(parts, ",") + "}" }
