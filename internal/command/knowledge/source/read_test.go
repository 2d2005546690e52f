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

// TestPageIsCurrent checks that the page documents every key, with the comments of the Go
// names.
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
	want := before + "<!-- keys: begin" + head + "-->\n" + keyTables(t) + "<!-- keys: end" + after
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

// keyTables returns the tables of all keys, one for each struct and each group of properties.
func keyTables(t *testing.T) string {
	t.Helper()
	structs := map[string]*ast.StructType{}
	for _, name := range []string{"file.go", "../form/form.go", "../form/wrapper.go", "../form/password.go", "../form/similar.go"} {
		for name, object := range parse(t, name).Scope.Objects {
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
		{"Complete", "`complete` and `edits`"},
		{"Wrapper", "An entry of `wrappers`"},
		{"Password", "An entry of `passwords`"},
		{"Similar", "An entry of `similar`"},
	} {
		out.WriteString("\n### " + part.title + "\n\n| key and meaning | value |\n|---|---|\n")
		for _, f := range structs[part.name].Fields.List {
			tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`"))
			key, flags, _ := strings.Cut(tag.Get("yaml"), ",")
			if key == "-" {
				continue
			}
			value := kindOf(t, f.Type)
			if flags == "required" {
				value += ", required"
			}
			out.WriteString("| " + about(t, f.Doc, f.Names[0].Name, key) + " | " + value + " |\n")
		}
	}
	return out.String() + propertyTables(t) + "\n"
}

// propertyTables returns the tables of all properties.
func propertyTables(t *testing.T) string {
	t.Helper()
	values, examples := uses(t)
	var out strings.Builder
	for _, d := range parse(t, "../form/property.go").Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		out.WriteString("\n### Properties: " + strings.TrimSuffix(strings.TrimSpace(group.Doc.Text()), ".") + "\n\n| key and meaning | value | example |\n|---|---|---|\n")
		for _, s := range group.Specs {
			p := s.(*ast.ValueSpec)
			key, _ := strconv.Unquote(p.Values[0].(*ast.BasicLit).Value)
			if !slices.Contains(form.Properties, form.Property(key)) {
				t.Errorf("form.Properties lacks %s", key)
			}
			out.WriteString("| " + about(t, p.Doc, p.Names[0].Name, key) + " | " + strings.Join(values[key], " or ") + " | `" + examples[key] + "` |\n")
		}
	}
	return out.String()
}

// uses returns the kinds of values that each property has in the files, and a command with it.
func uses(t *testing.T) (values map[string][]string, examples map[string]string) {
	t.Helper()
	files, _, err := ReadFolder("../../../../packs/commands")
	if err != nil {
		t.Fatal(err)
	}
	values, examples = map[string][]string{}, map[string]string{}
	for i := range files {
		for _, h := range files[i].Holders() {
			key, kind := string(h.Property), "`true`"
			if h.Words != nil {
				kind = "list"
			}
			if !slices.Contains(values[key], kind) {
				values[key] = append(values[key], kind)
				slices.Sort(values[key])
			}
			if examples[key] == "" {
				examples[key] = h.Program
			}
		}
	}
	return values, examples
}

// parse returns the syntax tree of a file.
func parse(t *testing.T, name string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// about returns the text of a key: the comment of its Go name, with the key in the place of the
// name.
func about(t *testing.T, comment *ast.CommentGroup, name, key string) string {
	t.Helper()
	text, ok := strings.CutPrefix(strings.Join(strings.Fields(comment.Text()), " "), name+" ")
	if !ok || !strings.HasSuffix(text, ".") {
		t.Errorf("the comment of %s is no sentence that begins with its name", name)
	}
	return "`" + key + "` " + strings.ReplaceAll(text, "|", "\\|")
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
