package shell

import (
	"math/rand"
	"slices"
	"strconv"
	"strings"
)

// generator writes valid bash at random. What is common in what agents write
// is common here; odd constructs are rare, so that most lines stay within what
// the analysis sees through, and none is missing. Words of a line agree with
// each other: variables that count hold numbers, arrays hold lists.
type generator struct {
	r *rand.Rand
	b *strings.Builder
	// bodies are the here-documents begun on this line of the script.
	bodies []string
	// dynamic is set when the line takes the name of a command from a value.
	dynamic bool
	// plain holds when quotes of the other kind are around: no single quotes.
	quoted bool
	depth  int
	loops  int // around the current command
	inFunc bool
	// calls are the functions that are defined before here.
	calls []string
	defs  int
	files int
	subs  int // substitutions around
}

func newGenerator(seed int64) *generator {
	return &generator{r: rand.New(rand.NewSource(seed)), b: new(strings.Builder)}
}

// line writes one line, and says whether it has a dynamic command name.
func (g *generator) line() (string, bool) {
	*g = generator{r: g.r, b: new(strings.Builder), depth: 2 + g.r.Intn(2)}
	if g.one(60) {
		g.depth = 5
	}
	text := g.script(func() { g.list(1 + g.r.Intn(3)) })
	return text, g.dynamic
}

// script writes a text that bash reads by itself, with its here-documents.
func (g *generator) script(write func()) string {
	outer, bodies := g.b, g.bodies
	g.b, g.bodies = new(strings.Builder), nil
	write()
	if len(g.bodies) > 0 {
		g.newline()
	}
	text := g.b.String()
	g.b, g.bodies = outer, bodies
	return text
}

func (g *generator) newline() {
	g.put("\n")
	for _, body := range g.bodies {
		g.put(body)
	}
	g.bodies = nil
}

func (g *generator) put(list ...string) {
	for _, s := range list {
		g.b.WriteString(s)
	}
}

func (g *generator) one(in int) bool { return g.r.Intn(in) == 0 }

func (g *generator) pick(list ...string) string { return list[g.r.Intn(len(list))] }

// choice is something to write, and how often among others.
type choice struct {
	weight int
	write  func()
}

func (g *generator) among(list []choice) {
	sum := 0
	for _, c := range list {
		sum += c.weight
	}
	n := g.r.Intn(sum)
	for _, c := range list {
		if n -= c.weight; n < 0 {
			c.write()
			return
		}
	}
}

// deeper writes with less depth left, or not at all where none is.
func (g *generator) deeper(write func()) {
	g.depth--
	write()
	g.depth++
}

// list writes n statements with what stands between them.
func (g *generator) list(n int) {
	for i := range n {
		if i > 0 {
			switch k := g.r.Intn(12); {
			case k < 4:
				g.put(g.pick("; ", ";", " ; "))
			case k < 8:
				if g.one(6) {
					g.put(g.pick(" # note", " # it's", " #", " # $(a", " # \"", " # x\\ "))
				}
				g.newline()
			case k < 10:
				g.put(" && ")
			case k < 11:
				g.put(" || ")
			default:
				g.put(" & ")
			}
		}
		g.statement()
	}
}

// block writes a list that ends, so that a keyword may follow.
func (g *generator) block() {
	g.deeper(func() { g.list(1 + g.r.Intn(2)) })
	g.end()
}

func (g *generator) end() {
	if len(g.bodies) > 0 || g.one(4) {
		g.newline()
	} else {
		g.put("; ")
	}
}

func (g *generator) statement() {
	if g.depth <= 0 {
		g.command()
		return
	}
	g.among([]choice{
		{40, g.command},
		{8, g.assignment},
		{5, g.pipeline},
		{4, g.chain},
		{3, func() { g.put("! "); g.among([]choice{{3, g.command}, {1, func() { g.bracket("(") }}}) }},
		{4, func() { g.bracket("("); g.redirections() }},
		{3, func() { g.put("{ "); g.block(); g.put("}"); g.redirections() }},
		{5, g.ifClause},
		{5, g.forClause},
		{3, g.whileClause},
		{3, g.caseClause},
		{4, g.function},
		{3, g.testClause},
		{2, g.arithClause},
		{5, g.builtin},
		{4, g.declaration},
		{2, g.nested},
		{2, g.timed},
		{1, g.odd},
	})
}

// bracket writes a list in brackets.
func (g *generator) bracket(open string) {
	if open != "(" {
		g.subs++
	}
	text := g.script(g.sub)
	if open != "(" {
		g.subs--
	}
	if strings.HasPrefix(text, "(") {
		open += " "
	}
	g.put(open, text, g.pick("", " "), ")")
}

