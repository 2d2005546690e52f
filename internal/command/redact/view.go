package redact

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// view is a text with replaced pieces: an encoding by its meaning, or a secret by its
// mark. Offsets in it map to offsets in the original text.
type view struct {
	b      strings.Builder
	of     string
	copied int // of[:copied] is in the view
	cuts   []cut
}

// cut is a replaced piece: view[start:end] stands for of[from:to].
type cut struct{ start, end, from, to int }

// replace replaces of[from:to] by text. Calls must go from left to right.
func (v *view) replace(from, to int, text string) {
	v.b.WriteString(v.of[v.copied:from])
	start := v.b.Len()
	v.b.WriteString(text)
	v.copied = to
	v.cuts = append(v.cuts, cut{start, v.b.Len(), from, to})
}

// text returns the text of the view, or "" if nothing was replaced. A nil view has no
// replacement.
func (v *view) text() string {
	if v == nil || len(v.cuts) == 0 {
		return ""
	}
	v.b.WriteString(v.of[v.copied:])
	v.copied = len(v.of)
	return v.b.String()
}

// origin maps a range of the view to the original text. A replaced piece is mapped as a whole.
func (v *view) origin(start, end int) (int, int) { return v.place(start, false), v.place(end, true) }

// place maps an offset of the view to the original text. end is set for the end of a range.
func (v *view) place(at int, end bool) int {
	// Find the last cut that begins before the offset. An offset at its end belongs to it
	// as the end of a range, an offset at its start as the beginning of one.
	i, _ := slices.BinarySearchFunc(v.cuts, at, func(c cut, at int) int {
		if c.start < at || !end && c.start == at {
			return -1
		}
		return 1
	})
	if i == 0 {
		return at
	}
	c := v.cuts[i-1]
	switch {
	case end && at <= c.end:
		return c.to
	case !end && at < c.end:
		return c.from
	}
	return c.to + at - c.end
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= lower(c) && lower(c) <= 'f':
		return int(lower(c)-'a') + 10
	}
	return -1
}

// number reads n hexadecimal digits, or returns -1 if s does not have them.
func number(s string, n int) int {
	if len(s) < n {
		return -1
	}
	out := 0
	for i := range n {
		d := unhex(s[i])
		if d < 0 {
			return -1
		}
		out = out<<4 | d
	}
	return out
}

// percent decodes URL encoding. It returns nil if nothing was decoded.
func percent(s string) *view {
	if strings.IndexByte(s, '%') < 0 {
		return nil
	}
	v := &view{of: s}
	for i := 0; i < len(s); i++ {
		next := strings.IndexByte(s[i:], '%')
		if next < 0 {
			break
		}
		i += next
		if c := number(s[i+1:], 2); c >= 0 {
			v.replace(i, i+3, string([]byte{byte(c)}))
			i += 2
		}
	}
	return v
}

// escapes decodes the escapes of JSON, C and ANSI-C quotes. It returns nil if nothing
// was decoded.
func escapes(s string) *view {
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return nil
	}
	v := &view{of: s}
	for ; i+1 < len(s); i++ {
		if s[i] == '\\' {
			if to, text := escape(s, i); to > i {
				v.replace(i, to, text)
				i = to - 1
			}
		}
	}
	return v
}

// escape returns the end of the escape at i, and its meaning.
func escape(s string, i int) (int, string) {
	switch c := s[i+1]; c {
	case 'n', 'r':
		return i + 2, "\n"
	case 't':
		return i + 2, "\t"
	case '"', '\'', '\\', '/':
		return i + 2, s[i+1 : i+2]
	case '\n':
		return i + 2, ""
	case 'x':
		if n := number(s[i+2:], 2); n >= 0 {
			return i + 4, string([]byte{byte(n)})
		}
	case 'u':
		if n := number(s[i+2:], 4); n >= 0 {
			return i + 6, string(rune(n))
		}
	case '0', '1', '2', '3':
		if i+3 < len(s) && s[i+2] >= '0' && s[i+2] <= '7' && s[i+3] >= '0' && s[i+3] <= '7' {
			return i + 4, string([]byte{(c-'0')<<6 | (s[i+2]-'0')<<3 | (s[i+3] - '0')})
		}
	}
	return i, ""
}

// joined joins text as a shell and most languages do: it removes quotes and backslashes
// between the pieces of a word, and joins "a" + "b".
func joined(s string) *view {
	if !strings.ContainsAny(s, "'\"\\") {
		return nil // no seam
	}
	v := &view{of: s}
	for i := 1; i < len(s); i++ {
		if !isBlob(s[i-1]) {
			continue
		}
		if to := seam(s, i); to > i {
			v.replace(i, to, "")
			i = to
		}
	}
	return v
}

// maxSeam is the maximum distance in bytes between the pieces of a word.
const maxSeam = 256

// seam returns the end of the text that joins two pieces of a word at i, or i if nothing does.
func seam(s string, i int) int {
	j := i
	for j < len(s) && (s[j] == '\'' || s[j] == '"' || s[j] == '\\' && (j+1 == len(s) || strings.IndexByte("nrtux0", s[j+1]) < 0)) {
		j++
	}
	if j == i {
		return i
	}
	if k := lineEnds(s[:min(len(s), j+maxSeam)], j); k < len(s) && k > j && strings.IndexByte(s[j:k], '+') >= 0 && (s[k-1] == '"' || s[k-1] == '\'') {
		j = k
	}
	if j < len(s) && isBlob(s[j]) {
		return j
	}
	return i
}

