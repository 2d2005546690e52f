package source

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cardea.dev/internal/command/knowledge/form"
)

// TestFilesAreWithoutMistakes checks that the files of the repository have no mistakes.
func TestFilesAreWithoutMistakes(t *testing.T) {
	files, problems, err := ReadFolder("../../../../packs/commands")
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	for _, p := range problems {
		t.Error(p)
	}
}

var update = flag.Bool("update", false, "write docs/command-knowledge.md")

// TestMistakes checks that all mistakes are reported at once, with their positions and hints.
func TestMistakes(t *testing.T) {
	for _, name := range []string{"broken", "syntax"} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile("testdata/" + name + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile("testdata/" + name + ".txt")
			if err != nil && !*update {
				t.Fatal(err)
			}
			_, problems := Read(name+".yaml", data)
			var got strings.Builder
			for _, p := range problems {
				got.WriteString(p.String() + "\n")
			}
			if *update {
				if err := os.WriteFile("testdata/"+name+".txt", []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got.String() != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got.String(), want)
			}
		})
	}
}

const page = "../../../../docs/command-knowledge.md"

// TestPageIsCurrent checks that the page documents every key, with the comments of the
// form package.
func TestPageIsCurrent(t *testing.T) {
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), "<!-- keys: begin")
	head, rest, ok2 := strings.Cut(rest, "-->\n")
	_, after, ok3 := strings.Cut(rest, "<!-- keys: end")
	if !ok || !ok2 || !ok3 {
		t.Fatal("the page has no place for the table of keys")
	}
	want := before + "<!-- keys: begin" + head + "-->\n" + keys(t) + "<!-- keys: end" + after
	if want == string(data) {
		return
	}
	if !*update {
		t.Fatal("docs/command-knowledge.md is out of date: run go test ./internal/command/knowledge/source -run TestPageIsCurrent -update")
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// keys returns the table of all keys, with a section per struct.
func keys(t *testing.T) string {
	t.Helper()
	structs := map[string]*ast.StructType{}
	for _, name := range []string{"file.go", "../form/form.go", "../form/wrapper.go", "../form/password.go", "../form/similar.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for name, object := range file.Scope.Objects {
			if spec, ok := object.Decl.(*ast.TypeSpec); ok {
				structs[name], _ = spec.Type.(*ast.StructType)
			}
		}
	}
	var out strings.Builder
	for _, part := range []struct{ name, title string }{
		{"File", "A file"},
		{"Tests", "`tests`"},
		{"Program", "An entry of `programs` and `subcommands`"},
		{"When", "An entry of `when`"},
		{"Complete", "`complete`"},
		{"Wrapper", "An entry of `wrappers`"},
		{"Password", "An entry of `passwords`"},
		{"Similar", "An entry of `similar`"},
	} {
		out.WriteString("\n### " + part.title + "\n\n| key | value | meaning |\n|---|---|---|\n")
		for _, f := range structs[part.name].Fields.List {
			tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`"))
			key, flags, _ := strings.Cut(tag.Get("yaml"), ",")
			if key == "-" {
				continue
			}
			text := strings.Join(strings.Fields(f.Doc.Text()), " ")
			if text == "" {
				t.Errorf("%s.%s has no comment", part.name, f.Names[0].Name)
			}
			if flags == "required" {
				text += " Required."
			}
			out.WriteString("| `" + key + "` | " + kindOf(t, f.Type) + " | " + strings.ReplaceAll(text, "|", "\\|") + " |\n")
		}
	}
	out.WriteString("\n### Properties\n\nKeys of entries of `programs`, `subcommands` and `wrappers`: `true`, or a list of words.\n\n| key | meaning |\n|---|---|\n")
	for _, p := range constants(t, "../form/property.go") {
		text := strings.Join(strings.Fields(p.Doc.Text()), " ")
		name, _ := strconv.Unquote(p.Values[0].(*ast.BasicLit).Value)
		out.WriteString("| `" + name + "` | The program" + strings.TrimPrefix(text, p.Names[0].Name) + " |\n")
		if !slices.Contains(form.Properties, form.Property(name)) {
			t.Errorf("form.Properties lacks %s", name)
		}
	}
	return out.String() + "\n"
}

// constants returns the constants of a file.
func constants(t *testing.T, name string) []*ast.ValueSpec {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var out []*ast.ValueSpec
	for _, d := range file.Decls {
		if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.CONST {
			for _, s := range d.Specs {
				if s, ok := s.(*ast.ValueSpec); ok {
					out = append(out, s)
				}
			}
		}
	}
	return out
}

// kindOf returns the kind of a key's value, for the table.
func kindOf(t *testing.T, e ast.Expr) string {
	t.Helper()
	switch kind := types.ExprString(e); kind {
	case "string":
		return "word"
	case "bool":
		return "`true`"
	case "int":
		return "number"
	case "[]string":
		return "list of words"
	case "[]int":
		return "list of numbers"
	case "Access":
		return "access"
	case "[]Access":
		return "list of accesses"
	case "[]NamedAccess":
		return "map of accesses"
	case "any", "[]Alias", "[]NamedText", "[]Credentials", "[]Example", "[]form.OptionValues", "[]OptionValues", "Tests", "*Complete":
		return "map"
	case "[]form.Program", "[]Program", "[]When", "[]form.Wrapper", "[]form.Password", "[]form.Similar":
		return "list of maps"
	default:
		t.Fatal("no name for", kind)
		return ""
	}
}
