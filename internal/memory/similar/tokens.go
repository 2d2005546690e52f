package similar

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxTokens is the largest number of tokens in a set. A longer text is similar to no other.
const MaxTokens = 255

// Set is the set of tokens of a text, as numbers in ascending order.
type Set struct {
	tokens []uint32
	words  int
}

// Words returns the number of different words in the text, without marks.
func (s Set) Words() int { return s.words }

// Len returns the number of tokens in the set.
func (s Set) Len() int { return len(s.tokens) }

// Tokens returns the set of a text. A token is a word in lower case (letters, digits and the
// underscore), or a mark between words: each character of punctuation, and the blank. Sets of texts
// of different kinds, such as commands and paths, have no token in common. A text with more than
// [MaxTokens] tokens has an empty set.
func Tokens(kind, text string) Set {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			text = strings.ToLower(text)
			break
		}
	}
	s := Set{tokens: make([]uint32, 0, min(len(text), 32))}
	seed := hashText(offset, kind)
	marks := 0
	var seen [4]uint64 // the marks, by their byte
	for i := 0; i < len(text); {
		c := text[i]
		if !inWord(c) {
			if c == '\t' || c == '\n' || c == '\r' {
				c = ' '
			}
			if seen[c>>6]&(1<<(c&63)) == 0 {
				seen[c>>6] |= 1 << (c & 63)
				s.tokens = append(s.tokens, hashByte(seed, c))
				marks++
			}
			i++
			continue
		}
		h := seed
		for ; i < len(text) && inWord(text[i]); i++ {
			c := text[i]
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			h = hashByte(h, c)
		}
		s.tokens = append(s.tokens, h)
		if len(s.tokens) > 4*MaxTokens {
			return Set{}
		}
	}
	slices.Sort(s.tokens)
	s.tokens = slices.Compact(s.tokens)
	if len(s.tokens) > MaxTokens {
		return Set{}
	}
	s.words = len(s.tokens) - marks
	return s
}

func inWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= utf8.RuneSelf
}

// The hash is 32-bit FNV-1a. Two words with the same hash make texts look more similar than they
// are, which decides nothing by itself.
const (
	offset = 2166136261
	prime  = 16777619
)

func hashByte(h uint32, c byte) uint32 { return (h ^ uint32(c)) * prime }

func hashText(h uint32, text string) uint32 {
	for i := range len(text) {
		h = hashByte(h, text[i])
	}
	return hashByte(h, 0)
}

// Jaccard returns the similarity of two sets: the number of shared tokens divided by that of all
// tokens. It is 0 for two empty sets.
func Jaccard(a, b Set) float64 {
	common := inCommon(a.tokens, b.tokens)
	if common == 0 {
		return 0
	}
	return score(common, len(a.tokens), len(b.tokens))
}

func score(common, a, b int) float64 { return float64(common) / float64(a+b-common) }

// inCommon returns the number of tokens that two sets share.
func inCommon(a, b []uint32) (n int) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch x, y := a[i], b[j]; {
		case x == y:
			n++
			i++
			j++
		case x < y:
			i++
		default:
			j++
		}
	}
	return n
}
