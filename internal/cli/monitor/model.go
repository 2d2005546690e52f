// Package monitor shows decisions live, and the calls that wait for a person. It computes
// what a screen shows and what a key does, as functions of values. The caller draws the
// screen, reads the keys and carries out the requested actions.
package monitor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/memory/ledger"
	"cardea.dev/internal/memory/session"
)

// maxDecisions is the most decisions in memory; the ledger has the others. dropped is how
// many are removed at once.
const (
	maxDecisions = 5000
	dropped      = 500
	// maxFilter is the longest filter, in bytes.
	maxFilter = 200
)

// tab is one of the lists.
type tab int

const (
	decisionsTab tab = iota
	queueTab
	sessionsTab
	tabs
)

// Model is the state of the monitor. The zero value with Explain and Describe set is empty.
type Model struct {
	// Explain returns an entry as "cardea explain" shows it, Describe a waiting call as
	// "cardea queue" shows it.
	Explain  func(ledger.Line) string
	Describe func(*queue.Entry) string
	// Colour is set if the terminal may show colours.
	Colour bool
	// Zone is the person's time zone.
	Zone *time.Location
	// Probe is the agent type of doctor's own calls, which are marked.
	Probe string

	width, height int
	now           time.Time
	tab           tab
	decisions     []decision
	counts        map[string]*counts
	sessions      []SessionRow
	answering
	lists       [tabs]list
	filter      string
	editing     bool
	detail      *detail
	note, setUp string
}

// decision is an entry, with the text that a filter searches.
type decision struct {
	ledger.Line
	text string
}

// counts holds the numbers of decisions in a session since the monitor started.
type counts struct {
	allowed, asked, denied, left int
	last                         time.Time
	project                      string
}

// SessionRow is a session as the list shows it.
type SessionRow struct {
	session.Registered
	// Role is the role of the session itself, "" for none.
	Role string
}

// list is a position in a list. It is found by the key of an entry, since entries above may
// go away.
type list struct {
	key string
	// at is the index of the selected entry, top that of the first visible one.
	at, top int
}

// detail is a text that is shown instead of the list.
type detail struct {
	title, text string
	// lines holds the text, wrapped to the width of the screen.
	lines []string
	top   int
	// call is the number of the waiting call that the text shows, 0 for none.
	call int64
}

// The messages for [Model.Update].
type (
	// Key is a pressed key, by Bubble Tea's name.
	Key string
	// Pasted is a pasted text. It only adds to typed text, and never presses keys.
	Pasted string
	// Size is the size of the terminal, in cells.
	Size struct{ Width, Height int }
	// Decisions are new entries of the ledger, the oldest first.
	Decisions []ledger.Line
	// Sessions are all registered sessions.
	Sessions []SessionRow
	// Waiting are all calls that wait for a person, the most urgent one first.
	Waiting []queue.Entry
	// SetUp describes what changed in the gate's set-up without the person, or "". It stays on the
	// screen.
	SetUp string
	// Issue is a text for the line of notes.
	Issue string
	// Time is the current time.
	Time time.Time
)

// Do is an action for the caller after an update.
type Do struct {
	Kind Kind
	// ID is the number of the waiting call.
	ID int64
	// Effect is allow or deny. Message is for the model.
	Effect  cardea.Effect
	Message string
}

// Kind is a kind of action.
type Kind int

// The kinds of actions.
const (
	// Quit ends the monitor.
	Quit Kind = iota + 1
	// Check checks that a person types, and sends a [Challenge] for the call.
	Check
	// Answer answers a call.
	Answer
	// Undo takes the answer to a call back, unless it was used.
	Undo
)

// Update returns the model after a message, and the actions for the caller.
func (m Model) Update(message any) (Model, []Do) {
	var do []Do
	switch x := message.(type) {
	case Key:
		return m.press(string(x))
	case Pasted:
		m = m.paste(oneLine(string(x)))
	case Size:
		m.width, m.height = x.Width, x.Height
		m = m.reopen()
	case Decisions:
		m = m.add(x)
	case Sessions:
		m.sessions = x
	case Waiting:
		m = m.wait(x)
	case Challenge:
		m = m.ask(x)
	case SetUp:
		m.setUp = oneLine(string(x))
	case Issue:
		m.note = oneLine(string(x))
	case Time:
		m.now = time.Time(x)
		m, do = m.send(false)
	}
	return m.settle(), do
}

