// Package settings parses cardea.yaml files, and merges those of several scopes.
//
// One table ([Keys]) defines all keys. Reading, merging, listing, the JSON Schema, the page
// about settings and the file that "cardea init" writes all use it. A key is in the table
// if it has an effect. Reading never fails: errors are among the problems of a file, and
// everything else in it applies.
package settings

//go:generate go run ./gen ../../../docs
