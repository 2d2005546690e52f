package rules

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"cardea.dev"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/base/pathglob"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge/files"
)

// This file is how a rule that tightens, or gives advice, reads a part:
// generously, since the agent chooses how a command is spelled.

// holdsForCall reports whether a match holds for the call as a whole: what it
// says about fields and roles, and on some part what it says about parts.
func (c *call) holdsForCall(m *Match) bool {
	if !m.aboutPart() {
		return c.holds(m, cardea.WholeCall, 0)
	}
	r := c.reached(m)
	for i := range r.parts {
		c.touched = nil
		if among, may := r.at(i); may && c.holdsAmong(m, i, 1, among) {
			return true
		}
	}
	return false
}

// holds reports whether every condition holds on part i, or for the call as
// far as it is not about parts. after is how many words of the part belong to
// the command. The cheap conditions come first, so that most rules end at the
// command.
func (c *call) holds(m *Match, i, after int) bool { return c.holdsAmong(m, i, after, everyAny) }

// holdsAmong is holds with those alternatives alone that may hold on the part.
func (c *call) holdsAmong(m *Match, i, after int, among anySet) bool {
	if i != cardea.WholeCall {
		p := &c.ev.Call.Parts[i]
		if m.Programs != 0 && m.Programs&c.programs(i) == 0 {
			return false
		}
		if len(m.Command) > 0 {
			var ok bool
			if after, ok = m.leads(p); !ok {
				return false
			}
		}
		if !c.holdsOnPart(m, p, i, after) {
			return false
		}
	}
	if len(m.Roles) > 0 && !oneOf(m.Roles, c.ev.Role) || m.Field != "" && !c.onField(m) {
		return false
	}
	for j := range m.Any {
		if c.ev.Call.OnlyPossible && m.Any[j].namesField() && !m.Any[j].aboutPart() {
			continue // about the call, which was judged
		}
		touched := c.touched
		if among.has(j) && c.holds(&m.Any[j], i, after) {
			return true
		}
		c.touched = touched
	}
	return len(m.Any) == 0
}

// programs are the bits of part i, worked out once for all rules.
func (c *call) programs(i int) uint64 {
	if c.bits == nil {
		c.bits = make([]uint64, len(c.ev.Call.Parts))
	}
	if c.bits[i] == 0 {
		c.bits[i] = bits(&c.ev.Call.Parts[i])
	}
	return c.bits[i]
}

func (c *call) holdsOnPart(m *Match, p *cardea.Part, i, after int) bool {
	switch {
	case m.Opaque && len(p.Opaque) == 0,
		len(m.Flows) > 0 && !c.flows(m.Flows, i),
		len(m.Env) > 0 && !setsVariable(m.Env, p),
		len(m.StartedBy) > 0 && !c.startedBy(m.StartedBy, p),
		len(m.Flags) > 0 && !hasFlag(m.Flags, p),
		len(m.UnlessCommand) > 0 && slices.Contains(m.UnlessCommand, p.Program()),
		m.aboutAccess() && !c.accessHolds(m, p),
		len(m.Args) > 0 && !c.argHolds(m.Args, p, after),
		m.UnlessReads && onlyReads(p),
		m.UnlessText != "" && m.Field == "" && c.matches(whole(m.UnlessText), exactly(p)),
		len(m.Unless) > 0 && excepted(m.Unless, p), // late, since it looks at every word
		m.Pattern != "" && m.Field == "" && !slices.ContainsFunc(c.textsFor(i), func(text string) bool { return c.finds(m, text) }):
		return false
	}
	return true
}

// startedBy reports whether one of the expressions is found in a command that starts a
// part.
func (c *call) startedBy(exprs []string, p *cardea.Part) bool {
	return slices.ContainsFunc(p.Outer, func(o cardea.Outer) bool {
		return slices.ContainsFunc(exprs, func(expr string) bool { return c.matches(expr, o.Text) })
	})
}

// aboutAccess reports whether a match has conditions on accesses.
func (m *Match) aboutAccess() bool {
	return m.Outside || m.HoldsKey || m.Redirection || m.UnknownPath || len(m.Paths)+len(m.Access)+len(m.Hosts)+len(m.Own) > 0
}

// hasFlag reports whether one of the flags is among the options: with a value, where it is
// --flag=value, or with any but some, where it is --flag!=value|value.
func hasFlag(flags []string, p *cardea.Part) bool {
	for _, f := range flags {
		name, value, valued := strings.Cut(f, "=")
		name, except := strings.CutSuffix(name, "!")
		for k := range p.Options {
			if o := &p.Options[k]; isFlag(name, o) && (!valued || !o.Static || slices.Contains(strings.Split(value, "|"), o.Value) != except) {
				return true
			}
		}
		if cluster(name, p) || spelled(f, p) {
			return true
		}
	}
	return false
}

