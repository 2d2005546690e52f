package ledger

import (
	"math/rand/v2"
	"strings"
	"time"
)

// Ids have 16 characters of Crockford's base 32. The first nine are the time in milliseconds, so
// that ids sort by time. The other seven are random, so that processes need not agree on them. Ids
// need not be hard to guess.
const (
	idDigits = "0123456789abcdefghjkmnpqrstvwxyz"
	idTime   = 9
	idLen    = idTime + 7
)

func newID(now time.Time) string {
	return digits(uint64(now.UnixMilli()), idTime) + digits(rand.Uint64(), idLen-idTime)
}

// digits returns the lowest 5*n bits of v in base 32.
func digits(v uint64, n int) string {
	out := make([]byte, n)
	for i := n - 1; i >= 0; i-- {
		out[i] = idDigits[v&31]
		v >>= 5
	}
	return string(out)
}

// idTimeOf returns the time in an id. It returns false for any other text, since ids become file
// names.
func idTimeOf(id string) (time.Time, bool) {
	if len(id) != idLen {
		return time.Time{}, false
	}
	var ms int64
	for i := range len(id) {
		d := strings.IndexByte(idDigits, id[i])
		if d < 0 {
			return time.Time{}, false
		}
		if i < idTime {
			ms = ms<<5 | int64(d)
		}
	}
	return time.UnixMilli(ms).UTC(), true
}
