package install

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/harness/copilotcli"
	"cardea.dev/internal/jsonedit"
	"cardea.dev/internal/limit"
)

// Harness is a program whose hooks Cardea can be.
type Harness struct {
	// Name is the word of --harness, Title what people call the program,
	// Program its command.
	Name, Title, Program string
	// events are the hook events that the hook is registered for: those that the gate
	// answers, and what [Harness.On] added.
	events []string
	// prompts are the events by which the person's prompts come. Every installation
	// has them, since a prompt such as "/cardea register coder" is carried out there.
	prompts []string
	// more are all further events that the harness's documentation has, but those
	// whose hooks do the harness's work in its place.
	more []string
	// newer are the events that only versions from since on get: an older one refuses
	// the whole file for an event that it does not know.
	newer []string
	since []int
	// kind is the canonical name of an event.
	kind func(event string) cardea.Kind
	// grouped is set where handlers stand in matcher groups.
	grouped bool
	// command and timeout are the keys of a handler's shell line and time limit.
	command, timeout string
	// ownFile is set where Cardea's hooks have a file of their own.
	ownFile bool
}

// Harnesses are those that Cardea can be installed for. [Places.File] knows the
// files of these two; a harness with other files needs a case there.
func Harnesses() []Harness { return []Harness{claudeCode(), copilotCLI()} }

// claudeCode is Claude Code (hooks reference, "Hook events"). WorktreeCreate and
// WorktreeRemove are left out: whoever has a hook for them must make and remove the
// worktree.
func claudeCode() Harness {
	return Harness{Name: claudecode.Name, Title: "Claude Code", Program: "claude", events: []string{"PreToolUse", "PermissionRequest"},
		prompts: []string{"UserPromptSubmit", "UserPromptExpansion"},
		more: []string{"SessionStart", "PostToolUse", "PostToolUseFailure", "Notification", "SubagentStart", "SubagentStop", "Stop", "PreCompact", "SessionEnd",
			"Setup", "PermissionDenied", "PostToolBatch", "MessageDisplay", "TaskCreated", "TaskCompleted", "StopFailure", "TeammateIdle", "InstructionsLoaded",
			"ConfigChange", "CwdChanged", "FileChanged", "DirectoryAdded", "PostCompact", "PreModelSwitch", "PostModelSwitch", "Elicitation", "ElicitationResult"},
		newer: []string{"UserPromptExpansion", "Setup", "PermissionDenied", "PostToolBatch", "MessageDisplay", "TaskCreated", "TaskCompleted", "StopFailure", "TeammateIdle",
			"InstructionsLoaded", "ConfigChange", "CwdChanged", "FileChanged", "DirectoryAdded", "PostCompact", "PreModelSwitch", "PostModelSwitch", "Elicitation", "ElicitationResult"},
		since: []int{2, 1, 101}, kind: func(event string) cardea.Kind { return cardea.Kind(event) },
		grouped: true, command: "command", timeout: "timeout"}
}

// copilotCLI is Copilot CLI (hooks reference, "Hook events").
func copilotCLI() Harness {
	return Harness{Name: copilotcli.Name, Title: "Copilot CLI", Program: "copilot", events: []string{"preToolUse", "permissionRequest"},
		prompts: []string{"userPromptSubmitted"},
		more: []string{"sessionStart", "postToolUse", "postToolUseFailure", "notification", "subagentStart", "subagentStop", "agentStop", "preCompact", "errorOccurred",
			"sessionEnd", "userPromptTransformed"},
		newer: []string{"userPromptTransformed"}, since: []int{1, 0, 71}, kind: copilotcli.Kind,
		command: copilotShell(), timeout: "timeoutSec", ownFile: true}
}

// AllEvents is the word for all events that a harness has.
const AllEvents = "all"

// On is the harness in a version, "" for one that is not known, with the events by
// which prompts come and with further ones, by the names that it has for them, or
// [AllEvents]. left are those that it does not get because the version is too old or
// not known.
func (h Harness) On(version string, events ...string) (on Harness, left []string, err error) {
	on = h
	on.events = slices.Clone(h.events)
	add := func(event string) {
		switch {
		case slices.Contains(on.events, event) || slices.Contains(left, event):
		case slices.Contains(h.newer, event) && !atLeast(version, h.since...):
			left = append(left, event)
		default:
			on.events = append(on.events, event)
		}
	}
	for _, e := range slices.Concat(h.prompts, events) {
		switch {
		case e == AllEvents:
			for _, m := range h.more {
				add(m)
			}
		case h.has(e):
			add(e)
		default:
			return h, nil, fmt.Errorf("%s has no event %q for rules and policies: use all, or %s", h.Title, e, strings.Join(slices.Concat(h.prompts, h.more), ", "))
		}
	}
	return on, left, nil
}

// Prompts are the events by which prompts come in a version, "" for one that is not
// known.
func (h Harness) Prompts(version string) []string {
	on, _, _ := h.On(version)
	return on.events[len(h.events):]
}

func (h Harness) has(event string) bool {
	return slices.Contains(slices.Concat(h.events, h.prompts, h.more), event)
}

// Since is the first version that gets all events, as people write it.
func (h Harness) Since() string {
	words := make([]string, len(h.since))
	for i, n := range h.since {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ".")
}

