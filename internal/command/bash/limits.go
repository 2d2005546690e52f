package bash

// Limits keep the analysis linear and its memory bounded, whatever the agent
// sends. A command beyond one of the first is opaque as a whole.
const (
	maxParts    = 5000   // parts of a command
	maxWords    = 200000 // words looked at, repeated walks of functions included
	maxScripts  = 12     // scripts within scripts (bash -c, eval, alias)
	maxWrappers = 12     // wrappers around one command
	maxList     = 1000   // elements of an array that are followed
	maxLinks    = 100    // links of one chain of && and || whose values are followed
	maxExits    = 200    // jumps of a line that are followed
	maxExported = 200    // variables of a line that are followed into its programs' environment
	maxBodies   = 8      // definitions of one function

	// MaxScan is how many sources of one pipe are looked at, so that long
	// pipelines stay linear.
	MaxScan = 64
	// maxOriginScan is how many parts are looked through for what set a variable.
	maxOriginScan = 128
	// maxPlaces is how many places of a loop's words are followed.
	maxPlaces = 8
)
