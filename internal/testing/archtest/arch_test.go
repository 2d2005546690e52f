package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"path"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
)

const module = Module

// read reads the module once for all tests.
var read = sync.OnceValues(func() ([]Package, error) { return Read("../../..") })

// tree returns all packages of the module.
func tree(t *testing.T) []Package {
	t.Helper()
	pkgs, err := read()
	if err != nil {
		t.Fatal(err)
	}
	if len(pkgs) < 10 {
		t.Fatalf("found only %d packages", len(pkgs))
	}
	return pkgs
}

func internal(name string) string { return module + "/internal/" + name }

// decider returns the name of the decider to which a package below internal/decide belongs.
func decider(pkg string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(pkg, internal("decide")+"/"), "/")
	return name
}

// beside maps the packages outside of internal/ to the folder with the same height. ""
// is above all.
var beside = map[string]string{"cmd": "", "scripts": "", "plugin": "", "agents": "cli", "packs": "decide"}

// height returns how many folders are above a package's, times two. The vocabulary, package
// cardea.dev, is between the folders command and base.
func height(importPath string) int {
	name, inside := strings.CutPrefix(importPath, module+"/internal/")
	first, _, _ := strings.Cut(strings.TrimPrefix(name, module+"/"), "/")
	if of, known := beside[first]; !inside && known {
		first = of
	}
	index := func(name string) int {
		return slices.IndexFunc(Folders, func(f Folder) bool { return f.Name == name })
	}
	if importPath == module {
		return 2*index("base") - 1
	}
	return 2 * index(first)
}

// law is a rule that only some packages, and those below them, import others.
type law struct {
	imports, by []string
	why         string
}

// ownLaws are rules for packages of the module, by their path in internal/, and outer
// for other packages.
var ownLaws = []law{
	{[]string{"decide/policy/rego", "config/fetch", "ask/judge/provider", "ask/queue/notice"}, []string{"config/fetch", "memory/meaning/search", "../cmd/cardea-engine"},
		"only cmd/cardea-engine links OPA and HTTP, so that the hook does not pay for them"},
	{[]string{"memory/embedding"}, []string{"memory/meaning/search", "../scripts/distill"}, "only cmd/cardea-engine links the table of the embedding"},
	{[]string{"memory/meaning/search"}, []string{"../cmd/cardea-engine"}, "only cmd/cardea-engine links the table of the embedding"},
	{[]string{"testing/archtest"}, []string{"../scripts"}, "what reads the source code is no part of the product"},
	{[]string{"command/bash", "decide", "harness/call"}, []string{"cli", "hook", "config", "decide", "memory", "ask", "harness/call", "command", "testing", "../cmd", "../scripts", "../packs"},
		"adapters know the wire and the vocabulary, nothing else"},
}

var outerLaws = []law{
	{[]string{"mvdan.cc"}, []string{"command/bash"}, "only internal/command/bash imports the shell parser"},
	{[]string{"github.com/open-policy-agent"}, []string{"decide/policy/rego"}, "only internal/decide/policy/rego imports OPA"},
	{[]string{"zombiezen.com", "modernc.org"}, []string{"ask/queue/store"}, "only internal/ask/queue/store speaks with a database"},
	{[]string{"go.yaml.in"}, []string{"base/document"}, "YAML is read in internal/base/document, so that every file gets the same checks"},
	{[]string{"github.com/spf13"}, []string{"cli"}, "the command line is internal/cli's"},
	{[]string{"net/http"}, []string{"config/fetch", "ask/judge/provider", "memory/meaning/search", "hook/daemon/web", "ask/queue/notice", "config/release/updates", "../scripts"},
		"the hook's process does not pay for it"},
	{[]string{"database"}, nil, "the hook's process does not pay for it"},
}

// only lists the packages of the module that some packages import, in addition to those
// in their own folder.
var only = map[string][]string{
	"command/knowledge": {"", "internal/command/knowledge", "internal/command/mention", "internal/base/paths"},
	"command/bash":      {"", "internal/command/bash", "internal/command/knowledge", "internal/base/paths"},
}

// violations returns the imports that break a law.
func violations(pkgs []Package) []string {
	var out []string
	for _, p := range pkgs {
		for _, imp := range p.Imports {
			if why := broken(p, imp); why != "" {
				out = append(out, fmt.Sprintf("%s imports %s: %s", p.Path, imp, why))
			}
		}
	}
	sort.Strings(out)
	return out
}

