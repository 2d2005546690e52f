// Package queue has what a call is that waits for a person, what they may answer, and
// what every store of such calls does. It reads no database: the store is
// internal/ask/queue/store, which only cardea-engine links.
//
// An entry is signed with the user's key when it is put into the queue, and so is an
// answer, together with the entry that it is about. A line that somebody wrote into the
// database counts for nothing, and the answer to one call does not fit another one.
package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/base/person"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
)

// Entry is a call that waits for a person, with what they need to decide. All texts are
// redacted.
type Entry struct {
	// ID names it to people: 7. Nonce makes it unlike every other entry.
	ID    int64  `json:"id"`
	Nonce []byte `json:"nonce"`
	// Digest is that of [Digest]: an allow covers the call that has it, and no other.
	Digest string `json:"digest"`
	// Harness, Session and Agent are who wants to run it, Role and Task what they are
	// registered for, Team of which team.
	Harness string      `json:"harness"`
	Session redact.Text `json:"session"`
	Agent   redact.Text `json:"agent"`
	Role    string      `json:"role"`
	Task    redact.Text `json:"task"`
	Team    redact.Text `json:"team"`
	// Project and Folder are where.
	Project redact.Text `json:"project"`
	Folder  redact.Text `json:"folder"`
	// Tool is the tool, Subject the call in a line: the command, the path, the address.
	Tool    string      `json:"tool"`
	Subject redact.Text `json:"subject"`
	// Input is the whole tool input as JSON, Diff what an edit changes. Truncated is set
	// where either is not whole.
	Input     redact.Text `json:"input"`
	Diff      redact.Text `json:"diff"`
	Truncated bool        `json:"truncated,omitempty"`
	// Rewritten is set where a rule rewrote the call: it is shown as it would run.
	Rewritten bool   `json:"rewritten,omitempty"`
	Parts     []Part `json:"parts"`
	// Opinions are who said what, abstains left out.
	Opinions []Opinion `json:"opinions"`
	// Effect is what the gate decided: ask, abstain or defer. By and Reason say who
	// decided that, and why.
	Effect cardea.Effect `json:"effect"`
	By     string        `json:"by"`
	Reason redact.Text   `json:"reason"`
	// Recommendation is the judge's, nil where it was not asked.
	Recommendation *Recommendation `json:"recommendation,omitempty"`
	// Allows and Holds are the lessons that an allow, and a deny or ask, would teach. Why
	// says why an allow teaches none.
	Allows []Lesson    `json:"allows,omitempty"`
	Holds  []Lesson    `json:"holds,omitempty"`
	Why    redact.Text `json:"why"`
	// Unheard is set where the harness has no place for a message to the model beside an
	// allow.
	Unheard bool `json:"unheard,omitempty"`
	// Ticket is set where nobody waits: the call was denied with the entry's number, and
	// an allow lets the same call run once later. Validity is how long after the answer.
	Ticket   bool          `json:"ticket,omitempty"`
	Validity time.Duration `json:"validity"`
	// Waiter is the process that waits for the answer.
	Waiter person.Running `json:"waiter"`
	// Created is when it was asked, Deadline until when an answer counts.
	Created  time.Time `json:"created"`
	Deadline time.Time `json:"deadline"`

	// State is what became of it, and Answer what a person said, nil where nobody did.
	// Neither is part of what is signed as the entry.
	State  State   `json:"state"`
	Answer *Answer `json:"answer,omitempty"`
	// Taken is when the answer was used, zero where it was not.
	Taken time.Time `json:"taken,omitzero"`
	// Revision counts the changes of the whole queue: see [Queue].Since.
	Revision int64 `json:"revision"`
}

// State is what became of an entry.
type State string

// The states.
const (
	// Pending: a person can answer it.
	Pending State = "pending"
	// Answered: a person did.
	Answered State = "answered"
	// Expired: nobody did in time.
	Expired State = "expired"
)

// Part is a part of the call.
type Part struct {
	Text   redact.Text   `json:"text"`
	Effect cardea.Effect `json:"effect"`
	// Access are what it does: "write src/a.go".
	Access []redact.Text `json:"access"`
	// Opaque are what the analysis could not see through, with the reason.
	Opaque []redact.Text `json:"opaque"`
	// Command are the program and its subcommand, where they are known, Flags its options.
	Command redact.Text   `json:"command"`
	Flags   []redact.Text `json:"flags,omitempty"`
}

// Opinion is what one decider said.
type Opinion struct {
	By     string        `json:"by"`
	Effect cardea.Effect `json:"effect"`
	// Part is the number of the part, or [cardea.WholeCall].
	Part   int         `json:"part"`
	Scope  string      `json:"scope"`
	Reason redact.Text `json:"reason"`
	Source redact.Text `json:"source"`
}

