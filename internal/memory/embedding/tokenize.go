package embedding

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	// maxWord is the longest word, in characters, that is split into pieces. The model takes a
	// longer one for an unknown word.
	maxWord = 100
	// unknown is the row that [Table.pieces] yields for a word outside of the vocabulary.
	unknown = -1
)

// word is a buffer for one word of the model: the text between blanks and punctuation, in lower
// case and without accents.
type word struct {
	text  [maxWord * utf8.UTFMax]byte
	bytes int
	chars int
}

func (w *word) add(r rune) {
	if w.chars++; w.chars <= maxWord {
		w.bytes += utf8.EncodeRune(w.text[w.bytes:], r)
	}
}

// pieces yields the rows of a text's pieces, in order, as the model's own tokenizer splits it. It
// drops control characters and accents, and converts to lower case. Punctuation marks and Chinese
// characters are words of their own. It then takes the longest piece in the vocabulary each time. A
// word that cannot be split is [unknown].
func (t *Table) pieces(text string, yield func(row int)) {
	var w word
	end := func() {
		if w.chars > 0 {
			t.split(&w, yield)
		}
		w.bytes, w.chars = 0, 0
	}
	alone := func(r rune) {
		end()
		w.add(r)
		end()
	}
	lower := func(r rune) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r == 'İ': // the only character whose lower case has two characters, of which the accent is dropped
			w.add('i')
		case punctuation(r):
			alone(r)
		default:
			w.add(unicode.ToLower(r))
		}
	}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case r < utf8.RuneSelf:
			switch {
			case r == ' ' || r == '\t' || r == '\n' || r == '\r':
				end()
			case r < ' ' || r == 0x7f:
			default:
				lower(r)
			}
		case r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) || !assigned(r):
		case unicode.IsSpace(r) || unicode.Is(unicode.Zs, r):
			end()
		case chinese(r):
			alone(r)
		default:
			decompose(text[at:at+size], r, lower)
		}
		at += size
	}
	end()
}

// assigned reports whether Unicode has assigned this character.
func assigned(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z)
}

// decompose yields the characters of r, with its accents separated.
func decompose(s string, r rune, yield func(rune)) {
	// Korean syllables are composed by arithmetic (Unicode 3.12).
	const base, leading, vowel, trailing, vowels, trailings, count = 0xac00, 0x1100, 0x1161, 0x11a7, 21, 28, 11172
	if n := r - base; n >= 0 && n < count {
		yield(leading + n/(vowels*trailings))
		yield(vowel + n%(vowels*trailings)/trailings)
		if n%trailings != 0 {
			yield(trailing + n%trailings)
		}
		return
	}
	d := norm.NFD.PropertiesString(s).Decomposition()
	if len(d) == 0 {
		yield(r)
		return
	}
	for len(d) > 0 {
		r, size := utf8.DecodeRune(d)
		yield(r)
		d = d[size:]
	}
}

// punctuation reports whether a character is a word of its own: Unicode's punctuation, and all
// ASCII signs.
func punctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r < 0x7f && !(r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z')
	}
	return unicode.Is(unicode.P, r)
}

// chinese reports whether a character is in the blocks that the model takes for words.
func chinese(r rune) bool {
	return r >= 0x4e00 && r <= 0x9fff || r >= 0x3400 && r <= 0x4dbf || r >= 0x20000 && r <= 0x2a6df || r >= 0x2a700 && r <= 0x2b73f ||
		r >= 0x2b740 && r <= 0x2b81f || r >= 0x2b920 && r <= 0x2ceaf || r >= 0xf900 && r <= 0xfaff || r >= 0x2f800 && r <= 0x2fa1f
}

// split yields the longest pieces of a word, from its beginning to its end.
func (t *Table) split(w *word, yield func(row int)) {
	if w.chars > maxWord {
		yield(unknown)
		return
	}
	// No piece has more bytes than characters, or more characters than the word.
	var rows [maxWord]int
	n, text := 0, w.text[:w.bytes]
	for from := 0; from < len(text); n++ {
		row, to := -1, min(len(text), from+t.longest)
		for ; to > from; to-- {
			if to < len(text) && !utf8.RuneStart(text[to]) {
				continue
			}
			if row = t.find(text[from:to], from > 0); row >= 0 {
				break
			}
		}
		if row < 0 {
			yield(unknown)
			return
		}
		rows[n], from = row, to
	}
	for _, row := range rows[:n] {
		yield(row)
	}
}
