package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/ask/judge/question"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/decide/byjudge"
	"github.com/spf13/cobra"
)

// judgeFlags are the flags of judge.
type judgeFlags struct {
	tryFlags
	provider string
	dryRun   bool
}

// judgeCommand returns the command "judge".
func judgeCommand(p Process) *cobra.Command {
	f := judgeFlags{}
	c := &cobra.Command{
		Use:   "judge [flags] \"<command or input JSON>\"",
		Short: "show what the judge is asked about a call, and what it answers",
		Long: `Show the question about a call as it is sent to the judge, the answer, what it
costs and how long it took.

The question goes to the providers of judge.chain in the settings, also while
judge.enabled is false. With --dry-run nothing is sent, and no command for a key
runs. Nothing is remembered, and the call does not run.

The argument is a shell command. With --tool it is the input of that tool.`,
		Example: `  cardea judge --dry-run "docker compose up -d"
  cardea judge --provider ollama "docker compose up -d"
  cardea judge eval calls.jsonl --cassette answers.jsonl`,
		Args: oneCommand,
		RunE: func(_ *cobra.Command, args []string) error { return askJudge(p, f, args[0]) },
	}
	f.event = string(cardea.PermissionRequest)
	fs := inOrder(c)
	fs.StringVar(&f.provider, "provider", "", "ask this type of provider alone: "+strings.Join(judge.Types(), ", "))
	fs.BoolVar(&f.dryRun, "dry-run", false, "show the question, and send nothing")
	fs.StringVar(&f.cwd, "cwd", "", "the folder in which the call would run (default: the current one)")
	fs.StringVar(&f.role, "role", "", "the agent's role")
	fs.StringVar(&f.tool, "tool", "Bash", "the tool, by its canonical name or a harness's")
	fs.StringVar(&f.harness, "harness", "claude-code", "the harness that would send the call")
	fs.StringVar(&f.mode, "mode", "", "the permission mode, in Claude Code's words")
	fs.StringVar(&f.session, "session", "", "the session, with its role, task and prompt")
	fs.BoolVar(&f.json, "json", false, "answer as one JSON object")
	c.AddCommand(judgeEvalCommand(p))
	return c
}

// judgeJSON is the JSON of the command. Its names must not change (docs/judge.md).
type judgeJSON struct {
	// Guards is the decision before the judge is asked, and By its decider. Asks is set if the
	// hook would ask the judge.
	Guards cardea.Effect `json:"guards"`
	By     string        `json:"by"`
	Asks   bool          `json:"asks"`
	// Whole is false if the judge does not see the whole call.
	Whole      bool              `json:"whole"`
	System     redact.Text       `json:"system"`
	User       redact.Text       `json:"user"`
	PromptHash string            `json:"prompt_hash"`
	PolicyHash string            `json:"policy_hash"`
	Threshold  float64           `json:"threshold"`
	Answer     *judge.SentAnswer `json:"answer,omitempty"`
	// Effect is the effect of the answer, Covers the parts that an allow covers.
	Effect *cardea.Effect `json:"effect,omitempty"`
	Covers []int          `json:"covers,omitempty"`
	Error  string         `json:"error,omitempty"`
	// enabled is set if the hook asks the judge.
	enabled bool
}

// chainOf returns the judge's configuration, with only the providers of a type unless
// provider is "".
func chainOf(s settings.JudgeSettings, provider string) (judge.Config, error) {
	c := s.Config
	if err := c.Usable(); err != nil || provider == "" {
		return c, err
	}
	if !slices.Contains(judge.Types(), provider) {
		return c, wrongUsage{fmt.Errorf("there is no type of provider %q; use one of %s", provider, strings.Join(judge.Types(), ", "))}
	}
	chain := slices.DeleteFunc(c.Providers(), func(p judge.Provider) bool { return p.Type != provider })
	if len(chain) == 0 {
		chain = []judge.Provider{judge.Provider{Type: provider}.Complete()}
	}
	if err := chain[0].Check(); err != nil {
		return c, fmt.Errorf("%w; write it into judge.chain", err)
	}
	c.Chain = chain
	return c, nil
}

