package harness

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
)

// Message is a hook message with the form of its answer.
type Message struct {
	// Sender is the harness that sent it, "" for an unknown form.
	Sender string
	// Event is the event to judge.
	Event *cardea.Event
	// Unread is set where there is nothing to judge: the bytes are not an object, or a message of
	// unknown form came without --harness.
	Unread bool
	// Issues are reports for the person about this message, such as a hook that is installed for
	// another harness. They are not part of a verdict by themselves: the caller adds those that it
	// wants shown.
	Issues cardea.Issues

	form    Adapter // nil: answered by exit code alone
	foreign bool    // the form is not the sender's own
	guessed bool    // the event is unknown, and is treated as a call
	unsaid  bool    // it may be about a call that it does not show
}

// Hook describes how a hook was installed.
type Hook struct {
	// Harness is the value of --harness, "" to detect the sender.
	Harness string
	// Unattended is set where the user marked the agent as unattended.
	Unattended bool
	// Env looks up environment variables.
	Env func(string) string
	// Lines returns the command lines of the processes above, nearest first. It is nil if they are
	// unknown.
	Lines func() [][]string
	// Piped reports whether the nth of these processes reads from something that is known not to be
	// a terminal. It is nil if that is unknown.
	Piped func(n int) bool
	// Adapters are the adapters of the supported harnesses.
	Adapters []Adapter
}

// reader is an adapter that can report more about its harness.
type reader interface {
	// Headless reports whether the processes above show that a question reaches no person.
	Headless(lines func() [][]string, piped func(n int) bool) bool
	// Deaf reports whether the harness ignores exit code 2.
	Deaf() bool
}

func isDeaf(a Adapter) bool {
	r, ok := a.(reader)
	return ok && r.Deaf()
}

// Open reads a message and decides in whose form it is answered. The only error is a harness in the
// hook that no adapter has.
//
// With an explicit harness, the answer has that harness's form. A foreign message is parsed by its
// sender's adapter. It is answered in that form only if the sender reads it, else by exit code.
// Without an explicit harness, the sender's own form is used. A message of an unknown sender is
// judged by the form that its call has. One of unknown form that has a command or a path is also
// judged, and answered by exit code alone. A message with neither passes in silence, unless the
// setting default asks or denies and the message may be about a call. An unknown event is judged in
// the same way, for every hook.
func (h Hook) Open(raw []byte) (*Message, error) {
	h.Harness = Canonical(h.Harness)
	own := byName(h.Adapters, h.Harness)
	if h.Harness == "continue" {
		return nil, errors.New("the harness continue reads hooks and never starts them (seen with 1.5.47), so Cardea cannot hold back its calls: use another harness")
	}
	if h.Harness != "" && own == nil {
		return nil, fmt.Errorf("unknown harness %q: use one of %s", h.Harness, names(h.Adapters))
	}
	p, err := Read(raw)
	if err != nil {
		return h.Unread(cardea.NoObject.Issue("", diagnostic.CodeSyntax, "", err.Error())), nil
	}
	sender, adapter := Detect(p, h.Env, h.Adapters)
	m := &Message{Sender: sender}
	if own == nil && sender == "" {
		if adapter = byShape(h.Adapters, p); adapter == nil && !carriesCall(p) {
			m = h.Unread(cardea.Warning("", diagnostic.CodeUnknownSender, nameIt, "a message of unknown shape was passed without a verdict"))
			m.unsaid = mayBeCall(p)
			return m, nil
		}
	}
	switch {
	case own == nil && sender == "" && adapter != nil:
		m.Sender, m.Event, m.form = adapter.Name(), adapter.Parse(p), adapter
		m.note(nameIt, "a message came that no harness is known to send; it was judged in the form of "+adapter.Name())
	case own == nil && sender == "":
		m.Event = Foreign(sender, p)
		m.note(nameIt, "a message of unknown shape came; it was judged, and answered by exit code alone")
	case own == nil && adapter == nil:
		m.Event = Foreign(sender, p)
		m.note("", fmt.Sprintf("a %s message arrived, which this version answers by exit code only", sender))
	case own == nil:
		m.Event, m.form = adapter.Parse(p), adapter
	case sender == "" || sender == h.Harness:
		m.Event, m.form, adapter = own.Parse(p), own, own
	default:
		m.misdirected(p, own, adapter)
	}
	m.guess(h, p, own, adapter)
	review(m.Event, p)
	m.attend(h, adapter)
	return m, nil
}

const nameIt = "name its sender with --harness"

// byShape returns the adapter in whose form a message has a tool's name and input, or nil.
func byShape(adapters []Adapter, p *Payload) Adapter {
	switch {
	case p.Has("tool_name") && p.Has("tool_input"):
		return byName(adapters, "claude-code")
	case p.Has("toolName") && (p.Has("toolArgs") || p.Has("toolInput")):
		return byName(adapters, "copilot-cli")
	}
	return nil
}

