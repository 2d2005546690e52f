package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/decide/exact"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/memory/lesson"
	"github.com/spf13/cobra"
)

// lessonFilter selects lessons. An empty field selects all.
type lessonFilter struct{ effect, role, scope, tool string }

func (f *lessonFilter) add(c *cobra.Command) {
	fs := inOrder(c)
	fs.StringVar(&f.effect, "effect", "", "only lessons with this effect: allow, deny or ask")
	fs.StringVar(&f.role, "role", "", "only lessons for this role; \"*\" are those for all")
	fs.StringVar(&f.tool, "tool", "", "only lessons about this tool, by its canonical name")
	fs.StringVar(&f.scope, "scope", "", "only lessons of this scope: local, project, user, org or system")
}

// lessonsCommand returns the command "lessons".
func lessonsCommand(p Process) *cobra.Command {
	var f lessonFilter
	list := jsonOn(p, shelfHere, &cobra.Command{Use: "list [--effect E] [--role R] [--scope S] [--tool T] [--json]", Short: "list the lessons of all scopes",
		Long: `List the lessons of all scopes, those that do not count included: what each is
about, who taught it and when, and where it stands.`, Args: noArguments},
		func(s *shelf, _ []string, asJSON bool) error { return s.list(p, f, asJSON) })
	f.add(list)
	scope := ""
	promote := cautious(&cobra.Command{Use: "promote ID --scope SCOPE", Short: "move a lesson to another scope", Args: oneArgument,
		Long: `Move a lesson to another scope: from your own folder of the project (local) to the
project, so that git shares it, or to your user scope, so that it counts in all your
projects. Only a person may do this.`,
		RunE: func(_ *cobra.Command, args []string) error { return promoteLesson(p, args[0], scope) }})
	promote.Flags().StringVar(&scope, "scope", "", "the scope to which it is moved: local, project, user, org or system")
	return group("lessons", "show, remove and promote what was decided before", `Lessons are decisions that are remembered: the same call is decided alike from then
on. docs/lessons.md says what the same call is, and which lessons count.`,
		list,
		jsonOn(p, shelfHere, &cobra.Command{Use: "show ID [--json]", Short: "show all of one lesson", Args: oneArgument,
			Long: "Show all of one lesson, and whether it counts. ID is the beginning of an id that\n\"cardea lessons list\" shows."},
			func(s *shelf, args []string, asJSON bool) error { return s.show(p, args[0], asJSON) }),
		cautious(&cobra.Command{Use: "rm ID...", Short: "remove lessons", Args: atLeastOneArgument,
			Long: "Remove lessons. The calls that they are about are judged anew. Only a person may do\nthis.",
			RunE: runOn(p, shelfHere, func(s *shelf, args []string) error { return s.removeNamed(p, args) })}),
		promote, candidatesCommand(p), learnCommand(p), invalidateCommand(p), buildCommand(p),
	)
}

// invalidateCommand returns the command "lessons invalidate".
func invalidateCommand(p Process) *cobra.Command {
	var f lessonFilter
	all := false
	c := &cobra.Command{Use: "invalidate [--role R] [--scope S] [--effect E] [--tool T] [--all]", Short: "remove all lessons of a role or a scope", Args: noArguments,
		Long: `Remove all lessons of a role, a scope, an effect or a tool, or with --all everything
that you can write here: your own lessons and those of the project. Those of system
and organisation are only removed where --scope names them. The calls are judged
anew from then on. Only a person may do this.`,
		Example: "  cardea lessons invalidate --role tester\n  cardea lessons invalidate --scope local --effect allow",
		RunE:    func(*cobra.Command, []string) error { return invalidate(p, f, all) }}
	f.add(c)
	c.Flags().BoolVar(&all, "all", false, "remove all of them")
	return cautious(c)
}

func buildCommand(p Process) *cobra.Command {
	return jsonOn(p, registrarHere, &cobra.Command{Use: "build [--json]", Short: "sort the files of lessons and make their index anew", Args: noArguments,
		Long: `Sort the files of lessons and make their index anew. Cardea does this by itself
when it writes lessons, and after the first call that found the index out of date.`},
		func(d sessionRegistrar, _ []string, asJSON bool) error { return buildLessons(p, d, asJSON) })
}

// shelf holds all lessons that a person sees in a place.
type shelf struct {
	registrar sessionRegistrar
	places    []inforce.LessonPlace
	all       []shelved
}

// shelved is a lesson and its place.
type shelved struct {
	lesson.Found
	place *inforce.LessonPlace
	// form returns in which other form its command is saved, or "".
	form func(*lesson.Record) string
}

