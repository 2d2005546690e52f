package gate

import (
	"context"
	"os"
	"regexp"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/decide/byjudge"
	"cardea.dev/internal/harness/call"
)

type slow struct{ until chan struct{} }

func (slow) Name() string { return "slow" }

func (d slow) Decide(context.Context, *cardea.Event) ([]cardea.Opinion, error) {
	<-d.until
	return nil, nil
}

type broken struct{}

func (broken) Name() string { return "broken" }

func (broken) Decide(context.Context, *cardea.Event) ([]cardea.Opinion, error) { panic("out of order") }

// Decisions made before a decider hangs apply. A decider that fails has the effect of the
// failure table.
func TestDecidersEndInTime(t *testing.T) {
	ev := func(command string) *cardea.Event {
		return &cardea.Event{Kind: cardea.PreToolUse, Mode: cardea.ModeBypass, Call: &cardea.Call{Tool: "Bash", Known: true, Input: map[string]any{"command": command}}}
	}
	until := make(chan struct{})
	defer close(until)
	analyse := func(ev *cardea.Event) *cardea.Event { return call.Analyse(ev, knowledge.System{}) }
	g := Build(inforce.Load(inforce.Where{}), SessionFacts{}, analyse, nil)
	own := g.Placements
	g.Placements = append(own[:len(own):len(own)], cardea.Placement{Decider: slow{until}})
	for command, want := range map[string]cardea.Effect{"git push --force": cardea.Deny, "true": cardea.Ask} {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		v := g.Decide(ctx, analyse(ev(command)))
		cancel()
		if v.Effect != want || len(v.Issues) != 1 || v.Issues[0].Failure != cardea.OutOfTime {
			t.Errorf("%s: %s, %v; want %s and a word about the time", command, v.Effect, v.Issues, want)
		}
	}
	g.Placements = append(own[:len(own):len(own)], cardea.Placement{Decider: broken{}})
	if v := g.Decide(context.Background(), analyse(ev("true"))); v.Effect != cardea.Ask || len(v.Issues) != 1 || v.Issues[0].Failure != cardea.Panicked {
		t.Errorf("a panic where nobody attends: %s, %v", v.Effect, v.Issues)
	}
}

// TestOrderOfThePage checks that the table in docs/design.md has all deciders in the order in
// which the gate asks them, with their stages.
func TestOrderOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	g := Build(inforce.Load(inforce.Where{}), SessionFacts{Judge: &byjudge.Decider{}}, nil, nil)
	rows := regexp.MustCompile(`(?m)^\| (\S+) \| (guards|near|judge) \|`).FindAllSubmatch(page, -1)
	if len(rows) != len(g.Placements) {
		t.Errorf("docs/design.md has %d deciders, and the gate has %d", len(rows), len(g.Placements))
	}
	for i, row := range rows[:min(len(rows), len(g.Placements))] {
		p := g.Placements[i]
		if got, want := string(row[1])+" in "+string(row[2]), p.Decider.Name()+" in "+p.Stage.String(); got != want {
			t.Errorf("row %d of the deciders in docs/design.md is %s, and the gate has %s", i+1, got, want)
		}
	}
}
