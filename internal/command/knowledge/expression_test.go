package knowledge

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
)

// search returns a part for line, split at blanks.
func search(line string) *cardea.Part {
	p := &cardea.Part{ShellFacts: cardea.ShellFacts{Dir: "/p"}}
	words := strings.Fields(line)
	inv := Invocation{Paths: Paths{Dir: "/p"}}
	for _, w := range words {
		inv.Words = append(inv.Words, Literal(strings.Trim(w, "'")))
		p.Argv = append(p.Argv, inv.Words[len(inv.Words)-1].Word)
	}
	m := Describe(inv, &System{})
	p.Command, p.Options, p.Operands = m.Command, m.Options, m.Operands
	return p
}

func TestFoundNames(t *testing.T) {
	all, system := "/p/**/* /p", &System{Names: func(string) ([]string, bool) { return nil, true }}
	for line, want := range map[string]string{
		"find . -delete":                                          "/p/**/*",
		"find . -mtime +3 -delete":                                "/p/**/*",
		"find . -name *.o -delete":                                "/p/**/*.o",
		"find -name x -delete":                                    "/p/**/x",
		"find a /b -name x -delete":                               "/p/a/**/x /b/**/x",
		"find a -name a -delete":                                  "/p/a/**/a /p/a",
		"find . -iname A? -delete":                                "/p/**/[aA]?",
		"find . -name a(1) -delete":                               "/p/**/a?1)",
		"find . ! -name x -delete":                                all,
		"find . -not ( -name x -o -name y ) -delete":              all,
		"find . ( -name x -o -name y ) -delete":                   "/p/**/x /p/**/y",
		"find . -name x -o -name y -delete":                       "/p/**/y",
		"find . -name x -delete -o -name y":                       "/p/**/x",
		"find . -name x , -delete":                                all,
		"find . -delete -name x":                                  all,
		"find . ( -name x -delete":                                all,
		"find . -name x ) -delete":                                all,
		"find . -path ./a/* -delete":                              "/p/a/**/*",
		"find . -path ./a/* -name *.o -delete":                    "/p/a/**/*.o",
		"find . -path ./a*/b -delete":                             "/p/a*/b /p/a*/**/*/b",
		"find . -path b/* -delete":                                "",
		"find /q/r -path */r/s -delete":                           "/q/r/s /q/r/**/r/s",
		"find . -path ./a?b -delete":                              "/p/a*b /p/a*/**/*b",
		"find . -regex .*/a\\.\\(b\\|cd\\) -delete":               "/p/**/a.b /p/**/a.cd /p/**/a.?b|cd)",
		"find . -xtype l -delete":                                 "",
		"find . -size 0 -delete":                                  "",
		"find . -empty ! -name x -delete":                         "",
		"find . -name x -exec rm {} ; -delete":                    "/p/**/x",
		"find . -exec rm {} + -name x -delete":                    "/p/**/x",
		"find . ! ( ! -name x -delete ) -name y":                  all,
		"find . " + strings.Repeat("! ", 100) + "-name x -delete": all,
	} {
		var got []string
		for _, s := range pathsOfSearch(search(line), system, []string{"-delete"}, true, func(int) []string { return nil }) {
			got = append(got, strings.ReplaceAll(s.Pattern, "/./", "/"))
			if s.Pattern == "" {
				got[len(got)-1] = s.Path
			}
		}
		slices.Sort(got)
		wanted := strings.Fields(want)
		slices.Sort(wanted)
		if fmt.Sprint(slices.Compact(got)) != fmt.Sprint(wanted) {
			t.Errorf("%s: %q, want %q", line, got, wanted)
		}
	}
}

// TestSearchOfManyFolders checks that a folder with more entries than the analysis reads
// does not hide a deletion.
func TestSearchOfManyFolders(t *testing.T) {
	many := func(dir string) ([]string, bool) {
		if dir != "/p" {
			return []string{"a.json"}, true
		}
		var out []string
		for i := range 2 * mostFolders {
			out = append(out, fmt.Sprintf(".d%d", i))
		}
		return append(out, ".z"), true
	}
	inv := Invocation{Paths: Paths{Dir: "/p"}}
	for _, w := range []string{"find", ".", "-name", "x.json", "-delete"} {
		inv.Words = append(inv.Words, Literal(w))
	}
	m := Describe(inv, &System{Names: many})
	if !slices.ContainsFunc(m.Access, func(a cardea.Access) bool { return a.Search && a.Pattern == "/p/**/x.json" }) {
		t.Errorf("accesses %+v", m.Access)
	}
}

// TestLargeExpressions checks that an expression for many patterns costs little, and may
// reach anything.
func TestLargeExpressions(t *testing.T) {
	for _, one := range []string{"( -type f -o -type l )", "( -name a* -o -name *b )", "-regex .*(a|b|c|d)(e|f|g|h)"} {
		e := expression{findWords: findWords{values: []string{"-type", "-name", "-regex"}}, folder: ".", acts: []string{"-delete"}, removes: true}
		for _, word := range strings.Fields(strings.Repeat(one+" ", 200) + "-delete") {
			e.words = append(e.words, cardea.Word{Text: word, Static: true})
		}
		if got := readExpression(e).found; len(got) == 0 || len(got) > mostPatterns {
			t.Errorf("%s: %d patterns", one, len(got))
		}
	}
}
