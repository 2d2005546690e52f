// Package hook implements what harnesses start: check, and what else runs at every
// call, prompt or redrawn line.
//
// Each run is a process of its own that lives for some milliseconds, so nothing here
// needs a library for command lines or YAML. The commands of people are in package
// cli, which decides by the same code ([Judgement]), so that what try says is what check
// does. Nothing here decides: the hook finds the settings, hands an event to the gate,
// and says what came of it.
//
// What a person reads was partly written by the agent whose call is judged, so it
// passes through [Plain], which lets no control, bidi or invisible character reach the
// terminal.
package hook
