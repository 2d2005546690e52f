// Package dialect implements the hook protocols of the harnesses whose messages and answers fit a
// table. A file for each harness holds the keys of its messages, the meaning of its events, the
// possible answers, and their form.
//
// Sources are the vendors' pages, named in each file, and the behavior of the real programs
// (docs/harnesses.md). Names of tools and fields are in internal/harness/alias.go.
package dialect

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// Dialect is the adapter of one harness.
type Dialect struct {
	// name is the harness's word for --harness.
	name string
	// seen is set if the real program was seen to behave as the table states.
	seen bool
	// event, session, cwd and mode are the keys of a message, as in [harness.Reading.Value]. The
	// first that a message has is used.
	event, session, cwd []string
	mode                string
	// agents is set if agent_id and agent_type identify the agent within the session.
	agents bool
	// kinds are the canonical names of events.
	kinds []kind
	// modes are the canonical names of permission modes, nil where they are canonical.
	modes []mode
	// shapes are the forms of messages. The first that fits is used.
	shapes []shape
	// rows are the capabilities of an answer.
	rows []cardea.Row
	// write returns an answer in the harness's form.
	write func(d *Dialect, ev *cardea.Event, a cardea.Answer) harness.Output
	// learn reads further fields that only this harness's messages have; it may be nil.
	learn func(r *harness.Reading, ev *cardea.Event)
	// server returns the server and the tool of an MCP call. It is nil if the harness names them as
	// Claude Code does.
	server func(r *harness.Reading, name string) (server, tool string)
	// attendance returns whether a person attends, as far as the environment shows it; it may be
	// nil.
	attendance func(env func(string) string) cardea.Attendance
	// program is the name of the harness's program. headless reports whether its arguments mean
	// that a question reaches no person.
	program  string
	headless func(args []string, piped func() bool) bool
	// deaf is set if exit code 2 holds nothing back, so that every refusal has the harness's own
	// form, also that of a message which cannot be read.
	deaf bool
}

type kind struct {
	wire string
	kind cardea.Kind
}

type mode struct {
	wire string
	mode cardea.Mode
}

// shape is a form of messages.
type shape struct {
	// event is the event with this form, "" for any.
	event string
	// has is a key that the form has, or "".
	has string
	// kind is the kind of a message in this form that does not name its event.
	kind cardea.Kind
	// tool is the key of the tool's name; named is the name if there is no such key.
	tool, named string
	// input is the key of the tool's input.
	input string
	// fields are the keys of the message that form the input, if it has no key of its own.
	fields []string
}

// Name returns the harness's word for --harness.
func (d *Dialect) Name() string { return d.name }

// Seen reports whether the real program was seen to behave as the table states. Otherwise the
// source is the vendor's documentation.
func (d *Dialect) Seen() bool { return d.seen }

// Detect reports whether the harness sent the payload.
func (d *Dialect) Detect(p *harness.Payload, env func(string) string) bool {
	return harness.Sender(p, env) == d.name
}

// Attendance returns whether a person watches the agent, as far as the harness's environment shows
// it.
func (d *Dialect) Attendance(env func(string) string) cardea.Attendance {
	if d.attendance == nil {
		return cardea.AttendanceUnsaid
	}
	return d.attendance(env)
}

