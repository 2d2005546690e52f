package hook

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/memory/candidate"
	"cardea.dev/internal/memory/lesson"
)

// learn follows calls that Cardea left alone and a person then allowed in the harness's own
// prompt. told are the notices for the person.
//
// A call applies if it was left alone before it ran, was then shown, and then ran. All of
// this happens in one mode in which the harness asks a person and sends a message for the
// prompt. A call about which a guard or a rule had an opinion teaches nothing.
func (j *Evaluation) learn(a cardea.Answer) (told cardea.Issues, err error) {
	c, s := j.Event.Call, j.Place.Session
	if c == nil || j.Loaded.Settings.Learn == settings.LearnOff || j.identity.disabled {
		return nil, nil
	}
	alone := a.Effect < cardea.Ask && a.Effect != cardea.Allow && a.Decided < cardea.Ask && a.Decided != cardea.Allow && a.Rewrite == nil
	if !s.Follows() && !j.allowed && (j.Event.Kind != cardea.PreToolUse || !alone) {
		return nil, nil // there is nothing to continue or to forget
	}
	name := j.followedName()
	switch j.Event.Kind {
	case cardea.PreToolUse:
		if alone && (j.Event.Mode == cardea.ModeAuto || j.prompts()) {
			s.LeftAlone(name, j.Event.Mode)
		} else {
			s.Forget(name)
		}
	case cardea.PermissionRequest:
		if !alone {
			s.Forget(name)
		} else if can, _ := capabilitiesOf(j.Event.Harness); can.Asks(j.Event) && s.Showing(name, j.Event.Mode) {
			return nil, j.showing(s.CallID(name))
		}
	case "PostToolUseFailure":
		s.Forget(name)
	case "PostToolUse":
		if j.allowed {
			return j.ran(s.CallID(name))
		}
	}
	return nil, nil
}

// prompts reports whether the harness shows the person a call that no rule allowed.
func (j *Evaluation) prompts() bool {
	return j.Event.Attended() && slices.Contains([]cardea.Mode{cardea.ModeUnknown, cardea.ModeDefault, cardea.ModePlan, cardea.ModeAcceptEdits}, j.Event.Mode)
}

// endsUnasked records whether the event reports that a call ran which a person allowed. It
// returns true if the call ran and it is unknown who allowed it: in auto mode, and if the
// harness sends the message of its prompt for other calls as well.
func (j *Evaluation) endsUnasked() (unasked bool) {
	s := j.Place.Session
	if j.Event.Kind != "PostToolUse" || j.Event.Call == nil || !s.Follows() || j.Loaded.Settings.Learn == settings.LearnOff {
		return false
	}
	j.allowed, unasked = s.Ran(j.followedName(), j.Event.Mode)
	return unasked && (j.Event.Mode == cardea.ModeAuto || sendsPermissionRequest(j.Event.Harness) && !provesPrompt(j.Event.Harness))
}

// followedName returns a name for a call of the session and agent: the answer to one
// agent's prompt says nothing about the same call of another agent.
func (j *Evaluation) followedName() string {
	return j.Event.Agent + "\n" + callName(j.Event.Call, j.Event.Call.Input)
}

// provesPrompt reports whether a message of the harness proves that it asks a person.
func provesPrompt(name string) bool {
	can, _ := capabilitiesOf(name)
	return slices.ContainsFunc(can.Rows, func(r cardea.Row) bool { return len(r.Shown) > 0 })
}

func (j *Evaluation) candidates() candidate.Store {
	return candidate.New(j.Place.State, j.Place.Project)
}

// showing saves what the call that is shown would teach.
func (j *Evaluation) showing(id string) error {
	key, err := state.LoadKey(j.Place.State)
	if err != nil {
		return err
	}
	drafts, err := lesson.NewKeyer(redact.New(), key, j.Place.Project).DraftsOf(j.Event, cardea.Allow)
	if err != nil {
		return nil // it cannot be remembered, which is no failure
	}
	return j.candidates().Showing(id, drafts, ReadsOnly(j.Event.Call))
}

