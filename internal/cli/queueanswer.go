package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/ask/queue/store"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/memory/candidate"
	"cardea.dev/internal/memory/lesson"
	"github.com/spf13/cobra"
)

// answerFlags are the flags of an answer.
type answerFlags struct {
	alwaysAsk, addRule, alike, once, downgrade bool
	scope, message                             string
	lasts                                      time.Duration
	// confirmed is set if it was already checked that a person types.
	confirmed bool
	// via is the way of the answer, "" for a terminal.
	via string
}

// answerCommand returns the command "queue approve" or "queue deny".
func answerCommand(p Process, name string, e cardea.Effect, long, example string) *cobra.Command {
	var f answerFlags
	c := &cobra.Command{
		Use:     name + " ID...",
		Short:   name + " calls that wait for you",
		Long:    long,
		Example: example,
		Args:    atLeastOneArgument,
		RunE:    func(_ *cobra.Command, ids []string) error { return answerNamed(p, ids, e, f) },
	}
	flags := c.Flags()
	flags.BoolVar(&f.alwaysAsk, "always-ask", false, "answer this call so, and ask about every such call from now on")
	flags.BoolVar(&f.addRule, "add-rule", false, "write a rule with this effect; with --always-ask one that asks")
	flags.StringVar(&f.scope, "scope", "", "where it is remembered: local (default for lessons), project (default for rules) or user")
	flags.DurationVar(&f.lasts, "for", 0, "how long it is remembered: 30m, 8h; none is for good")
	flags.StringVar(&f.message, "message", "", "what the model is told")
	flags.BoolVar(&f.alike, "alike", false, "answer what waits and is alike, too: the same programs and subcommands, or the same file")
	flags.BoolVar(&f.once, "once", false, "remember nothing")
	flags.BoolVar(&f.downgrade, "downgrade", false, "make the lesson that asks about it one with this effect")
	return c
}

const answerHelp = `

What no rule decided about is remembered: the same call is decided alike from then on
(docs/lessons.md), unless --once is given. An answer to what a rule or lesson asks
about is for this call alone, unless an option says so. Only a person may do this.`

func approveCommand(p Process) *cobra.Command {
	return cautious(answerCommand(p, "approve", cardea.Allow, `Let calls run that wait for you; "cardea queue" lists them. An approval is for exactly
the call that is shown. It never lifts a denial.`+answerHelp,
		"  cardea queue approve 7\n  cardea queue approve 7 8 --message \"but not on Fridays\"\n  cardea queue approve 7 --add-rule --scope user"))
}

func denyCommand(p Process) *cobra.Command {
	return answerCommand(p, "deny", cardea.Deny, `Deny calls that wait for you; "cardea queue" lists them.`+answerHelp,
		"  cardea queue deny 7 --message \"use the staging database\"\n  cardea queue deny 7 --always-ask")
}

// answerNamed answers the calls with these numbers.
func answerNamed(p Process, names []string, e cardea.Effect, f answerFlags) error {
	var ids []int64
	for _, name := range names {
		id, err := strconv.ParseInt(name, 10, 64)
		if err != nil || id < 1 {
			return wrongUsage{fmt.Errorf("%q is no number of a call; \"cardea queue\" lists them", Plain(name))}
		}
		ids = append(ids, id)
	}
	if err := p.needsPerson(); err != nil {
		return err
	}
	_, s, err := queueHere(p)
	if err != nil {
		return err
	}
	defer s.Close()
	return p.answerEntries(s, ids, e, f)
}

// check returns an error if the flags do not fit an entry.
func (f *answerFlags) check(e *queue.Entry) error {
	asked := byAskLesson(e)
	remembers := f.alwaysAsk || f.addRule || f.downgrade
	switch {
	case f.once && (remembers || f.scope != "" || f.lasts != 0):
		return errors.New("--once remembers nothing, so it goes with no option that does")
	case f.downgrade && (f.alwaysAsk || !asked):
		return errors.New("--downgrade is for a call that a lesson asks about, and not with --always-ask")
	case f.lasts < 0:
		return errors.New("--for must be longer than nothing")
	case f.addRule && f.lasts != 0:
		return errors.New("a rule has no end; use --for without --add-rule")
	case !slices.Contains([]string{"", "local", "project", "user"}, f.scope) || f.addRule && f.scope == "local":
		return errors.New("--scope is local (for lessons alone), project or user")
	case e.Effect == cardea.Ask && !remembers && (f.scope != "" || f.lasts != 0):
		return fmt.Errorf("%s asks about every such call, so there is nothing to remember; use --add-rule or --downgrade, or \"cardea override\" against a built-in rule", e.By)
	}
	return nil
}

