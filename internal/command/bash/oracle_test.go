package bash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/testing/testrun"
)

// oracle runs lines in real bash and compares the result with the analysis. Each run has
// a folder of its own, dir/N. In it, bin is a link to the stubs, bin.log is their
// record, and w is the folder in which the line runs.
type oracle struct {
	dir, bin string
	known    map[string]bool // the programs that a run can find
	folders  atomic.Int64
	runs     atomic.Int64
	started  atomic.Int64 // programs seen to start
	written  atomic.Int64 // files seen to be written
	certain  atomic.Int64 // parts that must have been started
	missing  atomic.Int64 // those among them that were not
}

// stubs returns the programs that lines may start. They record their words; cat also
// does its work.
func stubs() []string {
	return []string{"a", "b", "c", "d", "e", "rm", "ls", "npm", "git", "id", "cmd", "x", "y", "touch"}
}

// truths returns the wrappers that really run.
func truths() []string {
	return []string{"env", "nice", "timeout", "xargs", "nohup", "setsid", "stdbuf", "bash", "sh", "find"}
}

// record is a stub's text. A record ends with \036, so that one that the time limit cuts
// short is ignored.
const record = "#!/bin/sh\nprintf '%s\037' \"${0##*/}\" \"$@\" '\036' >> \"${0%/*}.log\"\n"

