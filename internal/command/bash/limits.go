package bash

// Limits that keep the analysis linear and its memory bounded, whatever the agent sends.
// A command beyond one of the first is opaque as a whole.
const (
	maxParts    = 5000   // parts of a command
	maxWords    = 200000 // words that are read, including repeated walks of functions
	maxScripts  = 12     // scripts within scripts (bash -c, eval, alias)
	maxWrappers = 12     // wrappers around one command
	maxList     = 1000   // elements of an array that are kept
	maxLinks    = 100    // links of one chain of && and || whose values are followed
	maxExits    = 200    // jumps of a line that are followed
	maxExported = 200    // variables of a line that are followed into its programs' environment
	maxBodies   = 8      // definitions of one function

	// MaxScan is the number of sources of one pipe that are examined, so that long
	// pipelines stay linear.
	MaxScan = 64
	// maxOriginScan is the number of parts that are searched for the origin of a variable.
	maxOriginScan = 128
	// maxPlaces is the number of places of a loop's words that are followed.
	maxPlaces = 8
)
