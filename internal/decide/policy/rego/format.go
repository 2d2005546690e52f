package rego

import (
	"context"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/decide/policy/engine"
)

// Format returns the texts of files as "opa fmt" writes them. A file without contents stays
// unchanged. A file of which the meaning would change also does, since a formatter may have
// bugs, and policies protect.
func (Engine) Format(_ context.Context, files []engine.Source) ([]engine.Formatted, error) {
	out := make([]engine.Formatted, len(files))
	eachAtOnce(len(files), func(i int) { out[i] = formatted(files[i]) })
	return out, nil
}

// formatted formats one file.
func formatted(f engine.Source) engine.Formatted {
	before, err := parsedAs(f.Path, unmarked(f.Text))
	switch {
	case err != nil && blank(f.Path, f.Text):
		return engine.Formatted{Text: f.Text}
	case err != nil:
		return engine.Formatted{Text: f.Text, Problems: problemsOf(f.Path, err)}
	}
	text, err := format.SourceWithOpts(f.Path, []byte(unmarked(f.Text)), format.Opts{RegoVersion: ast.RegoV1})
	if err != nil {
		return engine.Formatted{Text: f.Text, Problems: problemsOf(f.Path, err)}
	}
	after, err := parsedAs(f.Path, string(text))
	if err != nil || !sameMeaning(before, after) {
		return engine.Formatted{Text: f.Text, Problems: Problems{{File: f.Path, Code: diagnostic.CodeInternal,
			Text: "OPA's formatter would change what the file says, so it is left as it is"}}}
	}
	return engine.Formatted{Text: string(text)}
}

func parsedAs(path, text string) (*ast.Module, error) {
	return ast.ParseModuleWithOpts(path, text, ast.ParserOptions{RegoVersion: ast.RegoV1, ProcessAnnotation: true})
}

// sameMeaning reports whether two modules have the same package, imports, rules and
// METADATA. The formatter sorts imports and omits those that version 1 of Rego does not
// need. It writes "x := 1" for "x = 1".
func sameMeaning(a, b *ast.Module) bool {
	for _, m := range []*ast.Module{a, b} {
		for _, r := range m.Rules {
			for ; r != nil; r = r.Else {
				r.Head.Assign = true
			}
		}
	}
	return a.Package.Equal(b.Package) && slices.Equal(importsOf(a), importsOf(b)) &&
		slices.EqualFunc(a.Rules, b.Rules, (*ast.Rule).Equal) &&
		slices.EqualFunc(a.Annotations, b.Annotations, func(a, b *ast.Annotations) bool { return a.Compare(b) == 0 })
}

func importsOf(m *ast.Module) []string {
	var out []string
	for _, i := range m.Imports {
		if text := i.String(); !strings.HasPrefix(text, "import future.") && !strings.HasPrefix(text, "import rego.") {
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
