package knowledge

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Hosts returns the hosts that an address may mean: a URL, user@host:path, or a plain host
// name. It returns one host if all readers agree. Where curl 8, wget 1.21 and browsers (WHATWG
// URL) differ, or use rules that are not implemented here, it returns "", the unknown host, and
// all known readings. Deny rules then match, allow rules do not.
func Hosts(address string) []string {
	if host, ok := plainAddress(address); ok {
		return []string{host}
	}
	out := []string{""}
	add := func(host string) {
		host = strings.TrimRight(strings.ToLower(host), ".")
		if !slices.Contains(out, host) {
			out = append(out, host)
		}
	}
	for _, s := range readings(address) {
		for _, rest := range []string{afterScheme(s), afterSlashes(s)} {
			authority := authorityOf(rest)
			add(hostPart(authority[strings.LastIndexByte(authority, '@')+1:]))
			if _, after, ok := strings.Cut(authority, "@"); ok { // some take the first one
				before, _, _ := strings.Cut(after, "@")
				add(hostPart(before))
			}
			if plain, err := url.PathUnescape(authority); err == nil && plain != authority {
				add(hostPart(plain[strings.LastIndexByte(plain, '@')+1:]))
			}
		}
	}
	return out
}

// plainAddress returns the host of an address that every reader reads in the same way,
// or false.
func plainAddress(s string) (string, bool) {
	scheme, rest, found := strings.Cut(s, "://")
	if found && !plainScheme(scheme) {
		rest = s // the host is first
	} else if !found {
		rest = s
	}
	authority := authorityOf(rest)
	end := len(authority)
	if at := strings.IndexByte(authority, '@'); at >= 0 {
		if strings.ContainsAny(authority[:at], ":") && rest == s {
			return "", false // "a:b@c" without a scheme: is a the host?
		}
		authority = authority[at+1:]
	}
	if v6, after, ok := strings.Cut(strings.TrimPrefix(authority, "["), "]"); ok && authority[0] == '[' {
		a, err := netip.ParseAddr(v6)
		if err != nil || after != "" && after[0] != ':' || blanked(s) {
			return "", false
		}
		return a.WithZone("").String(), digits(strings.TrimPrefix(after, ":"))
	}
	host, port, ported := strings.Cut(authority, ":")
	if ported && rest == s && (port == "" || slashless(host)) {
		return "", false // "http:/host" does not name the host http
	}
	// Without a scheme, git and scp read "user@host:path".
	if !digits(port) && (rest != s || !strings.Contains(s[:end], "@")) {
		return "", false
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return host, plainHost(host) && !blanked(s)
}

// authorityOf returns the part of an address before its path.
func authorityOf(rest string) string {
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		return rest[:end]
	}
	return rest
}

// IsLoopback reports whether an address means this machine: localhost, 127.0.0.1, ::1.
func IsLoopback(address string) bool {
	for _, h := range append(Hosts(address), address[strings.LastIndexByte(address, '@')+1:]) {
		ip, err := netip.ParseAddr(h)
		if err == nil && (ip.IsLoopback() || ip.IsUnspecified()) || h == "localhost" || strings.HasSuffix(h, ".localhost") || h == "ip6-localhost" || h == "0" || strings.HasPrefix(h, "127.") && digits(strings.ReplaceAll(h, ".", "")) {
			return true
		}
	}
	return false
}

// FileURL returns the path of a file: address ("file:///a%20b", "file://host/a",
// "file:/a"), or false for any other address.
func FileURL(v string) (path string, ok bool) {
	const scheme = "file:"
	v = strings.TrimLeft(v, "\"' \t")
	if len(v) < len(scheme) || !strings.EqualFold(v[:len(scheme)], scheme) {
		return "", false
	}
	path = v[len(scheme):]
	if rest, host := strings.CutPrefix(path, "//"); host {
		path = rest[max(strings.IndexByte(rest, '/'), 0):]
	}
	path, _, _ = strings.Cut(path, "?")
	path, _, _ = strings.Cut(path, "#")
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	return path, path != ""
}

// blanked reports whether s has characters that some readers strip, decode or replace.
func blanked(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f })
}

func plainScheme(s string) bool {
	return s != "" && isLetter(s[0]) && s[0] != '_' && strings.Trim(s, alphanumeric+"+.-") == ""
}