// Recommendation is what a judge said, who may not decide.
type Recommendation struct {
	Effect     cardea.Effect `json:"effect"`
	Confidence float64       `json:"confidence"`
	Reason     redact.Text   `json:"reason"`
	Model      redact.Text   `json:"model"`
}

// Abandoned reports whether an entry is pending and the process that asked has ended. An
// allow of it counts as one of a ticket does.
func (e *Entry) Abandoned() bool {
	return e.State == Pending && !e.Ticket && !e.Waiter.Alive()
}

// Urgency puts the calls first that somebody waits for, of which the one with the least
// time left is the first. What nobody waits for, such as a ticket, follows by its number.
func Urgency(all []Entry) {
	waits := make(map[int64]bool, len(all))
	for i := range all {
		waits[all[i].ID] = !all[i].Ticket && !all[i].Abandoned()
	}
	slices.SortStableFunc(all, func(a, b Entry) int {
		switch {
		case waits[a.ID] != waits[b.ID]:
			if waits[a.ID] {
				return -1
			}
			return 1
		case waits[a.ID]:
			return cmp.Or(a.Deadline.Compare(b.Deadline), cmp.Compare(a.ID, b.ID))
		}
		return cmp.Compare(a.ID, b.ID)
	})
}

// Answered is an answer to the entry at a time. Where nobody waits, an allow is for the
// next call.
func (e *Entry) Answered(a Answer, now time.Time) Answer {
	a.At = now.UTC()
	if e.Ticket || e.Abandoned() {
		a.Grant, a.Expires = a.Effect == cardea.Allow, a.At.Add(e.Validity)
	}
	return a
}

// UnheardOf says that the message of an answer does not reach the model, "" where it does or
// there is none.
func (e *Entry) UnheardOf(a *Answer) string {
	if !e.Unheard || a.Effect != cardea.Allow || a.Message.String() == "" {
		return ""
	}
	return "the model does not get the message: " + e.Harness + " has no place for it beside an approval"
}

// Lesson says what an answer would teach: a lesson that allows, without what only its writing adds.
type Lesson struct {
	Tool        redact.Text       `json:"tool"`
	Subject     redact.Text       `json:"subject"`
	Role        redact.Text       `json:"role"`
	Dir         redact.Text       `json:"dir"`
	Kind        string            `json:"kind,omitempty"`
	Unsandboxed bool              `json:"unsandboxed,omitempty"`
	Files       map[string]string `json:"files,omitempty"`
}

// Answer is what a person said.
type Answer struct {
	// Effect is allow or deny.
	Effect cardea.Effect `json:"effect"`
	// Message reaches the model.
	Message redact.Text `json:"message"`
	// Who answered, and Via how: terminal, prompt, monitor, mcp.
	Who redact.Text `json:"who"`
	Via string      `json:"via"`
	// At is when.
	At time.Time `json:"at"`
	// From is the earliest time at which the answer is used, so that it can be taken
	// back until then; zero is at once.
	From time.Time `json:"from,omitzero"`
	// Grant is set where nobody waited: the same call may run once until Expires.
	Grant   bool      `json:"grant,omitempty"`
	Expires time.Time `json:"expires,omitzero"`
}

// Text says who answered and how, in a line.
func (a *Answer) Text() string {
	verb := map[cardea.Effect]string{cardea.Allow: "approved", cardea.Deny: "denied"}[a.Effect]
	return fmt.Sprintf("%s by %s (%s)", verb, a.Who, a.Via)
}

// Errors of a queue.
var (
	// ErrUnknown is that of an id that no entry has.
	ErrUnknown = errors.New("there is no such entry in the queue; see \"cardea queue\"")
	// ErrForged is that of an entry or answer that this user's Cardea did not write.
	ErrForged = errors.New("the entry was changed by something else than your Cardea, so it does not count")
	// ErrTimedOut is that of a wait that no person ended.
	ErrTimedOut = errors.New("no person answered in time")
	// ErrFull is that of a queue with too many entries.
	ErrFull = errors.New("too many calls wait already; answer some of them, see \"cardea queue\"")
)

// Queue is what the faces of the queue use: commands, monitor, MCP server and daemon.
type Queue interface {
	// Pending lists what waits, in the order of [Urgency].
	Pending(ctx context.Context) ([]Entry, error)
	// Entry is one entry in any state, or [ErrUnknown].
	Entry(ctx context.Context, id int64) (Entry, error)
	// Answer answers an entry. won is false where another answer, or the end of its
	// time, came first: then nothing may be remembered either.
	Answer(ctx context.Context, id int64, a Answer) (won bool, err error)
	// Undo takes the last answer back that was not used yet, or that of the entry id
	// where it is not 0. done is false where there is none.
	Undo(ctx context.Context, id int64) (e Entry, done bool, err error)
	// Since lists the entries that changed after a revision, in the order of their
	// changes, and gives the revision to go on from. 0 is the beginning.
	Since(ctx context.Context, revision int64) ([]Entry, int64, error)
	// Watch calls changed for each such list, until it fails or ctx ends.
	Watch(ctx context.Context, revision int64, changed func([]Entry) error) error
}

