// Package ledger writes and reads the audit log: one line for each verdict, in
// one file a day, so that a person can find out later what was decided and
// why.
//
// It is written by a process that lives for one tool call, next to others that
// do the same, while the agent waits. So a line is one write under a lock that
// is waited for only briefly; who does not get it leaves the line in a spool,
// from which the next writer takes it. Nothing is synced to disk, and nothing
// that goes wrong here changes a verdict.
//
// Lines are chained: each carries the hash of the one before it and an HMAC of
// itself, made with the key of this user ([state]). The end of the chain is
// kept in a file of its own, the head, and what retention removed is told by a
// signed stub. [Ledger.Verify] so finds lines that were changed, removed,
// moved, planted or cut off, by accident or by others. A program of the same
// user can read the key: against that one the ledger must be shipped.
//
// Entries hold no string that did not go through the redactor: their texts are
// of the type [redact.Text].
package ledger
