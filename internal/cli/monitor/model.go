// Package monitor shows what is decided while it is decided, and what waits for a person:
// what a screen shows and what a key does, as functions of values. Who draws the screen,
// reads the keys and carries out what they ask for is the caller.
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

// maxDecisions is how many decisions are kept in memory; the ledger has the others.
// dropped is how many go at once.
const (
	maxDecisions = 5000
	dropped      = 500
	// maxFilter bounds what is typed as a filter, in bytes.
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

// Model is all that the monitor shows. The zero value with Explain and Describe set is an
// empty one.
type Model struct {
	// Explain gives an entry as "cardea explain" does, Describe a call that waits as
	// "cardea queue" does.
	Explain  func(ledger.Line) string
	Describe func(*queue.Entry) string
	// Colour is set where the terminal may be asked for colours.
	Colour bool
	// Zone is the person's, for times.
	Zone *time.Location
	// Probe is the type of agent of doctor's own calls, which are marked.
	Probe string

	width, height int
	now           time.Time
	tab           tab
	decisions     []decision
	counts        map[string]*counts
	sessions      []Session
	answering
	lists       [tabs]list
	filter      string
	editing     bool
	detail      *detail
	note, setUp string
}

// decision is an entry, with what a filter is compared with.
type decision struct {
	ledger.Line
	text string
}

// counts are what was decided in a session since the monitor looks.
type counts struct {
	allowed, asked, denied, left int
	last                         time.Time
	project                      string
}

// Session is what is known of a session.
type Session struct {
	session.Registered
	// Role is the role of the session itself, "" for none.
	Role string
}

// list is a place in a list, by the key of the entry in it: what is above may go away.
type list struct {
	key string
	// at is the number of the entry that is selected, top that of the first that is shown.
	at, top int
}

// detail is a text that takes the place of the list.
type detail struct {
	title, text string
	// lines are the text's, as broad as the screen.
	lines []string
	top   int
	// call is the number of the call that waits which it is about, 0 for none.
	call int64
}

// The messages that a [Model] is updated by.
type (
	// Key is a key, by the name that Bubble Tea gives it.
	Key string
	// Pasted is a text that was pasted. It counts in a filter only: what is pasted
	// presses no keys.
	Pasted string
	// Size is the size of the terminal, in cells.
	Size struct{ Width, Height int }
	// Decisions are entries that came into the ledger, the oldest first.
	Decisions []ledger.Line
	// Sessions are all sessions that are registered.
	Sessions []Session
	// Waiting are all calls that wait for a person, the most urgent one first.
	Waiting []queue.Entry
	// SetUp is what changed of the gate's set-up without the person, "" for nothing. It
	// stays on the screen.
	SetUp string
	// Trouble is told on the line of notes.
	Trouble string
	// Time is the time.
	Time time.Time
)

// Do is something for the caller to do after an update.
type Do struct {
	Kind Kind
	// ID is the number of the call that waits.
	ID int64
	// Effect is allow or deny, Message is for the model.
	Effect  cardea.Effect
	Message string
}

// Kind is what there is to do.
type Kind int

// What there is to do.
const (
	// Quit ends the monitor.
	Quit Kind = iota + 1
	// Check makes sure that a person types, and sends a [Challenge] for the call.
	Check
	// Answer answers a call.
	Answer
	// Undo takes the answer to a call back, where it was not used yet.
	Undo
)

// Update is the model after a message, and what is to be done.
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
	case Trouble:
		m.note = oneLine(string(x))
	case Time:
		m.now = time.Time(x)
		m, do = m.send(false)
	}
	return m.settle(), do
}

// paste takes text where text is typed. Elsewhere it presses no keys.
func (m Model) paste(text string) Model {
	switch {
	case m.editing:
		m = m.filterBy(m.filter + text)
	case m.message != nil:
		m = m.say(m.message.text + text)
	}
	return m
}

// add takes decisions, and forgets the oldest ones where there are too many.
func (m Model) add(lines []ledger.Line) Model {
	all := m.decisions
	tally := make(map[string]*counts, len(m.counts))
	for id, c := range m.counts {
		copied := *c
		tally[id] = &copied
	}
	for _, l := range lines {
		e := &l.Entry
		all = append(all, decision{l, strings.ToLower(strings.Join([]string{e.Effect.String(), e.Tool.String(), e.Session.String(), e.Role.String(), e.By.String(),
			e.Cwd.String(), e.Input.Text.String(), e.Reason.String()}, "\n"))})
		c := tally[e.Session.String()]
		if c == nil {
			c = &counts{}
			tally[e.Session.String()] = c
		}
		c.add(e)
	}
	if len(all) > maxDecisions {
		all = slices.Clone(all[len(all)-maxDecisions+dropped:])
	}
	m.decisions, m.counts = all, tally
	return m
}

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

// press is the model after a key.
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

// edit is the model after a key while a filter is typed.
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

// read is the model after a key while a text is shown.
func (m Model) read(key string) (Model, []Do) {
	switch key {
	case "q", "esc", "enter", "left", "h":
		m.detail = nil
		return m, nil
	}
	return m.scroll(key), nil
}

// scroll is the model after a key that moves the text that is shown.
func (m Model) scroll(key string) Model {
	if m.detail == nil {
		return m
	}
	d := *m.detail
	d.top = moved(key, d.top, m.rows(), len(d.lines))
	m.detail = &d
	return m.settle()
}

// moved is a place in n things of which rows are shown, after a key.
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

// remember notes which entry is selected. The end of the list of decisions is none: who
// stands there sees what comes.
func (m Model) remember() Model {
	keys := m.keys()
	l := &m.lists[m.tab]
	if l.key = ""; l.at < len(keys) && !(m.tab == decisionsTab && l.at == len(keys)-1) {
		l.key = keys[l.at]
	}
	return m
}

// settle moves the lists so that what is selected still is, and is shown.
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

// shown are the decisions that the filter lets through.
func (m Model) shown() []decision {
	if m.filter == "" {
		return m.decisions
	}
	want := strings.ToLower(m.filter)
	return slices.DeleteFunc(slices.Clone(m.decisions), func(d decision) bool { return !strings.Contains(d.text, want) })
}

// sessionRow is a session as the list shows it.
type sessionRow struct {
	Session
	counts
}

// sessionRows are the sessions, the one last heard of first.
func (m Model) sessionRows() []sessionRow {
	var out []sessionRow
	rows := map[string]bool{}
	for _, s := range m.sessions {
		rows[s.Registered.Session] = true
		row := sessionRow{Session: s}
		if c := m.counts[s.Registered.Session]; c != nil {
			row.counts = *c
		}
		out = append(out, row)
	}
	for id, c := range m.counts {
		if !rows[id] {
			out = append(out, sessionRow{Session{Registered: session.Registered{Session: id}}, *c})
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

// keys are the keys of the entries of the list that is shown.
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
			m.lists[m.tab].key = all[at].Entry.ID // it stays selected
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

// reopen wraps what is shown anew.
func (m Model) reopen() Model {
	if m.detail == nil {
		return m
	}
	old := m.detail
	m = m.open(old.title, old.text)
	m.detail.top, m.detail.call = old.top, old.call
	return m
}
