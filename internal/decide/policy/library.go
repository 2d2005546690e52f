package policy

import (
	"slices"
	"strings"
	"sync"
	"time"

	"cardea.dev/internal/decide/policy/rego"
	"cardea.dev/internal/document"
)

// Library holds what is known of folders of policies. A process that judges
// many calls keeps one, so that nothing is read or compiled twice; it may be
// used by many goroutines.
type Library struct {
	// Cache keeps indexes between processes; nil keeps none.
	Cache Cache
	// Recheck is how long a look at a folder counts. Zero looks at every call.
	Recheck time.Duration
	// Tool gives the canonical name for a harness's word for a tool.
	Tool func(word string) (string, bool)

	mu   sync.Mutex
	sets map[string]*set
}

// Cache keeps texts that it believes only if it wrote them itself.
type Cache interface {
	// Load gives the text under a name, "" where there is none.
	Load(name string) string
	// Keep notes a text that is to be written when the verdict stands.
	Keep(name, text string)
}

// set is a folder of policies at one time.
type set struct {
	folder   Folder
	entries  []entry
	looked   time.Time
	problems []document.Problem
	// unread are files that there was no time for.
	unread int

	mu       sync.Mutex
	routes   map[routeKey]*selection
	programs map[string]*program
	// idleNotes are made once, empty where there are none.
	idleNotes []string
	modules   map[string]*rego.Module // parsed while the index was made
}

// program is the selected files of a set, compiled.
type program struct {
	*rego.Program
	// broken are the files that are left out, with why.
	broken map[string]string
	// texts are the files as they were compiled.
	texts map[string]string
}

// open gives the set of a folder as it is now. Files for which there is no time
// before the deadline stay unread, and are read at the next call.
func (l *Library) open(f Folder, deadline time.Time) *set {
	now := time.Now()
	l.mu.Lock()
	old := l.sets[f.Dir]
	l.mu.Unlock()
	if old != nil && old.unread == 0 && now.Sub(old.looked) < l.Recheck {
		return old
	}
	files, problem := f.files(now.UnixNano())
	if old != nil && problem == nil && old.same(files) {
		old.mu.Lock()
		old.looked = now
		old.mu.Unlock()
		return old
	}
	s := l.read(f, files, old, deadline)
	s.looked = now
	if problem != nil {
		s.problems = append(s.problems, *problem)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sets == nil {
		l.sets = map[string]*set{}
	}
	l.sets[f.Dir] = s
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
func (l *Library) read(f Folder, files []file, old *set, deadline time.Time) *set {
	s := &set{folder: f, entries: make([]entry, 0, len(files)), routes: map[routeKey]*selection{},
		programs: map[string]*program{}, modules: map[string]*rego.Module{}}
	known := l.known(f, old)
	news := false
	left := int64(maxProject)
	for _, at := range files {
		left -= at.size
		switch e, was := known[at.path]; {
		case at.wrong != "":
			s.entries = append(s.entries, entry{file: at, broken: at.path + ": " + at.wrong, lost: true})
		case f.Inside != "" && left < 0:
			s.entries = append(s.entries, entry{file: at, broken: at.path + ": is not read: the policies of the project are too large together", lost: true})
		case was && !at.fresh && e.stamp == at.stamp:
			s.entries = append(s.entries, entry{file: at, facts: e.facts, broken: e.broken, lost: e.lost})
		case time.Now().After(deadline):
			s.unread++
			s.entries = append(s.entries, entry{file: at, lost: true, broken: at.path + ": there was no time to read it; it is read at one of the next calls"})
			s.entries[len(s.entries)-1].fresh = true
		default:
			news = true
			s.entries = append(s.entries, s.parse(at))
		}
	}
	if (news || len(known) != len(s.entries)) && l.Cache != nil {
		l.Cache.Keep(cacheName(f), encode(s.entries))
	}
	return s
}

// known are the entries from before.
func (l *Library) known(f Folder, old *set) map[string]*entry {
	if old != nil {
		out := make(map[string]*entry, len(old.entries))
		for i := range old.entries {
			if !old.entries[i].fresh {
				out[old.entries[i].path] = &old.entries[i]
			}
		}
		return out
	}
	if l.Cache == nil {
		return nil
	}
	return decode(l.Cache.Load(cacheName(f)))
}

func (s *set) parse(at file) entry {
	text, err := s.folder.read(at.path)
	if err != nil {
		return entry{file: at, broken: at.path + ": cannot be read: " + plain(err), lost: true}
	}
	e, m := parse(at, text)
	if m != nil {
		m.Path = at.path
		s.modules[at.path] = m
	}
	return e
}

// maxPrograms bounds what a set keeps compiled. Which files are routed depends
// on events and tools, and a session has few of them.
const maxPrograms = 256

// compile gives the program of the files that are selected, and what they refer
// to.
func (s *set) compile(f Folder, sel *selection) *program {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sel.key() + strings.Join(f.Extra, " ")
	if p := s.programs[key]; p != nil {
		return p
	}
	if len(s.programs) >= maxPrograms {
		clear(s.programs)
	}
	p := s.build(f, sel.files(s))
	s.programs[key] = p
	return p
}

// build compiles files together. What is parsed here and what the index knows
// are two looks at a file, between which it may change: one that is not as the
// index says counts as broken, which asks, and the next call reads it anew.
func (s *set) build(f Folder, which []int) *program {
	p := &program{broken: map[string]string{}, texts: map[string]string{}}
	var modules []*rego.Module
	for _, i := range which {
		e := &s.entries[i]
		if e.broken != "" {
			p.broken[e.path] = e.broken
			continue
		}
		text, err := f.read(e.path)
		if err != nil {
			p.broken[e.path] = e.path + ": cannot be read: " + plain(err)
			continue
		}
		m, err := s.module(e, text)
		if err != nil {
			p.broken[e.path] = err.Error()
			continue
		}
		p.texts[e.path] = text
		modules = append(modules, m)
	}
	compiled, out := rego.Compile(modules, rego.Options{Extra: f.Extra})
	p.Program = compiled
	for path, problems := range out {
		p.broken[path] = problems.Error()
	}
	return p
}

// module parses a file whose facts are known.
func (s *set) module(e *entry, text string) (*rego.Module, error) {
	if m := s.modules[e.path]; m != nil {
		delete(s.modules, e.path)
		return m, nil
	}
	return rego.Reparse(e.path, text, e.facts)
}
