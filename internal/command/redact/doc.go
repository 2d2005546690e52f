// Package redact removes secrets from text. Rules evaluate the raw call. All text that is
// stored or shown in another place goes through this package first (docs/redaction.md).
//
// Stores accept only [Text], which only a [Redactor] can create, so the compiler guarantees
// that no raw text reaches the disk.
package redact
