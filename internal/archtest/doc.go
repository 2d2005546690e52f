// Package archtest keeps the house: its tests fail when an import points the
// wrong way, when a package does not say what it is for, or when an exported
// name has no comment. The laws are those of docs/architecture.md.
package archtest
