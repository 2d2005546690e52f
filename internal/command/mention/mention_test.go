package mention_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"cardea.dev/internal/command/mention"
)

const guarded = "~/.claude/settings.json"

// TestPaths checks that each of these texts names the guarded file, in any language.
func TestPaths(t *testing.T) {
	for _, c := range []string{
		// Words.
		"~/.claude/settings.json", "--out=~/.claude/settings.json", "-o~/.claude/settings.json", "k=~/.claude/settings.json", "host:~/.claude/settings.json",
		"@~/.claude/settings.json", "a,~/.claude/settings.json,b", "-Dkey=$HOME/.claude/settings.json", "u@h:~/.claude/settings.json",
		"${HOME}/.claude/settings.json", "+~/.claude/settings.json", "x=y=~/.claude/settings.json", "--a=b:~/.claude/settings.json:c",
		// Constants and the texts joined from them.
		`open("~/.claude/settings.json", "w")`, `open('~/.cla' + 'ude/settings.json')`, `os.path.join(os.path.expanduser("~"), ".claude", "settings.json")`,
		`(Path.home() / ".claude" / "settings.json").write_text("")`, `Path.home().joinpath(".claude", "settings.json")`, `os.environ["HOME"] + "/.claude/settings.json"`,
		`os.getenv("HOME") + "/.claude/settings.json"`, `f"{Path.home()}/.claude/settings.json"`, `f"{os.environ['HOME']}/.claude/settings.json"`,
		"fs.writeFileSync(os.homedir() + '/.claude/settings.json', '')", "fs.writeFileSync(`${os.homedir()}/.claude/settings.json`)", `path.join(require("os").homedir(), ".claude", "settings.json")`,
		`fs.rmSync(process.env.HOME + "/.claude/settings.json")`,
		`unlink "$ENV{HOME}/.claude/settings.json"`,
		`unlink($ENV{HOME} . "/.claude/settings.json")`,
		`File.delete(Dir.home + "/.claude/settings.json")`,
		`File.write("#{Dir.home}/.claude/settings.json", "")`, `File.write(File.join(Dir.home, ".claude", "settings.json"), "")`, `file_put_contents(getenv("HOME") . "/.claude/settings.json", "")`,
		`io.open(os.getenv("HOME") .. "/.claude/settings.json", "w")`, `p = "~/.cla"; q = "ude/settings.json"; open(p + q, "w")`, "d = '~/.claude'\nn = 'settings.json'\nopen(d + '/' + n)",
		`d="~/.claude"; open(f"{d}/settings.json")`, `unlink q{~/.claude/settings.json}`, `%w[~/.claude/settings.json].each { |f| File.delete f }`, `qw(a ~/.claude/settings.json)`,
		`open("\x7e/.claude/settings.json")`, `open("~/\u002eclaude/settings.json")`, `open("\176/.claude/settings.json")`, `print > "~/.claude/" "settings.json"`,
		`base + "/.claude/settings.json"`, `"%s/.claude/settings.json" % home`,
		// Languages without quotes.
		"w ~/.claude/settings.json",
		"s/a/b/w ~/.claude/settings.json",
		"w~/.claude/settings.json",
		".output ~/.claude/settings.json",
		".once ~/.claude/settings.json\nselect 1;",
		":w! ~/.claude/settings.json",
		"all:\n\trm ~/.claude/settings.json\n", "e ~/.claude/settings.json\nwq",
	} {
		found := mention.Word(c)
		if strings.ContainsAny(c, "\n") {
			found = mention.Text(c)
		}
		if !slices.Contains(found.Paths, guarded) && !slices.Contains(found.Paths, "~//.claude/settings.json") {
			t.Errorf("%q names %q", c, found.Paths)
		}
	}
}

// TestPlain checks that a plain word names only itself, and that words that name more
// are not plain.
func TestPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	letters := []string{"a", "w", "R", "7", "/", ".", "~", "-", "_", "=", ":", "@", ",", "+", "%2e", "$HOME", "\\", " ", "'", "\n", "(", "*", "?", "[", "é"}
	plain := 0
	for range 50_000 {
		word := ""
		for range r.IntN(7) {
			word += letters[r.IntN(len(letters))]
		}
		if !mention.Plain(word) {
			continue
		}
		plain++
		found := mention.Word(word)
		if i := slices.IndexFunc(found.Paths, func(p string) bool { return p != word }); i >= 0 || len(found.Lines)+len(found.Lists)+len(found.Addresses) > 0 || found.TooMany {
			t.Fatalf("%q names %+v", word, found)
		}
	}
	if plain < 1000 || !mention.Plain("src/d1/file2.o") {
		t.Errorf("%d words are plain", plain)
	}
}

