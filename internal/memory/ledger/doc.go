// Package ledger writes and reads the audit log: one line for each verdict, in one file a day, so
// that a person can find out later what was decided and why.
//
// The writer is a process that lives for one tool call, next to others of its kind, while the agent
// waits. So a line is one write under a lock that is waited for only briefly. A process that does
// not get the lock leaves the line in a spool, from which the next writer takes it. Nothing is
// synced to disk, and no failure here changes a verdict.
//
// Lines are chained: each carries the hash of the one before it and an HMAC of itself, made with
// the key of this user ([state]). The end of the chain is stored in a file of its own, the head. A
// signed stub records what retention removed. [Ledger.Verify] so finds lines that were changed,
// removed, moved, planted or cut off, by accident or by others. A program of the same user can read
// the key: against such a program, the ledger must be shipped.
//
// All strings in entries have passed the redactor: they are of the type [redact.Text].
package ledger
