// Package lesson stores decisions that are worth remembering: a person, or the judge
// where there is one, decided about a call, and the same call is decided alike from then
// on (docs/lessons.md).
//
// A lesson is one line of JSON in a file for its effect, allow.jsonl, deny.jsonl or
// ask.jsonl, in the folder "lessons" of a scope. These files are the truth. What is kept
// beside them can be made again: an index in the cache folder, so that a call reads a
// few kilobytes of a file of megabytes. Which allows this user's Cardea wrote, or a
// person accepted, is kept in the state folder, since files of a project come from
// others.
//
// Nothing here decides. [Keyer] says under which keys a call is looked up, [Store] finds
// the lessons of a folder, [Writer] changes them. internal/decide/lessons gives opinions.
package lesson
