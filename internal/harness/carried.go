package harness

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"cardea.dev"
)

// carriers are the keys, without case and marks, under which harnesses send the contents of a call:
// commands, patches, files and addresses.
var carriers = [...]struct {
	role FieldKind
	keys []string
}{
	{Command, []string{"command", "commands", "cmd", "commandline", "shellcommand", "script", "argv"}},
	{Patch, []string{"patch"}},
	{FilePath, []string{"path", "paths", "file", "files", "filepath", "filename", "targetfile", "absolutepath", "relativepath", "notebookpath"}},
	{URL, []string{"url", "uri"}},
}

// inputKeys are the keys for the input of a tool.
var inputKeys = []string{"toolinput", "toolargs", "input", "args", "arguments", "parameters", "params"}

// toolKeys are the keys for the name of a tool.
var toolKeys = []string{"tool_name", "toolName", "tool", "name", "function"}

// carriesCall reports whether a message of unknown form has a command, a path or an address.
func carriesCall(p *Payload) bool {
	_, input := carried(p)
	return input != nil
}

// carried finds the call in a message of unknown form: the objects at any depth with a command, a
// path or an address, in their order, and the name of a tool. Of the message's own object, which
// also has other paths, only these fields are used. input is nil for a message without such an
// object.
func carried(p *Payload) (tool string, input any) {
	tool = "unknown"
	var found []any
	var walk func(v any, top bool)
	walk = func(v any, top bool) {
		switch v := v.(type) {
		case string:
			if inner := InText(v); inner != nil {
				walk(inner, false)
			}
		case []any:
			for _, x := range v {
				walk(x, false)
			}
		case *Object:
			if name := firstText(&Payload{root: v}, toolKeys...); name != "" && tool == "unknown" {
				tool = name
			}
			own := &Object{}
			for _, e := range v.fields {
				if isCarrier(e) {
					own.fields = append(own.fields, e)
				}
			}
			switch {
			case len(own.fields) > 0 && top:
				found = append(found, own)
			case len(own.fields) > 0:
				found = append(found, v)
				return
			}
			for _, e := range v.fields {
				walk(e.Value, false)
			}
		}
	}
	walk(p.root, true)
	switch len(found) {
	case 0:
		return "", nil
	case 1:
		return tool, found[0]
	}
	return tool, &Object{fields: []Entry{{Key: "calls", Value: found}}}
}

// InText returns the object or list in a text that is JSON, or JSON in a JSON string. It returns
// nil for any other text, and for JSON that is too deep.
func InText(text string) any {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, `"[`) || strings.HasPrefix(text, `"{`) {
		_ = json.Unmarshal([]byte(text), &text) // else it is not a JSON text
	}
	if text == "" || text[0] != '[' && text[0] != '{' {
		return nil
	}
	p, err := Read([]byte(`{"in":` + text + `}`))
	if err != nil || len(p.root.fields) != 1 || slices.ContainsFunc(p.defects, func(f defect) bool { return f.Code == cardea.OpaqueTooDeep }) {
		return nil
	}
	return p.root.fields[0].Value
}

func isCarrier(e Entry) bool {
	text, _ := e.Value.(string)
	list, _ := e.Value.([]any)
	return carrierRole(e.Key) != Plain && len(text)+len(list) > 0
}

// carrierRole returns the role of the value of a key, Plain for none.
func carrierRole(key string) FieldKind {
	for _, c := range carriers {
		if slices.Contains(c.keys, unmarkedKey(key)) {
			return c.role
		}
	}
	return Plain
}

// unmarkedKey returns a key without case and marks.
func unmarkedKey(key string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(key))
}

// further also adds contents of the message outside of the input that was read, so that they are
// judged: a second input, a field that a tool of this kind has under another name, and a command
// beside the input of a shell. It is unknown which of them the harness uses.
func (r *Reading) further(c *cardea.Call, harness string, info ToolInfo) {
	var inputs []any
	for _, e := range r.p.root.fields {
		if carrierRole(e.Key) == Command {
			r.carried(c, info, e.Key, Decoded(e.Value))
		} else if slices.Contains(inputKeys, unmarkedKey(e.Key)) {
			inputs = append(inputs, e.Value)
		}
	}
	for _, v := range inputs {
		if text, is := v.(string); is {
			v = InText(text)
		}
		if o, is := v.(*Object); is && len(inputs) > 1 {
			r.Defect("tool input", "is given more than once")
			r.fill(c, harness, info, o)
		}
	}
	for _, field := range slices.Sorted(maps.Keys(c.Input)) {
		if unlisted(harness, c, field) {
			r.carried(c, info, field, c.Input[field])
		}
	}
}

// carried adds a value to the field of the tool that has its role.
func (r *Reading) carried(c *cardea.Call, info ToolInfo, key string, v any) {
	role := carrierRole(key)
	fields := info.FieldsOf(role)
	if role == FilePath && len(fields) == 0 {
		fields = info.FieldsOf(SearchPath)
	}
	if role == Plain || len(fields) == 0 {
		return
	}
	values := texts(v)
	if role == Command && len(values) > 1 {
		values = append(values, strings.Join(values, " "))
	}
	for _, text := range values {
		if text != c.Input[fields[0]] && !slices.Contains(c.Shadowed[fields[0]], any(text)) {
			c.Shadowed = shadow(c.Shadowed, fields[0], text)
			r.Defect(key, "is a second value of the field "+fields[0])
		}
	}
}
