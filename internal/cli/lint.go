package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/decide/policy/engine"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/memory/evidence"
	"cardea.dev/internal/memory/lesson"
)

// lintCommand returns the command "rules lint".
func lintCommand(p Process) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "lint [--json] [file or folder ...]",
		Short: "find mistakes in settings, rules, routes, permissions and policies",
		Long: `Find mistakes in the settings, rules, routes, permissions and policies that are in
force here, or in the given files and folders of rules. For files of policies, use
"cardea policy validate".

lint finds

  - what the hook only warns of: unknown keys, switches without effect, unknown
    events
  - files that lie where nobody reads them
  - names in settings that refer to nothing, and scripts that are not executable
  - expressions that do not compile, and ids that are used twice
  - rules that never decide, because a stricter rule matches the same calls
  - rules that allow too much
  - commands of rules that no line starts, such as "npm publish *", and tools that
    no harness has
  - checks that can never succeed
  - lessons that match no call as they are written
  - rules and policies on events for which no hook is registered`,
		Args: cobra.ArbitraryArgs,
	}, func(paths []string, asJSON bool) error { return lint(p, paths, asJSON) })
}

func lint(p Process, paths []string, asJSON bool) error {
	l, pl, err := gather(p, paths)
	if err != nil {
		return err
	}
	found := findings(p, l, pl)
	if len(paths) == 0 {
		found = append(found, eventFindings(p, l)...)
	}
	return p.answerDiagnostics(asJSON, found, "")
}

