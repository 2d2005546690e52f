package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/document/yamledit"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/decide/overrides"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/harness/permissionlist"
	"cardea.dev/internal/hook"
)

// way is a way to a looser answer about a call. Each was tried by judging the call again,
// except those of the kind "edit".
type way struct {
	// Kind is trust, once, always, rule, setting, permission or edit.
	Kind string `json:"kind"`
	// Command is a line to paste into bash or zsh, "" if a person must edit a file.
	Command string `json:"command"`
	// Text describes the edit, or a need in addition to the command.
	Text string `json:"text"`
	// Effect is the answer that the call then gets, null if unknown.
	Effect *cardea.Effect `json:"effect"`
}

// onceFor is how long the exception of the way "once" lasts. maxChanges is the most
// exceptions or rules that a way may change.
const (
	onceFor    = "10m"
	maxChanges = 3
)

// waysOf searches for ways to a looser answer about a call.
type waysOf struct {
	trial
	// heard holds the answers of signals, so that each runs once for all ways.
	heard map[string]map[string]policy.SignalValue
	// from is the prefix of a command that must run in the project.
	from string
	out  []way
}

// ways returns the ways to a looser answer, the best first. why is the reason that no exception
// is among them.
func (t trial) ways() (all []way, why string) {
	w := waysOf{trial: t, out: []way{}, heard: map[string]map[string]policy.SignalValue{}}
	if ev := t.evaluation.Event; t.verdict.Effect != cardea.Allow && ev.Kind.Answered() && ev.Call != nil {
		if project := t.evaluation.Place.Project; project != "" && project != locate(t.p, "", "", t.p.Dir).Project {
			w.from = "cd " + hook.Pasted(project) + " && "
		}
		w.trust()
		if !w.exceptions() {
			why = w.noException()
		}
		w.permission()
		w.switches()
	}
	for _, line := range w.edits() {
		if !slices.ContainsFunc(w.out, func(x way) bool { return x.Kind == "rule" && strings.Contains(line, " write rules: {") }) {
			w.out = append(w.out, way{Kind: "edit", Text: line})
		}
	}
	return w.out, why
}

// heardSignals runs signals, and remembers their answers. Without a runner none runs.
type heardSignals struct {
	runner policy.Signals
	heard  map[string]map[string]policy.SignalValue
}

// Gather returns remembered answers of signals, and runs the other signals.
func (s heardSignals) Gather(ctx context.Context, ev *cardea.Event, f policy.Folder, names []string) map[string]policy.SignalValue {
	key := f.Dir + "\n" + strings.Join(names, "\n")
	if s.heard[key] == nil && s.runner != nil {
		s.heard[key] = s.runner.Gather(ctx, ev, f, names)
	}
	return s.heard[key]
}

// again judges the call again, after a change of the configuration. Signals that the change
// adds do not run.
func (w *waysOf) again(p Process, change func(*evaluation)) cardea.Effect {
	ev := *w.evaluation.Event
	j := newEvaluation(p, &ev)
	j.NearAtOnce, j.Loaded.Callbacks.Once = w.evaluation.NearAtOnce, func(string) bool { return true }
	j.Loaded.Callbacks.Signals = func(runner policy.Signals) policy.Signals { return heardSignals{runner, w.heard} }
	change(j)
	return j.Verdict(context.Background()).Effect
}

// offer adds a way if it loosens the answer.
func (w *waysOf) offer(kind, command, text string, then cardea.Effect) bool {
	now := w.verdict.Effect
	looser := then == cardea.Allow || now >= cardea.Ask && then < now
	if !looser || strings.Contains(command, "\x00") {
		return false
	}
	if command != "" {
		command = w.from + command
	}
	w.out = append(w.out, way{kind, command, text, &then})
	return true
}

// trust offers to trust the project, if what it allows does not apply yet.
func (w *waysOf) trust() {
	where := w.evaluation.Loaded.Where
	if where.Project == "" || where.Project == where.Dirs.Home {
		return
	}
	then := w.again(w.p, func(j *evaluation) {
		at := j.Loaded.Where
		at.Trust = func(string, []byte) bool { return true }
		at.Known = func(string) bool { return true }
		l := inforce.Load(at)
		l.Callbacks = j.Loaded.Callbacks
		l.Callbacks.Signals = func(policy.Signals) policy.Signals { return heardSignals{heard: w.heard} } // they are not trusted yet
		l.AssignRole(j.Event.Role)
		j.Loaded = l
	})
	w.offer("trust", "cardea trust", "", then)
}

// exceptions offers overrides for ten minutes and permanently, of the narrowest sufficient
// scope. It reports whether there are any.
func (w *waysOf) exceptions() bool {
	for _, scope := range []cardea.Scope{cardea.ScopeProject, cardea.ScopeUser} {
		if scope == cardea.ScopeProject && !w.inProject() {
			continue
		}
		for _, withFile := range []bool{false, true} {
			list := w.overrides(scope, withFile)
			if len(list) == 0 {
				continue
			}
			then := w.again(w.p, withOverrides(list))
			if w.offer("once", overrideLines(list, " --for "+onceFor), "", then) {
				if w.lasting(list) {
					w.offer("always", overrideLines(list, ""), "", then)
				}
				return true
			}
		}
	}
	return false
}

