package policy

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/decide/policy/engine"
)

// Library caches folders of policies. A process that handles many calls keeps one, so that
// no file is read or compiled twice. It is safe for concurrent use.
type Library struct {
	// Engines compile and evaluate.
	Engines Engines
	// Cache stores indexes between processes. If nil, they are not stored.
	Cache Cache
	// Recheck is the time for which a listing of a folder stays valid. If zero, each call
	// lists it again.
	Recheck time.Duration
	// Tool returns the canonical name of a harness's tool.
	Tool func(word string) (string, bool)

	// since is the start of the call that this library is for; listings made later are
	// valid. If zero, Recheck decides.
	since time.Time
	shelf *shelf
	once  sync.Once
}

// shelf holds the cached sets of folders. Libraries of several calls share it.
type shelf struct {
	sync.Mutex
	placements map[string]*cachedSet
}

// ForCall returns the library for a call that begins now. It lists each folder once.
func (l *Library) ForCall(now time.Time) *Library {
	return &Library{Engines: l.Engines, Cache: l.Cache, Tool: l.Tool, since: now, shelf: l.places()}
}

// places returns the shelf of the library.
func (l *Library) places() *shelf {
	l.once.Do(func() {
		if l.shelf == nil {
			l.shelf = &shelf{placements: map[string]*cachedSet{}}
		}
	})
	return l.shelf
}

// looked reports whether a listing of a folder is still valid.
func (l *Library) looked(at, now time.Time) bool {
	if !l.since.IsZero() {
		return at.After(l.since)
	}
	return now.Sub(at) < l.Recheck
}

// Engines compile and evaluate policies.
type Engines struct {
	// Own is for policies of the machine and the person, Project for those of a project.
	// They are separate, so that a project can only crash its own engine, not that of the
	// person's policies.
	Own, Project engine.Engine
}

// errNoEngine is the error of a library without an engine.
var errNoEngine = errors.New("policies cannot be evaluated here: there is no engine")

// of returns the engine for a folder.
func (e Engines) of(f Folder) (engine.Engine, error) {
	out := e.Own
	if f.Scope == cardea.ScopeProject {
		out = e.Project
	}
	if out == nil {
		return nil, errNoEngine
	}
	return out, nil
}

// cachedSet holds the set of a folder. A caller locks it while it opens the folder, so that no
// file is read twice at the same time.
type cachedSet struct {
	sync.Mutex
	set *set
}

// cached returns the cached set of a folder.
func (l *Library) cached(dir string) *cachedSet {
	all := l.places()
	all.Lock()
	defer all.Unlock()
	if all.placements[dir] == nil {
		if len(all.placements) >= maxPlacements { // a process that handles many calls meets many folders
			clear(all.placements)
		}
		all.placements[dir] = &cachedSet{}
	}
	return all.placements[dir]
}

// maxPlacements is the most folders that a library stores.
const maxPlacements = 64

// warmFor is the time limit for reading ahead: a call that needs the folder waits for it.
const warmFor = time.Second

// Warm reads and compiles the policies routed to an event, for a later call. A process for
// one call does this while it reads everything else.
func (l *Library) Warm(ev *cardea.Event, f Folder) {
	// The later call meets the same failure and reports it.
	defer func() { _ = recover() }()
	s := l.open(f, time.Now().Add(warmFor), ev)
	if sel := s.route(ev, l.Tool); len(sel.picks) > 0 {
		l.compile(s, f, sel, false)
	}
}

// Cache stores texts, and trusts only those that it wrote itself.
type Cache interface {
	// Load returns the text stored under a name and the data that it was made from, or "".
	Load(name string, of ...[]byte) string
	// Keep records a text that is written after the verdict.
	Keep(name, text string, of ...[]byte)
}

// set is the state of a folder of policies at one time.
type set struct {
	folder   Folder
	entries  []entry
	looked   time.Time
	problems []diagnostic.Diagnostic
	// checked are digests of files that were compiled together with all checks.
	checked []string
	// unread is the number of files that were skipped for lack of time.
	unread int
	// failed is the engine's error if files could not be parsed.
	failed error

	mu       sync.Mutex
	routes   map[routeKey]*selection
	programs map[string]*program
	// idleNotes are made once, and are empty but not nil if there are no notes.
	idleNotes cardea.Issues
	texts     map[string]string // read while the index was made
}

