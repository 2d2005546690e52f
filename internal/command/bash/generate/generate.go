// Package generate writes random lines of bash for tests and scripts. A seed always
// gives the same lines.
package generate

import (
	"math/rand"
	"slices"
	"strconv"
	"strings"
)

// Generator writes valid random bash. Constructs that are common in lines of agents are common
// here. Unusual ones are rare, so that most lines stay within the analysis, but none is
// missing. The words of a line agree: variables of numbers hold numbers, arrays hold lists.
type Generator struct {
	r *rand.Rand
	b *strings.Builder
	// bodies are the here-documents begun on this line of the script.
	bodies []string
	// dynamic is set when the line takes the name of a command from a value.
	dynamic bool
	// quoted is set inside double quotes, where no single quotes are written.
	quoted bool
	depth  int
	loops  int // around the current command
	inFunc bool
	// calls are the functions that are already defined.
	calls []string
	defs  int
	files int
	subs  int // enclosing substitutions
}

// New returns a generator whose lines depend on seed alone.
func New(seed int64) *Generator {
	return &Generator{r: rand.New(rand.NewSource(seed)), b: new(strings.Builder)}
}

// Line writes one line, and reports whether it has a dynamic command name.
func (g *Generator) Line() (string, bool) {
	*g = Generator{r: g.r, b: new(strings.Builder), depth: 2 + g.r.Intn(2)}
	if g.one(60) {
		g.depth = 5
	}
	text := g.script(func() { g.list(1 + g.r.Intn(3)) })
	return text, g.dynamic
}

// script returns the text that write writes, with its here-documents, as bash reads it
// on its own.
func (g *Generator) script(write func()) string {
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

func (g *Generator) newline() {
	g.put("\n")
	for _, body := range g.bodies {
		g.put(body)
	}
	g.bodies = nil
}

func (g *Generator) put(list ...string) {
	for _, s := range list {
		g.b.WriteString(s)
	}
}

func (g *Generator) one(in int) bool { return g.r.Intn(in) == 0 }

func (g *Generator) pick(list ...string) string { return list[g.r.Intn(len(list))] }

// choice is something to write, and its relative frequency.
type choice struct {
	weight int
	write  func()
}

// among writes one of list, chosen at random by weight.
func (g *Generator) among(list []choice) {
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

// deeper calls write with a depth that is one less.
func (g *Generator) deeper(write func()) {
	g.depth--
	write()
	g.depth++
}

// list writes n statements with separators.
func (g *Generator) list(n int) {
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

// block writes a list that ends with a separator, so that a keyword may follow.
func (g *Generator) block() {
	g.deeper(func() { g.list(1 + g.r.Intn(2)) })
	g.end()
}

func (g *Generator) end() {
	if len(g.bodies) > 0 || g.one(4) {
		g.newline()
	} else {
		g.put("; ")
	}
}

// statement writes one statement: a command, or below the depth limit also a compound one.
func (g *Generator) statement() {
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
		{1, g.unusual},
	})
}

// bracket writes a list in brackets.
func (g *Generator) bracket(open string) {
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

// sub writes a list before a closing bracket.
func (g *Generator) sub() {
	loops := g.loops
	g.deeper(func() { g.list(1 + g.r.Intn(2)) })
	g.loops = loops
	if len(g.bodies) > 0 {
		g.newline()
	}
}

func (g *Generator) timed() {
	g.put(g.pick("time ", "time -p ", "time -- ", "time -p -- "), g.program())
	g.words(g.r.Intn(3))
	g.redirections()
}

// chain writes statements joined by && and ||.
func (g *Generator) chain() {
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

// pipeline writes commands joined by pipes.
func (g *Generator) pipeline() {
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

// ifClause writes an if command, sometimes with elif and else.
func (g *Generator) ifClause() {
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

// loop writes the body of a loop. Every tenth has a jump. A loop that does not end by
// itself has no continue.
func (g *Generator) loop(jump string) {
	g.loops++
	if g.one(10) {
		g.deeper(g.statement)
		g.put(g.pick(" && ", " || "), g.pick("break", jump, "break 1", jump+" 1"))
		g.end()
	}
	g.block()
	g.loops--
}

// forClause writes a for or select command of any kind.
func (g *Generator) forClause() {
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

// flush writes here-documents after a newline that was just written.
func (g *Generator) flush() {
	if strings.HasSuffix(g.b.String(), "\ndo ") && len(g.bodies) > 0 {
		g.newline()
	}
}

func (g *Generator) whileClause() {
	g.put(g.pick("while ", "while ", "until "))
	g.deeper(g.statement)
	g.end()
	g.put("do ")
	g.loop("break")
	g.put("break; done")
	g.redirections()
}

// caseClause writes a case command with up to three items.
func (g *Generator) caseClause() {
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

// function writes a definition of a function, often with a call of it.
func (g *Generator) function() {
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
	if g.one(40) {
		g.put(g.pick(" && ", " || ", " | "))
	} else {
		g.end()
	}
	g.calls = append(g.calls, name)
	g.put(name)
	g.words(g.r.Intn(3))
}

func (g *Generator) testClause() {
	g.put("[[ ", g.test(true), " ]]")
	if g.one(2) {
		g.put(g.pick(" && ", " || "))
		g.deeper(g.statement)
	}
}

func (g *Generator) arithClause() {
	g.put("((", g.pick("", " "), g.arith(2), g.pick("", " "), "))")
	if g.one(2) {
		g.put(g.pick(" && ", " || "))
		g.deeper(g.statement)
	}
}