// broken returns the law that an import breaks, or "".
func broken(p Package, imp string) string {
	if !below(imp, module) {
		return brokenOuter(p, imp)
	}
	for _, l := range ownLaws {
		if l.forbids(p, imp, internal) {
			return l.why
		}
	}
	for folder, may := range only {
		among := func(name string) bool {
			return imp == module && name == "" || name != "" && below(imp, module+"/"+name)
		}
		if p.Path == internal(folder) && !slices.ContainsFunc(may, among) {
			return "it needs the vocabulary and " + strings.Join(may[1:], ", ") + ", nothing else"
		}
	}
	switch of := internal("decide"); {
	case height(imp) < height(p.Path) && !p.ForTests() && !below(p.Path, internal("testing")):
		return "it is in a folder above, see the list of folders"
	case below(p.Path, of) && below(imp, of) && decider(imp) != decider(p.Path) && decider(imp) != "roles":
		return "no decider imports another"
	}
	return ""
}

func brokenOuter(p Package, imp string) string {
	std := !strings.Contains(strings.SplitN(imp, "/", 2)[0], ".")
	switch {
	case p.Path != module:
	case !std:
		return "the vocabulary uses the standard library only"
	case slices.ContainsFunc([]string{"os", "net", "syscall", "io/ioutil"}, func(of string) bool { return below(imp, of) }):
		return "the vocabulary does no I/O"
	}
	for _, l := range outerLaws {
		if l.forbids(p, imp, func(name string) string { return name }) && !p.ForTests() && path.Base(p.Path) != "gen" {
			return l.why
		}
	}
	return ""
}

// forbids reports whether a law forbids an import. place turns the names in it into
// import paths.
func (l law) forbids(p Package, imp string, place func(string) string) bool {
	may := func(by string) bool { return below(p.Path, path.Clean(internal(by))) }
	return slices.ContainsFunc(l.imports, func(of string) bool { return below(imp, place(of)) && !below(p.Path, place(of)) }) && !slices.ContainsFunc(l.by, may)
}

func TestImportLaws(t *testing.T) {
	for _, v := range violations(tree(t)) {
		t.Error(v)
	}
}

const opa = "github.com/open-policy-agent/opa"

// heavy are the packages that the hook's program must not link in any way: it is a
// process per call. They include the commands for people.
var heavy = []string{opa, "net", "text/template", "go.yaml.in", "github.com/spf13", "database/sql", "zombiezen.com", "modernc.org", "testing",
	internal("cli"),
	internal("base/document/yamltext"),
	internal("command/disk/archives"),
	"archive",
	"compress",
	internal("config/importer"),
	internal("cli/monitor"),
	internal("cli/mcp"),
	"charm.land",
	"github.com/charmbracelet",
	"github.com/modelcontextprotocol",
	internal("config/fetch"),
	internal("ask/judge/provider"),
}

// light are the packages of the module that the daemon's client links: it is a process
// per call that only sends and receives.
var light = []string{module + "/cmd/cardea-hook", internal("hook/control"), internal("base/limit")}

func TestWhatIsLinked(t *testing.T) {
	linked := func(program string) string {
		t.Helper()
		list := exec.Command("go", "list", "-deps", module+"/cmd/"+program)
		list.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=1")
		out, err := list.Output()
		if err != nil || !strings.Contains(string(out), module+"/cmd/"+program+"\n") {
			t.Fatalf("%s: %v", program, err)
		}
		return string(out)
	}
	for pkg := range strings.FieldsSeq(linked("cardea")) {
		for _, h := range heavy {
			if below(pkg, h) && pkg != "net/netip" && pkg != "net/url" {
				t.Errorf("cmd/cardea links %s", pkg)
			}
		}
		if pkg == "runtime/cgo" { // it would load the C library, and LD_PRELOAD into it
			t.Errorf("cmd/cardea links %s", pkg)
		}
	}
	for pkg := range strings.FieldsSeq(linked("cardea-hook")) {
		if own := below(pkg, module); own && !slices.Contains(light, pkg) || pkg == "runtime/cgo" || pkg == "net" || pkg == "fmt" || pkg == "encoding/json" || pkg == "regexp" {
			t.Errorf("cmd/cardea-hook links %s", pkg)
		}
	}
	if !strings.Contains(linked("cardea-engine"), opa+"/v1/topdown\n") {
		t.Error("cmd/cardea-engine does not link OPA")
	}
}

// TestTestPackagesAreForTestsOnly checks that no program links a package that imports testing.
func TestTestPackagesAreForTestsOnly(t *testing.T) {
	for _, v := range linksTests(tree(t)) {
		t.Error(v)
	}
	suite := Package{Path: internal("x/conformance"), Imports: []string{"testing"}}
	user := Package{Path: internal("x"), Imports: []string{suite.Path}}
	if len(linksTests([]Package{suite, user})) != 1 {
		t.Error("a package may import a conformance suite")
	}
}

