package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/memory/ledger"
	"cardea.dev/internal/memory/shape"
	"cardea.dev/internal/memory/stats"
	"cardea.dev/internal/memory/transcript"
	"github.com/spf13/cobra"
)

type suggestFlags struct {
	from, as string
	limit    int
	searchFlags
}

// suggestCommand returns the command "suggest".
func suggestCommand(p Process) *cobra.Command {
	f := suggestFlags{from: "ledger", as: "permission", limit: 10}
	c := withJSON(&cobra.Command{
		Use:   "suggest [flags]",
		Short: "find what you approve most, and what would spare you the question",
		Long: `Find the calls that you approved most, by their shape, and for each what would allow
it from now on: an entry of Claude Code's permission list, an override, or a rule. Each
was tried: it allows the calls that you approved, and no other. Beside it stand the
calls that are like them and that it does not allow. Nothing is written.

The ledger has what you approved when Cardea asked; what you approved in the harness's
own prompt counts with it, for the project in which you stand. The transcripts of Claude
Code have what you decided there, but the agent can write them. The queue has your
answers.`,
		Example: `  cardea suggest --since 30d
  cardea suggest --from transcripts --as override
  cardea suggest --from queue --as rule --json`,
		Args: noArguments,
	}, func(_ []string, asJSON bool) error { return suggestFrom(p, f, asJSON) })
	fs := inOrder(c)
	fs.StringVar(&f.from, "from", f.from, "where calls come from: ledger, transcripts or queue")
	fs.StringVar(&f.as, "as", f.as, "what is suggested: permission, override or rule")
	f.addTimes(fs)
	fs.StringVar(&f.project, "project", "", "only calls of the project around this folder")
	fs.IntVar(&f.limit, "limit", f.limit, "show at most this many; 0 shows all")
	return c
}

// approved is a call from the source, with the number of times it was made.
type approved struct {
	Tool string `json:"tool"`
	// Text is the command, the path or the address, or the whole input as JSON.
	Text    string    `json:"text"`
	Project string    `json:"project"`
	Times   int       `json:"times"`
	Last    time.Time `json:"last"`
	// End is how it ended: allow if a person approved it.
	End cardea.Effect `json:"end"`

	harness string
	trial   trial
}

// proposal holds entries, commands or rules that would spare the questions about calls of one shape.
type proposal struct {
	Times int `json:"times"`
	// Covered holds the calls that it would have allowed, Near similar calls that it would not
	// allow.
	Covered []*approved `json:"covered"`
	Near    []*approved `json:"near"`
	// Lines are entries, commands or the text of rules. Why gives the reason where Lines is empty.
	Lines []string `json:"lines"`
	Why   string   `json:"why,omitempty"`
}

// maxNear is the most similar calls that are shown, and maxTried the most that are tried.
const maxNear, maxTried = 5, 50

// suggestFrom shows what would allow the calls that the person approved.
func suggestFrom(p Process, f suggestFlags, asJSON bool) error {
	if !slices.Contains([]string{"permission", "override", "rule"}, f.as) {
		return wrongUsage{fmt.Errorf("there is no form %q: use permission, override or rule", f.as)}
	}
	q, err := f.query(p, "")
	if err != nil || f.limit < 0 {
		return wrongUsage{cmp.Or(err, errors.New("--limit must not be negative"))}
	}
	calls, err := seenCalls(p, f.from, q)
	if err != nil {
		return err
	}
	out := struct {
		From      string     `json:"from"`
		As        string     `json:"as"`
		Proposals []proposal `json:"proposals"`
		Left      int        `json:"left"`
	}{From: f.from, As: f.as, Proposals: []proposal{}}
	groups := byShape(p, calls)
	for i, group := range groups {
		if f.limit > 0 && len(out.Proposals) == f.limit {
			out.Left = len(groups) - i
			break
		}
		out.Proposals = append(out.Proposals, propose(p, group, calls, f.as))
	}
	return p.answer(asJSON, out, func(s *screen) {
		for i := range out.Proposals {
			out.Proposals[i].show(s)
		}
		s.printIf(len(out.Proposals) == 0, "nothing that you approved would be asked about again, as far as the %s tells\n", f.from)
		s.printIf(out.Left > 0, "%s not shown; --limit 0 shows all\n", count(out.Left, "more shape"))
	})
}

