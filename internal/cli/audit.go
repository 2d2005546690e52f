package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/memory/ledger"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func auditCommand(p Process) *cobra.Command {
	return group("audit", "search and verify the ledger, the audit log of all verdicts", `Search and verify the ledger, the audit log. It has an entry for every verdict
of the hook. The setting ledger.dir says where it is stored.`, searchCommand(p), verifyCommand(p))
}

func verifyCommand(p Process) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "verify [--json]",
		Short: "check that nothing in the ledger was changed or removed",
		Long: `Find lines of the ledger that were changed, removed, moved, added or cut off
after they were written. docs/ledger.md says what this finds and what not.`,
		Args: noArguments,
	}, func(_ []string, asJSON bool) error { return verify(p, asJSON) })
}

// verify checks the ledger and shows the result.
func verify(p Process, asJSON bool) error {
	l, _, err := openLedger(p)
	if err != nil {
		return err
	}
	r, err := l.Verify()
	if err != nil {
		return fmt.Errorf("look at the ledger: %w", err)
	}
	found := struct {
		Intact bool `json:"intact"`
		ledger.Report
	}{r.Intact(), r}
	return failIf(!r.Intact(), p.answer(asJSON, found, func(s *screen) { showReport(s, r) }))
}

// searchFlags holds the filters of a search as typed.
type searchFlags struct {
	since, until                 string
	session, tool, rule, decider string
	project, role, harness, by   string
	effects                      []string
	limit                        int
	json                         bool
}

// searchCommand returns the command "audit search".
func searchCommand(p Process) *cobra.Command {
	var f searchFlags
	c := &cobra.Command{
		Use:   "search [flags] [text]",
		Short: "find verdicts in the ledger",
		Long: `Find entries of the ledger, the newest first. An entry must match every flag
that is given. The text is searched in commands, paths, reasons and folders, and
case is ignored.

A time is a date (2026-11-20), a date and time ("2026-11-20 15:04", or
2026-11-20T15:04:05Z), "today", "yesterday", or an age (90m, 2h, 7d).`,
		Example: `  cardea audit search --effect deny,ask --since 7d
  cardea audit search --tool Bash --rule git-force-push
  cardea audit search --json --limit 0 --since 2026-11-01 --until 2026-12-01 npm`,
		Args: atMostOneArgument,
	}
	fs := inOrder(c)
	f.addTimes(fs)
	fs.StringSliceVar(&f.effects, "effect", nil, "what was decided: allow, abstain, defer, ask, deny, halt; several with commas")
	fs.StringVar(&f.tool, "tool", "", "the tool, by its canonical name or a harness's")
	fs.StringVar(&f.rule, "rule", "", "the rule, by its id, alone or after its decider: rules:git-force-push")
	fs.StringVar(&f.decider, "decider", "", "the decider: rules, policies, permissions, readonly, no-effect, opaque, routes")
	f.addWhere(fs)
	fs.IntVar(&f.limit, "limit", 50, "show at most this many; 0 shows all")
	fs.BoolVar(&f.json, "json", false, "print one JSON object a line")
	c.RunE = func(c *cobra.Command, args []string) error {
		q, err := f.query(p, strings.Join(args, ""))
		if err != nil {
			return usageOf(c, err)
		}
		return search(p, q, f.json)
	}
	return c
}

// addTimes adds the flags for the time span.
func (f *searchFlags) addTimes(fs *pflag.FlagSet) {
	fs.StringVar(&f.since, "since", "", "from this time on")
	fs.StringVar(&f.until, "until", "", "before this time")
}

// addWhere adds the flags for the origin of a call and its decider.
func (f *searchFlags) addWhere(fs *pflag.FlagSet) {
	fs.StringVar(&f.project, "project", "", "the project, by its folder or a folder in it: . is the one you are in")
	fs.StringVar(&f.session, "session", "", "the session, by the harness's id")
	fs.StringVar(&f.role, "role", "", "the role of the agent")
	fs.StringVar(&f.harness, "harness", "", "the harness: claude-code, copilot-cli")
	fs.StringVar(&f.by, "by", "", "who decided: a decider, or a rule after its decider: rules:git-force-push")
}

// query returns the ledger query for the flags. It fails for values that cannot match.
func (f searchFlags) query(p Process, text string) (q ledger.Query, err error) {
	now := p.Now()
	q = ledger.Query{Session: f.session, Tool: f.tool, Rule: f.rule, Decider: f.decider, Role: f.role, Harness: f.harness, By: f.by, Text: text, Limit: f.limit}
	if word, ok := harness.ToolWord(f.tool); ok {
		q.Tool = word
	}
	if f.project != "" {
		q.Project = locate(p, "", "", within(p.Dir, f.project)).Project
	}
	if f.limit < 0 {
		return q, fmt.Errorf("--limit must not be negative, as %d is", f.limit)
	}
	for _, word := range f.effects {
		e, err := cardea.ParseEffect(strings.ToLower(strings.TrimSpace(word)))
		if err != nil {
			return q, fmt.Errorf("--effect: %w", err)
		}
		q.Effects = append(q.Effects, e)
	}
	if q.Since, err = parseTime(f.since, now); err != nil {
		return q, fmt.Errorf("--since: %w", err)
	}
	if q.Until, err = parseTime(f.until, now); err != nil {
		return q, fmt.Errorf("--until: %w", err)
	}
	if !q.Until.IsZero() && !q.Since.Before(q.Until) {
		return q, errors.New("--since is not before --until, so nothing can be found")
	}
	return q, nil
}

