package daemon

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// A line built to take much time or memory is decided like any other, since many calls
// share the daemon. Exponential or quadratic work would far exceed the limit here.
func TestHostileLines(t *testing.T) {
	rep := strings.Repeat
	numbered := func(n int, form string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(strings.ReplaceAll(form, "#", fmt.Sprint(i)), "@", fmt.Sprint(i+1)))
		}
		return b.String()
	}
	p := newPlace(t)
	for name, line := range map[string]string{
		"parameters that double":     "set -- a b;" + rep(`set -- "$@" "$@";`, 40) + `cat "$@"`,
		"a list that doubles":        "a=(1 2);" + rep(`a=("${a[@]}" "${a[@]}");`, 40) + `cat "${a[@]}"`,
		"a value that doubles":       "a=x;" + rep("a=$a$a;", 60) + "cat $a",
		"a value that is replaced":   "x=aaaa;" + rep("x=${x//a/aaaaaaaa};", 20) + "cat $x",
		"functions that double":      numbered(60, "f#(){ f@; f@; };") + "f60(){ ls; };f0",
		"aliases that double":        "shopt -s expand_aliases\n" + numbered(50, "alias a#=\"a@ a@\"\n") + "a0",
		"a fork bomb":                "f(){ f|f& };f",
		"braces":                     "cat " + rep("{a,b}", 30),
		"ranges":                     "rm {1..1000}{1..1000}",
		"loops":                      "for i in {1..300}; do for j in {1..300}; do for k in {1..300}; do cat $i$j$k; done; done; done",
		"branches":                   rep("if x; then a=$a/1; else a=$a/2; fi;", 60) + "cat $a",
		"folders that may be":        rep("cd a||cd b;", 300) + "cat x",
		"links that double":          numbered(40, "ln -s l@/l@ l#;") + "cat l0/x",
		"printed width":              `x=$(printf "%1000000000s" a); printf -v y "%0*d" 999999999 1; cat $x $y`,
		"a search":                   "find . " + rep(`\( -name a\* -o -name \*b \) `, 80) + "-delete",
		"a search by expression":     `find . -regex "` + rep("(a*)*", 200) + `" -delete`,
		"wrappers":                   "ls | " + rep("xargs ", 2000) + "rm",
		"containers":                 rep("kubectl exec a -- ", 1000) + "ls",
		"shells elsewhere":           rep("ssh a ", 2000) + "ls",
		"sudo":                       rep("sudo ", 3000) + "ls",
		"a script of sed":            `sed "` + rep("s/a/b/;", 20000) + `" x`,
		"a script of awk":            `awk '` + rep(`BEGIN{system("ls")}`, 8000) + `' x`,
		"a script of python":         "python3 <<'E'\n" + numbered(8000, "open('/etc/x#','w')\n") + "E",
		"folders in a word":          "mytool " + rep("x/", 60000),
		"patterns":                   "cat " + rep("[!a-b]*[!c-d]* ", 2000),
		"commands of an unknown one": "foo " + rep("'git rm x; npm install' ", 3000),
		"programs of an unknown one": "foo " + rep("git rm npm xargs ", 3000),
		"pipes":                      rep("ls | ", 3000) + "cat",
		"substitutions":              rep("$(", 3000) + "ls" + rep(")", 3000),
		"arithmetic":                 "echo $((" + rep("(", 5000) + "1" + rep(")", 5000) + "))",
		"files that are moved":       rep("mv a b; mv b a;", 700) + "cat a",
		"folders that are copied":    rep("cp -r . x;", 200),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		a, err := p.ask("PreToolUse", bash(line))
		runtime.ReadMemStats(&after)
		if err != nil || strings.Contains(string(a.Stdout), "--limit") {
			t.Errorf("%s: %.300s, %v", name, a.Stdout, err)
		}
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 800 {
			t.Errorf("%s: %d MB of memory", name, took)
		}
	}
}
