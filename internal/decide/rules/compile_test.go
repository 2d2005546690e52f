package rules_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/decide/rules"
)

// filled sets every field of a value to a different value, so that a field missing in the
// compiled form is noticed.
func filled(v reflect.Value, n *int, depth int) {
	switch *n++; v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		v.SetUint(1 + uint64(*n%5))
	case reflect.Uint64:
		v.SetUint(1 << (*n % 64))
	case reflect.Slice:
		if depth > 6 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			filled(v.Index(i), n, depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			filled(v.Field(i), n, depth+1)
		}
	}
}

// TestCompiledIsWhole tests that a compiled rule is read back unchanged, except for its
// tests.
func TestCompiledIsWhole(t *testing.T) {
	n := 0
	from := rules.Origin{Scope: cardea.ScopeProject, Trusted: true, Root: "/root"}
	list := make([]rules.Rule, 3)
	for i := range list[:2] {
		r := &list[i]
		filled(reflect.ValueOf(r).Elem(), &n, 0)
		r.Tests, r.Packed = nil, ""
		r.Scope, r.Trusted, r.Root, r.Pack, r.Source = from.Scope, from.Trusted, from.Root, "mine", fmt.Sprintf("/d/mine.yaml:%d", i+1)
	}
	list[2] = rules.Rule{ID: "least", Scope: from.Scope, Trusted: true, Root: "/root", Pack: "mine", Source: "/d/mine.yaml:3"}
	problems := []diagnostic.Diagnostic{{}, {}}
	for i := range problems {
		filled(reflect.ValueOf(&problems[i]).Elem(), &n, 0)
		problems[i].File, problems[i].Line, problems[i].Column, problems[i].Severity = "/d/mine.yaml", 7, 9, diagnostic.LevelWarning
	}
	form := rules.Compile(list, problems)
	back, told, err := rules.OpenCompiled(form, "/d/mine.yaml", from)
	if err != nil || !reflect.DeepEqual(back.All(), list) {
		t.Fatalf("%v\n%+v\n%+v", err, back.All(), list)
	}
	if !reflect.DeepEqual(told, problems) {
		t.Errorf("%+v\n%+v", told, problems)
	}
	for i := range form {
		if _, _, err := rules.OpenCompiled(form[:i], "/d/mine.yaml", from); err == nil {
			t.Fatalf("%d of %d bytes are taken for a compiled file", i, len(form))
		}
	}
	if _, _, err := rules.OpenCompiled(form+"x", "/d/mine.yaml", from); err == nil {
		t.Error("more than a compiled file is taken for one")
	}
}

// TestCompiledIsSwitched tests that settings switch a compiled rule like any other.
func TestCompiledIsSwitched(t *testing.T) {
	list, problems := rules.Parse("git.yaml", []byte(`rules:
  - {id: git-a, effect: deny, match: {command: a}}
  - {id: git-b, effect: halt, match: {command: b}}
  - {id: c, effect: ask, match: {command: c}}
`), rules.Origin{Scope: cardea.ScopeUser})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	compiled, _, err := rules.OpenCompiled(rules.Compile(list, nil), "git.yaml", rules.Origin{Scope: cardea.ScopeUser})
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []rules.Switches{
		{By: cardea.ScopeUser, Off: []string{"git-a", "x"}}, {By: cardea.ScopeUser, Off: []string{"git"}}, {By: cardea.ScopeSystem, Off: []string{"*"}},
		{By: cardea.ScopeUser, Effect: map[string]cardea.Effect{"c": cardea.Deny, "git-b": cardea.Ask, "x": cardea.Ask}}, {By: cardea.ScopeProject, Off: []string{"*"}},
	} {
		again := rules.Switches{By: cardea.ScopeUser, Off: []string{"c"}, Effect: map[string]cardea.Effect{"git-a": cardea.Ask}}
		var want, got [3]string
		for out, l := range map[*[3]string]rules.List{&want: rules.ListOf(list), &got: compiled} {
			left, off, unused := by.Apply(l)
			left, more, unusedToo := again.Apply(left, by)
			*out = [3]string{ids(left.All()), ids(slices.Concat(off, more).All()), strings.Join(slices.Concat(unused, unusedToo), " ")}
		}
		if got != want {
			t.Errorf("%+v: %q, want %q", by, got, want)
		}
	}
}

// ids returns the ids and effects of rules.
func ids(list []rules.Rule) string {
	var out []string
	for _, r := range list {
		out = append(out, r.ID+":"+r.Effect.String())
	}
	return strings.Join(out, " ")
}
