package knowledge

import (
	"slices"
	"strconv"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge/form"
)

// This file expands addresses that stand for several, as curl(1) reads them ("URL" and
// --output): {a,b} and [a-z]. In the name of an output, #1 is the current value of the
// first of them.

// mostNamesOfAddress is the number of names to which an address is expanded at most.
const mostNamesOfAddress = 64

// addressPieces splits an address into pieces and returns the texts that each may be.
// Pieces with an odd index are in braces or brackets. A pattern represents the numbers
// or letters of a range.
func addressPieces(text string) [][]string {
	var out [][]string
	plain := ""
	for text != "" {
		end := -1
		switch text[0] {
		case '\\':
			plain, text = plain+text[1:min(2, len(text))], text[min(2, len(text)):]
			continue
		case '{':
			end = strings.IndexByte(text, '}')
		case '[':
			if end = strings.IndexByte(text, ']'); end > 0 && !strings.Contains(text[:end], "-") {
				end = -1 // a host
			}
		}
		if end < 0 {
			plain, text = plain+text[:1], text[1:]
			continue
		}
		some := []string{"*"}
		if text[0] == '{' {
			some = strings.Split(text[1:end], ",")
		}
		out = append(out, []string{plain}, some)
		plain, text = "", text[end+1:]
	}
	return append(out, []string{plain})
}

// addressesOf returns the addresses for which text stands, or false if there are too many.
func addressesOf(text string) ([]string, bool) { return joinedPieces(addressPieces(text)) }

// joinedPieces returns the texts that the pieces form, or false if there are too many.
func joinedPieces(pieces [][]string) ([]string, bool) {
	out := []string{""}
	for _, some := range pieces {
		if len(out)*len(some) > mostNamesOfAddress {
			return nil, false
		}
		out = paths.Joined(out, some)
	}
	return out, true
}

// ofThisMachine reports whether address is of http and certainly of this machine, at
// none of the given ports. What a pattern becomes begins as the pattern does.
func ofThisMachine(address Word, ports []string) bool {
	m := ownAddress.get().FindStringSubmatch(address.Text)
	return m != nil && !showsSettings.MatchString(m[2]) && !slices.Contains(ports, strings.TrimLeft(m[1], "0")) && (address.Static || address.Glob && simpleGlob(address.Text) && strings.HasPrefix(m[2], "/"))
}

const ownAddress = lazyRegexp(`^(?:http://)?(?:localhost|127\.0\.0\.1|\[::1\])(?::(\d{1,5}))?([/?][!-?A-Z^-z~]*)?$`)

// showsSettings matches paths under which servers show hidden files, their environment
// or memory.
const showsSettings = lazyRegexp(`(?i)/\.|%2e|actuator|heapdump|pprof`)

// addresses returns the words from which the program fetches.
func (r *reader) addresses() []Word {
	var out []Word
	for n, i := range r.operands {
		if n > 0 || r.spec.FirstOperand != form.None {
			out = append(out, r.argv[i])
		}
	}
	for _, o := range r.out.Options {
		if r.meansOne(o, r.spec.AddressOptions) {
			out = append(out, Word{Word: cardea.Word{Text: o.Value, Static: o.Static}})
		}
	}
	return out
}

// numbered returns the names that a name with #1 in it becomes, or false if they are unknown.
func (r *reader) numbered(name string) ([]Word, bool) {
	var out []Word
	for _, address := range r.addresses() {
		var some [][]string
		for i, piece := range addressPieces(address.Text) {
			if i%2 == 1 {
				some = append(some, piece)
			}
		}
		names, ok := joinedPieces(numberedPieces(name, some))
		if !address.Static || !ok {
			return nil, false
		}
		for _, n := range names {
			out = append(out, fetchedName(n))
		}
	}
	return out, true
}

// numberedPieces splits name into pieces and replaces each #N with the N-th element of
// some. Other numbers stay.
func numberedPieces(name string, some [][]string) [][]string {
	var out [][]string
	for name != "" {
		text, rest, found := strings.Cut(name, "#")
		out = append(out, []string{text})
		if !found {
			break
		}
		digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
		if n, err := strconv.Atoi(digits); err == nil && n > 0 && n <= len(some) {
			out = append(out, some[n-1])
		} else {
			out = append(out, []string{"#" + digits})
		}
		name = rest[len(digits):]
	}
	return out
}

// fetchedName returns a name from an address as a word, or as a pattern if it has a star.
func fetchedName(name string) Word {
	if strings.Contains(name, "*") {
		return pattern(name)
	}
	return Literal(name)
}
