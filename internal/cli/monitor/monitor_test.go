package monitor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"cardea.dev"
	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/memory/ledger"
	"cardea.dev/internal/memory/session"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func text(s string) redact.Text { return redact.New().Text(s) }

// entry returns the entry number n of a session.
func entry(n int, e cardea.Effect, session, command string) ledger.Line {
	return ledger.Line{Genuine: true, Entry: ledger.Entry{ID: fmt.Sprintf("id%04d", n), Time: noon.Add(time.Duration(n) * time.Second), Event: text("PreToolUse"),
		Session: text(session), Tool: text("Bash"), Project: text("/home/liam/app"), Effect: e, Input: ledger.InputSummary{Text: text(command)}, By: text("rules:r")}}
}

// screen is a monitor under test.
type screen struct {
	t *testing.T
	Model
	// did holds the requested actions so far.
	did []Do
}

func start(t *testing.T, width, height int) *screen {
	s := &screen{t: t, Model: Model{Explain: func(l ledger.Line) string { return "all of " + l.Entry.Input.Text.String() },
		Describe: func(e *queue.Entry) string { return "all of " + e.Subject.String() + "\nand its parts" }}}
	s.send(Size{width, height}, Time(noon))
	return s
}

// send updates the model, and checks that the screen fits.
func (s *screen) send(messages ...any) (do []Do) {
	s.t.Helper()
	for _, m := range messages {
		s.Model, do = s.Model.Update(m)
		s.did = append(s.did, do...)
		s.fits()
	}
	return do
}

// keys presses keys, which are separated by blanks.
func (s *screen) keys(keys string) (do []Do) {
	s.t.Helper()
	for key := range strings.FieldsSeq(keys) {
		do = s.send(Key(key))
	}
	return do
}

// fits checks that the screen has the lines of the terminal, and no line is too wide.
func (s *screen) fits() {
	s.t.Helper()
	if s.width <= 0 || s.height <= 0 {
		return
	}
	lines := strings.Split(s.View(), "\n")
	if len(lines) != s.height {
		s.t.Errorf("%d lines on a screen of %d", len(lines), s.height)
	}
	for _, l := range lines {
		plain := ansi.Strip(l)
		if w := max(ansi.StringWidth(plain), ansi.StringWidthWc(plain)); w > s.width {
			s.t.Errorf("%d cells on a screen of %d: %q", w, s.width, l)
		}
		if strings.ContainsFunc(plain, func(r rune) bool {
			return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
		}) {
			s.t.Errorf("a line moves the cursor: %q", plain)
		}
	}
}

