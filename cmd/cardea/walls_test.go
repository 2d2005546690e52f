package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cardea.dev/internal/cli"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/testing/testrun"
)

// wall is a project whose lists allow everything.
type wall struct {
	t         *testing.T
	home, app string
	// asked is the number of lines so far.
	asked int
}

// sample is the distance of the lines that are also sent to the built programs, unless all are.
const sample = 50

// build builds the programs, once for all tests.
var build = sync.OnceValue(func() error {
	out, err := exec.Command("go", "build", "-o", builtIn+string(filepath.Separator), "cardea.dev/cmd/cardea", "cardea.dev/cmd/cardea-engine").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
})

func newWall(t *testing.T, deny string) *wall {
	t.Helper()
	home, err := os.MkdirTemp(testrun.OnDisk(t), "walls")
	if err != nil {
		t.Fatal(err)
	}
	w := &wall{t: t, home: home, app: filepath.Join(home, "app")}
	everything := `{"permissions":{"allow":["Bash","Write","Edit","Read","mcp__x"],"deny":[` + deny + `]}}`
	for path, text := range map[string]string{
		"app/.git/HEAD": "", ".ssh/id_rsa": "", "app/build/x.o": "", "app/.claude/hooks/pre.sh": "", "app/src/x": "", ".config/cardea/cardea.yaml": "permissions: {expand: true}\n",
		"app/.claude/settings.json": everything, ".claude/settings.json": everything, "app/.cardea/cardea.yaml": "version: 1\n",
	} {
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// effect returns the effect for a line, or for the input of a tool: @TOOL {…}. A sample of
// the lines, and in a long run all, is also sent to the built programs.
func (w *wall) effect(mode, line string) string {
	w.t.Helper()
	args := []string{"try", "--json", "--mode", mode}
	if tool, input, ok := strings.Cut(line, " {"); ok && strings.HasPrefix(tool, "@") {
		args, line = append(args, "--tool", tool[1:]), "{"+input
	}
	args = append(args, "--", line)
	here := w.here(args)
	if w.asked++; !testrun.Long() && w.asked%sample != 1 {
		return here
	}
	if installed := w.installed(args); installed != here {
		w.t.Errorf("in this process %q, by the programs as they are built %q: %q", here, installed, line)
	}
	return here
}

// env returns the variables of every run.
func (w *wall) env() map[string]string {
	return map[string]string{"HOME": w.home, "PATH": os.Getenv("PATH")}
}

// here returns the effect by the program in this process, which starts no other.
func (w *wall) here(args []string) string {
	w.t.Helper()
	env := w.env()
	get := func(name string) string { return env[name] }
	var out, errs bytes.Buffer
	p := process()
	p.Stdin, p.Stdout, p.Stderr, p.Env, p.Dir, p.Machine = strings.NewReader(""), &out, &errs, get, w.app, project.ThisMachine(get)
	if code := cli.Main(args, p); code != 0 {
		w.t.Fatalf("%q exits %d: %s", args, code, errs.String())
	}
	return w.read(out.Bytes())
}

// installed returns the effect by the built programs.
func (w *wall) installed(args []string) string {
	w.t.Helper()
	if err := build(); err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(builtIn, "cardea"), args...)
	cmd.Dir = w.app
	for name, value := range w.env() {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("%q: %v", args, err)
	}
	return w.read(out)
}

// read returns the effect in the output of try.
func (w *wall) read(out []byte) string {
	w.t.Helper()
	var v struct{ Effect string }
	if err := json.Unmarshal(out, &v); err != nil {
		w.t.Fatal(err)
	}
	return v.Effect
}

// shut reports whether an effect stops a call, or asks a person about it.
func shut(effect string) bool { return effect == "ask" || effect == "deny" || effect == "halt" }

// TestWalls puts guarded files and folders into realistic lines of many programs, with a
// harness that allows everything. None of them may be allowed, and none may be silent where
// permissions are bypassed.
func TestWalls(t *testing.T) {
	w := newWall(t, "")
	for n, line := range wallLines(t, "touch.txt", 300) {
		if !testrun.Long() && n%4 != 0 {
			continue
		}
		files, folders := []string{".claude/settings.json", w.home + "/.config/cardea/cardea.yaml"}, []string{".claude", w.home + "/.config/cardea"}
		line = strings.NewReplacer("{G}", files[n%2], "{D}", folders[n%2], "{A}", w.home+"/.config").Replace(line)
		for _, mode := range []string{"default", "bypassPermissions"} {
			if got := w.effect(mode, line); !shut(got) {
				t.Errorf("%s, mode %s: %q", got, mode, line)
			}
		}
	}
}

// TestWallsAroundCommands starts a denied command through many programs, and a harmless one
// through the same.
func TestWallsAroundCommands(t *testing.T) {
	w := newWall(t, `"Bash(git push:*)"`)
	for n, line := range wallLines(t, "run.txt", 150) {
		if !testrun.Long() && n%4 != 0 {
			continue
		}
		put := func(command string) string { return strings.NewReplacer("{C}", command, "{Q}", command).Replace(line) }
		for _, mode := range []string{"default", "bypassPermissions"} {
			if got := w.effect(mode, put("git push origin main")); !shut(got) {
				t.Errorf("%s, mode %s: %q", got, mode, put("git push origin main"))
			}
		}
		if got, plain := w.effect("default", put("git status -s")), w.effect("default", put("ls")); shut(got) && !shut(plain) {
			t.Errorf("%s: %q", got, put("git status -s"))
		}
	}
}

// TestShapes checks lines that are dangerous by their shape, with any words. Each line of
// the table asks or is denied, and the harmless twin after its arrow does neither.
func TestShapes(t *testing.T) { judgeTwins(t, newWall(t, ""), "shape.txt") }

// TestConstants checks texts of the line that reach a word indirectly: through a variable,
// an input, an expansion, a format or another folder. Each has its harmless twin.
func TestConstants(t *testing.T) { judgeTwins(t, newWall(t, `"Bash(git push:*)"`), "constants.txt") }

// TestWords checks spellings of what words, lines of code and fields of tools' inputs may
// touch and run. Each has its harmless twin.
func TestWords(t *testing.T) { judgeTwins(t, newWall(t, `"Bash(deploytool:*)"`), "words.txt") }

// TestPlaces checks texts that run although no command of the line starts them. Each
// contains something denied, and some have a harmless twin.
func TestPlaces(t *testing.T) {
	judgeTwins(t, newWall(t, `"Bash(git push:*)","Bash(rm -rf:*)","Read(.env)"`), "places.txt")
}

// TestOtherNames checks denied commands under their other names.
func TestOtherNames(t *testing.T) {
	judgeTwins(t, newWall(t, `"Bash(git push:*)","Bash(rm -rf:*)","Read(.env)"`), "othernames.txt")
}

// judgeTwins asks the program about each line of a table, and its harmless twin.
func judgeTwins(t *testing.T, w *wall, name string) {
	t.Helper()
	n := 0
	for _, row := range testrun.Cases(t, "../../testdata/walls/"+name, 1) {
		if n++; !testrun.Long() && n%4 != 0 {
			continue
		}
		bad, good, ok := strings.Cut(strings.ReplaceAll(row.Text(), "{H}", w.home), " ⇒ ")
		if !ok && name == "shape.txt" {
			t.Errorf("%s has no harmless twin", row.At())
		}
		for _, mode := range []string{"default", "bypassPermissions"} {
			if got := w.effect(mode, bad); !shut(got) {
				t.Errorf("%s, mode %s: %q", got, mode, bad)
			}
		}
		if !ok {
			continue
		}
		if got := w.effect("default", good); shut(got) {
			t.Errorf("%s: %q", got, good)
		}
	}
}

// wallLines returns the lines of a table, and fails for fewer than least.
func wallLines(t *testing.T, name string, least int) []string {
	t.Helper()
	out := testrun.Texts(t, "../../testdata/walls/"+name)
	for _, line := range out {
		if !strings.Contains(line, "{") {
			t.Errorf("%q names nothing", line)
		}
	}
	if len(out) < least {
		t.Fatalf("the table has %d lines", len(out))
	}
	return out
}