// seenCalls returns the calls of a source, each once, the most frequent first.
func seenCalls(p Process, from string, q ledger.Query) ([]*approved, error) {
	all := map[string]*approved{}
	add := func(a approved) {
		in := (q.Since.IsZero() || !a.Last.Before(q.Since)) && (q.Until.IsZero() || a.Last.Before(q.Until)) && (q.Project == "" || a.Project == q.Project)
		if !in || a.Text == "" || strings.Contains(a.Text, "<REDACTED") {
			return
		}
		key := a.Tool + "\x00" + a.Text + "\x00" + a.Project + "\x00" + either(a.End == cardea.Allow, "y", "n")
		if old := all[key]; old != nil {
			old.Times++
			if a.Last.After(old.Last) {
				old.Last = a.Last
			}
			return
		}
		a.Times = 1
		all[key] = &a
	}
	read := map[string]func(Process, ledger.Query, func(approved)) error{"ledger": fromLedger, "transcripts": fromTranscripts, "queue": fromQueue}[from]
	if read == nil {
		return nil, wrongUsage{fmt.Errorf("there is no source %q: use ledger, transcripts or queue", from)}
	}
	if err := read(p, q, add); err != nil {
		return nil, err
	}
	out := slices.Collect(maps.Values(all))
	slices.SortFunc(out, func(a, b *approved) int {
		return cmp.Or(b.Times-a.Times, b.Last.Compare(a.Last), cmp.Compare(a.Text, b.Text))
	})
	return out, nil
}

// fromLedger adds the calls of the ledger, and the calls that a person allowed in the
// harness's own prompt.
func fromLedger(p Process, q ledger.Query, add func(approved)) error {
	l, _, err := openLedger(p)
	if err != nil {
		return err
	}
	stats.Calls(l.Records(q), install.ProbeAgent, p.transcripts(map[string]bool{}, map[string]bool{}), func(err error) { p.warn(err.Error()) },
		func(r *ledger.Record, end cardea.Review) {
			add(approved{Tool: r.Tool, Text: r.Text, Project: r.Project, Last: r.Time, End: onlyPerson(end, r.Effect), harness: r.Harness})
		})
	d, all, err := candidatesHere(p)
	for _, c := range all {
		if f := c.Drafts[0]; len(c.Drafts) == 1 && !strings.HasPrefix(f.Subject.String(), f.Tool.String()+" ") {
			for _, at := range c.Answers {
				add(approved{Tool: f.Tool.String(), Text: f.Subject.String(), Project: d.Place.Project, Last: at, End: cardea.Allow})
			}
		}
	}
	return err
}

func fromTranscripts(p Process, _ ledger.Query, add func(approved)) error {
	for _, c := range transcript.Calls(locate(p, "", "", p.Dir).Dirs.Claude, maxTranscripts) {
		add(approved{Tool: c.Tool, Text: string(c.Input), Project: c.Folder, Last: c.Time, End: onlyPerson(c.Review, cardea.Abstain), harness: "claude-code"})
	}
	return nil
}

// fromQueue adds the answered calls of the queue.
func fromQueue(p Process, _ ledger.Query, add func(approved)) error {
	_, s, err := queueHere(p)
	if err != nil {
		return err
	}
	defer s.Close()
	entries, _, err := s.Since(context.Background(), 0)
	for i := range entries {
		if e := &entries[i]; e.Answer != nil && !e.Truncated {
			add(approved{Tool: e.Tool, Text: e.Input.String(), Project: e.Project.String(), Last: e.Created, End: e.Answer.Effect, harness: e.Harness})
		}
	}
	return err
}

