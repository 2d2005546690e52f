package bash

import (
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
)

var system = Env{Cwd: "/proj", System: knowledge.System{Home: "/home/u", Roots: []string{"/proj"},
	IsDir:    func(p string) bool { return p == "/proj/src" || p == "/tmp" },
	Exported: func(name string) bool { return name == "GEM_HOME" },
}}

// partTexts returns the texts of parts, without those that have no effect.
func partTexts(a Analysis) []string {
	out := []string{}
	for _, p := range a.Parts {
		if !p.NoEffect {
			out = append(out, p.Text)
		}
	}
	return out
}

// opaque reports whether the parts or the line have any opaque spot.
func opaque(a Analysis) bool {
	return len(a.Opaque) > 0 || slices.ContainsFunc(a.Parts, func(p cardea.Part) bool { return len(p.Opaque) > 0 })
}

// TestParts checks the parts of a line, in the order in which they are found. "?" before
// a line means that an opaque spot is expected, otherwise there must be none.
func TestParts(t *testing.T) {
	tests := []struct {
		line string
		want string // parts separated by " ; "
	}{
		// Operators.
		{"git add . && git push --force", "git add . ; git push --force"},
		{"a; b & c || d | e |& f\ng", "a ; b ; c ; d ; e ; f ; g"},
		{"(a; b)", "a ; b"},
		{"{ a; b; }", "a ; b"},
		{"! a", "a"},
		{"a \\\n  -x", "a -x"},
		// Substitutions.
		{"echo $(a)", "a ; echo $(a)"},
		{"echo \"x $(a) y\"", "a ; echo \"x $(a) y\""},
		{"echo `a`", "a ; echo `a`"},
		{"cat <(a) >(b)", "a ; b ; cat <(a) >(b)"},
		{"x=$(a)", "a"},
		{"echo ${x:-$(a)}", "a ; echo ${x:-$(a)}"},
		{"echo ${x/$(a)/$(b)}", "a ; b ; echo ${x/$(a)/$(b)}"},
		{"echo $((1 + 2))", "echo $((1 + 2))"},
		{"cat <<E\n$(a)\nE", "a ; cat"},
		{"cat <<'E'\n$(a)\nE", "cat"},
		{"cat <<< \"$(a)\"", "a ; cat"},
		{"echo '$(a)'", "echo '$(a)'"},
		{`echo "\$(a)"`, `echo '$(a)'`},
		{"a > $(b)", "?b ; a"},
		// Control flow.
		{"if a; then b; elif c; then d; else e; fi", "a ; b ; c ; d ; e"},
		{"while a; do b; done", "a ; b"},
		{"until a; do b; done", "a ; b"},
		{"for i in $(a); do b; done", "a ; b"},
		{"for ((i=0;i<3;i++)); do a $((i*2)); done", "a $((i*2))"},
		{"for i in 1 2 3; do a $((i+1)); done", "a $((i+1)) ; a $((i+1)) ; a $((i+1))"},
		{"for i in a \"b c\"; do x $i; done", "x $i"},
		{"for i in a b; do x \"$i\"; [ y ] && break; done; z $i", "x a ; x b ; z $i"},
		{"for i in a b; do for j in 1 2; do x $i $j; done; done", "x a 1 ; x a 2 ; x b 1 ; x b 2"},
		{"for i in {1..17}; do x $i; done", "x $i"},
		{"case x in a) b;; *) c;; esac", "b ; c"},
		{"select x in 1; do a; done", "a"},
		{"[[ -f x && $(a) == z ]] && b", "a ; b"},
		{"(( x = 1 )) || b", "b"},
		{"coproc a", "a"},
		{"time a", "a"},
		{"time -p -- a", "a"},
		{"f() { a; }; f", "a"},
		{"function f { a \"$1\"; }; f x", "a x"},
		{"f() { a; }", "a"},
		{"trap 'a' EXIT; b", "a ; b"},
		// Words.
		{`r\m -rf /`, "rm -rf /"},
		{`'r'm "-rf" /`, "rm -rf /"},
		{`$'\x72m' $'\057'`, "rm /"},
		{"{rm,-rf,/}", "rm -rf /"},
		{"echo {1..3} {a..c}", "echo 1 2 3 a b c"},
		{"X=rm; $X -rf /", "rm -rf /"},
		{"X='rm -rf /'; $X", "rm -rf /"},
		{"X='rm -rf /'; \"$X\"", "'rm -rf /'"},
		{"a=(rm -rf /); \"${a[@]}\"", "rm -rf /"},
		{"set -- rm x; \"$@\"", "rm x"},
		{"unset R; rm \"${R:-/}\"", "rm /"},
		{"X=a Y=$X; b $Y", "b a"},
		{"A=rm; declare A=echo B=$A; \"$B\" x", "rm x"},
		{"echo ~ ~/x", "echo /home/u /home/u/x"},
		{"X=1 a; b $X", "a ; b $X"},
		{"X=a; true && X=b; c $X", "c $X"},
		{"ls \"&&\" rm", "ls '&&' rm"},
		// Wrappers.
		{"timeout 30 npm test", "npm test"},
		{"timeout -s KILL 5 ls", "ls"},
		{"timeout --signal=KILL -k 1 5 ls", "ls"},
		{"env -i A=b x", "x"},
		{"env -S 'rm -rf /'", "rm -rf /"},
		{"env -vS'rm -rf /'", "rm -rf /"},
		{"env -C /x ls y", "ls y"},
		{"nice -n 5 ionice -c 3 a", "a"},
		{"nice -5 a", "a"},
		{"nohup a &", "a"},
		{"stdbuf -oL a", "a"},
		{"setsid -w a", "a"},
		{"command ls", "ls"},
		{"builtin command rm -rf /", "rm -rf /"},
		{"exec -a ls rm -rf /", "rm -rf /"},
		{"xargs -0 -n 1 rm", "rm {}"},
		{"xargs -t touch echo", "touch echo {}"},
		{"xargs -I X rm X/y", "rm X/y"},
		{"find . -name x -exec rm {} \\;", "find . -name x -exec rm '{}' ';' ; rm {}"},
		{"find . -exec a \\; -exec b {} +", "find . -exec a ';' -exec b '{}' + ; a ; b {}"},
		{"fd -x rm", "fd -x rm ; rm {}"},
		{"watch -n1 \"rm -rf /\"", "rm -rf /"},
		{"flock /tmp/l -c 'a; b'", "a ; b ; flock /tmp/l -c 'a; b'"},
		{"script -qc 'a' /dev/null", "a ; script -qc 'a' /dev/null"},
		{"bash -c 'a; b'", "a ; b"},
		{"bash -lc a", "a"},
		{"bash --norc -o pipefail -c a", "a"},
		{"bash -c '$0 -rf /' rm", "rm -rf /"},
		{"sh -c 'echo \"$1\"' x y", "echo y"},
		{"bash -c \"bash -c 'bash -c a'\"", "a"},
		{"eval 'a; b'", "a ; b"},
		{"eval a b", "a b"},
		{"X=1; bash -c 'echo $X'", "echo $X"},
		{"export FOO=1; bash -c 'a $FOO'", "a $FOO"},
		{"bash <<'E'\na\nE", "a"},
		{"cat <<E | sh\na\nE", "cat ; a"},
		{"echo 'rm x' | sh", "echo 'rm x' ; rm x"},
		{"sudo -u root -- a", "a"},
		{"sudo env a", "a"},
		{"doas a", "a"},
		{"su - root -c 'a'", "a"},
		{"chroot /x a", "a"},
		{"ssh h 'a; b'", "ssh h 'a; b' ; a ; b"},
		{"docker exec -it c a b", "docker exec -it c a b ; a b"},
		{"docker run --rm -v /:/h img a", "docker run --rm -v /:/h img a ; a"},
		{"kubectl exec -n ns p -- a", "kubectl exec -n ns p -- a ; a"},
		{"busybox rm x", "rm x"},
		{"/lib64/ld-linux-x86-64.so.2 /bin/rm -rf /", "/bin/rm -rf /"},
		{"alias zz='a b'\nzz c", "a b ; a b c ; zz c"},
		{"parallel a ::: x", "?parallel a ::: x ; a x"},
		// Lines that Permitter, an earlier tool of this kind, let through.
		{"bash -c \"npm test; rm -rf /\"", "npm test ; rm -rf /"},
		{"npm test\nrm -rf /", "npm test ; rm -rf /"},
		{"npm test & rm -rf /", "npm test ; rm -rf /"},
		{"LD_PRELOAD=/tmp/e.so npm test", "?npm test"},
		{"PATH=/evil ls", "?ls"},
		{"export PATH=/evil:$PATH && npm test", "?export PATH=/evil:$PATH ; npm test"},
		{"GIT_SSH_COMMAND=\"sh -c id\" git add .", "?git add ."},
		{"npm test > /etc/passwd", "npm test"},
		{"npm test > a rm", "npm test rm"},
		{"npm test ${IFS}", "npm test ${IFS}"},
		{"(npm test)", "npm test"},
		{"if true; then npm test; fi", "npm test"},
		{"git commit -m '$(not run)'", "git commit -m '$(not run)'"},
		{"git commit -m \"$(cat <<'EOF'\nit's (odd\nEOF\n)\"", "cat ; git commit -m \"$(cat <<'EOF'\nit's (odd\nEOF\n)\""},
		{"timeout 30 npm test 2>&1 | tee test.log", "npm test ; tee test.log"},
		// Lines that bash and the parser read differently.
		{"echo hi # \\\nrm x", "?echo hi rm x"},
		{"echo hi \\\r\nrm x", "?*"},
		{">|\r rm x", "?*"},
		{"echo \"${x:-'$(rm x)'}\"", "?*"},
		{"cat <<E\n${x:-'$(rm x)'}\nE", "?*"},
		{"\"${x:-'}\"$(cmd)\"'}\"", "?*"},
		{"!(rm x)", "?*"},
		{"ls !(x)", "?*"},
		{"rm x\n(", "?rm x"},
		{"[[ a -eq 'b[$(cmd)]' ]]", "?*"},
		{"printf -v 'a[$(cmd)]' x", "?*"},
		{"test -v 'a[$(cmd)]'", "?*"},
		{"[ -v 'a[$(cmd)]' ]", "?*"},
		{"read 'a[$(cmd)]'", "?*"},
		{"unset 'a[$(cmd)]'", "?*"},
		{"let 'a[$(cmd)]'", "?*"},
		{"x='a[$(cmd)]'; echo $((x))", "?*"},
		{"x='a[$(cmd)]'; y=x; echo $((y))", "?*"},
		{"x='a[$(cmd)]'; echo ${v:x}", "?*"},
		{"echo $[ x='a[$(cmd)]', x ]", "?*"},
		{"declare -i x; x='a[$(cmd)]'", "?*"},
		{"declare 'a[$(cmd)]=1'", "?*"},
		{"read x; echo $((x))", "?*"},
		{"echo $(( $(a) ))", "?*"},
		{"[[ -v 'a[$(cmd)]' ]]", "?*"},
		{"[[ $(a) -eq 1 ]]", "?*"},
		{"echo a\fb", "?*"},
		{"echo a\vb", "?*"},
		{"echo \"a\x1bb\"", "?*"},
		{"echo 'a\x1bb'", "*"},
		{"echo ok\u202e; rm x", "?*"},
		{"git log --format=%H\u200b", "?*"},
		{"touch\u00a0x", "?*"},
		{"git commit -m \"déjà\u00a0vu\"", "*"},
		{"git commit -m \"$(cat <<'E'\nit's \u200b\nE\n)\"", "*"},
		{"cat <<E\nit's\nE\necho \x0b", "?*"},
		{"=ls x", "?*"},
		{"a >! b", "?*"},
		{"a &! b", "?*"},
		{"a &| b", "?*"},
		{"echo $x[$(cmd)]", "?*"},
		{"echo ${(e)x}", "?*"},
		{"ls *(e:'cmd':)", "?*"},
		{"echo =(cmd)", "?*"},
		{"zmodload zsh/net/tcp", "?*"},
		{"echo $(unclosed", "?*"},
		{"$((echo 1); cmd)", "?*"},
		{"cat <<$EOF\nx\n$EOF", "?*"},
		{"echo \"${x@P}\"", "?*"},
		{"echo ${!x}", "?*"},
		// Arithmetic that is harmless, and some that is not.
		{"echo $((x + ${y} * $z - 0x1f))", "echo $((x + ${y} * $z - 0x1f))"},
		{"x=5; echo $((x++ + $x + ${#x} + $#))", "echo $((x++ + $x + ${#x} + $#))"},
		{"echo $((a[1] + $((2))))", "echo $((a[1] + $((2))))"},
		{"set -- 5; echo $(($1 + 1))", "echo $(($1 + 1))"},
		{"set -- 'a[$(cmd)]'; echo $(($1 + 1))", "?*"},
		{"echo $(($@))", "?*"},
		{"echo $((${x:-1}))", "?*"},
		{"x=(1 2); echo $((x + 1))", "echo $((x + 1))"},
		{"x=('a[$(cmd)]'); echo $((x))", "?*"},
		{"echo $((\"$x\" + 1))", "echo $((\"$x\" + 1))"},
		{"echo $((\"$x$(a)\"))", "?*"},
		{"echo $((1+a$x))", "?*"},
		{"x=5; echo $((1+2$x))", "echo $((1+2$x))"},
		{"echo ${a[$(b)]}", "?*"},
		{"a[$(b)]=1", "?*"},
		{"a=([$(b)]=1)", "?*"},
		{"a[1]=2; echo ${a[1]}", "echo ${a[1]}"},
		{"let x=1 x++", ""},
		{"command let 'x=1' y++", "let 'x=1' y++"},
		{"builtin let 'a[$(cmd)]'", "?*"},
		{"command let $x", "?*"},
		{"((x = $(a)))", "?*"},
		{"for ((i=0; i<$(a); i++)); do b; done", "?*"},
		{"x=1; ((x += 2)); echo $((x))", "echo $((x))"},
		{"printf -va[1] x", "?*"},
		{"printf $x y", "?*"},
		{"printf -v x %s y; a $x", "a $x"},
		{"read -a x -p prompt y; a $y", "a $y"},
		{"read -ax y", ""},
		{"mapfile -t x < f", "mapfile -t x"},
		{"getopts ab: o; a $o", "a $o"},
		{"getopts ab: 'a[$(cmd)]'", "?*"},
		{"wait -p 'a[$(cmd)]'", "?*"},
		// Options of the shell, and what declarations do.
		{"set -o pipefail; a", "a"},
		{"set -o posix; a", "?*"},
		{"set $x; a", "?*"},
		{"set -- $x; a $1", "set -- $x ; a $1"},
		{"set +B; a {b,c}", "?*"},
		{"set a b; c $1 $2", "c a b"},
		{"set -- a b; shift; c $1", "c b"},
		{"set -- a b; shift 2; c $1", "c $1"},
		{"command export X=1; a $X", "a $X"},
		{"builtin declare 'a[$(cmd)]=1'", "?*"},
		{"command export $x", "?*"},
		{"builtin export -f f", "?*"},
		{"x=a; x+=b; c $x", "c ab"},
		{"x=(a); x+=(b c); d \"${x[@]}\"", "d a b c"},
		{"x=([0]=a); d \"${x[@]}\"", "d \"${x[@]}\""},
		{"x=($y); d ${x[0]}", "d ${x[0]}"},
		{"x=1; f() { local x=2; a $x; }; f; b $x", "a 2 ; b 1"},
		{"hash -r; a", "a"},
		// Words of rarer kinds.
		{`a $'\a\b\e\f\n\r\t\v\\\'\"\?\z'`, "*"},
		{`a $'\u41\U00000042\103\x'`, "*"},
		{`a $'\cA'`, `a $'\cA'`},
		{`a $'\0'`, `a $'\0'`},
		{"a {5..1..2} {a..e..2} {01..03}", "a {5..1..2} {a..e..2} {01..03}"[:2] + "5 3 1 a c e {01..03}"},
		{"a $\"b\"", "a $\"b\""},
		{"a ~root/x ~nobody/x ~+", "a /root/x ~nobody/x /proj"},
		{"$x", "?$x"},
		{"$(a)", "?a ; $(a)"},
		{"$nothing$(true)", "?*"},
		{"\"\" a", "'' a"},
		// Wrappers of rarer kinds.
		{"env - a", "a"},
		{"env --chdir=/x -u PATH a", "?a"},
		{"env -S \"a 'b c'\"", "?*"},
		{"env A=$x a", "?a"},
		{"env \"A=$x\" B=\"$y\" a", "a"},
		{"env \"$x=1\" a", "?\"$x=1\" a"},
		{"env", "env"},
		{"xargs", "echo {}"},
		{"xargs -i a {} b", "a {} b"},
		{"xargs -l a", "a {}"},
		{"xargs --replace=X a X", "a X"},
		{"xargs --bogus a", "?xargs --bogus a"},
		{"flock 9", "flock 9"},
		{"flock -n /l a b", "a b"},
		{"flock --command 'a' /l", "a ; flock --command 'a' /l"},
		{"flock --bogus /l a", "?*"},
		{"script", "?*"},
		{"script -q /dev/null a b", "a b"},
		{"script --bogus", "?*"},
		{"su", "?*"},
		{"su root", "?*"},
		{"su --bogus", "?*"},
		{"runuser -u me -- a b", "a b"},
		{"busybox", "busybox"},
		{"busybox --list", "busybox --list"},
		{"/lib/ld-linux.so.2 --preload x.so a", "?a"},
		{"/lib/ld-linux.so.2", "/lib/ld-linux.so.2"},
		{"watch $x", "?*"},
		{"doas", "doas"},
		{"sudo -X a", "?*"},
		{"ssh h", "ssh h"},
		{"docker ps", "docker ps"},
		{"docker -H x exec c a", "docker -H x exec c a ; a"},
		{"docker run $x a", "docker run $x a"},
		{"docker compose exec web a", "docker compose exec web a ; a"},
		{"fish", "fish"},
		{"echo a | fish", "?*"},
		{"bash --rcfile x -i", "?*"},
		{"bash -O extglob -c a", "?a ; bash -O extglob -c a"},
		{"bash -s < x", "?*"},
		{"nice -n a", "nice -n a"},
		{"time", ""},
		{"nohup", "nohup"},
		{"timeout 5", "timeout 5"},
		{"exec", ""},
		{"command -v a", ""},
		{"command", ""},
		// Values from outside the line.
		{"$x y", "?$x y"},
		{"$(printf r)m x", "?printf r ; $(printf r)m x"},
		{"/bin/r? x", "?/bin/r? x"},
		{"read T <<< rm; \"$T\" x", "?\"$T\" x"},
		{"for c in a b; do $c; done", "a ; b"},
		{"for c in a *; do $c; done", "?$c"},
		{"bash -c \"$x\"", "?*"},
		{"eval \"$x\"", "?*"},
		{"source ./x", "?source ./x"},
		{". <(a)", "?a ; . <(a)"},
		{"cat x | sh", "?cat x ; sh"},
		{"bash < x", "?bash"},
		{"xargs sh -c", "?sh -c {}"},
		{"trap \"$x\" EXIT", "?*"},
		{"alias x=$y", "?*"},
		{"timeout $x rm y", "?timeout $x rm y ; rm y"},
		{"timeout -- $x rm y", "?timeout -- $x rm y ; rm y"},
		{"timeout 5$x rm y", "?timeout 5$x rm y ; rm y"},
		{`timeout "$x" 5 rm y`, `?timeout "$x" 5 rm y ; 5 rm y`},
		{`timeout "$x" KILL 5 rm y`, `?timeout "$x" KILL 5 rm y ; KILL 5 rm y`},
		{`timeout "$x" kill 5 rm y`, `?timeout "$x" kill 5 rm y ; kill 5 rm y`},
		{`timeout "$x" sigkill 5 rm y`, `?timeout "$x" sigkill 5 rm y ; sigkill 5 rm y`},
		{`timeout "$x" inf rm y`, `?timeout "$x" inf rm y ; inf rm y`},
		{`timeout "$x" "$y" rm z`, `?timeout "$x" "$y" rm z ; "$y" rm z`},
		{`timeout "$x" rm y`, "rm y"},
		{`timeout "$x" ./run y`, "./run y"},
		{`timeout -- "$x" 5 y`, "5 y"},
		{`timeout "5$x" rm y`, "rm y"},
		{`timeout -k "$x" 5 rm y`, "rm y"},
		{"timeout -k $x 5 rm y", "?timeout -k $x 5 rm y ; rm y"},
		{`nice -n "$x" rm y`, "rm y"},
		{"nice -n $x rm y", "?nice -n $x rm y ; rm y"},
		{`stdbuf -o "$x" rm y`, `?stdbuf -o "$x" rm y`},
		{`taskset "$x" add rm y`, `?taskset "$x" add rm y ; add rm y`},
		{`flock "$x" rm y`, `?flock "$x" rm y ; rm y`},
		{`flock "f$x" rm y`, "rm y"},
		{"flock *.lock rm y", "?flock *.lock rm y ; rm y"},
		{`flock "$x"`, `flock "$x"`},
		{"timeout --frobnicate 5 rm y", "?timeout --frobnicate 5 rm y"},
		{"env $x y", "?*"},
		{"a > $x", "?a"},
		{"enable -f x.so y; ls", "?enable -f x.so y ; ls"},
		{"hash -p /x ls; ls", "?hash -p /x ls ; /x ; ls"},
		{"PROMPT_COMMAND=id", "?*"},
		{"while true; do ls; PATH=/x; done", "?*"},
		{"shopt -s extglob", "?*"},
		{"set -k; ls X=1", "?*"},
		{"jobs -x rm x", "?*"},
		{"compgen -C 'rm x'", "?*"},
		{"mapfile -C 'rm x' -c 1 a", "?*"},
		{"env 'BASH_FUNC_ls%%=() { rm x; }' bash -c ls", "?ls"},
		{"ssh -oProxyCommand=id host", "?ssh '-oProxyCommand=id' host"},
		{"at now <<< 'rm x'", "?at now ; rm x"},
		{"fish -c 'rm x'", "?fish -c 'rm x' ; rm x"},
		{"exec {fd}<<'P'\nrm x\nP\nsource /dev/fd/$fd", "?*"},
	}
	for _, tt := range tests {
		a := Analyse(tt.line, system)
		want, spots := strings.CutPrefix(tt.want, "?")
		if got := strings.Join(partTexts(a), " ; "); want != "*" && got != want {
			t.Errorf("%q: parts\n\t%s\nwant\n\t%s", tt.line, got, want)
		}
		if opaque(a) != spots {
			t.Errorf("%q: opaque %v, want %v: %v %v", tt.line, opaque(a), spots, a.Opaque, a.Parts)
		}
	}
}

