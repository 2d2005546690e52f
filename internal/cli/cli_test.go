package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cardea.dev/internal/config/project"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/decide/policy/rego"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/hook"
)

// fixture is a person at their own machine: a home, a project, and a process with the
// project as working folder.
type fixture struct {
	t             testing.TB
	home, project string
	vars          map[string]string
	// running is the program of the process, "" if no test needs it.
	running string
	// over is closed at the end of the test, and frees what hangs. works waits for work that
	// may still use the folders.
	over  chan struct{}
	works sync.WaitGroup
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	return newFixtureIn(t, t.TempDir())
}

// newFixtureIn returns a registrar in a folder.
func newFixtureIn(t testing.TB, dir string) *fixture {
	t.Helper()
	base, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := &fixture{t: t, home: filepath.Join(base, "home"), project: filepath.Join(base, "app"), over: make(chan struct{})}
	t.Cleanup(func() { close(d.over); d.works.Wait() })
	d.vars = map[string]string{"HOME": d.home}
	d.mkdir(d.home)
	d.mkdir(filepath.Join(d.project, ".git"))
	return d
}

func (d *fixture) mkdir(dir string) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		d.t.Fatal(err)
	}
}

func (d *fixture) write(path, text string) {
	d.t.Helper()
	d.mkdir(filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

// settings writes the person's settings.
func (d *fixture) settings(text string) {
	d.t.Helper()
	d.write(filepath.Join(d.home, ".config/cardea/cardea.yaml"), text)
}

func (d *fixture) rules(text string) {
	d.t.Helper()
	d.write(filepath.Join(d.home, ".config/cardea/rules/rules.yaml"), text)
}

func (d *fixture) process(stdin io.Reader, stdout, stderr io.Writer) Process {
	env := func(k string) string { return d.vars[k] }
	engines := policy.Engines{Own: rego.Engine{}, Project: rego.Engine{}}
	edit := func(path string) error { return os.WriteFile(path, []byte("version: 1\n"), 0o600) }
	return Process{
		Edit:  edit,
		Agent: func() error { return nil },
		Process: hook.Process{Program: d.running, Engines: engines, Managed: claudecode.ManagedDir("linux"), Stdin: stdin, Stdout: stdout, Stderr: stderr, Env: env, Dir: d.project, Now: time.Now,
			Machine: project.Machine{OS: "linux", Env: env, Foreign: func(string) bool { return false },
				Home: func() (string, error) { return d.home, nil }}},
	}
}

// run runs a command line.
func (d *fixture) run(stdin string, args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	code = Main(args, d.process(strings.NewReader(stdin), &out, &errs))
	return out.String(), errs.String(), code
}

// call returns a Claude Code message about a shell command.
func (d *fixture) call(event, mode, command string) string {
	return `{"session_id":"s1","transcript_path":"/t.jsonl","cwd":` + asJSON(d.project) + `,"permission_mode":` + asJSON(mode) +
		`,"hook_event_name":` + asJSON(event) + `,"tool_name":"Bash","tool_input":{"command":` + asJSON(command) + `}}`
}

// Prose is wrapped at blanks, and keeps all words.
func TestFilled(t *testing.T) {
	var b strings.Builder
	s := &screen{w: &b}
	long := strings.Repeat("x", 100)
	s.filled("  because: ", strings.Repeat("word ", 40)+long+" end\nsecond  line")
	for i, l := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		if len(l) > columns && strings.TrimSpace(l) != long || i > 0 && !strings.HasPrefix(l, "           ") {
			t.Errorf("line %d: %q", i, l)
		}
	}
	if got := strings.Fields(b.String()); len(got) != 1+40+1+1+2 {
		t.Errorf("%d words: %q", len(got), b.String())
	}
}
