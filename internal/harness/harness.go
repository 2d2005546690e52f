// Package harness turns what an agent's host sends into a cardea.Event, and a
// verdict into what that host reads. It holds what all adapters share; each
// host has a folder of its own below.
//
// Formats and rules are those of the vendors' hook documentation; every
// adapter names its pages.
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
	// Render writes a verdict the way the harness reads it.
	Render(ev *cardea.Event, v cardea.Verdict) Answer
}

// Answer is what a hook process gives back.
type Answer struct {
	// Stdout is one JSON object with a newline, or empty.
	Stdout []byte
	// Stderr is for people, and for the harness on exit 2.
	Stderr []byte
	// Exit is 0 or 2, never anything else.
	Exit int
}
