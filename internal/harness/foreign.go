package harness

import (
	"strings"

	"cardea.dev"
)

// Foreign reads the message of a harness that has no adapter. Names and fields
// are translated where the vendor documents them, so that every deny and ask
// finds its call. A call whose input has fields that this version does not
// know carries a fault, so that nothing allows it: such a field may say where
// or how the tool runs.
func Foreign(sender string, p *Payload) *cardea.Event {
	r := NewReading(p)
	ev := &cardea.Event{
		Harness: sender,
		Sent:    p,
		Wire:    firstText(p, "hook_event_name", "hookEventName", "event"),
		Session: firstText(p, "session_id", "sessionId", "conversation_id"),
		Cwd:     r.Folder("cwd"),
		Mode:    cardea.Mode(r.Text("permission_mode")),
	}
	ev.Kind = canonicalKind(ev.Wire)
	name := r.Text("tool_name")
	input, there := r.Value("tool_input")
	if name != "" && there {
		ev.Call = r.Call(sender, name, input, there)
		info, _ := Tool(ev.Call.Tool)
		for field := range ev.Call.Input {
			if !info.has(field) {
				r.Fault(field, "a field of "+sender+"'s "+name+" that this version does not know")
			}
		}
	}
	ev.Faults = r.Faults("tool_input")
	return ev
}

func (t ToolInfo) has(field string) bool {
	for _, f := range t.Fields {
		if f.Name == field {
			return true
		}
	}
	return false
}

func firstText(p *Payload, keys ...string) string {
	for _, k := range keys {
		if s := p.Text(k); s != "" {
			return s
		}
	}
	return ""
}

// canonicalKind gives the two kinds that the gate answers their canonical
// names; every other event passes under the name that it came with.
func canonicalKind(wire string) cardea.Kind {
	switch strings.ToLower(strings.ReplaceAll(wire, "_", "")) {
	case "pretooluse", "pretoolcall", "beforetool":
		return cardea.PreToolUse
	case "permissionrequest":
		return cardea.PermissionRequest
	}
	return cardea.Kind(wire)
}
