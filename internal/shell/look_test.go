package shell

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestLooks(t *testing.T) {
	for _, tt := range []struct {
		look look
		good []string
		bad  []string
	}{
		{lookSed,
			[]string{"p", "1,10p", "5q", "$d", "/foo/p", "/a/,/b/p", "s/a/b/", "s/a/b/g", "s|a/b|c|gI", "1!d", "/x/{p;q}", "y/abc/xyz/", "$!N;s/\\n/ /", "s/^[ \t]*//", "\\,x,d", "1~2p", "/a/,+3p", "=", "# comment", "a hello", "s/[0-9]/x/;p", ":a;N;$!ba;s/\\n/,/g", "/^$/d", "2,4!d"},
			[]string{"e", "1e ls", "s/x/y/e", "s/x/y/w out", "w out", "W out", "r /etc/passwd", "R f", "s/a/b/we", "1,2w x", "s/[[:x:]/]/;s,/;w out,x,", "s/[]/]x/;w f/", "s/a/id/e;p", "/x/e", "p;e", "p\nw x", "{e}", "s/a[/]b/c/e", "s/[^/]*/x/e", "a\\\ne", "s\ne\nw\n", "$!{e\n}", "y/a/b/;w x", "b x\nw y", "s/a/b/ge", "s/a/b/;;;w x", "Fw", "v", "M", "s/[^]/]/x/e", "s|[|]|x|e"}},
		{lookAwk,
			[]string{"{print $1}", "/foo/ {print}", "{print $1, $2}", "NR==1", "NR>1 {print $NF}", "{s+=$1} END {print s}", "BEGIN{FS=\":\"} {print $1}", "$3 > 100 {print}", "{if ($1 > 5) print $2}", "{printf \"%s\\n\", $1}", "length > 80", "{a[$1]++} END {for (k in a) print k, a[k]}", "!seen[$0]++", "$1 ~ /x/ || $2 ~ /y/", "{print ($1 > 2)}", "{print $1/2}", "NR==FNR{a[$1];next} $1 in a"},
			[]string{"{system(\"id\")}", "{print > \"f\"}", "{print | \"sh\"}", "{\"id\" | getline x}", "{print >> \"f\"}", "{getline < \"f\"}", "BEGIN{print ENVIRON[\"X\"]}", "BEGIN{ARGV[1]=\"/etc/shadow\"}", "@load \"x\"", "{print $1 > $2}", "{ print \"x\" |& \"sh\" }", "{if (x) /\"/; print | \"sh\"; /\"/}", "{x = a / b | \"sh\"}", "{printf(\"x\") > \"f\"}", "{print \"a\" \"b\" > \"f\"}", "BEGIN { f=\"sys\" \"tem\"; @f(\"id\") }", "{print $1>\"f\"}", "/[/]\"/ {print | \"sh\"} /\"/",
				"{print 1,\n2 > \"f\"}", "{print 1 \\\n> \"f\"}", "BEGIN{for(;i<1;i++) print \"x\" > \"f\"}", "{print a \\\n/ 1 > \"x\"; y = 1 /2}", "/[[:alpha:]/\"]/ {print > \"x\"} /\"/", "/[]/\"]/ {print > \"x\"} /\"/", "{print a &&\nb > \"f\"}", "{print(1)>\"f\"}"}},
		{lookJq,
			[]string{".", ".a.b[0]", ".[] | select(.x == 1) | .name", "map(.id)", "keys", ".environment", "{a: .env}", "length", "to_entries[]", ". as $x | $x"},
			[]string{"env", "env.PATH", "$ENV.X", "$ ENV.X", "$#c\nENV", "{$ENV}", "\"\\(env)\"", "import \"x\" as y; .", "include \"x\"; .", ". | env", "[env]"}},
		{lookFzf,
			[]string{"ctrl-a:select-all", "ctrl-a:select-all,ctrl-d:deselect-all", "tab:toggle+down", "ctrl-/:toggle-preview"},
			[]string{"", "enter:execute(vim {})", "enter:become:vim {}", "ctrl-a:select-all+execute:id", "ctrl-a:select-all,start:reload:id", "focus:transform-header:id", "ctrl-x:preview(id)", "x:execute-silent:select-all", "a:up,b", ":up", "ctrl-r:change-preview(id)", "enter:print(x)+put"}},
		{lookSQL,
			[]string{"select 1", "SELECT a, count(*) FROM t WHERE b = 'x;y' GROUP BY a;", "with y as (select 1) select * from y", "values (1), (2)", "explain query plan select * from t", "select * from t where a in (1, 2) order by b limit 5", "select \"a\" from \"t\"",
				"select json_extract(x, '$.a') from t", "select case when a > 1 then 'b' else 'c' end from t", "select x->>'$.a' from t", "select 'it''s'", "select count(*) over (partition by a) from t", ""},
			[]string{".tables", "select 1;\n.shell id", "pragma x", "attach 'x' as y", "select writefile('a', 'b')", "select readfile('.env')", "select load_extension('x')", "select \"writefile\"('a','b')", "select writefile ('a','b')", "insert into t values (1)", "with x as (select 1) delete from t",
				"select 1 -- x", "select 1 /* x */", "select * from fsdir('.')", "vacuum into 'x'", "select edit('x')", "'x'", "(select 1)", "select 'x", "explain delete from t", "select @x", "select `load_extension`('x')", "select [writefile]('a','b')", "begin; select 1", "create table x as select 1"}},
		{lookYq,
			[]string{".", ".a.b", ".items[].metadata.name"},
			[]string{"load(\"x\")", "env(X)", "strenv(X)", ".a = load_str(\"f\")", "eval(.x)", "import \"x\" as $d; $d"}},
	} {
		for _, s := range tt.good {
			if !tt.look.harmless(s) {
				t.Errorf("%s: %q is not seen as harmless", tt.look, s)
			}
		}
		for _, s := range tt.bad {
			if tt.look.harmless(s) {
				t.Errorf("%s: %q passes as harmless", tt.look, s)
			}
		}
	}
}