// Waiting is what the process uses that holds a call back.
type Waiting interface {
	// Add puts an entry into the queue and gives it with its number. A ticket for the
	// same call that is pending already is given instead.
	Add(ctx context.Context, e Entry) (Entry, error)
	// Wait waits for the answer of an entry until its deadline, and uses it. The error
	// is [ErrTimedOut] where there is none by then; the entry has expired.
	Wait(ctx context.Context, e Entry) (Answer, error)
	// TakeGrant uses up an allow that was given to a ticket, or a denial, for a call
	// with a digest. Of several processes that ask at the same time one gets it.
	TakeGrant(ctx context.Context, digest string) (e Entry, found bool, err error)
}

// What the user's key signs here.
const (
	digestPurpose = "queue call"
	entryPurpose  = "queue entry"
	answerPurpose = "queue answer"
)

// Digest names a call: its tool, its whole input, where and as whom it runs, and the
// hashes of the files that it runs, where they are known. It does not name the session:
// the next run of the same agent has another one.
func Digest(key []byte, ev *cardea.Event, files map[string]string) (string, error) {
	c := ev.Call
	// Which of several values of a field the harness uses is its own affair, so all are named.
	input, err := json.Marshal([]any{meaning(c), c.Shadowed})
	if err != nil {
		return "", err
	}
	bound, err := json.Marshal(files)
	if err != nil {
		return "", err
	}
	words := [][]byte{[]byte(ev.Harness), []byte(ev.AgentType), []byte(ev.Role), []byte(ev.Project), []byte(ev.Cwd),
		[]byte(c.Tool), []byte(c.Name), fmt.Append(nil, c.Unsandboxed), input, bound}
	return fmt.Sprintf("%x", state.Sign(key, digestPurpose, words...)[:16]), nil
}

// meaning is a call's input without what has no effect: the words in which a model
// describes a command to the person differ each time.
func meaning(c *cardea.Call) map[string]any {
	if c.Tool != "Bash" {
		return c.Input
	}
	out := make(map[string]any, len(c.Input))
	for name, value := range c.Input {
		if name != "description" {
			out[name] = value
		}
	}
	return out
}

// Seal writes an entry down, and signs it.
func Seal(key []byte, e Entry) (text, signature []byte, err error) {
	e.State, e.Answer, e.Taken, e.Revision = "", nil, time.Time{}, 0
	text, err = json.Marshal(e)
	return text, state.Sign(key, entryPurpose, fmt.Append(nil, e.ID), text), err
}

// Unseal reads an entry that Seal wrote under a number.
func Unseal(key []byte, id int64, text, signature []byte) (e Entry, err error) {
	if !state.Signed(key, signature, entryPurpose, fmt.Append(nil, id), text) {
		return Entry{ID: id}, ErrForged
	}
	err = json.Unmarshal(text, &e)
	return e, err
}

// SealAnswer writes an answer down, and signs it together with the entry, given by its
// signature.
func SealAnswer(key, entry []byte, a Answer) (text, signature []byte, err error) {
	if a.Effect != cardea.Allow && a.Effect != cardea.Deny {
		return nil, nil, fmt.Errorf("a person answers allow or deny, not %s", a.Effect)
	}
	text, err = json.Marshal(a)
	return text, state.Sign(key, answerPurpose, entry, text), err
}

// UnsealAnswer reads an answer to an entry.
func UnsealAnswer(key, entry, text, signature []byte) (a Answer, err error) {
	if !state.Signed(key, signature, answerPurpose, entry, text) {
		return a, ErrForged
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, err
	}
	if a.Effect != cardea.Allow && a.Effect != cardea.Deny {
		return a, ErrForged
	}
	return a, nil
}

// Like reports whether two entries are alike enough to be answered at once: the same
// tool, of a role in a project, with the same programs and subcommands, or the same file.
func Like(a, b *Entry) bool {
	if a.Tool != b.Tool || a.Role != b.Role || a.Project.String() != b.Project.String() {
		return false
	}
	if a.Subject.String() == b.Subject.String() {
		return true
	}
	command := func(p Part) string { return p.Command.String() }
	one := lists.Of(a.Parts, command)
	return len(one) > 0 && !slices.Contains(one, "") && slices.Equal(one, lists.Of(b.Parts, command))
}
