package bash

// Limits keep the analysis linear and its memory bounded, whatever the agent
// sends. A command beyond one of the first is opaque as a whole.
const (
	// maxPatternNames is how many names of commands such as c[a]t a script may have: the
	// parser begins again for each.
	maxPatternNames = 16
	maxText         = 1 << 20 // bytes of a command
	maxNesting      = 200     // open brackets, braces, quotes' substitutions and control words
	maxParts        = 5000    // parts of a command
	maxWords        = 200000  // words looked at, repeated walks of functions included
	maxScripts      = 12      // scripts within scripts (bash -c, eval, alias)
	maxBraces       = 512     // words that one brace expansion may become
	maxWrappers     = 12      // wrappers around one command
	maxList         = 1000    // elements of an array that are followed
	maxJoined       = 1 << 16 // bytes that one word may expand to
	maxLinks        = 100     // links of one chain of && and || whose values are followed
	maxExits        = 200     // jumps of a line that are followed
	maxExported     = 200     // variables of a line that are followed into its programs' environment
	maxBodies       = 8       // definitions of one function

	// MaxScan is how many sources of one pipe are looked at, so that long
	// pipelines stay linear.
	MaxScan = 64
	// maxOriginScan is how many parts are looked through for what set a variable.
	maxOriginScan = 128
	// maxPlaces is how many places of a loop's words are followed.
	maxPlaces = 8
)
