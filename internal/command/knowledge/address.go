package knowledge

import (
	"slices"
	"strconv"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge/form"
)

// This file is about addresses that stand for several, as curl(1) reads them ("URL" and
// --output): {a,b} and [a-z], and #1 in the name of an output for what the first of them
// is at the time.

// mostNamesOfAddress is how many names an address is taken apart into.
const mostNamesOfAddress = 64

// addressPieces are the pieces of an address: the texts that each may be. Those of the
// odd places stand in braces or brackets; a pattern stands for the numbers or letters of
// a range.
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

// addressesOf are the addresses that one stands for; false where these are too many.
func addressesOf(text string) ([]string, bool) { return joinedPieces(addressPieces(text)) }

// joinedPieces are the texts that pieces make, false where these are too many.
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

// ofThisMachine reports an address of http that every reader takes for one of this machine, at
// none of some ports. What a pattern becomes begins as the pattern does.
func ofThisMachine(address Word, ports []string) bool {
	m := ownAddress.get().FindStringSubmatch(address.Text)
	return m != nil && !showsSettings.MatchString(m[2]) && !slices.Contains(ports, strings.TrimLeft(m[1], "0")) && (address.Static || address.Glob && simpleGlob(address.Text) && strings.HasPrefix(m[2], "/"))
}

const ownAddress = lazyRegexp(`^(?:http://)?(?:localhost|127\.0\.0\.1|\[::1\])(?::(\d{1,5}))?([/?][!-?A-Z^-z~]*)?$`)

// showsSettings fits paths under which servers show hidden files, their environment or memory.
const showsSettings = lazyRegexp(`(?i)/\.|%2e|actuator|heapdump|pprof`)

// addresses are the words from which something is fetched.
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

// numbered are the names that a name with #1 in it becomes, false where they are not
// known.
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

// numberedPieces are the pieces of a name with numbers, each of which stands for some
// texts. What has no such number stays.
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

// fetchedName is a name from an address, which may be a pattern.
func fetchedName(name string) Word {
	if strings.Contains(name, "*") {
		return pattern(name)
	}
	return Literal(name)
}