// lessonForm returns [lesson.Keyer.OtherForm] for a place.
func lessonForm(l *inforce.Loaded) func(*lesson.Record) string {
	keyer, analyse := l.LessonKeyer(), hook.Analysis(l.Where.Dirs.Home, nil)
	return func(r *lesson.Record) string { return keyer.OtherForm(r, analyse) }
}

// shelfHere reads the lessons of all scopes.
func shelfHere(p Process) (*shelf, error) {
	d, err := registrarHere(p)
	if err != nil {
		return nil, err
	}
	s := &shelf{registrar: d, places: d.Loaded.LessonPlaces()}
	form := lessonForm(d.Loaded)
	for i := range s.places {
		at := &s.places[i]
		store := lesson.Open(at.ScopeFolder)
		for f, err := range store.All() {
			if err != nil {
				return nil, err
			}
			s.all = append(s.all, shelved{f, at, form})
		}
		for _, t := range store.Issues() {
			p.warn(t.Error())
		}
		store.Close()
	}
	return s, nil
}

// scopeWord returns the word for a place's scope. It is local for the person's own folder
// of the project.
func scopeWord(at *inforce.LessonPlace) string {
	return either(at.Local, "local", at.Scope.String())
}

// only returns the lessons that a filter selects. With own, an empty scope excludes system
// and organisation.
func (s *shelf) only(f lessonFilter, own bool) (out []shelved, err error) {
	if f.effect != "" && !slices.Contains([]string{"allow", "deny", "ask"}, f.effect) {
		return nil, wrongUsage{fmt.Errorf("--effect is allow, deny or ask, not %q", f.effect)}
	}
	if _, err := s.place(f.scope); f.scope != "" && err != nil {
		return nil, wrongUsage{err}
	}
	for _, l := range s.all {
		foreign := l.Scope == cardea.ScopeSystem || l.Scope == cardea.ScopeOrg
		if f.effect != "" && l.Effect.String() != f.effect || f.role != "" && l.Role != f.role || f.tool != "" && l.Tool != f.tool ||
			f.scope != "" && scopeWord(l.place) != f.scope || f.scope == "" && own && foreign {
			continue
		}
		out = append(out, l)
	}
	return out, nil
}