// TestCommands checks that each of these texts names the command.
func TestCommands(t *testing.T) {
	for _, c := range []string{
		"git push -f",
		`os.system("git push -f")`,
		"system('git push -f')",
		"`git push -f`",
		"qx(git push -f)",
		"%x(git push -f)",
		"!git push -f",
		":!git push -f",
		".shell git push -f",
		"all:\n\t@git push -f",
		"1e git push -f",
		"x = 'git push -f'; os.system(x)",
		`spawn("sh", ["-c", "git push -f"])`,
	} {
		found := mention.Text(c)
		if !slices.ContainsFunc(found.Lines, func(l string) bool { return strings.HasPrefix(l, "git push -f") }) {
			t.Errorf("%q runs %q", c, found.Lines)
		}
	}
	for _, c := range []string{`subprocess.run(["git", "push", "-f"])`, `spawn("git", ["push", "-f"])`, `exec "git", "push", "-f"`, `system("git", "push", "-f")`} {
		if found := mention.Text(c); !slices.ContainsFunc(found.Lists, func(l []string) bool { return strings.Join(l, " ") == "git push -f" }) {
			t.Errorf("%q runs %q", c, found.Lists)
		}
	}
}

// TestOnlyReads checks code in which every name is known to read, and code that reads in
// every line but one.
func TestOnlyReads(t *testing.T) {
	for code, want := range map[string]bool{
		`print(open("f1").read())`:                              true,
		`import json; print(json.load(open("f1"))["name"])`:     true,
		`console.log(require("fs").readFileSync("f1", "utf8"))`: true,
		`msg = "rm -rf /"`:                                      true,
		`puts File.read("f1")`:                                  true,
		`print(json.dumps({"a": "rm -rf /"}))`:                  true,
		"def show(text):\n print(text)\nshow('git push -f')":    true,
		"for row in open('f1'): print(row)":                     true,
		"def f(system): return 1\nfrom os import path, system\nlist(map(system, ['git push -f']))": false,
		"system = 0\nfrom os import (system)\nlist(map(system, ['git push -f']))":                  false,
		"import os; system = 0; list(map(os.system, ['git push -f']))":                             false,
		"from os import system\ndef f(x, y=system): list(map(y, ['git push -f']))\nf(1)":           false,
		"def f(g): g('git push -f')":                                false,
		`print(open("f1", "w"))`:                                    false,
		`print(open("f1", mode="r+"))`:                              false,
		`m = "wb"; open("f1", m)`:                                   false,
		`import os; os.remove("a")`:                                 false,
		`import os; getattr(os, "remove")("a")`:                     false,
		`f = open; f("a")`:                                          false,
		`require("fs")["unlinkSync"]("a")`:                          false,
		`[]["filter"]["constructor"]("x")()`:                        false,
		`print(open("f1").read())` + "\nprint(`rm x`)":              false,
		`open(F, ">a")`:                                             false,
		`print "x" > "a"`:                                           false,
		`puts %x(rm a)`:                                             false,
		`print(__import__("os").remove("a"))`:                       false,
		`IO.read("|rm a")`:                                          false,
		`eval("x")`:                                                 false,
		`print(open("f1").read()); unlink "a"`:                      false,
		`Path("a").write_text("x")`:                                 false,
		`console.log(1); require("child_process").execSync("rm a")`: false,
	} {
		if got := mention.Text(code).OnlyReads; got != want {
			t.Errorf("%q: reads only %v", code, got)
		}
	}
}

