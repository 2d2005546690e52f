package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"cardea.dev"
	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/ask/queue/store"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/cli/monitor"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/memory/ledger"
)

// monitorCommand returns the command "monitor".
func monitorCommand(p Process) *cobra.Command {
	var f searchFlags
	var plain bool
	c := &cobra.Command{
		Use:   "monitor [flags] [text]",
		Short: "watch what is decided, while it is decided",
		Long: `Show what is decided, live: the decisions of all sessions, each with its parts and
who said what; the calls that wait for you, which you answer by keys; and the
sessions with their roles. The key ? shows all keys.

Where there is no screen, on a terminal of the type "dumb" and with --plain, it
writes a line for each decision instead, and never moves the cursor: for screen
readers, pipes and files. See docs/monitor.md.`,
		Example: `  cardea monitor
  cardea monitor --effect deny,ask --plain
  cardea monitor --json --last 0`,
		Args: atMostOneArgument,
	}
	fs := inOrder(c)
	fs.StringSliceVar(&f.effects, "effect", nil, "what was decided: allow, abstain, defer, ask, deny, halt; several with commas")
	fs.StringVar(&f.tool, "tool", "", "the tool, by its canonical name or a harness's")
	f.addWhere(fs)
	fs.IntVar(&f.limit, "last", 200, "begin with at most this many decisions")
	fs.BoolVar(&plain, "plain", false, "write lines, and redraw nothing")
	fs.BoolVar(&f.json, "json", false, "print one JSON object a line")
	c.RunE = func(c *cobra.Command, args []string) error {
		q, err := f.query(p, strings.Join(args, ""))
		if err != nil {
			return usageOf(c, err)
		}
		return watch(p, q, plain, f.json)
	}
	return c
}

// watch shows decisions until the person ends it.
func watch(p Process, q ledger.Query, plain, asJSON bool) error {
	d, err := registrarHere(p)
	if err != nil {
		return err
	}
	l, err := ledgerOf(p, d.Place, d.Loaded.Settings.Ledger)
	if err != nil {
		return err
	}
	last := q.Limit
	q.Limit = cmp.Or(last, 1)
	follower, first, err := l.Follow(q)
	if err != nil {
		p.warn(err.Error())
	}
	if last == 0 {
		first = nil
	}
	ctx, stop := untilEnded()
	defer stop()
	feed := &dataSource{process: p, registrar: d, follower: follower}
	defer feed.close()
	if asJSON || plain || !isTerminal(p.Stdin) || !isTerminal(p.Stdout) || p.Env("TERM") == "dumb" {
		return feed.lines(ctx, first, asJSON)
	}
	return feed.screen(ctx, first)
}

// dataSource is the source of what a monitor shows.
type dataSource struct {
	process   Process
	registrar sessionRegistrar
	follower  *ledger.Follower
	// sessionsAt is when the sessions were last read.
	sessionsAt time.Time
	// setUpAt is when the gate's set-up was last checked.
	setUpAt time.Time
	// told collects standard error while there is a screen.
	told remarks

	// mu protects the fields below: answers run while the source is read.
	mu sync.Mutex
	// queue is nil if it is not open. revision is the last one seen, queueAt the time of the
	// last read.
	queue    *store.Store
	revision int64
	queueAt  time.Time
}

// news holds what is new since the last call of next.
type news struct {
	decisions []ledger.Line
	sessions  []monitor.SessionRow
	waiting   []queue.Entry
	// entries holds new and changed entries of the queue.
	entries []queue.Entry
	// setUp describes what changed in the gate's set-up, or "".
	setUp string
	// hasSessions, hasQueue and hasSetUp are set if these were read.
	hasSessions, hasQueue, hasSetUp bool
	// more reports whether more decisions wait.
	more bool
	err  error
}

// next returns what is new. It does not wait.
func (f *dataSource) next() news {
	var n news
	n.decisions, n.more, n.err = f.follower.Next()
	if now := f.process.Now(); now.Sub(f.sessionsAt) >= limit.MonitorSessions {
		f.sessionsAt, n.hasSessions = now, true
		all, problems := f.registrar.Place.Store.AllRegistered(now)
		n.err = errors.Join(n.err, errors.Join(problems...))
		for _, r := range all {
			main, _ := r.Agent("")
			n.sessions = append(n.sessions, monitor.SessionRow{Registered: r, Role: cmp.Or(main.Role, f.registrar.Loaded.Settings.Sessions.DefaultRole)})
		}
	}
	n.err = errors.Join(n.err, f.look(&n), f.lookAtSetUp(&n), f.told.take())
	return n
}