// sub writes a list that a bracket ends.
func (g *generator) sub() {
	loops := g.loops
	g.deeper(func() { g.list(1 + g.r.Intn(2)) })
	g.loops = loops
	if len(g.bodies) > 0 {
		g.newline()
	}
}

func (g *generator) timed() {
	g.put(g.pick("time ", "time -p ", "time -- ", "time -p -- "), g.program())
	g.words(g.r.Intn(3))
	g.redirections()
}

func (g *generator) chain() {
	g.deeper(func() {
		g.statement()
		for range 1 + g.r.Intn(3) {
			g.put(g.pick(" && ", " || ", " &&\n", " || "))
			if strings.HasSuffix(g.b.String(), "\n") && len(g.bodies) > 0 {
				for _, body := range g.bodies {
					g.put(body)
				}
				g.bodies = nil
			}
			g.statement()
		}
	})
}

func (g *generator) pipeline() {
	g.deeper(func() {
		g.among([]choice{{8, g.command}, {1, g.statement}, {3, func() { g.put("echo "); g.words(1) }}})
		for range 1 + g.r.Intn(2) {
			g.put(g.pick(" | ", " | ", " |& "))
			g.among([]choice{
				{8, g.command},
				{2, func() { g.put("cat") }},
				{2, func() { g.put("while read ", g.pick("", "-r "), "v; do "); g.loop("continue"); g.put("done") }},
				{2, func() { g.put("xargs ", g.pick("", "-r ", "-n 1 ", "-0 ", "-n1 "), g.program()) }},
				{1, func() { g.put("xargs -I{} ", g.program(), " ", g.pick("{}", "p{}", "{} q")) }},
				{1, func() { g.put("{ "); g.block(); g.put("}") }},
			})
		}
	})
}

func (g *generator) ifClause() {
	g.put("if ")
	g.block()
	g.put("then ")
	g.block()
	for g.one(5) {
		g.put("elif ")
		g.block()
		g.put("then ")
		g.block()
	}
	if g.one(3) {
		g.put("else ")
		g.block()
	}
	g.put("fi")
	g.redirections()
}

// loop writes the body of a loop; every tenth holds a jump. Loops without an
// end of their own are not continued.
func (g *generator) loop(jump string) {
	g.loops++
	if g.one(10) {
		g.deeper(g.statement)
		g.put(g.pick(" && ", " || "), g.pick("break", jump, "break 1", jump+" 1"))
		g.end()
	}
	g.block()
	g.loops--
}

func (g *generator) forClause() {
	g.among([]choice{
		{12, func() {
			g.put("for ", g.pick("v", "i", "w"), " in")
			g.words(1 + g.r.Intn(3))
			g.put(g.pick("; do ", "\ndo "))
			g.flush()
			g.loop("continue")
			g.put("done")
		}},
		{3, func() { g.put("for n in 1 2 3; do "); g.loop("continue"); g.put("done") }},
		{1, func() { g.put("for v; do "); g.loop("continue"); g.put("done") }},
		{2, func() {
			k := "k" + strconv.Itoa(g.loops)
			g.put("for ((", k, "=0; ", k, "<", g.pick("1", "2"), "; ", k, "++)); do ")
			g.loop("continue")
			g.put("done")
		}},
		{1, func() {
			g.put("select v in ")
			g.words(2)
			g.put("; do ")
			g.loop("continue")
			g.put("break; done <<< 1")
		}},
		{1, func() { g.put("for v in p q; { "); g.block(); g.put("}") }},
	})
	g.redirections()
}

// flush writes here-documents behind a newline that was just written.
func (g *generator) flush() {
	if strings.HasSuffix(g.b.String(), "\ndo ") && len(g.bodies) > 0 {
		g.newline()
	}
}

func (g *generator) whileClause() {
	g.put(g.pick("while ", "while ", "until "))
	g.deeper(g.statement)
	g.end()
	g.put("do ")
	g.loop("break")
	g.put("break; done")
	g.redirections()
}

func (g *generator) caseClause() {
	g.put("case ")
	g.word()
	g.put(g.pick(" in ", " in\n"))
	if strings.HasSuffix(g.b.String(), "\n") {
		for _, body := range g.bodies {
			g.put(body)
		}
		g.bodies = nil
	}
	for range 1 + g.r.Intn(3) {
		g.put(g.pick("", "", "("), g.pattern(), g.pick("", " | "+g.pattern(), "|"+g.pattern()), ") ")
		g.deeper(func() { g.list(1 + g.r.Intn(2)) })
		if len(g.bodies) > 0 {
			g.newline()
		}
		g.put(g.pick(";; ", ";;\n", ";; ", ";& ", ";;& "))
	}
	g.put("esac")
	g.redirections()
}

func (g *generator) pattern() string {
	if g.one(40) {
		return g.pick("@(p|q)", "!(p)", "+([0-9])", "*(a|b)x", "?(p)q")
	}
	return g.pick("p", "q", "*", "-*", "'p q'", "\"$v\"", "[a-z]", "[!p]*", "?", "*.txt", "$v", "~", "\\*")
}