// TestWithoutTexts checks that code without its texts keeps the effects of its calls.
func TestWithoutTexts(t *testing.T) {
	calls := map[string][]string{
		"Python":     {"print", "logging.info", "json.dumps*", "len*", "list*", ".upper*", ".join*"},
		"JavaScript": {"console.log", "JSON.stringify*"},
		"SQL":        {"insert", "select", "with", "count*", "values*", "in*"},
	}
	for _, c := range []struct{ in, code, want string }{
		{"Python", `print("a b".upper(), x)`, `print("".upper(), x)`},
		{"Python", `import json, np; print(json.dumps({"k": ["a b", len("c d")]}), end="")`, `import json, np; print(json.dumps({"": ["", len("")]}), end="")`},
		{"Python", `assert "a b" not in x and y == "c d"`, `assert "" not in x and y == ""`},
		{"Python", `logging.info("a b %s", f(x)); g("c d")`, `logging.info("", f(x)); g("c d")`},
		{"Python", `print("a", os.popen("b c").read())`, ``},
		{"Python", `print("a", f("b c"))`, `print("", f("b c"))`},
		{"Python", `x = json.dumps("a b"); f(x)`, ``},
		{"Python", `print([f(c) for c in ["a b"]])`, ``},
		{"Python", `print(["a b"].pop())`, ``},
		{"Python", `print("a b" | x)`, ``},
		{"Python", `print("a b", file=p)`, ``},
		{"Python", `print("a b", file=sys.stderr)`, `print("", file=sys.stderr)`},
		{"Python", `print(list(map(f, ["a b"])))`, ``},
		{"Python", "print = f\nprint('a b')", ``},
		{"Python", "from x import print\nprint('a b')", ``},
		{"Python", "import x as print\nprint('a b')", ``},
		{"Python", "from x import json\nprint(json.dumps('a b'))", ``},
		{"Python", "import x as json\nprint(json.dumps('a b'))", ``},
		{"Python", "x.json.dumps = f\nprint(json.dumps('a b'))", ``},
		{"Python", "for x.json.dumps in [f]: print(json.dumps('a b'))", ``},
		{"Python", "def f(print): print('a b')", ``},
		{"Python", "setattr(b, 'print', f); print('a b')", ``},
		{"Python", "with patch('b.print', f): print('a b')", ``},
		{"Python", "sys.stdout = f\nprint('a b')", ``},
		{"Python", `print(f'{x + ' ' + f("a b") + ' '}')`, ``},
		{"Python", `print(rf'{x + ' ' + f("a b") + ' '}')`, ``},
		{"Python", `print(f"a {x} b")`, `print("")`},
		{"Python", "print( # '\n f('a b') # '\n)", ``},
		{"JavaScript", `console.log("a b", JSON.stringify({c: "d e"}))`, `console.log("", JSON.stringify({c: ""}))`},
		{"JavaScript", "console.log(`a b`)", `console.log("")`},
		{"JavaScript", "console.log(`${f('a b')}`)", ``},
		{"JavaScript", "console.log(f`a b`)", ``},
		{"JavaScript", `console.log(["a b"].map(f))`, ``},
		{"JavaScript", `console.log = f; console.log("a b")`, ``},
		{"JavaScript", `this.console.log = f; console.log("a b")`, ``},
		{"JavaScript", `console.log(/'/, f("a b"), /'/)`, ``},
		{"SQL", `insert into t(a) values ('b c''d'), ("e f")`, `insert into t(a) values (""""), ("")`},
		{"SQL", `with q as (select 1) select 'a b'`, ``},
		{"SQL", `select 'a b'; copy t to program 'c d'`, ``},
		{"SQL", `select f('a b')`, ``},
		{"SQL", "select 'a b' -- '\n; copy t to program 'c d'", ``},
		{"SQL", `insert into t values ('\'); copy t to program 'c d' --')`, ``},
		{"SQL", `\! a b 'c'`, ``},
		{"SQL", `.shell a 'b c'`, ``},
		{"Lua", `print("a b")`, ``},
		{"Python", `print("a b".upper().pop(), ("c d").upper(), ["e f"][0], len("g h").x)`, ``},
		{"Python", `print(", ".join(["a b", "c" "d"]), "e" + "f")`, `print("".join(["", "" ""]), "" + "")`},
		{"Python", `print("a b" "c".pop(), "d" + "e"[0], f + "g h")`, ``},
		{"Python", `print(json.dumps({"a b"}, default=f))`, ``},
		{"Python", `print(json.dumps({"a b"}, **f))`, ``},
		{"Python", `print("{a b}" % x, "{a b}".format(x))`, ``},
		{"Python", "print(f'''{f('a b')}''')", ``},
		{"Python", `x[0] = f; print("a b")`, ``},
		{"Python", `x.print, y = f, 1; print("a b")`, ``},
		{"Python", `x. print("a b")`, ``},
		{"Python", "from x import a, print\n(b)\nprint('a b')", ``},
		{"Python", "try: print('a b')\nexcept E: pass", ``},
		{"Python", `logging.root.addFilter(f); logging.info("a b")`, ``},
		{"Python", `assert "a" in "b c" and x`, `assert "" in "" and x`},
		{"Python", `f(x @ "a b" == y, y == "a b".pop())`, ``},
		{"JavaScript", `console.log(JSON.stringify({"a b": 1}, f))`, ``},
		{"JavaScript", `console.log(JSON.stringify({"a b": x}))`, ``},
		{"JavaScript", `console.log(JSON.stringify({"a b": 1}, null, 2))`, `console.log(JSON.stringify({"": 1}, null, 2))`},
		{"JavaScript", `require("con"+"sole").x(f); console.log("a b")`, ``},
		{"JavaScript", `const o = {["a"]: f}; console.log("a b")`, ``},
		{"JavaScript", `const {a} = require("b"); console.log("a b")`, `const {a} = require("b"); console.log("")`},
		{"JavaScript", `({a: b.c} = {a: f}); console.log("a b")`, ``},
		{"JavaScript", `console.log({a: "b c"}.a("d e"))`, ``},
		{"SQL", `select "f"('a b')`, ``},
		{"SQL", `select [count]('a b')`, ``},
		{"SQL", `select x.count('a b')`, ``},
		{"SQL", `insert into "t"(a) values ('b c')`, `insert into ""(a) values ("")`},
	} {
		want := c.want
		if want == "" {
			want = c.code
		}
		if got := mention.WithoutTexts(c.code, c.in, calls[c.in]); got != want {
			t.Errorf("%s: %s: %s", c.in, c.code, got)
		}
	}
}

