// Package early prepares the process of a hook, which does one small thing and ends. Only
// main programs import it: see docs/decisions.
//
// Its init runs before that of any other package except the runtime's, since it imports no
// package that has one. Without it, initialization would grow the main goroutine's stack
// step by step. With a second processor, the runtime would also start threads that find
// nothing to do and use memory.
package early

import (
	"runtime"

	"cardea.dev/internal/base/stack"
)

// processors is the value of GOMAXPROCS before this package lowered it.
var processors int

func init() {
	processors = runtime.GOMAXPROCS(1)
	stack.Grow()
}

// AllProcessors lets goroutines run at the same time again.
func AllProcessors() { runtime.GOMAXPROCS(processors) }
