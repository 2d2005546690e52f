package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Fields are the fields of an object. A field that is missing is empty; one of another
// type is empty too, and counts as a mistake.
type Fields struct {
	fields map[string]any
	// wrong is the first mistake, which an object shares with those in it.
	wrong *error
}

// Object reads a text that is one object, and nothing behind it.
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

// Err is the first mistake that was met.
func (f Fields) Err() error { return *f.wrong }

func (f Fields) mistake(key string) {
	if *f.wrong == nil {
		*f.wrong = fmt.Errorf("the field %q is of another type", key)
	}
}

// field gives a field of a type, or the type's zero value.
func field[T any](f Fields, key string) T {
	v, there := f.fields[key]
	t, ok := v.(T)
	if there && v != nil && !ok {
		f.mistake(key)
	}
	return t
}

// Text gives a text.
func (f Fields) Text(key string) string { return field[string](f, key) }

// Number gives a whole number.
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

// Texts gives a list of texts.
func (f Fields) Texts(key string) []string { return list(f, key, func(s string) string { return s }) }

// Objects gives a list of objects.
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
