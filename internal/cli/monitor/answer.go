package monitor

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cardea.dev"
	"cardea.dev/internal/ask/queue"
)

// This file answers waiting calls. To allow a call, the person types a code, which the caller
// makes after it checked that a person types. An answer is held for a moment, so that the
// person can take it back. A monitor that is killed meanwhile has answered nothing.

const (
	// undoTime is how long an answer is held.
	undoTime = 3 * time.Second
	// sendTime is the time of a call that is reserved to deliver the answer.
	sendTime = 2 * time.Second
	// maxMessage is the longest message for the model, in bytes.
	maxMessage = 1000
)

// answering is the state of waiting calls and given answers.
type answering struct {
	waiting []queue.Entry
	// challenge is the code that the person must type to allow a call. message is the text
	// that they type for the model with a denial.
	challenge *Challenge
	message   *typed
	// held holds the answers that are not sent yet, in order. sent is the number of the call
	// that was answered last.
	held []held
	sent int64
}

// held is an answer that is held until a time.
type held struct {
	Do
	until time.Time
}

// typed is a message that is being typed.
type typed struct {
	id   int64
	text string
}

// Challenge is the reply to [Check]: the code that the person must type, or an error.
type Challenge struct {
	ID   int64
	Code string
	Err  error
	// typed is the part of the code that was typed.
	typed string
}

// wait sets the calls that wait now. It drops the state of calls that were answered in
// another place.
func (m Model) wait(all []queue.Entry) Model {
	if m.tab == queueTab { // new calls above the selected one must not replace it
		m = m.remember()
	}
	m.waiting = all
	gone := func(id int64) bool {
		return !slices.ContainsFunc(all, func(e queue.Entry) bool { return e.ID == id })
	}
	over := func(id int64) { m.note = fmt.Sprintf("call %d was answered elsewhere, or its time is over", id) }
	if m.challenge != nil && gone(m.challenge.ID) {
		over(m.challenge.ID)
		m.challenge = nil
	}
	if m.detail != nil && m.detail.call != 0 && gone(m.detail.call) {
		over(m.detail.call)
		m.detail = nil
	}
	if m.message != nil && gone(m.message.id) {
		over(m.message.id)
		m.message = nil
	}
	m.held = slices.DeleteFunc(slices.Clone(m.held), func(h held) bool {
		if gone(h.ID) {
			over(h.ID)
		}
		return gone(h.ID)
	})
	return m
}

// waitingRows returns the waiting calls that match the filter.
func (m Model) waitingRows() []queue.Entry {
	if m.filter == "" {
		return m.waiting
	}
	want := strings.ToLower(m.filter)
	return slices.DeleteFunc(slices.Clone(m.waiting), func(e queue.Entry) bool {
		return !strings.Contains(strings.ToLower(strings.Join([]string{fmt.Sprint(e.ID), e.Tool, e.Subject.String(), e.Session.String(), e.Role, e.By, e.Project.String()}, "\n")), want)
	})
}

// begin starts to answer the selected call.
func (m Model) begin(key string) (Model, []Do) {
	all, at := m.waitingRows(), m.lists[queueTab].at
	if at >= len(all) {
		return m, nil
	}
	id := all[at].ID
	m = m.remember()
	if m.answerOf(id) != nil {
		m.note = fmt.Sprintf("call %d is answered already; u takes that back", id)
		return m, nil
	}
	if key == "d" {
		m.message = &typed{id: id}
		return m.settle(), nil
	}
	return m.settle(), []Do{{Kind: Check, ID: id}}
}

// ask shows the whole call, and what to type to allow it.
func (m Model) ask(c Challenge) Model {
	i := slices.IndexFunc(m.waitingRows(), func(e queue.Entry) bool { return e.ID == c.ID })
	switch {
	case c.Err != nil:
		m.note = oneLine(c.Err.Error())
	case i < 0 || c.Code == "" || m.message != nil || m.tab != queueTab:
		m.note = fmt.Sprintf("call %d was not answered", c.ID)
	default:
		m.lists[queueTab].at, m.editing = i, false
		m = m.remember().openSelected()
		m.challenge = &c
	}
	return m
}

