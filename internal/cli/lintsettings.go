package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/decide/policy/engine"
	"cardea.dev/internal/document"
	"cardea.dev/internal/inforce"
	"cardea.dev/internal/state"
)

// settingsMistakes are names in settings that mean nothing here: functions that
// OPA does not have, and rules after which something is to run.
func settingsMistakes(l *inforce.Loaded) []cardea.Diagnostic {
	var out []cardea.Diagnostic
	for i := range l.SettingsFiles {
		f := &l.SettingsFiles[i]
		functions, violations := f.Values.Policies.Functions, f.Values.Actions.Violations
		if !f.Found || len(functions)+len(violations) == 0 {
			continue
		}
		data, err := state.ReadLinked(f.Path, document.MaxSize)
		if err != nil {
			continue // reading the settings has told
		}
		top := document.Read(f.Path, data).Top().Map()
		say := func(at document.Value, severity cardea.Level, code cardea.Code, hint, format string, args ...any) {
			out = append(out, cardea.Diagnostic{File: f.Path, Line: at.KeyLine(), Column: at.KeyColumn(), Code: code, Text: fmt.Sprintf(format, args...), Hint: hint, Severity: severity})
		}
		for _, v := range top.Map("policies").Get("functions").Items() {
			if name := v.Text(); slices.Contains(functions, name) && !functionExists(l.Where.Engines.Own, name) {
				say(v, cardea.LevelError, cardea.CodeUnknownName, "look for a typing error in the names that OPA's documentation has", "OPA has no function %q", name)
			}
		}
		rules := top.Map("actions").Map("violations")
		for _, id := range unknownRules(l, slices.Sorted(maps.Keys(violations))) {
			say(rules.Get(id), cardea.LevelWarning, cardea.CodeUnknownName, "see \"cardea rules list\" for the rules there are", "no rule or policy here has the id %q, so nothing runs for it", id)
		}
	}
	return out
}

// functionExists asks OPA's compiler about a function. Where there is no engine,
// that is told elsewhere.
func functionExists(e engine.Engine, name string) bool {
	for _, word := range strings.Split(name, ".") {
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			return false
		}
	}
	program := e.Compile([]engine.Source{{Path: name, Text: "package cardea.lint\n\nimport rego.v1\n\nx := " + name + "()\n"}}, engine.Options{Extra: []string{name}})
	broken, err := program.Broken(context.Background())
	return err != nil || !strings.Contains(broken[name].Error(), "undefined function")
}

// unknownRules are the ids that no rule has, in force or off, and no policy
// names. Ids that a policy puts together cannot be known.
func unknownRules(l *inforce.Loaded, ids []string) []string {
	known := map[string]bool{}
	for _, r := range slices.Concat(l.Rules(), l.Off()) {
		known[r.ID] = true
	}
	for _, r := range l.Routes {
		known[r.Name] = true
	}
	for _, b := range l.PolicySwitches() {
		known[b.Name] = true
	}
	for _, pack := range inforce.GeneratedPacks() {
		known[pack] = true
	}
	var texts strings.Builder
	for _, f := range l.PolicyFolders() {
		s, _ := f.Sources()
		for _, path := range s.Paths {
			texts.WriteString(s.Texts[path])
		}
	}
	return slices.DeleteFunc(ids, func(id string) bool {
		return known[id] || !cardea.IsID(id) || strings.Contains(texts.String(), strconv.Quote(id))
	})
}