// remembers reports whether a candidate becomes a lesson without a command of the person.
func (j *Evaluation) remembers(c *candidate.Candidate) bool {
	return j.Loaded.Settings.Learn == settings.LearnAuto && c.ReadsOnly && candidate.Days(c.Answers) >= autoDays
}

// ReadsOnly reports whether all effects of a call are known and it only reads: it changes
// and contacts nothing.
func ReadsOnly(c *cardea.Call) bool {
	for i := range c.Parts {
		p := &c.Parts[i]
		acts := slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind != cardea.Read && a.Kind != cardea.Execute })
		if acts || p.Coverage != cardea.Complete || p.Knowledge != cardea.Complete || len(p.Opaque) > 0 {
			return false
		}
	}
	return c.Known && len(c.Opaque) == 0
}

// autoDays is the number of different days on which a person must allow a call before it
// becomes a lesson automatically.
const autoDays = 2

// ran counts the person's answer, and makes a lesson if the settings say so. The notice
// comes after the call, since Claude Code shows no notice with its prompt.
func (j *Evaluation) ran(id string) (cardea.Issues, error) {
	c, err := j.candidates().Ran(id, j.process.Now())
	if err != nil || c == nil {
		return nil, err
	}
	quoted := strings.ReplaceAll(Plain(shortened(c.Subjects())), `"`, "'") // text of the agent must not end the quotation
	what, hint := "you allowed \""+quoted+"\"", ""
	switch n := len(c.Answers); {
	case j.remembers(c):
		to, err := local(j.Loaded)
		if err == nil {
			err = TeachCandidate(j.process, j.Loaded, to, *c, fmt.Sprintf("allowed %d times in the harness's prompt, on %d days", n, candidate.Days(c.Answers)))
		}
		if err != nil {
			return nil, fmt.Errorf("remember %s: %w", c.Subjects(), err)
		}
		what, hint = what+fmt.Sprintf(" on %d days, so it is allowed from now on (learn: auto)", candidate.Days(c.Answers)), "\"cardea lessons list\" shows the lesson"
	case j.Loaded.Settings.Learn == settings.LearnAuto && c.ReadsOnly:
		hint = "if you allow it on another day, it is allowed from then on (learn: auto)"
	case n > 1:
		what += fmt.Sprintf(" before, last on %s", c.Answers[n-2].Format(time.DateOnly))
		hint = fmt.Sprintf("to be asked no more, run \"cardea learn %s\" in a terminal of your own", c.ID)
	default:
		return nil, nil
	}
	return cardea.Issues{cardea.Warning("", diagnostic.CodeLearned, hint, what)}, nil
}

// maxQuoted is how much of a call a hint quotes, in characters.
const maxQuoted = 80

// shortened returns a text, cut to maxQuoted characters.
func shortened(text string) string {
	if r := []rune(text); len(r) > maxQuoted {
		return string(r[:maxQuoted]) + "…"
	}
	return text
}

// TeachCandidate turns a candidate into lessons in a place, and removes the candidate.
func TeachCandidate(p Process, l *inforce.Loaded, to inforce.LessonPlace, c candidate.Candidate, reason string) error {
	r := redact.New()
	if err := Teach(l, to, c.Lessons(r.Text(p.UserName()), r.Text(reason), p.Now())...); err != nil {
		return err
	}
	return candidate.New(l.Where.State, l.Where.Project).Remove(c.ID)
}

// Teach writes lessons to a place.
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

// local returns the place for lessons in the project that only the person uses. It fails
// outside of a project.
func local(l *inforce.Loaded) (inforce.LessonPlace, error) {
	for _, at := range l.LessonPlaces() {
		if at.Local {
			return at, nil
		}
	}
	return inforce.LessonPlace{}, errors.New("there is no project here to remember it in")
}
