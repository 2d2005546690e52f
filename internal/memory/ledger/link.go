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

// link ties a line to the chain. Its keys follow those of the entry, in this order, and "mac" ends
// the line: the HMAC-SHA256 in hex of everything before it.
type link struct {
	// Day is the file's day. The line is invalid in the file of another day.
	Day string `json:"day"`
	// N is the number of the line over all days, from 1.
	N int64 `json:"n"`
	// The defect of the ledger that the writer found and passed over: "head", "tail".
	Repaired string `json:"mended"`
	// Prev is the mac of the line before, "" in the first line of the ledger.
	Prev string `json:"prev"`
}

const (
	macLen = 64
	macKey = `,"mac":"`
	macEnd = `"}`
	// macTail is the length that the mac adds to a line.
	macTail = len(macKey) + macLen + len(macEnd)
	// maxLink exceeds the length of a link with the line's end.
	maxLink = 512
)

// seal returns the line of an entry's JSON object, with its end, and the line's mac.
func seal(key, body []byte, l link) (line []byte, mac string) {
	out := make([]byte, 0, len(body)+maxLink)
	out = append(out, body[:len(body)-1]...)
	out = fmt.Appendf(out, `,"day":%q,"n":%d`, l.Day, l.N)
	if l.Repaired != "" {
		out = fmt.Appendf(out, `,"mended":%q`, l.Repaired)
	}
	out = fmt.Appendf(out, `,"prev":%q`, l.Prev)
	return sign(key, "ledger line", out)
}

// sign completes an open JSON object with its mac for a purpose, and with the line end.
func sign(key []byte, purpose string, open []byte) (line []byte, mac string) {
	mac = hex.EncodeToString(state.Sign(key, purpose, open))
	out := append(open, macKey...)
	out = append(out, mac...)
	return append(out, macEnd+"\n"...), mac
}

// unsign splits the mac from a line without its end. It returns false unless the line is exactly
// what was signed for the purpose.
func unsign(key []byte, purpose string, line []byte) (open []byte, mac string, ok bool) {
	at := len(line) - macTail
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(macKey)) || !bytes.HasSuffix(line, []byte(macEnd)) {
		return nil, "", false
	}
	mac = string(line[at+len(macKey) : len(line)-len(macEnd)])
	want := hex.EncodeToString(state.Sign(key, purpose, line[:at]))
	return line[:at], mac, hmac.Equal([]byte(mac), []byte(want))
}

// readSigned reads a signed JSON object. It returns false unless the bytes are exactly what was
// signed for the purpose.
func readSigned(key []byte, purpose string, line []byte, into any) bool {
	_, _, ok := unsign(key, purpose, line)
	return ok && json.Unmarshal(line, into) == nil
}

// linked holds the fields of a line that the chain needs.
type linked struct {
	link
	ID  string `json:"id"`
	Mac string `json:"mac"`
}

// readLink reads a line without its end. It returns false unless the line is exactly as the ledger
// wrote it.
func readLink(key, line []byte) (linked, bool) {
	var l linked
	if !readSigned(key, "ledger line", line, &l) {
		return linked{}, false
	}
	return l, bytes.HasSuffix(line, []byte(macKey+l.Mac+macEnd))
}

// looksCut reports whether a line that is not genuine looks like the beginning of one, as a crash
// leaves it.
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

// dayForm is the layout of the name of a day.
const dayForm = "2006-01-02"

func dayOf(t time.Time) string { return t.UTC().Format(dayForm) }

// isDay reports whether a text is the name of a day.
func isDay(s string) bool {
	t, err := time.Parse(dayForm, s)
	return err == nil && t.Format(dayForm) == s
}