func (g *generator) function() {
	if g.defs > 2 {
		g.command()
		return
	}
	name := "f" + strconv.Itoa(g.defs)
	g.defs++
	head := g.pick(name+"() ", name+" () ", "function "+name+" ", "function "+name+"() ")
	was, loops, calls := g.inFunc, g.loops, g.calls
	g.inFunc, g.loops, g.calls = true, 0, slices.DeleteFunc(slices.Clone(g.calls), func(s string) bool { return s == name })
	g.among([]choice{
		{10, func() {
			g.put(head, "{ ")
			if g.one(3) {
				g.put("local ", g.pick("v=p", "v", "v w=q", "v=$1", "-i n=1", "-a arr=(p q)", "-r u=p"))
				g.end()
			}
			g.block()
			if g.one(5) {
				g.put(g.pick("return", "return 0", "return 1", "return $?"))
				g.end()
			}
			g.put("}")
		}},
		{2, func() { g.put(name, "() "); g.bracket("(") }},
		{1, func() { g.put(name, "() if true; then "); g.block(); g.put("fi") }},
	})
	g.inFunc, g.loops, g.calls = was, loops, calls
	if g.one(10) {
		g.redirections()
	}
	g.end()
	g.calls = append(g.calls, name)
	g.put(name)
	g.words(g.r.Intn(3))
}

// command writes a simple command.
func (g *generator) command() {
	if g.one(12) {
		g.prefix()
	}
	if g.one(20) {
		g.put(" ", g.redirection(), " ", g.program())
		g.words(g.r.Intn(3))
		g.redirections()
		return
	}
	g.among([]choice{
		{60, func() { g.put(g.program()); g.words(g.r.Intn(4)) }},
		{10, func() {
			g.put(g.pick("echo", "printf '%s\\n'", "cat f", "true", "false", ":", "pwd"))
			g.words(g.r.Intn(3))
		}},
		{8, g.wrapped},
		{4, func() { g.cd() }},
		{3, func() {
			if len(g.calls) > 0 {
				g.put(g.pick(g.calls...))
			} else {
				g.put("a")
			}
			g.words(g.r.Intn(3))
		}},
		{1, func() {
			g.dynamic = true
			g.put(g.pick("$v", "\"$v\"", "${v}", "$v$w", "$(echo a)", "${arr[0]}"))
			g.words(1)
		}},
		{1, func() { g.dynamic = true; g.put("v=a; ", g.pick("$v p", "\"$v\" p", "${v} q", "$v$v")) }},
	})
	g.redirections()
}

func (g *generator) program() string {
	if g.one(15) {
		return g.pick(`\a`, "'b'", `"c"`, "npm", "git", "ls", "id", "touch", `d""`, "$'e'")
	}
	return g.pick("a", "b", "c", "d", "e")
}

// prefix writes assignments in front of a command.
func (g *generator) prefix() {
	for range 1 + g.r.Intn(2) {
		g.put(g.pick("v", "w", "u", "CI", "NODE_ENV", "DEBUG"), "=")
		g.value()
		g.put(" ")
	}
}

func (g *generator) wrapped() {
	for range 1 + g.r.Intn(2) {
		g.put(g.pick("command ", "builtin command ", "env ", "env u=1 ", "env -u v ", "env -- ", "nice ", "nice -n 1 ", "nice -5 ",
			"timeout 5 ", "timeout -s KILL 5 ", "timeout -k 1 5 ", "nohup ", "setsid -w ", "stdbuf -o L ", "stdbuf -oL ", "exec ", "exec -a p "))
	}
	if g.one(3) {
		g.put(g.pick("env -S 'a p' ", "find . -maxdepth 0 -exec a {} ';'", "find . -maxdepth 1 -name f -exec a {} + ", "find sub -type f -exec b p{} \\;", "xargs a < f", "xargs -n 1 b < f", "xargs -I X c X < f"))
		return
	}
	g.put(g.program())
	g.words(g.r.Intn(3))
}

func (g *generator) cd() {
	g.put(g.pick("cd ", "cd ", "cd ", "cd -- ", "pushd "))
	g.put(g.pick("sub", "sub", "sub/deep", "./sub", "..", "missing", "\"$HOME\"", "~", ".", "sub/../sub", "/", "'sub'", "$v", "-"))
	g.put(g.pick("", "", "", " > /dev/null", " 2>/dev/null"))
	g.put(g.pick(" && ", "; ", " || exit; ", " && "))
	g.put(g.program())
	g.words(1)
	if g.one(3) {
		g.put(" > ", g.file())
	}
}

