package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/decide/policy/engine"
)

// routeKey holds the facts of an event that routing depends on.
type routeKey struct {
	kind       cardea.Kind
	tool, name string
}

// keyOf returns the routing key of an event.
func keyOf(ev *cardea.Event) routeKey {
	k := routeKey{kind: ev.Kind}
	if ev.Call != nil {
		k.tool, k.name = ev.Call.Tool, ev.Call.Name
	}
	return k
}

// selection is the policies of a set that are routed to an event.
type selection struct {
	// picks are the packages, in the order of their first files.
	picks []pick
	// which are the indices of the files of routed packages, without the files that they
	// refer to.
	which []int
	// lost are files of which not even the routing is known.
	lost  []int
	cache []int // files and what they refer to
}

// pick is a routed package.
type pick struct {
	pkg string
	// verbs are the verbs that its files define.
	verbs []string
	// signals are the signals that its files require.
	signals []string
	// files are the indices of its files. all also has those of the files that they refer
	// to.
	files, all []int
	// loose is set if the package is routed to the call's tool only because policies about
	// Bash also apply to Monitor.
	loose bool
}

// maxRoutes is the most routes that a set stores, since the agent can invent names of
// tools.
const maxRoutes = 4096

// route returns the policies routed to an event. It stores the result by event and tool, so
// that a process that stays checks the files once.
func (s *set) route(ev *cardea.Event, tool func(string) (string, bool)) *selection {
	k := keyOf(ev)
	s.mu.Lock()
	defer s.mu.Unlock()
	if sel := s.routes[k]; sel != nil {
		return sel
	}
	if len(s.routes) >= maxRoutes {
		clear(s.routes)
	}
	sel := s.selectFor(k, tool)
	s.routes[k] = sel
	return sel
}

// selectFor returns the policies routed to an event with key k. tool returns the canonical
// name of a tool.
func (s *set) selectFor(k routeKey, tool func(string) (string, bool)) *selection {
	sel := &selection{}
	at := map[string]int{}
	for i := range s.entries {
		e := &s.entries[i]
		if e.lost {
			if k.kind.Answered() {
				sel.lost = append(sel.lost, i)
			}
			continue
		}
		if !e.facts.Routed || !e.facts.Policy() || !onEvent(e.facts.Events, k.kind) {
			continue
		}
		hit, loose := onTool(e.facts.Tools, k, tool)
		if !hit {
			continue
		}
		n, there := at[e.facts.Package]
		if !there {
			n = len(sel.picks)
			at[e.facts.Package] = n
			sel.picks = append(sel.picks, pick{pkg: e.facts.Package, loose: true})
		}
		sel.picks[n].loose = sel.picks[n].loose && loose
	}
	for i := range s.entries {
		e := &s.entries[i]
		n, routed := at[e.facts.Package]
		if !routed || e.lost {
			continue
		}
		p := &sel.picks[n]
		p.files = append(p.files, i)
		p.verbs = union(p.verbs, e.facts.Verbs)
		p.signals = union(p.signals, e.facts.Signals)
		sel.which = append(sel.which, i)
	}
	for n := range sel.picks {
		sel.picks[n].all = s.closure(sel.picks[n].files)
	}
	return sel
}

func union(a, b []string) []string {
	for _, w := range b {
		if !slices.Contains(a, w) {
			a = append(a, w)
		}
	}
	return a
}

// onEvent reports whether a policy is about events of a kind. A policy about PreToolUse
// applies to all events that the gate answers, since the guards also run there.
func onEvent(events []string, k cardea.Kind) bool {
	return slices.ContainsFunc(events, func(e string) bool {
		return e == string(k) || e == "*" || k.Answered() && e == string(cardea.PreToolUse)
	})
}

// onTool reports whether a policy is about a tool. Without tools it is about all of them. A
// policy with tools is not about events without one. loose is set if it matches only as a
// policy about Bash for Monitor.
func onTool(tools []string, k routeKey, canonical func(string) (string, bool)) (hit, loose bool) {
	if len(tools) == 0 || slices.Contains(tools, "*") {
		return true, false
	}
	if k.tool == "" && k.name == "" {
		return false, false
	}
	for _, t := range tools {
		if word, known := canonical(t); known {
			t = word
		}
		switch {
		case paths.MatchName(t, k.tool) || paths.MatchName(t, k.name):
			return true, false
		case t == "Bash" && k.tool == "Monitor":
			hit = true
		}
	}
	return hit, hit
}

