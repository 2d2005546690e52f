// Package dialect speaks the hook protocols of the harnesses whose messages and answers
// fit a table: a file for each harness says where its messages hold what, what its
// events mean, what an answer can do there, and in which form it is written.
//
// Sources are the vendors' pages, named in each file, and what the real programs did
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
	// seen is set where the real program was seen to do what the table says.
	seen bool
	// event, session, cwd and mode are the keys of a message, as in
	// [harness.Reading.Value]. The first that a message has counts.
	event, session, cwd []string
	mode                string
	// agents says that agent_id and agent_type name the agent within the session.
	agents bool
	// kinds are the canonical names of events.
	kinds []kind
	// modes are the canonical names of permission modes, nil where they are canonical.
	modes []mode
	// shapes are the forms of messages, of which the first that fits counts.
	shapes []shape
	// rows are what an answer can do.
	rows []cardea.Row
	// write writes an answer.
	write func(d *Dialect, ev *cardea.Event, a cardea.Answer) harness.Output
	// learn takes what only this harness's messages say, nil for nothing.
	learn func(r *harness.Reading, ev *cardea.Event)
	// server finds the server and the tool of an MCP call, nil where the harness names them as
	// Claude Code does.
	server func(r *harness.Reading, name string) (server, tool string)
	// attendance is what the environment says about a person, nil for nothing.
	attendance func(env func(string) string) cardea.Attendance
	// program and headless find the harness among the processes above and say whether
	// its arguments mean that nobody sees a question.
	program  string
	headless func(args []string, piped func() bool) bool
	// deaf is set where exit code 2 holds nothing back, so that every refusal has the
	// harness's own form, also that of a message which cannot be read.
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
	// event is the event that has it, "" for any.
	event string
	// has is a key that it has, "" for none.
	has string
	// kind is what a message in it is where it does not name its event.
	kind cardea.Kind
	// tool is the key of the tool's name; named is the name where there is no such key.
	tool, named string
	// input is the key of the tool's input.
	input string
	// fields are the keys of the message that are the input, where it has none of its own.
	fields []string
}

// Name is the harness's word for --harness.
func (d *Dialect) Name() string { return d.name }

// Seen reports whether the real program was seen to do what the table says; else it is
// the vendor's documentation that says so.
func (d *Dialect) Seen() bool { return d.seen }

// Detect reports whether the harness sent the payload.
func (d *Dialect) Detect(p *harness.Payload, env func(string) string) bool {
	return harness.Sender(p, env) == d.name
}

// Attendance is what the harness's environment says about a person in front of it.
func (d *Dialect) Attendance(env func(string) string) cardea.Attendance {
	if d.attendance == nil {
		return cardea.AttendanceUnsaid
	}
	return d.attendance(env)
}

// Headless reports whether the command lines of the processes above, nearest first, say
// that the harness was started where nobody sees a question. piped says of the nth of them
// whether it reads from what is no terminal.
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

// Deaf reports whether exit code 2 holds nothing back, so that what is refused is
// refused in the harness's own form.
func (d *Dialect) Deaf() bool { return d.deaf }

// Kind is the canonical name of an event: the gate's, or Claude Code's where it has
// the event. One that is not known keeps its own.
func (d *Dialect) Kind(event string) cardea.Kind {
	for _, k := range d.kinds {
		if k.wire == event {
			return k.kind
		}
	}
	return cardea.Kind(event)
}

// Capabilities is the table of what the harness can express.
func (d *Dialect) Capabilities() cardea.Capabilities {
	c := harness.ReservedCalls(d.name)
	c.Rows = d.rows
	return c
}

// Render writes an answer. What a person must learn, and the harness has no place
// for, goes to standard error.
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
			r.Fault(d.event[0], "is missing or no word")
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
	ev.Faults = r.Faults(s.heads()...)
	return ev
}

// nameless reports a shape of a harness that names no events in it.
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

// call takes the tool's name and input from a message.
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

// heads are the keys of the message that hold the call.
func (s shape) heads() []string {
	out := slices.Clone(s.fields)
	for _, path := range []string{s.tool, s.input} {
		if head, _, _ := strings.Cut(path, "."); head != "" && !slices.Contains(out, head) {
			out = append(out, head)
		}
	}
	return out
}

// first is the first of several keys that a message has, "" for none. Where it has
// none of them, keys that imitate one are faults.
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

// All are the adapters, in the order of docs/harnesses.md.
func All() []*Dialect { return all[:] }

var all = [...]*Dialect{&codex, &geminiCLI, &qwenCode, &openCode, &droid, &cline, &pi, &cursor, &vsCode, &windsurf, &kiro, &amp, &augment, &crush}
