package lesson

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/jsontext"
)

// AnyRole is the role of a lesson that applies to every agent, AnyDir the folder of a lesson that
// applies in every folder.
const (
	AnyRole = "*"
	AnyDir  = "*"
)

// The kinds of a change to a file.
const (
	Create = "create"
	Edit   = "edit"
	Delete = "delete"
	Move   = "move"
)

// The teachers of lessons (the field "by").
const (
	ByPerson = "person"
	ByJudge  = "judge"
)

// Record is a lesson in the form of its line.
type Record struct {
	// Effect is allow, deny or ask.
	Effect cardea.Effect
	// Tool is the canonical name of the tool, Subject the canonical command, a path relative to
	// Dir, or an address.
	Tool, Subject string
	// Role is the agent's role, "" for an agent without one, [AnyRole] for all.
	Role string
	// Dir is the folder in which the call runs: "." for the project, relative to it with slashes
	// for folders in it, else absolute. [AnyDir] applies only in a deny or an ask.
	Dir string
	// Kind is the kind of change to a file, "" for a tool that changes none.
	Kind string
	// Unsandboxed is set where the call runs outside of the harness's sandbox.
	Unsandboxed bool
	// By is the kind of teacher ([ByPerson]), Who their name, When the time in UTC.
	By, Who string
	When    time.Time
	Reason  string
	// Files are the files to which an allow is bound: digests by path, relative to the
	// project with slashes, or absolute.
	Files map[string]string
	// Expires is the end of the lesson's validity, zero for none.
	Expires time.Time
	// Model is the judge's model. Prompt and Policy are the digests of its prompt and policy.
	Model, Prompt, Policy string
}

// Expired reports whether the lesson's validity has ended.
func (r *Record) Expired(now time.Time) bool { return !r.Expires.IsZero() && !now.Before(r.Expires) }

// ID identifies a line. It is the digest of its bytes, so editing a line changes its id.
type ID [sha256.Size]byte

// IDOf returns the id of a line without the line's end.
func IDOf(line string) ID { return sha256.Sum256([]byte(line)) }

// String returns the id in hexadecimal digits, as lines that remove lessons contain it.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// shortID is the number of digits in a short id.
const shortID = 12

// Short returns the beginning of the id, which names a lesson for people.
func (id ID) Short() string { return hex.EncodeToString(id[:shortID/2]) }

// Line is a line of a file of lessons: a lesson, or the removal of another line. A line of removal
// stays, so that a merge with a branch that still has the lesson does not bring it back.
type Line struct {
	Record
	// Removes is the id of the line that is removed, "" for a lesson.
	Removes string
}

// text returns the line without the line's end. Its fields are redacted, or come from a file of
// lessons.
func (l *Line) text() string {
	b := make([]byte, 0, 256)
	field := func(name, value string) {
		b = append(jsontext.Plain.String(append(b, ','), name), ':')
		b = jsontext.Plain.String(b, value)
	}
	b = append(b, `{"v":1`...)
	if l.Removes != "" {
		field("removes", l.Removes)
		field("by", l.By)
		field("who", l.Who)
		field("when", timeText(l.When))
		return string(append(b, '}'))
	}
	field("effect", l.Effect.String())
	field("tool", l.Tool)
	field("subject", l.Subject)
	if l.Kind != "" {
		field("kind", l.Kind)
	}
	field("role", l.Role)
	field("dir", l.Dir)
	if l.Unsandboxed {
		b = append(b, `,"unsandboxed":true`...)
	}
	field("by", l.By)
	field("who", l.Who)
	field("when", timeText(l.When))
	field("reason", l.Reason)
	b = append(append(b, `,"files":{`...), l.filesText()...)
	b = append(b, '}')
	field("expires", timeText(l.Expires))
	for _, f := range [...]struct{ name, value string }{{"model", l.Model}, {"prompt", l.Prompt}, {"policy", l.Policy}} {
		if f.value != "" {
			field(f.name, f.value)
		}
	}
	return string(append(b, '}'))
}

func (l *Line) filesText() (b []byte) {
	for i, name := range names(l.Files) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsontext.Plain.String(b, name), ':')
		b = jsontext.Plain.String(b, l.Files[name])
	}
	return b
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// ParseLine parses a line. Everything unknown to this version is an error: an ignored key might
// narrow the lesson.
func ParseLine(line string) (Line, error) {
	s := scanner{s: line}
	var l Line
	given, err := s.line(&l)
	if err != nil {
		return Line{}, err
	}
	if !given.has("v") {
		return Line{}, errors.New("the version is missing; begin the line with {\"v\":1")
	}
	if l.Removes != "" {
		if raw, err := hex.DecodeString(l.Removes); err != nil || len(raw) != sha256.Size {
			return Line{}, errors.New("removes is no id of a line")
		}
		if given.has("effect") || given.has("subject") {
			return Line{}, errors.New("a line either removes another one or is a lesson")
		}
		return l, nil
	}
	for _, key := range [...]string{"effect", "tool", "subject", "role", "dir"} {
		if !given.has(key) {
			return Line{}, fmt.Errorf("the key %q is missing", key)
		}
	}
	return l, l.Record.check()
}

// check returns an error for a record with invalid or contradictory fields.
func (r *Record) check() error {
	switch {
	case r.Effect != cardea.Allow && r.Effect != cardea.Deny && r.Effect != cardea.Ask:
		return errors.New("the effect of a lesson is allow, deny or ask")
	case r.Tool == "" || r.Subject == "":
		return errors.New("a lesson names its tool and its subject")
	case r.Dir == "":
		return errors.New("a lesson names its folder: . is the project")
	case r.Effect == cardea.Allow && r.Dir == AnyDir:
		return errors.New("an allow counts in one folder only")
	case r.Kind != "" && r.Kind != Create && r.Kind != Edit && r.Kind != Delete && r.Kind != Move:
		return errors.New("the kind is create, edit, delete or move")
	case r.By != "" && r.By != ByPerson && r.By != ByJudge:
		// Another spelling of judge would be valid as long as a person's lesson.
		return errors.New("by is person or judge")
	}
	return nil
}
