// Package gate assembles the gate of a place: it reads what system,
// organisation, person and project wrote, decides what of it counts, and lists
// the deciders in order.
//
// [Load] reads all files, each bounded, and collects every problem instead of
// stopping at the first: one broken file must not silence the others. [Build]
// lists the deciders, and is the only place that knows all of them. Between
// calls only last good forms are kept. A hook is a process per call, and with no
// files there this package costs a few stats.
package gate