// minBlob is the minimum length in characters of a run that is decoded. minClear is that
// of a decoded text.
const minBlob, minClear = 16, 8

// blobs decodes base64, plain and URL-safe, padded or not, and hexadecimal digits,
// wherever the result is text.
func blobs(s string) *view {
	var v *view
	for i := 0; i < len(s); {
		if !isBlob(s[i]) {
			i++
			continue
		}
		run, places, end := blob(s, i)
		if len(run) >= minBlob {
			for _, c := range clear(run) {
				from, to := i+c.from, i+c.to
				if places != nil {
					from, to = places[c.from], places[c.to-1]+1
				}
				if v == nil {
					v = &view{of: s}
				}
				v.replace(from, padded(s, to), c.text)
			}
		}
		i = end
	}
	return v
}

func padded(s string, i int) int {
	for i < len(s) && s[i] == '=' {
		i++
	}
	return i
}

func isBlob(c byte) bool { return isAlnum(c) || c == '+' || c == '/' || c == '-' || c == '_' }

// blob returns the run of base64 characters at i. Lines of full length continue on the
// next one, and then places holds the offset of each character.
func blob(s string, i int) (run string, places []int, end int) {
	start := i
	for i < len(s) && isBlob(s[i]) {
		i++
	}
	if !wraps(s, start, i) {
		return s[start:i], nil, i
	}
	var b strings.Builder
	for {
		for j := start; j < i; j++ {
			places = append(places, j)
		}
		b.WriteString(s[start:i])
		if !wraps(s, start, i) {
			return b.String(), places, i
		}
		for start = i; isSpace(s[start]); start++ {
		}
		for i = start; i < len(s) && isBlob(s[i]); i++ {
		}
	}
}

// wraps reports whether a line of base64 continues after a line end.
func wraps(s string, start, end int) bool {
	if end-start < 60 || end-start > 100 || (end-start)%4 != 0 {
		return false
	}
	next := end
	for next < len(s) && next-end < 2 && (s[next] == '\r' || s[next] == '\n') {
		next++
	}
	return next > end && next < len(s) && isBlob(s[next])
}

// decoded is the text decoded from run[from:to].
type decoded struct {
	from, to int
	text     string
}

// clear decodes a run at each of the four offsets at which a group of four can begin, since the
// start of base64 in a path or a name is unknown. It returns the longest texts.
func clear(run string) []decoded {
	var all []decoded
	var text, room [64]byte // most runs are short, and need no memory of their own
	std := standard(run)
	for shift := range 4 {
		part := std[shift:]
		if len(part)%4 == 1 {
			part = part[:len(part)-1]
		}
		raw, err := base64.RawStdEncoding.AppendDecode(room[:0], append(text[:0], part...))
		if err != nil {
			continue
		}
		all = readable(all, raw, func(at, up int) int { return min(len(run), shift+(at*4+up)/3) })
	}
	all = digits(all, run)
	if len(all) > 1 {
		all = apart(all)
	}
	return all
}

// standard returns a run in the standard alphabet, not the URL-safe one.
func standard(run string) string {
	if !strings.ContainsAny(run, "-_") {
		return run
	}
	b := []byte(run)
	for i, c := range b {
		switch c {
		case '-':
			b[i] = '+'
		case '_':
			b[i] = '/'
		}
	}
	return string(b)
}

// digits appends the texts that pairs of hexadecimal digits encode.
func digits(all []decoded, run string) []decoded {
	for i := 0; i < len(run); i++ {
		start := i
		for i < len(run) && unhex(run[i]) >= 0 {
			i++
		}
		for shift := start; shift < start+2 && i-shift >= minBlob; shift++ {
			if raw, err := hex.DecodeString(run[shift : i-(i-shift)%2]); err == nil {
				all = readable(all, raw, func(at, _ int) int { return shift + 2*at })
			}
		}
	}
	return all
}

// readable appends the texts in raw. place returns the character that holds the
// beginning of a byte, rounded down, or with up 2 rounded up. It also reads UTF-16, in
// which PowerShell encodes commands.
func readable(all []decoded, raw []byte, place func(at, up int) int) []decoded {
	for start := 0; start < len(raw); {
		end, length := start, 0
		for end < len(raw) && (isText(raw[end]) || raw[end] == 0 && length > 0 && raw[end-1] != 0) {
			if raw[end] != 0 {
				length++
			}
			end++
		}
		if length >= minClear {
			text := strings.ReplaceAll(string(raw[start:end]), "\x00", "")
			all = append(all, decoded{place(start, 0), place(end, 2), text})
		}
		start = end + 1
	}
	return all
}

func isText(c byte) bool { return 0x20 <= c && c < 0x7f || '\t' <= c && c <= '\r' }

// apart returns the longest texts that do not overlap, in order.
func apart(all []decoded) []decoded {
	slices.SortFunc(all, func(a, b decoded) int { return (b.to - b.from) - (a.to - a.from) })
	var out []decoded
	for _, d := range all {
		i, _ := slices.BinarySearchFunc(out, d, func(a, b decoded) int { return a.from - b.from })
		if i > 0 && out[i-1].to > d.from || i < len(out) && out[i].from < d.to {
			continue
		}
		out = slices.Insert(out, i, d)
	}
	return out
}