// plainHost reports whether s is a name of letters, digits, hyphens, underscores and dots.
func plainHost(s string) bool {
	return s != "" && s[0] != '.' && s[0] != '-' && s[len(s)-1] != '.' && !strings.Contains(s, "..") && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// readings returns the texts that readers make of an address: up to the first blank,
// without blanks and control characters, and with backslashes as slashes.
func readings(s string) []string {
	if len(s) > 8192 {
		s = s[:8192]
	}
	stripped := strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	first := strings.TrimLeft(s, " \t\r\n")
	if i := strings.IndexFunc(first, func(r rune) bool { return r <= ' ' }); i >= 0 {
		first = first[:i]
	}
	return []string{first, stripped, strings.ReplaceAll(stripped, `\`, "/")}
}

// afterScheme removes a scheme and all slashes after it.
func afterScheme(s string) string {
	if scheme, rest, ok := strings.Cut(s, ":"); ok && plainScheme(scheme) && (slashless(scheme) || !digits(rest[:min(1, len(rest))])) {
		return strings.TrimLeft(rest, "/")
	}
	return strings.TrimLeft(s, "/")
}

// slashless reports whether browsers need no slashes after scheme (WHATWG URL, "special
// scheme"): http:127.0.0.1 is http://127.0.0.1.
func slashless(scheme string) bool {
	return strings.Contains(" http https ws wss ftp ", " "+strings.ToLower(scheme)+" ")
}

// afterSlashes removes everything up to the first "//" and the slashes after it.
func afterSlashes(s string) string {
	if _, rest, ok := strings.Cut(s, "//"); ok {
		return strings.TrimLeft(rest, "/")
	}
	return s
}

// hostPart returns a host without its port.
func hostPart(s string) string {
	if v6, _, ok := strings.Cut(strings.TrimPrefix(s, "["), "]"); ok && strings.HasPrefix(s, "[") {
		return v6
	}
	s, _, _ = strings.Cut(s, ":")
	return s
}

// hostsOf returns the hosts that a word may name. A word that is only known when the
// line runs has a certain host if that precedes its unknown parts.
func hostsOf(f Word) []string {
	if f.Static {
		return Hosts(f.Text)
	}
	text := strings.TrimLeft(f.Text, `"'`)
	if i := strings.IndexAny(text, "$`{[*?\\\"'"); i >= 0 {
		text = text[:i]
	}
	hosts := Hosts(text)
	_, path, _ := strings.Cut(text, "://")
	// A pattern keeps the text before its wildcards. An expansion may be several words.
	one := !f.MaySplit || f.Glob && simpleGlob(f.Text)
	if hosts[0] == "" || one && len(hosts) == 1 && strings.Contains(path, "/") {
		return hosts
	}
	return append([]string{""}, hosts...)
}

// HostNames returns the spellings of a host: as given, in lower case without port,
// brackets and trailing dots, and for an address its usual form. C libraries, curl and
// browsers read 2852039166, 0xa9fea9fe and 0251.0376.0251.0376 as 169.254.169.254.
func HostNames(host string) []string {
	host = strings.TrimRight(strings.ToLower(host), ".")
	if h, port, ok := strings.Cut(host, ":"); ok && !strings.Contains(port, ":") {
		host = h
	}
	if v6, _, ok := strings.Cut(host, "]"); ok {
		host = strings.TrimPrefix(v6, "[")
	}
	out := []string{host}
	if a, err := netip.ParseAddr(host); err == nil {
		out = append(out, a.Unmap().WithZone("").String())
	} else if a, ok := legacyAddress(host); ok {
		out = append(out, a)
	}
	return out
}

// legacyAddress reads an address as inet_aton does: one to four numbers in decimal, octal or
// hexadecimal. The last one fills the remaining bytes. It returns false for any other text.
func legacyAddress(host string) (string, bool) {
	fields := strings.Split(host, ".")
	if len(fields) > 4 {
		return "", false
	}
	var sum uint64
	for i, f := range fields {
		n, err := strconv.ParseUint(f, 0, 64)
		if strings.ContainsAny(f, "_obOB") && !strings.HasPrefix(f, "0x") {
			return "", false
		}
		limit := uint64(0xff)
		if i == len(fields)-1 {
			limit = 1<<(8*uint(5-len(fields))) - 1
		}
		if err != nil || n > limit {
			return "", false
		}
		if i == len(fields)-1 {
			sum |= n
		} else {
			sum |= n << (8 * uint(3-i))
		}
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}).String(), true
}
