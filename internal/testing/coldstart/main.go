//go:build unix

// Command coldstart measures how long a cold "cardea check" takes compared with
// /bin/true, and how much memory it uses. The two run in turn, A B A B, so that the
// ratio holds while the machine's speed drifts. It prints figures without a verdict. The
// budgets are in docs/budgets.md.
//
//	go run ./internal/testing/coldstart [-n 200] [-other /bin/true] [-setup rules] [-line typical] [-copied]
//
// The linker writes a program page by page, and the system keeps it that way in memory,
// as it does after a start of the machine. With -copied the programs are copied first,
// as an installer does. The system then maps several pages at once.
//
// With -other plain it compares with the same call in the set-up "rules". The set-up
// "ledger" measures a search of a million entries instead of a call.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"time"

	"cardea.dev/internal/decide/policy/sample"
)

const payload = `{"session_id":"coldstart","transcript_path":"/t.jsonl","cwd":"%s","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"%s"},"tool_use_id":"t"}`

// lines returns the lines to check, by name: a typical line, one that names 8000 files
// of 50 folders, and one of 200 KB.
func lines() map[string]string {
	var many, long strings.Builder
	many.WriteString("rm -f")
	for i := range 8000 {
		fmt.Fprintf(&many, " src/d%d/file%d.o", i%50, i)
	}
	for i := 0; long.Len() < 200_000; i++ {
		fmt.Fprintf(&long, "npm test -- pkg%d && echo done %d; ", i, i)
	}
	return map[string]string{"typical": "cd src && npm test 2>&1 | tee test.log", "paths": many.String(), "long": long.String() + "true"}
}

const settings = "version: 1\non_error: defer\npacks: {web: off}\n"

const rules = `version: 1
rules:
  - id: no-npm-install
    tool: Bash
    match: {command: npm install}
    effect: ask
    message: Use pnpm.
    tests: [{input: {command: npm install x}, expect: ask}, {input: {command: pnpm i}, expect: none}]
`

// main reads the options and runs the measurement.
func main() {
	o := options{}
	flag.IntVar(&o.n, "n", 200, "counted pairs")
	flag.StringVar(&o.other, "other", "/bin/true", "what to compare with; plain: the same call in the set-up rules")
	flag.StringVar(&o.setup, "setup", "rules", "rules: settings and a rules file of the person's; own: as many rules of the person's as -own says; permissions: a list of 1000 entries besides; policies: policies of the person's, of which three are routed; roles: an agent with a role of 40 globs; ledger: a search of a million entries; none: nothing")
	flag.StringVar(&o.line, "line", "typical", "typical, paths (8000 of them) or long (200 KB)")
	flag.IntVar(&o.policies, "policies", 50, "how many policies")
	flag.IntVar(&o.own, "own", 1000, "how many own rules")
	flag.BoolVar(&o.copied, "copied", false, "copy the programs before they are measured")
	flag.Parse()
	if err := o.run(); err != nil {
		fmt.Fprintln(os.Stderr, "coldstart:", err)
		os.Exit(1)
	}
}

// options selects what is measured, and what it is compared with.
type options struct {
	n, policies, own   int
	other, setup, line string
	copied             bool
}

// command is a command that is started repeatedly.
type command struct {
	name, input string
	args, env   []string
}

// run builds the programs, measures both commands in turn, and prints the figures.
func (o options) run() error {
	dir, err := os.MkdirTemp("", "coldstart")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bin, err := o.build(dir)
	if err != nil {
		return err
	}
	check, err := o.command(bin, filepath.Join(dir, "measured"))
	if err != nil {
		return err
	}
	other := command{name: o.other}
	if o.other == "plain" {
		o.setup = "rules"
		if other, err = o.command(bin, filepath.Join(dir, "plain")); err != nil {
			return err
		}
	}
	var a, b, ratios []float64
	var peak int64
	for i := -5; i < o.n; i++ { // five to warm up
		took, rss, err := check.once()
		if err != nil {
			return err
		}
		base, _, err := other.once()
		if err != nil {
			return err
		}
		if i < 0 {
			continue
		}
		a, b, ratios = append(a, ms(took)), append(b, ms(base)), append(ratios, float64(took)/float64(base))
		peak = max(peak, rss)
	}
	fmt.Printf("%d interleaved pairs; min, median, 99 %%, max\n", o.n)
	fmt.Printf("cardea         %s ms\n", spread(a))
	fmt.Printf("%-14s %s ms\n", filepath.Base(o.other), spread(b))
	fmt.Printf("ratio          %s\n", spread(ratios))
	fmt.Printf("resident peak  %.1f MB\n", float64(peak)/1024)
	return nil
}

// build builds the programs in a folder, and returns the one that is measured.
func (o options) build(dir string) (string, error) {
	bin := filepath.Join(dir, "cardea")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", dir, "cardea.dev/cmd/cardea", "cardea.dev/cmd/cardea-engine")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build cardea: %w\n%s", err, out)
	}
	if !o.copied {
		return bin, nil
	}
	return bin, errors.Join(rewrite(bin), rewrite(bin+"-engine"))
}

