package bash

import (
	"math/rand"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"cardea.dev/internal/command/bash/generate"
	"cardea.dev/internal/testing/testrun"
)

// mutator changes lines at random: a parser and bash differ most on invalid token sequences.
type mutator struct{ r *rand.Rand }

// pieces returns the tokens that are inserted, which begin, end or join something.
func pieces() []string {
	return []string{
		";",
		"&",
		"&&",
		"||",
		"|",
		"|&",
		";;",
		";&",
		"(",
		")",
		"{",
		"}",
		"{ ",
		"; }",
		"[[ ",
		" ]]",
		"((",
		"))",
		"$(",
		"`",
		"'",
		"\"",
		"\\",
		"$'",
		"$\"",
		"${",
		"}",
		"$((",
		"<(",
		">(",
		"<<E\n",
		"\nE\n",
		"<<-'E'\n",
		"<<<",
		">",
		">>",
		"<",
		"<>",
		">&",
		"&>",
		">|",
		"2>&1",
		"3>",
		"<&-",
		"{fd}>",
		" # ",
		"#",
		"\n",
		" ",
		"\t",
		"\\\n",
		"!",
		"! ",
		"=",
		"+=",
		"[0]=",
		"~",
		"*",
		"?",
		"[",
		"]",
		"{a,b}",
		"{1..3}",
		",",
		"..",
		"$",
		"$v",
		"${v:-",
		"${!v",
		"$@",
		"\"$@\"",
		"-",
		"--",
		"if ",
		"then ",
		"else ",
		"elif ",
		"fi",
		"for i in ",
		"do ",
		"done",
		"while ",
		"until ",
		"case ",
		" in ",
		"esac",
		"select ",
		"function f ",
		"f() ",
		"time ",
		"coproc ",
		"eval ",
		"exec ",
		"trap ",
		"declare ",
		"export ",
		"local ",
		"readonly ",
		"let ",
		"unset ",
		"read ",
		"set -- ",
		"shift",
		"alias z=",
		"bash -c ",
		"env -S ",
		"xargs ",
		"command ",
		"builtin ",
		"return",
		"break",
		"continue",
		"exit",
		"a",
		"b ",
		" c",
		"'d'",
		"x=",
		"v=a ",
		"@(",
		"!(",
		"+(",
		"==",
		"=~",
		"-eq ",
		"-v ",
		"1",
		"0",
		"\r",
		"\v",
		"\f",
		"\x01",
		"\u00a0",
		"\u200b",
		"é",
		"%",
		"^",
		":",
		"\\$",
		"\\`",
		"$(<",
		"/",
		"./",
		"p",
	}
}

// tokens cuts a line at blanks and around operators.
func tokens(line string) []string {
	var out []string
	from := 0
	for i := 0; i <= len(line); i++ {
		if i < len(line) && !strings.ContainsRune(" \t\n;&|()<>{}$`'\"\\#=", rune(line[i])) {
			continue
		}
		if i > from {
			out = append(out, line[from:i])
		}
		if i < len(line) {
			out = append(out, line[i:i+1])
		}
		from = i + 1
	}
	return out
}

// spoil changes a line in one to four places.
func (m mutator) spoil(line, other string) string {
	list, more, with := tokens(line), tokens(other), pieces()
	for range 1 + m.r.Intn(4) {
		if len(list) == 0 {
			break
		}
		at := m.r.Intn(len(list))
		put := func(s ...string) { list = append(list[:at:at], append(s, list[at:]...)...) }
		switch m.r.Intn(9) {
		case 0, 1:
			list = append(list[:at:at], list[at+1:]...)
		case 2:
			put(list[at])
		case 3:
			to := m.r.Intn(len(list))
			list[at], list[to] = list[to], list[at]
		case 4, 5, 6:
			put(with[m.r.Intn(len(with))])
		case 7:
			if len(more) > 0 {
				from := m.r.Intn(len(more))
				put(more[from:min(len(more), from+1+m.r.Intn(6))]...)
			}
		case 8:
			list[at] = m.bytes(list[at])
		}
	}
	return strings.Join(list, "")
}

// bytes deletes, doubles or swaps a byte of a token.
func (m mutator) bytes(s string) string {
	if s == "" {
		return s
	}
	at := m.r.Intn(len(s))
	switch m.r.Intn(3) {
	case 0:
		return s[:at] + s[at+1:]
	case 1:
		return s[:at] + s[at:at+1] + s[at:]
	default:
		return s[at:] + s[:at]
	}
}

// TestOracleMutated compares mutated lines with bash: of the table, of the attacks and of the
// generator. CARDEA_ORACLE_MUTATED sets their number, CARDEA_ORACLE_SEED its seed.
func TestOracleMutated(t *testing.T) {
	lines, seed := testrun.Pick(700, 3000), int64(1)
	if n, err := strconv.Atoi(os.Getenv("CARDEA_ORACLE_MUTATED")); err == nil {
		lines = n
	}
	if n, err := strconv.ParseInt(os.Getenv("CARDEA_ORACLE_SEED"), 10, 64); err == nil {
		seed = n
	}
	o, begin := newOracle(t), time.Now()
	g, m := generate.New(seed), mutator{rand.New(rand.NewSource(seed))}
	known := append(linesOf(attacks(t)), table(t)...)
	source := func() string {
		if m.r.Intn(3) == 0 {
			line, _ := g.Line()
			return line
		}
		return known[m.r.Intn(len(known))]
	}
	var list []string
	for len(list) < lines {
		if line := m.spoil(source(), source()); !wild.MatchString(line) {
			list = append(list, line)
		}
	}
	o.compare(t, list)
	o.tell(t, lines, begin)
}