// nested writes scripts within scripts.
func (g *generator) nested() {
	inner := func() string { return g.script(func() { g.deeper(func() { g.list(1 + g.r.Intn(2)) }) }) }
	scope := func() string { // a shell of its own, without the functions of this one
		calls, loops, fn := g.calls, g.loops, g.inFunc
		g.calls, g.loops, g.inFunc = nil, 0, false
		text := inner()
		g.calls, g.loops, g.inFunc = calls, loops, fn
		return text
	}
	g.among([]choice{
		{6, func() { g.put("bash -c ", quoteText(scope())); g.words(g.r.Intn(3)) }},
		{4, func() { g.put("eval ", quoteText(inner())) }},
		{2, func() { g.put("bash -", g.pick("ec", "euc", "xc", "c --"), " ", quoteText(scope())) }},
		{2, func() {
			g.put("sh -c ", quoteText(g.pick("a p", "b; c", "a \"$1\"", "a && b", "for i in p q; do a $i; done", "a > new3", "cd sub && a")), " ", g.pick("", "p q"))
		}},
		{1, func() { g.put("bash <<< ", quoteText(g.pick("a p", "b && c", "a \"$(b)\""))) }},
		{1, func() { g.put("echo ", g.pick("a", "'a p'", "'a; b'"), " | ", g.pick("bash", "sh")) }},
		{1, func() {
			g.put("bash <<'S'")
			text := g.pick("a p\n", "a\nb\n", "echo q\n", "a \"$v\"\n")
			g.bodies = append(g.bodies, text+"S\n")
		}},
		{1, func() { g.dynamic = true; g.put("eval ", g.pick("$v", "\"$v\"", "\"a $v\"", "a $v", "\"$(echo a)\"")) }},
		{1, func() { g.dynamic = true; g.put("bash -c ", g.pick("\"a $v\"", "\"$v\"", "$v")) }},
		{2, func() {
			g.put("env -S ", quoteText(g.pick("a p", "u=1 a", "-i a", "a 'p q'", "nice a")), g.pick("", " q"))
		}},
		{2, func() {
			g.put("trap ", quoteText(scope()), " ", g.pick("EXIT", "EXIT", "EXIT", "EXIT", "EXIT", "0", "0", "INT", "ERR", "DEBUG", "RETURN", "TERM INT"))
		}},
		{1, func() { g.put("trap - EXIT; a") }},
		{1, func() { g.put("shopt -s expand_aliases\nalias z=", g.pick("a", "'a p'", "'b -x'"), "\nz p") }},
	})
}

// assignment writes a command that only sets variables.
func (g *generator) assignment() {
	g.among([]choice{
		{10, func() { g.put(g.pick("v", "w", "u"), "="); g.value() }},
		{3, func() { g.put(g.pick("v", "w"), "+="); g.value() }},
		{3, func() { g.put(g.pick("n", "m"), "=", g.pick("1", "$((n+1))", "$((1))", "3")) }},
		{3, func() { g.put("arr=("); g.words(g.r.Intn(3)); g.put(")") }},
		{1, func() { g.put("arr+=("); g.words(1); g.put(")") }},
		{1, func() { g.put("arr[", g.pick("0", "1", "n", "n+1", "$n", "-1"), "]="); g.value() }},
		{1, func() { g.put("arr=([0]=p [2]=q r)") }},
		{1, func() { g.put("v= w="); g.value() }},
		{2, func() { g.put("{ o=", g.file(), "; a > $o; }") }},
	})
}

func (g *generator) value() {
	if g.one(12) {
		g.put(g.pick("", "~", "~/p", "p:~/q", "{p,q}", "*", "a=b", "$'\\t'", "\"\""))
		return
	}
	g.word()
}

func (g *generator) declaration() {
	if g.inFunc && g.one(2) {
		g.put("local ", g.pick("v=p", "v", "w=\"$1\"", "-r u=p", "-i n=2", "v=$v", "-a arr=(p q)", "v w=q"))
		return
	}
	g.among([]choice{
		{8, func() {
			g.put("export ", g.pick("v=", "w=", "CI=", "NODE_ENV="), g.pick("p", "'q r'", "\"$v\"", "1", "$w"))
		}},
		{2, func() { g.put("export ", g.pick("v", "v w", "-p", "CI")) }},
		{4, func() {
			g.put(g.pick("declare ", "typeset "), g.pick("v=p", "w='q r'", "v=\"$w\"", "v", "-x v=p", "-p", "-- v=p"))
		}},
		{2, func() { g.put("declare -i n=", g.pick("1", "1+2", "m", "n+1")) }},
		{2, func() { g.put("declare -a ", g.pick("arr", "arr=(p q)", "arr=()")) }},
		{1, func() { g.put("declare -A map; map[", g.pick("p", "k"), "]="); g.word() }},
		{1, func() { g.put("declare -A map=([p]=1 [q]='x y'); a \"${map[p]}\" \"${!map[@]}\"") }},
		{1, func() { g.put("declare -", g.pick("u", "l", "g", "r", "t"), " v=", g.pick("p", "Pq")) }},
		{1, func() { g.put("readonly ", g.pick("k=p", "k='q r'", "k")) }},
	})
}

