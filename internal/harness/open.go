package harness

import (
	"fmt"
	"strings"

	"cardea.dev"
)

// Message is a hook message with the way to answer it.
type Message struct {
	// Sender is the harness that sent it, "" where its shape is not known.
	Sender string
	// Event is what is to be judged, nil where there is nothing: the bytes
	// held no object, or an unknown shape came without --harness.
	Event *cardea.Event
	// Failed is why there is no event, where that is a failure. It is nil
	// where silence is right.
	Failed *cardea.Trouble
	// Troubles are what a person should learn of this message, such as a
	// hook that is installed for another harness. They do not get into a
	// verdict by themselves: the caller adds those that it wants shown.
	Troubles []cardea.Trouble

	form    Adapter // nil: answered by exit code alone
	foreign bool    // the form is not the sender's own
}

// Open reads a message and decides in whose form it is answered. explicit is
// the value of --harness, "" to detect the sender; env looks up environment
// variables. The only error is an explicit name that no adapter has.
//
// With an explicit harness the answer has its form whatever came. A foreign
// message is parsed by its sender's adapter, and answered so only where the
// sender reads that form; elsewhere by exit code. Without one the sender's own
// form is used, and an unknown shape is passed in silence: any answer could
// mean the opposite to a harness that is not known.
func Open(raw []byte, explicit string, env func(string) string, adapters []Adapter) (*Message, error) {
	own := byName(adapters, explicit)
	if explicit != "" && own == nil {
		return nil, fmt.Errorf("unknown harness %q: use one of %s", explicit, names(adapters))
	}
	p, err := Read(raw)
	if err != nil {
		t := cardea.Trouble{Failure: cardea.NoObject, Text: err.Error()}
		m := &Message{Troubles: []cardea.Trouble{t}}
		if own != nil {
			m.Failed = &t
		}
		return m, nil
	}
	sender, adapter := Detect(p, env, adapters)
	m := &Message{Sender: sender}
	switch {
	case own == nil && sender == "":
		m.note("a message of unknown shape was passed without a verdict; name its sender with --harness")
	case own == nil && adapter == nil:
		m.Event = Foreign(sender, p)
		m.note(fmt.Sprintf("a %s message arrived, which this version answers by exit code only", sender))
	case own == nil:
		m.Event, m.form = adapter.Parse(p), adapter
	case sender == "" || sender == explicit:
		m.Event, m.form = own.Parse(p), own
	default:
		m.misdirected(p, own, adapter)
	}
	return m, nil
}

// misdirected takes a message that arrived at another harness's hook.
func (m *Message) misdirected(p *Payload, own, adapter Adapter) {
	m.note(fmt.Sprintf("a %s message arrived at the hook installed for %s, which it seems to run as well; give %s a hook of its own",
		m.Sender, own.Name(), m.Sender))
	if adapter != nil {
		m.Event = adapter.Parse(p)
	} else {
		m.Event = Foreign(m.Sender, p)
	}
	m.foreign = true
	// Copilot CLI reads Claude Code's form only in answer to the messages
	// that have it, which name their events in PascalCase.
	_, reads := readsClaude(m.Sender)
	if reads && own.Name() == "claude-code" && (m.Sender != "copilot-cli" || isPascal(m.Event.Wire)) {
		m.form = own
	}
}

func (m *Message) note(text string) {
	m.Troubles = append(m.Troubles, cardea.Trouble{Text: text})
}

// Settled gives the verdict on a message without an event, and whether it is
// one: what the failure table says, else silence.
func (m *Message) Settled(on cardea.OnError) (cardea.Verdict, bool) {
	if m.Event != nil {
		return cardea.Verdict{}, false
	}
	v := cardea.Verdict{Troubles: m.Troubles}
	if m.Failed != nil {
		v.Effect = m.Failed.Failure.Effect(on, true)
	}
	if v.Effect != cardea.Abstain {
		v.By, v.Reason, v.Message = "failure", m.Failed.Text, m.Failed.Text
	}
	return v, true
}

// Answer writes a verdict on the message.
func (m *Message) Answer(v cardea.Verdict) Answer {
	if (m.form == nil || m.foreign) && m.Event != nil && !m.Event.Kind.Answered() {
		// What an answer does to an event of another harness is not known.
		v.Effect, v.Context = cardea.Abstain, nil
	}
	if m.form == nil || m.Event == nil {
		return ByExit(v)
	}
	if m.foreign {
		v = m.degrade(v)
	}
	return m.form.Render(m.Event, v)
}

// degrade fits a verdict to a sender that reads another harness's form. A
// rewritten input is in canonical fields, which the sender need not know, so
// what was to be rewritten is asked about; and a sender without a question
// denies, or asks by its own flow where it has one for every call.
func (m *Message) degrade(v cardea.Verdict) cardea.Verdict {
	if v.Rewrite != nil {
		v.Rewrite = nil
		if cardea.Ask.Stricter(v.Effect) {
			v.Effect = cardea.Ask
		}
	}
	if v.Effect != cardea.Ask {
		return v
	}
	v.Effect, _ = readsClaude(m.Sender)
	if v.Effect == cardea.Deny {
		hint := "\n(" + m.Sender + " cannot ask a person here, so this is refused; a person can run it)"
		v.Reason, v.Message = v.Reason+hint, v.Message+hint
	}
	return v
}

// readsClaude reports whether a sender reads Claude Code's form when it runs
// Claude Code's hooks, and what an ask becomes there
// (docs/harnesses.md#other-harnesses): Cursor's preToolUse has no question,
// and Crush's own prompt is the question.
func readsClaude(sender string) (ask cardea.Effect, ok bool) {
	switch sender {
	case "copilot-cli", "vscode", "grok-build", "factory-droid", "qwen-code":
		return cardea.Ask, true
	case "cursor":
		return cardea.Deny, true
	case "crush":
		return cardea.Defer, true
	}
	return cardea.Abstain, false
}

func names(adapters []Adapter) string {
	var out []string
	for _, a := range adapters {
		out = append(out, a.Name())
	}
	return strings.Join(out, ", ")
}
