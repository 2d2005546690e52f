package scan

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"cardea.dev/internal/command/redact"
)

// token is a planted secret, built from pieces so that no file of the repository holds one.
var token = "gh" + "p_" + "x7Kq9TzW2mVb4NcR8sLd3FhJ6gYp1QaZ5eUo"

func found(t *testing.T, name string, data []byte) Result {
	t.Helper()
	return searchFile(redact.New(), name, data)
}

func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
	}{
		{"a.txt", "x\ny = \"" + token + "\"\n", "2:6 github-pat 40"},
		{"a.txt", "äö = " + token, "1:6 github-pat 40"},
		{"a.txt", token + "\r\n" + token + "\r\n", "1:1 github-pat 40, 2:1 github-pat 40"},
		{"a.env", "DB_PASSWORD=hunter2\n", "1:13 password 7"},
		{"a.txt", "nothing here\n", ""},
		{token + ".txt", "", "0:0 github-pat 40"},
		// In code a name or a call is not a constant. A quoted text is, and a token always is.
		{"a.py", "password = config['password']\ntoken = parse(line)\nsecret = self.other\n", ""},
		{"a.py", "password = 'correct-horse'\n", "1:13 password 13"},
		{"a.py", "# password: hunter2\n", "1:13 password 7"},
		{"a.py", "x = " + token + "\n", "1:5 github-pat 40"},
		{"a.env", "PASSWORD=abcdef\n", "1:10 password 6"},
	} {
		var got []string
		for _, f := range found(t, c.name, []byte(c.text)).Findings {
			got = append(got, fmt.Sprintf("%d:%d %s %d", f.Line, f.Column, f.Kind, f.Characters))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s %q: %v, want %s", c.name, c.text, got, c.want)
		}
	}
}

func TestAllowedByAComment(t *testing.T) {
	for text, want := range map[string]bool{
		"x = " + token + " # cardea:allow-secret\n":           true,
		"# cardea:allow-secret\nx = " + token + "\n":          true,
		"// cardea:allow-secret: an example\n" + token + "\n": true,
		"# cardea:allow-secret\n\nx = " + token + "\n":        false,
		"x = " + token + "\n# cardea:allow-secret\n":          false,
		"x = " + token + "\n":                                 false,
	} {
		r := found(t, "a", []byte(text))
		if r.Clean() != want || (r.Allowed == 1) != want {
			t.Errorf("%q: %+v", text, r)
		}
	}
}

// TestPieces checks that a secret is found once, wherever the pieces of the search end.
func TestPieces(t *testing.T) {
	key := "-----BEGIN " + "PRIVATE KEY-----\n" + strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n", 100) + "-----END " + "PRIVATE KEY-----\n"
	for _, filler := range []string{"a line of words\n", "word ", "x"} {
		for at := piece - 60; at < piece+20; at += 7 {
			text := strings.Repeat(filler, at/len(filler)+1)[:at] + " " + token + " " + strings.Repeat(filler, 1000)
			r := found(t, "a", []byte(text))
			if len(r.Findings) != 1 || r.Findings[0].Characters != 40 {
				t.Errorf("%q, %d: %+v", filler, at, r.Findings)
			}
		}
	}
	r := found(t, "a", []byte(strings.Repeat("a line of words\n", 250)+key+token+"\n"))
	if len(r.Findings) < 2 || r.Findings[0].Kind != "private-key-block" || r.Findings[0].Line != 251 || r.Findings[len(r.Findings)-1].Line != 353 {
		t.Errorf("%+v", r.Findings)
	}
}

