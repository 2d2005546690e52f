// Package queue defines the calls that wait for a person, the answers, and the interface of a
// store. It uses no database: the store is internal/ask/queue/store, which only cardea-engine
// links.
//
// An entry is signed with the user's key when it is put into the queue, and so is an answer,
// together with its entry. A row that another program wrote into the database is ignored, and the
// answer to one call does not fit another one.
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

// Entry is a call that waits for a person, with the facts for the decision. All texts are redacted.
type Entry struct {
	// ID identifies it to people: 7. Nonce makes it different from every other entry.
	ID    int64  `json:"id"`
	Nonce []byte `json:"nonce"`
	// Digest is the result of [Digest]: an allow covers only the call with this digest.
	Digest string `json:"digest"`
	// Harness, Session and Agent identify the agent that wants to run it. Role, Task and Team are
	// those of its registration.
	Harness string      `json:"harness"`
	Session redact.Text `json:"session"`
	Agent   redact.Text `json:"agent"`
	Role    string      `json:"role"`
	Task    redact.Text `json:"task"`
	Team    redact.Text `json:"team"`
	// Project and Folder are the project and the working folder.
	Project redact.Text `json:"project"`
	Folder  redact.Text `json:"folder"`
	// Tool is the tool, Subject the call in a line: the command, the path, the address.
	Tool    string      `json:"tool"`
	Subject redact.Text `json:"subject"`
	// Input is the whole tool input as JSON, Diff the change of an edit. Truncated is set where
	// either is cut.
	Input     redact.Text `json:"input"`
	Diff      redact.Text `json:"diff"`
	Truncated bool        `json:"truncated,omitempty"`
	// Rewritten is set where a rule rewrote the call: it is shown as it would run.
	Rewritten bool   `json:"rewritten,omitempty"`
	Parts     []Part `json:"parts"`
	// Opinions are the opinions of the deciders, without abstains.
	Opinions []Opinion `json:"opinions"`
	// Effect is the decision of the gate: ask, abstain or defer. By and Reason are its author and
	// reason.
	Effect cardea.Effect `json:"effect"`
	By     string        `json:"by"`
	Reason redact.Text   `json:"reason"`
	// Recommendation is the judge's, nil where it was not asked.
	Recommendation *Recommendation `json:"recommendation,omitempty"`
	// Allows and Holds are the lessons that an allow, and a deny or ask, would teach. Why is the
	// reason why an allow teaches none.
	Allows []Lesson    `json:"allows,omitempty"`
	Holds  []Lesson    `json:"holds,omitempty"`
	Why    redact.Text `json:"why"`
	// Unheard is set where the harness cannot pass a message to the model together with an allow.
	Unheard bool `json:"unheard,omitempty"`
	// Ticket is set where no process waits: the call was denied with the entry's number, and an
	// allow lets the same call run once later. Validity is how long the allow lasts.
	Ticket   bool          `json:"ticket,omitempty"`
	Validity time.Duration `json:"validity"`
	// Waiter is the process that waits for the answer.
	Waiter person.Running `json:"waiter"`
	// Created is the time of the question, Deadline the end of the time to answer.
	Created  time.Time `json:"created"`
	Deadline time.Time `json:"deadline"`

	// State is the state of the entry, and Answer the person's answer, nil for none. The signature
	// of the entry covers neither.
	State  State       `json:"state"`
	Answer *Resolution `json:"answer,omitempty"`
	// Taken is when the answer was used, zero for an unused one.
	Taken time.Time `json:"taken,omitzero"`
	// Revision is the number of the entry's last change in the whole queue: see [Queue].Since.
	Revision int64 `json:"revision"`
}

// State is the state of an entry.
type State string

// The states.
const (
	// Pending: a person can answer the entry.
	Pending State = "pending"
	// Answered: a person answered.
	Answered State = "answered"
	// Expired: no person answered in time.
	Expired State = "expired"
)