// remembered returns the effect that an answer makes permanent, and whether it makes one
// permanent.
func (f *answerFlags) remembered(e *queue.Entry, answer cardea.Effect, learn string) (cardea.Effect, bool) {
	switch {
	case f.alwaysAsk:
		return cardea.Ask, true
	case f.downgrade || f.scope != "" || f.lasts != 0:
		return answer, true
	}
	return answer, !f.once && e.Effect != cardea.Ask && learn != settings.LearnOff
}

// answerEntries answers entries, if the person confirms it.
func (p Process) answerEntries(s *store.Store, ids []int64, answer cardea.Effect, f answerFlags) error {
	ctx := context.Background()
	all, err := queuedOf(ctx, s, ids, f.alike)
	if err != nil {
		return err
	}
	written, err := p.rulesOf(all, answer, f)
	if err != nil {
		return err
	}
	show := func(out *screen) {
		for i := range all {
			if !f.confirmed {
				showEntry(out, &all[i], p.Now())
			}
		}
		for _, r := range written {
			out.printf("\n%s\n", painted{faint, r.path})
			out.block("  ", r.text)
		}
	}
	word := map[cardea.Effect]string{cardea.Allow: "approve", cardea.Deny: "deny"}[answer]
	if f.confirmed && !f.addRule {
		show(screenOn(p.Stderr, p.Env))
	} else if err := p.byLetter(word+" "+count(len(all), "call"), show); err != nil {
		return err
	}
	r := redact.New()
	lost := false
	for i := range all {
		e := &all[i]
		won, err := s.Answer(ctx, e.ID, queue.Resolution{Effect: answer, Message: r.Text(f.message), Who: r.Text(p.UserName()), Via: cmp.Or(f.via, "terminal")})
		if err != nil {
			return fmt.Errorf("call %d: %w", e.ID, err)
		}
		if !won {
			lost = true
			p.warn(fmt.Sprintf("call %d was answered before, or its time was over; nothing was remembered", e.ID))
			continue
		}
		if err := p.afterAnswer(s, e, answer, f, written, i); err != nil {
			return fmt.Errorf("call %d is answered, but not all is remembered: %w", e.ID, err)
		}
	}
	return failIf(lost, nil)
}

// rulesOf checks that the flags fit the entries, and returns the rules to write with
// --add-rule.
func (p Process) rulesOf(all []queue.Entry, answer cardea.Effect, f answerFlags) (written []*ruleFile, err error) {
	for i := range all {
		if err := f.check(&all[i]); err != nil {
			return nil, wrongUsage{fmt.Errorf("call %d: %w", all[i].ID, err)}
		}
		if !f.addRule {
			continue
		}
		effect, _ := f.remembered(&all[i], answer, "")
		r, err := p.ruleOf(&all[i], effect, f)
		if err != nil {
			return nil, fmt.Errorf("call %d: %w", all[i].ID, err)
		}
		written = append(written, r)
	}
	return written, nil
}

// queuedOf returns the waiting entries with these numbers, with alike also the entries like
// them.
func queuedOf(ctx context.Context, s *store.Store, ids []int64, alike bool) (all []queue.Entry, err error) {
	for _, id := range ids {
		e, err := s.Entry(ctx, id)
		switch {
		case err != nil:
			return nil, fmt.Errorf("call %d: %w", id, err)
		case e.State == queue.Answered:
			return nil, fmt.Errorf("call %d was answered already: %s", id, e.Answer.Text())
		case e.State == queue.Expired:
			return nil, fmt.Errorf("call %d was denied, since nobody answered in time", id)
		}
		if !slices.ContainsFunc(all, func(x queue.Entry) bool { return x.ID == id }) {
			all = append(all, e)
		}
	}
	if !alike {
		return all, nil
	}
	pending, err := s.Pending(ctx)
	named := len(all)
	for _, e := range pending {
		like := slices.ContainsFunc(all[:named], func(x queue.Entry) bool { return queue.Like(&x, &e) })
		if like && !slices.ContainsFunc(all, func(x queue.Entry) bool { return x.ID == e.ID }) {
			all = append(all, e)
		}
	}
	return all, err
}