// TestWhatIsNoPlainText checks that no zero byte and no encoding hides a token. A text
// in binary data that only resembles one is not reported.
func TestWhatIsNoPlainText(t *testing.T) {
	if r := found(t, "a", []byte("\x00\x01x "+token+"\x02")); len(r.Findings) != 1 || r.Binary != 1 {
		t.Errorf("binary: %+v", r)
	}
	if r := found(t, "a", []byte("\x00\x01password=hunter2\x02")); !r.Clean() || r.Binary != 1 {
		t.Errorf("binary: %+v", r)
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		var b bytes.Buffer
		for _, u := range utf16.Encode([]rune("\ufeffPASSWORD=hunter2\r\n")) {
			if err := binary.Write(&b, order, u); err != nil {
				t.Fatal(err)
			}
		}
		if r := found(t, "a.env", b.Bytes()); len(r.Findings) != 1 || r.Findings[0].Column != 10 || r.Binary != 0 {
			t.Errorf("UTF-16: %+v", r)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in/a.txt"), token)
	write(t, filepath.Join(dir, "in/.git/config"), token)
	write(t, filepath.Join(dir, "outside"), token)
	if err := os.Symlink("../outside", filepath.Join(dir, "in/link")); err != nil {
		t.Fatal(err)
	}
	r, err := Files(context.Background(), redact.New(), dir, []string{"in"})
	if err != nil || len(r.Findings) != 1 || r.Findings[0].File != filepath.Join("in", "a.txt") || r.Links != 1 || r.Files != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	// A named link is followed.
	if r, err := Files(context.Background(), redact.New(), dir, []string{"in/link"}); err != nil || len(r.Findings) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Files(context.Background(), redact.New(), dir, []string{"nosuch"}); err == nil {
		t.Error("a path that is not there is no error")
	}
	// A file that cannot be searched is not clean.
	f, err := os.Create(filepath.Join(dir, "in/huge"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(maxFile + 1); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := Files(context.Background(), redact.New(), dir, []string{"in/huge"}); err != nil || r.Clean() || len(r.Gaps) != 1 || r.Files != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// repository creates a repository with a first commit.
func repository(t *testing.T) (dir string, git func(args ...string)) {
	t.Helper()
	dir = t.TempDir()
	git = func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	git("init", "-q")
	return dir, git
}

func staged(t *testing.T, dir string, paths ...string) Result {
	t.Helper()
	r, err := Staged(context.Background(), redact.New(), dir, os.Environ(), paths)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func names(r Result) string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, f.File)
	}
	return strings.Join(out, " ")
}

func TestStaged(t *testing.T) {
	dir, git := repository(t)
	if r := staged(t, dir); !r.Clean() || r.Files != 0 {
		t.Errorf("nothing is staged: %+v", r)
	}
	// Before the first commit. The index is searched, not the file.
	write(t, filepath.Join(dir, "old"), token+"\n")
	write(t, filepath.Join(dir, "was"), "words\n")
	git("add", ".")
	write(t, filepath.Join(dir, "old"), "nothing\n")
	write(t, filepath.Join(dir, "was"), token+"\n")
	if r := staged(t, dir); names(r) != "old" || r.Files != 2 {
		t.Errorf("%+v", r)
	}
	git("commit", "-qm", "x")
	// Committed and deleted files, and files only in the folder, are not about to be committed.
	if r := staged(t, dir); !r.Clean() || r.Files != 0 {
		t.Errorf("%+v", r)
	}
	git("rm", "-q", "--cached", "was")
	if r := staged(t, dir); !r.Clean() || r.Files != 0 {
		t.Errorf("%+v", r)
	}
	git("reset", "-q", "--hard")
	// A renamed file is a new one; names may hold blanks, new lines and no ASCII.
	git("mv", "old", "new näme\nx")
	write(t, filepath.Join(dir, "sub/*"), token)
	write(t, filepath.Join(dir, "sub/-x"), token)
	if err := os.Symlink(token, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	git("add", ".")
	if r := staged(t, dir); names(r) != "link new näme\nx sub/* sub/-x" {
		t.Errorf("%q", names(r))
	}
	if r := staged(t, filepath.Join(dir, "sub"), "*", "-x"); names(r) != "sub/* sub/-x" || r.Files != 2 {
		t.Errorf("%q", names(r))
	}
	if r := staged(t, filepath.Join(dir, "sub"), "*"); names(r) != "sub/*" || r.Files != 1 {
		t.Errorf("%q", names(r))
	}
	// A submodule is counted.
	other, gitThere := repository(t)
	gitThere("commit", "-q", "--allow-empty", "-m", "x")
	git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "module")
	if r := staged(t, dir, "module"); r.Submodules != 1 || r.Files != 0 {
		t.Errorf("%+v", r)
	}
	if _, err := Staged(context.Background(), redact.New(), t.TempDir(), append(os.Environ(), "GIT_CEILING_DIRECTORIES="+os.TempDir()), nil); err == nil {
		t.Error("a folder without a repository is no error")
	}
}

// TestAHostileRepositoryRunsNothing checks that nothing is run that a repository's
// configuration names, and that no replacement of an object is read.
func TestAHostileRepositoryRunsNothing(t *testing.T) {
	dir, git := repository(t)
	ran := filepath.Join(dir, "ran")
	evil := filepath.Join(dir, "evil")
	write(t, evil, "#!/bin/sh\ntouch '"+ran+"'\ncat\n")
	if err := os.Chmod(evil, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "a.txt"), token+"\n")
	write(t, filepath.Join(dir, ".gitattributes"), "* filter=evil diff=evil\n")
	git("add", "a.txt", ".gitattributes")
	for _, key := range []string{"core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv", "diff.evil.command",
		"diff.external", "core.pager", "core.sshCommand", "core.gitProxy", "core.askPass", "core.editor", "gpg.program", "credential.helper", "remote.origin.uploadpack"} {
		git("config", key, evil)
	}
	git("config", "alias.diff-index", "!"+evil)
	git("config", "alias.cat-file", "!"+evil)
	git("config", "remote.origin.url", "ext::"+evil)
	git("config", "remote.origin.promisor", "true")
	git("config", "extensions.partialClone", "origin")
	git("config", "core.hooksPath", dir)
	for _, hook := range []string{"post-index-change", "pre-commit", "reference-transaction"} {
		write(t, filepath.Join(dir, hook), "#!/bin/sh\ntouch '"+ran+"'\n")
		if err := os.Chmod(filepath.Join(dir, hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env := append(
		os.Environ(),
		"GIT_EXTERNAL_DIFF="+evil,
		"GIT_PAGER="+evil,
		"GIT_SSH_COMMAND="+evil,
		"GIT_TRACE="+ran,
		"GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=core.fsmonitor",
		"GIT_CONFIG_VALUE_0="+evil,
	)
	r, err := Staged(context.Background(), redact.New(), dir, env, nil)
	if err != nil || names(r) != "a.txt" {
		t.Errorf("%+v, %v", r, err)
	}
	// Missing contents are not fetched.
	objects, err := filepath.Glob(filepath.Join(dir, ".git/objects/??/*"))
	if err != nil || len(objects) == 0 {
		t.Fatal(err)
	}
	for _, o := range objects {
		if err := os.Remove(o); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Staged(context.Background(), redact.New(), dir, env, nil); err == nil {
		t.Error("contents that are missing are no error")
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("the repository ran its program")
	}
}

func TestReplacedObjectsAreNotRead(t *testing.T) {
	dir, git := repository(t)
	write(t, filepath.Join(dir, "a.txt"), token+"\n")
	write(t, filepath.Join(dir, "b.txt"), "harmless\n")
	git("add", ".")
	hash := func(name string) string {
		out, err := exec.Command("git", "-C", dir, "rev-parse", ":"+name).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	git("replace", hash("a.txt"), hash("b.txt"))
	if r := staged(t, dir); names(r) != "a.txt" {
		t.Errorf("%+v", r)
	}
}

func TestWhatGitSaysIsNotBelieved(t *testing.T) {
	for _, text := range []string{
		"x",
		":100644 100644 a b A",
		":100644 100644 a b A\x00",
		"100644 100644 a b A\x00x\x00",
		":100644 100644 a --b A\x00x\x00",
		":1 2 3\x00x\x00",
	} {
		if list, err := parseRaw([]byte(text)); err == nil {
			t.Errorf("%q: %v", text, list)
		}
	}
	if list, err := parseRaw(nil); err != nil || len(list) != 0 {
		t.Errorf("nothing: %v, %v", list, err)
	}
}

// FuzzSearch checks that a token on a line of its own is found in any surrounding text.
func FuzzSearch(f *testing.F) {
	f.Add("a\n", "b")
	f.Add(strings.Repeat("x=", 3000), "\x00")
	f.Fuzz(func(t *testing.T, before, after string) {
		if strings.Contains(before+after, AllowMark) || strings.HasPrefix(before, "\xff\xfe") || strings.HasPrefix(before, "\xfe\xff") || len(before)+len(after) > 3*piece {
			return
		}
		if r := searchFile(redact.New(), "a", []byte(before+"\n"+token+"\n"+after)); r.Clean() {
			t.Errorf("%q, %q: nothing was found", before, after)
		}
	})
}
