package inforce

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/ask/judge/question"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/decide/roles"
	"cardea.dev/internal/memory/lesson"
)

// JudgeRole returns a role for the judge, with the paths of all its definitions that apply.
func (l *Loaded) JudgeRole(name string) question.AgentRole {
	out := question.AgentRole{Name: name}
	if name == "" {
		return out
	}
	for _, r := range l.Roles().Of(name) {
		if out.Description == "" && r.Trusted {
			out.Description = r.Description
		}
		out.AllowWrite = append(out.AllowWrite, roles.Texts(r.Paths.AllowWrite)...)
		out.DenyWrite = append(out.DenyWrite, roles.Texts(r.Paths.DenyWrite)...)
		out.AllowRead = append(out.AllowRead, roles.Texts(r.Paths.AllowRead)...)
		out.DenyRead = append(out.DenyRead, roles.Texts(r.Paths.DenyRead)...)
	}
	return out
}

// judgeFiles returns the paths in the project of the files that the judge gets.
func judgeFiles(names []string, root string) []string {
	var out []string
	for _, name := range names {
		if path := filepath.Join(root, filepath.FromSlash(name)); root != "" && !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

// JudgePolicy returns the texts of the project that the judge must follow. A file applies
// only as the user accepted it, since the judge treats it as the user's. problems explains
// the files left out.
func (l *Loaded) JudgePolicy() (out []question.Document, problems []diagnostic.Diagnostic) {
	wrong := func(path, text, hint string) {
		problems = append(problems, cardea.Warning(path, diagnostic.CodeUntrusted, hint, "the judge is not told of it: "+text).Diagnostic)
	}
	for _, path := range judgeFiles(l.Settings.Judge.Context, l.Where.Project) {
		data, _, err := project.ReadFile(path, l.Where.Project)
		switch {
		case err != nil:
			wrong(path, err.Error(), "see judge.context in docs/judge.md")
		case data == nil:
			wrong(path, "it is not there", "write it, or take it out of judge.context")
		case !l.counts(path, l.project(), data):
			wrong(path, "it is not as you trusted it", "look at it, and run \"cardea trust\" in the project")
		default:
			name := strings.TrimPrefix(path, l.Where.Project+string(filepath.Separator))
			out = append(out, question.Document{Name: filepath.ToSlash(name), Text: string(data)})
		}
	}
	return out, problems
}

// JudgeThreshold returns the minimum confidence for the judge's answer to apply. It is that
// of the strongest scope that enables the judge, since the answer applies in its name.
func (l *Loaded) JudgeThreshold() float64 { return l.thresholdWithout(nil) }

// thresholdWithout returns the threshold without one file of settings.
func (l *Loaded) thresholdWithout(but *settings.File) float64 {
	c := l.Settings.Confidence
	out := c.User
	for i := range l.SettingsFiles {
		f := &l.SettingsFiles[i]
		if f == but {
			continue
		}
		if _, gives := f.Gives("judge.enabled"); !gives || !f.Counts || !f.Values.Judge.Enabled {
			continue
		}
		switch f.Scope {
		case cardea.ScopeSystem, cardea.ScopeOrg:
			out = max(out, c.Org)
		case cardea.ScopeProject:
			out = max(out, c.Project)
		}
	}
	return out
}

// judgeLessonLife is how long a lesson of the judge applies.
const judgeLessonLife = 30 * 24 * time.Hour

// KeepJudged stores a decision of the judge as a lesson of the user in this project; other
// users do not get it. It names the model that answered, and applies while the models that
// may answer (by) stay the same. A call that cannot be remembered is judged again next
// time.
func (l *Loaded) KeepJudged(ev *cardea.Event, effect cardea.Effect, answer judge.Assessment, by lesson.JudgeVersion, now time.Time) error {
	if effect == cardea.Allow && ev.Call.Tool != "Bash" {
		return nil // the subject of other tools lacks fields that the judge saw: content, query, prompt
	}
	for _, p := range l.LessonPlaces() {
		if !p.Local {
			continue
		}
		w, err := l.LessonWriter(p)
		if err != nil {
			return err
		}
		drafts, err := l.LessonKeyer().DraftsOf(ev, effect)
		if err != nil {
			return notTeachable(err)
		}
		if effect == cardea.Allow && unbound(ev.Call, drafts) {
			return nil
		}
		for i := range drafts {
			d := &drafts[i]
			d.By, d.Who, d.Reason, d.When, d.Expires, d.Judge = lesson.ByJudge, l.redactor().Text(cmp.Or(answer.Model, by.Model)), answer.Reason, now, now.Add(judgeLessonLife).UTC().Truncate(time.Second), by
		}
		return notTeachable(w.Teach(drafts...))
	}
	return nil
}

// unbound reports whether an allow of the judge must not be remembered. The effects of a
// part are unknown and the drafts bind no file, or a part runs on another machine.
func unbound(c *cardea.Call, drafts []lesson.Draft) bool {
	bound := slices.ContainsFunc(drafts, func(d lesson.Draft) bool { return len(d.Files) > 0 })
	return slices.ContainsFunc(c.Parts, func(p cardea.Part) bool {
		unknown := p.Knowledge != cardea.Complete || slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind == cardea.Unknown || a.Kind == cardea.Execute })
		return p.Remote || !p.NoEffect && unknown && !bound
	})
}

// notTeachable returns nil if err only means that a call cannot be remembered, else err.
func notTeachable(err error) error {
	if errors.Is(err, lesson.ErrNotTeachable) {
		return nil
	}
	return err
}
