package hook

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"cardea.dev"
	"cardea.dev/internal/candidate"
	"cardea.dev/internal/inforce"
	"cardea.dev/internal/lesson"
	"cardea.dev/internal/project"
	"cardea.dev/internal/redact"
	"cardea.dev/internal/settings"
	"cardea.dev/internal/state"
)

// learn follows calls about which Cardea said nothing, and which a person then allowed in
// the harness's own prompt. What is told to the person is in the warnings.
//
// A call counts if it was left alone when it was about to run, then shown, and then ran,
// all in one mode that prompts. In a mode that does not prompt nobody was asked. What a
// guard or a person's rule had an opinion about teaches nothing.
func (j *Judgement) learn(a cardea.Answer) (told cardea.Troubles, err error) {
	c, s := j.Event.Call, j.Place.Session
	if c == nil || j.Loaded.Settings.Learn == settings.LearnOff || j.identity.disabled {
		return nil, nil
	}
	alone := a.Effect < cardea.Ask && a.Effect != cardea.Allow && a.Decided < cardea.Ask && a.Decided != cardea.Allow && a.Rewrite == nil
	if !s.Follows() && (j.Event.Kind != cardea.PreToolUse || !alone) {
		return nil, nil // there is nothing to go on with, or to forget
	}
	name := callName(c, c.Input)
	switch j.Event.Kind {
	case cardea.PreToolUse:
		if alone && j.prompts() {
			s.LeftAlone(name, j.Event.Mode)
		} else {
			s.Forget(name)
		}
	case cardea.PermissionRequest:
		if !alone || !j.prompts() {
			s.Forget(name)
			return nil, nil
		}
		if s.Showing(name, j.Event.Mode) {
			return j.showing(s.CallID(name))
		}
	case "PostToolUseFailure":
		s.Forget(name)
	case "PostToolUse":
		if s.Ran(name, j.Event.Mode) {
			return nil, j.ran(s.CallID(name))
		}
	}
	return nil, nil
}

// prompts reports whether the harness shows a person what nobody allowed.
func (j *Judgement) prompts() bool {
	return j.Event.Attended() && slices.Contains([]cardea.Mode{cardea.ModeUnknown, cardea.ModeDefault, cardea.ModePlan, cardea.ModeAcceptEdits}, j.Event.Mode)
}

func (j *Judgement) candidates() candidate.Store {
	return candidate.New(j.Place.State, j.Place.Project)
}

// showing keeps what the call that is shown would teach, and tells the person what their
// answers do.
func (j *Judgement) showing(id string) (cardea.Troubles, error) {
	key, err := state.LoadKey(j.Place.State)
	if err != nil {
		return nil, err
	}
	drafts, err := lesson.NewKeyer(redact.New(), key, j.Place.Project).DraftsOf(j.Event, cardea.Allow)
	if err != nil {
		return nil, nil // it cannot be remembered, which is no failure
	}
	known, err := j.candidates().Showing(id, drafts, readsOnly(j.Event.Call))
	if known == nil {
		return nil, err
	}
	before := fmt.Sprintf("you allowed this before, last on %s", known.Answers[len(known.Answers)-1].Format(time.DateOnly))
	hint := fmt.Sprintf("to be asked no more, run \"cardea lessons learn %s\" in a terminal of your own", known.ID)
	if j.remembers(known, j.process.Now()) {
		hint = "if you allow it now, it is allowed from now on (learn: auto)"
	}
	return cardea.Troubles{cardea.Warning("", cardea.CodeLearned, hint, before)}, err
}

// remembers reports whether an answer at a time makes a lesson of a candidate by itself.
func (j *Judgement) remembers(c *candidate.Candidate, now time.Time) bool {
	with := candidate.Candidate{Answers: append(slices.Clip(c.Answers), now)}
	return j.Loaded.Settings.Learn == settings.LearnAuto && c.ReadsOnly && with.Days() >= autoDays
}

// readsOnly reports whether all that a call does is known, and it changes and contacts
// nothing.
func readsOnly(c *cardea.Call) bool {
	for i := range c.Parts {
		p := &c.Parts[i]
		if p.Coverage != cardea.Complete || p.Knowledge != cardea.Complete || len(p.Opaque) > 0 {
			return false
		}
		for _, a := range p.Access {
			if a.Kind != cardea.Read && a.Kind != cardea.Execute {
				return false
			}
		}
	}
	return c.Known && len(c.Opaque) == 0
}

// autoDays is on how many different days a person must have allowed a call before it is
// remembered by itself.
const autoDays = 2

// ran counts the person's answer, and makes a lesson where that is to be.
func (j *Judgement) ran(id string) error {
	now := j.process.Now()
	c, err := j.candidates().Ran(id, now)
	if err != nil || c == nil || !j.remembers(c, now) {
		return err
	}
	to, err := local(j.Loaded)
	if err == nil {
		err = TeachCandidate(j.process, j.Loaded, to, *c, fmt.Sprintf("allowed %d times in the harness's prompt, on %d days", len(c.Answers), c.Days()))
	}
	if err != nil {
		return fmt.Errorf("remember %s: %w", c.Subjects(), err)
	}
	return nil
}

// TeachCandidate makes lessons of a candidate in a place, and forgets the candidate.
func TeachCandidate(p Process, l *inforce.Loaded, to inforce.LessonPlace, c candidate.Candidate, reason string) error {
	r := redact.New()
	if err := Teach(l, to, c.Lessons(r.Text(p.UserName()), r.Text(reason), p.Now())...); err != nil {
		return err
	}
	return candidate.New(l.Where.State, l.Where.Project).Remove(c.ID)
}

// Teach writes lessons in a place.
func Teach(l *inforce.Loaded, to inforce.LessonPlace, drafts ...lesson.Draft) error {
	w, err := l.LessonWriter(to)
	if err != nil {
		return err
	}
	if ignore := filepath.Join(filepath.Dir(to.Dir), ".gitignore"); to.Local && !state.Exists(ignore) {
		if err := state.Write(ignore, []byte(project.IgnoreFile)); err != nil {
			return err
		}
	}
	return w.Teach(drafts...)
}

// local is the place of lessons in the project that is the person's alone.
func local(l *inforce.Loaded) (inforce.LessonPlace, error) {
	for _, at := range l.LessonPlaces() {
		if at.Local {
			return at, nil
		}
	}
	return inforce.LessonPlace{}, errors.New("there is no project here to remember it in")
}
