// Package harness reads the messages of harnesses into events and writes
// answers in their form. It holds what all adapters share; each harness has a
// folder of its own below.
//
// Formats and rules are those of the vendors' hook documentation; every
// adapter names its pages.
//
// CONTRIBUTING.md says how to add one.
package harness

import "cardea.dev"

// Adapter speaks one harness's wire protocol.
type Adapter interface {
	// Name is the harness's word for --harness: "claude-code".
	Name() string
	// Detect reports whether the payload comes from this harness. env looks
	// up environment variables as os.Getenv does.
	Detect(p *Payload, env func(string) string) bool
	// Parse reads a payload. It never fails: what it cannot read becomes a
	// fault of the event. It leaves the call's parts to the analysis.
	Parse(p *Payload) *cardea.Event
	// Attendance is what the harness's environment says about a person in front
	// of it.
	Attendance(env func(string) string) cardea.Attendance
	// Capabilities is the table of what the harness can express.
	Capabilities() cardea.Capabilities
	// Render writes an answer the way the harness reads it. It is a pure function
	// of the answer and of the names in the event.
	Render(ev *cardea.Event, a cardea.Answer) Output
}

// Output is what a hook process gives back.
type Output struct {
	// Stdout is one JSON object with a newline, or empty.
	Stdout []byte
	// Stderr is for people, and for the harness on exit 2.
	Stderr []byte
	// Exit is 0 or 2, never anything else.
	Exit int
}