func TestBlank(t *testing.T) {
	for _, line := range []string{"", " ", "\n\t\n"} {
		if a := Analyse(line, system); len(a.Parts)+len(a.Opaque) > 0 {
			t.Errorf("%q: %+v", line, a)
		}
	}
	if a := Analyse("# only a comment", system); len(a.Parts) != 1 || !a.Parts[0].NoEffect || opaque(a) {
		t.Errorf("a comment: %+v", a)
	}
	// Text that is not blank and yields no command is one opaque part.
	for _, line := range []string{")", "fi", "\x00", "`", "((", "if"} {
		if a := Analyse(line, system); len(a.Parts) != 1 || !opaque(a) {
			t.Errorf("%q: %+v", line, a)
		}
	}
}

func TestNullParts(t *testing.T) {
	null := []string{
		"X=1",
		"export FOO=bar",
		"set -euo pipefail",
		"shopt -s globstar",
		":",
		"true",
		"false",
		"test -f x",
		"[ -f x ]",
		"[[ -f x ]]",
		"((1 < 2))",
		"cd src",
		"cd /proj/a/../b",
		"local x=1",
		"readonly Y=2",
		"unset Z",
		"read -r line",
		"trap - INT",
		"exit 1",
		"umask 022",
		"wait",
		"x=$y",
	}
	for _, line := range null {
		a := Analyse(line, system)
		if len(a.Parts) != 1 || !a.Parts[0].NoEffect || len(a.Parts[0].Access) > 0 {
			t.Errorf("%q is not null: %+v", line, a)
		}
	}
	other := []string{
		"cd /",
		"cd ..",
		"cd ~",
		"cd",
		"cd -",
		"cd $x",
		"cd /projother",
		"PATH=/x",
		"export LD_PRELOAD=x",
		"test -v 'a[$(x)]'",
		"true > x",
		": > Makefile",
		"[[ -f x ]] > y",
		"LD_PRELOAD=x true",
		"X=1 :",
		"IFS=x",
		"export -f f",
		"command_x",
		"./true",
		"/tmp/true",
		"env true",
		"exec true",
		"declare -n r=PATH",
		"((a[$(id)]))",
	}
	for _, line := range other {
		a := Analyse(line, system)
		if !slices.ContainsFunc(a.Parts, func(p cardea.Part) bool { return !p.NoEffect }) {
			t.Errorf("%q is null: %+v", line, a)
		}
	}
	// A function or an alias replaces the name.
	a := Analyse("true() { rm x; }; true", system)
	if got := partTexts(a); !slices.Equal(got, []string{"rm x"}) {
		t.Errorf("a function named true: %v", got)
	}
}
