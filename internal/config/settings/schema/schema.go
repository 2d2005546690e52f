// Package schema generates the JSON Schemas of the files that users write, so that an
// editor can complete keys and mark errors. It uses the Go types that the program reads the
// files into. The results are checked in (docs/schema), and a test fails if they are
// outdated. The program itself does not use them; its own errors are better.
package schema

import (
	"encoding/json"
	"reflect"
	"strings"

	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/config/settings"
)

// Object is a part of a schema. Go writes maps sorted by key, so the output is
// deterministic.
type Object = map[string]any

// draft is the version of JSON Schema.
const draft = "https://json-schema.org/draft/2020-12/schema"

// Settings returns the schema of cardea.yaml, from the table of keys.
func Settings() Object {
	top := closed(Object{
		"version": Object{"const": 1, "description": "the version of this format"},
		"packs": Object{"type": "object", "additionalProperties": Object{"enum": []string{"on", "off"}},
			"description": "built-in packs of rules to switch off"},
		"rules": closed(Object{
			"off": described(texts(nil), "ids or names of packs, or globs of either, to switch off"),
			"effect": Object{"type": "object", "additionalProperties": Object{"enum": effects()},
				"description": "rules to give another effect, by id"},
		}),
	})
	for _, k := range settings.Keys() {
		put(top, k)
	}
	return titled(top, "cardea.yaml", "Settings of Cardea, the gate for tool calls of AI coding agents")
}

func effects() []string {
	return lists.Of(cardea.Effects(), cardea.Effect.String)
}

// put adds a key to the object that contains it.
func put(top Object, k settings.Key) {
	at := top
	words := strings.Split(k.Name, ".")
	for _, w := range words[:len(words)-1] {
		fields := at["properties"].(Object)
		if fields[w] == nil {
			fields[w] = closed(Object{})
		}
		at = fields[w].(Object)
	}
	value := described(valueOf(k), k.About)
	if d := defaultOf(k); d != nil {
		value["default"] = d
	}
	at["properties"].(Object)[words[len(words)-1]] = value
}

// valueOf returns the schema of a key's value.
func valueOf(k settings.Key) Object {
	v := settings.Defaults()
	switch k.At(&v).(type) {
	case *cardea.Effect, *cardea.OnError:
		return Object{"enum": k.Words}
	case *string:
		if len(k.Words) > 0 {
			return Object{"enum": k.Words}
		}
		return Object{"type": "string"}
	case *bool:
		return Object{"type": "boolean"}
	case *int:
		return Object{"type": "integer", "minimum": k.Low, "maximum": k.High}
	case *[]string:
		return texts(k.Words)
	case *time.Duration:
		return Object{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ms|s|m))+$`}
	case *float64:
		return Object{"type": "number", "minimum": 0, "maximum": 1}
	case *judge.Money:
		return Object{"type": "number", "minimum": 0}
	case *[]judge.Provider:
		return Object{"type": "array", "items": provider()}
	case *map[string]judge.Price:
		amount := Object{"type": "number", "minimum": 0}
		return entries(closed(Object{"in": amount, "out": amount}, "in", "out"))
	case *map[string]string:
		return entries(Object{"type": "string"})
	case *map[string]settings.Signal:
		return entries(closed(Object{"command": Object{"type": "string"}, "timeout_seconds": Object{"type": "integer", "minimum": 1}}, "command"))
	case *[]settings.Command:
		return commands()
	}
	return entries(commands()) // *map[string][]settings.Command
}

// defaultOf returns a key's default as JSON, nil if none exists.
func defaultOf(k settings.Key) any {
	v := settings.Defaults()
	switch value := reflect.ValueOf(k.At(&v)).Elem().Interface().(type) {
	case bool, int, float64, string:
		return value
	case time.Duration:
		return value.String()
	case judge.Money:
		return json.Number(value.String())
	case cardea.Effect, cardea.OnError:
		return k.Text(&v)
	}
	return nil
}

// provider returns the schema of an entry of a chain.
func provider() Object {
	types := Object{"enum": judge.Types()}
	return Object{"anyOf": []any{types, closed(Object{
		"type": types, "model": Object{"type": "string"}, "endpoint": Object{"type": "string"},
		"api_key_command": described(texts(nil), "prints the key: a program with its arguments, or one text for the shell"),
		"timeout":         Object{"type": "string"}, "max_tokens": Object{"type": "integer"},
	}, "type")}}
}

func commands() Object {
	when := closed(Object{"events": texts(nil), "tools": texts(nil), "harnesses": texts(nil), "effects": texts([]string{"halt", "deny", "ask"}),
		"severity": Object{"enum": []string{"low", "medium", "high", "critical"}}})
	return Object{"type": "array", "items": closed(Object{"command": Object{"type": "string"}, "when": when}, "command")}
}

// scalar returns the schema of a text that may be written without quotes: 7 and true are
// texts.
func scalar() Object { return Object{"type": []string{"string", "number", "boolean"}} }

// texts returns the schema of a list of texts, which may also be a single text.
func texts(words []string) Object {
	one := scalar()
	if len(words) > 0 {
		one = Object{"enum": words}
	}
	return Object{"anyOf": []any{one, Object{"type": "array", "items": one}}}
}

// entries returns the schema of a map with arbitrary keys.
func entries(value Object) Object { return Object{"type": "object", "additionalProperties": value} }

// closed returns the schema of an object without other keys.
func closed(fields Object, required ...string) Object {
	out := Object{"type": "object", "properties": fields, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

func described(o Object, about string) Object {
	o["description"] = about
	return o
}

func titled(o Object, name, title string) Object {
	o["$schema"], o["title"], o["description"] = draft, name, title
	return o
}

// Bytes returns a schema in the form that is checked in.
func Bytes(o Object) ([]byte, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(o)
	return []byte(b.String()), err
}

// ofType returns the schema of a Go type. It panics for an unsupported type.
func ofType(t reflect.Type) Object {
	switch t {
	case reflect.TypeFor[textList]():
		return texts(nil)
	case reflect.TypeFor[match]():
		return Object{"$ref": "#/$defs/match"}
	case reflect.TypeFor[text]():
		return scalar()
	}
	switch t.Kind() {
	case reflect.Bool:
		return Object{"type": "boolean"}
	case reflect.Slice:
		return Object{"type": "array", "items": ofType(t.Elem())}
	case reflect.Map:
		if t.Elem().Kind() == reflect.Interface {
			return Object{"type": "object"}
		}
		return entries(ofType(t.Elem()))
	case reflect.Struct:
		return ofStruct(t)
	case reflect.Int:
		return Object{"type": "integer"}
	case reflect.String:
		return Object{"type": "string"}
	}
	panic("no schema for " + t.String())
}

// ofStruct returns the schema of a struct from its tags: yaml is the key, about the
// description, enum the possible words; need marks required keys.
func ofStruct(t reflect.Type) Object {
	fields := Object{}
	var required []string
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("yaml")
		value := ofType(f.Type)
		if words := f.Tag.Get("enum"); words != "" {
			list := strings.Split(words, ",")
			if value = (Object{"enum": list}); f.Type == reflect.TypeFor[textList]() {
				value = texts(list)
			}
		}
		if only := f.Tag.Get("const"); only != "" {
			value = Object{"const": json.RawMessage(only)}
		}
		if p := f.Tag.Get("pattern"); p != "" {
			value["pattern"] = p
		}
		if about := f.Tag.Get("about"); about != "" {
			value["description"] = about
		}
		if f.Tag.Get("need") != "" {
			required = append(required, name)
		}
		fields[name] = value
	}
	return closed(fields, required...)
}