// key identifies the files of a selection.
func (sel *selection) key() string {
	var b strings.Builder
	for _, i := range sel.which {
		b.WriteString(strconv.Itoa(i))
		b.WriteByte(' ')
	}
	return b.String()
}

// files returns the selected files, followed by those of the packages that they refer to.
func (sel *selection) files(s *set) []int {
	if sel.cache == nil {
		sel.cache = s.closure(sel.which)
	}
	return sel.cache
}

// closure returns files, followed by those of the packages that they refer to, directly or
// not.
func (s *set) closure(which []int) []int {
	seen := map[int]bool{}
	out := slices.Clone(which)
	for _, i := range out {
		seen[i] = true
	}
	for n := 0; n < len(out); n++ {
		for _, ref := range s.entries[out[n]].facts.Refs {
			for i := range s.entries {
				if !seen[i] && mayDefine(&s.entries[i].facts, ref) && !s.entries[i].skipped() {
					seen[i] = true
					out = append(out, i)
				}
			}
		}
	}
	return out
}

// idle returns notes on policies that would decide but never run.
func (s *set) idle(f Folder) cardea.Issues {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.idleNotes != nil {
		return s.idleNotes
	}
	s.idleNotes = cardea.Issues{}
	note := func(e *entry, code diagnostic.Code, hint, text string) {
		s.idleNotes = append(s.idleNotes, cardea.Warning(e.path, code, hint, text))
	}
	for i := range s.entries {
		e := &s.entries[i]
		switch {
		case e.mistake == nil:
		case isTest(e.path): // its text quotes no file
			s.idleNotes = append(s.idleNotes, cardea.Issue{Diagnostic: warned(*e.mistake)})
		default:
			s.idleNotes = append(s.idleNotes, cardea.Issue{Diagnostic: warned(told(f, *e.mistake))})
		}
		switch {
		case e.lost:
		case e.broken != nil && !e.facts.Routed:
			s.idleNotes = append(s.idleNotes, cardea.Issue{Diagnostic: told(f, *e.broken)})
		case e.broken != nil:
		case e.skipped():
			note(e, engine.CodeSystemPackage, "remove the file", "package "+engine.SystemPackage+" is skipped, since Cardea gathers the verbs by itself")
		case e.facts.Policy() && unknownEvent(e.facts.Events) != "":
			name := unknownEvent(e.facts.Events)
			note(e, engine.CodeEvent, "see \"cardea policy validate\"", fmt.Sprintf("this policy waits for an event that does not exist: %q%s", name, near(name)))
		case e.facts.Policy() && len(e.facts.Verbs) > 0 && len(e.facts.Events) == 0 && !s.routedElsewhere(e.facts.Package):
			note(e, engine.CodeNoEvents, "see \"cardea policy validate\"", "this policy is never asked, since its METADATA has no routing with required_events")
		}
	}
	return s.idleNotes
}

// warned turns a diagnostic into a warning.
func warned(d diagnostic.Diagnostic) diagnostic.Diagnostic {
	d.Severity = diagnostic.LevelWarning
	d.Hint = cmp.Or(d.Hint, "see \"cardea policy validate\"")
	return d
}

// unknownEvent returns the first name that is not an event, or "".
func unknownEvent(events []string) string {
	for _, e := range events {
		if e != "*" && !slices.Contains(Events(), cardea.Kind(e)) {
			return e
		}
	}
	return ""
}

// routedElsewhere reports whether another file of a package has routing.
func (s *set) routedElsewhere(pkg string) bool {
	return slices.ContainsFunc(s.entries, func(e entry) bool { return e.facts.Package == pkg && len(e.facts.Events) > 0 })
}

// mayDefine reports whether a file may define a value at a path below data.
func mayDefine(f *engine.Facts, ref string) bool {
	return concerns(ref, f.Package) || slices.ContainsFunc(f.Data, func(path string) bool { return path == "*" || concerns(ref, path) })
}

// concerns reports whether a path below data is a package, or a path inside or above it.
func concerns(ref, pkg string) bool {
	return pkg != "" && (ref == "" || ref == pkg || below(ref, pkg) || below(pkg, ref))
}

// below reports whether a path is strictly below another one.
func below(path, start string) bool {
	return len(path) > len(start) && path[len(start)] == '.' && path[:len(start)] == start
}
