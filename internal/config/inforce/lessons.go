package inforce

import (
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/decide/exact"
	"cardea.dev/internal/decide/near"
	"cardea.dev/internal/decide/policy/remote"
	"cardea.dev/internal/memory/lesson"
	"cardea.dev/internal/memory/meaning"
	"cardea.dev/internal/memory/shape"
)

// lessonsRead holds the lessons that were read.
type lessonsRead struct {
	once, keyOnce sync.Once
	key           []byte
	sources       []lesson.Source
	nearby        map[string]*lesson.Store // by project
	issues        cardea.Issues
}

// lessonFolder is a folder with lessons, and which of them apply.
type lessonFolder struct {
	folder
	// shared is set if others can write to it, as in a project. own is set for the folder of a
	// project that is the user's alone.
	shared, own bool
}

// lessonFolders returns the folders of all scopes that may have lessons, strongest first.
func (l *Loaded) lessonFolders() []lessonFolder {
	out := lists.Of(l.folders(), func(at folder) lessonFolder { return lessonFolder{folder: at, shared: at.scope == cardea.ScopeProject} })
	if at := l.project(); at.dir != "" {
		at.dir, at.scope = filepath.Join(at.dir, "local"), cardea.ScopeUser
		out = append(out, lessonFolder{folder: at, shared: true, own: true})
	}
	return slices.DeleteFunc(out, l.leadsElsewhere)
}

// leadsElsewhere reports whether a folder of a project is a link. A clone can contain a
// link to another project, whose lessons would then also apply here.
func (l *Loaded) leadsElsewhere(at lessonFolder) bool {
	if !at.shared || at.dir == "" {
		return false
	}
	inside, err := filepath.Rel(l.Where.Project, at.dir)
	return err != nil || l.links.Real(at.dir) != filepath.Join(l.links.Real(l.Where.Project), inside)
}

// LessonPlace is a scope's folder for lessons, from [Loaded.LessonPlaces].
type LessonPlace struct {
	lesson.ScopeFolder
	// Local is set for the folder of the project that is the user's alone.
	Local bool
	// Allows is set if lessons that allow apply.
	Allows bool
}

// LessonPlaces returns the places of lessons of all scopes, strongest first, including
// empty ones.
func (l *Loaded) LessonPlaces() []LessonPlace {
	known := lists.Where(l.lessonFolders(), func(at lessonFolder) bool { return at.dir != "" })
	return lists.Of(known, func(at lessonFolder) LessonPlace {
		return LessonPlace{ScopeFolder: l.lessonPlace(at), Local: at.own, Allows: l.lessonsAllow(at)}
	})
}

// lessonsAllow reports whether lessons of a folder that allow apply. In a shared folder,
// each must also be the user's own.
func (l *Loaded) lessonsAllow(at lessonFolder) bool {
	return !at.tightens && (at.own || at.scope != cardea.ScopeProject || l.Where.Trusted())
}

// lessonPlace returns how package lesson reads and writes a folder.
func (l *Loaded) lessonPlace(at lessonFolder) lesson.ScopeFolder {
	source := project.Source(at.shared)
	beside := map[string]string{}
	switch {
	case at.own:
		beside[".gitignore"] = "*\n"
	case at.shared:
		beside[".gitattributes"] = LessonAttributes
	}
	return lesson.ScopeFolder{Beside: beside, Dir: l.links.Real(at.dir), Scope: at.scope, Shared: at.shared, State: l.Where.State, Cache: l.Where.Dirs.Cache, Key: l.lessonKey(),
		LastGood: func(path string) []byte { return l.cached.Form(path, source) },
		Note: func(path, text string, when time.Time) {
			if len(text) <= maxNoted {
				l.cached.Note(path, source, []byte(text), when)
			}
		}}
}

// LessonAttributes is the .gitattributes of a project's folder.
const LessonAttributes = "# two branches that both learn merge without a conflict, see docs/lessons.md of Cardea\nlessons/*.jsonl merge=union\n"

// maxNoted is the maximum size of a lessons file whose last good form is stored, in bytes.
const maxNoted = 1 << 20

