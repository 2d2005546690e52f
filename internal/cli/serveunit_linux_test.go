package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// awkward are paths of a program that a unit must keep unchanged.
var awkward = []string{"/bin/true", "/opt/a b/100%/$HOME/cardea", "/opt/<&>/cardea"}

// systemd itself verifies the units.
func TestUnitsOfSystemd(t *testing.T) {
	for _, path := range awkward {
		dir := t.TempDir()
		program := path
		if path != "/bin/true" {
			// systemd accepts only an existing program.
			program = filepath.Join(dir, path)
			if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		units := map[string]string{"cardea.service": systemdService(program, "127.0.0.1:7717"), "cardea.socket": systemdSocket("127.0.0.1:7717"), "alone.service": systemdService(program, "")}
		args := []string{"verify", "--user", "--man=no", "--generators=no"}
		for name, text := range units {
			file := filepath.Join(dir, name)
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			args = append(args, file)
		}
		c := exec.Command("systemd-analyze", args...)
		c.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "SYSTEMD_LOG_LEVEL=warning")
		out, err := c.CombinedOutput()
		if err != nil || bytes.Contains(out, []byte(dir)) {
			t.Errorf("%s: %v\n%s", path, err, out)
		}
	}
	// systemd detects errors.
	file := filepath.Join(t.TempDir(), "wrong.service")
	if err := os.WriteFile(file, []byte(strings.Replace(systemdService("/bin/true", ""), "ExecStart=\"", "ExecStart=\"/nothing", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("systemd-analyze", "verify", "--user", "--man=no", "--generators=no", file).CombinedOutput(); err == nil {
		t.Errorf("a unit whose program is missing is verified: %s", out)
	}
}

// Python's parser reads the property list.
func TestPropertyList(t *testing.T) {
	for _, path := range awkward {
		c := exec.Command("python3", "-c", `import plistlib,sys
p=plistlib.loads(sys.stdin.buffer.read())
assert p["Label"]=="dev.cardea.daemon" and p["RunAtLoad"] is True and p["KeepAlive"] is True and p["Umask"]==0o77
sys.stdout.write("\n".join(p["ProgramArguments"]))`)
		c.Stdin = strings.NewReader(launchdList(path, "127.0.0.1:7717"))
		out, err := c.CombinedOutput()
		if want := path + "\nserve\n--idle\n0\n--http\n127.0.0.1:7717"; err != nil || string(out) != want {
			t.Errorf("%v: %s, not %s", err, out, want)
		}
	}
}
