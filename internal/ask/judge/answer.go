package judge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"cardea.dev"
	"cardea.dev/internal/command/redact"
)

// The limits of an answer, in bytes.
const (
	maxAnswer = 16 << 10
	maxReason = 2 << 10
	maxRule   = 4 << 10
)

// Schema returns the JSON Schema of an answer. Every field is required and no other is allowed, as
// strict modes of providers require; a rule may be null. [ParseAnswer] checks numbers and lengths,
// since some strict modes do not support their limits.
func Schema() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` +
		`"decision":{"type":"string","enum":["allow","deny","ask"],"description":"allow, deny, or ask a person"},` +
		`"confidence":{"type":"number","description":"how certain the decision is, from 0 to 1"},` +
		`"reason":{"type":"string","description":"one short sentence for a person"},` +
		`"rule":{"type":["string","null"],"description":"a rule for calls of this kind that a person might adopt, or null"}},` +
		`"required":["decision","confidence","reason","rule"],"additionalProperties":false}`)
}

// ParseAnswer parses an answer in the form of [Schema], and sets the fields of the result that the
// model gives. Everything else is an error: another, missing, repeated or misspelled key, text
// around the object, a value out of its limits. Only a missing rule is accepted as null: it decides
// nothing, and not every provider enforces the schema.
func ParseAnswer(text []byte, r *redact.Redactor) (Assessment, error) {
	if len(text) > maxAnswer {
		return Assessment{}, fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	if !utf8.Valid(text) {
		return Assessment{}, errors.New("the answer is not UTF-8")
	}
	fields, err := object(text)
	if err != nil {
		return Assessment{}, err
	}
	a := Assessment{}
	var decision, reason, rule string
	if err := errors.Join(need(fields, "decision", &decision), need(fields, "confidence", &a.Confidence), need(fields, "reason", &reason)); err != nil {
		return Assessment{}, err
	}
	if raw, ok := fields["rule"]; ok && string(raw) != "null" {
		if err := need(fields, "rule", &rule); err != nil {
			return Assessment{}, err
		}
	}
	var known bool
	a.Decision, known = map[string]cardea.Effect{"allow": cardea.Allow, "deny": cardea.Deny, "ask": cardea.Ask}[decision]
	switch {
	case !known:
		return Assessment{}, errors.New("the decision is none of allow, deny and ask")
	case !(a.Confidence >= 0 && a.Confidence <= 1):
		return Assessment{}, errors.New("the confidence is not from 0 to 1")
	case len(reason) > maxReason || len(rule) > maxRule:
		return Assessment{}, errors.New("the reason or the rule is too long")
	case strings.TrimSpace(reason) == "":
		return Assessment{}, errors.New("the reason is empty")
	}
	a.Reason, a.Rule = r.Text(oneLine(reason)), r.Text(oneLine(rule))
	return a, nil
}

// object reads the fields of a text that is a single object, with unique keys.
func object(text []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("the answer is no JSON object")
	}
	fields := map[string]json.RawMessage{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, errors.New("the answer is no JSON object")
		}
		key, _ := t.(string)
		if _, twice := fields[key]; twice {
			return nil, errors.New("the answer has a key twice")
		}
		switch key {
		case "decision", "confidence", "reason", "rule":
		default:
			return nil, errors.New("the answer has a key that was not asked for")
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, errors.New("the answer is no JSON object")
		}
		fields[key] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, errors.New("the answer is no JSON object")
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("there is text behind the answer")
	}
	return fields, nil
}

// need reads a required field into a value of the right type.
func need(fields map[string]json.RawMessage, key string, into any) error {
	raw, ok := fields[key]
	if !ok || string(raw) == "null" {
		return fmt.Errorf("the answer has no %s", key)
	}
	if json.Unmarshal(raw, into) != nil {
		return fmt.Errorf("the %s has the wrong type", key)
	}
	return nil
}

// oneLine returns a model's words in a form that is safe to show: control characters, invisible
// ones and line ends become spaces.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
}
