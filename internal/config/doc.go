// Package config finds the files of each scope, reads and merges them, and
// builds the gate.
//
// Three questions are kept apart, because each has another enemy:
//
//   - Where are the files? [FindDirs] and [FindProject] answer from the
//     environment, which the project may have set: a variable that points into
//     the project, or at somebody else's folder, is not believed.
//   - What do they say? [Load] reads them all, each bounded, and collects every
//     problem instead of stopping at the first: one broken file must not
//     silence the others.
//   - What follows? [Build] lists the deciders in order. It is the only place
//     that knows all of them.
//
// Between calls only last good forms are kept. A hook is a process per call,
// and with no files there this package costs a few stats.
//
// What a key of the settings is stands in one table ([AllKeys]); reading,
// merging, listing, the schema and the page that init writes go by it.
package config
