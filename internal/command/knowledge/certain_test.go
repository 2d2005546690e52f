package knowledge

import (
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge/form"
)

// tool is a program made up for these tests, with the keys that programs with
// subcommands need.
var tool = form.Program{
	Name: []string{"tool"}, SubcommandWords: 1, Operands: form.None, GlobalValueOptions: []string{"-H"}, PersistentValueOptions: []string{"-n"}, HelpOptions: []string{"--help"},
	AccessesIfIncomplete: []cardea.AccessKind{cardea.Unknown},
	Complete:             &form.Complete{Options: []string{"-n", "-q"}, WithoutSubcommand: true},
	Subcommands: []form.Program{
		{Name: []string{"get"}, Operands: form.None, Accesses: []cardea.AccessKind{form.Configured}, ValueOptions: []string{"-o"},
			Complete: &form.Complete{Options: []string{"-o=json", "-o=path=*", "-w"}, ResourceTypes: []string{"pods", "svc"}}},
		{Name: []string{"log"}, Operands: form.None, Complete: &form.Complete{Options: []string{"-H"}}},
		{Name: []string{"list"}, Operands: form.None, ValueOptions: []string{"-m"}, Complete: &form.Complete{Options: []string{"-l", "-m"}, LimitsOperands: true, MaxOperandsUnless: []string{"-l"}}},
		{
			Name:              []string{"fmt"},
			SingleDashOptions: true,
			Operands:          cardea.Read,
			Complete:          &form.Complete{Options: []string{"-check"}, RequiredOptions: []string{"-check"}, UnlessProjectFiles: []string{".toolrc"}},
		},
		{
			Name:           []string{"view"},
			Operands:       form.Repository,
			ValueOptions:   []string{"-R"},
			OptionAccesses: []form.NamedAccess{{Name: "-R", Access: form.Repository}},
			Complete:       &form.Complete{Options: []string{"-R"}},
		},
		{Name: []string{"only"}, Operands: form.None, Complete: &form.Complete{OperandPrefixes: []string{"a.", "b."}}},
		{Name: []string{"rm"}, Operands: form.None, Accesses: []cardea.AccessKind{cardea.Unknown}},
		{Name: []string{"*"}, Operands: form.None, Complete: &form.Complete{RequiredOptions: []string{"-q"}}},
	},
}

// stamp is a program made up for these tests, whose first word is a subcommand or
// an operand.
var stamp = form.Program{
	Name: []string{"stamp"}, SubcommandWords: 1, OperandsWithoutSubcommand: true, Operands: cardea.Read, LastOperand: cardea.Write, ValueOptions: []string{"-f"},
	When:              []form.When{{Options: []string{"--dry-run"}, LastOperand: form.None}},
	Complete:          &form.Complete{Options: []string{"-f", "--dry-run"}, WithoutSubcommand: true},
	SubcommandAliases: []form.Alias{{Words: []string{"ck"}, Means: []string{"verify"}}},
	Subcommands:       []form.Program{{Name: []string{"verify"}, Operands: cardea.Read, Complete: &form.Complete{}}, {Name: []string{"x-*"}, Operands: cardea.Delete}},
}

// understood describes words as those of tool and returns why they are not certain, and
// their accesses.
func understood(words ...string) (string, []cardea.Access, *Meaning) {
	argv := []Word{Literal("tool")}
	for _, x := range words {
		argv = append(argv, Literal(x))
	}
	return understoodAs(&tool, argv...)
}

func understoodAs(spec *form.Program, argv ...Word) (string, []cardea.Access, *Meaning) {
	out := &Meaning{Command: []string{argv[0].Text}}
	r := reader{system: &System{}, paths: Paths{Dir: "/work"}, out: out, argv: argv, spec: spec, first: 1}
	r.read()
	if r.help() {
		return "", nil, out
	}
	r.accesses()
	doubt := r.doubt()
	if doubt != "" {
		r.otherAccesses(r.otherwise())
	}
	return doubt, out.Access, out
}

func TestCertainty(t *testing.T) {
	for _, c := range []struct {
		sure  bool
		words []string
	}{
		{true, nil},
		{true, []string{"-q"}},
		{false, []string{"-x"}},
		{true, []string{"get", "pods"}},
		{true, []string{"get", "-n", "rm", "pods,svc"}},
		{true, []string{"-n", "x", "get", "pods/a", "svc/b"}},
		{true, []string{"get", "pods", "secret"}}, // a name
		{false, []string{"get", "secret"}},
		{false, []string{"get", "pods,secret"}},
		{false, []string{"get", "pods/a", "secret"}},
		{false, []string{"get", "pods", "secret/a"}},
		{false, []string{"get"}},
		{true, []string{"get", "pods", "-o", "json"}},
		{true, []string{"get", "pods", "-ojson"}},
		{true, []string{"get", "pods", "-o=json"}},
		{true, []string{"get", "pods", "-o", "path=.a"}},
		{false, []string{"get", "pods", "-o", "jsonx"}},
		{false, []string{"get", "pods", "-o", "path-file=a"}},
		{false, []string{"get", "pods", "-o"}},
		// An option before the subcommand does not belong to it.
		{true, []string{"log", "-H"}},
		{false, []string{"-H", "evil", "log"}},
		{true, []string{"list"}},
		{false, []string{"list", "x"}},
		{true, []string{"list", "-l", "x"}},
		{false, []string{"list", "x", "-l"}},
		{false, []string{"list", "-m", "-l", "x"}},
		{true, []string{"fmt", "-check", "a"}},
		{false, []string{"fmt", "a", "-check"}},
		{false, []string{"fmt", "-check=false", "a"}},
		{false, []string{"fmt", "a"}},
		{true, []string{"only", "a.x", "b.y"}},
		{false, []string{"only", "a.x", "c.y"}},
		{true, []string{"rm", "--help"}},
		{false, []string{"rm", "x", "--help"}},
		{false, []string{"rm", "--", "--help"}},
		{true, []string{"-q", "anything"}},
		{false, []string{"anything", "-q"}},
		{false, []string{"anything"}},
		{false, []string{"anything", "--help"}},
	} {
		doubt, access, p := understood(c.words...)
		if (doubt == "") != c.sure {
			t.Errorf("%q: %q, certain %v", c.words, doubt, c.sure)
		}
		unknown := slices.ContainsFunc(access, func(a cardea.Access) bool { return a.Kind == cardea.Unknown })
		if !unknown == !c.sure {
			t.Errorf("%q (%v): access %v does not agree with certain %v", c.words, p.Command, access, c.sure)
		}
	}
}