// isFlag reports whether an option is the flag, as such or abbreviated, as
// getopt and git take it: one letter may be enough.
func isFlag(flag string, o *cardea.Option) bool {
	return o.Name == flag ||
		len(o.Name) >= len("--a") && len(o.Name) < len(flag) && strings.HasPrefix(flag, "--") && strings.HasPrefix(flag, o.Name)
}

// cluster reports whether a flag such as -rf is given letter by letter.
func cluster(flag string, p *cardea.Part) bool {
	if len(flag) != 3 || flag[0] != '-' || flag[1] == '-' {
		return false
	}
	return !strings.ContainsFunc(flag[1:], func(letter rune) bool {
		return !slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return o.Name == "-"+string(letter) })
	})
}

// spelled reports whether a long option with one dash (-delete, -auto-approve)
// stands as a word, which may have been taken for a cluster of letters. What
// is the value of another option is none.
func spelled(flag string, p *cardea.Part) bool {
	if len(flag) < 3 || flag[0] != '-' || flag[1] == '-' {
		return false
	}
	for k := 1; k < len(p.Argv); k++ {
		w := p.Argv[k]
		if w.Static && w.Text == "--" {
			return false
		}
		if w.Static && (w.Text == flag || strings.HasPrefix(w.Text, flag+"=")) && !isValue(k, p) {
			return true
		}
	}
	return false
}

// isValue reports whether word k is the value of the option before it.
func isValue(k int, p *cardea.Part) bool {
	return slices.ContainsFunc(p.Options, func(o cardea.Option) bool {
		return o.Word == k-1 && o.Static && o.Value == p.Argv[k].Text && !strings.HasSuffix(p.Argv[k-1].Text, "="+o.Value)
	})
}

// argHolds reports whether an operand after the command matches one of the
// expressions.
func (c *call) argHolds(args []string, p *cardea.Part, after int) bool {
	for k := after; k < words(p); k++ {
		text, static := word(p, k)
		for _, a := range args {
			// A word that is only known when it runs stands as written: the
			// shell takes its quotes off.
			if c.fits(a, text) || !static && c.fits(a, unquoted(text)) {
				return true
			}
		}
	}
	return false
}

// fits reports whether an expression matches an operand.
func (c *call) fits(expr, operand string) bool {
	if is, same := choice(expr, operand); is {
		return same
	}
	return c.matches(expr, operand)
}

// unquoted is a text without the characters that quote.
func unquoted(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '"' || r == '\'' || r == '\\' {
			return -1
		}
		return r
	}, s)
}

// accessHolds reports whether path, access and host hold on one access.
// Another machine's paths are not this one's.
func (c *call) accessHolds(m *Match, p *cardea.Part) bool {
	if c.touchesNone(m) {
		return false
	}
	var names []pathglob.Named
	var look *look // when an access comes so far
	for k := range p.Access {
		a := &p.Access[k]
		switch {
		case len(m.Access) > 0 && !slices.Contains(m.Access, a.Kind),
			len(m.Hosts) > 0 && (a.Kind != cardea.Network || !hostIs(m.Hosts, a.Host)),
			m.HoldsKey && !a.HoldsKey || m.Redirection && !a.Redirect || m.UnlessMetadata && a.MetadataOnly,
			m.Outside && (p.Remote || !c.outside(a)):
			continue
		}
		if look == nil && len(m.Paths)+len(m.Own) > 0 {
			names, look = c.namesOf(p), c.lookOf(m)
		}
		switch {
		case len(m.Paths) > 0 && (p.Remote && !a.Redirect || !c.touches(m, look, c.name(names, a, k))),
			len(m.Own) > 0 && (p.Remote && !a.Redirect || !c.touchesOwn(look, c.name(names, a, k))),
			m.UnknownPath && (c.ev.Call.OnlyPossible || p.Remote && !a.Redirect || a.Path != "" || a.Host != ""), // everything may touch some file
			c.coveredBy(m.UnlessPaths, a):
			continue
		}
		c.touched = cmp.Or(c.touched, a)
		return true
	}
	return false
}

