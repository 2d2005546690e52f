// Package conformance checks every harness adapter: answers are well formed, none is weaker than
// the verdict, and the vendor's own samples are read correctly.
//
// A model of the harness defines the meaning of an answer. It is written in the adapter's test from
// the vendor's tables and not from the renderer, so that a mistake has to be made twice to stay
// unseen.
package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/harness"
)

// Outcome is the reaction of a harness to a hook's answer.
type Outcome uint8

// The outcomes.
const (
	// OwnFlow: the harness continues as without a hook.
	OwnFlow Outcome = iota
	// Runs: the tool runs without a prompt.
	Runs
	// Prompts: a person is asked.
	Prompts
	// Blocked: the tool does not run.
	Blocked
	// Stopped: the tool does not run and the agent stops.
	Stopped
)

// String returns the outcome's word.
func (o Outcome) String() string {
	return [...]string{"own flow", "runs", "prompts", "blocked", "stopped"}[o]
}

// Suite holds the adapter under test and its samples.
type Suite struct {
	Adapter harness.Adapter
	// Outcome is the model: it returns the harness's reaction to an answer to an event.
	Outcome func(ev *cardea.Event, a harness.Output) Outcome
	// PreToolUse and PermissionRequest are messages about a known tool with documented fields only.
	// The suite renders answers to them, and mutates them.
	PreToolUse, PermissionRequest []string
	// PreSkillShellCommand are such messages about commands in the files of skills, nil for a
	// harness without this event.
	PreSkillShellCommand []string
	// AskPerson is a PreToolUse message of a tool that is itself a question to the person, "" for a
	// harness without one.
	AskPerson string
	// Inputs are the top-level keys that may hold the tool input.
	Inputs []string
	// Folder is the harness's folder in the shared test material, or "". Its payloads, and those in
	// the folder testdata of the adapter, must be read without a defect.
	Folder string
	// Expect returns the canonical kind of such a payload, by file name, and the tool, "" for an
	// event that is not about a tool.
	Expect func(file string) (cardea.Kind, string)
	// Replies are golden responses that the adapter must write, by file name.
	Replies map[string]Reply
	// Effects are the outcomes of golden responses, by file name, which the model must agree with.
	Effects map[string]Outcome
	// Matrix names the rows of the failure matrix, by kind of event.
	Matrix map[cardea.Kind]string
}

// Reply is a message with the verdict on it.
type Reply struct {
	Message string
	Verdict cardea.Verdict
}

// messages returns the messages to render for and to mutate.
func (s Suite) messages() []string {
	return slices.Concat(s.PreToolUse, s.PermissionRequest, s.PreSkillShellCommand)
}

// Run runs the suite.
func Run(t *testing.T, s Suite) {
	t.Run("rendering", s.rendering)
	t.Run("effects", s.effects)
	t.Run("long texts", s.longTexts)
	t.Run("the person's own questions", s.personsOwn)
	t.Run("mutations", s.mutations)
	t.Run("golden payloads", s.golden)
	if s.Folder != "" {
		t.Run("golden responses", s.replies)
		t.Run("failure matrix", s.matrix)
		t.Run("decision map", s.decisionMap)
	}
}

// Marks in the texts of a verdict, to be found in the answer.
const (
	markReason  = "why-for-people"
	markMessage = "why-for-the-model"
	markInstead = "better-way"
	markContext = "good-to-know"
	markRewrite = "rewritten-value"
	markIssue   = "file-is-broken"
)

// rendering checks the answer to every message in every mode, for every effect and combination of
// extras.
func (s Suite) rendering(t *testing.T) {
	for _, raw := range append(s.messages(), "{}") {
		for _, mode := range modes {
			for _, effect := range append(cardea.Effects(), cardea.Effect(99)) {
				for extras := 0; extras < 32; extras++ {
					ev := *s.parse(t, raw)
					ev.Mode = mode
					v := verdict(effect, extras)
					a := s.answer(&ev, v)
					if err := s.check(&ev, v, a); err != nil {
						t.Fatalf("%s, mode %q, extras %05b: %v\nstdout: %sstderr: %s", ev.Kind, mode, extras, err, a.Stdout, a.Stderr)
					}
				}
			}
		}
	}
}

// verdict returns a verdict with some of the extras: a context, a rewrite, a better way, issues, a
// withheld reason.
func verdict(effect cardea.Effect, extras int) cardea.Verdict {
	v := cardea.Verdict{Effect: effect, By: "rules:r", Reason: markReason, Message: markReason}
	if extras&1 != 0 {
		v.Context = []string{markContext}
	}
	if extras&2 != 0 && effect != cardea.Abstain && effect != cardea.Defer { // the gate asks about a rewrite that no rule allows
		v.Rewrite = map[string]any{"command": markRewrite}
	}
	if extras&4 != 0 {
		v.Instead = markInstead
	}
	if extras&8 != 0 {
		v.Issues = cardea.Issues{cardea.BrokenFile.Issue("", diagnostic.CodeSyntax, "", markIssue)}
	}
	if extras&16 != 0 {
		v.Message = markMessage
	}
	return v
}

