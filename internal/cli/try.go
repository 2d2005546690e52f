package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/harness/copilotcli"
	"cardea.dev/internal/hook"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// tryFlags are the flags of try: the call, and the form of the output.
type tryFlags struct {
	cwd, role, tool, harness, event, mode, session string
	settings                                       []string
	json, exitCode, verbose, unattended            bool
	// thisEvent is set to answer exactly one event, as the hook does. Otherwise the answer is
	// the combined result of all events that the harness sends about the call.
	thisEvent bool
	trace     []string
}

// tryCommand returns the command "try".
func tryCommand(p Process) *cobra.Command {
	var f tryFlags
	c := &cobra.Command{
		Use:   "try [flags] \"<command or input JSON>\"",
		Short: "show what would be decided about a call, and why",
		Long: `Show what would be decided about a call: the effect, the rule and where it is
defined, why, and how to allow it. With --verbose, also what the call does part by
part, what each rule says, and the answer that the harness gets.

try uses the same settings as the hook. It does not run the call. It runs only
signals that policies need.

The argument is a shell command. With --tool it is the input of that tool, as
JSON or as the value of its main field. With an --event that has no tool, it is
the fields of the message, as JSON or as the text of the main field.

A call of Claude Code is tried as at a terminal, where a person sees a question in
every mode but dontAsk. With --unattended or CARDEA_UNATTENDED=1, no person does.

Invisible and control characters are shown as escapes, such as \u202e.`,
		Example: `  cardea try "git add . && git push --force"
  cardea try --tool Write '{"file_path": ".env", "content": ""}'
  cardea try --mode auto --json "rm -rf build"
  cardea try --mode auto --unattended "cat .env"`,
		Args: oneCommand,
		RunE: func(c *cobra.Command, args []string) error {
			f.thisEvent = c.Flags().Changed("event")
			return try(p, f, args[0])
		},
	}
	fs := c.Flags()
	f.call(fs)
	fs.BoolVarP(&f.verbose, "verbose", "v", false, "show all parts, accesses, opinions and the harness's answer")
	fs.BoolVar(&f.json, "json", false, "answer as one JSON object")
	fs.BoolVar(&f.exitCode, "exit-code", false, "exit with a code for the effect, see above")
	fs.StringSliceVar(&f.trace, "trace", nil, "also show details: permissions, policy, signals")
	return c
}

// call declares the flags that describe the call.
func (f *tryFlags) call(fs *pflag.FlagSet) {
	fs.SortFlags = false
	fs.StringVar(&f.cwd, "cwd", "", "the folder in which the call would run (default: the current one)")
	fs.StringVar(&f.role, "role", "", "the agent's role")
	fs.StringVar(&f.tool, "tool", "Bash", "the tool, by its canonical name or a harness's")
	fs.StringVar(&f.harness, "harness", "claude-code", "the harness whose answer is shown")
	fs.StringVar(&f.event, "event", string(cardea.PreToolUse), "the event: PreToolUse, PermissionRequest, PreSkillShellCommand, PostToolUse, UserPromptSubmit, Stop …")
	fs.StringVar(&f.mode, "mode", "", "the permission mode, in Claude Code's words")
	fs.BoolVar(&f.unattended, "unattended", false, "no person watches this agent, as under claude -p")
	fs.StringVar(&f.session, "session", "", "the session, which selects the project")
	fs.StringArrayVar(&f.settings, "settings", nil, "a settings file that the harness was started with (--settings)")
}

// try judges a call without running it, and shows the result.
func try(p Process, f tryFlags, text string) error {
	m, err := f.message(p, text)
	if err != nil {
		return wrongUsage{err}
	}
	p.Given = f.settings
	j := newEvaluation(p, m.event)
	j.NearAtOnce = !f.thisEvent
	if pause := j.Place.Paused(p.Now()); pause != "" {
		p.warn("Cardea is off " + pause + ", so this is what it says now; \"cardea enable\" switches it on")
	}
	steps, err := f.follow(j)
	if err != nil {
		return wrongUsage{err}
	}
	t := trialOf(p, j, m.adapter)
	t.auto = t.inAutoMode(p, m)
	v := t.verdict
	show := either(f.verbose, t.show, t.showShort)
	err = p.answer(f.json, t.json(), show)
	if f.json {
		p.tell(v.Issues)
	}
	if len(f.trace) > 0 && err == nil {
		err = showSteps(p, *steps)
	}
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	if text := j.Traced.Text(redact.New().Show); text != "" {
		_, _ = io.WriteString(p.Stderr, text) // nothing depends on a trace
	}
	if code := exitOf(v.Effect); f.exitCode && code != exitOK {
		return ended(code)
	}
	return nil
}