// afterAnswer shows an answer, and remembers it if the flags say so.
func (p Process) afterAnswer(s *store.Store, e *queue.Entry, answer cardea.Effect, f answerFlags, written []*ruleFile, i int) error {
	out := screenOn(p.Stdout, p.Env)
	now, err := s.Entry(context.Background(), e.ID)
	if err != nil {
		return err
	}
	out.printf("%d  %s\n", e.ID, now.Answer.Text())
	out.printIf(now.Answer.Grant, "   the same call may run once until %s\n", now.Answer.Expires.Local().Format("15:04:05"))
	if why := e.UnheardOf(now.Answer); why != "" {
		out.printf("   %s\n", why)
	}
	if f.addRule {
		return errors.Join(written[i].write(p, out), out.err)
	}
	d, err := registrarHere(p.in(e.Project.String()))
	if err != nil {
		return err
	}
	effect, does := f.remembered(e, answer, d.Loaded.Settings.Learn)
	if !does {
		return out.err
	}
	return errors.Join(p.teach(d, e, effect, f, out), out.err)
}

// teach makes lessons of an answer.
func (p Process) teach(d sessionRegistrar, e *queue.Entry, effect cardea.Effect, f answerFlags, out *screen) error {
	drafts := either(effect == cardea.Allow, e.Allows, e.Holds)
	if len(drafts) == 0 {
		out.printf("   it counts once: %s\n", cmp.Or(e.Why.String(), lesson.ErrNotTeachable.Error()))
		return nil
	}
	scope := cmp.Or(f.scope, "local")
	to, err := lessonPlaceOf(d.Loaded, scope)
	if err != nil {
		return err
	}
	r := redact.New()
	reason := cmp.Or(f.message, fmt.Sprintf("answer to call %d of the queue", e.ID))
	c := candidate.Candidate{Drafts: drafts}
	lessons := c.Lessons(r.Text(p.UserName()), r.Text(reason), p.Now())
	for i := range lessons {
		lessons[i].Effect, lessons[i].When = effect, p.Now().UTC().Truncate(time.Second)
		if f.lasts > 0 {
			lessons[i].Expires = p.Now().Add(f.lasts).UTC()
		}
	}
	if f.downgrade {
		if err := p.removeAsking(e); err != nil {
			return err
		}
	}
	if err := hook.Teach(d.Loaded, to, lessons...); err != nil {
		return err
	}
	ids, err := idsOf(lessons)
	if err != nil {
		return err
	}
	out.printf("   from now on: %s (scope %s); \"cardea lessons rm %s\" takes it back\n", effect, scope, ids)
	return nil
}

// idsOf returns the ids of new lessons, as "cardea lessons rm" takes them.
func idsOf(lessons []lesson.Draft) (string, error) {
	ids := make([]string, len(lessons))
	for i := range lessons {
		text, err := lessons[i].Text()
		if err != nil {
			return "", err
		}
		ids[i] = lesson.IDOf(text).Short()
	}
	return strings.Join(ids, " "), nil
}

// removeAsking removes the lessons that ask about a call.
func (p Process) removeAsking(e *queue.Entry) error {
	s, err := shelfHere(p.in(e.Project.String()))
	if err != nil {
		return err
	}
	for _, o := range e.Opinions {
		name, found := lessonOf(o)
		if !found {
			continue
		}
		l, err := s.named(name)
		if err != nil {
			return err
		}
		if _, err := s.forget(p, *l.place, l.ID); err != nil {
			return err
		}
	}
	return nil
}

// lessonOf returns the id of the lesson whose opinion asks.
func lessonOf(o queue.Opinion) (id string, is bool) {
	id, is = strings.CutPrefix(o.By, "lessons:")
	return id, is && o.Effect == cardea.Ask
}
