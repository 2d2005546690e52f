//go:build unix

package permissions_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/command/bash"
	"cardea.dev/internal/harness/permissionlist"
	"cardea.dev/internal/testing/testrun"
)

// The oracle: real bash runs the lines that the lists allow, with recording stubs on its
// PATH. For every program that it starts, an entry must allow that program and its words
// alone.

// stub records its arguments. A record ends with \036.
const stub = "#!/bin/sh\nprintf '%s\037' \"${0##*/}\" \"$@\" '\036' >> \"${0%/*}.log\"\n"

type oracle struct {
	dir  string
	runs int
}

func newOracle(t testing.TB) *oracle {
	t.Helper()
	o := &oracle{dir: t.TempDir()}
	for _, d := range []string{filepath.Dir(o.dir), o.dir} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	bin := filepath.Join(o.dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range programs() {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(stub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"env", "nice", "timeout", "xargs", "nohup", "stdbuf", "bash", "sh", "find"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatalf("the tests need %s: %v", name, err)
		}
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func programs() []string {
	return []string{"a", "b", "c", "npm", "git", "ls", "grep", "touch", "tee", "rm"}
}

// started returns the programs that bash starts for a line.
func (o *oracle) started(t testing.TB, line string) [][]string {
	t.Helper()
	o.runs++
	run := filepath.Join(o.dir, strconv.Itoa(o.runs))
	work := filepath.Join(run, "w")
	if err := os.MkdirAll(work, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(o.dir, "bin"), filepath.Join(run, "bin")); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"f", "g", "x.js"} {
		if err := os.WriteFile(filepath.Join(work, f), []byte("p q\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", `ulimit -t 2; ulimit -f 2000; exec bash -c "$0"`, line)
	cmd.Dir, cmd.Env = work, []string{"PATH=" + filepath.Join(run, "bin"), "HOME=" + work}
	cmd.Stdout, cmd.WaitDelay = new(bytes.Buffer), time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() == 0 {
		const nobody = 65534
		for _, p := range []string{run, work, filepath.Join(work, "f"), filepath.Join(work, "g"), filepath.Join(work, "x.js")} {
			if err := os.Chown(p, nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	_ = cmd.Run() // the line may fail; only its programs matter
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	data, _ := os.ReadFile(filepath.Join(run, "bin.log"))
	if err := os.RemoveAll(run); err != nil {
		t.Fatal(err)
	}
	var out [][]string
	records := strings.Split(string(data), "\037\036\037")
	for _, r := range records[:len(records)-1] {
		out = append(out, strings.Split(r, "\037"))
	}
	return out
}

// unpermitted returns a program that bash started for an allowed line, and that no entry
// allows alone, or "". ran is the number of programs started, -1 if the line is not
// allowed.
func (o *oracle) unpermitted(t testing.TB, s stand, line string) (bad string, ran int) {
	if s.verdict(t, s.bash(line)).Effect != cardea.Allow {
		return "", -1
	}
	all := o.started(t, line)
	for _, argv := range all {
		var words []string
		for _, w := range argv {
			words = append(words, bash.Quote(w))
		}
		text, ok := strings.Join(words, " "), argv[0] == "tee" // it writes like a redirection
		for _, e := range s.entries() {
			ok = ok || e.Effect == cardea.Allow && e.Form != permissionlist.Nothing && e.CommandIs(text)
		}
		if !ok {
			return text, len(all)
		}
	}
	return "", len(all)
}

// maker makes random lists and lines.
type maker struct{ *rand.Rand }

func (m maker) one(of ...string) string { return of[m.IntN(len(of))] }

func (m maker) word() string {
	return m.one("x", "test", "-f", "--all", "'a b'", `"$V"`, "$V", "*.js", "f", "$(a x)", "`b`", "'$(c)'", "{x,y}", "'&&'", `"$(npm test)"`, "~", "$((1+1))", "-rf", "run", ";", "\\;", "'*'")
}

func (m maker) simple() string {
	line := m.one(programs()...)
	for range m.IntN(4) {
		if w := m.word(); w != ";" {
			line += " " + w
		}
	}
	line += m.one("", "", "", "", " > out.log", " 2>&1", " < f", " > f", " >> new.txt 2>&1", " <<< x", " > \"$V\"")
	return m.one("", "", "", "", "FOO=1 ", "NODE_ENV=test ", "PATH=/x ", "V=x ") + line
}

func (m maker) line(depth int) string {
	if depth <= 0 {
		return m.simple()
	}
	sub := func() string { return m.line(depth - 1 - m.IntN(2)) }
	quoted := func() string { return bash.Quote(sub()) }
	switch m.IntN(28) {
	case 0, 1:
		return sub() + " && " + sub()
	case 2:
		return sub() + " || " + sub()
	case 3, 4:
		return sub() + "; " + sub()
	case 5:
		return sub() + " | " + sub()
	case 6:
		return sub() + "\n" + sub()
	case 7:
		return sub() + " & " + sub()
	case 8:
		return "(" + sub() + ")"
	case 9:
		return "{ " + sub() + "; }"
	case 10:
		return "if " + sub() + "; then " + sub() + "; fi"
	case 11:
		return "for " + m.one(
			"i in 1 2",
			"V in 1 2",
			"V in x test",
			"V in x test",
			"V in x 'a b'",
			"V in x -f",
			"V in x *.js",
			"V in x $(a)",
		) + "; do " + m.one("", "", "", "IFS=x; ", "V=$(a); ", "read V; ", "unset V; ") + sub() + "; done"
	case 12:
		return m.one("bash", "sh", "bash -l") + " -c " + quoted()
	case 13:
		return "eval " + quoted()
	case 14:
		return m.one("timeout 5 ", "nice ", "nice -n 5 ", "env ", "env A=b ", "command ", "nohup ", "stdbuf -oL ", "exec ", "time ", "! ", "env -i PATH=$PATH ") + m.simple()
	case 15:
		return "echo " + m.one("x y", "'-f'", "z") + " | xargs " + m.one("", "-n1 ", "-I{} ") + m.simple()
	case 16:
		return "find . -maxdepth 1 -name f -exec " + m.one(programs()...) + " " + m.one("{}", "x {}", "-f {}") + m.one(` \;`, " +")
	case 17:
		return "f() { " + sub() + "; }; " + sub() + "; f"
	case 18:
		return "V=" + m.one("x", "'-f'", "npm", "test", "$(a)", "'a; b'") + "; " + sub()
	case 19:
		return "export V=" + m.one("x", "y") + " && " + sub()
	case 20:
		return m.one(programs()...) + " \"" + "$(" + sub() + ")\""
	case 21:
		return m.one(programs()...) + " <<E\n" + m.one("x", "$(a)", "`b c`") + "\nE\n" + sub()
	case 22:
		return "cd . && " + sub()
	case 23:
		return "alias ls=b; " + sub()
	case 25:
		return m.simple() + " & V=$!; " + m.one("", "", "V=x; ", "read V; ") + "wait $V; " + sub()
	case 26:
		return "for V in " + m.one(". .", ".", ". ..", ". nowhere") + "; do (cd $V && " + sub() + "); done; " + sub()
	case 24:
		return "case x in x) " + sub() + ";; esac"
	}
	return m.simple()
}

func (m maker) list() []string {
	var out []string
	if m.IntN(3) > 0 { // most programs, so that longer lines are also allowed
		for _, p := range programs() {
			if m.IntN(5) > 0 {
				out = append(out, "Bash("+p+":*)")
			}
		}
	}
	for range 1 + m.IntN(8) {
		p := m.one(programs()...)
		out = append(out, "Bash("+m.one(p+":*", p+":*", p+" *", p+"*", p, p+" test", p+" test:*", p+" * x", p+" x *", "* x", p+" -f *", p+" 'a b'", "find:*", "echo:*", "xargs:*")+")")
	}
	return out
}

func (o *oracle) try(t testing.TB, seed uint64) (line string, ran int) {
	m := maker{rand.New(rand.NewPCG(seed, 7))}
	s := stand{allow: m.list()}
	if m.IntN(6) == 0 {
		s.about.Loose = true
	}
	line = m.line(m.IntN(4))
	for _, e := range s.allow {
		if strings.HasPrefix(e, "Bash(xargs") {
			return line, -1 // the entry names a wrapper
		}
	}
	bad, ran := o.unpermitted(t, s, line)
	if bad != "" {
		t.Errorf("seed %d: %q is allowed by %q, and starts %s", seed, line, s.allow, bad)
	}
	return line, ran
}

// TestAllowedLinesStartWhatIsAllowed is the differential test: random lists, random lines.
// CARDEA_PERMISSION_LINES and CARDEA_PERMISSION_SEED make it longer.
func TestAllowedLinesStartWhatIsAllowed(t *testing.T) {
	o := newOracle(t)
	number := func(name string, standard int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return standard
	}
	lines, seed := number("CARDEA_PERMISSION_LINES", testrun.Pick(1000, 3000)), number("CARDEA_PERMISSION_SEED", 1)
	allowed, started := 0, 0
	for i := range lines {
		if _, ran := o.try(t, uint64(seed*1_000_000+i)); ran >= 0 {
			allowed++
			started += ran
		}
	}
	t.Logf("lines: %d, allowed and run: %d, programs started: %d", lines, allowed, started)
	if allowed*10 < lines || started < allowed/2 {
		t.Errorf("of %d lines only %d are allowed, and start %d programs: the test says little", lines, allowed, started)
	}
}

// The oracle must find a program that is not permitted.
func TestTheOracleObjects(t *testing.T) {
	o := newOracle(t)
	s := stand{allow: []string{"Bash(bash -c:*)"}}
	if bad, ran := o.unpermitted(t, s, "bash -c 'a x; b'"); bad != "a x" || ran != 2 {
		t.Errorf("%q, %d", bad, ran)
	}
	if bad, ran := o.unpermitted(t, stand{allow: []string{"Bash(a:*)"}}, "timeout 5 a 'x y' && V=1 a"); bad != "" || ran != 2 {
		t.Errorf("%q, %d", bad, ran)
	}
}

// FuzzAllowed searches for a seed whose line starts a program that no entry allows. Lines
// come only from the grammar, so that they do no harm.
func FuzzAllowed(f *testing.F) {
	for i := range uint64(20) {
		f.Add(i)
	}
	o := newOracle(f)
	f.Fuzz(func(t *testing.T, seed uint64) {
		own := &oracle{dir: o.dir, runs: int(time.Now().UnixNano())}
		own.try(t, seed)
	})
}