func linksTests(pkgs []Package) []string {
	forTests := map[string]bool{}
	for _, p := range pkgs {
		forTests[p.Path] = p.ForTests()
	}
	var out []string
	for _, p := range pkgs {
		for _, i := range p.Imports {
			if forTests[i] && !p.ForTests() {
				out = append(out, p.Path+" imports "+i+", which is for tests")
			}
		}
	}
	return out
}

// TestRenderingIsPure checks that the files of an adapter that write answers know the
// verdict and nothing of the machine.
func TestRenderingIsPure(t *testing.T) {
	files := 0
	for _, p := range tree(t) {
		if !below(p.Path, internal("harness")) {
			continue
		}
		for _, f := range p.Files {
			if !strings.HasPrefix(f.Name, "render") && f.Name != "remark.go" {
				continue
			}
			files++
			for _, i := range f.AST.Imports {
				switch name := strings.Trim(i.Path.Value, `"`); name {
				case "os", "os/exec", "io/fs", "path/filepath", "time", "net", "syscall":
					t.Errorf("%s/%s imports %s", p.Dir(), f.Name, name)
				}
			}
		}
	}
	if files < 3 {
		t.Errorf("only %d files render", files)
	}
}

// sharedNames are names that several packages may have: they have the same relation to
// the package above them everywhere.
var sharedNames = []string{"conformance", "gen"}

// TestPackageNamesAreTellingApart checks that no two packages have names that differ
// only by their folder, or by an s, and are easily confused.
func TestPackageNamesAreTellingApart(t *testing.T) {
	seen := map[string]string{}
	for _, p := range tree(t) {
		name := strings.TrimSuffix(path.Base(p.Path), "s")
		if slices.Contains(sharedNames, path.Base(p.Path)) || below(p.Path, module+"/cmd") {
			continue
		}
		if other := seen[name]; other != "" {
			t.Errorf("%s and %s have names that are too much alike", other, p.Dir())
		}
		seen[name] = p.Dir()
	}
}

// maxLong is the number of functions that may have more than 50 lines. Never raise it.
const maxLong = 20

func TestFunctionsAreShort(t *testing.T) {
	var long []string
	for _, p := range tree(t) {
		for _, f := range p.Functions() {
			if f.Lines > 50 && !p.ForTests() {
				long = append(long, fmt.Sprintf("%s: %s, %d lines", f.File, f.Name, f.Lines))
			}
		}
	}
	if len(long) > maxLong {
		t.Errorf("%d functions have more than 50 lines, %d may:\n%s", len(long), maxLong, strings.Join(long, "\n"))
	}
}

// TestReasonsAreNotCompared checks that programs compare codes. A reason is for people.
func TestReasonsAreNotCompared(t *testing.T) {
	for _, p := range tree(t) {
		if p.ForTests() {
			continue
		}
		for _, f := range p.Files {
			for _, at := range comparedReasons(f) {
				t.Errorf("%s: %s", p.Dir(), at)
			}
		}
	}
	p := write(t, `package a

var _ = x.Reason == "no" || strings.HasPrefix(x.Message, "no") || x.Reason == "" || x.Reason != y.Reason

func _() { switch x.Reason { case "no": } }
`)
	if got := comparedReasons(p.Files[0]); len(got) != 3 {
		t.Errorf("found only %v", got)
	}
}

// comparedReasons returns the places where a field Reason or Message is compared with a
// text in the code.
func comparedReasons(f File) []string {
	isReason := func(e ast.Expr) bool {
		sel, ok := e.(*ast.SelectorExpr)
		return ok && (sel.Sel.Name == "Reason" || sel.Sel.Name == "Message")
	}
	isText := func(e ast.Expr) bool {
		lit, ok := e.(*ast.BasicLit)
		return ok && len(lit.Value) > len(`""`)
	}
	var out []string
	found := func(n ast.Node) { out = append(out, f.positions.Position(n.Pos()).String()+" compares a reason") }
	ast.Inspect(f.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if (n.Op == token.EQL || n.Op == token.NEQ) && (isReason(n.X) && isText(n.Y) || isText(n.X) && isReason(n.Y)) {
				found(n)
			}
		case *ast.SwitchStmt:
			if n.Tag != nil && isReason(n.Tag) {
				found(n)
			}
		case *ast.CallExpr:
			fn, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || len(n.Args) != 2 {
				return true
			}
			if pkg, ok := fn.X.(*ast.Ident); ok && pkg.Name == "strings" && isReason(n.Args[0]) && isText(n.Args[1]) {
				found(n)
			}
		}
		return true
	})
	return out
}

