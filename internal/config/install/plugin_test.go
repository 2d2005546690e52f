package install

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"cardea.dev/internal/base/paths"
)

// TestPluginProgram checks that the plugin's script starts the first cardea that is not in
// the project, even through a link, or cardea-hook next to it.
func TestPluginProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the script is one for sh")
	}
	root := paths.Real(t.TempDir())
	at := func(elem ...string) string { return filepath.Join(append([]string{root}, elem...)...) }
	write := func(path string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(at("app", "tools", "cardea"))
	write(at("bin", "cardea"))
	write(at("both", "cardea"))
	write(at("both", "cardea-hook"))
	for _, l := range [][2]string{{at("app", "tools", "cardea"), at("links", "cardea")}, {at("both", "cardea"), at("short", "cardea")}} {
		if err := os.MkdirAll(filepath.Dir(l[1]), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(l[0], l[1]); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		folders []string
		want    string
	}{
		{[]string{at("none"), at("bin"), at("both")}, at("bin", "cardea")},
		{[]string{at("both"), at("bin")}, at("both", "cardea-hook")},
		{[]string{at("short")}, at("both", "cardea-hook")},
		{[]string{at("links"), at("bin")}, at("bin", "cardea")},
		{[]string{at("links")}, ""},
	} {
		if got := (Places{Project: at("app"), Programs: c.folders}).pluginProgram(); got != c.want {
			t.Errorf("%v: %s, want %s", c.folders, got, c.want)
		}
	}
}
