package bash

import (
	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/bash/texts"
)

// unescape makes fragments of an unquoted literal.
func unescape(text string) []frag {
	pieces := texts.Unescape(text)
	if len(pieces) == 0 {
		return nil
	}
	out := make([]frag, len(pieces))
	for i, p := range pieces {
		out[i] = frag{text: p.Text, quoted: p.Quoted}
	}
	return out
}

func sglQuoted(p *syntax.SglQuoted, src string) frag {
	if !p.Dollar {
		return frag{text: p.Value, quoted: true}
	}
	text, ok := texts.ANSIC(p.Value)
	if !ok {
		return frag{text: src, quoted: true, dynamic: true}
	}
	return frag{text: text, quoted: true}
}
