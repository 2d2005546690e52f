package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	_ "cardea.dev/internal/base/document/yamltext" // reads YAML
)

// object reads a JSON file whose top is an object. encoding/json does not report the places
// of values, so it only checks the syntax. The file is then read as YAML, of which JSON is
// a subset.
func object(file string, data []byte) (*document.Reader, section, []diagnostic.Diagnostic) {
	data = plainJSON(bytes.TrimPrefix(data, []byte("\ufeff")))
	dec := json.NewDecoder(bytes.NewReader(data))
	var whole json.RawMessage
	err := dec.Decode(&whole)
	if err == nil {
		if _, err = dec.Token(); errors.Is(err, io.EOF) {
			err = nil
		} else {
			err = &json.SyntaxError{Offset: dec.InputOffset()}
		}
	}
	if err != nil {
		return nil, section{}, []diagnostic.Diagnostic{notJSON(file, data, err)}
	}
	// JSON allows tabs between values everywhere, YAML does not.
	doc := document.Read(file, bytes.ReplaceAll(data, []byte("\t"), []byte(" ")))
	if problems := doc.Problems(); len(problems) > 0 {
		return nil, section{}, problems
	}
	return doc, open(doc.Top()), doc.Problems()
}

// notJSON returns a syntax error with its place.
func notJSON(file string, data []byte, err error) diagnostic.Diagnostic {
	at := len(data)
	text := "something stands behind the object"
	var s *json.SyntaxError
	if errors.As(err, &s) {
		at = min(max(int(s.Offset)-1, 0), len(data))
		if s.Error() != "" {
			text = s.Error()
		}
	} else {
		text = "the file ends too early"
	}
	before := string(data[:at])
	line := 1 + strings.Count(before, "\n")
	col := 1 + len([]rune(before[strings.LastIndexByte(before, '\n')+1:]))
	return diagnostic.Diagnostic{File: file, Line: line, Column: col, Code: diagnostic.CodeSyntax, Text: "not valid JSON: " + text,
		Hint: "mend it"}
}

// plainJSON replaces comments, and commas after the last entry, by blanks; .NET ignores
// them. All other bytes keep their places.
func plainJSON(data []byte) []byte {
	out := bytes.Clone(data)
	comma := -1 // the last comma, if only blanks followed so far
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '"':
			for i++; i < len(out) && out[i] != '"'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
			comma = -1
		case c == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			i = blank(out, i)
		case c == ',':
			comma = i
		case (c == '}' || c == ']') && comma >= 0:
			out[comma], comma = ' ', -1
		case c > ' ':
			comma = -1
		}
	}
	return out
}

// blank replaces the comment at an offset by blanks, and returns the offset of its last
// byte.
func blank(out []byte, at int) int {
	end := "\n"
	if out[at+1] == '*' {
		end = "*/"
	}
	to := len(out)
	if n := bytes.Index(out[at+2:], []byte(end)); n >= 0 {
		to = at + 2 + n
		if end == "*/" {
			to += len(end)
		}
	}
	for i := at; i < to; i++ {
		if out[i] != '\n' {
			out[i] = ' '
		}
	}
	return to - 1
}

// section is a map of the file with case-insensitive keys, as in Bouncer's settings.
type section struct {
	at    document.Map
	keys  []string
	asked map[string]bool
}

func open(v document.Value) section {
	m := v.Map()
	return section{at: m, keys: m.Keys(), asked: map[string]bool{}}
}

// get returns the value of a key with several spellings. A null is treated as missing.
func (s section) get(names ...string) document.Value {
	for _, key := range s.keys {
		for _, n := range names {
			if strings.EqualFold(key, n) {
				s.asked[key] = true
				if v := s.at.Get(key); !v.Null() {
					return v
				}
			}
		}
	}
	return s.at.Get(names[0] + "\x00") // a missing key
}

// enabled reports whether the section is enabled, which is the default.
func (s section) enabled() bool {
	e := s.get("enabled")
	return !e.Present() || e.Bool()
}

// done warns of the keys that were not read.
func (s section) done() {
	for _, key := range s.keys {
		if !s.asked[key] {
			s.at.Get(key).Warn(diagnostic.CodeUnknownKey, "look whether you need it", "unknown key %q, which is not imported", key)
		}
	}
}
