package hook

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness/claudecode"
)

// skillNamed returns the skill or slash command that an event is about to load and its
// arguments, or "".
func skillNamed(ev *cardea.Event) (name, args string) {
	if ev.Harness != claudecode.Name || ev.Sent == nil {
		return "", ""
	}
	sent := ev.Sent.Fields()
	if ev.Call != nil && ev.Call.Tool == "Skill" && ev.Kind.Answered() {
		name, _ = ev.Call.Input["skill"].(string)
		return strings.TrimSpace(name), fmt.Sprint(cmp.Or(ev.Call.Input["args"], any("")))
	}
	if name, _ = sent["command_name"].(string); name != "" && ev.Kind == "UserPromptExpansion" {
		args, _ = sent["command_args"].(string)
		return name, args
	}
	prompt, _ := sent["prompt"].(string)
	if ev.Call != nil && ev.Call.Tool == "SlashCommand" && ev.Kind.Answered() { // the former name of Skill
		prompt, _ = ev.Call.Input["command"].(string)
		name, args, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(prompt), "/"), " ")
		return name, args
	}
	prompt, is := strings.CutPrefix(strings.TrimSpace(prompt), "/")
	if !is || ev.Kind != "UserPromptSubmit" && ev.Kind != "UserPromptExpansion" {
		return "", ""
	}
	end := strings.IndexAny(prompt+" ", " \t\r\n")
	return prompt[:end], strings.TrimSpace(prompt[end:])
}

// withSkill adds the gate's opinion on the shell commands in the files of the skill that is
// about to load. Claude Code before 2.1.332 sends no event for them. It never allows the call.
func (j *Evaluation) withSkill(ctx context.Context, g *cardea.Gate, v cardea.Verdict) cardea.Verdict {
	name, args := skillNamed(j.Event)
	if name == "" {
		return v
	}
	configs := slices.Concat([]string{j.Place.Dirs.Claude, filepath.Join(j.process.Managed, ".claude")}, claudecode.ProjectConfigs(j.Place.Start), claudecode.ProjectConfigs(j.Event.Cwd))
	for _, dir := range j.Loaded.AddedDirs() {
		configs = append(configs, filepath.Join(dir, ".claude"))
	}
	slices.Sort(configs)
	lines, unknown := claudecode.ShellLines(name, args, j.Event.Project, slices.Compact(configs), j.Loaded.Where.Plugins)
	for _, why := range unknown {
		v = j.joinSkill(v, cardea.Verdict{Effect: cardea.Ask, By: "skill", Reason: why, Message: why}, "")
	}
	for _, l := range lines {
		said := g.Decide(ctx, j.skillEvent(l))
		if !l.Certain && said.Effect.JoinPart(cardea.Defer) == cardea.Defer {
			said = cardea.Verdict{Effect: cardea.Defer, Reason: "another command may run", Issues: said.Issues}
		}
		v = j.joinSkill(v, said, fmt.Sprintf("%s:%d runs %q: ", l.File, l.Line, j.Loaded.Callbacks.Redact(l.Command)))
	}
	return v
}

// joinSkill joins the verdict on one command into v. A question about a prompt becomes a
// denial, since the harness cannot ask about a prompt.
func (j *Evaluation) joinSkill(v, said cardea.Verdict, about string) cardea.Verdict {
	if said.Effect == cardea.Ask && j.Event.Call == nil {
		said.Effect, about = cardea.Deny, "nobody can be asked about this prompt, so it is refused: "+about
	}
	v.Issues = slices.Concat(v.Issues, said.Issues)
	if v.Effect.JoinPart(said.Effect) == v.Effect {
		return v
	}
	v.Effect, v.By, v.Reason, v.Message = said.Effect, cmp.Or(said.By, "skill"), about+cmp.Or(said.Reason, "no rule allows it"), about+said.Message
	v.Instead, v.Rewrite, v.Rewritten = said.Instead, nil, nil
	for _, o := range said.Opinions {
		if o.Part = cardea.WholeCall; o.Effect >= cardea.Ask {
			v.Opinions = append(slices.Clip(v.Opinions), o)
		}
	}
	return v
}

// skillEvent returns the event that newer versions send for a command. It can be asked
// about if the call of the skill can be asked about.
func (j *Evaluation) skillEvent(l claudecode.ShellLine) *cardea.Event {
	return j.Analysis()(j.Event.With(func(e *cardea.Event) {
		e.Kind, e.Wire, e.Faults = cardea.PreSkillShellCommand, string(cardea.PreSkillShellCommand), nil
		e.Roots, e.Unreadable, e.NativeAsk, e.Reviewed = j.Loaded.AdditionalDirs(), j.Loaded.Unreadable(), false, false
		if e.Call == nil {
			e.Attendance = cardea.NobodyAttends
		}
		e.Call = &cardea.Call{Tool: l.Tool, Name: l.Tool, Known: true, Input: map[string]any{"command": l.Command}}
	}))
}