// onlyPerson returns the end of a call that a person decided. Otherwise it returns Cardea's
// effect, where an allow is no approval.
func onlyPerson(end cardea.Review, said cardea.Effect) cardea.Effect {
	switch {
	case end.By == cardea.ByPerson:
		return end.Effect
	case said == cardea.Allow:
		return cardea.Abstain
	}
	return said
}

// byShape groups the approved calls that are not allowed now by shape, the most frequent first.
func byShape(p Process, calls []*approved) (groups [][]*approved) {
	system := shape.Lookups{Resolve: new(paths.Links).Resolve, Secret: func(text string) bool { return len(redact.New().Find(text)) > 0 }}
	for _, a := range calls {
		if a.End != cardea.Allow || !a.judge(p) || a.trial.verdict.Effect == cardea.Allow {
			continue
		}
		i := slices.IndexFunc(groups, func(g []*approved) bool {
			return g[0].Project == a.Project && shape.Compare(g[0].trial.evaluation.Event, a.trial.evaluation.Event, system).Same
		})
		if i < 0 {
			groups = append(groups, nil)
			i = len(groups) - 1
		}
		groups[i] = append(groups[i], a)
	}
	slices.SortStableFunc(groups, func(a, b []*approved) int { return timesOf(b) - timesOf(a) })
	return groups
}

func timesOf(calls []*approved) (n int) {
	for _, a := range calls {
		n += a.Times
	}
	return n
}

// judge judges a call in its project with the current configuration. It returns false if
// the call cannot be made again.
func (a *approved) judge(p Process) bool {
	if a.trial.evaluation != nil {
		return true
	}
	if a.Project != "" && isFolder(a.Project) {
		p = p.in(a.Project)
	}
	m, err := tryFlags{tool: a.Tool, harness: cmp.Or(a.harness, "claude-code"), event: string(cardea.PreToolUse)}.message(p, a.Text)
	if err != nil || m.event.Call == nil {
		return false
	}
	a.trial = trialOf(p, newEvaluation(p, m.event), m.adapter)
	if command, ok := m.event.Call.Input["command"].(string); ok {
		a.Text = command
	}
	return true
}

// candidate returns what would allow a call, in the form as, and a function that judges
// with it. why is the reason if nothing would.
func (t trial) candidate(as string) (lines []string, then func(trial) cardea.Effect, why string) {
	w := waysOf{trial: t, out: []way{}, heard: map[string]map[string]policy.SignalValue{}}
	change := func(*evaluation) {}
	p := t.p
	// A single command of a line is another call, and so is a command in another folder.
	if held := w.held(); len(held) != 1 || t.evaluation.Event.Call.Parts[held[0]].Dir != t.evaluation.Event.Cwd {
		return nil, nil, "an entry, an override or a rule would allow its commands one by one, which is more than you approved; \"cardea learn\" remembers the whole line"
	}
	switch as {
	case "permission":
		w.permission()
		_, lines = t.evaluation.Suggest(t.verdict)
		change, why = withEntries(lines), "no entry for this one call allows it"
	case "override":
		for _, scope := range []cardea.Scope{cardea.ScopeProject, cardea.ScopeUser} {
			if list := w.overrides(scope, false); len(lines) == 0 && len(list) > 0 && w.lasting(list) && (scope == cardea.ScopeUser || w.inProject()) {
				lines, change = []string{w.from + overrideLines(list, "")}, withOverrides(list)
			}
		}
		why = w.noException()
	case "rule":
		why = errNoRule.Error()
		e, err := t.evaluation.QueueEntry(t.verdict, redact.New())
		if err != nil {
			return nil, nil, err.Error()
		}
		if bodies := ruleBodies(&e, cardea.Allow, "approved-"+e.Digest[:8], true); len(bodies) > 0 && stillAsks(&e, cardea.Allow, userDir(t.evaluation.Place.Dirs.User)) == nil {
			text := strings.ReplaceAll(strings.Join(bodies, ""), "BECAUSE", `"a person approved it"`)
			lines = []string{strings.TrimSuffix(text, "\n")}
			p.Drafts = map[string][]byte{filepath.Join(t.evaluation.Place.Dirs.User, "rules", "cardea-suggest.yaml"): []byte("version: 1\nrules:\n" + text)}
		}
	}
	then = func(of trial) cardea.Effect {
		w := waysOf{trial: of, heard: map[string]map[string]policy.SignalValue{}}
		return w.again(p.in(of.p.Dir), change)
	}
	if len(lines) == 0 || then(t) != cardea.Allow {
		return nil, nil, why
	}
	return lines, then, ""
}

