//go:build unix

package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// standIn installs like install.sh, and is used only if that is missing.
const standIn = `set -eu
from=` + Repository + `/releases/latest/download
cd "$(mktemp -d)"
curl -fsSL "$from/checksums.txt" -o checksums.txt
name=$(sed -n 's/.*  \(cardea_.*_` + runtime.GOOS + "_" + runtime.GOARCH + `\.tar\.gz\)$/\1/p' checksums.txt)
curl -fsSL "$from/$name" -o "$name"
mkdir -p "$HOME/.local/bin"
tar -xzf "$name" -C "$HOME/.local/bin"
`

// archive returns a release archive whose programs are scripts.
func archive(t *testing.T, version string) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	all := tar.NewWriter(zip)
	program := "#!/bin/sh\ncase ${1:-} in check) echo judged ;; *) echo cardea " + version + " ;; esac\n"
	for _, name := range []string{"cardea", "cardea-engine", "cardea-hook"} {
		if err := all.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(program))}); err != nil {
			t.Fatal(err)
		}
		if _, err := all.Write([]byte(program)); err != nil {
			t.Fatal(err)
		}
	}
	if all.Close() != nil || zip.Close() != nil {
		t.Fatal("the archive does not end")
	}
	return out.Bytes()
}

// published serves a release as the repository's host does. In install.sh, the repository's
// address is that of the server.
func published(t *testing.T, version string) *httptest.Server {
	t.Helper()
	installer := []byte(standIn)
	if text, err := os.ReadFile(filepath.Join(root, "scripts/release/install.sh")); err == nil {
		installer = text
	}
	data, name := archive(t, version), fmt.Sprintf("cardea_%s_%s_%s.tar.gz", version, runtime.GOOS, runtime.GOARCH)
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := strings.Replace(r.URL.Path, "/download/v"+version+"/", "/latest/download/", 1); path {
		case "/releases/latest":
			http.Redirect(w, r, s.URL+"/releases/tag/v"+version, http.StatusFound)
		case "/releases/latest/download/install.sh":
			_, _ = w.Write(bytes.ReplaceAll(installer, []byte(Repository), []byte(s.URL)))
		case "/releases/latest/download/checksums.txt":
			fmt.Fprintf(w, "%x  %s\n", sha256.Sum256(data), name)
		case "/releases/latest/download/" + name:
			_, _ = w.Write(data)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// TestPluginLeadsToTheProgram checks that without cardea, the plugin shows a command that
// installs a program that the plugin finds.
func TestPluginLeadsToTheProgram(t *testing.T) {
	script, err := filepath.Abs(filepath.Join(root, "plugin/scripts/cardea-hook.sh"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"/usr/local/bin", "/opt/homebrew/bin", "/usr/bin", "/bin"} {
		if _, err := os.Lstat(dir + "/cardea"); err == nil {
			t.Skipf("%s/cardea is on this machine", dir)
		}
	}
	home, work := t.TempDir(), t.TempDir()
	run := func(name string, args ...string) (out, errs string, err error) {
		var o, e bytes.Buffer
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = work, strings.NewReader(`{"session_id":"s"}`), &o, &e
		cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin", "no_proxy=*", "CLAUDE_PROJECT_DIR=" + work}
		err = cmd.Run()
		return o.String(), e.String(), err
	}
	out, _, err := run("sh", script, "begin")
	if err != nil || !strings.Contains(out, installLine) || strings.Contains(out, "clone") || strings.Count(out, "\n") != 1 {
		t.Fatalf("the person reads %q %v", out, err)
	}
	line := regexp.MustCompile(`curl [^"]*\| sh`).FindString(out)
	line = strings.ReplaceAll(line, Repository, published(t, "0.1.0").URL)
	if out, errs, err := run("sh", "-c", line); err != nil {
		t.Fatalf("%s\n%s\n%s%v", line, out, errs, err)
	}
	if _, err := os.Stat(filepath.Join(home, ".local/bin/cardea")); err != nil {
		t.Fatal(err)
	}
	if out, errs, err := run("sh", script, "begin"); out+errs != "" || err != nil {
		t.Errorf("after the installation: %q %q %v", out, errs, err)
	}
	if out, errs, err := run("sh", script, "call", "--harness", "claude-code"); out != "judged\n" || err != nil {
		t.Errorf("a call: %q %q %v", out, errs, err)
	}
}
