package main

import (
	"math/rand/v2"
	"strings"
	"testing"

	"cardea.dev/internal/testrun"
)

// codePlaces are lines in which {C} runs although the line does not start it. {P} stands for what
// the shell expands: $({C}) or `{C}`.
var codePlaces = strings.Split(`trap "{C}" EXIT
trap -- '{C}' DEBUG; ls
trap "{C}" ERR; false
trap "{C}" INT TERM
t="{C}"; trap "$t" 0
t="{C}"; trap '$t' RETURN
builtin trap '{C}' EXIT
mapfile -t -c1 -C "{C} #" <<< x
mapfile -C"{C}" a <<< x
readarray -c 1 -C '{C}' a <<< x
compgen -C '{C}'
compgen -C"{C}" x
compgen -W '{P}'
complete -C "{C}" foo
complete -W '{P}' foo
bind -x '"\C-g": {C}'
history -s "{C}"; fc -s
history -s {C}; fc -s
fc -e "{C}"
jobs -x {C}
x='a[{P}]'; (( x ))
x='a[{P}]'; echo $(( x + 1 ))
x='a[{P}]'; let x
x='a[{P}]'; [[ $x -gt 0 ]]
x='a[{P}]'; test -v "$x"
x='a[{P}]'; read "$x" <<< 1
x='a[{P}]'; printf -v "$x" 1
x='a[{P}]'; y=x; echo "${z[y]}"
x='a[{P}]'; unset "$x"
declare -i y='a[{P}]'
declare -i y; x='a[{P}]'; y=x
unset 'a[{P}]'
test -v 'a[{P}]'
wait -p 'a[{P}]' 1
x='{P}'; echo "${x@P}"
a=('{P}'); echo "${a[@]@P}"
PS4='{P}'; set -x; ls
export PS4='{P}'; bash -xc ls
PS1='{P}' bash --norc -i
PROMPT_COMMAND='{C}' bash -i
BASH_ENV='{P}' bash -c ls
EDITOR="{C}" git commit
export VISUAL="{C}"; git commit
env GIT_EDITOR="{C}" git commit
PAGER='{C}' git log
typeset -x GIT_PAGER='{C}'; git log
MANPAGER='{C}' man ls
LESSOPEN='|{C}' less f
FCEDIT='{C}' fc
x[0]=1 {C}
x=(1) {C}`, "\n")

// otherNames are commands that do what a list denies.
var otherNames = strings.Split(`git-push origin main
/usr/lib/git-core/git-push
/usr/libexec/git-core/git push --all
git send-pack origin main
git subtree push --prefix=src origin main
git lfs push origin main
git http-push https://x.example
git svn dcommit
git.exe push
hub push origin
jj git push
busybox rm -rf x
toybox rm -rf x
grm -rf x
git config alias.p push && git p
git config --global alias.p 'push --all' && git -C . p origin
git config alias.a push && git config alias.b a && git b
git -c alias.p=push p
git -c alias.p='!git push' p
perl -pe 1 'git push|'
perl -wne 1 '|git push'
perl -e 'open F,"git push|"'
perl -e 'open(my $f, "cat .env |")'
ruby -e 'open("|git push").read'
ruby -ne 1 '|cat .env'`, "\n")

// around are lines around a line.
var around = []string{"{L}", "ls; {L}", "cd src && {L}", "{ {L}; }", "( {L} )", "if true; then {L}; fi", "for i in 1 2; do {L}; done", "f() { {L}; }; f", "true && {L}", "{L}\nls",
	"{L} 2>/dev/null", "x=1\n{L}", "case a in a) {L};; esac", "while read l; do {L}; done < README.md"}

// TestGeneratedDenies puts what is denied into places that run it, gives it other names, and puts
// lines around both. In a place, a harmless command is not stopped because of the place.
func TestGeneratedDenies(t *testing.T) {
	w := newWall(t, `"Bash(git push:*)","Bash(rm -rf:*)","Read(.env)"`)
	denied := []string{"git push", "git push --force origin main", "rm -rf x", "cat .env", "cat ./.env", "/usr/bin/git push", "command git push", "git -C . push", "ls; git push"}
	harmless := []string{"git status", "ls -la", "cat README.md", "git log -1"}
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	for i := range testrun.Pick(300, 6_000) {
		if i%4 == 0 {
			if line := strings.ReplaceAll(pick(around), "{L}", pick(otherNames)); !shut(w.here([]string{"try", "--json", "--", line})) {
				t.Errorf("not stopped: %q", line)
			}
			continue
		}
		place, around, expands := pick(codePlaces), pick(around), pick([]string{"$({C})", "`{C}`"})
		put := func(command string) string {
			return strings.ReplaceAll(around, "{L}", strings.NewReplacer("{P}", strings.ReplaceAll(expands, "{C}", command), "{C}", command).Replace(place))
		}
		if line := put(pick(denied)); !shut(w.here([]string{"try", "--json", "--", line})) {
			t.Errorf("not stopped: %q", line)
		}
		if line := put(pick(harmless)); i%10 == 0 && shut(w.here([]string{"try", "--json", "--", line})) && !shut(w.here([]string{"try", "--json", "--", put("true")})) {
			t.Errorf("stopped: %q", line)
		}
	}
}
