// Package settings turns the bytes of cardea.yaml files into values, and merges
// those of several scopes.
//
// What a key is stands in one table ([Keys]): reading, merging, listing, the JSON
// Schema, the page about settings and the file that "cardea init" writes all go by
// it. A key is in the table when it has an effect. Reading never fails: what is
// wrong is among the problems of a file, and everything else of it counts.
package settings

//go:generate go run ./gen ../../../docs
