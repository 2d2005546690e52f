package rules

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"cardea.dev"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge/files"
	"cardea.dev/internal/command/pathglob"
)

// This file has the broad reading of parts, for rules that tighten or give advice: the
// agent chooses the spelling of a command.

// holdsForCall reports whether a match holds for the call as a whole. Conditions on parts
// must hold on one part.
func (c *evaluation) holdsForCall(m *Match) bool {
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

// holds reports whether all conditions hold on part i, or on the call if i is
// [cardea.WholeCall]. after is the number of words of the part that belong to the command.
// Cheap conditions come first, so that most rules stop at the command.
func (c *evaluation) holds(m *Match, i, after int) bool { return c.holdsAmong(m, i, after, everyAny) }

// holdsAmong is like holds, but tries only the alternatives in among.
func (c *evaluation) holdsAmong(m *Match, i, after int, among anySet) bool {
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
		if c.ev.Call.OnlyPotential && m.Any[j].namesField() && !m.Any[j].aboutPart() {
			continue // a condition on the call, which was decided before
		}
		touched := c.touched
		if among.has(j) && c.holds(&m.Any[j], i, after) {
			return true
		}
		c.touched = touched
	}
	return len(m.Any) == 0
}

// programs returns the program bits of part i, computed once for all rules.
func (c *evaluation) programs(i int) uint64 {
	if c.bits == nil {
		c.bits = make([]uint64, len(c.ev.Call.Parts))
	}
	if c.bits[i] == 0 {
		c.bits[i] = bits(&c.ev.Call.Parts[i])
	}
	return c.bits[i]
}

// holdsOnPart reports whether all conditions on parts hold on part i, which is p.
func (c *evaluation) holdsOnPart(m *Match, p *cardea.Part, i, after int) bool {
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
		len(m.Unless) > 0 && excepted(m.Unless, p), // late, since it checks every word
		m.Pattern != "" && m.Field == "" && !slices.ContainsFunc(c.textsFor(i), func(text string) bool { return c.finds(m, text) }):
		return false
	}
	return true
}

// startedBy reports whether one of the expressions matches a command that starts a part.
func (c *evaluation) startedBy(exprs []string, p *cardea.Part) bool {
	return slices.ContainsFunc(p.Outer, func(o cardea.Outer) bool {
		return slices.ContainsFunc(exprs, func(expr string) bool { return c.matches(expr, o.Text) })
	})
}

// aboutAccess reports whether a match has conditions on accesses.
func (m *Match) aboutAccess() bool {
	return m.Outside || m.HoldsKey || m.Redirection || m.UnknownPath || len(m.Paths)+len(m.Access)+len(m.Hosts)+len(m.Own) > 0
}

// hasFlag reports whether the part has one of the flags: --flag with any value, --flag=a|b
// with one of the values, --flag!=a|b with another value.
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

// isFlag reports whether an option is the flag or an abbreviation of it, as getopt and git
// accept it. One letter may be enough.
func isFlag(flag string, o *cardea.Option) bool {
	return o.Name == flag ||
		len(o.Name) >= len("--a") && len(o.Name) < len(flag) && strings.HasPrefix(flag, "--") && strings.HasPrefix(flag, o.Name)
}

// cluster reports whether all letters of a flag such as -rf are given, in any words.
func cluster(flag string, p *cardea.Part) bool {
	if len(flag) != 3 || flag[0] != '-' || flag[1] == '-' {
		return false
	}
	return !strings.ContainsFunc(flag[1:], func(letter rune) bool {
		return !slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return o.Name == "-"+string(letter) })
	})
}

// spelled reports whether a long option with one dash (-delete, -auto-approve) is a word of
// the part. The analysis may have read it as a cluster of letters. The value of another
// option is no match.
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

// argHolds reports whether an operand after the command matches one of the expressions.
func (c *evaluation) argHolds(args []string, p *cardea.Part, after int) bool {
	for k := after; k < words(p); k++ {
		text, static := word(p, k)
		for _, a := range args {
			// A word that is unknown before the line runs is compared as written, and also
			// without quotes, since the shell removes them.
			if c.fits(a, text) || !static && c.fits(a, unquoted(text)) {
				return true
			}
		}
	}
	return false
}

// fits reports whether an expression matches an operand.
func (c *evaluation) fits(expr, operand string) bool {
	if is, same := choice(expr, operand); is {
		return same
	}
	return c.matches(expr, operand)
}

// unquoted returns a text without quotes and backslashes.
func unquoted(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '"' || r == '\'' || r == '\\' {
			return -1
		}
		return r
	}, s)
}

