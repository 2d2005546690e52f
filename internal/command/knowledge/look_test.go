package knowledge

import (
	"strings"
	"testing"
)

func TestLooks(t *testing.T) {
	for _, tt := range []struct {
		kind string
		good []string
		bad  []string
	}{
		{"sed",
			[]string{
				"p",
				"1,10p",
				"5q",
				"$d",
				"/foo/p",
				"/a/,/b/p",
				"s/a/b/",
				"s/a/b/g",
				"s|a/b|c|gI",
				"1!d",
				"/x/{p;q}",
				"y/abc/xyz/",
				"$!N;s/\\n/ /",
				"s/^[ \t]*//",
				"\\,x,d",
				"1~2p",
				"/a/,+3p",
				"=",
				"# comment",
				"a hello",
				"s/[0-9]/x/;p",
				":a;N;$!ba;s/\\n/,/g",
				"/^$/d",
				"2,4!d",
			},
			[]string{
				"e",
				"1e ls",
				"s/x/y/e",
				"s/x/y/w out",
				"w out",
				"W out",
				"r /etc/passwd",
				"R f",
				"s/a/b/we",
				"1,2w x",
				"s/[[:x:]/]/;s,/;w out,x,",
				"s/[]/]x/;w f/",
				"s/a/id/e;p",
				"/x/e",
				"p;e",
				"p\nw x",
				"{e}",
				"s/a[/]b/c/e",
				"s/[^/]*/x/e",
				"a\\\ne",
				"s\ne\nw\n",
				"$!{e\n}",
				"y/a/b/;w x",
				"b x\nw y",
				"s/a/b/ge",
				"s/a/b/;;;w x",
				"Fw",
				"v",
				"M",
				"s/[^]/]/x/e",
				"s|[|]|x|e",
			},
		},
		{"awk",
			[]string{
				"{print $1}",
				"/foo/ {print}",
				"{print $1, $2}",
				"NR==1",
				"NR>1 {print $NF}",
				"{s+=$1} END {print s}",
				"BEGIN{FS=\":\"} {print $1}",
				"$3 > 100 {print}",
				"{if ($1 > 5) print $2}",
				"{printf \"%s\\n\", $1}",
				"length > 80",
				"{a[$1]++} END {for (k in a) print k, a[k]}",
				"!seen[$0]++",
				"$1 ~ /x/ || $2 ~ /y/",
				"{print ($1 > 2)}",
				"{print $1/2}",
				"NR==FNR{a[$1];next} $1 in a",
			},
			[]string{
				"{system(\"id\")}",
				"{print > \"f\"}",
				"{print | \"sh\"}",
				"{\"id\" | getline x}",
				"{print >> \"f\"}",
				"{getline < \"f\"}",
				"BEGIN{print ENVIRON[\"X\"]}",
				"BEGIN{ARGV[1]=\"/etc/shadow\"}",
				"@load \"x\"",
				"{print $1 > $2}",
				"{ print \"x\" |& \"sh\" }",
				"{if (x) /\"/; print | \"sh\"; /\"/}",
				"{x = a / b | \"sh\"}",
				"{printf(\"x\") > \"f\"}",
				"{print \"a\" \"b\" > \"f\"}",
				"BEGIN { f=\"sys\" \"tem\"; @f(\"id\") }",
				"{print $1>\"f\"}",
				"/[/]\"/ {print | \"sh\"} /\"/",
				"{print 1,\n2 > \"f\"}",
				"{print 1 \\\n> \"f\"}",
				"BEGIN{for(;i<1;i++) print \"x\" > \"f\"}",
				"{print a \\\n/ 1 > \"x\"; y = 1 /2}",
				"/[[:alpha:]/\"]/ {print > \"x\"} /\"/",
				"/[]/\"]/ {print > \"x\"} /\"/",
				"{print a &&\nb > \"f\"}",
				"{print(1)>\"f\"}",
				"BEGIN{ c = \"x\"; print case / 1 | c #/\n}",
				"{print switch / 1 > \"f\" #/\n}",
				"length /\"/ {print > \"f\"} /\"/",
				"{x++ /\"/; print > \"f\"; y = /\"/}",
				"{print \"a\" /1/ \"b\" > \"f\"}",
				"BEGINFILE{}",
				"{print func / 1 | c #/\n}",
			}},
		{"jq",
			[]string{".", ".a.b[0]", ".[] | select(.x == 1) | .name", "map(.id)", "keys", ".environment", "{a: .env}", "length", "to_entries[]", ". as $x | $x"},
			[]string{"env", "env.PATH", "$ENV.X", "$ ENV.X", "$#c\nENV", "{$ENV}", "\"\\(env)\"", "import \"x\" as y; .", "include \"x\"; .", ". | env", "[env]"}},
		{"fzf",
			[]string{"ctrl-a:select-all", "ctrl-a:select-all,ctrl-d:deselect-all", "tab:toggle+down", "ctrl-/:toggle-preview"},
			[]string{
				"",
				"enter:execute(vim {})",
				"enter:become:vim {}",
				"ctrl-a:select-all+execute:id",
				"ctrl-a:select-all,start:reload:id",
				"focus:transform-header:id",
				"ctrl-x:preview(id)",
				"x:execute-silent:select-all",
				"a:up,b",
				":up",
				"ctrl-r:change-preview(id)",
				"enter:print(x)+put",
			},
		},
		{"yq",
			[]string{".", ".a.b", ".items[].metadata.name"},
			[]string{"load(\"x\")", "env(X)", "strenv(X)", ".a = load_str(\"f\")", "eval(.x)", "import \"x\" as $d; $d"}},
	} {
		for _, s := range tt.good {
			if !harmless(tt.kind, s) {
				t.Errorf("%s: %q is not seen as harmless", tt.kind, s)
			}
		}
		for _, s := range tt.bad {
			if harmless(tt.kind, s) {
				t.Errorf("%s: %q passes as harmless", tt.kind, s)
			}
		}
	}
}