// outside reports whether an access surely lies outside of the work, of
// temporary folders and of caches.
func (c *call) outside(a *cardea.Access) bool {
	pl := c.at()
	p := pl.Folded(a.Path)
	if p == "" {
		return false
	}
	if c.inside == nil {
		dirs := slices.Concat([]string{c.ev.Project, pl.Project}, files.Temporary(), c.ev.Roots)
		if pl.HomeDir != "" {
			dirs = append(dirs, pl.HomeDir+"/.cache", pl.HomeDir+"/Library/Caches")
		}
		c.inside = append(c.inside, lists.Of(dirs, pl.Folded)...)
	}
	return !slices.ContainsFunc(c.inside, func(dir string) bool { return dir != "/" && paths.Within(dir, p) })
}

func (c *call) touches(m *Match, look *look, n *pathglob.Named) bool {
	plain := !n.Glob && !n.Recursive
	if plain && len(look.plain) == 0 {
		return false
	}
	pl := c.at()
	touches := func(k int) bool {
		if !pl.MayTouch(m.Paths[k], look.keys[k].text, n) {
			return false
		}
		g := c.globsOf(m).at(c, k)
		if c.rule != nil && c.rule.Scope != cardea.ScopeBuiltin && !g.TouchesNamed(n) {
			return false
		}
		return g.Touches(n) && (!m.UnlessSearch || g.IsNamedBy(n, c.ev.Call.OnlyPossible))
	}
	if plain {
		return slices.ContainsFunc(look.plain, touches)
	}
	for k := range m.Paths {
		if touches(k) {
			return true
		}
	}
	return false
}

// look is what a quick look at the globs of a match tells: their keys, and which of
// them can touch one of the call's plain paths at all.
type look struct {
	keys  []globKey
	plain []int
	// own are the gate's own things, ownPlain those that one of the call's plain paths
	// can touch at all.
	own, ownPlain []*pathglob.Glob
}

// lookOf looks at the globs of a match once for a call: a line may name thousands of
// paths, and hardly any of hundreds of globs is about one of them.
func (c *call) lookOf(m *Match) *look {
	return kept(&c.looks, m, func() *look { return c.newLook(m) })
}

// newLook makes the look that lookOf keeps.
func (c *call) newLook(m *Match) *look {
	plain := c.plainPaths()
	l := &look{keys: c.d.keys.of(m, c.stays, c.at())}
	for k := range m.Paths {
		if plain.mayHave(l.keys[k]) {
			l.plain = append(l.plain, k)
		}
	}
	for _, o := range m.Own {
		for _, g := range c.own(o) {
			l.own = append(l.own, g)
			if plain.mayHave(c.d.keys.key(g.Key())) {
				l.ownPlain = append(l.ownPlain, g)
			}
		}
	}
	return l
}

// touchesNone is a quick look at whether a match about paths can hold on no access at
// all: the call names plain paths alone, and no glob is about one of them. That is so of
// nearly every match and call, so nothing is made for it.
func (c *call) touchesNone(m *Match) bool {
	if len(m.Paths)+len(m.Own) == 0 {
		return false
	}
	plain := c.plainPaths()
	if !plain.all {
		return false
	}
	if len(m.Paths) > 0 && !slices.ContainsFunc(c.d.keys.of(m, c.stays, c.at()), plain.mayHave) {
		return true
	}
	return len(m.Own) > 0 && !slices.ContainsFunc(m.Own, func(o Own) bool {
		return slices.ContainsFunc(c.own(o), func(g *pathglob.Glob) bool { return plain.mayHave(c.d.keys.key(g.Key())) })
	})
}

// globKey is the key of a glob, and its hash.
type globKey struct {
	text string
	hash uint64
}

// globKeys are the keys of the globs of matches, which are the same for every call.
type globKeys struct {
	// shared has those that other deciders looked at; nil: there are none.
	shared *Keys
	fold   bool // whether paths are compared without regard to case
	once   sync.Once
	seed   maphash.Seed
	mu     sync.Mutex
	done   map[*Match][]globKey
}

// Keys has what a quick look at a glob takes, by its text, and the compiled expressions of
// built-in rules, for a process that makes many deciders.
type Keys struct {
	seed maphash.Seed
	mu   sync.RWMutex
	done map[foldedGlob]globKey
	// of has the keys of whole matches. It holds the match itself, so that no other one
	// can come to lie in its place.
	of map[foldedMatch][]globKey
	// expr are the expressions of such matches. Those of people may be large, and are
	// forgotten with their decider.
	expr expressions
	// globs are those of such matches, made absolute, and things the gate's own.
	globs  map[placed]*pathglob.Glob
	things map[placed][2]*pathglob.Glob
	// kinds says on which kinds of parts rules may hold.
	kinds map[string]*kindReach
}

