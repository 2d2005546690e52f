package release

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// launcher holds the packages that npm installs: the one with the launcher, and the one with programs.
type launcher struct {
	t              *testing.T
	node           string
	platform       string
	root, programs string // the packages
	home           string
	env            []string
}

// platforms are npm's names.
var platforms = strings.NewReplacer("amd64", "x64", "windows", "win32")

func newLauncher(t *testing.T) *launcher {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("node is not installed")
	}
	dir := t.TempDir()
	modules := filepath.Join(dir, "node_modules/@cardea-dev")
	l := &launcher{t: t, node: node, platform: platforms.Replace(runtime.GOOS) + "-" + platforms.Replace(runtime.GOARCH), home: filepath.Join(dir, "a 'home'")}
	l.root, l.programs = modules+"/cardea", modules+"/cardea-"+l.platform
	for _, d := range []string{l.root + "/bin", l.programs + "/bin", l.home} {
		mkdir(t, d)
	}
	text, err := os.ReadFile(scripts + "npm/cardea.js")
	if err != nil {
		t.Fatal(err)
	}
	l.write(l.root+"/bin/cardea.js", string(text))
	l.write(l.programs+"/package.json", "{}")
	l.version("1", nil)
	return l
}

func (l *launcher) write(path, text string) {
	l.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		l.t.Fatal(err)
	}
}

// version sets the version of the packages. other replaces programs, but not their digests
// in the launcher's package.
func (l *launcher) version(v string, other map[string]string) {
	digests := map[string]string{}
	for name, text := range programsOf(v) {
		digests[name] = strings.Fields(line(name, []byte(text)))[0]
		if o, ok := other[name]; ok {
			text = o
		}
		l.write(l.programs+"/bin/"+name, text)
	}
	manifest, err := json.Marshal(map[string]any{"name": "@cardea-dev/cardea", "version": v, "digests": map[string]any{l.platform: digests}})
	if err != nil {
		l.t.Fatal(err)
	}
	l.write(l.root+"/package.json", string(manifest))
}

func programsOf(v string) map[string]string {
	return map[string]string{
		"cardea":        "#!/bin/sh\nif [ \"$1\" = signal ]; then kill -TERM $$; fi\necho \"$0 " + v + ":\" \"$@\"\ncat\nexit 7\n",
		"cardea-engine": "engine " + v, "cardea-hook": "hook " + v,
	}
}

func (l *launcher) start(args ...string) *exec.Cmd {
	c := exec.Command(l.node, append([]string{l.root + "/bin/cardea.js"}, args...)...)
	c.Env, c.Stdin = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + l.home}, l.env...), strings.NewReader("input")
	return c
}

