package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"cardea.dev/agents"
	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/ask/supervisor"
	"cardea.dev/internal/ask/supervisor/post"
	"cardea.dev/internal/base/person"
	"cardea.dev/internal/command/redact"
	"github.com/spf13/cobra"
)

// superviseCommand returns the command "supervise".
func superviseCommand(p Process) *cobra.Command {
	var team string
	var agent bool
	c := &cobra.Command{
		Use:   "supervise [--team NAME] [--agent]",
		Short: "answer the judge's questions of a team by the chain of providers",
		Long: `Answer the questions of all sessions of a team whose settings say "judge: {backend:
supervisor}", by the chain of providers of your own settings, until you end it. Only
a person may start it. With --agent it prints the instructions of an agent that does
the same, and ends. See docs/supervisor.md.`,
		Example: "  cardea supervise --team alpha\n  cardea supervise --agent > .claude/agents/cardea-supervisor.md",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			if agent {
				_, err := io.WriteString(p.Stdout, agents.Supervisor)
				return err
			}
			return supervise(p, team)
		},
	}
	c.Flags().StringVar(&team, "team", "", "the team, by the harness's name (default: the sessions of no team)")
	c.Flags().BoolVar(&agent, "agent", false, "print the instructions of an agent that is a supervisor")
	return c
}

// supervise answers the questions of a team until the person ends it.
func supervise(p Process, team string) error {
	d, err := registrarHere(p)
	if err != nil {
		return err
	}
	config, err := chainOf(d.Loaded.Settings.Judge, "")
	if err != nil {
		return err
	}
	if err := p.byPerson("answer for "+cmp.Or(prefixed("the team ", team), "the sessions of no team"), func(s *screen) { s.printf("team %s\n", team) }); err != nil {
		return err
	}
	this, err := person.This()
	if err != nil {
		return err
	}
	posts := post.Posts{State: d.Place.State, Runtime: d.Place.Dirs.Runtime}
	held, err := posts.Appoint(post.Post{Team: team, Process: this, By: d.By, At: p.Now().UTC()})
	if err != nil {
		return err
	}
	defer func() { _ = posts.Dismiss(held) }() // the record then names a process that has ended
	server, err := supervisor.Listen(posts, held)
	if err != nil {
		return err
	}
	ctx, stop := untilEnded()
	defer stop()
	s := superviser{process: p, asker: p.Judge(d.Place.JudgeRequest(config), d.Loaded.Settings.FromEnv)}
	if err := p.say("Answering. Ctrl+C ends it."); err != nil {
		return err
	}
	return server.Serve(ctx, s.answer)
}

// superviser answers with a judge, and shows its answers to the person.
type superviser struct {
	process Process
	asker   judge.Asker
	mu      sync.Mutex // protects the output
}

// answer asks the judge a team's question, and shows the answer.
func (s *superviser) answer(ctx context.Context, q supervisor.Asked) (supervisor.Reply, error) {
	a, err := s.asker.Ask(ctx, q.Question)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.show(q, "no answer", err.Error())
		return supervisor.Reply{}, err
	}
	text, err := json.Marshal(struct {
		Decision   string      `json:"decision"`
		Confidence float64     `json:"confidence"`
		Reason     redact.Text `json:"reason"`
		Rule       redact.Text `json:"rule"`
	}{a.Decision.String(), a.Confidence, a.Reason, a.Rule})
	s.show(q, a.Decision.String(), fmt.Sprintf("%.2f %s", a.Confidence, a.Reason))
	return supervisor.Reply{Answer: text, Model: a.Provider + " " + a.Model}, err
}

// show writes an answer and its session.
func (s *superviser) show(q supervisor.Asked, word, why string) {
	out := screenOn(s.process.Stdout, s.process.Env)
	out.printf("%s  %-9s  session %s  %s\n", s.process.Now().Local().Format("15:04:05"), word, Plain(q.Session), Plain(why))
}
