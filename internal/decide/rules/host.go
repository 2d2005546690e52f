package rules

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"cardea.dev/internal/paths"
)

// hostIs reports whether a host matches one of the globs. An unknown host
// matches only "*".
func hostIs(globs []string, host string) bool {
	if host == "" {
		return slices.Contains(globs, "*")
	}
	names := hostNames(host)
	for _, g := range globs {
		g = strings.ToLower(g)
		for _, n := range names {
			if paths.MatchName(g, n) {
				return true
			}
		}
	}
	return false
}

// hostNames are the ways to write a host: as given, and an address in its
// usual form. C libraries and curl take 169.254.169.254 as 2852039166,
// 0xa9fea9fe and 0251.0376.0251.0376, too.
func hostNames(host string) []string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if h, port, ok := strings.Cut(host, ":"); ok && !strings.Contains(port, ":") {
		host = h
	}
	host = strings.Trim(host, "[]")
	out := []string{host}
	if a, err := netip.ParseAddr(host); err == nil {
		out = append(out, a.Unmap().WithZone("").String())
	} else if a, ok := legacyAddress(host); ok {
		out = append(out, a)
	}
	return out
}

// legacyAddress reads an address as inet_aton does: one to four numbers, in
// decimal, octal or hexadecimal, of which the last fills the rest.
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
