package redact

import (
	"slices"
	"strings"
)

// maxValue is the number of bytes up to which a value is read. A longer one is removed
// up to the next white space, in pieces.
const maxValue = 1 << 16

// extent returns the bounds of the secret in the value at i: the text inside quotes, or
// the word. In a shell, operators also end a word, and quoted pieces join it.
func extent(s string, i int, shell bool) (start, end int) {
	limit := min(len(s), i+maxValue)
	if i >= limit {
		return i, i
	}
	if strings.HasPrefix(s[i:], `\"`) || strings.HasPrefix(s[i:], `\'`) {
		if j := strings.Index(s[i+2:limit], s[i:i+2]); j >= 0 {
			return i + 2, i + 2 + j
		}
	}
	if quoteEnd := closing(s, i, limit); quoteEnd > 0 {
		if !shell || quoteEnd+1 >= len(s) || endsWord(s, quoteEnd+1) {
			return i + 1, quoteEnd
		}
	}
	j := i
	for j < limit {
		switch c := s[j]; {
		case isSpace(c):
			return i, j
		case c == '\\' && j+1 < limit:
			if strings.IndexByte(`"'nrt`, s[j+1]) >= 0 {
				return i, j // the end of a JSON string, or of its line
			}
			j++
		case c == '\'' || c == '"' || c == '`':
			close := closing(s, j, limit)
			if close < 0 || !shell {
				return i, j
			}
			j = close
		case shell && endsWord(s, j):
			return i, j
		}
		j++
	}
	return i, min(j, limit)
}

// closing returns the index of the quote that closes the one at i. It returns -1 without
// a quote at i, or if it stays open on its line.
func closing(s string, i, limit int) int {
	q := s[i]
	if q != '\'' && q != '"' && q != '`' {
		return -1
	}
	for j := i + 1; j < limit; j++ {
		switch {
		case s[j] == q:
			return j
		case s[j] == '\\' && q == '"':
			j++
		case s[j] == '\n':
			return -1
		}
	}
	return -1
}

// endsWord reports whether an unquoted word of a shell, or a field of a query,
// ends before s[i].
func endsWord(s string, i int) bool {
	return isSpace(s[i]) || strings.IndexByte(";|&<>(),", s[i]) >= 0
}

// unquoted returns the bounds of a word without its quotes.
func unquoted(s string, start, end int) (int, int) {
	if end-start >= 2 && (s[start] == '"' || s[start] == '\'') && s[end-1] == s[start] {
		return start + 1, end - 1
	}
	return start, end
}

// trimmed returns the bounds of a value without the characters that end it in prose,
// JSON and code.
func trimmed(s string, start, end int) (int, int) {
	for end > start && strings.IndexByte(`,;)]}'"`+"`", s[end-1]) >= 0 {
		end--
	}
	return start, end
}

// reference reports whether s[start:end] only names the place of a secret (a variable, a
// placeholder, a call, a file), or is a word of a schema.
func reference(s string, start, end int) bool {
	v := s[start:end]
	switch {
	case v == "" || v == Mark:
		return true
	case v[0] == '$':
		return variable(v)
	case v[0] == '%' && v[len(v)-1] == '%' && len(v) > 2:
		return isWord(v[1 : len(v)-1])
	case strings.HasPrefix(v, "{{") || strings.HasPrefix(v, "${{"):
		return !strings.ContainsAny(v, `"'`)
	case v[0] == '<':
		return strings.HasPrefix(v, "<REDACTED") || v[len(v)-1] == '>' && isWord(strings.ReplaceAll(v[1:len(v)-1], " ", "_"))
	case strings.Trim(v, v[:1]) == "":
		return true // ****, xxxx, ....
	case file(v), strings.HasPrefix(v, "env:") && isWord(v[len("env:"):]):
		return true
	case end < len(s) && s[end] == '(':
		return true // a call
	}
	return slices.Contains(schema, strings.ToLower(v)) || code(v)
}

// variable reports whether v is a whole expansion of a shell, without a default.
func variable(v string) bool {
	switch {
	case strings.HasPrefix(v, "$("):
		return true
	case strings.HasPrefix(v, "${") && v[len(v)-1] == '}':
		return isWord(v[2 : len(v)-1])
	}
	name := v[1:]
	return isWord(name) && (name == strings.ToUpper(name) || name == strings.ToLower(name))
}

// isWord reports whether v is a name: letters, digits, underscores, dots and dashes.
func isWord(v string) bool {
	for i := range len(v) {
		if !isName(v[i]) {
			return false
		}
	}
	return v != ""
}

// file reports whether v names a file and holds no secret.
func file(v string) bool {
	v = strings.TrimPrefix(strings.TrimPrefix(v, "file:"), "@")
	rooted := strings.HasPrefix(v, "/") || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "../") || strings.HasPrefix(v, "~/")
	return rooted && plain(v)
}

// schema are words that describe values.
var schema = []string{"true", "false", "null", "none", "nil", "undefined", "string", "str", "bool", "boolean", "int", "integer", "number",
	"optional", "required", "any", "object", "default", "secret", "password", "token", "text", "bytes", "self", "this", "prompt",
	"yes", "no", "on", "off", "env", "stdin", "redacted"}

// holders lists the objects in which code holds secrets.
var holders = []string{"process", "os", "env", "config", "cfg", "settings", "secrets", "vars", "var", "local", "module", "self", "this", "data", "import", "args", "opts", "options"}

// code reports whether v is an expression that reads the secret: process.env.TOKEN.
func code(v string) bool {
	head, rest, ok := strings.Cut(v, ".")
	return ok && isWord(strings.NewReplacer("[", "", "]", "", `"`, "", "'", "").Replace(rest)) && plain(rest) && slices.Contains(holders, head)
}

// random reports whether v looks random: letters and digits mixed as in no word, number,
// version, hash or UUID.
func random(v string, limit float64) bool {
	return !plain(v) && entropy(v) > limit
}

// plain reports whether v consists of words, numbers and hashes, as paths, names,
// versions, UUIDs and git hashes do.
func plain(v string) bool {
	for start := 0; start < len(v); {
		end := start
		for end < len(v) && isAlnum(v[end]) {
			end++
		}
		if !plainPiece(v[start:end]) {
			return false
		}
		start = end + 1
	}
	return true
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// plainPiece reports whether letters and digits alternate only as often as in words,
// versions and hashes.
func plainPiece(p string) bool {
	if len(p) <= 5 {
		return true
	}
	turns, hex, lowerHex := 0, true, true
	for i := range len(p) {
		c := p[i]
		digit := '0' <= c && c <= '9'
		if !digit && !('a' <= c && c <= 'f') {
			lowerHex = false
			hex = hex && 'A' <= c && c <= 'F'
		}
		if i > 0 && digit != ('0' <= p[i-1] && p[i-1] <= '9') {
			turns++
		}
	}
	return lowerHex || hex || turns <= 2
}