// What shows a variable from outside of the line is no part without effect.
func TestVariablesFromOutside(t *testing.T) {
	for line, null := range map[string]bool{`: "$TOKEN"`: true, `[ -n "$TOKEN" ]`: true, `: ${x:?$TOKEN}`: false, `x=${y?$TOKEN}`: false, `test "$TOKEN" -gt 0`: false,
		`[ "$TOKEN" -eq 0 ]`: false, `set -x; : $TOKEN`: false, `set -o xtrace; : $TOKEN`: false, `bash -xc ': $TOKEN'`: false, `x=1; : ${x:?$HOME}`: true, `[ "$RANDOM" -gt 0 ]`: true, `set -x; :`: true} {
		for _, p := range Analyse(line, world).Parts {
			if p.Text != "set -x" && p.Text != "set -o xtrace" && p.Null != null {
				t.Errorf("%s: %q is null: %t", line, p.Text, p.Null)
			}
		}
	}
}

// TestSQLAgainstSQLite runs what passes as harmless with real SQLite, without
// -readonly, and looks whether anything has changed.
func TestSQLAgainstSQLite(t *testing.T) {
	sqlite, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Fatal("sqlite3 is needed: ", err)
	}
	words := []string{"select", "values", "with", "explain", "query", "plan", "from", "t", "x", "a", "*", ",", "(", ")", "1", "'s'", "\"a\"", ";", "as", "where", "=", "writefile", "readfile", "load_extension", "edit", "pragma", "journal_mode", "delete", "insert", "into", "attach",
		"'y.db'", "drop", "table", ".shell touch z", "\n", ".output z", "upper", "count", "union", "limit", "--", "/*", "*/", "vacuum", "pragma_journal_mode", "||", "->", "case", "when", "end", "printf", "replace", "create", "reindex", "update", "set", "begin", "commit"}
	random := rand.New(rand.NewPCG(uint64(len(words)), 1))
	dir := t.TempDir()
	run := func(args ...string) {
		cmd := exec.Command(sqlite, args...)
		cmd.Dir = dir
		cmd.Run() // most of it is no SQL
	}
	run("x.db", "create table t(a, x); insert into t values (1, 2), (3, 4)")
	before, err := os.ReadFile(dir + "/x.db")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for range 3000 {
		list := []string{"select", "a", "from", "t"}
		for range 1 + random.IntN(6) {
			list = slices.Insert(list, random.IntN(len(list)+1), words[random.IntN(len(words))])
		}
		text := strings.Join(list, " ")
		if !harmlessSQL(text) {
			continue
		}
		ran++
		run("x.db", text)
		after, err := os.ReadFile(dir + "/x.db")
		if err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 || !bytes.Equal(before, after) {
			t.Fatalf("%q passes as harmless, and changes something: %v %v", text, entries, err)
		}
	}
	if ran < 50 {
		t.Errorf("only %d statements were run", ran)
	}
}
