package claudecode

import "testing"

func TestAdditionalDir(t *testing.T) {
	for dir, want := range map[string]string{"/data/../data/x": "/data/x", "~/docs": "/home/u/docs", "../rel": "", "": "", "~": ""} {
		if got := AdditionalDir(dir, "/home/u"); got != want {
			t.Errorf("%q: %q, want %q", dir, got, want)
		}
	}
	if got := AdditionalDir("~/docs", ""); got != "" {
		t.Errorf("without a home folder: %q", got)
	}
}