// mayBeCall reports whether a message may be about a call that it does not describe. It then names
// no event, or one before a call, and has no result.
func mayBeCall(p *Payload) bool {
	name := firstText(p, "hook_event_name", "hookEventName", "event", "hookName", "type", "agent_action_name")
	ran := slices.ContainsFunc([]string{"tool_response", "toolResult", "tool_result", "tool_output", "result_json", "error"}, p.Has)
	starts := p.Has("keys") && p.Has("directory") // OpenCode's input when it loads a plugin
	return canonicalKind(name).Answered() || name == "" && !ran && !starts
}

// guess treats an unknown event as one about a call that can still be held back, if the message
// contains a call. It uses the form that the call has, else it makes the call of an unknown tool.
// The refusal is exit code 2, or has the form of a harness that ignores the code. The other effects
// of an answer to such an event are unknown.
func (m *Message) guess(h Hook, p *Payload, own, sender Adapter) {
	if m.Event.Kind.Answered() || passes(m.Event) {
		return
	}
	var ev cardea.Event
	if shape := byShape(h.Adapters, p); shape != nil {
		ev = *shape.Parse(p)
		if passes(&ev) || ev.Kind == "" { // a call that has run
			return
		}
	} else if carriesCall(p) || m.Sender == "" && mayBeCall(p) {
		if ev = *Foreign("", p); ev.Call == nil {
			r := NewReading(p)
			ev.Call, ev.Faults = r.EventCall(cardea.PreToolUse, "", p.Text("tool_name"), p.Text("tool_name"), nil, false), r.Defects()
		}
	} else {
		return
	}
	if !ev.Kind.Answered() {
		ev.Kind = cardea.PreToolUse
	}
	ev.Harness = m.Event.Harness
	m.Event, m.form, m.guessed = &ev, nil, true
	for _, a := range []Adapter{sender, own} {
		if m.form == nil && isDeaf(a) {
			m.form = a
		}
	}
	m.note("give this event no hook, or report it", fmt.Sprintf("a message came whose event is not known for %s; it was judged as a call that is to run", cmp.Or(ev.Harness, "any harness")))
}

// attend sets whether a person watches the agent. The word of a harness applies only to its own
// messages: an agent that it started inherits its environment.
func (m *Message) attend(h Hook, sender Adapter) {
	said := cardea.AttendanceUnsaid
	if sender != nil {
		said = sender.Attendance(h.Env)
	}
	switch {
	case h.Unattended || m.Event.Attendance == cardea.NobodyAttends || said == cardea.NobodyAttends || m.headless(h, sender):
		said = cardea.NobodyAttends
	case said != cardea.PersonAttends:
		return
	}
	m.Event = m.Event.With(func(e *cardea.Event) { e.Attendance = said })
}

// headless looks at the processes above, if an answer may depend on them.
func (m *Message) headless(h Hook, sender Adapter) bool {
	r, ok := sender.(reader)
	return ok && m.Event.Kind.Answered() && r.Headless(h.Lines, h.Piped)
}

// Unread returns a message with nothing to judge. Its mode is unknown, so it is unattended. A
// harness that ignores exit code 2 is answered in its own form, as if the message were about a
// call.
func (h Hook) Unread(t cardea.Issue) *Message {
	if own := byName(h.Adapters, h.Harness); isDeaf(own) {
		return &Message{Event: &cardea.Event{Kind: cardea.PreToolUse, Harness: own.Name(), Attendance: cardea.NobodyAttends}, Unread: true,
			Issues: cardea.Issues{t}, form: own}
	}
	return &Message{Event: &cardea.Event{Harness: Canonical(h.Harness), Attendance: cardea.NobodyAttends}, Unread: true, Issues: cardea.Issues{t}}
}

// Verdict returns the verdict on a message that is unread. If the message may not come from a
// harness, only the setting default and on_error: deny apply, the latter only to bytes that are not
// an object. An object that names an event without a call has no verdict.
func (m *Message) Verdict(b cardea.Fallback) cardea.Verdict {
	failure := m.Issues[0].Failure
	if m.Event.Harness == "" && b.OnError != cardea.OnErrorDeny {
		b.OnError = cardea.OnErrorAllow
	}
	v := cardea.Verdict{}
	if failure != cardea.NoFailure || m.Event.Harness != "" || m.unsaid {
		v = b.Failed(failure, m.Event.Attended(), m.Issues[0].Error())
	}
	v.Issues = m.Issues
	return v
}

