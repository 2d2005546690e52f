package harness

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"cardea.dev"
)

// EventCall returns the call of an event from its message: the canonical name of the tool, the name
// that the harness sent, and the value of the input. there is set if the message had such a value.
// It returns nil for an event that is not about a tool.
func (r *Reading) EventCall(kind cardea.Kind, harness, tool, name string, input any, there bool) *cardea.Call {
	if !kind.Answered() && name == "" {
		return nil
	}
	unsaid := kind.Answered() && (name == "" || !there)
	if unsaid && !there {
		if _, found := carried(r.p); found != nil { // it is in a place where this harness has no input
			input, there = found, true
		}
	}
	c := r.Call(harness, tool, name, input, there)
	if unsaid {
		r.Defect("tool name, tool input", "a tool event without the tool's name or input")
	}
	return c
}

// Call returns the call of a tool, with the canonical names of fields. If a field has several
// values, the first is in the input. Shadowed holds the others, and those of keys that imitate it,
// since it is unknown which of them the harness uses.
func (r *Reading) Call(harness, tool, name string, input any, there bool) *cardea.Call {
	info, known := Tool(tool)
	obj, isObject := input.(*Object)
	if !isObject {
		if there {
			r.Defect("tool input", "is "+describe(input)+", not an object")
		}
		obj = bare(info, input)
	}
	c := &cardea.Call{Tool: tool, Name: name, Known: known, EditsFiles: info.EditsFiles, Input: map[string]any{},
		OneWay: tool == "apply_patch" && name != tool || !isObject}
	r.fill(c, harness, info, obj)
	r.further(c, harness, info)
	r.checkForms(c, info)
	r.checkFields(c, harness)
	c.Unsandboxed = AsksOut(c)
	return c
}

// bare returns an input that is a text or a list, not an object, as the value of the tool's main
// field. Some harnesses accept that form.
func bare(info ToolInfo, input any) *Object {
	field := info.Primary
	if paths := info.FieldsOf(SearchPath); len(paths) > 0 {
		field = paths[0] // the searched path matters more than the pattern
	}
	switch input.(type) {
	case string, []any:
	default:
		return &Object{}
	}
	return ObjectOf(cmp.Or(field, "input"), input)
}

// NamesFolderOfCall reports whether a harness sends as cwd the folder of the call, which the agent
// chooses. Hooks of such a harness run in the folder in which the session began (seen with Codex
// CLI 0.169.0).
func NamesFolderOfCall(harness string) bool { return harness == "codex" }

// HoldsPatch reports whether an input is a patch text.
func HoldsPatch(input any) bool {
	switch in := input.(type) {
	case string:
		return beginsPatch(in)
	case *Object:
		return slices.ContainsFunc(in.fields, func(e Entry) bool {
			s, _ := e.Value.(string)
			return (strings.EqualFold(e.Key, "input") || strings.EqualFold(e.Key, "patch")) && beginsPatch(s)
		})
	}
	return false
}

func beginsPatch(s string) bool { return strings.HasPrefix(strings.TrimSpace(s), "*** Begin Patch") }

// fill sorts the entries of an input into Input and Shadowed. A field with a list of actions of one
// call, such as several commands, is kept as it is. Each action also becomes a value of the field
// that the table names, the first in Input and the others in Shadowed, so that all are judged.
func (r *Reading) fill(c *cardea.Call, harness string, info ToolInfo, obj *Object) {
	spelled := map[string]string{} // folded key to the canonical field
	for _, f := range info.Fields {
		spelled[fold(f.Name)] = f.Name
	}
	for _, x := range renames(harness, c.Tool) {
		if head, _, spread := strings.Cut(x.wire, "[]"); spread {
			spelled[fold(head)] = head
		} else {
			spelled[fold(x.wire)] = x.field
		}
	}
	for _, e := range obj.fields {
		field := fieldName(harness, c.Tool, e.Key)
		v := Decoded(e.Value)
		if field == RunsInField && e.Key == field && !runsIn(harness, c.Tool, e.Key) {
			// This harness does not have the field, and runs the call in another folder.
			c.Shadowed = shadow(c.Shadowed, field, v)
			r.Defect(e.Key, "is no field of this tool")
			continue
		}
		_, taken := c.Input[field]
		if !taken {
			c.Input[field] = v
		}
		r.spread(c, harness, e)
		imitated, there := spelled[fold(e.Key)]
		if !there {
			spelled[fold(e.Key)], imitated = field, field
		}
		switch {
		case imitated != field:
			c.Shadowed = shadow(c.Shadowed, imitated, v)
			r.Defect(e.Key, "differs only in case from the field "+imitated)
		case taken:
			c.Shadowed = shadow(c.Shadowed, field, v)
			r.Defect(e.Key, "is a second value of the field "+field)
		}
	}
}