func newOracle(t testing.TB) *oracle {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal("the tests need bash 5.1 or newer as an oracle: install bash")
	}
	out, err := exec.Command(bash, "-c", `echo $((BASH_VERSINFO[0]*100+BASH_VERSINFO[1]))`).Output()
	if n, _ := strconv.Atoi(strings.TrimSpace(string(out))); err != nil || n < 501 {
		t.Fatalf("the tests need bash 5.1 or newer as an oracle, found %s (%v)", out, err)
	}
	o := &oracle{dir: t.TempDir(), known: map[string]bool{}}
	if unprivileged() {
		if err := os.Chmod(filepath.Dir(o.dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	o.bin = filepath.Join(o.dir, "bin")
	if err := os.Mkdir(o.bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, s := range stubs() {
		o.stub(t, s, record)
	}
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Fatal(err)
	}
	o.stub(t, "cat", record+"exec "+cat+" \"$@\"\n")
	for _, s := range truths() {
		path, err := exec.LookPath(s)
		if err != nil {
			t.Fatalf("the oracle needs %s: %v", s, err)
		}
		if err := os.Symlink(path, filepath.Join(o.bin, s)); err != nil {
			t.Fatal(err)
		}
		o.known[s] = true
	}
	return o
}

// stub adds a program that lines may start.
func (o *oracle) stub(t testing.TB, name, text string) {
	if err := os.WriteFile(filepath.Join(o.bin, name), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	o.known[name] = true
}

// before returns the files in the folder of a run. They are old, so that a change shows.
func before() map[string]string {
	return map[string]string{"w/f": "p q\n", "w/g": "1\n", "w/h": "a\n", "w/sub/f": "p\n", "w/sub/deep/f": "p\n", "f": "p\n"}
}

// oracleWorlds returns the systems in which each line of a run is analyzed. One knows
// its folders. In the other one the result of a cd is unknown.
func oracleWorlds(run string) []Env {
	work := run + "/w"
	isDir := func(p string) bool {
		return p == "/" || p == "/dev" || strings.HasPrefix(work+"/", p+"/") || p == work+"/sub" || p == work+"/sub/deep"
	}
	return []Env{{Cwd: work, System: knowledge.System{Home: work, Roots: []string{work}, IsDir: isDir}}, {Cwd: work, System: knowledge.System{Home: work, Roots: []string{work}}}}
}

// nowhereToRun is a folder for lines that do not run.
const nowhereToRun = "/r"

// limited starts bash with limits of processor time and file size, and of processes if
// it runs as a user of its own.
const limited = `ulimit -t 2; ulimit -f 20000; [ -z "$1" ] || ulimit -u 500 2>/dev/null || ulimit -p 500; exec bash -c "$0"`

// observed holds the effects of a line in real bash.
type observed struct {
	started [][]string
	files   []string // written
	late    bool     // the time limit ended the line
}

// folder names a fresh folder for a run.
func (o *oracle) folder() string { return filepath.Join(o.dir, fmt.Sprint(o.folders.Add(1))) }

// run returns what bash did with a line, in a fresh folder.
func (o *oracle) run(t testing.TB, run, line string) observed {
	t.Helper()
	o.runs.Add(1)
	work := filepath.Join(run, "w")
	err := errors.Join(os.MkdirAll(filepath.Join(work, "sub", "deep"), 0o777), os.Symlink(o.bin, filepath.Join(run, "bin")))
	old := time.Unix(1e9, 0)
	for name, text := range before() {
		file := filepath.Join(run, name)
		err = errors.Join(err, os.WriteFile(file, []byte(text), 0o666), os.Chtimes(file, old, old))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	root := ""
	if unprivileged() {
		root = "root"
		for _, name := range []string{"", "w", "w/sub", "w/sub/deep", "w/f", "w/g", "w/h", "w/sub/f", "w/sub/deep/f", "f"} {
			err = errors.Join(err, os.Chown(filepath.Join(run, name), nobody, nobody))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(run)
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", limited, line, root)
	cmd.Dir = work
	cmd.Env = []string{"PATH=" + filepath.Join(run, "bin"), "HOME=" + work, "FUNCNEST=40"}
	cmd.Stdout = new(bytes.Buffer) // waits for background processes
	cmd.WaitDelay = time.Second
	own(cmd)
	_ = cmd.Run() // the line may fail; what it started still applies
	end(cmd)
	seen := observed{late: ctx.Err() != nil}
	_ = filepath.WalkDir(run, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || path == filepath.Join(run, "bin.log") {
			return nil
		}
		name, _ := filepath.Rel(run, path)
		if info, err := d.Info(); err != nil || before()[name] != "" && info.ModTime().Equal(old) {
			return nil
		}
		seen.files = append(seen.files, path)
		return nil
	})
	data, _ := os.ReadFile(filepath.Join(run, "bin.log"))
	records := strings.Split(string(data), "\037\036\037")
	for _, rec := range records[:len(records)-1] {
		seen.started = append(seen.started, strings.Split(rec, "\037"))
	}
	o.started.Add(int64(len(seen.started)))
	o.written.Add(int64(len(seen.files)))
	return seen
}

// unsound returns a started program or a written file that no part covers, or "".
func (o *oracle) unsound(t testing.TB, line string) string {
	var judged []Analysis
	run := o.folder()
	for _, env := range oracleWorlds(run) {
		if a := Analyse(line, env); !hides(a) {
			judged = append(judged, a)
		}
	}
	if len(judged) == 0 {
		return ""
	}
	seen := o.run(t, run, line)
	for i, a := range judged {
		if why := accountsFor(a, seen); why != "" {
			return why
		}
		if i == 0 {
			o.count(a, seen)
		}
	}
	return ""
}

// accountsFor returns what of a run an analysis does not show, or "".
func accountsFor(a Analysis, seen observed) string {
	for _, argv := range seen.started {
		if !slices.ContainsFunc(a.Parts, func(p cardea.Part) bool { return accounts(p, argv) }) {
			return fmt.Sprintf("bash started %q, the parts are %q", argv, partTexts(a))
		}
	}
	for _, name := range seen.files {
		if !opaque(a) && !slices.ContainsFunc(a.Parts, func(p cardea.Part) bool { return writes(p, name) }) {
			return fmt.Sprintf("%q was written, the accesses are %+v", name, accesses(a))
		}
	}
	return ""
}

// hides reports whether an analysis has a spot that may cover a program. A redirection
// to an unknown file covers none.
func hides(a Analysis) bool {
	return slices.ContainsFunc(spots(a), func(o cardea.Opaque) bool { return o.Code != cardea.OpaqueRedirection })
}

// writes reports whether a part writes the named file, or an unknown file.
func writes(p cardea.Part, name string) bool {
	return slices.ContainsFunc(p.Access, func(a cardea.Access) bool {
		return a.Kind != cardea.Read && (a.Path == "" || a.Path == name || a.Glob && strings.HasPrefix(name, a.Path))
	})
}

func accesses(a Analysis) []cardea.Access {
	var out []cardea.Access
	for _, p := range a.Parts {
		out = append(out, p.Access...)
	}
	return out
}

// accounts reports whether a part covers a started program. Static words are passed as
// they are. A word that may split stands for any number of words, any other for one,
// which begins with a dash only if the part allows it.
func accounts(p cardea.Part, argv []string) bool {
	var match func(words []cardea.Word, args []string) bool
	match = func(words []cardea.Word, args []string) bool {
		if len(words) == 0 {
			return len(args) == 0
		}
		w := words[0]
		switch {
		case w.MaySplit:
			for n := 0; n <= len(args); n++ {
				if match(words[1:], args[n:]) {
					return true
				}
				if n < len(args) && strings.HasPrefix(args[n], "-") && !w.MayBeOption && !strings.HasPrefix(w.Text, "-") {
					return false
				}
			}
			return false
		case len(args) == 0:
			return false
		case w.Static && w.Text != args[0], !w.Static && !w.MayBeOption && strings.HasPrefix(args[0], "-") && !strings.HasPrefix(w.Text, "-"):
			return false
		}
		return match(words[1:], args[1:])
	}
	if len(p.Argv) == 0 || !p.Argv[0].Static {
		return false
	}
	words := append([]cardea.Word(nil), p.Argv...)
	words[0].Text = filepath.Base(words[0].Text)
	return match(words, argv)
}

// count records which parts had to be started and were not: those that depend only on
// their position in the line. Lines that stop early have some.
func (o *oracle) count(a Analysis, seen observed) {
	if opaque(a) || seen.late {
		return
	}
	for _, p := range a.Parts {
		if p.NoEffect || len(p.Argv) == 0 || len(p.Access) > 0 && p.Access[0].Redirect || !slices.Contains(stubs(), p.Argv[0].Text) ||
			slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return !w.Static }) ||
			slices.ContainsFunc(p.Via, func(v string) bool { return !slices.Contains([]string{"{ }", "( )", "|", "|&", "eval"}, v) }) {
			continue
		}
		o.certain.Add(1)
		if !slices.ContainsFunc(seen.started, func(argv []string) bool { return accounts(p, argv) }) {
			o.missing.Add(1)
		}
	}
}

// wild matches lines that are not run, since they could reach things outside of the
// test: processes, the network, files of the machine. It includes start-up files, which
// belong to the user and by decision are not followed.
var wild = regexp.MustCompile(
	`sh\s+(-\S+\s+)*-\w*[li]|--login|kill|/dev/(tcp|udp)|delete|fls|fprint|-ok|enable|disown|suspend|PATH|\.\./\.\.|[^\w.'"]/(bin|sbin|usr|lib|lib64|proc|sys|etc|tmp|run|var|root|home|opt|srv|mnt)`,
)

// linesOf returns the lines of cases.
func linesOf(cases []testrun.Case) []string {
	var out []string
	for _, c := range cases {
		out = append(out, c.Text())
	}
	return out
}

// compareCases compares the lines of a table, and reports the position of an unsound one.
func (o *oracle) compareCases(t *testing.T, cases []testrun.Case) {
	t.Helper()
	o.compareNamed(t, linesOf(cases), func(i int) string { return cases[i].At() + ": " })
}

// compare compares lines without a position.
func (o *oracle) compare(t *testing.T, lines []string) {
	t.Helper()
	o.compareNamed(t, lines, func(int) string { return "" })
}

// compareNamed runs lines on every processor, and reports unsound ones with a
// shorter line that is also unsound.
func (o *oracle) compareNamed(t *testing.T, lines []string, name func(i int) string) {
	t.Helper()
	var next, told atomic.Int64
	var wait sync.WaitGroup
	for range jobs() {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for {
				i := int(next.Add(1)) - 1
				if i >= len(lines) || told.Load() > 40 {
					return
				}
				if o.unsound(t, lines[i]) == "" {
					continue
				}
				why := o.unsound(t, lines[i]) // a line that was late once runs again
				if why == "" {
					continue
				}
				told.Add(1)
				if short := o.shrink(t, lines[i]); short != lines[i] {
					why = fmt.Sprintf("%s\n\tshorter: %q: %s", why, short, o.unsound(t, short))
				}
				t.Errorf("%s%q: %s", name(i), lines[i], why)
			}
		}()
	}
	wait.Wait()
}

// shrink cuts pieces out of an unsound line as long as it stays unsound.
func (o *oracle) shrink(t testing.TB, line string) string {
	tries := 300
	for size := len(line) / 2; size > 0; size /= 2 {
		for from := 0; from+size <= len(line) && tries > 0; {
			shorter := line[:from] + line[from+size:]
			if tries--; !wild.MatchString(shorter) && o.unsound(t, shorter) != "" {
				line = shorter
			} else {
				from += size
			}
		}
	}
	return line
}

// tell logs the numbers of a comparison.
func (o *oracle) tell(t *testing.T, lines int, begin time.Time) {
	took := time.Since(begin)
	runs := o.runs.Load()
	t.Logf("%d lines in %v: %d runs of bash (%.0f a second), %d programs started, %d files written; of %d parts that had to start, %d did not",
		lines, took.Round(time.Second), runs, float64(runs)/took.Seconds(), o.started.Load(), o.written.Load(), o.certain.Load(), o.missing.Load())
}

// jobs returns the number of lines that run at a time.
func jobs() int {
	if n, err := strconv.Atoi(os.Getenv("CARDEA_ORACLE_JOBS")); err == nil && n > 0 {
		return n
	}
	return 2
}

// TestOracleRecords checks that the oracle records the programs that bash starts, with
// their words, and the files that it writes.
func TestOracleRecords(t *testing.T) {
	o := newOracle(t)
	run := o.folder()
	seen := o.run(t, run, "a 'p q' $'x\\ny'; : > new; : >> f; cd sub; b \"$PWD\" > g; exec 3<>f")
	want := [][]string{{"a", "p q", "x\ny"}, {"b", run + "/w/sub"}}
	if !slices.EqualFunc(seen.started, want, slices.Equal[[]string]) {
		t.Errorf("started %q", seen.started)
	}
	if want := []string{run + "/w/new", run + "/w/sub/g"}; !slices.Equal(seen.files, want) {
		t.Errorf("written %q", seen.files)
	}
	for _, test := range []struct {
		line string
		a    Analysis
	}{
		{"a p", Analysis{Parts: []cardea.Part{{ShellFacts: cardea.ShellFacts{Argv: []cardea.Word{{Text: "a", Static: true}, {Text: "q", Static: true}}}}}}},
		{"a p", Analysis{Parts: []cardea.Part{{ShellFacts: cardea.ShellFacts{Argv: []cardea.Word{{Text: "a", Static: true}}}}}}},
		{"a -p", Analysis{Parts: []cardea.Part{{ShellFacts: cardea.ShellFacts{Argv: []cardea.Word{{Text: "a", Static: true}, {MaySplit: true}}}}}}},
		{": > f", Analysis{Parts: []cardea.Part{{CommandFacts: cardea.CommandFacts{Access: []cardea.Access{{Kind: cardea.Write, Path: nowhereToRun + "/w/g"}}}}}}},
	} {
		if accountsFor(test.a, o.run(t, o.folder(), test.line)) == "" {
			t.Errorf("%q: %+v is accepted", test.line, test.a)
		}
	}
}
