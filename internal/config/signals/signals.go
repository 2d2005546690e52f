// Package signals answers the signals that policies need: it runs their scripts,
// shows them the event without secrets, and answers itself what built-in policies
// ask of Cardea.
package signals

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/script"
	"cardea.dev/internal/decide/policy"
)

// Runner runs the signals that policies need, each once an event.
type Runner struct {
	// Project is the project's folder, in which scripts run; where it is "",
	// they run in the event's folder.
	Project string
	// Find finds the script of a signal, or what is answered in its place. Both
	// are empty where there is none.
	Find func(f policy.Folder, name string) (*script.Signal, policy.Answer)
	// Redact takes secrets from a text; nil shows no text. Secrets are the
	// secrets in a text, as they stand there; nil finds none.
	Redact  func(string) string
	Secrets func(string) []string
	// Judge asks the judge about an event, for the signal [Watchdog]; nil: nobody is asked.
	Judge func(ctx context.Context, ev *cardea.Event) any
	// Judged is set where the judge is on, so that it answers the signal where it is asked.
	Judged bool
	// State is the folder of Cardea's state, Start that in which the session
	// began: with the project, they say which checks succeeded.
	State, Start string

	mu sync.Mutex
	// about is the event that the rest belongs to: a call that was rewritten is
	// another one.
	about   *cardea.Event
	answers map[script.Signal]policy.Answer
	stdin   []byte
	// secrets are those of the event, and cut tells that not all of a text is
	// shown.
	secrets []string
	cut     bool
}

// turn forgets what belongs to another event.
func (r *Runner) turn(ev *cardea.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.about != ev {
		r.about, r.answers, r.stdin = ev, map[script.Signal]policy.Answer{}, nil
	}
}

// reserve is how much of the time that is left is kept for what comes after the
// signals.
const reserve = 0.15

// Gather runs signals for the policies of a folder. A name means the signal of its
// scope, else that of the next stronger one: what a project calls "branch" must
// not answer for the person's.
func (r *Runner) Gather(ctx context.Context, ev *cardea.Event, f policy.Folder, names []string) map[string]policy.Answer {
	r.turn(ev)
	out := map[string]policy.Answer{}
	var run []script.Signal
	for _, name := range names {
		found, answer := r.found(ctx, ev, f, name)
		if found == nil {
			if answer.Value != nil {
				out[name] = answer
			}
			continue
		}
		found.Dir = cmp.Or(r.Project, ev.Cwd)
		r.mu.Lock()
		a, known := r.answers[*found]
		r.mu.Unlock()
		if known {
			out[name] = a
		} else {
			run = append(run, *found)
		}
	}
	if len(run) == 0 {
		return out
	}
	if end, limited := ctx.Deadline(); limited {
		sub, cancel := context.WithDeadline(ctx, end.Add(-time.Duration(reserve*float64(time.Until(end)))))
		defer cancel()
		ctx = sub
	}
	results := script.Gather(ctx, run, r.event(ev))
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, signal := range run {
		got := results[signal.Name]
		a := policy.Answer{Value: got.Value, Took: got.Took, Unstarted: got.Unstarted, NoAnswer: got.NoAnswer}
		r.answers[signal], out[signal.Name] = a, a
	}
	return out
}

// found returns the signal of a name. Where no signal is to be run, it is nil, and
// the answer is what is known without one.
func (r *Runner) found(ctx context.Context, ev *cardea.Event, f policy.Folder, name string) (*script.Signal, policy.Answer) {
	if f.Scope == cardea.ScopeBuiltin {
		if answer, builtin := r.builtin(ev, name); builtin {
			return nil, answer
		}
	}
	found, answer := r.Find(f, name)
	if found == nil && answer.Value == nil {
		answer = r.judged(ctx, ev, f, name)
	}
	return found, answer
}

// judged is what the judge says about a call. A project that nobody trusts has it asked
// nothing: that costs the person money.
func (r *Runner) judged(ctx context.Context, ev *cardea.Event, f policy.Folder, name string) policy.Answer {
	if name != Watchdog || !r.Judged || ev.Call == nil || f.Around || f.Scope == cardea.ScopeProject && !f.Trusted {
		return policy.Answer{}
	}
	if r.Judge == nil {
		const why = "it depends on the answer of the judge (signal watchdog), which is not asked here; \"cardea judge\" asks it"
		return policy.Answer{Value: policy.NotRun(why), Unasked: why}
	}
	return policy.Answer{Value: r.Judge(ctx, ev)}
}

// event is what scripts read: the input of policies, without what was sent, and
// with every text redacted.
func (r *Runner) event(ev *cardea.Event) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stdin != nil {
		return r.stdin
	}
	in := policy.Input(ev, nil, nil)
	delete(in, "raw")
	delete(in, "signals")
	r.secrets, r.cut = r.secretsIn(in, nil), false
	slices.SortFunc(r.secrets, func(a, b string) int { return len(b) - len(a) })
	in, _ = r.redact(in).(map[string]any)
	if facts, ok := in["cardea"].(map[string]any); ok {
		facts["cut"] = r.cut
	}
	data, err := json.Marshal(in)
	if err != nil {
		data = []byte("{}")
	}
	r.stdin = append(data, '\n')
	return r.stdin
}

// maxShown is how much of a text scripts are shown, in bytes. A call can hold
// megabytes, and must not gain time by them.
const maxShown = 64 << 10

// redact takes the secrets from every text of a JSON value; without a redactor nothing is
// shown.
func (r *Runner) redact(v any) any {
	switch v := v.(type) {
	case string:
		if r.Redact == nil {
			return ""
		}
		if len(v) > maxShown {
			v, r.cut = strings.ToValidUTF8(v[:maxShown], "")+" … (cut)", true
		}
		return r.Redact(r.without(v))
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			name, _ := r.redact(k).(string)
			out[name] = r.redactField(k, e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = r.redact(e)
		}
		return out
	}
	return v
}

// secretsIn are the secrets in all texts of a JSON value, in each form in which
// the analysis may have them: what is a secret by what stands before it stands
// alone as a word of a part.
func (r *Runner) secretsIn(v any, all []string) []string {
	switch v := v.(type) {
	case string:
		if r.Secrets == nil {
			return all
		}
		for _, secret := range r.Secrets(v) {
			for _, form := range []string{secret, unquoted(secret)} {
				if len(form) >= minSecret && !slices.Contains(all, form) {
					all = append(all, form)
				}
			}
		}
	case map[string]any:
		for k, e := range v {
			if text, ok := e.(string); ok {
				all = r.secretsIn(k+"="+text, all)
			}
			all = r.secretsIn(e, all)
		}
	case []any:
		for _, e := range v {
			all = r.secretsIn(e, all)
		}
	}
	return all
}

// minSecret is the length of the shortest secret that is looked for elsewhere.
// A shorter one would be found in every second word.
const minSecret = 4

// unquoted takes the shell's quotes off.
func unquoted(text string) string {
	return strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(text)
}

// without is a text without the event's secrets.
func (r *Runner) without(text string) string {
	for _, secret := range r.secrets {
		text = strings.ReplaceAll(text, secret, "<REDACTED>")
	}
	return text
}

// redactField redacts the value of a field: its name may be what makes it a
// secret.
func (r *Runner) redactField(key string, v any) any {
	text, ok := v.(string)
	if !ok {
		return r.redact(v)
	}
	both, _ := r.redact(key + "=" + text).(string)
	if value, found := strings.CutPrefix(both, key+"="); found && value != text {
		return value
	}
	return r.redact(text)
}