// program is the compiled program of selected files of a set.
type program struct {
	// Program is nil if there is nothing to compile, or no engine.
	engine.Program
	// failed is the reason why there is no engine.
	failed error
	// unread are files that could not be read or parsed, with the reason.
	unread map[string]*diagnostic.Diagnostic
	// texts are the files as they were compiled.
	texts map[string]string
	// good is called when they compiled without mistakes, gone when they could not be
	// compiled.
	good, gone func()

	mu     sync.Mutex
	broken map[string]*diagnostic.Diagnostic // nil until it is known
}

// settle waits until the files are compiled, and returns those that are left out, with the
// reason.
func (p *program) settle(ctx context.Context) (map[string]*diagnostic.Diagnostic, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil || p.failed != nil {
		return p.broken, p.failed
	}
	broken := maps.Clone(p.unread)
	if p.Program != nil {
		out, err := p.Broken(ctx)
		if err != nil {
			p.gone()
			return nil, err
		}
		for path, problems := range out {
			broken[path] = &coded(engine.CodeCompile, problems)[0]
		}
	}
	if p.broken = broken; len(broken) == 0 {
		p.good()
	}
	return broken, nil
}

// open returns the current set of a folder. Files that it cannot read before the deadline
// stay unread until the next call. ahead is the event for which the folder is opened early,
// or nil.
func (l *Library) open(f Folder, deadline time.Time, ahead *cardea.Event) *set {
	now := time.Now()
	cached := l.cached(f.Dir)
	cached.Lock()
	defer cached.Unlock()
	old := cached.set
	if old != nil && old.unread == 0 && l.looked(old.looked, now) {
		return old
	}
	before := l.known(f, old)
	if old == nil {
		old = l.guess(f, before, ahead)
	}
	files, problem := f.settled(before, deadline)
	if old != nil && problem == nil && old.same(files) {
		old.looked = now
		cached.set = old
		return old
	}
	s := l.read(f, files, before, deadline)
	s.looked = now
	if problem != nil {
		s.problems = append(s.problems, *problem)
	}
	cached.set = s
	return s
}

// same reports whether files are those of the set.
func (s *set) same(files []file) bool {
	return s.unread == 0 && slices.EqualFunc(s.entries, files, func(e entry, f file) bool {
		return e.path == f.path && e.stamp == f.stamp && !f.fresh && !e.fresh
	})
}

// cacheName returns the name of a folder's index.
func cacheName(f Folder) string { return "policies of " + f.Dir }

// read makes the set of a folder: unchanged files from the index, all others from disk.
func (l *Library) read(f Folder, files []file, before past, deadline time.Time) *set {
	s := newSet(f, before)
	s.entries = make([]entry, 0, len(files))
	known := make(map[string]*entry, len(before.entries))
	for i := range before.entries {
		known[before.entries[i].path] = &before.entries[i]
	}
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	news := false
	left := int64(maxProject)
	for _, at := range files {
		if isTest(at.path) {
			continue // files that decide come first
		}
		left -= at.size
		switch e, was := known[at.path]; {
		case at.wrong != "":
			s.entries = append(s.entries, without(f, at, unreadable(at.path, diagnostic.CodeUnreadable, at.wrong)))
		case f.Inside != "" && left < 0:
			s.entries = append(s.entries, without(f, at, unreadable(at.path, diagnostic.CodeTooLarge, "is not read: the policies of the project are too large together")))
		case was && !at.fresh && e.stamp == at.stamp:
			s.entries = append(s.entries, entry{file: at, facts: e.facts, broken: e.broken, lost: e.lost, mistake: e.mistake})
		case s.failed != nil || !time.Now().Before(deadline):
			s.skip(at)
		default:
			news = s.parse(ctx, l.Engines, at) || news
		}
	}
	news = l.readTests(ctx, s, files, known) || news
	if (news || len(known) != len(s.entries)) && l.Cache != nil {
		l.Cache.Keep(cacheName(f), encode(s.entries, s.checked))
	}
	return s
}

