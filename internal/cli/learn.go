package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/memory/candidate"
	"cardea.dev/internal/memory/ledger"
	"cardea.dev/internal/memory/lesson"
	"github.com/spf13/cobra"
)

// learnCommand returns the command "learn".
func learnCommand(p Process) *cobra.Command {
	var scope, reason string
	var asJSON bool
	c := &cobra.Command{
		Use:   "learn [ID...]",
		Short: "remember calls that you allowed in a prompt, or that ran in auto mode",
		Long: `Make lessons of calls that Cardea left to the harness: calls that you allowed in the
harness's own prompt, and calls that ran in auto mode. They are then allowed without a
question, and Claude Code's classifier does not check them. Without an ID, list the calls,
as "cardea lessons candidates" does. Only a person may do this. See docs/lessons.md.`,
		Example: "  cardea learn\n  cardea learn 3fa9c1d2",
		RunE: func(_ *cobra.Command, ids []string) error {
			if len(ids) == 0 {
				return listCandidates(p, asJSON)
			}
			if asJSON {
				return wrongUsage{errors.New("--json lists the calls; leave it out to learn one")}
			}
			return learn(p, ids, scope, reason)
		},
	}
	c.Flags().StringVar(&scope, "scope", "local", "where they count: local (this project, for you alone), project (shared by git) or user (all your projects)")
	c.Flags().StringVar(&reason, "reason", "", "why, for whoever reads the lesson")
	c.Flags().BoolVar(&asJSON, "json", false, "list the calls as one JSON object")
	return cautious(c)
}

// learn makes lessons of the candidates with these ids, if the person confirms it.
func learn(p Process, ids []string, scope, reason string) error {
	if err := p.needsPerson(); err != nil {
		return err
	}
	d, all, err := candidatesHere(p)
	if err != nil {
		return err
	}
	var chosen []candidate.Candidate
	for _, id := range ids {
		i := slices.IndexFunc(all, func(c candidate.Candidate) bool { return c.ID == id })
		if i < 0 {
			return wrongUsage{fmt.Errorf("there is no candidate %s in this project; \"cardea learn\" lists them", Plain(id))}
		}
		if !slices.ContainsFunc(chosen, func(c candidate.Candidate) bool { return c.ID == id }) {
			chosen = append(chosen, all[i])
		}
	}
	to, err := lessonPlaceOf(d.Loaded, scope)
	if err != nil {
		return err
	}
	if err := p.byPerson("allow "+count(len(chosen), "call")+" from now on, in the scope "+scope, func(s *screen) {
		for i := range chosen {
			showCandidate(s, &chosen[i])
		}
		s.printf("scope %s\n", scope)
	}); err != nil {
		return err
	}
	for i := range chosen {
		if err := hook.TeachCandidate(d.Process, d.Loaded, to, chosen[i], cmp.Or(reason, whyLearned(&chosen[i]))); err != nil {
			return fmt.Errorf("%s: %w", chosen[i].ID, err)
		}
	}
	return p.say(fmt.Sprintf("Remembered %d in scope %s.", len(chosen), scope))
}

// whyLearned returns the default reason of a lesson.
func whyLearned(c *candidate.Candidate) string {
	return either(len(c.Answers) > 0, "allowed "+often(c.Answers)+" in the harness's prompt", "chosen by a person after it ran "+often(c.Ran))
}

// lessonPlaceOf returns the place of the lessons of a scope, by the scope's word.
func lessonPlaceOf(l *inforce.Loaded, scope string) (inforce.LessonPlace, error) {
	for _, at := range l.LessonPlaces() {
		if word := scopeWord(&at); word == scope && (word == "local" || word == "project" || word == "user") {
			return at, nil
		}
	}
	return inforce.LessonPlace{}, wrongUsage{fmt.Errorf("there is no scope %q to remember something in here: use local, project or user, and the first two in a project", Plain(scope))}
}

// candidatesCommand returns the command "lessons candidates".
func candidatesCommand(p Process) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "candidates [--json]",
		Short: "list calls that you allowed in a prompt, or that ran in auto mode",
		Long: `List the calls of this project that Cardea left to the harness: those that you allowed
in the harness's own prompt, and those that ran in auto mode while nothing shows that you
allowed them. They decide nothing until "cardea learn ID" makes lessons of them. With the
setting "learn: auto" those that you allowed and that only read are remembered when you have
allowed them on two days.`,
		Args: noArguments,
	}, func(_ []string, asJSON bool) error { return listCandidates(p, asJSON) })
}

// listCandidates lists the candidates of this project.
func listCandidates(p Process, asJSON bool) error {
	_, all, err := candidatesHere(p)
	if err != nil {
		return err
	}
	return p.answer(asJSON, append([]candidate.Candidate{}, all...), func(s *screen) {
		if len(all) == 0 {
			s.printf("No candidates. They come from calls that you allow in the harness's own prompt, and from calls that run in\nauto mode, where the hook gets the events PermissionRequest and PostToolUse; \"cardea doctor\" says whether it does.\n")
			return
		}
		for i := range all {
			showCandidate(s, &all[i])
		}
		s.printf("\nTo be asked no more about one, run \"cardea learn ID\".\n")
	})
}

