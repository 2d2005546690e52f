// Package stack gives goroutines a large stack at once. A stack that grows is copied,
// five times until it is large, and each copy looks up every function that is on it in
// tables that nothing else needs: a cold process would read half a megabyte of its own
// file for it.
package stack

// Grow gives the goroutine that calls it a stack of 64 KB.
func Grow() { room(false) }

// room needs a large stack for what it holds, and does not touch it.
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
