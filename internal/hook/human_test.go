package hook

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/harness/claudecode"
)

// replies is a queue that gives one reply.
type replies struct {
	reply queue.Reply
	err   error
	asked *queue.Request
}

func (r replies) Ask(_ context.Context, q queue.Request) (queue.Reply, error) {
	if r.asked != nil {
		*r.asked = q
	}
	return r.reply, r.err
}

// waitingCall returns the evaluation of a call, with settings that hold calls in the queue.
func waitingCall(t *testing.T, mode string, q queue.Asker, ev *cardea.Event) *Evaluation {
	t.Helper()
	j := &Evaluation{process: Process{Queue: q, Now: time.Now, Env: func(string) string { return "" }}, Event: ev, Loaded: &inforce.Loaded{}, Place: Location{State: t.TempDir()}}
	j.Loaded.Settings.Values = settings.Defaults()
	j.Loaded.Settings.Human.Mode = mode
	return j
}

func eventOf(kind cardea.Kind, mode cardea.Mode, a cardea.Attendance) *cardea.Event {
	return &cardea.Event{Kind: kind, Harness: claudecode.Name, Session: "s1", Mode: mode, Attendance: a, Cwd: "/w", Project: "/w",
		Call: &cardea.Call{Tool: "Bash", Name: "Bash", Known: true, Input: map[string]any{"command": "make x"}, Parts: []cardea.Part{{ShellFacts: cardea.ShellFacts{Text: "make x"}}}}}
}

