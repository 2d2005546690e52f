package rego

import (
	"errors"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/decide/policy/engine"
)

// field checks the type of a decision's field, if it is known. A field of another type is
// ignored.
func (l *look) field(key string, t *ast.Term) {
	wants, is := "", ""
	switch t.Value.(type) {
	case ast.String, *ast.TemplateString:
		is = "text"
	case ast.Number:
		is = "number"
	case ast.Object, *ast.ObjectComprehension:
		is = "object"
	case ast.Null, ast.Boolean, *ast.Array, ast.Set, *ast.ArrayComprehension, *ast.SetComprehension:
		is = "other"
	default:
		return // the type is unknown before evaluation
	}
	switch key {
	case "part", "parts":
		l.parts(key, t)
		return
	case "rule_id", "reason", "severity", "question", "agent_context", "context", "message":
		wants = "text"
	case "updated_input":
		wants = "object"
	case "priority":
		wants = "number"
	}
	if wants != "" && wants != is {
		l.say(t.Location, engine.CodeDecision, diagnostic.LevelError, "%s holds %s: write %s", key, ast.ValueName(t.Value), map[string]string{
			"text": "a text", "object": "an object of the fields to change", "number": "a number"}[wants])
	}
}

// parts checks the parts that a decision names, by index or text: one, or a list.
func (l *look) parts(key string, t *ast.Term) {
	none := true
	each := func(e *ast.Term) { none = false; l.part(key, e) }
	switch v := t.Value.(type) {
	case *ast.Array:
		v.Foreach(each)
	case ast.Set:
		v.Foreach(each)
	case *ast.ArrayComprehension, *ast.SetComprehension:
		return
	default:
		each(t)
	}
	if none {
		l.say(t.Location, engine.CodeDecision, diagnostic.LevelError, "%s names no part: name one by its index or text, or leave %s out", key, key)
	}
}

// part checks one name of a part.
func (l *look) part(key string, t *ast.Term) {
	switch v := t.Value.(type) {
	case ast.Number:
		if i, whole := v.Int(); !whole || i < 0 {
			l.say(t.Location, engine.CodeDecision, diagnostic.LevelError, "%s holds %s, which is no index of a part: the first one is 0", key, v)
		}
	case ast.String:
		switch s := string(v); {
		case strings.TrimSpace(s) == "":
			l.say(t.Location, engine.CodeDecision, diagnostic.LevelError, "%s holds an empty text: name a part by its index or text, or leave %s out", key, key)
		case strings.Trim(s, "0123456789") == "":
			l.say(t.Location, engine.CodeDecision, diagnostic.LevelError, "%s holds a text, which means a command %q: write an index without quotes", key, s)
		}
	case ast.Null, ast.Boolean, *ast.Array, ast.Object, ast.Set, *ast.ArrayComprehension, *ast.SetComprehension, *ast.ObjectComprehension:
		l.say(t.Location, engine.CodeDecision, diagnostic.LevelError, "%s holds %s: name a part by its index or text, or leave %s out", key, ast.ValueName(t.Value), key)
	}
}

// samples returns the functions that fail because of one argument. The operands are for a
// trial call, with nil in the position of that argument.
func samples() map[string][]*ast.Term {
	text := ast.StringTerm("")
	return map[string][]*ast.Term{
		"regex.match": {nil, text}, "re_match": {nil, text}, "regex.split": {nil, text}, "regex.replace": {text, nil, text},
		"regex.find_n": {nil, text, ast.InternedTerm(1)}, "regex.find_all_string_submatch_n": {nil, text, ast.InternedTerm(1)},
		"glob.match": {nil, ast.NullTerm(), text}, "net.cidr_contains": {nil, ast.StringTerm("127.0.0.1")},
		"json.unmarshal": {nil}, "to_number": {nil}, "hex.decode": {nil}, "base64.decode": {nil}, "base64url.decode": {nil},
		"units.parse": {nil}, "units.parse_bytes": {nil}, "time.parse_duration_ns": {nil}, "time.parse_rfc3339_ns": {nil},
	}
}

// calls finds calls that always fail, since a constant argument is not a valid expression,
// glob or number. A failing call is undefined: an expression with it never holds, and "not"
// of it always does.
func (l *look) calls(r *ast.Rule) {
	all := samples()
	look := func(terms []*ast.Term) {
		if len(terms) == 0 {
			return
		}
		name := terms[0].String()
		with, known := all[name]
		at := slices.Index(with, nil)
		if !known || len(terms) <= at+1 {
			return
		}
		given, ok := terms[at+1].Value.(ast.String)
		if !ok {
			return
		}
		operands := slices.Clone(with)
		operands[at] = terms[at+1]
		if err := topdown.GetBuiltin(name)(topdown.BuiltinContext{}, operands, func(*ast.Term) error { return nil }); err != nil {
			l.say(terms[at+1].Location, engine.CodeConstant, diagnostic.LevelError, "%s of %q always fails, so it is always undefined: %s", name, string(given), reason(name, err))
		}
	}
	eachCall(r, look)
}

// eachCall calls do with the function and the operands of each call in a rule or a module.
func eachCall(in any, do func(terms []*ast.Term)) {
	ast.WalkExprs(in, func(e *ast.Expr) bool {
		if terms, ok := e.Terms.([]*ast.Term); ok {
			do(terms)
		}
		return false
	})
	ast.WalkTerms(in, func(t *ast.Term) bool {
		if call, ok := t.Value.(ast.Call); ok {
			do(call)
		}
		return false
	})
}

// reason returns the reason why a function failed, without its name.
func reason(name string, err error) string {
	text := err.Error()
	var e *topdown.Error
	if errors.As(err, &e) {
		text = e.Message
	}
	return strings.TrimPrefix(oneLine(text), name+": ")
}
