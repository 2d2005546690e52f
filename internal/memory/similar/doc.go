// Package similar finds texts that share most of their words: commands that look like one
// about which a person decided (docs/near.md).
//
// A text becomes a [Set] of tokens, and two sets are compared by their [Jaccard]
// coefficient. An [Index] finds the sets that come near to another one among hundreds of
// thousands, and looks at few of them. It is a piece of memory without pointers: a hook
// process reads the pages of a file that it needs, and makes no set anew.
//
// A score says how much two texts look alike. It does not say that they do the same.
package similar
