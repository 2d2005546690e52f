package cardea

import (
	"slices"
	"testing"
)

func TestLimits(t *testing.T) {
	limits := slices.DeleteFunc(OpaqueCodes(), func(c OpaqueCode) bool { return !c.Limit() })
	if !slices.Equal(limits, []OpaqueCode{OpaqueTooLong, OpaqueTooDeep, OpaqueTooMany}) {
		t.Errorf("limits are %q", limits)
	}
}