// paste adds text to the text that is being typed, if any.
func (m Model) paste(text string) Model {
	switch {
	case m.editing:
		m = m.filterBy(m.filter + text)
	case m.message != nil:
		m = m.say(m.message.text + text)
	}
	return m
}

// add adds decisions, and removes the oldest ones if there are too many.
func (m Model) add(lines []ledger.Line) Model {
	all := m.decisions
	evaluation := make(map[string]*counts, len(m.counts))
	for id, c := range m.counts {
		copied := *c
		evaluation[id] = &copied
	}
	for _, l := range lines {
		e := &l.Entry
		all = append(all, decision{l, strings.ToLower(strings.Join([]string{e.Effect.String(), e.Tool.String(), e.Session.String(), e.Role.String(), e.By.String(),
			e.Cwd.String(), e.Input.Text.String(), e.Reason.String()}, "\n"))})
		c := evaluation[e.Session.String()]
		if c == nil {
			c = &counts{}
			evaluation[e.Session.String()] = c
		}
		c.add(e)
	}
	if len(all) > maxDecisions {
		all = slices.Clone(all[len(all)-maxDecisions+dropped:])
	}
	m.decisions, m.counts = all, evaluation
	return m
}

// add counts an entry.
func (c *counts) add(e *ledger.Entry) {
	if e.Time.After(c.last) {
		c.last = e.Time
	}
	c.project = cmp.Or(e.Project.String(), e.Cwd.String(), c.project)
	switch {
	case !cardea.Kind(e.Event.String()).Answered():
	case e.Effect == cardea.Allow:
		c.allowed++
	case e.Effect == cardea.Ask:
		c.asked++
	case e.Effect.Stricter(cardea.Ask):
		c.denied++
	default:
		c.left++
	}
}

// press returns the model after a key.
func (m Model) press(key string) (Model, []Do) {
	m.note = ""
	switch {
	case key == "ctrl+c":
		return m.quit()
	case m.challenge != nil:
		return m.confirm(key)
	case m.message != nil:
		return m.tell(key), nil
	case m.editing:
		return m.edit(key), nil
	case key == "u":
		return m.undo()
	case m.tab == queueTab && (key == "a" || key == "d"):
		return m.begin(key)
	case m.detail != nil:
		return m.read(key)
	}
	switch key {
	case "q":
		return m.quit()
	case "tab", "right", "l":
		m.tab = (m.tab + 1) % tabs
	case "shift+tab", "left", "h":
		m.tab = (m.tab + tabs - 1) % tabs
	case "1", "2", "3":
		m.tab = tab(key[0] - '1')
	case "/":
		m.editing = true
	case "esc":
		m = m.filterBy("")
	case "?":
		m = m.open("Keys", help)
	case "enter":
		m = m.openSelected()
	default:
		m.lists[m.tab] = m.lists[m.tab].move(key, m.rows(), len(m.keys()))
		m = m.remember()
	}
	return m.settle(), nil
}

// edit returns the model after a key while a filter is typed.
func (m Model) edit(key string) Model {
	switch key {
	case "enter":
		m.editing = false
	case "esc":
		m.editing = false
		m = m.filterBy("")
	default:
		m = m.filterBy(edited(m.filter, key))
	}
	return m.settle()
}

func (m Model) filterBy(text string) Model {
	if len(text) <= maxFilter {
		m.filter = text
	}
	return m
}

// read returns the model after a key while a text is shown.
func (m Model) read(key string) (Model, []Do) {
	switch key {
	case "q", "esc", "enter", "left", "h":
		m.detail = nil
		return m, nil
	}
	return m.scroll(key), nil
}

// scroll returns the model after a key that scrolls the text.
func (m Model) scroll(key string) Model {
	if m.detail == nil {
		return m
	}
	d := *m.detail
	d.top = moved(key, d.top, m.rows(), len(d.lines))
	m.detail = &d
	return m.settle()
}

// moved returns the position among n things, of which rows are visible, after a key.
func moved(key string, at, rows, n int) int {
	switch key {
	case "up", "k":
		at--
	case "down", "j":
		at++
	case "pgup", "ctrl+u":
		at -= rows
	case "pgdown", "space", "ctrl+d":
		at += rows
	case "home", "g":
		at = 0
	case "end", "G":
		at = n - 1
	}
	return max(0, min(at, n-1))
}

func (l list) move(key string, rows, n int) list {
	l.at = moved(key, l.at, rows, n)
	l.key = ""
	return l
}

