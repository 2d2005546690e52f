// Package policy evaluates policies in Rego: it selects them by their METADATA, compiles
// them for each scope, and converts their decisions to opinions.
//
// A hook is a process per call, and a person may have hundreds of policies. So an index
// ([Library]) stores the facts of each file. It is signed with the person's key and checked
// against the files' stamps. A cold process reads the index, and parses and compiles only
// the routed policies and the libraries that they refer to. A process that stays keeps the
// compiled programs.
//
// An engine (package engine) parses, compiles and evaluates. The maker of the library
// provides it.
//
// Every scope's folder is separate: its packages are compiled together and see no other
// scope. So a project cannot add a rule to a package of the person.
//
// Decisions become opinions in one place (decision.go), which also limits their effect. A
// project that the person has not trusted may deny and ask, and its halt is treated as
// deny. An allow_override applies to the parts that it names. Policies that need a signal
// are another decider ([Policies.WithSignals]). The gate runs it only if no decider has
// denied the call.
package policy