// lessonKey returns the user's key, nil if none exists.
func (l *Loaded) lessonKey() []byte {
	l.lessonsRead.keyOnce.Do(func() { l.lessonsRead.key, _ = state.ReadKey(l.Where.State) })
	return l.lessonsRead.key
}

// Lessons returns the lessons of all scopes that apply in this place, and the issues with
// their files. They are read on first use.
func (l *Loaded) Lessons() ([]lesson.Source, cardea.Issues) {
	l.lessonsRead.once.Do(func() {
		var keyer *lesson.Keyer
		for _, at := range l.lessonFolders() {
			if at.dir == "" || l.absent.Folder(lesson.Folder(at.dir)) {
				continue
			}
			if p := l.doubt(lesson.Folder(at.dir), at.folder); p != nil {
				l.lessonsRead.issues = append(l.lessonsRead.issues, issueOf(p[0], true, false))
				continue
			}
			store := lesson.Open(l.lessonPlace(at))
			if store == nil {
				continue
			}
			if keyer == nil {
				keyer = l.LessonKeyer()
			}
			l.lessonsRead.sources = append(l.lessonsRead.sources, lesson.Source{Store: store, Keyer: keyer, Allows: l.lessonsAllow(at), Trusted: at.scope != cardea.ScopeProject || l.Where.Trusted()})
			for _, t := range store.Issues() {
				if at.shared {
					t.Diagnostic = t.Diagnostic.Withheld()
				}
				l.lessonsRead.issues = addOnce(l.lessonsRead.issues, t)
			}
		}
	})
	return l.lessonsRead.sources, l.lessonsRead.issues.First(maxIssues, "cardea rules lint")
}

// LessonKeyer returns the maker of keys for calls in this place.
func (l *Loaded) LessonKeyer() *lesson.Keyer {
	return lesson.NewKeyer(l.redactor(), l.lessonKey(), l.Where.Project)
}

// LessonProblems returns the problems of the lessons files.
func (l *Loaded) LessonProblems() []diagnostic.Diagnostic {
	var out []diagnostic.Diagnostic
	for _, p := range l.LessonPlaces() {
		store := lesson.Open(p.ScopeFolder)
		out = append(out, lists.Of(store.Issues(), func(t cardea.Issue) diagnostic.Diagnostic { return t.Diagnostic })...)
		store.Close()
	}
	return out
}

// redactor returns the process's redactor, which keeps its compiled patterns.
func (l *Loaded) redactor() *redact.Redactor {
	if l.Callbacks.Redactor != nil {
		return l.Callbacks.Redactor
	}
	return redact.New()
}

// lessonsFor returns the lessons that apply to an event: those of this place, and the deny
// and ask lessons of the surrounding projects.
func (l *Loaded) lessonsFor(ev *cardea.Event) ([]lesson.Source, cardea.Issues) {
	sources, issues := l.Lessons()
	projects, _ := l.projectsNearby(ev) // the rules report too many projects
	for _, root := range projects {
		nearby := &Loaded{Where: Where{Project: root, State: l.Where.State, Dirs: project.Dirs{Cache: l.Where.Dirs.Cache}}}
		at := lessonFolder{folder: nearby.project(), shared: true}
		store := lesson.Open(nearby.lessonPlace(at))
		if store == nil {
			continue
		}
		sources = append(slices.Clip(sources), lesson.Source{Store: store, Keyer: lesson.NewKeyer(l.redactor(), l.lessonKey(), root)})
		if l.lessonsRead.nearby == nil {
			l.lessonsRead.nearby = map[string]*lesson.Store{}
		}
		l.lessonsRead.nearby[root] = store
		for _, t := range store.Issues() {
			t.Diagnostic = t.Diagnostic.Withheld()
			issues = addOnce(issues, t)
		}
	}
	return sources, issues
}

// LessonsDecider returns the decider of lessons for exactly the same call.
func (l *Loaded) LessonsDecider(now time.Time) exact.Decider {
	return exact.New(exact.Options{Sources: l.lessonsFor, Now: now, Judge: l.Callbacks.JudgeNow, JudgeLifts: l.Settings.Judge.AllowOpaque})
}

