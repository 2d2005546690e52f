package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/person"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/config/trust"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/memory/lesson"
)

// trustCommand returns the command "trust".
func trustCommand(p Process) *cobra.Command {
	dryRun := false
	c := jsonOn(p, surveyHere, &cobra.Command{
		Use:   "trust [--dry-run] [--json]",
		Short: "show what a project brings, and accept it",
		Long: `Show the settings, rules, routes, policies, signals and actions of the project,
what changed since you accepted it, what would change if you trusted it as it is,
and what has no effect either way. At a terminal you can then accept it by typing a
code.

Until you trust a project, its rules can only deny or ask. You accept files as
they are now: a file that changes later is untrusted until you accept it again.`,
		Args: noArguments,
	}, func(s *survey, _ []string, asJSON bool) error { return s.offer(p, asJSON, dryRun) })
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only show it")
	leaf := func(use, short, long string) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Long: long, Args: noArguments}
	}
	does := func(c *cobra.Command, run func(*survey) error) *cobra.Command {
		c.RunE = runOn(p, surveyHere, func(s *survey, _ []string) error { return run(s) })
		return c
	}
	c.AddCommand(
		does(leaf("init", "trust the project in its present form", "Show what the project brings, and trust it when you type the code that is shown."),
			func(s *survey) error { return s.trust(p, false) }),
		does(leaf("update", "accept what changed since then", "Show what changed since the project was trusted, and accept it when you type the code\nthat is shown."),
			func(s *survey) error { return s.trust(p, true) }),
		jsonOn(p, surveyHere, leaf("verify [--json]", "compare the project with what you accepted", "Compare the project's files with those that you accepted."),
			func(s *survey, _ []string, asJSON bool) error { return s.verify(p, asJSON) }),
		withJSON(leaf("list [--json]", "show the projects that you trust", "Show the projects that you trust, and since when."),
			func(_ []string, asJSON bool) error { return trustList(p, asJSON) }),
		does(leaf("revoke", "stop trusting the project", "Stop trusting the project. Its rules can then only deny or ask."),
			func(s *survey) error { return s.revoke(p) }),
	)
	for _, name := range []string{"init", "update", "revoke"} {
		cautious(below(c, name))
	}
	return cautious(c)
}

// survey is the current state of a project, compared with what was accepted.
type survey struct {
	project string
	state   string
	// accepted is nil if the project is not trusted.
	accepted *trust.Manifest
	// digests holds the digests of the project's files as read, and texts their content
	// without secrets.
	digests map[string]string
	texts   map[string]redact.Text
	// now holds what is in force, then what would be in force if all files were accepted.
	now, then *inforce.Loaded
	// lessons holds the new lessons at the time at, and lessonsAt their place.
	lessons   []shelved
	lessonsAt *inforce.LessonPlace
	at        time.Time
	// unrunnable are the commands that never run, even if accepted.
	unrunnable []diagnostic.Diagnostic
}

const errNoTrust = errorText("there is no state folder to keep trust in; set HOME or XDG_STATE_HOME")

// surveyHere returns the survey of the working folder's project. Accepting later uses what
// was read here, so nothing can change between the person's look and their confirmation.
func surveyHere(p Process) (*survey, error) {
	if p.Dir == "" {
		return nil, errNoFolder
	}
	pl := locate(p, "", "", p.Dir)
	if pl.State == "" {
		p.tell(pl.Issues)
		return nil, errNoTrust
	}
	now := load(p, &pl, nil)
	now.ReadRoutes()
	now.Roles()
	p.tell(pl.Issues)
	s := &survey{project: paths.Real(pl.Project), state: pl.State, digests: map[string]string{}, texts: map[string]redact.Text{}, now: now}
	r := redact.New()
	s.accepted, _ = trust.Load(pl.State, s.project) // load has reported its problems
	w := now.Where
	w.State = "" // the person looks at the files, not at last good forms
	w.Trust = func(path string, data []byte) bool {
		name := hook.InProject(pl.Project, path)
		s.digests[name], s.texts[name] = trust.Digest(data), r.Text(string(data))
		return true
	}
	s.then = inforce.Load(w)
	s.then.ReadRoutes()
	s.then.Roles()
	s.then.ReadScripts()
	s.at = p.Now()
	if err := s.readLessons(); err != nil {
		return nil, err
	}
	s.unrunnable = s.then.Unrunnable()
	for _, d := range s.unrunnable {
		p.warn(d.String())
	}
	return s, nil
}

