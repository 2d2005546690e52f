// Package cardea is the vocabulary of the gate, and the gate itself.
//
// An [Event] comes from a harness. If it is about a tool [Call], the call has [Part]s, each of
// which must be permitted by itself. Deciders give [Opinion]s about parts or about the whole call;
// a [Gate] joins them into a [Verdict].
//
// The package does no I/O, reads no clock and has no state. So a decision of the gate follows from
// its arguments alone and can be replayed.
package cardea
