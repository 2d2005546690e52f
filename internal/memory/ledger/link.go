package ledger

import (
	"bytes"
	"crypto/hmac"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"cardea.dev/internal/base/state"
)

// link ties a line to the chain. Its keys stand behind those of the entry, in
// this order, and "mac" ends the line: the HMAC-SHA256 in hex of everything
// before it.
type link struct {
	// Day is the file's day: a line is worth nothing in the file of another.
	Day string `json:"day"`
	// N counts lines from 1, over all days.
	N int64 `json:"n"`
	// Mended says what was wrong with the ledger when the line was written
	// and the writer went on all the same: "head", "tail".
	Mended string `json:"mended"`
	// Prev is the mac of the line before, "" in the first of all.
	Prev string `json:"prev"`
}

const (
	macLen = 64
	macKey = `,"mac":"`
	macEnd = `"}`
	// macTail is the length of what the mac adds to a line.
	macTail = len(macKey) + macLen + len(macEnd)
	// maxLink is more than a link and the line's end can have.
	maxLink = 512
)

// seal makes the line of an entry's JSON object, with its end, and gives the
// line's mac.
func seal(key, body []byte, l link) (line []byte, mac string) {
	out := make([]byte, 0, len(body)+maxLink)
	out = append(out, body[:len(body)-1]...)
	out = fmt.Appendf(out, `,"day":%q,"n":%d`, l.Day, l.N)
	if l.Mended != "" {
		out = fmt.Appendf(out, `,"mended":%q`, l.Mended)
	}
	out = fmt.Appendf(out, `,"prev":%q`, l.Prev)
	return sign(key, "ledger line", out)
}

// sign ends an open JSON object with its mac for a purpose, and the line.
func sign(key []byte, purpose string, open []byte) (line []byte, mac string) {
	mac = hex.EncodeToString(state.Sign(key, purpose, open))
	out := append(open, macKey...)
	out = append(out, mac...)
	return append(out, macEnd+"\n"...), mac
}

// unsign takes the mac off a line, its end taken off before. It is false where
// the line is not exactly what was signed for the purpose.
func unsign(key []byte, purpose string, line []byte) (open []byte, mac string, ok bool) {
	at := len(line) - macTail
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(macKey)) || !bytes.HasSuffix(line, []byte(macEnd)) {
		return nil, "", false
	}
	mac = string(line[at+len(macKey) : len(line)-len(macEnd)])
	want := hex.EncodeToString(state.Sign(key, purpose, line[:at]))
	return line[:at], mac, hmac.Equal([]byte(mac), []byte(want))
}

// readSigned reads a signed JSON object. It is false where the bytes are not
// exactly what was signed for the purpose.
func readSigned(key []byte, purpose string, line []byte, into any) bool {
	_, _, ok := unsign(key, purpose, line)
	return ok && json.Unmarshal(line, into) == nil
}

// linked is a line that the ledger wrote, as far as the chain needs it.
type linked struct {
	link
	ID  string `json:"id"`
	Mac string `json:"mac"`
}

// readLink reads a line without its end. It is false where the line is not
// exactly as the ledger wrote it.
func readLink(key, line []byte) (linked, bool) {
	var l linked
	if !readSigned(key, "ledger line", line, &l) {
		return linked{}, false
	}
	return l, bytes.HasSuffix(line, []byte(macKey+l.Mac+macEnd))
}

// looksCut reports whether a line that the ledger did not write as it stands
// looks like the beginning of one, as a crash leaves it.
func looksCut(line []byte) bool {
	const begin = `{"v":1,"id":"`
	if len(line) < len(begin) {
		return strings.HasPrefix(begin, string(line)) && len(line) > 0
	}
	if at := bytes.LastIndex(line, []byte(macKey)); at >= 0 && len(line)-at >= macTail {
		return false // it has its end
	}
	return bytes.HasPrefix(line, []byte(begin)) && !json.Valid(line)
}

// dayForm is the name of a day.
const dayForm = "2006-01-02"

func dayOf(t time.Time) string { return t.UTC().Format(dayForm) }

// isDay reports whether a text is the name of a day.
func isDay(s string) bool {
	t, err := time.Parse(dayForm, s)
	return err == nil && t.Format(dayForm) == s
}
