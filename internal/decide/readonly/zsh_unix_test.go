//go:build unix

package readonly_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/decide/noeffect"
	"cardea.dev/internal/harness/call"
	"cardea.dev/internal/testing/testrun"
)

// shells runs lines in bash and in zsh, and compares which programs they start.
type shells struct {
	place
	t   *testing.T
	bin map[string]string // the folder of stubs, by shell
}

// driver is a script that runs each line of a file in a subshell. It reads them from descriptor
// 3, so that no line can read another one.
const driver = `while IFS= read -r -d '' -u 3 __line; do
  ( eval "$__line" ) < /dev/null > /dev/null 2>&1 3<&-
  printf '\035' >> "$1"
done 3< "$2"`

func newShells(t *testing.T) *shells {
	t.Helper()
	s := &shells{place: newPlace(t), t: t, bin: map[string]string{}}
	for _, shell := range []string{"bash", "zsh"} {
		if _, err := exec.LookPath(shell); err != nil {
			t.Fatalf("the tests need %s as an oracle: install it", shell)
		}
		dir := filepath.Join(filepath.Dir(s.home), shell)
		for _, name := range strings.Fields("ls cat git head wc grep stat sort") {
			s.stub(filepath.Join(dir, name), `${0##*/}`, dir+".log")
			s.stub(filepath.Join(s.work(shell), name), `planted $0`, dir+".log") // one in the folder of the work
		}
		for _, name := range []string{"evil", "x", "src/evil", "src/ls"} {
			s.stub(filepath.Join(s.work(shell), name), `planted $0`, dir+".log")
		}
		write(t, s.work(shell)+"/README.md", "x\n")
		write(t, s.work(shell)+"/data.txt", "PATH[$(./evil)]\n")
		s.bin[shell] = dir
	}
	return s
}

// work returns the folder in which the lines run.
func (s *shells) work(shell string) string { return filepath.Join(filepath.Dir(s.home), "in-"+shell) }

func (s *shells) stub(file, name, log string) {
	write(s.t, file, "#!/bin/sh\nprintf '%s\\037' \""+name+"\" \"$@\" '\\036' >> "+log+"\n")
	if err := os.Chmod(file, 0o755); err != nil {
		s.t.Fatal(err)
	}
}

// started returns the programs that each line started, one text for each.
func (s *shells) started(shell string, lines []string) []string {
	s.t.Helper()
	file, log := s.bin[shell]+".lines", s.bin[shell]+".log"
	write(s.t, file, strings.Join(lines, "\x00")+"\x00")
	write(s.t, log, "")
	args := []string{"-c", driver, "x", log, file}
	if shell == "zsh" {
		args = append([]string{"-f"}, args...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(len(lines))*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, shell, args...)
	cmd.Dir, cmd.Env = s.work(shell), []string{"PATH=" + s.bin[shell], "HOME=" + s.home}
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v: %s", shell, err, out)
	}
	data, err := os.ReadFile(log)
	if err != nil {
		s.t.Fatal(err)
	}
	list := strings.Split(strings.ReplaceAll(string(data), s.work(shell), "/w"), "\x1d")
	if len(list) != len(lines)+1 {
		s.t.Fatalf("%s ran %d lines of %d", shell, len(list)-1, len(lines))
	}
	return list[:len(lines)]
}

// allowed returns the parts of a line that the built-in deciders allow, nil for another
// line.
func (s *shells) allowed(line string) []cardea.Part {
	system := knowledge.System{Home: s.home, Roots: []string{s.project}, IsDir: func(p string) bool { info, err := os.Stat(p); return err == nil && info.IsDir() }}
	ev := call.Analyse(&cardea.Event{Harness: "claude-code", Kind: cardea.PreToolUse, Cwd: s.project, Project: s.project,
		Call: &cardea.Call{Tool: "Bash", Known: true, Input: map[string]any{"command": line}}}, system)
	nothing, _ := noeffect.New().Decide(context.Background(), ev)
	for i := range ev.Call.Parts {
		if !slices.ContainsFunc(nothing, func(o cardea.Opinion) bool { return o.Part == i }) && s.decider().Refusal(ev, i) != "" {
			return nil
		}
	}
	if len(ev.Call.Opaque) > 0 {
		return nil
	}
	return ev.Call.Parts
}

// compare runs the allowed lines in both shells, and returns their number. Each program
// that zsh starts, with its words, must be one that bash starts. If a command fails in one
// shell only, the programs after it must be parts of the line.
func (s *shells) compare(lines []string) int {
	s.t.Helper()
	lines = slices.DeleteFunc(lines, func(line string) bool { return len(s.allowed(line)) == 0 })
	for batch := range slices.Chunk(lines, 500) {
		bash, zsh := s.started("bash", batch), s.started("zsh", batch)
		for i, line := range batch {
			inBash := records(bash[i])
			for _, started := range records(zsh[i]) {
				if !slices.Contains(inBash, started) && !slices.ContainsFunc(s.allowed(line), func(p cardea.Part) bool { return p.Text == started }) {
					s.t.Errorf("%q is allowed; zsh starts %q, bash %q", line, started, inBash)
				}
			}
		}
	}
	return len(lines)
}

