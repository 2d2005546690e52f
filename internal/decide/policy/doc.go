// Package policy evaluates policies in Rego: it selects them by their
// METADATA, compiles them for each scope, and turns their decisions into
// opinions.
//
// A hook is a process per call, and a person may have hundreds of policies. So
// what a file says about itself is kept in an index ([Library]), signed with
// the person's key and checked against the files' stamps; a cold process reads
// the index, parses and compiles what is routed with the libraries that it
// refers to, and nothing else. A process that lives on keeps what it compiled.
//
// Who parses, compiles and evaluates is an engine (package engine), given by who
// makes the library.
//
// Every scope's folder is a world of its own: its packages are compiled
// together and see no other scope's, so that a project cannot define a rule
// into a package of the person's.
//
// What policies say becomes opinions in one place (opinions.go), where it is
// also decided what does not count: a project that the person has not trusted
// may deny and ask, and its halt counts as deny; an allow_override counts for
// the parts that it names. A policy that needs a signal is another decider
// ([Policies.WithSignals]) that the gate asks only when nobody has denied yet.
package policy