// readTests adds the files of tests, while there is time. They decide nothing, and a policy
// in one is reported. It reports whether it found new facts.
func (l *Library) readTests(ctx context.Context, s *set, files []file, known map[string]*entry) (news bool) {
	for _, at := range files {
		if !isTest(at.path) {
			continue
		}
		e := entry{file: at}
		switch old, was := known[at.path]; {
		case at.wrong != "":
		case was && !at.fresh && old.stamp == at.stamp:
			e.mistake = old.mistake
		case s.failed != nil || ctx.Err() != nil:
			e.fresh = true // it is read later
		default:
			news = true
			e.mistake = l.policyInTests(ctx, s.folder, at)
		}
		s.entries = append(s.entries, e)
	}
	slices.SortFunc(s.entries, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	return news
}

// policyInTests returns a diagnostic if a file of tests holds a policy, or nil.
func (l *Library) policyInTests(ctx context.Context, f Folder, at file) *diagnostic.Diagnostic {
	text, err := f.read(at.path)
	if err != nil || !strings.Contains(text, "required_events") {
		return nil
	}
	parsed, err := parse(ctx, l.Engines, f, engine.Source{Path: at.path, Text: text})
	if err != nil || !Misplaced(at.path, &parsed.Facts) {
		return nil
	}
	return misplaced(at.path, parsed.Facts.Line)
}

// past is the known state of a folder before it is listed.
type past struct {
	entries []entry
	checked []string
}

// known returns the state from the last listing, or from the index.
func (l *Library) known(f Folder, old *set) past {
	if old != nil {
		keep := slices.DeleteFunc(slices.Clone(old.entries), func(e entry) bool { return e.fresh })
		return past{keep, old.checked}
	}
	if l.Cache == nil {
		return past{}
	}
	entries, checked := decode(l.Cache.Load(cacheName(f)))
	return past{entries, checked}
}

// guess returns a set as if all files were as the index says, and starts the engine on what
// is routed to an event. This is usually right, and listing the files takes as long as a
// good part of the engine's start. The set is valid only after the files were listed. It is
// nil if there is nothing to do ahead.
func (l *Library) guess(f Folder, before past, ev *cardea.Event) *set {
	if ev == nil || len(before.entries) == 0 {
		return nil
	}
	s := newSet(f, before)
	s.entries = before.entries
	sel := s.route(ev, l.Tool)
	if len(sel.picks) == 0 {
		return s
	}
	if e, err := l.Engines.of(f); err == nil {
		e.Wake()
	}
	l.compile(s, f, sel, false)
	return s
}

// newSet returns the set of a folder without entries.
func newSet(f Folder, before past) *set {
	return &set{folder: f, routes: map[routeKey]*selection{}, programs: map[string]*program{}, texts: map[string]string{}, checked: before.checked}
}

// unreadable returns the diagnostic for a file without known facts.
func unreadable(path string, code diagnostic.Code, text string) *diagnostic.Diagnostic {
	return &diagnostic.Diagnostic{File: path, Code: code, Text: text}
}

// skip leaves a file for later.
func (s *set) skip(at file) {
	s.unread++
	at.fresh = true
	s.entries = append(s.entries, without(s.folder, at, unreadable(at.path, diagnostic.CodeOutOfTime, "there was no time to read it; it is read at one of the next calls")))
}

// parse reads a file and adds its entry. It reports whether it found new facts.
func (s *set) parse(ctx context.Context, engines Engines, at file) bool {
	text, err := s.folder.readWhole(&at)
	if err != nil {
		s.entries = append(s.entries, without(s.folder, at, unreadable(at.path, diagnostic.CodeUnreadable, "cannot be read: "+plain(err))))
		return true
	}
	parsed, err := parse(ctx, engines, s.folder, s.folder.source(at.path, text))
	if err != nil {
		if !errors.Is(err, context.DeadlineExceeded) {
			s.failed = err
		}
		s.skip(at)
		return false
	}
	s.entries = append(s.entries, entryOf(at, parsed))
	s.texts[at.path] = text
	return true
}

// parse parses a file of a folder.
func parse(ctx context.Context, engines Engines, f Folder, file engine.Source) (engine.Parsed, error) {
	e, err := engines.of(f)
	if err != nil {
		return engine.Parsed{}, err
	}
	all, err := e.Parse(ctx, []engine.Source{file})
	if err != nil {
		return engine.Parsed{}, err
	}
	return all[0], nil
}

// maxPrograms is the most compiled programs of a set. The routed files depend on events and
// tools, and a session has few of them.
const maxPrograms = 256

// compile returns the program of the selected files and the files that they refer to.
// prints collects what they print. It does not store a program that the engine could not
// compile.
func (l *Library) compile(s *set, f Folder, sel *selection, prints bool) *program {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sel.key() + strings.Join(f.Extra, " ")
	if prints {
		key += " print"
	}
	if p := s.programs[key]; p != nil {
		return p
	}
	if len(s.programs) >= maxPrograms {
		clear(s.programs)
	}
	p := l.build(s, f, sel.files(s), prints)
	if p.failed != nil {
		return p
	}
	p.gone = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.programs[key] == p {
			delete(s.programs, key)
		}
	}
	s.programs[key] = p
	return p
}