// lookAtSetUp checks whether the gate changed since the person set it up.
func (f *dataSource) lookAtSetUp(n *news) error {
	now := f.process.Now()
	if now.Sub(f.setUpAt) < limit.MonitorSetUp {
		return nil
	}
	f.setUpAt, n.hasSetUp = now, true
	d, err := registrarHere(f.process) // settings and rules may be new
	if err != nil {
		return err
	}
	n.setUp = strings.Join(listOf(hook.SetUpChanges(harnessPathsOf(f.process).At, d.Loaded), cardea.Issue.Error), "; ")
	return nil
}

// remarks collects standard error while a screen is drawn, to show it as a note.
type remarks struct {
	mu   sync.Mutex
	text string
}

// Write adds a remark.
func (r *remarks) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text += string(p)
	return len(p), nil
}

// take returns and clears the remarks, nil for none.
func (r *remarks) take() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.text == "" {
		return nil
	}
	err := errors.New(strings.Join(strings.Fields(r.text), " "))
	r.text = ""
	return err
}

// look reads the queue's changes. At intervals it reads the whole queue, since waiting
// calls expire.
func (f *dataSource) look(n *news) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	ctx := context.Background()
	first := f.queue == nil
	if err := f.open(); err != nil {
		return err
	}
	after := f.revision
	if first {
		after = math.MaxInt64 // no changes, only the current revision
	}
	changed, revision, err := f.queue.Since(ctx, after)
	if err != nil {
		f.shut()
		return err
	}
	f.revision, n.entries = revision, changed
	now := f.process.Now()
	if !first && len(changed) == 0 && now.Sub(f.queueAt) < limit.MonitorSessions {
		return nil
	}
	f.queueAt, n.hasQueue = now, true
	if n.waiting, err = f.queue.Pending(ctx); err != nil {
		f.shut()
	}
	if first {
		n.entries = n.waiting
	}
	return err
}

// open opens the queue unless it is open.
func (f *dataSource) open() (err error) {
	if f.queue == nil {
		_, f.queue, err = queueHere(f.process)
	}
	return err
}

// shut closes the queue. It is opened again later, since its file may have been replaced.
func (f *dataSource) shut() {
	if f.queue != nil {
		_ = f.queue.Close() // all writes are done
		f.queue = nil
	}
}

func (f *dataSource) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shut()
}

// check checks that a person types, and returns a new key for them to type.
func (f *dataSource) check(id int64) monitor.Challenge {
	return monitor.Challenge{ID: id, Code: f.process.Code()[:1], Err: f.process.needsPerson()}
}