// offer runs the command "trust" itself.
func (s *survey) offer(p Process, asJSON, dryRun bool) error {
	if asJSON {
		return encode(p, s.listing())
	}
	out := screenOn(p.Stdout, p.Env)
	if !dryRun && p.attended() && s.acceptable(redact.New()) == nil && !s.same() {
		err := s.accept(p, out)
		if errors.Is(err, person.ErrDeclined) {
			out.printf("left as it was\n")
			return out.err
		}
		return err
	}
	s.show(out)
	s.next(out)
	return out.err
}

// same reports whether the project is as it was accepted.
func (s *survey) same() bool {
	return len(s.lessons) == 0 && !slices.ContainsFunc(s.files(), func(f projectFile) bool { return f.State != "accepted" })
}

// trust trusts the project as it was shown. With known it must be trusted already, without
// it must not be.
func (s *survey) trust(p Process, known bool) error {
	switch {
	case known && s.accepted == nil:
		return errors.New("the project is not trusted yet; run \"cardea trust init\"")
	case !known && s.accepted != nil:
		return errors.New("the project is trusted already; run \"cardea trust update\" to accept what changed")
	}
	if err := s.acceptable(redact.New()); err != nil {
		for _, d := range s.broken() {
			p.warn(d.String())
		}
		return err
	}
	return s.accept(p, screenOn(p.Stdout, p.Env))
}

// acceptable returns why the project cannot be trusted in its current form, or nil.
func (s *survey) acceptable(r *redact.Redactor) error {
	if len(s.digests) == 0 && len(s.lessons) == 0 {
		return errors.New("the project brings nothing that could be trusted; begin it with \"cardea init\"")
	}
	if len(s.broken()) > 0 {
		return errors.New("a project with broken files cannot be trusted; fix the files above, see \"cardea rules lint\"")
	}
	if name := s.secret(r); name != "" {
		return fmt.Errorf("a name looks like a secret, and would be written into the state folder: %s; give it another name", name)
	}
	return nil
}

// accept shows the project, and trusts it if the person types a code.
func (s *survey) accept(p Process, out *screen) error {
	if err := p.byPerson("trust "+s.size()+" of this project", func(*screen) { s.show(out) }); err != nil {
		return err
	}
	if err := s.save(p); err != nil {
		return err
	}
	out.printf("trusted %s, %s\n", s.project, s.size())
	return out.err
}

// size returns how much a person accepts, as text.
func (s *survey) size() string {
	return count(len(s.digests), "file") + prefixed(" and ", s.lessonCount())
}

// save records that the person accepted the project as it was read.
func (s *survey) save(p Process) error {
	who := cmp.Or(p.Env("USER"), p.Env("USERNAME"))
	m := trust.Manifest{Project: s.project, Files: s.digests, Who: redact.New().Text(who).String(), When: p.Now().UTC()}
	err := errors.Join(trust.Save(s.state, &m), trust.SaveTexts(s.state, s.project, s.texts), s.acceptLessons())
	for name := range s.digests { // files that git no longer tracks are the person's own from now on
		err = errors.Join(err, project.Checked{State: s.state}.Forget(filepath.Join(s.project, filepath.FromSlash(name))))
	}
	return err
}

// secret returns a path in the manifest that looks like a secret, redacted, or "".
func (s *survey) secret(r *redact.Redactor) string {
	paths := append(slices.Sorted(maps.Keys(s.digests)), s.project)
	for _, path := range paths {
		names := strings.FieldsFunc(path, func(c rune) bool { return c == '/' || c == filepath.Separator })
		for _, text := range append(names, path) {
			if len(r.Find(text)) > 0 {
				return r.Show(text)
			}
		}
	}
	return ""
}

// comparison is the JSON of trust verify.
type comparison struct {
	Project string        `json:"project"`
	Same    bool          `json:"same"`
	Files   []projectFile `json:"files"`
	report
}

