package cli

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"cardea.dev/internal/memory/stats"
)

// barWidth is the length of the longest bar, in characters. A line then fits 80 columns.
const barWidth = 36

// show writes the figures for people.
func (c counted) show(s *screen, limit int) {
	if c.Calls == 0 {
		s.printf("nothing in the ledger answers\n")
		c.showNotes(s)
		return
	}
	s.printf("%s on %s, %s to %s\n", count(c.Calls, "call"), count(c.Days, "day"), c.From, c.To)
	c.showSaved(s)
	section(s, "calls by day", len(c.ByDay))
	legend(s)
	days := lastOf(c.ByDay, limit)
	chart(s, days, 10)
	rest(s, len(c.ByDay)-len(days), "earlier day")
	section(s, "who decided", len(c.Deciders))
	c.showDeciders(s)
	c.showEnds(s, limit)
	section(s, "roles", len(c.Roles))
	roles := listOf(c.Roles, func(r stats.Group) stats.Group {
		return stats.Group{Name: cmp.Or(r.Name, "(none)"), Effects: r.Effects}
	})
	chart(s, firstOf(roles, limit), 16)
	rest(s, len(roles)-len(firstOf(roles, limit)), "more role")
	if len(c.Rules) > 0 {
		c.showRules(s, limit)
	}
	c.showQuestions(s, limit)
	c.showLatency(s)
	c.showNotes(s)
}

// showEnds shows who finally decided, and where that differs from Cardea's answer.
func (c counted) showEnds(s *screen, limit int) {
	section(s, "who decided in the end", len(c.Ends))
	chart(s, listOf(c.Ends, func(g stats.Group) stats.Group {
		name := onlyIf(g.Name != "", stats.Who(g.Name)) + onlyIf(g.Name == "" && g.Effects.Allow > 0, "(it ran)")
		return stats.Group{Name: cmp.Or(name, "(unknown)"), Effects: g.Effects}
	}), 20)
	section(s, "where they differ", len(c.Differences))
	for _, d := range firstOf(c.Differences, limit) {
		s.printf("  %6d  %s\n", d.Calls, painted{bold, d.What})
		for _, t := range d.Commands {
			s.printf("          %6d  %s\n", t.Calls, inLine(t.Text))
		}
	}
}

// fewCalls is the least number of calls for meaningful percentiles.
const fewCalls = 20

func (c counted) showLatency(s *screen) {
	if c.Calls < fewCalls {
		return
	}
	section(s, "time for a verdict", 1)
	s.printf("  half within %s, 90 %% within %s, 99 %% within %s, the longest %s\n", milliseconds(c.Latency.P50), milliseconds(c.Latency.P90),
		milliseconds(c.Latency.P99), milliseconds(c.Latency.Max))
}

func (c counted) showNotes(s *screen) {
	section(s, "what the figures leave out", len(c.Notes))
	for _, n := range c.Notes {
		s.block("  ", n)
	}
}

func (c counted) showSaved(s *screen) {
	v := c.Saved
	s.printf("%s\n", painted{bold, count(v.Answered+v.Likely, "prompt") + " saved"})
	for _, x := range []struct {
		n    int
		what string
	}{{v.Answered, "allowed when the harness was about to ask"}, {v.Likely, "allowed before, in a mode in which the harness asks about such calls"},
		{v.Reading, "more were allowed that only read, about which a harness may not ask"}, {v.NoPrompt, "more were allowed in a mode in which the harness asks nobody"}} {
		s.printIf(x.n > 0, "  %6d  %s\n", x.n, x.what)
	}
}

// bar is a number of decisions, and how a chart shows it.
type bar struct {
	n     int
	mark  string
	style style
	word  string
}

// marks returns the pieces of a bar, by effect.
func marks(e stats.Effects) []bar {
	return []bar{{e.Allow, "█", green, "allowed"}, {e.Abstain + e.Defer, "░", faint, "left to the harness"}, {e.Ask, "?", yellow, "asked"}, {e.Deny + e.Halt, "×", red, "denied"}}
}