// Headless reports whether the command lines of the processes above, nearest first, show that a
// question of the harness reaches no person. piped reports whether the nth of them reads from
// something other than a terminal.
func (d *Dialect) Headless(lines func() [][]string, piped func(n int) bool) bool {
	if d.headless == nil || lines == nil {
		return false
	}
	for n, line := range lines() {
		for i, word := range line[:min(len(line), 3)] {
			name := word[strings.LastIndexAny(word, `/\`)+1:]
			if name == d.program || strings.HasPrefix(name, d.program+".") {
				return d.headless(line[i+1:], func() bool { return piped != nil && piped(n) })
			}
		}
	}
	return false
}

// Deaf reports whether exit code 2 holds nothing back, so that a refusal must have the harness's
// own form.
func (d *Dialect) Deaf() bool { return d.deaf }

// Kind returns the canonical name of an event: the gate's, or Claude Code's if it has the event. An
// unknown event keeps its own name.
func (d *Dialect) Kind(event string) cardea.Kind {
	for _, k := range d.kinds {
		if k.wire == event {
			return k.kind
		}
	}
	return cardea.Kind(event)
}

// Capabilities returns the table of answers that the harness can express.
func (d *Dialect) Capabilities() cardea.Capabilities {
	c := harness.ReservedCalls(d.name)
	c.Rows = d.rows
	return c
}

// Render returns an answer. Text that a person must learn, and for which the harness has no place,
// goes to standard error.
func (d *Dialect) Render(ev *cardea.Event, a cardea.Answer) harness.Output {
	return d.write(d, ev, a)
}

// Parse reads a message.
func (d *Dialect) Parse(p *harness.Payload) *cardea.Event {
	r := harness.NewReading(p)
	wire := ""
	if key := first(r, p, d.event); key != "" {
		wire = r.EventOf(key, d.Kind)
	}
	s := d.shapeOf(p, wire)
	ev := &cardea.Event{Kind: d.Kind(wire), Wire: wire, Harness: d.name, Sent: p}
	if key := first(r, p, d.session); key != "" {
		ev.Session = r.Text(key)
	}
	if key := first(r, p, d.cwd); key != "" {
		ev.Cwd = r.Folder(key)
	}
	if d.mode != "" {
		ev.Mode = d.modeOf(r.Text(d.mode))
	}
	if d.agents {
		ev.Agent, ev.AgentType = r.Text("agent_id"), r.Text("agent_type")
	}
	name, input, there := s.call(r, p)
	if wire == "" && s.kind != "" {
		if ev.Kind = s.kind; len(d.event) > 0 && s.kind.Answered() && !d.nameless(s) {
			r.Defect(d.event[0], "is missing or no word")
		}
	}
	if d.server != nil && name != "" {
		if server, tool := d.server(r, name); server != "" {
			name = "mcp__" + server + "__" + tool
		}
	}
	tool, in := harness.ToolName(d.name, name), input
	if patch, ok := patchIn(tool, input); ok && d.name == "codex" {
		tool, in = "apply_patch", patch
	}
	ev.Call = r.EventCall(ev.Kind, d.name, tool, name, in, there)
	if d.learn != nil {
		d.learn(r, ev)
	}
	ev.Faults = r.Defects(s.heads()...)
	return ev
}

// nameless reports whether messages of a shape do not name their event.
func (d *Dialect) nameless(s shape) bool { return s.event == "" && s.has != "" }

func (d *Dialect) modeOf(wire string) cardea.Mode {
	for _, m := range d.modes {
		if m.wire == wire {
			return m.mode
		}
	}
	return cardea.Mode(wire)
}

func (d *Dialect) shapeOf(p *harness.Payload, wire string) shape {
	for _, s := range d.shapes {
		if (s.event == "" || s.event == wire) && (s.has == "" || p.Holds(s.has)) {
			return s
		}
	}
	return shape{}
}

// call reads the tool's name and input from a message.
func (s shape) call(r *harness.Reading, p *harness.Payload) (name string, input any, there bool) {
	if name = s.named; s.tool != "" {
		name = r.Text(s.tool)
	}
	if len(s.fields) > 0 {
		return name, p.Only(s.fields), true
	}
	if s.input == "" {
		return name, nil, false
	}
	input, there = r.Value(s.input)
	if text, ok := input.(string); ok {
		input = r.Object(s.input, text)
	}
	return name, input, there
}

// heads returns the keys of the message that hold the call.
func (s shape) heads() []string {
	out := slices.Clone(s.fields)
	for _, path := range []string{s.tool, s.input} {
		if head, _, _ := strings.Cut(path, "."); head != "" && !slices.Contains(out, head) {
			out = append(out, head)
		}
	}
	return out
}

// first returns the first of several keys that a message has, or "". If it has none of them, keys
// that imitate one are defects.
func first(r *harness.Reading, p *harness.Payload, keys []string) string {
	for _, k := range keys {
		if p.Holds(k) {
			return k
		}
	}
	for _, k := range keys {
		r.Value(k)
	}
	return ""
}

// All returns the adapters, in the order of docs/harnesses.md.
func All() []*Dialect { return all[:] }

var all = [...]*Dialect{&codex, &geminiCLI, &qwenCode, &openCode, &droid, &cline, &pi, &cursor, &vsCode, &windsurf, &kiro, &amp, &augment, &crush}
