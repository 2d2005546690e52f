// Package limit holds the time limits of everything that Cardea waits for. The hook's time
// is the outer limit: work in a call gets at most what is left of it. Limits on sizes and
// counts are declared where they are used.
package limit

import "time"

// Limits for one call of the hook.
const (
	// HarnessHook is the harness's time limit for Cardea's hook (install --timeout).
	HarnessHook = 10 * time.Second
	// HarnessJudge is the limit of HarnessHook when a judge is configured.
	HarnessJudge = 30 * time.Second
	// HarnessQueue is the minimum of HarnessHook when a call waits for a person (human.mode).
	HarnessQueue = 120 * time.Second
	// Hook is the limit of the hook if its command has no --limit.
	Hook = 5 * time.Second
	// KeepFiles is how long a call waits for last good forms and indexes to be written. The
	// next call writes the rest.
	KeepFiles = 100 * time.Millisecond
	// LedgerWrite is how long a writer waits for the ledger's lock. After that, the next
	// writer writes the entry.
	LedgerWrite = 50 * time.Millisecond
	// Lessons is how long a process that changes lessons waits for others that do. There may
	// be many on a busy machine, or one that indexes a million lessons.
	Lessons = time.Minute
	// LessonsWritten is how long a call waits for a process that has written lessons but not
	// yet updated their index. After that, the call ignores the permissions in them.
	LessonsWritten = 100 * time.Millisecond
)

// HookOf returns the limit of the hook for a limit of the harness. The rest is for starting
// and answering.
func HookOf(harness time.Duration) time.Duration { return harness * 4 / 5 }

// QueueWait returns how long a call may wait for a person in a hook with a limit.
func QueueWait(hook time.Duration) time.Duration {
	left := hook * 8 / 10
	return left - min(QueueSettle, left/10)
}

// HarnessFor returns the limit that the harness needs for a call that waits for a person.
// The gate uses eight tenths of the hook's time.
func HarnessFor(wait time.Duration) time.Duration {
	needed := (wait + QueueSettle) * 100 / 64
	return max(HarnessQueue, (needed + 5*time.Second).Truncate(5*time.Second))
}

// Limits for policies and what they request.
const (
	// Signal is the default limit of a signal.
	Signal = 5 * time.Second
	// Evaluation is the limit of an evaluation if the caller has none, as in commands that
	// users run.
	Evaluation = 10 * time.Second
	// Engine is the limit of a request to cardea-engine if the caller has none.
	Engine = time.Minute
	// EngineGrace is how much longer cardea waits for cardea-engine, which enforces the limit
	// itself.
	EngineGrace = 50 * time.Millisecond
	// EvaluationStop is how long an evaluation may take to stop. One inside a single call,
	// such as a replace that creates gigabytes, does not stop: it is abandoned, and its
	// process is killed.
	EvaluationStop = 100 * time.Millisecond
	// PolicyTest is the limit of one test of a policy, as in OPA. PolicyTestStop is how long
	// it may take to stop, and PolicyTests is the limit of all tests of a folder.
	PolicyTest     = 5 * time.Second
	PolicyTestStop = time.Second
	PolicyTests    = 10 * time.Minute
)

// Limits for the judge.
const (
	// Near is the limit of the search for lessons with the same meaning. After that, the call
	// is decided without it.
	Near = 2 * time.Second
	// NearVectors is the limit for asking a server for the vectors of lessons in the
	// background.
	NearVectors = 10 * time.Minute
	// Judge is the limit of a question to models if the caller has none.
	Judge = 30 * time.Second
	// JudgeSettle is the part of a question's time that is reserved for recording its cost.
	JudgeSettle = 100 * time.Millisecond
	// KeyCommand is the limit of the command that prints the key of a provider.
	KeyCommand = 5 * time.Second
	// JudgeCheck is how long a provider may take to answer whether it is available.
	JudgeCheck = 10 * time.Second
)

// Limits for processes after an answer, and for commands that users run.
const (
	// Action is the limit of an action.
	Action = time.Minute
	// Pipes is how long to wait for the pipes of a child that ended: another process may have
	// inherited them.
	Pipes = 50 * time.Millisecond
	// LedgerRead is how long audit verify waits for a pause of the writers.
	LedgerRead = 2 * time.Second
	// Version is how long a harness may take to report its version. Probe is the limit of a
	// hook that doctor tries.
	Version = 5 * time.Second
	Probe   = time.Minute
	// Fetch is the limit for downloading the settings of an organisation.
	Fetch = 2 * time.Minute
	// Feed is the limit for downloading the list of releases.
	Feed = 10 * time.Second
	// Setting is the maximum duration in settings.
	Setting = 10 * time.Minute
)

