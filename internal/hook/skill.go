package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/claudecode"
)

// skillNamed is the skill or slash command that an event is about to load, and its
// arguments; "" for none.
func skillNamed(ev *cardea.Event) (name, args string) {
	if ev.Harness != claudecode.Name || ev.Sent == nil {
		return "", ""
	}
	sent := ev.Sent.Fields()
	text := func(fields map[string]any, key string) string { s, _ := fields[key].(string); return s }
	switch {
	case ev.Kind.Answered() && ev.Call != nil && ev.Call.Tool == "Skill":
		args = text(ev.Call.Input, "args")
		if other, is := ev.Call.Input["args"]; is && args == "" && other != "" {
			args = fmt.Sprint(other)
		}
		return strings.TrimSpace(text(ev.Call.Input, "skill")), args
	case ev.Kind == "UserPromptExpansion" && text(sent, "command_name") != "":
		return text(sent, "command_name"), text(sent, "command_args")
	case ev.Kind == "UserPromptSubmit", ev.Kind == "UserPromptExpansion":
		if prompt, is := strings.CutPrefix(strings.TrimSpace(text(sent, "prompt")), "/"); is {
			end := strings.IndexAny(prompt+" ", " \t\r\n")
			return prompt[:end], strings.TrimSpace(prompt[end:])
		}
	}
	return "", ""
}

// withSkill adds to a verdict what the gate says about the shell commands in the files of
// the skill that is about to load: Claude Code before 2.1.332 sends no event about them.
// None of them allows the call.
func (j *Judgement) withSkill(ctx context.Context, g *cardea.Gate, v cardea.Verdict) cardea.Verdict {
	name, args := skillNamed(j.Event)
	if name == "" {
		return v
	}
	var folders []string
	for _, dir := range []string{j.Place.Start, j.Event.Cwd} {
		folders = append(folders, claudecode.ProjectFolders(dir)...)
	}
	at := claudecode.SkillPlaces{Folders: append(folders, j.Loaded.AddedDirs()...), Configs: []string{j.Place.Dirs.Claude, filepath.Join(j.process.Managed, ".claude")}, Plugins: j.Loaded.Where.Plugins}
	lines, unknown := at.ShellLines(name, args)
	for _, why := range unknown {
		v = j.joinSkill(v, cardea.Verdict{Effect: cardea.Ask, By: "skill", Reason: why, Message: why}, "")
	}
	for _, l := range lines {
		said := g.Decide(ctx, j.skillEvent(l))
		if !l.Certain {
			said.Effect = said.Effect.JoinPart(cardea.Defer)
		}
		v = j.joinSkill(v, said, fmt.Sprintf("%s:%d runs %q: ", l.File, l.Line, j.Loaded.Callbacks.Redact(l.Command)))
	}
	return v
}

// joinSkill joins what is said about one command. Nobody can be asked about a prompt, so a
// question denies it.
func (j *Judgement) joinSkill(v, said cardea.Verdict, about string) cardea.Verdict {
	if said.Effect == cardea.Ask && j.Event.Call == nil {
		said.Effect = cardea.Deny
		about = "nobody can be asked about a command in a prompt's file, so the prompt is refused. " + about
	}
	v.Troubles = slices.Concat(v.Troubles, said.Troubles)
	joined := v.Effect.JoinPart(said.Effect)
	if joined == v.Effect {
		return v
	}
	if v.Effect = joined; joined >= cardea.Ask {
		v.By, v.Reason, v.Message, v.Instead, v.Rewrite, v.Rewritten = said.By, about+said.Reason, about+said.Message, said.Instead, nil, nil
		for _, o := range said.Opinions {
			if o.Effect >= cardea.Ask {
				o.Part = cardea.WholeCall
				v.Opinions = append(slices.Clip(v.Opinions), o)
			}
		}
	}
	return v
}

// skillEvent is the event that newer versions send about a command, in this session. Who
// can be asked about the call of the skill can be asked about its commands.
func (j *Judgement) skillEvent(l claudecode.ShellLine) *cardea.Event {
	message, err := json.Marshal(map[string]any{"hook_event_name": cardea.PreSkillShellCommand, "session_id": j.Event.Session, "agent_id": j.Event.Agent, "agent_type": j.Event.AgentType,
		"cwd": j.Event.Cwd, "permission_mode": j.Event.Mode, "tool_name": l.Tool, "tool_input": map[string]any{"command": l.Command}})
	if err != nil {
		panic(err) // it holds only texts
	}
	sent, err := harness.Read(message)
	if err != nil {
		panic(err)
	}
	ev := claudecode.Adapter{}.Parse(sent).At(cardea.Place{Project: j.Event.Project, Home: j.Event.Home, Roots: j.Loaded.AdditionalDirs(), Unreadable: j.Loaded.Unreadable()}).WithRole(j.Event.Role)
	if j.Event.Call != nil && j.Event.Attendance != cardea.NobodyAttends {
		attended := *ev
		attended.Attendance = j.Event.Attendance
		ev = &attended
	}
	return j.Analysis()(ev)
}