// findings returns all mistakes, sorted by file and line.
func findings(p Process, l *inforce.Loaded, pl place) []diagnostic.Diagnostic {
	all := l.Rules()
	own := written(all)
	out := slices.Concat(
		// Unintended content is an error here, even if the hook only warns.
		graded(diagnostic.LevelError, l.Problems(), l.LessonProblems(), l.UncountedSwitches(), l.RouteProblems),
		policyMistakes(p, l), unmatchedLessons(l), l.NotExecutable(), settingsMistakes(l), unmetChecks(l), commandMistakes(l), l.NotRead(),
		twice(all), shadowed(all, own), shadowedRoutes(l), tooWide(own, pl), permissionFindings(l, pl),
		graded(diagnostic.LevelNote, l.Uncounted(), l.Outweighed())) // the file is correct, but has no effect here
	slices.SortStableFunc(out, func(a, b diagnostic.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return out
}

// graded returns the diagnostics of all lists with the same severity.
func graded(severity diagnostic.Level, lists ...[]diagnostic.Diagnostic) []diagnostic.Diagnostic {
	return listOf(slices.Concat(lists...), func(d diagnostic.Diagnostic) diagnostic.Diagnostic {
		d.Severity = severity
		return d
	})
}

// policyMistakes returns the mistakes in the policies in force.
func policyMistakes(p Process, l *inforce.Loaded) []diagnostic.Diagnostic {
	var out []diagnostic.Diagnostic
	for _, f := range l.PolicyFolders() {
		if f.Scope == cardea.ScopeBuiltin {
			continue // they have their own tests
		}
		s, found := sourcesOf(p, f, l)
		mistakes, err := s.Validate(context.Background())
		if err != nil {
			out = append(out, diagnostic.Diagnostic{File: f.Dir, Code: diagnostic.CodeNoEngine, Text: err.Error()})
		}
		for _, m := range append(found, mistakes...) {
			if m.Severity != diagnostic.LevelNote { // a note is not a mistake
				out = append(out, m)
			}
		}
	}
	return out
}

// unmatchedLessons returns the lessons that match no call as written.
func unmatchedLessons(l *inforce.Loaded) []diagnostic.Diagnostic {
	var out []diagnostic.Diagnostic
	form := lessonForm(l)
	for _, at := range l.LessonPlaces() {
		store := lesson.Open(at.ScopeFolder)
		for f, err := range store.All() {
			if err != nil {
				break // reading the file reported it
			}
			why, counts := unmatched(&f.Record, form)
			if !counts {
				why = "the lesson matches no call: " + why
			}
			if why != "" {
				out = append(out, diagnostic.Diagnostic{File: f.File, Line: f.Line, Severity: diagnostic.LevelWarning, Code: diagnostic.CodeNoEffect, Text: why})
			}
		}
		store.Close()
	}
	return out
}

// unmetChecks returns the checks that can never hold, so that no commit is possible.
func unmetChecks(l *inforce.Loaded) []diagnostic.Diagnostic {
	var out []diagnostic.Diagnostic
	at, _ := l.Given("policies.checks")
	wrong := evidence.Mistakes(l.Settings.Policies.Checks)
	for _, check := range slices.Sorted(maps.Keys(wrong)) {
		out = append(out, diagnostic.Diagnostic{File: at.File, Line: at.Line, Code: diagnostic.CodeNoEffect, Text: fmt.Sprintf("the check %q can never hold: %s", check, wrong[check])})
	}
	return out
}

// written returns the rules that a person wrote. Built-in rules have their own tests.
func written(list []rules.Rule) []rules.Rule {
	return slices.DeleteFunc(slices.Clone(list), func(r rules.Rule) bool { return r.Scope == cardea.ScopeBuiltin })
}

func mistake(source string, code diagnostic.Code, hint, format string, args ...any) diagnostic.Diagnostic {
	return cardea.NoFailure.Issue(source, code, hint, fmt.Sprintf(format, args...)).Diagnostic
}

// twice returns ids that several files define. Parsing reports those within one file.
func twice(all []rules.Rule) []diagnostic.Diagnostic {
	var out []diagnostic.Diagnostic
	first := map[string]string{}
	for _, r := range all {
		source, there := first[r.ID]
		if !there {
			first[r.ID] = r.Source
		} else if fileOf(source) != fileOf(r.Source) {
			out = append(out, mistake(r.Source, diagnostic.CodeDuplicate, "give it another id, since settings switch rules by id",
				"rule %q is also in %s, and both are in force", r.ID, source))
		}
	}
	return out
}

// fileOf returns the file of a source "file:line".
func fileOf(source string) string {
	file, _ := diagnostic.SplitSource(source)
	return file
}

// shadowed returns rules that another rule makes useless: one with the same conditions that
// is at least as strict.
func shadowed(all, own []rules.Rule) []diagnostic.Diagnostic {
	var out []diagnostic.Diagnostic
	for _, r := range own {
		for _, o := range all {
			if o.Source == r.Source || r.Effect == cardea.Abstain || o.Effect < r.Effect || o.Effect == r.Effect && o.Source > r.Source {
				continue
			}
			if reflect.DeepEqual(o.Match, r.Match) && reflect.DeepEqual(o.Tools, r.Tools) && reflect.DeepEqual(o.Events, r.Events) {
				out = append(out, mistake(r.Source, diagnostic.CodeNoEffect, "remove one of them, or make it match something else",
					"rule %q never decides: rule %q (%s) says %s about the same calls", r.ID, o.ID, o.Source, o.Effect))
				break
			}
		}
	}
	return out
}

// shadowedRoutes returns routes that never apply, since the first match wins.
func shadowedRoutes(l *inforce.Loaded) []diagnostic.Diagnostic {
	type key struct{ tool, field, pattern string }
	first := map[key]string{}
	var out []diagnostic.Diagnostic
	for _, r := range l.Routes {
		k := key{r.Tool, r.Field, r.Pattern}
		if source, there := first[k]; there {
			out = append(out, mistake(r.Source, diagnostic.CodeNoEffect, "remove one of them", "route %q never speaks: %s matches the same first", r.Name, source))
			continue
		}
		first[k] = r.Source
	}
	return out
}

// probe is a call that no rule should allow.
type probe struct {
	tool, field, value string
}

// probes returns calls that reveal a rule that allows too much: calls that cannot be
// undone, that run other commands, or that read or write secrets and start-up files.
func probes() []probe {
	bash := []string{
		"rm -rf /", "rm -rf ~", "rm -rf .git", "sudo id", "curl https://host.example/x", "ssh host.example id",
		"sh -c id", "bash script.sh", "python3 -c 1", "python3 x.py", "node -e 1", "perl -e 1", "env", "xargs rm",
		"find / -delete", "git push --force origin main", "git -c core.pager=x log", "docker run -v /:/x image",
		"npx package", "make -f /tmp/x", "tee /etc/hosts", "dd if=/dev/zero of=/dev/sda", "chmod 777 /", "crontab x",
		"some-program-that-nobody-knows --with-an-option operand",
	}
	out := []probe{
		{"Write", "file_path", "/etc/passwd"}, {"Write", "file_path", "~/.bashrc"}, {"Edit", "file_path", "~/.ssh/authorized_keys"},
		{"Edit", "file_path", ".claude/settings.json"}, {"Write", "file_path", ".git/hooks/pre-commit"},
		{"Read", "file_path", "~/.ssh/id_rsa"}, {"WebFetch", "url", "http://169.254.169.254/latest/meta-data/"},
		{"mcp__some__tool", "any", "value"},
	}
	for _, c := range bash {
		out = append(out, probe{"Bash", "command", c})
	}
	return out
}

// tooWide returns rules that allow a probe. It uses the analysis and decider of a real
// call, so that it finds every spelling of "everything".
func tooWide(own []rules.Rule, pl place) []diagnostic.Diagnostic {
	analyse := hook.Analysis(pl.Dirs.Home, nil)
	var out []diagnostic.Diagnostic
	for _, r := range own {
		if r.Effect != cardea.Allow {
			continue
		}
		r.Trusted = true
		d := rules.New(rules.ListOf([]rules.Rule{r}), rules.Options{Home: pl.Dirs.Home})
		for _, pr := range probes() {
			if pr.allowedBy(d, pl, analyse) {
				out = append(out, mistake(r.Source, diagnostic.CodeTooWide, "name the command, its flags and operands, or the path with its access",
					"rule %q allows too much: also %s %q", r.ID, pr.tool, pr.value))
				break
			}
		}
	}
	return out
}

// event returns the probe as a call in a place.
func (pr probe) event(pl place) *cardea.Event {
	value := pr.value
	if len(value) > 1 && value[:2] == "~/" && pl.Dirs.Home != "" {
		value = pl.Dirs.Home + value[1:]
	}
	return &cardea.Event{Kind: cardea.PreToolUse, Harness: "claude-code", Cwd: pl.Project, Project: pl.Project,
		Call: &cardea.Call{Tool: pr.tool, Name: pr.tool, Known: true, Input: map[string]any{pr.field: value}}}
}

func (pr probe) allowedBy(d *rules.Decider, pl place, analyse func(*cardea.Event) *cardea.Event) bool {
	ev := analyse(pr.event(pl))
	opinions, err := d.Decide(context.Background(), ev) // parsing reports an expression that does not compile
	return err == nil && slices.ContainsFunc(opinions, func(o cardea.Opinion) bool { return o.Effect == cardea.Allow })
}

// settingsMistakes returns unknown names in settings: functions that OPA does not have, and
// rules in actions.
func settingsMistakes(l *inforce.Loaded) []diagnostic.Diagnostic {
	var out []diagnostic.Diagnostic
	for i := range l.SettingsFiles {
		f := &l.SettingsFiles[i]
		functions, violations := f.Values.Policies.Functions, f.Values.Actions.Violations
		if !f.Found || len(functions)+len(violations) == 0 {
			continue
		}
		data, err := state.ReadLinked(f.Path, document.MaxSize)
		if err != nil {
			continue // reading the settings has reported it
		}
		top := document.Read(f.Path, data).Top().Map()
		say := func(at document.Value, severity diagnostic.Level, code diagnostic.Code, hint, format string, args ...any) {
			out = append(out, diagnostic.Diagnostic{File: f.Path, Line: at.KeyLine(), Column: at.KeyColumn(), Code: code, Text: fmt.Sprintf(format, args...), Hint: hint, Severity: severity})
		}
		for _, v := range top.Map("policies").Get("functions").Items() {
			if name := v.Text(); slices.Contains(functions, name) && !functionExists(l.Where.Engines.Own, name) {
				say(v, diagnostic.LevelError, diagnostic.CodeUnknownName, "look for a typing error in the names that OPA's documentation has", "OPA has no function %q", name)
			}
		}
		rules := top.Map("actions").Map("violations")
		for _, id := range unknownRules(l, slices.Sorted(maps.Keys(violations))) {
			say(rules.Get(id), diagnostic.LevelWarning, diagnostic.CodeUnknownName, "see \"cardea rules list\" for the rules there are", "no rule or policy here has the id %q, so nothing runs for it", id)
		}
	}
	return out
}

// functionExists reports whether OPA's compiler knows a function. It is true if there is no
// engine, which is reported in another place.
func functionExists(e engine.Engine, name string) bool {
	if slices.ContainsFunc(strings.Split(name, "."), func(word string) bool {
		return word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789_") != ""
	}) {
		return false
	}
	program := e.Compile([]engine.Source{{Path: name, Text: "package cardea.lint\n\nimport rego.v1\n\nx := " + name + "()\n"}}, engine.Options{Extra: []string{name}})
	broken, err := program.Broken(context.Background())
	return err != nil || !strings.Contains(broken[name].Error(), "undefined function")
}

// unknownRules returns the ids that no rule has, in force or off, and no policy contains.
// Ids that a policy computes are unknown to it.
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
