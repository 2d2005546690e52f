// Package redact removes secrets from text. Rules judge the raw call;
// everything that is stored or shown elsewhere goes through this package first
// (docs/redaction.md).
//
// Stores accept only [Text], which nobody can make but a [Redactor], so that
// the compiler keeps the promise that no raw text reaches the disk.
package redact
