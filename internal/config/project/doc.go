// Package project finds the folders of a person and of a session's project, and
// reads what lies in them.
//
// Where the files are is asked of the environment, which a project may have set:
// a variable that points into the project, or at somebody else's folder, is not
// believed. Every file is read with a bound, and its last good form is kept, so
// that a typing error neither opens nor shuts the gate.
package project