// NearDecider returns the decider of lessons for similar calls. analyse finds the parts of
// the calls that they are about.
func (l *Loaded) NearDecider(now time.Time, analyse func(*cardea.Event) *cardea.Event) near.Decider {
	r := l.redactor()
	return near.New(near.Options{Sources: l.lessonsFor, Finders: l.nearFinders(), Analyse: analyse, Now: now,
		System: shape.Lookups{Resolve: new(paths.Links).Resolve, Secret: func(text string) bool { return len(r.Find(text)) > 0 }}})
}

// isStale reports whether the index of a store of this place must be rebuilt.
func (l *Loaded) isStale(s *lesson.Store) bool {
	return s.NeedsBuild() || s.Lacks(l.nearWords().Section().Name)
}

// nearFinders returns the finders of lessons: by words, then by meaning.
func (l *Loaded) nearFinders() []near.Finder {
	out := []near.Finder{l.nearWords()}
	if l.Settings.Near.Embedding > 0 && l.Where.Program != "" {
		out = append(out, near.Meaning{Engine: &meaning.Engine{Find: l.findEngine,
			State: l.Where.State, Cache: l.Where.Dirs.Cache, Threshold: l.Settings.Near.Embedding, Embedder: l.embedder()}})
	}
	return out
}

// findEngine returns the path of the program that finds lessons by meaning.
func (l *Loaded) findEngine() (string, error) {
	if l.Where.FindEngine != nil {
		return l.Where.FindEngine()
	}
	return remote.Find(l.Where.Program)
}

// embedder returns the user's server for vectors, empty if none exists.
func (l *Loaded) embedder() meaning.Embedder {
	s := l.Settings.Near.Embedder
	e := meaning.Embedder{Kind: s.Kind, URL: s.URL, Model: s.Model}
	if s.KeyVariable != "" && l.Where.Env != nil {
		e.Key = l.Where.Env(s.KeyVariable)
	}
	return e
}

// nearWords returns the finder of lessons by words.
func (l *Loaded) nearWords() near.Words {
	return near.NewWords(l.Settings.Near.Jaccard, l.Settings.Near.MinTokens)
}

// StaleLessons returns the projects whose indexes of lessons were used and must be rebuilt.
// This place's project also stands for the lessons of the user.
func (l *Loaded) StaleLessons() (projects []string) {
	if slices.ContainsFunc(l.lessonsRead.sources, func(s lesson.Source) bool { return l.isStale(s.Store) }) {
		projects = append(projects, l.Where.Project)
	}
	for root, store := range l.lessonsRead.nearby {
		if store.NeedsBuild() {
			projects = append(projects, root)
		}
	}
	return projects
}

// BuildLessons sorts the lessons files of a place and builds their index. found is false if
// none exist.
func (l *Loaded) BuildLessons(p LessonPlace) (built lesson.Built, found bool, err error) {
	if !state.Exists(lesson.Folder(p.Dir)) {
		return built, false, nil
	}
	w, err := l.LessonWriter(p)
	if err != nil {
		return built, true, err
	}
	built, err = w.Build(limit.Engine)
	return built, true, errors.Join(err, l.cached.Write(l.redactor(), func() bool { return false }))
}

// RebuildLessons rebuilds the outdated indexes of this place, unless another process does.
func (l *Loaded) RebuildLessons() error {
	var errs []error
	for _, p := range l.LessonPlaces() {
		store := lesson.Open(p.ScopeFolder)
		if !l.isStale(store) {
			continue
		}
		store.Close()
		w, err := l.LessonWriter(p)
		if err == nil {
			_, err = w.Build(0)
		}
		if err != nil && !errors.Is(err, state.ErrBusy) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, l.cached.Write(l.redactor(), func() bool { return false }))...)
}

// LessonWriter returns a writer for the lessons of a place. It creates the key if needed.
func (l *Loaded) LessonWriter(p LessonPlace) (*lesson.Writer, error) {
	if l.Where.State == "" {
		return nil, errors.New("there is no state folder to keep lessons with; set HOME or XDG_STATE_HOME")
	}
	key, err := state.LoadKey(l.Where.State)
	if err != nil {
		return nil, err
	}
	p.Key = key
	return lesson.NewWriter(p.ScopeFolder, l.nearWords().Section())
}
