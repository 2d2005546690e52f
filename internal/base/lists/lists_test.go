package lists

import (
	"slices"
	"strconv"
	"testing"
)

func TestLists(t *testing.T) {
	if got := Of([]int{3, 1, 2}, strconv.Itoa); !slices.Equal(got, []string{"3", "1", "2"}) {
		t.Error(got)
	}
	unusual := func(n int) bool { return n%2 == 1 }
	if got := Where([]int{3, 1, 2}, unusual); !slices.Equal(got, []int{3, 1}) {
		t.Error(got)
	}
	if Of([]int{}, strconv.Itoa) != nil || Where([]int{2}, unusual) != nil {
		t.Error("a list with no entries is nil")
	}
}
