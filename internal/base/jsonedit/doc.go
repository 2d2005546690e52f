// Package jsonedit changes JSON files of other programs and keeps everything else in them
// as it is.
//
// Settings files belong to users: the order of keys, indentation, comments and blank lines
// must stay. A decoder and an encoder would lose them. So [Parse] records the place of each
// value, and edits insert or remove text; every other byte stays. Comments and trailing
// commas are read as in JSONC, and stay.
//
// [Document.Append] and [Document.Remove] are inverses, provided that the surrounding text
// did not change.
package jsonedit