// place returns the place of a scope, by the scope's word.
func (s *shelf) place(word string) (*inforce.LessonPlace, error) {
	var words []string
	for i := range s.places {
		if scopeWord(&s.places[i]) == word {
			return &s.places[i], nil
		}
		if w := scopeWord(&s.places[i]); !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return nil, fmt.Errorf("there is no scope %q with lessons here: use %s", word, strings.Join(words, ", "))
}

// shortest is the shortest prefix of an id that names a lesson.
const shortest = 4

// named returns the lesson whose id begins with id. It fails unless exactly one exists.
func (s *shelf) named(id string) (shelved, error) {
	if len(id) < shortest {
		return shelved{}, fmt.Errorf("%q is too short for the id of a lesson; see \"cardea lessons list\"", id)
	}
	found := slices.DeleteFunc(slices.Clone(s.all), func(l shelved) bool { return !strings.HasPrefix(l.ID.String(), strings.ToLower(id)) })
	switch {
	case len(found) == 0:
		return shelved{}, fmt.Errorf("there is no lesson %q here; see \"cardea lessons list\"", id)
	case len(found) > 1 && slices.ContainsFunc(found, func(l shelved) bool { return l.ID != found[0].ID }):
		return shelved{}, fmt.Errorf("%q is the beginning of several ids; give more of it", id)
	}
	return found[0], nil
}

// why returns why a lesson does not apply, or does not apply to the same call, and whether
// it applies.
func (l *shelved) why(now time.Time) (why string, counts bool) {
	if l.Expired(now) {
		return "it has ended", false
	}
	if l.Effect == cardea.Allow {
		switch {
		case !l.Own && l.place.Local:
			return "your Cardea did not write it", false
		case !l.Own:
			return "you have not accepted it; see \"cardea trust\"", false
		case !l.place.Allows && l.Scope == cardea.ScopeOrg:
			return "only denies and asks of this organisation count here", false
		case !l.place.Allows:
			return "the project is not trusted", false
		}
	}
	return unmatched(&l.Record, l.form)
}

// unmatched returns why the call of a lesson, as written, can never occur. A deny or ask
// may still apply to similar calls.
func unmatched(r *lesson.Record, form func(*lesson.Record) string) (why string, counts bool) {
	if why = r.NoCall(); why != "" {
		return why, false
	}
	why = form(r)
	if why != "" && r.Effect != cardea.Allow {
		return "it counts for similar calls only: " + why, true
	}
	return why, why == ""
}

// lessonListing is a lesson for people and its JSON.
type lessonListing struct {
	ID          string            `json:"id"`
	Effect      cardea.Effect     `json:"effect"`
	Tool        string            `json:"tool"`
	Subject     string            `json:"subject"`
	Kind        string            `json:"kind"`
	Role        string            `json:"role"`
	Dir         string            `json:"dir"`
	Unsandboxed bool              `json:"unsandboxed"`
	By          string            `json:"by"`
	Who         string            `json:"who"`
	When        time.Time         `json:"when,omitzero"`
	Reason      string            `json:"reason"`
	Files       map[string]string `json:"files"`
	Expires     time.Time         `json:"expires,omitzero"`
	Scope       string            `json:"scope"`
	Source      string            `json:"source"`
	Counts      bool              `json:"counts"`
	// Why is the reason why it does not apply, or not to the same call.
	Why string `json:"why"`
}

func (l *shelved) listing(now time.Time) lessonListing {
	show := redact.New().Show // others' texts may contain secrets
	files := map[string]string{}
	for name, digest := range l.Files {
		files[show(name)] = digest
	}
	why, counts := l.why(now)
	return lessonListing{ID: l.ID.String(), Effect: l.Effect, Tool: l.Tool, Subject: show(l.Subject), Kind: l.Kind, Role: l.Role, Dir: l.Dir, Unsandboxed: l.Unsandboxed,
		By: l.By, Who: show(l.Who), When: l.When, Reason: show(l.Reason), Files: files, Expires: l.Expires, Scope: scopeWord(l.place), Source: l.Source(), Counts: counts, Why: why}
}

// listings returns the listings of some lessons.
func listings(some []shelved, now time.Time) []lessonListing {
	return listOf(some, func(l shelved) lessonListing { return l.listing(now) })
}

// line returns a lesson in one line.
func (e *lessonListing) line() string {
	text := strings.TrimSpace(e.Kind + " " + e.Subject)
	if e.Tool != "Bash" && !strings.HasPrefix(e.Subject, e.Tool) {
		text = e.Tool + " " + text
	}
	about := joined(", ", onlyIf(e.Dir != ".", "in "+e.Dir), onlyIf(e.Role != "" && e.Role != lesson.AnyRole, "for the role "+e.Role),
		onlyIf(e.Unsandboxed, "outside of the sandbox"))
	return text + onlyIf(about != "", "  ("+about+")")
}

// list lists the lessons that a filter selects.
func (s *shelf) list(p Process, f lessonFilter, asJSON bool) error {
	some, err := s.only(f, false)
	if err != nil {
		return err
	}
	list := listings(some, p.Now())
	return p.answer(asJSON, struct {
		Lessons []lessonListing `json:"lessons"`
	}{list}, func(out *screen) {
		out.printIf(len(list) == 0, "there are no lessons here\n")
		for i := range list {
			showLine(out, &list[i], &some[i].Record)
		}
	})
}

// showLine shows a lesson in two lines.
func showLine(out *screen, e *lessonListing, r *lesson.Record) {
	notes := joined(", ", e.Scope, exact.Reason(r), onlyIf(!e.Counts, "does not count: ")+e.Why)
	out.printf("%s  %s  %s\n              %s\n", painted{bold, e.ID[:12]}, effect(e.Effect), e.line(), painted{faint, notes})
}

// show shows all of one lesson.
func (s *shelf) show(p Process, id string, asJSON bool) error {
	l, err := s.named(id)
	if err != nil {
		return err
	}
	e := l.listing(p.Now())
	return p.answer(asJSON, e, func(out *screen) {
		showLine(out, &e, &l.Record)
		row := func(name, value string) {
			out.printIf(value != "", "  %-9s %s\n", name, hook.Plain(value))
		}
		row("id", e.ID)
		row("stands in", e.Source)
		row("role", cmp.Or(e.Role, "only agents without a role"))
		row("folder", e.Dir)
		if !e.Expires.IsZero() {
			row("ends", e.Expires.Local().Format("2006-01-02 15:04"))
		}
		for _, name := range slices.Sorted(maps.Keys(e.Files)) {
			row("bound to", name+"  "+e.Files[name])
		}
	})
}

// removeNamed removes the lessons with these ids, if the person confirms it.
func (s *shelf) removeNamed(p Process, ids []string) error {
	var some []shelved
	for _, id := range ids {
		l, err := s.named(id)
		if err != nil {
			return err
		}
		some = append(some, l)
	}
	return s.remove(p, some, "remove "+count(len(some), "lesson"))
}

// maxShown is the most lessons that are shown before the person confirms a change.
const maxShown = 50

// forget removes lessons from a place, and returns how many.
func (s *shelf) forget(p Process, at inforce.LessonPlace, ids ...lesson.ID) (int, error) {
	w, err := s.registrar.Loaded.LessonWriter(at)
	if err != nil {
		return 0, err
	}
	return w.Remove(ids, lesson.ByPerson, redact.New().Text(p.UserName()), p.Now())
}

// remove removes lessons, if the person confirms it.
func (s *shelf) remove(p Process, some []shelved, what string) error {
	err := p.byPerson(what, func(out *screen) {
		for i := range some[:min(len(some), maxShown)] {
			e := some[i].listing(p.Now())
			showLine(out, &e, &some[i].Record)
		}
		if more := len(some) - maxShown; more > 0 {
			out.printf("and %d more\n", more)
		}
	})
	if err != nil {
		return err
	}
	removed := 0
	for i := range s.places {
		var ids []lesson.ID
		for _, l := range some {
			if l.place == &s.places[i] {
				ids = append(ids, l.ID)
			}
		}
		if len(ids) == 0 {
			continue
		}
		n, err := s.forget(p, s.places[i], ids...)
		removed += n
		if err != nil {
			return err
		}
	}
	return p.say("removed " + count(removed, "lesson"))
}

// invalidate removes the lessons that a filter selects, if the person confirms it.
func invalidate(p Process, f lessonFilter, all bool) error {
	if !all && f == (lessonFilter{}) {
		return wrongUsage{errors.New("say which lessons: --role, --scope, --effect or --tool, or --all")}
	}
	s, err := shelfHere(p)
	if err != nil {
		return err
	}
	some, err := s.only(f, true)
	if err != nil {
		return err
	}
	return s.remove(p, some, "remove "+count(len(some), "lesson"))
}

// promoteLesson moves a lesson to another scope, if the person confirms it.
func promoteLesson(p Process, id, scope string) error {
	if scope == "" {
		return wrongUsage{errors.New("say where to: --scope project, user, org, system or local")}
	}
	s, err := shelfHere(p)
	if err != nil {
		return err
	}
	l, err := s.named(id)
	if err != nil {
		return err
	}
	to, err := s.place(scope)
	if err != nil {
		return err
	}
	if to == l.place {
		return fmt.Errorf("the lesson stands in the scope %s already", scope)
	}
	from, err := s.registrar.Loaded.LessonWriter(*l.place)
	if err != nil {
		return err
	}
	w, err := s.registrar.Loaded.LessonWriter(*to)
	if err != nil {
		return err
	}
	d, err := lesson.Redrafted(redact.New(), &l.Record)
	if err != nil {
		return err
	}
	if err := p.byPerson("move the lesson to the scope "+scope, func(out *screen) {
		e := l.listing(p.Now())
		showLine(out, &e, &l.Record)
		out.printIf(to.Scope == cardea.ScopeUser && !to.Local, "it counts in all your projects then\n")
	}); err != nil {
		return err
	}
	if err := w.Teach(d); err != nil {
		return err
	}
	if _, err := from.Remove([]lesson.ID{l.ID}, lesson.ByPerson, redact.New().Text(p.UserName()), p.Now()); err != nil {
		return fmt.Errorf("it stands in the scope %s now, and could not be removed from %s: %w", scope, l.File, err)
	}
	return p.say("moved to " + to.Dir)
}

// buildLessons rebuilds the indexes of all writable scopes.
func buildLessons(p Process, d sessionRegistrar, asJSON bool) error {
	type built struct {
		Scope   string `json:"scope"`
		Folder  string `json:"folder"`
		Lessons int    `json:"lessons"`
		Broken  int    `json:"broken"`
	}
	list := []built{}
	for _, at := range d.Loaded.LessonPlaces() {
		b, found, err := d.Loaded.BuildLessons(at)
		if err != nil {
			return err
		}
		if found {
			list = append(list, built{scopeWord(&at), lesson.Folder(at.Dir), b.Lessons, b.Broken})
		}
	}
	return p.answer(asJSON, struct {
		Indexes []built `json:"indexes"`
	}{list}, func(out *screen) {
		out.printIf(len(list) == 0, "there are no lessons here\n")
		for _, b := range list {
			out.printf("%s  %s\n", b.Folder, count(b.Lessons, "lesson"))
		}
	})
}