// remember stores which entry is selected. At the end of the decisions it stores none, so
// that the list follows new decisions.
func (m Model) remember() Model {
	keys := m.keys()
	l := &m.lists[m.tab]
	if l.key = ""; l.at < len(keys) && !(m.tab == decisionsTab && l.at == len(keys)-1) {
		l.key = keys[l.at]
	}
	return m
}

// settle scrolls the lists so that the selected entry stays selected and visible.
func (m Model) settle() Model {
	keys := m.keys()
	l := &m.lists[m.tab]
	if i := slices.Index(keys, l.key); l.key != "" && i >= 0 {
		l.at = i
	} else if l.key == "" && m.tab == decisionsTab {
		l.at = len(keys) - 1
	}
	l.at = max(0, min(l.at, len(keys)-1))
	rows := max(1, m.rows())
	l.top = max(min(l.top, l.at), l.at-rows+1, 0)
	l.top = min(l.top, max(0, len(keys)-rows))
	if d := m.detail; d != nil {
		d := *d
		d.top = max(0, min(d.top, len(d.lines)-rows))
		m.detail = &d
	}
	return m
}

// shown returns the decisions that match the filter.
func (m Model) shown() []decision {
	if m.filter == "" {
		return m.decisions
	}
	want := strings.ToLower(m.filter)
	return slices.DeleteFunc(slices.Clone(m.decisions), func(d decision) bool { return !strings.Contains(d.text, want) })
}

// sessionRow is a session as the list shows it.
type sessionRow struct {
	SessionRow
	counts
}

// sessionRows returns the sessions that match the filter, the most recent first.
func (m Model) sessionRows() []sessionRow {
	var out []sessionRow
	rows := map[string]bool{}
	for _, s := range m.sessions {
		rows[s.Registered.Session] = true
		row := sessionRow{SessionRow: s}
		if c := m.counts[s.Registered.Session]; c != nil {
			row.counts = *c
		}
		out = append(out, row)
	}
	for id, c := range m.counts {
		if !rows[id] {
			out = append(out, sessionRow{SessionRow{Registered: session.Registered{Session: id}}, *c})
		}
	}
	slices.SortFunc(out, func(a, b sessionRow) int {
		return cmp.Or(b.last.Compare(a.last), cmp.Compare(a.Registered.Session, b.Registered.Session))
	})
	want := strings.ToLower(m.filter)
	return slices.DeleteFunc(out, func(r sessionRow) bool {
		return !strings.Contains(strings.ToLower(r.Registered.Session+"\n"+r.Role+"\n"+r.Team+"\n"+r.project), want)
	})
}

// keys returns the keys of the entries in the visible list.
func (m Model) keys() []string {
	switch m.tab {
	case decisionsTab:
		return lists.Of(m.shown(), func(d decision) string { return d.Entry.ID })
	case queueTab:
		return lists.Of(m.waitingRows(), func(e queue.Entry) string { return strconv.FormatInt(e.ID, 10) })
	case sessionsTab:
		return lists.Of(m.sessionRows(), func(s sessionRow) string { return s.Registered.Session })
	}
	return nil
}

// openSelected shows all of the selected entry.
func (m Model) openSelected() Model {
	at := m.lists[m.tab].at
	switch m.tab {
	case decisionsTab:
		if all := m.shown(); at < len(all) {
			m.lists[m.tab].key = all[at].Entry.ID // keep it selected
			return m.open("Decision "+all[at].Entry.ID, m.Explain(all[at].Line))
		}
	case queueTab:
		if all := m.waitingRows(); at < len(all) {
			m = m.open(fmt.Sprintf("Call %d waits for you", all[at].ID), m.Describe(&all[at]))
			m.detail.call = all[at].ID
		}
	case sessionsTab:
		if all := m.sessionRows(); at < len(all) {
			return m.open("Session "+all[at].Registered.Session, all[at].describe(m.zone()))
		}
	}
	return m
}

// open shows a text of several lines.
func (m Model) open(title, text string) Model {
	d := detail{title: oneLine(title), text: text}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		d.lines = append(d.lines, wrap(oneLine(line), m.width)...)
	}
	m.detail = &d
	return m
}

// reopen wraps the shown text again.
func (m Model) reopen() Model {
	if m.detail == nil {
		return m
	}
	old := m.detail
	m = m.open(old.title, old.text)
	m.detail.top, m.detail.call = old.top, old.call
	return m
}
