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

// EventCall builds the call of an event from what the message says of it: the
// canonical name of the tool, the name that the harness sent, and the value of the
// input; there says whether the message had such a value. It is nil for an event
// that is about no tool.
func (r *Reading) EventCall(kind cardea.Kind, harness, tool, name string, input any, there bool) *cardea.Call {
	if !kind.Answered() && name == "" {
		return nil
	}
	unsaid := kind.Answered() && (name == "" || !there)
	if unsaid && !there {
		if _, found := carried(r.p); found != nil { // it stands where this harness has no input
			input, there = found, true
		}
	}
	c := r.Call(harness, tool, name, input, there)
	if unsaid {
		r.Fault("tool name, tool input", "a tool event without the tool's name or input")
	}
	return c
}

// Call builds the call of a tool. Fields are renamed to canonical ones. Of several
// values of a field the first stands in the input, and the others, with those of
// keys that imitate it, are in Shadowed: which of them the harness uses is its
// parser's choice.
func (r *Reading) Call(harness, tool, name string, input any, there bool) *cardea.Call {
	info, known := Tool(tool)
	obj, isObject := input.(*Object)
	if !isObject {
		if there {
			r.Fault("tool input", "is "+describe(input)+", not an object")
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

// bare is an input that is a text or a list and no object, as the value of the field
// that stands for the call: some harnesses take it so.
func bare(info ToolInfo, input any) *Object {
	field := info.Primary
	if paths := info.FieldsOf(SearchPath); len(paths) > 0 {
		field = paths[0] // what is searched says more than what for
	}
	switch input.(type) {
	case string, []any:
	default:
		return &Object{}
	}
	return ObjectOf(cmp.Or(field, "input"), input)
}

// NamesFolderOfCall reports the harnesses whose messages name as cwd the folder in which
// the call runs, which the agent chooses, and not the one in which the session began:
// their hooks run in that one (seen with Codex CLI 0.169.0).
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

// fill sorts the entries of an input into Input and Shadowed. A field that holds a
// list of what one call does, such as several commands, is kept as it is, and what is
// in it becomes the field that the table names: the first in Input, the others in
// Shadowed, so that each is judged.
func (r *Reading) fill(c *cardea.Call, harness string, info ToolInfo, obj *Object) {
	spelled := map[string]string{} // folded key to the field it stands for
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
			// It is no field of this harness, which runs the call elsewhere.
			c.Shadowed = shadow(c.Shadowed, field, v)
			r.Fault(e.Key, "is no field of this tool")
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
			r.Fault(e.Key, "differs only in case from the field "+imitated)
		case taken:
			c.Shadowed = shadow(c.Shadowed, field, v)
			r.Fault(e.Key, "is a second value of the field "+field)
		}
	}
}

// spread takes what a list in an entry holds.
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
				r.Fault(e.Key, "holds an entry without "+strings.TrimPrefix(rest, "."))
				inner = v // it counts as a value of the wrong type
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

// within is the value of a key of an object, or the value itself: lists of texts and
// lists of objects with a text are both in use for one thing.
func within(v any, key string) (any, bool) {
	if o, ok := v.(*Object); ok && key != "" {
		return o.Get(key)
	}
	return v, true
}

// checkFields notes fields that the table does not have: one may say where or how the
// call runs.
func (r *Reading) checkFields(c *cardea.Call, harness string) {
	for _, field := range slices.Sorted(maps.Keys(c.Input)) {
		if NotRead(harness, c, field) {
			r.Fault(field, "a field of "+harness+"'s "+c.Name+" that this version does not know")
		}
	}
}

// NotRead reports a field of a known tool of which the table does not say what it is.
// Of a harness whose tools may have any fields it is one that may say more of what the call
// does: arguments, further files, a file or address.
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

// unlisted reports a field of a known tool that the table does not have.
func unlisted(harness string, c *cardea.Call, field string) bool {
	info, known := Tool(c.Tool)
	return known && !info.has(field) && !isPlain(harness, c.Tool, field, c.Input[field])
}

// Unlisted is the first field with a text of a known tool that the table does not have, in
// quotes, "" for none: nobody can be certain what such a call does.
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

// checkForms compares the documented fields with their types.
func (r *Reading) checkForms(c *cardea.Call, info ToolInfo) {
	for _, f := range info.Fields {
		if v, ok := c.Input[f.Name]; ok && !f.Form.fits(v) {
			r.Fault(f.Name, "is "+describe(v)+", which "+c.Tool+" does not take there")
		}
	}
}

// fits reports whether a value has a form.
func (f Form) fits(v any) bool {
	form := [...]string{Text: "a string", Number: "a number", Flag: "a boolean", List: "an array", Map: "an object"}
	return f == Anything || describe(v) == form[f]
}

// AsksOut reports whether a call asks to run outside of the sandbox. Anything
// but a plain no counts as yes.
func AsksOut(c *cardea.Call) bool {
	const field = "dangerouslyDisableSandbox"
	v, ok := c.Input[field]
	return ok && v != false || slices.ContainsFunc(c.Shadowed[field], func(v any) bool { return v != false })
}
