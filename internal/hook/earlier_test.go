package hook

import (
	"cardea.dev/internal/testing/testrun"
	"testing"
)

// What an earlier version counted of the judge is read.
func TestEarlierAgreement(t *testing.T) {
	for _, folder := range testrun.EarlierState(t) {
		pl := &Place{}
		pl.State = folder
		if got := pl.agreement(); got.Day == "" {
			t.Errorf("%s: %+v", folder, got)
		}
	}
}
