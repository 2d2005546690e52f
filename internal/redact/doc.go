// Package redact takes secrets out of text. Guards judge the raw call; whatever
// is stored, keyed, shown elsewhere or sent to anyone goes through here first
// (docs/redaction.md).
//
// Stores accept only [Text], which nobody can make but a [Redactor], so that
// the compiler keeps the promise that no raw text reaches the disk.
package redact