// candidatesHere returns the candidates of the working folder's project: first those that
// the person allowed, then those that only ran, the latest first.
func candidatesHere(p Process) (hook.Registrar, []candidate.Candidate, error) {
	d, err := registrarHere(p)
	if err != nil {
		return d, nil, err
	}
	all, err := candidate.New(d.Place.State, d.Place.Project).All()
	if err != nil || d.Loaded.Settings.Learn == settings.LearnOff {
		return d, all, err
	}
	all, err = p.addRan(d, all)
	return d, all, err
}

// maxRan is the most different calls of the ledger that are judged again.
const maxRan = 200

// addRan adds the calls of the ledger that ran, mostly in auto mode, without a sign that a
// person allowed them. It judges each again, so that a lesson binds the current files. It
// leaves out calls that Cardea decides now, and calls that cannot be remembered.
func (p Process) addRan(d hook.Registrar, all []candidate.Candidate) ([]candidate.Candidate, error) {
	key, err := state.ReadKey(d.Place.State)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	l, lerr := ledgerOf(p, d.Place, d.Loaded.Settings.Ledger)
	if err = errors.Join(err, lerr); err != nil {
		return all, err
	}
	ids := map[string]string{} // by call as in the ledger; "" for a call that is not offered
	for line, err := range l.Search(ledger.Query{Project: d.Place.Project, Effects: []cardea.Effect{cardea.Abstain, cardea.Defer}}) {
		e := &line.Entry
		if err != nil || !line.Genuine || e.Event.String() != "PostToolUse" {
			continue // "cardea audit verify" reports unreadable lines
		}
		call := fmt.Sprintf("%q", []redact.Text{e.Tool, e.Role, e.Cwd, e.Input.Text})
		id, known := ids[call]
		if !known && len(ids) < maxRan {
			c, ok := p.ranAgain(d, key, *e)
			if id = c.ID; ok && !slices.ContainsFunc(all, func(have candidate.Candidate) bool { return have.ID == id }) {
				all = append(all, c)
			}
			ids[call] = id
		}
		if i := slices.IndexFunc(all, func(c candidate.Candidate) bool { return id != "" && c.ID == id }); i >= 0 {
			all[i].Ran = append([]time.Time{e.Time}, all[i].Ran...)
		}
	}
	return all, nil
}

// ranAgain returns a candidate for a call of the ledger. ok is false if Cardea decides the
// call now, or the ledger does not have the whole call.
func (p Process) ranAgain(d hook.Registrar, key []byte, e ledger.Entry) (c candidate.Candidate, ok bool) {
	e.Event = redact.New().Text(string(cardea.PreToolUse))
	t, err := p.judgedAgain(&e, cardea.Abstain)
	undecided := t.verdict.Effect == cardea.Abstain || t.verdict.Effect == cardea.Defer || t.verdict.Effect == cardea.Ask && t.verdict.By == "default"
	if err != nil || !undecided {
		return c, false
	}
	drafts, err := lesson.NewKeyer(redact.New(), key, d.Place.Project).DraftsOf(t.evaluation.Event, cardea.Allow)
	if err != nil {
		return c, false
	}
	c = candidate.Of(key, drafts, hook.ReadsOnly(t.evaluation.Event.Call))
	if strings.HasPrefix(c.Drafts[0].Subject.String(), e.Tool.String()+" ") {
		c.Input = e.Input.Text
	}
	return c, true
}

// often returns the number of times as text.
func often(at []time.Time) string {
	return either(len(at) > 1, fmt.Sprintf("%d times", len(at)), "once")
}

// showCandidate shows a candidate in two lines. It takes one more line for a digest as
// subject, and one more for a call that was allowed and also ran without that.
func showCandidate(s *screen, c *candidate.Candidate) {
	s.printf("%s  %s\n", c.ID, Plain(c.Subjects()))
	if text := c.Input.String(); text != "" {
		s.printf("          with %s\n", Plain(text))
	}
	first := c.Drafts[0]
	where := joined(", ", "in "+Plain(first.Dir.String()), prefixed("as ", Plain(first.Role.String())), onlyIf(c.ReadsOnly, "only reads"))
	if n := len(c.Answers); n > 0 {
		s.printf("          allowed by you %s, last on %s, %s\n", often(c.Answers), c.Answers[n-1].Local().Format(time.DateOnly), where)
	}
	if n := len(c.Ran); n > 0 {
		s.printf("          ran %s on %s, last on %s, %s; you were not seen to allow it\n", often(c.Ran), count(candidate.Days(c.Ran), "day"), c.Ran[n-1].Local().Format(time.DateOnly), where)
	}
}
