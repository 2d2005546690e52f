package cli

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lived returns a registrar with a hook in two harnesses, settings, state and cache.
func lived(t *testing.T) (*fixture, string) {
	t.Helper()
	d, binary := hooked(t)
	for _, name := range []string{"claude", "codex"} {
		if _, errs, code := d.sits("abc234\n", "install", name, "--binary", binary); code != exitOK {
			t.Fatal(errs)
		}
	}
	d.write(filepath.Join(d.home, ".config/cardea/rules/mine.yaml"), "rules: []\n")
	d.write(filepath.Join(d.home, ".cache/cardea/x"), "x")
	d.write(filepath.Join(d.project, ".cardea/rules/r.yaml"), "rules: [{id: pa, tool: Bash, match: {command: pa}, effect: deny}]")
	if _, errs, code := d.sits("abc234\n", "trust", "init"); code != exitOK {
		t.Fatal(errs)
	}
	return d, binary
}

func TestUninstallSaysWhatStays(t *testing.T) {
	d, _ := lived(t)
	out, errs, code := d.sits("abc234\n", "uninstall", "claude")
	for _, want := range []string{
		"removed " + d.home + "/.claude/settings.json",
		"still registered: Codex CLI in " + d.home + "/.codex/hooks.json:",
		"stays: settings, rules, lessons: " + d.home + "/.config/cardea (1 file, 1 KB)",
		"stays: state, ledger: " + d.home + "/.local/state/cardea (", "stays: cache: " + d.home + "/.cache/cardea (", "to remove them: cardea uninstall --purge\n"} {
		if code != exitOK || !strings.Contains(out, want) {
			t.Errorf("exit %d, no %q in %s%s", code, want, out, errs)
		}
	}
	if !strings.Contains(errs, "type abc234 to remove the hook of Claude Code: ") {
		t.Error(errs)
	}
	if out, errs, code = d.sits("", "uninstall", "claude"); code != exitOK || !strings.Contains(out, "nothing to remove from ") || strings.Contains(errs, "type ") {
		t.Errorf("again: exit %d, %s%s", code, out, errs)
	}
	if out, errs, code = d.sits("abc234\n", "uninstall"); code != exitOK || !strings.Contains(out, "removed "+d.home+"/.codex/hooks.json") || strings.Contains(out, "still registered") {
		t.Errorf("all: exit %d, %s%s", code, out, errs)
	}
	if out, errs, code = d.sits("", "uninstall"); code != exitOK || !strings.HasPrefix(out, "nothing to remove: no harness has a hook of Cardea") {
		t.Errorf("none: exit %d, %s%s", code, out, errs)
	}
	for args, want := range map[string]string{
		"uninstall vim":               "use claude",
		"uninstall claude --purge":    "name none with it",
		"uninstall --purge --managed": "none of the others can be",
		"uninstall --user --project":  "none of the others can be",
	} {
		if _, errs, code := d.sits("abc234\n", strings.Fields(args)...); code == exitOK || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s", args, code, errs)
		}
	}
}

