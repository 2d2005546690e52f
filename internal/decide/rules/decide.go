package rules

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/pathglob"
)

// Options configure the decider for a machine.
type Options struct {
	// Home is the folder that "~/" means in path globs. If it is "", such globs match
	// nothing.
	Home string
	// FoldPaths compares paths without regard to case. It is always on if the file system
	// does the same (macOS, Windows).
	FoldPaths bool
	// Own returns the absolute paths, with links resolved, of the gate's own files of a
	// kind. If nil, none are known.
	Own func(Own) []string
	// Keys caches the keys of globs, for a process that makes many deciders. If nil, there
	// is no cache.
	Keys *Keys
}

// Decider is the decider "rules". It is safe for concurrent use.
type Decider struct {
	rules    List
	settings Options
	expr     expressions
	keys     globKeys
}

// New returns a decider of rules, which must not change after that. It compiles nothing.
func New(list List, s Options) *Decider {
	s.FoldPaths = s.FoldPaths || runtime.GOOS == "darwin" || runtime.GOOS == "windows"
	return &Decider{rules: list, settings: s, keys: globKeys{shared: s.Keys, fold: s.FoldPaths}}
}

// Name returns "rules".
func (*Decider) Name() string { return "rules" }

// Decide returns the opinions of all rules. The error holds the issue of the first rule
// whose expression does not compile. The opinions of the other rules are complete.
func (d *Decider) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	if ev.Call == nil {
		return nil, nil
	}
	c := &evaluation{d: d, ev: ev}
	c.known = c.knownReaches()
	for i := range d.rules {
		if ctx.Err() != nil {
			break // the gate reports it
		}
		if c.entry = d.rules[i]; !c.mayReach(c.entry) {
			continue
		}
		if r := d.rules[i].rule(); r.speaksOn(ev.Kind) && r.speaksAbout(ev.Call) && !(ev.Call.OnlyPotential && (r.Certain || r.Effect < cardea.Ask)) && !(ev.Call.OnlyOpened && (r.Scope == cardea.ScopeBuiltin || !r.watches())) {
			c.stays = d.rules[i].stays()
			c.judge(r)
		}
	}
	return c.out, c.broken.Err()
}

// WatchesFiles reports whether a rule outside of Cardea's packs denies or asks because of a
// path that is read.
func (d *Decider) WatchesFiles() bool {
	return slices.ContainsFunc(d.rules, func(e *Entry) bool { return e.watches && e.Scope() != cardea.ScopeBuiltin })
}

// watches reports whether the rule denies or asks because of a path that is read.
func (r *Rule) watches() bool {
	var paths func(m *Match) bool
	paths = func(m *Match) bool {
		if len(m.Access) > 0 && !slices.Contains(m.Access, cardea.Read) {
			return false
		}
		return len(m.Paths) > 0 || m.anyOf(paths)
	}
	return r.Effect >= cardea.Ask && paths(&r.Match)
}

// mayReach reports whether a rule may hold on any part. It is a quick check: a rule about
// programs needs one of them.
func (c *evaluation) mayReach(e *Entry) bool {
	if c.known.has(e) && !c.known.mayReach(e) {
		return false
	}
	if e.programs == 0 {
		return true
	}
	if c.all == 0 {
		for i := range c.ev.Call.Parts {
			c.all |= c.programs(i)
		}
	}
	return e.programs&c.all != 0
}

// speaksOn reports whether the rule is about events of a kind. A rule about PreToolUse
// applies to all events that the gate answers, since the guards also run there.
func (r *Rule) speaksOn(k cardea.Kind) bool {
	if len(r.Events) == 0 {
		return k.Answered()
	}
	return slices.ContainsFunc(r.Events, func(e string) bool {
		return paths.MatchName(e, string(k)) || k.Answered() && paths.MatchName(e, string(cardea.PreToolUse))
	})
}

// speaksAbout reports whether the rule is about a call's tool. A rule that tightens Bash
// also tightens Monitor, which runs commands in the same way.
func (r *Rule) speaksAbout(c *cardea.Call) bool {
	return len(r.Tools) == 0 || slices.ContainsFunc(r.Tools, func(t string) bool {
		return paths.MatchName(t, c.Tool) || r.Effect != cardea.Allow && (paths.MatchName(t, c.Name) || c.Tool == "Monitor" && t == "Bash")
	})
}