// TestActsOfSed checks the files and commands of sed scripts, and whether they are
// complete, for each reading of bracket expressions.
func TestActsOfSed(t *testing.T) {
	for _, tt := range []struct {
		script, acts string
		all          bool
	}{
		{"p", "", true},
		{"s/[^/]*$//", "", true},
		{"s/[^]]*//;s/\\[/[/", "", true},
		{"/.\\/[^/]*$/d", "", true},
		{"1a\\\ntext\\\nw x\np", "", true},
		{"i\\  hello e", "", true},
		{"s|w|e|p;y/we/ew/", "", true},
		{"1F;p", "", true},
		{":a;N;$!ba;s/\\n/ /gp", "", true},
		{"1w.envrc", "write .envrc", true},
		{"1W.envrc\np", "write .envrc", true},
		{"$r.env", "read .env", true},
		{"{R .env\n}", "read .env", true},
		{"s/h/x/pgw.envrc", "write .envrc", true},
		{"s#a#b#gew.envrc", "execute , write .envrc", true},
		{"s,.*,./evil,e", "execute ", true},
		{"2!e./evil", "execute ./evil", true},
		{"\\,x,e ./evil", "execute ./evil", true},
		{"/x/I,+2e cmd", "execute cmd", true},
		{"1,3{e cmd\n}", "execute cmd", true},
		{"1i foo\ne cmd", "execute cmd", true},
		{"/[/]/e cmd", "execute cmd", true},
		{"s/[/y/w x", "write x", true},
		{"s/a[\\]/]/;w x", "write x", false},
		{"k", "", false},
		{"saxbxe", "", false},
		{"a\nw x", "", false},
	} {
		acts, all := actsOfSed(tt.script)
		var got []string
		for _, a := range acts {
			got = append(got, string(a.Kind)+" "+a.Path)
		}
		if text := strings.Join(got, ", "); text != tt.acts || all != tt.all {
			t.Errorf("%q: %q, %v, want %q, %v", tt.script, text, all, tt.acts, tt.all)
		}
	}
}
