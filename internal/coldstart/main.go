//go:build unix

// Command coldstart measures how long a cold "cardea check" takes compared with
// /bin/true, and how much memory it uses. The two run in turn, A B A B, so
// that the ratio holds while the machine's speed drifts. It prints figures and
// judges nothing; the budgets are in docs/budgets.md.
//
//	go run ./internal/coldstart [-n 200] [-other /bin/true] [-setup rules|permissions|none]
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"time"

	"cardea.dev/internal/decide/policy/sample"
)

const payload = `{"session_id":"coldstart","transcript_path":"/t.jsonl","cwd":"%s","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"cd src && npm test 2>&1 | tee test.log"},"tool_use_id":"t"}`

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

func main() {
	n := flag.Int("n", 200, "counted pairs")
	other := flag.String("other", "/bin/true", "what to compare with")
	setup := flag.String("setup", "rules", "rules: settings and a rules file of the person's; permissions: a list of 1000 entries besides; policies: policies of the person's, of which three are routed; none: nothing")
	policies := flag.Int("policies", 50, "how many policies")
	flag.Parse()
	if err := run(*n, *other, *setup, *policies); err != nil {
		fmt.Fprintln(os.Stderr, "coldstart:", err)
		os.Exit(1)
	}
}

func run(n int, other, setup string, policies int) error {
	dir, err := os.MkdirTemp("", "coldstart")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bin, home, work := filepath.Join(dir, "cardea"), filepath.Join(dir, "home"), filepath.Join(dir, "work")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", dir, "cardea.dev/cmd/cardea", "cardea.dev/cmd/cardea-engine")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build cardea: %w\n%s", err, out)
	}
	files := map[string]string{filepath.Join(work, "src", "x"): ""}
	if setup != "none" {
		files[filepath.Join(home, ".config", "cardea", "cardea.yaml")] = settings
		files[filepath.Join(home, ".config", "cardea", "rules", "mine.yaml")] = rules
	}
	if setup == "permissions" {
		files[filepath.Join(home, ".config", "cardea", "cardea.yaml")] = settings + "permissions: {expand: true}\n"
		files[filepath.Join(home, ".claude", "settings.json")] = thousand()
	}
	if setup == "policies" {
		for name, text := range sample.Files(policies) {
			files[filepath.Join(home, ".config", "cardea", "policies", name)] = text
		}
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	env := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "CLAUDE_PROJECT_DIR=" + work}
	input := fmt.Sprintf(payload, work)
	var a, b, ratios []float64
	var peak int64
	for i := -5; i < n; i++ { // five to warm up
		took, rss, err := once(bin, []string{"check", "--harness", "claude-code"}, env, input)
		if err != nil {
			return err
		}
		base, _, err := once(other, nil, env, "")
		if err != nil {
			return err
		}
		if i < 0 {
			continue
		}
		a, b, ratios = append(a, ms(took)), append(b, ms(base)), append(ratios, float64(took)/float64(base))
		peak = max(peak, rss)
	}
	fmt.Printf("%d interleaved pairs; min, median, max\n", n)
	fmt.Printf("cardea check   %s ms\n", spread(a))
	fmt.Printf("%-14s %s ms\n", filepath.Base(other), spread(b))
	fmt.Printf("ratio          %s\n", spread(ratios))
	fmt.Printf("resident peak  %.1f MB\n", float64(peak)/1024)
	return nil
}

// thousand is a settings file of Claude Code with a thousand permissions.
func thousand() string {
	var b strings.Builder
	b.WriteString(`{"permissions": {"deny": ["Bash(rm -rf:*)", "Read(./.env)"], "ask": ["Bash(git push:*)"], "allow": [`)
	for i := range 995 {
		fmt.Fprintf(&b, "\"Bash(program%d sub:*)\", ", i)
	}
	b.WriteString(`"Bash(npm test:*)", "Bash(tee:*)"]}}`)
	return b.String()
}

// once runs a command and gives its wall time and its peak memory in KiB.
func once(name string, args, env []string, input string) (time.Duration, int64, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = env
	cmd.Stdin = strings.NewReader(input)
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(begin)
	if err != nil {
		return 0, 0, fmt.Errorf("run %s: %w\n%s", name, err, out)
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
	return fmt.Sprintf("%7.2f %7.2f %7.2f", v[0], v[len(v)/2], v[len(v)-1])
}