// evaluation is the evaluation of one event.
type evaluation struct {
	d      *Decider
	ev     *cardea.Event
	place  *pathglob.Base
	owned  map[Own][]*pathglob.Glob
	globs  map[*Match]*madeGlobs
	unless map[string]*pathglob.Glob
	named  map[*cardea.Part][]pathglob.Named
	fields map[*Match]bool
	looks  map[*Match]*look
	// inside are the folders treated as inside of the work.
	inside []string
	// segments are the segments of all plain paths of the call.
	segments *segments
	// search is the text that the last pattern was searched in.
	search *searched
	// spelled are the spellings of each part.
	spelled [][]string
	// texts is the text of all parts.
	texts  *searched
	bits   []uint64
	all    uint64 // the bits of all parts
	kinds  *kinds
	known  knownReaches
	out    []cardea.Opinion
	broken cardea.Issues
	// rule is the current rule, and entry its entry in the list. stays is set if it is the
	// same rule for every call.
	rule  *Rule
	entry *Entry
	stays bool
	// touched is the access on which the rule's match holds, or nil.
	touched *cardea.Access
}

// judge adds the opinions of a rule.
func (c *evaluation) judge(r *Rule) {
	c.rule, c.touched = r, nil
	effect, withheld := r.Effect, false
	if r.Tightens() {
		if effect < cardea.Ask {
			return
		}
		if withheld = r.Scope == cardea.ScopeProject; withheld && effect == cardea.Halt {
			effect = cardea.Deny
		}
	}
	switch {
	case r.Effect == cardea.Allow:
		for i := range c.ev.Call.Parts {
			if c.touched = nil; c.allows(i) {
				c.say(effect, i, withheld)
			}
		}
	case r.Match.aboutCall() && !(c.ev.Call.OnlyPotential && r.Match.aboutPart()):
		if c.holdsForCall(&r.Match) {
			c.say(effect, cardea.WholeCall, withheld)
		}
	default:
		reached := c.reached(&r.Match)
		for i := range reached.parts {
			c.touched = nil
			if among, may := reached.at(i); may && c.holdsAmong(&r.Match, i, 1, among) {
				c.say(effect, i, withheld)
			}
		}
		if c.touched = nil; c.opaqueCall(&r.Match) {
			c.say(effect, cardea.WholeCall, withheld)
		}
	}
}

// say adds an opinion of the rule.
func (c *evaluation) say(e cardea.Effect, part int, withheld bool) {
	c.out = append(c.out, c.opinion(e, part, withheld))
}

// opinion returns the rule's opinion about a part, or about the whole call.
func (c *evaluation) opinion(e cardea.Effect, part int, withheld bool) cardea.Opinion {
	r := c.rule
	o := cardea.Opinion{Decider: "rules", Rule: r.ID, Effect: e, Part: part, Scope: r.Scope, Source: r.Source,
		Severity: r.Severity, Loses: r.Loses, Reason: r.Message, Because: r.Because, Withheld: withheld, Person: r.Person}
	if part != cardea.WholeCall && c.touched == nil && r.Loses != cardea.LossNone {
		access := c.ev.Call.Parts[part].Access
		if k := slices.IndexFunc(access, func(a cardea.Access) bool { return a.Kind == cardea.Delete }); k >= 0 {
			c.touched = &access[k]
		}
	}
	o.File = c.shown(c.touched)
	if r.Scope == cardea.ScopeBuiltin {
		o.Yields = cardea.YieldsToOverride
		if r.Pack == SelfProtection {
			o.Yields = cardea.YieldsByName
		}
	}
	if o.Reason == "" && e != cardea.Abstain {
		what := c.ev.Call.Tool
		if part != cardea.WholeCall {
			what = shorten(c.ev.Call.Parts[part].Text)
		}
		o.Reason = fmt.Sprintf("rule %s says %s: %s", r.ID, e, what)
	}
	if r.Tightens() {
		return o
	}
	o.Advice = cardea.Advice{Context: r.Context, Instead: r.Instead}
	for _, f := range r.Rewrite {
		if o.Advice.Rewrite == nil {
			o.Advice.Rewrite = map[string]any{}
		}
		o.Advice.Rewrite[f.Name] = f.Value
	}
	return o
}

// shown returns the path of an access for a person, relative to the project or the home
// folder. It quotes a path with blanks, which could form sentences, or with invisible
// characters.
func (c *evaluation) shown(a *cardea.Access) string {
	if a == nil {
		return ""
	}
	name := cmp.Or(a.Pattern, a.Spelled, a.Path)
	// A project that contains the home folder, such as "/", would hide too much.
	if home := c.d.settings.Home; paths.Below(c.ev.Project, name) && !paths.Below(c.ev.Project, home) {
		name = strings.TrimPrefix(name[len(c.ev.Project):], "/")
	} else if paths.Within(home, name) {
		name = "~" + name[len(strings.TrimSuffix(home, "/")):]
	}
	name = shorten(name)
	if strings.ContainsFunc(name, func(r rune) bool { return r == ' ' || !strconv.IsPrint(r) }) {
		name = strconv.Quote(name)
	}
	return name
}

