package hook

import (
	"cardea.dev/internal/testing/testrun"
	"testing"
)

// The judge's count of an earlier version can be read.
func TestEarlierAgreement(t *testing.T) {
	for _, folder := range testrun.EarlierState(t) {
		pl := &Location{}
		pl.State = folder
		if got := pl.agreement(); got.Day == "" {
			t.Errorf("%s: %+v", folder, got)
		}
	}
}
