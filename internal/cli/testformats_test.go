package cli

import (
	"encoding/xml"
	"testing"
	"unicode/utf8"
)

// The output is XML with the same text.
func TestXMLText(t *testing.T) {
	for _, s := range []string{"", "a", "<a b=\"c\" d='e'>&amp;\t\n\r ü€😀", "\x00\x1b\xff\ufffe\uffff"} {
		var got struct {
			A    string `xml:"a,attr"`
			Text string `xml:",chardata"`
		}
		if err := xml.Unmarshal([]byte(`<x a="`+xmlText(s)+`">`+xmlText(s)+`</x>`), &got); err != nil {
			t.Errorf("%q: %v", s, err)
		} else if got.A != got.Text || utf8.RuneCountInString(got.A) != utf8.RuneCountInString(s) || utf8.ValidString(s) && len(s) > 1 && s[0] != 0 && got.A != s {
			t.Errorf("%q became %q, %q", s, got.A, got.Text)
		}
	}
}