// shorten cuts text to 80 characters for a message.
func shorten(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// at returns the place to which the rule's globs are relative: the rule's root, else the
// project, else the call's working folder.
func (c *evaluation) at() *pathglob.Base {
	if root := cmp.Or(c.rule.Root, c.ev.Project, c.ev.Cwd); c.place == nil || c.place.Project != root {
		c.unless, c.inside = map[string]*pathglob.Glob{}, nil
		c.place = pathglob.NewPlace(c.d.settings.Home, root, c.d.settings.FoldPaths)
	}
	return c.place
}

// madeGlobs holds the path globs of a match, each made absolute on first use.
type madeGlobs struct {
	texts []string
	made  []*pathglob.Glob
}

// globsOf returns the path globs of a match.
func (c *evaluation) globsOf(m *Match) *madeGlobs {
	return cached(&c.globs, m, func() *madeGlobs { return &madeGlobs{m.Paths, make([]*pathglob.Glob, len(m.Paths))} })
}

// cached returns the value of a key in a map. A missing value is made and stored.
func cached[K comparable, V any](all *map[K]V, key K, made func() V) V {
	if v, known := (*all)[key]; known {
		return v
	}
	v := made()
	if *all == nil {
		*all = map[K]V{}
	}
	(*all)[key] = v
	return v
}

// at returns the k-th glob.
func (g *madeGlobs) at(c *evaluation, k int) *pathglob.Glob {
	if g.made[k] == nil {
		var keys *Keys
		if c.stays {
			keys = c.d.settings.Keys
		}
		g.made[k] = keys.glob(c.at(), g.texts[k])
	}
	return g.made[k]
}

// matches reports whether an expression matches a text. An expression that does not compile
// matches nothing and is reported.
func (c *evaluation) matches(expr, text string) bool {
	from := &c.d.expr
	if c.stays && c.d.settings.Keys != nil {
		from = &c.d.settings.Keys.expr
	}
	re, err := from.compile(expr)
	if err != nil {
		if c.broken == nil {
			t := cardea.BrokenFile.Issue(c.rule.Source, diagnostic.CodeBadPattern, "", fmt.Sprintf("rule %s has an expression that does not compile: %v", c.rule.ID, err))
			if c.rule.Scope == cardea.ScopeProject && !c.rule.Trusted {
				t.Diagnostic = t.Diagnostic.Withheld()
			}
			c.broken = cardea.Issues{t}
		}
		return false
	}
	return re.MatchString(text)
}

// expressions are regular expressions, each compiled on first use.
type expressions struct {
	mu   sync.Mutex
	done map[string]compiled
}

type compiled struct {
	re  *regexp.Regexp
	err error
}

func (x *expressions) compile(expr string) (*regexp.Regexp, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	c := cached(&x.done, expr, func() (c compiled) {
		c.re, c.err = regexp.Compile(expr)
		return c
	})
	return c.re, c.err
}

// insensitive returns the expression for a rule's pattern, and whole the one that must
// match all of a text. Both ignore case. The pattern is a valid expression, so it cannot
// close the group.
func insensitive(pattern string) string { return "(?i)" + pattern }

func whole(pattern string) string { return `(?i)\A(?:` + pattern + `)\z` }

// aboutPart reports whether a match has conditions on parts.
func (m *Match) aboutPart() bool {
	if len(m.Command)+len(m.Flags)+len(m.Args)+len(m.Paths)+len(m.Access)+len(m.Hosts)+len(m.Flows)+len(m.Env)+len(m.StartedBy)+len(m.Unless)+len(m.UnlessCommand)+len(m.Own) > 0 ||
		m.Opaque || m.Outside || m.HoldsKey || m.Redirection || m.UnknownPath || m.Pattern != "" && m.Field == "" {
		return true
	}
	return m.anyOf((*Match).aboutPart)
}

// anyOf reports whether a condition holds for one of the alternatives.
func (m *Match) anyOf(holds func(*Match) bool) bool {
	for i := range m.Any {
		if holds(&m.Any[i]) {
			return true
		}
	}
	return false
}

// namesField reports whether a match has a condition on a field of the input.
func (m *Match) namesField() bool {
	return m.Field != "" || m.anyOf((*Match).namesField)
}

// aboutCall reports whether the rule's opinion is about the whole call: a condition is on a
// field, or none is on parts.
func (m *Match) aboutCall() bool {
	return m.namesField() || !m.aboutPart()
}

// canonical returns a program's name as rules write it: without folder and without .exe.
func canonical(program string) string {
	if i := strings.LastIndexAny(program, `/\`); i >= 0 {
		program = program[i+1:]
	}
	if len(program) > 4 && strings.EqualFold(program[len(program)-4:], ".exe") {
		program = program[:len(program)-4]
	}
	return program
}
