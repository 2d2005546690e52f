// Package similar finds texts that share most of their words: commands that look like one about
// which a person decided (docs/near.md).
//
// A text becomes a [Set] of tokens, and two sets are compared by their [Jaccard] coefficient. An
// [Index] finds similar sets among hundreds of thousands, and looks at few of them. It is a piece
// of memory without pointers: a hook process reads only the pages of the file that it needs.
//
// A score measures how similar two texts look. It does not mean that they do the same.
package similar