// placed is a text at a place.
type placed struct {
	text, home, project string
	fold                bool
}

func placedAt(pl *pathglob.Place, text string) placed {
	return placed{text, pl.HomeDir, pl.Project, pl.Folds()}
}

// maxPlaced bounds the globs that are kept for all places. Beyond it they are made again.
const maxPlaced = 8 << 10

// glob is a glob of a match that is the same for every call; nil makes each anew.
func (x *Keys) glob(pl *pathglob.Place, text string) *pathglob.Glob {
	if x == nil {
		return pl.Glob(text)
	}
	return keptAt(x, &x.globs, placedAt(pl, text), func() *pathglob.Glob { return pl.Glob(text) })
}

// thing is a thing of the gate's own, and what lies below it.
func (x *Keys) thing(pl *pathglob.Place, path string) [2]*pathglob.Glob {
	made := func() [2]*pathglob.Glob { g := pl.Thing(path); return [2]*pathglob.Glob{g, g.Contents()} }
	if x == nil {
		return made()
	}
	return keptAt(x, &x.things, placed{text: path, fold: pl.Folds()}, made)
}

func keptAt[T any](x *Keys, kept *map[placed]T, at placed, made func() T) T {
	x.mu.RLock()
	g, known := (*kept)[at]
	x.mu.RUnlock()
	if known {
		return g
	}
	g = made()
	x.mu.Lock()
	defer x.mu.Unlock()
	if *kept == nil || len(*kept) >= maxPlaced {
		*kept = map[placed]T{}
	}
	(*kept)[at] = g
	return g
}

type foldedGlob struct {
	text string
	fold bool
}

type foldedMatch struct {
	match *Match
	fold  bool
}

// maxKeys bounds the globs that are known, maxMatches the matches.
const maxKeys, maxMatches = 16 << 10, 1 << 10

// NewKeys knows no glob yet.
func NewKeys() *Keys {
	return &Keys{seed: maphash.MakeSeed(), done: map[foldedGlob]globKey{}, of: map[foldedMatch][]globKey{}}
}

// ofMatch are the keys of a match that is the same for every call, nil for unknown.
func (x *Keys) ofMatch(at foldedMatch) []globKey {
	if x == nil {
		return nil
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.of[at]
}

// keep keeps the keys of such a match.
func (x *Keys) keep(at foldedMatch, keys []globKey) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.of) < maxMatches {
		x.of[at] = keys
	}
}

// glob is the key of a glob.
func (x *globKeys) glob(g string, pl *pathglob.Place) globKey {
	if x.shared == nil {
		return x.key(pl.KeyOf(g))
	}
	at := foldedGlob{g, x.fold}
	x.shared.mu.RLock()
	key, known := x.shared.done[at]
	x.shared.mu.RUnlock()
	if !known {
		key = x.key(pl.KeyOf(g))
		x.shared.mu.Lock()
		defer x.shared.mu.Unlock()
		if len(x.shared.done) < maxKeys {
			x.shared.done[at] = key
		}
	}
	return key
}

// key is a key with its hash.
func (x *globKeys) key(text string) globKey {
	x.once.Do(func() {
		if x.seed = maphash.MakeSeed(); x.shared != nil {
			x.seed = x.shared.seed
		}
	})
	return globKey{text, maphash.String(x.seed, text)}
}

