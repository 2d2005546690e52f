package redact

import (
	"slices"
	"strings"
)

// block finds a private key from its first line on: up to the line that ends it, else as
// long as lines of a key follow.
func (f *search) block(n, at, end int) {
	s := f.s
	if at < f.pem {
		return
	}
	body := end
	if s[at] == '-' { // -----BEGIN, not PuTTY's Private-Lines:
		dashes := strings.Index(s[end:min(len(s), end+120)], "-----")
		if dashes < 0 || !containsFold(s[end:end+dashes], []string{"private"}) {
			return
		}
		body = end + dashes + 5
		if i := f.keyEnd(body); i >= 0 {
			stop := i + len(endLine)
			if j := strings.Index(s[stop:min(len(s), stop+120)], "-----"); j >= 0 {
				stop += j + 5
			}
			f.pem = stop
			f.out = append(f.out, found{at, stop, n, false})
			return
		}
	}
	stop := keyLines(s, body)
	f.pem = stop
	if stop > body {
		f.out = append(f.out, found{at, stop, n, false})
	}
}

const endLine = "-----END"

// keyEnd returns the offset of the next line that ends a key, or -1.
func (f *search) keyEnd(from int) int {
	if !f.endsKnown {
		f.lastEnd, f.endsKnown = strings.LastIndex(f.s, endLine), true
	}
	if from > f.lastEnd {
		return -1
	}
	return from + strings.Index(f.s[from:], endLine)
}

// keyLines returns the end of the words from i on that look like the lines of a key:
// headers of old formats, then long pieces of base64 with line ends or their escapes
// between them, and a short last one.
func keyLines(s string, i int) int {
	stop, long := i, 0
	for {
		i = lineEnds(s, i)
		start := i
		for i < len(s) && (isAlnum(s[i]) || strings.IndexByte("+/=:-", s[i]) >= 0) {
			i++
		}
		piece := s[start:i]
		switch {
		case len(piece) >= 16:
			stop, long = i, len(piece)
		case strings.HasPrefix(piece, "Proc-Type:") || strings.HasPrefix(piece, "DEK-Info:") || strings.HasPrefix(piece, "Version:"):
			for i < len(s) && s[i] != '\n' && !strings.HasPrefix(s[i:], `\n`) {
				i++
			}
		case piece != "" && long >= 40:
			return i // the last line may have any length
		case piece != "" && long == 0 && isNumber(piece):
			// The number of lines that follow, in PuTTY's format.
		default:
			return stop
		}
	}
}

// lineEnds returns the offset after the characters between the lines of a key.
func lineEnds(s string, i int) int {
	for i < len(s) {
		switch {
		case isSpace(s[i]) || strings.IndexByte(`"',+`, s[i]) >= 0:
			i++
		case strings.HasPrefix(s[i:], `\n`) || strings.HasPrefix(s[i:], `\r`):
			i += 2
		default:
			return i
		}
	}
	return i
}

// url finds the password of a URL whose "://" ends at end, and a user name that
// is a token.
func (f *search) url(n, at, end int) {
	s := f.s
	if at == 0 || !isAlnum(s[at-1]) {
		return
	}
	stop, slash, last := end, -1, -1
	for stop < len(s) && stop-end < 4096 && !isSpace(s[stop]) && strings.IndexByte("\"'`<>", s[stop]) < 0 {
		switch s[stop] {
		case '/', '?', '#':
			if slash < 0 {
				slash = stop
			}
		case '@':
			if slash < 0 || last < 0 {
				last = stop
			}
		}
		stop++
	}
	if last < 0 || !f.spend(stop-end) {
		return
	}
	colon := strings.IndexByte(s[end:last], ':')
	if slash >= 0 && slash < last {
		// The slash is in the password, unless a port follows the colon.
		if colon < 0 || end+colon > slash || isNumber(s[end+colon+1:slash]) {
			return
		}
	}
	user := s[end:last]
	if colon >= 0 {
		user = s[end : end+colon]
		if start := end + colon + 1; start < last && !reference(s, start, last) {
			f.out = append(f.out, found{start, last, n, true})
		}
	}
	if len(user) >= 16 && strings.IndexByte(user, '@') < 0 && (random(user, 3) || colon >= 0 && strings.HasPrefix(s[end+colon:], ":x-oauth-basic")) {
		f.out = append(f.out, found{end, end + len(user), n, true})
	}
}

func isNumber(s string) bool { return strings.Trim(s, "0123456789") == "" }

// header finds the credentials of Authorization and Cookie, and bearer tokens in any place.
func (f *search) header(n, at, end int) {
	switch {
	case prefixFold(f.s[at:], "bearer"):
		f.bearer(n, at, end)
	case prefixFold(f.s[at:], "cookie"):
		f.cookie(n, end)
	default:
		f.authorization(n, end)
	}
}

