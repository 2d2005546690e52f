package generate

import "mvdan.cc/sh/v3/syntax"

// quote returns s quoted so that bash reads it as one word.
func quote(s string) string {
	q, err := syntax.Quote(s, syntax.LangBash)
	if err != nil {
		return s
	}
	return q
}

// command writes a simple command.
func (g *Generator) command() {
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

func (g *Generator) program() string {
	if g.one(15) {
		return g.pick(`\a`, "'b'", `"c"`, "npm", "git", "ls", "id", "touch", `d""`, "$'e'")
	}
	return g.pick("a", "b", "c", "d", "e")
}

// prefix writes assignments before a command.
func (g *Generator) prefix() {
	for range 1 + g.r.Intn(2) {
		g.put(g.pick("v", "w", "u", "CI", "NODE_ENV", "DEBUG"), "=")
		g.value()
		g.put(" ")
	}
}

func (g *Generator) wrapped() {
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

func (g *Generator) cd() {
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

// nested writes a command that runs a script in its words.
func (g *Generator) nested() {
	inner := func() string { return g.script(func() { g.deeper(func() { g.list(1 + g.r.Intn(2)) }) }) }
	scope := func() string { // a new shell, without the functions of this one
		calls, loops, fn := g.calls, g.loops, g.inFunc
		g.calls, g.loops, g.inFunc = nil, 0, false
		text := inner()
		g.calls, g.loops, g.inFunc = calls, loops, fn
		return text
	}
	g.among([]choice{
		{6, func() { g.put("bash -c ", quote(scope())); g.words(g.r.Intn(3)) }},
		{4, func() { g.put("eval ", quote(inner())) }},
		{2, func() { g.put("bash -", g.pick("ec", "euc", "xc", "c --"), " ", quote(scope())) }},
		{2, func() {
			g.put("sh -c ", quote(g.pick("a p", "b; c", "a \"$1\"", "a && b", "for i in p q; do a $i; done", "a > new3", "cd sub && a")), " ", g.pick("", "p q"))
		}},
		{1, func() { g.put("bash <<< ", quote(g.pick("a p", "b && c", "a \"$(b)\""))) }},
		{1, func() { g.put("echo ", g.pick("a", "'a p'", "'a; b'"), " | ", g.pick("bash", "sh")) }},
		{1, func() {
			g.put("bash <<'S'")
			text := g.pick("a p\n", "a\nb\n", "echo q\n", "a \"$v\"\n")
			g.bodies = append(g.bodies, text+"S\n")
		}},
		{1, func() { g.dynamic = true; g.put("eval ", g.pick("$v", "\"$v\"", "\"a $v\"", "a $v", "\"$(echo a)\"")) }},
		{1, func() { g.dynamic = true; g.put("bash -c ", g.pick("\"a $v\"", "\"$v\"", "$v")) }},
		{2, func() {
			g.put("env -S ", quote(g.pick("a p", "u=1 a", "-i a", "a 'p q'", "nice a")), g.pick("", " q"))
		}},
		{2, func() {
			g.put("trap ", quote(scope()), " ", g.pick("EXIT", "EXIT", "EXIT", "EXIT", "EXIT", "0", "0", "INT", "ERR", "DEBUG", "RETURN", "TERM INT"))
		}},
		{1, func() { g.put("trap - EXIT; a") }},
		{1, func() { g.put("shopt -s expand_aliases\nalias z=", g.pick("a", "'a p'", "'b -x'"), "\nz p") }},
	})
}

// assignment writes a command that only sets variables.
func (g *Generator) assignment() {
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

// declaration writes local, in a function, or export, declare, typeset or readonly.
func (g *Generator) declaration() {
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

// builtin writes a builtin that changes the state of the shell, or a test.
func (g *Generator) builtin() {
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
		{2, func() {
			g.put("unset ", g.pick("v", "w", "v w", "-v v", "-f f", "arr", "-f v", "-vf v", "-z v", "-- v"))
		}},
		{1, func() { g.put("while getopts ", g.pick("ab:", ":x", "'p:'"), " v; do a $v; done") }},
		{1, func() { g.put("getopts a v -a") }},
		{2, func() { g.put("let ", g.pick("n=1", "n+=1", "n++", "'n = 2'", "n=m+1", "\"n=1\"", "n=1 m=2")) }},
		{2, func() {
			g.put(g.pick("command", "command -z", "command -p", "builtin", "builtin -x", "builtin --", "noglob", "command --"), " ",
				g.pick("eval v=q", "read v <<< q", "unset v", "set -- q", "cd sub", "eval w=p 99999999>&1", "declare -x v=q"))
		}},
		{1, func() { g.put("set ", g.pick("-", "-e -", "- p", "+", "+ p", "-- ")) }},
		{1, func() { g.put("v=q eval ", g.pick("w=p", "v=p", "'unset v'")) }},
		{1, func() { g.put("pushd sub; ", g.pick("dirs", "dirs -c", "dirs -v"), "; popd; a > new4") }},
		{1, func() {
			g.put(g.pick(": ", "a ", "v="), g.pick("$((1/0))", "$((n/m))", "$((08))", "${v:0:-2}", "${u?}"), g.pick("; v=q", "; cd sub", " && w=p", ""), "\n", g.program(), " $v > new5")
		}},
		{4, func() { g.put("[ ", g.test(false), " ]") }},
		{2, func() { g.put("test ", g.test(false)) }},
		{1, func() { g.put("shopt -s ", g.pick("nullglob", "globstar", "nocasematch")) }},
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

// unusual writes a command that is opaque by decision, or nearly so. It is rare.
func (g *Generator) unusual() {
	if !g.one(12) {
		g.among([]choice{
			{6, func() { g.put("coproc { "); g.block(); g.put("}") }},
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
		{1, func() { g.put("shopt -s failglob; a *.none") }},
	})
}