// askJudge asks the judge about a call, and shows question and answer.
func askJudge(p Process, f judgeFlags, text string) error {
	m, err := f.message(p, text)
	if err != nil {
		return wrongUsage{err}
	}
	j := newEvaluation(p, m.event)
	request := j.JudgeRequest()
	if request.Config, err = chainOf(j.Loaded.Settings.Judge, f.provider); err != nil {
		return err
	}
	if f.provider != "" {
		request.Terminal = nil // the chain is asked
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit.Judge)
	defer cancel()
	v := j.Verdict(ctx)
	r := redact.New()
	about, issues := j.AboutCall(ctx, j.Event)
	p.tell(issues)
	about.Standing, about.Opinions = v.Parts, v.Opinions
	q := question.Of(r, j.Event, about)
	prompt := q.Prompt(r)
	out := judgeJSON{Guards: v.Effect, By: v.By, Asks: trial{evaluation: j, verdict: v}.reachesJudge(), Whole: q.Whole(), System: prompt.System, User: prompt.User,
		PromptHash: question.PromptHash(), PolicyHash: question.PolicyHash(r, about), Threshold: j.JudgeThreshold(), enabled: j.Loaded.Settings.Judge.Enabled}
	if f.dryRun {
		return p.answer(f.json, out, func(s *screen) { out.showQuestion(s) })
	}
	if p.Judge == nil {
		return errors.New("this program cannot ask a judge; install cardea and cardea-engine anew")
	}
	d := byjudge.New(byjudge.Options{Asker: p.Judge(request, j.Loaded.Settings.FromEnv), Redactor: r, Threshold: out.Threshold, AllowOpaque: j.Loaded.Settings.Judge.AllowOpaque,
		About: func(context.Context, *cardea.Event) (question.About, cardea.Issues) { return about, nil }})
	_, _ = d.DecideAfter(ctx, j.Event, v.Parts, v.Opinions) // the answer is read next
	asked := d.About(j.Event.Call)
	switch {
	case asked == nil:
		return errors.New("the call has nothing to be judged")
	case asked.Err != nil:
		out.Error = asked.Err.Error()
	default:
		out.Answer, out.Effect, out.Covers = asked.Answer.Sent(), &asked.Effect, asked.Covers
	}
	return failIf(out.Error != "", p.answer(f.json, out, func(s *screen) {
		out.showQuestion(s)
		out.showAnswer(s)
	}))
}

// showQuestion shows the question as it is sent.
func (o judgeJSON) showQuestion(s *screen) {
	s.printf("%s\n", painted{bold, "the question, as it is sent"})
	s.printf("  %s\n", painted{faint, "what the judge is told to do"})
	s.block("    ", o.System.String())
	s.printf("  %s\n", painted{faint, "what it is asked"})
	s.block("    ", o.User.String())
	s.printIf(!o.Whole, "  the judge does not see all of the call, so an allow would count as a question to you\n")
	switch {
	case o.Asks:
		s.printf("\nno rule decides about this call, so the judge would be asked%s\n", onlyIf(!o.enabled, " if judge.enabled were true"))
	default:
		s.printf("\nthe judge would not be asked: the call is decided before (%s%s)\n", effect(o.Guards), prefixed(", ", o.By))
	}
}

// showAnswer shows the answer.
func (o judgeJSON) showAnswer(s *screen) {
	s.printf("\n%s\n", painted{bold, "the answer"})
	if o.Answer == nil {
		s.printf("  none: %s\n", o.Error)
		return
	}
	a := o.Answer
	said, err := cardea.ParseEffect(a.Decision)
	if err != nil {
		return
	}
	s.printf("  %s, confidence %.2f  %s\n", effect(said), a.Confidence, painted{faint, a.Provider + " " + a.Model})
	s.block("  ", a.Reason.String())
	if a.Rule.String() != "" {
		s.block("  it proposes a rule: ", a.Rule.String())
	}
	switch {
	case *o.Effect == cardea.Abstain:
		s.printf("  counts for nothing: an allow covers no part that is deferred or cannot be seen through\n")
	case *o.Effect != said:
		s.printf("  counts as %s: confidence %.2f is needed, and all of the call must be seen\n", effect(*o.Effect), o.Threshold)
	default:
		s.printf("  counts as %s\n", effect(*o.Effect))
	}
	cost := either(a.Priced, "$"+a.Cost.String(), "its price is not known")
	s.printf("  took %s; %d tokens read, %d written; %s\n", a.Took.Round(time.Millisecond).String(), a.TokensIn, a.TokensOut, cost)
	for _, f := range a.Failed {
		s.printf("  %s did not answer: %s\n", f.Provider, f.Why)
	}
}