func (g *generator) builtin() {
	g.among([]choice{
		{4, func() { g.put("set -- "); g.words(g.r.Intn(3)) }},
		{3, func() { g.put("set ", g.pick("-e", "-u", "-x", "-euo pipefail", "+e", "-o pipefail", "+x", "-f")) }},
		{2, func() { g.put("shift", g.pick("", " 1", " 2")) }},
		{3, func() {
			g.put("read ", g.pick("", "-r ", "-n 3 ", "-d : ", "-t 1 "), g.pick("v", "v w", "", "-a arr"), " <<< ")
			g.word()
		}},
		{2, func() { g.put("IFS=", g.pick(":", ",", "", "' '"), " read -r v w <<< ", g.pick("p:q", "'p q'", "p,q")) }},
		{2, func() {
			g.put(g.pick("mapfile", "readarray"), " ", g.pick("-t arr", "arr", "-t -n 2 arr"), " < ", g.pick("f", "<(a)", "/dev/null"))
		}},
		{2, func() {
			g.put("printf -v v ", g.pick("'%s'", "%s", "'%d'", "x%sy"), " ", g.pick("p", "'q r'", "1", "\"$w\""))
		}},
		{2, func() { g.put("unset ", g.pick("v", "w", "v w", "-v v", "-f f", "arr")) }},
		{1, func() { g.put("while getopts ", g.pick("ab:", ":x", "'p:'"), " v; do a $v; done") }},
		{1, func() { g.put("getopts a v -a") }},
		{2, func() { g.put("let ", g.pick("n=1", "n+=1", "n++", "'n = 2'", "n=m+1", "\"n=1\"", "n=1 m=2")) }},
		{4, func() { g.put("[ ", g.test(false), " ]") }},
		{2, func() { g.put("test ", g.test(false)) }},
		{1, func() { g.put("shopt -s ", g.pick("nullglob", "failglob", "globstar", "nocasematch")) }},
		{2, func() {
			g.put(g.pick("wait", "jobs", "times", "umask 022", "type a", "hash -r", "command -v a", "dirs", "ulimit -n", "true", "history", "caller"))
		}},
		{1, func() {
			g.put("exec ", g.pick("3>new", "3<f", "3>&1", "4<>f", "3>&-", "{fd}>new2", "2>/dev/null", "5>>f", "<f", "{fd}<f; a <&$fd"))
		}},
		{1, func() { g.put("exit", g.pick("", " 0", " 1", " $?")) }},
		{1, func() { g.put("cd sub && { "); g.block(); g.put("}") }},
		{1, func() { g.put("a & wait $!") }},
	})
}

func (g *generator) testClause() {
	g.put("[[ ", g.test(true), " ]]")
	if g.one(2) {
		g.put(g.pick(" && ", " || "))
		g.deeper(g.statement)
	}
}

// test writes the inside of [[ ]] or [ ].
func (g *generator) test(double bool) string {
	word := func() string { // none that is an operator
		for {
			if text := g.script(func() { g.deeper(g.word) }); text[0] != '-' && text[0] != '!' {
				return text
			}
		}
	}
	quoted := func() string {
		return g.pick("\"$v\"", "p", "\"${w:-}\"", "'q r'", "\"$1\"", "\"$(a)\"", "f", "sub")
	}
	unary := func() string {
		return g.pick("-n", "-z", "-f", "-d", "-e", "-s", "-r", "-w", "-x", "-L", "-h") + " "
	}
	if !double {
		return g.pick(unary()+quoted(), quoted()+" = "+quoted(), quoted()+" != "+quoted(), "\"$n\" -"+g.pick("eq", "lt", "ge")+" 1",
			"! "+unary()+quoted(), unary()+quoted()+g.pick(" -a ", " -o ")+unary()+quoted(), "-v v", quoted(), "$# -gt 0", "f -nt g", "-t 1")
	}
	switch g.r.Intn(14) {
	case 0, 1, 2:
		return unary() + word()
	case 3, 4:
		return word() + g.pick(" == ", " != ", " = ", " < ", " > ") + g.pattern()
	case 5:
		return word() + g.pick(" -nt ", " -ot ", " -ef ") + word()
	case 6:
		return g.pick("$n", "n", "1", "$#", "${#v}", "\"$n\"", "n+1") + " -" + g.pick("eq", "ne", "lt", "le", "gt", "ge") + " " + g.pick("1", "$m", "m", "2")
	case 7:
		return word() + " =~ " + g.pick("^p", "[a-z]+", "^(p|q)$", "$v", "\"$v\"", "p.*", "^[0-9]+$", "\\.txt$", "(a b|c)", "'p q'")
	case 8:
		return "! " + unary() + word()
	case 9:
		return "( " + unary() + word() + " )"
	case 10:
		return unary() + word() + g.pick(" && ", " || ") + word() + " = " + g.pattern()
	case 11:
		return "-v " + g.pick("v", "n", "arr")
	case 12:
		return "-o " + g.pick("errexit", "pipefail")
	default:
		return word()
	}
}

