package redact

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cardea.dev/internal/command/knowledge/form"
	"cardea.dev/internal/command/knowledge/source"
)

// lines returns the command lines of the data with their secrets.
func lines(t *testing.T) ([]source.Example, []form.Password) {
	t.Helper()
	files, problems, err := source.ReadFolder("../../../packs/commands")
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	var out []source.Example
	var entries []form.Password
	for _, f := range files {
		out, entries = append(out, f.Tests.Passwords...), append(entries, f.Passwords...)
	}
	return out, entries
}

// asWritten reports whether a line is redacted as the data requires.
func asWritten(r *Redactor, e *source.Example) bool {
	left := r.Text(e.Line).String()
	if len(e.Finds) == 0 {
		return left == e.Line
	}
	for _, secret := range e.Finds {
		if strings.Contains(left, secret) || strings.Count(left, Mark) != len(e.Finds) {
			return false
		}
	}
	return true
}

// TestPasswordsOfPrograms checks that the redactor removes exactly the secrets of the data.
func TestPasswordsOfPrograms(t *testing.T) {
	examples, entries := lines(t)
	r := New()
	tools := map[string]bool{}
	for i := range examples {
		if !asWritten(r, &examples[i]) {
			t.Errorf("packs/commands:%d: %s\nbecomes %s", examples[i].At, examples[i].Line, r.Show(examples[i].Line))
		}
	}
	if !reflect.DeepEqual(passwords[:], entries) {
		t.Error("passwords_gen.go is not current; run go generate ./internal/command/knowledge")
	}
	for _, p := range entries {
		tools[p.Command[0]] = true
	}
	if len(tools) < 40 {
		t.Errorf("passwords of %d programs", len(tools))
	}
}

// minNoticed is the percentage of changes to the data that the lines must notice.
const minNoticed = 95

// TestPasswordMutations checks that the lines of the data notice a missing leaf: an
// option, a name, a number, a word.
func TestPasswordMutations(t *testing.T) {
	examples, _ := lines(t)
	r := New()
	tried, missed := 0, 0
	check := func(what string, names []string) {
		tried++
		for i := range examples {
			about := func(n string) bool { return strings.Contains(examples[i].Line, n) }
			if slices.ContainsFunc(names, about) && !asWritten(r, &examples[i]) {
				return
			}
		}
		missed++
		t.Log("not noticed:", what)
	}
	for i := range programs {
		p := &programs[i]
		before := p.entries
		for k := range before {
			p.entries = slices.Delete(slices.Clone(before), k, k+1)
			check(p.name+" without an entry of "+passwords[before[k]].Command[0], []string{p.name})
		}
		p.entries = before
	}
	for k := range passwords {
		before := passwords[k]
		names := append([]string{before.Command[0]}, before.Names...)
		v := reflect.ValueOf(&passwords[k]).Elem()
		for i := range v.NumField() {
			f, name := v.Field(i), v.Type().Field(i).Name
			if name == "Names" || f.IsZero() {
				continue
			}
			was := reflect.ValueOf(before).Field(i)
			if f.Kind() == reflect.Bool {
				f.SetBool(false)
				check(strings.Join(before.Command, " ")+" without "+name, names)
				f.Set(was)
				continue
			}
			for n := range was.Len() {
				if name == "Command" && n == 0 {
					continue
				}
				f.Set(reflect.AppendSlice(reflect.AppendSlice(reflect.MakeSlice(f.Type(), 0, 0), was.Slice(0, n)), was.Slice(n+1, was.Len())))
				check(strings.Join(before.Command, " ")+" without "+name+" "+fmt.Sprint(was.Index(n)), names)
			}
			f.Set(was)
		}
	}
	t.Logf("%d changes, %d not noticed", tried, missed)
	if 100*(tried-missed) < minNoticed*tried {
		t.Errorf("the lines notice %d of %d changes, less than %d %%", tried-missed, tried, minNoticed)
	}
}
