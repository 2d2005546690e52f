package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/ask/queue/store"
	"cardea.dev/internal/base/person"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/hook"
	"github.com/spf13/cobra"
)

// queueCommand returns the command "queue".
func queueCommand(p Process) *cobra.Command {
	watch := false
	c := withJSON(&cobra.Command{
		Use:   "queue [--watch] [--json]",
		Short: "show the calls that wait for you, and answer them",
		Long: `Show the calls that wait for a person. On a terminal of your own each is shown with
everything that is known of it, and you answer by a key and Enter:

  a    allow               a+r  allow, and write a rule
  d    deny                d+r  deny, and write a rule
  ?    always ask          ?+r  write a rule that asks
  a+1  allow this time     d+1  deny this time
  s    skip                q    quit

Where no rule decided, a and d are remembered: the same call is decided alike from
then on. The answer says so, and how to take it back.

Of a call that a rule or lesson always asks about: a allows it this time, d denies it
this time, downgrade makes a lesson "ask" one that allows or denies from now on. What
you type behind a key is a message for the model: "d use the staging database".

The settings human.* say which calls wait here. See docs/queue.md.`,
		Example: "  cardea queue\n  cardea queue --watch --json",
		Args:    noArguments,
	}, func(_ []string, asJSON bool) error { return showQueue(p, watch, asJSON) })
	c.Flags().BoolVar(&watch, "watch", false, "show each change as it comes, until it is interrupted")
	c.AddCommand(approveCommand(p), denyCommand(p))
	return c
}

// queueHere opens the user's queue.
func queueHere(p Process) (sessionRegistrar, *store.Store, error) {
	d, err := registrarHere(p)
	if err != nil {
		return d, nil, err
	}
	if d.Place.State == "" {
		return d, nil, errors.New("there is no state folder for the queue; set HOME or XDG_STATE_HOME")
	}
	s, err := store.Open(d.Place.State, p.Now)
	if err == nil && s.Moved() != "" {
		p.warn("the queue was damaged; what waited in it is denied. It was moved to " + s.Moved())
	}
	return d, s, err
}

// shownEntry is the JSON of an entry.
type shownEntry struct {
	queue.Entry
	// Abandoned is the result of [queue.Entry.Abandoned].
	Abandoned bool `json:"abandoned"`
}

func shownOf(e queue.Entry) shownEntry { return shownEntry{e, e.Abandoned()} }

// showQueue shows the waiting calls, and at a terminal lets the person answer them.
func showQueue(p Process, watch, asJSON bool) error {
	d, s, err := queueHere(p)
	if err != nil {
		return err
	}
	defer s.Close()
	if watch {
		return watchQueue(p, s, asJSON)
	}
	all, err := s.Pending(context.Background())
	if err != nil {
		return err
	}
	if !asJSON && len(all) > 0 && p.attended() {
		return p.talk(d, s)
	}
	return p.answer(asJSON, struct {
		Entries []shownEntry `json:"entries"`
	}{listOf(all, shownOf)}, func(out *screen) {
		if len(all) == 0 {
			out.printf("nothing waits for you\n")
			out.printIf(!d.Loaded.Settings.Human.Queues(), "%s\n", painted{faint, "questions go to the harness's own prompt (human.mode: harness)"})
		}
		for i := range all {
			showEntryLine(out, &all[i], p.Now())
		}
		out.printIf(len(all) > 0, "%s\n", painted{faint, "answer with \"cardea queue approve ID\" or \"cardea queue deny ID\" in a terminal of your own"})
	})
}

// watchQueue shows each change until it is interrupted or the output is closed.
func watchQueue(p Process, s *store.Store, asJSON bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out := screenOn(p.Stdout, p.Env)
	return s.Watch(ctx, 0, func(all []queue.Entry) error {
		for i := range all {
			e := &all[i]
			if asJSON {
				if err := encode(p, shownOf(*e)); err != nil {
					return err
				}
				continue
			}
			switch e.State {
			case queue.Pending:
				showEntryLine(out, e, p.Now())
			case queue.Answered:
				out.printf("%d  %s\n", e.ID, e.Answer.Text())
			default:
				out.printf("%d  nobody answered in time\n", e.ID)
			}
		}
		return out.err
	})
}