// Part is a part of the call.
type Part struct {
	Text   redact.Text   `json:"text"`
	Effect cardea.Effect `json:"effect"`
	// Access are the accesses of the part: "write src/a.go".
	Access []redact.Text `json:"access"`
	// Opaque are the spots that the analysis could not see through, with the reason.
	Opaque []redact.Text `json:"opaque"`
	// Command is the program with its subcommand, if known, Flags its options.
	Command redact.Text   `json:"command"`
	Flags   []redact.Text `json:"flags,omitempty"`
}

// Opinion is the opinion of one decider.
type Opinion struct {
	By     string        `json:"by"`
	Effect cardea.Effect `json:"effect"`
	// Part is the number of the part, or [cardea.WholeCall].
	Part   int         `json:"part"`
	Scope  string      `json:"scope"`
	Reason redact.Text `json:"reason"`
	Source redact.Text `json:"source"`
}

// Recommendation is the answer of a judge that may not decide.
type Recommendation struct {
	Effect     cardea.Effect `json:"effect"`
	Confidence float64       `json:"confidence"`
	Reason     redact.Text   `json:"reason"`
	Model      redact.Text   `json:"model"`
}

// Abandoned reports whether an entry is pending and the process that asked has ended. An allow of
// it then works as that of a ticket.
func (e *Entry) Abandoned() bool {
	return e.State == Pending && !e.Ticket && !e.Waiter.Alive()
}

// Urgency sorts entries. Calls whose process waits come first, ordered by the time left. Others,
// such as tickets, follow by their number.
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

// Answered returns the answer to the entry at a time. If no process waits, an allow is for the next
// call.
func (e *Entry) Answered(a Resolution, now time.Time) Resolution {
	a.At = now.UTC()
	if e.Ticket || e.Abandoned() {
		a.Grant, a.Expires = a.Effect == cardea.Allow, a.At.Add(e.Validity)
	}
	return a
}

// UnheardOf returns a notice that the message of an answer does not reach the model, or "".
func (e *Entry) UnheardOf(a *Resolution) string {
	if !e.Unheard || a.Effect != cardea.Allow || a.Message.String() == "" {
		return ""
	}
	return "the model does not get the message: " + e.Harness + " has no place for it beside an approval"
}

// Lesson is a lesson that an answer would teach, without the fields that are added when it is
// written.
type Lesson struct {
	Tool        redact.Text       `json:"tool"`
	Subject     redact.Text       `json:"subject"`
	Role        redact.Text       `json:"role"`
	Dir         redact.Text       `json:"dir"`
	Kind        string            `json:"kind,omitempty"`
	Unsandboxed bool              `json:"unsandboxed,omitempty"`
	Files       map[string]string `json:"files,omitempty"`
}

// Resolution is the answer of a person.
type Resolution struct {
	// Effect is allow or deny.
	Effect cardea.Effect `json:"effect"`
	// Message is for the model.
	Message redact.Text `json:"message"`
	// Who is the person who answered, Via the way: terminal, prompt, monitor, mcp.
	Who redact.Text `json:"who"`
	Via string      `json:"via"`
	// At is the time of the answer.
	At time.Time `json:"at"`
	// From is the earliest time at which the answer is used, so that it can be taken back until
	// then; zero means at once.
	From time.Time `json:"from,omitzero"`
	// Grant is set if no process waited: the same call may run once until Expires.
	Grant   bool      `json:"grant,omitempty"`
	Expires time.Time `json:"expires,omitzero"`
}

// Text returns who answered and how, in a line.
func (a *Resolution) Text() string {
	verb := map[cardea.Effect]string{cardea.Allow: "approved", cardea.Deny: "denied"}[a.Effect]
	return fmt.Sprintf("%s by %s (%s)", verb, a.Who, a.Via)
}

// Errors of a queue.
var (
	// ErrUnknown is the error for an unknown id.
	ErrUnknown = errors.New("there is no such entry in the queue; see \"cardea queue\"")
	// ErrForged is the error for an entry or answer that this user's Cardea did not write.
	ErrForged = errors.New("the entry was changed by something else than your Cardea, so it does not count")
	// ErrTimedOut is the error of a wait without an answer.
	ErrTimedOut = errors.New("no person answered in time")
	// ErrFull is the error of a queue with too many entries.
	ErrFull = errors.New("too many calls wait already; answer some of them, see \"cardea queue\"")
)

