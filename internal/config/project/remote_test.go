package project

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRemoteOf reads configurations that git wrote.
func TestRemoteOf(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("the tests need git")
	}
	home := realTemp(t)
	dir := filepath.Join(home, "src", "repo")
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(git, append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	write(t, filepath.Join(dir, "sub/x"), "x")
	is := func(at, want string) {
		t.Helper()
		if got := RemoteOf(at, home); got.Host+"/"+got.Owner != want {
			t.Errorf("%s: got %+v, want %s", at, got, want)
		}
	}
	is(dir, "/")
	run("init", "-q")
	is(dir, "/")
	run("remote", "add", "upstream", "https://github.com/other/x")
	is(dir, "/")
	run("remote", "add", "origin", "git@github.com:Acme/Repo.git")
	is(dir, "github.com/acme")
	is(filepath.Join(dir, "sub"), "github.com/acme")
	is("", "/")
	is(home, "/")
	run("add", ".")
	run("commit", "-qm", "x")
	run("worktree", "add", "-q", filepath.Join(home, "src/tree"))
	is(filepath.Join(home, "src/tree"), "/")
	run("config", "include.path", "../more")
	is(dir, "/")
	run("config", "--unset", "include.path")
	run("config", "--add", "remote.origin.url", "https://github.com/evil/x")
	is(dir, "/")
	if err := os.Rename(filepath.Join(dir, ".git"), filepath.Join(home, "src/git")); err != nil {
		t.Fatal(err)
	}
	if os.Symlink("../git", filepath.Join(dir, ".git")) == nil {
		is(dir, "/")
	}
}

func TestRemoteIn(t *testing.T) {
	const origin = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = "
	for text, want := range map[string]string{
		"https://github.com/acme/repo":                 "github.com/acme",
		"https://liam:secret@github.com/acme/repo.git": "github.com/acme",
		"https://GitHub.com:443/Acme/repo":             "github.com/acme",
		"ssh://git@git.example.com:2222/a/b/c.git":     "git.example.com/a",
		"git@gitlab.com:group/sub/repo.git":            "gitlab.com/group",
		"work:acme/repo":                               "work/acme",
		"http://github.com/acme/repo":                  "/",
		"git://github.com/acme/repo":                   "/",
		"file:///github.com/acme/repo":                 "/",
		"/srv/acme/repo":                               "/",
		"../acme/repo":                                 "/",
		"ext::sh -c x":                                 "/",
		"https://github.com/acme":                      "/",
		"https://github.com/acme/../evil/x":            "/",
		"https://github.com/%61cme/x":                  "/",
		"https://github.com/acme/x # y":                "/",
		"\"https://github.com/acme/x\"":                "/",
		"https://github.com/acme/x \\\ny":              "/",
		"":                                             "/",
	} {
		if got := remoteIn(origin + text + "\n"); got.Host+"/"+got.Owner != want {
			t.Errorf("%q: got %+v, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"[remote.origin]\nURL=git@github.com:acme/x":                                                         "github.com/acme",
		"[Remote \"origin\"]\nurl=git@github.com:acme/x":                                                     "github.com/acme",
		"[remote \"ORIGIN\"]\nurl=git@github.com:acme/x":                                                     "/",
		"[remote \"origin\"] url=git@github.com:acme/x":                                                      "/",
		"[remote \"x\"]\nurl=git@github.com:acme/x":                                                          "/",
		"[remote \"origin\"]\nurl=git@github.com:acme/x\n[url \"https://evil/\"]\ninsteadOf=git@github.com:": "/",
		"[includeIf \"gitdir:x\"]\npath=y\n[remote \"origin\"]\nurl=git@github.com:acme/x":                   "/",
		"[remote \"origin\"]\n# url=git@github.com:evil/x\nurl=git@github.com:acme/x\n":                      "github.com/acme",
	} {
		if got := remoteIn(text); got.Host+"/"+got.Owner != want {
			t.Errorf("%q: got %+v, want %s", text, got, want)
		}
	}
}

func TestOrgRemote(t *testing.T) {
	for name, want := range map[string]Remote{
		"Acme": {"github.com", "acme"}, "gitlab.com_group": {"gitlab.com", "group"}, "git.example.com_a_b": {"git.example.com", "a_b"},
		"my_group": {"github.com", "my_group"}, "a.b": {"github.com", "a.b"},
	} {
		if got := OrgRemote(name); got != want {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}
