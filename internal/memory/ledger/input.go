package ledger

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/jsontext"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
)

// The limits of the summary of an input that is not a command. A person must still be able to
// recognize the call.
const (
	maxValue  = 200 // bytes of a text
	maxFields = 40  // of an object or a list
	maxDepth  = 4
)

// input returns a summary of the call's input.
func (w *writing) input(c *cardea.Call, key []byte) InputSummary {
	in := InputSummary{}
	if data, ok := whole(c); ok { // values of another origin than JSON have no digest
		in.Bytes = len(data)
		in.Digest = hex.EncodeToString(state.Sign(key, "ledger input", data)[:16])
	}
	in.Text = w.summary(c)
	return in
}

// whole returns a call's tool and input as JSON. Values that no JSON decoder yields are passed to
// encoding/json, which supports some of them.
func whole(c *cardea.Call) ([]byte, bool) {
	b := append(jsontext.HTML.String([]byte(`{"tool":`), c.Tool), `,"input":`...)
	b, ok := jsontext.HTML.Value(b, c.Input)
	if len(c.Shadowed) > 0 && ok {
		shadowed := make(map[string]any, len(c.Shadowed))
		for k, v := range c.Shadowed {
			shadowed[k] = v
		}
		b, ok = jsontext.HTML.Value(append(b, `,"shadowed":`...), shadowed)
	}
	if ok {
		return append(b, '}'), true
	}
	b, err := json.Marshal(struct {
		Tool     string           `json:"tool"`
		Input    map[string]any   `json:"input"`
		Shadowed map[string][]any `json:"shadowed,omitempty"`
	}{c.Tool, c.Input, c.Shadowed})
	return b, err == nil
}

// summary returns the command, the files that are edited, or the fields of another tool's input
// without long texts.
func (w *writing) summary(c *cardea.Call) redact.Text {
	if c.EditsFiles {
		names := lists.Of(c.Parts, func(p cardea.Part) string { return p.Text })
		if len(names) == 0 {
			names = append(names, c.Tool)
		}
		return w.text(strings.Join(names, "\n"), maxInput)
	}
	if command, ok := c.Input["command"].(string); ok && len(c.Shadowed["command"]) == 0 {
		return w.text(command, maxInput)
	}
	fields := map[string]any{}
	maps.Copy(fields, c.Input)
	for k, v := range c.Shadowed {
		fields[k+" (again)"] = v
	}
	if len(fields) == 0 {
		return redact.Text{}
	}
	text, err := marshal(w.brief(fields, 0))
	if err != nil {
		return w.text(c.Tool, maxInput)
	}
	return w.text(string(text), maxInput)
}

// brief copies a JSON value for the summary. It redacts each text by itself, since JSON's escapes
// could hide a secret, and replaces long values by their length.
func (w *writing) brief(v any, depth int) any {
	switch v := v.(type) {
	case string:
		if len(v) > maxValue {
			return fmt.Sprintf("(%d bytes)", len(v))
		}
		return w.text(v, maxValue).String()
	case map[string]any:
		if depth == maxDepth {
			return fmt.Sprintf("(%d fields)", len(v))
		}
		keys := slices.Sorted(maps.Keys(v))
		out := map[string]any{}
		for i, k := range keys {
			if i == maxFields {
				out["…"] = fmt.Sprintf("(%d more fields)", len(keys)-i)
				break
			}
			out[w.text(k, maxValue).String()] = w.brief(v[k], depth+1)
		}
		return out
	case []any:
		if depth == maxDepth {
			return fmt.Sprintf("(%d values)", len(v))
		}
		out := []any{}
		for i, x := range v {
			if i == maxFields {
				out = append(out, fmt.Sprintf("(%d more values)", len(v)-i))
				break
			}
			out = append(out, w.brief(x, depth+1))
		}
		return out
	case json.Number:
		if len(v) > maxValue {
			return fmt.Sprintf("(%d digits)", len(v))
		}
	}
	return v
}
