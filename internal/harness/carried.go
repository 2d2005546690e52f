package harness

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"cardea.dev"
)

// carriers are the keys, without case and marks, under which harnesses send what
// a tool is to do: commands, patches, files and addresses.
var carriers = [...]struct {
	role Role
	keys []string
}{
	{Command, []string{"command", "commands", "cmd", "commandline", "shellcommand", "script", "argv"}},
	{Patch, []string{"patch"}},
	{FilePath, []string{"path", "paths", "file", "files", "filepath", "filename", "targetfile", "absolutepath", "relativepath", "notebookpath"}},
	{URL, []string{"url", "uri"}},
}

// inputKeys are those under which they send the input of a tool.
var inputKeys = []string{"toolinput", "toolargs", "input", "args", "arguments", "parameters", "params"}

// toolKeys are those under which they name the tool.
var toolKeys = []string{"tool_name", "toolName", "tool", "name", "function"}

// carriesCall reports whether a message of unknown shape carries a command, a path
// or an address.
func carriesCall(p *Payload) bool {
	_, input := carried(p)
	return input != nil
}

// carried finds the call in a message of unknown shape: the objects at any depth
// that hold a command, a path or an address, in the order in which they stand, and
// the name of a tool. Of the message's own object, which says where things are too,
// only these fields count. Input is nil where there is nothing of the kind.
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

// InText is the object or list that a text holds as JSON, itself or as a JSON text. It is
// nil for none, and for one that is too deep to be read.
func InText(text string) any {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, `"[`) || strings.HasPrefix(text, `"{`) {
		_ = json.Unmarshal([]byte(text), &text) // else it is no text of JSON
	}
	if text == "" || text[0] != '[' && text[0] != '{' {
		return nil
	}
	p, err := Read([]byte(`{"in":` + text + `}`))
	if err != nil || len(p.root.fields) != 1 || slices.ContainsFunc(p.faults, func(f fault) bool { return f.Code == cardea.OpaqueTooDeep }) {
		return nil
	}
	return p.root.fields[0].Value
}

func isCarrier(e Entry) bool {
	text, _ := e.Value.(string)
	list, _ := e.Value.([]any)
	return carrierRole(e.Key) != Plain && len(text)+len(list) > 0
}

// carrierRole returns what a key says about its value, Plain for nothing.
func carrierRole(key string) Role {
	for _, c := range carriers {
		if slices.Contains(c.keys, unmarkedKey(key)) {
			return c.role
		}
	}
	return Plain
}

// unmarkedKey is a key without case and marks.
func unmarkedKey(key string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(key))
}

// further also judges what a message says of its call outside of the input that was read: a
// second input, a field of the input that a tool of this kind has under another name, and
// for a shell a command beside the input. Which of them runs is the reader's choice.
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
			r.Fault("tool input", "is given more than once")
			r.fill(c, harness, info, o)
		}
	}
	for _, field := range slices.Sorted(maps.Keys(c.Input)) {
		if unlisted(harness, c, field) {
			r.carried(c, info, field, c.Input[field])
		}
	}
}

// carried adds a value as one of the field of the tool that has its role.
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
			r.Fault(key, "is a second value of the field "+fields[0])
		}
	}
}
