package hook

import (
	"path/filepath"
	"testing"
)

// What an earlier version counted of the judge is read.
func TestEarlierAgreement(t *testing.T) {
	samples, err := filepath.Glob("../../testdata/earlier-state/*/home/.local/state/cardea")
	if err != nil || len(samples) == 0 {
		t.Fatal(samples, err)
	}
	for _, folder := range samples {
		pl := &Place{}
		pl.State = folder
		if got := pl.agreement(); got.Day == "" {
			t.Errorf("%s: %+v", folder, got)
		}
	}
}
