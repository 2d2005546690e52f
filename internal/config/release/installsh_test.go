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
	"runtime"
	"strings"
	"testing"
)

const scripts = "../../../scripts/release/"

// entry is a file of an archive.
type entry struct {
	name, text, link string
}

// programs are shell scripts in place of the real programs.
func programs(version string) []entry {
	var all []entry
	for _, name := range []string{"cardea", "cardea-engine", "cardea-hook"} {
		all = append(all, entry{name: name, text: "#!/bin/sh\necho " + name + " " + version + "\n"})
	}
	return all
}

func packed(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: 0o755, Size: int64(len(e.text)), Typeflag: tar.TypeReg, Linkname: e.link}
		if e.link != "" {
			h.Typeflag = tar.TypeSymlink
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(e.text))
	}
	if w.Close() != nil || z.Close() != nil {
		t.Fatal("not packed")
	}
	return b.Bytes()
}

// target is the platform in the names of archives.
const target = runtime.GOOS + "_" + runtime.GOARCH

func archiveName(version string) string { return "cardea_" + version + "_" + target + ".tar.gz" }

func line(name string, data []byte) string { return fmt.Sprintf("%x  %s\n", sha256.Sum256(data), name) }

// fixture is a release page and a user's home folder.
type fixture struct {
	files map[string][]byte // by path
	home  string
	env   []string
	path  string
	t     *testing.T
}

func newFixture(t *testing.T) *fixture {
	s := &fixture{files: map[string][]byte{}, home: filepath.Join(t.TempDir(), "a 'home' $(x)"), path: os.Getenv("PATH"), t: t}
	if err := os.Mkdir(s.home, 0o700); err != nil {
		t.Fatal(err)
	}
	s.release("1.2.3", packed(t, programs("1.2.3")...))
	s.files["/elsewhere"] = s.files["/latest/download/checksums.txt"]
	return s
}

// release adds an archive and its checksums to the page, as a version and as the latest.
func (s *fixture) release(version string, archive []byte) {
	s.files["/download/v"+version+"/"+archiveName(version)] = archive
	s.sums(version, line(archiveName(version), archive)+line("cardea_"+version+"_plan9_mips.tar.gz", nil)+line("install.sh", nil))
}

func (s *fixture) sums(version, text string) {
	s.files["/download/v"+version+"/checksums.txt"], s.files["/latest/download/checksums.txt"] = []byte(text), []byte(text)
}

func (s *fixture) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, ok := s.files[r.URL.Path]
	if to, is := strings.CutPrefix(string(data), "redirect "); is {
		http.Redirect(w, r, to, http.StatusFound)
		return
	}
	if !ok {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(data)
}

// runs runs the script as "curl | sh" does.
func (s *fixture) runs(shell []string, script []byte) (string, error) {
	server := httptest.NewServer(s)
	defer server.Close()
	c := exec.Command(shell[0], shell[1:]...)
	c.Dir, c.Stdin = s.t.TempDir(), bytes.NewReader(script)
	c.Env = append([]string{"PATH=" + s.path, "HOME=" + s.home, "CARDEA_BASE_URL=" + strings.Replace(server.URL, "localhost", "127.0.0.1", 1)}, s.env...)
	out, err := c.CombinedOutput()
	return string(out), err
}

// tree lists the files below a folder with what is in them.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, _ := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %v %s\n", path[len(dir):], info.Mode(), text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func installScript(t *testing.T) []byte {
	t.Helper()
	script, err := os.ReadFile(scripts + "install.sh")
	if err != nil {
		t.Fatal(err)
	}
	return script
}

// shells are the sh of Debian and of Alpine, and bash as sh.
func shells(t *testing.T) map[string][]string {
	if runtime.GOOS != "linux" {
		t.Skip("the shells of Linux are tested")
	}
	all := map[string][]string{}
	for name, words := range map[string][]string{"dash": {"dash"}, "busybox": {"busybox", "sh"}, "bash": {"bash", "--posix"}} {
		if path, err := exec.LookPath(words[0]); err == nil {
			all[name] = append([]string{path}, words[1:]...)
		} else {
			t.Logf("%s is not installed", words[0])
		}
	}
	return all
}

