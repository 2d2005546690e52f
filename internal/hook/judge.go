package hook

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/ask/judge/question"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/decide/byjudge"
	"cardea.dev/internal/memory/lesson"
)

// maxPromptFile bounds how much of an agent's prompt is read, in bytes.
const maxPromptFile = 64 << 10

// judgeOf makes the decider of the judge, nil where the settings do not switch it on. It
// asks nobody.
func (j *Judgement) judgeOf(r *redact.Redactor) *byjudge.Decider {
	s := &j.Loaded.Settings
	if s.Judge.Enabled {
		j.Loaded.Callbacks.JudgeNow = sync.OnceValue(func() *lesson.Judge {
			now := j.judgeNow(r)
			return &now
		})
	}
	if !s.Judge.Enabled || j.process.Judge == nil || !j.Event.Kind.Answered() || j.Event.Call == nil {
		return nil
	}
	d := byjudge.New(byjudge.Settings{Asker: j.process.Judge(j.JudgeRequest(), s.FromEnv), About: j.AboutCall, Redactor: r,
		Threshold: j.JudgeThreshold(), AllowOpaque: s.Judge.AllowOpaque})
	j.Loaded.Callbacks.Judge = watchdog(d)
	return d
}

// watchdog is the judge's answer as a signal, in the words of Cupcake's watchdog. The same
// answer counts afterwards, if no rule decides.
func watchdog(d *byjudge.Decider) func(context.Context, *cardea.Event) any {
	return func(ctx context.Context, ev *cardea.Event) any {
		a := d.Ask(ctx, ev, nil, nil)
		if a.Err != nil {
			return map[string]any{"ok": false, "error": a.Err.Error(), "timed_out": ctx.Err() != nil}
		}
		return map[string]any{"ok": true, "allow": a.Answer.Decision == cardea.Allow, "decision": a.Answer.Decision.String(),
			"confidence": a.Answer.Confidence, "reasoning": a.Answer.Reason.String(), "model": a.Answer.Model}
	}
}

// JudgeRequest says who is asked in the judgement's place.
func (j *Judgement) JudgeRequest() judge.Request {
	s := &j.Loaded.Settings.Judge
	r := j.Place.JudgeRequest(s.Config)
	if s.Backend == settings.BySupervisor {
		r.Seat = &judge.Seat{Runtime: j.Place.Dirs.Runtime, Team: j.team(), Agent: j.Event.Agent}
	}
	return r
}

// team is the team of the session, as it was registered or as the harness's files have it.
func (j *Judgement) team() string {
	return cmp.Or(j.identity.registered.Team, j.teamOfHarness())
}

// JudgeRequest says who is asked in a place.
func (pl *Place) JudgeRequest(c judge.Config) judge.Request {
	return judge.Request{Config: c, State: pl.State, Home: pl.Dirs.Home, Project: pl.Project}
}

// AboutCall is what the judge is told besides the call: who the agent is, what it is to do,
// and the policy of the project. Files are read the first time, and what is wrong with them
// is told.
func (j *Judgement) AboutCall(context.Context, *cardea.Event) (question.About, cardea.Troubles) {
	return j.aboutNow()
}

// aboutNow is what is read once for all questions.
func (j *Judgement) aboutNow() (question.About, cardea.Troubles) {
	j.aboutOnce.Do(func() { j.about, j.aboutTroubles = j.readAbout() })
	return j.about, j.aboutTroubles
}

func (j *Judgement) readAbout() (question.About, cardea.Troubles) {
	var troubles cardea.Troubles
	about := question.About{Role: j.Loaded.JudgeRole(j.Event.Role), Team: j.team()}
	reg, known := j.identity.registered.Agent(j.Event.Agent)
	if !known {
		reg, _ = j.identity.registered.Agent("")
	}
	about.Task = reg.Task
	if reg.PromptPath != "" {
		prompt, err := state.Read(reg.PromptPath, maxPromptFile)
		if err != nil {
			troubles = append(troubles, cardea.Warning(reg.PromptPath, cardea.CodeUnreadable, "register the agent again", "the judge is not told the agent's prompt: "+err.Error()))
		}
		about.Prompt = string(prompt)
	}
	policy, problems := j.Loaded.JudgePolicy()
	about.Policy = policy
	for _, p := range problems {
		troubles = append(troubles, cardea.Trouble{Diagnostic: p})
	}
	return about, troubles
}

// judgeNow is the judge that there is: who is asked, what it is told to do, and by which
// policy.
func (j *Judgement) judgeNow(r *redact.Redactor) lesson.Judge {
	s := &j.Loaded.Settings.Judge
	models := []string{s.Backend}
	if s.Backend == settings.ByChain {
		models = nil
		for _, p := range s.Providers() {
			models = append(models, p.Model)
		}
	}
	model := strings.Join(models, ", ")
	if len(model) > maxModel {
		model = model[:maxModel]
	}
	about, _ := j.aboutNow()
	return lesson.Judge{Model: model, Prompt: question.PromptHash(), Policy: question.PolicyHash(r, about)}
}

// maxModel bounds the names of models in a lesson, in bytes.
const maxModel = 200

// afterJudge keeps what the judge decided, and counts what became of what it recommended;
// nil where it was not asked. No decision is kept that is doubtful, that did not decide the
// call or was not the answer, or that is about another input than the agent's.
func (j *Judgement) afterJudge(v cardea.Verdict, answered cardea.Effect, r *redact.Redactor) func() error {
	if j.Judge == nil {
		return nil
	}
	asked := j.Judge.About(j.Event.Call)
	if asked == nil {
		return nil
	}
	keeps := v.Rewrite == nil && asked.Err == nil && asked.Effect == asked.Answer.Decision && v.Effect == asked.Effect && answered == asked.Effect
	ev, now := j.Event, j.process.Now()
	return func() (err error) {
		if keeps {
			err = j.Loaded.KeepJudged(ev, asked.Effect, asked.Answer, j.judgeNow(r), now)
		}
		return errors.Join(err, j.countAgreement())
	}
}

// keepWait is how long a lesson of the judge is waited for when the answer is out.
const keepWait = time.Second

// keepLessons keeps what the judge decided. The answer is out.
func (h *Hook) keepLessons() {
	keep := h.progress.Load().keep
	if keep == nil {
		return
	}
	done := make(chan error, 1)
	h.Unended.Go(func() { done <- keep() })
	select {
	case err := <-done:
		if err != nil {
			h.process.Warn("what the judge decided is not remembered: " + err.Error())
		}
	case <-time.After(keepWait): // it is decided anew the next time
	}
}

// sendsPermissionRequest reports whether a harness sends a permission request before it
// prompts, so that what costs time can wait for it.
func sendsPermissionRequest(name string) bool {
	can, _ := capabilitiesOf(name)
	return slices.ContainsFunc(can.Rows, func(r cardea.Row) bool { return slices.Contains(r.Kinds, cardea.PermissionRequest) })
}
