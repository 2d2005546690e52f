package bash

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev/internal/command/knowledge"
)

// TestIsActivation checks that a file written by Python is recognized, for each folder
// and name of the environment. A change, removal or move of any line must be noticed.
func TestIsActivation(t *testing.T) {
	for _, name := range []string{"venv", ".venv", "my-env", "x"} {
		root := filepath.Join(t.TempDir(), name)
		if out, err := exec.Command("python3", "-m", "venv", "--without-pip", root).CombinedOutput(); err != nil {
			t.Fatalf("python3 -m venv: %v: %s", err, out)
		}
		data, err := os.ReadFile(filepath.Join(root, "bin/activate"))
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		if !isActivation(text, root) || !isActivation("# a comment\n\n"+text, root) {
			t.Errorf("%s: not known", root)
		}
		if isActivation(text, root+"2") || isActivation(text, "/"+name) || isActivation(text, filepath.Dir(root)+"/$(id)") {
			t.Errorf("%s: known as that of another folder", root)
		}
		lines := codeLines(text)
		for i := range lines {
			for what, other := range map[string][]string{"taken away": {}, "twice": {lines[i], lines[i]}, "followed": {lines[i], "id"}, "changed": {lines[i] + ";id"}} {
				changed := strings.Join(append(append(append([]string{}, lines[:i]...), other...), lines[i+1:]...), "\n")
				if isActivation(changed, root) {
					t.Errorf("%s: known with line %d %s: %s", root, i, what, lines[i])
				}
			}
		}
		if tk := strings.Replace(text, "TCL_LIBRARY=''", "TCL_LIBRARY='/usr/x';id'", 1); tk != text && isActivation(tk, root) {
			t.Errorf("%s: known with a command behind TCL_LIBRARY", root)
		}
	}
}

// TestActivatesOnlyAlone checks that a command before the activation, or one that
// contains it, may change it.
func TestActivatesOnlyAlone(t *testing.T) {
	root := filepath.Join(t.TempDir(), "venv")
	if out, err := exec.Command("python3", "-m", "venv", "--without-pip", root).CombinedOutput(); err != nil {
		t.Fatalf("python3 -m venv: %v: %s", err, out)
	}
	dir := filepath.Dir(root)
	env := Env{Cwd: dir, System: knowledge.System{Home: "/home/u", Roots: []string{dir},
		ReadFile: func(path string, _ int64) ([]byte, error) { return os.ReadFile(path) },
		IsNew:    func(path string) bool { _, err := os.Lstat(path); return err != nil }}}
	for line, want := range map[string]bool{
		"source venv/bin/activate": true, ". venv/bin/activate": true, "source venv/bin/activate && ls": true, "ls; source ./venv/bin/activate; deactivate": true,
		"(source venv/bin/activate; ls)": true, "source venv/bin/activate x": false, "source activate": false, "x=1 source venv/bin/activate": false,
		"PS1=x; source venv/bin/activate": false, "_OLD_VIRTUAL_PATH=/evil; source venv/bin/activate": false, "hash() { id; }; source venv/bin/activate": false,
		"cp x venv/bin/activate; source venv/bin/activate": false, "make; source venv/bin/activate": false, "echo x > venv/bin/activate; . venv/bin/activate": false,
		"command source venv/bin/activate": false, "cd /tmp && source venv/bin/activate": false, "source venv/bin/activate; PATH=/x ls": false,
	} {
		a := Analyse(line, env)
		known := len(a.Opaque) == 0
		for _, p := range a.Parts {
			known = known && len(p.Opaque) == 0
		}
		if known != want {
			t.Errorf("%s: known %v, want %v: %+v", line, known, want, a.Parts)
		}
	}
	for _, p := range Analyse("source venv/bin/activate; bash -c 'ls x'", env).Parts {
		if len(p.Argv) > 0 && p.Argv[0].Text == "ls" && !strings.Contains(strings.Join(p.Configs, " "), knowledge.ProgramsOf+filepath.Join(root, "bin")) {
			t.Errorf("ls may be one of the environment: %+v", p)
		}
	}
}