// records returns the programs that a line started, each with its words.
func records(text string) []string {
	var out []string
	for record := range strings.SplitSeq(text, "\x1f\\036\x1f") {
		if record != "" {
			out = append(out, strings.ReplaceAll(record, "\x1f", " "))
		}
	}
	return out
}

// setting are the constructs that set a variable N to V.
var setting = strings.Split(`N=V
N=(V)
N+=(V)
N+=V
N[1]=V
N[ls]=V
export N=V
declare N=V
typeset N=V
typeset -a N=(V)
typeset -g N=V
typeset -i N=1
typeset -T X N; X=V
typeset -U N=V
local N=V
readonly N=V
declare -A N=([ls]=V)
read N <<< V
read -r x N <<< "a V"
read -A N <<< V
read -a N <<< V
for N in V; do :; done
for N in V; do P; done
while read N; do P; done <<< V
printf -v N V
printf -v N %s V
printf -vN V
select N in V; do break; done <<< 1
getopts a N
mapfile N <<< V
readarray -t N <<< V
: ${N:=V}
: ${N=V}
((N=1))
let N=1
unset N
f() { local N=V; P; }; f
f() { N=V; }; f
if true; then N=V; fi
true && N=V
{ N=V; }
case x in *) N=V;; esac
N=V :
N=V P
eval "N=V"
exec {N}</dev/null
set -A N V
alias N=V
alias -g N=V; eval P
x=N; export $x=V
[ x == N ]
wait -p N`, "\n")

// lines returns lines that set a variable, special in zsh or not, and then start a program.
func (s *shells) lines(seed uint64, n int) []string {
	s.t.Helper()
	out, err := exec.Command("zsh", "-f", "-c", "zmodload zsh/parameter; print -l ${(k)parameters}").Output()
	if err != nil {
		s.t.Fatal(err)
	}
	names := slices.DeleteFunc(strings.Fields(string(out)), func(name string) bool { return strings.Trim(name, "!#$*?@-0_") == "" })
	ours := strings.Fields("x y dir file files name result out i n line chpwd_functions precmd_functions ls LS_COLORS GREP_COLOR FOO")
	values := []string{".", "./evil", "src", "x", "1", "/", "'$(./evil)'", "'a[$(./evil)]'", "README.md", "'a b'"}
	programs := []string{
		"ls",
		"cat README.md",
		"< README.md",
		"cd src; ls",
		"git status",
		"head -1 README.md",
		"echo \"$N\"; ls",
		"command ls",
		`\ls`,
		"wc -l < README.md",
		"eval ls",
		"ls | grep x",
		"cat <<< y",
		"ls \"$N\"",
		"(cd src && ls)",
		"ls -l N",
	}
	r := rand.New(rand.NewPCG(seed, 1))
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	lines := make([]string, n)
	for i := range lines {
		name := pick(names)
		if i%2 == 0 {
			name = pick(ours)
		}
		program := pick(programs)
		line := pick(setting) + pick([]string{"; ", "\n", " && "}) + program
		lines[i] = strings.NewReplacer("N", name, "V", pick(values), "P", program).Replace(line)
	}
	for _, name := range strings.Fields("path commands aliases functions READNULLCMD NULLCMD") { // which make zsh start another program
		for _, set := range setting {
			value := "./evil"
			if name == "path" {
				value = "."
			}
			for _, program := range []string{"ls", "< README.md"} {
				lines = append(lines, strings.NewReplacer("N", name, "V", value, "P", program).Replace(set)+"; "+program)
			}
		}
	}
	return lines
}

