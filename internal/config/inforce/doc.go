// Package inforce determines what is in force in a place: what system, organisation, user
// and project wrote, and which parts of it apply.
//
// [Load] reads all files with limits, and collects problems instead of stopping at the
// first: one broken file must not disable the others. Between calls, only last good forms
// are stored. Each call is a hook process; without any files, this package costs a few
// stats.
package inforce
