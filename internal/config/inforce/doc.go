// Package inforce reads what is in force in a place: what system, organisation,
// person and project wrote, and what of it counts.
//
// [Load] reads all files, each bounded, and collects every problem instead of
// stopping at the first: one broken file must not silence the others. Between
// calls only last good forms are kept. A hook is a process per call, and with no
// files there this package costs a few stats.
package inforce