func (g *generator) arithClause() {
	g.put("((", g.pick("", " "), g.arith(2), g.pick("", " "), "))")
	if g.one(2) {
		g.put(g.pick(" && ", " || "))
		g.deeper(g.statement)
	}
}

// arith writes an expression over the variables that hold numbers.
func (g *generator) arith(depth int) string {
	if depth == 0 || g.one(3) {
		return g.pick("1", "2", "n", "m", "$n", "0x1f", "10", "${n}", "$#", "${#v}", "2#101", "$?", "010")
	}
	x := func() string { return g.arith(depth - 1) }
	return g.pick(x()+g.pick("+", " - ", "*", " / ", "%", "**")+x(), x()+g.pick("<", ">", "<=", ">=", "==", "!=")+x(), x()+g.pick(" && ", " || ")+x(),
		"("+x()+")", "!"+x(), "(n"+g.pick("=", "+=", "-=", "*=", "|=", "^=", "&=", "%=", "/=", "<<=", ">>=")+x()+")", g.pick("n++", "n--", "++n", "--m"), x()+" ? "+x()+" : "+x(),
		x()+g.pick("&", "|", "^", " << ", " >> ")+x(), g.pick("-", "~", "+")+"n", x()+", "+x())
}

// words writes n words, each with a blank before it.
func (g *generator) words(n int) {
	for range n {
		g.put(" ")
		g.word()
	}
}

func (g *generator) word() {
	if g.quoted {
		g.put(g.pick("p", "$w", "q"))
		return
	}
	deep := 0
	if g.depth > 0 {
		deep = 1
	}
	g.among([]choice{
		{30, func() {
			g.put(g.pick("p", "q", "-x", "--y=z", "f", "sub/f", "./f", "p.txt", "-", "--", "a=b", "p:q", "@", "%", "x#y", "1", "+x", "http://h/p?q=1", "a/b", ".", "p,q"))
		}},
		{12, func() {
			g.put(g.pick("'q r'", "'it is'", "'$(a)'", "'\"'", "''", "'p\nq'", "'#'", "'*'", "'`'", "'\\'", "'{p,q}'", "'~'", "';'"))
		}},
		{10, g.doubleQuoted},
		{10, func() { g.put(g.pick("$v", "$w", "${v}", "$u", "$n", "$1", "$HOME", "$PWD")) }},
		{6, func() {
			g.put(g.pick("\"$@\"", "$@", "$#", "$?", "\"$*\"", "$*", "$$", "$!", "$-", "$0", "\"$1\"", "$2"))
		}},
		{4, func() { g.put(g.pick("*", "*.txt", "sub/*", "?", "[fg]", "./*", "**", "f*", "[!x]", "p?q")) }},
		{3, func() { g.put(g.pick("~", "~/p", "~root", "~+", "~/", "v=~", "p~", "~x")) }},
		{4, g.braces},
		{4, g.parameter},
		{3, func() { g.put("$((", g.arith(1), "))") }},
		{3, func() {
			g.put(g.pick(`\a`, `\$v`, `p\ q`, `\*`, `\\`, `\"`, `\'`, `\#`, `p\;`, `\~`, `\{p,q}`, "p\\\nq", `\&`))
		}},
		{2, func() {
			g.put(g.pick(`$'\x41'`, `$'p\nq'`, `$'\''`, `$'\101'`, `$'a\tb'`, `$'\\'`, `$'\u0041'`, `$'"'`, `$'$(a)'`, `$'\e[0m'`, `$'\z'`))
		}},
		{7 * deep, g.substitution},
		{2 * deep, func() {
			g.bracket(g.pick("<(", "<(", ">("))
		}},
		{4, func() { g.word(); g.tail() }},
		{2, func() {
			g.put(g.pick(`"${arr[@]}"`, "${arr[1]}", `"${arr[*]}"`, "${arr[@]}", "${#arr[@]}", "${!arr[@]}", "${arr[n]}", "${arr[-1]}", "$arr", "${arr[@]:1}", `"${arr[0]}"`))
		}},
	})
}

// tail writes what may follow another word without a blank.
func (g *generator) tail() {
	g.put(g.pick("p", "'q'", "\"r\"", "\"$v\"", "${w}", "/x", "=y", "-z", ".txt", ":q", "\\ z", "$(b)", "{p,q}"))
}