// trialOf judges a call, within the time that an installed hook has.
func trialOf(p Process, j *evaluation, adapter harness.Adapter) trial {
	ctx, cancel := context.WithTimeout(context.Background(), install.Wanted{Timeout: limit.HarnessHook}.Limit()*8/10)
	defer cancel()
	v := j.Verdict(ctx)
	can := adapter.Capabilities()
	shown := hook.Harmless(j.Unanswered(v, can))
	shown.Issues = hook.Printable(v.Issues)
	a := cardea.Express(shown, can, j.Event)
	return trial{p: p, evaluation: j, verdict: v, answer: a, output: adapter.Render(j.Event, a), harness: adapter.Name(), waiting: j.Waiting(v, can)}
}

// follow records what policies do while a call is judged, as --trace asks. It fails for an
// unknown word.
func (f tryFlags) follow(j *evaluation) (*[]policy.Step, error) {
	steps := &[]policy.Step{}
	asked := map[string]bool{}
	for _, word := range f.trace {
		if !slices.Contains([]string{"permissions", "policy", "signals"}, word) {
			return nil, fmt.Errorf("there is no trace %q: use permissions, policy, signals", word)
		}
		asked[word] = true
	}
	if asked["permissions"] && j.Traced == nil {
		j.StartTrace()
	}
	if !asked["policy"] && !asked["signals"] {
		return steps, nil
	}
	var mu sync.Mutex
	j.Loaded.Callbacks.Trace = func(s policy.Step) {
		mu.Lock()
		defer mu.Unlock()
		if s.What == "signal" && asked["signals"] || s.What != "signal" && asked["policy"] {
			*steps = append(*steps, s)
		}
	}
	return steps, nil
}

// showSteps writes the steps to standard error, so that the output stays one object.
func showSteps(p Process, steps []policy.Step) error {
	s := screenOn(p.Stderr, p.Env)
	for _, step := range steps {
		s.printf("%s  %s  %s  %s\n", painted{bold, step.What}, step.Name, shorten(step.Detail, 400), painted{faint, step.Took.Round(time.Microsecond).String()})
	}
	return s.err
}

// tried is the message to try, and the adapter of its harness.
type tried struct {
	event   *cardea.Event
	adapter harness.Adapter
}

// message returns the message that a harness would send, parsed as the hook does, so that a
// broken input has the same defects.
func (f tryFlags) message(p Process, text string) (tried, error) {
	own, err := f.adapter()
	if err != nil {
		return tried{}, err
	}
	cwd, err := f.folder(p)
	if err != nil {
		return tried{}, err
	}
	if !slices.Contains(policy.Events(), cardea.Kind(f.event)) {
		hint := "docs/policies.md lists them"
		if near := document.NearestName(f.event, policy.EventNames()); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return tried{}, fmt.Errorf("there is no event %q; %s", f.event, hint)
	}
	p.warnOfMode(f.mode)
	if !isFolder(cwd) {
		p.warn(fmt.Sprintf("there is no folder %s, so its files are not looked at", cwd))
	}
	if !aboutTool(cardea.Kind(f.event)) {
		return f.read(p, own, cwd, f.mainField(text))
	}
	tool := f.tool
	if word, ok := harness.ToolWord(tool); ok {
		tool = word
	}
	input, err := inputOf(tool, text, tool != f.tool)
	if err != nil {
		return tried{}, err
	}
	out, err := f.read(p, own, cwd, `"tool_name":`+asJSON(tool)+`,"tool_input":`+input)
	if err != nil {
		return tried{}, err
	}
	f.ownWords(&out, tool, input, cwd)
	return out, nil
}

// warnOfMode warns about an unknown mode.
func (p Process) warnOfMode(mode string) {
	known := cardea.Modes()
	if mode == "" || slices.Contains(known, cardea.Mode(mode)) {
		return
	}
	names := listOf(known, func(m cardea.Mode) string { return string(m) })
	p.warn(fmt.Sprintf("the mode %q is not known, so it counts as one in which nobody watches; those that are known are %s", mode, strings.Join(names, ", ")))
}

// adapter returns the adapter of the harness to try.
func (f tryFlags) adapter() (harness.Adapter, error) {
	var names []string
	for _, a := range hook.Adapters() {
		if a.Name() == harness.Canonical(f.harness) {
			return a, nil
		}
		names = append(names, a.Name())
	}
	return nil, fmt.Errorf("unknown harness %q: use one of %s", f.harness, strings.Join(names, ", "))
}