func withOverrides(list []overrides.Override) func(*evaluation) {
	return func(j *evaluation) { j.Loaded.Overrides = append(slices.Clone(j.Loaded.Overrides), list...) }
}

// lasting reports whether permanent exceptions are offered. They are not offered for rules
// that protect the gate, nor if a file contains what runs, since its content may change.
func (w *waysOf) lasting(list []overrides.Override) bool {
	return !slices.ContainsFunc(list, func(o overrides.Override) bool { return o.Rule != "" }) && !slices.ContainsFunc(w.held(), func(i int) bool {
		return slices.ContainsFunc(w.evaluation.Event.Call.Parts[i].Access, func(a cardea.Access) bool { return a.Kind == cardea.Execute && a.Path != "" })
	})
}

// inProject reports whether an override in the project's file applies there.
func (w *waysOf) inProject() bool {
	at := w.evaluation.Loaded.Where
	if at.Project == "" || at.Project == at.Dirs.Home || at.State == "" {
		return false
	}
	if file := filepath.Join(at.Project, ".cardea", inforce.OverridesFile); at.Trusted() {
		_, err := os.Lstat(file)
		return err != nil || at.Known(file)
	}
	p := w.p.in(at.Project)
	p.Stderr = io.Discard // "cardea trust" reports the problems there
	s, err := surveyHere(p)
	return err == nil && s.empty() && len(s.lessons) == 0
}

// held returns the parts that determine the verdict: those that ask or are denied, else all
// that are not allowed.
func (w *waysOf) held() (out []int) {
	ask := slices.ContainsFunc(w.verdict.Parts, func(e cardea.Effect) bool { return e >= cardea.Ask })
	for i := range w.evaluation.Event.Call.Parts {
		if e := w.effect(i); e >= cardea.Ask || !ask && e != cardea.Allow {
			out = append(out, i)
		}
	}
	return out
}

// overrides returns exceptions of a scope for all held parts, nil if one part has none.
func (w *waysOf) overrides(scope cardea.Scope, withFile bool) (out []overrides.Override) {
	for _, i := range w.held() {
		part := &w.evaluation.Event.Call.Parts[i]
		o := overrides.Override{Scope: scope, Effect: cardea.Allow, Trusted: true, Command: wordsOf(part)}
		if len(o.Command) == 0 {
			o.Tool, withFile = w.evaluation.Event.Call.Tool, true
		}
		if withFile {
			o.File = globOf(part, w.evaluation.Place.Dirs.Home)
		}
		if len(o.Command) > 0 && !nameable(o.Command) || withFile && o.File == "" {
			return nil
		}
		for _, rule := range w.namedRules(i) {
			o.Rule = rule
			if o.Wrong() != "" || rule == "gate-key" { // the key can forge all other records
				return nil
			}
			if !slices.ContainsFunc(out, func(x overrides.Override) bool { return x.ID() == o.ID() }) {
				out = append(out, o)
			}
		}
	}
	if len(out) > maxChanges {
		return nil
	}
	return out
}

// namedRules returns the rules that an override of part i must name, "" for none.
func (w *waysOf) namedRules(i int) (out []string) {
	for _, o := range w.verdict.Opinions {
		if name := onlyIf(o.Yields == cardea.YieldsByName, o.Rule); o.Part == i && o.Effect >= cardea.Ask && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		out = []string{""}
	}
	return out
}

// globOf returns a glob for the only file that a part names. It is "" for several files, or
// if the glob would match other files.
func globOf(part *cardea.Part, home string) string {
	path := ""
	for _, a := range part.Access {
		if a.Path == "" || path != "" && a.Path != path {
			return ""
		}
		path = a.Path
	}
	if rest, in := strings.CutPrefix(path, home+"/"); in && home != "" {
		path = "~/" + rest
	}
	return onlyIf(!(strings.ContainsAny(path, `*?[]{}\!`) || strings.HasSuffix(path, "/")), path)
}

// overrideLines returns the command line that makes the overrides.
func overrideLines(list []overrides.Override, until string) string {
	var out []string
	add := func(flag, value string) string { return onlyIf(value != "", " --"+flag+" "+hook.Pasted(value)) }
	for _, o := range list {
		out = append(out, "cardea override"+add("command", grammar.Quoted(o.Command))+add("tool", o.Tool)+add("file", o.File)+add("rule", o.Rule)+" --allow"+
			onlyIf(o.Scope == cardea.ScopeUser, " --scope user")+until)
	}
	return strings.Join(out, " && ")
}

