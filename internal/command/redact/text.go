package redact

import (
	"bytes"
	"encoding/json"
)

// Text is a string that went through a [Redactor]. Stores take and keep this
// type, never a string. The zero value is the empty text.
type Text struct{ s string }

// String is the redacted text.
func (t Text) String() string { return t.s }

// MarshalJSON writes the text as a JSON string, with [Mark] as it is: people
// read these files. An encoder around it must not escape HTML either.
func (t Text) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(t.s)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// UnmarshalJSON reads a JSON string and redacts it again, so that a file that
// others can write cannot smuggle a raw secret into a Text.
func (t *Text) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	*t = New().Text(s)
	return nil
}