// read parses a message in the form of Claude Code with more fields, which are JSON, as an
// event of the harness to try.
func (f tryFlags) read(p Process, own harness.Adapter, cwd, fields string) (tried, error) {
	if fields != "" {
		fields = "," + fields
	}
	payload, err := harness.Read([]byte(fmt.Sprintf(`{"hook_event_name":%s,"session_id":%s,"cwd":%s,"permission_mode":%s%s}`,
		asJSON(f.event), asJSON(f.session), asJSON(cwd), asJSON(f.mode), fields)))
	if err != nil {
		return tried{}, fmt.Errorf("the input cannot be read: %w", err)
	}
	ev := *claudecode.Adapter{}.Parse(payload)
	ev.Harness, ev.Role = own.Name(), f.role
	if f.unattended || p.IsSet("CARDEA_UNATTENDED") {
		ev.Attendance = cardea.NobodyAttends
	}
	ev = atTerminal(ev)
	return tried{event: &ev, adapter: own}, nil
}

// ownWords replaces the event's call by the harness's own form, if the tool has the harness's
// own name: view has a path where Read has a file_path. Claude Code's names are the canonical
// ones. For Copilot CLI it makes the whole message, since policies see the message as sent.
func (f tryFlags) ownWords(out *tried, tool, input, cwd string) {
	own := out.adapter
	if own.Name() == claudecode.Name || harness.ToolName(own.Name(), f.tool) != tool || tool == f.tool {
		return
	}
	if own.Name() == copilotcli.Name {
		payload, err := harness.Read([]byte(`{"sessionId":` + asJSON(f.session) + `,"cwd":` + asJSON(cwd) + `,"toolName":` + asJSON(f.tool) + `,"toolArgs":` + input + `}`))
		if err == nil {
			as := own.Parse(payload)
			out.event.Call, out.event.Faults, out.event.Sent = as.Call, as.Faults, as.Sent
		}
		return
	}
	payload, err := harness.Read([]byte(`{"input":` + input + `}`))
	if err != nil {
		return
	}
	r := harness.NewReading(payload)
	value, there := r.Value("input")
	out.event.Call, out.event.Faults = r.Call(own.Name(), tool, f.tool, value, there), r.Defects("input")
}

// aboutTool reports whether events of a kind are about a tool.
func aboutTool(k cardea.Kind) bool {
	return k.Answered() || k == "PostToolUse" || k == "PostToolUseFailure" || k == "PermissionDenied"
}

// mainField returns the fields of an event without a tool as JSON. The argument is these
// fields as JSON, or the text of the event's main field.
func (f tryFlags) mainField(text string) string {
	if inner, err := harness.Read([]byte(text)); err == nil {
		if len(inner.Root().Entries()) == 0 {
			return ""
		}
		trimmed := strings.TrimSpace(text)
		return trimmed[1 : len(trimmed)-1]
	}
	main := map[string]string{"UserPromptSubmit": "prompt", "UserPromptExpansion": "prompt", "Notification": "message", "SessionStart": "source",
		"SessionEnd": "reason", "PreCompact": "trigger", "SubagentStart": "agent_type"}[f.event]
	return asJSON(cmp.Or(main, "last_assistant_message")) + ":" + asJSON(text)
}

// folder returns the folder in which the call would run.
func (f tryFlags) folder(p Process) (string, error) {
	switch {
	case filepath.IsAbs(f.cwd):
		return filepath.Clean(f.cwd), nil
	case p.Dir == "":
		return "", fmt.Errorf("the working folder is not known; name one with --cwd")
	}
	return filepath.Join(p.Dir, f.cwd), nil
}

// inputOf returns the tool input as JSON: the argument itself if it is JSON, else an object
// with the tool's main field. A later step parses it strictly. own is set if the harness's
// own name names the tool, so that a command may have another field name.
func inputOf(tool, text string, own bool) (string, error) {
	info, _ := harness.Tool(tool)
	p, err := harness.Read([]byte(text))
	if err == nil && (tool != "Bash" || own || p.Has("command")) {
		return text, nil
	}
	if err != nil && len(info.FieldsOf(harness.Command)) == 0 && meantAsObject(text) {
		return "", fmt.Errorf("the input of %s begins like a JSON object, and is broken JSON; in a shell, write it in single quotes", tool)
	}
	if info.Primary == "" {
		return "", fmt.Errorf("the input of %s must be a JSON object, such as '{\"name\": \"value\"}'", tool)
	}
	return "{" + asJSON(info.Primary) + ":" + asJSON(text) + "}", nil
}

// meantAsObject reports whether a text begins like a JSON object, and not like the path
// {a,b}/x.
func meantAsObject(text string) bool {
	rest, begins := strings.CutPrefix(strings.TrimSpace(text), "{")
	rest = strings.TrimSpace(rest)
	return begins && (rest == "" || rest[0] == '"' || rest[0] == '}')
}

// asJSON writes text as a JSON string without repairing it. encoding/json would replace
// bytes that are not UTF-8, and another command would be tried.
func asJSON(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
