package redact

import (
	"bytes"
	"encoding/json"
)

// Text is a string redacted by a [Redactor]. Stores accept and hold this type, never a
// string. The zero value is the empty text.
type Text struct{ s string }

// String returns the redacted text.
func (t Text) String() string { return t.s }

// MarshalJSON writes the text as a JSON string, with [Mark] unescaped: people read these
// files. An enclosing encoder must not escape HTML either.
func (t Text) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(t.s)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// UnmarshalJSON reads a JSON string and redacts it again, so that a file that other
// users can write cannot put a raw secret into a Text.
func (t *Text) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	*t = New().Text(s)
	return nil
}