// misdirected handles a message that arrived at another harness's hook.
func (m *Message) misdirected(p *Payload, own, adapter Adapter) {
	m.note("give "+m.Sender+" a hook of its own",
		fmt.Sprintf("a %s message arrived at the hook installed for %s, which it seems to run as well", m.Sender, own.Name()))
	if adapter != nil {
		m.Event = adapter.Parse(p)
	} else {
		m.Event = Foreign(m.Sender, p)
	}
	// Claude Code ignores exit code 2 on PermissionRequest. VS Code runs the hooks of Copilot CLI's
	// files, and has marks that Copilot CLI never has.
	if isDeaf(adapter) || m.Sender == "claude-code" && m.Event.Kind == cardea.PermissionRequest || adapter != nil && m.Sender == "vscode" && own.Name() == "copilot-cli" {
		m.form = adapter
		return
	}
	m.foreign = true
	// Copilot CLI reads Claude Code's form only in answer to the PreToolUse messages in that form,
	// which name their events in PascalCase. It ignores that form on PermissionRequest, where it
	// accepts exit code 2. Cursor reads it in answer to its messages to Claude Code's hooks. It
	// accepts exit code 2 on all events.
	forClaude := own.Name() == "claude-code" && strings.EqualFold(m.Event.Wire, string(cardea.PreToolUse))
	reads := slices.ContainsFunc(claudeReaders, func(r claudeReader) bool { return r.sender == m.Sender })
	if reads && writesClaude(own, m.Event.Kind) && (m.Sender != "cursor" || forClaude) &&
		(m.Sender != "copilot-cli" || isPascal(m.Event.Wire) && m.Event.Kind == cardea.PreToolUse) {
		m.form = own
	}
}

func (m *Message) note(hint, text string) {
	m.Issues = append(m.Issues, cardea.Warning("", diagnostic.CodeUnknownSender, hint, text))
}

// Capabilities returns the answers to the message that its reader can express.
func (m *Message) Capabilities() cardea.Capabilities {
	switch {
	case m.Unread && m.form == nil:
		return byExitUnread(m.Sender)
	case m.guessed:
		return byExit(m.Event.Harness)
	case m.form == nil:
		return byExit(m.Sender)
	case m.foreign:
		return readerOfClaude(m.Sender, m.form.Capabilities())
	}
	return m.form.Capabilities()
}

// Write writes an answer in the form that the sender reads. ev is the event of the message, with
// all later additions.
func (m *Message) Write(ev *cardea.Event, a cardea.Answer) Output {
	if m.form == nil {
		return ByExit(a)
	}
	a.Foreign = m.foreign
	return m.form.Render(ev, a)
}

// claudeReader is a sender that reads Claude Code's form when it runs Claude Code's hooks, with the
// effect of an ask there.
type claudeReader struct {
	sender             string
	ask, askUnattended cardea.Effect
}

// claudeReaders are all such senders. Cursor's preToolUse has no question. Crush has none and may
// not prompt itself. Droid runs the call if no person can answer (docs/harnesses.md).
var claudeReaders = []claudeReader{
	{sender: "copilot-cli", ask: cardea.Ask},
	{sender: "vscode", ask: cardea.Ask},
	{sender: "grok-build", ask: cardea.Ask},
	{sender: "factory-droid", ask: cardea.Ask, askUnattended: cardea.Deny},
	{sender: "qwen-code", ask: cardea.Ask},
	{sender: "cursor", ask: cardea.Deny},
	{sender: "crush", ask: cardea.Deny},
}

// readerOfClaude returns the part of Claude Code's form that a sender understands. A rewritten
// input has canonical fields, which the sender may not know. The effect of an answer to another
// event is unknown.
func readerOfClaude(sender string, claude cardea.Capabilities) cardea.Capabilities {
	out := cardea.Capabilities{Harness: sender, Questions: claude.Questions, Protected: claude.Protected, Critical: claude.Critical}
	for _, r := range claudeReaders {
		for _, row := range claude.Rows {
			if r.sender == sender && slices.ContainsFunc(row.Kinds, cardea.Kind.Answered) {
				row.Ask, row.AskUnattended, row.Rewrite = r.ask, r.askUnattended, false
				out.Rows = append(out.Rows, row)
			}
		}
	}
	return out
}

// writesClaude reports whether other harnesses run this harness's hooks, and its answers have
// Claude Code's form. VS Code's hooks are in a folder that Copilot CLI reads.
func writesClaude(own Adapter, kind cardea.Kind) bool {
	return own.Name() == "claude-code" || own.Name() == "vscode" && kind == cardea.PreToolUse
}

func names(adapters []Adapter) string {
	var out []string
	for _, a := range adapters {
		out = append(out, a.Name())
	}
	return strings.Join(out, ", ")
}
