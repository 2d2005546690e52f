package files_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardea.dev/internal/command/knowledge/files"
	"cardea.dev/internal/command/knowledge/files/filelists"
	"cardea.dev/internal/command/knowledge/source"
)

func read(t *testing.T) []filelists.List {
	t.Helper()
	lists, problems, err := filelists.Read("../../../../packs/files")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
	return append(lists, source.CredentialFiles(commands(t)))
}

func commands(t *testing.T) []source.File {
	t.Helper()
	programs, problems, err := source.ReadFolder("../../../../packs/commands")
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return programs
}

// TestCredentials checks that each credential of the tests is found by its own entry
// alone. It is not read without a question, and is not sent over the network.
func TestCredentials(t *testing.T) {
	tools := map[string]bool{}
	for _, f := range commands(t) {
		for _, p := range f.Tests.NoCredentials {
			if files.HoldsSecret(p) {
				t.Errorf("%s: %s holds none", f.Path, p)
			}
		}
		needed := map[string]bool{}
		for _, p := range f.Tests.Credentials {
			if !files.HoldsSecret(p) || !files.MayHoldSecret(p) {
				t.Errorf("%s: %s is open", f.Path, p)
			}
			var by []string
			for _, c := range f.Credentials {
				for _, e := range c.Files {
					if e.Names(p) {
						by = append(by, e.Glob)
					}
				}
			}
			if len(by) != 1 {
				t.Errorf("%s: %s is named by %q", f.Path, p, by)
				continue
			}
			needed[by[0]] = true
		}
		for _, c := range f.Credentials {
			tools[c.Program] = true
			for _, e := range c.Files {
				if !needed[e.Glob] {
					t.Errorf("%s: nothing in tests.credentials needs %s of %s", f.Path, e.Glob, c.Program)
				}
			}
		}
	}
	if len(tools) < 100 {
		t.Errorf("credentials of %d programs", len(tools))
	}
}

// TestListsAreCurrent checks that the generated lists match the YAML files.
func TestListsAreCurrent(t *testing.T) {
	out := filepath.Join(t.TempDir(), "lists.go")
	if text, err := exec.Command("go", "run", "./gen", out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	want, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("lists_gen.go")
	if err != nil || string(got) != string(want) {
		t.Errorf("lists_gen.go is not current; run go generate ./internal/command/knowledge/files (%v)", err)
	}
	for _, l := range read(t) {
		if len(files.Globs(l.Name)) != len(l.Files) || !slices.Contains(files.Names(), l.Name) {
			t.Errorf("%s has %d globs, not %d", l.Name, len(files.Globs(l.Name)), len(l.Files))
		}
	}
	if files.Globs("nothing") != nil {
		t.Error("a list that is not there")
	}
}

// TestEntriesMatter checks that no other entry of its list matches the example of an
// entry, so that each entry is needed.
func TestEntriesMatter(t *testing.T) {
	for _, l := range read(t) {
		for i, f := range l.Files {
			for k, other := range l.Files {
				if f.Is != "" && k != i && other.Names(f.Is) {
					t.Errorf("%s: %s is named by %s, too; remove %s or change its example", l.Name, f.Is, other.Glob, f.Glob)
				}
			}
		}
	}
}

func TestSecrets(t *testing.T) {
	for p, want := range map[string][2]bool{ // may hold one, certainly holds one
		"/home/u/.ssh/id_rsa": {true, true}, "/home/u/.ssh/id_rsa.pub": {true, false}, "/p/id_ed25519.pub": {false, false}, "/p/.env": {true, true},
		"/p/.env.production": {true, true}, "/p/.env.example": {false, false}, "/p/.ENV": {true, true}, "/p/.env.bak": {true, true}, "/p/#.env#": {true, false},
		"/p/.env~": {true, false}, "/p/server.pem": {true, false}, "/p/monkey.go": {false, false}, "/home/u/.aws/config": {true, false}, "/home/u/.aws/credentials": {true, true},
		"/home/u/.bash_history": {true, false}, "/home/u/.mozilla/firefox/x": {true, false}, "/home/u/Library/Keychains/x": {true, true}, "/p/.e*": {true, false},
		"/p/*": {false, false}, "/etc/shadow": {true, true}, "/proc/self/environ": {false, true}, "/p/terraform.tfstate.backup": {true, false},
		"/p/.git/config": {true, false}, "/p/src/main.go": {false, false}, "": {false, false}, "/": {false, false}, "/p/envs/x": {false, false},
		"/p/gcp-credentials.json": {true, true}, "/p/credentials.go": {false, false}, "/p/a-firebase-adminsdk-x.json": {true, true}, "/p/secrets.py": {true, true},
		"/p/secrets.go": {false, false}, "/p/secrets.example.yaml": {false, false}, "/p/token.txt": {true, true}, "/p/tokens.md": {false, false},
		"/p/config/secrets/x": {true, true}, "/p/config/secrets": {false, false}, "/p/internal/secrets/vault.go": {false, false}, "/p/secret/x": {false, false},
		"/home/u/.ssh/.env.example": {true, false}, "/home/u/.claude/projects/x/s.jsonl": {true, false},
	} {
		if got := files.MayHoldSecret(p); got != want[0] {
			t.Errorf("%s may hold a secret: %v", p, got)
		}
		if got := files.HoldsSecret(p); got != want[1] {
			t.Errorf("%s holds a secret: %v", p, got)
		}
	}
	if !files.EndsLikeKey("x.PEM") || files.EndsLikeKey("pem") {
		t.Error("endings of keys")
	}
}

// TestEverySecretIsShut checks that no file of a list of secrets is read without a question.
func TestEverySecretIsShut(t *testing.T) {
	for _, name := range []string{"private-keys", "system-keys", "env-files", "histories", "browser-profiles", "transcripts", "credentials"} {
		for _, g := range files.Globs(name) {
			p := strings.NewReplacer("/**/", "/home/u/", "~/", "/home/u/").Replace(strings.TrimSuffix(g, "/**"))
			if strings.HasSuffix(g, "/**") {
				p += "/x"
			}
			if p = strings.ReplaceAll(p, "*", "x"); !files.MayHoldSecret(p) {
				t.Errorf("%s of %s: %s is open", g, name, p)
			}
		}
	}
}

func TestPlainOutput(t *testing.T) {
	for p, want := range map[string]bool{
		"/p/test.log": true, "/p/OUT.TXT": true, "/p/a.csv": true, "/p/CMakeLists.txt": false, "/p/requirements.txt": false, "/p/dev-constraints.txt": false,
		"/p/reqs/base.txt": false, "/requests/p/a.log": true, "/p/.x.log": false, "/p/-x.log": false, "/p/Makefile": false, "/p/a.py": false, "/p/robots.txt": false,
	} {
		if got := files.IsPlainOutput(p); got != want {
			t.Errorf("%s: %v", p, got)
		}
	}
}

func TestProtected(t *testing.T) {
	for p, want := range map[string]bool{
		"/p/.git/config": true, "/p/.vscode": true, "/p/.npmrc": true, "/p/.npmrc/x": false, "/p/gradle-wrapper.properties": true, "/p/src/a.go": false, "/h/.config/git/x": true, "/h/git/x": false,
	} {
		if got := files.Protected(p); got != want {
			t.Errorf("%s: %v", p, got)
		}
	}
	if !files.MayBeProtected(".n*") || !files.MayBeProtected("*.toml") || files.MayBeProtected("*.go") {
		t.Error("patterns")
	}
}