// Named are the events that bring some kinds of events, by the names that the harness
// has for them. Kinds that it cannot bring have none.
func (h Harness) Named(kinds []string) []string {
	var out []string
	for _, e := range slices.Concat(h.events, h.prompts, h.more) {
		if slices.Contains(kinds, string(h.kind(e))) {
			out = append(out, e)
		}
	}
	return out
}

// Find is the harness of a name that a person typed.
func Find(name string) (Harness, error) {
	for _, h := range Harnesses() {
		if harness.Canonical(name) == h.Name {
			return h, nil
		}
	}
	var programs []string
	for _, h := range Harnesses() {
		programs = append(programs, h.Program)
	}
	return Harness{}, fmt.Errorf("cardea cannot be installed for %q: use %s", name, strings.Join(programs, " or "))
}

// Scope is whose settings are meant.
type Scope string

// The scopes of an installation. Managed is the machine's, which neither the
// person's settings nor a project's can switch off.
const (
	User    Scope = "user"
	Project Scope = "project"
	Managed Scope = "managed"
	// local is Claude Code's file for the person in one project. Cardea does
	// not install there, but finds what is there.
	local Scope = "local"
)

// Places are the folders of a person on a machine, absolute; "" is not known.
type Places struct {
	// Claude and Copilot are the harnesses' own folders of the person.
	Claude, Copilot string
	// Project is the project's folder.
	Project string
	// ClaudeManaged and CopilotPolicy are the folders of the machine.
	ClaudeManaged, CopilotPolicy string
	// State is Cardea's own folder, where it is remembered what was put in.
	State string
}

// PolicyDir is the folder of Copilot CLI's policies on a platform, by its GOOS
// (hooks reference, "Policy").
func PolicyDir(goos string) string {
	if goos == "windows" {
		return `C:\ProgramData\GitHub\Copilot\policy.d`
	}
	return "/etc/github-copilot/policy.d"
}

// File is the file that an installation goes into.
func (p Places) File(h Harness, scope Scope) (string, error) {
	base, path := p.Claude, "settings.json"
	switch {
	case scope == Project:
		if base, path = p.Project, ".claude/settings.json"; h.ownFile {
			path = ".github/hooks/cardea.json"
		}
	case scope == Managed:
		if base, path = p.ClaudeManaged, "managed-settings.d/50-cardea.json"; h.ownFile {
			base, path = p.CopilotPolicy, "cardea.json"
		}
	case h.ownFile:
		base, path = p.Copilot, "hooks/cardea.json"
	}
	if base == "" {
		if scope == Project {
			return "", errors.New("there is no project here; change into one, or use --user")
		}
		return "", fmt.Errorf("the folder of %s's settings is not known; set HOME", h.Title)
	}
	return filepath.Join(base, filepath.FromSlash(path)), nil
}

// Wanted is how the hook is to be started.
type Wanted struct {
	// Binary is the program, by an absolute path that stays.
	Binary string
	// Timeout is the harness's time limit for the hook. Cardea gets four
	// fifths of it, since a harness whose limit is reached lets the tool run.
	Timeout time.Duration
	// Unattended says that nobody watches this agent.
	Unattended bool
	// FailClosed asks the harness to block where the hook fails; only
	// versions that know the key may get it.
	FailClosed bool
}

// Limit is the time that the hook itself gets.
func (w Wanted) Limit() time.Duration { return limit.HookOf(w.Timeout) }

// Args are the arguments of the hook.
func (w Wanted) Args(h Harness) []string {
	args := []string{"check", "--harness", h.Name, "--limit", w.Limit().String()}
	if w.Unattended {
		args = append(args, "--unattended")
	}
	return args
}

// entry is what stands in the list of an event.
func (h Harness) entry(w Wanted) []jsonedit.Field {
	handler := []jsonedit.Field{{Key: "type", Value: "command"}, {Key: h.command, Value: shellLine(h.command, w.Binary, w.Args(h))},
		{Key: h.timeout, Value: int(w.Timeout / time.Second)}}
	if w.FailClosed {
		handler = append(handler, jsonedit.Field{Key: "onFailure", Value: "block"})
	}
	if !h.grouped {
		return handler
	}
	return []jsonedit.Field{{Key: "matcher", Value: "*"}, {Key: "hooks", Value: []any{handler}}}
}

// isOurs reports whether a handler starts Cardea's hook, for whichever harness
// and in whichever form somebody wrote it.
func isOurs(handler *jsonedit.Node) bool {
	program, args := invocation(handler)
	return isCardea(program) && len(args) > 0 && args[0] == "check"
}

func isCardea(program string) bool {
	name := program[strings.LastIndexAny(program, `/\`)+1:]
	return strings.HasPrefix(strings.ToLower(name), "cardea")
}

// invocation is what a handler starts: the program and its arguments, in the
// form with arguments or as words of a shell line.
func invocation(handler *jsonedit.Node) (program string, args []string) {
	if words, ok := handler.Get("args").Words(); ok {
		for _, key := range []string{"exec", "command"} {
			if program = handler.Str(key); program != "" {
				return program, words
			}
		}
	}
	for _, key := range []string{"command", "exec", "bash", "powershell"} {
		if words := shellWords(handler.Str(key)); len(words) > 1 {
			return words[0], words[1:]
		}
	}
	return "", nil
}

// seconds reads a time limit as written.
func seconds(literal string) time.Duration {
	n, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return 0
	}
	return time.Duration(n * float64(time.Second))
}