// TestAsksQueue checks which calls wait, and where.
func TestAsksQueue(t *testing.T) {
	const pre, asked = cardea.PreToolUse, cardea.PermissionRequest
	const attends, unsaid, nobody = cardea.PersonAttends, cardea.AttendanceUnsaid, cardea.NobodyAttends
	for _, tt := range []struct {
		setting string
		kind    cardea.Kind
		mode    cardea.Mode
		who     cardea.Attendance
		// want lists the effects that wait.
		want string
	}{
		{settings.ByHarness, asked, cardea.ModeDefault, attends, ""},
		{settings.ByQueue, pre, cardea.ModeDefault, attends, ""}, // the permission request follows
		{settings.ByQueue, pre, cardea.ModeDefault, unsaid, ""},
		{settings.ByQueue, asked, cardea.ModeDefault, attends, "abstain defer ask"},
		{settings.ByQueue, pre, cardea.ModeDefault, nobody, "abstain defer ask"}, // a ticket
		{settings.ByQueue, pre, cardea.ModeBypass, unsaid, "abstain defer ask"},
		{settings.ByQueue, pre, cardea.ModeDontAsk, unsaid, "abstain defer ask"},
		{settings.ByBoth, pre, cardea.ModeDefault, attends, ""},
		{settings.ByBoth, asked, cardea.ModeDefault, attends, "abstain defer ask"},
		{settings.ByBoth, pre, cardea.ModeBypass, unsaid, "ask"},
		{settings.ByBoth, pre, cardea.ModeDefault, nobody, "ask"},
		{settings.ByQueue, "PostToolUse", cardea.ModeDefault, attends, ""},
	} {
		j := waitingCall(t, tt.setting, replies{}, eventOf(tt.kind, tt.mode, tt.who))
		var got []string
		for _, e := range cardea.Effects() {
			if j.asksQueue(cardea.Verdict{Effect: e}, claudecode.Adapter{}.Capabilities()) {
				got = append(got, e.String())
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s, %s in mode %s, %v: %v wait, not %q", tt.setting, tt.kind, tt.mode, tt.who, got, tt.want)
		}
	}
	// A question to the person, a session in which the gate is off, and edits that the person accepted.
	j := waitingCall(t, settings.ByQueue, replies{}, eventOf(asked, cardea.ModeDefault, attends))
	j.Event.Call.Tool = "AskUserQuestion"
	if j.asksQueue(cardea.Verdict{Effect: cardea.Ask}, claudecode.Adapter{}.Capabilities()) {
		t.Error("a question to the person waits for them elsewhere")
	}
	j = waitingCall(t, settings.ByQueue, replies{}, eventOf(asked, cardea.ModeDefault, attends))
	j.identity.disabled = true
	if j.asksQueue(cardea.Verdict{Effect: cardea.Ask}, claudecode.Adapter{}.Capabilities()) {
		t.Error("a disabled session waits")
	}
	j = waitingCall(t, settings.ByQueue, replies{}, eventOf(pre, cardea.ModeAcceptEdits, attends))
	j.Event.Call.EditsFiles = true
	for e, want := range map[cardea.Effect]bool{cardea.Abstain: false, cardea.Ask: true} {
		if got := j.asksQueue(cardea.Verdict{Effect: e}, claudecode.Adapter{}.Capabilities()); got != want {
			t.Errorf("an accepted edit at %s: %v", e, got)
		}
	}
}

// The queue's reply decides a call. No failure lets it run.
func TestAskPerson(t *testing.T) {
	text := redact.New().Text
	entry := func(ticket bool) *queue.Entry { return &queue.Entry{ID: 7, Ticket: ticket} }
	for name, tt := range map[string]struct {
		q           replies
		queue, both cardea.Effect
		says        string
	}{
		"nobody":  {replies{reply: queue.Reply{Entry: entry(false), TimedOut: true}}, cardea.Deny, cardea.Ask, timedOut},
		"failure": {replies{reply: queue.Reply{Failure: "the disk is full"}}, cardea.Deny, cardea.Ask, "the disk is full"},
		"error":   {replies{err: errors.New("no engine")}, cardea.Deny, cardea.Ask, "no engine"},
		"nothing": {replies{}, cardea.Deny, cardea.Ask, timedOut},
		"ticket":  {replies{reply: queue.Reply{Entry: entry(true)}}, cardea.Deny, cardea.Deny, "ticket 7"},
		"granted": {
			replies{reply: queue.Reply{Entry: entry(true), Granted: true, Answer: &queue.Resolution{Effect: cardea.Allow, Who: text("liam"), Via: "terminal"}}},
			cardea.Allow,
			cardea.Allow,
			"approved by liam",
		},
		"denied": {replies{reply: queue.Reply{Entry: entry(false), Answer: &queue.Resolution{Effect: cardea.Deny, Message: text("not today")}}}, cardea.Deny, cardea.Deny, "not today"},
		// An allow for an entry with another digest.
		"another call": {replies{reply: queue.Reply{Entry: entry(false), Answer: &queue.Resolution{Effect: cardea.Allow}}}, cardea.Deny, cardea.Deny, "changed"},
	} {
		for mode, want := range map[string]cardea.Effect{settings.ByQueue: tt.queue, settings.ByBoth: tt.both} {
			ev := eventOf(cardea.PermissionRequest, cardea.ModeDefault, cardea.PersonAttends)
			j := waitingCall(t, mode, tt.q, ev)
			h := New(j.process, CheckFlags{Harness: claudecode.Name, Limit: 20 * time.Second})
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			v := h.askPerson(ctx, j, cardea.Verdict{Effect: cardea.Ask, Reason: "R", Parts: []cardea.Effect{cardea.Ask}}, *h.progress.Load())
			cancel()
			told := v.Reason
			for _, issue := range v.Issues {
				told += issue.Error()
			}
			if v.Effect != want || want != cardea.Ask && !strings.Contains(told, tt.says) {
				t.Errorf("%s, %s: %s %q; want %s", name, mode, v.Effect, told, want)
			}
			if p := h.progress.Load(); p.answer == nil || mode == settings.ByQueue && p.answer.Effect != cardea.Deny {
				t.Errorf("%s, %s: while it waits, a watchdog would not deny", name, mode)
			}
		}
	}
}

// A call waits no longer than its hook lives.
func TestWaitEndsBeforeTheHook(t *testing.T) {
	for _, left := range []time.Duration{200 * time.Millisecond, 4 * time.Second, 70 * time.Second, time.Hour} {
		var asked queue.Request
		j := waitingCall(t, settings.ByQueue, replies{asked: &asked}, eventOf(cardea.PermissionRequest, cardea.ModeDefault, cardea.PersonAttends))
		ctx, cancel := context.WithTimeout(context.Background(), left)
		if _, err := j.hold(ctx, cardea.Verdict{Effect: cardea.Ask}, claudecode.Adapter{}.Capabilities(), redact.New()); err != nil {
			t.Fatal(err)
		}
		cancel()
		wait := asked.Hold.Deadline.Sub(asked.Hold.Created)
		if wait <= 0 || wait > min(left, time.Minute) || asked.Left < wait && left < time.Minute || asked.Left >= left {
			t.Errorf("with %s left it waits %s, and the engine has %s", left, wait, asked.Left)
		}
	}
}