func TestInstallScript(t *testing.T) {
	script := installScript(t)
	good := func(s *fixture) { s.release("1.2.3", packed(s.t, programs("1.2.3")...)) }
	for name, c := range map[string]struct {
		set  func(s *fixture)
		want string // in what is printed; "" is a success
	}{
		"latest": {good, ""},
		"a version": {func(s *fixture) {
			s.env = []string{"CARDEA_VERSION=1.2.3"}
			delete(s.files, "/latest/download/checksums.txt")
		}, ""},
		"a version with v": {func(s *fixture) { s.env = []string{"CARDEA_VERSION=v1.2.3"} }, ""},
		"another folder":   {func(s *fixture) { s.env = []string{"CARDEA_BIN=" + s.home + "/.local/bin", "HOME="} }, ""},
		"more in it": {func(s *fixture) {
			s.release("1.2.3", packed(s.t, append(programs("1.2.3"), entry{name: "x/y", text: "z"})...))
		}, ""},
		"a path out of it": {func(s *fixture) {
			s.release("1.2.3", packed(s.t, append(programs("1.2.3"), entry{name: "../../evil", text: "z"}, entry{name: s.home + "/evil", text: "z"})...))
		}, ""},
		"another digest": {func(s *fixture) {
			s.files["/download/v1.2.3/"+archiveName("1.2.3")] = packed(s.t, programs("6.6.6")...)
		}, "checksum of cardea_1.2.3"},
		"cut short": {func(s *fixture) {
			f := s.files["/download/v1.2.3/"+archiveName("1.2.3")]
			s.release("1.2.3", f[:len(f)/2])
		}, "install.sh: "},
		"no checksums":  {func(s *fixture) { s.files = nil }, "cannot download"},
		"no archive":    {func(s *fixture) { delete(s.files, "/download/v1.2.3/"+archiveName("1.2.3")) }, "cannot download"},
		"no entry":      {func(s *fixture) { s.sums("1.2.3", line("cardea_1.2.3_plan9_mips.tar.gz", nil)) }, "does not name"},
		"an empty list": {func(s *fixture) { s.sums("1.2.3", "") }, "does not name"},
		"of another name": {func(s *fixture) {
			s.sums("1.2.3", line("x"+archiveName("1.2.3"), nil)+line("../"+archiveName("1.2.3"), nil)+line(archiveName("1/../2"), nil))
		}, "does not name"},
		"two entries": {func(s *fixture) { s.sums("1.2.3", line(archiveName("1.2.3"), nil)+line(archiveName("1.2.2"), nil)) }, "does not name"},
		"an older version": {func(s *fixture) {
			s.env = []string{"CARDEA_VERSION=1.2.4"}
			s.files["/download/v1.2.4/checksums.txt"] = s.files["/latest/download/checksums.txt"]
		}, "does not name"},
		"not a digest": {func(s *fixture) { s.sums("1.2.3", "$(touch evil)  "+archiveName("1.2.3")+"\n") }, "does not name"},
		"no hook":      {func(s *fixture) { s.release("1.2.3", packed(s.t, programs("1.2.3")[:2]...)) }, "cardea-hook once"},
		"one twice":    {func(s *fixture) { s.release("1.2.3", packed(s.t, append(programs("1.2.3"), programs("6.6.6")...)...)) }, "once"},
		"a link": {func(s *fixture) {
			s.release("1.2.3", packed(s.t, append(programs("1.2.3")[1:], entry{name: "cardea", link: "/bin/sh"})...))
		}, "no program cardea"},
		"does not run": {func(s *fixture) {
			s.release("1.2.3", packed(s.t, append(programs("1.2.3")[1:], entry{name: "cardea", text: "#!/bin/sh\nexit 1\n"})...))
		}, "does not run"},
		"sent elsewhere":     {func(s *fixture) { s.files["/latest/download/checksums.txt"] = []byte("redirect /elsewhere") }, "cannot download"},
		"an open address":    {func(s *fixture) { s.env = []string{"CARDEA_BASE_URL=http://example.invalid"} }, "must begin with https"},
		"an odd address":     {func(s *fixture) { s.env = []string{"CARDEA_BASE_URL=http://127.0.0.1:80@example.invalid"} }, "has an @"},
		"an odd version":     {func(s *fixture) { s.env = []string{"CARDEA_VERSION=1/../../x"} }, "is not a version"},
		"no home":            {func(s *fixture) { s.env = []string{"HOME="} }, "HOME is not set"},
		"a relative folder":  {func(s *fixture) { s.env = []string{"CARDEA_BIN=bin"} }, "must begin with /"},
		"a folder for all":   {func(s *fixture) { chmod(s.t, s.home+"/.local/bin", 0o777) }, "everybody can write"},
		"a folder in place":  {func(s *fixture) { mkdir(s.t, s.home+"/.local/bin/cardea-hook") }, "is a folder"},
		"no program to load": {func(s *fixture) { s.path = without(s.t, "curl", "wget") }, "curl or GNU wget"},
		"no digest program":  {func(s *fixture) { s.path = without(s.t, "sha256sum", "shasum", "openssl") }, "to verify"},
		"by openssl":         {func(s *fixture) { s.path = without(s.t, "sha256sum", "shasum") }, ""},
		"by wget":            {func(s *fixture) { s.path = without(s.t, "curl") }, ""},
		"wget elsewhere": {func(s *fixture) {
			s.path = without(s.t, "curl")
			s.files["/latest/download/checksums.txt"] = []byte("redirect /elsewhere")
		}, "cannot download"},
	} {
		for shell, words := range shells(t) {
			t.Run(name+" "+shell, func(t *testing.T) {
				s := newFixture(t)
				bin := s.home + "/.local/bin"
				mkdir(t, bin)
				old := "#!/bin/sh\necho old\n"
				if err := os.WriteFile(bin+"/cardea", []byte(old), 0o755); err != nil {
					t.Fatal(err)
				}
				c.set(s)
				before := tree(t, s.home)
				out, err := s.runs(words, script)
				if c.want != "" {
					if err == nil || !strings.Contains(out, c.want) {
						t.Errorf("%v, %s", err, out)
					}
					if after := tree(t, s.home); after != before {
						t.Errorf("it left\n%s", after)
					}
					return
				}
				want := ""
				for _, e := range programs("1.2.3") {
					want += "/.local/bin/" + e.name + " -rwxr-xr-x " + e.text + "\n"
				}
				if after := tree(t, s.home); err != nil || after != want || !strings.Contains(out, `'\''home'\'' $(x)/.local/bin/cardea' try "rm -rf ~"`) {
					t.Errorf("%v, %s\n%s", err, out, after)
				}
			})
		}
	}
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// without returns a folder with all programs of PATH except some.
func without(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, from := range filepath.SplitList("/usr/local/bin:/usr/bin:/bin") {
		all, _ := os.ReadDir(from)
		for _, e := range all {
			_ = os.Symlink(filepath.Join(from, e.Name()), filepath.Join(dir, e.Name()))
		}
	}
	for _, name := range names {
		_ = os.Remove(filepath.Join(dir, name))
	}
	return dir
}

// TestInstallScriptCutShort checks that a download that stops at any point installs
// nothing.
func TestInstallScriptCutShort(t *testing.T) {
	script := installScript(t)
	for shell, words := range shells(t) {
		s := newFixture(t)
		s.path = t.TempDir() // no program is found, so any part that runs is noticed
		for n := 0; n < len(script)-len("main \"$@\"\n"); n += 41 {
			out, _ := s.runs(words, script[:n])
			if after := tree(t, s.home); after != "" || strings.Contains(out, "install.sh:") {
				t.Fatalf("%s, %d bytes: %s\n%s", shell, n, out, after)
			}
		}
	}
}

// TestRepositoryInScripts checks that all scripts have the address of the project.
func TestRepositoryInScripts(t *testing.T) {
	for file, want := range map[string][]string{
		scripts + "install.sh":      {"\nrepository=" + Repository + "\n", "curl -fsSL " + Repository + "/releases/latest/download/install.sh | sh\n"},
		scripts + "build":           {"remote.origin.url GIT_CONFIG_VALUE_0=" + Repository + "\n"},
		scripts + "npm/build":       {"\nrepository=" + Repository + "\n"},
		"../../../.goreleaser.yaml": {"homepage: " + Repository + "\n", "github: { owner: " + strings.Replace(strings.TrimPrefix(Repository, "https://github.com/"), "/", ", name: ", 1) + " }"},
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(string(text), w) {
				t.Errorf("%s lacks %q", file, w)
			}
		}
	}
}