// TestOperandsWithoutSubcommand tests a program whose first word is a subcommand or an operand.
// Without operands_without_subcommand, each line that writes has another result.
func TestOperandsWithoutSubcommand(t *testing.T) {
	word := func(text string) Word {
		w := Literal(text)
		if head, begun := strings.CutSuffix(text, "$X"); begun {
			w.Static, w.Head = false, head
		}
		return w
	}
	for _, c := range []struct {
		line, does string
		sure       bool
	}{
		{"stamp", "", true},
		{"stamp a b", "read /work/a, write /work/b", true},
		{"stamp -f verify a b", "read /work/a, write /work/b", true},
		{"stamp --dry-run a b", "read /work/a", true},
		{"stamp a verify", "read /work/a, write /work/verify", true},
		{"stamp verify a b", "read /work/a, read /work/b", true},
		{"stamp -- a b", "read /work/a, write /work/b", true},
		{"stamp -- verify b", "read /work/verify, write /work/b", false},
		{"stamp x-y b", "delete /work/b", false},
		{"stamp ck b", "read /work/b", false},
		{"stamp src/$X b", "read , write /work/b", true},
		{"stamp ver$X b", "read , write /work/b", false},
		{"stamp x-y$X b", "read , write /work/b", false},
		{"stamp $X b", "read , write /work/b", false},
	} {
		var argv []Word
		for _, w := range strings.Fields(c.line) {
			argv = append(argv, word(w))
		}
		doubt, access, _ := understoodAs(&stamp, argv...)
		var does []string
		for _, a := range access {
			does = append(does, string(a.Kind)+" "+a.Path)
		}
		if got := strings.Join(does, ", "); got != c.does || (doubt == "") != c.sure {
			t.Errorf("%s: %s, doubt %q; want %s, certain %v", c.line, got, doubt, c.does, c.sure)
		}
	}
}

func TestRepositories(t *testing.T) {
	for text, host := range map[string]string{
		"owner/repo":               "",
		"repo":                     "",
		"evil.example/owner/repo":  "evil.example",
		"https://evil.example/o/r": "https:",
		"git@evil.example:o/r":     "git@evil.example:o",
		`evil\x`:                   `evil\x`,
	} {
		for _, words := range [][]string{{"view", text}, {"view", "-R", text}, {"view", "-R" + text}} {
			_, access, _ := understood(words...)
			if host == "" && len(access) > 0 || host != "" && (len(access) != 1 || access[0].Kind != cardea.Network || access[0].Configured) {
				t.Errorf("%q: %v", words, access)
			}
		}
	}
}

func TestRevisionFiles(t *testing.T) {
	for text, want := range map[string][]string{
		"HEAD":                 {"HEAD"},
		"src/a.go":             {"src/a.go"},
		"HEAD:a.txt":           {"a.txt"},
		"HEAD:":                {"HEAD"},
		":a.txt":               {"a.txt"},
		":0:.env":              {".env"},
		":/.env":               {".env"},
		":!x":                  nil,
		":^x":                  nil,
		":/!x":                 nil,
		":(exclude)x":          nil,
		":(top,exclude)x":      nil,
		":(literal).env.local": {".env.local"},
		":(top,icase).ENV":     {".ENV"},
		"HEAD@{10:00}:.env":    {"00}:.env", ".env"},
		"1,5:a.go":             {"a.go"},
	} {
		if got := revisionFiles(Literal(text)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := revisionFiles(Word{Word: cardea.Word{Text: ":!$x"}}); len(got) != 1 { // it may become several words
		t.Errorf("a word that is not certain names %q", got)
	}
}

func TestFits(t *testing.T) {
	for _, tt := range []struct {
		word, pattern string
		want          bool
	}{{"@x", "@*", true}, {"x@", "@*", false}, {"a=b", "*=*", true}, {"=", "*=*", true}, {"ab", "*=*", false}, {"x.yml", "*.yml", true}, {"x", "x", true}, {"xy", "x", false}} {
		if got := fits(tt.word, tt.pattern); got != tt.want {
			t.Errorf("fits(%q, %q) = %v", tt.word, tt.pattern, got)
		}
	}
}

// TestFilesNameVariables checks that each file of command knowledge lists the variables
// of its programs.
func TestFilesNameVariables(t *testing.T) {
	for _, p := range programs {
		if s := p.program.Source; len(s.Variables) == 0 {
			t.Errorf("%s names no variable", s.File)
		}
	}
}