// waits returns the state of an entry, in a few words.
func waits(e *queue.Entry, now time.Time) string {
	left := e.Deadline.Sub(now).Round(time.Second).String()
	switch {
	case e.Ticket:
		return "a ticket: it was denied, and may run once when you approve it"
	case e.Abandoned():
		return "nobody waits for it any more; if you approve it, it may run once the next time"
	}
	return "waits " + left + " more"
}

// who returns the session and agent of a call.
func who(e *queue.Entry) string {
	return fmt.Sprintf("Session %q", shorten(e.Session.String(), 40)) + prefixed(", agent ", e.Agent.String()) +
		onlyIf(e.Role != "", " (role: "+e.Role+")") + prefixed(" of team ", e.Team.String())
}

// showEntryLine shows an entry in two lines.
func showEntryLine(out *screen, e *queue.Entry, now time.Time) {
	out.printf("%s  %s %s\n", painted{bold, fmt.Sprint(e.ID)}, e.Tool, shorten(Plain(e.Subject.String()), columns-8-len(e.Tool)))
	out.filled("   ", who(e)+", "+waits(e, now))
}

// showEntry shows all that a person needs to decide.
func showEntry(out *screen, e *queue.Entry, now time.Time) {
	verb := "wants to use " + e.Tool
	switch {
	case e.Tool == "Bash":
		verb = "wants to run"
	case e.Diff.String() != "":
		verb = "wants to write"
	}
	out.printf("%s  %s %s:\n", painted{bold, fmt.Sprint(e.ID)}, who(e), verb)
	out.block("  ", e.Subject.String())
	if e.Tool != "Bash" && e.Diff.String() == "" {
		out.block("  ", e.Input.String())
	}
	out.printf("\n")
	if diff := e.Diff.String(); diff != "" {
		out.block("    ", diff)
		out.printf("\n")
	}
	out.printIf(e.Truncated, "%s\n", painted{red, "It is too long to be shown whole. What you do not see runs, too."})
	out.printIf(e.Rewritten, "A rule rewrote this call; it is shown as it would run.\n")
	out.field("task", e.Task.String())
	out.field("in", e.Folder.String())
	out.field("decided", strings.TrimSpace(e.Effect.String()+" "+e.By))
	if reason := e.Reason.String(); reason != "" {
		out.filled("  because: ", reason)
	}
	showParts(out, e)
	if r := e.Recommendation; r != nil {
		out.filled("  recommendation: ", fmt.Sprintf("%s (confidence: %.2f) %s", strings.ToUpper(r.Effect.String()), r.Confidence, r.Reason))
	}
	out.filled("  ", waits(e, now))
}

// showParts shows the parts of a call with the opinions on them.
func showParts(out *screen, e *queue.Entry) {
	for i, part := range e.Parts {
		out.printIf(len(e.Parts) > 1 || part.Effect != e.Effect, "  %s  %s\n", effect(part.Effect), shorten(Plain(part.Text.String()), columns-10))
		if does := listOf(part.Access, redact.Text.String); len(does) > 0 {
			out.filled("  does: ", shorten(strings.Join(does, ", "), 300))
		}
		for _, o := range part.Opaque {
			out.printf("      not seen through: %s\n", o)
		}
		for _, o := range e.Opinions {
			if o.Part == i && o.Effect >= cardea.Defer {
				out.filled("      ", o.Effect.String()+" by "+o.By+" "+shorten(Plain(o.Reason.String()), 300))
			}
		}
	}
}

