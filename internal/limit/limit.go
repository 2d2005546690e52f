// Package limit says how long each thing may take that Cardea waits for. The
// hook's time is the outermost: what runs in a call gets no more than is left of
// it, whatever stands here. Sizes and counts stand where they are used.
package limit

import "time"

// Time for one call of the hook.
const (
	// HarnessHook is the harness's limit with which Cardea is installed
	// (install --timeout).
	HarnessHook = 10 * time.Second
	// Hook is how long the hook may take if its command names no --limit.
	Hook = 5 * time.Second
	// KeepFiles is how long a call waits for last good forms and indexes to be
	// written. The next call writes the others.
	KeepFiles = 100 * time.Millisecond
	// LedgerWrite is how long a writer waits for the ledger's lock. Then the entry
	// is left for the next writer.
	LedgerWrite = 50 * time.Millisecond
)

// HookOf is how long the hook may take if the harness has a limit: the rest is for
// starting and for answering.
func HookOf(harness time.Duration) time.Duration { return harness * 4 / 5 }

// Time for policies and what they ask.
const (
	// Signal is how long a signal may take if the settings say nothing.
	Signal = 5 * time.Second
	// Evaluation is how long policies may take if the caller has no limit, as in
	// commands for people.
	Evaluation = 10 * time.Second
	// Engine is how long a request to cardea-engine may take if the caller has no
	// limit.
	Engine = time.Minute
	// EngineGrace is how much longer cardea waits for an answer of cardea-engine,
	// which ends what it does by itself.
	EngineGrace = 50 * time.Millisecond
	// EvaluationStop is how long an evaluation may take to stop. One that is
	// inside of a single call, such as a replace that makes gigabytes, does not:
	// it is left behind, and its process is killed.
	EvaluationStop = 100 * time.Millisecond
	// PolicyTest is how long one test of a policy may take, as in OPA,
	// PolicyTestStop how long it may take to stop, and PolicyTests how long all
	// tests of a folder may take.
	PolicyTest     = 5 * time.Second
	PolicyTestStop = time.Second
	PolicyTests    = 10 * time.Minute
)

// Time for processes after an answer, and for commands of people.
const (
	// Action is how long an action may take.
	Action = time.Minute
	// Pipes is how long the pipes of a child that ended are waited for: another
	// process may have inherited them.
	Pipes = 50 * time.Millisecond
	// LedgerRead is how long audit verify waits for writers to pause.
	LedgerRead = 2 * time.Second
	// Version is how long a harness may take to report its version, Probe how long
	// a hook that doctor tries may take.
	Version = 5 * time.Second
	Probe   = time.Minute
	// Fetch is how long the settings of an organisation may take to come.
	Fetch = 2 * time.Minute
	// Setting is the longest time that settings can name.
	Setting = 10 * time.Minute
)
