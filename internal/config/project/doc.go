// Package project finds the folders of a user and of a session's project, and reads the
// files in them.
//
// A project may have set the environment variables that name the folders. So a variable
// that points into the project, or to another user's folder, is ignored. Reads are limited,
// and the last good form of every file is stored, so that a typing error neither opens nor
// closes the gate.
package project