// Queue is the interface of a queue for commands, monitor, MCP server and daemon.
type Queue interface {
	// Pending returns the pending entries, in the order of [Urgency].
	Pending(ctx context.Context) ([]Entry, error)
	// Entry returns one entry in any state, or [ErrUnknown].
	Entry(ctx context.Context, id int64) (Entry, error)
	// Answer answers an entry. won is false if another answer, or the end of its time, came first.
	// The caller must not remember the answer then.
	Answer(ctx context.Context, id int64, a Resolution) (won bool, err error)
	// Undo takes back the last unused answer, or that of the entry id if id is not 0. done is false
	// if there is no such answer.
	Undo(ctx context.Context, id int64) (e Entry, done bool, err error)
	// Since returns the entries that changed after a revision, in the order of their changes, and
	// the revision to continue from. 0 is the beginning.
	Since(ctx context.Context, revision int64) ([]Entry, int64, error)
	// Watch calls changed for each such list, until it fails or ctx ends.
	Watch(ctx context.Context, revision int64, changed func([]Entry) error) error
}

// Waiting is the interface of a queue for the process that holds a call back.
type Waiting interface {
	// Add puts an entry into the queue and returns it with its number. It returns a pending ticket
	// for the same call instead, if there is one.
	Add(ctx context.Context, e Entry) (Entry, error)
	// Wait waits for the answer of an entry until its deadline, and uses it. The error is
	// [ErrTimedOut] without an answer by then; the entry has expired.
	Wait(ctx context.Context, e Entry) (Resolution, error)
	// TakeGrant uses up an allow that was given to a ticket, or a denial, for a call with a digest.
	// Only one of several concurrent callers gets it.
	TakeGrant(ctx context.Context, digest string) (e Entry, found bool, err error)
}

// The purposes of signatures with the user's key.
const (
	digestPurpose = "queue call"
	entryPurpose  = "queue entry"
	answerPurpose = "queue answer"
)

// Digest returns the digest of a call: its tool, its whole input, its folder and agent, and the
// hashes of the files that it runs, if known. It does not include the session, since the next run
// of the same agent has another one.
func Digest(key []byte, ev *cardea.Event, files map[string]string) (string, error) {
	c := ev.Call
	// It is unknown which of several values of a field the harness uses, so all are included.
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

// meaning returns a call's input without fields that have no effect: a model describes a command to
// the person in other words each time.
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

// Seal encodes and signs an entry.
func Seal(key []byte, e Entry) (text, signature []byte, err error) {
	e.State, e.Answer, e.Taken, e.Revision = "", nil, time.Time{}, 0
	text, err = json.Marshal(e)
	return text, state.Sign(key, entryPurpose, fmt.Append(nil, e.ID), text), err
}

// Unseal decodes an entry that Seal signed under a number.
func Unseal(key []byte, id int64, text, signature []byte) (e Entry, err error) {
	if !state.Signed(key, signature, entryPurpose, fmt.Append(nil, id), text) {
		return Entry{ID: id}, ErrForged
	}
	err = json.Unmarshal(text, &e)
	return e, err
}

// SealAnswer encodes an answer, and signs it together with the signature of its entry.
func SealAnswer(key, entry []byte, a Resolution) (text, signature []byte, err error) {
	if a.Effect != cardea.Allow && a.Effect != cardea.Deny {
		return nil, nil, fmt.Errorf("a person answers allow or deny, not %s", a.Effect)
	}
	text, err = json.Marshal(a)
	return text, state.Sign(key, answerPurpose, entry, text), err
}

// UnsealAnswer decodes an answer to an entry.
func UnsealAnswer(key, entry, text, signature []byte) (a Resolution, err error) {
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

// Like reports whether two entries are similar enough to be answered together: the same tool, of a
// role in a project, with the same programs and subcommands, or the same file.
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
