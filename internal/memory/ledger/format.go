package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/command/redact"
)

// version is the version of the format of a line.
const version = 1

// maxLine is the length of the longest line, in bytes, including its end.
const maxLine = 128 << 10

// timeForm is the layout of times: UTC, microseconds, of constant length.
const timeForm = "2006-01-02T15:04:05.000000Z"

// written is the form of an entry in a file. Its keys are documented in
// docs/ledger.md; those of the chain follow them, see [link].
type written struct {
	V         int              `json:"v"`
	ID        string           `json:"id"`
	Time      string           `json:"time"`
	Harness   string           `json:"harness"`
	Session   string           `json:"session"`
	Agent     string           `json:"agent,omitempty"`
	AgentType string           `json:"agent_type,omitempty"`
	Event     string           `json:"event"`
	Mode      string           `json:"mode,omitempty"`
	Tool      string           `json:"tool"`
	Role      string           `json:"role,omitempty"`
	Cwd       string           `json:"cwd"`
	Project   string           `json:"project"`
	Input     writtenInput     `json:"input"`
	Rewrite   *writtenInput    `json:"rewrite,omitempty"`
	Effect    string           `json:"effect"`
	Decided   string           `json:"decided,omitempty"`
	Limits    []string         `json:"limits,omitempty"`
	By        string           `json:"by"`
	Reason    string           `json:"reason"`
	Instead   string           `json:"instead,omitempty"`
	Parts     []writtenPart    `json:"parts"`
	Opinions  []writtenOpinion `json:"opinions"`
	Call      string           `json:"call,omitempty"`
	Reviewer  string           `json:"reviewer,omitempty"`
	Review    string           `json:"review,omitempty"`
	ReviewWhy string           `json:"review_reason,omitempty"`
	Issues    []string         `json:"troubles,omitempty"`
	Omitted   int              `json:"omitted,omitempty"`
	Cardea    string           `json:"cardea"`
	Micros    int64            `json:"micros"`
}

type writtenInput struct {
	Text   string `json:"text"`
	Bytes  int    `json:"bytes"`
	Digest string `json:"digest"`
}

type writtenPart struct {
	Part   int    `json:"part"`
	Text   string `json:"text"`
	Effect string `json:"effect"`
}

