package settings

import (
	"reflect"
	"slices"
	"sort"
	"strconv"

	"cardea.dev"
	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/decide/rules"
)

// Settings is the result of merging several files.
type Settings struct {
	Values
	// Switches holds the switches of every file that applies, strongest scope first.
	Switches []rules.Switches
	// Given holds the settings in force with their origins.
	Given []Given
}

// Merge merges files of settings, strongest scope first. Files that do not apply are left
// out.
//
// For a security key, the strictest value outside projects applies, else the default; a
// project may only make it stricter. For other keys, the nearest value applies: project,
// user, org, system. If values have an order, a project cannot loosen a value from outside
// projects. The strongest scope names the organisation. Lists and maps are combined; for
// the same name, the stronger scope wins.
func Merge(files ...File) Settings {
	s := Settings{Values: Defaults()}
	var said []*File
	for i := range files {
		if files[i].Counts && files[i].Found {
			said = append(said, &files[i])
			s.Switches = append(s.Switches, files[i].Switches)
		}
	}
	if len(said) == 0 {
		return s
	}
	for _, k := range Keys() {
		s.merge(k, said)
	}
	for _, f := range said {
		if at := f.Values.Judge.Unreadable; at != "" {
			s.Judge.Enabled, s.Judge.Unreadable = false, at
		}
		s.Given = append(s.Given, lists.Where(f.Given, func(g Given) bool { return isSwitch(g.Key) })...)
	}
	return s
}

// merge merges the values of one key.
func (s *Settings) merge(k Key, files []*File) {
	var persons, project []*File
	for _, f := range files {
		if _, ok := f.Gives(k.Name); !ok {
			continue
		}
		if f.Scope == cardea.ScopeProject {
			project = append(project, f)
		} else {
			persons = append(persons, f)
		}
	}
	if adds(k.At(&s.Values)) {
		// The stronger scope is last, so its entries replace others.
		all := append(persons, project...)
		for i := len(all) - 1; i >= 0; i-- {
			add(k.At(&s.Values), k.At(&all[i].Values))
			s.take(k, all[i])
		}
		return
	}
	win := -1
	for i, f := range persons {
		switch {
		case win < 0, // files come strongest first
			!k.Security && !k.FromStrongest, // the nearest wins
			k.Security && k.order(k.At(&f.Values), k.At(&persons[win].Values)) > 0:
			win = i
		}
	}
	if win >= 0 {
		assign(k.At(&s.Values), k.At(&persons[win].Values))
		s.take(k, persons[win])
	}
	for _, f := range project {
		bound := k.Security || win >= 0 && (k.order != nil || k.FromStrongest)
		if !bound || k.order != nil && k.order(k.At(&f.Values), k.At(&s.Values)) > 0 {
			assign(k.At(&s.Values), k.At(&f.Values))
			s.take(k, f)
		}
	}
}

// take records that a file's value of a key is in force.
func (s *Settings) take(k Key, f *File) {
	g, _ := f.Gives(k.Name)
	i := slices.IndexFunc(s.Given, func(old Given) bool { return old.Key == k.Name })
	if i < 0 || adds(k.At(&s.Values)) {
		s.Given = append(s.Given, g)
		return
	}
	s.Given[i] = g
}

// Outweighed returns the settings of a file that are not in force, since others are as
// strict, stricter or nearer. It leaves out switches, which need the rules.
func (s *Settings) Outweighed(f *File) []Given {
	return slices.DeleteFunc(slices.Clone(f.Given), func(g Given) bool {
		return g.Key == "version" || isSwitch(g.Key) || slices.Contains(s.Given, g)
	})
}

// isSwitch reports whether a key is about packs or rules.
func isSwitch(key string) bool {
	return len(key) > 6 && (key[:6] == "packs." || key[:6] == "rules.")
}

// Effective is a setting in force.
type Effective struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"`
	Scope  string `json:"scope,omitempty"`
}

// Effective returns the settings in force with their origins, for people. It contains all
// given settings, and defaults of security keys unless their switch is not given.
func (s *Settings) Effective() []Effective {
	var out, more []Effective
	given := map[string]bool{"": true}
	for _, g := range s.Given {
		given[g.Key] = true
	}
	for _, k := range Keys() {
		if !given[k.Name] && given[k.Of] && k.Security {
			out = append(out, Effective{Key: k.Name, Value: k.Text(&s.Values), Source: "default"})
		}
	}
	for _, g := range s.Given {
		e := Effective{g.Key, g.Value, g.File + ":" + strconv.Itoa(g.Line), g.Scope.String()}
		if k, ok := lookup(g.Key); ok && k.Security {
			out = append(out, e)
		} else {
			more = append(more, e)
		}
	}
	byKey := func(es []Effective) { sort.SliceStable(es, func(i, j int) bool { return es[i].Key < es[j].Key }) }
	byKey(out)
	byKey(more)
	return append(out, more...)
}

func lookup(name string) (Key, bool) {
	for _, k := range Keys() {
		if k.Name == name {
			return k, true
		}
	}
	return Key{}, false
}

// assign copies a value to another of the same type.
func assign(to, from any) { reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from).Elem()) }

// adds reports whether the values of several files are combined.
func adds(at any) bool {
	switch at.(type) {
	case *[]string, *map[string]string, *map[string]Signal, *map[string]judge.Price, *[]Command, *map[string][]Command:
		return true
	}
	return false
}

// add adds the entries of a list or map to another.
func add(to, from any) {
	at, more := reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem()
	if at.Kind() == reflect.Slice {
		at.Set(reflect.AppendSlice(at, more))
		return
	}
	if at.IsNil() {
		at.Set(reflect.MakeMapWithSize(at.Type(), more.Len()))
	}
	for _, key := range more.MapKeys() {
		at.SetMapIndex(key, more.MapIndex(key))
	}
}
