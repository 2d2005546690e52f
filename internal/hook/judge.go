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
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/decide/byjudge"
	"cardea.dev/internal/memory/lesson"
)

// maxPromptFile is how much of an agent's prompt is read, in bytes.
const maxPromptFile = 64 << 10

// judgeOf returns the decider that asks the judge, or nil if the settings do not switch it
// on. It does not ask the judge itself.
func (j *Evaluation) judgeOf(r *redact.Redactor) *byjudge.Decider {
	s := &j.Loaded.Settings
	if s.Judge.Enabled {
		j.Loaded.Callbacks.JudgeNow = sync.OnceValue(func() *lesson.JudgeVersion {
			now := j.judgeNow(r)
			return &now
		})
	}
	if !s.Judge.Enabled || j.process.Judge == nil || !j.Event.Kind.Answered() || j.Event.Call == nil {
		return nil
	}
	d := byjudge.New(byjudge.Options{Asker: j.process.Judge(j.JudgeRequest(), s.FromEnv), About: j.AboutCall, Redactor: r,
		Threshold: j.JudgeThreshold(), AllowOpaque: s.Judge.AllowOpaque})
	j.Loaded.Callbacks.Judge = watchdog(d)
	return d
}

// watchdog returns the judge's answer as a signal, in the words of Cupcake's watchdog. If
// no rule decides, the decider uses the same answer.
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

// JudgeRequest returns the judge request for the event: the backend, the place, and the
// supervisor's terminal if the supervisor answers.
func (j *Evaluation) JudgeRequest() judge.Request {
	s := &j.Loaded.Settings.Judge
	r := j.Place.JudgeRequest(s.Config)
	if s.Backend == settings.BySupervisor {
		r.Terminal = &judge.Requester{Runtime: j.Place.Dirs.Runtime, Team: j.team(), Agent: j.Event.Agent}
	}
	return r
}

// team returns the session's team as registered, else according to the harness's files.
func (j *Evaluation) team() string {
	return cmp.Or(j.identity.registered.Team, j.teamOfHarness())
}

// JudgeRequest returns the judge request for a place.
func (pl *Location) JudgeRequest(c judge.Config) judge.Request {
	return judge.Request{Config: c, State: pl.State, Home: pl.Dirs.Home, Project: pl.Project}
}

// AboutCall returns the context that the judge gets in addition to the call: the agent's
// role and task, and the project's policy. It reads the files once and returns the problems
// with them.
func (j *Evaluation) AboutCall(context.Context, *cardea.Event) (question.About, cardea.Issues) {
	return j.aboutNow()
}

// aboutNow returns that context, and reads it once for all questions.
func (j *Evaluation) aboutNow() (question.About, cardea.Issues) {
	j.aboutOnce.Do(func() { j.about, j.aboutIssues = j.readAbout() })
	return j.about, j.aboutIssues
}

// readAbout reads the agent's role, team, task and prompt, and the project's policy.
func (j *Evaluation) readAbout() (question.About, cardea.Issues) {
	var issues cardea.Issues
	about := question.About{Role: j.Loaded.JudgeRole(j.Event.Role), Team: j.team()}
	reg, known := j.identity.registered.Agent(j.Event.Agent)
	if !known {
		reg, _ = j.identity.registered.Agent("")
	}
	about.Task = reg.Task
	if reg.PromptPath != "" {
		prompt, err := state.Read(reg.PromptPath, maxPromptFile)
		if err != nil {
			issues = append(issues, cardea.Warning(reg.PromptPath, diagnostic.CodeUnreadable, "register the agent again", "the judge is not told the agent's prompt: "+err.Error()))
		}
		about.Prompt = string(prompt)
	}
	policy, problems := j.Loaded.JudgePolicy()
	about.Policy = policy
	for _, p := range problems {
		issues = append(issues, cardea.Issue{Diagnostic: p})
	}
	return about, issues
}

// judgeNow returns the current judge: its models, and the hashes of its prompt and policy.
func (j *Evaluation) judgeNow(r *redact.Redactor) lesson.JudgeVersion {
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
	return lesson.JudgeVersion{Model: model, Prompt: question.PromptHash(), Policy: question.PolicyHash(r, about)}
}

// maxModel is the longest list of model names in a lesson, in bytes.
const maxModel = 200

// afterJudge returns a function that saves the judge's decision and counts whether its
// recommendation was followed. It is nil if the judge was not asked. A decision is not saved if
// it is uncertain, did not decide the call, was not the answer, or is about a rewritten input.
func (j *Evaluation) afterJudge(v cardea.Verdict, answered cardea.Effect, r *redact.Redactor) func() error {
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

// keepWait is the longest wait for a lesson of the judge after the answer is out.
const keepWait = time.Second

// keepLessons saves the judge's decision, after the answer is out.
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
	case <-time.After(keepWait): // the judge decides again the next time
	}
}

// sendsPermissionRequest reports whether a harness sends a permission request before it
// prompts. Slow work can then wait for that request.
func sendsPermissionRequest(name string) bool {
	can, _ := capabilitiesOf(name)
	return slices.ContainsFunc(can.Rows, func(r cardea.Row) bool { return slices.Contains(r.Kinds, cardea.PermissionRequest) })
}