// check checks the properties of every answer.
func (s Suite) check(ev *cardea.Event, v cardea.Verdict, a harness.Output) error {
	if a.Exit != 0 && a.Exit != 2 {
		return fmt.Errorf("exit %d", a.Exit)
	}
	if a.Exit == 2 && (len(bytes.TrimSpace(a.Stderr)) == 0 || len(a.Stdout) > 0) {
		return fmt.Errorf("exit 2 needs a reason on stderr and nothing on stdout")
	}
	if err := oneObject(a.Stdout); err != nil {
		return err
	}
	all := string(a.Stdout) + string(a.Stderr)
	if len(v.Issues) > 0 && !strings.Contains(all, markIssue) {
		return fmt.Errorf("the trouble is not told")
	}
	got := s.Outcome(ev, a)
	var limits []cardea.Shortfall
	if s.Adapter != nil {
		limits = cardea.Express(v, s.Adapter.Capabilities(), ev).Limits
	}
	own := got == OwnFlow && slices.Contains(limits, cardea.OwnPrompt) // its own prompt follows
	if asked := v.Rewrite != nil && got >= Prompts; !asked && !own && !permitted(ev.Kind, v, got) {
		return fmt.Errorf("a verdict of %s is understood as: %s", v.Effect, got)
	}
	if got >= Blocked {
		if strings.Contains(all, markRewrite) {
			return fmt.Errorf("a denied call is rewritten")
		}
		if v.Instead != "" && !strings.Contains(all, "Instead: "+markInstead) {
			return fmt.Errorf("the better way is not told")
		}
	}
	dropped := slices.Contains(limits, cardea.NoRewrite)
	if v.Rewrite != nil && (got == Runs || got == Prompts && !dropped) && !strings.Contains(all, markRewrite) {
		return fmt.Errorf("the call goes on as it was, though it is to be rewritten")
	}
	if v.Effect == cardea.Deny && v.Message != v.Reason && strings.Contains(all, v.Reason) {
		return fmt.Errorf("the model is told a reason that is withheld from it")
	}
	return speaks(a, got)
}

// speaks checks the properties of every reason: it begins with the speaker, ends with the rule, and
// the better way and the person's next step appear once.
func speaks(a harness.Output, got Outcome) error {
	texts := []string{string(a.Stderr)}
	if p, err := harness.Read(a.Stdout); err == nil {
		eachText(harness.Decoded(p.Root()), func(text string) { texts = append(texts, text) })
	}
	all, next := strings.Join(texts, "\n"), 0
	if got >= Blocked {
		next = 1
	}
	for _, text := range texts {
		if !strings.Contains(text, markReason) && !strings.Contains(text, markMessage) {
			continue
		}
		if text = strings.TrimSpace(strings.ReplaceAll(text, "Cardea: "+markIssue, "")); !strings.HasPrefix(text, "Cardea: ") || !strings.HasSuffix(text, "(r)") {
			return fmt.Errorf("a reason does not say who speaks: %s", text)
		}
	}
	switch {
	case strings.Contains(all, "Cardea: Cardea"):
		return fmt.Errorf("the name comes twice")
	case strings.Count(all, "Instead: ") > 1:
		return fmt.Errorf("the better way comes twice")
	case strings.Count(all, harness.NextStep) != next && got != Prompts:
		return fmt.Errorf("the next step comes %d times", strings.Count(all, harness.NextStep))
	}
	return nil
}

// oneObject returns an error if stdout is neither empty nor one object.
func oneObject(out []byte) error {
	if len(out) == 0 {
		return nil
	}
	if bytes.Count(out, []byte("\n")) != 1 || out[len(out)-1] != '\n' {
		return fmt.Errorf("stdout is not one line")
	}
	p, err := harness.Read(out)
	if err != nil {
		return err
	}
	if defects := p.Defects(keys(p.Root())...); len(defects) > 0 {
		return fmt.Errorf("faults in stdout: %v", defects)
	}
	return nil
}

// permitted reports whether an answer lets no more through than the verdict, compared with the
// harness's own flow.
func permitted(kind cardea.Kind, v cardea.Verdict, got Outcome) bool {
	if !kind.Answered() { // there is no call to let through
		return got == OwnFlow || got >= Blocked && v.Effect >= cardea.Deny
	}
	switch v.Effect {
	case cardea.Abstain, cardea.Defer:
		return got == OwnFlow
	case cardea.Allow:
		return got == Runs || got == OwnFlow
	case cardea.Ask:
		return got >= Prompts || got == OwnFlow && kind == cardea.PermissionRequest
	case cardea.Halt, cardea.Deny:
		return got >= Blocked
	}
	return got >= Blocked // an unknown effect
}

