package generate

import (
	"strconv"
	"strings"
)

func (g *Generator) pattern() string {
	if g.one(40) {
		return g.pick("@(p|q)", "!(p)", "+([0-9])", "*(a|b)x", "?(p)q")
	}
	return g.pick("p", "q", "*", "-*", "'p q'", "\"$v\"", "[a-z]", "[!p]*", "?", "*.txt", "$v", "~", "\\*")
}

func (g *Generator) value() {
	if g.one(12) {
		g.put(g.pick("", "~", "~/p", "p:~/q", "{p,q}", "*", "a=b", "$'\\t'", "\"\""))
		return
	}
	g.word()
}

// test returns the inside of [[ ]] or [ ].
func (g *Generator) test(double bool) string {
	word := func() string { // not an operator
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

// arith returns an expression over the variables that hold numbers.
func (g *Generator) arith(depth int) string {
	if depth == 0 || g.one(3) {
		return g.pick("1", "2", "n", "m", "$n", "0x1f", "10", "${n}", "$#", "${#v}", "2#101", "$?", "010")
	}
	x := func() string { return g.arith(depth - 1) }
	return g.pick(x()+g.pick("+", " - ", "*", " / ", "%", "**")+x(), x()+g.pick("<", ">", "<=", ">=", "==", "!=")+x(), x()+g.pick(" && ", " || ")+x(),
		"("+x()+")", "!"+x(), "(n"+g.pick("=", "+=", "-=", "*=", "|=", "^=", "&=", "%=", "/=", "<<=", ">>=")+x()+")", g.pick("n++", "n--", "++n", "--m"), x()+" ? "+x()+" : "+x(),
		x()+g.pick("&", "|", "^", " << ", " >> ")+x(), g.pick("-", "~", "+")+"n", x()+", "+x())
}

// words writes n words, each with a blank before it.
func (g *Generator) words(n int) {
	for range n {
		g.put(" ")
		g.word()
	}
}

// word writes one word of any kind.
func (g *Generator) word() {
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

// tail writes text that may follow another word without a blank.
func (g *Generator) tail() {
	g.put(g.pick("p", "'q'", "\"r\"", "\"$v\"", "${w}", "/x", "=y", "-z", ".txt", ":q", "\\ z", "$(b)", "{p,q}"))
}

// substitution writes a command substitution, rarely one of another form such as $(< f).
func (g *Generator) substitution() {
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

// doubleQuoted writes a word in double quotes.
func (g *Generator) doubleQuoted() {
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
func (g *Generator) parameter() {
	name := g.pick("v", "w", "u", "v", "1") // not HOME, whose value differs where the line runs
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

func (g *Generator) braces() {
	if g.one(4) {
		g.put(g.pick("{1..3}", "{a..c}", "{3..1}", "{01..03}", "{1..9..4}", "{a,b}{c,d}", "{p,{q,r}}", "{p}", "{}", "p{,q}", "{,p}", "{p,q", "p,q}", "{'a b',c}", "{$v,p}", "x{p,q}y", "{p,\\,}", "-{x,y}", "{~,p}", "{p,q}$v", "${v}{p,q}", "{1..2}x{a,b}"))
		return
	}
	g.put("{", g.pick("p", "q", "-x", "sub/f"), ",", g.pick("r", "'s t'", "", "--z", "f"), "}")
}

// redirections writes redirections, usually none.
func (g *Generator) redirections() {
	for g.one(6) {
		g.put(" ", g.redirection())
	}
}

func (g *Generator) file() string {
	if g.one(8) {
		g.files++
		return g.pick("'new file'", "\"new2\"", "./new3", "sub/new", "sub/f", "~/new4", "$HOME/new5", "new$'6'", "new\\ 7", "../new8", "sub/deep/new", "missing/new", "{new9,}")
	}
	return g.pick("new", "f", "g", "out.log", "new1", "/dev/null", "new"+strconv.Itoa(g.r.Intn(3)))
}

// redirection returns one redirection of any kind.
func (g *Generator) redirection() string {
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

// heredoc begins a here-document and returns its operator. Its body follows the next newline.
func (g *Generator) heredoc() string {
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
			if quote == "" { // there these would begin an expansion
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