// parseTime parses a point in time, in the time zone of now. "" is the zero time.
func parseTime(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	switch strings.ToLower(s) {
	case "today":
		s = now.Format("2006-01-02")
	case "yesterday":
		s = now.AddDate(0, 0, -1).Format("2006-01-02")
	}
	for _, form := range []string{"2006-01-02", "2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339} {
		if t, err := time.ParseInLocation(form, s, now.Location()); err == nil {
			return t, nil
		}
	}
	if n, ok := strings.CutSuffix(s, "d"); ok {
		if days, err := strconv.ParseUint(n, 10, 20); err == nil {
			return now.AddDate(0, 0, -int(days)), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, fmt.Errorf("%q is no moment; write a date (2026-11-20), a date and time, today, yesterday, or how long ago it was (2h, 7d)", s)
}

// search shows the entries that match a query. It warns about unreadable entries and continues.
func search(p Process, q ledger.Query, asJSON bool) error {
	l, _, err := openLedger(p)
	if err != nil {
		return err
	}
	failed := false
	warn := func(err error) {
		failed = true
		p.warn(err.Error())
	}
	found := 0
	if asJSON {
		for line, e := range l.Search(q) {
			if e != nil {
				warn(e)
				continue
			}
			if err = encode(p, line); err != nil {
				return err
			}
		}
	} else {
		s := screenOn(p.Stdout, p.Env)
		found, err = p.showEntries(s, l.Search(q), warn), s.err
	}
	if err == nil && found == 0 && !failed && !asJSON {
		p.warn("nothing in the ledger answers")
	}
	if q.Limit > 0 && found == q.Limit {
		p.warn(fmt.Sprintf("these are the last %d; --limit 0 shows all", found))
	}
	return failIf(failed, err)
}

// explainCommand returns the command "explain".
func explainCommand(p Process) *cobra.Command {
	verbose := false
	c := withJSON(&cobra.Command{
		Use:   "explain [last | ID]",
		Short: "show why a call was denied or asked about, and how to allow it",
		Long: `Show one entry of the ledger (the audit log): the call, the verdict, the rule and
where it is defined, and how to allow the call once or for good. "last", or no
argument, is the newest call that was denied or asked about, by Cardea or by the
harness's own reviewer: in this project if there is one, else anywhere. "cardea audit
search" shows the ids of others. "end" says who decided in the end: Cardea, a permission
list, the classifier, the sandbox or the person, and "differs" where that was not
Cardea's answer. It comes from events of the harness and from its own transcript.

The call is judged again, so that each command that is shown changes the answer. An
agent is not shown how to allow it.`,
		Example: "  cardea explain last\n  cardea explain --verbose 1m7yp8198z659sn1",
		Args:    atMostOneArgument,
	}, func(args []string, asJSON bool) error { return explain(p, strings.Join(args, ""), verbose, asJSON) })
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "show all of the entry, and who said what")
	return c
}

// explain shows the entry with an id, or the last one that was denied or asked about.
func explain(p Process, id string, verbose, asJSON bool) error {
	l, _, err := openLedger(p)
	if err != nil {
		return err
	}
	var line ledger.Line
	if id == "" || id == "last" {
		line, err = p.lastHeld(l)
	} else {
		line, err = l.Get(id)
	}
	switch {
	case err != nil:
		return err
	case verbose && !asJSON:
		return p.answer(false, nil, func(s *screen) {
			p.showEntry(s, line)
			heading(s, "in the end")
			p.endOf(l, &line.Entry).show(s)
		})
	}
	e := p.explained(l, line)
	if !asJSON {
		return p.answer(false, nil, func(s *screen) { p.showEntryShort(s, e) })
	}
	entry, err := json.Marshal(line)
	ways, err2 := json.Marshal(e)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	return encode(p, json.RawMessage(string(entry[:len(entry)-1])+","+string(ways[1:])))
}

// lastHeld returns the newest entry that was denied or asked about, of this project if
// there is one. It skips lines that the ledger did not write.
func (p Process) lastHeld(l *ledger.Ledger) (ledger.Line, error) {
	here := locate(p, "", "", p.Dir).Project
	for _, project := range []string{here, ""} {
		for line, err := range l.Search(ledger.Query{Project: project, Effects: []cardea.Effect{cardea.Ask, cardea.Deny, cardea.Halt}}) {
			if err == nil && line.Genuine && line.Entry.AgentType.String() != install.ProbeAgent {
				return line, nil
			}
		}
		if here == "" {
			break
		}
	}
	return ledger.Line{}, errors.New("no call was denied or asked about yet; \"cardea audit search\" shows all calls")
}

// openLedger opens the ledger of the working folder for reading, and returns its settings.
func openLedger(p Process) (*ledger.Ledger, settings.Ledger, error) {
	pl := locate(p, "", "", p.Dir)
	s := inforce.LoadSettings(p.Where(&pl)).Ledger
	l, err := ledgerOf(p, &pl, s)
	p.tell(pl.Issues)
	return l, s, err
}
