// Package stack gives goroutines a large stack at once. A growing stack is copied five
// times, and each copy looks up every function on it in tables that nothing else needs. A
// cold process would read half a megabyte of its own file for that.
package stack

// Grow gives the calling goroutine a stack of 64 KB.
func Grow() { room(false) }

// room needs a large stack for its variable, and does not touch it.
//
//go:noinline
func room(touch bool) byte {
	if !touch {
		return 0
	}
	var held [40 << 10]byte
	fill(&held)
	return held[len(held)/2]
}

//go:noinline
func fill(held *[40 << 10]byte) { held[0] = 1 }
