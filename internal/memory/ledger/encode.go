package ledger

import (
	"strconv"

	"cardea.dev/internal/base/jsontext"
)

// object appends a JSON object with at least one key to b.
type object struct{ b []byte }

func (o *object) open() { o.b = append(o.b, '{') }

func (o *object) close() { o.b = append(o.b, '}') }

func (o *object) key(key string) {
	if o.b[len(o.b)-1] != '{' {
		o.b = append(o.b, ',')
	}
	o.b = append(append(append(o.b, '"'), key...), '"', ':')
}

// text writes a string member without the escapes for HTML, which would hide redactions from grep.
func (o *object) text(key, s string) {
	o.key(key)
	o.b = jsontext.Plain.String(o.b, s)
}

// some writes a string member unless s is empty.
func (o *object) some(key, s string) {
	if s != "" {
		o.text(key, s)
	}
}

func (o *object) number(key string, n int64) {
	o.key(key)
	o.b = strconv.AppendInt(o.b, n, 10)
}

// texts writes a list member unless the list is empty.
func (o *object) texts(key string, list []string) {
	if len(list) == 0 {
		return
	}
	o.list(key, len(list), func(i int) { o.b = jsontext.Plain.String(o.b, list[i]) })
}

func (o *object) list(key string, n int, item func(i int)) {
	o.key(key)
	o.b = append(o.b, '[')
	for i := range n {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		item(i)
	}
	o.b = append(o.b, ']')
}

func (o *object) input(key string, in *writtenInput) {
	if in == nil {
		return
	}
	o.key(key)
	o.open()
	o.text("text", in.Text)
	o.number("bytes", int64(in.Bytes))
	o.text("digest", in.Digest)
	o.close()
}

// append appends the entry to b as encoding/json writes it. A process writes one entry, and that
// package would first prepare every type.
func (w *written) append(b []byte) []byte {
	o := &object{b}
	o.open()
	o.number("v", int64(w.V))
	o.text("id", w.ID)
	o.text("time", w.Time)
	o.text("harness", w.Harness)
	o.text("session", w.Session)
	o.some("agent", w.Agent)
	o.some("agent_type", w.AgentType)
	o.text("event", w.Event)
	o.some("mode", w.Mode)
	o.text("tool", w.Tool)
	o.some("role", w.Role)
	o.text("cwd", w.Cwd)
	o.text("project", w.Project)
	o.input("input", &w.Input)
	o.input("rewrite", w.Rewrite)
	o.text("effect", w.Effect)
	o.some("decided", w.Decided)
	o.texts("limits", w.Limits)
	o.text("by", w.By)
	o.text("reason", w.Reason)
	o.some("instead", w.Instead)
	o.list("parts", len(w.Parts), func(i int) { o.part(&w.Parts[i]) })
	o.list("opinions", len(w.Opinions), func(i int) { o.opinion(&w.Opinions[i]) })
	o.some("call", w.Call)
	o.some("reviewer", w.Reviewer)
	o.some("review", w.Review)
	o.some("review_reason", w.ReviewWhy)
	o.texts("troubles", w.Issues)
	if w.Omitted != 0 {
		o.number("omitted", int64(w.Omitted))
	}
	o.text("cardea", w.Cardea)
	o.number("micros", w.Micros)
	o.close()
	return o.b
}

func (o *object) part(p *writtenPart) {
	o.open()
	o.number("part", int64(p.Part))
	o.text("text", p.Text)
	o.text("effect", p.Effect)
	o.close()
}

// opinion writes an opinion as an object. A nil part becomes null.
func (o *object) opinion(p *writtenOpinion) {
	o.open()
	o.text("decider", p.Decider)
	o.some("rule", p.Rule)
	o.text("effect", p.Effect)
	if p.Part != nil {
		o.number("part", int64(*p.Part))
	} else {
		o.key("part")
		o.b = append(o.b, "null"...)
	}
	o.text("scope", p.Scope)
	o.some("source", p.Source)
	o.some("severity", p.Severity)
	o.some("reason", p.Reason)
	o.close()
}

// append appends the head to b, without the closing brace, so that its mac can follow.
func (h *head) append(b []byte) []byte {
	o := &object{b}
	o.open()
	o.number("v", int64(h.V))
	o.text("day", h.Day)
	o.number("n", h.N)
	o.number("size", h.Size)
	o.text("last", h.Last)
	return o.b
}