func legend(s *screen) {
	for _, m := range marks(stats.Effects{}) {
		s.printf("  %s %s", painted{m.style, m.mark}, m.word)
	}
	s.printf("\n")
}

// chart draws a bar for each group, in proportion to its calls.
func chart(s *screen, all []stats.Group, width int) {
	most := 1
	for _, g := range all {
		most = max(most, g.Effects.Total())
	}
	for _, g := range all {
		name := shorten(Plain(g.Name), width)
		s.printf("  %s  ", name+strings.Repeat(" ", width-utf8.RuneCountInString(name)))
		used := 0
		for _, m := range marks(g.Effects) {
			n := (m.n*barWidth + most - 1) / most // any number above 0 is visible
			n = min(n, barWidth-used)
			used += n
			s.printf("%s", painted{m.style, strings.Repeat(m.mark, n)})
		}
		s.printf("%s %7d\n", strings.Repeat(" ", barWidth-used), g.Effects.Total())
	}
}

func (c counted) showDeciders(s *screen) {
	chart(s, listOf(c.Deciders, func(d stats.Decider) stats.Group {
		share := fmt.Sprintf("%.1f %%", 100*float64(d.Decided)/float64(c.Calls))
		return stats.Group{Name: fmt.Sprintf("%-12s %7s", shorten(Plain(d.Name), 12), share), Effects: d.Effects}
	}), 20)
}

func (c counted) showRules(s *screen, limit int) {
	section(s, "rules", len(c.Rules))
	s.printf("  %-34s %7s %7s %7s %7s  %s\n", "", "allowed", "asked", "denied", "a day", "ran")
	rules := firstOf(c.Rules, limit)
	for _, r := range rules {
		ran := onlyIf(r.Ran+r.NotRun > 0, fmt.Sprintf("%d of %d", r.Ran, r.Ran+r.NotRun))
		s.printf("  %-34s %7d %7d %7d %7s  %s\n", shorten(Plain(r.By), 34), r.Effects.Allow, r.Effects.Ask, r.Effects.Deny+r.Effects.Halt, perDay(r.AsksADay), ran)
	}
	rest(s, len(c.Rules)-len(rules), "more rule")
}

func perDay(f float64) string {
	return onlyIf(f != 0, strconv.FormatFloat(f, 'f', 1, 64))
}

// showQuestions shows which questions can be avoided.
func (c counted) showQuestions(s *screen, limit int) {
	section(s, "questions that always end alike", len(c.Alike))
	alike := firstOf(c.Alike, limit)
	for i, a := range alike {
		ended := either(a.Ran, "always ran", "never ran")
		s.printf("  %s: %s, asked %s by %s\n", painted{bold, shorten(Plain(a.Text), commandWidth)}, ended, count(a.Asks, "time"), a.By)
		c.Advice[i].show(s)
	}
	rest(s, len(c.Alike)-len(alike), "more call")
	if many := c.Advice[len(c.Alike):]; len(many) > 0 {
		section(s, fmt.Sprintf("rules that ask more than %d times a day", stats.ManyAsks), len(many))
		for _, x := range many {
			s.printf("  %s\n", painted{bold, x.About})
			x.show(s)
		}
	}
}

func (a advice) show(s *screen) {
	s.printIf(a.Command != "", "      %s\n", a.Command)
	s.printIf(a.Text != "", "      %s\n", painted{faint, a.Text})
}

func firstOf[T any](all []T, limit int) []T {
	if limit > 0 && len(all) > limit {
		return all[:limit]
	}
	return all
}

func lastOf[T any](all []T, limit int) []T {
	return all[len(all)-len(firstOf(all, limit)):]
}

// rest writes how many were left out.
func rest(s *screen, n int, what string) {
	s.printIf(n > 0, "  %s; --limit 0 shows all\n", count(n, what))
}
