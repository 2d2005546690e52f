// Package early prepares the process of a hook, which does one small thing and ends.
// It is for programs, and only for them: see docs/decisions.
//
// Its init runs before that of any other package but the runtime's, since it imports
// no other that has one. Where packages are initialised, the main goroutine's stack
// would grow step by step; and with a second processor, the runtime would start threads
// that find nothing to do, and memory of their own.
package early

import (
	"runtime"

	"cardea.dev/internal/base/stack"
)

// processors is how many there were.
var processors int

func init() {
	processors = runtime.GOMAXPROCS(1)
	stack.Grow()
}

// AllProcessors lets goroutines run at the same time again.
func AllProcessors() { runtime.GOMAXPROCS(processors) }
