package claudecode

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestAdditionalDirs(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("settings.json", `{"permissions": {"additionalDirectories": ["/data/../data/x", "~/docs", "../rel", "", 5]}}`)
	write("managed-settings.json", `{"permissions": {"additionalDirectories": ["/srv"]}}`)
	if got, want := AdditionalDirs(dir, dir, "/home/u"), []string{"/srv", "/data/x", "/home/u/docs"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, broken := range []string{"{", `{"permissions": 5}`, `{"permissions": {"additionalDirectories": "/"}}`, `[]`} {
		write("settings.json", broken)
		if got := AdditionalDirs(dir, "", "/home/u"); len(got) > 0 {
			t.Errorf("%s gives %v", broken, got)
		}
	}
}
