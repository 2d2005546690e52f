package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"cardea.dev/internal/config/install"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/memory/ledger"
	"cardea.dev/internal/memory/stats"
	"github.com/spf13/cobra"
)

// statsCommand returns the command "stats".
func statsCommand(p Process) *cobra.Command {
	var f searchFlags
	limit := 10
	c := withJSON(&cobra.Command{
		Use:   "stats [flags]",
		Short: "count what was decided, and which questions can be spared",
		Long: `Count the entries of the ledger: how many prompts were saved, what each decider,
rule and role decided, who decided in the end and where that differs from Cardea's
answer, which questions always end alike, which rules ask too much, and how long
verdicts take. docs/stats.md says how each is counted.

Times are written as for "cardea audit search".`,
		Example: `  cardea stats --since 7d
  cardea stats --project . --by rules
  cardea stats --json --since 2026-11-01 --until 2026-12-01`,
		Args: noArguments,
	}, func(_ []string, asJSON bool) error { return countEntries(p, f, limit, asJSON) })
	fs := inOrder(c)
	f.addTimes(fs)
	f.addWhere(fs)
	fs.IntVar(&limit, "limit", limit, "show at most this many days, rules and calls of each kind; 0 shows all")
	return c
}

// counted is the JSON of stats.
type counted struct {
	stats.Report
	// Notes list the limits of the report: calls that the ledger does not show.
	Notes []string `json:"notes"`
	// Advice holds ways to avoid questions.
	Advice []advice `json:"advice"`
}

// advice is a way to avoid questions: a command, or where to look.
type advice struct {
	About   string `json:"about"`
	Command string `json:"command,omitempty"`
	Text    string `json:"text,omitempty"`
}

// countEntries counts the entries that the flags select, and shows the figures.
func countEntries(p Process, f searchFlags, limit int, asJSON bool) error {
	q, err := f.query(p, "")
	if err == nil && limit < 0 {
		err = fmt.Errorf("--limit must not be negative, as %d is", limit)
	}
	if err != nil {
		return wrongUsage{err}
	}
	l, set, err := openLedger(p)
	if err != nil {
		return err
	}
	failed := false
	left, used := map[string]bool{}, map[string]bool{}
	out := counted{Report: stats.Count(l.Records(q), p.Now().Location(), install.ProbeAgent, p.transcripts(left, used), func(err error) {
		failed = true
		p.warn(err.Error())
	})}
	if out.Notes, err = limitsOf(l, set, q, &out.Report); err != nil {
		return err
	}
	if n := len(used); n > 0 {
		out.Notes = append(out.Notes, "that the agent can write transcripts of the harness; \"who decided in the end\" uses those of "+count(n, "session"))
	}
	if n := len(left); n > 0 {
		out.Notes = append(out.Notes, "transcripts of the harness were not read for "+count(n, "older session"))
	}
	out.Advice = adviceOn(p, &out.Report)
	return failIf(failed, p.answer(asJSON, out, func(s *screen) { out.show(s, limit) }))
}

// limitsOf returns the reasons why the figures are incomplete.
func limitsOf(l *ledger.Ledger, set settings.Ledger, q ledger.Query, r *stats.Report) ([]string, error) {
	out := []string{}
	for _, x := range []struct {
		keeps         bool
		level, hidden string
	}{{set.Levels.Allow, "allow", "calls that were allowed are not recorded, so no prompt that was saved is counted"},
		{set.Levels.Abstain, "abstain", "calls that were left to the harness are not recorded, nor is what became of questions"},
		{set.Levels.Deny, "deny", "calls that were denied or asked about are not recorded"}} {
		if !x.keeps {
			out = append(out, fmt.Sprintf("%s (ledger.levels: {%s: false})", x.hidden, x.level))
		}
	}
	first, _, err := l.Span()
	if err != nil {
		return nil, err
	}
	if since := q.Since.UTC().Format("2006-01-02"); first != "" && !q.Since.IsZero() && since < first {
		out = append(out, fmt.Sprintf("the ledger begins on %s, and --since asks for %s; ledger.keep_days is %d", first, since, set.KeepDays))
	}
	if unknown := r.Effects.Ask - r.Ran - r.NotRun; unknown > 0 {
		text := fmt.Sprintf("what became of %s is not known", count(unknown, "question"))
		if r.Ran+r.NotRun == 0 {
			text += "; \"cardea install claude --events PostToolUse,PostToolUseFailure\" has the harness tell it"
		}
		out = append(out, text)
	}
	return out, nil
}

