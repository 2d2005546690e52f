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
	"cardea.dev/internal/decide/policy/engine"
)

// Library holds what is known of folders of policies. A process that judges
// many calls keeps one, so that nothing is read or compiled twice; it may be
// used by many goroutines.
type Library struct {
	// Engines compile and evaluate.
	Engines Engines
	// Cache keeps indexes between processes; nil keeps none.
	Cache Cache
	// Recheck is how long a look at a folder counts. Zero looks at every call.
	Recheck time.Duration
	// Tool gives the canonical name for a harness's word for a tool.
	Tool func(word string) (string, bool)

	// since is when the call began for which this is; looks that were made later
	// count. Zero is for who says it by Recheck.
	since time.Time
	shelf *shelf
	once  sync.Once
}

// shelf has the places of folders. Libraries of several calls share one.
type shelf struct {
	sync.Mutex
	slots map[string]*slot
}

// ForCall is the library for a call that begins now: it looks at each folder once.
func (l *Library) ForCall(now time.Time) *Library {
	return &Library{Engines: l.Engines, Cache: l.Cache, Tool: l.Tool, since: now, shelf: l.places()}
}

// places are those of the folders.
func (l *Library) places() *shelf {
	l.once.Do(func() {
		if l.shelf == nil {
			l.shelf = &shelf{slots: map[string]*slot{}}
		}
	})
	return l.shelf
}

// looked reports whether a look at a folder still counts.
func (l *Library) looked(at, now time.Time) bool {
	if !l.since.IsZero() {
		return at.After(l.since)
	}
	return now.Sub(at) < l.Recheck
}

// Engines are who compiles and evaluates policies.
type Engines struct {
	// Own is for those of the machine and the person, Project for those that
	// came with a project. They are two, so that what a project brings can end
	// its own engine, and not the one that the person's policies are heard by.
	Own, Project engine.Engine
}

// errNoEngine is met by a library that nobody gave an engine.
var errNoEngine = errors.New("policies cannot be evaluated here: there is no engine")

// of is the engine for a folder.
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

// slot is the place of a folder's set. Who opens it holds its lock, so that
// nothing is read twice at the same time.
type slot struct {
	sync.Mutex
	set *set
}

// slot gives the place of a folder.
func (l *Library) slot(dir string) *slot {
	all := l.places()
	all.Lock()
	defer all.Unlock()
	if all.slots[dir] == nil {
		if len(all.slots) >= maxSlots { // a process that judges many calls meets many folders
			clear(all.slots)
		}
		all.slots[dir] = &slot{}
	}
	return all.slots[dir]
}

// maxSlots bounds the folders that a library knows.
const maxSlots = 64

// warmFor is how long is read ahead: who needs a folder waits for who reads it.
const warmFor = time.Second

// Warm reads and compiles what is routed to an event, for who asks later. A
// process that judges one call does this while it reads everything else.
func (l *Library) Warm(ev *cardea.Event, f Folder) {
	// Who asks later meets the same failure, and tells it.
	defer func() { _ = recover() }()
	s := l.open(f, time.Now().Add(warmFor), ev)
	if sel := s.route(ev, l.Tool); len(sel.picks) > 0 {
		l.compile(s, f, sel, false)
	}
}

// Cache keeps texts that it believes only if it wrote them itself.
type Cache interface {
	// Load gives the text under a name that was made of something, "" where there is
	// none.
	Load(name string, of ...[]byte) string
	// Keep notes a text that is to be written when the verdict stands.
	Keep(name, text string, of ...[]byte)
}

// set is a folder of policies at one time.
type set struct {
	folder   Folder
	entries  []entry
	looked   time.Time
	problems []cardea.Diagnostic
	// checked are digests of files that were compiled together with all checks.
	checked []string
	// unread are files that there was no time for.
	unread int
	// failed is why they could not be parsed, where the engine does not work.
	failed error

	mu       sync.Mutex
	routes   map[routeKey]*selection
	programs map[string]*program
	// idleNotes are made once, empty where there are none.
	idleNotes cardea.Troubles
	texts     map[string]string // read while the index was made
}

// program is the selected files of a set, compiled.
type program struct {
	// Program is nil where there is nothing to compile, or nobody to do it.
	engine.Program
	// failed is why nobody can.
	failed error
	// unread are files that could not be read or parsed, with why.
	unread map[string]*cardea.Diagnostic
	// texts are the files as they were compiled.
	texts map[string]string
	// good is called when they compiled without mistakes, gone when they could
	// not be compiled at all.
	good, gone func()

	mu     sync.Mutex
	broken map[string]*cardea.Diagnostic // nil until it is known
}

