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
	// HarnessJudge is the same where a judge is asked.
	HarnessJudge = 30 * time.Second
	// HarnessQueue is the same where a call waits for a person (human.mode), at least.
	HarnessQueue = 120 * time.Second
	// Hook is how long the hook may take if its command names no --limit.
	Hook = 5 * time.Second
	// KeepFiles is how long a call waits for last good forms and indexes to be
	// written. The next call writes the others.
	KeepFiles = 100 * time.Millisecond
	// LedgerWrite is how long a writer waits for the ledger's lock. Then the entry
	// is left for the next writer.
	LedgerWrite = 50 * time.Millisecond
	// Lessons is how long who changes lessons waits for other processes that do: many
	// at once on a busy machine, or one that makes an index of a million.
	Lessons = time.Minute
	// LessonsWritten is how long a call waits for a process that has written lessons and
	// has not told their index yet. Then it does without what is allowed there.
	LessonsWritten = 100 * time.Millisecond
)

// HookOf is how long the hook may take if the harness has a limit: the rest is for
// starting and for answering.
func HookOf(harness time.Duration) time.Duration { return harness * 4 / 5 }

// QueueWait is how long a call may wait for a person in a hook with a limit.
func QueueWait(hook time.Duration) time.Duration {
	left := hook * 8 / 10
	return left - min(QueueSettle, left/10)
}

// HarnessFor is the harness's limit with which a call can wait for a person for a time. The
// gate uses eight tenths of the hook's time.
func HarnessFor(wait time.Duration) time.Duration {
	needed := (wait + QueueSettle) * 100 / 64
	return max(HarnessQueue, (needed + 5*time.Second).Truncate(5*time.Second))
}

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

// Time for the judge.
const (
	// Near is how long the search for lessons that mean the same may take. A call is
	// decided without it then.
	Near = 2 * time.Second
	// NearIndex is how long making an index for that may take, in the background.
	NearIndex = 10 * time.Minute
	// Judge is how long a question to models may take if the caller has no limit.
	Judge = 30 * time.Second
	// JudgeSettle is how much of a question's time is kept for writing down what it cost.
	JudgeSettle = 100 * time.Millisecond
	// KeyCommand is how long the command may take that prints the key of a provider.
	KeyCommand = 5 * time.Second
	// JudgeCheck is how long a provider may take to say whether it is there.
	JudgeCheck = 10 * time.Second
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
	// Feed is how long the list of releases may take to come.
	Feed = 10 * time.Second
	// Setting is the longest time that settings can name.
	Setting = 10 * time.Minute
)

// Time for the team's supervisor.
const (
	// Supervisor is how long a supervisor may take if the caller has no limit.
	Supervisor = time.Minute
	// SupervisorGreeting is how long both sides may take to prove who they are.
	SupervisorGreeting = 5 * time.Second
	// SupervisorIdle is how long a connection may stay without another question: longer than
	// any question waits.
	SupervisorIdle = Setting + time.Minute
	// SupervisorRetry is the pause between two connections to a supervisor that does
	// not listen, SupervisorReturn how long it may take to come back.
	SupervisorRetry  = 50 * time.Millisecond
	SupervisorReturn = 2 * time.Second
	// SupervisorTurn is how long a new supervisor waits for the last one to end.
	SupervisorTurn = 2 * time.Second
	// SupervisorNext is how long an agent that is a supervisor waits for a question.
	SupervisorNext = 25 * time.Second
	// LastAnswers is how long "cardea mcp" works on what it was asked for when its client
	// asks no more.
	LastAnswers = 3 * time.Second
)

// Time for the daemon, and for the hook that asks it.
const (
	// DaemonPulse is how often the daemon shows that it still works on a call,
	// DaemonSilence how long cardea-hook waits for such a sign before it lets cardea answer.
	DaemonPulse   = 50 * time.Millisecond
	DaemonSilence = 500 * time.Millisecond
	// DaemonCall is how long a caller may take to send its call.
	DaemonCall = 5 * time.Second
	// DaemonTurn is how long a new daemon waits for an old one to end.
	DaemonTurn = 15 * time.Second
	// DaemonIdle is after how long without a call a daemon ends.
	DaemonIdle = 30 * time.Minute
	// DaemonStart is how long hooks wait before they start another daemon: the one before may
	// still be on its way, or cannot be started.
	DaemonStart = 10 * time.Second
	// DaemonLook is how often the daemon looks whether its program was replaced.
	DaemonLook = 10 * time.Second
)

// Time for the queue of calls that wait for a person.
const (
	// QueueWrite is how long one use of the queue's file may take: many processes share it.
	QueueWrite = 5 * time.Second
	// QueueLook is how often a process looks whether its call was answered.
	QueueLook = 50 * time.Millisecond
	// QueueSettle is how much of a call's time is kept for what follows a person's answer.
	QueueSettle = 2 * time.Second
	// QueueOrphan is how often the process that holds a call back looks whether the
	// hook still waits for it.
	QueueOrphan = 200 * time.Millisecond
	// Notice is how long telling a person of a new entry may take.
	Notice = 2 * time.Second
	// Ticket is how long a ticket waits for a person.
	Ticket = 24 * time.Hour
)

// Time for the monitor.
const (
	// MonitorLook is how often the monitor looks for what came: what a person takes for at
	// once.
	MonitorLook = 250 * time.Millisecond
	// MonitorSessions is how often it reads which sessions are registered.
	MonitorSessions = 2 * time.Second
	// MonitorSetUp is how often it looks whether the gate's set-up changed.
	MonitorSetUp = 5 * time.Second
)

// Time for the daemon's HTTP.
const (
	// HTTPHead is how long the head of a request may take to come, HTTPBody how long the
	// whole request, HTTPWrite how long a client may take to read an answer.
	HTTPHead  = 5 * time.Second
	HTTPBody  = 10 * time.Second
	HTTPWrite = 10 * time.Second
	// HTTPIdle is how long a connection is kept open for the next call: a harness whose
	// connection ends at the moment of its call counts that as a failed hook.
	HTTPIdle = time.Hour
	// HTTPPlace is how long a call waits for one of the places of calls.
	HTTPPlace = time.Second
	// HTTPFollow is how often the ledger is looked at for who follows it.
	HTTPFollow = 250 * time.Millisecond
	// HTTPAlive is how often who follows the ledger is sent a sign of life.
	HTTPAlive = 15 * time.Second
)

// Time for watching how the gate is set up.
const (
	// SetUpLook is how often the daemon looks whether one of the files that are known
	// changed, SetUpWhole how often it looks for new ones, too.
	SetUpLook  = 5 * time.Second
	SetUpWhole = time.Minute
)