// verify compares the project with what was accepted.
func (s *survey) verify(p Process, asJSON bool) error {
	if s.accepted == nil {
		return errors.New("the project is not trusted; look at it with \"cardea trust\"")
	}
	c := comparison{Project: s.project, Files: s.files(), report: report{notNil(s.unrunnable)}}
	if n := s.lessonCount(); n != "" {
		c.Diagnostics = append(c.Diagnostics, cardea.Warning(lesson.Folder(s.lessonsAt.Dir), diagnostic.CodeUntrusted, "look at them with \"cardea trust\"", n+" of others: their allows do not count").Diagnostic)
	}
	for _, f := range c.Files {
		if f.State != "accepted" {
			c.Diagnostics = append(c.Diagnostics, diagnostic.Diagnostic{File: f.Path, Code: diagnostic.CodeUntrusted, Text: "is " + f.State})
		}
	}
	c.Same = !diagnostic.HasError(c.Diagnostics)
	return failIf(!c.Same, p.answer(asJSON, c, func(out *screen) {
		showFiles(out, "", c.Files)
		out.printIf(!c.Same, "the project is not as you trusted it; look at it with \"cardea trust\"\n")
	}))
}

// trustedProject is an entry in the JSON of trust list.
type trustedProject struct {
	Project string    `json:"project"`
	Files   int       `json:"files"`
	Who     string    `json:"who"`
	When    time.Time `json:"when"`
}

// trustList shows all trusted projects.
func trustList(p Process, asJSON bool) error {
	pl := locate(p, "", "", p.Dir)
	if pl.State == "" {
		return errNoTrust
	}
	all, problems := trust.List(pl.State)
	found := struct {
		Projects []trustedProject `json:"projects"`
		report
	}{listOf(all, func(m *trust.Manifest) trustedProject { return trustedProject{m.Project, len(m.Files), m.Who, m.When} }), report{notNil(problems)}}
	return p.answer(asJSON, found, func(out *screen) {
		for _, m := range found.Projects {
			when := m.When.Format("2006-01-02 15:04 MST") + prefixed(" by ", m.Who)
			out.printf("%s  %s\n", painted{bold, m.Project}, painted{faint, fmt.Sprintf("%s, accepted %s", count(m.Files, "file"), when)})
		}
		out.printIf(len(all) == 0, "no project is trusted\n")
		showDiagnostics(out, problems)
	})
}

// revoke removes the trust in the project. It also needs a person: what a trusted project
// tightens ends with the trust.
func (s *survey) revoke(p Process) error {
	out := screenOn(p.Stdout, p.Env)
	if err := p.byPerson("stop trusting "+s.project, func(*screen) {}); err != nil {
		return err
	}
	there, err := trust.Revoke(s.state, s.project)
	if err != nil {
		return fmt.Errorf("revoke trust: %w", err)
	}
	out.printf(either(there, "%s is not trusted any more\n", "%s was not trusted\n"), s.project)
	return out.err
}

// newLessons returns the lessons of the project that this user's Cardea did not write and
// the person has not accepted. at is their place, nil outside of a project.
func newLessons(l *inforce.Loaded) (at *inforce.LessonPlace, out []shelved, err error) {
	places := l.LessonPlaces()
	for i := range places {
		if at := &places[i]; at.Scope == cardea.ScopeProject {
			store, form := lesson.Open(at.ScopeFolder), lessonForm(l)
			defer store.Close()
			for f, err := range store.All() {
				if err != nil {
					return nil, nil, err
				}
				if !f.Own {
					out = append(out, shelved{f, at, form})
				}
			}
			return at, out, nil
		}
	}
	return nil, nil, nil
}

// readLessons reads the project's new lessons.
func (s *survey) readLessons() (err error) {
	s.lessonsAt, s.lessons, err = newLessons(s.now)
	return err
}

// acceptLessons puts the new lessons in force. It accepts the lines that were read before.
func (s *survey) acceptLessons() error {
	if len(s.lessons) == 0 {
		return nil
	}
	w, err := s.now.LessonWriter(*s.lessonsAt)
	if err != nil {
		return err
	}
	return w.Accept(listOf(s.lessons, func(l shelved) lesson.ID { return l.ID }))
}

// lessonListings returns the listings of the new lessons.
func (s *survey) lessonListings() []lessonListing {
	return listings(s.lessons, s.at)
}

// showLessons shows the new lessons.
func (s *survey) showLessons(out *screen) {
	section(out, "lessons that are new", len(s.lessons))
	for i, e := range s.lessonListings() {
		showLine(out, &e, &s.lessons[i].Record)
	}
}

// lessonCount returns the number of new lessons as text, "" for none.
func (s *survey) lessonCount() string {
	return onlyIf(len(s.lessons) != 0, count(len(s.lessons), "new lesson"))
}