// Limits for the team's supervisor.
const (
	// Supervisor is the limit of a supervisor if the caller has none.
	Supervisor = time.Minute
	// SupervisorGreeting is how long both sides may take to authenticate.
	SupervisorGreeting = 5 * time.Second
	// SupervisorIdle is how long a connection may stay open without a question. It is longer
	// than any question waits.
	SupervisorIdle = Setting + time.Minute
	// SupervisorRetry is the pause between attempts to connect to a supervisor that does not
	// listen. SupervisorReturn is how long it may take to come back.
	SupervisorRetry  = 50 * time.Millisecond
	SupervisorReturn = 2 * time.Second
	// SupervisorTurn is how long a new supervisor waits for the previous one to end.
	SupervisorTurn = 2 * time.Second
	// SupervisorNext is how long an agent acting as supervisor waits for a question.
	SupervisorNext = 25 * time.Second
	// LastAnswers is how long "cardea mcp" works on open requests after its client closed the
	// connection.
	LastAnswers = 3 * time.Second
)

// Limits for the daemon, and for the hook that calls it.
const (
	// DaemonPulse is the interval at which the daemon signals that it still works on a call.
	// DaemonSilence is how long cardea-hook waits for a signal before it runs cardea instead.
	DaemonPulse   = 50 * time.Millisecond
	DaemonSilence = 500 * time.Millisecond
	// DaemonCall is how long a caller may take to send its call.
	DaemonCall = 5 * time.Second
	// DaemonTurn is how long a new daemon waits for the previous one to end.
	DaemonTurn = 15 * time.Second
	// DaemonIdle is the time without calls after which a daemon ends.
	DaemonIdle = 30 * time.Minute
	// DaemonStart is how long hooks wait before they start another daemon: the previous one
	// may still be starting, or cannot start.
	DaemonStart = 10 * time.Second
	// DaemonLook is the interval at which the daemon checks whether its program was replaced.
	DaemonLook = 10 * time.Second
)

// Limits for the queue of calls that wait for a person.
const (
	// QueueWrite is the limit of one access to the queue's file, which many processes share.
	QueueWrite = 5 * time.Second
	// QueueLook is the interval at which a process checks whether its call was answered.
	QueueLook = 50 * time.Millisecond
	// QueueSettle is the part of a call's time that is reserved for the work after a person's
	// answer.
	QueueSettle = 2 * time.Second
	// QueueOrphan is the interval at which the process that holds a call checks whether the
	// hook still waits.
	QueueOrphan = 200 * time.Millisecond
	// Notice is the limit for notifying a person of a new entry.
	Notice = 2 * time.Second
	// Ticket is how long a ticket waits for a person.
	Ticket = 24 * time.Hour
)

// Limits for the monitor.
const (
	// MonitorLook is the interval at which the monitor looks for new entries. A person
	// perceives it as immediate.
	MonitorLook = 250 * time.Millisecond
	// MonitorSessions is the interval at which the monitor reads the registered sessions.
	MonitorSessions = 2 * time.Second
	// MonitorSetUp is the interval at which the monitor checks the gate's set-up for changes.
	MonitorSetUp = 5 * time.Second
)

// Limits for the daemon's HTTP server.
const (
	// HTTPHead is the limit for receiving the head of a request, HTTPBody for the whole
	// request, and HTTPWrite for sending the answer.
	HTTPHead  = 5 * time.Second
	HTTPBody  = 10 * time.Second
	HTTPWrite = 10 * time.Second
	// HTTPIdle is how long an idle connection stays open. A harness whose connection closes at
	// the moment of its call reports a failed hook.
	HTTPIdle = time.Hour
	// HTTPPlace is how long a call waits until fewer calls are active.
	HTTPPlace = time.Second
	// HTTPFollow is the interval at which the ledger is read for clients that follow it.
	HTTPFollow = 250 * time.Millisecond
	// HTTPAlive is the interval of keep-alive messages to clients that follow the ledger.
	HTTPAlive = 15 * time.Second
)

// Limits for watching the gate's set-up.
const (
	// SetUpLook is the interval at which the daemon checks the known files for changes.
	// SetUpWhole is the interval at which it also looks for new files.
	SetUpLook  = 5 * time.Second
	SetUpWhole = time.Minute
)