// noException returns why no override loosens the answer.
func (w *waysOf) noException() string {
	for _, o := range w.verdict.Opinions {
		switch source := cmp.Or(o.Source, o.By()); {
		case o.Effect < cardea.Ask || o.Yields != cardea.YieldsNever:
		case o.Scope <= cardea.ScopeOrg:
			return "only the administrator can allow it, in " + source
		case o.Scope != cardea.ScopeBuiltin:
			return "no override lifts what a person wrote: " + source
		}
	}
	for _, i := range w.held() {
		part := &w.evaluation.Event.Call.Parts[i]
		switch words := wordsOf(part); {
		case len(part.Opaque) > 0 || part.Coverage != cardea.Complete:
			return "no override allows what Cardea cannot see through"
		case part.Elevated || part.Remote:
			return "no override allows a command as another user or on another machine"
		case len(part.Assigns) > 0:
			return "no override allows a command with a variable in front"
		case len(words) > 0 && !overrides.InWork(w.evaluation.Event, part.Dir):
			return "no override allows a command in " + cmp.Or(part.Dir, "an unknown folder") + ", outside of the session's project " + w.evaluation.Event.Project
		case len(words) > 0 && !nameable(words):
			return "no override can name it: a word of it has characters that are not shown"
		case slices.ContainsFunc(part.Argv, func(word cardea.Word) bool { return !word.Static }):
			return "no override can be written for a word that is only known when the line runs"
		}
	}
	return "no override covers it"
}

// nameable reports whether an override can name words one by one.
func nameable(words []string) bool {
	again, err := grammar.PlainWords(grammar.Quoted(words))
	return err == nil && slices.Equal(again, words) && !slices.Contains(words, "*")
}

// permission offers an entry of the harness's own list, if no rule decides.
func (w *waysOf) permission() {
	l, ev := w.evaluation.Loaded, w.evaluation.Event
	if w.verdict.Effect != cardea.Abstain || ev.Harness != claudecode.Name || w.evaluation.Place.Dirs.Claude == "" {
		return
	}
	_, needs := w.evaluation.Suggest(w.verdict)
	if len(needs) == 0 && l.Expands() || slices.ContainsFunc(needs, func(s string) bool { return strings.HasSuffix(s, ":*)") }) {
		return // an entry that also allows other arguments allows too much
	}
	then := w.again(w.p, withEntries(needs))
	text := ""
	if len(needs) > 0 {
		text = "put " + strings.Join(listOf(needs, func(s string) string { return string(hook.PlainJSON([]byte(asJSON(s)))) }), ", ") +
			" into permissions.allow of " + filepath.Join(w.evaluation.Place.Dirs.Claude, "settings.json")
	}
	w.offer("permission", onlyIf(!l.Expands(), "cardea config set permissions.expand true"), text, then)
}

// withEntries returns a change that adds entries to the harness's own list.
func withEntries(entries []string) func(*evaluation) {
	return func(j *evaluation) {
		j.Loaded.Settings.Permissions.Expand = true
		from := &permissionlist.Origin{Harness: claudecode.Name, Scope: cardea.ScopeUser, Allows: true, Source: j.Place.Dirs.Claude}
		for _, text := range entries {
			rule := permissionlist.Parse(text, permissionlist.Context{Effect: cardea.Allow})
			j.Loaded.Permissions = append(slices.Clone(j.Loaded.Permissions), permissionlist.Entry{Rule: rule, Effect: cardea.Allow, From: from})
		}
	}
}

// switches offers a milder effect for the rules that decided, or another setting. It offers
// none for rules that protect the gate, or if more than maxChanges rules hold the call.
func (w *waysOf) switches() {
	change := map[string]string{}
	for _, o := range w.verdict.Opinions {
		switch {
		case o.Effect != w.verdict.Effect || o.Effect < cardea.Ask:
		case o.Yields == cardea.YieldsByName || o.Effect == cardea.Halt:
			return
		case o.Decider == "rules":
			change["rules.effect."+o.Rule] = onlyIf(o.Effect == cardea.Deny, "ask") + onlyIf(o.Effect == cardea.Ask, "defer")
		case o.Decider == policy.Name && o.Scope == cardea.ScopeBuiltin:
			change["packs."+o.Source] = "off"
		}
	}
	if len(change) <= maxChanges {
		w.set("rule", change)
	}
	if w.verdict.By == "default" {
		w.set("setting", map[string]string{"default.unattended": "abstain"})
		w.set("setting", map[string]string{"default.attended": "abstain"})
	}
}

// set offers values for settings of the person.
func (w *waysOf) set(kind string, values map[string]string) {
	path := filepath.Join(w.evaluation.Place.Dirs.User, "cardea.yaml")
	data, err := state.ReadLinked(path, document.MaxSize)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	text := cmp.Or(string(data), "version: 1\n")
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		name, err := settings.FindName(key)
		if err == nil {
			text, err = yamledit.Put(text, name.Path, values[key])
		}
		if err != nil {
			return
		}
		lines = append(lines, "cardea config set "+hook.Pasted(key)+" "+values[key])
	}
	if len(lines) > 0 && w.evaluation.Place.Dirs.User != "" {
		p := w.p
		p.Drafts = map[string][]byte{path: []byte(text)}
		w.offer(kind, strings.Join(lines, " && "), "", w.again(p, func(*evaluation) {}))
	}
}
