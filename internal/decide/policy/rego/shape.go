package rego

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/decide/policy/engine"
)

// Fields returns input fields, at any depth, that no event has. OPA's type checker derives
// the types of variables, functions and rules. It ignores files that do not compile. A
// policy for another format never fires, without a message.
func (Engine) Fields(_ context.Context, files []engine.Source, o engine.Options, shapes []engine.Shape) ([]diagnostic.Diagnostic, error) {
	modules, _ := parseAll(files, Parse)
	broken := together(modules, func(given map[string]*ast.Module) ast.Errors {
		c := newCompiler(o)
		c.Compile(given)
		return c.Errors
	})
	modules = slices.DeleteFunc(modules, func(m *Module) bool { return broken[m.Path] != nil })
	var out []diagnostic.Diagnostic
	for i := range shapes {
		found, err := fieldsOf(modules, o, &shapes[i])
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// fieldsOf checks the files of one shape, all rules about the same tools at once.
func fieldsOf(modules []*Module, o engine.Options, s *engine.Shape) ([]diagnostic.Diagnostic, error) {
	rules := map[string][]*ast.Rule{} // by file, as written
	about := map[*ast.Rule][]string{}
	var each [][]string
	for _, m := range modules {
		if !slices.Contains(s.Files, m.Path) {
			continue
		}
		rules[m.Path] = slices.Clone(m.take().Rules)
		for _, r := range rules[m.Path] {
			about[r] = toolsOf(r, s.Routed[m.Path])
			if !slices.ContainsFunc(each, func(t []string) bool { return slices.Equal(t, about[r]) }) {
				each = append(each, about[r])
			}
		}
	}
	var out []diagnostic.Diagnostic
	for _, tools := range each {
		errs, err := typed(modules, o, schemaFor(s, tools))
		if err != nil {
			return nil, err
		}
		for _, e := range errs {
			missing, ok := e.Details.(*ast.RefErrInvalidDetail)
			if !ok || e.Location == nil || missing.Pos < 1 || missing.Pos >= len(missing.Ref) {
				continue
			}
			at := e.Location
			if exact := missing.Ref[missing.Pos].Location; exact != nil && exact.File == at.File && exact.Row > 0 {
				at = exact
			}
			if r := ruleAt(rules[at.File], at); r != nil && slices.Equal(about[r], tools) {
				out = append(out, fieldMissing(missing, at, tools))
			}
		}
	}
	return out, nil
}

// typed returns the type errors in modules for a schema of their input. The modules must
// compile without a schema.
func typed(modules []*Module, o engine.Options, schema any) (ast.Errors, error) {
	given := make(map[string]*ast.Module, len(modules))
	for _, m := range modules {
		given[m.Path] = plainer(m.take())
	}
	schemas := ast.NewSchemaSet()
	schemas.Put(ast.SchemaRootRef, schema)
	c := newCompiler(o).WithSchemas(schemas)
	c.SetErrorLimit(0)
	c.Compile(given)
	for _, e := range c.Errors {
		if e.Code != ast.TypeErr {
			return nil, fmt.Errorf("the fields of policies cannot be checked: %w", errors.New(oneLine(e.Message)))
		}
	}
	return c.Errors, nil
}

// plainer changes a module in place for the type checker, which ignores the body of every
// and the arguments of object.get. It turns every into a list with the body as condition,
// and adds a reference to calls of object.get that read the input.
func plainer(m *ast.Module) *ast.Module {
	ast.WalkExprs(m, func(e *ast.Expr) bool {
		v, is := e.Terms.(*ast.Every)
		if !is || len(e.With) > 0 { // the body does not read the event
			return false
		}
		in := ast.Member.Call(v.Value, v.Domain)
		if v.Key != nil {
			in = ast.MemberWithKey.Call(v.Key, v.Value, v.Domain)
		}
		some := &ast.Expr{Location: e.Location, Terms: &ast.SomeDecl{Location: e.Location, Symbols: []*ast.Term{in.SetLocation(v.Domain.Location)}}}
		all := append(ast.Body{some}, v.Body...)
		for i := range all {
			all[i].Index = i
		}
		e.Terms = ast.ArrayComprehensionTerm(ast.BooleanTerm(true).SetLocation(e.Location), all).SetLocation(e.Location)
		return false
	})
	eachCall(m, readsByGet)
	return m
}

// readsByGet adds a reference to the input field that a call of object.get reads to the
// call.
func readsByGet(call []*ast.Term) {
	if len(call) < 3 || !ast.ObjectGet.Ref().Equal(call[0].Value) {
		return
	}
	ref, ok := call[1].Value.(ast.Ref)
	if v, is := call[1].Value.(ast.Var); is && v.Equal(ast.InputRootDocument.Value) {
		ref, ok = ast.InputRootRef, true
	}
	if !ok || !ref.HasPrefix(ast.InputRootRef) {
		return
	}
	ref = slices.Clone(ref)
	switch key := call[2].Value.(type) {
	case ast.String:
		ref = append(ref, call[2])
	case *ast.Array:
		key.Foreach(func(t *ast.Term) { ref = append(ref, t) })
	default:
		return
	}
	call[1] = ast.ObjectTerm(ast.Item(ast.StringTerm("read"), ast.NewTerm(ref).SetLocation(call[2].Location))).SetLocation(call[1].Location)
}

// ruleAt returns the rule that contains a position: the last one that begins before it.
func ruleAt(rules []*ast.Rule, at *ast.Location) *ast.Rule {
	var out *ast.Rule
	for _, r := range rules {
		if l := r.Location; l != nil && (l.Row < at.Row || l.Row == at.Row && l.Col <= at.Col) {
			out = r
		}
	}
	return out
}

// manyNames is the most names that a message lists.
const manyNames = 16

// fieldMissing returns the diagnostic for a field that no event has.
func fieldMissing(d *ast.RefErrInvalidDetail, at *ast.Location, tools []string) diagnostic.Diagnostic {
	var names []string
	for _, v := range d.OneOf {
		if s, ok := v.(ast.String); ok {
			names = append(names, string(s))
		}
	}
	slices.Sort(names)
	name, _ := constant(d.Ref[d.Pos])
	hint := "see \"cardea policy input\""
	if near := document.NearestName(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	} else if len(names) <= manyNames {
		hint = "there are " + strings.Join(names, ", ")
	}
	whose := "no event has"
	if d.Pos == 2 && d.Ref[:2].Equal(toolInput()) {
		whose = "no documented input of " + strings.Join(tools, ", ") + " has"
	}
	return diagnostic.Diagnostic{Severity: diagnostic.LevelWarning, File: at.File, Line: at.Row, Column: at.Col, Code: engine.CodeField,
		Text: fmt.Sprintf("%s is always undefined: %s a field %q", d.Ref[:d.Pos+1], whose, name), Hint: hint}
}

func toolInput() ast.Ref { return ast.InputRootRef.Append(ast.InternedTerm("tool_input")) }

// toolsOf returns the tools of a rule: those that its body compares input.tool_name with,
// else those of the file's routing. An empty result means every tool.
func toolsOf(r *ast.Rule, routed []string) []string {
	if r.Else != nil {
		return routed
	}
	for _, e := range r.Body {
		if e.Negated || len(e.With) > 0 || !e.IsCall() || len(e.Operands()) != 2 {
			continue
		}
		a, b := e.Operand(0), e.Operand(1)
		switch {
		case e.IsEquality() || e.Operator().Equal(ast.Equal.Ref()):
			if tool, ok := constant(b); ok && isToolName(a) {
				return []string{tool}
			}
			if tool, ok := constant(a); ok && isToolName(b) {
				return []string{tool}
			}
		case e.Operator().Equal(ast.Member.Ref()):
			if tools := constants(b); tools != nil && isToolName(a) {
				return tools
			}
		}
	}
	return routed
}

func isToolName(t *ast.Term) bool {
	ref, ok := t.Value.(ast.Ref)
	return ok && ref.Equal(ast.InputRootRef.Append(ast.InternedTerm("tool_name")))
}

// constants returns the texts of a set or an array, sorted, nil if it has other elements.
func constants(t *ast.Term) []string {
	var out []string
	all := true
	each := func(e *ast.Term) {
		s, ok := constant(e)
		out, all = append(out, s), all && ok
	}
	switch v := t.Value.(type) {
	case ast.Set:
		v.Foreach(each)
	case *ast.Array:
		v.Foreach(each)
	}
	if !all {
		return nil
	}
	slices.Sort(out)
	return out
}

// schemaFor returns the JSON schema of an input for one of the tools. Without tools it is
// for every tool.
func schemaFor(s *engine.Shape, tools []string) any {
	fields := map[string]any{}
	for _, t := range tools {
		of, known := s.Tools[t].(map[string]any)
		if !known {
			clear(fields)
			break
		}
		maps.Copy(fields, of)
	}
	input := maps.Clone(s.Input)
	input["tool_input"] = fields
	return schemaOf(input)
}

// schemaOf returns the JSON schema of values with the shape of an example. A map has
// exactly the example's fields. The elements of a list have the shape of the first one. An
// empty example may be any value.
func schemaOf(example any) map[string]any {
	switch v := example.(type) {
	case map[string]any:
		if len(v) > 0 {
			fields := make(map[string]any, len(v))
			for name, e := range v {
				fields[name] = schemaOf(e)
			}
			return map[string]any{"properties": fields}
		}
	case []any:
		if len(v) > 0 {
			return map[string]any{"type": "array", "items": schemaOf(v[0])}
		}
	}
	return map[string]any{}
}