// spread adds the actions in a list.
func (r *Reading) spread(c *cardea.Call, harness string, e Entry) {
	for _, x := range renames(harness, c.Tool) {
		head, rest, list := strings.Cut(x.wire, "[]")
		if !list || head != e.Key {
			continue
		}
		items, isList := e.Value.([]any)
		if !isList {
			items = []any{e.Value}
		}
		for _, v := range items {
			inner, there := within(v, strings.TrimPrefix(rest, "."))
			if !there {
				r.Defect(e.Key, "holds an entry without "+strings.TrimPrefix(rest, "."))
				inner = v // it is treated as a value of the wrong type
			}
			v = inner
			c.OneWay = true
			if _, taken := c.Input[x.field]; taken {
				c.Shadowed = shadow(c.Shadowed, x.field, Decoded(v))
			} else {
				c.Input[x.field] = Decoded(v)
			}
		}
	}
}

// within returns the value of a key of an object, or any other value itself. Lists of texts and
// lists of objects with a text are used for the same purpose.
func within(v any, key string) (any, bool) {
	if o, ok := v.(*Object); ok && key != "" {
		return o.Get(key)
	}
	return v, true
}

// checkFields records fields that are not in the table: a field may change where or how the call
// runs.
func (r *Reading) checkFields(c *cardea.Call, harness string) {
	for _, field := range slices.Sorted(maps.Keys(c.Input)) {
		if NotRead(harness, c, field) {
			r.Defect(field, "a field of "+harness+"'s "+c.Name+" that this version does not know")
		}
	}
}

// NotRead reports whether the table has no meaning for a field of a known tool. For a lenient
// harness, it only reports fields that may affect the call: arguments, further files, a file or an
// address.
func NotRead(harness string, c *cardea.Call, field string) bool {
	if !unlisted(harness, c, field) {
		return false
	}
	if !lenient(harness) {
		return true
	}
	if AsksPerson(c) {
		return false
	}
	if text, is := c.Input[field].(string); is {
		return namesPlace(text)
	}
	return len(texts(c.Input[field])) > 0
}

// unlisted reports whether a field of a known tool is not in the table.
func unlisted(harness string, c *cardea.Call, field string) bool {
	info, known := Tool(c.Tool)
	return known && !info.has(field) && !isPlain(harness, c.Tool, field, c.Input[field])
}

// Unlisted returns the first field with a text that the table of a known tool does not have, in
// quotes, or "". The effect of such a call is uncertain.
func Unlisted(harness string, c *cardea.Call) string {
	for _, field := range slices.Sorted(maps.Keys(c.Input)) {
		if unlisted(harness, c, field) && len(texts(c.Input[field])) > 0 {
			return strconv.Quote(field)
		}
	}
	return ""
}

// namesPlace reports whether a text as a whole may be a path or an address.
func namesPlace(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "~") || strings.ContainsAny(text, `/\`) && !strings.ContainsFunc(text, unicode.IsSpace) || filepath.IsAbs(text)
}

func shadow(m map[string][]any, field string, v any) map[string][]any {
	if m == nil {
		m = map[string][]any{}
	}
	m[field] = append(m[field], v)
	return m
}

// checkForms records documented fields with values of another type.
func (r *Reading) checkForms(c *cardea.Call, info ToolInfo) {
	for _, f := range info.Fields {
		if v, ok := c.Input[f.Name]; ok && !f.Form.fits(v) {
			r.Defect(f.Name, "is "+describe(v)+", which "+c.Tool+" does not take there")
		}
	}
}

// fits reports whether a value has the form.
func (f Form) fits(v any) bool {
	form := [...]string{Text: "a string", Number: "a number", Flag: "a boolean", List: "an array", Map: "an object"}
	return f == Anything || describe(v) == form[f]
}

// AsksOut reports whether a call asks to run outside of the sandbox. Any value except false means
// yes.
func AsksOut(c *cardea.Call) bool {
	const field = "dangerouslyDisableSandbox"
	v, ok := c.Input[field]
	return ok && v != false || slices.ContainsFunc(c.Shadowed[field], func(v any) bool { return v != false })
}
