package monitor

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/memory/ledger"
)

// help is the text for the key "?".
const help = `Tab, 1, 2, 3     the lists: decisions, queue, sessions
Up, Down, j, k   one up or down
PgUp, PgDn       a screen up or down
Home, End, g, G  the first, the last. At the last decision the list follows what comes
Enter            show all of the entry
a                in the queue: allow the call, with a key that is shown
d                in the queue: deny it, with a message for the model
u                take the last answer back
Esc, q           back
/                show only what has a text: a command, session, role, rule, effect
q, Ctrl+C        end`

// style is an emphasis, as a parameter of the terminal's SGR sequence.
type style string

const (
	bold    style = "1"
	faint   style = "2"
	reverse style = "7"
	red     style = "31"
	green   style = "32"
	yellow  style = "33"
)

// paint returns text in a style, or as it is without colours.
func (m Model) paint(s style, text string) string {
	if !m.Colour || s == "" || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// styleOf returns the style of an effect. The effect's word has the same information.
func styleOf(e cardea.Effect) style {
	switch {
	case e == cardea.Allow:
		return green
	case e == cardea.Ask || e == cardea.Defer:
		return yellow
	case e.Stricter(cardea.Ask):
		return red
	}
	return faint
}

// The numbers of lines above and below a list: tabs and column names, notes and keys.
const above, below = 2, 2

// rows returns the number of lines of a list.
func (m Model) rows() int {
	rows := m.height - above - below
	if m.setUp != "" {
		rows--
	}
	return max(0, rows)
}

// View returns the screen: exactly as many lines as the terminal has, none wider than it.
func (m Model) View() string {
	if m.width <= 0 || m.height <= 0 {
		return ""
	}
	lines := []string{m.head(), ""}
	var body []string
	if m.detail != nil {
		lines[1] = m.paint(bold, fit(m.detail.title, m.width))
		body = m.detail.lines[min(m.detail.top, len(m.detail.lines)):]
	} else {
		names, list := m.list()
		lines[1] = m.paint(faint, fit(names, m.width))
		body = list
	}
	for i := range m.rows() {
		line := ""
		if i < len(body) {
			line = body[i]
		}
		lines = append(lines, line)
	}
	if m.setUp != "" {
		lines = append(lines, m.paint(red, fit("! "+m.setUp, m.width)))
	}
	lines = append(lines, m.notes(), m.paint(faint, fit(m.keysHelp(), m.width)))
	if len(lines) > m.height { // the content matters more than the headings
		lines = lines[len(lines)-m.height:]
	}
	return strings.Join(lines, "\n")
}

// head returns the line with the lists and their numbers of entries.
func (m Model) head() string {
	names := [tabs]string{decisionsTab: fmt.Sprintf("1 Decisions %d", len(m.decisions)), queueTab: fmt.Sprintf("2 Queue %d", len(m.waiting)),
		sessionsTab: fmt.Sprintf("3 Sessions %d", len(m.allSessions()))}
	var b strings.Builder
	left := m.width
	for t, name := range names {
		mark := " "
		if tab(t) == m.tab {
			mark = ">"
		}
		text := fit(mark+name+"  ", left)
		left -= cells(text)
		switch {
		case tab(t) == m.tab:
			text = m.paint(bold, text)
		case tab(t) == queueTab && len(m.waiting) > 0:
			text = m.paint(yellow, text)
		}
		b.WriteString(text)
	}
	if clock := m.clock(m.now); left > len(clock) && !m.now.IsZero() {
		b.WriteString(strings.Repeat(" ", left-len(clock)) + clock)
	}
	return b.String()
}

func (m Model) allSessions() []sessionRow {
	m.filter = ""
	return m.sessionRows()
}

func (m Model) zone() *time.Location {
	if m.Zone == nil {
		return time.UTC
	}
	return m.Zone
}

func (m Model) clock(t time.Time) string { return t.In(m.zone()).Format("15:04:05") }

// notes returns the line for typed text and for errors.
func (m Model) notes() string {
	switch {
	case m.challenge != nil:
		return m.paint(bold, fit(fmt.Sprintf("type %s to allow call %d: %s", m.challenge.Code, m.challenge.ID, m.challenge.typed), m.width))
	case m.message != nil:
		return m.typing(fmt.Sprintf("deny %d, message: ", m.message.id) + m.message.text)
	case m.editing:
		return m.typing("/" + m.filter)
	case m.note != "":
		return m.paint(yellow, fit(m.note, m.width))
	case m.filter != "":
		return m.paint(bold, fit("only with: "+m.filter+"  (Esc shows all)", m.width))
	}
	return ""
}

// typing returns a line in which the person types. A long text shows its end.
func (m Model) typing(text string) string {
	for cells(text) > m.width-1 && text != "" {
		text = strings.TrimPrefix(text, string([]rune(text)[0]))
	}
	return text + m.paint(reverse, " ")
}

// keysHelp returns the line with the keys that work now.
func (m Model) keysHelp() string {
	switch {
	case m.challenge != nil:
		return "any other key leaves it unanswered  PgUp PgDn scroll"
	case m.message != nil:
		return "Enter denies  Esc leaves it unanswered"
	case m.editing:
		return "Enter keeps the filter  Esc shows all"
	case m.detail != nil:
		if from, to, n := m.detail.top, m.detail.top+m.rows(), len(m.detail.lines); n > m.rows() {
			return m.answerKeys() + fmt.Sprintf("Esc back  PgUp PgDn scroll  lines %d to %d of %d", from+1, min(to, n), n)
		}
		return m.answerKeys() + "Esc back"
	}
	return m.answerKeys() + "Enter show  / filter  Tab next list  ? keys  q end"
}

// answerKeys returns the keys for waiting calls.
func (m Model) answerKeys() string {
	if m.tab != queueTab || len(m.waiting) == 0 {
		return ""
	}
	return "a allow  d deny  u undo  "
}

// list returns the names of the columns and the lines of the visible list.
func (m Model) list() (names string, lines []string) {
	l := m.lists[m.tab]
	cut := func(n int) (from, to int) { return min(l.top, n), min(l.top+m.rows(), n) }
	row := func(i int, s style, mark, rest string) {
		line := "  "
		if i == l.at {
			line = "> "
		}
		mark, rest = fit(mark, max(0, m.width-2)), fit(rest, max(0, m.width-2-cells(mark)))
		if i == l.at {
			lines = append(lines, m.paint(bold, fit(line, m.width))+m.paint(cmp.Or(s, bold), mark)+m.paint(bold, rest))
			return
		}
		lines = append(lines, fit(line, m.width)+m.paint(s, mark)+rest)
	}
	switch m.tab {
	case decisionsTab:
		all := m.shown()
		from, to := cut(len(all))
		for i, d := range all[from:to] {
			e := &d.Entry
			row(from+i, styleOf(e.Effect), column(e.Effect.String(), 8), m.decided(d.Line))
		}
		return "  effect  " + m.row("tool", "time", "session", "tool", "folder", "call"), m.orNone(lines, "Nothing was decided yet. What is decided from now on comes here.")
	case queueTab:
		all := m.waitingRows()
		from, to := cut(len(all))
		for i := range all[from:to] {
			e := &all[from+i]
			s, state := yellow, ""
			if h := m.answerOf(e.ID); h != nil {
				s, state = styleOf(h.Effect), "("+verb(h.Effect)+") "
			}
			row(from+i, s, column(fmt.Sprint(e.ID), 6), state+m.waits(e))
		}
		return "  call  " + m.row("left", "left", "session", "tool", "folder", "call"), m.orNone(lines, "Nothing waits for you.")
	case sessionsTab:
		all := m.sessionRows()
		from, to := cut(len(all))
		for i, s := range all[from:to] {
			row(from+i, "", column(oneLine(s.Registered.Session), 20)+" ", s.line(m))
		}
		return "  session              role             allow   ask  deny  last      project", m.orNone(lines, "No session is registered, and none was heard of yet.")
	}
	return "", nil
}

// orNone returns the lines of a list, or why it is empty.
func (m Model) orNone(lines []string, why string) []string {
	switch {
	case len(lines) > 0:
		return lines
	case m.filter != "":
		why = "Nothing has this text."
	}
	return wrap(why, m.width)
}

// narrow reports whether the screen is too narrow for all columns.
func (m Model) narrow() bool { return m.width < 72 }

// row returns a line about a call, or the column names. On a narrow screen the line has
// only short and text.
func (m Model) row(short, first, session, tool, folder, text string) string {
	if m.narrow() {
		return column(short, 6) + " " + text
	}
	return column(first, 8) + "  " + column(session, 8) + "  " + column(tool, 9) + "  " + column(folder, 10) + "  " + text
}

// decided returns a decision as a line, after its effect. The call is last, since
// right-to-left text may reorder what follows in some terminals.
func (m Model) decided(l ledger.Line) string {
	e := &l.Entry
	text := oneLine(e.Input.Text.String())
	if isProbe(e, m.Probe) {
		text = "(doctor's probe) " + text
	}
	if !l.Genuine {
		text = "(not as the ledger wrote it) " + text
	}
	tool := oneLine(e.Tool.String())
	return m.row(tool, m.clock(e.Time), oneLine(e.Session.String()), tool, folderOf(e), text)
}

// waits returns a waiting call as a line, after its number. Its command is last.
func (m Model) waits(e *queue.Entry) string {
	left := "-" // a ticket has no deadline
	if !e.Ticket {
		left = max(0, e.Deadline.Sub(m.now)).Round(time.Second).String()
	}
	return m.row(left, left, oneLine(e.Session.String()), oneLine(e.Tool), baseOf(cmp.Or(e.Project.String(), "-")), oneLine(e.Subject.String()))
}

// Waits returns a queue entry and its result as a separate line.
func Waits(e *queue.Entry, now time.Time) string {
	switch {
	case e.State == queue.Answered && e.Answer != nil:
		return fmt.Sprintf("%s call %d %s", now.Format("15:04:05"), e.ID, oneLine(e.Answer.Text()))
	case e.State != queue.Pending:
		return fmt.Sprintf("%s call %d was denied, since nobody answered in time", now.Format("15:04:05"), e.ID)
	}
	return fmt.Sprintf("%s call %d waits for you, %s in %s: %s (answer with \"cardea queue approve %d\" or \"cardea queue deny %d\")", now.Format("15:04:05"), e.ID,
		oneLine(e.Tool), baseOf(cmp.Or(e.Project.String(), "-")), oneLine(e.Subject.String()), e.ID, e.ID)
}

// folderOf returns the name of a call's folder: its project's, or its own.
func folderOf(e *ledger.Entry) string { return baseOf(cmp.Or(e.Project.String(), e.Cwd.String(), "-")) }

func baseOf(folder string) string { return oneLine(path.Base(filepath.ToSlash(folder))) }

func (s sessionRow) line(m Model) string {
	role := cmp.Or(s.Role, "-")
	if s.IsDisabled() {
		role = "(off) " + role
	}
	last := "-"
	if !s.last.IsZero() {
		last = m.clock(s.last)
	}
	return fmt.Sprintf("%s %5d %5d %5d  %-8s  %s", column(oneLine(role), 15), s.allowed, s.asked, s.denied, last, baseOf(cmp.Or(s.project, "-")))
}

// describe returns the details of a session.
func (s sessionRow) describe(zone *time.Location) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-12s %s\n", name+":", oneLine(value))
		}
	}
	when := func(t time.Time) string { return t.In(zone).Format("2006-01-02 15:04") }
	line("Session", s.Registered.Session)
	line("Role", cmp.Or(s.Role, "none"))
	line("Team", s.Team)
	line("Project", s.project)
	if s.IsDisabled() {
		line("Disabled", "since "+when(s.Disabled)+" by "+s.DisabledBy)
	}
	for _, a := range s.Agents {
		who := "Registered"
		if a.Agent != "" {
			who = "Agent"
		}
		what := a.Role
		if a.Lead {
			what += ", a lead of its team"
		}
		line(who, strings.TrimSpace(fmt.Sprintf("%s as %s, %s by %s", a.Agent, what, when(a.RegisteredAt), a.RegisteredBy)))
		line("Task", a.Task)
	}
	line("Seen here", fmt.Sprintf("%d allowed, %d asked, %d denied, %d left to the harness", s.allowed, s.asked, s.denied, s.left))
	return b.String()
}

// isProbe reports whether an entry is a call of doctor, whose agent has the type probe.
func isProbe(e *ledger.Entry, probe string) bool {
	return probe != "" && e.AgentType.String() == probe
}

// Line returns a decision as a separate line, for use without a screen and for screen
// readers. probe is the agent type of doctor's own calls.
func Line(l ledger.Line, zone *time.Location, probe string) string {
	e := &l.Entry
	text := fmt.Sprintf("%s %s, %s in %s", e.Time.In(zone).Format("15:04:05"), e.Effect, oneLine(e.Tool.String()), folderOf(e))
	if by := e.By.String(); by != "" {
		text += ", by " + oneLine(by)
	}
	if isProbe(e, probe) {
		text += ", doctor's probe"
	}
	if !l.Genuine {
		text += ", not as the ledger wrote it"
	}
	return text + ", entry " + e.ID + ": " + oneLine(e.Input.Text.String())
}