func (l *launcher) run(args ...string) (string, string, int) {
	l.t.Helper()
	var out, errs strings.Builder
	c := l.start(args...)
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil && c.ProcessState == nil {
		l.t.Fatal(err)
	}
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

// installed reports whether the folder has exactly the programs of a version.
func (l *launcher) installed(v string) {
	l.t.Helper()
	want := ""
	for _, name := range []string{"cardea", "cardea-engine", "cardea-hook"} {
		want += "/" + name + " -rwxr-xr-x " + programsOf(v)[name] + "\n"
	}
	want += "/installed-by -rw-r--r-- npm\n\n"
	if got := tree(l.t, l.home+"/.local/share/cardea/bin"); got != want {
		l.t.Errorf("got\n%s", got)
	}
}

func TestLauncher(t *testing.T) {
	l := newLauncher(t)
	bin := l.home + "/.local/share/cardea/bin"
	want := bin + "/cardea 1: a b  c $(x) 'y'\ninput"
	if out, errs, code := l.run("a", "b  c", "$(x)", "'y'"); out != want || code != 7 || !strings.Contains(errs, "are now in "+bin) {
		t.Errorf("%d, %s, %s", code, out, errs)
	}
	l.installed("1")
	if out, errs, code := l.run(); out != bin+"/cardea 1:\ninput" || code != 7 || errs != "" {
		t.Errorf("again: %d, %s, %s", code, out, errs)
	}
	if out, _, code := l.run("signal"); out != "" || code != -1 {
		t.Errorf("a signal: %d, %s", code, out)
	}
	l.version("2", nil)
	if out, _, _ := l.run(); out != bin+"/cardea 2:\ninput" {
		t.Errorf("another version: %s", out)
	}
	l.installed("2")
	// A program that another has replaced is not started, even if npm's folder has it.
	l.write(bin+"/cardea", "#!/bin/sh\necho evil\n")
	if out, errs, _ := l.run(); strings.Contains(out, "evil") || !strings.Contains(errs, "are now in") {
		t.Errorf("replaced: %s, %s", out, errs)
	}
	l.installed("2")
	// Once the programs are there, npm's package of the platform is not read.
	if err := os.RemoveAll(l.programs); err != nil {
		t.Fatal(err)
	}
	if out, _, _ := l.run(); out != bin+"/cardea 2:\ninput" {
		t.Errorf("without the package: %s", out)
	}
}

func TestLauncherRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(l *launcher)
		want string
	}{
		"other programs": {func(l *launcher) { l.version("1", map[string]string{"cardea-engine": "evil"}) }, "is not the program of version 1"},
		"a link": {func(l *launcher) {
			_ = os.Remove(l.programs + "/bin/cardea")
			_ = os.Symlink("/bin/sh", l.programs+"/bin/cardea")
		}, "is not the program"},
		"no package":       {func(l *launcher) { _ = os.RemoveAll(l.programs) }, "is missing; install @cardea-dev/cardea without"},
		"no such platform": {func(l *launcher) { l.platform = "plan9-mips"; l.version("1", nil) }, "there is no program for"},
		"a folder for all": {func(l *launcher) {
			mkdir(l.t, l.home+"/.local/share/cardea/bin")
			chmod(l.t, l.home+"/.local/share/cardea/bin", 0o777)
		}, "other users can write"},
		"a folder for a group": {func(l *launcher) {
			mkdir(l.t, l.home+"/.local/share/cardea/bin")
			chmod(l.t, l.home+"/.local/share/cardea", 0o770)
		}, "other users can write"},
		"a folder above": {func(l *launcher) { mkdir(l.t, l.home+"/.local/share"); chmod(l.t, l.home+"/.local", 0o777) }, "other users can write"},
		"a link to such": {func(l *launcher) {
			mkdir(l.t, l.home+"/open\x1b/bin")
			chmod(l.t, l.home+"/open\x1b", 0o777)
			mkdir(l.t, l.home+"/.local/share")
			_ = os.Symlink(l.home+"/open\x1b", l.home+"/.local/share/cardea")
		}, "other users can write"},
		"a file in place": {func(l *launcher) { mkdir(l.t, l.home+"/.local/share"); l.write(l.home+"/.local/share/cardea", "") }, "cardea: "},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLauncher(t)
			c.set(l)
			out, errs, code := l.run()
			if out != "" || code != 2 || !strings.Contains(errs, c.want) || strings.Contains(errs, "\x1b") || strings.Contains(errs, "    at ") {
				t.Errorf("%d, %s, %s", code, out, errs)
			}
			if left, err := os.ReadDir(l.home + "/.local/share/cardea/bin"); err == nil && len(left) > 0 {
				t.Errorf("it left %v", left)
			}
		})
	}
}

// TestLauncherFolder checks that the variable changes the data folder if it is an absolute
// path.
func TestLauncherFolder(t *testing.T) {
	l := newLauncher(t)
	l.env = []string{"XDG_DATA_HOME=" + l.home + "/data"}
	if out, _, _ := l.run(); !strings.HasPrefix(out, l.home+"/data/cardea/bin/cardea 1:") {
		t.Error(out)
	}
	l.env = []string{"XDG_DATA_HOME=data"}
	if out, _, _ := l.run(); !strings.HasPrefix(out, l.home+"/.local/share/cardea/bin/cardea 1:") {
		t.Error(out)
	}
}

// TestLauncherAtOnce checks that concurrent starts of two versions leave complete programs.
func TestLauncherAtOnce(t *testing.T) {
	l := newLauncher(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			out, err := l.start().Output()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 7 || !strings.Contains(string(out), "/cardea 1:\ninput") {
				t.Errorf("%v, %s", err, out)
			}
		})
	}
	all.Wait()
	l.installed("1")
}
