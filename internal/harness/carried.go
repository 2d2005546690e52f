package harness

import (
	"slices"
	"strings"
)

// carriers are the keys, without case and marks, under which harnesses send what
// a tool is to do: commands, files and addresses.
var carriers = []string{"command", "commands", "cmd", "commandline", "shellcommand", "script", "argv", "patch",
	"path", "paths", "file", "files", "filepath", "filename", "targetfile", "absolutepath", "relativepath", "notebookpath", "url", "uri"}

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

func isCarrier(e Entry) bool {
	key := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return -1
		}
		return r
	}, strings.ToLower(e.Key))
	switch v := e.Value.(type) {
	case string:
		return v != "" && slices.Contains(carriers, key)
	case []any:
		return len(v) > 0 && slices.Contains(carriers, key)
	}
	return false
}
