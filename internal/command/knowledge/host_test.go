package knowledge

import (
	"slices"
	"strings"
	"testing"
)

func TestHosts(t *testing.T) {
	// An address that all readers read alike has one host.
	for in, want := range map[string]string{
		"https://Example.com:8443/a?b#c": "example.com", "http://u:p@example.com/": "example.com", "example.com": "example.com",
		"example.com:80/x": "example.com", "example.com.": "example.com", "127.0.0.1:8765/x://allowed.com/": "127.0.0.1",
		"127.0.0.1:8765/x?u=http://allowed.com": "127.0.0.1", "git@github.com:o/r.git": "github.com", "ssh://git@h:22/r": "h", "u@h": "h",
		"http://[fd00:ec2::254]:80/": "fd00:ec2::254", "[::1]": "::1", "HTTP://A/": "a", "git+ssh://h/x": "h", "http://a?@allowed.com": "a",
		"http://a#@allowed.com": "a", "http://a/@allowed.com": "a", "_x.b-c.d": "_x.b-c.d", "http://[fe80::1%25eth0]/": "fe80::1",
	} {
		if got := Hosts(in); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want %s alone", in, got, want)
		}
	}
	// Where readers differ, the result has the unknown host and each of the possible hosts.
	for in, want := range map[string]string{
		"http:/evil.com/x": "evil.com", "http:///evil.com": "evil.com", "http:evil.com": "evil.com", "http:127.0.0.1/": "127.0.0.1", "http:8080/x": "8080", "//evil.com/x": "evil.com",
		"http://a@evil.com:80@allowed.com/": "evil.com allowed.com", `http://evil.com\@allowed.com/`: "evil.com allowed.com",
		"http://ev\til.com/": "evil.com", " http://evil.com": "evil.com", "http://%65vil.com/": "evil.com", "http://evil.com../": "evil.com",
		"a:b@evil.com/": "evil.com", "http://evil.com:x/": "evil.com", "http://[::1": "", "http://{evil,allowed}.com/": "", "$x": "",
		"1x://allowed.com": "", ":evil.com": "", "": "", "http://": "", "-x": "", "http://é.example/": "é.example", "/evil.com": "evil.com",
		"http://[evil.com]/": "evil.com", "http://allowed.com\r\nHost: evil": "allowed.com",
	} {
		got := Hosts(in)
		if !slices.Contains(got, "") {
			t.Errorf("%q: %q is taken for certain", in, got)
		}
		for _, h := range strings.Fields(want) {
			if !slices.Contains(got, h) {
				t.Errorf("%q: %q lacks %s", in, got, h)
			}
		}
	}
}

func FuzzHosts(f *testing.F) {
	for _, s := range []string{"http://a", "x://[", "@", "[", "a:b@[", "http://%zz"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Hosts(s)
		if len(got) == 0 {
			t.Fatal("no host at all")
		}
		if len(got) == 1 && got[0] != "" && !strings.Contains(strings.ToLower(s), strings.Trim(got[0], ".")) && !strings.Contains(s, "[") {
			t.Errorf("%q has no host %q", s, got[0])
		}
	})
}