// colon returns the offset after a header's or key's separator with the quotes and
// blanks around it, or -1.
func colon(s string, i int, ops string) int {
	for i < len(s) && strings.IndexByte(`"'\] `+"\t", s[i]) >= 0 {
		i++
	}
	if i == len(s) || strings.IndexByte(ops, s[i]) < 0 {
		return -1
	}
	for i < len(s) && strings.IndexByte(`:=>`, s[i]) >= 0 {
		i++
	}
	return blanks(s, i)
}

func blanks(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

// opening returns the offset after the quote before a value.
func opening(s string, i int) int {
	if strings.HasPrefix(s[i:], `\"`) || strings.HasPrefix(s[i:], `\'`) {
		return i + 2
	}
	if i < len(s) && (s[i] == '"' || s[i] == '\'') {
		return i + 1
	}
	return i
}

// authorization finds the credentials of an Authorization header, after its scheme if
// there is one.
func (f *search) authorization(n, end int) {
	s := f.s
	i := colon(s, end, ":=,")
	if i < 0 {
		return
	}
	i = opening(s, i)
	stop := credentials(s, i)
	scheme := s[i:stop]
	if next := blanks(s, stop); next > stop && next < len(s) && strings.IndexByte(`"'`, s[next]) < 0 && isWord(scheme) {
		last := credentials(s, next)
		if last-next >= 12 || isScheme(scheme) && last-next >= 4 {
			i, stop = next, last
		}
	}
	if f.spend(stop-i) && stop-i >= 6 && !reference(s, i, stop) && !isScheme(s[i:stop]) {
		f.out = append(f.out, found{i, stop, n, true})
	}
}

// credentials returns the end of the word at i inside a header.
func credentials(s string, i int) int {
	for i < len(s) && i >= 0 && !isSpace(s[i]) && strings.IndexByte("\"'`", s[i]) < 0 {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte(`"'nr`, s[i+1]) >= 0 {
			break
		}
		i++
	}
	return i
}

// schemes are the schemes of IANA's registry and of services, in lower case.
var schemes = []string{"basic", "bearer", "token", "digest", "negotiate", "ntlm", "apikey", "api-key", "key", "hawk", "hoba", "mutual", "oauth", "dpop",
	"vapid", "privatetoken", "splunk", "sso-key", "geniekey", "sharedaccesssignature", "sharedkey", "aws4-hmac-sha256", "bot"}

// isScheme reports whether a text is a scheme, ignoring case.
func isScheme(s string) bool { return slices.Contains(schemes, strings.ToLower(s)) }

// bearer finds tokens outside of a header: twenty characters as in hookwise, or eight
// including a digit.
func (f *search) bearer(n, at, end int) {
	s := f.s
	i := end
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	if i == end || at > 0 && isAlnum(s[at-1]) {
		return
	}
	stop, digit := i, false
	for stop < len(s) && (isName(s[stop]) || strings.IndexByte("~+/=", s[stop]) >= 0) {
		digit = digit || '0' <= s[stop] && s[stop] <= '9'
		stop++
	}
	if f.spend(stop-i) && (stop-i >= 20 || digit && stop-i >= 8) && !reference(s, i, stop) {
		f.out = append(f.out, found{i, stop, n, true})
	}
}

// cookie finds all values of a Cookie or Set-Cookie header.
func (f *search) cookie(n, end int) {
	s := f.s
	i := colon(s, end, ":")
	if i < 0 {
		return
	}
	i = opening(s, i)
	stop := i
	for stop < len(s) && stop-i < maxValue && s[stop] != '\n' && strings.IndexByte("\"'`", s[stop]) < 0 &&
		!strings.HasPrefix(s[stop:], `\n`) && !strings.HasPrefix(s[stop:], `\"`) {
		stop++
	}
	if f.spend(stop-i) && strings.IndexByte(s[i:stop], '=') > 0 && !reference(s, i, stop) {
		f.out = append(f.out, found{i, stop, n, true})
	}
}

// name finds the value of a variable, key, option, field or header whose name ends in a
// word for a secret.
func (f *search) name(n, at, end int) {
	s, r := f.s, &rules[n]
	if r.form == formWord && !aloneIn(s, at, end) {
		return
	}
	i := end
	for i < len(s) && i-end < 4 && ('0' <= s[i] && s[i] <= '9' || s[i] == '_' || lower(s[i]) == 's') {
		i++
	}
	if option := f.optionStart(at); option >= 0 && i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		if next := blanks(s, i); next < len(s) && s[next] != '-' && s[next] != '=' {
			f.taken(n, next, true, true)
			return
		}
	}
	placed := f.optionStart(at) >= 0 || f.headerName(at)
	if strings.HasPrefix(s[i:], "::") || f.element(n, at, i) || f.pair(n, at, i) || f.listItem(n, at, i) || f.netrc(n, at, i) {
		return
	}
	value := colon(s, i, ":=")
	if value < 0 || value >= len(s) {
		return
	}
	if start, end := yamlBlock(s, at, value); end > start {
		f.hold(n, start, end, r.min, placed)
		return
	}
	f.taken(n, value, strings.IndexByte(s[i:value], ':') < 0, placed)
}

