package state

import (
	"encoding/json"
	"errors"
)

// ErrForged is the error of a file without a signature of this user's Cardea.
var ErrForged = errors.New("it was not written by your Cardea")

// SignatureSize is the length of a signature in bytes.
const SignatureSize = 32

// ReadSigned reads the text of a file of WriteSigned for the same purpose and
// name, of at most limit bytes.
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

// WriteSigned writes a text behind its signature for a purpose and a name.
func WriteSigned(path string, key []byte, purpose, name string, text []byte) error {
	return Write(path, SignedText(key, purpose, name, text))
}

// ReadSignedJSON reads a value that [WriteSignedJSON] wrote, as [ReadSigned] reads a text.
// Where there is an error, it may have filled a part of the value.
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

// SignedText is a text behind its signature, as WriteSigned writes it.
func SignedText(key []byte, purpose, name string, text []byte) []byte {
	return append(Sign(key, purpose, []byte(name), text), text...)
}