// rewrite replaces a program by a copy of it. It uses little memory, since the peak of a
// child includes the memory that it had before it became another program.
func rewrite(name string) error {
	from, err := os.Open(name)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(name+".new", os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, 256<<10))
	return errors.Join(err, to.Close(), os.Rename(name+".new", name))
}

// command creates the set-up in a folder, and returns the command that is measured there.
func (o options) command(bin, dir string) (command, error) {
	home, work := filepath.Join(dir, "home"), filepath.Join(dir, "work")
	config := filepath.Join(home, ".config", "cardea")
	files := map[string]string{filepath.Join(work, "src", "x"): "", filepath.Join(home, "x"): ""}
	if o.setup != "none" {
		files[filepath.Join(config, "cardea.yaml")] = settings
		files[filepath.Join(config, "rules", "mine.yaml")] = rules
	}
	switch o.setup {
	case "own":
		files[filepath.Join(config, "rules", "mine.yaml")] = ownRules(o.own)
	case "permissions":
		files[filepath.Join(config, "cardea.yaml")] = settings + "permissions: {expand: true}\n"
		files[filepath.Join(home, ".claude", "settings.json")] = thousand()
	case "roles":
		files[filepath.Join(config, "cardea.yaml")] = settings + "sessions: {default_role: measured}\n"
		files[filepath.Join(config, "roles.yaml")] = fortyGlobs()
	case "policies":
		for name, text := range sample.Files(o.policies) {
			files[filepath.Join(config, "policies", name)] = text
		}
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return command{}, err
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return command{}, err
		}
	}
	text, known := lines()[o.line]
	if !known {
		return command{}, fmt.Errorf("there is no line %q", o.line)
	}
	c := command{name: bin, args: []string{"check", "--harness", "claude-code"}, input: fmt.Sprintf(payload, work, text),
		env: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "CLAUDE_PROJECT_DIR=" + work}}
	if o.setup != "ledger" {
		return c, nil
	}
	if _, _, err := c.once(); err != nil {
		return command{}, err
	}
	c.args, c.input = []string{"audit", "search", "no such text in any entry"}, ""
	return c, million(filepath.Join(home, ".local", "state", "cardea", "ledger"))
}

// ownRules returns a rules file of the user with n rules.
func ownRules(n int) string {
	var b strings.Builder
	b.WriteString("version: 1\nrules:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - {id: rule-%d, tool: Bash, match: {command: program%d sub}, effect: ask, message: Use another one., tests: [{input: {command: program%d sub}, expect: ask}]}\n", i, i, i)
	}
	return b.String()
}

// fortyGlobs returns a role with forty globs.
func fortyGlobs() string {
	var globs []string
	for i := range 20 {
		globs = append(globs, fmt.Sprintf("\"folder%d/**\"", i))
	}
	list := strings.Join(globs, ", ")
	return "version: 1\nroles:\n  measured: {description: x, paths: {allow_write: [\"src/**\", " + list + "], deny_write: [" + list + "], allow_read: [\"**\"]}}\n"
}

// million repeats the last entry of a ledger a million times, over ten earlier days.
// Copies are not genuine, which a search verifies only for the entries that it shows.
func million(dir string) error {
	days, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(days) == 0 {
		return fmt.Errorf("the call left no ledger in %s: %w", dir, err)
	}
	text, err := os.ReadFile(days[len(days)-1])
	if err != nil {
		return err
	}
	day := strings.TrimSuffix(filepath.Base(days[len(days)-1]), ".jsonl")
	line := strings.SplitAfter(string(text), "\n")[0]
	for i := range 10 {
		name := fmt.Sprintf("2020-01-%02d", i+1)
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(strings.Repeat(strings.ReplaceAll(line, day, name), 100_000)), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// thousand returns a settings file of Claude Code with a thousand permissions.
func thousand() string {
	var b strings.Builder
	b.WriteString(`{"permissions": {"deny": ["Bash(rm -rf:*)", "Read(./.env)"], "ask": ["Bash(git push:*)"], "allow": [`)
	for i := range 995 {
		fmt.Fprintf(&b, "\"Bash(program%d sub:*)\", ", i)
	}
	b.WriteString(`"Bash(npm test:*)", "Bash(tee:*)"]}}`)
	return b.String()
}

// once runs the command and returns its wall time and its peak memory in KiB.
func (c command) once() (time.Duration, int64, error) {
	cmd := exec.Command(c.name, c.args...)
	cmd.Env = c.env
	cmd.Stdin = strings.NewReader(c.input)
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(begin)
	if err != nil {
		return 0, 0, fmt.Errorf("run %s: %w\n%s", c.name, err, out)
	}
	rss := int64(0)
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		rss = u.Maxrss
	}
	return took, rss, nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func spread(v []float64) string {
	sort.Float64s(v)
	return fmt.Sprintf("%7.2f %7.2f %7.2f %7.2f", v[0], v[len(v)/2], v[len(v)*99/100], v[len(v)-1])
}