// adviceOn returns how to avoid the questions that always end the same, and what to do
// about rules that ask too often.
func adviceOn(p Process, r *stats.Report) []advice {
	out := []advice{}
	for _, a := range r.Alike {
		x := advice{About: a.Text}
		decider, _, _ := strings.Cut(a.By, ":")
		lesson, learned := askingLesson(a.By)
		switch {
		case learned && a.Ran:
			x = withoutLesson(x, lesson, a.Source)
		case decider == "roles" && a.Role == "", !overridable(decider, a.Scope), !isPlainCommand(a.Text):
			x.Text = namedSource(a.By, a.Source)
		default:
			x.Command = overrideFor(p, a, decider == "roles")
		}
		out = append(out, x)
	}
	for _, rule := range r.Rules {
		if !rule.Many {
			continue
		}
		x := advice{About: rule.By}
		decider, id, _ := strings.Cut(rule.By, ":")
		lesson, learned := askingLesson(rule.By)
		switch {
		case decider == "rules" && isPlainCommand(id):
			x.Command = "cardea config set rules.effect." + id + " " + milder(rule) + " --scope user"
			x.Text = onlyIf(milder(rule) == "defer", "then the harness decides alone; ") + "or make exceptions with \"cardea override\""
		case learned && milder(rule) != "deny":
			x = withoutLesson(x, lesson, rule.Source)
		default:
			x.Text = namedSource(rule.By, rule.Source)
		}
		out = append(out, x)
	}
	return out
}

// askingLesson returns the id of the lesson that asked, about exactly the call or a similar
// one.
func askingLesson(by string) (id string, is bool) {
	decider, id, _ := strings.Cut(by, ":")
	return id, (decider == "lessons" || decider == "near") && id != "" && strings.Trim(id, "0123456789abcdef") == ""
}

// withoutLesson returns the advice to remove a lesson that asks. This allows nothing: the
// other rules and the harness then decide.
func withoutLesson(x advice, id, source string) advice {
	x.Command = "cardea lessons rm " + id
	x.Text = cmp.Or(source, "the lesson") + " asks each time; without it, rules and the harness decide"
	return x
}

// milder returns the better effect for a rule that asks too often: deny if none of its
// calls ran, else defer, with which the harness decides.
func milder(r stats.Rule) string {
	return either(r.Ran == 0 && r.NotRun > 0, "deny", "defer")
}

// overridable reports whether an override replaces the opinion of a decider.
func overridable(decider, scope string) bool {
	return decider == "rules" && scope == "builtin" || decider == "roles"
}

// namedSource returns the source of a question that no command avoids.
func namedSource(by, source string) string {
	return "asked by " + by + prefixed(", see ", source)
}

// overrideFor returns the command that avoids the questions about a call: what "cardea
// suggest" finds, else one that names the call.
func overrideFor(p Process, a stats.Alike, role bool) string {
	call := approved{Tool: a.Tool, Text: a.Text}
	if a.Ran && !role && call.judge(p) {
		if lines, _, _ := call.trial.candidate("override"); len(lines) > 0 {
			return strings.ReplaceAll(lines[0], "'", `"`) // plain words, in double quotes like the other commands
		}
	}
	words := either(a.Tool != "Bash", "cardea override --tool "+a.Tool+" --file \""+a.Text+"\"", "cardea override --command \""+a.Text+"\"")
	words += onlyIf(role, " --role "+a.Role)
	return either(a.Ran, words+" --allow", words+" --deny")
}

// isPlainCommand reports whether a text is safe in a command line: words without anything
// that a shell or a glob interprets.
func isPlainCommand(s string) bool {
	return s != "" && len(s) <= 200 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@,+% ") == "" &&
		strings.TrimSpace(s) == s && !strings.HasPrefix(s, "-")
}

// milliseconds returns a time in microseconds as text for people.
func milliseconds(micros int64) string {
	return (time.Duration(micros) * time.Microsecond).Round(10 * time.Microsecond).String()
}