// of are the keys of a match's globs. stays is set for a match that is there for every
// call, and not unpacked for one.
func (x *globKeys) of(m *Match, stays bool, pl *pathglob.Place) []globKey {
	at := foldedMatch{m, x.fold}
	if stays {
		if keys := x.shared.ofMatch(at); keys != nil {
			return keys
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return kept(&x.done, m, func() []globKey {
		keys := make([]globKey, len(m.Paths))
		for k, g := range m.Paths {
			keys[k] = x.glob(g, pl)
		}
		if stays {
			x.shared.keep(at, keys)
		}
		return keys
	})
}

// plainPaths are the segments of the paths that the call names without a pattern and not
// as a whole folder.
func (c *call) plainPaths() *segments {
	if c.segments != nil {
		return c.segments
	}
	paths := 0
	for i := range c.ev.Call.Parts {
		paths += len(c.ev.Call.Parts[i].Access)
	}
	out, before, pl := newSegments(paths), "", c.at()
	add := func(name string) { out.add(c.d.keys.key(name)) }
	for i := range c.ev.Call.Parts {
		for k := range c.ev.Call.Parts[i].Access {
			a := &c.ev.Call.Parts[i].Access[k]
			if a.Glob || a.Recursive {
				out.all = false
				continue
			}
			for _, p := range pathglob.Paths(a) {
				p = pl.Folded(p)
				folder, name := p[:strings.LastIndexByte(p, '/')+1], p[strings.LastIndexByte(p, '/')+1:]
				if add(name); folder != before {
					for s := range strings.SplitSeq(folder, "/") {
						add(s)
					}
					before = folder
				}
			}
		}
	}
	c.segments = out
	return out
}

// segments is a set of names of which it is known which ones it does not have: a bit for
// each, where other names may have theirs. all is set where every access of the call is
// in it.
type segments struct {
	bits []uint32
	all  bool
}

// newSegments is a set that is large enough for the names of so many paths.
func newSegments(paths int) *segments {
	return &segments{make([]uint32, max(32, min(paths, 1<<12))), true}
}

func (s *segments) place(hash uint64) (word uint64, bit uint32) {
	return hash >> 5 % uint64(len(s.bits)), 1 << (hash & 31)
}

func (s *segments) add(k globKey) {
	word, bit := s.place(k.hash)
	s.bits[word] |= bit
}

// mayHave reports whether a path may have a key. One that says nothing every path may
// have.
func (s *segments) mayHave(k globKey) bool {
	word, bit := s.place(k.hash)
	return k.text == "" || s.bits[word]&bit != 0
}

// namesOf are the accesses of a part as they are held against globs, not set as long as
// they are not.
func (c *call) namesOf(p *cardea.Part) []pathglob.Named {
	return kept(&c.named, p, func() []pathglob.Named { return make([]pathglob.Named, len(p.Access)) })
}

// name is the k-th access of a part as it is held against globs.
func (c *call) name(names []pathglob.Named, a *cardea.Access, k int) *pathglob.Named {
	if pl := c.at(); !names[k].In(pl) {
		names[k].Set(pl, a)
	}
	return &names[k]
}

// flows reports whether part i is an end of a flow of one of the kinds.
func (c *call) flows(kinds []string, i int) bool {
	return slices.ContainsFunc(c.ev.Call.Flows, func(f cardea.Flow) bool { return (f.From == i || f.To == i) && oneOf(kinds, f.Kind) })
}

// onField is fieldHolds, asked once for a call however many parts it has: what
// a field holds is the same for all of them, and a line of thousands of parts
// must not be read thousands of times.
func (c *call) onField(m *Match) bool {
	return kept(&c.fields, m, func() bool { return c.fieldHolds(m) })
}

// fieldHolds reports whether the field is there and, with a pattern, one of
// its values matches. The values that a duplicate key brings count, too.
func (c *call) fieldHolds(m *Match) bool {
	for _, v := range fieldValues(c.ev.Call, m.Field, true) {
		if text := valueText(v); (m.Pattern == "" || c.finds(m, text)) && (m.UnlessText == "" || !c.matches(whole(m.UnlessText), text)) {
			return true
		}
	}
	return false
}

// finds reports whether the pattern is found in a text. A text that lacks what
// every match of the pattern contains is not worth compiling it for.
func (c *call) finds(m *Match, text string) bool {
	return (len(m.Needs) == 0 || slices.ContainsFunc(m.Needs, c.searched(text).contains)) && c.matches(insensitive(m.Pattern), text)
}

// searched is a text in which many patterns are looked for. The last one is kept, since
// all rules ask about the same field one after the other.
func (c *call) searched(text string) *searched {
	if c.search == nil || c.search.text != text {
		c.search = newSearched(text)
	}
	return c.search
}

// opaqueCall reports whether the match is about opaque spots alone and the
// call has some that belong to no part.
func (c *call) opaqueCall(m *Match) bool {
	alone := m.Opaque && !m.Outside && !m.HoldsKey && !m.Redirection && !m.UnknownPath && len(m.Command)+len(m.Flags)+len(m.Args)+len(m.Paths)+len(m.Access)+len(m.Hosts)+
		len(m.Flows)+len(m.Env)+len(m.StartedBy)+len(m.Unless)+len(m.UnlessCommand)+len(m.Own)+len(m.Any) == 0 && m.Pattern == "" && m.Field == ""
	return alone && len(c.ev.Call.Opaque)+len(c.ev.Faults) > 0 && (len(m.Roles) == 0 || oneOf(m.Roles, c.ev.Role))
}

func oneOf(globs []string, name string) bool {
	return name != "" && slices.ContainsFunc(globs, func(g string) bool { return paths.MatchName(g, name) })
}
