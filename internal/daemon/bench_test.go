package daemon

import "testing"

// What a decision costs in the daemon, with all that a hook reads and writes for it.
func BenchmarkLocal(b *testing.B) {
	p := newPlace(b)
	for b.Loop() {
		if _, err := p.ask("PreToolUse", bash("ls -la")); err != nil {
			b.Fatal(err)
		}
	}
}
