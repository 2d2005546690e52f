// Package jsonedit changes JSON files of other programs and keeps everything
// else in them as it is.
//
// Settings files belong to people: the order of keys, the indentation, comments
// and blank lines are theirs. A decoder and an encoder would throw all of that
// away, so this package reads where things stand ([Parse]) and puts text in or
// takes text out; every other byte stays what it was. Comments and trailing
// commas are read as JSONC has them, and kept.
//
// What [Document.Append] puts in, [Document.Remove] takes out again: the two
// are each other's inverse wherever the text around was not changed.
package jsonedit