// inQueue runs a function on the queue for a person, and returns the result as text.
func (f *dataSource) inQueue(do func() string) string {
	if err := f.process.needsPerson(); err != nil {
		return err.Error()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.open(); err != nil {
		return err.Error()
	}
	return do()
}

// answer gives an answer, as "cardea queue approve" and "cardea queue deny" do, and returns
// the result as text.
func (f *dataSource) answer(do monitor.Do) string {
	return f.inQueue(func() string {
		var told strings.Builder
		p := f.process
		p.Stdin, p.Stdout, p.Stderr = strings.NewReader(""), &told, &told
		err := p.answerEntries(f.queue, []int64{do.ID}, do.Effect, answerFlags{message: do.Message, confirmed: true, via: "monitor"})
		if err != nil && !errors.As(err, new(ended)) {
			return err.Error()
		}
		return strings.Join(strings.Fields(told.String()), " ")
	})
}

// undo takes an answer back, and returns whether that worked as text.
func (f *dataSource) undo(id int64) string {
	return f.inQueue(func() string {
		switch _, done, err := f.queue.Undo(context.Background(), id); {
		case err != nil:
			return err.Error()
		case !done:
			return fmt.Sprintf("the answer to call %d was used already", id)
		}
		return fmt.Sprintf("call %d waits again; what was remembered stays, see \"cardea lessons list\"", id)
	})
}

// lines writes a line for each decision, until ctx ends.
func (f *dataSource) lines(ctx context.Context, first []ledger.Line, asJSON bool) error {
	show := func(lines []ledger.Line) error {
		for _, l := range lines {
			if asJSON {
				if err := encode(f.process, l); err != nil {
					return err
				}
				continue
			}
			if _, err := fmt.Fprintln(f.process.Stdout, monitor.Line(l, f.process.Now().Location(), install.ProbeAgent)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := show(first); err != nil {
		return err
	}
	told, setUp := "", ""
	for {
		n := f.next()
		if n.hasSetUp && n.setUp != setUp {
			if setUp = n.setUp; setUp != "" {
				f.process.warn(setUp)
			}
		}
		if n.err != nil && n.err.Error() != told { // the error may persist
			told = n.err.Error()
			f.process.warn(told)
		}
		if err := show(n.decisions); err != nil {
			return err
		}
		if !asJSON {
			for i := range n.entries {
				if _, err := fmt.Fprintln(f.process.Stdout, monitor.Waits(&n.entries[i], f.process.Now())); err != nil {
					return err
				}
			}
		}
		if n.more {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(limit.MonitorLook):
		}
	}
}

// screen draws until the person ends it.
func (f *dataSource) screen(ctx context.Context, first []ledger.Line) error {
	f.process.Stderr = &f.told // no other output may reach the screen
	m := monitor.Model{Colour: f.process.Env("NO_COLOR") == "", Zone: f.process.Now().Location(), Explain: f.explain, Describe: f.describe, Probe: install.ProbeAgent}
	m, _ = m.Update(monitor.Decisions(first))
	m, _ = m.Update(monitor.Time(f.process.Now()))
	program := tea.NewProgram(drawn{m, f}, tea.WithContext(ctx), tea.WithInput(f.process.Stdin), tea.WithOutput(f.process.Stdout), tea.WithoutSignalHandler())
	_, err := program.Run()
	if ctx.Err() != nil {
		return nil // the person ended it
	}
	return err
}

// explain returns an entry as "cardea explain" shows it.
func (f *dataSource) explain(l ledger.Line) string {
	var b strings.Builder
	f.process.showEntry(&screen{w: &b}, l)
	return b.String()
}

// describe returns a waiting call as "cardea queue" shows it.
func (f *dataSource) describe(e *queue.Entry) string {
	var b strings.Builder
	showEntry(&screen{w: &b}, e, f.process.Now())
	return b.String()
}

// drawn is the monitor as a model of Bubble Tea.
type drawn struct {
	monitor.Model
	feed *dataSource
}

// Init starts the first look for news.
func (d drawn) Init() tea.Cmd { return d.look }

func (d drawn) look() tea.Msg { return d.feed.next() }

// Update converts messages for the monitor's model.
func (d drawn) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	var do []monitor.Do
	switch x := message.(type) {
	case tea.WindowSizeMsg:
		d.Model, do = d.Model.Update(monitor.Size{Width: x.Width, Height: x.Height})
	case tea.KeyPressMsg:
		d.Model, do = d.Model.Update(monitor.Key(x.String()))
	case tea.PasteMsg:
		d.Model, do = d.Model.Update(monitor.Pasted(x.Content))
	case monitor.Challenge, monitor.Issue:
		d.Model, do = d.Model.Update(x)
	case news:
		return d.take(x)
	}
	return d, d.carryOut(do)
}

// carryOut runs the actions that the model requests, in order.
func (d drawn) carryOut(all []monitor.Do) tea.Cmd {
	var out []tea.Cmd
	for _, do := range all {
		switch do.Kind {
		case monitor.Quit:
			out = append(out, tea.Quit)
		case monitor.Check:
			out = append(out, func() tea.Msg { return d.feed.check(do.ID) })
		case monitor.Answer:
			out = append(out, func() tea.Msg { return monitor.Issue(d.feed.answer(do)) })
		case monitor.Undo:
			out = append(out, func() tea.Msg { return monitor.Issue(d.feed.undo(do.ID)) })
		}
	}
	return tea.Sequence(out...)
}

// take shows the news, and schedules the next look.
func (d drawn) take(n news) (tea.Model, tea.Cmd) {
	var do []monitor.Do
	d.Model, do = d.Model.Update(monitor.Time(d.feed.process.Now()))
	tell := func(came bool, message any) {
		if came {
			d.Model, _ = d.Model.Update(message)
		}
	}
	tell(len(n.decisions) > 0, monitor.Decisions(n.decisions))
	tell(n.hasQueue, monitor.Waiting(n.waiting))
	tell(n.hasSetUp, monitor.SetUp(n.setUp))
	tell(n.hasSessions, monitor.Sessions(n.sessions))
	if n.err != nil {
		tell(true, monitor.Issue(n.err.Error()))
	}
	if n.more {
		return d, tea.Batch(d.carryOut(do), d.look)
	}
	return d, tea.Batch(d.carryOut(do), tea.Tick(limit.MonitorLook, func(time.Time) tea.Msg { return d.feed.next() }))
}

// View returns the screen.
func (d drawn) View() tea.View {
	v := tea.NewView(d.Model.View())
	v.AltScreen, v.WindowTitle = true, "cardea monitor"
	return v
}