func (s *screen) shows(wants ...string) {
	s.t.Helper()
	for _, want := range wants {
		if got := ansi.Strip(s.View()); !strings.Contains(got, want) {
			s.t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func (s *screen) hides(what string) {
	s.t.Helper()
	if got := ansi.Strip(s.View()); strings.Contains(got, what) {
		s.t.Errorf("%q in\n%s", what, got)
	}
}

// selected returns the line with the mark.
func (s *screen) selected() string {
	for l := range strings.SplitSeq(ansi.Strip(s.View()), "\n") {
		if strings.HasPrefix(l, "> ") {
			return l
		}
	}
	return ""
}

func (s *screen) selects(want string) {
	s.t.Helper()
	if got := s.selected(); !strings.Contains(got, want) {
		s.t.Errorf("%q is selected, want %q", got, want)
	}
}

func many(from, n int) (out Decisions) {
	for i := range n {
		out = append(out, entry(from+i, cardea.Allow, "s1", fmt.Sprintf("echo n%d.", from+i)))
	}
	return out
}

func TestDecisions(t *testing.T) {
	s := start(t, 80, 24)
	s.shows("1 Decisions 0", "Nothing was decided yet")
	s.send(Decisions{entry(1, cardea.Deny, "s1", "git push -f"), entry(2, cardea.Allow, "s2", "ls")})
	s.shows("1 Decisions 2", "3 Sessions 2", "deny    12:00:01  s1        Bash       app         git push -f")
	s.selects("ls") // at the end, the list follows
	s.send(many(3, 50))
	s.selects("n52.")
	s.hides("git push")
	s.keys("k k")
	s.selects("n50.")
	s.send(many(53, 50))
	s.selects("n50.") // elsewhere, the selection stays
	s.keys("home")
	s.selects("git push")
	s.keys("pgdown")
	s.selects("n21.")
	s.keys("G")
	s.send(many(103, 1))
	s.selects("n103.")
	s.keys("k enter")
	s.shows("Decision id0102", "all of echo n102.")
	s.send(many(104, 5))
	s.keys("esc")
	s.selects("n102.")
	if do := s.keys("q"); len(do) != 1 || do[0].Kind != Quit {
		t.Error("q does not end it")
	}
}

// If the selected entry is no longer in memory, an existing one is selected.
func TestForgetting(t *testing.T) {
	s := start(t, 80, 24)
	s.send(many(1, 100))
	s.keys("home")
	for i := range 60 {
		s.send(many(101+i*100, 100))
	}
	if n := len(s.decisions); n > maxDecisions || n < maxDecisions-2*dropped {
		t.Errorf("%d decisions are kept", n)
	}
	s.selects(s.decisions[0].Entry.Input.Text.String())
	if c := s.counts["s1"]; c.allowed != 6100 {
		t.Errorf("%d are counted", c.allowed)
	}
}

func TestFilter(t *testing.T) {
	s := start(t, 80, 24)
	s.send(Decisions{entry(1, cardea.Deny, "s1", "git push -f"), entry(2, cardea.Allow, "s2", "ls q"), entry(3, cardea.Ask, "s1", "git clean")})
	s.keys("/ G i T")
	s.shows("/GiT", "git push", "git clean")
	s.hides("ls q")
	s.keys("space p backspace c q") // q is a letter here
	s.shows("Nothing has this text")
	s.keys("backspace enter")
	s.shows("only with: GiT c")
	s.selects("git clean")
	s.send(Decisions{entry(4, cardea.Deny, "s1", "git commit"), entry(5, cardea.Deny, "s1", "make")})
	s.selects("git commit")
	s.keys("esc")
	s.shows("ls q", "make")
	s.keys("/")
	s.send(Pasted("deny\nq\x1b[2J"))
	s.shows(`/deny\nq\u001b[2J`)
	s.keys("esc")
	s.send(Pasted("q")) // pasted text presses no keys
	s.keys("/")
	for range 300 {
		s.keys("x")
	}
	if len(s.filter) > maxFilter {
		t.Errorf("a filter of %d bytes", len(s.filter))
	}
}

func TestSessions(t *testing.T) {
	s := start(t, 80, 24)
	s.send(Sessions{
		{
			Registered: session.Registered{Session: "s1", Team: "alpha", Agents: []session.Registration{{Role: "coder", Task: "the login form\x1b[2J", RegisteredAt: noon, RegisteredBy: "person:liam"}}},
			Role:       "coder",
		},
		{Registered: session.Registered{Session: "s9", Disabled: noon, DisabledBy: "person:liam"}}},
		Decisions{entry(1, cardea.Deny, "s1", "a"), entry(2, cardea.Ask, "s1", "b"), entry(3, cardea.Halt, "s2", "c")})
	s.keys("tab tab")
	s.shows(">3 Sessions 3", "s1                   coder               0     1     1  12:00:02  app", "(off) -")
	s.selects("s2") // the most recent one
	s.keys("j enter")
	s.shows("Session s1", "Role:        coder", "Team:        alpha", `Task:        the login form\u001b[2J`, "as coder, 2026-11-20 12:00 by person:liam")
	s.keys("q 1")
	s.shows(">1 Decisions")
}

// No text of a call breaks the screen, at any size.
func TestHostileTexts(t *testing.T) {
	texts := []string{
		"\x1b[2J\x1b]0;title\x07\x1b[31mred",
		"a\nb\rc\td\x00e\x7f\u0085f",
		"\u202egnp.exe\u2066\u2069\u200f",
		strings.Repeat("漢字", 200),
		strings.Repeat("e\u0301\u0302\u0303\u0304", 50),
		strings.Repeat("\u0301", 500),
		"👩‍👩‍👧‍👦🇩🇪🏳️‍🌈👍🏽" + strings.Repeat("👩‍👧", 99),
		"\xff\xfe\xc3",
		strings.Repeat("ﷺ𒐫", 60),
		"שלום deny allow עולם",
		"\u2028\u2029\ufeff\U000e0041",
		strings.Repeat("x", 5000),
		"%!s(MISSING) %d",
		"ᄒ\u1161\u11ab\u115f\u3164\u2800",
	}
	for _, size := range []Size{{80, 24}, {40, 10}, {20, 6}, {9, 5}, {3, 4}, {1, 1}, {2, 2}, {200, 3}, {300, 80}, {0, 0}, {71, 24}, {72, 24}} {
		for _, colour := range []bool{false, true} {
			s := start(t, size.Width, size.Height)
			s.Colour = colour
			for i, x := range texts {
				l := entry(i, cardea.Ask, x, x)
				l.Entry.Tool, l.Entry.Project, l.Entry.Reason, l.Entry.By, l.Genuine = text(x), text("/"+x), text(x), text(x), i%2 == 0
				s.send(Decisions{l}, Issue(x))
				s.send(Sessions{{Registered: session.Registered{Session: x, Team: x}, Role: x}})
				s.send(Waiting{{ID: int64(i), Tool: x, Subject: text(x), Session: text(x), Project: text("/" + x)}})
				s.keys("enter down end esc tab enter pgdown d ä esc a esc tab enter esc tab / ä esc ?")
				s.send(SetUp(x))
				s.send(Challenge{ID: int64(i), Code: "k"}, Challenge{ID: int64(i), Err: fmt.Errorf("%s", x)})
				s.send(Size{size.Width + 7, size.Height + 1}, size)
				s.keys("esc")
				if line := Line(l, time.UTC, ""); strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x202e }) {
					t.Errorf("plain line %q", line)
				}
			}
		}
	}
}

// The notice about a changed set-up stays on the screen.
func TestSetUp(t *testing.T) {
	s := start(t, 80, 24)
	s.send(many(1, 50), SetUp("changed since you set the gate up: ~/.claude/settings.json\x1b[2J"))
	for _, keys := range []string{"k", "/ n enter", "enter", "esc 3", "?"} {
		s.keys(keys)
		s.shows(`! changed since you set the gate up: ~/.claude/settings.json\u001b[2J`)
	}
	s.keys("esc esc 1 home pgdown")
	s.selects("n20.") // one line fewer
	s.send(SetUp(""))
	s.hides("changed since")
}

// Without colours there are no escape sequences, and the information is the same.
func TestMonochrome(t *testing.T) {
	s := start(t, 80, 24)
	s.send(Decisions{entry(1, cardea.Deny, "s1", "a"), entry(2, cardea.Allow, "s2", "b")})
	plain := s.View()
	if strings.Contains(plain, "\x1b") {
		t.Errorf("%q", plain)
	}
	s.Colour = true
	if painted := s.View(); painted == plain || ansi.Strip(painted) != plain {
		t.Errorf("colours say something else:\n%s", ansi.Strip(painted))
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{{"abc", 8, "abc"}, {"  abcdefghij", 8, "  abcdef|  ghij"}, {"漢漢漢漢漢", 8, "漢漢漢漢|漢"}, {"", 8, ""}, {"         x", 8, "        | x"}} {
		if got := strings.Join(wrap(tt.text, tt.n), "|"); got != tt.want {
			t.Errorf("%q in %d: %q, want %q", tt.text, tt.n, got, tt.want)
		}
	}
}

// Doctor's own call is marked, since it is not an attack.
func TestProbeIsMarked(t *testing.T) {
	s := start(t, 100, 24)
	s.Probe = "probe"
	l := entry(1, cardea.Deny, "s1", "rm -rf /")
	l.Entry.AgentType = text("probe")
	s.send(Decisions{l, entry(2, cardea.Deny, "s1", "rm -rf ~")})
	s.shows("(doctor's probe) rm -rf /")
	s.hides("(doctor's probe) rm -rf ~")
}