// settle waits until the files are compiled, and gives those that are left out,
// with why.
func (p *program) settle(ctx context.Context) (map[string]*cardea.Diagnostic, error) {
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

// open gives the set of a folder as it is now. Files for which there is no time
// before the deadline stay unread, and are read at the next call. An event tells
// what the folder is opened ahead for; it may be nil.
func (l *Library) open(f Folder, deadline time.Time, ahead *cardea.Event) *set {
	now := time.Now()
	slot := l.slot(f.Dir)
	slot.Lock()
	defer slot.Unlock()
	old := slot.set
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
		slot.set = old
		return old
	}
	s := l.read(f, files, before, deadline)
	s.looked = now
	if problem != nil {
		s.problems = append(s.problems, *problem)
	}
	slot.set = s
	return s
}

// same reports whether files are those of the set.
func (s *set) same(files []file) bool {
	return s.unread == 0 && slices.EqualFunc(s.entries, files, func(e entry, f file) bool {
		return e.path == f.path && e.stamp == f.stamp && !f.fresh && !e.fresh
	})
}

// cacheName is the name of a folder's index.
func cacheName(f Folder) string { return "policies of " + f.Dir }

// read makes the set of a folder: from the index what is as it was, and from
// the files the rest.
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
			continue // what decides something comes first
		}
		left -= at.size
		switch e, was := known[at.path]; {
		case at.wrong != "":
			s.entries = append(s.entries, without(f, at, unreadable(at.path, cardea.CodeUnreadable, at.wrong)))
		case f.Inside != "" && left < 0:
			s.entries = append(s.entries, without(f, at, unreadable(at.path, cardea.CodeTooLarge, "is not read: the policies of the project are too large together")))
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

// readTests adds the files of tests, while there is time: they decide nothing, and a
// policy in one is told. It reports whether something new was learned.
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

// policyInTests tells of a policy in a file of tests.
func (l *Library) policyInTests(ctx context.Context, f Folder, at file) *cardea.Diagnostic {
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

// past is what was known of a folder before it was looked at.
type past struct {
	entries []entry
	checked []string
}

// known is what the last look told, or the index.
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

// guess is the set of a folder whose files are as the index says, with what is
// routed to an event in the engine's hands already: that is likely so, and
// looking at the files takes as long as a good part of the engine's start. It
// counts only once the files were looked at. It is nil where there is nothing to
// do ahead.
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

// newSet is the set of a folder without its entries.
func newSet(f Folder, before past) *set {
	return &set{folder: f, routes: map[routeKey]*selection{}, programs: map[string]*program{}, texts: map[string]string{}, checked: before.checked}
}

// unreadable is why nothing is known of a file.
func unreadable(path string, code cardea.Code, text string) *cardea.Diagnostic {
	return &cardea.Diagnostic{File: path, Code: code, Text: text}
}

// skip leaves a file for later.
func (s *set) skip(at file) {
	s.unread++
	at.fresh = true
	s.entries = append(s.entries, without(s.folder, at, unreadable(at.path, cardea.CodeOutOfTime, "there was no time to read it; it is read at one of the next calls")))
}

// parse reads a file and adds its entry. It reports false where nothing new was
// learned.
func (s *set) parse(ctx context.Context, engines Engines, at file) bool {
	text, err := s.folder.readWhole(&at)
	if err != nil {
		s.entries = append(s.entries, without(s.folder, at, unreadable(at.path, cardea.CodeUnreadable, "cannot be read: "+plain(err))))
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

// maxPrograms bounds what a set keeps compiled. Which files are routed depends
// on events and tools, and a session has few of them.
const maxPrograms = 256

// compile gives the program of the files that are selected, and what they refer
// to; prints is set where what they print is wanted. What an engine could not do is
// not remembered.
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

// build compiles files together. What is parsed here and what the index knows
// are two looks at a file, between which it may change: one that is not as the
// index says counts as broken, which asks, and the next call reads it anew.
func (l *Library) build(s *set, f Folder, which []int, prints bool) *program {
	p := &program{unread: map[string]*cardea.Diagnostic{}, texts: map[string]string{}, good: func() {}, gone: func() {}}
	var files []engine.Source
	for _, i := range which {
		e := &s.entries[i]
		if e.broken != nil {
			p.unread[e.path] = e.broken
			continue
		}
		text, err := s.text(f, e)
		if err != nil {
			p.unread[e.path] = unreadable(e.path, cardea.CodeUnreadable, "cannot be read: "+plain(err))
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

// checked notes that files compile together.
func (l *Library) checked(s *set, f Folder, digest string) {
	if l.Cache == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checked = append(s.checked[max(0, len(s.checked)-maxChecked+1):len(s.checked):len(s.checked)], digest)
	l.Cache.Keep(cacheName(f), encode(s.entries, s.checked))
}

// errWritten is met where a file changes while it is read.
var errWritten = errors.New("it is being written; it is read again at the next call")

// text is a file's: that which was parsed while the index was made, once, else
// what stands in it, if that is still what the index is about.
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

// maxChecked is how many digests of files that compile together are kept.
const maxChecked = 64

// digest names the content of files that are compiled together, "" where a stamp
// does not tell it; known reports whether they were compiled with all checks
// before.
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
