// Package vectorindex finds, among many vectors of small integers, those with nearly the same
// direction as another one. It stores them in a signed file of the cache folder. A search reads a
// fourth of it or less.
//
// A search has two steps. Each vector has a sketch of 128 bits: its side of each of 128 planes. The
// more alike two vectors are, the fewer bits differ. So the sketches are compared first, which
// takes a nanosecond for each, and the few vectors that may be near enough are compared number by
// number. There is no graph to build, and the answer depends on nothing but the vectors
// (docs/decisions/similar-calls.md has the measurements).
package vectorindex
