// Package archtest reads the module's own Go files and checks its structure. Its tests
// fail if an import points the wrong way, a package has no package comment, or an
// exported name has no comment. The laws are those of docs/architecture.md.
// scripts/house prints the figures that it counts.
package archtest