func (g *generator) substitution() {
	if g.one(5) {
		text := g.script(func() { g.deeper(func() { g.put(g.program()); g.words(1) }) })
		if strings.ContainsAny(text, "\\`") {
			text = "a p"
		}
		g.put("`", text, "`")
		return
	}
	if g.one(25) {
		g.put(g.pick("$(< f)", "$(<f)", "$[1+1]", "$()", "$( )"))
		return
	}
	g.bracket("$(")
}

func (g *generator) doubleQuoted() {
	g.put(`"`)
	for range 1 + g.r.Intn(3) {
		g.among([]choice{
			{8, func() { g.put(g.pick("p", " ", "it's", "x", "#", "*", "~", ";", "{p,q}", "\n", "q r", "(", "!", "=")) }},
			{8, func() { g.put(g.pick("$v", "${v}", "$n", "${w}", "$1", "$#", "$?", "$HOME")) }},
			{2, func() { g.put(g.pick(`\$`, `\"`, "\\`", `\\`, `\n`, `\x`, "\\\n", `\'`)) }},
			{2, func() {
				g.quoted = true
				g.parameter()
				g.quoted = false
			}},
			{1, func() { g.put("$((", g.arith(1), "))") }},
			{3, func() {
				if g.depth > 0 {
					quoted := g.quoted
					g.quoted = false
					g.bracket("$(")
					g.quoted = quoted
				}
			}},
			{1, func() { g.put("${arr[", g.pick("0", "1", "*", "n"), "]}") }},
		})
	}
	g.put(`"`)
}

// parameter writes ${…} with something in it.
func (g *generator) parameter() {
	name := g.pick("v", "w", "u", "v", "1", "HOME")
	inner := func() string {
		return g.script(func() {
			switch {
			case g.quoted:
				g.put(g.pick("p", "$w", "q r", "", "${u}", "\"x\"", "$(a)", "~", "*", "\\}"))
			case g.one(3):
				g.deeper(func() {
					if g.depth > 0 {
						g.put("$(", g.pick("a", "b p", "c; d"), ")")
					}
				})
			default:
				g.put(g.pick("p", "'q r'", "\"$w\"", "$u", "", "q r", "*", "~", "\\ ", "'}'", "\"}\"", "${w:-x}", "p q"))
			}
		})
	}
	g.among([]choice{
		{8, func() { g.put("${", name, g.pick(":-", "-", ":+", "+"), inner(), "}") }},
		{2, func() { g.put("${", g.pick("v", "w", "u"), g.pick(":=", "="), inner(), "}") }},
		{1, func() { g.put("${", name, g.pick(":?", "?"), inner(), "}") }},
		{6, func() {
			g.put("${", name, g.pick("#", "##", "%", "%%"), g.pick("p", "*/", "/*", ".*", "*.", "p*", "\"$w\"", "?"), "}")
		}},
		{3, func() {
			g.put("${", name, g.pick("/", "//", "/#", "/%"), g.pick("p", "[a-z]", "\"$w\"", " ", "*"), g.pick("", "/q", "/$w", "/\"x y\"", "/"), "}")
		}},
		{3, func() { g.put("${#", g.pick("v", "w", "1", "arr[@]", "@"), "}") }},
		{3, func() { g.put("${", name, ":", g.pick("0", "1", "n", " -2", "1:2", "0:n", "n+1:1"), "}") }},
		{2, func() { g.put("${", name, g.pick("^", "^^", ",", ",,"), g.pick("", "p", "[a-z]"), "}") }},
		{1, func() { g.put("${", name, "@", g.pick("Q", "U", "L", "u", "E"), "}") }},
		{1, func() { g.put(g.pick("${!v*}", "${!v@}", "${@:1}", "${@:1:2}", "${*#p}", "${@%x}", "${@/p/q}")) }},
	})
}

func (g *generator) braces() {
	if g.one(4) {
		g.put(g.pick("{1..3}", "{a..c}", "{3..1}", "{01..03}", "{1..9..4}", "{a,b}{c,d}", "{p,{q,r}}", "{p}", "{}", "p{,q}", "{,p}", "{p,q", "p,q}", "{'a b',c}", "{$v,p}", "x{p,q}y", "{p,\\,}", "-{x,y}", "{~,p}", "{p,q}$v", "${v}{p,q}", "{1..2}x{a,b}"))
		return
	}
	g.put("{", g.pick("p", "q", "-x", "sub/f"), ",", g.pick("r", "'s t'", "", "--z", "f"), "}")
}

// redirections writes some, most often none.
func (g *generator) redirections() {
	for g.one(6) {
		g.put(" ", g.redirection())
	}
}