// build compiles files together. A file may change after it was indexed and before it is
// read here. Such a file is treated as broken, which asks, and the next call reads it
// again.
func (l *Library) build(s *set, f Folder, which []int, prints bool) *program {
	p := &program{unread: map[string]*diagnostic.Diagnostic{}, texts: map[string]string{}, good: func() {}, gone: func() {}}
	var files []engine.Source
	for _, i := range which {
		e := &s.entries[i]
		if e.broken != nil {
			p.unread[e.path] = e.broken
			continue
		}
		text, err := s.text(f, e)
		if err != nil {
			p.unread[e.path] = unreadable(e.path, diagnostic.CodeUnreadable, "cannot be read: "+plain(err))
			continue
		}
		p.texts[e.path] = text
		files = append(files, f.source(e.path, text))
	}
	if len(files) == 0 {
		return p
	}
	e, err := l.Engines.of(f)
	if err != nil {
		p.failed = err
		return p
	}
	digest, known := s.digest(f, which)
	if !known && digest != "" {
		p.good = func() { l.checked(s, f, digest) }
	}
	p.Program = e.Compile(files, engine.Options{Extra: f.Extra, Checked: known, Print: prints})
	return p
}

// checked records that files compile together.
func (l *Library) checked(s *set, f Folder, digest string) {
	if l.Cache == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checked = append(s.checked[max(0, len(s.checked)-maxChecked+1):len(s.checked):len(s.checked)], digest)
	l.Cache.Keep(cacheName(f), encode(s.entries, s.checked))
}

// errWritten is the error for a file that changes while it is read.
var errWritten = errors.New("it is being written; it is read again at the next call")

// text returns the text of a file: the one parsed for the index, once, else that of the
// file if it is still the indexed one.
func (s *set) text(f Folder, e *entry) (string, error) {
	if text, there := s.texts[e.path]; there {
		delete(s.texts, e.path)
		return text, nil
	}
	text, err := f.read(e.path)
	if err == nil && f.stampOf(e.path) != e.stamp {
		err = errWritten
	}
	return text, err
}

// maxChecked is the most digests of compiled files that are stored.
const maxChecked = 64

// digest returns a name for the content of files compiled together, "" if a stamp does not
// identify it. known reports whether they were compiled before with all checks.
func (s *set) digest(f Folder, which []int) (name string, known bool) {
	var b strings.Builder
	b.WriteString(strings.Join(f.Extra, " "))
	for _, i := range which {
		if s.entries[i].fresh {
			return "", false
		}
		b.WriteString("\n" + s.entries[i].path + " " + s.entries[i].stamp)
	}
	name = digest(b.String())
	return name, slices.Contains(s.checked, name)
}
