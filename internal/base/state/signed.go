package state

import (
	"encoding/json"
	"errors"
)

// ErrForged is the error of a file without a valid signature of this user's Cardea.
var ErrForged = errors.New("it was not written by your Cardea")

// SignatureSize is the length of a signature in bytes.
const SignatureSize = 32

// ReadSigned reads a file of WriteSigned with the same purpose and name, of at most limit
// bytes.
func ReadSigned(path string, key []byte, purpose, name string, limit int64) ([]byte, error) {
	all, err := Read(path, SignatureSize+limit)
	if err != nil {
		return nil, err
	}
	if len(all) < SignatureSize || !Signed(key, all[:SignatureSize], purpose, []byte(name), all[SignatureSize:]) {
		return nil, ErrForged
	}
	return all[SignatureSize:], nil
}

// WriteSigned writes the signature of a text for a purpose and a name, followed by the
// text.
func WriteSigned(path string, key []byte, purpose, name string, text []byte) error {
	return Write(path, SignedText(key, purpose, name, text))
}

// ReadSignedJSON reads a value of [WriteSignedJSON], as [ReadSigned] reads a text. On
// error, v may be filled in part.
func ReadSignedJSON(path string, key []byte, purpose, name string, limit int64, v any) error {
	text, err := ReadSigned(path, key, purpose, name, limit)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// WriteSignedJSON writes a value as JSON, as [WriteSigned] writes a text.
func WriteSignedJSON(path string, key []byte, purpose, name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return WriteSigned(path, key, purpose, name, text)
}

// SignedText returns the signature of a text followed by the text, as WriteSigned writes
// it.
func SignedText(key []byte, purpose, name string, text []byte) []byte {
	return append(Sign(key, purpose, []byte(name), text), text...)
}