// longTexts checks that no text of an answer exceeds the limit of harnesses.
func (s Suite) longTexts(t *testing.T) {
	long := strings.Repeat("ü😀", 40_000)
	for _, raw := range s.messages() {
		for _, effect := range cardea.Effects() {
			v := cardea.Verdict{Effect: effect, Reason: long, Message: long, Instead: long, Context: []string{long, long},
				Issues: cardea.Issues{cardea.Warning("", diagnostic.CodeIgnored, "", long)}}
			a := s.answer(s.parse(t, raw), v)
			if err := oneObject(a.Stdout); err != nil {
				t.Fatal(err)
			}
			if len(a.Stdout) == 0 {
				continue
			}
			p, err := harness.Read(a.Stdout)
			if err != nil {
				t.Fatal(err)
			}
			eachText(harness.Decoded(p.Root()), func(text string) {
				if n := len([]rune(text)); n*2 >= 20_000 || utf16Len(text) >= 10_000 {
					t.Errorf("%s: a text of %d characters", effect, n)
				}
			})
		}
	}
}

func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// eachText calls f with every text in a decoded JSON value.
func eachText(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, e := range v {
			eachText(e, f)
		}
	case map[string]any:
		for _, e := range v {
			eachText(e, f)
		}
	}
}

// personsOwn checks that an allow never answers a question that only the person may answer.
func (s Suite) personsOwn(t *testing.T) {
	allow := cardea.Verdict{Effect: cardea.Allow, Reason: "r", Message: "r"}
	if s.AskPerson != "" {
		ev := s.parse(t, s.AskPerson)
		if ev.Kind != cardea.PreToolUse || !harness.AsksPerson(ev.Call) {
			t.Fatalf("AskPerson is %s of %+v", ev.Kind, ev.Call)
		}
		if got := s.Outcome(ev, s.answer(ev, allow)); got != OwnFlow {
			t.Errorf("PreToolUse of %s: %s", ev.Call.Tool, got)
		}
	}
	access := func(a cardea.Access, program string) func(*cardea.Event) {
		return func(ev *cardea.Event) {
			ev.Call.Parts = []cardea.Part{{CommandFacts: cardea.CommandFacts{Command: []string{program}, Access: []cardea.Access{a}}}}
		}
	}
	cases := map[string]func(*cardea.Event){
		"native ask":     func(ev *cardea.Event) { ev.NativeAsk = true },
		"unsandboxed":    func(ev *cardea.Event) { ev.Call.Unsandboxed = true },
		"question":       func(ev *cardea.Event) { ev.Call.Tool = "AskUserQuestion" },
		"plan":           func(ev *cardea.Event) { ev.Call.Tool = "ExitPlanMode" },
		"no call":        func(ev *cardea.Event) { ev.Call = nil },
		"protected":      access(cardea.Access{Kind: cardea.Write, Path: "/p/.git/hooks/pre-commit"}, "tee"),
		"critical":       access(cardea.Access{Kind: cardea.Delete, Path: "/usr"}, "rm"),
		"unknown delete": access(cardea.Access{Kind: cardea.Delete}, "rm"),
		"unknown write":  access(cardea.Access{Kind: cardea.Write}, "tee"),
	}
	for _, raw := range s.PermissionRequest {
		for name, change := range cases {
			ev := s.parse(t, raw)
			if got := s.Outcome(ev, s.answer(ev, allow)); got != Runs {
				t.Fatalf("a plain allow: %s", got)
			}
			change(ev)
			if got := s.Outcome(ev, s.answer(ev, allow)); got != OwnFlow {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
}

// answer returns the adapter's output for a verdict, through the gate's last step.
func (s Suite) answer(ev *cardea.Event, v cardea.Verdict) harness.Output {
	return s.Adapter.Render(ev, cardea.Express(v, s.Adapter.Capabilities(), ev))
}

func (s Suite) parse(t *testing.T, raw string) *cardea.Event {
	t.Helper()
	p, err := harness.Read([]byte(raw))
	if err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return s.Adapter.Parse(p)
}

func keys(o *harness.Object) []string {
	var out []string
	for _, e := range o.Entries() {
		out = append(out, e.Key)
	}
	return out
}

// sameJSON reports whether two texts hold the same JSON, or are both empty.
func sameJSON(a, b []byte) bool {
	a, b = bytes.TrimSpace(a), bytes.TrimSpace(b)
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	xs, _ := json.Marshal(x)
	ys, _ := json.Marshal(y)
	return bytes.Equal(xs, ys)
}