// TestLawsBite tests the laws on trees that break them.
func TestLawsBite(t *testing.T) {
	for _, tt := range []struct{ from, imp string }{
		{module, "github.com/x/y"}, {module, "os"}, {internal("hook/gate"), "mvdan.cc/sh/v3/syntax"},
		{internal("decide/rules"), internal("decide/noeffect")}, {internal("decide/rules"), internal("hook/gate")},
		{internal("harness/call"), internal("cli")}, {internal("decide/rules"), internal("config/settings")}, {internal("memory/ledger"), internal("decide/rules")},
		{internal("base/state"), internal("command/knowledge")}, {internal("ask/queue"), internal("memory/candidate")}, {internal("harness"), internal("ask/judge")}, {internal("config"), internal("cli")},
		{internal("config/project"), internal("hook/gate")},
		{internal("command/knowledge"), internal("command/bash")},
		{internal("command/knowledge"), "mvdan.cc/sh/v3/syntax"},
		{internal("cli"), internal("testing/archtest")},
		{internal("harness/claudecode"), internal("command/bash")},
		{internal("command/bash"), internal("harness/call")}, {internal("cli"), "net/http"}, {internal("cli"), "go.yaml.in/yaml/v3"},
		{internal("decide/policy"), "github.com/open-policy-agent/opa/v1/ast"}, {internal("decide/policy/remote"), internal("decide/policy/rego")},
		{internal("decide/policy/engine"), opa + "/v1/topdown"}, {module + "/cmd/cardea-engine", opa + "/v1/ast"},
		{internal("cli"), internal("decide/policy/rego")},
		{internal("cli"), internal("config/fetch")},
		{internal("cli"), internal("ask/judge/provider")},
		{internal("hook/gate"), internal("memory/embedding")},
		{internal("cli"), internal("memory/meaning/search")},
		{internal("ask/judge"), "net/http"},
		{internal("ask/judge"), internal("ask/judge/provider")},
		{internal("config/org"), "net/http"},
		{module + "/cmd/cardea", internal("decide/policy/rego")}, {internal("base/document"), module}, {module, internal("command/bash")},
		{internal("harness/call"), "github.com/spf13/cobra"}, {internal("ask/queue"), "zombiezen.com/go/sqlite"}, {internal("memory/session"), internal("hook/gate")},
	} {
		p := Package{Path: tt.from, Imports: []string{tt.imp}}
		if len(violations([]Package{p})) == 0 {
			t.Errorf("%s may import %s", tt.from, tt.imp)
		}
	}
}

func TestPackagesSayWhatTheyAreFor(t *testing.T) {
	for _, p := range tree(t) {
		doc := ""
		for _, f := range p.Files {
			if f.AST.Doc != nil {
				doc += f.AST.Doc.Text()
			}
		}
		if len(doc) < 60 {
			t.Errorf("%s has no package comment that says what it is for", p.Path)
		}
	}
}

func TestExportedNamesHaveComments(t *testing.T) {
	for _, p := range tree(t) {
		for _, f := range p.Files {
			for _, d := range f.AST.Decls {
				for _, name := range undocumented(d) {
					t.Errorf("%s: %s has no comment", p.Path, name)
				}
			}
		}
	}
}

// undocumented returns the exported names of a declaration without a comment.
func undocumented(d ast.Decl) []string {
	var out []string
	switch d := d.(type) {
	case *ast.FuncDecl:
		if !d.Name.IsExported() || d.Doc != nil || d.Recv != nil && !ast.IsExported(receiver(d.Recv)) {
			return nil
		}
		out = append(out, d.Name.Name)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
					out = append(out, s.Name.Name)
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
						out = append(out, n.Name)
					}
				}
			}
		}
	}
	return out
}

// TestNoInitAndNoGiants checks that only code that makes the start faster runs before main
// (internal/hook/early), without other init functions. It also limits the length of files.
func TestNoInitAndNoGiants(t *testing.T) {
	for _, p := range tree(t) {
		for _, f := range p.Files {
			for _, d := range f.AST.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" && p.Path != internal("hook/early") {
					t.Errorf("%s has an init function", p.Path)
				}
			}
		}
		for _, f := range p.Files {
			if f.Lines > 700 && !f.Generated {
				t.Errorf("%s/%s has %d lines: split it", p.Path, f.Name, f.Lines)
			}
		}
	}
}
