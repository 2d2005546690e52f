package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Fields holds the fields of an object. A missing field is empty. A field of another type
// is empty and is a mistake, see [Fields.Err].
type Fields struct {
	fields map[string]any
	// wrong is the first mistake. An object and its nested objects share it.
	wrong *error
}

// Object parses a text that is one object. It fails if anything follows the object.
func Object(data []byte) (Fields, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	f := Fields{wrong: new(error)}
	if err := dec.Decode(&f.fields); err != nil {
		return Fields{}, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Fields{}, errors.New("there is more behind the object")
	}
	return f, nil
}

// Err returns the first mistake of the getters, nil if none exists.
func (f Fields) Err() error { return *f.wrong }

func (f Fields) mistake(key string) {
	if *f.wrong == nil {
		*f.wrong = fmt.Errorf("the field %q is of another type", key)
	}
}

// field returns a field of type T, or the zero value.
func field[T any](f Fields, key string) T {
	v, there := f.fields[key]
	t, ok := v.(T)
	if there && v != nil && !ok {
		f.mistake(key)
	}
	return t
}

// Text returns a text field.
func (f Fields) Text(key string) string { return field[string](f, key) }

// Number returns a whole number.
func (f Fields) Number(key string) int64 {
	n := field[json.Number](f, key)
	if n == "" {
		return 0
	}
	whole, err := n.Int64()
	if err != nil {
		f.mistake(key)
	}
	return whole
}

// Texts returns a list of texts.
func (f Fields) Texts(key string) []string { return list(f, key, func(s string) string { return s }) }

// Objects returns a list of objects.
func (f Fields) Objects(key string) []Fields {
	return list(f, key, func(m map[string]any) Fields { return Fields{m, f.wrong} })
}

func list[T, U any](f Fields, key string, of func(T) U) (out []U) {
	for _, v := range field[[]any](f, key) {
		t, ok := v.(T)
		if !ok {
			f.mistake(key)
			return nil
		}
		out = append(out, of(t))
	}
	return out
}