// taken marks the value at i as a secret if it can be one.
func (f *search) taken(n, i int, shell, placed bool) {
	s, r := f.s, &rules[n]
	start, end := extent(s, i, shell)
	bare := start == i
	if bare {
		start, end = trimmed(s, start, end)
	}
	least := r.min
	if bare && !shell && !strings.ContainsAny(s[start:end], "0123456789") {
		least = max(least, 8) // a word of prose
	}
	f.hold(n, start, end, least, placed)
}

// hold marks s[start:end] as a secret, unless it is shorter than least or a reference.
func (f *search) hold(n, start, end, least int, placed bool) {
	s, r := f.s, &rules[n]
	if !f.spend(end-start) || end-start < least || reference(s, start, end) {
		return
	}
	if r.form == formWord && r.min >= 16 && !random(s[start:end], 3) {
		return
	}
	f.out = append(f.out, found{start, end, n, placed})
}

// aloneIn reports whether s[at:end] is a whole word of a name: pass, DB_PASS, dbPass,
// but not bypass. The folder PWD is excluded.
func aloneIn(s string, at, end int) bool {
	if end < len(s) && isAlnum(s[end]) && lower(s[end]) != 's' {
		return false
	}
	if at == 0 {
		return s[at] != 'P' || !prefixFold(s, "pwd")
	}
	before := s[at-1]
	if prefixFold(s[at:], "pwd") && before != '_' && before != '-' && before != '.' && lower(before) == before && !isAlnum(before) {
		return s[at] == 'p' || s[at] == 'P' && s[at+1] == 'w'
	}
	if !isAlnum(before) || '0' <= before && before <= '9' {
		return true
	}
	return 'a' <= before && before <= 'z' && 'A' <= s[at] && s[at] <= 'Z'
}

// wordStart returns the beginning of the name that holds s[at], at most 64 bytes before it.
func (f *search) wordStart(at int) int {
	i := at
	for i > 0 && at-i < 64 && isName(f.s[i-1]) {
		i--
	}
	return i
}

// optionStart returns the beginning of the option that holds s[at], or -1 if there is no
// option.
func (f *search) optionStart(at int) int {
	i := f.wordStart(at)
	if i < len(f.s) && f.s[i] == '-' && i < at {
		return i
	}
	return -1
}

// headerName reports whether the name that holds s[at] begins the argument of
// -H or --header.
func (f *search) headerName(at int) bool {
	i := f.wordStart(at)
	before := strings.TrimRight(f.s[max(0, i-16):i], " \t\"'\\=")
	return strings.HasSuffix(before, "-H") || strings.HasSuffix(before, "--header")
}

// random finds the strings of hookwise's third layer: twenty or more characters after =
// or : with more than four bits each. Hashes and integrity values are excluded.
func (f *search) random(i int) {
	s := f.s
	i = opening(s, blanks(s, i))
	end := i
	for end < len(s) && (isName(s[end]) || strings.IndexByte("+/~", s[end]) >= 0) {
		end++
	}
	if end-i < 20 || !f.spend(end-i) {
		return
	}
	if v := s[i:end]; !random(v, 4) || s[i] == '/' || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "../") || strings.HasPrefix(v, "~/") || f.digest(i) {
		return
	}
	for end < len(s) && s[end] == '=' {
		end++
	}
	f.out = append(f.out, found{i, end, highEntropy, false})
}

// digest reports whether the word before the separator before i, or the value at i,
// indicates a checksum.
func (f *search) digest(i int) bool {
	for _, name := range [...]string{"sha1", "sha224", "sha256", "sha384", "sha512", "md5", "h1", "blake2b", "blake3", "integrity", "checksum"} {
		if prefixFold(f.s[i:], name+"-") {
			return true
		}
		if before := strings.TrimRight(f.s[max(0, i-16):i], "\"' \t:=\\"); len(before) >= len(name) && prefixFold(before[len(before)-len(name):], name) {
			return true
		}
	}
	return false
}
