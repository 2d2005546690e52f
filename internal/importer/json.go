package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/document"
)

// object reads a JSON file whose top is an object. The values keep their
// places, which encoding/json does not know, so the file is checked to be JSON
// and then read as the YAML that all JSON is.
func object(file string, data []byte) (*document.Reader, section, []cardea.Diagnostic) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
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
		return nil, section{}, []cardea.Diagnostic{syntax(file, data, err)}
	}
	// A tab in JSON is space between values; in YAML it is not everywhere.
	doc := document.Read(file, bytes.ReplaceAll(data, []byte("\t"), []byte(" ")))
	if problems := doc.Problems(); len(problems) > 0 {
		return nil, section{}, problems
	}
	return doc, open(doc.Top()), doc.Problems()
}

// syntax is the place of what is no JSON.
func syntax(file string, data []byte, err error) cardea.Diagnostic {
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
	return cardea.Diagnostic{File: file, Line: line, Column: col, Code: cardea.CodeSyntax, Text: "not valid JSON: " + text,
		Hint: "mend it; JSON has no comments and no comma behind the last entry"}
}

// section is a map of the file whose keys are found without regard to case, as
// Bouncer finds its settings.
type section struct {
	at    document.Map
	keys  []string
	asked map[string]bool
}

func open(v document.Value) section {
	m := v.Map()
	return section{at: m, keys: m.Keys(), asked: map[string]bool{}}
}

// get is the value of a key. Several names are spellings of one key.
func (s section) get(names ...string) document.Value {
	for _, key := range s.keys {
		for _, n := range names {
			if strings.EqualFold(key, n) {
				s.asked[key] = true
				return s.at.Get(key)
			}
		}
	}
	return s.at.Get(names[0])
}

// done reports the keys that nobody asked for.
func (s section) done() {
	for _, key := range s.keys {
		if !s.asked[key] {
			s.at.Get(key).Warn(cardea.CodeUnknownKey, "look whether you need it", "unknown key %q, which is not imported", key)
		}
	}
}