// A broken file that may contain a hook is reported.
func TestUninstallFromBrokenFiles(t *testing.T) {
	d, _ := lived(t)
	d.write(filepath.Join(d.home, ".gemini/settings.json"), "{")
	d.write(filepath.Join(d.home, ".claude/settings.json"), `{"hooks": {"PreToolUse": [{"command": "/opt/cardea check`)
	before := d.files()
	for _, args := range [][]string{{"uninstall"}, {"uninstall", "--purge"}} {
		if _, errs, code := d.sits("abc234\n", args...); code != exitError || !strings.Contains(errs, "remove by hand the entries that name cardea: line 1") || !maps.Equal(before, d.files()) {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
	d.write(filepath.Join(d.home, ".claude/settings.json"), "{}")
	if out, errs, code := d.sits("abc234\n", "uninstall"); code != exitOK || !strings.Contains(out, "removed "+d.home+"/.codex/hooks.json") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
}

func TestPurge(t *testing.T) {
	d, _ := lived(t)
	before := d.files()
	out, errs, code := d.run("", "uninstall", "--purge", "--dry-run")
	for _, want := range []string{
		"would remove " + d.home + "/.claude/settings.json",
		"would remove " + d.home + "/.codex/hooks.json",
		"- settings, rules, lessons: " + d.home + "/.config/cardea (1 file, 1 KB)",
		"- state, ledger: ",
		"- cache: ",
		"stays: " + d.project + "/.cardea, which is the project's",
	} {
		if code != exitOK || !strings.Contains(out, want) {
			t.Errorf("dry: exit %d, no %q in %s%s", code, want, out, errs)
		}
	}
	for name, run := range map[string]func() (string, string, int){
		"no person":  func() (string, string, int) { return d.run("abc234\n", "uninstall", "--purge") },
		"wrong code": func() (string, string, int) { return d.sits("a\n", "uninstall", "--purge") },
	} {
		if _, errs, code := run(); code != exitError || !maps.Equal(before, d.files()) {
			t.Errorf("%s: exit %d, %s", name, code, errs)
		}
	}
	out, errs, code = d.sits("abc234\n", "uninstall", "--purge")
	if code != exitOK || strings.Count(errs, "type abc234") != 1 || !strings.Contains(out, "stays: the programs ") || strings.Contains(out, "stays: state") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	for path := range d.files() {
		if !strings.HasPrefix(path, filepath.Join(d.project, ".cardea")) && !strings.HasPrefix(path, filepath.Join(d.home, "bin")) {
			t.Errorf("%s is still there", path)
		}
	}
	if out, errs, code = d.sits("", "uninstall", "--purge"); code != exitOK || strings.Contains(errs, "type ") {
		t.Errorf("again: exit %d, %s%s", code, out, errs)
	}
}

// A purge removes only Cardea's own files, for all variables and links.
func TestPurgeRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		make func(d *fixture)
		want string
	}{
		"the state folder is in the home folder": {func(d *fixture) {
			d.vars["XDG_STATE_HOME"] = d.home
			d.write(filepath.Join(d.home, "cardea/main.go"), "package main\n")
		}, "of your home folder or of the root"},
		"the cache is a link": {func(d *fixture) {
			d.write(filepath.Join(d.home, "photos/a.jpg"), "x")
			d.mkdir(filepath.Join(d.home, ".cache"))
			d.must(os.RemoveAll(filepath.Join(d.home, ".cache/cardea")))
			d.must(os.Symlink(filepath.Join(d.home, "photos"), filepath.Join(d.home, ".cache/cardea")))
		}, "a symbolic link leads to it"},
		"the settings are below a link": {func(d *fixture) {
			d.mkdir(filepath.Join(d.home, "dots"))
			d.must(os.Rename(filepath.Join(d.home, ".config"), filepath.Join(d.home, "dots/config")))
			d.must(os.Symlink("dots/config", filepath.Join(d.home, ".config")))
		}, "a symbolic link leads to it"},
		"the home folder is in it": {func(d *fixture) {
			up := filepath.Join(d.home, "cardea")
			d.mkdir(filepath.Join(up, "home"))
			d.vars["HOME"], d.vars["XDG_CACHE_HOME"] = filepath.Join(up, "home"), d.home
			d.home = filepath.Join(up, "home")
			d.write(filepath.Join(d.home, "letter"), "x")
		}, "is in it"},
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := lived(t)
			base := d.home
			tt.make(d)
			count := func() (n int) {
				_ = filepath.Walk(base, func(string, os.FileInfo, error) error { n++; return nil })
				return n
			}
			before := count()
			out, errs, code := d.sits("abc234\n", "uninstall", "--purge")
			if code != exitError || !strings.Contains(errs, tt.want) || count() != before || strings.Contains(errs, "type abc234") {
				t.Errorf("exit %d, %s%s", code, out, errs)
			}
		})
	}
	// A file of another user, and links inside, which are removed and not followed.
	d, _ := lived(t)
	d.write(filepath.Join(d.home, "photos/a.jpg"), "x")
	d.must(os.Symlink(filepath.Join(d.home, "photos"), filepath.Join(d.home, ".cache/cardea/link")))
	p := d.process(strings.NewReader(""), nil, nil)
	p.Machine.Foreign = func(path string) bool {
		return strings.HasSuffix(path, "mine.yaml") || strings.HasSuffix(path, "/link")
	}
	if err := removable(p, filepath.Join(d.home, ".config/cardea")); err == nil || !strings.Contains(err.Error(), "mine.yaml is of another user") {
		t.Error(err)
	}
	if err := removable(p, filepath.Join(d.home, ".cache/cardea")); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{"/", "/cardea", d.home, "cardea", filepath.Join(d.home, ".cache"), filepath.Join(d.home, "cardea/x")} {
		if removable(p, dir) == nil {
			t.Errorf("%s may be removed", dir)
		}
	}
	if _, errs, code := d.sits("abc234\n", "uninstall", "--purge"); code != exitOK {
		t.Fatal(errs)
	}
	if _, err := os.Stat(filepath.Join(d.home, "photos/a.jpg")); err != nil {
		t.Error(err)
	}
}

func (d *fixture) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}
