// Package archtest reads the module's own Go files and keeps its structure: the
// tests fail when an import points the wrong way, when a package does not say
// what it is for, or when an exported name has no comment. The laws are those of
// docs/architecture.md. scripts/house prints the figures that it counts.
package archtest
