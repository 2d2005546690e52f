package redact

import (
	"strings"
	"testing"
)

// TestTogether checks that a secret of one text is removed from the others.
func TestTogether(t *testing.T) {
	const secret = "Zk93hG77qLs0TtWm"
	together := New().Together("mysql --password='"+secret+"' db", "echo hello")
	for in, want := range map[string]string{
		"/work/" + secret:     "/work/" + Mark,
		secret:                Mark,
		"echo hello":          "echo hello",
		"x" + secret + "y":    "x" + Mark + "y",
		"--token=" + "abcdef": New().Text("--token=abcdef").String(),
	} {
		if got := together.Text(in).String(); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := New().Together().Text("/work/" + secret).String(); strings.Contains(got, Mark) {
		t.Errorf("alone it is a name like others, and this test shows nothing: %q", got)
	}
}

func TestHead(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
		all  bool
	}{
		{"abc", 3, "abc", true},
		{"abcd", 3, "abc", false},
		{"aé", 2, "a", false},
		{"ab" + Mark, 5, "ab", false},
		{"ab<x" + "yz", 5, "ab<xy", false},
	} {
		got, all := Text{c.in}.Head(c.n)
		if got.String() != c.want || all != c.all {
			t.Errorf("%q to %d: %q, %t", c.in, c.n, got, all)
		}
	}
}
