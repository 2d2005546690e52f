// Package harness reads the messages of harnesses into events and writes
// answers in their form. It holds what all adapters share; each harness has a
// folder of its own below.
//
// Formats and rules are those of the vendors' hook documentation; every
// adapter names its pages.
//
// To add a harness, also one that cannot ask:
//
//  1. Make a folder with an [Adapter]. Parse builds the event at once. The table
//     that Capabilities returns says what the harness can express on each kind of
//     event; for a harness without a question, the row of PreToolUse has Ask:
//     cardea.Deny, or cardea.Defer where its own prompt follows. Render writes an
//     answer down. It decides nothing: what cannot be expressed is gone when it
//     gets there, see cardea.Express.
//  2. Add a line to the table of senders in detect.go, and the names of its tools
//     and fields to alias.go.
//  3. Put payloads into testdata and call conformance.Run in a test. The suite
//     needs a function that reads an answer as the vendor documents it. Write it
//     from the documentation, not from Render.
//  4. Add the adapter to the list in internal/cli/judgement.go, and the harness
//     to the table in internal/install.
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