// writtenOpinion has a null part where it is about the whole call, as in the
// output of "cardea try --json".
type writtenOpinion struct {
	Decider  string `json:"decider"`
	Rule     string `json:"rule,omitempty"`
	Effect   string `json:"effect"`
	Part     *int   `json:"part"`
	Scope    string `json:"scope"`
	Source   string `json:"source,omitempty"`
	Severity string `json:"severity,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// form returns the entry in the form of the file, which holds only redacted texts.
func (e *Entry) form() written {
	w := written{V: version, ID: e.ID, Time: e.Time.UTC().Format(timeForm),
		Harness: e.Harness.String(), Session: e.Session.String(), Agent: e.Agent.String(), AgentType: e.AgentType.String(),
		Event: e.Event.String(), Mode: e.Mode.String(), Tool: e.Tool.String(), Role: e.Role.String(),
		Cwd: e.Cwd.String(), Project: e.Project.String(), Input: *e.Input.form(), Rewrite: e.Rewrite.form(),
		Effect: e.Effect.String(), Decided: e.Decided.String(), By: e.By.String(), Reason: e.Reason.String(), Instead: e.Instead.String(),
		Parts: []writtenPart{}, Opinions: []writtenOpinion{}, Omitted: e.Omitted,
		Cardea: e.Version.String(), Micros: e.Took.Microseconds(),
		Call: e.Call.String(), Reviewer: e.Reviewer.String(), Review: e.Review.String(), ReviewWhy: e.ReviewReason.String()}
	w.Parts = append(w.Parts, lists.Of(e.Parts, func(p Part) writtenPart { return writtenPart{p.Index, p.Text.String(), p.Effect.String()} })...)
	for _, o := range e.Opinions {
		f := writtenOpinion{Decider: o.Decider.String(), Rule: o.Rule.String(), Effect: o.Effect.String(), Scope: o.Scope.String(),
			Source: o.Source.String(), Severity: o.Severity.String(), Reason: o.Reason.String()}
		if o.Part != cardea.WholeCall {
			part := o.Part
			f.Part = &part
		}
		w.Opinions = append(w.Opinions, f)
	}
	w.Limits = lists.Of(e.Limits, redact.Text.String)
	w.Issues = lists.Of(e.Issues, redact.Text.String)
	return w
}

func (in *InputSummary) form() *writtenInput {
	if in == nil {
		return nil
	}
	return &writtenInput{in.Text.String(), in.Bytes, in.Digest}
}

// encode returns the entry as a JSON object in one line without its end. It halves the lists until
// the line is short enough.
func (e Entry) encode() ([]byte, error) {
	if _, ok := idTimeOf(e.ID); !ok {
		return nil, fmt.Errorf("%q is no id of an entry; make entries with NewEntry", e.ID)
	}
	for {
		w := e.form()
		data := w.append(make([]byte, 0, 2<<10))
		switch {
		case len(data) <= maxLine-maxLink:
			return data, nil
		case len(e.Parts)+len(e.Opinions)+len(e.Issues) == 0:
			return nil, fmt.Errorf("the entry has %d bytes and at most %d can be written", len(data), maxLine-maxLink)
		}
		e.halve()
	}
}

func (e *Entry) halve() {
	before := len(e.Parts) + len(e.Opinions) + len(e.Issues)
	e.Parts, e.Opinions, e.Issues = e.Parts[:len(e.Parts)/2], e.Opinions[:len(e.Opinions)/2], e.Issues[:len(e.Issues)/2]
	e.Omitted += before - len(e.Parts) - len(e.Opinions) - len(e.Issues)
}

// marshal returns the JSON of v without the escapes for HTML, which would hide redactions from
// grep.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// parse reads the form of an entry from a line or from a spooled file. Unknown versions are an
// error.
func parse(data []byte) (written, error) {
	var w written
	if err := json.Unmarshal(data, &w); err != nil {
		return written{}, err
	}
	if w.V != version {
		return written{}, fmt.Errorf("version %d is not known; a later cardea may read it", w.V)
	}
	return w, nil
}

// entry returns the entry of a line. It redacts the texts again, since the file may have been
// written by another program.
func (w *written) entry(r *redact.Redactor) (Entry, error) {
	var errs []error
	effect := func(s string) cardea.Effect {
		e, err := cardea.ParseEffect(s)
		errs = append(errs, err)
		return e
	}
	at, err := time.Parse(timeForm, w.Time)
	errs = append(errs, err)
	if _, ok := idTimeOf(w.ID); !ok {
		errs = append(errs, fmt.Errorf("%q is no id", w.ID))
	}
	e := Entry{ID: w.ID, Time: at, Harness: r.Text(w.Harness), Session: r.Text(w.Session), Agent: r.Text(w.Agent), AgentType: r.Text(w.AgentType),
		Event: r.Text(w.Event), Mode: r.Text(w.Mode), Tool: r.Text(w.Tool), Role: r.Text(w.Role), Cwd: r.Text(w.Cwd), Project: r.Text(w.Project),
		Input: *w.Input.input(r), Rewrite: w.Rewrite.input(r), Effect: effect(w.Effect), Decided: r.Text(w.Decided), By: r.Text(w.By), Reason: r.Text(w.Reason), Instead: r.Text(w.Instead),
		Omitted: w.Omitted, Version: r.Text(w.Cardea), Took: time.Duration(w.Micros) * time.Microsecond,
		Call: r.Text(w.Call), Reviewer: r.Text(w.Reviewer), Review: r.Text(w.Review), ReviewReason: r.Text(w.ReviewWhy)}
	e.Parts = lists.Of(w.Parts, func(p writtenPart) Part { return Part{p.Part, r.Text(p.Text), effect(p.Effect)} })
	for _, o := range w.Opinions {
		part := cardea.WholeCall
		if o.Part != nil {
			part = *o.Part
		}
		e.Opinions = append(e.Opinions, Opinion{Decider: r.Text(o.Decider), Rule: r.Text(o.Rule), Effect: effect(o.Effect), Part: part,
			Scope: r.Text(o.Scope), Source: r.Text(o.Source), Severity: r.Text(o.Severity), Reason: r.Text(o.Reason)})
	}
	e.Limits, e.Issues = lists.Of(w.Limits, r.Text), lists.Of(w.Issues, r.Text)
	return e, errors.Join(errs...)
}

func (in *writtenInput) input(r *redact.Redactor) *InputSummary {
	if in == nil {
		return nil
	}
	digest := in.Digest
	if strings.Trim(digest, "0123456789abcdef") != "" || len(digest) > 64 {
		digest = ""
	}
	return &InputSummary{r.Text(in.Text), in.Bytes, digest}
}

// MarshalJSON returns the entry in the form of the file.
func (e Entry) MarshalJSON() ([]byte, error) {
	w := e.form()
	return w.append(nil), nil
}