// accessHolds reports whether path, access and host hold on one access. Paths of another
// machine do not match.
func (c *evaluation) accessHolds(m *Match, p *cardea.Part) bool {
	if c.touchesNone(m) {
		return false
	}
	var names []pathglob.Named
	var look *look // made by the first access that needs it
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
			m.UnknownPath && (c.ev.Call.OnlyPotential || p.Remote && !a.Redirect || a.Path != "" || a.Host != ""), // any potential effect may touch some file
			c.coveredBy(m.UnlessPaths, a):
			continue
		}
		c.touched = cmp.Or(c.touched, a)
		return true
	}
	return false
}

// outside reports whether a path is certainly outside of the work, of temporary folders and
// of caches.
func (c *evaluation) outside(a *cardea.Access) bool {
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

// touches reports whether one of the path globs of a match matches an access.
func (c *evaluation) touches(m *Match, look *look, n *pathglob.Named) bool {
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
		return g.Touches(n) && (!m.UnlessSearch || g.IsNamedBy(n, c.ev.Call.OnlyPotential))
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

// look holds the results of a quick check of a match's globs: their keys, and the globs
// that may match one of the call's plain paths.
type look struct {
	keys  []globKey
	plain []int
	// own are the globs of the gate's own files, ownPlain those that may match one of the
	// call's plain paths.
	own, ownPlain []*pathglob.Glob
}

// lookOf checks the globs of a match once for a call. A line may name thousands of paths,
// and few of hundreds of globs match one of them.
func (c *evaluation) lookOf(m *Match) *look {
	return cached(&c.looks, m, func() *look { return c.newLook(m) })
}

// newLook returns the value that lookOf stores.
func (c *evaluation) newLook(m *Match) *look {
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

// touchesNone reports whether a match about paths certainly holds on no access: the call
// names only plain paths, and no glob may match one of them. This is true of nearly every
// match and call, so it allocates nothing.
func (c *evaluation) touchesNone(m *Match) bool {
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

// globKey is the key of a glob, with its hash.
type globKey struct {
	text string
	hash uint64
}

// globKeys holds the keys of the globs of matches, which are the same for every call.
type globKeys struct {
	// shared is the cache of other deciders, or nil.
	shared *Keys
	fold   bool // whether paths are compared without regard to case
	once   sync.Once
	seed   maphash.Seed
	mu     sync.Mutex
	done   map[*Match][]globKey
}

// Keys caches the keys of globs by text, and the compiled expressions of built-in rules,
// for a process that makes many deciders.
type Keys struct {
	seed maphash.Seed
	mu   sync.RWMutex
	done map[foldedGlob]globKey
	// of holds the keys of whole matches. Its keys hold the match, so no other match can
	// get the same address.
	of map[foldedMatch][]globKey
	// expr are the expressions of such matches. Expressions of users may be large, and are
	// dropped with their decider.
	expr expressions
	// globs are the absolute globs of such matches, things those of the gate's own files.
	globs  map[placed]*pathglob.Glob
	things map[placed][2]*pathglob.Glob
	// kinds holds the rules that may hold on each kind of part.
	kinds map[string]*kindReach
}

// placed is a text and the place to which it is relative.
type placed struct {
	text, home, project string
	fold                bool
}

func placedAt(pl *pathglob.Base, text string) placed {
	return placed{text, pl.HomeDir, pl.Project, pl.Folds()}
}

// maxPlaced is the most globs stored for all places. When it is reached, all are dropped.
const maxPlaced = 8 << 10

// glob returns a glob of a match that is the same for every call. A nil x makes a new one
// each time.
func (x *Keys) glob(pl *pathglob.Base, text string) *pathglob.Glob {
	if x == nil {
		return pl.Glob(text)
	}
	return cachedAt(x, &x.globs, placedAt(pl, text), func() *pathglob.Glob { return pl.Glob(text) })
}

// thing returns the globs for one of the gate's own files, and for everything below it.
func (x *Keys) thing(pl *pathglob.Base, path string) [2]*pathglob.Glob {
	made := func() [2]*pathglob.Glob { g := pl.Thing(path); return [2]*pathglob.Glob{g, g.Contents()} }
	if x == nil {
		return made()
	}
	return cachedAt(x, &x.things, placed{text: path, fold: pl.Folds()}, made)
}

// cachedAt returns the value stored for a text at a place. A missing value is made and
// stored. It clears the map at maxPlaced entries.
func cachedAt[T any](x *Keys, cached *map[placed]T, at placed, made func() T) T {
	x.mu.RLock()
	g, known := (*cached)[at]
	x.mu.RUnlock()
	if known {
		return g
	}
	g = made()
	x.mu.Lock()
	defer x.mu.Unlock()
	if *cached == nil || len(*cached) >= maxPlaced {
		*cached = map[placed]T{}
	}
	(*cached)[at] = g
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

// maxKeys is the most globs in the cache, maxMatches the most matches.
const maxKeys, maxMatches = 16 << 10, 1 << 10

// NewKeys returns an empty cache.
func NewKeys() *Keys {
	return &Keys{seed: maphash.MakeSeed(), done: map[foldedGlob]globKey{}, of: map[foldedMatch][]globKey{}}
}

// ofMatch returns the keys of a match that is the same for every call, nil if unknown.
func (x *Keys) ofMatch(at foldedMatch) []globKey {
	if x == nil {
		return nil
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.of[at]
}

// keep stores the keys of such a match.
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

// glob returns the key of a glob.
func (x *globKeys) glob(g string, pl *pathglob.Base) globKey {
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

// key returns a key with its hash.
func (x *globKeys) key(text string) globKey {
	x.once.Do(func() {
		if x.seed = maphash.MakeSeed(); x.shared != nil {
			x.seed = x.shared.seed
		}
	})
	return globKey{text, maphash.String(x.seed, text)}
}

// of returns the keys of a match's globs. stays is set if the match is the same for every
// call, and not unpacked for one.
func (x *globKeys) of(m *Match, stays bool, pl *pathglob.Base) []globKey {
	at := foldedMatch{m, x.fold}
	if stays {
		if keys := x.shared.ofMatch(at); keys != nil {
			return keys
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return cached(&x.done, m, func() []globKey {
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

// plainPaths returns the segments of the call's plain paths: not those of a pattern or a
// recursive access.
func (c *evaluation) plainPaths() *segments {
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

// segments is a set of names that may report false positives: each name has a bit that it
// shares with others. all is set if it includes every access of the call.
type segments struct {
	bits []uint32
	all  bool
}

// newSegments returns a set for the names of the given number of paths.
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

// mayHave reports whether a path may have a key. An empty key matches every path.
func (s *segments) mayHave(k globKey) bool {
	word, bit := s.place(k.hash)
	return k.text == "" || s.bits[word]&bit != 0
}

// namesOf returns room for the accesses of a part in the form that globs compare. name
// fills it.
func (c *evaluation) namesOf(p *cardea.Part) []pathglob.Named {
	return cached(&c.named, p, func() []pathglob.Named { return make([]pathglob.Named, len(p.Access)) })
}

// name returns the k-th access of a part in the form that globs compare.
func (c *evaluation) name(names []pathglob.Named, a *cardea.Access, k int) *pathglob.Named {
	if pl := c.at(); !names[k].In(pl) {
		names[k].Set(pl, a)
	}
	return &names[k]
}

// flows reports whether part i is an end of a flow of one of the kinds.
func (c *evaluation) flows(kinds []string, i int) bool {
	return slices.ContainsFunc(c.ev.Call.Flows, func(f cardea.Flow) bool { return (f.From == i || f.To == i) && oneOf(kinds, f.Kind) })
}

// onField returns fieldHolds, evaluated once for each match and call. A line of thousands
// of parts must not be read thousands of times.
func (c *evaluation) onField(m *Match) bool {
	return cached(&c.fields, m, func() bool { return c.fieldHolds(m) })
}

// fieldHolds reports whether the field exists and, with a pattern, one of its values
// matches. The values of duplicate keys also match.
func (c *evaluation) fieldHolds(m *Match) bool {
	for _, v := range fieldValues(c.ev.Call, m.Field, true) {
		if text := valueText(v); (m.Pattern == "" || c.finds(m, text)) && (m.UnlessText == "" || !c.matches(whole(m.UnlessText), text)) {
			return true
		}
	}
	return false
}

// finds reports whether the pattern matches in a text. It compiles the pattern only if the
// text contains one of the texts that a match needs.
func (c *evaluation) finds(m *Match, text string) bool {
	return (len(m.Needs) == 0 || slices.ContainsFunc(m.Needs, c.searched(text).contains)) && c.matches(insensitive(m.Pattern), text)
}

// searched prepares a text for searching with many patterns. It stores the last one, since
// consecutive rules search the same field.
func (c *evaluation) searched(text string) *searched {
	if c.search == nil || c.search.text != text {
		c.search = newSearched(text)
	}
	return c.search
}

// opaqueCall reports whether the match has no condition but opaque spots, and the call has
// some that belong to no part.
func (c *evaluation) opaqueCall(m *Match) bool {
	alone := m.Opaque && !m.Outside && !m.HoldsKey && !m.Redirection && !m.UnknownPath && len(m.Command)+len(m.Flags)+len(m.Args)+len(m.Paths)+len(m.Access)+len(m.Hosts)+
		len(m.Flows)+len(m.Env)+len(m.StartedBy)+len(m.Unless)+len(m.UnlessCommand)+len(m.Own)+len(m.Any) == 0 && m.Pattern == "" && m.Field == ""
	return alone && len(c.ev.Call.Opaque)+len(c.ev.Faults) > 0 && (len(m.Roles) == 0 || oneOf(m.Roles, c.ev.Role))
}

func oneOf(globs []string, name string) bool {
	return name != "" && slices.ContainsFunc(globs, func(g string) bool { return paths.MatchName(g, name) })
}