// propose returns what allows the calls of a shape, with the similar calls that it does not
// allow.
func propose(p Process, group, calls []*approved, as string) proposal {
	out := proposal{Covered: []*approved{}, Near: []*approved{}, Lines: []string{}}
	var then []func(trial) cardea.Effect
	for _, a := range group {
		lines, allows, why := a.trial.candidate(as)
		if lines == nil {
			out.Why = why
			out.Near = append(out.Near, a)
			continue
		}
		out.Covered, then = append(out.Covered, a), append(then, allows)
		out.Times += a.Times
		for _, line := range lines {
			if !slices.Contains(out.Lines, line) {
				out.Lines = append(out.Lines, line)
			}
		}
	}
	if len(out.Lines) > 0 {
		out.Why = ""
	} else {
		out.Times = timesOf(group)
	}
	// Other calls that a line covers must have been approved, else the line is too wide.
	tried := 0
	for _, other := range calls {
		same := func(a *approved) bool { return a.Text == other.Text && a.Project == other.Project }
		if tried == maxTried || slices.ContainsFunc(group, same) || slices.ContainsFunc(out.Near, same) || !group[0].like(other, p) {
			continue
		}
		tried++
		covers := func(allows func(trial) cardea.Effect) bool { return allows(other.trial) == cardea.Allow }
		switch covered := other.trial.verdict.Effect != cardea.Allow && slices.ContainsFunc(then, covers); {
		case covered && other.End != cardea.Allow:
			return proposal{Times: out.Times, Covered: []*approved{}, Near: []*approved{other}, Lines: []string{}, Why: "what allows it would allow more than you approved"}
		case !covered && len(out.Near) < maxNear && other.trial.verdict.Effect != cardea.Allow:
			out.Near = append(out.Near, other)
		}
	}
	return out
}

// like reports whether another call uses the same tool and starts the same program.
func (a *approved) like(other *approved, p Process) bool {
	x := a.trial.evaluation.Event.Call
	if other.Tool != a.Tool || !other.judge(p) || len(x.Parts) == 0 || len(other.trial.evaluation.Event.Call.Parts) == 0 {
		return false
	}
	program := func(of *approved) string { return of.trial.evaluation.Event.Call.Parts[0].Program() }
	return program(a) == program(other)
}

// show writes the proposal for people.
func (o *proposal) show(s *screen) {
	first := slices.Concat(o.Covered, o.Near)[0]
	s.printf("%s  %s %s\n", painted{bold, fmt.Sprintf("%4d×", o.Times)}, first.Tool, shorten(hook.Plain(first.Text), 100))
	for _, a := range o.Covered[min(1, len(o.Covered)):] {
		s.printf("       also %s (%d×)\n", shorten(hook.Plain(a.Text), 100), a.Times)
	}
	for _, line := range o.Lines {
		for l := range strings.Lines(line) {
			s.printf("       %s\n", painted{bold, strings.TrimSuffix(l, "\n")})
		}
	}
	s.printIf(o.Why != "", "       %s\n", o.Why)
	for i, a := range o.Near {
		s.printIf(len(o.Covered) > 0 || i > 0, "       not  %s\n", painted{faint, shorten(hook.Plain(a.Text), 100)})
	}
}
