package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"

	"cardea.dev/internal/ask/judge/judgeeval"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
	"github.com/spf13/cobra"
)

// evalFlags are the flags of judge eval.
type evalFlags struct {
	cassette, provider string
	json               bool
}

// The limits of the files, in bytes.
const (
	maxCaseFile = 64 << 20
	maxCassette = 64 << 20
)

// judgeEvalCommand returns the command "judge eval".
func judgeEvalCommand(p Process) *cobra.Command {
	var f evalFlags
	c := &cobra.Command{
		Use:   "eval FILE [--cassette FILE] [--provider TYPE] [--json]",
		Short: "measure the judge by labelled calls",
		Long: `Ask the judge about labelled calls, and compare its answers with the labels: how
often it decides as the label says, whether it is right as often as it is sure,
what it allows against the label, what it costs and how long it takes.

The calls are one JSON object a line (docs/judge.md). With --cassette, answers
that are recorded in the file are not asked for again, and new ones are added to
it. Without a judge in the settings and without --provider only recorded answers
count. Budgets of the settings hold.`,
		Example: `  cardea judge eval testdata/judge/calls.jsonl --provider ollama --cassette answers.jsonl`,
		Args:    oneArgument,
		RunE:    func(_ *cobra.Command, args []string) error { return evaluateJudge(p, f, args[0]) },
	}
	fs := inOrder(c)
	fs.StringVar(&f.cassette, "cassette", "", "a file of recorded answers")
	fs.StringVar(&f.provider, "provider", "", "ask this type of provider alone")
	fs.BoolVar(&f.json, "json", false, "answer as one JSON object")
	return c
}

// evaluateJudge asks the judge about the labelled calls in a file, and shows a report.
func evaluateJudge(p Process, f evalFlags, file string) error {
	data, err := state.ReadLinked(within(p.Dir, file), maxCaseFile)
	if err != nil {
		return fmt.Errorf("read the calls: %w", err)
	}
	cases, problems := judgeeval.ReadCases(file, data)
	if len(problems) > 0 {
		return p.answerDiagnostics(f.json, problems, "")
	}
	l, pl, err := gather(p, nil)
	if err != nil {
		return err
	}
	config, err := chainOf(l.Settings.Judge, f.provider)
	if err != nil {
		return err
	}
	e := judgeeval.Subject{Redactor: redact.New(), Role: l.JudgeRole, Session: "evaluation", Each: p.progressOf(len(cases))}
	for _, one := range config.Providers() {
		e.Name += one.Type + " " + one.Model + "\n"
	}
	if (l.Settings.Judge.Enabled || f.provider != "") && p.Judge != nil {
		e.Asker = p.Judge(pl.JudgeRequest(config), l.Settings.FromEnv)
	}
	if f.cassette != "" {
		if e.Cassette, err = readCassette(within(p.Dir, f.cassette)); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	results := e.Run(ctx, cases)
	if e.Cassette.Changed() {
		data, err := e.Cassette.Bytes()
		if err == nil {
			err = state.Write(within(p.Dir, f.cassette), data)
		}
		if err != nil {
			return fmt.Errorf("write the recorded answers: %w", err)
		}
	}
	r := judgeeval.Sum(results, l.JudgeThreshold())
	return failIf(r.Failed > 0, p.answer(f.json, r, func(s *screen) { showEvaluation(s, r) }))
}

// readCassette reads recorded answers. A missing file has none.
func readCassette(path string) (*judgeeval.Cassette, error) {
	data, err := state.ReadLinked(path, maxCassette)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the recorded answers: %w", err)
	}
	c, problems := judgeeval.ReadCassette(path, data)
	if len(problems) > 0 {
		return nil, problems[0]
	}
	return c, nil
}

// progressOf returns a function that shows the progress at a terminal, or nil without one.
func (p Process) progressOf(n int) func(done int) {
	if !isTerminal(p.Stderr) {
		return nil
	}
	return func(done int) {
		if done%10 == 0 || done == n {
			_, _ = fmt.Fprintf(p.Stderr, "cardea: %d of %d calls\n", done, n)
		}
	}
}

// showEvaluation writes a report for people.
func showEvaluation(s *screen, r judgeeval.Report) {
	s.printf("%s, %d answered, %d without an answer, %d from the cassette\n", count(r.Cases, "call"), r.Answered, r.Failed, r.Replayed)
	showMatrix(s, "what the judge said", r.Said)
	showMatrix(s, fmt.Sprintf("what counts, with confidence %.2f needed", r.Threshold), r.Counted)
	heading(s, "allowed against the label")
	s.noneIf(len(r.WrongAllows) == 0)
	for _, id := range r.WrongAllows {
		s.printf("  %s\n", id)
	}
	heading(s, "texts that speak to the judge")
	s.noneIf(len(r.Attacks) == 0)
	for _, a := range r.Attacks {
		s.printf("  %-14s %3d calls, %d allowed against the label\n", a.Where, a.Cases, a.WrongAllows)
	}
	heading(s, "confidence")
	s.printf("  from   answers  mean   right\n")
	for _, b := range r.Calibration {
		s.printf("  %.1f    %7d  %.2f   %3.0f %%\n", b.From, b.Cases, b.Mean, 100*b.Right)
	}
	heading(s, "cost and time")
	unpriced := onlyIf(r.Unpriced > 0, fmt.Sprintf(", and %s whose price is not known", count(r.Unpriced, "answer")))
	s.printf("  %d tokens read, %d written, $%s%s\n", r.TokensIn, r.TokensOut, r.Cost.String(), unpriced)
	s.printf("  half of the answers within %d ms, nine of ten within %d ms, the slowest %d ms\n", r.Median, r.P90, r.Slowest)
	if len(r.Failures) > 0 {
		heading(s, "without an answer")
		for i, f := range r.Failures {
			if i == 10 {
				s.printf("  and %d more\n", len(r.Failures)-i)
				break
			}
			s.printf("  %s: %s\n", f.ID, f.Why)
		}
	}
}

func showMatrix(s *screen, title string, m [3][3]int) {
	heading(s, title)
	s.printf("  %-10s", "label")
	for _, d := range judgeeval.Decisions() {
		s.printf(" %7s", d)
	}
	s.printf("\n")
	for i, d := range judgeeval.Decisions() {
		s.printf("  %-10s %7d %7d %7d\n", d.String(), m[i][0], m[i][1], m[i][2])
	}
}
