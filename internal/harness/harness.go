// Package harness reads the messages of harnesses into events and writes answers in their form. It
// contains the code that all adapters share. Most harnesses are tables in package dialect. Packages
// claudecode and copilotcli have adapters of their own.
//
// Formats and rules follow the vendors' hook documentation; every adapter names its pages.
//
// CONTRIBUTING.md describes how to add one.
package harness

import "cardea.dev"

// Adapter implements one harness's wire protocol.
type Adapter interface {
	// Name returns the harness's word for --harness: "claude-code".
	Name() string
	// Detect reports whether the payload comes from this harness. env looks
	// up environment variables as os.Getenv does.
	Detect(p *Payload, env func(string) string) bool
	// Parse reads a payload. It never fails: a part that it cannot read becomes a defect of the
	// event. It leaves the call's parts to the analysis.
	Parse(p *Payload) *cardea.Event
	// Attendance returns whether a person watches the agent, as far as the harness's environment
	// shows it.
	Attendance(env func(string) string) cardea.Attendance
	// Capabilities returns the table of answers that the harness can express.
	Capabilities() cardea.Capabilities
	// Render returns an answer in the harness's form. It is a pure function of the answer and of
	// the names in the event.
	Render(ev *cardea.Event, a cardea.Answer) Output
}

// Output is the output of a hook process.
type Output struct {
	// Stdout is one JSON object with a newline, or empty.
	Stdout []byte
	// Stderr is for people, and for the harness on exit 2.
	Stderr []byte
	// Exit is 0 or 2.
	Exit int
}
