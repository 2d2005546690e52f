// Package signals answers the signals that policies need. It runs their scripts, passes
// them the event without secrets, and itself answers signals of built-in policies.
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

// Runner runs the signals that policies need, each once per event.
type Runner struct {
	// Project is the folder in which scripts run; if it is "", they run in the event's folder.
	Project string
	// Find returns the script of a signal, or an answer in its place. Both are empty if none
	// exists.
	Find func(f policy.Folder, name string) (*script.Signal, policy.SignalValue)
	// Redact removes secrets from a text; if it is nil, scripts get no text. Secrets returns
	// the secrets in a text as written; nil finds none.
	Redact  func(string) string
	Secrets func(string) []string
	// Judge asks the judge about an event, for the signal [Watchdog]; nil if there is no
	// judge.
	Judge func(ctx context.Context, ev *cardea.Event) any
	// Judged is set if the judge is enabled, so that it answers the signal.
	Judged bool
	// State is Cardea's state folder, Start the folder in which the session began. With the
	// project, they identify the checks that succeeded.
	State, Start string

	mu sync.Mutex
	// about is the event for which the following fields are valid. A rewritten call is a new
	// event.
	about   *cardea.Event
	answers map[script.Signal]policy.SignalValue
	stdin   []byte
	// secrets holds the event's secrets. cut is set if a text was shortened.
	secrets []string
	cut     bool
}

// turn drops the data of another event.
func (r *Runner) turn(ev *cardea.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.about != ev {
		r.about, r.answers, r.stdin = ev, map[script.Signal]policy.SignalValue{}, nil
	}
}

// reserve is the share of the remaining time that is left for the work after the signals.
const reserve = 0.15

// Gather runs signals for the policies of a folder. A name means the signal of its scope,
// else that of the next stronger one: a project's "branch" must not replace the user's.
func (r *Runner) Gather(ctx context.Context, ev *cardea.Event, f policy.Folder, names []string) map[string]policy.SignalValue {
	r.turn(ev)
	out := map[string]policy.SignalValue{}
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
		a := policy.SignalValue{Value: got.Value, Took: got.Took, Unstarted: got.Unstarted, NoAnswer: got.NoAnswer}
		r.answers[signal], out[signal.Name] = a, a
	}
	return out
}

// found returns the signal of a name. If no signal is to be run, it returns nil and the
// answer in its place.
func (r *Runner) found(ctx context.Context, ev *cardea.Event, f policy.Folder, name string) (*script.Signal, policy.SignalValue) {
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

// judged returns the judge's answer about a call. It does not ask for an untrusted project,
// since that costs the user money.
func (r *Runner) judged(ctx context.Context, ev *cardea.Event, f policy.Folder, name string) policy.SignalValue {
	if name != Watchdog || !r.Judged || ev.Call == nil || f.Nearby || f.Scope == cardea.ScopeProject && !f.Trusted {
		return policy.SignalValue{}
	}
	if r.Judge == nil {
		const why = "it depends on the answer of the judge (signal watchdog), which is not asked here; \"cardea judge\" asks it"
		return policy.SignalValue{Value: policy.NotRun(why), Unasked: why}
	}
	return policy.SignalValue{Value: r.Judge(ctx, ev)}
}

// event returns the input of scripts: the input of policies without the raw message, with
// every text redacted.
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

// maxShown is how much of a text scripts get, in bytes. A call can have megabytes, and must
// not gain time by them.
const maxShown = 64 << 10

// redact removes the secrets from every text of a JSON value. Without a redactor, it
// removes the texts.
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

// secretsIn adds the secrets in all texts of a JSON value to all, in each form in which the
// analysis may have them. A secret identified by the text before it may occur alone as a
// word of a part.
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

// minSecret is the minimum length of a secret to remove from other texts. A shorter one
// would occur in many words.
const minSecret = 4

// unquoted removes the shell's quotes.
func unquoted(text string) string {
	return strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(text)
}

// without returns a text without the event's secrets.
func (r *Runner) without(text string) string {
	for _, secret := range r.secrets {
		text = strings.ReplaceAll(text, secret, "<REDACTED>")
	}
	return text
}

// redactField redacts the value of a field. The field's name may mark it as a secret.
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