func (g *generator) file() string {
	if g.one(8) {
		g.files++
		return g.pick("'new file'", "\"new2\"", "./new3", "sub/new", "sub/f", "~/new4", "$HOME/new5", "new$'6'", "new\\ 7", "../new8", "sub/deep/new", "missing/new", "{new9,}")
	}
	return g.pick("new", "f", "g", "out.log", "new1", "/dev/null", "new"+strconv.Itoa(g.r.Intn(3)))
}

func (g *generator) redirection() string {
	switch g.r.Intn(20) {
	case 0, 1, 2, 3:
		return g.pick("> ", ">", "1>", "2> ", "2>") + g.file()
	case 4, 5:
		return ">> " + g.file()
	case 6, 7, 8, 9:
		return g.pick("2>&1", ">/dev/null", "2>/dev/null", ">&2", "&>/dev/null", "1>&2", "</dev/null")
	case 10:
		return g.pick("&> ", "&>> ", ">| ", ">& ", "<> ", "3> ", "3>> ") + g.file()
	case 11, 12:
		return g.pick("< ", "<", "0< ", "3< ") + g.pick("f", "g", "sub/f", "missing", "/dev/null")
	case 13, 14:
		return "<<< " + g.script(func() { g.deeper(g.word) })
	case 15, 16, 17:
		if g.subs > 0 && !g.one(10) {
			return "2>&1"
		}
		return g.heredoc()
	case 18:
		return g.pick("3>&1", "3<&0", "2>&-", "<&-", "3>&2-", "{fd}> new", "{fd}< f", "{fd}>&1", "{fd}>> f", "4<&3", ">&3")
	default:
		return g.pick("> >(", "< <(", "2> >(") + g.script(func() { g.deeper(func() { g.put(g.program()); g.words(1) }) }) + ")"
	}
}

// heredoc begins a here-document; its body comes with the next newline.
func (g *generator) heredoc() string {
	end := g.pick("E", "EOF", "END_1", "e")
	tabs := g.pick("", "", "", "-")
	quote := g.pick("", "'", "\"", "\\")
	var b strings.Builder
	line := func(s string) {
		if tabs != "" {
			b.WriteString(g.pick("", "\t", "\t\t"))
		}
		b.WriteString(s + "\n")
	}
	for range g.r.Intn(4) {
		switch {
		case quote == "" && g.one(8):
			line("x $(" + strings.TrimSpace(g.script(func() { g.deeper(func() { g.put(g.program()); g.words(1) }) })) + ") y")
		case g.one(12):
			line(g.pick("a; b", "$(", "`", "${", "'", "\"", "\\", "#", "<<E", " "+end, end+"x", "E", "x"+end)[0:])
			if quote == "" { // there these would begin something
				b.Reset()
				line(g.pick("a; b", "#", "<<E", " "+end, "x"+end, "'", "it's \""))
			}
		default:
			line(g.pick("p q", "it's", "\"q\"", "$v ${w}", "a b", "", "  indented", "\\$x", "$((1+1))", "rm -rf /", "*", "p; q", "# c"))
		}
	}
	if tabs != "" {
		b.WriteString(g.pick("", "\t"))
	}
	b.WriteString(end + "\n")
	g.bodies = append(g.bodies, b.String())
	open, shut := quote, quote
	if quote == "\\" {
		shut = ""
	}
	return "<<" + tabs + g.pick("", " ") + open + end + shut
}

// odd writes what is opaque by decision, or nearly so. It is rare.
func (g *generator) odd() {
	if !g.one(12) {
		g.among([]choice{
			{4, func() { g.put("coproc { "); g.block(); g.put("}") }},
			{2, func() { g.put("coproc a p; wait") }},
			{1, func() { g.put("coproc C { "); g.block(); g.put("}") }},
			{2, func() { g.put("a $\"p\"") }},
			{1, func() { g.put("a ${!v}") }},
			{2, func() { g.put("[[ $v == ", g.pick("@(p|q)", "!(p)", "+(a)", "*(x|y)z", "?(p)"), " ]]") }},
		})
		return
	}
	g.among([]choice{
		{1, func() { g.put("source ", g.pick("f", "./f", "missing")) }},
		{1, func() { g.put(". ./f") }},
		{1, func() { g.put("declare -n r=v; a $r") }},
		{1, func() { g.put("a ${v@P}") }},
		{1, func() { g.put("shopt -s extglob\na ", g.pick("@(f|g)", "!(f)", "+(p)", "*(q)")) }},
		{1, func() { g.put("IFS=:; a $v") }},
		{1, func() { g.put("f() { f; }; f") }},
		{1, func() { g.put("mapfile -C a -c 1 arr < f") }},
		{1, func() { g.put("export -f f") }},
		{1, func() { g.put("enable -n echo; echo p") }},
		{1, func() { g.put("v='x[1]'; ((v))") }},
		{1, func() { g.put("set -k; a x=1") }},
	})
}
