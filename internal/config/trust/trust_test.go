package trust

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func saved(t *testing.T, state, project string) *Manifest {
	t.Helper()
	m := &Manifest{Project: project, Files: map[string]string{".cardea/rules/a.yaml": Digest([]byte("a"))}, Who: "liam", When: time.Unix(1e9, 0).UTC()}
	if err := Save(state, m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestSaveAndLoad(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	if m, err := Load(state, "/p"); m != nil || err != nil {
		t.Errorf("nothing: %v, %v", m, err)
	}
	saved(t, state, "/p")
	m, err := Load(state, "/p")
	if err != nil || m.Who != "liam" || !m.When.Equal(time.Unix(1e9, 0)) {
		t.Fatalf("%+v, %v", m, err)
	}
	for _, c := range []struct {
		file, data string
		want       bool
	}{{".cardea/rules/a.yaml", "a", true}, {".cardea/rules/a.yaml", "b", false}, {".cardea/rules/b.yaml", "a", false}, {"", "", false}} {
		if got := m.Trusts(c.file, []byte(c.data)); got != c.want {
			t.Errorf("%s with %s: %v", c.file, c.data, got)
		}
	}
	if (*Manifest)(nil).Trusts(".cardea/rules/a.yaml", []byte("a")) {
		t.Error("no manifest trusts")
	}
	info, err := os.Stat(PathOf(state, "/p"))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if there, err := Revoke(state, "/p"); !there || err != nil {
		t.Errorf("revoke: %v, %v", there, err)
	}
	if m, err := Load(state, "/p"); m != nil || err != nil {
		t.Errorf("revoked: %v, %v", m, err)
	}
	if there, err := Revoke(state, "/p"); there || err != nil {
		t.Errorf("revoke again: %v, %v", there, err)
	}
	for _, at := range [][2]string{{"", "/p"}, {state, ""}} {
		if m, err := Load(at[0], at[1]); m != nil || err != nil {
			t.Errorf("%q: %v, %v", at, m, err)
		}
	}
}

// TestManifestsThatAreNotBelieved checks that a forged or copied manifest is rejected, even
// if its author can write to the state folder but not read the key.
func TestManifestsThatAreNotBelieved(t *testing.T) {
	for name, plant := range map[string]func(state, file string) error{
		"changed": func(_, file string) error {
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			return os.WriteFile(file, []byte(strings.Replace(string(data), Digest([]byte("a")), Digest([]byte("b")), 1)), 0o600)
		},
		"unsigned": func(_, file string) error {
			return os.WriteFile(file, []byte(`{"manifest":{"v":1,"project":"/p"}}`), 0o600)
		},
		"no JSON":    func(_, file string) error { return os.WriteFile(file, []byte("yes"), 0o600) },
		"empty":      func(_, file string) error { return os.WriteFile(file, nil, 0o600) },
		"no key":     func(state, _ string) error { return os.Remove(filepath.Join(state, "key")) },
		"other key":  func(state, _ string) error { return os.WriteFile(filepath.Join(state, "key"), make([]byte, 32), 0o600) },
		"broken key": func(state, _ string) error { return os.WriteFile(filepath.Join(state, "key"), nil, 0o600) },
		"of another project": func(state, file string) error {
			return os.Rename(PathOf(state, "/q"), file)
		},
		"a link": func(state, file string) error {
			if err := os.Rename(file, file+"x"); err != nil {
				return err
			}
			return os.Symlink(file+"x", file)
		},
		"huge": func(_, file string) error { return os.WriteFile(file, make([]byte, maxFile+1), 0o600) },
		"a folder": func(_, file string) error {
			if err := os.Remove(file); err != nil {
				return err
			}
			return os.Mkdir(file, 0o700)
		},
	} {
		state := t.TempDir()
		saved(t, state, "/p")
		saved(t, state, "/q")
		if err := plant(state, PathOf(state, "/p")); err != nil {
			t.Fatal(err)
		}
		m, err := Load(state, "/p")
		if m != nil || err == nil || !strings.Contains(err.Error(), `run "cardea trust init"`) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
		if _, problems := List(state); len(problems) == 0 {
			t.Errorf("%s: the list does not tell", name)
		}
	}
}

func TestManifestOfALaterVersion(t *testing.T) {
	if _, err := open(nil, []byte(`{}`)); err == nil {
		t.Error("no key believes")
	}
	state := t.TempDir()
	if err := Save(state, &Manifest{Project: "/p", Files: map[string]string{strings.Repeat("x", maxFile): ""}}); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("a manifest that could not be read back: %v", err)
	}
}

func TestList(t *testing.T) {
	state := t.TempDir()
	if all, problems := List(state); len(all)+len(problems) != 0 {
		t.Errorf("none: %v, %v", all, problems)
	}
	saved(t, state, "/q")
	saved(t, state, "/p")
	if err := os.WriteFile(filepath.Join(Folder(state), "note.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	all, problems := List(state)
	if len(all) != 2 || all[0].Project != "/p" || len(problems) != 0 {
		t.Errorf("%v, %v", all, problems)
	}
	if _, problems := List(filepath.Join(state, "key")); len(problems) != 1 {
		t.Errorf("a file in the place of the folder: %v", problems)
	}
}

func TestSaveWhereNothingCanBeWritten(t *testing.T) {
	state := t.TempDir()
	if err := os.WriteFile(Folder(state), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Save(state, &Manifest{Project: "/p"}); err == nil {
		t.Error("no error")
	}
	if err := Save("", &Manifest{Project: "/p"}); err == nil {
		t.Error("no error without a state folder")
	}
}