// differing are constructs that zsh may read differently. The words in capital letters are
// replaced: PARAM reads the variable NAME, VALUE may be a number, FORMAT is for printf.
var differing = strings.Split(`printf FORMAT VALUE
printf 'x FORMAT\n' VALUE
printf '%s FORMAT\n' a VALUE b VALUE
printf '%*d' VALUE 1
printf -- FORMAT "$(< data.txt)"
command printf FORMAT VALUE
while read -r n; do printf 'FORMAT\n' "$n"; done < data.txt
NAME=VALUE; printf FORMAT "$NAME"
f() { printf FORMAT "$1"; }; f VALUE
for i in VALUE 2; do printf FORMAT $i; done
LEAVE VALUE
LEAVE "$(< data.txt)"
read -r n < data.txt; LEAVE "$n"
LEAVE $?
LEAVE 1
NAME=VALUE; LEAVE "$NAME"
f() { return VALUE; }; f
f() { return "$1"; }; f VALUE
for i in 1 2; do break VALUE; done
for i in 1 2; do continue $(< data.txt); done
test -t VALUE
[ ! -t VALUE ]
[ a = a -a -t VALUE ]
[[ -t VALUE ]]
[[ ! -t $(< data.txt) ]]
read -r o < data.txt; y=VALUE; [ "$o" y ]
[ VALUE -eq 1 ]
read -t VALUE x <<< 1
read -rt VALUE x <<< 1
read -n VALUE x <<< 1
read -d VALUE x <<< 1
read -p VALUE x <<< 1
coproc ls; read -p VALUE x
read -u VALUE x <<< 1
umask VALUE
wait VALUE
NAME=FILE; cat PARAM
NAME=FILE; cat "PARAM"
NAME=FILE; cat ./PARAM
NAME=FILE; cat -- "a PARAM"
NAME=FILE; x="PARAM"; cat "$x"
NAME=FILE; x=PARAM; cat "$x"
NAME=FILE; for i in PARAM; do cat "$i"; done
NAME=FILE; case PARAM in .env) cat .env;; *) ls;; esac
NAME=FILE; [[ PARAM == .env ]] && cat .env
NAME=FILE; cat $(echo PARAM)
set -- FILE b c; cat PARAM
set -- a b; cat "$1PARAM"
NAME=(FILE README.md); cat PARAM
NAME=(README.md FILE); cat "PARAM"
NAME=(README.md FILE); x=PARAM; cat "$x"
NAME=(README.md FILE); for i in PARAM; do cat "$i"; done
NAME=(README.md); NAME+=(FILE); cat PARAM
NAME=(ls FILE); PARAM
NAME=(FILE ls); PARAM
NAME=(README.md FILE); cat "${NAME[@]}"
NAME=/etc; ls ~NAME
NAME=/etc; cat ~NAME/shadow
y=/etc; NAME=y; ls ~$NAME
cd src; ls ~-
ls ~1/x ~+1
cat README.md "${path[99]}"
ls $aliases[x] $path
echo 'README.md\n.env' | while read -r f; do cat "$f"; done
cat $(echo 'README.md\n.env')
for i in $(echo 'a\tFILE'); do cat "$i"; done
x=$(echo 'a\n.env'); cat "$x"`, "\n")

// parameters are ways to read a variable NAME, of which zsh knows some that bash does not.
var parameters = strings.Fields(`$NAME ${NAME} $NAME[1] $NAME[2,4] $NAME[$NAME] $NAME[i] ${NAME[1]} ${NAME[0]} ${NAME[-1]} $NAME[VALUE]
	$=NAME $==NAME $^NAME $~NAME $+NAME $#NAME ${#NAME} $#NAME[1] $^^NAME $=~NAME $={NAME} ${=NAME} ${~NAME} ${^NAME} ${(e)NAME}
	$NAME:h $NAME:t $NAME:r $NAME:e $NAME:l $NAME:u $NAME:s/c/e/ $NAME:gs/c/e/ $NAME:fh $NAME:A $NAME:x $NAME:/x $NAME:$NAME ${NAME}:h
	${NAME}[1] ${NAME:h} ${NAME:t} ${NAME:l} ${NAME:0:3} ${NAME:1} ${NAME%.*} ${NAME##*/} ${NAME:-x} ${NAME/c/e} $@ $@[1] $*[1] $1 $1[2]
	$10 $#1 $#@ $?[1] $$NAME`)

// others returns lines that read parameters, and numbers.
func others(seed uint64, n int) []string {
	r := rand.New(rand.NewPCG(seed, 2))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	lines := make([]string, n)
	for i := range lines {
		line := strings.ReplaceAll(pick(differing...), "PARAM", pick(parameters...))
		lines[i] = strings.NewReplacer("NAME", pick("x", "y", "a", "files"),
			"VALUE", pick("1", "'PATH[$(./evil)]'", "PATH", "'a[$(./evil)]'", "-1", "$x", "'1+1'"),
			"FORMAT", pick("%d", "%x", "%5.1f", "%s", "%c", "%i", "%b", "%1\\$d", "%%"),
			"LEAVE", pick("exit", "return", "shift", "logout", "builtin exit", "command shift"),
			"FILE", pick(".env", "README.md", ".cnv", "a/.env", ".env/y", ".ENV", "src", "./evil")).Replace(line)
	}
	return lines
}

// An allowed line starts the same programs with the same words in bash and in zsh.
func TestZshStartsTheSame(t *testing.T) {
	s := newShells(t)
	lines := append(s.lines(1, testrun.Pick(600, 20_000)), others(1, testrun.Pick(1500, 20_000))...)
	begin := time.Now()
	n := s.compare(lines)
	t.Logf("%d of %d lines are allowed, compared in %v", n, len(lines), time.Since(begin).Round(time.Millisecond))
	if n < len(lines)/20 {
		t.Errorf("%d of %d lines are allowed", n, len(lines))
	}
	if got := fmt.Sprint(s.started("zsh", []string{"ls a; path=.; ls b"})); !strings.Contains(got, "planted ls") {
		t.Errorf("the oracle does not see a program in the folder: %q", got)
	}
}
