package archtest

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// advice matches a text that explains how to switch the gate, or a part of it, off.
var advice = regexp.MustCompile(`(?i)\bcardea:?[ /]+(disable|override|trust|uninstall|config|accept|permissions allow)|\b(rules|packs): ?(\{|off)|\{off:|\bon_error:|` +
	`\boverrides?:|switch the (gate|rule|pack|plugin) off|(turn|switch) (it|this) off|disable (cardea|the (gate|rule|pack|hook|plugin))`)

// toModels are the packages whose texts can reach a model.
var toModels = regexp.MustCompile(`^cardea\.dev(/cmd/cardea-hook|/internal/(hook|harness|decide|cli/mcp|ask/judge|ask/supervisor|` +
	`config/fetch|config/inforce|memory/lesson|memory/similar|base/script)(/.*)?)?$`)

// toPeople are files whose advice only people read, and why.
var toPeople = map[string]string{
	"internal/hook/setup.go":              "a hint of an issue",
	"internal/config/inforce/judge.go":    "a hint of an issue",
	"internal/config/inforce/problems.go": "hints of diagnostics",
	"internal/decide/policy/policies.go":  "Opinion.ForPeople",
	"internal/decide/rules/parse.go":      "a hint for a key that is not known",
}

// TestNoAdviceForModels checks that no text for a model explains how to switch the gate
// off. Hints of issues are for people: no message has them (reasons.go).
func TestNoAdviceForModels(t *testing.T) {
	n := 0
	for _, p := range tree(t) {
		if !toModels.MatchString(p.Path) {
			continue
		}
		for _, f := range p.Files {
			name := strings.TrimPrefix(p.Path, module+"/") + "/" + f.Name
			hints := map[ast.Node]bool{}
			ast.Inspect(f.AST, func(at ast.Node) bool {
				switch at := at.(type) {
				case *ast.CallExpr:
					if name := called(at); (name == "Warning" || name == "Issue") && len(at.Args) > 2 {
						hints[at.Args[2]] = true
					}
				case *ast.BasicLit:
					text, err := strconv.Unquote(at.Value)
					if n++; at.Kind == token.STRING && err == nil && advice.MatchString(text) && toPeople[name] == "" && !hints[at] {
						t.Errorf("%s: %q", name, text)
					}
				}
				return !hints[at]
			})
		}
	}
	for _, name := range []string{"plugin/skills/*/*.md", "plugin/agents/*.md", "plugin/scripts/*", "internal/config/install/programs/*", "packs/policies/*.rego", "packs/roles/*"} {
		files, err := filepath.Glob("../../../" + name)
		if err != nil || len(files) == 0 {
			t.Fatal(name, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if found := advice.Find(text); found != nil && !strings.HasSuffix(file, "_test.rego") {
				t.Errorf("%s: %s", file, found)
			}
		}
	}
	if n < 1000 {
		t.Errorf("only %d texts", n)
	}
}

func called(c *ast.CallExpr) string {
	if s, is := c.Fun.(*ast.SelectorExpr); is {
		return s.Sel.Name
	}
	return ""
}
