package cli

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"cardea.dev/internal/candidate"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/inforce"
	"github.com/spf13/cobra"
)

func learnCommand(p Process) *cobra.Command {
	var scope, reason string
	c := &cobra.Command{
		Use:   "learn ID...",
		Short: "remember calls that you allowed in the harness's own prompt",
		Long: `Make lessons of calls that you allowed in the harness's own prompt while Cardea said
nothing: they are then allowed without a question. "cardea lessons candidates"
lists them with their ids. Only a person may do this. See docs/lessons.md.`,
		Example: "  cardea lessons candidates\n  cardea lessons learn 3fa9c1d2",
		Args:    atLeastOneArgument,
		RunE:    func(_ *cobra.Command, ids []string) error { return learn(p, ids, scope, reason) },
	}
	c.Flags().StringVar(&scope, "scope", "local", "where they count: local (this project, for you alone), project (shared by git) or user (all your projects)")
	c.Flags().StringVar(&reason, "reason", "", "why, for whoever reads the lesson")
	return cautious(c)
}

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
			return wrongUsage{fmt.Errorf("there is no candidate %s in this project; \"cardea lessons candidates\" lists them", Plain(id))}
		}
		chosen = append(chosen, all[i])
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
		why := cmp.Or(reason, "allowed "+often(&chosen[i])+" in the harness's prompt")
		if err := hook.TeachCandidate(d.Process, d.Loaded, to, chosen[i], why); err != nil {
			return fmt.Errorf("%s: %w", chosen[i].ID, err)
		}
	}
	return p.say(fmt.Sprintf("Remembered %d in scope %s.", len(chosen), scope))
}

// lessonPlaceOf is the place of the lessons of a scope, by the word that people use.
func lessonPlaceOf(l *inforce.Loaded, scope string) (inforce.LessonPlace, error) {
	for _, at := range l.LessonPlaces() {
		if word := scopeWord(&at); word == scope && (word == "local" || word == "project" || word == "user") {
			return at, nil
		}
	}
	return inforce.LessonPlace{}, wrongUsage{fmt.Errorf("there is no scope %q to remember something in here: use local, project or user, and the first two in a project", Plain(scope))}
}

// candidatesCommand is "lessons candidates".
func candidatesCommand(p Process) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "candidates [--json]",
		Short: "list calls that you allowed in the harness's own prompt",
		Long: `List the calls of this project that you allowed in the harness's own prompt while
Cardea said nothing. They decide nothing until "cardea lessons learn ID" makes lessons of
them. With the setting "learn: auto" those that only read are remembered when you
have allowed them on two days.`,
		Args: noArguments,
	}, func(_ []string, asJSON bool) error { return listCandidates(p, asJSON) })
}

func listCandidates(p Process, asJSON bool) error {
	_, all, err := candidatesHere(p)
	if err != nil {
		return err
	}
	return p.answer(asJSON, slices.Concat([]candidate.Candidate{}, all), func(s *screen) {
		if len(all) == 0 {
			s.printf("There are none. They come from calls that you allow in the harness's own prompt, where the hook gets the\nevents PermissionRequest and PostToolUse; \"cardea doctor\" says whether it does.\n")
		}
		for i := range all {
			showCandidate(s, &all[i])
		}
	})
}

// candidatesHere are the candidates of the project where the person stands, the latest
// first.
func candidatesHere(p Process) (hook.Desk, []candidate.Candidate, error) {
	d, err := deskHere(p)
	if err != nil {
		return d, nil, err
	}
	all, err := candidate.New(d.Place.State, d.Place.Project).All()
	return d, all, err
}

// often is how often a candidate was allowed.
func often(c *candidate.Candidate) string {
	if n := len(c.Answers); n > 1 {
		return fmt.Sprintf("%d times", n)
	}
	return "once"
}

// showCandidate shows a candidate in two lines.
func showCandidate(s *screen, c *candidate.Candidate) {
	s.printf("%s  %s\n", c.ID, Plain(c.Subjects()))
	first, last := c.Drafts[0], c.Answers[len(c.Answers)-1].Local().Format(time.DateOnly)
	s.printf("          allowed %s, last on %s, %s\n", often(c), last,
		joined(", ", "in "+first.Dir.String(), prefixed("as ", first.Role.String()), onlyIf(c.ReadsOnly, "only reads")))
}