// confirm returns the model after a key while a code is typed. The call can be scrolled.
// Every other key cancels.
func (m Model) confirm(key string) (Model, []Do) {
	switch key {
	case "up", "down", "pgup", "pgdown", "home", "end":
		return m.scroll(key), nil
	}
	c := *m.challenge
	c.typed += key
	if c.typed != c.Code && strings.HasPrefix(c.Code, c.typed) {
		m.challenge = &c
		return m, nil
	}
	m.challenge, m.detail = nil, nil
	if c.typed != c.Code {
		m.note = fmt.Sprintf("call %d was not answered", c.ID)
		return m.settle(), nil
	}
	return m.hold(Do{Kind: Answer, ID: c.ID, Effect: cardea.Allow}).settle(), nil
}

// tell returns the model after a key while a message is typed.
func (m Model) tell(key string) Model {
	switch key {
	case "enter":
		do := Do{Kind: Answer, ID: m.message.id, Effect: cardea.Deny, Message: m.message.text}
		m.message, m.detail = nil, nil
		return m.hold(do).settle()
	case "esc":
		m.note = fmt.Sprintf("call %d was not answered", m.message.id)
		m.message = nil
		return m
	}
	return m.say(edited(m.message.text, key))
}

// edited returns a text after a key. Keys without a character do not change it.
func edited(text, key string) string {
	switch {
	case key == "backspace":
		_, n := utf8.DecodeLastRuneInString(text)
		return text[:len(text)-n]
	case key == "space":
		return text + " "
	case utf8.RuneCountInString(key) == 1:
		return text + oneLine(key)
	}
	return text
}

func (m Model) say(text string) Model {
	if len(text) <= maxMessage {
		m.message = &typed{m.message.id, text}
	}
	return m
}

// hold holds an answer, as long as the call's deadline permits.
func (m Model) hold(do Do) Model {
	until := m.now.Add(undoTime)
	for _, e := range m.waiting {
		if last := e.Deadline.Add(-sendTime); e.ID == do.ID && last.Before(until) {
			until = last
		}
	}
	m.held = append(slices.Clone(m.held), held{do, until})
	m.note = fmt.Sprintf("call %d: %s in a moment; u takes it back", do.ID, verb(do.Effect))
	return m
}

func verb(e cardea.Effect) string {
	if e == cardea.Allow {
		return "approved"
	}
	return "denied"
}

// answerOf returns the held answer to a call, or nil.
func (m Model) answerOf(id int64) *held {
	if i := slices.IndexFunc(m.held, func(h held) bool { return h.ID == id }); i >= 0 {
		return &m.held[i]
	}
	return nil
}

// send returns the answers that are due, or all of them.
func (m Model) send(all bool) (Model, []Do) {
	var do []Do
	var left []held
	for _, h := range m.held {
		if !all && m.now.Before(h.until) {
			left = append(left, h)
			continue
		}
		do = append(do, h.Do)
		m.sent = h.ID
	}
	m.held = left
	return m, do
}

// quit sends all held answers, and ends.
func (m Model) quit() (Model, []Do) {
	m, do := m.send(true)
	return m, append(do, Do{Kind: Quit})
}

// undo takes the last answer back. A held answer is dropped; for a sent one, the queue
// knows whether it was used.
func (m Model) undo() (Model, []Do) {
	switch n := len(m.held); {
	case n > 0:
		m.note = fmt.Sprintf("the answer to call %d is taken back; it still waits", m.held[n-1].ID)
		m.held = slices.Clone(m.held[:n-1])
	case m.sent != 0:
		return m, []Do{{Kind: Undo, ID: m.sent}}
	default:
		m.note = "nothing was answered here"
	}
	return m, nil
}
