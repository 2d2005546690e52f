package inforce

import (
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"cardea.dev"
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

// lessonsRead is what was read of lessons.
type lessonsRead struct {
	once, keyOnce sync.Once
	key           []byte
	sources       []lesson.Source
	around        map[string]*lesson.Store // by project
	troubles      cardea.Troubles
}

// lessonFolder is a folder with lessons, beside what counts of them.
type lessonFolder struct {
	folder
	// shared is set where others can write: in a project. own is set for the folder of a
	// project that is the person's alone.
	shared, own bool
}

// lessonFolders are the folders of all scopes that may have lessons, strongest first.
func (l *Loaded) lessonFolders() []lessonFolder {
	out := lists.Of(l.folders(), func(at folder) lessonFolder { return lessonFolder{folder: at, shared: at.scope == cardea.ScopeProject} })
	if at := l.project(); at.dir != "" {
		at.dir, at.scope = filepath.Join(at.dir, "local"), cardea.ScopeUser
		out = append(out, lessonFolder{folder: at, shared: true, own: true})
	}
	return slices.DeleteFunc(out, l.leadsElsewhere)
}

// leadsElsewhere reports a folder of a project that is a link: a clone can bring one to
// another project, whose lessons would then count here as well.
func (l *Loaded) leadsElsewhere(at lessonFolder) bool {
	if !at.shared || at.dir == "" {
		return false
	}
	inside, err := filepath.Rel(l.Where.Project, at.dir)
	return err != nil || l.links.Real(at.dir) != filepath.Join(l.links.Real(l.Where.Project), inside)
}

// LessonPlace is the place of the lessons of a scope's folder, as [Loaded.LessonPlaces]
// gives it.
type LessonPlace struct {
	lesson.Place
	// Local is set for the folder of the project that is the person's alone.
	Local bool
	// Allows is set where allows count.
	Allows bool
}

// LessonPlaces are the places of lessons of all scopes, strongest first, whether there
// are any or not.
func (l *Loaded) LessonPlaces() []LessonPlace {
	known := lists.Where(l.lessonFolders(), func(at lessonFolder) bool { return at.dir != "" })
	return lists.Of(known, func(at lessonFolder) LessonPlace {
		return LessonPlace{Place: l.lessonPlace(at), Local: at.own, Allows: l.lessonsAllow(at)}
	})
}

// lessonsAllow reports whether allows of a folder count. Of a shared one each needs to
// be the user's own besides.
func (l *Loaded) lessonsAllow(at lessonFolder) bool {
	return !at.tightens && (at.own || at.scope != cardea.ScopeProject || l.Where.Trusted())
}

func (l *Loaded) lessonPlace(at lessonFolder) lesson.Place {
	source := project.Source(at.shared)
	beside := map[string]string{}
	switch {
	case at.own:
		beside[".gitignore"] = "*\n"
	case at.shared:
		beside[".gitattributes"] = LessonAttributes
	}
	return lesson.Place{Beside: beside, Dir: l.links.Real(at.dir), Scope: at.scope, Shared: at.shared, State: l.Where.State, Cache: l.Where.Dirs.Cache, Key: l.lessonKey(),
		LastGood: func(path string) []byte { return l.kept.Form(path, source) },
		Note: func(path, text string, when time.Time) {
			if len(text) <= maxNoted {
				l.kept.Note(path, source, []byte(text), when)
			}
		}}
}

// LessonAttributes is the .gitattributes of a project's folder.
const LessonAttributes = "# two branches that both learn merge without a conflict, see docs/lessons.md of Cardea\nlessons/*.jsonl merge=union\n"

// maxNoted is up to which size the last good form of a file of lessons is kept, in bytes.
const maxNoted = 1 << 20

// lessonKey is the user's key, nil where there is none.
func (l *Loaded) lessonKey() []byte {
	l.lessonsRead.keyOnce.Do(func() { l.lessonsRead.key, _ = state.ReadKey(l.Where.State) })
	return l.lessonsRead.key
}

// Lessons are the lessons of all scopes that count in this place, and what is wrong with
// their files. They are looked at when they are first asked for.
func (l *Loaded) Lessons() ([]lesson.Source, cardea.Troubles) {
	l.lessonsRead.once.Do(func() {
		var keyer *lesson.Keyer
		for _, at := range l.lessonFolders() {
			if at.dir == "" || l.absent.Folder(lesson.Folder(at.dir)) {
				continue
			}
			if p := l.doubt(lesson.Folder(at.dir), at.folder); p != nil {
				l.lessonsRead.troubles = append(l.lessonsRead.troubles, troubleOf(p[0], true, false))
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
			for _, t := range store.Troubles() {
				if at.shared {
					t.Diagnostic = t.Diagnostic.Withheld()
				}
				l.lessonsRead.troubles = addOnce(l.lessonsRead.troubles, t)
			}
		}
	})
	return l.lessonsRead.sources, l.lessonsRead.troubles.First(maxTroubles, "cardea rules lint")
}

// LessonKeyer makes the keys of calls in this place.
func (l *Loaded) LessonKeyer() *lesson.Keyer {
	return lesson.NewKeyer(l.redactor(), l.lessonKey(), l.Where.Project)
}

// LessonProblems are what is wrong with the files of lessons.
func (l *Loaded) LessonProblems() []cardea.Diagnostic {
	var out []cardea.Diagnostic
	for _, p := range l.LessonPlaces() {
		store := lesson.Open(p.Place)
		out = append(out, lists.Of(store.Troubles(), func(t cardea.Trouble) cardea.Diagnostic { return t.Diagnostic })...)
		store.Close()
	}
	return out
}

// redactor is the one of the process, which has compiled what it needed before.
func (l *Loaded) redactor() *redact.Redactor {
	if l.Callbacks.Redactor != nil {
		return l.Callbacks.Redactor
	}
	return redact.New()
}

// lessonsFor are the lessons that count for an event: those of this place, and what the
// projects around the call deny and ask.
func (l *Loaded) lessonsFor(ev *cardea.Event) ([]lesson.Source, cardea.Troubles) {
	sources, troubles := l.Lessons()
	projects, _ := l.projectsAround(ev) // the rules have said it where there are too many
	for _, root := range projects {
		around := &Loaded{Where: Where{Project: root, State: l.Where.State, Dirs: project.Dirs{Cache: l.Where.Dirs.Cache}}}
		at := lessonFolder{folder: around.project(), shared: true}
		store := lesson.Open(around.lessonPlace(at))
		if store == nil {
			continue
		}
		sources = append(slices.Clip(sources), lesson.Source{Store: store, Keyer: lesson.NewKeyer(l.redactor(), l.lessonKey(), root)})
		if l.lessonsRead.around == nil {
			l.lessonsRead.around = map[string]*lesson.Store{}
		}
		l.lessonsRead.around[root] = store
		for _, t := range store.Troubles() {
			t.Diagnostic = t.Diagnostic.Withheld()
			troubles = addOnce(troubles, t)
		}
	}
	return sources, troubles
}

// LessonsDecider is the decider of lessons about exactly the call.
func (l *Loaded) LessonsDecider(now time.Time) exact.Decider {
	return exact.New(exact.Settings{Sources: l.lessonsFor, Now: now, Judge: l.Callbacks.JudgeNow, JudgeLifts: l.Settings.Judge.AllowOpaque})
}

// NearDecider is the decider of lessons about similar calls. analyse finds the parts of
// the calls that they are about.
func (l *Loaded) NearDecider(now time.Time, analyse func(*cardea.Event) *cardea.Event) near.Decider {
	r := l.redactor()
	return near.New(near.Settings{Sources: l.lessonsFor, Finders: l.nearFinders(), Analyse: analyse, Now: now,
		World: shape.World{Resolve: new(paths.Links).Resolve, Secret: func(text string) bool { return len(r.Find(text)) > 0 }}})
}

// isStale reports whether the index of a store of this place is to be made again.
func (l *Loaded) isStale(s *lesson.Store) bool {
	return s.NeedsBuild() || s.Lacks(l.nearWords().Section().Name)
}

// nearFinders find lessons by their words, and then by their meaning.
func (l *Loaded) nearFinders() []near.Finder {
	out := []near.Finder{l.nearWords()}
	if l.Settings.Near.Embedding > 0 && l.Where.Program != "" {
		out = append(out, near.Meaning{Engine: &meaning.Engine{Find: l.findEngine,
			State: l.Where.State, Cache: l.Where.Dirs.Cache, Threshold: l.Settings.Near.Embedding, Embedder: l.embedder()}})
	}
	return out
}

// findEngine finds the program that finds lessons by their meaning.
func (l *Loaded) findEngine() (string, error) {
	if l.Where.FindEngine != nil {
		return l.Where.FindEngine()
	}
	return remote.Find(l.Where.Program)
}

// embedder is the server that makes vectors, if the person has one.
func (l *Loaded) embedder() meaning.Embedder {
	s := l.Settings.Near.Embedder
	e := meaning.Embedder{Kind: s.Kind, URL: s.URL, Model: s.Model}
	if s.KeyVariable != "" && l.Where.Env != nil {
		e.Key = l.Where.Env(s.KeyVariable)
	}
	return e
}

// nearWords finds lessons by their words.
func (l *Loaded) nearWords() near.Words {
	return near.NewWords(l.Settings.Near.Jaccard, l.Settings.Near.MinTokens)
}

// StaleLessons are the projects whose indexes of lessons were asked for and are to be
// made again. The one of this place stands for those of the person, too.
func (l *Loaded) StaleLessons() (projects []string) {
	if slices.ContainsFunc(l.lessonsRead.sources, func(s lesson.Source) bool { return l.isStale(s.Store) }) {
		projects = append(projects, l.Where.Project)
	}
	for root, store := range l.lessonsRead.around {
		if store.NeedsBuild() {
			projects = append(projects, root)
		}
	}
	return projects
}

// BuildLessons sorts the files of lessons of a place and makes their index. found is
// false where there are none.
func (l *Loaded) BuildLessons(p LessonPlace) (built lesson.Built, found bool, err error) {
	if !state.Exists(lesson.Folder(p.Dir)) {
		return built, false, nil
	}
	w, err := l.LessonWriter(p)
	if err != nil {
		return built, true, err
	}
	built, err = w.Build(limit.Engine)
	return built, true, errors.Join(err, l.kept.Write(l.redactor(), func() bool { return false }))
}

// RebuildLessons makes the indexes of this place that are out of date, unless another
// process is at it.
func (l *Loaded) RebuildLessons() error {
	var errs []error
	for _, p := range l.LessonPlaces() {
		store := lesson.Open(p.Place)
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
	return errors.Join(append(errs, l.kept.Write(l.redactor(), func() bool { return false }))...)
}

// LessonWriter changes the lessons of a place, after [state.LoadKey] has made the key.
func (l *Loaded) LessonWriter(p LessonPlace) (*lesson.Writer, error) {
	if l.Where.State == "" {
		return nil, errors.New("there is no state folder to keep lessons with; set HOME or XDG_STATE_HOME")
	}
	key, err := state.LoadKey(l.Where.State)
	if err != nil {
		return nil, err
	}
	p.Key = key
	return lesson.NewWriter(p.Place, l.nearWords().Section())
}