// talk shows each waiting call and asks for a key. It checks once that a person types.
func (p Process) talk(d sessionRegistrar, s *store.Store) error {
	ctx, out := context.Background(), screenOn(p.Stderr, p.Env)
	confirmed := false
	skipped := map[int64]bool{}
	for {
		all, err := s.Pending(ctx)
		if err != nil {
			return err
		}
		var e *queue.Entry
		waiting := 0
		for i := range all {
			if !skipped[all[i].ID] {
				waiting++
				e = cmp.Or(e, &all[i])
			}
		}
		if e == nil {
			out.printf("nothing else waits for you\n")
			return out.err
		}
		if !confirmed {
			if err := p.byLetter("answer what waits", func(out *screen) { out.printf("%s for you\n", waitingCalls(waiting)) }); err != nil {
				return err
			}
			confirmed = true
		}
		out.printf("\n")
		showEntry(out, e, p.Now())
		first, second := keysOf(e, d.Loaded.Settings.Learn)
		out.printf("\n%s\n%s ", first, second)
		line, err := person.ReadLine(p.Stdin, maxTyped)
		if err != nil || line == "" {
			return nil // the input has ended
		}
		done, err := p.carryOutKey(s, e, line, out)
		switch {
		case errors.Is(err, errQuit):
			return nil
		case errors.As(err, new(ended)): // already reported
		case err != nil:
			out.printf("%s\n", err)
		case !done:
			skipped[e.ID] = true
		}
	}
}

func waitingCalls(n int) string {
	return either(n == 1, "1 call waits", fmt.Sprintf("%d calls wait", n))
}

// byAskLesson reports whether a lesson makes every such call wait.
func byAskLesson(e *queue.Entry) bool {
	return slices.ContainsFunc(e.Opinions, func(o queue.Opinion) bool { _, is := lessonOf(o); return is })
}

// keysOf returns the keys for an entry, in two lines. learn is the setting of that name.
func keysOf(e *queue.Entry, learn string) (first, second string) {
	const rules = "[a+r]llow & add rule  [d+r]eny & add rule  [?+r]ask & add rule:"
	if byAskLesson(e) {
		return "[a]llow this time  [d]eny this time  [s]kip  [q]uit", "[downgrade] change to allow/deny permanently:"
	}
	if e.Effect == cardea.Ask || learn == settings.LearnOff || len(e.Allows)+len(e.Holds) == 0 {
		return "[a]llow this time  [d]eny this time  [?]always ask  [s]kip  [q]uit", rules
	}
	return "[a]llow, [d]eny: remembered  [a+1] [d+1]: once  [?]always ask  [s]kip  [q]uit", rules
}

var errQuit = errors.New("quit")

// maxTyped is the longest typed line, in bytes.
const maxTyped = 4 << 10

// carryOutKey carries out a line that a person typed at an entry. done is false if they
// skip it.
func (p Process) carryOutKey(s *store.Store, e *queue.Entry, line string, out *screen) (done bool, err error) {
	key, message, _ := strings.Cut(strings.TrimSpace(line), " ")
	f := answerFlags{message: strings.TrimSpace(message), confirmed: true}
	effect := cardea.Allow
	switch key {
	case "q", "quit":
		return false, errQuit
	case "s", "skip", "":
		return false, nil
	case "a", "allow", "a+1", "a+r", "d", "deny", "d+1", "d+r":
		f.once, f.addRule = strings.HasSuffix(key, "+1"), strings.HasSuffix(key, "+r")
		if key[0] == 'd' {
			effect = cardea.Deny
		}
	case "?", "?+r", "downgrade":
		f.alwaysAsk, f.downgrade, f.addRule = key == "?" || key == "?+r", key == "downgrade", key == "?+r"
		out.printf("and this call? [a]llow  [d]eny: ")
		answer, err := person.ReadLine(p.Stdin, maxTyped)
		if err != nil || answer == "" {
			return false, errQuit
		}
		switch strings.TrimSpace(answer) {
		case "a", "allow":
		case "d", "deny":
			effect = cardea.Deny
		default:
			return false, fmt.Errorf("%q is no answer; type a or d", hook.Plain(strings.TrimSpace(answer)))
		}
	default:
		return true, fmt.Errorf("%q is no key", hook.Plain(key))
	}
	return true, p.answerEntries(s, []int64{e.ID}, effect, f)
}
