// Package lesson stores decisions to remember: a person, or the judge, decided about a call, and
// the same call is decided alike from then on (docs/lessons.md).
//
// A lesson is one line of JSON in a file for its effect, allow.jsonl, deny.jsonl or ask.jsonl, in
// the folder "lessons" of a scope. These files are the source of truth. An index in the cache
// folder can be rebuilt from them; with it, a call reads a few kilobytes of a file of megabytes.
// The state folder records which allows this user's Cardea wrote or a person accepted, since files
// of a project come from others.
//
// This package makes no decisions. [Keyer] returns the keys under which a call is looked up,
// [Store] finds the lessons of a folder, [Writer] changes them. internal/decide/exact and
// internal/decide/near give opinions.
package lesson