// TestBounded checks that a text that names more than any normal text is cut, and reports it.
func TestBounded(t *testing.T) {
	var b strings.Builder
	for i := range 20_000 {
		b.WriteString("./f" + strings.Repeat("x", i%7) + strings.Repeat("y", i%11) + strings.Repeat("z", i%1009) + " ")
	}
	found := mention.Text(b.String())
	if !found.TooMany || len(found.Paths) > 5000 {
		t.Errorf("%d paths, too many %v", len(found.Paths), found.TooMany)
	}
	for _, text := range []string{
		strings.Repeat("'", 200_000),
		strings.Repeat(`"a" + `, 50_000),
		strings.Repeat("q{", 100_000),
		strings.Repeat("`", 100_001),
		strings.Repeat("a=", 100_000),
		strings.Repeat("x:", 100_000),
	} {
		mention.Text(text) // must end
		mention.Word(text)
	}
}

// FuzzMention looks for texts that make it hang or fail.
func FuzzMention(f *testing.F) {
	f.Add(`open("f1" + 'b')`)
	f.Add("import json, x as y; print(json.dumps({'a': f'{b}'}).upper())")
	f.Add("qw(a b) %w[c] \\x2e \"\\u{41}\"")
	f.Fuzz(func(_ *testing.T, text string) {
		mention.Word(text)
		mention.Text(text)
		for _, in := range []string{"Python", "JavaScript", "SQL"} {
			mention.WithoutTexts(text, in, []string{"print", "len*", "json.dumps*", ".upper*", "select", "console.log"})
		}
	})
}

// TestLongTexts checks that the part of a text that is read grows with its length, and
// that a limit is reported.
func TestLongTexts(t *testing.T) {
	for name, text := range map[string]string{
		"insertions": `print(f"{a}"` + strings.Repeat(`+f"{b}"`, 20_000) + `)`,
		"terms":      strings.Repeat("'a'+", 50_000) + "'b'",
		"delimiters": strings.Repeat("a=b:", 50_000),
		"templates":  "x=`" + strings.Repeat("${a}", 50_000) + "`",
	} {
		f := mention.Word(text)
		sum := 0
		for _, p := range append(f.Paths, f.Lines...) {
			sum += len(p)
		}
		if !f.TooMany && name != "terms" || sum > 1<<18+16*len(text) {
			t.Errorf("%s: %d paths and %d lines with %d bytes; more than the limit: %v", name, len(f.Paths), len(f.Lines), sum, f.TooMany)
		}
	}
	if f := mention.Word("cat '" + strings.Repeat("a/", 3000) + "' b/c"); len(f.Paths) == 0 || len(f.Paths[0]) > 4096 {
		t.Errorf("%d paths", len(f.Paths))
	}
	script := strings.Repeat("open('data/x.txt'); open('b.csv').read()\n", 2000)
	if f := mention.Text(script); f.TooMany || len(f.Paths) == 0 {
		t.Errorf("an honest script names too much: %d", len(f.Paths))
	}
}
