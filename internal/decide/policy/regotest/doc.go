// Package regotest runs the tests of policies by OPA's own tester and OPA's own
// coverage (opa/v1/tester, opa/v1/cover), so that "cardea policy test" says what
// "opa test" says.
//
// It is a package of its own since every process that links the tester starts
// slower: the engine of the hook does not (docs/decisions/0022). What tests may
// use is what policies may use: package rego gives the compiler.
//
// Tests come with clones, as policies do. So each has a time, and all of them
// have a bound of memory. What cannot be stopped is left behind, and told; the
// process that it runs in ends with "cardea policy test".
package regotest
