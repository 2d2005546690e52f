package rego

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	_ "cardea.dev/internal/base/document/yamltext" // reads YAML
	"cardea.dev/internal/decide/policy/engine"
)

// documents reads the data documents among files and merges them as OPA does. It leaves out
// those that are invalid or contradict each other, and returns the reasons.
func documents(files []engine.Source) (root map[string]any, out map[string]Problems) {
	root, out = map[string]any{}, map[string]Problems{}
	var from []origin
	for _, f := range files {
		if f.Data == "" {
			continue
		}
		v, problem := rooted(f)
		if problem != nil {
			out[f.Path] = Problems{*problem}
			continue
		}
		from = append(from, origin{f.Path, v})
	}
	for i, a := range from {
		for _, b := range from[i+1:] {
			if at, differ := conflict(a.value, b.value, "data"); differ {
				out[a.path] = append(out[a.path], conflicting(a.path, b.path, at))
				out[b.path] = append(out[b.path], conflicting(b.path, a.path, at))
			}
		}
	}
	for _, o := range from {
		if out[o.path] == nil {
			merge(root, o.value)
		}
	}
	return root, out
}

// origin is a document, from the root, with its file.
type origin struct {
	path  string
	value map[string]any
}

func conflicting(path, other, at string) diagnostic.Diagnostic {
	return diagnostic.Diagnostic{File: path, Code: engine.CodeData, Text: fmt.Sprintf("%s is also defined in %s, and only objects are merged", at, other), Hint: "remove one of the two"}
}

// conflict returns the first path at which two documents cannot be merged, and whether
// there is one.
func conflict(a, b map[string]any, at string) (string, bool) {
	for _, key := range slices.Sorted(maps.Keys(a)) {
		other, both := b[key]
		if !both {
			continue
		}
		x, isMap := a[key].(map[string]any)
		y, isMapToo := other.(map[string]any)
		if !isMap || !isMapToo {
			return at + "." + key, true
		}
		if found, differ := conflict(x, y, at+"."+key); differ {
			return found, true
		}
	}
	return "", false
}

// merge adds a document without conflicts to another one.
func merge(into, from map[string]any) {
	for key, v := range from {
		below, isMap := v.(map[string]any)
		if !isMap {
			into[key] = v
			continue
		}
		old, there := into[key].(map[string]any)
		if !there {
			old = map[string]any{}
			into[key] = old
		}
		merge(old, below)
	}
}

// rooted reads a document, and nests it in maps for its folders.
func rooted(f engine.Source) (map[string]any, *diagnostic.Diagnostic) {
	v, err := value(f)
	if err != nil {
		return nil, err
	}
	folders := f.Folders()
	if _, isMap := v.(map[string]any); len(folders) == 0 && !isMap {
		return nil, &diagnostic.Diagnostic{File: f.Path, Line: 1, Column: 1, Code: engine.CodeData, Text: "the document is no object, but " + kind(v) + ", and in the folder of policies itself it must be one",
			Hint: "give the value a name, or put the file into a folder, whose name then stands behind data"}
	}
	for _, name := range slices.Backward(folders) {
		v = map[string]any{name: v}
	}
	return v.(map[string]any), nil
}

func kind(v any) string {
	x, err := ast.InterfaceToValue(v)
	if err != nil {
		return "no value"
	}
	return ast.ValueName(x)
}

// value returns the value of a document. An empty YAML document is an empty map.
func value(f engine.Source) (v any, problem *diagnostic.Diagnostic) {
	text := []byte(unmarked(f.Text))
	if path.Ext(f.Path) != ".json" {
		// OPA's reader reports no positions and has no limits.
		if found := document.Read(f.Path, text).Problems(); len(found) > 0 {
			return nil, &found[0]
		}
		if err := util.Unmarshal(text, &v); err != nil {
			return nil, &diagnostic.Diagnostic{File: f.Path, Line: 1, Column: 1, Code: diagnostic.CodeSyntax, Text: "not valid YAML: " + oneLine(err.Error())}
		}
		if v == nil {
			v = map[string]any{} // empty, or only comments
		}
		return v, nil
	}
	err := util.UnmarshalJSON(text, &v)
	if err == nil {
		return v, nil
	}
	offset := len(text)
	if at := (*json.SyntaxError)(nil); errors.As(err, &at) {
		offset = int(at.Offset)
	}
	line, column := position(text, offset)
	return nil, &diagnostic.Diagnostic{File: f.Path, Line: line, Column: column, Code: diagnostic.CodeSyntax, Text: "not valid JSON: " + err.Error()}
}

// position returns the line and column of the byte before an offset.
func position(text []byte, offset int) (line, column int) {
	before := text[:max(0, min(offset, len(text))-1)]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

// maxNames is the most names of a document that are listed.
const maxNames = 64

// defines returns the dotted paths below data that a document defines: the path of its
// folder, or in the folder of policies its top-level names. "*" is everything.
func defines(f engine.Source) ([]string, Problems) {
	v, problem := rooted(f)
	if folders := f.Folders(); len(folders) > 0 {
		v = map[string]any{strings.Join(folders, "."): nil}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		out = append(out, name)
		if len(out) > maxNames || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) {
			out = []string{"*"}
			break
		}
	}
	if problem == nil {
		return out, nil
	}
	if len(out) == 0 {
		out = []string{"*"}
	}
	return out, Problems{*problem}
}
